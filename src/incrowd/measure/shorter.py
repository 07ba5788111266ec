"""Candidates that are shorter than a trajectory: a thousand are bounded at a time.

First by space, in runs of chunks that may hold any; then, where enough are left of a chunk, all of
it by time, and the others one by one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import ZERO, inlined, inner, light
from incrowd.measure.bounds import SAFE, add_late, add_times, is_longer
from incrowd.measure.candidates import Heap, push
from incrowd.measure.corners import corner_sum
from incrowd.measure.lines import LANES, STRIPE, STRIPES, WIDTH, Lines, add_lines
from incrowd.measure.pairs import World, samples_of
from incrowd.measure.scopes import meets

__all__ = ["Room", "gather_shorter", "make_room"]

SOME, MANY = 1, 12
"""Of a chunk with more candidates than this, time is bounded for all at once, for a trajectory of
boxes, or of cells."""


class Room(NamedTuple):
    """Room for sums of lines: a number for each seat, and for each chunk of a stripe."""

    near: NDArray[np.int32]
    late: NDArray[np.int32]
    part: NDArray[np.uint16]
    cells: NDArray[np.uint8]
    left: NDArray[np.bool_]
    number: NDArray[np.int64]


@inner
def make_room() -> Room:
    """Give room for the sums of one stripe."""
    return Room(
        np.zeros(WIDTH, np.int32),
        np.zeros(WIDTH, np.int32),
        np.zeros(WIDTH, np.uint16),
        np.zeros(WIDTH, np.uint8),
        np.zeros(WIDTH, np.bool_),
        np.zeros(STRIPE, np.int64),
    )


@light
def gather_shorter(
    stripe: int,
    queries: NDArray[np.int64],
    alive: NDArray[np.bool_],
    near: Lines,
    late: Lines,
    scope: int,
    keep: int,
    world: World,
    heap: Heap,
    room: Room,
) -> None:
    """Find the candidates of a stripe that are shorter than the queries.

    `alive` tells for each of 64 chunks, and each query, whether there may be any.
    """
    slots, scale, number = world.slots, world.scale, room.number
    first = stripe // STRIPES * LANES + stripe % STRIPES  # the first chunk
    places = min(STRIPE, (len(slots.node) // LANES - first + STRIPES - 1) // STRIPES)
    for place in range(places):
        for lane in range(LANES):
            cells = slots.cells[(first + place * STRIPES) * LANES + lane]
            room.cells[place * LANES + lane] = 255 if cells else 0
    for q in range(len(queries)):
        query = queries[q]
        whole = float((slots.end[query] - slots.start[query]) * scale.whole)
        most = heap.limit[q] * whole * (1 + 1e-9)
        number[:] = 0
        for place in range(places):
            number[place] = alive[first % LANES + place * STRIPES, q]
        if world.bounds:
            _add_runs(world.table[stripe], ZERO, near, q, room.near, room)
        _strike_out(query, first, places, most, scope, world, room)
        worth = MANY if slots.cells[query] else SOME
        if world.bounds:
            _add_runs(world.clock[stripe], worth, late, q, room.late, room)
        _push_left(query, q, first, places, most, whole, worth, keep, world, heap, room)


@light
def _strike_out(
    query: int, first: int, places: int, most: float, scope: int, world: World, room: Room
) -> None:
    """Leave those of a stripe out who are too far away, or whom the search is not to find."""
    slots, bounds, people, number = world.slots, world.bounds, world.people, room.number
    node, start, end, full = slots.node, slots.start, slots.end, slots.full
    near, left, unit = room.near, room.left, world.scale.space_unit * world.atlas.space_step
    for place in range(places):
        if number[place] == 0:
            continue
        number[place] = 0
        for lane in range(LANES):
            seat, other = place * LANES + lane, (first + place * STRIPES) * LANES + lane
            left[seat] = (
                (not bounds or unit * near[seat] <= most)
                and meets(query, other, scope, people, node, full)
                and is_longer(query, other, node, start, end)
            )
            number[place] += left[seat]


@light
def _push_left(
    query: int,
    q: int,
    first: int,
    places: int,
    most: float,
    whole: float,
    worth: int,
    keep: int,
    world: World,
    heap: Heap,
    room: Room,
) -> None:
    """Take in those who are left, if time does not cost too much either."""
    unit, time_unit = world.scale.space_unit * world.atlas.space_step, world.scale.time_unit
    step, limits, node = world.atlas.time_step, heap.limit, world.slots.node
    for place in range(places):
        if room.number[place] == 0:
            continue
        known = room.number[place] > worth
        for lane in range(LANES):
            seat, other = place * LANES + lane, (first + place * STRIPES) * LANES + lane
            if not room.left[seat]:
                continue
            total = 0.0
            if world.bounds:
                total = float(unit * room.near[seat])
                allowed = (most - total) / time_unit if time_unit else np.inf
                time = float(step * room.late[seat]) if known else 0.0
                if time > allowed:
                    continue
                total = _bound(query, other, total, time, known, most, allowed, world)
            value = max(0.0, total / whole * SAFE)
            if value <= limits[q]:
                push(value, other, keep, q, heap, node)


@inlined
def _bound(
    query: int,
    other: int,
    space: float,
    time: float,
    known: bool,  # noqa: FBT001
    most: float,
    allowed: float,
    world: World,
) -> float:
    """Bound the cost of a trajectory with one shorter one, of which bounds are known already.

    `known` tells whether that in time is.
    """
    slots, scale, atlas, base = world.slots, world.scale, world.atlas, len(world.base.t0)
    na, nb = slots.crowd[query], slots.crowd[other]
    boxes, start, end = samples_of(query, world)
    if len(world.corners) and slots.start[query] >= base and slots.start[other] >= base:
        row = world.corners[other]
        return corner_sum(row, world.marks, start, end, na, nb, world.plane, scale, most)
    late, step = world.rows[other, atlas.zones :], atlas.time_step
    if not slots.cells[query]:
        cells = slots.cells[other]
        time = add_late(late, boxes, start, end, na, nb, cells, atlas, scale.time, allowed)
    elif not known:
        time = float(step * add_times(late, boxes.bin, start, end, allowed / step))
    return space + scale.time_unit * time


@inlined
def _add_runs(
    table: NDArray[np.uint8],
    more: int,
    lines: Lines,
    q: int,
    sums: NDArray[np.int32],
    room: Room,
) -> None:
    """Add up lines for the chunks of a stripe with more than so many; neighbours together."""
    place = 0
    while place < STRIPE:
        begin = place
        while place < STRIPE and room.number[place] > more:
            place += 1
        if place > begin:
            add_lines(table, begin * LANES, place * LANES, lines, q, room.cells, sums, room.part)
        place += 1
