"""Two trajectories become one: the two-stage merge, suppression and reshaping.

Stage A takes every sample of the longer to its cheapest sample of the shorter. Stage B takes every
sample of the shorter that nobody came to, to the cheapest of stage A's results; all of these
matches are found before any is applied. Then boxes beyond the thresholds of suppression go, and
what overlaps in time is reshaped. Or suppression looks at each match by itself: a sample is left
out if it takes a stretch beyond the thresholds to merge it, and nothing else is.
"""

import numpy as np

from incrowd._numba import ZERO, kernel_inline, kernel_private
from incrowd.measure._stretch.effort import (
    Boxes,
    Scale,
    nearest_sample,
    parts_at,
    space_at,
    time_at,
)

__all__ = [
    "ANY",
    "NONE",
    "SPLIT",
    "UNION",
    "merge",
    "room",
]


SPLIT, UNION, NONE = 0, 1, 2
ANY = 2**40
"""A threshold that nothing exceeds."""


@kernel_private
def _stretch(boxes: Boxes, i: int, other: Boxes, j: int) -> None:
    """Make a box as large as needed to hold another one."""
    boxes.x0[i], boxes.x1[i] = min(boxes.x0[i], other.x0[j]), max(boxes.x1[i], other.x1[j])
    boxes.y0[i], boxes.y1[i] = min(boxes.y0[i], other.y0[j]), max(boxes.y1[i], other.y1[j])
    boxes.t0[i], boxes.t1[i] = min(boxes.t0[i], other.t0[j]), max(boxes.t1[i], other.t1[j])


@kernel_private
def _copy(boxes: Boxes, i: int, other: Boxes, j: int) -> None:
    """Write a box of one trajectory over one of another."""
    boxes.x0[i], boxes.x1[i] = other.x0[j], other.x1[j]
    boxes.y0[i], boxes.y1[i] = other.y0[j], other.y1[j]
    boxes.t0[i], boxes.t1[i] = other.t0[j], other.t1[j]
    boxes.zone[i] = other.zone[j]


@kernel_private
def room(size: int) -> Boxes:
    """Give room for boxes."""
    return Boxes(
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
    )


@kernel_private
def merge(
    a: Boxes,
    a0: int,
    a1: int,
    na: int,
    b: Boxes,
    b0: int,
    b1: int,
    nb: int,
    scale: Scale,
    max_space: int,
    max_time: int,
    each: bool,  # noqa: FBT001
    reshape: int,
    out: Boxes,
    at: int,
) -> tuple[int, int]:
    """Merge the longer trajectory (a) with the shorter (b), and write the result.

    Needs room for twice the samples of the shorter behind `at`. Fills neither `reach` nor `bin`.
    `each` tells that the thresholds are for the stretch of each match, not for merged boxes.

    Returns
    -------
    The number of boxes written, and that of boxes suppressed.
    """
    widest, longest = (max_space, max_time) if each else (ANY, ANY)
    grown, lost = _grow(a, a0, a1, na, b, b0, b1, nb, scale, widest, longest)
    kept, number = ZERO, len(grown.t0)
    for i in range(number):
        if each or (
            grown.x1[i] - grown.x0[i] <= max_space
            and grown.y1[i] - grown.y0[i] <= max_space
            and grown.t1[i] - grown.t0[i] <= max_time
        ):
            _copy(grown, kept, grown, i)
            kept += 1
    if reshape == SPLIT:
        written = _split(grown, kept, out, at)
    elif reshape == UNION:
        written = _union(grown, kept, out, at)
    else:
        written = _distinct(grown, kept, out, at)
    return written, lost + number - kept


@kernel_private
def _within(
    a: Boxes, i: int, na: int, b: Boxes, j: int, nb: int, widest: int, longest: int
) -> bool:
    """Tell whether the stretch of two samples, in space and in time, is within the thresholds."""
    space, time = space_at(a, i, na, b, j, nb), time_at(a, i, na, b, j, nb)
    return bool(space <= (na + nb) * widest and time <= (na + nb) * longest)


@kernel_inline
def _grow(  # noqa: C901, PLR0912
    a: Boxes,
    a0: int,
    a1: int,
    na: int,
    b: Boxes,
    b0: int,
    b1: int,
    nb: int,
    scale: Scale,
    widest: int,
    longest: int,
) -> tuple[Boxes, int]:
    """Do both stages; give the boxes in the order of the shorter's samples.

    Samples whose match takes a stretch beyond the thresholds are left out, and counted.
    """
    size, lost = b1 - b0, 0
    grown, met = room(size), np.zeros(size, np.bool_)
    for j in range(size):
        _copy(grown, j, b, b0 + j)
    start = b0
    for i in range(a0, a1):
        while start < b1 and b.t0[start] < a.t0[i]:
            start += 1
        _, j = nearest_sample(a, i, na, b, b0, b1, start, nb, scale)
        if not _within(a, i, na, b, j, nb, widest, longest):
            lost += 1
            continue
        _stretch(grown, j - b0, a, i)
        met[j - b0] = True
    match = np.full(size, -1, np.int64)
    for j in range(size):
        if met[j]:
            continue
        best = np.int64(2) ** 62
        for i in range(size):
            if not met[i]:
                continue
            time = min((na + 2 * nb) * scale.time, time_at(grown, i, na + nb, grown, j, nb))
            if scale.time_unit * time < best:
                space, time = parts_at(grown, i, na + nb, grown, j, nb, scale)
                if space + time < best:
                    best, match[j] = space + time, i
        if match[j] < 0 or not _within(grown, match[j], na + nb, grown, j, nb, widest, longest):
            match[j] = -1
            lost += 1
    for j in range(size):
        if match[j] >= 0:
            _stretch(grown, match[j], grown, j)
    number = 0
    for j in range(size):
        if met[j]:
            _copy(grown, number, grown, j)
            number += 1
    boxes = Boxes(
        grown.x0[:number],
        grown.x1[:number],
        grown.y0[:number],
        grown.y1[:number],
        grown.t0[:number],
        grown.t1[:number],
        grown.reach[:number],
        grown.zone[:number],
        grown.bin[:number],
    )
    return boxes, lost


@kernel_private
def _split(boxes: Boxes, number: int, out: Boxes, at: int) -> int:
    """Cut time at every start and end; each piece gets the box around those that cover it."""
    cuts = np.empty(2 * number, np.int32)
    for i in range(number):
        cuts[2 * i], cuts[2 * i + 1] = boxes.t0[i], boxes.t1[i]
    cuts, pieces = cuts[np.argsort(cuts, kind="mergesort")], -1
    for i in range(2 * number):
        if pieces < 0 or cuts[i] != cuts[pieces]:
            pieces += 1
            cuts[pieces] = cuts[i]
    pieces = max(0, pieces)
    covered = np.full(pieces, -1, np.int64)
    hull = room(pieces)
    for i in range(number):
        piece = np.searchsorted(cuts[: pieces + 1], boxes.t0[i])
        while piece < pieces and cuts[piece] < boxes.t1[i]:
            if covered[piece] < 0:
                covered[piece] = i
                _copy(hull, piece, boxes, i)
            else:
                _stretch(hull, piece, boxes, i)
            piece += 1
    written = 0
    for piece in range(pieces):
        if covered[piece] >= 0:
            _copy(out, at + written, hull, piece)
            out.t0[at + written], out.t1[at + written] = cuts[piece], cuts[piece + 1]
            written += 1
    return written


@kernel_private
def _union(boxes: Boxes, number: int, out: Boxes, at: int) -> int:
    """Make one of all samples that overlap in time, directly or through others."""
    written = 0
    for i in np.argsort(boxes.t0[:number], kind="mergesort"):
        if written and boxes.t0[i] < out.t1[at + written - 1]:
            _stretch(out, at + written - 1, boxes, i)
        else:
            _copy(out, at + written, boxes, i)
            written += 1
    return written


@kernel_private
def _follows(boxes: Boxes, i: int, j: int) -> int:
    """Compare two boxes in the order of a trajectory: -1, 0 or 1."""
    mine = (boxes.t0[i], boxes.t1[i], boxes.x0[i], boxes.x1[i], boxes.y0[i], boxes.y1[i])
    other = (boxes.t0[j], boxes.t1[j], boxes.x0[j], boxes.x1[j], boxes.y0[j], boxes.y1[j])
    return -1 if mine < other else int(mine > other)


@kernel_private
def _distinct(boxes: Boxes, number: int, out: Boxes, at: int) -> int:
    """Sort the boxes and leave out repeated ones."""
    order = np.argsort(boxes.t0[:number], kind="mergesort")
    for i in range(1, number):  # few are out of place now
        j = i
        while j > 0 and _follows(boxes, order[j], order[j - 1]) < 0:
            order[j], order[j - 1] = order[j - 1], order[j]
            j -= 1
    written = 0
    for i in range(number):
        if i == 0 or _follows(boxes, order[i], order[i - 1]) != 0:
            _copy(out, at + written, boxes, order[i])
            written += 1
    return written
