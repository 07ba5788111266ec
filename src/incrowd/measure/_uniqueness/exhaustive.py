"""Every sub-trace of one or two points: how many of each person nobody else has, exactly.

For a pair of points there is no need to look at the pair: whoever shares two points or more with a
person has all pairs of these. So everybody with whom she shares points is looked at once, and the
pairs of what they share are marked in a table; those that are not marked are unique.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_private
from incrowd._parallel import on_threads
from incrowd.errors import InputError
from incrowd.measure._uniqueness.encoding import Points
from incrowd.measure._uniqueness.inverted_index import posting_lists

__all__ = [
    "all_subtraces",
]


CHEAP = 2 * 10**10
"""How often people may share a point with somebody; beyond that, all pairs take hours."""
BLOCK = 64
PAIR = 2


def all_subtraces(
    traces: Points, most: int, threads: int, tell: Callable[[int, int], None]
) -> tuple[Ints, Ints]:
    """Return how many points and, if `most` is 2, pairs of points of each person are unique."""
    people = len(traces)
    lists = posting_lists(traces, np.unique(traces.code), threads)
    size = np.diff(lists.cuts).astype(object)
    shared = int(size @ size) if len(size) else 0
    if most == PAIR and shared > CHEAP:
        raise InputError(
            f"exact would compare people {shared:,} times, and takes up to {CHEAP:,}; draw "
            'sub-traces of each person instead: model="probabilistic", each=100'
        )
    alone, pairs = np.zeros(people, np.int64), np.zeros(people, np.int64)
    index = np.searchsorted(lists.wanted, traces.code)

    def work(first: int) -> int:
        last = min(first + BLOCK, people)
        _count(
            index, traces.cuts, lists.person, lists.cuts, most == PAIR, first, last,
            alone, pairs,
        )  # fmt: skip
        return last

    for done in on_threads(threads, work, range(0, people, BLOCK)):
        tell(done, people)
    return alone, pairs


@kernel_private
def _count_shared(
    who: int, mine: Ints, person: NDArray[np.int32], lists: Ints, shared: Ints, others: Ints
) -> int:
    """Count the points that others share; list these people, and return how many there are."""
    met = 0
    for point in mine:
        for other in person[lists[point] : lists[point + 1]]:
            if shared[other] == 0 and other != who:
                others[met] = other
                met += 1
            shared[other] += 1
    shared[who] = 0
    return met


@kernel_private
def _list_shared(
    mine: Ints, person: NDArray[np.int32], lists: Ints, shared: Ints, start_of: Ints, points: Ints
) -> None:
    """Write down which points each of the others shares, one after the other."""
    for i in range(len(mine)):
        for other in person[lists[mine[i]] : lists[mine[i] + 1]]:
            if shared[other]:
                points[start_of[other]] = i
                start_of[other] += 1


@kernel_private
def _mark_pairs(theirs: Ints, known: NDArray[np.bool_]) -> None:
    """Mark all pairs of points that somebody else has."""
    for a in range(len(theirs)):
        for b in range(a):
            known[theirs[a], theirs[b]] = True


@kernel
def _count(
    index: Ints,
    cuts: Ints,
    person: NDArray[np.int32],
    lists: Ints,
    both: bool,  # noqa: FBT001
    first: int,
    last: int,
    alone: Ints,
    pairs: Ints,
) -> None:
    """Count for some people.

    `shared` and `start_of` have an element for each person, and are 0 again between two people.
    """
    people = len(cuts) - 1
    shared, start_of = np.zeros(people, np.int64), np.zeros(people, np.int64)
    others = np.empty(people, np.int64)
    for who in range(first, last):
        mine = index[cuts[who] : cuts[who + 1]]
        total, size = 0, len(mine)
        for point in mine:
            alone[who] += lists[point + 1] - lists[point] == 1
            total += lists[point + 1] - lists[point]
        if not both:
            continue
        met = _count_shared(who, mine, person, lists, shared, others)
        points, start = np.empty(total, np.int64), 0
        for other in others[:met]:
            start_of[other] = start
            start += shared[other]
        _list_shared(mine, person, lists, shared, start_of, points)
        known = np.zeros((size, size), np.bool_)
        for other in others[:met]:
            _mark_pairs(points[start_of[other] - shared[other] : start_of[other]], known)
            shared[other] = 0
        pairs[who] = size * (size - 1) // 2 - known.sum()
