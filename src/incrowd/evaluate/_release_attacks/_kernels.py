"""Compiled loops of attacks on releases.

Published boxes are rows of a matrix (columns x0, x1, y0, y1, t0, t1, and two more), those of a
record side by side in the order of their start, as `_verify.rows` has them; original samples are
six columns, cut into people by `offsets`, on the same clock. A *target* is a person who is
attacked: `cuts` then tells where the boxes of the record of her crowd begin. `wide` and `long` are
the cells and slots to which sides were rounded outwards, as in `_verify._kernels`: a sample touches
a side if its own is rounded to it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_private
from incrowd.data._trajectories import Trajectories
from incrowd.evaluate._verify._kernels import (
    ALL,
    EAST,
    END,
    NORTH,
    SOUTH,
    START,
    T0,
    T1,
    WEST,
    X0,
    X1,
    Y0,
    Y1,
    Sides,
    held,
    inside,
    place_edges,
    sample_from,
)

__all__ = [
    "ALL",
    "EAST",
    "END",
    "NORTH",
    "SOUTH",
    "START",
    "WEST",
    "Judging",
    "SampleIndex",
    "Targets",
    "count_touched",
    "index_samples",
    "locate_samples",
    "match_boxes",
    "match_records",
    "rank_people",
]


Columns = tuple[Sides, ...]
Bits = NDArray[np.uint8]

SQUARES, FULL = 1 << 16, 256
"""How many squares samples are sorted into at most, and about how many samples are in one."""
LOOKED = 64
"""The bit that tells that somebody has a sample in a box, beside those of its sides."""
POSSIBLE = 1 << 40
"""More than any number of sides: people who may be members come before all who cannot be."""
CHANGES = 16
"""For so many more pairs there is room at first."""


class SampleIndex(NamedTuple):
    """The samples of a dataset by square of the map, those of a square in the order of time.

    Attributes
    ----------
    starts
        Where the samples of each square begin; squares go up in y, then in x.
    row, person, t0
        The sample, whose it is, and when it starts.
    left, low, side, across, up
        Where squares begin, how many cells wide one is, and how many there are.
    longest
        How many slots the longest sample lasts.
    """

    starts: Ints
    row: Ints
    person: Sides
    t0: Sides
    left: int
    low: int
    side: int
    across: int
    up: int
    longest: int


def index_samples(data: Trajectories) -> SampleIndex:
    """Sort the samples of a dataset into squares."""
    left, low = int(data.x0.min()), int(data.y0.min())
    wide, high = int(data.x0.max()) - left + 1, int(data.y0.max()) - low + 1
    squares = min(SQUARES, data.samples // FULL + 1)
    side = max(1, int(np.ceil(np.sqrt(wide * high / squares))))
    across, up = -(-wide // side), -(-high // side)
    square = (data.x0.astype(np.int64) - left) // side * up
    square += (data.y0.astype(np.int64) - low) // side
    starts = np.concatenate([[0], np.cumsum(np.bincount(square, minlength=across * up))])
    square <<= 32
    square += data.t0.astype(np.int64) - int(data.t0.min())
    row = np.argsort(square)
    del square
    person = np.repeat(np.arange(len(data), dtype=np.int32), data.lengths())[row]
    longest = int((data.t1 - data.t0).max())
    return SampleIndex(starts, row, person, data.t0[row], left, low, side, across, up, longest)


@kernel
def match_records(
    first: int, last: int, boxes: Sides, reach: Sides, cuts: Ints,
    known: Columns, heads: Columns, trials: Ints,
) -> Ints:  # fmt: skip
    """Give the records among `first` to `last` that hold all that is known in a trial.

    Trial i knows the samples `trials[i]` to `trials[i + 1]` of `known`, of which `heads` has the
    first; trials come in the order of its start. Gives pairs of trial and record.
    """
    found, used = np.empty((CHANGES, 2), np.int64), 0
    looked = np.full(len(trials) - 1, -1, np.int64)
    for c in range(first, last):
        for b in range(cuts[c], cuts[c + 1]):
            low = sample_from(heads[T0], 0, len(looked), boxes[b, T0])
            up = sample_from(heads[T0], low, len(looked), boxes[b, T1])
            for i in range(low, up):
                if looked[i] == c or not inside(heads, i, boxes, b):
                    continue
                looked[i] = c
                fits, j = True, trials[i]
                while fits and j < trials[i + 1]:
                    fits = held(known, j, 0, boxes, reach, cuts[c], cuts[c + 1])
                    j += 1
                if not fits:
                    continue
                if used == len(found):
                    more = np.empty((2 * used, 2), np.int64)
                    more[:used] = found
                    found = more
                found[used, 0], found[used, 1] = i, c
                used += 1
    return found[:used].copy()


@kernel_private
def _ones(bits: int) -> int:
    """Count the ones."""
    number = 0
    while bits:
        number += bits & 1
        bits >>= 1
    return number


@kernel_private
def _touched(data: Columns, i: int, boxes: Sides, b: int, wide: int, long: int) -> int:
    """Give the sides of a box that a sample whose place lies in it touches, as bits."""
    sides = place_edges(data, i, boxes, b, wide)
    sides |= START if 0 <= data[T0][i] - boxes[b, T0] < long else 0
    return sides | (END if 0 <= boxes[b, T1] - data[T1][i] < long else 0)


@kernel
def count_touched(
    first: int, last: int, pairs: Ints, boxes: Sides, reach: Sides, cuts: Ints,
    known: Columns, trials: Ints, wide: int, long: int, touched: Ints,
) -> None:  # fmt: skip
    """Count, for pairs of trial and record, the sides that known samples touch.

    Of each known sample it is the box that meets it, and holds its place, with most sides touched.
    """
    for pair in range(first, last):
        i, c = pairs[pair]
        for j in range(trials[i], trials[i + 1]):
            most, b = 0, cuts[c + 1] - 1
            while b >= cuts[c] and boxes[b, T0] >= known[T1][j]:
                b -= 1
            while b >= cuts[c] and reach[b] > known[T0][j]:
                if boxes[b, T1] > known[T0][j] and inside(known, j, boxes, b):
                    most = max(most, _ones(_touched(known, j, boxes, b, wide, long)))
                b -= 1
            touched[pair] += most


@kernel
def locate_samples(
    first: int, last: int, people: Ints, data: Columns, offsets: Ints,
    boxes: Sides, cuts: Ints, begins: Ints, where: Ints,
) -> None:  # fmt: skip
    """Give the box that holds each sample of target people, -1 for none; of several the last.

    `where` holds those of target i from `begins[i]` on.
    """
    for i in range(first, last):
        low = offsets[people[i]]
        for s in range(low, offsets[people[i] + 1]):
            at = -1
            for b in range(cuts[i], cuts[i + 1]):
                if boxes[b, T0] > data[T0][s]:
                    break
                if data[T1][s] <= boxes[b, T1] and inside(data, s, boxes, b):
                    at = b
            where[begins[i] + s - low] = at


class Targets(NamedTuple):
    """People who are attacked by those who know something of their crowd.

    Attributes
    ----------
    boxes, reach, cuts
        The record of the crowd of each.
    wanted
        The sides of each box that come from nobody whom the adversary knows, as bits.
    known, begins
        Whom the adversary knows in the crowd, by their numbers in the dataset with names; those of
        target i begin at `begins[i]`.
    others, starts
        The other people of the crowd, the same way.
    person
        The number of the target herself; -1 if that dataset does not have her.
    unknown
        How many people of the crowd the adversary does not know.
    """

    boxes: Sides
    reach: Sides
    cuts: Ints
    wanted: Bits
    known: Ints
    begins: Ints
    others: Ints
    starts: Ints
    person: Ints
    unknown: Ints


class Judging(NamedTuple):
    """By what it is judged who may be a member, from what the method says of boxes.

    Attributes
    ----------
    whole
        A sample is in a box if it lies in it in time as well; otherwise if it meets it.
    witness
        Members have a sample in every box.
    alone
        Of a crowd of which one person only is not known, that one touches all wanted sides.
    most
        How many samples of a member may lie in no box; any number, if it is below 0.
    wide, long
        The cells and slots to which sides were rounded outwards; 1 where they were not.
    """

    whole: bool
    witness: bool
    alone: bool
    most: int
    wide: int
    long: int


class Scratch(NamedTuple):
    """Scratch buffers with an element for each person; all 0 between targets, but for `some`."""

    mask: Bits
    near: Sides
    score: Ints
    seen: Ints
    known: NDArray[np.bool_]
    some: Sides


@kernel_private
def _look_in_box(
    b: int, boxes: Sides, judging: Judging, data: Columns, index: SampleIndex, scratch: Scratch
) -> int:
    """Find everybody with a sample in a box, and mark the sides that it touches; give how many."""
    mask, near, number = scratch.mask, scratch.near, 0
    west = max(0, (boxes[b, X0] - index.left) // index.side)
    east = min(index.across - 1, (boxes[b, X1] - 1 - index.left) // index.side)
    south = max(0, (boxes[b, Y0] - index.low) // index.side)
    north = min(index.up - 1, (boxes[b, Y1] - 1 - index.low) // index.side)
    for x in range(west, east + 1):
        for y in range(south, north + 1):
            square = x * index.up + y
            end = index.starts[square + 1]
            j = sample_from(index.t0, index.starts[square], end, boxes[b, T0] - index.longest + 1)
            while j < end and index.t0[j] < boxes[b, T1]:
                i, who = index.row[j], index.person[j]
                j += 1
                within = data[T0][i] >= boxes[b, T0] and data[T1][i] <= boxes[b, T1]
                meets = within if judging.whole else data[T1][i] > boxes[b, T0]
                if meets and inside(data, i, boxes, b):
                    if mask[who] == 0:
                        near[number] = who
                        number += 1
                    mask[who] |= LOOKED | _touched(data, i, boxes, b, judging.wide, judging.long)
    return number


@kernel_private
def _score(
    target: int, targets: Targets, judging: Judging, data: Columns, index: SampleIndex,
    scratch: Scratch,
) -> tuple[int, int]:  # fmt: skip
    """Count the boxes in which everybody has a sample, and the wanted sides that she touches.

    Gives how many people there are (`some`) whom the adversary does not know, and how many sides.
    """
    number, sides = 0, 0
    for b in range(targets.cuts[target], targets.cuts[target + 1]):
        want = np.int64(targets.wanted[b])
        sides += _ones(want)
        for n in range(_look_in_box(b, targets.boxes, judging, data, index, scratch)):
            who = scratch.near[n]
            if scratch.seen[who] == 0 and not scratch.known[who]:
                scratch.some[number] = who
                number += 1
            scratch.seen[who] += 1
            scratch.score[who] += _ones(np.int64(scratch.mask[who]) & want)
            scratch.mask[who] = 0
    return number, sides


@kernel_private
def _misses(
    who: int, most: int, target: int, targets: Targets, data: Columns, offsets: Ints
) -> bool:
    """Tell whether more than so many samples of somebody lie in no box of a record."""
    missed, low, up = 0, targets.cuts[target], targets.cuts[target + 1]
    for i in range(offsets[who], offsets[who + 1]):
        if not held(data, i, 0, targets.boxes, targets.reach, low, up):
            missed += 1
            if missed > most:
                return True
    return False


@kernel_private
def _may_be(
    who: int, sides: int, target: int, targets: Targets, judging: Judging, data: Columns,
    offsets: Ints, scratch: Scratch,
) -> bool:  # fmt: skip
    """Tell whether somebody may be a member of the crowd of a target."""
    boxes = targets.cuts[target + 1] - targets.cuts[target]
    if judging.witness and scratch.seen[who] < boxes:
        return False
    if judging.alone and targets.unknown[target] == 1 and scratch.score[who] < sides:
        return False
    most = judging.most
    return most < 0 or not _misses(who, most, target, targets, data, offsets)


@kernel_private
def _name(keys: Ints, unknown: int) -> tuple[int, int]:
    """Name the first of a ranking, of equals all or nobody.

    Gives how many, and the least key that is named.
    """
    ranked = np.sort(keys)[::-1]
    least, n = np.int64(POSSIBLE) << 1, 0
    while n < len(ranked) and ranked[n] > 0:
        end = n
        while end < len(ranked) and ranked[end] == ranked[n]:
            end += 1
        if end > unknown:
            break
        least, n = ranked[n], end
    return n, least


@kernel
def rank_people(
    first: int, last: int, targets: Targets, judging: Judging, data: Columns, offsets: Ints,
    index: SampleIndex, counts: Ints, members: Sides,
) -> None:  # fmt: skip
    """Rank everybody by how well she goes with the record of each target's crowd, and name people.

    People are ranked by whether they may be members (`Judging`), then by how many wanted sides they
    touch. As many are named as are not known; of equals all or nobody.

    `counts` gets, for each target: how many people may be members; how many people are named; how
    many of these are members; whether the target is named; whether she may be a member. `members`
    gets the first of those who may be, as many as there is room for.
    """
    people, room = len(offsets) - 1, members.shape[1]
    scratch = Scratch(
        np.zeros(people, np.uint8), np.empty(people, np.int32), np.zeros(people, np.int64),
        np.zeros(people, np.int64), np.zeros(people, np.bool_), np.empty(people, np.int32),
    )  # fmt: skip
    key = np.zeros(people, np.int64)
    for i in range(first, last):
        known = targets.known[targets.begins[i] : targets.begins[i + 1]]
        others = targets.others[targets.starts[i] : targets.starts[i + 1]]
        scratch.known[known] = True
        number, sides = _score(i, targets, judging, data, index, scratch)
        some, may_be = scratch.some[:number], 0
        for who in some:
            key[who] = scratch.score[who]
            if _may_be(who, sides, i, targets, judging, data, offsets, scratch):
                key[who] += POSSIBLE
                if may_be < room:
                    members[i, may_be] = who
                may_be += 1
        named, least = _name(key[some], targets.unknown[i])
        counts[i, 0], counts[i, 1] = may_be, named
        for other in others:
            counts[i, 2] += key[other] >= least
        if targets.person[i] >= 0:
            mine = key[targets.person[i]]
            counts[i, 2] += mine >= least
            counts[i, 3], counts[i, 4] = mine >= least, mine >= POSSIBLE
        key[some] = 0
        for who in some:
            scratch.score[who], scratch.seen[who] = 0, 0
        for who in known:
            scratch.known[who], scratch.score[who], scratch.seen[who] = False, 0, 0


@kernel_private
def _equal_sides(boxes: Sides, b: int, others: Sides, o: int, shift: int) -> int:
    """Count the sides that two boxes have in common."""
    number = 0
    for side in range(4):
        number += boxes[b, side] == others[o, side]
    number += boxes[b, T0] + shift == others[o, T0]
    return number + (boxes[b, T1] + shift == others[o, T1])


@kernel
def match_boxes(
    first: int, last: int, some: Ints, boxes: Sides, cuts: Ints, others: Sides, bounds: Ints,
    reach: Sides, shift: int, best: Ints,
) -> None:  # fmt: skip
    """Find, for records of a release, the record of another one that has most sides in common.

    Sides are true extremes, so that what one person was the outermost of in both has the same
    sides. Of each box of a record it is the box of the other's that meets it in space and time and
    has most sides in common. `shift` takes a slot of the first release to one of the second. `best`
    gets, for each of `some`, the best record, and how many are as good; 0 if none has any side.
    """
    for n in range(first, last):
        a = some[n]
        top, found, equal = 0, -1, 0
        for c in range(len(bounds) - 1):
            score, low = 0, bounds[c]
            for b in range(cuts[a], cuts[a + 1]):
                start, end, most = boxes[b, T0] + shift, boxes[b, T1] + shift, 0
                while low < bounds[c + 1] and reach[low] <= start:
                    low += 1
                o = low
                while o < bounds[c + 1] and others[o, T0] < end:
                    if (
                        others[o, T1] > start
                        and others[o, X0] < boxes[b, X1]
                        and boxes[b, X0] < others[o, X1]
                        and others[o, Y0] < boxes[b, Y1]
                        and boxes[b, Y0] < others[o, Y1]
                    ):
                        most = max(most, _equal_sides(boxes, b, others, o, shift))
                    o += 1
                score += most
            if score > top:
                top, found, equal = score, c, 1
            elif score > 0 and score == top:
                equal += 1
        best[n, 0], best[n, 1] = found, equal
