"""Stays: when somebody remained within a small area, from fixes in the order of time.

A window of fixes slides over a person's trace. A fix joins it if it lies within the diameter of
every fix in it. If not, the window ends: it was a stay if it lasted long enough, and otherwise
its first fixes go until the new one is near enough. A silence ends it as well.

Three things spare comparisons. While the box around window and fix has a short enough diagonal,
everything is near enough. Of a window that is a stay already only the corners of its convex hull
matter: what is near enough to these is to all within, and on a grid they are few (some hundred if
the hull is 250 cells wide). And of a shorter one, fixes are boxed 64 at a time, so that only the
parts that may be too far are looked at fix by fix.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_private
from incrowd._parallel import on_threads

__all__ = [
    "CORNERS",
    "FARTHEST",
    "Hull",
    "cover",
    "reaches",
    "square",
    "stays_of",
]


CORNERS = 4096
"""How many corners a hull may have; one with more is given up."""
FARTHEST = 2**30
"""No distance that matters has as many cells, so that squares fit into 64 bits."""
SIZE, FIRST, COVERED = 0, 1, 2
"""Where the state of a hull has what."""
PART = 64
"""How many fixes are boxed together."""
BLOCK = 16
"""How many people are looked through at a time."""
Cells = NDArray[np.int32]
Boxes = NDArray[np.int32]


class Hull(NamedTuple):
    """The convex hull of a window of fixes, in buffers.

    Attributes
    ----------
    corners
        x and y of each, in order.
    work
        For two chains of as many.
    state
        How many corners there are (-1: too many), the first fix that is within, and the first
        that is not yet.
    """

    corners: Ints
    work: Ints
    state: Ints


@kernel_private
def square(a: int, b: int) -> int:
    """Give the square of a distance; of one beyond all limits, something beyond them."""
    if max(abs(a), abs(b)) > FARTHEST:
        return np.int64(2) * FARTHEST * FARTHEST
    return np.int64(a) * np.int64(a) + np.int64(b) * np.int64(b)


@kernel_private
def cover(hull: Hull, x: NDArray[np.int32], y: NDArray[np.int32], first: int, last: int) -> bool:
    """Make it the hull of some fixes, the last one not included; say whether that was possible."""
    if hull.state[FIRST] != first:
        hull.state[SIZE], hull.state[FIRST], hull.state[COVERED] = 0, first, first
    while hull.state[COVERED] < last and hull.state[SIZE] >= 0:
        at = hull.state[COVERED]
        hull.state[SIZE] = _join(hull, hull.state[SIZE], np.int64(x[at]), np.int64(y[at]))
        hull.state[COVERED] += 1
    return hull.state[SIZE] >= 0


@kernel_private
def reaches(hull: Hull, x: int, y: int, limit: int) -> bool:
    """Tell whether a point is near enough to all corners."""
    far = 0
    for i in range(hull.state[SIZE]):
        far += square(hull.corners[i, 0] - x, hull.corners[i, 1] - y) > limit
    return far == 0


@kernel_private
def _join(hull: Hull, size: int, x: int, y: int) -> int:
    """Let a point join; return how many corners there are then, or -1 if they are too many.

    Corners are kept in the order of x and y, as Andrew's chains need them.
    """
    corners, at = hull.corners, size
    while at > 0 and (
        corners[at - 1, 0] > x or (corners[at - 1, 0] == x and corners[at - 1, 1] > y)
    ):
        at -= 1
    if at > 0 and corners[at - 1, 0] == x and corners[at - 1, 1] == y:
        return size
    if size == len(corners):
        return -1
    for i in range(size, at, -1):
        corners[i] = corners[i - 1]
    corners[at, 0], corners[at, 1] = x, y
    size += 1
    stays = hull.work[:size]
    stays[:] = 0
    for turn in (1, -1):
        _mark_chain(corners, size, turn, hull.work[size : 2 * size], stays)
    left = 0
    for i in range(size):
        if stays[i]:
            corners[left] = corners[i]
            left += 1
    return left


@kernel_private
def _mark_chain(corners: Ints, size: int, turn: int, chain: Ints, stays: Ints) -> None:
    """Mark the corners of the lower (turn 1) or the upper chain (Andrew's way)."""
    used = 0
    for i in range(size):
        while used > 1:
            a, b = corners[chain[used - 2]], corners[chain[used - 1]]
            along, up = corners[i, 0] - a[0], corners[i, 1] - a[1]
            if turn * ((b[0] - a[0]) * up - (b[1] - a[1]) * along) > 0:
                break
            used -= 1
        chain[used] = i
        used += 1
    for i in range(used):
        stays[chain[i]] = 1


def stays_of(
    fixes: tuple[Cells, Cells, Cells],
    offsets: Ints,
    limits: tuple[int, int, int],
    threads: int,
    tell: object = None,
) -> tuple[Ints, Ints, Ints]:
    """Find the stays of everybody.

    Parameters
    ----------
    fixes
        Cells (x, y) and slots, in the order of time.
    offsets
        Where each person's fixes start, and where the last one's end.
    limits
        The square of the diameter in cells, how many slots a stay takes at least, and how many
        slots between two fixes end it.
    tell
        Called with the number of people done.

    Returns
    -------
    Of each stay the person, its first fix and its last, in the order of people and time.
    """
    x, y, _ = fixes
    boxes = _boxed(x, y)
    people = len(offsets) - 1

    def work(first: int) -> tuple[Ints, Ints, Ints]:
        last = min(first + BLOCK, people)
        found: tuple[Ints, Ints, Ints] = _stays(
            fixes, offsets[first : last + 1], first, boxes, limits
        )
        return found

    none = np.zeros(0, np.int64)
    parts = [(none, none, none)]
    for done, part in enumerate(on_threads(threads, work, range(0, people, BLOCK)), 1):
        parts.append(part)
        if callable(tell):
            tell(min(done * BLOCK, people), people)
    who, first, last = (np.concatenate(column) for column in zip(*parts, strict=True))
    return who, first, last


@kernel
def _boxed(x: Cells, y: Cells) -> Boxes:
    """Give the box around each part of the fixes: x from, x to, y from, y to."""
    parts = (len(x) + PART - 1) // PART
    boxes = np.empty((parts, 4), np.int32)
    for part in range(parts):
        some = slice(part * PART, min((part + 1) * PART, len(x)))
        boxes[part] = x[some].min(), x[some].max(), y[some].min(), y[some].max()
    return boxes


@kernel_private
def _last_too_far(x: Cells, y: Cells, first: int, fix: int, boxes: Boxes, limit: int) -> int:
    """Give the last fix of a window (from `first` up to `fix`) that is too far from it, or -1."""
    at = fix - 1
    while at >= first:
        part = at // PART
        if (at + 1) % PART == 0 and part * PART >= first:
            wide = max(np.int64(x[fix]) - boxes[part, 0], np.int64(boxes[part, 1]) - x[fix])
            high = max(np.int64(y[fix]) - boxes[part, 2], np.int64(boxes[part, 3]) - y[fix])
            if square(wide, high) <= limit:
                at -= PART
                continue
        if square(np.int64(x[fix]) - x[at], np.int64(y[fix]) - y[at]) > limit:
            return at
        at -= 1
    return -1


@kernel_private
def _too_far(
    x: Cells,
    y: Cells,
    first: int,
    fix: int,
    lasting: bool,  # noqa: FBT001
    boxes: Boxes,
    limit: int,
    hull: Hull,
) -> int:
    """Give a fix of a window that is too far from a new one, or -1; the last one unless it lasts.

    A window that lasts long enough ends here, whichever of its fixes is too far.
    """
    if lasting and cover(hull, x, y, first, fix):
        return -1 if reaches(hull, x[fix], y[fix], limit) else fix - 1
    return _last_too_far(x, y, first, fix, boxes, limit)


@kernel_private
def _around(x: Cells, y: Cells, first: int, last: int, boxes: Boxes, box: Ints) -> None:
    """Write the box around some fixes, the last one included."""
    box[0], box[1], box[2], box[3] = x[last], x[last], y[last], y[last]
    at = first
    while at <= last:
        part = at // PART
        if at % PART == 0 and at + PART - 1 <= last:
            box[0], box[1] = min(box[0], boxes[part, 0]), max(box[1], boxes[part, 1])
            box[2], box[3] = min(box[2], boxes[part, 2]), max(box[3], boxes[part, 3])
            at += PART
            continue
        box[0], box[1] = min(box[0], x[at]), max(box[1], x[at])
        box[2], box[3] = min(box[2], y[at]), max(box[3], y[at])
        at += 1


@kernel
def _stays(
    fixes: tuple[Cells, Cells, Cells],
    offsets: Ints,
    base: int,
    boxes: Boxes,
    limits: tuple[int, int, int],
) -> tuple[Ints, Ints, Ints]:
    """Find the stays of some people."""
    x, y, t = fixes
    limit, least, silence = limits
    room = (offsets[-1] - offsets[0]) // 2 + 1
    who, first, last = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    found, box = 0, np.empty(4, np.int64)
    hull = Hull(
        np.empty((CORNERS, 2), np.int64), np.empty(2 * CORNERS, np.int64), np.full(3, -1, np.int64)
    )
    for person in range(len(offsets) - 1):
        start, end = offsets[person], offsets[person + 1]
        for fix in range(start, end + 1):
            over = fix == end or (fix > start and t[fix] - t[fix - 1] >= silence)
            far = fix - 1 if over else -1
            if not over and start < fix:
                wide = max(box[1], x[fix]) - min(box[0], x[fix])
                high = max(box[3], y[fix]) - min(box[2], y[fix])
                if square(wide, high) > limit:
                    lasting = t[fix - 1] - t[start] >= least
                    far = _too_far(x, y, start, fix, lasting, boxes, limit, hull)
            if far >= 0 and fix > start:
                if t[fix - 1] - t[start] >= least:
                    who[found], first[found], last[found] = base + person, start, fix - 1
                    found += 1
                    start = fix
                else:
                    start = far + 1
            if fix < end:
                if far >= 0 or fix == start:
                    _around(x, y, start, fix, boxes, box)
                else:
                    box[0], box[1] = min(box[0], x[fix]), max(box[1], x[fix])
                    box[2], box[3] = min(box[2], y[fix]), max(box[3], y[fix])
    return who[:found].copy(), first[:found].copy(), last[:found].copy()
