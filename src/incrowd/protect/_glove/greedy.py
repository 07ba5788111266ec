"""The greedy loop of GLOVE: merge the cheapest pair of all, again and again.

Every pair belongs to one of its two: to the longer, while both are people of the input, else to
the younger. Each trajectory knows its cheapest pair, or a bound of it; a tournament among them
tells the cheapest of all. When a pair comes out on top

- and is known exactly, and the partner is still there, it is merged;
- and the partner is gone, the next one is taken from the list that the last search left;
- and is only a bound, the loop ends with `COSTS`: the exact cost is to be computed;
- and the list is used up, it ends with `SEARCH`: there has to be another search.

Nobody else is touched by a merge, so the order of the work decides nothing: the result is that of
the full matrix of the paper.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel, kernel_inline, kernel_private
from incrowd.measure._stretch.box_bounds import corner_row, mark, set_homes
from incrowd.measure._stretch.effort import Boxes
from incrowd.measure._stretch.index import World
from incrowd.measure._stretch.lower_bounds import (
    Features,
    count_features,
    only_cells,
    set_home,
    set_row,
)
from incrowd.protect._glove.merge import merge, room
from incrowd.protect._glove.nearest_queue import (
    BOUND,
    NOBODY,
    UNKNOWN,
    Nodes,
    Standings,
    find_next,
    play,
)

__all__ = [
    "COSTS",
    "DONE",
    "ENOUGH",
    "ROOM",
    "SEARCH",
    "Log",
    "Rules",
    "advance",
    "join_later",
    "replay",
    "reseat",
]


DONE, SEARCH, COSTS, ROOM, ENOUGH = 0, 1, 2, 3, 4
"""Why the loop ended: nothing is left; a search is due, or exact costs; no room; enough for now."""
LATER = -1
"""Where the samples of a merge start that is put off."""
MERGES, USED, FEATURES, SUPPRESSED = 0, 1, 2, 3


class Rules(NamedTuple):
    """What the user asked for."""

    k: int
    loose: bool
    reshape: int
    max_space: int
    max_time: int
    each: bool


class Log(NamedTuple):
    """The merges in their order, and what was counted: see the names above."""

    older: NDArray[np.int32]
    younger: NDArray[np.int32]
    numerator: NDArray[np.int64]
    denominator: NDArray[np.int64]
    counts: NDArray[np.int64]


@kernel_inline
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


@kernel_private
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
        rules.each,
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


@kernel_inline
def _room_for(node: int, world: World, nodes: Nodes, log: Log) -> int:
    """Give the most boxes that a merge can make."""
    a, b = log.older[node - world.people], log.younger[node - world.people]
    return int(2 * min(nodes.end[a] - nodes.start[a], nodes.end[b] - nodes.start[b]))


@kernel_inline
def _join_now(node: int, world: World, rules: Rules, arena: Boxes, nodes: Nodes, log: Log) -> None:
    """Merge the two of whom a node is made, to be found behind all others."""
    counts, base = log.counts, len(world.base.t0)
    written, suppressed = join(node, world, rules, arena, counts[USED], nodes, log)
    nodes.start[node], nodes.end[node] = base + counts[USED], base + counts[USED] + written
    counts[USED] += written
    counts[SUPPRESSED] += suppressed


@kernel
def join_later(
    which: NDArray[np.int64], world: World, rules: Rules, nodes: Nodes, log: Log
) -> tuple[Boxes, NDArray[np.int64], int]:
    """Merge what was put off; give the boxes, the number of each, and how many were lost."""
    size = ZERO
    for node in which:
        size += _room_for(node, world, nodes, log)
    boxes, lengths, lost = room(size), np.empty(len(which), np.int64), 0
    used = ZERO
    for i in range(len(which)):
        written, suppressed = join(which[i], world, rules, boxes, used, nodes, log)
        lengths[i] = written
        used += written
        lost += suppressed
    return boxes, lengths, lost


@kernel_inline
def _seat(
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
    set_home(slot, slots, features)
    if world.bounds:
        set_row(
            slot,
            world.merged,
            start - base,
            end - base,
            nodes.crowd[node],
            world.atlas,
            world.scale,
            world.table,
            world.clock,
            world.tops,
            world.rows,
        )
    if len(world.corners):
        row, regions = world.corners[slot], len(world.plane.x0)
        mark(world.merged, start - base, end - base, world.plane, world.marks)
        corner_row(world.merged, start - base, end - base, world.plane, row)
        set_homes(
            world.marks, start - base, end - base, regions, slots.homes[slot], slots.share[slot]
        )
    nodes.slot[node] = slot
    standings.number[slot] = 0
    standings.kind[slot], standings.key[slot] = UNKNOWN, -1.0


@kernel
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
            return COSTS
        other = nodes.slot[standings.partner[slot]]
        if other < 0:
            find_next(slot, world, nodes, standings)
            play(slot, slots, standings)
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
                _seat(node, slot, world, rules, features, nodes, standings, counts)
        play(slot, slots, standings)
        play(other, slots, standings)
    return ENOUGH


@kernel
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


@kernel
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
        _seat(node, seats[node], world, rules, features, nodes, standings, counts)
    return DONE
