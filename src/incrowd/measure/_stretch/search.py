"""The search for the nearest: bounds first, then exact costs, cheapest bound first.

::

    queries ──> _initial_limit        exact costs of a few who live near: nobody dearer is nearest
                  ▼
                generate_candidates   everybody whose bound is within the limit (see `candidates`)
                  ▼
                _evaluate_in_order    exact costs, until the next bound exceeds the best found
                  ▼
                _search_remainder     the same with those who had been left out, if they may be near
                  ▼
                NearestNeighbours

A search gives, for a trajectory, the nearest others (exactly, ties to the lower index) and a list
of further candidates with what is known of them: the exact cost, or a bound. All that is not in
the list costs at least the *remainder bound*. So the next nearest can be found from the list when
the first one is gone, and only when the list is used up is there another search.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ONE, ZERO, kernel, kernel_inline, kernel_nogc
from incrowd.measure._stretch.batch_bounds import CHUNK, TILES
from incrowd.measure._stretch.candidates import (
    SHORTER,
    WorkerPart,
    bound_terms_of,
    generate_candidates,
    generate_longer,
    generate_shorter,
    make_scratch,
)
from incrowd.measure._stretch.index import EACH, SearchIndex, compare_fractions, exact_cost
from incrowd.measure._stretch.lower_bounds import ActiveClusters
from incrowd.measure._stretch.topk import make_buffer, shrink, sort, stable_order

__all__ = [
    "NearestNeighbours",
    "combine_parts",
    "search",
]


GUESSES = 4
"""How many more neighbours than needed are tried before the search."""
MIN_CANDIDATES = 4096
"""How many candidates are tried at least before others are looked for again, with a limit."""


class NearestNeighbours(NamedTuple):
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
    remainder_bound, remainder_node
        Everybody else costs at least this, and at this price has at least this index.
    """

    near: NDArray[np.int64]
    numerator: NDArray[np.int64]
    denominator: NDArray[np.int64]
    node: NDArray[np.int32]
    value: NDArray[np.float64]
    number: NDArray[np.int32]
    remainder_bound: NDArray[np.float64]
    remainder_node: NDArray[np.int64]


@kernel
def search(
    queries: NDArray[np.int64],
    scope: int,
    near: int,
    keep: int,
    slack: float,
    most: float,
    worker: WorkerPart,
    index: SearchIndex,
) -> NearestNeighbours:
    """Search for the nearest of each query (clusters, best from the same chunk).

    Candidates are listed while their bounds exceed what the nearest may cost by no more than the
    slack (0.25: a quarter), up to `keep` of them. Nobody is looked for who costs more than `most`;
    who has nobody then has a remainder bound of so much. With a `most`, the search may be shared by
    threads, who tell each other the best that they found; `combine_parts` puts them together.
    """
    number, clusters = len(queries), index.clusters
    found = NearestNeighbours(
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
    capacity, each = keep if most == np.inf else max(keep, MIN_CANDIDATES), np.empty(EACH)
    buffer = make_buffer(number, 2 * capacity + CHUNK)
    for q in range(number):
        buffer.limit[q] = most
        if most == np.inf:
            buffer.limit[q] = _initial_limit(queries[q], scope, near, index) * (1 + slack)
        buffer.remainder_bound[q] = buffer.limit[q]
    generate_candidates(queries, scope, capacity, worker, index, buffer)
    for q in range(number):
        shrink(capacity, q, buffer, clusters.node)
        count = buffer.count[q]
        value, cluster = buffer.value[q], buffer.cluster[q]
        exact = np.zeros(len(value), np.bool_)
        sort(value, cluster, ZERO, count, clusters.node)
        remainder_bound, remainder_node = buffer.remainder_bound[q], buffer.remainder_node[q]
        done = _evaluate_in_order(
            queries[q], ZERO, count, value, cluster, exact, q, most, worker.best, found, index, each
        )  # fmt: skip
        # Whoever was left out may still be nearer, or as near and older. Only at a cost of 0 is a
        # tie with a bound decided by index: elsewhere equal bounds may hide unequal costs.
        worst, node = _worst_kept(q, most, worker.best, found)
        if not done and (
            remainder_bound < worst
            or (remainder_bound == worst and node >= 0 and (worst > 0 or remainder_node <= node))
        ):
            value, cluster, exact, count = _search_remainder(
                queries[q], scope, q, count, value, cluster, exact, remainder_bound,
                remainder_node, most, worst, worker, found, index, each,
            )  # fmt: skip
            remainder_bound, remainder_node = worst, np.int64(2) ** 62
        _store(
            q, keep, value, cluster, exact, count, remainder_bound, remainder_node, found, clusters
        )
    return found


@kernel_inline
def _initial_limit(query: int, scope: int, near: int, index: SearchIndex) -> float:
    """Give a cost that the nearest do not exceed: that of the most promising in nearby chunks."""
    if not index.bounds:
        return np.inf
    own, chunks, keep = query // CHUNK, len(index.clusters.node) // CHUNK, near + GUESSES
    buffer, queries = make_buffer(ONE, 2 * keep + CHUNK), np.full(1, query, np.int64)
    terms, late = bound_terms_of(queries, index)
    alive, worker = np.zeros((CHUNK, 1), np.bool_), WorkerPart(ZERO, ONE, np.full(1, np.inf))
    scratch = make_scratch()
    first, last = max(0, own - 1), min(chunks, own + 2)  # its own chunk, and those beside it
    for chunk in range(first, last):
        tile = chunk // CHUNK * TILES + chunk % TILES
        alive[chunk % CHUNK, 0] = True
        generate_shorter(tile, queries, alive, terms, late, scope, keep, index, buffer, scratch)
        alive[chunk % CHUNK, 0] = False
    if scope != SHORTER:
        generate_longer(query, ZERO, scope, keep, first, last, worker, index, buffer)
    shrink(keep, ZERO, buffer, index.clusters.node)
    count = buffer.count[0]
    sort(buffer.value[0], buffer.cluster[0], ZERO, count, index.clusters.node)
    costs, each = np.full(near, np.inf), np.empty(EACH)
    for c in range(count):
        if buffer.value[0, c] > costs[near - 1]:
            break
        top, bottom, whole = exact_cost(
            query, np.int64(buffer.cluster[0, c]), index, costs[near - 1], each
        )
        if whole and top / bottom < costs[near - 1]:
            place = near - 1
            while place > 0 and costs[place - 1] > top / bottom:
                costs[place] = costs[place - 1]
                place -= 1
            costs[place] = top / bottom
    return costs[near - 1]


@kernel_nogc
def _evaluate_in_order(
    query: int,
    begin: int,
    count: int,
    value: NDArray[np.float64],
    cluster: NDArray[np.int32],
    exact: NDArray[np.bool_],
    q: int,
    most: float,
    best: NDArray[np.float64],
    found: NearestNeighbours,
    index: SearchIndex,
    each: NDArray[np.float64],
) -> bool:
    """Compute exact costs, in order, until no candidate can come before the nearest found.

    True if that was so before the candidates were used up.
    """
    clusters, near = index.clusters, found.near.shape[1]
    for c in range(begin, count):
        worst, node = _worst_kept(q, most, best, found)
        # A bound that equals the worst kept is looked at: it may be an older one. But where both
        # are 0, nothing is cheaper, and who is older is known.
        if value[c] > worst or (value[c] == 0 and worst == 0 and node < clusters.node[cluster[c]]):
            return True
        top, bottom, whole = exact_cost(query, np.int64(cluster[c]), index, worst, each)
        value[c], exact[c] = top / bottom, whole
        if not whole or value[c] > most:
            continue
        # Into its place among the nearest, by exact fractions.
        node, place = clusters.node[cluster[c]], near
        while place > 0 and _precedes(node, top, bottom, q, place - 1, found):
            place -= 1
        for p in range(near - 1, place, -1):
            found.near[q, p] = found.near[q, p - 1]
            found.numerator[q, p] = found.numerator[q, p - 1]
            found.denominator[q, p] = found.denominator[q, p - 1]
        if place < near:
            found.near[q, place] = node
            found.numerator[q, place], found.denominator[q, place] = top, bottom
        best[q] = min(best[q], _worst_kept(q, most, best, found)[0])
    return False


@kernel_nogc
def _worst_kept(
    q: int, most: float, best: NDArray[np.float64], found: NearestNeighbours
) -> tuple[float, int]:
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
def _precedes(
    node: int, top: int, bottom: int, q: int, place: int, found: NearestNeighbours
) -> bool:
    """Tell whether a pair comes before the one at a place among the nearest."""
    if found.near[q, place] < 0:
        return True
    order = compare_fractions(top, bottom, found.numerator[q, place], found.denominator[q, place])
    return order < 0 or (order == 0 and node < found.near[q, place])


@kernel_inline
def _search_remainder(
    query: int,
    scope: int,
    q: int,
    count: int,
    value: NDArray[np.float64],
    cluster: NDArray[np.int32],
    exact: NDArray[np.bool_],
    remainder_bound: float,
    remainder_node: int,
    most: float,
    worst: float,
    worker: WorkerPart,
    found: NearestNeighbours,
    index: SearchIndex,
    each: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.bool_], int]:
    """Go on with all candidates that may still be near, where the first ones did not suffice.

    Those who were tried already are told by the remainder: they came before it.
    """
    clusters = index.clusters
    size = len(clusters.node) + 1
    buffer = make_buffer(ONE, size)
    buffer.limit[0] = worst
    generate_candidates(np.full(1, query, np.int64), scope, size, worker, index, buffer)
    both_value = np.empty(count + size)
    both_slot = np.empty(count + size, np.int32)
    both_exact = np.zeros(count + size, np.bool_)
    for c in range(count):
        both_value[c], both_slot[c], both_exact[c] = value[c], cluster[c], exact[c]
    total = count
    for c in range(buffer.count[0]):
        v, s = buffer.value[0, c], buffer.cluster[0, c]
        if v > remainder_bound or (v == remainder_bound and clusters.node[s] >= remainder_node):
            both_value[total], both_slot[total] = v, s
            total += 1
    sort(both_value, both_slot, count, total, clusters.node)
    _evaluate_in_order(
        query, count, total, both_value, both_slot, both_exact, q, most, worker.best, found, index,
        each,
    )  # fmt: skip
    return both_value, both_slot, both_exact, total


@kernel_inline
def _store(
    q: int,
    keep: int,
    value: NDArray[np.float64],
    cluster: NDArray[np.int32],
    exact: NDArray[np.bool_],
    count: int,
    remainder_bound: float,
    remainder_node: int,
    found: NearestNeighbours,
    clusters: ActiveClusters,
) -> None:
    """Write down the first candidates by what is known of them now, and what all others cost."""
    order = stable_order(value, count)
    if count > keep:
        # Whoever is left out costs at least as much as the first of them.
        first = value[order[keep]]
        if first <= remainder_bound:
            remainder_bound, remainder_node = first, 0
        count = keep
    for p in range(count):
        c = order[p]
        node = clusters.node[cluster[c]]
        found.value[q, p] = value[c]
        found.node[q, p] = node if exact[c] else -2 - node
    found.number[q], found.remainder_bound[q], found.remainder_node[q] = (
        count,
        remainder_bound,
        remainder_node,
    )


@kernel
def combine_parts(one: NearestNeighbours, two: NearestNeighbours) -> None:
    """Put what two parts of a search for the nearest one found together, in the first."""
    keep = one.value.shape[1]
    for q in range(len(one.number)):
        nearest, top, bottom = two.near[q, 0], two.numerator[q, 0], two.denominator[q, 0]
        if nearest >= 0 and _precedes(nearest, top, bottom, q, ZERO, one):
            one.near[q, 0], one.numerator[q, 0], one.denominator[q, 0] = nearest, top, bottom
        # Both lists are in order; of equals, those of the first come first.
        size, a, b = one.number[q] + two.number[q], ZERO, ZERO
        value, node = np.empty(size), np.empty(size, np.int32)
        for p in range(size):
            if b == two.number[q] or (a < one.number[q] and one.value[q, a] <= two.value[q, b]):
                value[p], node[p] = one.value[q, a], one.node[q, a]
                a += 1
            else:
                value[p], node[p] = two.value[q, b], two.node[q, b]
                b += 1
        remainder_bound, remainder_node = one.remainder_bound[q], one.remainder_node[q]
        if two.remainder_bound[q] == remainder_bound:
            remainder_node = min(remainder_node, two.remainder_node[q])
        elif two.remainder_bound[q] < remainder_bound:
            remainder_bound, remainder_node = two.remainder_bound[q], two.remainder_node[q]
        number = min(keep, size)
        if number < size and value[number] <= remainder_bound:
            remainder_bound, remainder_node = value[number], np.int64(0)
        for p in range(number):
            one.value[q, p], one.node[q, p] = value[p], node[p]
        one.number[q], one.remainder_bound[q], one.remainder_node[q] = (
            number,
            remainder_bound,
            remainder_node,
        )
