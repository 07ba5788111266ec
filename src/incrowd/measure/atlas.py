"""Zones and bins: a coarse map of space and time, on which costs are bounded from below.

Every cell in which anybody was seen belongs to a zone, every slot to a bin. A zone is one cell
while there are few cells (antennas), and a rectangle of neighbouring cells where there are many
(satellite fixes).

A trajectory's *row* holds, for every zone and for every bin, the least that it costs to merge a
sample that lies there with any of its own: in space alone, or in time alone. Whatever a sample
costs in the end, it costs at least both together. Rows are bytes, rounded down.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import inner
from incrowd.measure.effort import Boxes, Scale

__all__ = ["BINS", "FAR", "ZONES", "Atlas", "draw", "row_of", "zones_of"]

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


@inner
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


@inner
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


@inner
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
