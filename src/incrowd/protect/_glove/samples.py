"""The samples of a crowd in the order of time, and what each loses in a box."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, Ints, kernel_nogc, kernel_private
from incrowd.measure._stretch.effort import Scale

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
    members, size = len(mine), ZERO
    begin = np.zeros(members + 1, np.int64)
    for m in range(members):
        size += offsets[mine[m] + 1] - offsets[mine[m]]
        begin[m + 1] = size
    row, owner = np.empty(size, np.int64), np.empty(size, np.int32)
    other, others = np.empty(size, np.int64), np.empty(size, np.int32)
    alike, extent, length = True, ZERO, ZERO
    for m in range(members):
        for s in range(begin[m], begin[m + 1]):
            i = offsets[mine[m]] + s - begin[m]
            row[s], owner[s] = i, m
            wide = np.int64((columns[1][i] - columns[0][i]) + (columns[3][i] - columns[2][i]))
            long = np.int64(columns[5][i] - columns[4][i])
            alike &= s == 0 or (wide == extent and long == length)
            extent, length = wide, long
    # Those of each member are in order already: two by two, then four by four, they are merged.
    runs = 1
    while runs < members:
        for m in range(0, members, 2 * runs):
            a, middle = begin[m], begin[min(members, m + runs)]
            b, end = middle, begin[min(members, m + 2 * runs)]
            for s in range(a, end):
                if b == end or (a < middle and columns[4][row[a]] <= columns[4][row[b]]):
                    other[s], others[s] = row[a], owner[a]
                    a += 1
                else:
                    other[s], others[s] = row[b], owner[b]
                    b += 1
        row, other, owner, others = other, row, others, owner
        runs *= 2
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
        i = row[s]
        samples.x0[s], samples.x1[s] = columns[0][i], columns[1][i]
        samples.y0[s], samples.y1[s] = columns[2][i], columns[3][i]
        samples.t0[s], samples.t1[s] = columns[4][i], columns[5][i]
        samples.member[s] = owner[s]
        samples.weight[s] = crowd[mine[owner[s]]]
    return samples


@kernel_nogc
def extent_of(samples: Samples, s: int) -> int:
    """Give the two sides of a sample in space, added."""
    return int((samples.x1[s] - samples.x0[s]) + (samples.y1[s] - samples.y0[s]))


@kernel_nogc
def effort_in(extent: int, length: int, samples: Samples, s: int, scale: Scale) -> int:
    """Equations (1) to (3): what a sample loses in a box so large, in units of the whole."""
    space = min(scale.space, extent - extent_of(samples, s))
    time = min(scale.time, length - (samples.t1[s] - samples.t0[s]))
    return int(scale.space_unit * space + scale.time_unit * time)


@kernel_nogc
def least_of(values: Ints) -> int:
    """Give the least of some numbers."""
    least = values[0]
    for value in values:
        least = min(least, value)
    return int(least)
