"""Log cost: the cheapest matching of two trajectories that keeps the order of both.

With ga and gb people behind the points of a and b, and s what suppressing a point costs,

    C(i, j) = min( C(i-1, j-1) + (ga + gb) cost of the box around a_i and b_j,
                   C(i-1, j)   + ga s,
                   C(i, j-1)   + gb s ).

Of the table only that part is computed through which a matching can pass that costs no more than a
limit (the best one that is known): a cell is given up once what it costs, and what the rest costs
at least by `bounds`, are more. A cell on a way within the limit is never given up, for neither of
the two is more than that way costs; so costs within the limit are exact, ties included, and any
other is told as `NEVER`.

Of matchings that cost the same, from the last points back: two points are matched rather than
suppressed, and a point of a is suppressed rather than one of b.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ONE, ZERO, Ints, kernel, kernel_private
from incrowd.protect._tga.bounds import (
    BINS,
    PLACES,
    Columns,
    by_both,
    by_times,
    more_suppressed,
    smallest_boxes,
)
from incrowd.protect._tga.costs import NEVER, Costs, log_of

__all__ = [
    "MATCHED",
    "Scratch",
    "Side",
    "log_cost",
    "look_ahead",
    "matched",
    "scratch_for",
]


MATCHED, FIRST_GONE, SECOND_GONE = 0, 1, 2
"""What is done with the last points of two trajectories."""


class Side(NamedTuple):
    """One of two trajectories: a stretch of some columns, its places, the people behind it."""

    columns: Columns
    first: int
    last: int
    code: NDArray[np.uint8]
    sides: NDArray[np.int32]
    points: Ints
    people: int


class Scratch(NamedTuple):
    """Arrays that are used again for each matching.

    Attributes
    ----------
    least_a, least_b
        What each point costs at least, for one of its people.
    ahead_a, ahead_b
        What the points from each on cost at least, for all.
    more
        What is to be added where d more points of a are left than of b, in ``more[m + d]``.
    rows
        The two rows of the table.
    near, used, highest
        Of places and bins.
    """

    least_a: Ints
    least_b: Ints
    ahead_a: Ints
    ahead_b: Ints
    more: Ints
    rows: Ints
    near: Ints
    used: NDArray[np.bool_]
    highest: Ints


@kernel_private
def scratch_for(n: int, m: int) -> Scratch:
    """Make place for matchings of up to n points with up to m."""
    return Scratch(
        np.empty(n, np.int64),
        np.empty(m, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(m + 1, np.int64),
        np.empty(n + m + 1, np.int64),
        np.empty((2, m + 2), np.int64),
        np.empty((2, PLACES), np.int64),
        np.empty(PLACES, np.bool_),
        np.empty(2 * BINS, np.int64),
    )


@kernel_private
def look_ahead(a: Side, b: Side, costs: Costs, limit: int, scratch: Scratch) -> int:
    """Give what matching costs at least; unless that is above a limit, note what the rest does."""
    n, m = a.last - a.first, b.last - b.first
    near, ahead_a, ahead_b = scratch.near, scratch.ahead_a, scratch.ahead_b
    least_a, least_b, more = scratch.least_a, scratch.least_b, scratch.more
    smallest_boxes(a.sides, a.points, b.sides, b.points, costs, near[0], near[1])
    for_a = (a.columns, a.first, a.last, a.code, near[0])
    for_b = (b.columns, b.first, b.last, b.code, near[1])
    by_times(*for_a, b.columns[4], b.first, b.last, costs, least_a)
    of_b = by_times(*for_b, a.columns[4], a.first, a.last, costs, least_b)
    most = (limit - b.people * of_b) // a.people
    of_a = by_both(*for_a, b.columns, b.first, b.last, costs, most, least_a)
    most = (limit - a.people * of_a) // b.people
    of_b = by_both(*for_b, a.columns, a.first, a.last, costs, most, least_b)
    if a.people * of_a + b.people * of_b > limit:
        return int(a.people * of_a + b.people * of_b)
    more_suppressed(least_b, m, m, b.people, costs, ahead_b, scratch.highest)
    for d in range(m + 1):
        more[m - d] = ahead_b[d]
    more_suppressed(least_a, n, n, a.people, costs, ahead_a, scratch.highest)
    for d in range(n + 1):
        more[m + d] = ahead_a[d]
    ahead_a[n] = ahead_b[m] = 0
    for i in range(n - 1, -1, -1):
        ahead_a[i] = ahead_a[i + 1] + a.people * least_a[i]
    for j in range(m - 1, -1, -1):
        ahead_b[j] = ahead_b[j + 1] + b.people * least_b[j]
    return int(ahead_a[0] + ahead_b[0] + more[n])


@kernel_private
def look_nowhere(n: int, m: int, scratch: Scratch) -> None:
    """Note that the rest costs nothing, so that the whole table is computed."""
    scratch.ahead_a[: n + 1] = 0
    scratch.ahead_b[: m + 1] = 0
    scratch.more[: n + m + 1] = 0


@kernel_private
def log_cost(  # noqa: C901, PLR0912
    a: Side, b: Side, costs: Costs, limit: int, scratch: Scratch, steps: NDArray[np.uint8]
) -> int:
    """Give what the cheapest matching costs, or NEVER if that is more than a limit.

    What is done with the last points of each beginning goes into `steps`, if that has room.
    """
    n, m, logs, noted = a.last - a.first, b.last - b.first, costs.logs, len(steps) > 0
    x0, x1, y0, y1, t0, t1 = a.columns
    u0, u1, v0, v1, s0, s1 = b.columns
    both = a.people + b.people
    lost_a, lost_b = a.people * costs.suppressed, b.people * costs.suppressed
    ahead_a, ahead_b, more = scratch.ahead_a, scratch.ahead_b, scratch.more
    old, new = scratch.rows[0], scratch.rows[1]
    # Cells from `low` to `high` of the old row are alive; the one behind them is not.
    low, high = ZERO, -ONE
    for j in range(m + 1):
        cost = j * lost_b
        if cost + ahead_a[0] + ahead_b[j] + more[n + j] > limit:
            break
        old[j], high = cost, j
    old[high + 1] = NEVER
    for i in range(n):
        if high < low:
            return int(NEVER)
        ax0, ax1, ay0, ay1 = x0[a.first + i], x1[a.first + i], y0[a.first + i], y1[a.first + i]
        at0, at1, rest = t0[a.first + i], t1[a.first + i], limit - ahead_a[i + 1]
        begun, ended, left, back = -ONE, -ONE, NEVER, n - i - 1
        for j in range(low, min(high + 1, m) + 1):
            cost, step = NEVER, MATCHED
            if j > low:
                k = np.uint64(b.first + j - 1)
                box = log_of(max(ax1, u1[k]) - min(ax0, u0[k]), logs)
                box += log_of(max(ay1, v1[k]) - min(ay0, v0[k]), logs)
                box += log_of(max(at1, s1[k]) - min(at0, s0[k]), logs)
                cost = old[j - 1] + both * box
            if old[j] + lost_a < cost:
                cost, step = old[j] + lost_a, FIRST_GONE
            if left + lost_b < cost:
                cost, step = left + lost_b, SECOND_GONE
            if cost + ahead_b[j] + more[back + j] > rest:
                cost = NEVER
            else:
                begun = j if begun < 0 else begun
                ended = j
            new[j] = left = cost
            if noted:
                steps[i * (m + 1) + j] = step
        for j in range(high + 2, m + 1):
            cost = left + lost_b
            if cost + ahead_b[j] + more[back + j] > rest:
                break
            new[j] = left = cost
            ended = j
            if noted:
                steps[i * (m + 1) + j] = SECOND_GONE
        if begun < 0:
            return int(NEVER)
        new[ended + 1] = NEVER
        low, high = begun, ended
        old, new = new, old
    return int(old[m] if high == m else NEVER)


@kernel
def matched(a: Side, b: Side, costs: Costs, limit: int) -> tuple[int, NDArray[np.int32]]:
    """Give what the cheapest matching costs, and its boxes: six columns, in the order of both.

    The limit is what it costs, or more.
    """
    n, m = a.last - a.first, b.last - b.first
    scratch = scratch_for(n, m)
    look_ahead(a, b, costs, limit, scratch)
    steps = np.empty(n * (m + 1), np.uint8)
    cost = log_cost(a, b, costs, limit, scratch, steps)
    boxes = np.empty((6, min(n, m)), np.int32)
    i, j, free = n, m, min(n, m)
    while i > 0 and j > 0 and cost < NEVER:
        step = steps[(i - 1) * (m + 1) + j]
        if step == MATCHED:
            free -= 1
            boxes[0, free] = min(a.columns[0][a.first + i - 1], b.columns[0][b.first + j - 1])
            boxes[1, free] = max(a.columns[1][a.first + i - 1], b.columns[1][b.first + j - 1])
            boxes[2, free] = min(a.columns[2][a.first + i - 1], b.columns[2][b.first + j - 1])
            boxes[3, free] = max(a.columns[3][a.first + i - 1], b.columns[3][b.first + j - 1])
            boxes[4, free] = min(a.columns[4][a.first + i - 1], b.columns[4][b.first + j - 1])
            boxes[5, free] = max(a.columns[5][a.first + i - 1], b.columns[5][b.first + j - 1])
        i -= step != SECOND_GONE
        j -= step != FIRST_GONE
    return cost, boxes[:, free:]
