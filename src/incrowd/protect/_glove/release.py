"""What GLOVE gives back: the merged trajectories, who is in which, and what was lost.

::

    Run (finished) ──> release_of ──> Release, with Losses counted on what is published
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._numba import kernel
from incrowd.data._trajectories import Trajectories
from incrowd.protect._glove.words import (
    GUARANTEE,
    METHOD,
    explanation_of,
    limits_of,
    promises_of,
)

if TYPE_CHECKING:
    from incrowd.protect._glove.engine import Run

__all__ = [
    "Losses",
    "Release",
    "release_of",
]


@dataclass(frozen=True, slots=True)
class Losses(Mapping[str, int]):
    """What was lost, counted in people, samples of the input, and generalised boxes.

    The counts are attributes, and the values of a mapping by the same names.

    Attributes
    ----------
    people_dropped
        People who are not in the release: left over, or emptied.
    people_left_over
        People for whom nobody was left to make a crowd of k.
    people_emptied
        People of whose trajectory suppression left nothing.
    samples_dropped
        The samples of these people.
    samples_suppressed
        Samples of other people that lie in none of the boxes that are published for them.
    boxes_suppressed
        Boxes that exceeded the thresholds when they were made; or, where single samples are
        suppressed, those (of people or of crowds) that were left out of a merge.
    """

    people_dropped: int
    people_left_over: int
    people_emptied: int
    samples_dropped: int
    samples_suppressed: int
    boxes_suppressed: int

    def __getitem__(self, name: str) -> int:
        if name not in COUNTS:
            raise KeyError(name)
        return int(getattr(self, name))

    def __iter__(self) -> Iterator[str]:
        return iter(COUNTS)

    def __len__(self) -> int:
        return len(COUNTS)


COUNTS = tuple(each.name for each in fields(Losses))


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What GLOVE made of a dataset.

    Attributes
    ----------
    trajectories
        What is to be published; the crowd says for how many people each one stands.
    assignment
        For every person (user) the index of the trajectory that stands for her; null if dropped.
    merges
        Older, younger and cost of each merge, in order. Indices count people of the input first,
        then merges.
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


def release_of(data: Trajectories, run: "Run", settings: dict[str, Any]) -> Release:
    """Return what is left at the end, and count what is not: line 20 of Algorithm 1."""
    people, merges, k = len(data), run.merges, run.rules.k
    nodes, log = run.nodes, run.log
    parent = np.full(people + merges, -1, np.int64)
    younger = np.arange(people, people + merges)
    parent[log.older[:merges]] = younger
    parent[log.younger[:merges]] = younger
    last = people + merges
    start, end = nodes.start[:last], nodes.end[:last]
    crowd = nodes.crowd[:last]
    final = parent < 0
    published = np.flatnonzero(final & (crowd >= k) & (end > start))
    root = np.arange(last)
    for node in range(last - 1, -1, -1):
        if parent[node] >= 0:
            root[node] = root[parent[node]]
    index = np.full(last, -1, np.int64)
    index[published] = np.arange(len(published))
    place = index[root[:people]]
    empty = end[root[:people]] == start[root[:people]]
    dropped = place < 0
    columns, offsets = _collect(published, start, end, data, run)
    trajectories = Trajectories(
        columns, offsets, data.frame, crowd=crowd[published].astype(np.int32)
    )
    losses = Losses(
        people_dropped=int(data.crowd[dropped].sum()),
        people_left_over=int(data.crowd[dropped & ~empty].sum()),
        people_emptied=int(data.crowd[dropped & empty].sum()),
        samples_dropped=int(data.lengths()[dropped].sum()),
        samples_suppressed=int(_uncovered(data.columns, data.offsets, place, columns, offsets)),
        boxes_suppressed=int(log.counts[3]),
    )
    assigned = pl.Series("trajectory", place.astype(np.int32))
    assignment = pl.DataFrame([data.people.alias("user"), assigned]).with_columns(
        pl.when(pl.col("trajectory") >= 0).then(pl.col("trajectory"))
    )
    table = pl.DataFrame(
        {
            "older": log.older[:merges],
            "younger": log.younger[:merges],
            "cost": log.numerator[:merges] / np.maximum(log.denominator[:merges], 1),
        }
    )
    return Release(trajectories, assignment, table, losses, settings)


def _collect(
    published: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    data: Trajectories,
    run: "Run",
) -> tuple[tuple[NDArray[np.int32], ...], NDArray[np.int64]]:
    """Lay the samples of what is published one behind the other."""
    lengths = (end - start)[published]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    base = data.samples
    own = published < len(data)
    row = np.repeat(start[published] - offsets[:-1], lengths) + np.arange(offsets[-1])
    mine = np.repeat(own, lengths)
    columns = []
    for old, new in zip(data.columns, run.arena[:6], strict=True):
        column = np.empty(len(row), np.int32)
        column[mine], column[~mine] = old[row[mine]], new[row[~mine] - base]
        columns.append(column)
    return tuple(columns), offsets


@kernel
def _uncovered(
    samples: tuple[NDArray[np.int32], ...],
    offsets: NDArray[np.int64],
    place: NDArray[np.int64],
    boxes: tuple[NDArray[np.int32], ...],
    bounds: NDArray[np.int64],
) -> int:
    """Count the samples that lie in none of the boxes that are published for their people."""
    x0, x1, y0, y1, t0, t1 = samples
    bx0, bx1, by0, by1, bt0, bt1 = boxes
    count = 0
    for person in range(len(place)):
        if place[person] < 0:
            continue
        first, last = bounds[place[person]], bounds[place[person] + 1]
        for i in range(offsets[person], offsets[person + 1]):
            at, moved = t0[i], True
            while moved and at < t1[i]:
                moved = False
                for j in range(first, last):
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
