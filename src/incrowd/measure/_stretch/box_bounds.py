"""Lower bounds for trajectories of boxes, by the corners of the boxes and the ends of their times.

To merge two boxes, at each side the one that ends short of the other must grow. So where their low
sides in x are d cells apart, that costs d cells times the crowd of one of them, at least of the
smaller. With `m` for the smaller crowd, what equations (4) and (7) add up is no less than

    space * n >= m * (distance of the low corners + distance of the high corners)
    time * n >= m * (|difference of the starts| + |difference of the ends|)

with taxicab distances; of equal crowds it is just that. (And the difference of starts plus that of
ends is no less than that of the two added up: twice the middles.)

The plane is cut into *regions*, time into bins. A merged trajectory's *corner row* holds, for every
region, the least distance of a corner in it from any low corner of its own, then the same for high
corners; and for every bin the same for starts, ends and middles. A box has five *marks*: where to
look in the row of another. Rows are bytes, rounded down.

The rows of the atlas know a box by a single cell, which says much of people and little of crowds
(``python -m benchmarks.corners`` shows how much).
"""

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel_nogc, kernel_private
from incrowd.measure._stretch.effort import Boxes, Scale
from incrowd.measure._stretch.partition import MOST, Plane, region_of

__all__ = [
    "HOMES",
    "MARKS",
    "corner_each",
    "corner_row",
    "corner_sum",
    "from_home",
    "mark",
    "set_homes",
]


HOMES = 4
"""Of each trajectory, so many regions are noted in which it has most corners."""
MARKS = 5
"""Of each box: the regions of its low and high corner, the bins of its start, end and middle."""


@kernel_nogc
def mark(boxes: Boxes, start: int, end: int, plane: Plane, marks: NDArray[np.uint16]) -> None:
    """Write down the marks of some boxes."""
    regions, first, width, bins = len(plane.x0), plane.first, plane.width, plane.bins
    for i in range(start, end):
        t0, t1 = np.int64(boxes.t0[i]), np.int64(boxes.t1[i]) - 1
        marks[i, 0] = region_of(boxes.x0[i], boxes.y0[i], plane)
        marks[i, 1] = regions + region_of(boxes.x1[i] - 1, boxes.y1[i] - 1, plane)
        marks[i, 2] = 2 * regions + (t0 - first) // width
        marks[i, 3] = 2 * regions + bins + (t1 - first) // width
        marks[i, 4] = 2 * regions + 2 * bins + ((t0 + t1) // 2 - first) // width


@kernel_private
def corner_row(boxes: Boxes, start: int, end: int, plane: Plane, row: NDArray[np.uint8]) -> None:
    """Write the corner row of a trajectory."""
    regions, bins = len(plane.x0), plane.bins
    near, most = np.empty(regions, np.int32), np.int32(MOST)
    for high in range(2):
        _nearest(boxes, start, end, high, plane, near)
        shift = high * regions
        for z in range(regions):
            row[shift + z] = min(most, np.int32(near[z] >> plane.space_shift))
    late, first, last = np.empty(bins, np.int32), np.empty(bins, np.int32), np.empty(bins, np.int32)
    for which in range(3):
        _latest(boxes, start, end, which, plane, late, first, last)
        shift = 2 * regions + which * bins
        for b in range(bins):
            row[shift + b] = min(most, np.int32(late[b] >> plane.time_shift))


@kernel_nogc
def _nearest(
    boxes: Boxes, start: int, end: int, high: int, plane: Plane, near: NDArray[np.int32]
) -> None:
    """Find the least distance of each region from a low, or high, corner of any box."""
    near[:] = 2**31 - 1
    x0, x1, y0, y1 = plane.x0, plane.x1, plane.y0, plane.y1
    zero = np.int32(0)
    for i in range(start, end):
        x, y = boxes.x0[i], boxes.y0[i]
        if high:
            x, y = np.int32(boxes.x1[i] - 1), np.int32(boxes.y1[i] - 1)
        for z in range(np.uintp(len(near))):
            across = max(zero, np.int32(x0[z] - x), np.int32(x - x1[z]))
            along = max(zero, np.int32(y0[z] - y), np.int32(y - y1[z]))
            near[z] = min(near[z], np.int32(across + along))


@kernel_nogc
def _latest(
    boxes: Boxes,
    start: int,
    end: int,
    which: int,
    plane: Plane,
    late: NDArray[np.int32],
    least: NDArray[np.int32],
    most: NDArray[np.int32],
) -> None:
    """Find the least difference of each bin from the start, the end or twice the middle of any box.

    Twice the middle is counted from twice the beginning of all bins.
    """
    bins, far = len(late), np.int32(2**30)
    step = np.int32(plane.width * (2 if which == 2 else 1))  # noqa: PLR2004
    least[:], most[:] = far, -far
    for i in range(start, end):
        t0, t1 = np.int32(boxes.t0[i] - plane.first), np.int32(boxes.t1[i] - 1 - plane.first)
        at = t0 if which == 0 else (t1 if which == 1 else np.int32(t0 + t1))
        b = at // step
        least[b], most[b] = min(least[b], at), max(most[b], at)
    before, behind = -far, far
    for b in range(bins):
        late[b] = 0 if least[b] < far else np.int32(min(far, np.int64(b) * step - before))
        before = max(before, most[b])
    for b in range(bins - 1, -1, -1):
        late[b] = min(late[b], np.int32(max(0, behind - (np.int64(b + 1) * step - 1))))
        behind = min(behind, least[b])


@kernel_private
def set_homes(
    marks: NDArray[np.uint16],
    start: int,
    end: int,
    regions: int,
    homes: NDArray[np.uint16],
    share: NDArray[np.float32],
) -> None:
    """Note the regions in which most low corners of a trajectory lie, and what part of all."""
    count = np.zeros(regions, np.int32)
    for i in range(start, end):
        count[marks[i, 0]] += 1
    for home in range(HOMES):
        homes[home], share[home] = 0, 0.0
    for i in range(start, end):
        z = marks[i, 0]
        part = np.float32(count[z] / (end - start))
        count[z] = 0
        place = HOMES
        while place > 0 and share[place - 1] < part:
            place -= 1
        for home in range(HOMES - 1, place, -1):
            homes[home], share[home] = homes[home - 1], share[home - 1]
        if place < HOMES:
            homes[place], share[place] = z, part


@kernel_nogc
def from_home(
    row: NDArray[np.uint8],
    homes: NDArray[np.uint16],
    share: NDArray[np.float32],
    na: int,
    nb: int,
    plane: Plane,
    scale: Scale,
) -> float:
    """Bound the mean effort of a trajectory's boxes with another, by where most of them begin."""
    near, _, widest, _ = _caps(na, nb, plane, scale)
    total = 0.0
    for home in range(HOMES):
        total += share[home] * min(widest, np.int64(row[homes[home]]))
    return near * total


@kernel_nogc
def _caps(na: int, nb: int, plane: Plane, scale: Scale) -> tuple[float, float, int, int]:
    """Give what a step costs, divided by the crowd, and how many steps count; in space and time."""
    part = min(na, nb) / (na + nb)
    near, late = part * (1 << plane.space_shift), part * (1 << plane.time_shift)
    return (
        scale.space_unit * near, scale.time_unit * late, int(scale.space / near),
        int(scale.time / late),
    )  # fmt: skip


@kernel_nogc
def _steps_at(
    row: NDArray[np.uint8], marks: NDArray[np.uint16], i: int, widest: int, longest: int
) -> tuple[int, int]:
    """Give how many steps a box is at least from any of another's, in space and in time."""
    low, high = np.int64(row[marks[i, 0]]), np.int64(row[marks[i, 1]])
    first, last = np.int64(row[marks[i, 2]]), np.int64(row[marks[i, 3]])
    time = max(first + last, np.int64(row[marks[i, 4]]))
    return min(widest, low + high), min(longest, time)


@kernel_nogc
def corner_sum(
    row: NDArray[np.uint8],
    marks: NDArray[np.uint16],
    start: int,
    end: int,
    na: int,
    nb: int,
    plane: Plane,
    scale: Scale,
    limit: float,
) -> float:
    """Bound the cost of a trajectory of boxes (the longer) with another, divided by the crowd.

    It is given up as soon as it exceeds the limit.
    """
    near, late, widest, longest = _caps(na, nb, plane, scale)
    space, time = 0, 0
    for begin in range(start, end, 8):
        for i in range(begin, min(begin + 8, end)):
            apart, away = _steps_at(row, marks, i, widest, longest)
            space += apart
            time += away
        if near * space + late * time > limit:
            break
    return near * space + late * time


@kernel_nogc
def corner_each(
    row: NDArray[np.uint8],
    marks: NDArray[np.uint16],
    start: int,
    end: int,
    na: int,
    nb: int,
    plane: Plane,
    scale: Scale,
    each: NDArray[np.float64],
) -> None:
    """Bound the effort of each box of a trajectory with any of another, divided by the crowd."""
    near, late, widest, longest = _caps(na, nb, plane, scale)
    for i in range(start, end):
        space, time = _steps_at(row, marks, i, widest, longest)
        each[i - start] = near * space + late * time
