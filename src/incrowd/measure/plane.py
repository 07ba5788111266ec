"""The plane cut into regions, and time into bins: where the corners of merged boxes are.

Unlike zones, which are made of cells in which somebody was seen, regions cover everything: a corner
of a merged box may be where nobody ever was.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import light
from incrowd.measure.effort import Scale

__all__ = ["MOST", "REGIONS", "Plane", "cut", "region_of", "row_length"]

REGIONS = 1024
"""How many regions there are, and how many bins of time."""
NARROWEST = 10
"""A bin is no shorter than this many slots."""
DRAWN = 1 << 17
"""So many boxes are drawn to find out where corners will be."""
WIDEST = 1 << 29
"""Where data spans more cells or slots than this, distances do not fit in 32 bits."""
MOST = 255


class Plane(NamedTuple):
    """The plane, cut into regions, and the steps of a byte.

    Attributes
    ----------
    axis, cut, below
        The tree of cuts: across x (0) or y (1), at which cell, and the first of two branches. A
        leaf has no axis (-1), and its region in `below`.
    x0, x1, y0, y1
        The first and the last cell of each region.
    """

    axis: NDArray[np.int8]
    cut: NDArray[np.int32]
    below: NDArray[np.int32]
    x0: NDArray[np.int32]
    x1: NDArray[np.int32]
    y0: NDArray[np.int32]
    y1: NDArray[np.int32]
    bins: int
    first: int
    width: int
    """Of time: how many bins there are, where the first begins, and how long each is."""
    space_shift: int
    time_shift: int
    """A byte counts steps of two to this power."""
    fits: bool
    """Whether distances fit in 32 bits."""


def cut(
    columns: tuple[NDArray[np.int32], ...],
    offsets: NDArray[np.int64],
    scale: Scale,
    regions: int = REGIONS,
) -> Plane:
    """Cut the plane into at most so many regions, small where corners will be, and time as well.

    Merged boxes hold samples of one person as a rule, and others near her. So corners are guessed
    to be those of the boxes around two samples that somebody has in turn.
    """
    sides = zip(columns[::2], columns[1::2], strict=True)
    spans = [(int(low.min()), int(high.max()) - 1) for low, high in sides]
    fits = max(high - low for low, high in spans) <= WIDEST
    regions = max(1, regions if fits else 0)
    x, y, weight = _guessed(columns, offsets if regions > 1 else offsets[:1])
    far = 2 * scale.space
    tree: list[tuple[int, int, int]] = [(-1, 0, 0)]
    leaves = [(spans[0], spans[1], np.arange(len(x)))]
    nodes, queue = [0], [(-_blur(leaves[0], weight, far), 0)]
    while len(leaves) < regions and queue[0][0] < 0:
        _, leaf = heapq.heappop(queue)
        axis, at, low, high = _halves(leaves[leaf], x, y, weight)
        tree[nodes[leaf]] = (axis, at, len(tree))
        leaves[leaf] = low
        leaves.append(high)
        nodes[leaf] = len(tree)
        nodes.append(len(tree) + 1)
        tree += [(-1, 0, leaf), (-1, 0, len(leaves) - 1)]
        for number in (leaf, len(leaves) - 1):
            heapq.heappush(queue, (-_blur(leaves[number], weight, far), number))
    axes, cuts, below = zip(*tree, strict=True)
    first, last = spans[2]
    width = max(NARROWEST, -(-(last - first + 1) // regions))
    left, right, low, high = np.array([(*across, *along) for across, along, _ in leaves]).T
    return Plane(
        axis=np.array(axes, np.int8),
        cut=np.array(cuts, np.int32),
        below=np.array(below, np.int32),
        x0=left.astype(np.int32),
        x1=right.astype(np.int32),
        y0=low.astype(np.int32),
        y1=high.astype(np.int32),
        bins=-(-(last - first + 1) // width),
        first=first,
        width=width,
        space_shift=_shift(2 * scale.space),
        time_shift=_shift(2 * scale.time),
        fits=fits,
    )


def _shift(far: int) -> int:
    """Give the least power of two of which a byte holds so much."""
    return max(0, (-(-far // MOST) - 1).bit_length())


def row_length(plane: Plane) -> int:
    """Give how long a corner row is."""
    return 2 * len(plane.x0) + 3 * plane.bins


Leaf = tuple[tuple[int, int], tuple[int, int], NDArray[np.int64]]
"""A region while it is being cut: from where to where in x and in y, and the corners in it."""


def _guessed(
    columns: tuple[NDArray[np.int32], ...], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Give the cells of corners, and how many there are in each."""
    x0, x1, y0, y1 = columns[:4]
    samples = int(offsets[-1])
    one = np.arange(0, samples, max(1, samples // DRAWN))
    last = offsets[np.searchsorted(offsets, one, side="right")] - 1
    two = np.minimum(one + 1, last)
    low = [np.minimum(side[one], side[two]).astype(np.int64) for side in (x0, y0)]
    high = [np.maximum(side[one], side[two]).astype(np.int64) - 1 for side in (x1, y1)]
    both = np.stack([np.concatenate(pair) for pair in zip(low, high, strict=True)])
    (x, y), weight = np.unique(both, axis=1, return_counts=True)
    return x, y, weight


def _blur(leaf: Leaf, weight: NDArray[np.int64], far: int) -> int:
    """Tell how much is lost by not knowing where in a region corners are."""
    (x0, x1), (y0, y1), inside = leaf
    return min(far, x1 - x0 + y1 - y0) * int(weight[inside].sum())


def _halves(
    leaf: Leaf, x: NDArray[np.int64], y: NDArray[np.int64], weight: NDArray[np.int64]
) -> tuple[int, int, Leaf, Leaf]:
    """Cut a region across its longer side, with half of the corners on either side of the cut.

    Give the axis, the first cell behind the cut, and both parts.
    """
    across, along, inside = leaf
    axis = 0 if across[1] - across[0] >= along[1] - along[0] else 1
    first, last = (across, along)[axis]
    at = (x, y)[axis][inside]
    order = np.argsort(at, kind="stable")
    before = np.cumsum(weight[inside][order])
    middle = int(at[order[np.searchsorted(before, before[-1] / 2)]])
    # Before or behind the cell in the middle: where more is cut off from it.
    place = middle if middle - first >= last - middle else middle + 1
    under = at < place
    if axis == 0:
        halves = ((first, place - 1), along), ((place, last), along)
    else:
        halves = (across, (first, place - 1)), (across, (place, last))
    return axis, place, (*halves[0], inside[under]), (*halves[1], inside[~under])


@light
def region_of(x: int, y: int, plane: Plane) -> int:
    """Give the region of a cell."""
    node = 0
    while plane.axis[node] >= 0:
        value = x if plane.axis[node] == 0 else y
        node = plane.below[node] + (1 if value >= plane.cut[node] else 0)
    return plane.below[node]
