"""Who is cheapest: what everybody knows of his cheapest pair, and a tournament among them.

Every slot has the list that its last search left. The cheapest in it is known exactly, or by a
bound; when it is gone, the next one is taken; when none is left that is cheaper than all who are
not in the list, a search is due.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel, kernel_inline, kernel_nogc, kernel_private
from incrowd.measure._stretch.index import EACH, World, cheaper, evaluate
from incrowd.measure._stretch.lower_bounds import Slots, lay_row
from incrowd.measure._stretch.partition import FAR
from incrowd.measure._stretch.search import Found

__all__ = [
    "BOUND",
    "EXACT",
    "NOBODY",
    "UNKNOWN",
    "Nodes",
    "Standings",
    "enter",
    "find_next",
    "plant",
    "play",
    "rank",
    "refresh",
    "settle",
    "squeeze",
]


NOBODY, BOUND, EXACT, UNKNOWN = 0, 1, 2, 3
"""What a slot knows of its cheapest pair."""
FURTHER = 1.3
"""A cost that turns out to be more than this much above its bound is left at that for now."""


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
    tree: NDArray[np.int64]
    node: NDArray[np.int32]
    value: NDArray[np.float64]
    number: NDArray[np.int32]
    rest: NDArray[np.float64]
    rest_node: NDArray[np.int64]


class Nodes(NamedTuple):
    """Everybody who ever was: people, then merges. The slot is -1 for those who are no more."""

    slot: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    crowd: NDArray[np.int64]


@kernel_nogc
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


@kernel_nogc
def play(slot: int, slots: Slots, standings: Standings) -> None:
    """Play the tournament again where it concerns a slot."""
    tree = standings.tree
    place = (len(tree) // 2 + slot) // 2
    while place:
        tree[place] = _first(tree[2 * place], tree[2 * place + 1], slots, standings)
        place //= 2


@kernel
def plant(slots: Slots, standings: Standings) -> None:
    """Play the whole tournament."""
    tree, leaves = standings.tree, len(standings.tree) // 2
    for slot in range(leaves):
        tree[leaves + slot] = slot
    for place in range(leaves - 1, 0, -1):
        tree[place] = _first(tree[2 * place], tree[2 * place + 1], slots, standings)


@kernel
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
        play(slot, slots, standings)


@kernel_inline
def _recall(
    slot: int, other: int, value: float, world: World, standings: Standings
) -> tuple[int, int]:
    """Give the exact cost of a pair of which the rounded one is known."""
    slots = world.slots
    longest = max(slots.end[slot] - slots.start[slot], slots.end[other] - slots.start[other])
    bottom = longest * (slots.crowd[slot] + slots.crowd[other]) * world.scale.whole
    if bottom < np.int64(1) << 50:  # then only one whole number is near enough
        return np.int64(np.rint(value * bottom)), bottom
    top, bottom, _ = evaluate(slot, other, world, np.inf, standings.value[slot, :0])
    return top, bottom


@kernel_inline
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


@kernel_nogc
def find_next(slot: int, world: World, nodes: Nodes, standings: Standings) -> None:
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
        top, bottom = _recall(slot, nodes.slot[node], best, world, standings)
        order = -1
        if standings.partner[slot] >= 0:
            order = cheaper(top, bottom, standings.numerator[slot], standings.denominator[slot])
        if order < 0 or (order == 0 and node < standings.partner[slot]):
            standings.numerator[slot], standings.denominator[slot] = top, bottom
            standings.partner[slot] = node


@kernel
def refresh(world: World, nodes: Nodes, standings: Standings) -> None:
    """Look for the next pair of everybody whose partner is gone."""
    slots = world.slots
    for slot in range(len(slots.node)):
        if (
            slots.node[slot] >= 0
            and standings.kind[slot] == EXACT
            and nodes.slot[standings.partner[slot]] < 0
        ):
            find_next(slot, world, nodes, standings)
            play(slot, slots, standings)


@kernel
def settle(
    which: NDArray[np.int64], most: float, world: World, nodes: Nodes, standings: Standings
) -> None:
    """Compute what is only bounded, until no pair of these slots is that may cost no more than so.

    The tournament is left as it was.
    """
    each = np.empty(EACH)
    for slot in which:
        while standings.kind[slot] == BOUND and standings.key[slot] <= most:
            if nodes.slot[-2 - standings.node[slot, standings.partner[slot]]] >= 0:
                _resolve(slot, world, nodes, standings, each)
            find_next(slot, world, nodes, standings)


@kernel
def rank(which: NDArray[np.int64], slots: Slots, standings: Standings) -> None:
    """Play the tournament again where it concerns some slots."""
    for slot in which:
        play(slot, slots, standings)


@kernel_inline
def _resolve(
    slot: int, world: World, nodes: Nodes, standings: Standings, each: NDArray[np.float64]
) -> None:
    """Compute what was only bounded, no further than the cheapest that is known, or a bit more."""
    place = standings.partner[slot]
    best = standings.value[slot, place] * FURTHER + FURTHER - 1
    for known in range(standings.number[slot]):
        if standings.node[slot, known] >= 0:
            best = min(best, standings.value[slot, known])
    node = -2 - standings.node[slot, place]
    top, bottom, exact = evaluate(slot, nodes.slot[node], world, best, each)
    standings.value[slot, place] = top / bottom
    if exact:
        standings.node[slot, place] = node


@kernel
def squeeze(world: World, nodes: Nodes, standings: Standings) -> int:
    """Move the slots in use to the front, in their order; give their number."""
    slots, rows, used = world.slots, world.rows, ZERO
    if world.bounds:
        world.tops[:] = FAR
    for slot in range(len(slots.node)):
        if slots.node[slot] < 0:
            continue
        if slot > used:
            _move(slot, used, slots, standings)
            slots.node[slot] = -1
        nodes.slot[slots.node[used]] = used
        if world.bounds:
            if slot > used:
                rows[used] = rows[slot]
                if len(world.corners) and slots.start[used] >= len(world.base.t0):
                    world.corners[used] = world.corners[slot]
            lay_row(used, world.atlas.zones, world.table, world.clock, world.tops, rows)
        used += 1
    return used


@kernel_private
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
    slots.home[to], slots.at_home[to] = slots.home[slot], slots.at_home[slot]
    slots.homes[to], slots.share[to] = slots.homes[slot], slots.share[slot]
    standings.key[to], standings.kind[to] = standings.key[slot], standings.kind[slot]
    standings.partner[to] = standings.partner[slot]
    standings.numerator[to] = standings.numerator[slot]
    standings.denominator[to] = standings.denominator[slot]
    number = standings.number[slot]
    standings.node[to, :number] = standings.node[slot, :number]
    standings.value[to, :number] = standings.value[slot, :number]
    standings.number[to] = number
    standings.rest[to], standings.rest_node[to] = standings.rest[slot], standings.rest_node[slot]
