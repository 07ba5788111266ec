"""How hard a dataset is to hide, why, and who is: section 5 of GLOVE (2021), figures 6 to 9.

It stands here and not among measures because it asks as well what uniform generalisation, a
mechanism, would do. `words` says why people are hard to hide, for somebody who has to decide; every
sentence follows from figures of `Anonymizability`, and which ones are said depends on them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._format import duration, length, percent, rounded_percent
from incrowd._format import people as _people
from incrowd._progress import Progress, Stages
from incrowd._summary import Summarised, Summary
from incrowd.errors import ArgumentError
from incrowd.measure._dispersion import dispersion
from incrowd.measure._hardness import (
    FEWEST,
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
from incrowd.measure._stretch.definition import Stretch
from incrowd.protect._generalisation import Generalise

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._hardness import Trait

__all__ = [
    "CROWDS",
    "LEVELS",
    "Anonymizability",
    "Level",
    "anonymizability",
    "crowds_for",
    "words",
]


MUCH = 0.75
"""A share from which on something holds of most people."""
DIFFERENT = 1.15
"""How many times as much is worth a word."""
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
    data: "Trajectories",
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
        The trajectories.
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
        How a stretch is measured; the same before and after generalisation.
    threads
        How many threads to use; all cores unless given. Does not change the result.
    progress
        Called with the number of people who are done and that of all, each counted once for every
        search.

    Raises
    ------
    ArgumentError
        If there are fewer people than a crowd needs, or a level does not fit the grid.

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
    wanted = crowds_for(len(data)) if ks is None else tuple(sorted(set(ks)))
    if not wanted:
        raise ArgumentError("no k was given")
    k, stretch = wanted[0], stretch or Stretch()
    grids = _grids(data.frame, levels)
    steps = (gaps is None) + sum(not _is_own(data.frame, *grid) for grid in grids) + 1
    stages = Stages(progress, steps, parts=len(data))
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


def words(found: "Anonymizability") -> tuple[str, ...]:
    """Say why these people are hard to hide, and who is."""
    said = [_standing(found)]
    if found.people < FEWEST:
        said.append(
            f"With {_people(found.people)} there is hardly a crowd to hide in, and what follows "
            "says little."
        )
    if found.causes.already_hidden < 1:
        said += [_cost(found), *_curve(found), *_levels(found), _what(found), _how(found)]
        said += _who(found)
    return tuple(said)


def _standing(found: "Anonymizability") -> str:
    hidden, k = found.causes.already_hidden, found.k
    others = "another" if k == 2 else f"{k - 1} others"  # noqa: PLR2004
    if hidden == 1:
        return (
            f"Everybody is hidden already: each of {found.people:,} people shares a record with "
            f"{others}."
        )
    if hidden == 0:
        return f"Nobody of {found.people:,} people shares a record with {others}."
    return (
        f"{rounded_percent(hidden)} of {found.people:,} people share a record with {others}; the "
        "rest do not."
    )


def _cost(found: "Anonymizability") -> str:
    gap = found.gaps[0]
    text = (
        f"To hide the median person among {found.k} costs {percent(gap.median)} of what there is "
        f"to lose: her samples grow by {length(1000 * gap.median_km, 2)} and "
        f"{duration(gap.median_minutes)} on average."
    )
    if gap.median == 0:
        return "The median person has nothing to lose; what follows is about the others."
    return text


def _curve(found: "Anonymizability") -> list[str]:
    first, last = found.gaps[0], found.gaps[-1]
    if first is last or first.median == 0:
        return []
    times = last.median / first.median
    text = (
        f"The median k-gap among {last.k} is {times:.1f} times that among {first.k}. It compares "
        f"people two at a time, and is no price of a crowd of {last.k}, which costs more: "
        "anonymize a sample of people to see it."
    )
    return [text]


def _levels(found: "Anonymizability") -> list[str]:
    if not found.levels:
        return []
    coarsest = max(found.levels, key=lambda level: level.metres * level.minutes)
    enough = [level for level in found.levels if level.hidden >= 0.99]  # noqa: PLR2004
    if enough:
        return [f"A grid of {_grid(enough[0])} hides {rounded_percent(enough[0].hidden)} of them."]
    hides = (
        f"hides only {rounded_percent(coarsest.hidden)} of them"
        if coarsest.hidden
        else "hides nobody"
    )
    text = (
        f"Coarser data alone does not do it: even a grid of {_grid(coarsest)} {hides}, because "
        "the grid would have to be as coarse as everybody's hardest sample needs."
    )
    return [text]


def _what(found: "Anonymizability") -> str:
    """Say whether time or space gives people away."""
    causes = found.causes
    above, share = causes.time_above_space or 0.0, causes.median_time_share or 0.0
    if causes.only_time == 1:
        return "Time alone gives people away: their places cost nothing, only when they were seen."
    if causes.only_space == 1:
        return "Space alone gives people away: when they were seen costs nothing, only where."
    if above >= MUCH:
        alone = (
            f"; for {rounded_percent(causes.only_time)} time is all of it"
            if causes.only_time
            else ""
        )
        return (
            f"Time gives people away: for {rounded_percent(above)} it costs more to hide when they "
            f"were seen than where, and for the median person time is {percent(share, 0)} of the "
            f"cost{alone}."
        )
    if above <= 1 - MUCH:
        alone = (
            f"; for {rounded_percent(causes.only_space)} space is all of it"
            if causes.only_space
            else ""
        )
        return (
            f"Space gives people away: for {rounded_percent(1 - above)} it costs as much or more "
            "to hide where they were seen than when, and for the median person space is "
            f"{percent(1 - share, 0)} of the cost{alone}."
        )
    return (
        "Both time and space give people away: time costs more than space for "
        f"{rounded_percent(above)} of them, and is {percent(share, 0)} of the cost of the median "
        "person."
    )


def _how(found: "Anonymizability") -> str:
    """Say whether a few samples cost most."""
    causes = found.causes
    gini = causes.total.gini_median
    if found.samples == found.people:
        return "Everybody has one sample: there is nothing but that one to hide."
    heavy = f"for {rounded_percent(causes.total.heavy)} of people the efforts have a heavy tail"
    if causes.total.heavy >= 0.5:  # noqa: PLR2004
        return (
            f"Most samples are easy to hide and a few are very hard: {heavy}. Merging people "
            "(incrowd anonymize) stretches each sample by what it needs; dropping the hardest "
            "helps further."
        )
    if gini >= 0.4:  # noqa: PLR2004
        return (
            "The cost is uneven: some samples of a person are much harder to hide than others "
            f"(the median Gini coefficient is {gini:.2f}; {heavy}). Merging people (incrowd "
            "anonymize) stretches each sample by what it needs."
        )
    return (
        "The cost is spread over all samples of a person (the median Gini coefficient is "
        f"{gini:.2f}), so that dropping a few of them would not help much."
    )


def _who(found: "Anonymizability") -> list[str]:
    if found.hardest is None:
        text = (
            "Who is hardest to hide is not shown: the group is so small that it would describe "
            "single people."
        )
        return [text]
    traits = {trait.name: trait for trait in found.hardest.traits}
    names = {
        "samples": ("more samples", "fewer samples", "", ".0f"),
        "radius_km": ("move farther", "move less far", " km", ".2g"),
        "per_hour": ("are seen more often", "are seen less often", " times an hour", ".2g"),
        "interval_std_min": ("are seen less regularly", "are seen more regularly", " min", ".0f"),
    }
    told = [
        said
        for name, (more, fewer, unit, form) in names.items()
        if name in traits and (said := _trait(traits[name], more, fewer, unit, form))
    ]
    tell = _listed(told) or "are seen as often, as regularly and in as wide an area as the others"
    return [f"The hardest tenth ({found.hardest.people:,} people) {tell}."]


def _trait(trait: "Trait", more: str, fewer: str, unit: str, form: str) -> str | None:
    mine, others = trait.hardest, trait.others
    if max(mine, others) <= DIFFERENT * min(mine, others):
        return None
    verb = "have " if trait.name == "samples" else ""
    what = more if mine > others else fewer
    spread = "standard deviation of the time between samples " if unit == " min" else ""
    return f"{verb}{what} ({spread}{mine:{form}}{unit} against {others:{form}})"


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), *parts[-1:]]) if len(parts) > 1 else "".join(parts)


def _grid(level: "Level") -> str:
    minutes = level.minutes
    hours = 2 * 60
    long = f"{minutes / 60:g} h" if minutes >= hours and minutes % 60 == 0 else f"{minutes:g} min"
    return f"{level.metres / 1000:g} km and {long}"
