"""The exact cost of a pair of those who are alive, and the comparison of two costs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import inner
from incrowd.measure.atlas import Atlas
from incrowd.measure.bounds import Features, Slots, bound_each, is_longer
from incrowd.measure.effort import Boxes, Scale, cost, cost_of_cells

__all__ = ["World", "cheaper", "evaluate"]


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
    atlas: Atlas
    scale: Scale
    people: int
    bounds: bool


@inner
def evaluate(a: int, b: int, world: World, most: float) -> tuple[int, int, bool]:
    """Give the cost of a pair of slots as numerator and denominator, and whether it is exact.

    It is not if it exceeds `most`: then the numerator is what it costs at least.
    """
    slots, scale, base = world.slots, world.scale, len(world.base.t0)
    if not is_longer(a, b, slots.node, slots.start, slots.end):
        a, b = b, a
    a0, a1, b0, b1 = slots.start[a], slots.end[a], slots.start[b], slots.end[b]
    na, nb = slots.crowd[a], slots.crowd[b]
    n, whole = na + nb, (a1 - a0) * scale.whole
    limit = np.int64(2) ** 62
    if most < 1 and scale.stop:
        limit = np.int64(most * n * whole * (1 + 1e-12)) + n
    # Branches, not names: to give so many arrays another name costs more than a small sum.
    if a0 >= base:
        if b0 >= base:
            top = _sum(
                world.merged, a0 - base, a1 - base, world.merged, b0 - base, b1 - base,
                a, b, limit, world,
            )  # fmt: skip
        else:
            top = _sum(world.merged, a0 - base, a1 - base, world.base, b0, b1, a, b, limit, world)
    elif b0 >= base:
        top = _sum(world.base, a0, a1, world.merged, b0 - base, b1 - base, a, b, limit, world)
    else:
        top = _sum(world.base, a0, a1, world.base, b0, b1, a, b, limit, world)
    return top, n * whole, top <= limit


@inner
def _sum(
    first: Boxes,
    a0: int,
    a1: int,
    second: Boxes,
    b0: int,
    b1: int,
    a: int,
    b: int,
    limit: int,
    world: World,
) -> int:
    """Add up what the longer (a) costs with the shorter (b), no further than the limit."""
    slots, scale, zones = world.slots, world.scale, world.atlas.zones
    na, nb = slots.crowd[a], slots.crowd[b]
    n = na + nb
    if slots.cells[a] and slots.cells[b] and scale.small >= 1:
        space_step = scale.space_unit * world.atlas.space_step
        time_step = scale.time_unit * world.atlas.time_step
        near, late = world.rows[b, :zones], world.rows[b, zones:]
        return n * cost_of_cells(
            first,
            a0,
            a1,
            second,
            b0,
            b1,
            scale,
            world.bounds and scale.stop,
            near,
            late,
            space_step,
            time_step,
            limit // n,
        )
    each = np.zeros(a1 - a0)
    if world.bounds and scale.stop:
        near, late, cells = world.rows[b, :zones], world.rows[b, zones:], slots.cells[b]
        bound_each(first, a0, a1, na, near, late, nb, cells, world.atlas, scale, each)
    if n <= scale.small:
        return cost(np.int32, 2**31 - 1, first, a0, a1, na, second, b0, b1, nb, scale, limit, each)
    return cost(np.int64, 2**62, first, a0, a1, na, second, b0, b1, nb, scale, limit, each)


@inner
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
