"""Gathering candidates: all whose bound is within the limit of a search.

Candidates that are shorter than a trajectory: a thousand are bounded at a time.

First by space, in runs of chunks that may hold any; then, where enough are left of a chunk, all of
it by time, and the others one by one.

Candidates that are longer than a trajectory: each is looked up in its row, one by one.

Whom a search is to find, and what part of the work one thread does.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel_inline, kernel_nogc, kernel_private
from incrowd.measure._stretch.batch_bounds import (
    LANES,
    STRIPE,
    STRIPES,
    WIDTH,
    Lines,
    add_lines,
    make_lines,
    space_lines,
    time_lines,
)
from incrowd.measure._stretch.box_bounds import corner_sum, from_home
from incrowd.measure._stretch.index import World, samples_of
from incrowd.measure._stretch.lower_bounds import SAFE, add_late, add_near, add_times, is_longer
from incrowd.measure._stretch.topk import Heap, push

__all__ = [
    "ALL",
    "OLDER",
    "SHORTER",
    "Room",
    "Share",
    "gather",
    "gather_longer",
    "gather_shorter",
    "lines_of",
    "make_room",
    "meets",
]


ALL, SHORTER, OLDER = 0, 1, 2
"""Among whom to search: everybody, the shorter of the input, or the older."""


class Share(NamedTuple):
    """What one thread does of a search: every so many chunks, or stripes, from its own first on."""

    part: int
    parts: int
    best: NDArray[np.float64]
    """What the nearest of each query cost at most, as far as any of the threads knows."""


@kernel_nogc
def meets(
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


@kernel_private
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


@kernel_nogc
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


@kernel_nogc
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


@kernel_nogc
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
                total = _bound_shorter(query, other, total, time, known, most, allowed, world)
            value = max(0.0, total / whole * SAFE)
            if value <= limits[q]:
                push(value, other, keep, q, heap, node)


@kernel_inline
def _bound_shorter(
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


@kernel_inline
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


@kernel_inline
def _bound_boxes(query: int, other: int, limit: float, world: World) -> float:
    """Bound the cost of a merged trajectory with a shorter one that was merged, too."""
    slots, scale, plane, base = world.slots, world.scale, world.plane, len(world.base.t0)
    start, end = slots.start[other] - base, slots.end[other] - base
    na, nb, row = slots.crowd[other], slots.crowd[query], world.corners[query]
    least = from_home(row, slots.homes[other], slots.share[other], na, nb, plane, scale)
    if least > limit * scale.whole * (1 + 1e-5):
        return np.inf
    whole = float((end - start) * scale.whole)
    most = limit * whole * (1 + 1e-9)
    return corner_sum(row, world.marks, start, end, na, nb, plane, scale, most) / whole


@kernel_inline
def _bound_longer(query: int, other: int, limit: float, world: World) -> float:
    """Bound the cost of a trajectory with a shorter one: in space, then in time."""
    slots, features, scale, atlas = world.slots, world.features, world.scale, world.atlas
    na, nb, cells = slots.crowd[other], slots.crowd[query], slots.cells[query]
    near, late = world.rows[query, : atlas.zones], world.rows[query, atlas.zones :]
    whole = float((slots.end[other] - slots.start[other]) * scale.whole)
    most = limit * whole * (1 + 1e-9)
    enough = most / scale.space_unit if scale.space_unit else np.inf
    first, last = slots.feature[other], slots.feature[other] + slots.features[other]
    space = add_near(
        near, features.zone, features.count, features.wide, first, last, na, nb, cells, atlas,
        scale.space, enough,
    )  # fmt: skip
    if space > enough:
        return np.inf
    total = scale.space_unit * space
    left = (most - total) / scale.time_unit if scale.time_unit else np.inf
    boxes, start, end = samples_of(other, world)
    if slots.cells[other]:
        step = atlas.time_step
        time = float(step * add_times(late, boxes.bin, start, end, left / step))
    else:
        time = add_late(late, boxes, start, end, na, nb, cells, atlas, scale.time, left)
    return (total + scale.time_unit * time) / whole


@kernel_nogc
def gather_longer(
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
    home, at_home, limits, base = slots.home, slots.at_home, heap.limit, len(world.base.t0)
    unit, near = scale.space_unit * world.atlas.space_step, world.rows[query]
    # Where space weighs nothing, nobody is too far: 0 times infinity would be no number.
    far = scale.whole / unit * (1 + 1e-6) if unit else 0.0
    merged = start[query] >= base and len(world.corners) > 0
    for chunk in range(first_chunk, end_chunk):
        if chunk % share.parts != share.part:
            continue
        for other in range(chunk * LANES, (chunk + 1) * LANES):
            # Most are left for where they live.
            if bounds and unit and near[home[other]] * at_home[other] > limits[q] * far:
                continue
            if not meets(query, other, scope, people, node, full):
                continue
            if is_longer(query, other, node, start, end):
                continue
            value = 0.0
            if bounds and merged and start[other] >= base:
                value = _bound_boxes(query, other, limits[q], world)
            elif bounds:
                value = _bound_longer(query, other, limits[q], world)
            value = max(0.0, value * SAFE)
            if value <= limits[q]:
                push(value, other, keep, q, heap, node)


@kernel_private
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


@kernel_private
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


@kernel_inline
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
