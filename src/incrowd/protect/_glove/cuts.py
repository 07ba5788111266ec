"""k-merge where nothing is deleted: cut the samples of a crowd into groups of least loss.

Dynamic programming over the *atoms*, samples that cannot be cut apart in time::

    best[j] = min over i of best[i] + loss of the group of atoms i to j - 1

Four things keep this short of looking at all pairs of i and j:

- The group must hold every member: i is no later than ``fits[j]``.
- A group that can be cut into two with every member in each is never best, for the boxes of both
  are no larger than the one: i is later than ``fits[fits[j]]``.
- What starts earlier still holds more and costs no less, and before it something is lost too: once
  the group alone costs more than the best found less what is lost before the cheapest of the starts
  that are left, the scan ends.
- Where one member has far more samples than another, that still leaves many. In a box so large that
  each sample loses `each`, a group from i costs ``best[i] + each * weight``: a line in `each` for
  every i. Of blocks of 64, 4,096 and 262,144 starts the lower hull of these lines is kept; it tells
  in a few steps what the best of them costs at least, and mostly that is too much (`_may_hold`).

So the work grows a little faster than the samples, however they are shared out.
"""

from typing import Any, NamedTuple

import numpy as np

from incrowd._numba import ZERO, Ints, kernel_nogc, kernel_private
from incrowd.measure._stretch.effort import Scale
from incrowd.protect._glove.samples import NEVER, Samples, Sides, effort_in, least_of

__all__ = [
    "cut",
]


WIDTH, LEVELS = 64, 3
"""How many starts, or blocks of them, are in a block; and how many kinds of blocks there are."""
EXACT = 1 << 62
"""Hulls are used where all products fit into 64 bits."""


class Atoms(NamedTuple):
    """Samples that cannot be cut apart in time, in the order of time.

    Attributes
    ----------
    begin, before
        The first sample of each, and the weight of all samples before it.
    around
        The sides of the box around each.
    fits
        For each number of atoms: the last atom with which a group of the last of them may start so
        that it holds every member; -1 if even all do not.
    """

    begin: Ints
    before: Ints
    around: Sides
    fits: Ints


@kernel_private
def _atoms(samples: Samples, members: int) -> Atoms:
    """Find the atoms."""
    size = len(samples.t0)
    begin, before = np.empty(size + 1, np.int64), np.zeros(size + 1, np.int64)
    around = np.empty((6, size), np.int32)
    fits, seen = np.empty(size + 1, np.int64), np.full(members, -1, np.int64)
    number, reach = ZERO, np.int32(0)
    for s in range(size):
        if number == 0 or samples.t0[s] >= reach:
            fits[number] = least_of(seen)
            begin[number], before[number + 1] = s, before[number]
            around[0, number], around[1, number] = samples.x0[s], samples.x1[s]
            around[2, number], around[3, number] = samples.y0[s], samples.y1[s]
            around[4, number], around[5, number] = samples.t0[s], samples.t1[s]
            reach = samples.t1[s]
            number += 1
        a = number - 1
        around[0, a] = min(around[0, a], samples.x0[s])
        around[1, a] = max(around[1, a], samples.x1[s])
        around[2, a] = min(around[2, a], samples.y0[s])
        around[3, a] = max(around[3, a], samples.y1[s])
        reach = max(reach, samples.t1[s])
        around[5, a] = reach
        seen[samples.member[s]] = a
        before[number] += samples.weight[s]
    begin[number], fits[number] = size, least_of(seen)
    return Atoms(begin[: number + 1], before[: number + 1], around, fits[: number + 1])


class Blocks(NamedTuple):
    """Blocks of starts, of three sizes; see the module.

    Attributes
    ----------
    hull, size
        The starts on the lower hull of each block, from the first place of the block on, and how
        many they are.
    boxes
        The most boxes that there are before any start of a block.
    around
        The sides of the box around the atoms of a block.
    """

    hull: Ints
    size: Ints
    boxes: Ints
    around: Sides


@kernel_private
def _blocks(atoms: int) -> Blocks:
    number = atoms // WIDTH + 1
    return Blocks(
        np.empty((LEVELS, atoms + 1), np.int64),
        np.zeros((LEVELS, number), np.int64),
        np.zeros((LEVELS, number), np.int64),
        np.empty((LEVELS * 6, number), np.int32),
    )


@kernel_nogc
def _close(level: int, block: int, best: Ints, number: Ints, atoms: Atoms, blocks: Blocks) -> None:
    """Make the lower hull of a block, all of whose starts are known."""
    width = WIDTH ** (level + 1)
    parts = width // WIDTH
    place, boxes = block * width, ZERO
    count = ZERO
    for part in range(WIDTH):
        # A part is a start, or a block of the next smaller size.
        inner = block * WIDTH + part
        points = blocks.size[level - 1, inner] if level else 1
        for point in range(points):
            i = blocks.hull[level - 1, inner * parts + point] if level else inner
            if best[i] == NEVER:
                continue
            boxes = max(boxes, number[i])
            while count > 1 and _is_above(
                blocks.hull[level, place + count - 2], blocks.hull[level, place + count - 1], i,
                best, atoms.before,
            ):  # fmt: skip
                count -= 1
            blocks.hull[level, place + count] = i
            count += 1
        boxes = max(boxes, blocks.boxes[level - 1, inner] if level else 0)
        for side in range(6):
            row = level * 6 + side
            mine = blocks.around[row - 6, inner] if level else atoms.around[side, inner]
            if part == 0:
                blocks.around[row, block] = mine
            elif side % 2:
                blocks.around[row, block] = max(blocks.around[row, block], mine)
            else:
                blocks.around[row, block] = min(blocks.around[row, block], mine)
    blocks.size[level, block], blocks.boxes[level, block] = count, boxes


@kernel_nogc
def _is_above(a: int, b: int, c: int, best: Ints, before: Ints) -> bool:
    """Tell whether the middle one of three starts is never the best: it lies above the others."""
    return bool(
        (best[b] - best[a]) * (before[c] - before[b])
        >= (best[c] - best[b]) * (before[b] - before[a])
    )


@kernel_nogc
def _may_hold(
    level: int, block: int, each: int, most: int, boxes: int, best: Ints, before: Ints,
    total: int, blocks: Blocks,
) -> bool:  # fmt: skip
    """Tell whether a block may hold a start that costs less than `most`; or that, with more boxes.

    `each` is what every sample loses at least in a group that starts in the block, `total` the
    weight of all samples up to its end.
    """
    place, low = block * WIDTH ** (level + 1), ZERO
    high = blocks.size[level, block] - 1
    if high < 0:
        return False
    while low < high:
        middle = (low + high) // 2
        a, b = blocks.hull[level, place + middle], blocks.hull[level, place + middle + 1]
        if best[b] - best[a] < each * (before[b] - before[a]):
            low = middle + 1
        else:
            high = middle
    i = blocks.hull[level, place + low]
    least = best[i] + each * (total - before[i])
    return bool(least < most or (least == most and blocks.boxes[level, block] + 1 > boxes))


@kernel_private
def cut(  # noqa: C901, PLR0912, PLR0915
    samples: Samples, members: int, scale: Scale, out: Sides, used: int
) -> tuple[int, int]:
    """Cut all samples into groups of least loss; write their boxes, give their number and loss.

    ``best[j]`` is what the atoms before j lose at least, in groups that end there.
    """
    atoms = _atoms(samples, members)
    begin, before, around, fits = atoms
    last = len(begin) - 1
    best, number = np.full(last + 1, NEVER), np.zeros(last + 1, np.int64)
    start = np.full(last + 1, -1, np.int64)
    best[0] = 0
    hulls = scale.stop and samples.alike and before[last] * before[last] < EXACT // scale.whole
    blocks = _blocks(last if hulls else ZERO)
    whole, box = np.empty(6, np.int32), np.empty(6, np.int32)
    _be(whole, around, 0)  # the box around all atoms before j, for as long as that is needed
    # West, east, south and north of the atoms from `since` to `until`.
    since, until = ZERO - 1, ZERO
    west, east, south, north = whole[0], whole[1], whole[2], whole[3]
    # Starts that may still be the cheapest of those to come, from `head` to `tail`, `known` of all.
    queue, head, tail, known = np.empty(last + 1, np.int64), ZERO, ZERO, ZERO
    for j in range(1, last + 1):
        if hulls and j % WIDTH == 0:
            for level in range(LEVELS):
                if j % WIDTH ** (level + 1) == 0:
                    _close(level, j // WIDTH ** (level + 1) - 1, best, number, atoms, blocks)
        latest = fits[j]
        if since < 0:
            _grow(whole, around, j - 1)
        # Where no further group can begin, nobody asks.
        if latest < 0 or (j < last and j > fits[last]):
            continue
        if fits[latest] < 0:
            # No group fits in before this one: it starts with the first atom.
            extent = (whole[1] - whole[0]) + (whole[3] - whole[2])
            length = whole[5] - whole[4]
            best[j] = _loss(extent, length, samples, ZERO, begin[j], before[j], scale)
            start[j], number[j] = 0, 1
            continue
        if since != latest:
            since, until = latest, latest
            west, east = around[0, latest], around[1, latest]
            south, north = around[2, latest], around[3, latest]
        while until < j:
            west, east = min(west, around[0, until]), max(east, around[1, until])
            south, north = min(south, around[2, until]), max(north, around[3, until])
            until += 1
        while known <= latest:
            while tail > head and best[queue[tail - 1]] >= best[known]:
                tail -= 1
            queue[tail] = known
            tail += 1
            known += 1
        while queue[head] <= fits[latest]:
            head += 1
        cheapest = best[queue[head]]
        # Atoms follow each other in time: a group lasts from the start of its first one.
        x0, x1, y0, y1, end = west, east, south, north, around[5, j - 1]
        least: Any = NEVER
        most, place = ZERO, ZERO
        i, stop = latest, fits[latest]
        while i > stop:
            x0, x1 = min(x0, around[0, i]), max(x1, around[1, i])
            y0, y1 = min(y0, around[2, i]), max(y1, around[3, i])
            extent, length = (x1 - x0) + (y1 - y0), end - around[4, i]
            if hulls and (i + 1) % WIDTH == 0:
                each = effort_in(extent, length, samples, 0, scale)
                wide = ZERO
                for level in range(LEVELS - 1, -1, -1):
                    size = WIDTH ** (level + 1)
                    block = i // size
                    if (
                        (i + 1) % size
                        or i - size < stop
                        or _may_hold(
                            level, block, each, least, most, best, before, before[j], blocks
                        )
                    ):
                        continue
                    row, wide = level * 6, size
                    x0 = min(x0, blocks.around[row, block])
                    x1 = max(x1, blocks.around[row + 1, block])
                    y0 = min(y0, blocks.around[row + 2, block])
                    y1 = max(y1, blocks.around[row + 3, block])
                    break
                if wide:
                    i -= wide
                    continue
            if best[i] < NEVER:
                cost = _loss(
                    extent, length, samples, begin[i], begin[j], before[j] - before[i], scale
                )
                if scale.stop and cost + cheapest > least:
                    break
                cost += best[i]
                if cost < least or (cost == least and number[i] + 1 > most):
                    least, most, place = cost, number[i] + 1, i
            i -= 1
        best[j], number[j], start[j] = least, most, place
    j = last
    for place in range(used + number[last] - 1, used - 1, -1):
        _be(box, around, j - 1)
        for i in range(start[j], j):
            _grow(box, around, i)
        for side in range(6):
            out[side, place] = box[side]
        j = start[j]
    return number[last], best[last]


@kernel_nogc
def _be(box: Sides, around: Sides, atom: int) -> None:
    """Make a box the one around an atom."""
    for side in range(6):
        box[side] = around[side, atom]


@kernel_nogc
def _grow(box: Sides, around: Sides, atom: int) -> None:
    """Make a box as large as needed to hold an atom."""
    for side in range(0, 6, 2):
        box[side] = min(box[side], around[side, atom])
        box[side + 1] = max(box[side + 1], around[side + 1, atom])


@kernel_nogc
def _loss(
    extent: int, length: int, samples: Samples, first: int, last: int, weight: int, scale: Scale
) -> int:
    """Give what samples `first` to `last`, which weigh so much together, lose in a box so large."""
    if samples.alike:
        return int(weight * effort_in(extent, length, samples, 0, scale))
    loss: Any = ZERO
    for s in range(first, last):
        loss += samples.weight[s] * effort_in(extent, length, samples, s, scale)
    return int(loss)
