"""The search for the nearest: bounds first, then exact costs, cheapest bound first.

A search gives, for a trajectory, the nearest others (exactly, ties to the lower index) and a list
of further candidates with what is known of them: the exact cost, or a bound. All that is not in
the list costs at least the *rest*. So the next nearest can be found from the list when the first
one is gone, and only when the list is used up is there another search.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ONE, ZERO, kernel, kernel_inline, kernel_nogc
from incrowd.measure._stretch.batch_bounds import LANES, STRIPES
from incrowd.measure._stretch.candidates import (
    SHORTER,
    Share,
    gather,
    gather_longer,
    gather_shorter,
    lines_of,
    make_room,
)
from incrowd.measure._stretch.index import EACH, World, cheaper, evaluate
from incrowd.measure._stretch.lower_bounds import Slots
from incrowd.measure._stretch.topk import make_heap, shrink, sort

__all__ = [
    "Found",
    "search",
    "unite",
]


GUESSES = 4
"""How many more neighbours than needed are tried before the search."""
ROOM = 4096
"""How many candidates are tried at least before others are looked for again."""


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
    """

    near: NDArray[np.int64]
    numerator: NDArray[np.int64]
    denominator: NDArray[np.int64]
    node: NDArray[np.int32]
    value: NDArray[np.float64]
    number: NDArray[np.int32]
    rest: NDArray[np.float64]
    rest_node: NDArray[np.int64]


@kernel
def search(
    queries: NDArray[np.int64],
    scope: int,
    near: int,
    keep: int,
    slack: float,
    most: float,
    share: Share,
    world: World,
) -> Found:
    """Search for the nearest of each query (slots, best from the same chunk).

    Candidates are listed while their bounds exceed what the nearest may cost by no more than the
    slack (0.25: a quarter), and there is room for them. Nobody is looked for who costs more than
    `most`; who has nobody then has a rest of so much. With a `most`, the search may be shared by
    threads, who tell each other the best that they found; the rest is put together by `unite`.
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
    )
    # With a limit from the start there is no need to narrow it, only to search once.
    room, each = keep if most == np.inf else max(keep, ROOM), np.empty(EACH)
    heap = make_heap(number, 2 * room + LANES)
    for q in range(number):
        heap.limit[q] = most
        if most == np.inf:
            heap.limit[q] = _guess(queries[q], scope, near, world) * (1 + slack)
        heap.rest[q] = heap.limit[q]
    gather(queries, scope, room, share, world, heap)
    for q in range(number):
        shrink(room, q, heap, slots.node)
        count = heap.count[q]
        value, slot = heap.value[q], heap.slot[q]
        exact = np.zeros(len(value), np.bool_)
        sort(value, slot, ZERO, count, slots.node)
        rest, rest_node = heap.rest[q], heap.rest_node[q]
        done = _try(
            queries[q], ZERO, count, value, slot, exact, q, most, share.best, found, world, each
        )  # fmt: skip
        worst, node = _worst(q, most, share.best, found)
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
                worst,
                share,
                found,
                world,
                each,
            )
            rest, rest_node = worst, np.int64(2) ** 62
        _keep(q, keep, value, slot, exact, count, rest, rest_node, found, slots)
    return found


@kernel_inline
def _guess(query: int, scope: int, near: int, world: World) -> float:
    """Give a cost that the nearest do not exceed: that of the most promising who live near."""
    if not world.bounds:
        return np.inf
    home, chunks, keep = query // LANES, len(world.slots.node) // LANES, near + GUESSES
    heap, queries = make_heap(ONE, 2 * keep + LANES), np.full(1, query, np.int64)
    lines, late = lines_of(queries, world)
    alive, share = np.zeros((LANES, 1), np.bool_), Share(ZERO, ONE, np.full(1, np.inf))
    room = make_room()
    first, last = max(0, home - 1), min(chunks, home + 2)
    for chunk in range(first, last):
        stripe = chunk // LANES * STRIPES + chunk % STRIPES
        alive[chunk % LANES, 0] = True
        gather_shorter(stripe, queries, alive, lines, late, scope, keep, world, heap, room)
        alive[chunk % LANES, 0] = False
    if scope != SHORTER:
        gather_longer(query, ZERO, scope, keep, first, last, share, world, heap)
    shrink(keep, ZERO, heap, world.slots.node)
    count = heap.count[0]
    sort(heap.value[0], heap.slot[0], ZERO, count, world.slots.node)
    costs, each = np.full(near, np.inf), np.empty(EACH)
    for c in range(count):
        if heap.value[0, c] > costs[near - 1]:
            break
        top, bottom, whole = evaluate(
            query, np.int64(heap.slot[0, c]), world, costs[near - 1], each
        )
        if whole and top / bottom < costs[near - 1]:
            costs[near - 1] = top / bottom
            costs.sort()
    return costs[near - 1]


@kernel_nogc
def _try(
    query: int,
    begin: int,
    count: int,
    value: NDArray[np.float64],
    slot: NDArray[np.int32],
    exact: NDArray[np.bool_],
    q: int,
    most: float,
    best: NDArray[np.float64],
    found: Found,
    world: World,
    each: NDArray[np.float64],
) -> bool:
    """Compute exact costs, in order, until no candidate can come before the nearest found.

    True if that was so before the candidates were used up.
    """
    slots, near = world.slots, found.near.shape[1]
    for c in range(begin, count):
        worst, node = _worst(q, most, best, found)
        if value[c] > worst or (value[c] == 0 and worst == 0 and node < slots.node[slot[c]]):
            return True
        top, bottom, whole = evaluate(query, np.int64(slot[c]), world, worst, each)
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
        best[q] = min(best[q], _worst(q, most, best, found)[0])
    return False


@kernel_nogc
def _worst(q: int, most: float, best: NDArray[np.float64], found: Found) -> tuple[float, int]:
    """Give the cost and the node of the last of the nearest; `most` while there are too few.

    If another thread knows better, it is not known who it is: anybody may be older.
    """
    last = found.near.shape[1] - 1
    worst, node = most, np.int64(-1)
    if found.near[q, last] >= 0:
        worst = found.numerator[q, last] / found.denominator[q, last]
        node = found.near[q, last]
    elsewhere = best[q]
    return (elsewhere, np.int64(2) ** 62) if elsewhere < worst else (worst, node)


@kernel_nogc
def _ahead(node: int, top: int, bottom: int, q: int, place: int, found: Found) -> bool:
    """Tell whether a pair comes before the one at a place among the nearest."""
    if found.near[q, place] < 0:
        return True
    order = cheaper(top, bottom, found.numerator[q, place], found.denominator[q, place])
    return order < 0 or (order == 0 and node < found.near[q, place])


@kernel_inline
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
    worst: float,
    share: Share,
    found: Found,
    world: World,
    each: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_], int]:
    """Go on with all candidates that may still be near, where the first ones did not suffice."""
    slots = world.slots
    size = len(slots.node) + 1
    heap = make_heap(ONE, size)
    heap.limit[0] = worst
    gather(np.full(1, query, np.int64), scope, size, share, world, heap)
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
    sort(both_value, both_slot, count, total, slots.node)
    _try(
        query, count, total, both_value, both_slot, both_exact, q, most, share.best, found, world,
        each,
    )  # fmt: skip
    return both_value, both_slot, both_exact, total


@kernel_inline
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


@kernel
def unite(one: Found, two: Found) -> None:
    """Put what two parts of a search for the nearest one found together, in the first."""
    keep = one.value.shape[1]
    for q in range(len(one.number)):
        nearest, top, bottom = two.near[q, 0], two.numerator[q, 0], two.denominator[q, 0]
        if nearest >= 0 and _ahead(nearest, top, bottom, q, ZERO, one):
            one.near[q, 0], one.numerator[q, 0], one.denominator[q, 0] = nearest, top, bottom
        value = np.concatenate((one.value[q, : one.number[q]], two.value[q, : two.number[q]]))
        node = np.concatenate((one.node[q, : one.number[q]], two.node[q, : two.number[q]]))
        rest, rest_node = one.rest[q], one.rest_node[q]
        if two.rest[q] == rest:
            rest_node = min(rest_node, two.rest_node[q])
        elif two.rest[q] < rest:
            rest, rest_node = two.rest[q], two.rest_node[q]
        order = np.argsort(value, kind="mergesort")
        number = min(keep, len(order))
        if number < len(order) and value[order[number]] <= rest:
            rest, rest_node = value[order[number]], np.int64(0)
        one.value[q, :number], one.node[q, :number] = value[order[:number]], node[order[:number]]
        one.number[q], one.rest[q], one.rest_node[q] = number, rest, rest_node
