"""What GLOVE gives back: the merged trajectories, who is in which, and what was lost.

::

    Run ──> crowds_of ──> (k_merge: boxes_of_crowds) ──> release_of: (edges: rounded) ──> Release

`Losses` are counted on what is published.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._numba import kernel
from incrowd._summary import Summarised, Summary
from incrowd.data._trajectories import Trajectories
from incrowd.protect._glove.edges import Edges, rounded
from incrowd.protect._glove.words import (
    GUARANTEE,
    METHOD,
    explanation_of,
    limits_of,
    promises_of,
)
from incrowd.protect._mechanism import summary_of

if TYPE_CHECKING:
    from incrowd.protect._glove.engine import Run
    from incrowd.protect._glove.k_merge import Boxed

__all__ = [
    "Crowds",
    "Losses",
    "Release",
    "crowds_of",
    "merges_of",
    "published",
    "regrouped",
    "release_of",
    "together",
    "uncovered",
]


@dataclass(frozen=True, slots=True, repr=False)
class Losses(Summarised, Mapping[str, int]):
    """What was lost, counted in people, samples of the input, and generalised boxes.

    The counts are attributes, and the values of a mapping by the same names.

    Attributes
    ----------
    people_dropped
        People who are not in the release: left over, or emptied.
    people_left_over
        People for whom nobody was left to make a crowd of k, or of enough distinct homes.
    people_emptied
        People of whose trajectory suppression left nothing.
    people_held_back
        People who are left out because of earlier releases of the ledger: all that their crowds
        would have in common would be fewer people than it keeps. None, and not in the mapping,
        without a ledger.
    samples_dropped
        The samples of these people.
    samples_suppressed
        Samples of other people that lie in none of the boxes that are published for them.
    boxes_suppressed
        Of two-stage merging: boxes that exceeded the thresholds when they were made; or, where
        single samples are suppressed, those (of people or of crowds) that were left out of a merge.
        None, and not in the mapping, of optimal merging, which makes no box that is too large.
    """

    people_dropped: int
    people_left_over: int
    people_emptied: int
    samples_dropped: int
    samples_suppressed: int
    boxes_suppressed: int | None
    people_held_back: int | None = None

    def __getitem__(self, name: str) -> int:
        if name not in self._counted():
            raise KeyError(name)
        return int(getattr(self, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._counted())

    def __len__(self) -> int:
        return len(self._counted())

    def _counted(self) -> list[str]:
        names = [each.name for each in fields(self) if getattr(self, each.name) is not None]
        return sorted(names, key=lambda name: not name.startswith("people"))

    def _summary(self) -> Summary:
        counts = {name.replace("_", " "): f"{number:,}" for name, number in self.items()}
        return Summary("What was lost", counts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release(Summarised):
    """What GLOVE made of a dataset.

    Attributes
    ----------
    trajectories
        What is to be published; the crowd says for how many people each one stands.
    assignment
        For every person (user) the index of the trajectory that stands for her; null if dropped.
        The table names people: do not print or save it where others read, such as in a notebook.
    merges
        Older, younger and cost of each merge, in order. Indices count people of the input first,
        then merges. Refined crowds began with what these made.
    losses
        What was lost.
    settings
        What was asked for, in plain values, as the manifest of a release has them.
    """

    trajectories: Trajectories
    assignment: pl.DataFrame
    merges: pl.DataFrame
    losses: Losses
    settings: dict[str, Any]

    @property
    def method(self) -> str:
        """The name of what was done."""
        return METHOD

    @property
    def guarantee(self) -> str:
        """The name of what is guaranteed."""
        return GUARANTEE

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        return promises_of(self.settings)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        return limits_of(self.settings)

    @property
    def explanation(self) -> tuple[str, ...]:
        """What was done to the data, in plain sentences."""
        return explanation_of(self.settings)

    def _summary(self) -> Summary:
        return summary_of(self)


class Crowds(NamedTuple):
    """Who is together at the end.

    Attributes
    ----------
    members, groups
        The people of crowd c are ``members[groups[c]:groups[c + 1]]``, crowds in the order of their
        last merges.
    node
        The index of each crowd: that of a person of the input, or of a merge.
    size
        How many people each crowd stands for.
    place, last
        The crowd of every person, -1 for who is in none; and the index of her last merge.
    """

    members: NDArray[np.int64]
    groups: NDArray[np.int64]
    node: NDArray[np.int64]
    size: NDArray[np.int32]
    place: NDArray[np.int64]
    last: NDArray[np.int64]


def crowds_of(data: Trajectories, run: "Run") -> Crowds:
    """Return the crowds of k that merges have made: line 20 of Algorithm 1."""
    people, merges = len(data), run.merges
    log, last = run.log, len(data) + run.merges
    parent = np.full(last, -1, np.int64)
    younger = np.arange(people, last)
    parent[log.older[:merges]] = younger
    parent[log.younger[:merges]] = younger
    root = np.arange(last)
    for node in range(last - 1, -1, -1):
        if parent[node] >= 0:
            root[node] = root[parent[node]]
    crowd = run.nodes.crowd[:last]
    complete = crowd >= run.rules.k
    if run.rules.homes:
        complete &= run.index.variety.homes[:last, 0] >= run.rules.homes
    final = np.flatnonzero((parent < 0) & complete)
    index = np.full(last, -1, np.int64)
    index[final] = np.arange(len(final))
    place = index[root[:people]]
    members, groups = together(place, len(final))
    size = crowd[final].astype(np.int32)
    return Crowds(members, groups, final, size, place, root[:people])


def together(place: NDArray[np.int64], number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the people of each crowd, and where those of each begin, by the crowd of everybody."""
    who = np.flatnonzero(place >= 0)
    members = who[np.argsort(place[who], kind="stable")]
    count = np.bincount(place[who], minlength=number)
    return members, np.concatenate([[0], np.cumsum(count)])


def regrouped(data: Trajectories, crowds: Crowds, place: NDArray[np.int64]) -> Crowds:
    """Return crowds after people have changed places; `place` tells the crowd of each."""
    used, place = np.unique(place, return_inverse=True)
    members, groups = together(place, len(used))
    size = np.bincount(place, data.crowd).astype(np.int32)
    return Crowds(members, groups, used, size, place, crowds.last)


def release_of(
    data: Trajectories,
    run: "Run",
    settings: dict[str, Any],
    boxed: "Boxed | None" = None,
    crowds: Crowds | None = None,
    *,
    edges: Edges | None = None,
) -> Release:
    """Return what is published, and count what is not.

    The boxes are those of k-merge, if given, and otherwise those that the merges have made; and
    so are the crowds.
    """
    crowds = crowds or crowds_of(data, run)
    return published(data, crowds, settings, boxed, merges_of(run), run, edges=edges)


def published(
    data: Trajectories,
    crowds: Crowds,
    settings: dict[str, Any],
    boxed: "Boxed | None",
    merges: pl.DataFrame,
    run: "Run | None" = None,
    held_back: NDArray[np.bool_] | None = None,
    *,
    edges: Edges | None = None,
) -> Release:
    """Return what is published of crowds; `held_back` tells who is not, for earlier releases.

    The run is that whose merges have made the boxes, where k-merge has not. Whichever boxes they
    are, this is where they are rounded.
    """
    if boxed is None:
        assert run is not None  # noqa: S101  it has made them
        start, end = (of[crowds.node] for of in (run.nodes.start, run.nodes.end))
        lengths = end - start
        columns, offsets = _collect(crowds.node, start, lengths, data, run)
        emptied = run.nodes.start[crowds.last] == run.nodes.end[crowds.last]
    else:
        lengths, columns = boxed.lengths, boxed.columns
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        emptied = crowds.place >= 0
    # Who has no box left is not published; the others move together.
    there = lengths > 0
    index = np.where(there, np.cumsum(there) - 1, -1)
    place = np.where(crowds.place < 0, -1, np.append(index, -1)[crowds.place])
    dropped = place < 0
    offsets = np.concatenate([[0], offsets[1:][there]])
    trajectories = Trajectories(columns, offsets, data.frame, crowd=crowds.size[there])
    if edges is not None:
        trajectories = rounded(trajectories, edges)
    columns, offsets = trajectories.columns, trajectories.offsets
    kept_out = np.zeros(len(data), np.bool_) if held_back is None else held_back
    losses = Losses(
        people_dropped=int(data.crowd[dropped].sum()),
        people_left_over=int(data.crowd[dropped & ~emptied & ~kept_out].sum()),
        people_emptied=int(data.crowd[dropped & emptied].sum()),
        samples_dropped=int(data.lengths()[dropped].sum()),
        samples_suppressed=int(uncovered(data.columns, data.offsets, place, columns, offsets)),
        boxes_suppressed=int(run.log.counts[3]) if run is not None and boxed is None else None,
        people_held_back=None if held_back is None else int(data.crowd[held_back].sum()),
    )
    assigned = pl.Series("trajectory", place.astype(np.int32))
    assignment = pl.DataFrame([data.people.alias("user"), assigned]).with_columns(
        pl.when(pl.col("trajectory") >= 0).then(pl.col("trajectory"))
    )
    return Release(trajectories, assignment, merges, losses, settings)


def merges_of(run: "Run", whose: NDArray[np.int64] | None = None) -> pl.DataFrame:
    """Return the merges of a run, by the numbers that its people and merges have elsewhere."""
    log, merges = run.log, run.merges
    whose = np.arange(run.index.people + merges) if whose is None else whose
    whose = whose.astype(np.int32)
    return pl.DataFrame(
        {
            "older": whose[log.older[:merges]],
            "younger": whose[log.younger[:merges]],
            "cost": log.numerator[:merges] / np.maximum(log.denominator[:merges], 1),
        }
    )


def _collect(
    nodes: NDArray[np.int64],
    start: NDArray[np.int64],
    lengths: NDArray[np.int64],
    data: Trajectories,
    run: "Run",
) -> tuple[tuple[NDArray[np.int32], ...], NDArray[np.int64]]:
    """Lay the samples of what is published one behind the other."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    base = data.samples
    own = nodes < len(data)
    row = np.repeat(start - offsets[:-1], lengths) + np.arange(offsets[-1])
    mine = np.repeat(own, lengths)
    columns = []
    for old, new in zip(data.columns, run.arena[:6], strict=True):
        column = np.empty(len(row), np.int32)
        column[mine], column[~mine] = old[row[mine]], new[row[~mine] - base]
        columns.append(column)
    return tuple(columns), offsets


@kernel
def uncovered(  # noqa: C901
    samples: tuple[NDArray[np.int32], ...],
    offsets: NDArray[np.int64],
    place: NDArray[np.int64],
    boxes: tuple[NDArray[np.int32], ...],
    bounds: NDArray[np.int64],
) -> int:
    """Count the samples that lie in none of the boxes that are published for their people."""
    x0, x1, y0, y1, t0, t1 = samples
    bx0, bx1, by0, by1, bt0, bt1 = boxes
    count, longest = 0, 0
    for j in range(len(bounds) - 1):
        longest = max(longest, bounds[j + 1] - bounds[j])
    reach = np.empty(longest, np.int32)  # the latest end among the boxes up to each one
    for person in range(len(place)):
        if place[person] < 0:
            continue
        first, last = bounds[place[person]], bounds[place[person] + 1]
        for j in range(first, last):
            reach[j - first] = max(bt1[j], reach[j - 1 - first]) if j > first else bt1[j]
        low = first
        for i in range(offsets[person], offsets[person + 1]):
            # Samples come in the order of their start: what is over by now stays so.
            while low < last and reach[low - first] <= t0[i]:
                low += 1
            at, moved = t0[i], True
            while moved and at < t1[i]:
                moved = False
                for j in range(low, last):
                    if bt0[j] > at:
                        break
                    if (
                        at < bt1[j]
                        and bx0[j] <= x0[i]
                        and x1[i] <= bx1[j]
                        and by0[j] <= y0[i]
                        and y1[i] <= by1[j]
                    ):
                        at, moved = bt1[j], True
            count += at < t1[i]
    return count
