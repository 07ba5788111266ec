"""k-merge where samples may be deleted: thresholds for boxes, and a price for each sample.

A box need not hold everything between its start and its end: what lies in no box is deleted, at its
price. So for every start and end that a box may have (`choose`) the place is searched that gains
most (`_best_place`)::

    north ┌─────────┐
          │ a     b │   kept: the price of each, less what it loses in a box so large
          │      a  │
    south └─────────┘
        b  west   east    outside: deleted

It is the exact optimum. Every place whose edges are those of samples is tried, but for those that
cannot gain enough even if they lost no more than the smallest box that holds a sample of every
member, and kept everything.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, Ints, kernel_nogc, kernel_private
from incrowd.measure._stretch.effort import Scale
from incrowd.measure._stretch.topk import stable_order
from incrowd.protect._glove.samples import (
    FEWEST,
    NEVER,
    Limits,
    Samples,
    Sides,
    effort_in,
    extent_of,
    least_of,
)

__all__ = [
    "choose",
]


FAR = np.int64(2) ** 40
NOWHERE = np.int32(-(2**31))
WEST, EAST, START, END, TOUCHED = 1, 2, 4, 8, 15
"""Edges of a box that samples in it must touch."""
GAIN, HELD, LOST = 0, 1, 2


class Moments(NamedTuple):
    """When samples of a crowd start and end.

    Attributes
    ----------
    end
        The ends, each once; the first has number 1.
    first
        The first sample of each start; and the number of all.
    over
        The number of the last end that is over by each start.
    before
        The weight of all samples before each one.
    longest
        The length of the longest sample.
    """

    end: Sides
    first: Ints
    over: Ints
    before: Ints
    longest: int


@kernel_private
def _moments(samples: Samples) -> Moments:
    """Find when samples start and end."""
    size = len(samples.t0)
    ends, before, longest = np.empty(size), np.zeros(size + 1, np.int64), ZERO
    for s in range(size):
        ends[s] = samples.t1[s]
        before[s + 1] = before[s] + samples.weight[s]
        longest = max(longest, np.int64(samples.t1[s] - samples.t0[s]))
    end, count = np.empty(size + 1, np.int32), ZERO
    for s in stable_order(ends, size):
        if count == 0 or samples.t1[s] != end[count]:
            count += 1
            end[count] = samples.t1[s]
    first, over, starts = np.empty(size + 1, np.int64), np.empty(size, np.int64), ZERO
    e = ZERO
    for s in range(size):
        if s == 0 or samples.t0[s] != samples.t0[s - 1]:
            while e < count and end[e + 1] <= samples.t0[s]:
                e += 1
            first[starts], over[starts] = s, e
            starts += 1
    first[starts] = size
    return Moments(end[: count + 1], first[: starts + 1], over[:starts], before, longest)


@kernel_private
def choose(  # noqa: C901, PLR0912, PLR0915
    samples: Samples,
    members: int,
    scale: Scale,
    limits: Limits,
    total: int,
    out: Sides,
    used: int,
) -> tuple[int, int, int]:
    """Choose boxes of least loss, where what lies in none is deleted at a price.

    Write them; give their number, what is lost in them, and the weight of what they hold. One box
    at least is chosen, if thresholds allow one: nobody is dropped to save a price.

    What is kept counts as gained: its price less what it loses. ``gain[e]`` is what boxes gain at
    most that are over by the e-th end of a sample.
    """
    end, first, over, before, longest = _moments(samples)
    starts, size = len(over), len(end)
    price = total * scale.whole + 1 if limits.price == FEWEST else limits.price
    gain, number = np.full(size, -NEVER), np.zeros(size, np.int64)
    kept, loss = np.zeros(size, np.int64), np.zeros(size, np.int64)
    began = np.full(size, -1, np.int64)
    where = np.empty((4, size), np.int32)
    seen, away = np.full(members, -1, np.int64), np.empty(members, np.int64)
    places = _places(samples, members)
    # A box longer than the threshold of equation (3) gains no more than this for each sample; so
    # one that starts at a or before gains, with all before it, no more than ``ahead[a + 1]`` and
    # this for all samples up to its end.
    most_each = max(0, price - scale.time_unit * scale.time)
    ahead = np.full(starts + 1, -NEVER)
    known, after = ZERO, ZERO  # the first start that is not before the end
    for e in range(1, size):
        gain[e], number[e] = gain[e - 1], number[e - 1]
        while after < starts and samples.t0[first[after]] < end[e]:
            for s in range(first[after], first[after + 1]):
                seen[samples.member[s]] = after
            after += 1
        while known < after:
            more = max(0, gain[over[known]]) - most_each * before[first[known]]
            ahead[known + 1] = max(ahead[known], more)
            known += 1
        latest, weight, lasts, there = least_of(seen), ZERO, ZERO, ZERO
        for m in range(members):
            away[m] = NEVER
        for a in range(after - 1, -1, -1):
            length: Any = np.int64(end[e] - samples.t0[first[a]])
            if latest < 0 or length > limits.max_time:
                break
            late: Any = min(scale.time, max(0, length - longest))
            if scale.stop and gain[e] >= 0 and price < scale.time_unit * late:
                break  # whatever is kept loses more than its price
            if (
                scale.stop
                and late == scale.time
                and ahead[a + 1] + most_each * before[first[after]] < gain[e]
            ):
                break
            for s in range(first[a], first[a + 1]):
                if samples.t1[s] > end[e]:
                    continue
                there = _add(samples, s, a, e, end[e], there, places)
                if samples.t1[s] == end[e]:
                    places.lasts[lasts] = s
                    lasts += 1
                if not samples.alike:
                    weight += samples.weight[s]
                    continue
                # All that end last have been met by now; whoever is too far from them is not in
                # the box.
                nearest: Any = NEVER
                for i in range(lasts):
                    nearest = min(nearest, _around(samples, s, places.lasts[i], limits.max_space))
                if nearest < NEVER:
                    weight += samples.weight[s]
                    away[samples.member[s]] = min(away[samples.member[s]], nearest)
            if a > latest:
                continue
            already = max(0, gain[over[a]])
            each = price - _least_effort(samples, away, length, longest, scale)
            most = weight * each if each >= 0 else -1
            if scale.stop and (already + most < gain[e] or (samples.alike and _far(away))):
                continue
            _best_place(
                samples, there, a, length, members, price, gain[e] - already, scale, limits, places
            )
            if not places.best[HELD]:
                continue
            boxes = number[over[a]] + 1 if gain[over[a]] >= 0 else 1
            gained = already + places.best[GAIN]
            if gained > gain[e] or boxes > number[e] or (boxes == number[e] and began[e] < 0):
                gain[e], number[e], began[e] = gained, boxes, a
                kept[e], loss[e] = places.best[HELD], places.best[LOST]
                for side in range(4):
                    where[side, e] = places.found[side]
    e, lost, held = size - 1, ZERO, ZERO
    written = number[e]
    for at in range(used + written - 1, used - 1, -1):
        while began[e] < 0:
            e -= 1
        for side in range(4):
            out[side, at] = where[side, e]
        out[4, at], out[5, at] = samples.t0[first[began[e]]], end[e]
        lost += loss[e]
        held += kept[e]
        e = over[began[e]]
    return written, lost, held


@kernel_nogc
def _least_effort(samples: Samples, away: Ints, length: int, longest: int, scale: Scale) -> int:
    """Give what a sample loses at least in a box so long.

    `away` is the extent of the smallest box around a sample of each member and one that ends last:
    the box is no smaller.
    """
    if not samples.alike:
        return scale.time_unit * min(scale.time, max(0, length - longest))
    extent = extent_of(samples, 0)
    for each in away:
        extent = max(extent, each)
    return effort_in(extent, length, samples, 0, scale)


@kernel_nogc
def _far(away: Ints) -> bool:
    """Tell whether somebody has no sample near enough to those that end last."""
    farthest = ZERO
    for each in away:
        farthest = max(farthest, each)
    return bool(farthest == NEVER)


@kernel_nogc
def _around(samples: Samples, s: int, other: int, max_space: int) -> int:
    """Give the two sides of the box around two samples, added; NEVER if one is too long."""
    wide = np.int64(max(samples.x1[s], samples.x1[other]) - min(samples.x0[s], samples.x0[other]))
    high = np.int64(max(samples.y1[s], samples.y1[other]) - min(samples.y0[s], samples.y0[other]))
    return int(wide + high if max(wide, high) <= max_space else NEVER)


class Places(NamedTuple):
    """Where the members of a crowd were, and what the search for a place works with.

    Samples of a member at the same place are looked at as one (if all samples are alike, so that
    they lose the same; otherwise each by itself). Places come from south to north.

    Attributes
    ----------
    of
        The place of each sample.
    sample
        One of the samples at each place.
    lasts
        The samples that end with the box.
    between, weight, start, ends, when
        The places of the samples between the start and the end of a box: how much these weigh, the
        last start that was added of each, and whether one ends with the box; and for which end that
        is.
    flags
        Whether a sample at a place starts or ends with the box.
    inside, by_top, lefts, rights, within
        The places that are looked at, from south to north by both edges; their edges in x; and
        which of them lie between two of these.
    seen, edges, inner
        See `_inner_edges`.
    found, best
        The best place, and what it gains, holds and loses.
    """

    of: Ints
    sample: Ints
    lasts: Ints
    between: Ints
    weight: Ints
    start: Ints
    ends: Ints
    when: Ints
    flags: Ints
    inside: Ints
    by_top: Ints
    lefts: Sides
    rights: Sides
    within: NDArray[np.bool_]
    seen: Ints
    edges: Ints
    inner: Ints
    found: Sides
    best: Ints


@kernel_private
def _places(samples: Samples, members: int) -> Places:
    """Give numbers to the places of all samples, from south to north."""
    size = len(samples.t0)
    order = np.arange(size)
    keys = np.empty(size)
    for side in (samples.member, samples.x1, samples.x0, samples.y1, samples.y0):
        for i in range(size):
            keys[i] = side[order[i]]
        again, former = stable_order(keys, size), order.copy()
        for i in range(size):
            order[i] = former[again[i]]
    of, sample, number = np.empty(size, np.int64), np.empty(size, np.int64), ZERO
    for i in range(size):
        s = order[i]
        if i == 0 or not samples.alike or not _same_place(samples, s, order[i - 1]):
            sample[number] = s
            number += 1
        of[s] = number - 1
    return Places(
        of,
        sample,
        np.empty(size, np.int64),
        np.empty(number, np.int64),
        np.zeros(number, np.int64),
        np.zeros(number, np.int64),
        np.zeros(number, np.int64),
        np.full(number, -1, np.int64),
        np.zeros(number, np.int64),
        np.empty(number, np.int64),
        np.empty(number, np.int64),
        np.empty(number, np.int32),
        np.empty(number, np.int32),
        np.zeros(number, np.bool_),
        np.zeros(members + 2, np.int64),
        np.empty((4, members + 2), np.int64),
        np.empty(4, np.int64),
        np.empty(4, np.int32),
        np.empty(3, np.int64),
    )


@kernel_nogc
def _same_place(samples: Samples, s: int, other: int) -> bool:
    """Tell whether two samples are of one member at one place."""
    return bool(
        samples.member[s] == samples.member[other]
        and samples.x0[s] == samples.x0[other]
        and samples.x1[s] == samples.x1[other]
        and samples.y0[s] == samples.y0[other]
        and samples.y1[s] == samples.y1[other]
    )


@kernel_nogc
def _add(
    samples: Samples, s: int, start: int, end: int, moment: int, number: int, places: Places
) -> int:
    """Add a sample to what lies between a start and an end; count the places that this makes.

    For each end, starts come from the last back; so the places of one are those of the next one,
    and some more. They stand in order.
    """
    p = places.of[s]
    if places.when[p] != end:
        places.when[p], places.weight[p], places.ends[p] = end, 0, 0
        at = number
        while at > 0 and places.between[at - 1] > p:
            places.between[at] = places.between[at - 1]
            at -= 1
        places.between[at] = p
        number += 1
    places.weight[p] += samples.weight[s]
    places.start[p] = start
    if samples.t1[s] == moment:
        places.ends[p] = END
    return number


@kernel_nogc
def _inner_edges(samples: Samples, members: int, number: int, start: int, places: Places) -> bool:
    """Find how far a box reaches at least; False if it cannot hold all that it must.

    It must hold one of each member's samples, one of those that start with the box and one of
    those that end with it: so its west edge is no farther east than the farthest of each of these.
    """
    edges, groups = places.edges, members + 2
    for g in range(groups):
        places.seen[g] = 0
        edges[0, g], edges[2, g] = -FAR, -FAR
        edges[1, g], edges[3, g] = FAR, FAR
    for i in range(number):
        p = places.between[i]
        s = places.sample[p]
        member: Any = np.int64(samples.member[s])
        for g in (member, members, members + 1):
            if (g == members and places.start[p] != start) or (
                g == members + 1 and not places.ends[p]
            ):
                continue
            places.seen[g] = 1
            edges[0, g], edges[1, g] = (
                max(edges[0, g], samples.x0[s]),
                min(edges[1, g], samples.x1[s]),
            )
            edges[2, g], edges[3, g] = (
                max(edges[2, g], samples.y0[s]),
                min(edges[3, g], samples.y1[s]),
            )
    inner = places.inner
    inner[0], inner[1], inner[2], inner[3] = FAR, -FAR, FAR, -FAR
    for g in range(groups):
        if not places.seen[g]:
            return False
        inner[0], inner[1] = min(inner[0], edges[0, g]), max(inner[1], edges[1, g])
        inner[2], inner[3] = min(inner[2], edges[2, g]), max(inner[3], edges[3, g])
    return True


@kernel_nogc
def _best_place(  # noqa: C901, PLR0912
    samples: Samples, there: int, start: int, length: int, members: int, price: int, need: int,
    scale: Scale, limits: Limits, places: Places,
) -> None:  # fmt: skip
    """Find the place of a box between a start and an end that gains most.

    As many of `places.between` as are there are looked at. The box must hold one that starts with
    it and one that ends with it, and a sample of every member, and touch samples on all sides.
    `places.found` gets it, `places.best` what it gains, holds and loses; it holds nothing if none
    gains as much as is needed.
    """
    best, inner = places.best, places.inner
    best[GAIN], best[HELD], best[LOST] = need, 0, 0
    if not _inner_edges(samples, members, there, start, places):
        return
    number, weight = ZERO, ZERO
    for i in range(there):
        p = places.between[i]
        s = places.sample[p]
        if (
            inner[1] - samples.x0[s] <= limits.max_space
            and samples.x1[s] - inner[0] <= limits.max_space
            and inner[3] - samples.y0[s] <= limits.max_space
            and samples.y1[s] - inner[2] <= limits.max_space
        ):
            places.inside[number] = p
            weight += places.weight[p]
            number += 1
    wide, high = max(1, inner[1] - inner[0]), max(1, inner[3] - inner[2])
    if not _may_gain(weight, wide + high, length, price, samples, scale, best):
        return
    for i in range(number):
        p = places.inside[i]
        s = places.sample[p]
        places.flags[p] = places.ends[p] | (START if places.start[p] == start else 0)
        places.by_top[i] = p
        places.lefts[i], places.rights[i] = samples.x0[s], samples.x1[s]
    _sort_by_top(samples, places, number)
    lefts, rights = _distinct(places.lefts, number), _distinct(places.rights, number)
    for left in range(lefts):
        for right in range(rights):
            west, east = places.lefts[left], places.rights[right]
            if west > inner[0] or east < inner[1] or east <= west:
                continue
            if east - west > limits.max_space:
                break
            weight, touches = ZERO, 0
            for i in range(number):
                p = places.inside[i]
                s = places.sample[p]
                places.within[p] = west <= samples.x0[s] and samples.x1[s] <= east
                if places.within[p]:
                    weight += places.weight[p]
                    touches |= _touches(samples, s, west, east) | places.flags[p]
            if touches != TOUCHED:
                continue
            south = NOWHERE
            for i in range(number):
                p = places.inside[i]
                if not places.within[p] or samples.y0[places.sample[p]] == south:
                    continue
                south = samples.y0[places.sample[p]]
                if south > inner[2]:
                    break
                extent = (east - west) + max(1, inner[3] - south)
                if _may_gain(weight, extent, length, price, samples, scale, best):
                    _best_top(
                        samples, number, west, east, south, length, members, price, scale, limits,
                        places,
                    )  # fmt: skip


@kernel_nogc
def _best_top(
    samples: Samples, number: int, west: int, east: int, south: int, length: int, members: int,
    price: int, scale: Scale, limits: Limits, places: Places,
) -> None:  # fmt: skip
    """Find the northern edge that gains most, of a place of which the other edges are given."""
    for m in range(members):
        places.seen[m] = 0
    best, weight, touches, there, bottom = places.best, ZERO, 0, 0, False
    for i in range(number):
        p = places.by_top[i]
        s = places.sample[p]
        if not places.within[p] or samples.y0[s] < south:
            continue
        north = samples.y1[s]
        if north - south > limits.max_space:
            break
        weight += places.weight[p]
        touches |= _touches(samples, s, west, east) | places.flags[p]
        bottom |= samples.y0[s] == south
        there += places.seen[samples.member[s]] == 0
        places.seen[samples.member[s]] = 1
        if there < members or touches != TOUCHED or not bottom:
            continue
        if _follows_at(samples, i, number, north, south, places):
            continue  # another place touches the same edge, and belongs to it
        loss = _loss_at(samples, i, weight, west, east, south, north, length, scale, places)
        gain = weight * price - loss
        if gain > best[GAIN] or (gain == best[GAIN] and not best[HELD]):
            best[GAIN], best[HELD], best[LOST] = gain, weight, loss
            places.found[0], places.found[1] = west, east
            places.found[2], places.found[3] = south, north


@kernel_nogc
def _loss_at(
    samples: Samples, last: int, weight: int, west: int, east: int, south: int, north: int,
    length: int, scale: Scale, places: Places,
) -> int:  # fmt: skip
    """Give what samples in a place lose, those up to the `last` of `by_top`."""
    extent = (east - west) + (north - south)
    if samples.alike:
        return weight * effort_in(extent, length, samples, 0, scale)
    loss = ZERO
    for i in range(last + 1):
        p = places.by_top[i]
        s = places.sample[p]
        if places.within[p] and samples.y0[s] >= south:
            loss += places.weight[p] * effort_in(extent, length, samples, s, scale)
    return int(loss)


@kernel_nogc
def _touches(samples: Samples, s: int, west: int, east: int) -> int:
    """Tell which edges in x of a box a sample in it touches."""
    touches = WEST if samples.x0[s] == west else 0
    return touches | (EAST if samples.x1[s] == east else 0)


@kernel_nogc
def _follows_at(
    samples: Samples, i: int, number: int, north: int, south: int, places: Places
) -> bool:
    """Tell whether another place behind has the same northern edge."""
    for j in range(i + 1, number):
        p = places.by_top[j]
        s = places.sample[p]
        if samples.y1[s] > north:
            return False
        if places.within[p] and samples.y0[s] >= south:
            return True
    return False


@kernel_nogc
def _may_gain(
    weight: int, extent: int, length: int, price: int, samples: Samples, scale: Scale, best: Ints
) -> bool:
    """Tell whether a box at least so large may gain more than the best so far."""
    if not scale.stop:
        return True
    each = price - effort_in(extent, length, samples, 0, scale) if samples.alike else price
    if each < 0:
        return bool(best[GAIN] < 0)
    return bool(weight * each > best[GAIN] or (weight * each == best[GAIN] and not best[HELD]))


@kernel_nogc
def _sort_by_top(samples: Samples, places: Places, number: int) -> None:
    """Sort places by their northern edge."""
    for i in range(1, number):
        p, j = places.by_top[i], i
        north = samples.y1[places.sample[p]]
        while j > 0 and samples.y1[places.sample[places.by_top[j - 1]]] > north:
            places.by_top[j] = places.by_top[j - 1]
            j -= 1
        places.by_top[j] = p


@kernel_nogc
def _distinct(values: Sides, number: int) -> int:
    """Sort numbers and leave out repeated ones; give how many are left."""
    for i in range(1, number):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
    count = 0
    for i in range(number):
        if count == 0 or values[i] != values[count - 1]:
            values[count] = values[i]
            count += 1
    return count
