"""Branch and bound where every known point matches by itself: the crowd is who matches all of them.

The smallest crowd that any k points leave is found by branching on the most telling point first.
A crowd can only shrink with each further point, by no more than that point alone would take from
it now; so a branch is given up when even the best points left would not make it smaller than the
smallest crowd found. And nobody can be distinguished from those who match all of a person's points:
a crowd as small as theirs ends the search.

Sets of people are bits, 64 a word, so that what two points leave together is an ``&`` of words.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, Words, kernel, kernel_inline, kernel_private, popcount
from incrowd.attack._search.index import InvertedIndex, KnownPoints, max_candidates

__all__ = [
    "lower_bound",
    "matches",
    "unordered_search",
]


class Items(NamedTuple):
    """What may be known of a person, most telling first: an entry, and how many points of it.

    Of an entry that stands for several points (a place visited three times, where that is known)
    knowing one, two or three of them are three items: they cost one, two or three of the k points.

    Attributes
    ----------
    entry, cost
        Which of the person's entries it is, and how many points of it are known.
    crowd
        How many people the item by itself leaves.
    position, first
        From entries to items: the one that costs c of entry e is ``position[first[e] + c - 1]``.
    """

    entry: NDArray[np.int32]
    cost: NDArray[np.int32]
    crowd: NDArray[np.int32]
    position: NDArray[np.int32]
    first: NDArray[np.int32]


@kernel_private
def matches(count: int, total: int, low: int, high: int, denominator: int) -> bool:
    """Return whether count/total lies between low/denominator and high/denominator, inclusive.

    Multiplied out, so that it is decided in integers; products that would not fit are refused
    before the search.
    """
    return bool(low * total <= count * denominator and count * denominator <= high * total)


@kernel_private
def _items(start: int, end: int, most: int, index: InvertedIndex, points: KnownPoints) -> Items:
    """Return all that may be known of a person (no more than `most` points), most telling first."""
    size = 0
    first = np.empty(end - start + 1, np.int32)
    for e in range(start, end):
        first[e - start] = size
        size += min(most, points.copies[e])
    first[end - start] = size
    crowd = np.zeros(size, np.int64)
    for e in range(start, end):
        here, levels = first[e - start], first[e - start + 1] - first[e - start]
        key, low, high = index.key[e], points.low[e], points.high[e]
        denominator = points.denominator[e]
        for i in range(index.list_start[key], index.list_start[key + 1]):
            count, total = index.list_count[i], index.total[index.list_person[i]]
            for level in range(levels):
                # Who does not match so many points of an entry does not match more of them.
                if not matches(count, total, low + level, high, denominator):
                    break
                crowd[here + level] += 1
    # Crowd and item in one integer: sorting these needs no second array, and ties are settled.
    order = crowd * size + np.arange(size)
    order.sort()
    entry, cost = np.empty(size, np.int32), np.empty(size, np.int32)
    position, sorted_crowd = np.empty(size, np.int32), np.empty(size, np.int32)
    for rank in range(size):
        item = order[rank] % size
        sorted_crowd[rank], position[item] = crowd[item], rank
    for e in range(end - start):
        for item in range(first[e], first[e + 1]):
            entry[position[item]], cost[position[item]] = e, item - first[e] + 1
    return Items(entry, cost, sorted_crowd, position, first)


@kernel_private
def _crowds_as_bits(
    start: int,
    end: int,
    items: Items,
    index: InvertedIndex,
    points: KnownPoints,
    candidate_of: NDArray[np.int32],
) -> Words:
    """Return, for every item, the set of those whom it leaves.

    Only people who match an item at all get a bit; they are numbered as they are met, so that the
    sets are as short as they can be. `candidate_of` is left as it was: -1 for everybody.
    """
    people = np.empty(max_candidates(start, end, len(candidate_of), index), np.int32)
    sets, used = np.zeros((len(items.entry), (len(people) + 63) // 64), np.uint64), 0
    for e in range(start, end):
        key, low, high = index.key[e], points.low[e], points.high[e]
        denominator = points.denominator[e]
        first, levels = items.first[e - start], items.first[e - start + 1] - items.first[e - start]
        for i in range(index.list_start[key], index.list_start[key + 1]):
            who, count = index.list_person[i], index.list_count[i]
            total = index.total[who]
            if not matches(count, total, low, high, denominator):
                continue
            if candidate_of[who] < 0:
                candidate_of[who], people[used] = used, who
                used += 1
            word = candidate_of[who] // 64
            bit = np.uint64(1) << np.uint64(candidate_of[who] % 64)
            for level in range(levels):
                if level and not matches(count, total, low + level, high, denominator):
                    break
                sets[items.position[first + level], word] |= bit
    for who in people[:used]:
        candidate_of[who] = -1
    return sets[:, : (used + 63) // 64]


@kernel_private
def _size_of_both(one: Words, two: Words) -> int:
    """Return how many are in both of two sets."""
    size = 0
    for w in range(len(one)):
        size += popcount(one[w] & two[w])
    return size


@kernel_private
def _indistinguishable(k: int, sets: Words, items: Items) -> int:
    """Return how many match whatever k points are known, unless all k are of one entry.

    No crowd of several entries can be smaller; those of one entry are known before the search.
    """
    crowd = np.full(sets.shape[1], ~np.uint64(0), np.uint64)
    for y in range(len(sets)):
        if items.cost[y] < k:
            crowd &= sets[y]
    return _size_of_both(crowd, crowd)


@kernel_private
def lower_bound(i: int, spare: int, crowd: int, ranked: Ints, number: int, size: int) -> int:
    """Return a lower bound of the crowd that `spare` more points from the i-th on can leave.

    ``ranked[j] // size`` is how many of the crowd the j-th point alone would leave, rising with j.
    Each point takes away no more than it would alone; so together no more than their sum, which is
    largest for those that come next. Of items that cost more than a point fewer can be afforded:
    the bound then is lower than need be, and still a bound.
    """
    bound = crowd
    for j in range(i, min(i + spare, number)):
        bound -= crowd - ranked[j] // size
    return bound


@kernel_inline
def _try_each(
    members: Words,
    ranked: Ints,
    number: int,
    best: int,
    sets: Words,
    path: NDArray[np.int32],
    chosen: NDArray[np.int32],
) -> int:
    """Count the crowd that each further item leaves; return the best, and note what leaves it.

    Counts are added to the items in `ranked` (times their number), ready to be sorted by them.
    """
    size, smallest = len(sets), best
    for i in range(number):
        y = ranked[i]
        count = _size_of_both(members, sets[y])
        if count < smallest:
            smallest = count
            chosen[:] = -1
            chosen[: len(path)], chosen[len(path)] = path, y
        ranked[i] += count * size
    return smallest


@kernel_inline
def _affordable_after(
    i: int, ranked: Ints, number: int, budget: int, items: Items, further: Ints
) -> int:
    """List the items behind the i-th that may be known besides it; return how many.

    What comes before was tried together with this one already. Of the same entry there is one item
    only: knowing more of its points is another item.
    """
    size, used = len(items.entry), 0
    entry = items.entry[ranked[i] % size]
    for j in range(i + 1, number):
        z = ranked[j] % size
        if items.entry[z] != entry and items.cost[z] <= budget:
            further[used] = z
            used += 1
    return used


@kernel_private
def _branch_and_bound(
    x: int,
    k: int,
    least: int,
    best: int,
    sets: Words,
    items: Items,
    chosen: NDArray[np.int32],
) -> int:
    """Find the smallest crowd that item x and others after it leave, if below the best; note which.

    A depth-first walk with a stack of arrays, one row a depth: who is left (`members`, `crowd` of
    them), the items still to be tried (`ranked`, `number` of them, the next one is `at`), and how
    many points may still be known (`budget`). A node is `fresh` until the crowds of its children
    are counted. The walk ends as soon as the best is as small as `least`.
    """
    size, deepest = len(items.entry), min(k, len(items.first))
    members = np.empty((deepest, sets.shape[1]), np.uint64)
    ranked = np.empty((deepest, size), np.int64)
    number, at = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64)
    crowd, budget = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64)
    path, depth, fresh = np.zeros(deepest, np.int32), 0, True
    path[0], budget[0], crowd[0], members[0] = x, k - items.cost[x], items.crowd[x], sets[x]
    for y in range(x + 1, size):
        if items.entry[y] != items.entry[x] and items.cost[y] <= budget[0]:
            ranked[0, number[0]] = y
            number[0] += 1
    while depth >= 0 and best > least:
        spare = budget[depth]
        if fresh:
            fresh, at[depth] = False, 0
            best = _try_each(
                members[depth], ranked[depth], number[depth], best, sets, path[: depth + 1], chosen
            )
            if spare == 1:
                number[depth] = 0  # whatever is tried is the last point: nothing to branch on
            ranked[depth, : number[depth]].sort()
        i = at[depth]
        if (
            i >= number[depth]
            or lower_bound(i, spare, crowd[depth], ranked[depth], number[depth], size) >= best
        ):
            depth -= 1
            continue
        at[depth] += 1
        y = ranked[depth, i] % size
        if items.cost[y] >= spare:
            continue
        path[depth + 1], budget[depth + 1] = y, spare - items.cost[y]
        members[depth + 1], crowd[depth + 1] = members[depth] & sets[y], ranked[depth, i] // size
        number[depth + 1] = _affordable_after(
            i, ranked[depth], number[depth], budget[depth + 1], items, ranked[depth + 1]
        )
        depth, fresh = depth + 1, True
    return best


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
def unordered_search(
    targets: Ints,
    ks: Ints,
    top_n: int,
    index: InvertedIndex,
    points: KnownPoints,
    candidate_of: NDArray[np.int32],
) -> tuple[Ints, NDArray[np.int32]]:
    """Find the smallest crowd that any k points of some people leave, for several rising k.

    Of each person, only the `top_n` first entries may be known. `candidate_of` is scratch space: an
    element for every person, -1 before and after.

    Returns
    -------
    For every target and k, the size of the crowd, and which entries leave it.
    """
    most = ks[-1]
    crowd = np.zeros((len(targets), len(ks)), np.int64)
    known = np.full((len(targets), len(ks), most), -1, np.int32)
    chosen = np.empty((len(ks), most + 1), np.int32)
    for t in range(len(targets)):
        start = index.offsets[targets[t]]
        end = min(index.offsets[targets[t] + 1], start + top_n)
        items = _items(start, end, most, index, points)
        chosen[:] = -1
        unsure = False
        for i in range(len(ks)):
            x = 0
            while items.cost[x] > ks[i]:
                x += 1
            crowd[t, i], chosen[i, 0] = items.crowd[x], x
            unsure |= items.crowd[x] > 1
        # Most people have a point that nobody else has, and need no sets at all.
        if unsure:
            sets = _crowds_as_bits(start, end, items, index, points, candidate_of)
            for i in range(len(ks)):
                least = _indistinguishable(ks[i], sets, items)
                for x in range(len(items.entry)):
                    best = crowd[t, i]
                    if best <= least:
                        break
                    if items.cost[x] < ks[i]:
                        crowd[t, i] = _branch_and_bound(
                            x, ks[i], least, best, sets, items, chosen[i]
                        )
        for i in range(len(ks)):
            _write(chosen[i], items, known[t, i])
    return crowd, known
