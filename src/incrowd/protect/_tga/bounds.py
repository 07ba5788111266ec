"""What matching two trajectories costs at least, so that most matchings are never looked for.

In any matching a point is in a box with a point of the other trajectory, or suppressed. So give
each point a number b that is no more than

- what its share of a box costs, whichever point of the other it is with: the logarithms of width,
  height and length, for each of its people; and
- what suppressing it costs (s).

A matched point costs its people at least b, a suppressed one exactly s. Of n points that are
matched with m others, n > m, at least n - m are suppressed. With g people behind each point the
n points cost at least

    g (sum of b over all points)  +  g (sum of the n - m smallest s - b),

and so do the points of the other side, of which none need be suppressed. The same holds of the rest
of two trajectories, from any points on: that is how `matching` leaves out most of its table.

Three numbers for b, each larger (or equal) and dearer than the one before:

by places
    A trajectory's positions are put into 16 *places* at most, rectangles around some of its boxes.
    b is what the smallest box costs in space that reaches from the place of the point to any
    place of the other; the time is taken to cost nothing. One comparison for all points of a place.
by times
    To that comes the logarithm of the shortest time that reaches to any point of the other, at
    whichever place: the nearest one before or after, for points are in the order of their starts.
by both
    The cheapest box with any point of the other. They are tried from the nearest in time on, until
    the time of the next costs more, with the place, than the best box; or, after a few, for what
    that time and the place cost.

That they are never above the true cost, and change no result, is tested against all matchings.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ONE, ZERO, Ints, kernel, kernel_private
from incrowd.protect._tga.costs import Costs, log_of

__all__ = [
    "PLACES",
    "Places",
    "Sides",
    "by_both",
    "by_places",
    "by_times",
    "more_suppressed",
    "places_of",
    "smallest_boxes",
]


Sides = NDArray[np.int32]
Columns = tuple[Sides, ...]

PLACES = 16
"""How many places a trajectory has at most."""
BINS = 64
"""Into how many the numbers b are put, to find those that may be suppressed for the least."""

TRIED = 12
"""How many points of the other are tried for each point."""
NEVER_SPAN = ONE << 40
"""Longer than 32 bits can say."""


class Places(NamedTuple):
    """The places of trajectories.

    Attributes
    ----------
    code
        The place of each point, counted from 0 in each trajectory.
    sides
        Of each trajectory and place: x0, x1, y0, y1 of the rectangle around its boxes, and the
        smallest width and height of one.
    points
        Of each trajectory and place: how many points are in it; none if there is no such place.
    """

    code: NDArray[np.uint8]
    sides: NDArray[np.int32]
    points: Ints


@kernel
def places_of(columns: Columns, offsets: Ints) -> Places:
    """Put the points of trajectories into places, halving the widest place again and again."""
    x0, y0 = columns[0], columns[2]
    people = len(offsets) - 1
    code = np.zeros(len(x0), np.uint8)
    sides = np.zeros((people, PLACES, 6), np.int32)
    points = np.zeros((people, PLACES), np.int64)
    for person in range(people):
        first, last = offsets[person], offsets[person + 1]
        around(first, last, columns, code, 0, sides[person], points[person])
        for number in range(1, PLACES):
            place, across, middle = widest(first, last, x0, y0, code, number)
            if place < 0:
                break
            for i in range(first, last):
                if code[i] == place and (y0[i] if across else x0[i]) >= middle:
                    code[i] = number
            for p in (place, number):
                around(first, last, columns, code, p, sides[person], points[person])
    return Places(code, sides, points)


@kernel_private
def widest(
    first: int, last: int, x0: Sides, y0: Sides, code: NDArray[np.uint8], number: int
) -> tuple[int, bool, int]:
    """Give the place whose boxes start farthest apart, whether in y, and its middle; or -1."""
    place, wide, across, middle = -ONE, ZERO, False, ZERO
    for p in range(number):
        low_x, high_x, low_y, high_y = starts_in(first, last, x0, y0, code, p)
        if high_x - low_x > wide:
            place, wide, across, middle = p, high_x - low_x, False, (low_x + high_x + 1) // 2
        if high_y - low_y > wide:
            place, wide, across, middle = p, high_y - low_y, True, (low_y + high_y + 1) // 2
    return place, across, middle


@kernel_private
def starts_in(
    first: int, last: int, x0: Sides, y0: Sides, code: NDArray[np.uint8], place: int
) -> tuple[int, int, int, int]:
    """Give the smallest and largest x0, and the same of y0, of the points of a place."""
    low_x, high_x, low_y, high_y = ZERO, ZERO, ZERO, ZERO
    found = False
    for i in range(first, last):
        if code[i] == place:
            low_x = min(low_x, x0[i]) if found else x0[i]
            high_x = max(high_x, x0[i]) if found else x0[i]
            low_y = min(low_y, y0[i]) if found else y0[i]
            high_y = max(high_y, y0[i]) if found else y0[i]
            found = True
    return low_x, high_x, low_y, high_y


@kernel_private
def around(
    first: int,
    last: int,
    columns: Columns,
    code: NDArray[np.uint8],
    place: int,
    sides: NDArray[np.int32],
    points: Ints,
) -> None:
    """Note the rectangle around the points of a place, and the rest of it."""
    x0, x1, y0, y1, _, _ = columns
    count = ZERO
    for i in range(first, last):
        if code[i] != place:
            continue
        if count == 0:
            sides[place, 0], sides[place, 1] = x0[i], x1[i]
            sides[place, 2], sides[place, 3] = y0[i], y1[i]
            sides[place, 4], sides[place, 5] = x1[i] - x0[i], y1[i] - y0[i]
        sides[place, 0] = min(sides[place, 0], x0[i])
        sides[place, 1] = max(sides[place, 1], x1[i])
        sides[place, 2] = min(sides[place, 2], y0[i])
        sides[place, 3] = max(sides[place, 3], y1[i])
        sides[place, 4] = min(sides[place, 4], x1[i] - x0[i])
        sides[place, 5] = min(sides[place, 5], y1[i] - y0[i])
        count += 1
    points[place] = count


@kernel_private
def smallest_boxes(
    mine: NDArray[np.int32],
    my_points: Ints,
    theirs: NDArray[np.int32],
    their_points: Ints,
    costs: Costs,
    near_mine: Ints,
    near_theirs: Ints,
) -> None:
    """Give what the smallest box costs in space from each place to any place of the other."""
    for p in range(PLACES):
        near_mine[p] = near_theirs[p] = costs.suppressed
    for p in range(PLACES):
        if my_points[p] == 0:
            break
        for q in range(PLACES):
            if their_points[q] == 0:
                break
            cost = ZERO
            for low in (0, 2):
                # Two boxes of places that lie apart: one ends, at the earliest, a cell behind the
                # start of its place, and the other starts, at the latest, a cell before its end.
                apart = max(
                    theirs[q, low] - mine[p, low + 1] + 2, mine[p, low] - theirs[q, low + 1] + 2
                )
                own = max(mine[p, 4 + low // 2], theirs[q, 4 + low // 2])
                cost += log_of(max(apart, own), costs.logs)
            near_mine[p] = min(near_mine[p], cost)
            near_theirs[q] = min(near_theirs[q], cost)


@kernel_private
def by_places(
    near: Ints, points: Ints, others: int, people: int, costs: Costs, used: NDArray[np.bool_]
) -> int:
    """Give what the points of a trajectory cost at least, matched with so many others."""
    total, number = ZERO, ZERO
    for p in range(PLACES):
        used[p] = points[p] == 0
        total += points[p] * near[p]
        number += points[p]
    surplus = number - others
    while surplus > 0:
        dearest = -ONE
        for p in range(PLACES):
            if not used[p] and (dearest < 0 or near[p] > near[dearest]):
                dearest = p
        used[dearest] = True
        most = min(surplus, points[dearest])
        total += most * (costs.suppressed - near[dearest])
        surplus -= most
    return int(people * total)


@kernel_private
def by_times(
    columns: Columns,
    first: int,
    last: int,
    code: NDArray[np.uint8],
    near: Ints,
    starts: Sides,
    other: int,
    end: int,
    costs: Costs,
    least: Ints,
) -> int:
    """Give each point its b by place and time, against starts from `other` to `end`; their sum."""
    t0, t1 = columns[4], columns[5]
    j, total = other, ZERO
    for i in range(first, last):
        while j < end and starts[j] < t0[i]:
            j += 1
        # With the next to start the box lasts until then, with the one before from then on.
        span = NEVER_SPAN
        if j < end:
            span = max(t1[i] - t0[i], starts[j] + 1 - t0[i])
        if j > other:
            span = min(span, t1[i] - starts[j - 1])
        cost = costs.suppressed
        if span < NEVER_SPAN:
            cost = min(cost, near[code[i]] + log_of(span, costs.logs))
        least[i - first] = cost
        total += cost
    return int(total)


@kernel_private
def by_both(
    columns: Columns,
    first: int,
    last: int,
    code: NDArray[np.uint8],
    near: Ints,
    others: Columns,
    other: int,
    end: int,
    costs: Costs,
    most: int,
    least: Ints,
) -> int:
    """Give each point its b: about what the cheapest box with any other costs; and their sum.

    Before, `least` has those by times. It ends once the sum is more than so much.
    """
    x0, x1, y0, y1, t0, t1 = columns
    u0, u1, v0, v1, s0, s1 = others
    j, total, logs = other, ZERO, costs.logs
    for i in range(first, last):
        total += least[i - first]
    for i in range(first, last):
        if total > most:
            break
        while j < end and s0[j] < t0[i]:
            j += 1
        best, place = costs.suppressed, near[code[i]]
        before, after, tried = j - 1, j, ZERO
        while True:
            # The nearer of the two in time; where that costs too much, all others do.
            behind = t1[i] - s0[before] if before >= other else NEVER_SPAN
            ahead = max(t1[i] - t0[i], s0[after] + 1 - t0[i]) if after < end else NEVER_SPAN
            span = min(behind, ahead)
            if span == NEVER_SPAN or place + log_of(span, logs) >= best:
                break
            if tried == TRIED:
                best = place + log_of(span, logs)
                break
            tried += 1
            k = before if behind < ahead else after
            if behind < ahead:
                before -= 1
            else:
                after += 1
            cost = log_of(max(x1[i], u1[k]) - min(x0[i], u0[k]), logs)
            cost += log_of(max(y1[i], v1[k]) - min(y0[i], v0[k]), logs)
            cost += log_of(max(t1[i], s1[k]) - min(t0[i], s0[k]), logs)
            best = min(best, cost)
        total += best - least[i - first]
        least[i - first] = best
    return int(total)


@kernel_private
def more_suppressed(
    least: Ints, number: int, most: int, people: int, costs: Costs, more: Ints, highest: Ints
) -> None:
    """Give in ``more[d]`` what suppressing d points costs at least beyond their b, d to `most`.

    Points are put into bins by b; all of a bin are taken for the dearest of it.
    """
    count = highest[BINS:]
    for b in range(BINS):
        highest[b] = count[b] = 0
    scale = BINS / (costs.suppressed + 1.0)
    for i in range(number):
        b = min(BINS - 1, int(least[i] * scale))
        highest[b] = max(highest[b], least[i])
        count[b] += 1
    more[0] = 0
    d, b = ZERO, BINS - 1
    while d < most:
        while count[b] == 0:
            b -= 1
        count[b] -= 1
        more[d + 1] = more[d] + people * (costs.suppressed - highest[b])
        d += 1
