"""How hard a dataset is to hide, why, and who is: section 5 of GLOVE (2021), figures 6 to 9.

It stands here and not among measures because it asks as well what uniform generalisation, a
mechanism, would do.
"""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._format import people as _people
from incrowd._progress import Progress, Stages
from incrowd._summary import Summarised, Summary
from incrowd.data._one_each import one_each
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, DataWarning
from incrowd.evaluate._analysis.anonymizability_words import words
from incrowd.measure._dispersion import dispersion
from incrowd.measure._hardness import (
    POINTS,
    Causes,
    Gaps,
    Hardest,
    causes_of,
    distribution_of,
    gaps_of,
    hardest_of,
)
from incrowd.measure._k_gap import k_gap
from incrowd.measure._stretch.definition import Stretch, stretch_for
from incrowd.protect._generalisation import Generalise

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from incrowd.data._frame import Frame

__all__ = [
    "CROWDS",
    "LEVELS",
    "Anonymizability",
    "Level",
    "anonymizability",
    "crowds_for",
]


CROWDS = (2, 3, 5, 10, 20, 50, 100)
"""The crowds of the curve over k, as in figure 7."""
LEVELS = ((100, 1), (1_000, 30), (2_500, 60), (5_000, 120), (10_000, 240), (20_000, 480))
"""The grids of figure 8, in metres and minutes; the paper's text names the first and the last."""


@dataclass(frozen=True, slots=True)
class Level:
    """What a coarser grid does: how many are hidden then, and the k-gaps that are left.

    Attributes
    ----------
    metres, minutes
        The grid.
    samples
        How many samples are left; those of a person that become equal are one.
    hidden
        The share of people whose record k-1 others have, too.
    mean, quarter, median, three_quarters
        Of the k-gap.
    distribution
        The share of people whose k-gap is at most each of `Anonymizability.points`.
    """

    metres: float
    minutes: float
    samples: int
    hidden: float
    mean: float
    quarter: float
    median: float
    three_quarters: float
    distribution: tuple[float, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Anonymizability(Summarised):
    """How hard a dataset is to hide, why, and who is.

    Attributes
    ----------
    people, samples, cell_m, slot_s
        What was looked at, and its grid.
    k
        The smallest crowd that was asked for: what the rest is about, but for `gaps`.
    points, distribution
        The share of people whose k-gap is at most each of 101 points.
    gaps
        How k-gaps are spread, for each k.
    levels
        What coarser grids do; empty if that was not asked for.
    causes
        Time or space, evenly or by a few samples.
    hardest
        How the hardest tenth differ from the others; None if these are too few to tell.
    """

    people: int
    samples: int
    cell_m: float
    slot_s: int
    k: int
    points: tuple[float, ...]
    distribution: tuple[float, ...]
    gaps: tuple[Gaps, ...]
    levels: tuple[Level, ...]
    causes: Causes
    hardest: Hardest | None

    def words(self) -> tuple[str, ...]:
        """Say in plain sentences why these people are hard to hide, and who is."""
        return words(self)

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON; the sentences as well."""
        return {**asdict(self), "words": self.words()}

    def plot(self) -> "alt.Chart":
        """Return a chart (Altair) of how the k-gap is spread, for the smallest k asked for."""
        from incrowd.measure._plots import gap_chart

        rows = [
            {"k": f"k = {self.k}", "gap": at, "share": share}
            for at, share in zip(self.points, self.distribution, strict=True)
        ]
        return gap_chart(rows)

    def _summary(self) -> Summary:
        return Summary(
            f"Anonymizability of {_people(self.people)}, k = {self.k}", notes=self.words()
        )


def anonymizability(
    data: Trajectories,
    ks: Sequence[int] | None = None,
    levels: Sequence[tuple[float, float]] | None = None,
    *,
    gaps: "pl.DataFrame | None" = None,
    causes: "pl.DataFrame | None" = None,
    stretch: Stretch | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Anonymizability:
    """Analyse how hard a dataset is to hide, why, and who is.

    Parameters
    ----------
    data
        The trajectories. Everybody in a crowd, as releases have them, is a person.
    ks
        The crowds; 2, 3, 5, 10, 20, 50 and 100, up to the number of people, unless given. All
        come from one search for the largest, which takes long if that is much larger than 2.
    levels
        Coarser grids to try, each of so many metres and minutes; unless given those of `LEVELS`
        that the grid of the data divides, and that grid itself. None are tried if it is empty.
    gaps
        What :func:`incrowd.k_gap` gave for these trajectories and `ks`, if it is known.
    causes
        What :func:`incrowd.dispersion` gave for them and the smallest k, if it is known.
    stretch
        How a stretch is measured, the same before and after generalisation; 20 km and 8 hours, as
        in the papers, on any grid unless given.
    threads
        How many threads to use; all cores unless given. Does not change the result.
    progress
        Called with the number of people who are done and that of all, each counted once for every
        search.

    Raises
    ------
    ArgumentError
        If there are fewer people than a crowd needs, or a level does not fit the grid.

    Warns
    -----
    DataWarning
        If a threshold of the `stretch` is wider or longer than the data itself.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 5.
    - Gramaglia and Fiore, 2014: "On the anonymizability of mobile traffic datasets",
      arXiv:1501.00100.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=150, seed=7)
    >>> found = incrowd.anonymizability(city, [2, 5], levels=[(20_000, 480)])
    >>> [each.k for each in found.gaps], found.levels[0].hidden < 1
    ([2, 5], True)
    >>> print(found.words()[0])
    Nobody of 150 people shares a record with another.
    """
    data = one_each(Trajectories.of(data))
    wanted = crowds_for(len(data)) if ks is None else tuple(sorted(set(ks)))
    if not wanted:
        raise ArgumentError("no k was given")
    stretch = stretch_for(data, stretch)
    grids = _grids(data.frame, levels)
    steps = (gaps is None) + sum(not _is_own(data.frame, *grid) for grid in grids) + 1
    stages = Stages(progress, steps, parts=len(data))
    with warnings.catch_warnings():
        # What is to be told of the stretch was; and levels may be wider than the data.
        warnings.simplefilter("ignore", DataWarning)
        return _analysed(data, wanted, grids, gaps, causes, stretch, threads, stages)


def _analysed(
    data: Trajectories,
    wanted: tuple[int, ...],
    grids: list[tuple[float, float]],
    gaps: "pl.DataFrame | None",
    causes: "pl.DataFrame | None",
    stretch: Stretch,
    threads: int | None,
    stages: Stages,
) -> Anonymizability:
    """Do what is not known yet, and put it together."""
    k = wanted[0]
    if gaps is None:
        gaps = k_gap(data, wanted, stretch=stretch, threads=threads, progress=stages.next())
    _check(gaps, wanted, len(data))
    if causes is None:
        causes = dispersion(
            data, k, gaps=gaps, stretch=stretch, threads=threads, progress=stages.next()
        )
    rows = gaps.filter(gaps["k"] == k) if "k" in gaps.columns else gaps
    gap = rows["k_gap"].to_numpy()
    tried = []
    for metres, minutes in grids:
        coarse, left = data, gap
        if not _is_own(data.frame, metres, minutes):
            coarse = Generalise(metres, minutes).protect(data, threads=threads).trajectories
            found = k_gap(coarse, k, stretch=stretch, threads=threads, progress=stages.next())
            left = found["k_gap"].to_numpy()
        tried.append(_level(metres, minutes, coarse.samples, left))
    return Anonymizability(
        people=len(data),
        samples=data.samples,
        cell_m=data.frame.cell,
        slot_s=data.frame.slot,
        k=k,
        points=POINTS,
        distribution=distribution_of(gap),
        gaps=tuple(gaps_of(gaps, each, stretch, data.frame) for each in wanted),
        levels=tuple(tried),
        causes=causes_of(causes, k),
        hardest=hardest_of(data, gap),
    )


def crowds_for(people: int) -> tuple[int, ...]:
    """Give the crowds of the curve that so many people can make; 2 at least.

    Examples
    --------
    >>> crowds_for(30)
    (2, 3, 5, 10, 20)
    """
    return CROWDS[:1] + tuple(k for k in CROWDS[1:] if k <= people)


def _check(gaps: "pl.DataFrame", wanted: tuple[int, ...], people: int) -> None:
    """Refuse gaps that are not those of all crowds."""
    there = set(gaps["k"].to_list()) if "k" in gaps.columns else set(wanted[:1])
    if not set(wanted) <= there or len(gaps) != people * len(there):
        raise ArgumentError(
            f"gaps are what incrowd.k_gap gave for these people and k = {list(wanted)}"
        )


def _grids(
    frame: "Frame", levels: Sequence[tuple[float, float]] | None
) -> list[tuple[float, float]]:
    """Give the grids to try; those that were asked for are checked when they are tried."""
    if levels is not None:
        for grid in levels:
            Generalise(*grid)
        return list(levels)
    own = (frame.cell, frame.slot / 60)
    fit = [
        (float(metres), float(minutes))
        for metres, minutes in LEVELS
        if metres % frame.cell == 0 and minutes * 60 % frame.slot == 0
    ]
    return fit if own in fit else [own, *fit]


def _is_own(frame: "Frame", metres: float, minutes: float) -> bool:
    return metres == frame.cell and minutes * 60 == frame.slot


def _level(metres: float, minutes: float, samples: int, gap: Any) -> Level:
    quarter, median, three_quarters = map(float, np.quantile(gap, (0.25, 0.5, 0.75)))
    return Level(
        metres=metres,
        minutes=minutes,
        samples=samples,
        hidden=float((gap == 0).mean()),
        mean=float(gap.mean()),
        quarter=quarter,
        median=median,
        three_quarters=three_quarters,
        distribution=distribution_of(gap),
    )
