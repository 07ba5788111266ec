"""Zones and bins: a coarse map of space and time, on which costs are bounded from below.

Every cell in which anybody was seen belongs to a zone, every slot to a bin. A zone is one cell
while there are few cells (antennas), and a rectangle of neighbouring cells where there are many
(satellite fixes).

A trajectory's *row* holds, for every zone and for every bin, the least that it costs to merge a
sample that lies there with any of its own: in space alone, or in time alone. Whatever a sample
costs in the end, it costs at least both together. Rows are bytes, rounded down.

The plane cut into regions, and time into bins: where the corners of merged boxes are.

Unlike zones, which are made of cells in which somebody was seen, regions cover everything: a corner
of a merged box may be where nobody ever was.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel_nogc, kernel_private
from incrowd.measure._stretch.effort import Boxes, Scale

__all__ = [
    "BINS",
    "FAR",
    "MOST",
    "REGIONS",
    "ZONES",
    "Atlas",
    "Plane",
    "cut",
    "draw",
    "region_of",
    "row_length",
    "row_of",
    "zones_of",
]


FAR = 255
ZONES, BINS = 2048, 2048
NARROWEST = 10
"""A bin is no shorter than this many slots: shorter ones cost more than they save."""


class Atlas(NamedTuple):
    """The map: zones as half-open rectangles, bins by their width, and the steps of a byte."""

    x0: NDArray[np.int32]
    x1: NDArray[np.int32]
    y0: NDArray[np.int32]
    y1: NDArray[np.int32]
    zones: int
    bins: int
    first: int
    width: int
    space_step: int
    time_step: int
    thin_x: int
    """What the narrowest box has beyond one cell; every box is taken that much narrower."""
    thin_y: int
    thin_t: int


def draw(
    boxes: tuple[NDArray[np.int32], ...],
    scale: Scale,
    *,
    zones: int = ZONES,
    bins: int = BINS,
    whole: bool = True,
) -> tuple[Atlas, NDArray[np.uint16], NDArray[np.uint16]]:
    """Draw the map of some samples, and tell the zone and the bin of each.

    `whole` tells that boxes may be cut in time, to pieces that are shorter than any of these.
    """
    x0, x1, y0, y1, t0, t1 = boxes
    place = (x0.astype(np.int64) << 32) | (y0.astype(np.int64) - np.iinfo(np.int32).min)
    found, code = np.unique(place, return_inverse=True)
    x = (found >> 32).astype(np.int32)
    y = ((found & 0xFFFFFFFF) + np.iinfo(np.int32).min).astype(np.int32)
    zone, hulls = zones_of(x, y, np.bincount(code, minlength=len(found)), zones)
    first, last = int(t0.min()), int(t1.max())
    width = max(NARROWEST, -(-(last - first) // bins))
    left, right, low, high = hulls
    atlas = Atlas(
        x0=left,
        x1=right,
        y0=low,
        y1=high,
        zones=len(hulls[0]),
        bins=-(-(last - first) // width),
        first=first,
        width=width,
        space_step=-(-scale.space // (FAR - 1)),
        time_step=-(-scale.time // (FAR - 1)),
        thin_x=_narrowest(x0, x1) - 1,
        thin_y=_narrowest(y0, y1) - 1,
        thin_t=0 if whole else _narrowest(t0, t1) - 1,
    )
    middle = (t0.astype(np.int64) + t1 - atlas.thin_t - 1) // 2
    return atlas, zone[code], ((middle - first) // width).astype(np.uint16)


def _narrowest(start: NDArray[np.int32], end: NDArray[np.int32]) -> int:
    step = 1 << 20  # by pieces, for differences do not fit in 32 bits
    pieces = range(0, len(start), step)
    return min(
        int((end[i : i + step].astype(np.int64) - start[i : i + step]).min()) for i in pieces
    )


def zones_of(
    x: NDArray[np.int32], y: NDArray[np.int32], weight: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.uint16], tuple[NDArray[np.int32], ...]]:
    """Group cells into at most so many rectangles: halve, again and again, the one that blurs most.

    Zones are numbered so that neighbours mostly have near numbers.
    """
    groups = [np.arange(len(x))]
    queue = [(-_blur(x, y, weight, groups[0]), 0)]
    while len(groups) < limit and queue[0][0] < 0:
        _, index = heapq.heappop(queue)
        groups[index], other = _halves(x, y, weight, groups[index])
        groups.append(other)
        for number in (index, len(groups) - 1):
            heapq.heappush(queue, (-_blur(x, y, weight, groups[number]), number))
    hulls = np.array([(x[g].min(), x[g].max(), y[g].min(), y[g].max()) for g in groups], np.int64)
    order = np.argsort(_along(hulls[:, 0] + hulls[:, 1], hulls[:, 2] + hulls[:, 3]), kind="stable")
    zone = np.empty(len(x), np.uint16)
    for number, group in enumerate(order):
        zone[groups[group]] = number
    sides = hulls[order] + (0, 1, 0, 1)
    return zone, tuple(np.ascontiguousarray(side, np.int32) for side in sides.T)


def _extent(side: NDArray[np.int32]) -> int:
    """Tell how far numbers lie apart, which may be more than they can hold themselves."""
    return int(side.max()) - int(side.min())


def _blur(
    x: NDArray[np.int32], y: NDArray[np.int32], weight: NDArray[np.int64], group: NDArray[np.int64]
) -> int:
    """Tell how much is lost by taking a group of cells as one: its extent, times its samples."""
    return (_extent(x[group]) + _extent(y[group])) * int(weight[group].sum())


def _halves(
    x: NDArray[np.int32], y: NDArray[np.int32], weight: NDArray[np.int64], group: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut a group across its longer side, with half of the samples on either side of the cut."""
    side = x[group] if _extent(x[group]) >= _extent(y[group]) else y[group]
    order = np.argsort(side, kind="stable")
    along = side[order]
    before = np.cumsum(weight[group][order])
    cuts = np.flatnonzero(np.diff(along))  # the last cell before each possible cut
    cut = cuts[np.argmin(np.abs(2 * before[cuts] - before[-1]))] + 1
    return group[order[:cut]], group[order[cut:]]


def _along(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the places of points along a curve that visits neighbours in turn (Morton's)."""
    code = np.zeros(len(x), np.int64)
    for bit in range(31):
        code |= ((x - x.min() >> bit) & 1) << 2 * bit | ((y - y.min() >> bit) & 1) << 2 * bit + 1
    return code


@kernel_private
def _space_row(
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    atlas: Atlas,
    scale: Scale,
    row: NDArray[np.int32],
) -> None:
    """Find the least that a sample in each zone costs in space, times (1 + crowd)."""
    most, weight = np.int32(scale.space), np.int32(1 + crowd)
    row[: atlas.zones] = most * weight
    seen = np.zeros(atlas.zones, np.bool_)
    for j in range(start, end):
        x0, x1 = boxes.x0[j], np.int32(boxes.x1[j] - atlas.thin_x)
        y0, y1 = boxes.y0[j], np.int32(boxes.y1[j] - atlas.thin_y)
        zone = boxes.zone[j]
        alike = (
            x0 == atlas.x0[zone]
            and x1 == atlas.x1[zone]
            and y0 == atlas.y0[zone]
            and y1 == atlas.y1[zone]
        )
        if alike and seen[zone]:
            continue
        seen[zone] |= alike
        wide = np.int32(min(most * weight, (x1 - x0 - 1) + (y1 - y0 - 1)))
        for z in range(atlas.zones):
            gap = max(0, atlas.x0[z] + 1 - x1, x0 + 1 - atlas.x1[z]) + max(
                0, atlas.y0[z] + 1 - y1, y0 + 1 - atlas.y1[z]
            )
            row[z] = min(row[z], np.int32(min(most, gap)) * weight + wide)


@kernel_private
def _time_row(
    boxes: Boxes, start: int, end: int, crowd: int, atlas: Atlas, row: NDArray[np.int64]
) -> None:
    """Find the least that a sample in each bin costs in time, times (1 + crowd).

    Left of its first bin and right of its last a sample costs more the farther away it is, at the
    same rate for all; so one sweep each way carries the cheapest along.
    """
    weight, none = 1 + crowd, np.int64(1) << 40
    row[: atlas.bins] = none
    ahead = np.full(atlas.bins + 1, none)
    behind = np.full(atlas.bins + 1, none)
    for j in range(start, end):
        t0, t1 = boxes.t0[j], boxes.t1[j] - atlas.thin_t
        long = t1 - t0 - 1
        low, high = (t0 - atlas.first) // atlas.width, (t1 - 1 - atlas.first) // atlas.width
        for bin_ in range(low, high + 1):
            row[bin_] = min(row[bin_], long)
        ahead[high + 1] = min(ahead[high + 1], long - weight * t1)
        behind[low] = min(behind[low], long + weight * t0)
    carried = none
    for bin_ in range(atlas.bins):
        carried = min(carried, ahead[bin_])
        opens = atlas.first + bin_ * atlas.width
        if carried < none:
            row[bin_] = min(row[bin_], carried + weight * (opens + 1))
    carried = none
    for bin_ in range(atlas.bins - 1, -1, -1):
        carried = min(carried, behind[bin_ + 1])
        closes = atlas.first + (bin_ + 1) * atlas.width
        if carried < none:
            row[bin_] = min(row[bin_], carried - weight * (closes - 1))


@kernel_private
def row_of(
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    atlas: Atlas,
    scale: Scale,
    row: NDArray[np.uint8],
) -> None:
    """Write the row of a trajectory that stands for a crowd."""
    weight = 1 + crowd
    space = np.empty(atlas.zones, np.int32)
    _space_row(boxes, start, end, crowd, atlas, scale, space)
    for z in range(atlas.zones):
        row[z] = min(scale.space, space[z] // weight) // atlas.space_step
    time = np.empty(atlas.bins, np.int64)
    _time_row(boxes, start, end, crowd, atlas, time)
    for b in range(atlas.bins):
        row[atlas.zones + b] = min(scale.time, time[b] // weight) // atlas.time_step


REGIONS = 1024
"""How many regions there are, and how many bins of time."""
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
    nodes, queue = [0], [(-_region_blur(leaves[0], weight, far), 0)]
    while len(leaves) < regions and queue[0][0] < 0:
        _, leaf = heapq.heappop(queue)
        axis, at, low, high = _halve_region(leaves[leaf], x, y, weight)
        tree[nodes[leaf]] = (axis, at, len(tree))
        leaves[leaf] = low
        leaves.append(high)
        nodes[leaf] = len(tree)
        nodes.append(len(tree) + 1)
        tree += [(-1, 0, leaf), (-1, 0, len(leaves) - 1)]
        for number in (leaf, len(leaves) - 1):
            heapq.heappush(queue, (-_region_blur(leaves[number], weight, far), number))
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


def _region_blur(leaf: Leaf, weight: NDArray[np.int64], far: int) -> int:
    """Tell how much is lost by not knowing where in a region corners are."""
    (x0, x1), (y0, y1), inside = leaf
    return min(far, x1 - x0 + y1 - y0) * int(weight[inside].sum())


def _halve_region(
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


@kernel_nogc
def region_of(x: int, y: int, plane: Plane) -> int:
    """Give the region of a cell."""
    node = 0
    while plane.axis[node] >= 0:
        value = x if plane.axis[node] == 0 else y
        node = plane.below[node] + (1 if value >= plane.cut[node] else 0)
    return plane.below[node]
