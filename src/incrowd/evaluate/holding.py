"""Compiled loops: which published box holds a sample, how far off it is, how fine boxes are."""

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Floats, Ints, compiled, inner

__all__ = ["count_up_to", "errors", "latest_ends"]

Sides = NDArray[np.int32]
Columns = tuple[Sides, ...]


@compiled
def latest_ends(ends: Sides, bounds: Ints) -> Sides:
    """Give the latest end among the boxes of the same trajectory up to each box."""
    reach = ends.copy()
    for trajectory in range(len(bounds) - 1):
        for j in range(bounds[trajectory] + 1, bounds[trajectory + 1]):
            reach[j] = max(reach[j], reach[j - 1])
    return reach


@inner
def _holder(
    sample: tuple[int, int, int, int, int, int], first: int, after: int, boxes: Columns,
    reach: Sides,
) -> int:  # fmt: skip
    """Give the smallest box that holds a sample, among those that start before it ends, or -1."""
    x0, x1, y0, y1, t0, t1 = boxes
    best, where, j = np.inf, -1, after - 1
    while j >= first and reach[j] >= sample[5]:
        if (
            t0[j] <= sample[4]
            and sample[5] <= t1[j]
            and x0[j] <= sample[0]
            and sample[1] <= x1[j]
            and y0[j] <= sample[2]
            and sample[3] <= y1[j]
        ):
            size = float(x1[j] - x0[j]) * (y1[j] - y0[j]) * (t1[j] - t0[j])
            if size <= best:
                best, where = size, j
        j -= 1
    return where


@compiled
def errors(
    first: int, last: int, samples: Columns, offsets: Ints, place: Ints,
    boxes: Columns, bounds: Ints, reach: Sides, squares: Floats, late: Ints,
) -> int:  # fmt: skip
    """Measure how far off the boxes are that hold the samples of people `first` to `last`.

    `place` has each person's published trajectory, or -1. `squares` gets the square of twice the
    distance between the centres, in cells, and `late` twice the time between them, in slots, one
    after the other for samples that a box of their person holds; how many these are is given back.
    """
    x0, x1, y0, y1, t0, t1 = samples
    bx0, bx1, by0, by1, bt0, bt1 = boxes
    held = 0
    for person in range(first, last):
        if place[person] < 0:
            continue
        low, up = bounds[place[person]], bounds[place[person] + 1]
        after = low
        for i in range(offsets[person], offsets[person + 1]):
            while after < up and bt0[after] <= t0[i]:
                after += 1
            sample = (x0[i], x1[i], y0[i], y1[i], t0[i], t1[i])
            box = _holder(sample, low, after, boxes, reach)
            if box >= 0:
                x = float(bx0[box] + bx1[box] - x0[i] - x1[i])
                y = float(by0[box] + by1[box] - y0[i] - y1[i])
                squares[held] = x * x + y * y
                late[held] = abs(bt0[box] + bt1[box] - t0[i] - t1[i])
                held += 1
    return held


@compiled
def count_up_to(sizes: Ints, bounds: Ints, limits: Ints) -> Ints:
    """Count, for each trajectory and each limit, the boxes whose size does not exceed it."""
    counts = np.zeros((len(bounds) - 1, len(limits)), np.int64)
    for trajectory in range(len(bounds) - 1):
        for j in range(bounds[trajectory], bounds[trajectory + 1]):
            for limit in range(len(limits)):
                counts[trajectory, limit] += sizes[j] <= limits[limit]
    return counts
