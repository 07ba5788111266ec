"""Gathering candidates: all whose bound is within the limit of a search.

From the longer of two, 64 others are bounded at a time, by space; who is left, by time. From the
shorter, one after the other.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import ZERO, inlined, inner
from incrowd.measure.bounds import (
    LANES,
    SAFE,
    add_late,
    add_times,
    add_up,
    is_longer,
    near_at,
)
from incrowd.measure.candidates import Heap, push
from incrowd.measure.pairs import World

__all__ = [
    "ALL",
    "OLDER",
    "SHORTER",
    "Share",
    "bins_of",
    "gather",
    "gather_longer",
    "gather_shorter",
]

ALL, SHORTER, OLDER = 0, 1, 2
"""Among whom to search: everybody, the shorter of the input, or the older."""


class Share(NamedTuple):
    """What one thread does of a search: every so many slots, from the first of its own on."""

    part: int
    parts: int
    best: NDArray[np.float64]
    """What the nearest of each query cost at most, as far as any of the threads knows."""


@inner
def _meets(
    query: int,
    other: int,
    scope: int,
    people: int,
    node: NDArray[np.int64],
    full: NDArray[np.bool_],
) -> bool:
    """Tell whether a search from one slot is to find another."""
    if node[other] < 0 or other == query or (full[query] and full[other]):
        return False
    if scope == SHORTER:
        return bool(node[other] < people)
    return scope == ALL or bool(node[other] < node[query])


@inner
def gather(
    queries: NDArray[np.int64],
    scope: int,
    keep: int,
    share: Share,
    world: World,
    heap: Heap,
) -> None:
    """Find the candidates of some queries: those whose bound is within the limit."""
    bins, number = bins_of(queries, world)
    chunks = len(world.slots.node) // LANES
    space, alive = np.empty(LANES, np.int32), np.empty((LANES, len(queries)), np.bool_)
    for high in range(-(-chunks // LANES)):
        for q in range(len(queries)):
            _look_down(world.tops[high], queries[q], world, heap.limit[q], space, alive[:, q])
        for chunk in range(high * LANES, min(chunks, (high + 1) * LANES)):
            gather_shorter(
                chunk, queries, alive[chunk % LANES], bins, number, scope, keep, share, world, heap
            )
    if scope != SHORTER:
        for q in range(len(queries)):
            gather_longer(queries[q], q, scope, keep, ZERO, chunks, share, world, heap)


@inlined
def _look_down(
    rows: NDArray[np.uint8],
    query: int,
    world: World,
    limit: float,
    space: NDArray[np.int32],
    alive: NDArray[np.bool_],
) -> None:
    """Tell which of 64 chunks may hold candidates."""
    if not world.bounds:
        alive[:] = True
        return
    slots, scale = world.slots, world.scale
    whole = float((slots.end[query] - slots.start[query]) * scale.whole)
    most = limit * whole * (1 + 1e-9)
    first, crowd = slots.feature[query], slots.crowd[query]
    last, none = first + slots.features[query], np.zeros(LANES, np.uint8)
    add_up(rows, world.features, first, last, crowd, none, world.atlas, scale.space, space)
    unit = scale.space_unit * world.atlas.space_step
    for lane in range(LANES):
        alive[lane] = unit * space[lane] <= most


@inner
def gather_shorter(  # noqa: C901, PLR0912
    chunk: int,
    queries: NDArray[np.int64],
    alive: NDArray[np.bool_],
    bins: NDArray[np.uint16],
    number: NDArray[np.int64],
    scope: int,
    keep: int,
    share: Share,
    world: World,
    heap: Heap,
) -> None:
    """Find the candidates of a chunk that are shorter than the queries."""
    # Small things are taken out of the world first: to hand it on whole would cost more than
    # what is done with it.
    slots, scale, bounds, people = world.slots, world.scale, world.bounds, world.people
    base, atlas, features = len(world.base.t0), world.atlas, world.features
    node, start, end, full = slots.node, slots.start, slots.end, slots.full
    cells, crowd = slots.cells, slots.crowd
    space_unit, time_unit = scale.space_unit * atlas.space_step, scale.time_unit
    side, limits, rows, zones = world.table[chunk], heap.limit, world.rows, atlas.zones
    space, only = np.zeros(LANES, np.int32), np.empty(LANES, np.uint8)
    for lane in range(LANES):
        only[lane] = 255 if cells[chunk * LANES + lane] else 0
    for q in range(len(queries)):
        if not alive[q]:
            continue
        query = queries[q]
        whole = float((end[query] - start[query]) * scale.whole)
        most = limits[q] * whole * (1 + 1e-9)
        boxes, shift = world.base, 0
        if start[query] >= base:
            boxes, shift = world.merged, base
        if bounds:
            first, last = slots.feature[query], slots.feature[query] + slots.features[query]
            least = add_up(
                side, features, first, last, crowd[query], only, atlas, scale.space, space
            )
            if space_unit * least > most:
                continue
        for lane in range((share.part - chunk * LANES) % share.parts, LANES, share.parts):
            other, total = chunk * LANES + lane, float(space_unit * space[lane])
            if total > most or not _meets(query, other, scope, people, node, full):
                continue
            if not is_longer(query, other, node, start, end):
                continue
            if bounds:
                left = (most - total) / time_unit if time_unit else np.inf
                if cells[query]:
                    left /= atlas.time_step
                    late_sum = add_times(rows[other, zones:], bins[q, : number[q]], left)
                    total += time_unit * atlas.time_step * late_sum
                else:
                    total += time_unit * add_late(
                        rows[other, zones:],
                        boxes,
                        start[query] - shift,
                        end[query] - shift,
                        crowd[query],
                        crowd[other],
                        cells[other],
                        atlas,
                        scale.time,
                        left,
                    )
            value = max(0.0, total / whole * SAFE)
            if value <= limits[q]:
                push(value, other, keep, q, heap, node)


@inner
def bins_of(
    queries: NDArray[np.int64], world: World
) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """Give the bins in which the samples of each query lie."""
    slots, base, longest = world.slots, len(world.base.t0), 0
    for q in range(len(queries)):
        longest = max(longest, slots.end[queries[q]] - slots.start[queries[q]])
    bins, number = np.empty((len(queries), longest), np.uint16), np.zeros(len(queries), np.int64)
    for q in range(len(queries)):
        start, end = slots.start[queries[q]], slots.end[queries[q]]
        number[q] = end - start
        if start >= base:
            bins[q, : end - start] = world.merged.bin[start - base : end - base]
        else:
            bins[q, : end - start] = world.base.bin[start:end]
    return bins, number


@inner
def gather_longer(  # noqa: C901, PLR0912
    query: int,
    q: int,
    scope: int,
    keep: int,
    first_chunk: int,
    end_chunk: int,
    share: Share,
    world: World,
    heap: Heap,
) -> None:
    """Find the candidates that are longer than a query, one by one, in some chunks."""
    slots, scale, people, bounds = world.slots, world.scale, world.people, world.bounds
    node, start, end, full = slots.node, slots.start, slots.end, slots.full
    feature, features, cells, crowd = slots.feature, slots.features, slots.cells, slots.crowd
    zones, counts, wide = world.features.zone, world.features.count, world.features.wide
    atlas, limits, base, row = world.atlas, heap.limit, len(world.base.t0), world.rows[query]
    unit, time_unit = scale.space_unit * atlas.space_step, scale.time_unit
    home, at_home = slots.home, slots.at_home
    # Where space weighs nothing, nobody is too far: 0 times infinity would be no number.
    far = scale.whole / unit * (1 + 1e-6) if unit else 0.0
    base_bin, merged_bin = world.base.bin, world.merged.bin
    near, late = row[: atlas.zones], row[atlas.zones :]
    first_slot = first_chunk * LANES
    first_slot += (share.part - first_slot) % share.parts
    for other in range(first_slot, end_chunk * LANES, share.parts):
        # Most are left for where they live.
        if bounds and unit and near[home[other]] * at_home[other] > limits[q] * far:
            continue
        if not _meets(query, other, scope, people, node, full):
            continue
        if is_longer(query, other, node, start, end):
            continue
        value = 0.0
        if bounds:
            whole = float((end[other] - start[other]) * scale.whole)
            most = limits[q] * whole * (1 + 1e-9)
            space, enough = 0.0, most / unit if unit else np.inf
            for f in range(feature[other], feature[other] + features[other]):
                if wide[f] == 0:
                    space += float(counts[f] * np.int64(near[zones[f]]))
                else:
                    mine = crowd[other] / (crowd[other] + crowd[query])
                    value = float(atlas.space_step * near[zones[f]])
                    value = near_at(value, float(wide[f]), mine, cells[query], float(scale.space))
                    space += value / atlas.space_step
                if space > enough:
                    break
            if space > enough:
                continue
            total = unit * space
            left = (most - total) / time_unit if time_unit else np.inf
            first, last, boxes, bins = start[other], end[other], world.base, base_bin
            if first >= base:
                first, last, boxes, bins = first - base, last - base, world.merged, merged_bin
            if cells[other]:
                late_sum = add_times(late, bins[first:last], left / atlas.time_step)
                total += time_unit * atlas.time_step * late_sum
            else:
                total += time_unit * add_late(
                    late,
                    boxes,
                    first,
                    last,
                    crowd[other],
                    crowd[query],
                    cells[query],
                    atlas,
                    scale.time,
                    left,
                )
            if total > most:
                continue
            value = max(0.0, total / whole * SAFE)
        if value <= limits[q]:
            push(value, other, keep, q, heap, node)
