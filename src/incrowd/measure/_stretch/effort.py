"""The exact cost of a pair of trajectories, as integers; equations (1) to (10) of the paper.

With `E` the extent of a box in space (its two sides added) and `U` that of the box around two of
them, what equations (4) to (6) add up is ``U - (na*Ea + nb*Eb)/(na+nb)``, and the same in time, (7)
to (9). Times ``n = na + nb`` and both thresholds it is an integer, so nothing is ever rounded::

    effort = ws*T*min(n*S, n*U - na*Ea - nb*Eb) + wt*S*min(n*T, n*Ut - na*Ta - nb*Tb)

A trajectory costs the sum over the samples of the longer of its cheapest in the shorter; divided
by ``m * n * (ws+wt) * S * T`` it lies between 0 and 1.

Which function is which equation::

    (4) to (6)   stretch in space      space_stretch        _effort, _effort_unit (both at once)
    (7) to (9)   stretch in time       time_stretch         _effort, _effort_unit (both at once)
    (1) to (3)   effort of a sample    effort_parts         _effort, _effort_unit
    the min of (10)                    nearest_sample       nearest_sample_unit
    (10)         effort of a pair      cost_parts           cost, cost_unit

Of (10) these are the sums; `index.exact_cost` gives both sides of the fraction.
Those on the left tell the part of space and that of time, and which sample is matched, of any
boxes. Those on the right tell only what it costs, many samples at a time; those that end in *unit*
are for samples of one cell and one slot each, where the crowd cancels out: two people who stand for
themselves, or crowds who were seen together all the time.

Samples are sorted by their start. So from a sample of the longer the scan goes outwards in time,
and ends on either side where time alone costs more than the best found.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel_nogc

__all__ = [
    "Boxes",
    "Scale",
    "cost",
    "cost_parts",
    "cost_unit",
    "effort_parts",
    "nearest_sample",
    "nearest_sample_unit",
    "space_stretch",
    "time_stretch",
]


STRIDE, UNIT_STRIDE = 16, 32
"""How many samples, boxes or units, are looked at together: a fixed number, so that the compiler
makes instructions of it that work on eight at once."""


class Boxes(NamedTuple):
    """Samples of many trajectories, one after the other.

    `reach` is the latest end among a trajectory's samples up to each one; `region` and `time_bin`
    are those of the `SpaceTimePartition` in which a cell and the middle of the box lie. None of the
    arrays can be written to.
    """

    x0: NDArray[np.int32]
    x1: NDArray[np.int32]
    y0: NDArray[np.int32]
    y1: NDArray[np.int32]
    t0: NDArray[np.int32]
    t1: NDArray[np.int32]
    reach: NDArray[np.int32]
    region: NDArray[np.uint16]
    time_bin: NDArray[np.uint16]


class Scale(NamedTuple):
    """What a stretch is measured against: thresholds and weights, and what follows from them."""

    space: int
    time: int
    space_weight: int
    time_weight: int
    space_unit: int
    """What one cell costs: weight of space times threshold of time."""
    time_unit: int
    """What one slot costs: weight of time times threshold of space."""
    whole: int
    """What a sample costs at most: (ws+wt) * S * T."""
    near: bool
    """Whether a scan through time ends where time alone costs too much."""
    stop: bool
    """Whether a sum is given up as soon as it exceeds what is wanted."""
    small: int
    """Up to which crowd, of both together, efforts and distances fit in 32 bits."""


@kernel_nogc
def time_stretch(a: Boxes, i: int, na: int, b: Boxes, j: int, nb: int) -> int:
    """Equations (7) to (9): by how many slots two samples are stretched, times na + nb."""
    around = max(a.t1[i], b.t1[j]) - min(a.t0[i], b.t0[j])
    return (na + nb) * around - na * (a.t1[i] - a.t0[i]) - nb * (b.t1[j] - b.t0[j])


@kernel_nogc
def space_stretch(a: Boxes, i: int, na: int, b: Boxes, j: int, nb: int) -> int:
    """Equations (4) to (6): by how many cells two samples are stretched, times na + nb."""
    ea = (a.x1[i] - a.x0[i]) + (a.y1[i] - a.y0[i])
    eb = (b.x1[j] - b.x0[j]) + (b.y1[j] - b.y0[j])
    u = (max(a.x1[i], b.x1[j]) - min(a.x0[i], b.x0[j])) + (
        max(a.y1[i], b.y1[j]) - min(a.y0[i], b.y0[j])
    )
    return (na + nb) * u - na * ea - nb * eb


@kernel_nogc
def effort_parts(
    a: Boxes, i: int, na: int, b: Boxes, j: int, nb: int, scale: Scale
) -> tuple[int, int]:
    """Equations (1) to (3): what it costs to merge two samples, in space and in time."""
    space = min((na + nb) * scale.space, space_stretch(a, i, na, b, j, nb))
    time = min((na + nb) * scale.time, time_stretch(a, i, na, b, j, nb))
    return scale.space_unit * space, scale.time_unit * time


@kernel_nogc
def nearest_sample(
    a: Boxes, i: int, na: int, b: Boxes, start: int, end: int, at: int, nb: int, scale: Scale
) -> tuple[int, int]:
    """Find the min of equation (10): the cheapest of b's samples for a's sample i, and which it is.

    Of equals, the first. `at` is the first of b's samples (between start and end) that starts no
    earlier than sample i.
    """
    t0, t1, n = a.t0[i], a.t1[i], na + nb
    ceiling = n * scale.time
    best, where = np.int64(2) ** 62, -1
    for j in range(at, end):
        # b's sample ends after its start, and must be stretched back to t0. All that follow start
        # later still, and cost no less.
        ahead = b.t0[j] - t0
        least = nb * ahead + na * max(0, b.t0[j] + 1 - t1)
        if scale.near and scale.time_unit * min(ceiling, least) > best:
            break
        space, time = effort_parts(a, i, na, b, j, nb, scale)
        if space + time < best:
            best, where = space + time, j
    for j in range(at - 1, start - 1, -1):
        # The other way samples may end in any order; `reach` is the latest end of all up to j.
        least = na * (t0 - b.t0[j]) + nb * max(0, t1 - b.reach[j])
        if scale.near and scale.time_unit * min(ceiling, least) > best:
            break
        space, time = effort_parts(a, i, na, b, j, nb, scale)
        if space + time <= best:  # of equals the first: this one is before those found so far
            best, where = space + time, j
    return best, where


@kernel_nogc
def _effort_unit(
    x: int,
    y: int,
    t: int,
    x0: int,
    y0: int,
    t0: int,
    widest: int,
    longest: int,
    space_unit: int,
    time_unit: int,
) -> int:
    """Equation (1) of two unit samples in 32 bits, divided by the crowd."""
    apart = np.int32(np.int32(abs(np.int32(x0 - x))) + np.int32(abs(np.int32(y0 - y))))
    away = np.int32(time_unit * min(longest, np.int32(abs(np.int32(t0 - t)))))
    return np.int32(away + np.int32(space_unit * min(widest, apart)))


@kernel_nogc
def cost_unit(  # noqa: C901, PLR0912
    a: Boxes,
    a0: int,
    a1: int,
    b: Boxes,
    b0: int,
    b1: int,
    scale: Scale,
    bounds: bool,  # noqa: FBT001
    near: NDArray[np.uint8],
    late: NDArray[np.uint8],
    space_step: int,
    time_step: int,
    limit: int,
) -> int:
    """Equation (10) as `cost` has it, of unit samples, divided by the crowd.

    What each sample costs at least is known from `near` (by region) and `late` (by time bin). Each
    sample that is looked at replaces its bound by what it costs, and the sum is given up as soon
    as it exceeds the limit with all others at their bounds.
    """
    total, left, at = np.int64(0), np.int64(0), b0
    if bounds:
        for i in range(a0, a1):
            left += space_step * near[a.region[i]] + time_step * late[a.time_bin[i]]
    widest, longest = np.int32(scale.space), np.int32(scale.time)
    space_unit, time_unit = np.int32(scale.space_unit), np.int32(scale.time_unit)
    units, ceiling = (widest, longest, space_unit, time_unit), np.int32(time_unit * longest)
    for i in range(a0, a1):
        t, x, y = a.t0[i], a.x0[i], a.y0[i]
        while at < b1 and b.t0[at] < t:
            at += 1
        best = np.int32(2**31 - 1)
        for j in range(max(at - 1, b0), min(at + 1, b1)):
            best = min(best, _effort_unit(x, y, t, b.x0[j], b.y0[j], b.t0[j], *units))
        low, high = b0, b1
        if scale.near and best <= ceiling:
            # Whoever is farther away in time than this costs more for that alone.
            reach = best // time_unit if time_unit else np.int32(2**31 - 1)
            low, high = max(at - 1, b0), min(at + 1, b1)
            while low > b0 and t - b.t0[low - 1] <= reach:
                low = max(b0, low - UNIT_STRIDE)
            while high < b1 and b.t0[high] - t <= reach:
                high = min(b1, high + UNIT_STRIDE)
        if b1 - b0 < UNIT_STRIDE:
            for j in range(low, high):
                best = min(best, _effort_unit(x, y, t, b.x0[j], b.y0[j], b.t0[j], *units))
        else:
            for block in range(low, high, UNIT_STRIDE):
                shift = np.uintp(
                    min(block, b1 - UNIT_STRIDE)
                )  # the last ones may be looked at twice
                for step in range(np.uintp(UNIT_STRIDE)):
                    j = shift + step
                    best = min(best, _effort_unit(x, y, t, b.x0[j], b.y0[j], b.t0[j], *units))
        total += best
        if bounds:
            left -= space_step * near[a.region[i]] + time_step * late[a.time_bin[i]]
        if total + left > limit:
            break
    return total + left


@kernel_nogc
def _effort(
    number: Any,
    left: int,
    right: int,
    low: int,
    high: int,
    first: int,
    last: int,
    extent: int,
    length: int,
    x0: int,
    x1: int,
    y0: int,
    y1: int,
    t0: int,
    t1: int,
    n: int,
    other: int,
    widest: int,
    longest: int,
    space_unit: int,
    time_unit: int,
) -> int:
    """Equation (1) of two samples, times the crowd; `extent` and `length` of a are times its own.

    `number` keeps every step in as many bits as asked for: left to itself, the compiler would go
    over to 64, and work on half as many samples at once.
    """
    around = number(max(last, t1) - min(first, t0))
    time = number(number(n * around) - number(other * number(t1 - t0)))
    time = number(time_unit * min(longest, number(time - length)))
    across = number(max(right, x1) - min(left, x0))
    along = number(max(high, y1) - min(low, y0))
    wide = number(number(x1 - x0) + number(y1 - y0))
    space = number(number(n * number(across + along)) - number(other * wide))
    return number(time + number(space_unit * min(widest, number(space - extent))))


@kernel_nogc
def cost(  # noqa: C901, PLR0912
    number: Any,
    largest: int,
    a: Boxes,
    a0: int,
    a1: int,
    na: int,
    b: Boxes,
    b0: int,
    b1: int,
    nb: int,
    scale: Scale,
    limit: int,
    least_each: NDArray[np.float64],
) -> int:
    """Equation (10): add up the cheapest efforts of a's samples (the longer) among b's.

    `number` is the type to compute with, 32 bits where that is enough, and `largest` the largest
    of them. `least_each` tells what the first samples cost at least, divided by the crowd. As soon
    as the sum exceeds the limit, with those that were not looked at yet at their least, it is given
    up, and what it is at least is given back.
    """
    x0, x1, y0, y1, t0, t1, reach = b.x0, b.x1, b.y0, b.y1, b.t0, b.t1, b.reach
    n, mine, other = number(na + nb), number(na), number(nb)
    space_unit, time_unit = number(scale.space_unit), number(scale.time_unit)
    widest, longest = number(n * scale.space), number(n * scale.time)
    ceiling = np.int64(time_unit) * longest
    total, at, remaining = np.int64(0), b0, 0.0
    for i in range(len(least_each)):
        remaining += least_each[i]
    for i in range(a0, a1):
        left, right, low, high = a.x0[i], a.x1[i], a.y0[i], a.y1[i]
        first, last = a.t0[i], a.t1[i]
        extent = number(mine * number(number(right - left) + number(high - low)))
        length = number(mine * number(last - first))
        while at < b1 and t0[at] < first:
            at += 1
        # Those nearest in time first; then, before and behind them, all who are not too far away.
        begin = max(b0, min(at - STRIDE // 2, b1 - STRIDE))
        end, best = min(b1, begin + STRIDE), number(largest)
        low_end, high_end = begin, end
        for phase in range(3):
            start, stop = begin, end
            if phase == 1:
                start, stop = low_end, begin
            elif phase > 1:
                start, stop = end, high_end
            if b1 - b0 < STRIDE:
                for j in range(start, stop):
                    best = min(
                        best,
                        _effort(
                            *(number, left, right, low, high, first, last, extent, length),
                            *(x0[j], x1[j], y0[j], y1[j], t0[j], t1[j]),
                            *(n, other, widest, longest, space_unit, time_unit),
                        ),
                    )
                break
            for block in range(start, stop, STRIDE):
                # The last ones may be looked at twice. Counted without a sign, or it would not be
                # done eight at a time.
                shift = np.uintp(min(block, b1 - STRIDE))
                for step in range(np.uintp(STRIDE)):
                    j = shift + step
                    best = min(
                        best,
                        _effort(
                            *(number, left, right, low, high, first, last, extent, length),
                            *(x0[j], x1[j], y0[j], y1[j], t0[j], t1[j]),
                            *(n, other, widest, longest, space_unit, time_unit),
                        ),
                    )
            if phase > 0:
                continue
            if not scale.near or best > ceiling:
                low_end, high_end = b0, b1
                continue
            reachable = np.int64(best) // time_unit if time_unit else np.int64(2) ** 62
            while low_end > b0:
                j = low_end - 1
                if mine * (first - t0[j]) + other * max(0, last - reach[j]) > reachable:
                    break
                low_end = max(b0, low_end - STRIDE)
            while high_end < b1:
                ahead = t0[high_end]
                if other * (ahead - first) + mine * max(0, ahead + 1 - last) > reachable:
                    break
                high_end = min(b1, high_end + STRIDE)
        total += best
        if i - a0 < len(least_each):
            remaining -= least_each[i - a0]
        # Lowered by more than it can be wrong.
        if total + n * (remaining * (1 - 1e-9) - 1) > limit:
            return max(limit + 1, total + np.int64(n * (remaining * (1 - 1e-9) - 1)))
        if total > limit:
            break
    return total


@kernel_nogc
def cost_parts(
    a: Boxes, a0: int, a1: int, na: int, b: Boxes, b0: int, b1: int, nb: int, scale: Scale
) -> tuple[int, int]:
    """Equation (10) as two sums, of what space costs and what time costs."""
    in_space, in_time, at = np.int64(0), np.int64(0), b0
    for i in range(a0, a1):
        while at < b1 and b.t0[at] < a.t0[i]:
            at += 1
        _, j = nearest_sample(a, i, na, b, b0, b1, at, nb, scale)
        space, time = effort_parts(a, i, na, b, j, nb, scale)
        in_space += space
        in_time += time
    return in_space, in_time


@kernel_nogc
def nearest_sample_unit(  # noqa: C901, PLR0912
    boxes: Boxes, i: int, b0: int, b1: int, at: int, scale: Scale
) -> int:
    """Do as `nearest_sample` does for unit samples, in 32 bits.

    First what the cheapest costs, many samples at a time; then which is the first that does.
    `at` is the first of the samples from b0 to b1 that starts no earlier than sample i.
    """
    x0, y0, t0 = boxes.x0, boxes.y0, boxes.t0
    x, y, t = x0[i], y0[i], t0[i]
    widest, longest = np.int32(scale.space), np.int32(scale.time)
    space_unit, time_unit = np.int32(scale.space_unit), np.int32(scale.time_unit)
    units, ceiling = (widest, longest, space_unit, time_unit), np.int32(time_unit * longest)
    best = np.int32(2**31 - 1)
    for j in range(max(at - 1, b0), min(at + 1, b1)):
        best = min(best, _effort_unit(x, y, t, x0[j], y0[j], t0[j], *units))
    low, high = b0, b1
    if best <= ceiling and time_unit:
        # Whoever is farther away in time than this costs more for that alone.
        reach = best // time_unit
        low, high = max(at - 1, b0), min(at + 1, b1)
        while low > b0 and t - t0[low - 1] <= reach:
            low = max(b0, low - UNIT_STRIDE)
        while high < b1 and t0[high] - t <= reach:
            high = min(b1, high + UNIT_STRIDE)
    if b1 - b0 < UNIT_STRIDE:
        for j in range(low, high):
            best = min(best, _effort_unit(x, y, t, x0[j], y0[j], t0[j], *units))
    else:
        for block in range(low, high, UNIT_STRIDE):
            shift = np.uintp(min(block, b1 - UNIT_STRIDE))  # the last ones may be looked at twice
            for step in range(np.uintp(UNIT_STRIDE)):
                j = shift + step
                best = min(best, _effort_unit(x, y, t, x0[j], y0[j], t0[j], *units))
    if best >= ceiling:
        low = b0  # whoever is there at any other time may cost as little
    elif time_unit:
        reach = best // time_unit
        first = max(at - 1, low)
        while first > low and t - t0[first - 1] <= reach:
            first -= 1
        low = first
    for j in range(low, b1):
        if _effort_unit(x, y, t, x0[j], y0[j], t0[j], *units) == best:
            return np.int64(j)
    return np.int64(-1)
