"""Gathering candidates: all whose bound is within the limit of a search."""

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import ZERO, inlined, inner
from incrowd.measure.candidates import Heap
from incrowd.measure.lines import (
    LANES,
    STRIPES,
    Lines,
    add_lines,
    make_lines,
    space_lines,
    time_lines,
)
from incrowd.measure.longer import gather_longer
from incrowd.measure.pairs import World
from incrowd.measure.scopes import SHORTER, Share
from incrowd.measure.shorter import Room, gather_shorter, make_room

__all__ = ["gather", "lines_of"]


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
    near, late = lines_of(queries, world)
    chunks = len(world.slots.node) // LANES
    room, alive = make_room(), np.empty((LANES, len(queries)), np.bool_)
    for high in range(-(-chunks // LANES)):
        for q in range(len(queries)):
            _look_down(world.tops[high], queries[q], q, near, world, heap, room, alive[:, q])
        for stripe in range(STRIPES * high, STRIPES * (high + 1)):
            if stripe % share.parts == share.part:
                gather_shorter(stripe, queries, alive, near, late, scope, keep, world, heap, room)
    if scope != SHORTER:
        for q in range(len(queries)):
            gather_longer(queries[q], q, scope, keep, ZERO, chunks, share, world, heap)


@inner
def lines_of(queries: NDArray[np.int64], world: World) -> tuple[Lines, Lines]:
    """Give the lines that queries add up, in space and in time."""
    slots, atlas, scale, base = world.slots, world.atlas, world.scale, len(world.base.t0)
    features, samples = ZERO, ZERO
    for query in queries:
        features += slots.features[query]
        samples += slots.end[query] - slots.start[query]
    near = make_lines(len(queries), features, samples)
    late = make_lines(len(queries), samples, samples)
    if not world.bounds:
        return near, late
    zone, count, wide = world.features.zone, world.features.count, world.features.wide
    for q in range(len(queries)):
        query = queries[q]
        first, last = slots.feature[query], slots.feature[query] + slots.features[query]
        crowd, start, end = slots.crowd[query], slots.start[query], slots.end[query]
        space_lines(
            q, zone[first:last], count[first:last], wide[first:last], crowd, atlas, scale, near
        )
        if start >= base:
            time_lines(q, world.merged, start - base, end - base, crowd, atlas, scale, late)
        else:
            time_lines(q, world.base, start, end, crowd, atlas, scale, late)
    return near, late


@inlined
def _look_down(
    rows: NDArray[np.uint8],
    query: int,
    q: int,
    near: Lines,
    world: World,
    heap: Heap,
    room: Room,
    alive: NDArray[np.bool_],
) -> None:
    """Tell which of 64 chunks may hold candidates."""
    if not world.bounds:
        alive[:] = True
        return
    slots, scale = world.slots, world.scale
    whole = float((slots.end[query] - slots.start[query]) * scale.whole)
    most = heap.limit[q] * whole * (1 + 1e-9)
    unit, none = scale.space_unit * world.atlas.space_step, room.cells
    none[:LANES] = 0  # nobody is known to consist of cells
    add_lines(rows, ZERO, np.int64(LANES), near, q, none, room.near, room.part)
    for lane in range(LANES):
        alive[lane] = unit * room.near[lane] <= most
