"""Lower bounds for trajectories of boxes, by the corners of the boxes and the ends of their times.

To merge two boxes, at each side the one that ends short of the other must grow. So where their low
sides in x are d cells apart, that costs d cells times the crowd of one of them, at least of the
smaller. With `m` for the smaller crowd, what equations (4) and (7) add up is no less than

    space * n >= m * (distance of the low corners + distance of the high corners)
    time * n >= m * (|difference of the starts| + |difference of the ends|)

with taxicab distances; of equal crowds it is just that::

    time    |----- a -----|                  b grows at its start, by the difference of the starts;
               |------- b -------|           a grows at its end, by the difference of the ends
            |--|          |------|

(And the difference of starts plus that of ends is no less than that of the two added up: twice the
middles.)

The plane is cut into the regions of a `KdPartition`, time into bins. A merged trajectory's *corner
row* holds, for every region, the least distance of a corner in it from any low corner of its own,
then the same for high corners; and for every bin the same for starts, ends and middles::

    row   | low corners | high corners | starts | ends | middles |
            one for each region          one for each time bin

A box has five *corner codes*: where to look in the row of another. Rows are bytes, rounded down.

The distance rows of `partition` know a box by a single cell, which says much of people and little
of crowds (``python -m benchmarks.corners`` shows how much).
"""

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel_nogc, kernel_private
from incrowd.measure._stretch.effort import Boxes, Scale
from incrowd.measure._stretch.partition import FAR, KdPartition, kd_region

__all__ = [
    "CODES",
    "DOMINANT",
    "corner_bound",
    "corner_bound_each",
    "corner_row",
    "dominant_region_bound",
    "set_dominant_corners",
    "write_corner_codes",
]


DOMINANT = 4
"""Of each trajectory, so many regions are noted in which it has most low corners."""
CODES = 5
"""Of each box: the regions of its low and high corner, the bins of its start, end and middle."""
STARTS, ENDS, MIDDLES = range(3)
"""Which moments of boxes are compared."""


@kernel_nogc
def write_corner_codes(
    boxes: Boxes, start: int, end: int, kd: KdPartition, corner_codes: NDArray[np.uint16]
) -> None:
    """Write down where some boxes are to be looked up in a corner row."""
    regions, first, width, bins = len(kd.x0), kd.first, kd.width, kd.bins
    for i in range(start, end):
        t0, t1 = np.int64(boxes.t0[i]), np.int64(boxes.t1[i]) - 1
        corner_codes[i, 0] = kd_region(boxes.x0[i], boxes.y0[i], kd)
        corner_codes[i, 1] = regions + kd_region(boxes.x1[i] - 1, boxes.y1[i] - 1, kd)
        corner_codes[i, 2] = 2 * regions + (t0 - first) // width
        corner_codes[i, 3] = 2 * regions + bins + (t1 - first) // width
        corner_codes[i, 4] = 2 * regions + 2 * bins + ((t0 + t1) // 2 - first) // width


@kernel_private
def corner_row(boxes: Boxes, start: int, end: int, kd: KdPartition, row: NDArray[np.uint8]) -> None:
    """Write the corner row of a trajectory."""
    regions, bins = len(kd.x0), kd.bins
    near, most = np.empty(regions, np.int32), np.int32(FAR)
    for high in range(2):
        _corner_distances(boxes, start, end, high, kd, near)
        shift = high * regions
        for r in range(regions):
            row[shift + r] = min(most, np.int32(near[r] >> kd.space_shift))
    late, first, last = np.empty(bins, np.int32), np.empty(bins, np.int32), np.empty(bins, np.int32)
    for which in (STARTS, ENDS, MIDDLES):
        _time_distances(boxes, start, end, which, kd, late, first, last)
        shift = 2 * regions + which * bins
        for b in range(bins):
            row[shift + b] = min(most, np.int32(late[b] >> kd.time_shift))


@kernel_nogc
def _corner_distances(
    boxes: Boxes, start: int, end: int, high: int, kd: KdPartition, near: NDArray[np.int32]
) -> None:
    """Find the least distance of each region from a low, or high, corner of any box."""
    near[:] = 2**31 - 1
    x0, x1, y0, y1 = kd.x0, kd.x1, kd.y0, kd.y1
    zero = np.int32(0)
    for i in range(start, end):
        x, y = boxes.x0[i], boxes.y0[i]
        if high:
            x, y = np.int32(boxes.x1[i] - 1), np.int32(boxes.y1[i] - 1)
        # Counted without a sign and in 32 bits throughout, so that eight regions are done at once.
        for r in range(np.uintp(len(near))):
            across = max(zero, np.int32(x0[r] - x), np.int32(x - x1[r]))
            along = max(zero, np.int32(y0[r] - y), np.int32(y - y1[r]))
            near[r] = min(near[r], np.int32(across + along))


@kernel_nogc
def _time_distances(
    boxes: Boxes,
    start: int,
    end: int,
    which: int,
    kd: KdPartition,
    late: NDArray[np.int32],
    least: NDArray[np.int32],
    most: NDArray[np.int32],
) -> None:
    """Find the least difference of each bin from the start, the end or twice the middle of any box.

    Twice the middle is counted from twice the beginning of all bins, so that it is a whole number
    and falls into the bin of its half. In each bin only the first and the last moment matter: the
    nearest one before another bin is the last of some bin, the nearest one behind it the first.
    """
    bins, far = len(late), np.int32(2**30)
    step = np.int32(kd.width * (2 if which == MIDDLES else 1))
    least[:], most[:] = far, -far
    for i in range(start, end):
        t0, t1 = np.int32(boxes.t0[i] - kd.first), np.int32(boxes.t1[i] - 1 - kd.first)
        at = t0 if which == STARTS else (t1 if which == ENDS else np.int32(t0 + t1))
        b = at // step
        least[b], most[b] = min(least[b], at), max(most[b], at)
    # From each bin back to the last moment before it, and ahead to the first one behind it.
    before, behind = -far, far
    for b in range(bins):
        late[b] = 0 if least[b] < far else np.int32(min(far, np.int64(b) * step - before))
        before = max(before, most[b])
    for b in range(bins - 1, -1, -1):
        late[b] = min(late[b], np.int32(max(0, behind - (np.int64(b + 1) * step - 1))))
        behind = min(behind, least[b])


@kernel_private
def set_dominant_corners(
    corner_codes: NDArray[np.uint16],
    start: int,
    end: int,
    regions: int,
    dominant: NDArray[np.uint16],
    shares: NDArray[np.float32],
) -> None:
    """Note the regions in which most low corners of a trajectory lie, and what part of all."""
    count = np.zeros(regions, np.int32)
    for i in range(start, end):
        count[corner_codes[i, 0]] += 1
    for nth in range(DOMINANT):
        dominant[nth], shares[nth] = 0, 0.0
    for i in range(start, end):
        region = corner_codes[i, 0]
        portion = np.float32(count[region] / (end - start))
        count[region] = 0  # so that it is taken once
        place = DOMINANT
        while place > 0 and shares[place - 1] < portion:
            place -= 1
        for nth in range(DOMINANT - 1, place, -1):
            dominant[nth], shares[nth] = dominant[nth - 1], shares[nth - 1]
        if place < DOMINANT:
            dominant[place], shares[place] = region, portion


@kernel_nogc
def dominant_region_bound(
    row: NDArray[np.uint8],
    dominant: NDArray[np.uint16],
    shares: NDArray[np.float32],
    na: int,
    nb: int,
    kd: KdPartition,
    scale: Scale,
) -> float:
    """Bound the mean effort of a trajectory's boxes with another, by where most of them begin.

    Four bytes instead of five for each box: most candidates are too far away for that alone. High
    corners and times, left out, can only add to it.
    """
    near, _, widest, _ = _caps(na, nb, kd, scale)
    total = 0.0
    for nth in range(DOMINANT):
        total += shares[nth] * min(widest, np.int64(row[dominant[nth]]))
    return near * total


@kernel_nogc
def _caps(na: int, nb: int, kd: KdPartition, scale: Scale) -> tuple[float, float, int, int]:
    """Give what a step costs, divided by the crowd, and how many steps count; in space and time.

    No more steps count than make the threshold of equations (2) and (3): beyond it the effort of a
    sample grows no further, and a bound without this cap would exceed it. Rounded down.
    """
    portion = min(na, nb) / (na + nb)  # of the smaller crowd, who may be the one that grows
    near, late = portion * (1 << kd.space_shift), portion * (1 << kd.time_shift)
    return (
        scale.space_unit * near, scale.time_unit * late, int(scale.space / near),
        int(scale.time / late),
    )  # fmt: skip


@kernel_nogc
def _steps_at(
    row: NDArray[np.uint8], corner_codes: NDArray[np.uint16], i: int, widest: int, longest: int
) -> tuple[int, int]:
    """Give how many steps a box is at least from any of another's, in space and in time.

    Each byte is the least over all of the other's boxes by itself. So the sum of two is no more
    than that of any one box; and of two such sums in time, the larger still bounds it.
    """
    low, high = np.int64(row[corner_codes[i, 0]]), np.int64(row[corner_codes[i, 1]])
    first, last = np.int64(row[corner_codes[i, 2]]), np.int64(row[corner_codes[i, 3]])
    time = max(first + last, np.int64(row[corner_codes[i, 4]]))
    return min(widest, low + high), min(longest, time)


@kernel_nogc
def corner_bound(
    row: NDArray[np.uint8],
    corner_codes: NDArray[np.uint16],
    start: int,
    end: int,
    na: int,
    nb: int,
    kd: KdPartition,
    scale: Scale,
    limit: float,
) -> float:
    """Bound the cost of a trajectory of boxes (the longer) with another, divided by the crowd.

    It is given up as soon as it exceeds the limit.
    """
    near, late, widest, longest = _caps(na, nb, kd, scale)
    space, time = 0, 0
    for begin in range(start, end, 8):  # the limit is compared once for eight boxes
        for i in range(begin, min(begin + 8, end)):
            apart, away = _steps_at(row, corner_codes, i, widest, longest)
            space += apart
            time += away
        if near * space + late * time > limit:
            break
    return near * space + late * time


@kernel_nogc
def corner_bound_each(
    row: NDArray[np.uint8],
    corner_codes: NDArray[np.uint16],
    start: int,
    end: int,
    na: int,
    nb: int,
    kd: KdPartition,
    scale: Scale,
    each: NDArray[np.float64],
) -> None:
    """Bound the effort of each box of a trajectory with any of another, divided by the crowd."""
    near, late, widest, longest = _caps(na, nb, kd, scale)
    for i in range(start, end):
        space, time = _steps_at(row, corner_codes, i, widest, longest)
        each[i - start] = near * space + late * time
