"""k-merge: the best boxes of a crowd, exactly, from the samples of its members.

The members' samples, in the order of time, are cut into groups that follow each other; each group
holds a sample of every member and becomes the smallest box around it::

    Alma     a       a            a   a         a        time ->
    Binta       b         b                  b      b
            └── box ──┘   └── box ──┘        └─ box ┘
                       (the third a is cut to the left or to the right, where it costs less)

So boxes do not overlap in time, and every one is true of every member. What a box costs is the
stretch effort, by equations (1) to (3), of each sample in it against the whole box, times the
people whom the sample stands for; dynamic programming over the cuts finds the boxes that cost
least together. Of those that cost the same it takes the one with most boxes; then, from the last
box back, the box that ends later, starts later, and has the smaller (x0, x1, y0, y1).

Samples that meet in time cannot be cut apart: those of the same slot, or longer ones that overlap.
They are one *atom*. A group that can be cut into two is never best, for both its boxes cost no
more than the one: so the search for the start of a group ends where one more fits in before it
(`cuts`).

With thresholds for boxes, or a price for deleting a sample, a sample that lies in no box is
deleted. Then a box need not hold everything between its start and its end, and the best place is
searched as well (see `deletion`).
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, Ints, kernel, kernel_private
from incrowd._parallel import on_threads
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError
from incrowd.measure._stretch.effort import Scale
from incrowd.protect._glove.cuts import cut
from incrowd.protect._glove.deletion import choose
from incrowd.protect._glove.merge import ANY
from incrowd.protect._glove.samples import (
    FEWEST,
    KEEP_ALL,
    NEVER,
    Limits,
    Sides,
    in_time,
)

if TYPE_CHECKING:
    from incrowd.protect._glove.release import Crowds

__all__ = [
    "Boxed",
    "Objective",
    "Priced",
    "best_boxes",
    "boxes_of_crowds",
    "compile_kernels",
    "losses_of_crowds",
    "objective_of",
]


T = TypeVar("T")
Columns = tuple[Sides, ...]

CROWDS = 64
"""How many crowds are done together."""


class Boxed(NamedTuple):
    """The boxes of some crowds, one crowd after the other.

    Attributes
    ----------
    columns
        x0, x1, y0, y1, t0, t1 of each box.
    lengths
        How many boxes each crowd has; none if thresholds leave none.
    loss
        What the samples of a crowd lose, in units of one over `Scale.whole`.
    deleted, weight
        The samples that are deleted, and all of them, each times the people it stands for.
    """

    columns: Columns
    lengths: Ints
    loss: Ints
    deleted: Ints
    weight: Ints


def boxes_of_crowds(
    data: Trajectories,
    members: Ints,
    groups: Ints,
    scale: Scale,
    limits: Limits,
    *,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Boxed:
    """Find the best boxes of crowds; ``members[groups[c]:groups[c + 1]]`` are those of crowd c."""
    keep_all = limits.price == KEEP_ALL

    def work(job: tuple[int, int]) -> Boxed:
        given = (*job, members, groups, data.columns, data.offsets, data.crowd, scale)
        found = cut_crowds(*given) if keep_all else choose_crowds(*given, limits)
        return Boxed(tuple(side[: found[1].sum()] for side in found[0]), *found[1:])

    parts = list(_in_jobs(len(groups) - 1, work, threads, progress))
    empty = np.empty(0, np.int64)
    columns = tuple(
        np.concatenate([part.columns[side] for part in parts] or [np.empty(0, np.int32)])
        for side in range(6)
    )
    counts: list[Any] = [
        np.concatenate([getattr(part, name) for part in parts] or [empty])
        for name in ("lengths", "loss", "deleted", "weight")
    ]
    return Boxed(columns, *counts)


def _in_jobs(
    number: int,
    work: Callable[[tuple[int, int]], T],
    threads: int,
    progress: Callable[[int, int], None] | None,
) -> Iterator[T]:
    """Do the work for so many crowds, some at a time; yield what it gives, in order."""
    jobs = list(pairwise([*range(0, number, CROWDS), number])) if number else []
    for job, part in zip(jobs, on_threads(threads, work, jobs), strict=True):
        yield part
        if progress:
            progress(job[1], number)


def losses_of_crowds(
    data: Trajectories,
    members: Ints,
    groups: Ints,
    scale: Scale,
    limits: Limits,
    *,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Ints, Ints]:
    """Give what crowds lose in their best boxes, and how many samples are deleted of each."""

    def work(job: tuple[int, int]) -> tuple[Ints, Ints]:
        given = (*job, members, groups, data.columns, data.offsets, data.crowd, scale)
        if limits.price == KEEP_ALL:
            lost = cut_losses(*given)
            return lost, np.zeros_like(lost)
        found = choose_crowds(*given, limits)
        return found[2], found[3]

    empty = np.empty(0, np.int64)
    parts = [(empty, empty), *_in_jobs(len(groups) - 1, work, threads, progress)]
    loss, deleted = (np.concatenate(side) for side in zip(*parts, strict=True))
    return loss, deleted


class Priced(NamedTuple):
    """The boxes of crowds, and the price of a deleted sample; None if there was none."""

    boxed: Boxed
    price: float | None


def best_boxes(
    data: Trajectories,
    crowds: "Crowds",
    scale: Scale,
    thresholds: tuple[int | None, int | None],
    price: float | None,
    at_most: float | None,
    *,
    threads: int,
    tell: Callable[[int, int], None],
) -> Priced:
    """Find the best boxes of all crowds, at a price or within a share of samples deleted."""
    widest, longest = (ANY if each is None else min(ANY, int(each)) for each in thresholds)

    def boxed(units: int, some: NDArray[np.int64] | None = None) -> Boxed:
        members, groups = crowds.members, crowds.groups
        if some is not None:
            parts = [members[groups[c] : groups[c + 1]] for c in some]
            members = np.concatenate([*parts, members[:0]])
            groups = np.cumsum([0, *map(len, parts)])
        limits = Limits(widest, longest, units)
        show = tell if some is None else None
        return boxes_of_crowds(data, members, groups, scale, limits, threads=threads, progress=show)

    if thresholds == (None, None) and price is None and at_most is None:
        return Priced(boxed(KEEP_ALL), None)
    samples = data.lengths() * data.crowd
    largest = int(np.add.reduceat(samples[crowds.members], crowds.groups[:-1]).max(initial=0))
    top = largest * scale.whole + 1
    if price is not None:
        units = round(Fraction(price) * scale.whole)
        _refuse_large(units, largest)
        return Priced(boxed(units), units / scale.whole)
    _refuse_large(top, largest)
    if at_most is None:
        return Priced(boxed(FEWEST), None)
    total = int(samples[crowds.members].sum())
    allowed = int(Fraction(str(float(at_most))) * total)
    fewest = boxed(KEEP_ALL if thresholds == (None, None) else FEWEST)
    if int(fewest.deleted.sum()) > allowed:
        raise ArgumentError(
            f"the thresholds take at least {fewest.deleted.sum() / total:.2%} of the samples; "
            f"suppress_at_most={at_most} cannot be kept to: allow more, or larger boxes"
        )
    units = _lowest_price(fewest.deleted, allowed, scale.whole, top, boxed)
    return Priced(boxed(units), units / scale.whole)


class Objective(NamedTuple):
    """What is to be as little as possible: the loss, and so much for each sample deleted."""

    scale: Scale
    limits: Limits
    price: int


def objective_of(
    data: Trajectories,
    scale: Scale,
    thresholds: tuple[int | None, int | None],
    price: float | None,
    members: int,
) -> Objective:
    """Give by what crowds are compared: the loss of those boxes that will be published.

    Where a share of samples may be deleted, the price is not known yet, and crowds are compared by
    boxes that keep everything, or as much as thresholds allow. No crowd has more than so many
    members.
    """
    widest, longest = (ANY if each is None else min(ANY, int(each)) for each in thresholds)
    if price is None and thresholds == (None, None):
        return Objective(scale, Limits(ANY, ANY, KEEP_ALL), 0)
    largest = int(np.sort(data.lengths() * data.crowd)[-members:].sum())
    if price is not None:
        units = round(Fraction(price) * scale.whole)
        _refuse_large(units, largest)
        return Objective(scale, Limits(widest, longest, units), units)
    top = largest * scale.whole + 1
    _refuse_large(top, largest)
    return Objective(scale, Limits(widest, longest, FEWEST), top)


def _lowest_price(
    fewest: Ints, allowed: int, whole: int, top: int, boxed: Callable[..., Boxed]
) -> int:
    """Find the lowest price at which no more than allowed is deleted, by halving.

    A higher price never deletes more. So a crowd in which two prices delete the same has the same
    boxes at all prices between them, and need not be looked at again.
    """
    low, high = -1, top
    at_low, at_high = np.full(len(fewest), np.iinfo(np.int64).max), fewest.copy()
    while high - low > 1:
        middle = whole if low < 0 and high == top else (low + high) // 2
        if low < 0 and high <= whole:
            middle = high // 2  # one more halving where nothing is known below
        some = np.flatnonzero(at_low != at_high)
        deleted = at_high.copy()
        deleted[some] = boxed(middle, some).deleted
        if int(deleted.sum()) <= allowed:
            high, at_high = middle, deleted
        else:
            low, at_low = middle, deleted
    return high


def _refuse_large(units: int, samples: int) -> None:
    """Refuse a price with which costs do not fit into 64 bits."""
    if units * samples >= 1 << 61:
        raise ArgumentError(
            f"a crowd of {samples:,} samples and so high a price for each are too much for exact "
            "arithmetic in 64 bits; take a lower suppress_price"
        )


def compile_kernels() -> None:
    """Compile what finds boxes that keep everything, by calling it with next to nothing to do."""
    from incrowd.data._frame import Frame
    from incrowd.measure._stretch.definition import Stretch

    zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
    data = Trajectories((zero, one) * 3, np.arange(2), Frame())
    scale = Stretch().scale()
    groups = np.arange(2)
    boxes_of_crowds(data, groups[:1], groups, scale, Limits(ANY, ANY, KEEP_ALL), threads=1)


@kernel
def cut_crowds(
    first: int,
    last: int,
    members: Ints,
    groups: Ints,
    columns: Columns,
    offsets: Ints,
    crowd: Sides,
    scale: Scale,
) -> tuple[Any, Ints, Ints, Ints, Ints]:
    """Find the best boxes of crowds `first` to `last` that keep everything, as `Boxed` has them."""
    lengths, loss = np.zeros(last - first, np.int64), np.zeros(last - first, np.int64)
    deleted, weight = np.zeros(last - first, np.int64), np.zeros(last - first, np.int64)
    out, used = np.empty((6, most_boxes(first, last, members, groups, offsets)), np.int32), ZERO
    for c in range(first, last):
        mine = members[groups[c] : groups[c + 1]]
        samples = in_time(mine, columns, offsets, crowd)
        weight[c - first] = total_of(samples.weight)
        written, loss[c - first] = cut(samples, len(mine), scale, out, used)
        lengths[c - first] = written
        used += written
    return out, lengths, loss, deleted, weight


@kernel
def cut_losses(
    first: int,
    last: int,
    members: Ints,
    groups: Ints,
    columns: Columns,
    offsets: Ints,
    crowd: Sides,
    scale: Scale,
) -> Ints:
    """Find what crowds `first` to `last` lose in the best boxes that keep everything."""
    loss, out = np.zeros(last - first, np.int64), np.empty((6, 0), np.int32)
    for c in range(first, last):
        most = most_boxes(c, c + 1, members, groups, offsets)
        if out.shape[1] < most:
            out = np.empty((6, 2 * most), np.int32)
        mine = members[groups[c] : groups[c + 1]]
        samples = in_time(mine, columns, offsets, crowd)
        loss[c - first] = cut(samples, len(mine), scale, out, ZERO)[1]
    return loss


@kernel
def choose_crowds(
    first: int,
    last: int,
    members: Ints,
    groups: Ints,
    columns: Columns,
    offsets: Ints,
    crowd: Sides,
    scale: Scale,
    limits: Limits,
) -> tuple[Any, Ints, Ints, Ints, Ints]:
    """Find the best boxes of crowds `first` to `last` within limits, as `Boxed` has them."""
    lengths, loss = np.zeros(last - first, np.int64), np.zeros(last - first, np.int64)
    deleted, weight = np.zeros(last - first, np.int64), np.zeros(last - first, np.int64)
    out, used = np.empty((6, most_boxes(first, last, members, groups, offsets)), np.int32), ZERO
    for c in range(first, last):
        mine = members[groups[c] : groups[c + 1]]
        samples = in_time(mine, columns, offsets, crowd)
        total = total_of(samples.weight)
        written, lost, kept = choose(samples, len(mine), scale, limits, total, out, used)
        lengths[c - first], loss[c - first] = written, lost
        deleted[c - first], weight[c - first] = total - kept, total
        used += written
    return out, lengths, loss, deleted, weight


@kernel_private
def most_boxes(first: int, last: int, members: Ints, groups: Ints, offsets: Ints) -> int:
    """Give the most boxes that crowds can have: each holds a sample of every member."""
    size = ZERO
    for c in range(first, last):
        fewest = NEVER
        for m in range(groups[c], groups[c + 1]):
            fewest = min(fewest, offsets[members[m] + 1] - offsets[members[m]])
        size += fewest
    return int(size)


@kernel_private
def total_of(values: Ints) -> int:
    """Give the sum of some numbers."""
    total = ZERO
    for value in values:
        total += value
    return int(total)
