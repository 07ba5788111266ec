"""Kernels of utility: which published box covers a sample, how far off, how fine, what it shows.

Samples and boxes are six columns each, cut into people by `offsets` and into trajectories by
`bounds`.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, kernel, kernel_private
from incrowd.evaluate._verify._kernels import _is_edge, sample_from

__all__ = [
    "UNSEEN",
    "check_edges",
    "count_up_to",
    "coverage_errors",
    "finest_boxes",
    "latest_ends",
]


Sides = NDArray[np.int32]
Columns = tuple[Sides, ...]
Marks = NDArray[np.bool_]

WEST, EAST, SOUTH, NORTH = 1, 2, 4, 8
ALL = 15
UNSEEN = 2**62
"""The side of no box: what nothing shows."""


@kernel
def latest_ends(ends: Sides, bounds: Ints) -> Sides:
    """Give the latest end among the boxes of the same trajectory up to each box."""
    reach = ends.copy()
    for trajectory in range(len(bounds) - 1):
        for j in range(bounds[trajectory] + 1, bounds[trajectory + 1]):
            reach[j] = max(reach[j], reach[j - 1])
    return reach


@kernel_private
def _smallest_cover(
    sample: tuple[int, int, int, int, int, int], first: int, after: int, boxes: Columns,
    reach: Sides,
) -> int:  # fmt: skip
    """Give the smallest box that covers a sample, among those that start before it ends, or -1."""
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


@kernel
def coverage_errors(
    first: int, last: int, samples: Columns, offsets: Ints, place: Ints,
    boxes: Columns, bounds: Ints, reach: Sides, squares: Floats, late: Ints,
    wide: Ints, long: Ints,
) -> int:  # fmt: skip
    """Measure how far off the boxes are that hold the samples of people `first` to `last`.

    `place` has each person's published trajectory, or -1. `squares` gets the square of twice the
    distance between the centres, in cells, and `late` twice the time between them, in slots, one
    after the other for samples that a box of their person holds; how many these are is given back.
    `wide` and `long` get the longer side and the length of that box, at the sample's place among
    those of these people; of samples that none holds they stay as they were.
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
            box = _smallest_cover(sample, low, after, boxes, reach)
            if box >= 0:
                x = float(bx0[box] + bx1[box] - x0[i] - x1[i])
                y = float(by0[box] + by1[box] - y0[i] - y1[i])
                squares[held] = x * x + y * y
                late[held] = abs(bt0[box] + bt1[box] - t0[i] - t1[i])
                held += 1
                at = i - offsets[first]
                wide[at] = max(bx1[box] - bx0[box], by1[box] - by0[box])
                long[at] = bt1[box] - bt0[box]
    return held


@kernel
def count_up_to(sizes: Ints, bounds: Ints, limits: Ints) -> Ints:
    """Count, for each trajectory and each limit, the boxes whose size does not exceed it."""
    counts = np.zeros((len(bounds) - 1, len(limits)), np.int64)
    for trajectory in range(len(bounds) - 1):
        for j in range(bounds[trajectory], bounds[trajectory + 1]):
            for limit in range(len(limits)):
                counts[trajectory, limit] += sizes[j] <= limits[limit]
    return counts


@kernel
def finest_boxes(
    first: int, last: int, samples: Columns, offsets: Ints, place: Ints,
    boxes: Columns, bounds: Ints, reach: Sides, sizes: Ints, hours: NDArray[np.uint8],
    spots: Ints, at_night: Marks, limits: Ints, finest: Ints, held: Ints,
) -> None:  # fmt: skip
    """Find the smallest side of the boxes that show places and samples of people `first` to `last`.

    `place` has each person's published trajectory, or -1. `spots` has x, y and samples (none: no
    such place) of her home, and of her work, in half cells; bit 0 of `hours` says whether a box
    may show a home, bit 1 whether a place of work. `at_night` is of samples from the first person's
    first one on. `finest` gets, for each person, the side of the smallest box that shows her home,
    her work, and a sample at night, and must be `UNSEEN` before. `held` counts samples in
    a box of a side up to each of `limits`.
    """
    x0, x1, y0, y1, t0, t1 = samples
    begin, starts = offsets[first], boxes[4]
    for person in range(first, last):
        if place[person] < 0:
            continue
        low, up = bounds[place[person]], bounds[place[person] + 1]
        for what in range(2):
            if spots[person, 3 * what + 2] > 0:
                x, y = spots[person, 3 * what], spots[person, 3 * what + 1]
                finest[person, what] = min(
                    finest[person, what], _finest_at(x, y, low, up, boxes, sizes, hours, what)
                )
        after = low
        for i in range(offsets[person], offsets[person + 1]):
            while after < up and starts[after] <= t0[i]:
                after += 1
            sample = (x0[i], x1[i], y0[i], y1[i], t0[i], t1[i])
            size = _finest_cover(sample, low, after, boxes, reach, sizes)
            for limit in range(len(limits)):
                held[limit] += size <= limits[limit]
            if at_night[i - begin]:
                finest[person, 2] = min(finest[person, 2], size)


@kernel_private
def _finest_at(
    x: int, y: int, first: int, last: int, boxes: Columns, sizes: Ints,
    hours: NDArray[np.uint8], bit: int,
) -> int:  # fmt: skip
    """Give the smallest side of a box with a bit in its hours that holds a point, or `UNSEEN`."""
    best = UNSEEN
    for b in range(first, last):
        if (
            (hours[b] >> bit) & 1
            and 2 * np.int64(boxes[0][b]) <= x < 2 * np.int64(boxes[1][b])
            and 2 * np.int64(boxes[2][b]) <= y < 2 * np.int64(boxes[3][b])
        ):
            best = min(best, sizes[b])
    return best


@kernel_private
def _finest_cover(
    sample: tuple[int, int, int, int, int, int], first: int, after: int, boxes: Columns,
    reach: Sides, sizes: Ints,
) -> int:  # fmt: skip
    """Give the smallest side of a box that covers a sample, or `UNSEEN`: by space alone."""
    x0, x1, y0, y1, t0, t1 = boxes
    best, j = UNSEEN, after - 1
    # No box is smaller than a cell.
    while j >= first and reach[j] >= sample[5] and best != 1:
        if (
            sizes[j] < best
            and t0[j] <= sample[4]
            and sample[5] <= t1[j]
            and x0[j] <= sample[0]
            and sample[1] <= x1[j]
            and y0[j] <= sample[2]
            and sample[3] <= y1[j]
        ):
            best = sizes[j]
        j -= 1
    return best


@kernel_private
def _edges(samples: Columns, i: int, boxes: Columns, b: int, wide: int) -> int:
    """Tell which edges in space of a box a sample touches from inside; -1 if it lies outside."""
    x0, x1, y0, y1 = samples[0][i], samples[1][i], samples[2][i], samples[3][i]
    if x0 < boxes[0][b] or x1 > boxes[1][b] or y0 < boxes[2][b] or y1 > boxes[3][b]:
        return -1
    edges = WEST if x0 < boxes[0][b] + wide else 0
    edges |= EAST if x1 > boxes[1][b] - wide else 0
    edges |= SOUTH if y0 < boxes[2][b] + wide else 0
    return edges | (NORTH if y1 > boxes[3][b] - wide else 0)


@kernel_private
def _distinct(samples: Columns, mine: Ints, offsets: Ints) -> Ints:
    """Give a sample for each different place of some people."""
    x0, x1, y0, y1 = samples[0], samples[1], samples[2], samples[3]
    number, size = 0, 4
    for person in mine:
        number += offsets[person + 1] - offsets[person]
    while size < 2 * number:
        size *= 2
    table, found, many = np.full(size, -1, np.int64), np.empty(number, np.int64), 0
    for person in mine:
        for i in range(offsets[person], offsets[person + 1]):
            mixed = np.int64(x0[i]) * 73_856_093 + np.int64(y0[i]) * 19_349_663
            slot = (mixed ^ (mixed >> 15)) & (size - 1)
            while table[slot] >= 0:
                j = table[slot]
                if x0[i] == x0[j] and y0[i] == y0[j] and x1[i] == x1[j] and y1[i] == y1[j]:
                    break
                slot = (slot + 1) & (size - 1)
            if table[slot] < 0:
                table[slot] = i
                found[many] = i
                many += 1
    return found[:many]


@kernel
def check_edges(
    first: int, last: int, members: Ints, groups: Ints, samples: Columns, offsets: Ints,
    longest: int, boxes: Columns, bounds: Ints, wide: int, long: int, created: Marks, unseen: Marks,
) -> None:  # fmt: skip
    """Look at the boxes of trajectories `first` to `last` beside the samples of their members.

    `members` has the people of each trajectory, cut by `groups`. A box is `unseen` if no sample of
    theirs meets it in time with its place inside. It is `created` if it has an edge in space that
    no sample of theirs whose place lies in the box touches, whenever that was, or an edge in time
    at which none of their samples starts or ends. Edges may be `wide` cells and `long` slots less
    one farther out than that, to which they were rounded; 1 where they were not.
    """
    t0, t1 = samples[4], samples[5]
    for c in range(first, last):
        mine = members[groups[c] : groups[c + 1]]
        places, known = np.empty(0, np.int64), False
        for b in range(bounds[c], bounds[c + 1]):
            start, end = boxes[4][b], boxes[5][b]
            seen, found, starts, ends = False, 0, False, False
            for person in mine:
                low, up = offsets[person], offsets[person + 1]
                last, before = start + long - 1, end - long + 1
                starts = starts or _is_edge(samples, low, up, start, last, longest)
                ends = ends or _is_edge(samples, low, up, before, end, longest)
                i = sample_from(t0, low, up, start - longest + 1)
                while i < up and t0[i] < end and not (seen and found == ALL):
                    edges = _edges(samples, i, boxes, b, wide) if t1[i] > start else -1
                    if edges >= 0:
                        seen = True
                        found |= edges
                    i += 1
            if found != ALL:
                # Pieces cut in time may owe their place to samples before or after them.
                if not known:
                    places, known = _distinct(samples, mine, offsets), True
                for place in places:
                    found |= max(0, _edges(samples, int(place), boxes, b, wide))
                    if found == ALL:
                        break
            unseen[b] = not seen
            created[b] = not (found == ALL and starts and ends)
