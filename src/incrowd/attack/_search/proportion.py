"""The search where points are known by their proportion to the most frequent one of them.

With w for the visits of the person under attack and v for those of somebody else, and t for the
most visited of the known places, she fits if every ``w[i] / w[t]`` is near ``v[i] / m``, where m is
the most of all her v at the known places. For a place by itself, that is so while m lies in an
interval; so a person is left while m lies in all of them. More points can make m larger, and so
bring somebody back who did not fit before: she is looked at as long as any m that is possible still
might do. Those who fit now, and whose m a point would not change, are lost one point at a time, as
in `each`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_private
from incrowd.attack._search.index import Points, Records, most_people
from incrowd.attack._search.unordered import fits

__all__ = [
    "Tolerance",
    "shares",
]


MOST = 2**31 - 1
"""More than any m: with as many visits, products would not fit in 64 bits, and are refused."""


class Tolerance(NamedTuple):
    """How much two proportions may differ: above / below, of 1 or of the other's proportion."""

    above: int
    below: int
    relative: bool


class Rows(NamedTuple):
    """Those who have the most frequent of the known places: their visits, and which m fits.

    The last column is that of the place that they have.
    """

    visits: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]


@kernel_private
def _between(visits: int, mine: int, top: int, tolerance: Tolerance) -> tuple[int, int]:
    """Give between what m must lie for somebody with so many visits where others are `mine`.

    Both ends may be far above any m; they are kept in 32 bits, as what no m reaches.
    """
    a, b = tolerance.above, tolerance.below
    if tolerance.relative:
        low = -(-(b - a) * visits * top // (b * mine))
        return min(MOST, low), min(MOST, (a + b) * visits * top // (b * mine))
    low, rest = -(-b * visits * top // (a * top + b * mine)), b * mine - a * top
    return min(MOST, low), MOST if rest <= 0 else min(MOST, b * visits * top // rest)


@kernel_private
def _visits(
    start: int, end: int, records: Records, points: Points, local: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Give how often everybody was where a person was; 0 where it does not fit."""
    people = np.empty(most_people(start, end, len(local), records), np.int32)
    visits, used = np.zeros((len(people), end - start), np.int32), 0
    for e in range(start, end):
        key, low, high, under = records.key[e], points.low[e], points.high[e], points.under[e]
        for i in range(records.start[key], records.start[key + 1]):
            who, number = records.person[i], records.value[i]
            if not fits(number, records.total[who], low, high, under):
                continue
            if local[who] < 0:
                local[who], people[used] = used, who
                used += 1
            visits[local[who], e - start] = number
    for who in people[:used]:
        local[who] = -1
    return visits[:used]


@kernel_private
def _rows(
    top: int, mine: NDArray[np.int32], visits: NDArray[np.int32], tolerance: Tolerance
) -> Rows:
    """Look at everybody who has a place: what they have of those that are less frequent."""
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
            theirs[used, y - 1] = number  # that of the place itself comes last
            if number:
                low[used, y - 1], high[used, y - 1] = _between(
                    np.int64(number), np.int64(mine[top + y]), np.int64(mine[top]), tolerance
                )
        used += 1
    return Rows(theirs, low, high)


@kernel_private
def _count(
    members: NDArray[np.int32],
    state: NDArray[np.int32],
    rows: Rows,
    sure: NDArray[np.int32],
    exact: NDArray[np.int32],
) -> int:
    """Count who fits now, who would for sure with each point, and who would if it were last."""
    now = 0
    sure[:], exact[:] = 0, 0
    for i in range(len(members)):
        most, low, high = state[i]
        visits, lows, highs = rows.visits[members[i]], rows.low[members[i]], rows.high[members[i]]
        fits_now = low <= most <= high
        now += fits_now
        for y in range(len(sure)):
            m = max(most, visits[y])
            fit = (max(low, lows[y]) <= m) & (m <= min(high, highs[y]))
            exact[y] += fit
            sure[y] += fit & fits_now & (m == most)
    return now


@kernel_private
def _sure(rows: Rows) -> int:
    """Count those who fit, whatever is known."""
    people, last, number = len(rows.visits), rows.visits.shape[1] - 1, 0
    for c in range(people):
        m, fit = rows.visits[c, last], True
        for y in range(last + 1):
            fit &= (rows.visits[c, y] <= m) & (rows.low[c, y] <= m) & (m <= rows.high[c, y])
        number += fit
    return number


@kernel_private
def _narrow(  # noqa: C901, PLR0912, PLR0915
    k: int,
    best: int,
    rows: Rows,
    here: int,
    chosen: NDArray[np.int32],
) -> int:
    """Find the fewest whom a place and k-1 less frequent ones leave, if fewer than the best."""
    people, size = len(rows.visits), rows.visits.shape[1] - 1
    members, state = np.empty((k, people), np.int32), np.empty((k, people, 3), np.int32)
    order, number, at, left = (
        np.empty((k, size), np.int64),
        np.zeros(k, np.int64),
        np.zeros(k, np.int64),
        np.zeros(k, np.int64),
    )
    sure, exact = np.empty(size, np.int32), np.empty(size, np.int32)
    path, depth, fresh = np.full(k, -1, np.int32), 0, True
    now = np.zeros(k, np.int64)
    for c in range(people):
        most, low, high = rows.visits[c, size], rows.low[c, size], rows.high[c, size]
        if max(most, low) <= high:
            members[0, left[0]] = c
            state[0, left[0]] = most, low, high
            left[0] += 1
    for y in range(size):
        order[0, y] = y
    number[0] = size
    least = _sure(rows)
    while depth >= 0 and best > least:
        spare = k - 1 - depth
        if fresh:
            fresh, at[depth] = False, 0
            now[depth] = _count(members[depth, : left[depth]], state[depth], rows, sure, exact)
            for i in range(number[depth]):
                y = order[depth, i]
                if spare == 1 and exact[y] < best:
                    best = exact[y]
                    chosen[:] = -1
                    chosen[0], chosen[depth + 1] = here, here + 1 + y
                    for d in range(depth):
                        chosen[d + 1] = here + 1 + path[d]
                order[depth, i] += np.int64(sure[y]) * size
            if spare == 1:
                depth -= 1
                continue
            order[depth, : number[depth]].sort()
        i = at[depth]
        bound = now[depth]
        for j in range(i, min(i + spare, number[depth])):
            bound -= now[depth] - order[depth, j] // size
        if i + spare > number[depth] or bound >= best:
            depth -= 1
            continue
        at[depth] += 1
        y, found = order[depth, i] % size, 0
        for j in range(left[depth]):
            c = members[depth, j]
            most = max(state[depth, j, 0], rows.visits[c, y])
            low = max(state[depth, j, 1], rows.low[c, y])
            high = min(state[depth, j, 2], rows.high[c, y])
            if max(most, low) <= high:
                members[depth + 1, found] = c
                state[depth + 1, found] = most, low, high
                found += 1
        path[depth] = y
        m = 0
        for j in range(i + 1, number[depth]):
            order[depth + 1, m] = order[depth, j] % size
            m += 1
        left[depth + 1], number[depth + 1] = found, m
        depth, fresh = depth + 1, True
    return best


@kernel_private
def _alone(rows: Rows) -> int:
    """Count who has a place, and fits it by itself."""
    last, number = rows.visits.shape[1] - 1, 0
    for c in range(len(rows.visits)):
        number += rows.low[c, last] <= rows.visits[c, last] <= rows.high[c, last]
    return number


@kernel
def shares(
    targets: Ints,
    ks: Ints,
    first: int,
    records: Records,
    points: Points,
    tolerance: Tolerance,
    local: NDArray[np.int32],
) -> tuple[Ints, NDArray[np.int32]]:
    """Find the fewest whom any k entries of some people leave by their proportions, as `each` does.

    Whoever does not fit by the points is left out as well.
    """
    crowd = np.full((len(targets), len(ks)), 2**62, np.int64)
    known = np.full((len(targets), len(ks), ks[-1]), -1, np.int32)
    for t in range(len(targets)):
        start = records.offsets[targets[t]]
        end = min(records.offsets[targets[t] + 1], start + first)
        visits, mine = _visits(start, end, records, points, local), records.number[start:end]
        for top in range(end - start):
            active = False
            for i in range(len(ks)):
                active |= crowd[t, i] > 1 and end - start - top >= min(ks[i], end - start)
            if not active:
                break
            rows = _rows(top, mine, visits, tolerance)
            for i in range(len(ks)):
                k = min(ks[i], end - start)
                if end - start - top < k or crowd[t, i] == 1:
                    continue
                if k > 1:
                    crowd[t, i] = _narrow(k, crowd[t, i], rows, np.int32(top), known[t, i])
                elif _alone(rows) < crowd[t, i]:
                    crowd[t, i], known[t, i, 0] = _alone(rows), top
    return crowd, known
