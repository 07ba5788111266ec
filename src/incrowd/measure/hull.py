"""The convex hull of a window of fixes: whatever is near enough to its corners is to all within.

On a grid a hull has few corners: some hundred if it is 250 cells wide. They are kept in the order
of x and y; a point joins by going through all of them once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Ints, inner

__all__ = ["CORNERS", "FARTHEST", "Hull", "cover", "reaches", "square"]

CORNERS = 4096
"""How many corners a hull may have; one with more is given up."""
FARTHEST = 2**30
"""No distance that matters has as many cells, so that squares fit into 64 bits."""
SIZE, FIRST, COVERED = 0, 1, 2


class Hull(NamedTuple):
    """Room for a hull.

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


@inner
def square(a: int, b: int) -> int:
    """Give the square of a distance; of one beyond all limits, something beyond them."""
    if max(abs(a), abs(b)) > FARTHEST:
        return np.int64(2) * FARTHEST * FARTHEST
    return np.int64(a) * np.int64(a) + np.int64(b) * np.int64(b)


@inner
def cover(hull: Hull, x: NDArray[np.int32], y: NDArray[np.int32], first: int, last: int) -> bool:
    """Make it the hull of some fixes, the last one not included; say whether that was possible."""
    if hull.state[FIRST] != first:
        hull.state[SIZE], hull.state[FIRST], hull.state[COVERED] = 0, first, first
    while hull.state[COVERED] < last and hull.state[SIZE] >= 0:
        at = hull.state[COVERED]
        hull.state[SIZE] = _join(hull, hull.state[SIZE], np.int64(x[at]), np.int64(y[at]))
        hull.state[COVERED] += 1
    return hull.state[SIZE] >= 0


@inner
def reaches(hull: Hull, x: int, y: int, limit: int) -> bool:
    """Tell whether a point is near enough to all corners."""
    far = 0
    for i in range(hull.state[SIZE]):
        far += square(hull.corners[i, 0] - x, hull.corners[i, 1] - y) > limit
    return far == 0


@inner
def _join(hull: Hull, size: int, x: int, y: int) -> int:
    """Let a point join; give how many corners there are then, or -1 if they are too many."""
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


@inner
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
