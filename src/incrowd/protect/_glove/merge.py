"""Two trajectories become one: mergeTrajectories and reshapeTrajectory of Algorithm 1.

::

    longer, shorter ──> stage_a    every sample of the longer goes to its cheapest of the shorter
                          ▼
                        stage_b    what is left of the shorter goes to the cheapest of A's results
                          ▼
                        merge      suppression: merged boxes beyond the thresholds go
                          ▼
                        reshape    what overlaps in time is split, united, or left as it is

    longer               a1        a2     a3            time ->
    stage A               └──┐ ┌───┘      │             a1, a2 and b2 become one box; so do a3, b3
    shorter       b1          b2          b3
    stage B        └──────────┘                         b1 is matched by none: it joins a1-a2-b2

Samples are merged by equations (12) and (13): the smallest box around them. All matches of stage B
are found before any is applied.

Where single samples are suppressed instead of merged boxes, each match is looked at by itself: a
sample is left out if it takes a stretch beyond the thresholds to merge it, by equations (4) and
(7), and nothing else is.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel_inline, kernel_private
from incrowd.measure._stretch.effort import (
    Boxes,
    Scale,
    effort_parts,
    nearest_sample,
    space_stretch,
    time_stretch,
)
from incrowd.measure._stretch.topk import stable_order

__all__ = [
    "ANY",
    "NONE",
    "SPLIT",
    "UNION",
    "empty_boxes",
    "merge",
]


SPLIT, UNION, NONE = 0, 1, 2
ANY = 2**40
"""A threshold that nothing exceeds."""


@kernel_private
def _cover(boxes: Boxes, i: int, other: Boxes, j: int) -> None:
    """Equations (12) and (13): make a box as large as needed to hold another one."""
    boxes.x0[i], boxes.x1[i] = min(boxes.x0[i], other.x0[j]), max(boxes.x1[i], other.x1[j])
    boxes.y0[i], boxes.y1[i] = min(boxes.y0[i], other.y0[j]), max(boxes.y1[i], other.y1[j])
    boxes.t0[i], boxes.t1[i] = min(boxes.t0[i], other.t0[j]), max(boxes.t1[i], other.t1[j])


@kernel_private
def _copy(boxes: Boxes, i: int, other: Boxes, j: int) -> None:
    """Write a box of one trajectory over one of another."""
    boxes.x0[i], boxes.x1[i] = other.x0[j], other.x1[j]
    boxes.y0[i], boxes.y1[i] = other.y0[j], other.y1[j]
    boxes.t0[i], boxes.t1[i] = other.t0[j], other.t1[j]
    boxes.region[i] = other.region[j]


@kernel_private
def empty_boxes(size: int) -> Boxes:
    """Make arrays for boxes."""
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
    per_sample: bool,  # noqa: FBT001
    reshape: int,
    out: Boxes,
    at: int,
) -> tuple[int, int]:
    """Merge the longer trajectory (a) with the shorter (b), and write the result.

    Needs place for twice the samples of the shorter behind `at`. Fills neither `reach` nor
    `time_bin`. `per_sample` tells that the thresholds are for the stretch of each match, not for
    merged boxes.

    Returns
    -------
    The number of boxes written, and that of boxes suppressed.
    """
    widest, longest = (max_space, max_time) if per_sample else (ANY, ANY)
    results, left_out = match_two_stages(a, a0, a1, na, b, b0, b1, nb, scale, widest, longest)
    # Suppression (section 7.2) is before reshaping, which puts boxes together again: of what
    # equations (12) and (13) made, each side by itself.
    kept, number = ZERO, len(results.t0)
    for i in range(number):
        if per_sample or (
            results.x1[i] - results.x0[i] <= max_space
            and results.y1[i] - results.y0[i] <= max_space
            and results.t1[i] - results.t0[i] <= max_time
        ):
            _copy(results, kept, results, i)
            kept += 1
    if reshape == SPLIT:
        written = _split(results, kept, out, at)
    elif reshape == UNION:
        written = _union(results, kept, out, at)
    else:
        written = _distinct(results, kept, out, at)
    return written, left_out + number - kept


@kernel_private
def _within(
    a: Boxes, i: int, na: int, b: Boxes, j: int, nb: int, widest: int, longest: int
) -> bool:
    """Tell whether equations (4) and (7) of two samples are within the thresholds."""
    space, time = space_stretch(a, i, na, b, j, nb), time_stretch(a, i, na, b, j, nb)
    return bool(space <= (na + nb) * widest and time <= (na + nb) * longest)


@kernel_inline
def match_two_stages(
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

    Samples whose match takes a stretch beyond the thresholds are left out, and counted. Every box
    has a sample of either side: what nobody of the longer came to is no box of its own.
    """
    size = b1 - b0
    results, matched = empty_boxes(size), np.zeros(size, np.bool_)
    for j in range(size):
        _copy(results, j, b, b0 + j)
    left_out = stage_a(a, a0, a1, na, b, b0, b1, nb, scale, widest, longest, results, matched)
    target = np.full(size, -1, np.int64)
    left_out += stage_b(na + nb, nb, scale, widest, longest, results, matched, target)
    number = 0
    for j in range(size):
        if matched[j]:
            _copy(results, number, results, j)
            number += 1
    boxes = Boxes(
        results.x0[:number],
        results.x1[:number],
        results.y0[:number],
        results.y1[:number],
        results.t0[:number],
        results.t1[:number],
        results.reach[:number],
        results.region[:number],
        results.time_bin[:number],
    )
    return boxes, left_out


@kernel_inline
def stage_a(
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
    results: Boxes,
    matched: NDArray[np.bool_],
) -> int:
    """Stage A: every sample of the longer (a) goes to its cheapest of the shorter (b), by (1).

    `results` holds b's samples, and each grows to hold those that came to it; `matched` tells to
    which any came. Matches are found among b as it was, so the order of a's samples is of no
    account. Gives the number of samples left out.
    """
    left_out, at = 0, b0
    for i in range(a0, a1):
        # Both are sorted by their starts, so where the scan begins only moves on.
        while at < b1 and b.t0[at] < a.t0[i]:
            at += 1
        _, j = nearest_sample(a, i, na, b, b0, b1, at, nb, scale)
        if not _within(a, i, na, b, j, nb, widest, longest):
            left_out += 1
            continue
        _cover(results, j - b0, a, i)
        matched[j - b0] = True
    return left_out


@kernel_inline
def stage_b(
    n_results: int,
    nb: int,
    scale: Scale,
    widest: int,
    longest: int,
    results: Boxes,
    matched: NDArray[np.bool_],
    target: NDArray[np.int64],
) -> int:
    """Stage B: unmatched samples of the shorter go to the cheapest of stage A's results.

    A result stands for all people of both sides, a sample left over for those of the shorter: so
    they weigh ``na + nb`` and ``nb``. `target` is where each goes, -1 if nowhere. Gives the number
    of samples left out.
    """
    left_out, size = 0, len(matched)
    for j in range(size):
        if matched[j]:
            continue
        best = np.int64(2) ** 62
        for i in range(size):
            if not matched[i]:
                continue
            # Time first, for it alone is mostly too dear. (Results may have grown in any way, so
            # there is no order in which the scan could end.)
            time = min(
                (n_results + nb) * scale.time, time_stretch(results, i, n_results, results, j, nb)
            )
            if scale.time_unit * time < best:
                space, time = effort_parts(results, i, n_results, results, j, nb, scale)
                if space + time < best:  # of equals the first
                    best, target[j] = space + time, i
        # Nobody at all may have been met, where single samples are suppressed.
        if target[j] < 0 or not _within(
            results, target[j], n_results, results, j, nb, widest, longest
        ):
            target[j] = -1
            left_out += 1
    # Only now: a result that has grown would be nearer to the next.
    for j in range(size):
        if target[j] >= 0:
            _cover(results, target[j], results, j)
    return left_out


@kernel_private
def _split(boxes: Boxes, number: int, out: Boxes, at: int) -> int:
    """Cut time at every start and end; each piece gets the box around those that cover it.

    The reshaping of the paper. A piece that nobody covers is a gap, and stays one.
    """
    ends = np.empty(2 * number)
    for i in range(number):
        ends[2 * i], ends[2 * i + 1] = boxes.t0[i], boxes.t1[i]
    cuts, pieces = np.empty(2 * number, np.int32), -1
    for i in stable_order(ends, 2 * number):
        if pieces < 0 or ends[i] != cuts[pieces]:
            pieces += 1
            cuts[pieces] = ends[i]
    pieces = max(0, pieces)
    covered = np.full(pieces, -1, np.int64)
    hull = empty_boxes(pieces)
    for i in range(number):
        piece = np.searchsorted(cuts[: pieces + 1], boxes.t0[i])
        while piece < pieces and cuts[piece] < boxes.t1[i]:
            if covered[piece] < 0:
                covered[piece] = i
                _copy(hull, piece, boxes, i)
            else:
                _cover(hull, piece, boxes, i)
            piece += 1
    written = 0
    for piece in range(pieces):
        if covered[piece] >= 0:
            _copy(out, at + written, hull, piece)
            out.t0[at + written], out.t1[at + written] = cuts[piece], cuts[piece + 1]
            written += 1
    return written


@kernel_private
def _by_start(boxes: Boxes, number: int) -> NDArray[np.int32]:
    """Give the order of boxes by their start; of equals as they are."""
    start = np.empty(number)
    for i in range(number):
        start[i] = boxes.t0[i]
    return stable_order(start, number)


@kernel_private
def _union(boxes: Boxes, number: int, out: Boxes, at: int) -> int:
    """Make one of all samples that overlap in time, directly or through others."""
    written = 0
    for i in _by_start(boxes, number):
        if written and boxes.t0[i] < out.t1[at + written - 1]:
            _cover(out, at + written - 1, boxes, i)
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
    order = _by_start(boxes, number)
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
