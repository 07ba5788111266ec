"""The search for the nearest: bounds first, then exact costs, cheapest bound first.

A search gives, for a trajectory, the nearest others (exactly, ties to the lower index) and a list
of further candidates with what is known of them: the exact cost, or a bound. All that is not in
the list costs at least the *rest*. So the next nearest can be found from the list when the first
one is gone, and only when the list is used up is there another search.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import compiled, inner
from incrowd.measure.atlas import Atlas
from incrowd.measure.bounds import (
    LANES,
    SAFE,
    Features,
    Slots,
    add_late,
    add_times,
    add_up,
    bound_each,
    is_longer,
    near_at,
)
from incrowd.measure.effort import Boxes, Scale, cost, cost_of_boxes, cost_of_cells

__all__ = ["ALL", "OLDER", "SHORTER", "Found", "World", "evaluate", "search"]

GUESSES = 4
"""How many more neighbours than needed are tried before the search."""
ALL, SHORTER, OLDER = 0, 1, 2
"""Among whom to search: everybody, the shorter of the input, or the older."""


class World(NamedTuple):
    """All that a search looks at; it changes none of it."""

    base: Boxes
    merged: Boxes
    slots: Slots
    features: Features
    table: NDArray[np.uint8]
    """The rows in space, 64 to a chunk: by chunk, zone and lane."""
    tops: NDArray[np.uint8]
    """For 64 chunks at a time, the least of each chunk."""
    late: NDArray[np.uint8]
    """The rows in time: by slot and bin."""
    atlas: Atlas
    scale: Scale
    people: int
    bounds: bool


class Found(NamedTuple):
    """What searches found: a row for each query.

    Attributes
    ----------
    near, numerator, denominator
        The nodes of the nearest, in order (-1: nobody is left), and what each costs, exactly.
    node, value
        Candidates by what they cost at least, in order; a node is stored as ``-2 - node`` where
        the value is only a bound.
    number
        How many candidates there are.
    rest, rest_node
        Everybody else costs at least this, and at this price has at least this index.
    tried
        How many exact costs were computed.
    """

    near: NDArray[np.int64]
    numerator: NDArray[np.int64]
    denominator: NDArray[np.int64]
    node: NDArray[np.int32]
    value: NDArray[np.float64]
    number: NDArray[np.int32]
    rest: NDArray[np.float64]
    rest_node: NDArray[np.int64]
    tried: NDArray[np.int64]


@inner
def evaluate(a: int, b: int, world: World, most: float) -> tuple[int, int, bool]:
    """Give the cost of a pair of slots as numerator and denominator, and whether it is exact.

    It is not if it exceeds `most`: then the numerator is what it costs at least.
    """
    slots, scale, base = world.slots, world.scale, len(world.base.t0)
    if not is_longer(a, b, slots.node, slots.start, slots.end):
        a, b = b, a
    a0, a1, b0, b1 = slots.start[a], slots.end[a], slots.start[b], slots.end[b]
    na, nb = slots.crowd[a], slots.crowd[b]
    n, whole = na + nb, (a1 - a0) * scale.whole
    limit = np.int64(2) ** 62
    if most < 1 and scale.stop:
        limit = np.int64(most * n * whole * (1 + 1e-12)) + n
    first, second = world.base, world.base
    if a0 >= base:
        first, a0, a1 = world.merged, a0 - base, a1 - base
    if b0 >= base:
        second, b0, b1 = world.merged, b0 - base, b1 - base
    if slots.cells[a] and slots.cells[b] and scale.small >= 1:
        space_step = scale.space_unit * world.atlas.space_step
        time_step = scale.time_unit * world.atlas.time_step
        near, late = world.table[b // LANES, :, b % LANES], world.late[b]
        numerator = n * cost_of_cells(
            first,
            a0,
            a1,
            second,
            b0,
            b1,
            scale,
            world.bounds and scale.stop,
            near,
            late,
            space_step,
            time_step,
            limit // n,
        )
    else:
        each = np.zeros(a1 - a0)
        if world.bounds and scale.stop:
            near, late, cells = world.table[b // LANES, :, b % LANES], world.late[b], slots.cells[b]
            bound_each(first, a0, a1, na, near, late, nb, cells, world.atlas, scale, each)
        if n <= scale.small:
            numerator = cost_of_boxes(first, a0, a1, na, second, b0, b1, nb, scale, limit, each)
        else:
            numerator = cost(first, a0, a1, na, second, b0, b1, nb, scale, limit, each)
    return numerator, n * whole, numerator <= limit


@inner
def cheaper(a: int, b: int, c: int, d: int) -> int:
    """Compare a/b with c/d exactly: -1, 0 or 1. By Euclid, so that no product overflows."""
    sign = 1
    while True:
        p, q = a // b, c // d
        if p != q:
            return -sign if p < q else sign
        a, c = a - p * b, c - q * d
        if a == 0 or c == 0:
            return 0 if a == c else (-sign if a == 0 else sign)
        a, b, c, d, sign = b, a, d, c, -sign


@inner
def _before(v: float, s: int, w: float, t: int, node: NDArray[np.int64]) -> bool:
    """Tell whether candidate (v, s) comes before (w, t): cheaper, or as cheap and older."""
    return v < w or (v == w and node[s] < node[t])


@inner
def _select(
    value: NDArray[np.float64],
    slot: NDArray[np.int32],
    count: int,
    keep: int,
    node: NDArray[np.int64],
) -> None:
    """Bring the first `keep` candidates, in any order, to the front."""
    low, high, last = 0, count - 1, keep - 1
    while low < high:
        v, s = value[(low + high) // 2], slot[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while _before(value[i], slot[i], v, s, node):
                i += 1
            while _before(v, s, value[j], slot[j], node):
                j -= 1
            if i <= j:
                value[i], value[j] = value[j], value[i]
                slot[i], slot[j] = slot[j], slot[i]
                i += 1
                j -= 1
        if last <= j:
            high = j
        elif last >= i:
            low = i
        else:
            return


@inner
def _sort(
    value: NDArray[np.float64],
    slot: NDArray[np.int32],
    begin: int,
    end: int,
    node: NDArray[np.int64],
) -> None:
    """Sort candidates, by building a heap and taking it down."""
    number = end - begin
    for phase in range(2):
        for step in range(number // 2 - 1, -1, -1) if phase == 0 else range(number - 1, 0, -1):
            root, size = step, number
            if phase == 1:
                value[begin], value[begin + step] = value[begin + step], value[begin]
                slot[begin], slot[begin + step] = slot[begin + step], slot[begin]
                root, size = 0, step
            while 2 * root + 1 < size:
                child = 2 * root + 1
                if child + 1 < size and _before(
                    value[begin + child],
                    slot[begin + child],
                    value[begin + child + 1],
                    slot[begin + child + 1],
                    node,
                ):
                    child += 1
                a, b = begin + root, begin + child
                if not _before(value[a], slot[a], value[b], slot[b], node):
                    break
                value[a], value[b] = value[b], value[a]
                slot[a], slot[b] = slot[b], slot[a]
                root = child


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


class Heap(NamedTuple):
    """The candidates of one query, not yet in order, and its state in one-element arrays."""

    value: NDArray[np.float64]
    slot: NDArray[np.int32]
    count: NDArray[np.int64]
    limit: NDArray[np.float64]
    rest: NDArray[np.float64]
    rest_node: NDArray[np.int64]


@inner
def _push(v: float, s: int, keep: int, q: int, heap: Heap, node: NDArray[np.int64]) -> None:
    """Take in a candidate; when there is no more room, keep only the first ones."""
    count = heap.count[q]
    heap.value[q, count], heap.slot[q, count] = v, s
    heap.count[q] = count + 1
    if count + 1 == heap.value.shape[1]:
        _shrink(keep, q, heap, node)


@inner
def _shrink(keep: int, q: int, heap: Heap, node: NDArray[np.int64]) -> None:
    """Keep the first candidates of a query; whoever is left out is behind the last one kept."""
    if heap.count[q] <= keep:
        return
    value, slot = heap.value[q], heap.slot[q]
    _select(value, slot, heap.count[q], keep, node)
    last = 0
    for c in range(1, keep):
        if _before(value[last], slot[last], value[c], slot[c], node):
            last = c
    heap.count[q] = keep
    heap.limit[q], heap.rest[q] = value[last], value[last]
    heap.rest_node[q] = node[slot[last]] + 1


@inner
def _gather(
    queries: NDArray[np.int64],
    scope: int,
    keep: int,
    world: World,
    heap: Heap,
) -> None:
    """Find the candidates of some queries: those whose bound is within the limit."""
    bins, number = _bins(queries, world)
    chunks = len(world.slots.node) // LANES
    space, alive = np.empty(LANES, np.int32), np.empty((len(queries), LANES), np.bool_)
    for high in range(-(-chunks // LANES)):
        for q in range(len(queries)):
            _look_down(world.tops[high], queries[q], world, heap.limit[q], space, alive[q])
        for chunk in range(high * LANES, min(chunks, (high + 1) * LANES)):
            _gather_shorter(
                chunk, queries, alive[:, chunk % LANES], bins, number, scope, keep, world, heap
            )
    if scope != SHORTER:
        for q in range(len(queries)):
            _gather_longer(queries[q], q, scope, keep, 0, chunks * LANES, world, heap)


@inner
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
def _gather_shorter(  # noqa: C901, PLR0912
    chunk: int,
    queries: NDArray[np.int64],
    alive: NDArray[np.bool_],
    bins: NDArray[np.uint16],
    number: NDArray[np.int64],
    scope: int,
    keep: int,
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
    rows, limits, late = world.table[chunk], heap.limit, world.late
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
                rows, features, first, last, crowd[query], only, atlas, scale.space, space
            )
            if space_unit * least > most:
                continue
        for lane in range(LANES):
            other, total = chunk * LANES + lane, float(space_unit * space[lane])
            if total > most or not _meets(query, other, scope, people, node, full):
                continue
            if not is_longer(query, other, node, start, end):
                continue
            if bounds:
                left = (most - total) / time_unit if time_unit else np.inf
                if cells[query]:
                    left /= atlas.time_step
                    late_sum = add_times(late[other], bins[q, : number[q]], left)
                    total += time_unit * atlas.time_step * late_sum
                else:
                    total += time_unit * add_late(
                        late[other],
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
                _push(value, other, keep, q, heap, node)


@inner
def _bins(queries: NDArray[np.int64], world: World) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
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
def _gather_longer(  # noqa: C901, PLR0912
    query: int, q: int, scope: int, keep: int, low: int, high: int, world: World, heap: Heap
) -> None:
    """Find the candidates that are longer than a query, one by one."""
    slots, scale, people, bounds = world.slots, world.scale, world.people, world.bounds
    node, start, end, full = slots.node, slots.start, slots.end, slots.full
    feature, features, cells, crowd = slots.feature, slots.features, slots.cells, slots.crowd
    zones, counts, wide = world.features.zone, world.features.count, world.features.wide
    atlas, limits, base, late = world.atlas, heap.limit, len(world.base.t0), world.late[query]
    unit, time_unit = scale.space_unit * atlas.space_step, scale.time_unit
    base_bin, merged_bin, per_unit = world.base.bin, world.merged.bin, 1 / max(unit, 1)
    near = np.empty(world.table.shape[1], np.uint8)
    for f in range(len(near)):
        near[f] = world.table[query // LANES, f, query % LANES]
    for other in range(low, high):
        if not _meets(query, other, scope, people, node, full):
            continue
        if is_longer(query, other, node, start, end):
            continue
        value = 0.0
        if bounds:
            whole = float((end[other] - start[other]) * scale.whole)
            most = limits[q] * whole * (1 + 1e-9)
            space, enough = 0.0, most * per_unit
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
            _push(value, other, keep, q, heap, node)


@inner
def _try(
    query: int,
    begin: int,
    count: int,
    value: NDArray[np.float64],
    slot: NDArray[np.int32],
    exact: NDArray[np.bool_],
    q: int,
    most: float,
    found: Found,
    world: World,
) -> bool:
    """Compute exact costs, in order, until no candidate can come before the nearest found.

    True if that was so before the candidates were used up.
    """
    slots, near = world.slots, found.near.shape[1]
    for c in range(begin, count):
        worst, node = _worst(q, most, found)
        if value[c] > worst or (value[c] == 0 and worst == 0 and node < slots.node[slot[c]]):
            return True
        top, bottom, whole = evaluate(query, slot[c], world, worst)
        found.tried[q] += 1
        value[c], exact[c] = top / bottom, whole
        if not whole or value[c] > most:
            continue
        node, place = slots.node[slot[c]], near
        while place > 0 and _ahead(node, top, bottom, q, place - 1, found):
            place -= 1
        for p in range(near - 1, place, -1):
            found.near[q, p] = found.near[q, p - 1]
            found.numerator[q, p] = found.numerator[q, p - 1]
            found.denominator[q, p] = found.denominator[q, p - 1]
        if place < near:
            found.near[q, place] = node
            found.numerator[q, place], found.denominator[q, place] = top, bottom
    return False


@inner
def _worst(q: int, most: float, found: Found) -> tuple[float, int]:
    """Give the cost and the node of the last of the nearest; `most` while there are too few."""
    last = found.near.shape[1] - 1
    if found.near[q, last] < 0:
        return most, -1
    return found.numerator[q, last] / found.denominator[q, last], found.near[q, last]


@inner
def _ahead(node: int, top: int, bottom: int, q: int, place: int, found: Found) -> bool:
    """Tell whether a pair comes before the one at a place among the nearest."""
    if found.near[q, place] < 0:
        return True
    order = cheaper(top, bottom, found.numerator[q, place], found.denominator[q, place])
    return order < 0 or (order == 0 and node < found.near[q, place])


@inner
def _guess(query: int, scope: int, near: int, world: World) -> float:
    """Give a cost that the nearest do not exceed: that of the most promising who live near."""
    if not world.bounds:
        return np.inf
    home, chunks, keep = query // LANES, len(world.slots.node) // LANES, near + GUESSES
    heap, queries = _heap(1, 2 * keep + LANES), np.full(1, query, np.int64)
    bins, number = _bins(queries, world)
    alive = np.ones(1, np.bool_)
    first, last = max(0, home - 1), min(chunks, home + 2)
    for chunk in range(first, last):
        _gather_shorter(chunk, queries, alive, bins, number, scope, keep, world, heap)
    if scope != SHORTER:
        _gather_longer(query, 0, scope, keep, first * LANES, last * LANES, world, heap)
    _shrink(keep, 0, heap, world.slots.node)
    count = heap.count[0]
    _sort(heap.value[0], heap.slot[0], 0, count, world.slots.node)
    costs = np.full(near, np.inf)
    for c in range(count):
        if heap.value[0, c] > costs[near - 1]:
            break
        top, bottom, whole = evaluate(query, heap.slot[0, c], world, costs[near - 1])
        if whole and top / bottom < costs[near - 1]:
            costs[near - 1] = top / bottom
            costs.sort()
    return costs[near - 1]


@inner
def _heap(number: int, size: int) -> Heap:
    """Give room for candidates of some queries."""
    return Heap(
        np.empty((number, size)),
        np.empty((number, size), np.int32),
        np.zeros(number, np.int64),
        np.full(number, np.inf),
        np.full(number, np.inf),
        np.full(number, np.int64(2) ** 62),
    )


@compiled
def search(
    queries: NDArray[np.int64],
    scope: int,
    near: int,
    keep: int,
    slack: float,
    most: float,
    world: World,
) -> Found:
    """Search for the nearest of each query (slots, best from the same chunk).

    Candidates are listed while their bounds exceed what the nearest may cost by no more than the
    slack (0.25: a quarter), and there is room for them. Nobody is looked for who costs more than
    `most`; who has nobody else then has a rest of so much.
    """
    number, slots = len(queries), world.slots
    found = Found(
        np.full((number, near), -1, np.int64),
        np.zeros((number, near), np.int64),
        np.ones((number, near), np.int64),
        np.empty((number, keep), np.int32),
        np.empty((number, keep), np.float64),
        np.zeros(number, np.int32),
        np.full(number, np.inf),
        np.full(number, np.int64(2) ** 62),
        np.zeros(number, np.int64),
    )
    heap = _heap(number, 2 * keep + LANES)
    for q in range(number):
        heap.limit[q] = most
        if most == np.inf:
            heap.limit[q] = _guess(queries[q], scope, near, world) * (1 + slack)
        heap.rest[q] = heap.limit[q]
    _gather(queries, scope, keep, world, heap)
    for q in range(number):
        _shrink(keep, q, heap, slots.node)
        count = heap.count[q]
        value, slot = heap.value[q], heap.slot[q]
        exact = np.zeros(len(value), np.bool_)
        _sort(value, slot, 0, count, slots.node)
        rest, rest_node = heap.rest[q], heap.rest_node[q]
        done = _try(queries[q], 0, count, value, slot, exact, q, most, found, world)
        worst, node = _worst(q, most, found)
        if not done and (
            rest < worst or (rest == worst and node >= 0 and (worst > 0 or rest_node <= node))
        ):
            value, slot, exact, count = _all(
                queries[q],
                scope,
                q,
                count,
                value,
                slot,
                exact,
                rest,
                rest_node,
                most,
                found,
                world,
            )
            rest, rest_node = worst, np.int64(2) ** 62
        _keep(q, keep, value, slot, exact, count, rest, rest_node, found, slots)
    return found


@inner
def _all(
    query: int,
    scope: int,
    q: int,
    count: int,
    value: NDArray[np.float64],
    slot: NDArray[np.int32],
    exact: NDArray[np.bool_],
    rest: float,
    rest_node: int,
    most: float,
    found: Found,
    world: World,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_], int]:
    """Go on with all candidates that may still be near, where the first ones did not suffice."""
    slots = world.slots
    size = len(slots.node) + 1
    heap = _heap(1, size)
    heap.limit[0] = _worst(q, most, found)[0]
    _gather(np.full(1, query, np.int64), scope, size, world, heap)
    both_value = np.empty(count + size)
    both_slot = np.empty(count + size, np.int32)
    both_exact = np.zeros(count + size, np.bool_)
    both_value[:count], both_slot[:count], both_exact[:count] = (
        value[:count],
        slot[:count],
        exact[:count],
    )
    total = count
    for c in range(heap.count[0]):
        v, s = heap.value[0, c], heap.slot[0, c]
        if v > rest or (v == rest and slots.node[s] >= rest_node):
            both_value[total], both_slot[total] = v, s
            total += 1
    _sort(both_value, both_slot, count, total, slots.node)
    _try(query, count, total, both_value, both_slot, both_exact, q, most, found, world)
    return both_value, both_slot, both_exact, total


@inner
def _keep(
    q: int,
    keep: int,
    value: NDArray[np.float64],
    slot: NDArray[np.int32],
    exact: NDArray[np.bool_],
    count: int,
    rest: float,
    rest_node: int,
    found: Found,
    slots: Slots,
) -> None:
    """Write down the first candidates by what is known of them now, and what the rest costs."""
    order = np.argsort(value[:count], kind="mergesort")
    if count > keep:
        # Whoever is left out costs at least as much as the first of them.
        first = value[order[keep]]
        if first <= rest:
            rest, rest_node = first, 0
        count = keep
    for p in range(count):
        c = order[p]
        node = slots.node[slot[c]]
        found.value[q, p] = value[c]
        found.node[q, p] = node if exact[c] else -2 - node
    found.number[q], found.rest[q], found.rest_node[q] = count, rest, rest_node
