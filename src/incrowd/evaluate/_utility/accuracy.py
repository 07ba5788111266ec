"""What is left of the data's accuracy (the paper of 2021: figures 11 to 14, and table 2).

How things are counted:

- *granularity* of a published box: in space the longer of its two sides, in time its length.
  Every box counts once for each person of its crowd, since each of them gets a record (a *row*).
- *error* of a sample of the original: from its centre to the centre of the published box of that
  person that holds it, in a straight line; in time likewise. If several hold it, the smallest
  does (cells times slots; of equals the first).
- *deleted*: a sample that no box of its person holds; those of people who were dropped are among
  them. Where the original has samples of more than one slot, one box must hold all of it.
- *created*: a row with an edge, in space or time, that is no edge of a true sample of its people,
  as in the verification's check "no invention"; where edges were rounded outwards, that is rounded
  to it. GLOVE creates none. A mechanism that moves
  samples (W4M, noise) creates those that it moved as well: nothing in the release tells a sample
  that was moved from one that was fabricated.
- *unseen*: an unwitnessed row, in whose place none of its people was seen at its time. Cutting in
  time makes such rows of boxes that are true: a piece in the middle of what a crowd did before and
  after.

Errors, deleted samples and created rows can be measured only where it is known who became whom.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from incrowd._format import count_of, duration, length, people, percent
from incrowd._numba import Ints
from incrowd._parallel import cores, on_threads
from incrowd._summary import Summarised, Summary
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, InputError
from incrowd.evaluate._comparison import BeforeAfter
from incrowd.evaluate._utility._kernels import (
    check_edges,
    count_up_to,
    coverage_errors,
    latest_ends,
)
from incrowd.evaluate._utility.distributions import Distribution, Tally
from incrowd.measure._centres import blocks_of

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = [
    "SPACE",
    "TIME",
    "Accuracy",
    "Curve",
    "SampleSizes",
    "accuracy",
    "accuracy_table",
    "errors_in",
    "rows_in",
    "sizes_of",
    "tallied",
    "units_in",
]


SPACE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)
"""Thresholds in metres."""
TIME = (1, 5, 10, 30, 60, 120, 240, 480, 1_440, 2_880, 10_080)
"""Thresholds in minutes."""
PERSON_SPACE, PERSON_TIME = (100, 500, 1_000, 2_000, 5_000, 10_000), (10, 30, 60, 120, 240, 480)
"""Thresholds of figure 12: in metres and in minutes."""
PER_CENT = tuple(range(0, 101, 5))
NOWHERE = np.int64(2**62)
"""Larger than every box: the size of the box of a sample that lies in none."""
FINE, COARSE = (100, 30), (2_000, 120)
"""What section 7.1 of the paper asks for: metres and minutes."""


@dataclass(frozen=True, slots=True)
class Curve:
    """How many people have how many of their samples up to a threshold (figure 12).

    Attributes
    ----------
    threshold
        In metres or in minutes.
    people
        The share of published people with at least 0, 5, 10, ... 100 % of their samples up to it.
    nobody
        The share of people of whom not one sample is.
    """

    threshold: float
    people: tuple[float, ...]
    nobody: float


@dataclass(frozen=True, slots=True)
class SampleSizes:
    """How wide, or how long, the boxes are that hold the samples of the original.

    Attributes
    ----------
    cumulative
        Thresholds, in metres or in minutes, each with the share of all samples of the original
        that lie in a box up to it; what is deleted lies in none.
    median
        What half of all samples do not exceed; None where half of them or more are deleted.
    people
        How many people of the original have how many of their samples up to a threshold.
    """

    cumulative: tuple[tuple[float, float], ...]
    median: float | None
    people: tuple[Curve, ...]

    def up_to(self, threshold: float) -> float:
        """Give the share of samples up to one of the thresholds."""
        return dict(self.cumulative)[threshold]


@dataclass(frozen=True, slots=True, repr=False)
class Accuracy(Summarised):
    """How accurate a release is. What needs to know who became whom is None without that.

    Attributes
    ----------
    people, samples
        Of the original.
    people_published, people_dropped
        How many of these people are in the release, and how many are not.
    boxes, rows
        Published boxes; each is a row for everybody in its crowd.
    space, time
        The granularity of rows, in metres and in minutes (figure 11); None if there are none.
    fine, coarse
        The share of rows up to 100 m and 30 min, and up to 2 km and 2 h.
    people_by_space, people_by_time
        The same person by person (figure 12).
    rows_created, rows_unseen
        See above.
    samples_deleted
        Samples of the original that no box holds.
    position_error, time_error
        Of the other samples, in metres and in minutes.
    samples_2km, samples_2h, samples_coarse
        The share of all samples of the original that lie in a box of up to 2 km, of up to 2 h, and
        of up to both; what is deleted does not. A row may be a small piece in which few samples
        lie: this tells what became of the samples themselves.
    samples_space, samples_time
        The same for every threshold, and person by person: of all people of the original.
    """

    people: int
    samples: int
    people_published: int
    people_dropped: int
    boxes: int
    rows: int
    space: Distribution | None
    time: Distribution | None
    fine: float | None
    coarse: float | None
    people_by_space: tuple[Curve, ...]
    people_by_time: tuple[Curve, ...]
    rows_created: int | None
    rows_unseen: int | None
    samples_deleted: int | None
    position_error: Distribution | None
    time_error: Distribution | None
    samples_2km: float | None = None
    samples_2h: float | None = None
    samples_coarse: float | None = None
    samples_space: SampleSizes | None = None
    samples_time: SampleSizes | None = None

    @property
    def deleted(self) -> float | None:
        """The share of samples that are deleted."""
        return None if self.samples_deleted is None else self.samples_deleted / self.samples

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        return asdict(self) | {"deleted": self.deleted}

    def figures(self) -> dict[str, float]:
        """Give the figures of section 7 in one row; those that are not known are left out."""
        found: dict[str, float | None] = {
            "people_dropped": self.people_dropped,
            "boxes": self.rows,
            "both_fine": self.fine,
            "both_coarse": self.coarse,
            "created": self.rows_created,
            "unseen": self.rows_unseen,
            "deleted": self.deleted,
            "samples_2km": self.samples_2km,
            "samples_2h": self.samples_2h,
            "samples_coarse": self.samples_coarse,
        }
        for name, of, short in (("space", self.space, "100m"), ("time", self.time, "30min")):
            if of is not None:
                cuts = ("mean", "quarter", "median", "three_quarters")
                found |= {f"{name}_{cut}": getattr(of, cut) for cut in cuts}
                axis = name == "time"
                found[f"{name}_{short}"] = of.up_to(FINE[axis])
                found[f"{name}_{'2h' if axis else '2km'}"] = of.up_to(COARSE[axis])
        for name, of in (("space", self.position_error), ("time", self.time_error)):
            found[f"{name}_error"] = None if of is None else of.mean
            found[f"{name}_error_median"] = None if of is None else of.median
        return {name: value for name, value in found.items() if value is not None}

    def plot(self) -> "alt.HConcatChart":
        """Return a chart (Altair) of how wide and how long published rows are (figure 11).

        Raises
        ------
        InputError
            If nothing is published.
        """
        import altair as alt

        from incrowd._charts import BLUE, data_of, in_words, share_axis, styled

        if self.space is None or self.time is None:
            raise InputError("nothing is published, so there is nothing to be drawn")
        sides = (("at most so wide", self.space, True), ("at most so long", self.time, False))
        bars = []
        for title, of, metres in sides:
            rows = [
                {"size": in_words(at, metres=metres), "share": share} for at, share in of.cumulative
            ]
            last = next((i for i, row in enumerate(rows) if row["share"] == 1), len(rows) - 1)
            bars.append(
                alt.Chart(data_of(rows[: last + 1]))
                .mark_bar(color=BLUE)
                .encode(
                    x=alt.X("size:N", sort=None, title=title, axis=alt.Axis(labelAngle=-45)),
                    y=share_axis("share", "published rows"),
                    tooltip=[alt.Tooltip("size:N"), alt.Tooltip("share:Q", format=".1%")],
                )
                .properties(width=260, height=240)
            )
        found: alt.HConcatChart = styled(alt.hconcat(*bars), "How precise published rows are")
        return found

    def _summary(self) -> Summary:
        facts = {"people published": count_of(self.people_published, self.people)}
        if self.space is not None and self.time is not None:
            wide, long = self.space, self.time
            facts |= {
                "width of rows": f"median {length(wide.median)}, mean {length(wide.mean)}",
                "length of rows": f"median {duration(long.median)}, mean {duration(long.mean)}",
            }
        shares = {
            "rows up to 100 m and 30 min": self.fine,
            "rows up to 2 km and 2 h": self.coarse,
            "samples deleted": self.deleted,
            "samples in boxes up to 2 km and 2 h": self.samples_coarse,
        }
        facts |= {name: percent(share) for name, share in shares.items() if share is not None}
        if self.position_error is not None and self.time_error is not None:
            facts["error of the others, in space"] = f"median {length(self.position_error.median)}"
            facts["error of the others, in time"] = f"median {duration(self.time_error.median)}"
        if self.rows_unseen:
            facts["rows in which nobody was seen"] = count_of(self.rows_unseen, self.rows)
        return Summary(f"Accuracy of a release of {people(self.people_published)}", facts)


def accuracy(pair: BeforeAfter, *, threads: int | None = None) -> Accuracy:
    """Measure how accurate a release is.

    Parameters
    ----------
    pair
        The data before and after, as `incrowd.of_release` or `incrowd.of_files` gives it.
    threads
        How many threads to use; all cores, unless given. The result does not depend on it.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 7.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> found = incrowd.accuracy(incrowd.of_release(city, incrowd.glove(city, k=2)))
    >>> found.people_dropped, found.samples_deleted, found.rows_created
    (0, 0, 0)
    """
    pair = BeforeAfter.of(pair)
    before, after = pair.before, pair.after
    workers = cores(threads)
    if not before.samples:
        raise InputError("there is nothing to compare with: the original has no samples")
    if bool(np.any(before.crowd != 1)):
        raise ArgumentError("the original must have one person a trajectory; this one has crowds")
    published = int(after.crowd.sum())
    wide, long = sizes_of(after)
    known: dict[str, Any] = dict.fromkeys(
        ("rows_created", "rows_unseen", "samples_deleted", "position_error", "time_error")
    )
    dropped = len(before) - published
    if pair.became is not None:
        dropped = int((pair.became < 0).sum())
        known = errors_in(pair, pair.became, workers) | rows_in(pair, pair.became, workers)
    space, time = tallied(after, wide, long, after.crowd)
    metres, minutes = after.frame.cell, after.frame.slot / 60
    weight = np.repeat(after.crowd, after.lengths())
    shares = [
        int(weight[(wide * metres <= space) & (long * minutes <= time)].sum()) / weight.sum()
        for space, time in (FINE, COARSE)
        if len(weight)
    ]
    fine, coarse = map(float, shares) if shares else (None, None)
    return Accuracy(
        people=len(before),
        samples=before.samples,
        people_published=published,
        people_dropped=dropped,
        boxes=after.samples,
        rows=int(weight.sum()),
        space=space,
        time=time,
        fine=fine,
        coarse=coarse,
        people_by_space=_curves(after, wide, metres, PERSON_SPACE),
        people_by_time=_curves(after, long, minutes, PERSON_TIME),
        **known,
    )


def errors_in(pair: BeforeAfter, became: Ints, threads: int) -> dict[str, Any]:
    """Find the samples that are held, and how far off."""
    before, after = pair.before, pair.after
    reach = latest_ends(after.t1, after.offsets)
    units = after.frame.cell, after.frame.slot / 60
    limits = [
        np.array([units_in(threshold, unit) for threshold in thresholds], np.int64)
        for thresholds, unit in zip((PERSON_SPACE, PERSON_TIME), units, strict=True)
    ]
    coarse = [units_in(*pair) for pair in zip(COARSE, units, strict=True)]

    def work(part: tuple[int, int]) -> "_Held":
        bounds = before.offsets[part[0] : part[1] + 1] - before.offsets[part[0]]
        most = int(bounds[-1])
        squares, late = np.empty(most), np.empty(most, np.int64)
        sizes = np.full(most, NOWHERE), np.full(most, NOWHERE)
        held = coverage_errors(
            *part, before.columns, before.offsets, became, after.columns, after.offsets, reach,
            squares, late, *sizes,
        )  # fmt: skip
        both = int(((sizes[0] <= coarse[0]) & (sizes[1] <= coarse[1])).sum())
        counts = [count_up_to(of, bounds, upto) for of, upto in zip(sizes, limits, strict=True)]
        tallies = [Tally.of(of[of < NOWHERE]) for of in sizes]
        return _Held(held, Tally.of(squares[:held]), Tally.of(late[:held]), both, tallies, counts)

    found = list(on_threads(threads, work, blocks_of(before.offsets)))
    squares = Tally.together(part.squares for part in found)
    away = Tally(np.sqrt(squares.values), squares.counts)
    late = Tally.together(part.late for part in found)
    frame = before.frame
    space, time = (
        _sample_sizes(
            Tally.together(part.sizes[axis] for part in found), before, unit,
            (SPACE, TIME)[axis], (PERSON_SPACE, PERSON_TIME)[axis],
            np.concatenate([part.counts[axis] for part in found]),
        )
        for axis, unit in enumerate(units)
    )  # fmt: skip
    return {
        "samples_deleted": before.samples - sum(part.held for part in found),
        "position_error": Distribution.of(away, frame.cell / 2, (0, *SPACE)),
        "time_error": Distribution.of(late, frame.slot / 120, (0, *TIME)),
        "samples_2km": space.up_to(COARSE[0]),
        "samples_2h": time.up_to(COARSE[1]),
        "samples_coarse": sum(part.both for part in found) / before.samples,
        "samples_space": space,
        "samples_time": time,
    }


class _Held(NamedTuple):
    """What is found of the samples of some people."""

    held: int
    squares: Tally
    late: Tally
    both: int
    sizes: list[Tally]
    counts: list[Ints]


def _sample_sizes(
    sizes: Tally,
    original: Trajectories,
    unit: float,
    thresholds: Sequence[float],
    of_people: Sequence[float],
    counts: Ints,
) -> SampleSizes:
    """Tell how large the boxes are in which samples lie, all samples of the original counting."""
    upto = np.cumsum(sizes.counts)

    def share(threshold: float) -> float:
        number = int(np.searchsorted(sizes.values, units_in(threshold, unit), side="right"))
        return (int(upto[number - 1]) if number else 0) / original.samples

    half = int(np.searchsorted(upto, -(-original.samples // 2)))
    return SampleSizes(
        cumulative=tuple((threshold, share(threshold)) for threshold in thresholds),
        median=float(sizes.values[half]) * unit if half < len(upto) else None,
        people=_curves_of(counts, original.lengths(), original.crowd.astype(np.int64), of_people),
    )


def rows_in(pair: BeforeAfter, became: Ints, threads: int) -> dict[str, Any]:
    """Count the rows that have an edge of nobody's, and those where nobody was seen."""
    before, after = pair.before, pair.after
    people = np.flatnonzero(became >= 0)
    members = people[np.argsort(became[people], kind="stable")]
    count = np.bincount(became[people], minlength=len(after))
    groups = np.concatenate([[0], np.cumsum(count)])
    longest = int((before.t1 - before.t0).max(initial=1))
    created, unseen = np.zeros(after.samples, np.bool_), np.zeros(after.samples, np.bool_)

    def work(part: tuple[int, int]) -> None:
        check_edges(
            *part, members, groups, before.columns, before.offsets, longest,
            after.columns, after.offsets, *pair.edges, created, unseen,
        )  # fmt: skip

    for _ in on_threads(threads, work, blocks_of(after.offsets)):
        pass
    rows = np.repeat(after.crowd.astype(np.int64), after.lengths())
    return {"rows_created": int(rows[created].sum()), "rows_unseen": int(rows[unseen].sum())}


def accuracy_table(
    pairs: Mapping[str, BeforeAfter], *, threads: int | None = None
) -> "pl.DataFrame":
    """Lay the accuracy of several releases side by side (figures 13 and 14, and table 2).

    Parameters
    ----------
    pairs
        The original and a release, by the name that the row shall have.
    threads
        How many threads to use; all cores unless given.

    Returns
    -------
    polars.DataFrame
        name, and what `Accuracy.figures` gives; null where it is not known.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.evaluate import accuracy_table
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> pairs = {f"k = {k}": incrowd.of_release(city, incrowd.glove(city, k)) for k in (2, 5)}
    >>> accuracy_table(pairs)["name"].to_list()
    ['k = 2', 'k = 5']
    """
    import polars as pl

    rows = [{"name": name} | accuracy(of, threads=threads).figures() for name, of in pairs.items()]
    return pl.DataFrame(rows, infer_schema_length=None)


def sizes_of(published: Trajectories) -> tuple[Ints, Ints]:
    """Give the granularity of every box: cells along its longer side, and slots."""
    sides = [
        np.subtract(end, start, dtype=np.int64)
        for start, end in zip(published.columns[::2], published.columns[1::2], strict=True)
    ]
    return np.maximum(sides[0], sides[1]), sides[2]


def tallied(
    published: Trajectories, wide: Ints, long: Ints, people: Any
) -> tuple[Distribution | None, Distribution | None]:
    """Give the granularity in space and time, boxes counting once for each of so many people."""
    weight = np.repeat(people, published.lengths())
    frame = published.frame
    return (
        Distribution.of(Tally.of(wide, weight), frame.cell, SPACE),
        Distribution.of(Tally.of(long, weight), frame.slot / 60, TIME),
    )


def _curves(
    published: Trajectories, sizes: Ints, unit: float, thresholds: Sequence[float]
) -> tuple[Curve, ...]:
    """Give how many people have how many samples up to each threshold; who has none is nobody."""
    limits = np.array([units_in(threshold, unit) for threshold in thresholds], np.int64)
    counts = count_up_to(sizes, published.offsets, limits)
    people = published.crowd.astype(np.int64)
    return _curves_of(counts, published.lengths(), people, thresholds)


def _curves_of(
    counts: Ints, lengths: Ints, people: Ints, thresholds: Sequence[float]
) -> tuple[Curve, ...]:
    """Give the same from the number of samples up to each threshold."""
    people = people[lengths > 0]
    total = int(people.sum())
    if not total:
        return ()
    counts, lengths = counts[lengths > 0], lengths[lengths > 0]
    found = []
    for threshold, below in zip(thresholds, counts.T, strict=True):
        shares = [int(people[100 * below >= x * lengths].sum()) / total for x in PER_CENT]
        found.append(Curve(threshold, tuple(shares), int(people[below == 0].sum()) / total))
    return tuple(found)


def units_in(threshold: float, unit: float) -> int:
    """Give how many whole units a threshold holds."""
    number = int(threshold / unit)
    while (number + 1) * unit <= threshold:
        number += 1
    while number * unit > threshold:
        number -= 1
    return number
