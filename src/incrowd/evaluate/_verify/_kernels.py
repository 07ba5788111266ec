"""Compiled loops over samples and published boxes.

Published boxes are rows of a matrix (`X0` to `T1` name its columns), those of a trajectory side by
side in the order of their start; `cuts` tells where each trajectory's rows begin. Original samples
are six columns, cut into people by `offsets`. `shift` takes an original time slot to a published
one. `reach` is the latest end among the boxes of a trajectory up to each box, so that a search
backwards in time knows when to stop.

`wide` and `long` are the cells and slots of the coarser grid to which sides of boxes were rounded
outwards, 1 where they were not. A sample inside touches a side if its own lies less than that from
it: then it is rounded to it.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_private

__all__ = [
    "ALL",
    "EAST",
    "END",
    "NORTH",
    "SOUTH",
    "START",
    "T0",
    "T1",
    "WEST",
    "X0",
    "X1",
    "Y0",
    "Y1",
    "Sides",
    "blocks_of",
    "count_matching_records",
    "held",
    "inside",
    "latest_ends",
    "mark_uncovered",
    "place_edges",
    "sample_from",
    "witnesses_and_edges",
]


Sides = NDArray[np.int32]
Columns = tuple[Sides, ...]

X0, X1, Y0, Y1, T0, T1 = range(6)
WEST, EAST, SOUTH, NORTH, START, END = 1, 2, 4, 8, 16, 32
PLACE, ALL = 15, 63
BLOCK = 64
"""How many samples of a person are looked at together."""


@kernel
def latest_ends(boxes: Sides, cuts: Ints) -> Sides:
    """Give the latest end among the boxes of the same trajectory up to each box."""
    reach = np.empty(len(boxes), np.int32)
    for c in range(len(cuts) - 1):
        latest = np.iinfo(np.int32).min
        for b in range(cuts[c], cuts[c + 1]):
            latest = max(latest, boxes[b, T1])
            reach[b] = latest
    return reach


@kernel_private
def _box_after(boxes: Sides, low: int, high: int, moment: int) -> int:
    """Give the first box that starts after a moment."""
    while low < high:
        middle = (low + high) // 2
        if boxes[middle, T0] <= moment:
            low = middle + 1
        else:
            high = middle
    return low


@kernel_private
def sample_from(starts: Sides, low: int, high: int, moment: int) -> int:
    """Give the first sample that starts at a moment or later."""
    while low < high:
        middle = (low + high) // 2
        if starts[middle] < moment:
            low = middle + 1
        else:
            high = middle
    return low


@kernel_private
def inside(data: Columns, i: int, boxes: Sides, b: int) -> bool:
    """Tell whether the place of a sample lies in that of a box."""
    return bool(
        boxes[b, X0] <= data[X0][i]
        and data[X1][i] <= boxes[b, X1]
        and boxes[b, Y0] <= data[Y0][i]
        and data[Y1][i] <= boxes[b, Y1]
    )


@kernel_private
def held(data: Columns, i: int, shift: int, boxes: Sides, reach: Sides, low: int, up: int) -> bool:
    """Tell whether at every slot of a sample some box of rows `low` to `up` holds its place."""
    moment, end = data[T0][i] + shift, data[T1][i] + shift
    while moment < end:
        held_until = moment
        b = _box_after(boxes, low, up, moment) - 1
        while b >= low and reach[b] > moment and held_until < end:
            if boxes[b, T1] > held_until and inside(data, i, boxes, b):
                held_until = boxes[b, T1]
            b -= 1
        if held_until == moment:
            return False
        moment = held_until
    return True


@kernel
def mark_uncovered(
    first: int, last: int, crowd_of: Ints, data: Columns, offsets: Ints, shift: int,
    boxes: Sides, reach: Sides, cuts: Ints, missed: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Mark the samples of people `first` to `last` that their own published boxes do not hold."""
    for person in range(first, last):
        c = crowd_of[person]
        for i in range(offsets[person], offsets[person + 1]):
            missed[i] = c < 0 or not held(data, i, shift, boxes, reach, cuts[c], cuts[c + 1])


@kernel_private
def place_edges(data: Columns, i: int, boxes: Sides, b: int, wide: int) -> int:
    """Tell which edges in space of a box a sample touches from inside."""
    if not inside(data, i, boxes, b):
        return 0
    edges = WEST if data[X0][i] < boxes[b, X0] + wide else 0
    edges |= EAST if data[X1][i] > boxes[b, X1] - wide else 0
    edges |= SOUTH if data[Y0][i] < boxes[b, Y0] + wide else 0
    return edges | (NORTH if data[Y1][i] > boxes[b, Y1] - wide else 0)


@kernel_private
def _is_edge(data: Columns, low: int, up: int, first: int, last: int, longest: int) -> bool:
    """Tell whether a sample of rows `low` to `up` starts or ends from one moment to another."""
    i = sample_from(data[T0], low, up, first - longest)
    while i < up and data[T0][i] <= last:
        if data[T0][i] >= first or first <= data[T1][i] <= last:
            return True
        i += 1
    return False


@kernel_private
def _look_near(
    data: Columns, i: int, up: int, shift: int, boxes: Sides, b: int, whole: int, wide: int,
    long: int, found: int,
) -> tuple[bool, int]:  # fmt: skip
    """Look at a member's samples from row `i` on that meet a box in time.

    Give whether one of them is a witness, and all edges found so far.
    """
    start, end = boxes[b, T0] - shift, boxes[b, T1] - shift
    seen = False
    while i < up and data[T0][i] < end and not (seen and found == ALL):
        within = data[T0][i] >= start and data[T1][i] <= end
        meets = within if whole else data[T1][i] > start
        if meets and inside(data, i, boxes, b):
            seen = True
            found |= place_edges(data, i, boxes, b, wide)
            if whole:
                found |= START if data[T0][i] < start + long else 0
                found |= END if data[T1][i] > end - long else 0
        i += 1
    return seen, found


@kernel
def blocks_of(data: Columns, offsets: Ints) -> tuple[Ints, Sides]:
    """Cut each person's samples into blocks; give where hers begin, and the sides of each.

    Whoever looks for a place among all samples of a person passes over blocks that are elsewhere.
    """
    people = len(offsets) - 1
    first = np.zeros(people + 1, np.int64)
    for person in range(people):
        number = (offsets[person + 1] - offsets[person] + BLOCK - 1) // BLOCK
        first[person + 1] = first[person] + number
    sides = np.empty((first[people], 4), np.int32)
    for person in range(people):
        for block in range(first[person], first[person + 1]):
            begin = offsets[person] + (block - first[person]) * BLOCK
            sides[block, X0], sides[block, X1] = data[X0][begin], data[X1][begin]
            sides[block, Y0], sides[block, Y1] = data[Y0][begin], data[Y1][begin]
            for i in range(begin + 1, min(begin + BLOCK, offsets[person + 1])):
                sides[block, X0] = min(sides[block, X0], data[X0][i])
                sides[block, X1] = max(sides[block, X1], data[X1][i])
                sides[block, Y0] = min(sides[block, Y0], data[Y0][i])
                sides[block, Y1] = max(sides[block, Y1], data[Y1][i])
    return first, sides


@kernel_private
def _meets(sides: Sides, block: int, boxes: Sides, b: int) -> bool:
    """Tell whether a sample of a block may have its place in a box."""
    return bool(
        sides[block, X0] < boxes[b, X1]
        and boxes[b, X0] < sides[block, X1]
        and sides[block, Y0] < boxes[b, Y1]
        and boxes[b, Y0] < sides[block, Y1]
    )


@kernel_private
def _may_touch(sides: Sides, block: int, boxes: Sides, b: int, wide: int, found: int) -> bool:
    """Tell whether a block reaches as far as an edge in space that is still to be found."""
    west = not found & WEST and sides[block, X0] < boxes[b, X0] + wide
    east = not found & EAST and sides[block, X1] > boxes[b, X1] - wide
    south = not found & SOUTH and sides[block, Y0] < boxes[b, Y0] + wide
    north = not found & NORTH and sides[block, Y1] > boxes[b, Y1] - wide
    return bool(west or east or south or north)


@kernel_private
def _edges_in_block(
    data: Columns, begin: int, up: int, sides: Sides, block: int, boxes: Sides, b: int, wide: int
) -> tuple[bool, int]:  # fmt: skip
    """Tell whether samples of a block have their place in a box, and which edges they touch."""
    found, there = 0, False
    if _meets(sides, block, boxes, b):
        for i in range(begin, min(begin + BLOCK, up)):
            there |= inside(data, i, boxes, b)
            found |= place_edges(data, i, boxes, b, wide)
    return there, found


@kernel_private
def _look_far(
    data: Columns, near: Ints, low: Ints, up: Ints, blocks: Ints, sides: Sides,
    boxes: Sides, b: int, wide: int, found: int,
) -> int:  # fmt: skip
    """Look for edges in space among all samples of all members, those near in time first."""
    step, left = 0, True
    while left and found & PLACE != PLACE:
        left = False
        for m in range(len(near)):
            number = (up[m] - low[m] + BLOCK - 1) // BLOCK
            home = min((near[m] - low[m]) // BLOCK, number - 1)
            for turn in range(2 if step else 1):
                block = home + step if turn else home - step
                if not 0 <= block < number:
                    continue
                left, begin = True, low[m] + block * BLOCK
                if _may_touch(sides, blocks[m] + block, boxes, b, wide, found):
                    found |= _edges_in_block(
                        data, begin, up[m], sides, blocks[m] + block, boxes, b, wide
                    )[1]
        step += 1
    return found


@kernel_private
def _was_ever_there(
    data: Columns, near: int, low: int, up: int, first: int, sides: Sides, boxes: Sides, b: int
) -> bool:  # fmt: skip
    """Tell whether the place of any sample of a member lies in a box, those near in time first."""
    number = (up - low + BLOCK - 1) // BLOCK
    home = min((near - low) // BLOCK, number - 1)
    for step in range(number):
        for turn in range(2 if step else 1):
            block = home + step if turn else home - step
            if 0 <= block < number:
                begin = low + block * BLOCK
                if _edges_in_block(data, begin, up, sides, first + block, boxes, b, 1)[0]:
                    return True
    return False


@kernel
def witnesses_and_edges(
    first: int, last: int, members: Ints, groups: Ints, data: Columns, offsets: Ints, shift: int,
    longest: int, blocks: Ints, sides: Sides, boxes: Sides, cuts: Ints, whole: int, wide: int,
    long: int, lacking: Sides, absent: Sides, edges: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Look at the boxes of trajectories `first` to `last` beside the samples of their members.

    `lacking` gets, for each box, how many members have no sample in it: a sample whose place lies
    in the box and whose time meets it (or, if `whole`, lies in it). `absent` gets how many of these
    have no sample whose place lies in the box, whenever that was. `edges` gets a bit for each
    edge that comes from a member's sample: in space, one whose place lies in the box and touches
    the edge from inside; in time, one that starts or ends then (or so that this is rounded to
    it). If `whole`, the sample must lie in the box in time as well, and start where the box starts
    or end where it ends. `blocks` and `sides` are those of `blocks_of`.
    """
    for c in range(first, last):
        mine = members[groups[c] : groups[c + 1]]
        low, up, first_blocks = offsets[mine], offsets[mine + 1], blocks[mine]
        near = np.empty(len(mine), np.int64)
        for b in range(cuts[c], cuts[c + 1]):
            start, end = boxes[b, T0] - shift, boxes[b, T1] - shift
            found = 0
            for m in range(len(mine)):
                near[m] = sample_from(data[T0], low[m], up[m], start - longest + 1)
                seen, found = _look_near(
                    data, near[m], up[m], shift, boxes, b, whole, wide, long, found
                )
                if not seen:
                    lacking[b] += 1
                    absent[b] += not _was_ever_there(
                        data, near[m], low[m], up[m], first_blocks[m], sides, boxes, b
                    )
                if not whole and not found & START:
                    last = start + long - 1
                    found |= START if _is_edge(data, low[m], up[m], start, last, longest) else 0
                if not whole and not found & END:
                    before = end - long + 1
                    found |= END if _is_edge(data, low[m], up[m], before, end, longest) else 0
            if not whole:
                # Pieces cut in time may owe their place to samples before or after them.
                found = _look_far(data, near, low, up, first_blocks, sides, boxes, b, wide, found)
            edges[b] = found


@kernel
def count_matching_records(
    first: int, last: int, boxes: Sides, reach: Sides, cuts: Ints, sizes: Ints,
    known: Columns, heads: Columns, trials: Ints, shift: int,
) -> Ints:  # fmt: skip
    """Count the records among trajectories `first` to `last` that fit what each trial knows.

    Trial i knows the samples `trials[i]` to `trials[i + 1]` of `known`, of which `heads` has the
    first; trials come in the order of its start. A trajectory fits if it holds all of them, and
    then counts for all of its `sizes[c]` records.
    """
    fits = np.zeros(len(trials) - 1, np.int64)
    looked = np.full(len(trials) - 1, -1, np.int64)
    for c in range(first, last):
        for b in range(cuts[c], cuts[c + 1]):
            low = sample_from(heads[T0], 0, len(fits), boxes[b, T0] - shift)
            up = sample_from(heads[T0], low, len(fits), boxes[b, T1] - shift)
            for i in range(low, up):
                if inside(heads, i, boxes, b) and looked[i] != c:
                    looked[i] = c
                    fit, j = True, trials[i]
                    while fit and j < trials[i + 1]:
                        fit = held(known, j, shift, boxes, reach, cuts[c], cuts[c + 1])
                        j += 1
                    fits[i] += sizes[c] if fit else 0
    return fits
