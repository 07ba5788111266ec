"""Admissible bounds: no pair of trajectories costs less than these say.

A pair costs at least what distance rows say (see `partition`). Seen from the longer of the two (L),
that is the sum over its samples of the other's row at their regions and time bins; so L is counted
once, as *features* (a region and how many samples lie in it), and the rows of everybody else stand
side by side (see `batch_bounds`). People who live near each other share a chunk of 64, and most
chunks are left out after space alone.

Seen from the shorter (S), the features of every longer one are looked up in the one row of S.

Boxes that are wider than a cell. A box of the longer that is wider by w contains a cell in its
region, so what it has in common with the other is stretched to that cell at least; only what the
box itself is stretched by may be less, by w times its part of the crowd (`space_bound`)::

        |######## box ########|              what the row knows is the way to the cell c; the box
        |c                    |      |b|     is nearer by up to w, but that is saved by its own
        |<-------- w -------->|              people alone: w times their part of the crowd

If the other's sample is a single cell, it must be stretched to the whole box, however near it is.
In time, a box is known by its middle: whoever lies beside it must be stretched by half of the box,
too (`time_bound`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel, kernel_nogc, kernel_private
from incrowd.measure._stretch.batch_bounds import CHUNK, tile_position
from incrowd.measure._stretch.effort import Boxes, Scale
from incrowd.measure._stretch.partition import SpaceTimePartition, distance_row

__all__ = [
    "ActiveClusters",
    "Features",
    "all_unit",
    "bound_each_sample",
    "count_features",
    "excess",
    "index_trajectories",
    "index_trajectory",
    "is_longer",
    "set_dominant_region",
    "space_bound",
    "store_distance_row",
    "sum_space_bounds",
    "sum_time_bounds",
    "sum_time_bounds_unit",
]


WIDEST = 2**16 - 1
"""A box that is wider is left out of the bound."""
SAFE = 1 - 1e-10
"""What is computed in floating point is lowered by more than it can be wrong."""


class ActiveClusters(NamedTuple):
    """Trajectories that take part in the search, an entry each: people, and crowds merged so far.

    GLOVE is agglomerative clustering, and these are its clusters. An entry is free when its node
    is -1. `node` is the index by which ties are broken: people first, then merges. Samples are
    those from `start` to `end` of the input or, counted on behind it, of what was merged.
    `is_unit` tells that all samples are as small as they can be (one cell, one slot), `full` that
    the crowd is large enough.
    """

    node: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    crowd: NDArray[np.int64]
    is_unit: NDArray[np.bool_]
    full: NDArray[np.bool_]
    feature: NDArray[np.int64]
    features: NDArray[np.int64]
    dominant_region: NDArray[np.uint16]
    dominant_share: NDArray[np.float32]
    """The region of the first feature, and what part of the samples lies there (0: all wide)."""
    dominant_corners: NDArray[np.uint16]
    dominant_corner_shares: NDArray[np.float32]
    """Of merged ones: the regions with most corners, and what part of all (see `box_bounds`)."""


class Features(NamedTuple):
    """Regions with the number of samples in each, one trajectory after the other.

    Samples that are wider than a cell are counted by themselves.
    """

    region: NDArray[np.uint16]
    count: NDArray[np.int32]
    wide: NDArray[np.uint16]


@kernel_nogc
def excess(boxes: Boxes, i: int, partition: SpaceTimePartition) -> tuple[int, int]:
    """Tell how much wider than a cell a box is, in space and in time."""
    space = (boxes.x1[i] - boxes.x0[i]) + (boxes.y1[i] - boxes.y0[i])
    time = boxes.t1[i] - boxes.t0[i]
    return space - partition.thin_x - partition.thin_y - 2, time - partition.thin_t - 1


@kernel_nogc
def all_unit(boxes: Boxes, start: int, end: int, partition: SpaceTimePartition) -> bool:
    """Tell whether no sample is larger than a unit, in space or in time."""
    for i in range(start, end):
        space, time = excess(boxes, i, partition)
        if space or time:
            return False
    return True


@kernel_private
def count_features(
    boxes: Boxes, start: int, end: int, partition: SpaceTimePartition, features: Features, used: int
) -> int:
    """Write the features of a trajectory, those with most samples first; give their number.

    There are no more of them than samples.
    """
    region, count, wide = features.region[used:], features.count[used:], features.wide[used:]
    where = np.full(partition.regions, -1, np.int32)
    number = 0
    for i in range(start, end):
        w, _ = excess(boxes, i, partition)
        r = boxes.region[i]
        if w > WIDEST:
            continue  # its discount would leave nothing of any byte
        if w == 0 and where[r] >= 0:
            count[where[r]] += 1
            continue
        if w == 0:
            where[r] = number
        region[number], count[number], wide[number] = r, 1, w
        number += 1
    # By insertion: few are out of place, and sums that start with the largest end early.
    for f in range(1, number):
        r, c, w, g = region[f], count[f], wide[f], f
        while g > 0 and count[g - 1] < c:
            region[g], count[g], wide[g] = region[g - 1], count[g - 1], wide[g - 1]
            g -= 1
        region[g], count[g], wide[g] = r, c, w
    return number


@kernel_nogc
def set_dominant_region(cluster: int, clusters: ActiveClusters, features: Features) -> None:
    """Note the region in which most of a trajectory's samples lie, and what part of them."""
    first, length = clusters.feature[cluster], clusters.end[cluster] - clusters.start[cluster]
    clusters.dominant_region[cluster], clusters.dominant_share[cluster] = 0, 0.0
    if clusters.features[cluster] > 0 and features.wide[first] == 0:
        clusters.dominant_region[cluster] = features.region[first]
        clusters.dominant_share[cluster] = features.count[first] / length


@kernel_private
def index_trajectory(
    cluster: int,
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    partition: SpaceTimePartition,
    scale: Scale,
    space_table: NDArray[np.uint8],
    time_table: NDArray[np.uint8],
    chunk_minima: NDArray[np.uint8],
    distance_rows: NDArray[np.uint8],
) -> None:
    """Compute the distance row of a trajectory, and store it in the tables."""
    distance_row(boxes, start, end, crowd, partition, scale, distance_rows[cluster])
    store_distance_row(
        cluster, partition.regions, space_table, time_table, chunk_minima, distance_rows
    )


@kernel_nogc
def store_distance_row(
    cluster: int,
    regions: int,
    space_table: NDArray[np.uint8],
    time_table: NDArray[np.uint8],
    chunk_minima: NDArray[np.uint8],
    distance_rows: NDArray[np.uint8],
) -> None:
    """Store a distance row in its lane of the tables, and lower the minima of its chunk to it.

    The minima are never raised when a trajectory is gone: they stay bounds, and `compact` makes
    them anew.
    """
    row, chunk = distance_rows[cluster], cluster // CHUNK
    tile, lane = tile_position(cluster)
    group, column = chunk // CHUNK, chunk % CHUNK
    for r in range(regions):
        space_table[tile, r, lane] = row[r]
        chunk_minima[group, r, column] = min(chunk_minima[group, r, column], row[r])
    for b in range(len(row) - regions):
        time_table[tile, b, lane] = row[regions + b]


@kernel
def index_trajectories(
    first: int,
    last: int,
    clusters: ActiveClusters,
    features: Features,
    boxes: Boxes,
    partition: SpaceTimePartition,
    scale: Scale,
    space_table: NDArray[np.uint8],
    time_table: NDArray[np.uint8],
    chunk_minima: NDArray[np.uint8],
    distance_rows: NDArray[np.uint8],
) -> None:
    """Compute the distance rows of some trajectories of the input."""
    for cluster in range(first, last):
        start, end, crowd = clusters.start[cluster], clusters.end[cluster], clusters.crowd[cluster]
        set_dominant_region(cluster, clusters, features)
        index_trajectory(
            cluster,
            boxes,
            start,
            end,
            crowd,
            partition,
            scale,
            space_table,
            time_table,
            chunk_minima,
            distance_rows,
        )


@kernel_nogc
def space_bound(near: float, wide: float, mine: float, is_unit: bool, most: float) -> float:  # noqa: FBT001
    """Bound what a box costs in space that contains a cell from which `near` is known.

    `mine` is the box's part of the crowd; `is_unit` tells that all samples of the other are units.
    A unit is stretched by `wide` at least, to hold the box; anybody else may hold it already.
    """
    return min(most, max(near, wide if is_unit else mine * wide) - mine * wide)


@kernel_nogc
def time_bound(
    late: float,
    long: float,
    mine: float,
    tilt: float,
    nb: int,
    is_unit: bool,  # noqa: FBT001
    most: float,
) -> float:
    """Bound what a box costs in time whose middle costs `late` with anybody of the other.

    With Ea and Eb for the lengths of two boxes beyond a slot, and g for the gap between a's middle
    and b, ``late <= g + Eb/(1+nb)``. Beside the middle (g > 0), the box around both is longer than
    b by g and half of Ea. Where b holds the middle, it is longer than ``(1+nb) * late``, and by
    that much less Ea the other must be stretched. A single slot is beside the middle or on it::

        beside        |------- a -------|                      around   |--- a ---|
                               ^ middle    g   |-- b --|             |------- b -------|
                               |-- half of a --|

    `mine` is a's part of the crowd, `tilt` half of what b's part is larger.
    """
    if is_unit:
        half = 0.5 * (long + 1)  # b's slot grows by all of a, or by g and half of it
        return min(most, max(late, half) - half + (1 - mine) * long)
    # Equation (7) is U - mine*La - theirs*Lb = (U - Lb) + mine*(Eb - Ea), U around both.
    beside = late + tilt * long - 0.5  # U - Lb >= g + Ea/2 - 1/2: a middle may be half a slot off
    around = mine * max(0.0, (1 + nb) * late - long)  # U >= Lb
    return min(most, max(0.0, late - mine * long, min(beside, around)))


@kernel_nogc
def sum_space_bounds(
    row: NDArray[np.uint8],
    region: NDArray[np.uint16],
    count: NDArray[np.int32],
    wide: NDArray[np.uint16],
    first: int,
    last: int,
    na: int,
    nb: int,
    is_unit: bool,  # noqa: FBT001
    partition: SpaceTimePartition,
    widest: int,
    limit: float,
) -> float:
    """Bound from space alone, in cells, the cost of a trajectory, given by its features.

    It is given up as soon as it exceeds the limit; as with all these sums, that is looked at once
    for 16 or 32 terms, for the processor adds them faster than it decides.
    """
    total, step, most, mine = 0.0, partition.space_step, float(widest), na / (na + nb)
    for begin in range(first, last, 16):
        for f in range(begin, min(begin + 16, last)):
            near = float(step * row[region[f]])
            total += count[f] * space_bound(near, float(wide[f]), mine, is_unit, most)
        if total > limit:
            break
    return total


@kernel_nogc
def sum_time_bounds(
    row: NDArray[np.uint8],
    boxes: Boxes,
    start: int,
    end: int,
    na: int,
    nb: int,
    is_unit: bool,  # noqa: FBT001
    partition: SpaceTimePartition,
    longest: int,
    limit: float,
) -> float:
    """Bound from time alone, in slots, the cost of a trajectory of boxes with one other."""
    t0, t1, bins, total = boxes.t0, boxes.t1, boxes.time_bin, 0.0
    thin, step, most = partition.thin_t + 1, partition.time_step, float(longest)
    mine, tilt = na / (na + nb), (nb - na) / (2 * (na + nb))
    for begin in range(start, end, 16):
        for i in range(begin, min(begin + 16, end)):
            late, long = float(step * row[bins[i]]), float(t1[i] - t0[i] - thin)
            total += time_bound(late, long, mine, tilt, nb, is_unit, most)
        if total > limit:
            break
    return total


@kernel_nogc
def bound_each_sample(
    boxes: Boxes,
    start: int,
    end: int,
    na: int,
    near: NDArray[np.uint8],
    late: NDArray[np.uint8],
    nb: int,
    is_unit: bool,  # noqa: FBT001
    partition: SpaceTimePartition,
    scale: Scale,
    each: NDArray[np.float64],
) -> None:
    """Bound the effort of each of the longer's samples, whatever their size, by the shorter's row.

    Divided by the crowd. `near` and `late` are the row's parts in space and in time. Space and time
    are bounded apart, and no sample costs less than both: the one that is cheapest in space may be
    another than the one that is cheapest in time.
    """
    x0, x1, y0, y1, t0, t1 = boxes.x0, boxes.x1, boxes.y0, boxes.y1, boxes.t0, boxes.t1
    region, time_bin = boxes.region, boxes.time_bin
    thin, thin_t = partition.thin_x + partition.thin_y + 2, partition.thin_t + 1
    widest, longest = float(scale.space), float(scale.time)
    mine, tilt = na / (na + nb), (nb - na) / (2 * (na + nb))
    for i in range(start, end):
        wide = float((x1[i] - x0[i]) + (y1[i] - y0[i]) - thin)
        long = float(t1[i] - t0[i] - thin_t)
        space = space_bound(
            float(partition.space_step * near[region[i]]), wide, mine, is_unit, widest
        )
        time = float(partition.time_step * late[time_bin[i]])
        time = time_bound(time, long, mine, tilt, nb, is_unit, longest)
        each[i - start] = scale.space_unit * space + scale.time_unit * time


@kernel_nogc
def is_longer(
    a: int,
    b: int,
    node: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
) -> bool:
    """Tell whether a is the longer trajectory, as equation (10) asks; of equals, the older one."""
    mine, other = end[a] - start[a], end[b] - start[b]
    return bool(mine > other or (mine == other and node[a] < node[b]))


@kernel_nogc
def sum_time_bounds_unit(
    late: NDArray[np.uint8], bins: NDArray[np.uint16], start: int, end: int, limit: float
) -> int:
    """Bound from time alone, in steps, the cost of a trajectory of unit samples with one other."""
    total = 0
    for begin in range(start, end, 32):
        for i in range(begin, min(begin + 32, end)):
            total += late[bins[i]]
        if total > limit:
            break
    return total
