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
from incrowd.measure.bounds import Features, Slots, count_features, set_row, thickness
from incrowd.measure.effort import Boxes
from incrowd.measure.search import Found, World, cheaper, evaluate
from incrowd.protect.merging import merge

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
    "join",
    "plant",
]

DONE, SEARCH, ROOM, ENOUGH = 0, 1, 2, 3
"""Why the loop ended: nothing is left to merge; a search is due; no room; enough for now."""
NOBODY, BOUND, EXACT, UNKNOWN = 0, 1, 2, 3
"""What a slot knows of its cheapest pair."""
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
            standings.kind[slot], standings.key[slot] = NOBODY, np.inf
        else:
            top, bottom = found.numerator[q, 0], found.denominator[q, 0]
            standings.kind[slot], standings.key[slot] = EXACT, top / bottom
            standings.numerator[slot], standings.denominator[slot] = top, bottom
            standings.partner[slot] = found.near[q, 0]
        _play(slot, slots, standings)


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
        top, bottom, _ = evaluate(slot, nodes.slot[node], world, np.inf)
        order = -1
        if standings.partner[slot] >= 0:
            order = cheaper(top, bottom, standings.numerator[slot], standings.denominator[slot])
        if order < 0 or (order == 0 and node < standings.partner[slot]):
            standings.numerator[slot], standings.denominator[slot] = top, bottom
            standings.partner[slot] = node


@inner
def _resolve(slot: int, world: World, nodes: Nodes, standings: Standings) -> None:
    """Compute what was only bounded, no further than the cheapest that is known."""
    best = np.inf
    for place in range(standings.number[slot]):
        if standings.node[slot, place] >= 0:
            best = min(best, standings.value[slot, place])
    place = standings.partner[slot]
    node = -2 - standings.node[slot, place]
    top, bottom, exact = evaluate(slot, nodes.slot[node], world, best)
    standings.value[slot, place] = top / bottom
    if exact:
        standings.node[slot, place] = node


@inner
def join(
    a: int,
    b: int,
    world: World,
    rules: Rules,
    arena: Boxes,
    nodes: Nodes,
    log: Log,
) -> int:
    """Merge two nodes into the next one; give its index. Nobody is put into a slot."""
    base, counts = len(world.base.t0), log.counts
    node = world.people + counts[MERGES]
    older, younger = min(a, b), max(a, b)
    log.older[counts[MERGES]], log.younger[counts[MERGES]] = older, younger
    longer, shorter = older, younger
    if nodes.end[younger] - nodes.start[younger] > nodes.end[older] - nodes.start[older]:
        longer, shorter = younger, older
    first, a0, a1 = world.base, nodes.start[longer], nodes.end[longer]
    if a0 >= base:
        first, a0, a1 = world.merged, a0 - base, a1 - base
    second, b0, b1 = world.base, nodes.start[shorter], nodes.end[shorter]
    if b0 >= base:
        second, b0, b1 = world.merged, b0 - base, b1 - base
    used = counts[USED]
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
        arena.bin[i] = (np.int64(arena.t0[i]) - world.atlas.first) // world.atlas.width
    nodes.start[node], nodes.end[node] = base + used, base + used + written
    nodes.crowd[node] = nodes.crowd[a] + nodes.crowd[b]
    nodes.slot[node] = -1
    counts[MERGES] += 1
    counts[USED] += written
    counts[SUPPRESSED] += suppressed
    return node


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
    thick = thickness(world.merged, start - base, end - base, world.atlas, world.scale)
    for i in range(4):
        slots.thick[slot, i] = thick[i]
    slots.cells[slot] = thick[2] == 0 and thick[3] == 0
    used = counts[FEATURES]
    number = count_features(
        world.merged,
        start - base,
        end - base,
        world.atlas,
        world.scale,
        features.zone[used:],
        features.count[used:],
    )
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
def advance(
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
        most = 2 * min(slots.end[slot] - slots.start[slot], slots.end[other] - slots.start[other])
        if counts[USED] + most > len(arena.t0) or counts[FEATURES] + world.atlas.zones > len(
            features.zone
        ):
            return ROOM
        log.numerator[counts[MERGES]] = standings.numerator[slot]
        log.denominator[counts[MERGES]] = standings.denominator[slot]
        a, b = slots.node[slot], slots.node[other]
        node = join(a, b, world, rules, arena, nodes, log)
        for gone in (slot, other):
            nodes.slot[slots.node[gone]] = -1
            slots.node[gone] = -1
            standings.kind[gone], standings.key[gone] = NOBODY, np.inf
            standings.number[gone] = 0
        full = nodes.crowd[node] >= rules.k
        if nodes.end[node] > nodes.start[node] and (rules.loose or not full):
            _settle(node, slot, world, rules, features, nodes, standings, counts)
        _play(slot, slots, standings)
        _play(other, slots, standings)
    return ENOUGH
