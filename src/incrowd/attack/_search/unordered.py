"""The search where every known point counts by itself: who fits all of them is left.

The fewest whom any k points leave are found by branching on the most telling point first. What is
left after some points can only shrink, by no more than each further point would take away now; so
a branch is given up when even the best points left would not make it smaller than the smallest
crowd found. And nobody can be told apart from those who fit all of a person's points.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, Words, kernel, kernel_inline, kernel_private, popcount
from incrowd.attack._search.index import Points, Records, most_people

__all__ = [
    "each",
    "fits",
]


class Items(NamedTuple):
    """What may be known of a person, most telling first: an entry, and how many points of it."""

    entry: NDArray[np.int32]
    cost: NDArray[np.int32]
    leaves: NDArray[np.int32]
    """How many people each of them leaves."""
    column: NDArray[np.int32]
    """Where those of each entry stand: `first` tells the place of the first one here."""
    first: NDArray[np.int32]


@kernel_private
def fits(number: int, total: int, low: int, high: int, under: int) -> bool:
    """Tell whether a part of a total lies between two others, both included."""
    return bool(low * total <= number * under and number * under <= high * total)


@kernel_private
def _items(start: int, end: int, most: int, records: Records, points: Points) -> Items:
    """Give all that may be known of a person, and whom each leaves."""
    size = 0
    first = np.empty(end - start + 1, np.int32)
    for e in range(start, end):
        first[e - start] = size
        size += min(most, points.copies[e])
    first[end - start] = size
    count = np.zeros(size, np.int64)
    for e in range(start, end):
        here, levels = first[e - start], first[e - start + 1] - first[e - start]
        key, low, high, under = records.key[e], points.low[e], points.high[e], points.under[e]
        for i in range(records.start[key], records.start[key + 1]):
            number, total = records.value[i], records.total[records.person[i]]
            for level in range(levels):
                if not fits(number, total, low + level, high, under):
                    break
                count[here + level] += 1
    order = count * size + np.arange(size)
    order.sort()
    entry, cost = np.empty(size, np.int32), np.empty(size, np.int32)
    column, sorted_count = np.empty(size, np.int32), np.empty(size, np.int32)
    for place in range(size):
        item = order[place] % size
        sorted_count[place], column[item] = count[item], place
    for e in range(end - start):
        for item in range(first[e], first[e + 1]):
            entry[column[item]], cost[column[item]] = e, item - first[e] + 1
    return Items(entry, cost, sorted_count, column, first)


@kernel_private
def _sets(
    start: int,
    end: int,
    items: Items,
    records: Records,
    points: Points,
    local: NDArray[np.int32],
) -> Words:
    """Give, for every item, the set of those whom it leaves; people are numbered as they come."""
    people = np.empty(most_people(start, end, len(local), records), np.int32)
    sets, used = np.zeros((len(items.entry), (len(people) + 63) // 64), np.uint64), 0
    for e in range(start, end):
        key, low, high, under = records.key[e], points.low[e], points.high[e], points.under[e]
        first, levels = items.first[e - start], items.first[e - start + 1] - items.first[e - start]
        for i in range(records.start[key], records.start[key + 1]):
            who, number = records.person[i], records.value[i]
            total = records.total[who]
            if not fits(number, total, low, high, under):
                continue
            if local[who] < 0:
                local[who], people[used] = used, who
                used += 1
            word, bit = local[who] // 64, np.uint64(1) << np.uint64(local[who] % 64)
            for level in range(levels):
                if level and not fits(number, total, low + level, high, under):
                    break
                sets[items.column[first + level], word] |= bit
    for who in people[:used]:
        local[who] = -1
    return sets[:, : (used + 63) // 64]


@kernel_private
def _size(one: Words, two: Words) -> int:
    """Count those who are in both of two sets."""
    number = 0
    for w in range(len(one)):
        number += popcount(one[w] & two[w])
    return number


@kernel_private
def _who_fit_all(k: int, sets: Words, items: Items) -> int:
    """Count those whom no k points tell apart, unless all k are of one entry."""
    left = np.full(sets.shape[1], ~np.uint64(0), np.uint64)
    for y in range(len(sets)):
        if items.cost[y] < k:
            left &= sets[y]
    return _size(left, left)


@kernel_private
def _narrow(  # noqa: C901
    x: int,
    k: int,
    least: int,
    best: int,
    sets: Words,
    items: Items,
    chosen: NDArray[np.int32],
) -> int:
    """Find the fewest whom item x and others after it leave, if fewer than the best; note which."""
    size, deepest = len(items.entry), min(k, len(items.first))
    members = np.empty((deepest, sets.shape[1]), np.uint64)
    order = np.empty((deepest, size), np.int64)
    number, at = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64)
    left, budget = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64)
    path, depth, fresh = np.zeros(deepest, np.int32), 0, True
    path[0], budget[0], left[0], members[0] = x, k - items.cost[x], items.leaves[x], sets[x]
    for y in range(x + 1, size):
        if items.entry[y] != items.entry[x] and items.cost[y] <= budget[0]:
            order[0, number[0]] = y
            number[0] += 1
    while depth >= 0 and best > least:
        spare = budget[depth]
        if fresh:
            fresh, at[depth] = False, 0
            for i in range(number[depth]):
                y = order[depth, i]
                count = _size(members[depth], sets[y])
                if count < best:
                    best = count
                    chosen[:] = -1
                    chosen[: depth + 1], chosen[depth + 1] = path[: depth + 1], y
                order[depth, i] += count * size
            if spare == 1:
                number[depth] = 0
            order[depth, : number[depth]].sort()
        i = at[depth]
        if (
            i >= number[depth]
            or _bound(i, spare, left[depth], order[depth], number[depth], size) >= best
        ):
            depth -= 1
            continue
        at[depth] += 1
        y, m = order[depth, i] % size, 0
        if items.cost[y] >= spare:
            continue
        path[depth + 1], budget[depth + 1] = y, spare - items.cost[y]
        members[depth + 1], left[depth + 1] = members[depth] & sets[y], order[depth, i] // size
        for j in range(i + 1, number[depth]):
            z = order[depth, j] % size
            if items.entry[z] != items.entry[y] and items.cost[z] <= budget[depth + 1]:
                order[depth + 1, m] = z
                m += 1
        number[depth + 1] = m
        depth, fresh = depth + 1, True
    return best


@kernel_private
def _bound(i: int, spare: int, left: int, order: Ints, number: int, size: int) -> int:
    """Give how many are left at least, whatever is known of the items from the i-th on."""
    bound = left
    for j in range(i, min(i + spare, number)):
        bound -= left - order[j] // size
    return bound


@kernel_inline
def _write(chosen: NDArray[np.int32], items: Items, out: NDArray[np.int32]) -> None:
    """Write down which entries are known, each as often as its points; -1 behind the last."""
    used = 0
    for x in chosen:
        if x < 0:
            break
        for _ in range(items.cost[x]):
            out[used] = items.entry[x]
            used += 1


@kernel
def each(
    targets: Ints,
    ks: Ints,
    first: int,
    records: Records,
    points: Points,
    local: NDArray[np.int32],
) -> tuple[Ints, NDArray[np.int32]]:
    """Find the fewest whom any k points of some people leave, for several k, in rising order.

    Of each person, only the `first` entries may be known. `local` has a place for every person,
    with -1 in it. Gives, for every target and k, how many are left, and which entries leave them.
    """
    most = ks[-1]
    crowd = np.zeros((len(targets), len(ks)), np.int64)
    known = np.full((len(targets), len(ks), most), -1, np.int32)
    chosen = np.empty((len(ks), most + 1), np.int32)
    for t in range(len(targets)):
        start = records.offsets[targets[t]]
        end = min(records.offsets[targets[t] + 1], start + first)
        items = _items(start, end, most, records, points)
        chosen[:] = -1
        unsure = False
        for i in range(len(ks)):
            x = 0
            while items.cost[x] > ks[i]:
                x += 1
            crowd[t, i], chosen[i, 0] = items.leaves[x], x
            unsure |= items.leaves[x] > 1
        if unsure:
            sets = _sets(start, end, items, records, points, local)
            for i in range(len(ks)):
                least = _who_fit_all(ks[i], sets, items)
                for x in range(len(items.entry)):
                    best = crowd[t, i]
                    if best <= least:
                        break
                    if items.cost[x] < ks[i]:
                        crowd[t, i] = _narrow(x, ks[i], least, best, sets, items, chosen[i])
        for i in range(len(ks)):
            _write(chosen[i], items, known[t, i])
    return crowd, known
