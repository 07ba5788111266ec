"""The exact cost of a pair of those who are alive, and the comparison of two costs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import inlined, light
from incrowd.measure.atlas import Atlas
from incrowd.measure.bounds import Features, Slots, bound_each, is_longer
from incrowd.measure.corners import corner_each
from incrowd.measure.effort import Boxes, Scale, cost, cost_of_cells
from incrowd.measure.plane import Plane

__all__ = ["EACH", "World", "cheaper", "evaluate", "samples_of"]

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


@inlined
def samples_of(slot: int, world: World) -> tuple[Boxes, int, int]:
    """Give the boxes among which those of a slot are, and where. For light kernels."""
    start, end, base = world.slots.start[slot], world.slots.end[slot], len(world.base.t0)
    if start >= base:
        return world.merged, start - base, end - base
    return world.base, start, end


@light
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


@light
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


@light
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
