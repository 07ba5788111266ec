"""The input, laid out for searching: slots in the order of homes, features, rows."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import ZERO, compiled
from incrowd.errors import ArgumentError
from incrowd.measure.atlas import FAR, Atlas, draw
from incrowd.measure.bounds import Features, Slots, count_features, fill_rows, only_cells
from incrowd.measure.corners import HOMES, MARKS
from incrowd.measure.effort import Boxes, Scale
from incrowd.measure.lines import LANES, STRIPES, WIDTH
from incrowd.measure.pairs import World
from incrowd.measure.plane import cut, row_length
from incrowd.threads import on_threads

if TYPE_CHECKING:
    from incrowd.data.trajectories import Trajectories
    from incrowd.measure.stretch import Stretch

__all__ = ["boxes_of", "lay_out", "read_only", "scale_for"]


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


@compiled
def _reach(t1: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """Give, for every sample, the latest end among its person's samples so far."""
    reach = t1.copy()
    for person in range(len(offsets) - 1):
        for i in range(offsets[person] + 1, offsets[person + 1]):
            reach[i] = max(reach[i], reach[i - 1])
    return reach


@compiled
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
