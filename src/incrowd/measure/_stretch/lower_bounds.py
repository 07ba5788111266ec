"""Which trajectories may be near: lower bounds of what a pair costs.

A pair costs at least what the rows of the atlas say. Seen from the longer of the two (L), that is
the sum over its samples of the other's row at their zones and bins; so L is counted once, as
*features* (a zone and how many samples lie in it), and the rows of everybody else stand side by
side (see `lines`). People who live near each other share a chunk of 64, and most chunks are left
after space alone.

Seen from the shorter (S), the features of every longer one are looked up in the one row of S.

Boxes that are wider than a cell. A box of the longer that is wider by w contains a cell in its
zone, so what it has in common with the other is stretched to that cell at least; only what the box
itself is stretched by may be less, by w times its part of the crowd. If the other's sample is a
single cell, it must be stretched to the whole box, however near it is. In time, a box is known by
its middle: whoever lies beside it must be stretched by half of the box, too (see `late_at`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel, kernel_nogc, kernel_private
from incrowd.measure._stretch.batch_bounds import LANES, seat_of
from incrowd.measure._stretch.effort import Boxes, Scale
from incrowd.measure._stretch.partition import Atlas, row_of

__all__ = [
    "Features",
    "Slots",
    "add_late",
    "add_near",
    "add_times",
    "bound_each",
    "count_features",
    "fill_rows",
    "is_longer",
    "lay_row",
    "near_at",
    "only_cells",
    "set_home",
    "set_row",
    "wide_at",
]


WIDEST = 2**16 - 1
"""A box that is wider is left out of the bound."""
SAFE = 1 - 1e-10
"""What is computed in floating point is lowered by more than it can be wrong."""


class Slots(NamedTuple):
    """Trajectories that are alive, each in a slot; a slot is free when its node is -1.

    `node` is the index by which ties are broken: people first, then merges. Samples are those
    from `start` to `end` of the input or, counted on behind it, of what was merged. `cells` tells
    that all samples are as small as they can be, `full` that the crowd is large enough.
    """

    node: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    crowd: NDArray[np.int64]
    cells: NDArray[np.bool_]
    full: NDArray[np.bool_]
    feature: NDArray[np.int64]
    features: NDArray[np.int64]
    home: NDArray[np.uint16]
    at_home: NDArray[np.float32]
    """The zone of the first feature, and what part of the samples lies there (0: they are wide)."""
    homes: NDArray[np.uint16]
    share: NDArray[np.float32]
    """Of merged ones: the regions with most corners, and what part of all (see `corners`)."""


class Features(NamedTuple):
    """Zones with the number of samples in each, one trajectory after the other.

    Samples that are wider than a cell are counted by themselves.
    """

    zone: NDArray[np.uint16]
    count: NDArray[np.int32]
    wide: NDArray[np.uint16]


@kernel_nogc
def wide_at(boxes: Boxes, i: int, atlas: Atlas) -> tuple[int, int]:
    """Tell how much wider than a cell a box is, in space and in time."""
    space = (boxes.x1[i] - boxes.x0[i]) + (boxes.y1[i] - boxes.y0[i])
    time = boxes.t1[i] - boxes.t0[i]
    return space - atlas.thin_x - atlas.thin_y - 2, time - atlas.thin_t - 1


@kernel_nogc
def only_cells(boxes: Boxes, start: int, end: int, atlas: Atlas) -> bool:
    """Tell whether no sample is wider than a cell, in space or in time."""
    for i in range(start, end):
        space, time = wide_at(boxes, i, atlas)
        if space or time:
            return False
    return True


@kernel_private
def count_features(
    boxes: Boxes, start: int, end: int, atlas: Atlas, features: Features, used: int
) -> int:
    """Write the features of a trajectory, those with most samples first; give their number.

    There are no more of them than samples.
    """
    zone, count, wide = features.zone[used:], features.count[used:], features.wide[used:]
    where = np.full(atlas.zones, -1, np.int32)
    number = 0
    for i in range(start, end):
        w, _ = wide_at(boxes, i, atlas)
        z = boxes.zone[i]
        if w > WIDEST:
            continue
        if w == 0 and where[z] >= 0:
            count[where[z]] += 1
            continue
        if w == 0:
            where[z] = number
        zone[number], count[number], wide[number] = z, 1, w
        number += 1
    for f in range(1, number):
        z, c, w, g = zone[f], count[f], wide[f], f
        while g > 0 and count[g - 1] < c:
            zone[g], count[g], wide[g] = zone[g - 1], count[g - 1], wide[g - 1]
            g -= 1
        zone[g], count[g], wide[g] = z, c, w
    return number


@kernel_nogc
def set_home(slot: int, slots: Slots, features: Features) -> None:
    """Note where most of a trajectory's samples lie."""
    first, length = slots.feature[slot], slots.end[slot] - slots.start[slot]
    slots.home[slot], slots.at_home[slot] = 0, 0.0
    if slots.features[slot] > 0 and features.wide[first] == 0:
        slots.home[slot] = features.zone[first]
        slots.at_home[slot] = features.count[first] / length


@kernel_private
def set_row(
    slot: int,
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    atlas: Atlas,
    scale: Scale,
    table: NDArray[np.uint8],
    clock: NDArray[np.uint8],
    tops: NDArray[np.uint8],
    rows: NDArray[np.uint8],
) -> None:
    """Compute the row of a slot, and lay it into the tables."""
    row_of(boxes, start, end, crowd, atlas, scale, rows[slot])
    lay_row(slot, atlas.zones, table, clock, tops, rows)


@kernel_nogc
def lay_row(
    slot: int,
    zones: int,
    table: NDArray[np.uint8],
    clock: NDArray[np.uint8],
    tops: NDArray[np.uint8],
    rows: NDArray[np.uint8],
) -> None:
    """Lay the row of a slot into its place in the tables, and under what its chunk says."""
    row, chunk = rows[slot], slot // LANES
    stripe, seat = seat_of(slot)
    high, column = chunk // LANES, chunk % LANES
    for z in range(zones):
        table[stripe, z, seat] = row[z]
        tops[high, z, column] = min(tops[high, z, column], row[z])
    for b in range(len(row) - zones):
        clock[stripe, b, seat] = row[zones + b]


@kernel
def fill_rows(
    first: int,
    last: int,
    slots: Slots,
    features: Features,
    boxes: Boxes,
    atlas: Atlas,
    scale: Scale,
    table: NDArray[np.uint8],
    clock: NDArray[np.uint8],
    tops: NDArray[np.uint8],
    rows: NDArray[np.uint8],
) -> None:
    """Compute the rows of some slots, of trajectories of the input."""
    for slot in range(first, last):
        start, end, crowd = slots.start[slot], slots.end[slot], slots.crowd[slot]
        set_home(slot, slots, features)
        set_row(slot, boxes, start, end, crowd, atlas, scale, table, clock, tops, rows)


@kernel_nogc
def near_at(near: float, wide: float, mine: float, cells: bool, most: float) -> float:  # noqa: FBT001
    """Bound what a box costs in space that contains a cell from which `near` is known.

    `mine` is the box's part of the crowd; `cells` tells that all samples of the other are cells.
    """
    return min(most, max(near, wide if cells else mine * wide) - mine * wide)


@kernel_nogc
def late_at(
    late: float,
    long: float,
    mine: float,
    tilt: float,
    nb: int,
    cells: bool,  # noqa: FBT001
    most: float,
) -> float:
    """Bound what a box costs in time whose middle costs `late` with anybody of the other.

    With Ea and Eb for the lengths of two boxes beyond a slot, and g for the gap between a's middle
    and b, ``late <= g + Eb/(1+nb)``. Beside the middle (g > 0), the box around both is longer than
    b by g and half of Ea. Where b holds the middle, it is longer than ``(1+nb) * late``, and by
    that much less Ea the other must be stretched. A single slot is beside the middle or on it.

    `mine` is a's part of the crowd, `tilt` half of what b's part is larger.
    """
    if cells:
        half = 0.5 * (long + 1)
        return min(most, max(late, half) - half + (1 - mine) * long)
    beside = late + tilt * long - 0.5
    around = mine * max(0.0, (1 + nb) * late - long)
    return min(most, max(0.0, late - mine * long, min(beside, around)))


@kernel_nogc
def add_near(
    row: NDArray[np.uint8],
    zone: NDArray[np.uint16],
    count: NDArray[np.int32],
    wide: NDArray[np.uint16],
    first: int,
    last: int,
    na: int,
    nb: int,
    cells: bool,  # noqa: FBT001
    atlas: Atlas,
    widest: int,
    limit: float,
) -> float:
    """Bound from space alone, in cells, the cost of a trajectory, given by its features."""
    total, step, most, mine = 0.0, atlas.space_step, float(widest), na / (na + nb)
    for begin in range(first, last, 16):
        for f in range(begin, min(begin + 16, last)):
            near = float(step * row[zone[f]])
            total += count[f] * near_at(near, float(wide[f]), mine, cells, most)
        if total > limit:
            break
    return total


@kernel_nogc
def add_late(
    row: NDArray[np.uint8],
    boxes: Boxes,
    start: int,
    end: int,
    na: int,
    nb: int,
    cells: bool,  # noqa: FBT001
    atlas: Atlas,
    longest: int,
    limit: float,
) -> float:
    """Bound from time alone, in slots, the cost of a trajectory of boxes with one other."""
    t0, t1, bins, total = boxes.t0, boxes.t1, boxes.bin, 0.0
    thin, step, most = atlas.thin_t + 1, atlas.time_step, float(longest)
    mine, tilt = na / (na + nb), (nb - na) / (2 * (na + nb))
    for begin in range(start, end, 16):
        for i in range(begin, min(begin + 16, end)):
            late, long = float(step * row[bins[i]]), float(t1[i] - t0[i] - thin)
            total += late_at(late, long, mine, tilt, nb, cells, most)
        if total > limit:
            break
    return total


@kernel_nogc
def bound_each(
    boxes: Boxes,
    start: int,
    end: int,
    na: int,
    near: NDArray[np.uint8],
    late: NDArray[np.uint8],
    nb: int,
    cells: bool,  # noqa: FBT001
    atlas: Atlas,
    scale: Scale,
    each: NDArray[np.float64],
) -> None:
    """Bound the effort of each of the longer's samples, whatever their size, by the shorter's rows.

    Divided by the crowd.
    """
    x0, x1, y0, y1, t0, t1 = boxes.x0, boxes.x1, boxes.y0, boxes.y1, boxes.t0, boxes.t1
    zone, bin_ = boxes.zone, boxes.bin
    thin, thin_t = atlas.thin_x + atlas.thin_y + 2, atlas.thin_t + 1
    widest, longest = float(scale.space), float(scale.time)
    mine, tilt = na / (na + nb), (nb - na) / (2 * (na + nb))
    for i in range(start, end):
        wide = float((x1[i] - x0[i]) + (y1[i] - y0[i]) - thin)
        long = float(t1[i] - t0[i] - thin_t)
        space = near_at(float(atlas.space_step * near[zone[i]]), wide, mine, cells, widest)
        time = float(atlas.time_step * late[bin_[i]])
        time = late_at(time, long, mine, tilt, nb, cells, longest)
        each[i - start] = scale.space_unit * space + scale.time_unit * time


@kernel_nogc
def is_longer(
    a: int,
    b: int,
    node: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
) -> bool:
    """Tell whether slot a holds the longer trajectory; of equals, the older one."""
    mine, other = end[a] - start[a], end[b] - start[b]
    return bool(mine > other or (mine == other and node[a] < node[b]))


@kernel_nogc
def add_times(
    late: NDArray[np.uint8], bins: NDArray[np.uint16], start: int, end: int, limit: float
) -> int:
    """Bound from time alone the cost of a trajectory, given by its bins, with one other."""
    total = 0
    for begin in range(start, end, 32):
        for i in range(begin, min(begin + 32, end)):
            total += late[bins[i]]
        if total > limit:
            break
    return total
