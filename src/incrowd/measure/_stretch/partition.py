"""Space cut into regions and time into bins: the coarse maps on which costs are bounded from below.

There are two of them, made by the same bisection::

    samples of people ──> SpaceTimePartition   regions are the occupied cells, grouped: one cell
                                               where there are few (antennas), a rectangle of
                                               neighbours where there are many (satellite fixes)
    corners of boxes  ──> KdPartition          regions are the leaves of a k-d tree and cover the
                                               plane: a corner of a merged box may lie where nobody
                                               ever was

A trajectory's *distance row* holds, for every region and for every time bin, the least that it
costs to merge a sample that lies there with any of its own: in space alone, or in time alone.
Whatever a sample costs in the end, it costs at least both together. Rows are bytes, rounded down.
(The rows on a `KdPartition` are in `box_bounds`.)
"""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel_nogc, kernel_private
from incrowd.measure._stretch.effort import Boxes, Scale

__all__ = [
    "BINS",
    "CORNER_REGIONS",
    "FAR",
    "REGIONS",
    "KdPartition",
    "SpaceTimePartition",
    "build_kd_partition",
    "build_partition",
    "corner_row_length",
    "distance_row",
    "kd_region",
    "morton_code",
    "regions_of",
]


FAR = 255
"""The largest byte: of a distance, as far as it can be told; of a lane in a tile, not in use."""
REGIONS, BINS = 2048, 2048
"""Of a `SpaceTimePartition`: how many regions and time bins there are at most."""
CORNER_REGIONS = 1024
"""Of a `KdPartition`: how many regions there are at most, and how many time bins."""
NARROWEST = 10
"""A time bin is no shorter than this many slots: shorter ones cost more than they save."""
GUESSED = 1 << 17
"""So many boxes are looked at to find out where corners will be."""
WIDEST = 1 << 29
"""Where data spans more cells or slots than this, distances of corners do not fit in 32 bits."""

Span = tuple[int, int]
"""The first and the last cell along an axis."""
Leaf = tuple[Span, Span, NDArray[np.int64]]
"""A region while it is being halved: its spans in x and y, and the points in it."""
Split = tuple[int, int, int]
"""Which leaf was halved, across which axis, and the first cell of the upper half."""


class SpaceTimePartition(NamedTuple):
    """Regions as half-open rectangles, time bins by their width, and the steps of a byte."""

    x0: NDArray[np.int32]
    x1: NDArray[np.int32]
    y0: NDArray[np.int32]
    y1: NDArray[np.int32]
    regions: int
    bins: int
    first: int
    """The first slot of the first time bin."""
    width: int
    """How many slots a time bin has."""
    space_step: int
    """How many cells a step of a byte is."""
    time_step: int
    """How many slots a step of a byte is."""
    thin_x: int
    """What the narrowest box has beyond one cell; every box is taken that much narrower."""
    thin_y: int
    thin_t: int


class KdPartition(NamedTuple):
    """The plane, cut into the leaves of a k-d tree, time bins, and the steps of a byte.

    Attributes
    ----------
    axis, threshold, below
        The tree: each node is cut across x (0) or y (1), its upper branch begins at the cell
        `threshold`, and `below` is the first of its two branches. A leaf has no axis (-1), and its
        region in `below`.
    x0, x1, y0, y1
        The first and the last cell of each region.
    """

    axis: NDArray[np.int8]
    threshold: NDArray[np.int32]
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


# Bisection: which cells, or which part of the plane, make one region.


def _bisected(
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    weight: NDArray[np.int64],
    limit: int,
    *,
    spans: tuple[Span, Span] | None = None,
    far: int | None = None,
) -> tuple[list[Leaf], list[Split]]:
    """Halve again and again, up to so many regions, the one that blurs most.

    With `spans`, regions cover these, and no distance counts beyond `far`; otherwise each region
    is the hull of its points. A half keeps the number of the whole, the other one gets the next.
    """

    def leaf(across: Span, along: Span, inside: NDArray[np.int64]) -> Leaf:
        if spans is None:
            across, along = _hull(x[inside]), _hull(y[inside])
        return across, along, inside

    def blur(region: Leaf) -> int:
        """Say how much is lost by not knowing where in a region points are."""
        (x0, x1), (y0, y1), inside = region
        extent = x1 - x0 + y1 - y0
        return (extent if far is None else min(far, extent)) * int(weight[inside].sum())

    leaves: list[Leaf] = [leaf(*(spans or ((0, 0), (0, 0))), np.arange(len(x)))]
    splits: list[Split] = []
    queue = [(-blur(leaves[0]), 0)]
    while len(leaves) < limit and queue[0][0] < 0:
        _, number = heapq.heappop(queue)
        across, along, inside = leaves[number]
        axis = 0 if across[1] - across[0] >= along[1] - along[0] else 1
        at, (first, last) = (x, y)[axis][inside], (across, along)[axis]
        place = _weighted_cut(at, weight[inside], first, last)
        under = at < place
        lower, upper = (first, place - 1), (place, last)
        halves = (
            ((lower, along), (upper, along)) if axis == 0 else ((across, lower), (across, upper))
        )
        splits.append((number, axis, place))
        leaves[number] = leaf(*halves[0], inside[under])
        leaves.append(leaf(*halves[1], inside[~under]))
        for half in (number, len(leaves) - 1):
            heapq.heappush(queue, (-blur(leaves[half]), half))
    return leaves, splits


def _weighted_cut(at: NDArray[np.int64], weight: NDArray[np.int64], first: int, last: int) -> int:
    """Give the first cell of the upper half: beside the cell where half of the weight is reached.

    Before it or behind it, where the halves are more even; of equals, where more is cut off from
    it. Neither half is empty, for `last` is beyond `first`.
    """
    order = np.argsort(at, kind="stable")
    before, total = np.cumsum(weight[order]), int(weight.sum())
    middle = int(at[order[np.searchsorted(2 * before, total)]])
    if middle in (first, last):
        return middle + 1 if middle == first else middle
    under, until = int(weight[at < middle].sum()), int(weight[at <= middle].sum())
    uneven = abs(2 * under - total) - abs(2 * until - total)
    if uneven == 0:
        uneven = (last - middle) - (middle - first)
    return middle if uneven <= 0 else middle + 1


def _hull(side: NDArray[np.int64]) -> Span:
    return int(side.min()), int(side.max())


def morton_code(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give where points lie on Morton's curve, which visits neighbours in turn."""
    code, x, y = np.zeros(len(x), np.int64), x - x.min(), y - y.min()
    for bit in range(31):
        code |= ((x >> bit) & 1) << 2 * bit | ((y >> bit) & 1) << 2 * bit + 1
    return code


def _time_bins(first: int, end: int, limit: int) -> tuple[int, int]:
    """Give how many time bins there are from a slot to another, and how many slots each has."""
    width = max(NARROWEST, -(-(end - first) // limit))
    return -(-(end - first) // width), width


# Regions of cells in which somebody was seen.


def build_partition(
    boxes: tuple[NDArray[np.int32], ...],
    scale: Scale,
    *,
    regions: int = REGIONS,
    bins: int = BINS,
    whole: bool = True,
) -> tuple[SpaceTimePartition, NDArray[np.uint16], NDArray[np.uint16]]:
    """Cut the space and time of some samples; give the region and the time bin of each as well.

    `whole` tells that boxes may be cut in time, to pieces that are shorter than any of these.
    """
    x0, x1, y0, y1, t0, t1 = boxes
    place = (x0.astype(np.int64) << 32) | (y0.astype(np.int64) - np.iinfo(np.int32).min)
    found, code = np.unique(place, return_inverse=True)
    x, y = found >> 32, (found & 0xFFFFFFFF) + np.iinfo(np.int32).min
    region, hulls = regions_of(x, y, np.bincount(code, minlength=len(found)), regions)
    first = int(t0.min())
    number, width = _time_bins(first, int(t1.max()), bins)
    left, right, low, high = hulls
    partition = SpaceTimePartition(
        x0=left,
        x1=right,
        y0=low,
        y1=high,
        regions=len(left),
        bins=number,
        first=first,
        width=width,
        space_step=-(-scale.space // (FAR - 1)),
        time_step=-(-scale.time // (FAR - 1)),
        thin_x=_narrowest(x0, x1) - 1,
        thin_y=_narrowest(y0, y1) - 1,
        thin_t=0 if whole else _narrowest(t0, t1) - 1,
    )
    middle = (t0.astype(np.int64) + t1 - partition.thin_t - 1) // 2
    return partition, region[code], ((middle - first) // width).astype(np.uint16)


def _narrowest(start: NDArray[np.int32], end: NDArray[np.int32]) -> int:
    step = 1 << 20  # by pieces, for differences do not fit in 32 bits
    pieces = range(0, len(start), step)
    return min(
        int((end[i : i + step].astype(np.int64) - start[i : i + step]).min()) for i in pieces
    )


def regions_of(
    x: NDArray[np.int64], y: NDArray[np.int64], weight: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.uint16], tuple[NDArray[np.int32], ...]]:
    """Group cells into at most so many rectangles; give the region of each cell, and the sides.

    Regions are numbered so that neighbours mostly have near numbers: trajectories are sorted by
    the region where they are seen most, and those nearby are then left out of a search together.
    """
    leaves, _ = _bisected(x, y, weight, limit)
    hulls = np.array([(*across, *along) for across, along, _ in leaves], np.int64)
    curve = morton_code(hulls[:, 0] + hulls[:, 1], hulls[:, 2] + hulls[:, 3])
    order = np.argsort(curve, kind="stable")
    region = np.empty(len(x), np.uint16)
    for number, leaf in enumerate(order):
        region[leaves[leaf][2]] = number
    sides = hulls[order] + (0, 1, 0, 1)
    return region, tuple(np.ascontiguousarray(side, np.int32) for side in sides.T)


@kernel_private
def distance_row(
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    partition: SpaceTimePartition,
    scale: Scale,
    row: NDArray[np.uint8],
) -> None:
    """Write the distance row of a trajectory that stands for a crowd: regions, then time bins.

    Divided by the crowd of both and rounded down, so that one row serves for any other crowd: a
    larger one than the single person that is assumed makes the pair no cheaper.
    """
    weight = 1 + crowd
    space = np.empty(partition.regions, np.int32)
    _space_distances(boxes, start, end, crowd, partition, scale, space)
    for r in range(partition.regions):
        row[r] = min(scale.space, space[r] // weight) // partition.space_step
    time = np.empty(partition.bins, np.int64)
    _time_distances(boxes, start, end, crowd, partition, time)
    for b in range(partition.bins):
        row[partition.regions + b] = min(scale.time, time[b] // weight) // partition.time_step


@kernel_private
def _space_distances(
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    partition: SpaceTimePartition,
    scale: Scale,
    row: NDArray[np.int32],
) -> None:
    """Find the least that a sample in each region costs in space, times (1 + crowd)."""
    most, weight = np.int32(scale.space), np.int32(1 + crowd)
    row[: partition.regions] = most * weight
    seen = np.zeros(partition.regions, np.bool_)
    for j in range(start, end):
        x0, x1 = boxes.x0[j], np.int32(boxes.x1[j] - partition.thin_x)
        y0, y1 = boxes.y0[j], np.int32(boxes.y1[j] - partition.thin_y)
        region = boxes.region[j]
        alike = (
            x0 == partition.x0[region]
            and x1 == partition.x1[region]
            and y0 == partition.y0[region]
            and y1 == partition.y1[region]
        )
        # People return to the same antennas: a box that is its region changes nothing twice.
        if alike and seen[region]:
            continue
        seen[region] |= alike
        # Whoever merges with this box is stretched to all of it, the one person at least.
        wide = np.int32(min(most * weight, (x1 - x0 - 1) + (y1 - y0 - 1)))
        for r in range(partition.regions):
            gap = max(0, partition.x0[r] + 1 - x1, x0 + 1 - partition.x1[r]) + max(
                0, partition.y0[r] + 1 - y1, y0 + 1 - partition.y1[r]
            )
            row[r] = min(row[r], np.int32(min(most, gap)) * weight + wide)


@kernel_private
def _time_distances(
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    partition: SpaceTimePartition,
    row: NDArray[np.int64],
) -> None:
    """Find the least that a sample in each time bin costs in time, times (1 + crowd).

    Left of its first bin and right of its last a sample costs more the farther away it is, at the
    same rate for all; so one sweep each way carries the cheapest along.
    """
    weight, none = 1 + crowd, np.int64(1) << 40
    row[: partition.bins] = none
    ahead = np.full(partition.bins + 1, none)
    behind = np.full(partition.bins + 1, none)
    for j in range(start, end):
        t0, t1 = boxes.t0[j], boxes.t1[j] - partition.thin_t
        long = t1 - t0 - 1
        low = (t0 - partition.first) // partition.width
        high = (t1 - 1 - partition.first) // partition.width
        for b in range(low, high + 1):
            row[b] = min(row[b], long)
        # What it costs at a moment t behind is long + weight * (t + 1 - t1): linear in t.
        ahead[high + 1] = min(ahead[high + 1], long - weight * t1)
        behind[low] = min(behind[low], long + weight * t0)
    carried = none
    for b in range(partition.bins):
        carried = min(carried, ahead[b])
        opens = partition.first + b * partition.width
        if carried < none:
            row[b] = min(row[b], carried + weight * (opens + 1))
    carried = none
    for b in range(partition.bins - 1, -1, -1):
        carried = min(carried, behind[b + 1])
        closes = partition.first + (b + 1) * partition.width
        if carried < none:
            row[b] = min(row[b], carried - weight * (closes - 1))


# Regions that cover the plane, for the corners of merged boxes.


def build_kd_partition(
    columns: tuple[NDArray[np.int32], ...],
    offsets: NDArray[np.int64],
    scale: Scale,
    regions: int = CORNER_REGIONS,
) -> KdPartition:
    """Cut the plane into at most so many regions, small where corners will be, and time as well."""
    sides = zip(columns[::2], columns[1::2], strict=True)
    spans = [(int(low.min()), int(high.max()) - 1) for low, high in sides]
    fits = max(high - low for low, high in spans) <= WIDEST
    regions = max(1, regions if fits else 0)
    x, y, weight = _guessed_corners(columns, offsets if regions > 1 else offsets[:1])
    leaves, splits = _bisected(
        x, y, weight, regions, spans=(spans[0], spans[1]), far=2 * scale.space
    )
    axis, threshold, below = _tree(splits)
    first, last = spans[2]
    bins, width = _time_bins(first, last + 1, regions)
    left, right, low, high = np.array([(*across, *along) for across, along, _ in leaves]).T
    return KdPartition(
        axis=axis,
        threshold=threshold,
        below=below,
        x0=left.astype(np.int32),
        x1=right.astype(np.int32),
        y0=low.astype(np.int32),
        y1=high.astype(np.int32),
        bins=bins,
        first=first,
        width=width,
        space_shift=_shift(2 * scale.space),
        time_shift=_shift(2 * scale.time),
        fits=fits,
    )


def _tree(
    splits: list[Split],
) -> tuple[NDArray[np.int8], NDArray[np.int32], NDArray[np.int32]]:
    """Lay the halvings out as a tree (see `KdPartition`), its root first."""
    tree, node_of = [(-1, 0, 0)], [0]
    for leaf, axis, place in splits:
        other = len(node_of)
        tree[node_of[leaf]] = (axis, place, len(tree))
        node_of[leaf] = len(tree)
        node_of.append(len(tree) + 1)
        tree += [(-1, 0, leaf), (-1, 0, other)]
    axes, thresholds, below = zip(*tree, strict=True)
    return np.array(axes, np.int8), np.array(thresholds, np.int32), np.array(below, np.int32)


def _shift(far: int) -> int:
    """Give the least power of two of which a byte holds so much."""
    return max(0, (-(-far // FAR) - 1).bit_length())


def corner_row_length(kd: KdPartition) -> int:
    """Give how long a corner row is: low and high corners; starts, ends and middles."""
    return 2 * len(kd.x0) + 3 * kd.bins


def _guessed_corners(
    columns: tuple[NDArray[np.int32], ...], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Guess the cells of corners, and how many there are in each.

    Merged boxes hold samples of one person as a rule, and others near her. So corners are guessed
    to be those of the boxes around two samples that somebody has in turn.
    """
    x0, x1, y0, y1 = columns[:4]
    samples = int(offsets[-1])
    one = np.arange(0, samples, max(1, samples // GUESSED))
    last = offsets[np.searchsorted(offsets, one, side="right")] - 1
    two = np.minimum(one + 1, last)
    low = [np.minimum(side[one], side[two]).astype(np.int64) for side in (x0, y0)]
    high = [np.maximum(side[one], side[two]).astype(np.int64) - 1 for side in (x1, y1)]
    both = np.stack([np.concatenate(pair) for pair in zip(low, high, strict=True)])
    (x, y), weight = np.unique(both, axis=1, return_counts=True)
    return x, y, weight


@kernel_nogc
def kd_region(x: int, y: int, kd: KdPartition) -> int:
    """Give the region of a cell."""
    node = 0
    while kd.axis[node] >= 0:
        value = x if kd.axis[node] == 0 else y
        node = kd.below[node] + (1 if value >= kd.threshold[node] else 0)
    return kd.below[node]
