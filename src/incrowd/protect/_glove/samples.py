"""The samples of a crowd in the order of time, and what each loses in a box."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, Ints, kernel_private
from incrowd.measure._stretch.effort import Scale
from incrowd.measure._stretch.topk import stable_order

__all__ = [
    "FEWEST",
    "KEEP_ALL",
    "NEVER",
    "Limits",
    "Samples",
    "effort_in",
    "extent_of",
    "in_time",
    "least_of",
]


Sides = NDArray[np.int32]

KEEP_ALL, FEWEST = -1, -2
"""Prices: nothing may be deleted; or no more than thresholds ask for, whatever that costs."""
NEVER = np.int64(2) ** 62
"""More than anything costs."""


class Limits(NamedTuple):
    """What a box may be, and what it costs to delete a sample."""

    max_space: int
    max_time: int
    price: int
    """In units of one over `Scale.whole`: so many are what a sample costs at most. Or KEEP_ALL, or
    FEWEST."""


class Samples(NamedTuple):
    """The samples of a crowd in the order of their start, and whose they are.

    `alike` tells that all have the same extent in space and the same length, as original ones have:
    then all lose the same in a box.
    """

    x0: Sides
    x1: Sides
    y0: Sides
    y1: Sides
    t0: Sides
    t1: Sides
    member: Sides
    weight: Ints
    alike: bool


@kernel_private
def in_time(mine: Ints, columns: tuple[Sides, ...], offsets: Ints, crowd: Sides) -> Samples:
    """Bring the samples of all members into the order of their start."""
    size = ZERO
    for m in mine:
        size += offsets[m + 1] - offsets[m]
    start, row = np.empty(size), np.empty(size, np.int64)
    owner = np.empty(size, np.int32)
    at = 0
    for m in range(len(mine)):
        for i in range(offsets[mine[m]], offsets[mine[m] + 1]):
            start[at], row[at], owner[at] = columns[4][i], i, m
            at += 1
    order, alike = stable_order(start, size), True
    extent, length = ZERO, ZERO
    for s in range(size):
        i = row[s]
        wide = np.int64((columns[1][i] - columns[0][i]) + (columns[3][i] - columns[2][i]))
        long = np.int64(columns[5][i] - columns[4][i])
        alike &= s == 0 or (wide == extent and long == length)
        extent, length = wide, long
    samples = Samples(
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int64),
        alike,
    )
    for s in range(size):
        i = row[order[s]]
        samples.x0[s], samples.x1[s] = columns[0][i], columns[1][i]
        samples.y0[s], samples.y1[s] = columns[2][i], columns[3][i]
        samples.t0[s], samples.t1[s] = columns[4][i], columns[5][i]
        samples.member[s] = owner[order[s]]
        samples.weight[s] = crowd[mine[owner[order[s]]]]
    return samples


@kernel_private
def extent_of(samples: Samples, s: int) -> int:
    """Give the two sides of a sample in space, added."""
    return int((samples.x1[s] - samples.x0[s]) + (samples.y1[s] - samples.y0[s]))


@kernel_private
def effort_in(extent: int, length: int, samples: Samples, s: int, scale: Scale) -> int:
    """Equations (1) to (3): what a sample loses in a box so large, in units of the whole."""
    space = min(scale.space, extent - extent_of(samples, s))
    time = min(scale.time, length - (samples.t1[s] - samples.t0[s]))
    return int(scale.space_unit * space + scale.time_unit * time)


@kernel_private
def least_of(values: Ints) -> int:
    """Give the least of some numbers."""
    least = values[0]
    for value in values:
        least = min(least, value)
    return int(least)
