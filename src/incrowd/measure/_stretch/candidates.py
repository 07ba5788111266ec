"""Candidates of a search: all whose bound is within its limit, by the length of the query.

::

    queries ──> bound_terms_of     what each adds up, in space and in time
                  │
                  ├─ others that are shorter: generate_shorter, a tile of a thousand at a time
                  │     _live_chunks      64 chunks of 64 by their minima: which may hold any?
                  │     _filter_by_space  of these, everybody by space
                  │     _push_remaining   who is left by time: all at once where many are left of a
                  │                       chunk, and one by one where few are
                  │
                  └─ others that are longer: generate_longer, one by one
                        by the region where they are seen most, then all of space, then time

    both ──> push (see `topk`), in which the limit falls as candidates come in

A pair is bounded from its longer trajectory, whose samples are the ones that equation (10) sums
over. So a query adds up its own samples against the rows of everybody shorter; but of somebody
longer it has to look up the other's samples in its own row.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel_inline, kernel_nogc, kernel_private
from incrowd.measure._stretch.batch_bounds import (
    CHUNK,
    TILE_CHUNKS,
    TILE_WIDTH,
    TILES,
    BoundTerms,
    make_terms,
    space_terms,
    sum_bounds_batch,
    time_terms,
)
from incrowd.measure._stretch.box_bounds import corner_bound, dominant_region_bound
from incrowd.measure._stretch.index import SearchIndex, samples_of
from incrowd.measure._stretch.lower_bounds import (
    SAFE,
    ActiveClusters,
    is_longer,
    sum_space_bounds,
    sum_time_bounds,
    sum_time_bounds_unit,
)
from incrowd.measure._stretch.topk import CandidateBuffer, push
from incrowd.measure._stretch.variety import Variety, may_merge

__all__ = [
    "ALL",
    "OLDER",
    "SHORTER",
    "Scratch",
    "WorkerPart",
    "bound_terms_of",
    "eligible",
    "generate_candidates",
    "generate_longer",
    "generate_shorter",
    "make_scratch",
]


ALL, SHORTER, OLDER = 0, 1, 2
"""Among whom to search: everybody, the shorter of the input, or the older."""
SOME, MANY = 1, 12
"""Of a chunk with more candidates than this, time is bounded for all at once; for a query of boxes,
or of unit samples, whose single bounds are cheaper."""


class WorkerPart(NamedTuple):
    """What one thread does of a search: every so many chunks, or tiles, from its own first on."""

    part: int
    parts: int
    best: NDArray[np.float64]
    """What the nearest of each query cost at most, as far as any of the threads knows."""


@kernel_nogc
def eligible(
    query: int,
    other: int,
    scope: int,
    people: int,
    clusters: ActiveClusters,
    variety: Variety,
) -> bool:
    """Tell whether a search from one cluster is to find another: each pair belongs to one of them.

    No two that are full are a pair, nor two that may not merge, and nobody is one with herself.
    """
    node, full, crowd = clusters.node, clusters.full, clusters.crowd
    if node[other] < 0 or other == query or (full[query] and full[other]):
        return False
    if scope == SHORTER:
        found = bool(node[other] < people)
    else:
        found = scope == ALL or bool(node[other] < node[query])
    return found and may_merge(node[query], node[other], crowd[query] + crowd[other], variety)


class Scratch(NamedTuple):
    """Arrays for one tile: a number for each lane, or for each chunk."""

    near: NDArray[np.int32]
    """The bound in space, in steps."""
    late: NDArray[np.int32]
    """The bound in time, in steps."""
    part: NDArray[np.uint16]
    unit_mask: NDArray[np.uint8]
    """255 for those who consist of unit samples, else 0."""
    remaining: NDArray[np.bool_]
    """Who may still be a candidate."""
    number: NDArray[np.int64]
    """How many of each chunk may be."""


@kernel_private
def make_scratch() -> Scratch:
    """Make arrays for one tile."""
    return Scratch(
        np.zeros(TILE_WIDTH, np.int32),
        np.zeros(TILE_WIDTH, np.int32),
        np.zeros(TILE_WIDTH, np.uint16),
        np.zeros(TILE_WIDTH, np.uint8),
        np.zeros(TILE_WIDTH, np.bool_),
        np.zeros(TILE_CHUNKS, np.int64),
    )


@kernel_private
def generate_candidates(
    queries: NDArray[np.int64],
    scope: int,
    keep: int,
    worker: WorkerPart,
    index: SearchIndex,
    buffer: CandidateBuffer,
) -> None:
    """Find the candidates of some queries: those whose bound is within the limit.

    Queries go together through each tile while it is in the processor's cache.
    """
    near, late = bound_terms_of(queries, index)
    chunks = len(index.clusters.node) // CHUNK
    scratch, alive = make_scratch(), np.empty((CHUNK, len(queries)), np.bool_)
    for group in range(-(-chunks // CHUNK)):
        for q in range(len(queries)):
            _live_chunks(
                index.chunk_minima[group], queries[q], q, near, index, buffer, scratch, alive[:, q]
            )
        for tile in range(TILES * group, TILES * (group + 1)):
            if tile % worker.parts == worker.part:
                generate_shorter(
                    tile, queries, alive, near, late, scope, keep, index, buffer, scratch
                )
    if scope != SHORTER:
        for q in range(len(queries)):
            generate_longer(queries[q], q, scope, keep, ZERO, chunks, worker, index, buffer)


@kernel_private
def bound_terms_of(queries: NDArray[np.int64], index: SearchIndex) -> tuple[BoundTerms, BoundTerms]:
    """Give the terms that queries add up, in space and in time."""
    clusters, partition, scale = index.clusters, index.partition, index.scale
    base = len(index.base.t0)
    features, samples = ZERO, ZERO
    for query in queries:
        features += clusters.features[query]
        samples += clusters.end[query] - clusters.start[query]
    near = make_terms(len(queries), features, samples)
    late = make_terms(len(queries), samples, samples)
    if not index.bounds:
        return near, late
    region, count, wide = index.features.region, index.features.count, index.features.wide
    for q in range(len(queries)):
        query = queries[q]
        first, last = clusters.feature[query], clusters.feature[query] + clusters.features[query]
        crowd, start, end = clusters.crowd[query], clusters.start[query], clusters.end[query]
        own = slice(first, last)
        space_terms(q, region[own], count[own], wide[own], crowd, partition, scale, near)
        if start >= base:
            time_terms(q, index.merged, start - base, end - base, crowd, partition, scale, late)
        else:
            time_terms(q, index.base, start, end, crowd, partition, scale, late)
    return near, late


@kernel_inline
def _live_chunks(
    minima: NDArray[np.uint8],
    query: int,
    q: int,
    near: BoundTerms,
    index: SearchIndex,
    buffer: CandidateBuffer,
    scratch: Scratch,
    alive: NDArray[np.bool_],
) -> None:
    """Tell which of 64 chunks may hold candidates, by the least of each chunk in every region."""
    if not index.bounds:
        alive[:] = True
        return
    clusters, scale = index.clusters, index.scale
    whole = float((clusters.end[query] - clusters.start[query]) * scale.whole)
    most = buffer.limit[q] * whole * (1 + 1e-9)
    unit, none = scale.space_unit * index.partition.space_step, scratch.unit_mask
    none[:CHUNK] = 0  # minima are of anybody, units or not
    sum_bounds_batch(minima, ZERO, np.int64(CHUNK), near, q, none, scratch.near, scratch.part)
    for chunk in range(CHUNK):
        alive[chunk] = unit * scratch.near[chunk] <= most


@kernel_nogc
def generate_shorter(
    tile: int,
    queries: NDArray[np.int64],
    alive: NDArray[np.bool_],
    near: BoundTerms,
    late: BoundTerms,
    scope: int,
    keep: int,
    index: SearchIndex,
    buffer: CandidateBuffer,
    scratch: Scratch,
) -> None:
    """Find the candidates of a tile that are shorter than the queries.

    `alive` tells for each of 64 chunks, and each query, whether there may be any.
    """
    clusters, scale, number = index.clusters, index.scale, scratch.number
    first = tile // TILES * CHUNK + tile % TILES  # the first chunk
    chunks = min(TILE_CHUNKS, (len(clusters.node) // CHUNK - first + TILES - 1) // TILES)
    for chunk in range(chunks):
        for member in range(CHUNK):
            is_unit = clusters.is_unit[(first + chunk * TILES) * CHUNK + member]
            scratch.unit_mask[chunk * CHUNK + member] = 255 if is_unit else 0
    for q in range(len(queries)):
        query = queries[q]
        whole = float((clusters.end[query] - clusters.start[query]) * scale.whole)
        most = buffer.limit[q] * whole * (1 + 1e-9)
        number[:] = 0
        for chunk in range(chunks):
            number[chunk] = alive[first % CHUNK + chunk * TILES, q]
        if index.bounds:
            _sum_runs(index.space_table[tile], ZERO, near, q, scratch.near, scratch)
        _filter_by_space(query, first, chunks, most, scope, index, scratch)
        worth = MANY if clusters.is_unit[query] else SOME
        if index.bounds:
            _sum_runs(index.time_table[tile], worth, late, q, scratch.late, scratch)
        _push_remaining(query, q, first, chunks, most, whole, worth, keep, index, buffer, scratch)


@kernel_nogc
def _filter_by_space(
    query: int,
    first: int,
    chunks: int,
    most: float,
    scope: int,
    index: SearchIndex,
    scratch: Scratch,
) -> None:
    """Leave those of a tile out who are too far away, or whom the search is not to find."""
    clusters, bounds, people, number = index.clusters, index.bounds, index.people, scratch.number
    node, start, end = clusters.node, clusters.start, clusters.end
    near, remaining = scratch.near, scratch.remaining
    unit = index.scale.space_unit * index.partition.space_step
    for chunk in range(chunks):
        if number[chunk] == 0:
            continue
        number[chunk] = 0
        for member in range(CHUNK):
            lane, other = chunk * CHUNK + member, (first + chunk * TILES) * CHUNK + member
            remaining[lane] = (
                (not bounds or unit * near[lane] <= most)
                and eligible(query, other, scope, people, clusters, index.variety)
                and is_longer(query, other, node, start, end)
            )
            number[chunk] += remaining[lane]


@kernel_nogc
def _push_remaining(
    query: int,
    q: int,
    first: int,
    chunks: int,
    most: float,
    whole: float,
    worth: int,
    keep: int,
    index: SearchIndex,
    buffer: CandidateBuffer,
    scratch: Scratch,
) -> None:
    """Take in those who are left, if time does not cost too much either.

    `known` tells that their bounds in time are in `scratch.late`: more than `worth` of their chunk
    were left.
    """
    unit, time_unit = index.scale.space_unit * index.partition.space_step, index.scale.time_unit
    step, limits, node = index.partition.time_step, buffer.limit, index.clusters.node
    for chunk in range(chunks):
        if scratch.number[chunk] == 0:
            continue
        known = scratch.number[chunk] > worth
        for member in range(CHUNK):
            lane, other = chunk * CHUNK + member, (first + chunk * TILES) * CHUNK + member
            if not scratch.remaining[lane]:
                continue
            total = 0.0
            if index.bounds:
                total = float(unit * scratch.near[lane])
                allowed = (most - total) / time_unit if time_unit else np.inf
                time = float(step * scratch.late[lane]) if known else 0.0
                if time > allowed:
                    continue
                total = _bound_shorter(query, other, total, time, known, most, allowed, index)
            value = max(0.0, total / whole * SAFE)
            if value <= limits[q]:
                push(value, other, keep, q, buffer, node)


@kernel_inline
def _bound_shorter(
    query: int,
    other: int,
    space: float,
    time: float,
    known: bool,  # noqa: FBT001
    most: float,
    allowed: float,
    index: SearchIndex,
) -> float:
    """Bound the cost of a trajectory with one shorter one, of which bounds are known already.

    `known` tells whether that in time is.
    """
    clusters, scale, partition = index.clusters, index.scale, index.partition
    base = len(index.base.t0)
    na, nb = clusters.crowd[query], clusters.crowd[other]
    boxes, start, end = samples_of(query, index)
    if len(index.corner_rows) and clusters.start[query] >= base and clusters.start[other] >= base:
        # Two crowds: their corners say more than the cells by which space knows them.
        row = index.corner_rows[other]
        return corner_bound(row, index.corner_codes, start, end, na, nb, index.kd, scale, most)
    late, step = index.distance_rows[other, partition.regions :], partition.time_step
    if not clusters.is_unit[query]:
        # The sum of a tile assumes the least crowd of the other; with the real one it is higher.
        is_unit = clusters.is_unit[other]
        time = sum_time_bounds(
            late, boxes, start, end, na, nb, is_unit, partition, scale.time, allowed
        )
    elif not known:
        time = float(step * sum_time_bounds_unit(late, boxes.time_bin, start, end, allowed / step))
    return space + scale.time_unit * time


@kernel_inline
def _sum_runs(
    table: NDArray[np.uint8],
    more: int,
    terms: BoundTerms,
    q: int,
    sums: NDArray[np.int32],
    scratch: Scratch,
) -> None:
    """Add up terms for the chunks of a tile with more than so many; neighbours together."""
    chunk = 0
    while chunk < TILE_CHUNKS:
        begin = chunk
        while chunk < TILE_CHUNKS and scratch.number[chunk] > more:
            chunk += 1
        if chunk > begin:
            sum_bounds_batch(
                table, begin * CHUNK, chunk * CHUNK, terms, q, scratch.unit_mask, sums, scratch.part
            )
        chunk += 1


@kernel_inline
def _bound_longer_merged(query: int, other: int, limit: float, index: SearchIndex) -> float:
    """Bound the cost of a merged trajectory (the query) with a longer one that was merged, too."""
    clusters, scale, kd, base = index.clusters, index.scale, index.kd, len(index.base.t0)
    start, end = clusters.start[other] - base, clusters.end[other] - base
    na, nb, row = clusters.crowd[other], clusters.crowd[query], index.corner_rows[query]
    least = dominant_region_bound(
        row,
        clusters.dominant_corners[other],
        clusters.dominant_corner_shares[other],
        na,
        nb,
        kd,
        scale,
    )
    # Shares are rounded to 32 bits; the limit is raised by more than they can be wrong.
    if least > limit * scale.whole * (1 + 1e-5):
        return np.inf
    whole = float((end - start) * scale.whole)
    most = limit * whole * (1 + 1e-9)
    return corner_bound(row, index.corner_codes, start, end, na, nb, kd, scale, most) / whole


@kernel_inline
def _bound_longer(query: int, other: int, limit: float, index: SearchIndex) -> float:
    """Bound the cost of a trajectory (the query) with a longer one: in space, then in time."""
    clusters, features = index.clusters, index.features
    scale, partition = index.scale, index.partition
    na, nb, is_unit = clusters.crowd[other], clusters.crowd[query], clusters.is_unit[query]
    row = index.distance_rows[query]
    near, late = row[: partition.regions], row[partition.regions :]
    whole = float((clusters.end[other] - clusters.start[other]) * scale.whole)
    most = limit * whole * (1 + 1e-9)
    enough = most / scale.space_unit if scale.space_unit else np.inf
    first, last = clusters.feature[other], clusters.feature[other] + clusters.features[other]
    space = sum_space_bounds(
        near, features.region, features.count, features.wide, first, last, na, nb, is_unit,
        partition, scale.space, enough,
    )  # fmt: skip
    if space > enough:
        return np.inf
    total = scale.space_unit * space
    remaining = (most - total) / scale.time_unit if scale.time_unit else np.inf
    boxes, start, end = samples_of(other, index)
    if clusters.is_unit[other]:
        step = partition.time_step
        time = float(
            step * sum_time_bounds_unit(late, boxes.time_bin, start, end, remaining / step)
        )
    else:
        time = sum_time_bounds(
            late, boxes, start, end, na, nb, is_unit, partition, scale.time, remaining
        )
    return (total + scale.time_unit * time) / whole


@kernel_nogc
def generate_longer(
    query: int,
    q: int,
    scope: int,
    keep: int,
    first_chunk: int,
    end_chunk: int,
    worker: WorkerPart,
    index: SearchIndex,
    buffer: CandidateBuffer,
) -> None:
    """Find the candidates that are longer than a query, one by one, in some chunks."""
    clusters, scale, people, bounds = index.clusters, index.scale, index.people, index.bounds
    node, start, end = clusters.node, clusters.start, clusters.end
    region, share = clusters.dominant_region, clusters.dominant_share
    limits, base = buffer.limit, len(index.base.t0)
    unit, near = scale.space_unit * index.partition.space_step, index.distance_rows[query]
    # Where space weighs nothing, nobody is too far: 0 times infinity would be no number.
    far = scale.whole / unit * (1 + 1e-6) if unit else 0.0
    merged = start[query] >= base and len(index.corner_rows) > 0
    for chunk in range(first_chunk, end_chunk):
        if chunk % worker.parts != worker.part:
            continue
        for other in range(chunk * CHUNK, (chunk + 1) * CHUNK):
            # Most are left for the region where they are seen most: it is one byte to look up.
            if bounds and unit and near[region[other]] * share[other] > limits[q] * far:
                continue
            if not eligible(query, other, scope, people, clusters, index.variety):
                continue
            if is_longer(query, other, node, start, end):
                continue
            value = 0.0
            if bounds and merged and start[other] >= base:
                value = _bound_longer_merged(query, other, limits[q], index)
            elif bounds:
                value = _bound_longer(query, other, limits[q], index)
            value = max(0.0, value * SAFE)
            if value <= limits[q]:
                push(value, other, keep, q, buffer, node)
