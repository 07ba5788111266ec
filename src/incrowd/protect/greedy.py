"""The greedy loop of GLOVE: merge the cheapest pair of all, again and again.

Every pair belongs to one of its two: to the longer, while both are people of the input, else to
the younger. Each trajectory knows its cheapest pair, or a bound of it; a tournament among them
tells the cheapest of all. When a pair comes out on top

- and is known exactly, and the partner is still there, it is merged;
- and the partner is gone, the next one is taken from the list that the last search left;
- and is only a bound, the exact cost is computed;
- and the list is used up, the loop ends with `SEARCH`, and whoever runs it searches again.

Nobody else is touched by a merge, so the order of the work decides nothing: the result is that of
the full matrix of the paper.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import compiled, inner
from incrowd.measure.atlas import FAR
from incrowd.measure.bounds import LANES, Features, Slots, count_features, only_cells, set_row
from incrowd.measure.effort import Boxes
from incrowd.measure.search import Found, World, cheaper, evaluate
from incrowd.protect.merging import merge, room

__all__ = [
    "DONE",
    "ENOUGH",
    "ROOM",
    "SEARCH",
    "Log",
    "Nodes",
    "Rules",
    "Standings",
    "advance",
    "enter",
    "join_later",
    "plant",
    "refresh",
    "replay",
    "reseat",
    "squeeze",
]

DONE, SEARCH, ROOM, ENOUGH = 0, 1, 2, 3
"""Why the loop ended: nothing is left to merge; a search is due; no room; enough for now."""
NOBODY, BOUND, EXACT, UNKNOWN = 0, 1, 2, 3
"""What a slot knows of its cheapest pair."""
FURTHER = 1.3
"""A cost that turns out to be more than this much above its bound is left at that for now."""
LATER = -1
"""Where the samples of a merge start that is put off."""
MERGES, USED, FEATURES, SUPPRESSED, TRIED = 0, 1, 2, 3, 4


class Rules(NamedTuple):
    """What the user asked for."""

    k: int
    loose: bool
    reshape: int
    max_space: int
    max_time: int


class Standings(NamedTuple):
    """What each slot knows of its cheapest pair; `tree` is the tournament.

    The lists are those of `Found`: a node is stored as ``-2 - node`` where its value is a bound.
    """

    key: NDArray[np.float64]
    kind: NDArray[np.uint8]
    partner: NDArray[np.int64]
    """The partner's node; where the pair is only bounded, its place in the list."""
    numerator: NDArray[np.int64]
    denominator: NDArray[np.int64]
    tree: NDArray[np.int32]
    node: NDArray[np.int32]
    value: NDArray[np.float64]
    number: NDArray[np.int32]
    rest: NDArray[np.float64]
    rest_node: NDArray[np.int64]


class Nodes(NamedTuple):
    """Everybody who ever was: people, then merges. The slot is -1 for those who are no more."""

    slot: NDArray[np.int32]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    crowd: NDArray[np.int64]


class Log(NamedTuple):
    """The merges in their order, and what was counted: see the names above."""

    older: NDArray[np.int32]
    younger: NDArray[np.int32]
    numerator: NDArray[np.int64]
    denominator: NDArray[np.int64]
    counts: NDArray[np.int64]


@inner
def _first(a: int, b: int, slots: Slots, standings: Standings) -> int:
    """Give the slot whose pair comes first: the cheaper; of equals, the one with older nodes."""
    if standings.key[a] != standings.key[b]:
        return a if standings.key[a] < standings.key[b] else b
    if standings.kind[a] != EXACT or standings.kind[b] != EXACT:
        # What is not known yet may turn out to be cheaper, so it is looked at first.
        return b if standings.kind[a] == EXACT else a
    order = cheaper(
        standings.numerator[a],
        standings.denominator[a],
        standings.numerator[b],
        standings.denominator[b],
    )
    if order == 0:
        mine = (
            min(slots.node[a], standings.partner[a]),
            max(slots.node[a], standings.partner[a]),
        )
        other = (
            min(slots.node[b], standings.partner[b]),
            max(slots.node[b], standings.partner[b]),
        )
        return a if mine <= other else b
    return a if order < 0 else b


@inner
def _play(slot: int, slots: Slots, standings: Standings) -> None:
    """Play the tournament again where it concerns a slot."""
    tree = standings.tree
    place = (len(tree) // 2 + slot) // 2
    while place:
        tree[place] = _first(tree[2 * place], tree[2 * place + 1], slots, standings)
        place //= 2


@compiled
def plant(slots: Slots, standings: Standings) -> None:
    """Play the whole tournament."""
    tree, leaves = standings.tree, len(standings.tree) // 2
    for slot in range(leaves):
        tree[leaves + slot] = slot
    for place in range(leaves - 1, 0, -1):
        tree[place] = _first(tree[2 * place], tree[2 * place + 1], slots, standings)


@compiled
def enter(queries: NDArray[np.int64], found: Found, slots: Slots, standings: Standings) -> None:
    """Take in what a search found."""
    for q in range(len(queries)):
        slot, number = queries[q], found.number[q]
        standings.number[slot] = number
        standings.node[slot, :number] = found.node[q, :number]
        standings.value[slot, :number] = found.value[q, :number]
        standings.rest[slot], standings.rest_node[slot] = found.rest[q], found.rest_node[q]
        if found.near[q, 0] < 0:
            rest = found.rest[q]
            standings.kind[slot], standings.key[slot] = UNKNOWN if rest < np.inf else NOBODY, rest
        else:
            top, bottom = found.numerator[q, 0], found.denominator[q, 0]
            standings.kind[slot], standings.key[slot] = EXACT, top / bottom
            standings.numerator[slot], standings.denominator[slot] = top, bottom
            standings.partner[slot] = found.near[q, 0]
        _play(slot, slots, standings)


@inner
def _recall(slot: int, other: int, value: float, world: World) -> tuple[int, int]:
    """Give the exact cost of a pair of which the rounded one is known."""
    slots = world.slots
    longest = max(slots.end[slot] - slots.start[slot], slots.end[other] - slots.start[other])
    bottom = longest * (slots.crowd[slot] + slots.crowd[other]) * world.scale.whole
    if bottom < np.int64(1) << 50:  # then only one whole number is near enough
        return np.int64(np.rint(value * bottom)), bottom
    top, bottom, _ = evaluate(slot, other, world, np.inf)
    return top, bottom


@inner
def _forget(slot: int, nodes: Nodes, standings: Standings) -> tuple[float, int]:
    """Strike out of a list those who are gone; give the least value and the oldest node at it."""
    best, oldest, left = np.inf, np.int64(-1), 0
    for place in range(standings.number[slot]):
        stored, value = standings.node[slot, place], standings.value[slot, place]
        node = stored if stored >= 0 else -2 - stored
        if nodes.slot[node] < 0:
            continue
        standings.node[slot, left], standings.value[slot, left] = stored, value
        left += 1
        if value < best or (value == best and node < oldest):
            best, oldest = value, np.int64(node)
    standings.number[slot] = left
    return best, oldest


@inner
def _next(slot: int, world: World, nodes: Nodes, standings: Standings) -> None:
    """Find the cheapest pair of a slot in its list, or tell that a search is due."""
    best, oldest = _forget(slot, nodes, standings)
    rest = standings.rest[slot]
    # Nothing is cheaper than nothing; there, and only there, a bound can be trusted in a tie.
    safe = best < rest or (best == 0 and oldest < standings.rest_node[slot])
    if oldest < 0 or not safe:
        standings.kind[slot] = UNKNOWN if rest < np.inf else NOBODY
        standings.key[slot] = rest
        return
    standings.kind[slot], standings.key[slot], standings.partner[slot] = EXACT, best, -1
    for place in range(standings.number[slot]):
        node = standings.node[slot, place]
        if standings.value[slot, place] != best:
            continue
        if best == 0 and (node if node >= 0 else -2 - node) != oldest:
            continue
        if node < 0:
            standings.kind[slot], standings.partner[slot] = BOUND, place
            return
        top, bottom = _recall(slot, nodes.slot[node], best, world)
        order = -1
        if standings.partner[slot] >= 0:
            order = cheaper(top, bottom, standings.numerator[slot], standings.denominator[slot])
        if order < 0 or (order == 0 and node < standings.partner[slot]):
            standings.numerator[slot], standings.denominator[slot] = top, bottom
            standings.partner[slot] = node


@compiled
def refresh(world: World, nodes: Nodes, standings: Standings) -> None:
    """Look for the next pair of everybody whose partner is gone."""
    slots = world.slots
    for slot in range(len(slots.node)):
        if (
            slots.node[slot] >= 0
            and standings.kind[slot] == EXACT
            and nodes.slot[standings.partner[slot]] < 0
        ):
            _next(slot, world, nodes, standings)
            _play(slot, slots, standings)


@compiled
def squeeze(world: World, nodes: Nodes, standings: Standings) -> int:
    """Move the slots in use to the front, in their order; give their number."""
    slots, table, tops, late = world.slots, world.table, world.tops, world.late
    zones, used = table.shape[1], 0
    if world.bounds:
        tops[:] = FAR
    for slot in range(len(slots.node)):
        if slots.node[slot] < 0:
            continue
        if slot > used:
            _move(slot, used, slots, standings)
            slots.node[slot] = -1
        nodes.slot[slots.node[used]] = used
        if world.bounds:
            late[used] = late[slot]
            chunk, lane = used // LANES, used % LANES
            for z in range(zones):
                value = table[slot // LANES, z, slot % LANES]
                table[chunk, z, lane] = value
                top = tops[chunk // LANES, z, chunk % LANES]
                tops[chunk // LANES, z, chunk % LANES] = min(top, value)
        used += 1
    return used


@inner
def _move(slot: int, to: int, slots: Slots, standings: Standings) -> None:
    """Move a slot to another place."""
    slots.node[to], slots.start[to], slots.end[to] = (
        slots.node[slot],
        slots.start[slot],
        slots.end[slot],
    )
    slots.crowd[to], slots.cells[to], slots.full[to] = (
        slots.crowd[slot],
        slots.cells[slot],
        slots.full[slot],
    )
    slots.feature[to], slots.features[to] = slots.feature[slot], slots.features[slot]
    standings.key[to], standings.kind[to] = standings.key[slot], standings.kind[slot]
    standings.partner[to] = standings.partner[slot]
    standings.numerator[to] = standings.numerator[slot]
    standings.denominator[to] = standings.denominator[slot]
    number = standings.number[slot]
    standings.node[to, :number] = standings.node[slot, :number]
    standings.value[to, :number] = standings.value[slot, :number]
    standings.number[to] = number
    standings.rest[to], standings.rest_node[to] = standings.rest[slot], standings.rest_node[slot]


@inner
def _resolve(slot: int, world: World, nodes: Nodes, standings: Standings) -> None:
    """Compute what was only bounded, no further than the cheapest that is known, or a bit more."""
    place = standings.partner[slot]
    best = standings.value[slot, place] * FURTHER + FURTHER - 1
    for known in range(standings.number[slot]):
        if standings.node[slot, known] >= 0:
            best = min(best, standings.value[slot, known])
    node = -2 - standings.node[slot, place]
    top, bottom, exact = evaluate(slot, nodes.slot[node], world, best)
    standings.value[slot, place] = top / bottom
    if exact:
        standings.node[slot, place] = node


@inner
def _note(a: int, b: int, world: World, nodes: Nodes, log: Log) -> int:
    """Write down that two nodes are merged into the next one; give its index."""
    counts = log.counts
    node = world.people + counts[MERGES]
    log.older[counts[MERGES]], log.younger[counts[MERGES]] = min(a, b), max(a, b)
    nodes.crowd[node] = nodes.crowd[a] + nodes.crowd[b]
    nodes.start[node], nodes.end[node] = LATER, LATER
    nodes.slot[node] = -1
    counts[MERGES] += 1
    return node


@inner
def join(
    node: int, world: World, rules: Rules, arena: Boxes, used: int, nodes: Nodes, log: Log
) -> tuple[int, int]:
    """Merge the two of whom a node is made, into the arena; give the numbers of boxes and lost."""
    base = len(world.base.t0)
    longer, shorter = log.older[node - world.people], log.younger[node - world.people]
    if nodes.end[shorter] - nodes.start[shorter] > nodes.end[longer] - nodes.start[longer]:
        longer, shorter = shorter, longer
    first, a0, a1 = world.base, nodes.start[longer], nodes.end[longer]
    if a0 >= base:
        first, a0, a1 = world.merged, a0 - base, a1 - base
    second, b0, b1 = world.base, nodes.start[shorter], nodes.end[shorter]
    if b0 >= base:
        second, b0, b1 = world.merged, b0 - base, b1 - base
    written, suppressed = merge(
        first,
        a0,
        a1,
        nodes.crowd[longer],
        second,
        b0,
        b1,
        nodes.crowd[shorter],
        world.scale,
        rules.max_space,
        rules.max_time,
        rules.reshape,
        arena,
        used,
    )
    reach = np.int32(-(2**31))
    for i in range(used, used + written):
        reach = max(reach, arena.t1[i])
        arena.reach[i] = reach
        middle = (np.int64(arena.t0[i]) + arena.t1[i] - world.atlas.thin_t - 1) // 2
        arena.bin[i] = (middle - world.atlas.first) // world.atlas.width
    return written, suppressed


@inner
def _room_for(node: int, world: World, nodes: Nodes, log: Log) -> int:
    """Give the most boxes that a merge can make."""
    a, b = log.older[node - world.people], log.younger[node - world.people]
    return int(2 * min(nodes.end[a] - nodes.start[a], nodes.end[b] - nodes.start[b]))


@inner
def _join_now(node: int, world: World, rules: Rules, arena: Boxes, nodes: Nodes, log: Log) -> None:
    """Merge the two of whom a node is made, to be found behind all others."""
    counts, base = log.counts, len(world.base.t0)
    written, suppressed = join(node, world, rules, arena, counts[USED], nodes, log)
    nodes.start[node], nodes.end[node] = base + counts[USED], base + counts[USED] + written
    counts[USED] += written
    counts[SUPPRESSED] += suppressed


@compiled
def join_later(
    which: NDArray[np.int64], world: World, rules: Rules, nodes: Nodes, log: Log
) -> tuple[Boxes, NDArray[np.int64], int]:
    """Merge what was put off; give the boxes, the number of each, and how many were lost."""
    size = 0
    for node in which:
        size += _room_for(node, world, nodes, log)
    boxes, lengths, lost = room(size), np.empty(len(which), np.int64), 0
    used = 0
    for i in range(len(which)):
        written, suppressed = join(which[i], world, rules, boxes, used, nodes, log)
        lengths[i] = written
        used += written
        lost += suppressed
    return boxes, lengths, lost


@inner
def _settle(
    node: int,
    slot: int,
    world: World,
    rules: Rules,
    features: Features,
    nodes: Nodes,
    standings: Standings,
    counts: NDArray[np.int64],
) -> None:
    """Put a merged trajectory into a free slot; it has to search before anything else."""
    slots, base = world.slots, len(world.base.t0)
    start, end = nodes.start[node], nodes.end[node]
    slots.node[slot], slots.start[slot], slots.end[slot] = node, start, end
    slots.crowd[slot], slots.full[slot] = nodes.crowd[node], nodes.crowd[node] >= rules.k
    slots.cells[slot] = only_cells(world.merged, start - base, end - base, world.atlas)
    used = counts[FEATURES]
    number = count_features(world.merged, start - base, end - base, world.atlas, features, used)
    slots.feature[slot], slots.features[slot] = used, number
    counts[FEATURES] += number
    if world.bounds:
        row = np.empty(world.atlas.zones + world.atlas.bins, np.uint8)
        set_row(
            slot,
            world.merged,
            start - base,
            end - base,
            nodes.crowd[node],
            world.atlas,
            world.scale,
            world.table,
            world.tops,
            world.late,
            row,
        )
    nodes.slot[node] = slot
    standings.number[slot] = 0
    standings.kind[slot], standings.key[slot] = UNKNOWN, -1.0


@compiled
def advance(  # noqa: C901
    merges: int,
    world: World,
    rules: Rules,
    arena: Boxes,
    features: Features,
    nodes: Nodes,
    standings: Standings,
    log: Log,
) -> int:
    """Merge until so many merges are done, or something else is due; tell what it is.

    `arena` and `features` are those of the world, but can be written to.
    """
    slots, counts, tree = world.slots, log.counts, standings.tree
    while counts[MERGES] < merges:
        slot = tree[1]
        kind = standings.kind[slot]
        if kind == NOBODY:
            return DONE
        if kind == UNKNOWN:
            return SEARCH
        if kind == BOUND:
            if nodes.slot[-2 - standings.node[slot, standings.partner[slot]]] >= 0:
                _resolve(slot, world, nodes, standings)
                counts[TRIED] += 1
            _next(slot, world, nodes, standings)
            _play(slot, slots, standings)
            continue
        other = nodes.slot[standings.partner[slot]]
        if other < 0:
            _next(slot, world, nodes, standings)
            _play(slot, slots, standings)
            continue
        a, b = slots.node[slot], slots.node[other]
        full = nodes.crowd[a] + nodes.crowd[b] >= rules.k
        later = full and not rules.loose  # nobody will look at it again before the end
        most = 2 * min(nodes.end[a] - nodes.start[a], nodes.end[b] - nodes.start[b])
        if not later and (
            counts[USED] + most > len(arena.t0) or counts[FEATURES] + most > len(features.zone)
        ):
            return ROOM
        log.numerator[counts[MERGES]] = standings.numerator[slot]
        log.denominator[counts[MERGES]] = standings.denominator[slot]
        node = _note(a, b, world, nodes, log)
        for gone in (slot, other):
            nodes.slot[slots.node[gone]] = -1
            slots.node[gone] = -1
            standings.kind[gone], standings.key[gone] = NOBODY, np.inf
            standings.number[gone] = 0
        if not later:
            _join_now(node, world, rules, arena, nodes, log)
            if nodes.end[node] > nodes.start[node]:
                _settle(node, slot, world, rules, features, nodes, standings, counts)
        _play(slot, slots, standings)
        _play(other, slots, standings)
    return ENOUGH


@compiled
def replay(
    older: NDArray[np.int32],
    younger: NDArray[np.int32],
    world: World,
    rules: Rules,
    arena: Boxes,
    nodes: Nodes,
    log: Log,
) -> int:
    """Merge again what was merged before, without searching; `ROOM` if there is none left."""
    counts = log.counts
    while counts[MERGES] < len(older):
        a, b = older[counts[MERGES]], younger[counts[MERGES]]
        later = nodes.crowd[a] + nodes.crowd[b] >= rules.k and not rules.loose
        most = 2 * min(nodes.end[a] - nodes.start[a], nodes.end[b] - nodes.start[b])
        if not later and counts[USED] + most > len(arena.t0):
            return ROOM
        node = _note(a, b, world, nodes, log)
        if not later:
            _join_now(node, world, rules, arena, nodes, log)
    return DONE


@compiled
def reseat(
    seats: NDArray[np.int64],
    world: World,
    rules: Rules,
    features: Features,
    nodes: Nodes,
    standings: Standings,
    log: Log,
) -> int:
    """Put merges that were done again into the slots of their first members.

    `seats` holds the slot of every node, those of people as they were laid out. `ROOM` if features
    need more room; then it goes on where it was.
    """
    slots, counts = world.slots, log.counts
    for step in range(counts[MERGES]):
        a, b = log.older[step], log.younger[step]
        seats[world.people + step] = seats[a]
        for gone in (a, b):
            nodes.slot[gone] = -1
            if slots.node[seats[gone]] == gone:
                slots.node[seats[gone]] = -1
    alive = np.ones(world.people + counts[MERGES], np.bool_)
    for step in range(counts[MERGES]):
        alive[log.older[step]] = alive[log.younger[step]] = False
    for node in range(world.people, world.people + counts[MERGES]):
        empty = nodes.end[node] <= nodes.start[node]
        if not alive[node] or empty or nodes.slot[node] >= 0:
            continue
        if counts[FEATURES] + nodes.end[node] - nodes.start[node] > len(features.zone):
            return ROOM
        _settle(node, seats[node], world, rules, features, nodes, standings, counts)
    return DONE
