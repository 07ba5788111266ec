"""The search index: all trajectories laid out for the search, and the exact cost of a pair of them.

::

    Trajectories ──> build_index
                       partition     regions of space, bins of time, and where each sample lies
                       features      of each trajectory: its regions, with the number of samples
                       clusters      trajectories by the region where they are seen most, so that
                                     neighbours lie side by side
                       distance rows one by one (distance_rows), side by side in tiles (space_table,
                                     time_table), and the least of each chunk (chunk_minima)
                       corner rows   of merged trajectories, as they come (see `box_bounds`)

    exact_cost           equation (10) of two clusters, given up where a limit is exceeded
    compare_fractions    of two costs, without rounding
    pair_cost            equation (10) of two trajectories of a dataset, without an index
"""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel, kernel_inline, kernel_nogc
from incrowd._parallel import on_threads
from incrowd.errors import ArgumentError
from incrowd.measure._stretch.batch_bounds import CHUNK, TILE_WIDTH, TILES
from incrowd.measure._stretch.box_bounds import CODES, DOMINANT, corner_bound_each
from incrowd.measure._stretch.effort import Boxes, Scale, cost, cost_parts, cost_unit
from incrowd.measure._stretch.lower_bounds import (
    ActiveClusters,
    Features,
    all_unit,
    bound_each_sample,
    count_features,
    index_trajectories,
    is_longer,
)
from incrowd.measure._stretch.partition import (
    FAR,
    KdPartition,
    SpaceTimePartition,
    build_kd_partition,
    build_partition,
    corner_row_length,
)
from incrowd.measure._stretch.variety import Variety, no_variety

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.definition import Stretch

__all__ = [
    "EACH",
    "SearchIndex",
    "boxes_of",
    "build_index",
    "compare_fractions",
    "exact_cost",
    "pair_cost",
    "read_only",
    "samples_of",
    "scale_for",
]


EACH = 2048
"""So many samples of a trajectory are bounded one by one before an exact cost is computed."""


class SearchIndex(NamedTuple):
    """All that a search looks at; it changes none of it."""

    base: Boxes
    """The samples of the input."""
    merged: Boxes
    """Those of merged trajectories, whose numbers are counted on behind the input's."""
    clusters: ActiveClusters
    features: Features
    space_table: NDArray[np.uint8]
    """The distance rows in space, side by side: by tile, region and lane."""
    time_table: NDArray[np.uint8]
    """The same in time: by tile, time bin and lane."""
    chunk_minima: NDArray[np.uint8]
    """By group of 64 chunks, region and chunk: the least of the chunk in space."""
    distance_rows: NDArray[np.uint8]
    """The distance rows one by one: by cluster, and region or time bin (regions first)."""
    corner_codes: NDArray[np.uint16]
    """Of merged boxes: where to look for them in a corner row."""
    corner_rows: NDArray[np.uint8]
    """The corner rows of merged trajectories, by cluster; nothing where they are not used."""
    partition: SpaceTimePartition
    kd: KdPartition
    scale: Scale
    people: int
    """How many trajectories the input has: nodes from here on are merges."""
    bounds: bool
    variety: Variety


@kernel_inline
def samples_of(cluster: int, index: SearchIndex) -> tuple[Boxes, int, int]:
    """Give the boxes among which those of a cluster are, and where; for `kernel_nogc` only."""
    start, end = index.clusters.start[cluster], index.clusters.end[cluster]
    base = len(index.base.t0)
    if start >= base:
        return index.merged, start - base, end - base
    return index.base, start, end


@kernel_nogc
def exact_cost(
    a: int, b: int, index: SearchIndex, most: float, each: NDArray[np.float64]
) -> tuple[int, int, bool]:
    """Give equation (10) of two clusters: numerator and denominator, and whether it is exact.

    It is not if it exceeds `most`: then the numerator is what it costs at least. `each` takes the
    bounds of single samples, as many as fit.
    """
    clusters, scale = index.clusters, index.scale
    if not is_longer(a, b, clusters.node, clusters.start, clusters.end):
        a, b = b, a
    n = clusters.crowd[a] + clusters.crowd[b]
    whole = (clusters.end[a] - clusters.start[a]) * scale.whole
    limit = np.int64(2) ** 62
    if most < 1 and scale.stop:
        # Raised by more than the product is rounded by: what costs just `most` is exact.
        limit = np.int64(most * n * whole * (1 + 1e-12)) + n
    top = _limited_sum(a, b, limit, index, each)
    return top, n * whole, top <= limit


@kernel_nogc
def _limited_sum(a: int, b: int, limit: int, index: SearchIndex, each: NDArray[np.float64]) -> int:
    """Add up what the longer (a) costs with the shorter (b), no further than the limit."""
    clusters, scale, partition = index.clusters, index.scale, index.partition
    first, a0, a1 = samples_of(a, index)
    second, b0, b1 = samples_of(b, index)
    na, nb = clusters.crowd[a], clusters.crowd[b]
    n, bounds, base = na + nb, index.bounds and scale.stop, len(index.base.t0)
    row = index.distance_rows[b]
    near, late = row[: partition.regions], row[partition.regions :]
    if clusters.is_unit[a] and clusters.is_unit[b] and scale.small >= 1:
        space_step = scale.space_unit * partition.space_step
        time_step = scale.time_unit * partition.time_step
        return n * cost_unit(
            *(first, a0, a1, second, b0, b1, scale, bounds),
            *(near, late, space_step, time_step, limit // n),
        )
    last = min(a1, a0 + len(each)) if bounds else a0
    each = each[: last - a0]
    if len(index.corner_rows) and clusters.start[a] >= base and clusters.start[b] >= base:
        corner_bound_each(
            index.corner_rows[b], index.corner_codes, a0, last, na, nb, index.kd, scale, each
        )
    else:
        bound_each_sample(
            first, a0, last, na, near, late, nb, clusters.is_unit[b], partition, scale, each
        )
    if n <= scale.small:
        return cost(np.int32, 2**31 - 1, first, a0, a1, na, second, b0, b1, nb, scale, limit, each)
    return cost(np.int64, 2**62, first, a0, a1, na, second, b0, b1, nb, scale, limit, each)


@kernel_nogc
def compare_fractions(a: int, b: int, c: int, d: int) -> int:
    """Compare a/b with c/d exactly: -1, 0 or 1. By Euclid, so that no product overflows.

    Whole parts first; if they are equal, the remainders are smaller than 1, and the larger one has
    the smaller reciprocal: these are compared next, the other way round.
    """
    sign = 1
    while True:
        p, q = a // b, c // d
        if p != q:
            return -sign if p < q else sign
        a, c = a - p * b, c - q * d
        if a == 0 or c == 0:
            return 0 if a == c else (-sign if a == 0 else sign)
        a, b, c, d, sign = b, a, d, c, -sign


def build_index(
    data: "Trajectories",
    scale: Scale,
    *,
    threads: int,
    k: int | None = None,
    frozen: bool = False,
    bounds: bool = True,
    corner_regions: int = 0,
    variety: Variety | None = None,
    **sizes: Any,
) -> SearchIndex:
    """Lay trajectories out for the search.

    Parameters
    ----------
    data, scale
        The trajectories, and how stretch is measured.
    threads
        How many threads to use.
    k
        From this crowd on a trajectory is full: no two full ones are a pair.
    frozen
        Whether full ones are left out altogether.
    bounds
        Whether bounds are used; without them, everybody is tried.
    corner_regions
        How many regions there are for the corners of merged trajectories, at most; 0 if nothing
        will be merged, or not for long.
    variety
        How many distinct homes a crowd needs, if any, and those of everybody.
    sizes
        How many regions and time bins there are at most: see `build_partition`.
    """
    partition, region, time_bin = build_partition(data.columns, scale, **sizes)
    boxes = boxes_of(data, region, time_bin)
    people = len(data)
    start, end = data.offsets[:-1], data.offsets[1:]
    features, number, is_unit, dominant_region = _summarise(boxes, start, end, partition)
    first = np.cumsum(number) - number
    # Neighbours share a chunk, the longer ones of a region after the shorter.
    order = np.lexsort((np.arange(people), end - start, dominant_region))
    variety = variety or no_variety(k or 0)
    full = np.zeros(people, np.bool_) if k is None else data.crowd >= k
    if variety.least:
        full &= variety.homes[:people, 0] >= variety.least
    if frozen:
        order = order[~full[order]]
    n = len(order)
    size = max(1, -(-n // CHUNK)) * CHUNK
    clusters = ActiveClusters(
        node=np.full(size, -1, np.int64),
        start=np.zeros(size, np.int64),
        end=np.zeros(size, np.int64),
        crowd=np.ones(size, np.int64),
        is_unit=np.zeros(size, np.bool_),
        full=np.zeros(size, np.bool_),
        feature=np.zeros(size, np.int64),
        features=np.zeros(size, np.int64),
        dominant_region=np.zeros(size, np.uint16),
        dominant_share=np.zeros(size, np.float32),
        dominant_corners=np.zeros((size, DOMINANT), np.uint16),
        dominant_corner_shares=np.zeros((size, DOMINANT), np.float32),
    )
    clusters.node[:n] = order
    clusters.start[:n], clusters.end[:n] = start[order], end[order]
    clusters.crowd[:n], clusters.full[:n] = data.crowd[order], full[order]
    clusters.is_unit[:n] = is_unit[order]
    # Features lie in the order of the clusters, for searches go through them in that order.
    clusters.features[:n] = number[order]
    clusters.feature[:n] = np.cumsum(number[order]) - number[order]
    which = np.repeat(first[order] - clusters.feature[:n], number[order])
    which += np.arange(len(which))
    laid = Features._make(column[which] for column in features)
    regions, bins = (partition.regions, partition.bins) if bounds else (1, 1)
    groups = -(-size // (CHUNK * CHUNK))
    space_table, time_table = (_empty_table(TILES * groups, number) for number in (regions, bins))
    distance_rows = np.empty((size, regions + bins), np.uint8)
    chunk_minima = np.full((groups, regions, CHUNK), FAR, np.uint8)
    if bounds:
        step = CHUNK * CHUNK  # no two threads write to the minima of the same group
        jobs = ((low, min(low + step, n)) for low in range(0, n, step))

        def fill(job: tuple[int, int]) -> None:
            index_trajectories(
                *(*job, clusters, laid, boxes, partition, scale),
                *(space_table, time_table, chunk_minima, distance_rows),
            )

        for _ in on_threads(threads, fill, jobs):
            pass
    none = read_only(Boxes._make(np.empty(0, column.dtype) for column in boxes))
    kd = build_kd_partition(data.columns, data.offsets, scale, corner_regions)
    merging = bounds and corner_regions > 0 and kd.fits
    corner_rows = np.empty((size if merging else 0, corner_row_length(kd)), np.uint8)
    return SearchIndex(
        boxes,
        none,
        clusters,
        laid,
        space_table,
        time_table,
        chunk_minima,
        distance_rows,
        np.empty((0, CODES), np.uint16),
        corner_rows,
        partition,
        kd,
        scale,
        people,
        bounds,
        variety,
    )


def _empty_table(tiles: int, lines: int) -> NDArray[np.uint8]:
    table = np.empty((tiles, lines, TILE_WIDTH), np.uint8)
    table[-TILES:] = FAR  # not all lanes of the last ones are taken
    return table


def pair_cost(data: "Trajectories", i: int, j: int, stretch: "Stretch") -> Fraction:
    """Give equation (10) of two trajectories of a dataset, exactly."""
    pair = data[[min(i, j), max(i, j)]]
    scale = scale_for(pair, stretch, bounds=False)
    lengths = pair.lengths()
    a, b = (0, 1) if lengths[0] >= lengths[1] else (1, 0)
    start, end, crowd = pair.offsets[:-1], pair.offsets[1:], pair.crowd.tolist()
    space, time = _pair_cost_parts(
        boxes_of(pair), start[a], end[a], crowd[a], start[b], end[b], crowd[b], scale
    )
    return Fraction(int(space + time), int(lengths[a]) * (crowd[a] + crowd[b]) * scale.whole)


@kernel
def _pair_cost_parts(
    boxes: Boxes, a0: int, a1: int, na: int, b0: int, b1: int, nb: int, scale: Scale
) -> tuple[int, int]:
    """Give the numerator of equation (10), in space and in time."""
    return cost_parts(boxes, a0, a1, na, boxes, b0, b1, nb, scale)


def scale_for(data: "Trajectories", stretch: "Stretch", *, bounds: bool) -> Scale:
    """Make sure that costs can be computed exactly, and choose the numbers to compute them in."""
    people, longest = int(data.crowd.sum()), int(data.lengths().max())
    whole, unit = (stretch.space_weight + stretch.time_weight) * stretch.max_space, 1
    whole *= stretch.max_time
    if whole * people * 2 * longest >= 1 << 53:
        # On fine grids a cell and a slot cost large numbers; divided by what these share, they fit.
        unit = math.gcd(
            stretch.space_weight * stretch.max_time, stretch.time_weight * stretch.max_space
        )
        whole //= unit
    if whole * people * 2 * longest >= 1 << 53 or stretch.max_space * (people + 1) >= 1 << 31:
        raise ArgumentError(
            f"thresholds of {stretch.max_space:,} cells and {stretch.max_time:,} slots, weights of "
            f"{stretch.space_weight:,} and {stretch.time_weight:,}, a crowd of {people:,} and a "
            f"longest trajectory of {longest:,} are together too much for exact arithmetic in 64 "
            "bits; take larger cells or slots, or smaller thresholds or weights"
        )
    spans = [
        int(end.max()) - int(start.min())
        for start, end in zip(data.columns[::2], data.columns[1::2], strict=True)
    ]
    small = (2**31 - 1) // (4 * max(spans))
    return stretch.scale(near=bounds, stop=bounds, small=small, unit=unit)


def boxes_of(
    data: "Trajectories",
    region: NDArray[np.uint16] | None = None,
    time_bin: NDArray[np.uint16] | None = None,
) -> Boxes:
    """Give the samples of a dataset for the kernels, without copying them."""
    none = np.empty(0, np.uint16)
    columns = data.columns
    reach = columns[5] if data.original else _reach(columns[5], data.offsets)
    codes = [none if code is None else code for code in (region, time_bin)]
    return read_only(Boxes._make([*columns, reach, *codes]))


def read_only(boxes: Boxes) -> Boxes:
    """Give the same boxes as arrays that cannot be written to."""
    views = [column.view() for column in boxes]
    for view in views:
        view.flags.writeable = False
    return Boxes._make(views)


@kernel
def _reach(t1: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """Give, for every sample, the latest end among its person's samples so far."""
    reach = t1.copy()
    for person in range(len(offsets) - 1):
        for i in range(offsets[person] + 1, offsets[person + 1]):
            reach[i] = max(reach[i], reach[i - 1])
    return reach


@kernel
def _summarise(
    boxes: Boxes, start: NDArray[np.int64], end: NDArray[np.int64], partition: SpaceTimePartition
) -> tuple[Any, Any, Any, Any]:
    """Give features, their numbers, who is all units, and the region where each was seen most."""
    n, size = len(start), 1 << 16
    features = Features(
        np.empty(size, np.uint16), np.empty(size, np.int32), np.empty(size, np.uint16)
    )
    number, dominant_region = np.zeros(n, np.int64), np.zeros(n, np.int64)
    is_unit, used = np.zeros(n, np.bool_), ZERO
    for person in range(n):
        more = end[person] - start[person]
        if used + more > len(features.region):
            more += len(features.region)
            features = Features(
                np.concatenate((features.region, np.empty(more, np.uint16))),
                np.concatenate((features.count, np.empty(more, np.int32))),
                np.concatenate((features.wide, np.empty(more, np.uint16))),
            )
        found = count_features(boxes, start[person], end[person], partition, features, used)
        number[person] = found
        if found:
            dominant_region[person] = features.region[used]  # the first has most
        used += found
        is_unit[person] = all_unit(boxes, start[person], end[person], partition)
    kept = (
        features.region[:used].copy(),
        features.count[:used].copy(),
        features.wide[:used].copy(),
    )
    return kept, number, is_unit, dominant_region
