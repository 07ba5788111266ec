"""Candidates that are longer than a trajectory: each is looked up in its row, one by one."""

import numpy as np

from incrowd.compiled import inlined, light
from incrowd.measure.bounds import SAFE, add_late, add_near, add_times, is_longer
from incrowd.measure.candidates import Heap, push
from incrowd.measure.corners import corner_sum, from_home
from incrowd.measure.lines import LANES
from incrowd.measure.pairs import World, samples_of
from incrowd.measure.scopes import Share, meets

__all__ = ["gather_longer"]


@inlined
def _bound_boxes(query: int, other: int, limit: float, world: World) -> float:
    """Bound the cost of a merged trajectory with a shorter one that was merged, too."""
    slots, scale, plane, base = world.slots, world.scale, world.plane, len(world.base.t0)
    start, end = slots.start[other] - base, slots.end[other] - base
    na, nb, row = slots.crowd[other], slots.crowd[query], world.corners[query]
    least = from_home(row, slots.homes[other], slots.share[other], na, nb, plane, scale)
    if least > limit * scale.whole * (1 + 1e-5):
        return np.inf
    whole = float((end - start) * scale.whole)
    most = limit * whole * (1 + 1e-9)
    return corner_sum(row, world.marks, start, end, na, nb, plane, scale, most) / whole


@inlined
def _bound(query: int, other: int, limit: float, world: World) -> float:
    """Bound the cost of a trajectory with a shorter one: in space, then in time."""
    slots, features, scale, atlas = world.slots, world.features, world.scale, world.atlas
    na, nb, cells = slots.crowd[other], slots.crowd[query], slots.cells[query]
    near, late = world.rows[query, : atlas.zones], world.rows[query, atlas.zones :]
    whole = float((slots.end[other] - slots.start[other]) * scale.whole)
    most = limit * whole * (1 + 1e-9)
    enough = most / scale.space_unit if scale.space_unit else np.inf
    first, last = slots.feature[other], slots.feature[other] + slots.features[other]
    space = add_near(
        near, features.zone, features.count, features.wide, first, last, na, nb, cells, atlas,
        scale.space, enough,
    )  # fmt: skip
    if space > enough:
        return np.inf
    total = scale.space_unit * space
    left = (most - total) / scale.time_unit if scale.time_unit else np.inf
    boxes, start, end = samples_of(other, world)
    if slots.cells[other]:
        step = atlas.time_step
        time = float(step * add_times(late, boxes.bin, start, end, left / step))
    else:
        time = add_late(late, boxes, start, end, na, nb, cells, atlas, scale.time, left)
    return (total + scale.time_unit * time) / whole


@light
def gather_longer(
    query: int,
    q: int,
    scope: int,
    keep: int,
    first_chunk: int,
    end_chunk: int,
    share: Share,
    world: World,
    heap: Heap,
) -> None:
    """Find the candidates that are longer than a query, one by one, in some chunks."""
    slots, scale, people, bounds = world.slots, world.scale, world.people, world.bounds
    node, start, end, full = slots.node, slots.start, slots.end, slots.full
    home, at_home, limits, base = slots.home, slots.at_home, heap.limit, len(world.base.t0)
    unit, near = scale.space_unit * world.atlas.space_step, world.rows[query]
    # Where space weighs nothing, nobody is too far: 0 times infinity would be no number.
    far = scale.whole / unit * (1 + 1e-6) if unit else 0.0
    merged = start[query] >= base and len(world.corners) > 0
    for chunk in range(first_chunk, end_chunk):
        if chunk % share.parts != share.part:
            continue
        for other in range(chunk * LANES, (chunk + 1) * LANES):
            # Most are left for where they live.
            if bounds and unit and near[home[other]] * at_home[other] > limits[q] * far:
                continue
            if not meets(query, other, scope, people, node, full):
                continue
            if is_longer(query, other, node, start, end):
                continue
            value = 0.0
            if bounds and merged and start[other] >= base:
                value = _bound_boxes(query, other, limits[q], world)
            elif bounds:
                value = _bound(query, other, limits[q], world)
            value = max(0.0, value * SAFE)
            if value <= limits[q]:
                push(value, other, keep, q, heap, node)
