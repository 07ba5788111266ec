"""Branch and bound where places are known with their visits relative to the most visited of them.

Definition 4.5. With w for the visits of the person under attack, v for those of somebody else, and
t for the most visited of the known places, she matches if every ``w[i] / w[t]`` is near
``v[i] / m``, where m is the most of all her v at the known places. For one place that is so while
m lies in an interval (`_interval`); so somebody is left while m lies in all of them.

What makes this search different from the others: more points can make m larger, and so bring
somebody back who did not match before. So

- exactly k points are chosen, and not up to k;
- she stays a candidate as long as any m that is still possible (from hers now upwards) lies in all
  intervals so far;
- the bound counts only those who match now and whose m a point would not change: these are lost one
  point at a time, as in `unordered`.

The outer loop fixes t; all other points are less frequent places of the person.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_inline, kernel_private
from incrowd.attack._search.index import InvertedIndex, KnownPoints, max_candidates
from incrowd.attack._search.unordered import lower_bound, matches

__all__ = [
    "Tolerance",
    "proportion_search",
]


MOST = 2**31 - 1
"""More than any m: with as many visits, products would not fit in 64 bits, and are refused."""


class Tolerance(NamedTuple):
    """How much two proportions may differ: above / below, of 1 or of the other's proportion."""

    above: int
    below: int
    relative: bool


class Candidates(NamedTuple):
    """Those who have the most visited of the known places: their visits, and which m matches.

    A row for each, a column for each less frequent place of the person under attack, in her order;
    the last column is that of the most visited known place itself. Somebody who was never at a
    place has 0 visits there, and an interval in which no m lies.
    """

    visits: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]


@kernel_private
def _interval(visits: int, mine: int, top: int, tolerance: Tolerance) -> tuple[int, int]:
    """Return between what m must lie for somebody with so many visits at a place.

    `mine` and `top` are the visits of the person under attack, to the place and to the most visited
    known one. From ``|mine/top - visits/m| <= a/b`` (times ``visits/m``, if relative), solved for m
    and rounded inwards. Both ends may be far above any m; they are kept in 32 bits, as what no m
    reaches.
    """
    a, b = tolerance.above, tolerance.below
    if tolerance.relative:
        low = -(-(b - a) * visits * top // (b * mine))
        return min(MOST, low), min(MOST, (a + b) * visits * top // (b * mine))
    low, rest = -(-b * visits * top // (a * top + b * mine)), b * mine - a * top
    # Where the tolerance exceeds the proportion itself, even a share of nothing is near enough.
    return min(MOST, low), MOST if rest <= 0 else min(MOST, b * visits * top // rest)


@kernel_private
def _visits_of_others(
    start: int,
    end: int,
    index: InvertedIndex,
    points: KnownPoints,
    candidate_of: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Return how often others were at the places of a person; 0 where the point does not match."""
    people = np.empty(max_candidates(start, end, len(candidate_of), index), np.int32)
    visits, used = np.zeros((len(people), end - start), np.int32), 0
    for e in range(start, end):
        key, low, high = index.key[e], points.low[e], points.high[e]
        denominator = points.denominator[e]
        for i in range(index.list_start[key], index.list_start[key + 1]):
            who, count = index.list_person[i], index.list_count[i]
            if not matches(count, index.total[who], low, high, denominator):
                continue
            if candidate_of[who] < 0:
                candidate_of[who], people[used] = used, who
                used += 1
            visits[candidate_of[who], e - start] = count
    for who in people[:used]:
        candidate_of[who] = -1
    return visits[:used]


@kernel_private
def _candidates(
    top: int, mine: NDArray[np.int32], visits: NDArray[np.int32], tolerance: Tolerance
) -> Candidates:
    """Return everybody who has the place `top`, with what they have of less frequent ones."""
    size, people = visits.shape[1] - top, 0
    for c in range(len(visits)):
        people += visits[c, top] > 0
    theirs = np.empty((people, size), np.int32)
    low, high = np.full((people, size), MOST, np.int32), np.full((people, size), -1, np.int32)
    used = 0
    for c in range(len(visits)):
        if visits[c, top] == 0:
            continue
        for y in range(size):
            number = visits[c, top + y]
            theirs[used, y - 1] = number  # y = 0 is the place itself: it goes to the last column
            if number:
                low[used, y - 1], high[used, y - 1] = _interval(
                    np.int64(number), np.int64(mine[top + y]), np.int64(mine[top]), tolerance
                )
        used += 1
    return Candidates(theirs, low, high)


@kernel_private
def _indistinguishable(candidates: Candidates) -> int:
    """Return how many match whatever is known: the place itself is their most visited one, too."""
    people, last, number = len(candidates.visits), candidates.visits.shape[1] - 1, 0
    for c in range(people):
        m, match = candidates.visits[c, last], True
        for y in range(last + 1):
            match &= candidates.visits[c, y] <= m
            match &= (candidates.low[c, y] <= m) & (m <= candidates.high[c, y])
        number += match
    return number


@kernel_private
def _match_alone(candidates: Candidates) -> int:
    """Return how many match if the most visited place is all that is known."""
    last, number = candidates.visits.shape[1] - 1, 0
    for c in range(len(candidates.visits)):
        m = candidates.visits[c, last]
        number += candidates.low[c, last] <= m <= candidates.high[c, last]
    return number


@kernel_private
def _count(
    members: NDArray[np.int32],
    state: NDArray[np.int32],
    candidates: Candidates,
    sure: NDArray[np.int32],
    exact: NDArray[np.int32],
) -> int:
    """Return how many match now, and count for each further point who would match with it.

    `exact` counts all of them: the crowd, if the point is the last one. `sure` counts those who
    match now as well and keep their m: points yet to come are what they would be without this one,
    so that the bound may add up who is lost.
    """
    now = 0
    sure[:], exact[:] = 0, 0
    for i in range(len(members)):
        most, low, high = state[i]
        visits = candidates.visits[members[i]]
        lows, highs = candidates.low[members[i]], candidates.high[members[i]]
        matches_now = low <= most <= high
        now += matches_now
        # Without a branch in it, so that several points are compared at a time.
        for y in range(len(sure)):
            m = max(most, visits[y])
            match = (max(low, lows[y]) <= m) & (m <= min(high, highs[y]))
            exact[y] += match
            sure[y] += match & matches_now & (m == most)
    return now


@kernel_inline
def _keep_possible(
    y: int,
    members: NDArray[np.int32],
    state: NDArray[np.int32],
    candidates: Candidates,
    next_members: NDArray[np.int32],
    next_state: NDArray[np.int32],
) -> int:
    """List who may still match once point y is known, with m and its interval; return how many.

    m can only grow; so whoever has it above the interval is out for good, and whoever has it below
    may come back.
    """
    found = 0
    for j in range(len(members)):
        c = members[j]
        most = max(state[j, 0], candidates.visits[c, y])
        low = max(state[j, 1], candidates.low[c, y])
        high = min(state[j, 2], candidates.high[c, y])
        if max(most, low) <= high:
            next_members[found] = c
            next_state[found] = most, low, high
            found += 1
    return found


@kernel_inline
def _start_with_top(
    candidates: Candidates, members: NDArray[np.int32], state: NDArray[np.int32]
) -> int:
    """List who may match when only the most visited place is known; return how many."""
    last, found = candidates.visits.shape[1] - 1, 0
    for c in range(len(candidates.visits)):
        most = candidates.visits[c, last]
        low, high = candidates.low[c, last], candidates.high[c, last]
        if max(most, low) <= high:
            members[found] = c
            state[found] = most, low, high
            found += 1
    return found


@kernel_inline
def _note_last(
    exact: NDArray[np.int32],
    ranked: Ints,
    best: int,
    top: int,
    path: NDArray[np.int32],
    chosen: NDArray[np.int32],
) -> int:
    """Return the smallest crowd that any of some points leaves as the last one, and note which."""
    smallest = best
    for i in range(len(ranked)):
        y = ranked[i]
        if exact[y] < smallest:
            smallest = exact[y]
            chosen[:] = -1
            chosen[0], chosen[len(path) + 1] = top, top + 1 + y
            for d in range(len(path)):
                chosen[d + 1] = top + 1 + path[d]
    return smallest


@kernel_private
def _branch_and_bound(
    k: int,
    best: int,
    candidates: Candidates,
    top: int,
    chosen: NDArray[np.int32],
) -> int:
    """Find the smallest crowd that a place and exactly k-1 less frequent ones leave.

    If it is below the best, note in `chosen` which places these are, as entries of the person.

    A depth-first walk with a stack of arrays, one row a depth (at depth d, d of the k-1 points are
    known besides `top`): who may still match (`members`, `possible` of them) with m and the
    interval in which it must lie (`state`), how many of them match `now`, and the points still to
    be tried (`ranked`, `number` of them, the next one is `at`). A node is `fresh` until its
    children are counted.
    """
    people, size = len(candidates.visits), candidates.visits.shape[1] - 1
    members, state = np.empty((k, people), np.int32), np.empty((k, people, 3), np.int32)
    ranked = np.empty((k, size), np.int64)
    number, at = np.zeros(k, np.int64), np.zeros(k, np.int64)
    possible, now = np.zeros(k, np.int64), np.zeros(k, np.int64)
    sure, exact = np.empty(size, np.int32), np.empty(size, np.int32)
    path, depth, fresh = np.full(k, -1, np.int32), 0, True
    possible[0] = _start_with_top(candidates, members[0], state[0])
    ranked[0], number[0] = np.arange(size), size
    least = _indistinguishable(candidates)
    while depth >= 0 and best > least:
        spare, here = k - 1 - depth, possible[depth]
        if fresh:
            fresh, at[depth] = False, 0
            now[depth] = _count(members[depth, :here], state[depth], candidates, sure, exact)
            if spare == 1:
                # The last point: its crowds are results, and there is nothing to branch on.
                points = ranked[depth, : number[depth]]
                best = _note_last(exact, points, best, top, path[:depth], chosen)
                depth -= 1
                continue
            # Count and point in one integer: sorted, those come first whom the fewest are sure of.
            for i in range(number[depth]):
                ranked[depth, i] += np.int64(sure[ranked[depth, i]]) * size
            ranked[depth, : number[depth]].sort()
        i = at[depth]
        # As many points as are to spare must be left, for exactly k have to be known.
        if (
            i + spare > number[depth]
            or lower_bound(i, spare, now[depth], ranked[depth], number[depth], size) >= best
        ):
            depth -= 1
            continue
        at[depth] += 1
        y = ranked[depth, i] % size
        possible[depth + 1] = _keep_possible(
            y, members[depth, :here], state[depth], candidates, members[depth + 1], state[depth + 1]
        )
        # Whatever comes before was tried together with this point already.
        number[depth + 1] = number[depth] - i - 1
        ranked[depth + 1, : number[depth + 1]] = ranked[depth, i + 1 : number[depth]] % size
        path[depth] = y
        depth, fresh = depth + 1, True
    return best


@kernel
def proportion_search(
    targets: Ints,
    ks: Ints,
    top_n: int,
    index: InvertedIndex,
    points: KnownPoints,
    tolerance: Tolerance,
    candidate_of: NDArray[np.int32],
) -> tuple[Ints, NDArray[np.int32]]:
    """Find the smallest crowd that any k entries of some people leave by their proportions.

    Whoever does not match by the points is left out as well. Other parameters and results are those
    of `unordered_search`.
    """
    crowd = np.full((len(targets), len(ks)), 2**62, np.int64)
    known = np.full((len(targets), len(ks), ks[-1]), -1, np.int32)
    for t in range(len(targets)):
        start = index.offsets[targets[t]]
        end = min(index.offsets[targets[t] + 1], start + top_n)
        visits = _visits_of_others(start, end, index, points, candidate_of)
        mine = index.number[start:end]
        for top in range(end - start):
            active = False
            for i in range(len(ks)):
                active |= crowd[t, i] > 1 and end - start - top >= min(ks[i], end - start)
            if not active:
                break
            candidates = _candidates(top, mine, visits, tolerance)
            for i in range(len(ks)):
                k = min(ks[i], end - start)
                if end - start - top < k or crowd[t, i] == 1:
                    continue
                if k > 1:
                    crowd[t, i] = _branch_and_bound(
                        k, crowd[t, i], candidates, np.int32(top), known[t, i]
                    )
                elif _match_alone(candidates) < crowd[t, i]:
                    crowd[t, i], known[t, i, 0] = _match_alone(candidates), top
    return crowd, known
