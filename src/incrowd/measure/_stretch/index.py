"""The input, laid out for searching: slots in the order of homes, features, rows.

The exact cost of a pair of those who are alive, and the comparison of two costs.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel, kernel_inline, kernel_nogc
from incrowd._parallel import on_threads
from incrowd.errors import ArgumentError
from incrowd.measure._stretch.batch_bounds import LANES, STRIPES, WIDTH
from incrowd.measure._stretch.box_bounds import HOMES, MARKS, corner_each
from incrowd.measure._stretch.effort import Boxes, Scale, cost, cost_of_cells
from incrowd.measure._stretch.lower_bounds import (
    Features,
    Slots,
    bound_each,
    count_features,
    fill_rows,
    is_longer,
    only_cells,
)
from incrowd.measure._stretch.partition import FAR, Atlas, Plane, cut, draw, row_length

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.definition import Stretch

__all__ = [
    "EACH",
    "World",
    "boxes_of",
    "cheaper",
    "evaluate",
    "lay_out",
    "read_only",
    "samples_of",
    "scale_for",
]


EACH = 2048
"""So many samples of a trajectory are bounded one by one before an exact cost is computed."""


class World(NamedTuple):
    """All that a search looks at; it changes none of it."""

    base: Boxes
    merged: Boxes
    slots: Slots
    features: Features
    table: NDArray[np.uint8]
    """The rows in space, side by side: by stripe, zone and seat."""
    clock: NDArray[np.uint8]
    """The same in time: by stripe, bin and seat."""
    tops: NDArray[np.uint8]
    """For 64 chunks at a time, the least of each chunk."""
    rows: NDArray[np.uint8]
    """The rows in space and time, one by one: by slot, and zone or bin (zones first)."""
    marks: NDArray[np.uint16]
    """Of merged boxes: where to look for them in a corner row."""
    corners: NDArray[np.uint8]
    """The corner rows of merged trajectories, by slot; nothing where they are not used."""
    atlas: Atlas
    plane: Plane
    scale: Scale
    people: int
    bounds: bool


@kernel_inline
def samples_of(slot: int, world: World) -> tuple[Boxes, int, int]:
    """Give the boxes among which those of a slot are, and where. For light kernels."""
    start, end, base = world.slots.start[slot], world.slots.end[slot], len(world.base.t0)
    if start >= base:
        return world.merged, start - base, end - base
    return world.base, start, end


@kernel_nogc
def evaluate(
    a: int, b: int, world: World, most: float, each: NDArray[np.float64]
) -> tuple[int, int, bool]:
    """Give the cost of a pair of slots as numerator and denominator, and whether it is exact.

    It is not if it exceeds `most`: then the numerator is what it costs at least. `each` is room for
    the bounds of single samples, as many as fit.
    """
    slots, scale = world.slots, world.scale
    if not is_longer(a, b, slots.node, slots.start, slots.end):
        a, b = b, a
    n, whole = slots.crowd[a] + slots.crowd[b], (slots.end[a] - slots.start[a]) * scale.whole
    limit = np.int64(2) ** 62
    if most < 1 and scale.stop:
        limit = np.int64(most * n * whole * (1 + 1e-12)) + n
    top = _sum(a, b, limit, world, each)
    return top, n * whole, top <= limit


@kernel_nogc
def _sum(a: int, b: int, limit: int, world: World, each: NDArray[np.float64]) -> int:
    """Add up what the longer (a) costs with the shorter (b), no further than the limit."""
    slots, scale, atlas = world.slots, world.scale, world.atlas
    first, a0, a1 = samples_of(a, world)
    second, b0, b1 = samples_of(b, world)
    na, nb = slots.crowd[a], slots.crowd[b]
    n, bounds, base = na + nb, world.bounds and scale.stop, len(world.base.t0)
    near, late = world.rows[b, : atlas.zones], world.rows[b, atlas.zones :]
    if slots.cells[a] and slots.cells[b] and scale.small >= 1:
        space_step = scale.space_unit * atlas.space_step
        time_step = scale.time_unit * atlas.time_step
        return n * cost_of_cells(
            first,
            a0,
            a1,
            second,
            b0,
            b1,
            scale,
            bounds,
            near,
            late,
            space_step,
            time_step,
            limit // n,
        )
    last = min(a1, a0 + len(each)) if bounds else a0
    each = each[: last - a0]
    if len(world.corners) and slots.start[a] >= base and slots.start[b] >= base:
        corner_each(world.corners[b], world.marks, a0, last, na, nb, world.plane, scale, each)
    else:
        bound_each(first, a0, last, na, near, late, nb, slots.cells[b], atlas, scale, each)
    if n <= scale.small:
        return cost(np.int32, 2**31 - 1, first, a0, a1, na, second, b0, b1, nb, scale, limit, each)
    return cost(np.int64, 2**62, first, a0, a1, na, second, b0, b1, nb, scale, limit, each)


@kernel_nogc
def cheaper(a: int, b: int, c: int, d: int) -> int:
    """Compare a/b with c/d exactly: -1, 0 or 1. By Euclid, so that no product overflows."""
    sign = 1
    while True:
        p, q = a // b, c // d
        if p != q:
            return -sign if p < q else sign
        a, c = a - p * b, c - q * d
        if a == 0 or c == 0:
            return 0 if a == c else (-sign if a == 0 else sign)
        a, b, c, d, sign = b, a, d, c, -sign


def lay_out(
    data: "Trajectories",
    scale: Scale,
    *,
    threads: int,
    k: int | None = None,
    frozen: bool = False,
    bounds: bool = True,
    regions: int = 0,
    **atlas: Any,
) -> World:
    """Lay trajectories out for searching.

    Parameters
    ----------
    data, scale
        The trajectories, and how stretch is measured.
    threads
        How many threads to use.
    k
        From this crowd on a trajectory is full: no two full ones are a pair.
    frozen
        Whether full ones are left out altogether.
    bounds
        Whether bounds are used; without them, everybody is tried.
    regions
        How many regions there are for the corners of merged trajectories, at most; 0 if nothing
        will be merged, or not for long.
    atlas
        How many zones and bins there are at most.
    """
    drawn, zone, bin_ = draw(data.columns, scale, **atlas)
    boxes = boxes_of(data, zone, bin_)
    people = len(data)
    start, end = data.offsets[:-1], data.offsets[1:]
    features, number, cells, home = _survey(boxes, start, end, drawn)
    first = np.cumsum(number) - number
    # Neighbours share a chunk, the longer ones of a home after the shorter.
    order = np.lexsort((np.arange(people), end - start, home))
    full = np.zeros(people, np.bool_) if k is None else data.crowd >= k
    if frozen:
        order = order[~full[order]]
    n = len(order)
    size = max(1, -(-n // LANES)) * LANES
    slots = Slots(
        node=np.full(size, -1, np.int64),
        start=np.zeros(size, np.int64),
        end=np.zeros(size, np.int64),
        crowd=np.ones(size, np.int64),
        cells=np.zeros(size, np.bool_),
        full=np.zeros(size, np.bool_),
        feature=np.zeros(size, np.int64),
        features=np.zeros(size, np.int64),
        home=np.zeros(size, np.uint16),
        at_home=np.zeros(size, np.float32),
        homes=np.zeros((size, HOMES), np.uint16),
        share=np.zeros((size, HOMES), np.float32),
    )
    slots.node[:n] = order
    slots.start[:n], slots.end[:n] = start[order], end[order]
    slots.crowd[:n], slots.full[:n] = data.crowd[order], full[order]
    slots.cells[:n] = cells[order]
    # Features lie in the order of the slots, for searches go through them in that order.
    slots.features[:n] = number[order]
    slots.feature[:n] = np.cumsum(number[order]) - number[order]
    which = np.repeat(first[order] - slots.feature[:n], number[order])
    which += np.arange(len(which))
    laid = Features._make(column[which] for column in features)
    zones, bins = (drawn.zones, drawn.bins) if bounds else (1, 1)
    highs = -(-size // (LANES * LANES))
    table, clock = (_table(STRIPES * highs, number) for number in (zones, bins))
    rows = np.empty((size, zones + bins), np.uint8)
    tops = np.full((highs, zones, LANES), FAR, np.uint8)
    if bounds:
        step = LANES * LANES  # no two threads write under the same chunk
        jobs = ((low, min(low + step, n)) for low in range(0, n, step))

        def fill(job: tuple[int, int]) -> None:
            fill_rows(job[0], job[1], slots, laid, boxes, drawn, scale, table, clock, tops, rows)

        for _ in on_threads(threads, fill, jobs):
            pass
    none = read_only(Boxes._make(np.empty(0, column.dtype) for column in boxes))
    plane = cut(data.columns, data.offsets, scale, regions)
    merging = bounds and regions > 0 and plane.fits
    corners = np.empty((size if merging else 0, row_length(plane)), np.uint8)
    return World(
        boxes,
        none,
        slots,
        laid,
        table,
        clock,
        tops,
        rows,
        np.empty((0, MARKS), np.uint16),
        corners,
        drawn,
        plane,
        scale,
        people,
        bounds,
    )


def _table(stripes: int, lines: int) -> NDArray[np.uint8]:
    table = np.empty((stripes, lines, WIDTH), np.uint8)
    table[-STRIPES:] = FAR  # not all seats of the last ones are taken
    return table


def scale_for(data: "Trajectories", stretch: "Stretch", *, bounds: bool) -> Scale:
    """Make sure that costs can be computed exactly, and choose the numbers to compute them in."""
    people, longest = int(data.crowd.sum()), int(data.lengths().max())
    whole = (stretch.space_weight + stretch.time_weight) * stretch.max_space * stretch.max_time
    if whole * people * 2 * longest >= 1 << 53 or stretch.max_space * (people + 1) >= 1 << 31:
        raise ArgumentError(
            f"thresholds of {stretch.max_space:,} cells and {stretch.max_time:,} slots, weights of "
            f"{stretch.space_weight:,} and {stretch.time_weight:,}, a crowd of {people:,} and a "
            f"longest trajectory of {longest:,} are together too much for exact arithmetic in 64 "
            "bits; take larger cells or slots, or smaller thresholds or weights"
        )
    spans = [
        int(end.max()) - int(start.min())
        for start, end in zip(data.columns[::2], data.columns[1::2], strict=True)
    ]
    return stretch.scale(near=bounds, stop=bounds, small=(2**31 - 1) // (4 * max(spans)))


def boxes_of(
    data: "Trajectories",
    zone: NDArray[np.uint16] | None = None,
    bin_: NDArray[np.uint16] | None = None,
) -> Boxes:
    """Give the samples of a dataset for the kernels, without copying them."""
    none = np.empty(0, np.uint16)
    columns = data.columns
    reach = columns[5] if data.original else _reach(columns[5], data.offsets)
    codes = [none if code is None else code for code in (zone, bin_)]
    return read_only(Boxes._make([*columns, reach, *codes]))


def read_only(boxes: Boxes) -> Boxes:
    """Give the same boxes as arrays that cannot be written to."""
    views = [column.view() for column in boxes]
    for view in views:
        view.flags.writeable = False
    return Boxes._make(views)


@kernel
def _reach(t1: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """Give, for every sample, the latest end among its person's samples so far."""
    reach = t1.copy()
    for person in range(len(offsets) - 1):
        for i in range(offsets[person] + 1, offsets[person + 1]):
            reach[i] = max(reach[i], reach[i - 1])
    return reach


@kernel
def _survey(
    boxes: Boxes, start: NDArray[np.int64], end: NDArray[np.int64], atlas: Atlas
) -> tuple[Any, Any, Any, Any]:
    """Give features, their numbers, who is all cells, and the zone where each was seen most."""
    n, size = len(start), 1 << 16
    features = Features(
        np.empty(size, np.uint16), np.empty(size, np.int32), np.empty(size, np.uint16)
    )
    number, home, cells = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_)
    used = ZERO
    for person in range(n):
        more = end[person] - start[person]
        if used + more > len(features.zone):
            more += len(features.zone)
            features = Features(
                np.concatenate((features.zone, np.empty(more, np.uint16))),
                np.concatenate((features.count, np.empty(more, np.int32))),
                np.concatenate((features.wide, np.empty(more, np.uint16))),
            )
        found = count_features(boxes, start[person], end[person], atlas, features, used)
        number[person] = found
        if found:
            home[person] = features.zone[used]  # the first has most
        used += found
        cells[person] = only_cells(boxes, start[person], end[person], atlas)
    kept = (features.zone[:used].copy(), features.count[:used].copy(), features.wide[:used].copy())
    return kept, number, cells, home
