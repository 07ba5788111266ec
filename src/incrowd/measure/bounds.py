"""Which trajectories may be near: a lower bound of the cost for all of them at once.

A pair costs at least what the rows of the atlas say. Seen from the longer of the two (L), that is
the sum over its samples of the other's row at their zones and bins; so L is counted once, as
*features* (a zone and how many samples lie in it), and the rows of everybody else lie side by
side, 64 to a chunk, so that a feature adds 64 bytes at a time. People who live near each other
share a chunk, and most chunks are left after space alone.

Seen from the shorter (S), the features of every longer one are looked up in the one row of S.

Boxes that are wider than a cell. If the longer's sample is wider by w (in space, or in time), a
cell of it may lie up to w nearer; so w is taken off what its zone says. For 64 at a time only
samples count for which w is small. Who is left is bounded again, sample by sample.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import compiled, inner
from incrowd.measure.atlas import Atlas, row_of
from incrowd.measure.effort import Boxes, Scale

__all__ = [
    "LANES",
    "Features",
    "Slots",
    "add_times",
    "add_up",
    "count_features",
    "fill_rows",
    "is_longer",
    "set_row",
    "thick_at",
    "thick_bound",
    "thickness",
]

LANES = 64
THICK = 8
"""A sample counts in the bound if it is no wider than one part in so many of the threshold."""
SAFE = 1 - 1e-12
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
    thick: NDArray[np.int64]
    """How much wider than cells the samples are that count as features, added up."""


class Features(NamedTuple):
    """Zones with the number of samples in each, one trajectory after the other."""

    zone: NDArray[np.uint16]
    count: NDArray[np.int32]


@inner
def thick_at(boxes: Boxes, i: int, atlas: Atlas) -> tuple[int, int]:
    """Tell how much wider than a cell a box is, in space and in time."""
    space = (boxes.x1[i] - boxes.x0[i]) + (boxes.y1[i] - boxes.y0[i])
    time = boxes.t1[i] - boxes.t0[i]
    return space - atlas.thin_x - atlas.thin_y - 2, time - atlas.thin_t - 1


@inner
def thickness(
    boxes: Boxes, start: int, end: int, atlas: Atlas, scale: Scale
) -> tuple[int, int, int]:
    """Add up how thick samples are: those that count as features, and all in space and time."""
    space, all_space, all_time = 0, 0, 0
    for i in range(start, end):
        wide, long = thick_at(boxes, i, atlas)
        if wide <= scale.space // THICK:
            space += wide
        all_space += wide
        all_time += long
    return space, all_space, all_time


@inner
def count_features(
    boxes: Boxes,
    start: int,
    end: int,
    atlas: Atlas,
    scale: Scale,
    zone: NDArray[np.uint16],
    count: NDArray[np.int32],
) -> int:
    """Write the features of a trajectory, those with most samples first; give their number."""
    where = np.full(atlas.zones, -1, np.int32)
    number = 0
    for i in range(start, end):
        wide, _ = thick_at(boxes, i, atlas)
        if wide > scale.space // THICK:
            continue
        z = boxes.zone[i]
        if where[z] < 0:
            where[z] = number
            zone[number], count[number] = z, 0
            number += 1
        count[where[z]] += 1
    for f in range(1, number):
        z, c, g = zone[f], count[f], f
        while g > 0 and count[g - 1] < c:
            zone[g], count[g] = zone[g - 1], count[g - 1]
            g -= 1
        zone[g], count[g] = z, c
    return number


@inner
def set_row(
    slot: int,
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    atlas: Atlas,
    scale: Scale,
    table: NDArray[np.uint8],
    tops: NDArray[np.uint8],
    late: NDArray[np.uint8],
    row: NDArray[np.uint8],
) -> None:
    """Compute a row and lay it into its lane of the table, and under what its chunk says."""
    row_of(boxes, start, end, crowd, atlas, scale, row)
    chunk, lane = slot // LANES, slot % LANES
    late[slot] = row[atlas.zones :]
    for z in range(atlas.zones):
        table[chunk, z, lane] = row[z]
    high, column = chunk // LANES, chunk % LANES
    for z in range(atlas.zones):
        tops[high, z, column] = min(tops[high, z, column], row[z])


@compiled
def fill_rows(
    first: int,
    last: int,
    slots: Slots,
    boxes: Boxes,
    atlas: Atlas,
    scale: Scale,
    table: NDArray[np.uint8],
    tops: NDArray[np.uint8],
    late: NDArray[np.uint8],
) -> None:
    """Compute the rows of some slots, of trajectories of the input."""
    row = np.empty(atlas.zones + atlas.bins, np.uint8)
    for slot in range(first, last):
        start, end, crowd = slots.start[slot], slots.end[slot], slots.crowd[slot]
        set_row(slot, boxes, start, end, crowd, atlas, scale, table, tops, late, row)


@inner
def thick_bound(
    boxes: Boxes,
    start: int,
    end: int,
    near: NDArray[np.uint8],
    late: NDArray[np.uint8],
    share: float,
    cells: bool,  # noqa: FBT001
    atlas: Atlas,
    scale: Scale,
    limit: float,
    each: NDArray[np.float64],
) -> float:
    """Bound the efforts of the longer's samples, whatever their size, divided by the crowd.

    `near` and `late` are the rows of the shorter, `share` is its part of the crowd, and `cells`
    tells that its samples are single cells: then each must be stretched to the longer's box, and
    the distance to it is at least that to its middle, less half of its length.

    Writes the bound of each sample, as far as there is room, and gives their sum, no further than
    the limit.
    """
    x0, x1, y0, y1, t0, t1 = boxes.x0, boxes.x1, boxes.y0, boxes.y1, boxes.t0, boxes.t1
    zone, bin_ = boxes.zone, boxes.bin
    thin, thin_t = atlas.thin_x + atlas.thin_y + 2, atlas.thin_t + 1
    space_step, time_step = atlas.space_step, atlas.time_step
    widest, longest = float(scale.space), float(scale.time)
    space_unit, time_unit, room = scale.space_unit, scale.time_unit, len(each)
    total = 0.0
    for i in range(start, end):
        wide = float((x1[i] - x0[i]) + (y1[i] - y0[i]) - thin)
        long = float(t1[i] - t0[i] - thin_t)
        space = float(space_step * near[zone[i]])
        time = float(time_step * late[bin_[i]])
        if cells:
            space = min(widest, max(0.0, space - wide) + share * wide)
            time = min(longest, max(0.0, time - (long + 1) / 2) + share * long)
        else:
            space = max(0.0, space - (1 - share) * wide)
            time = max(0.0, time - (1 - share) * long)
        effort = space_unit * space + time_unit * time
        total += effort
        if i - start < room:
            each[i - start] = effort
        if total > limit:
            break
    return total


@inner
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


@inner
def add_up(
    rows: NDArray[np.uint8],
    zone: NDArray[np.uint16],
    count: NDArray[np.int32],
    space: NDArray[np.int32],
) -> int:
    """Bound from space alone the cost of a trajectory, given by its features, with 64 others.

    Fills `space`, one number a lane, and gives the least.
    """
    for lane in range(LANES):
        space[lane] = 0
    for f in range(len(zone)):
        line, times = rows[zone[f]], count[f]
        for lane in range(LANES):
            space[lane] += times * np.int32(line[lane])
    least = space[0]
    for lane in range(1, LANES):
        least = min(least, space[lane])
    return int(least)


@inner
def add_times(late: NDArray[np.uint8], bins: NDArray[np.uint16], limit: float) -> int:
    """Bound from time alone the cost of a trajectory, given by its bins, with one other."""
    total = 0
    for begin in range(0, len(bins), 32):
        for i in range(begin, min(begin + 32, len(bins))):
            total += late[bins[i]]
        if total > limit:
            break
    return total
