"""Candidates that are longer than a trajectory: each is looked up in its row, one by one."""

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import inlined, inner
from incrowd.measure.atlas import Atlas
from incrowd.measure.bounds import SAFE, Slots, add_late, add_near, add_times, is_longer
from incrowd.measure.candidates import Heap, push
from incrowd.measure.effort import Boxes
from incrowd.measure.lines import LANES
from incrowd.measure.pairs import World
from incrowd.measure.scopes import Share, meets

__all__ = ["gather_longer"]


@inlined
def _add_time(
    late: NDArray[np.uint8],
    boxes: Boxes,
    start: int,
    end: int,
    other: int,
    query: int,
    slots: Slots,
    atlas: Atlas,
    longest: int,
    left: float,
) -> float:
    """Bound from time alone, in slots, the cost of a trajectory with a shorter one."""
    if slots.cells[other]:
        limit = left / atlas.time_step
        return float(atlas.time_step * add_times(late, boxes.bin, start, end, limit))
    na, nb = slots.crowd[other], slots.crowd[query]
    return add_late(late, boxes, start, end, na, nb, slots.cells[query], atlas, longest, left)


@inner
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
    feature, features, cells, crowd = slots.feature, slots.features, slots.cells, slots.crowd
    zones, counts, wide = world.features.zone, world.features.count, world.features.wide
    atlas, limits, base, row = world.atlas, heap.limit, len(world.base.t0), world.rows[query]
    unit, time_unit = scale.space_unit * atlas.space_step, scale.time_unit
    home, at_home = slots.home, slots.at_home
    # Where space weighs nothing, nobody is too far: 0 times infinity would be no number.
    far = scale.whole / unit * (1 + 1e-6) if unit else 0.0
    near, late = row[: atlas.zones], row[atlas.zones :]
    first_slot = first_chunk * LANES
    first_slot += (share.part - first_slot) % share.parts
    for other in range(first_slot, end_chunk * LANES, share.parts):
        # Most are left for where they live.
        if bounds and unit and near[home[other]] * at_home[other] > limits[q] * far:
            continue
        if not meets(query, other, scope, people, node, full):
            continue
        if is_longer(query, other, node, start, end):
            continue
        value = 0.0
        if bounds:
            whole = float((end[other] - start[other]) * scale.whole)
            most = limits[q] * whole * (1 + 1e-9)
            enough = most / scale.space_unit if unit else np.inf
            first, last = feature[other], feature[other] + features[other]
            space = add_near(
                near, zones, counts, wide, first, last,
                crowd[other], crowd[query], cells[query], atlas, scale.space, enough,
            )  # fmt: skip
            if space > enough:
                continue
            total = scale.space_unit * space
            left = (most - total) / time_unit if time_unit else np.inf
            # Arrays are not given names here: that would cost more than what is done with them.
            if start[other] >= base:
                total += time_unit * _add_time(
                    late, world.merged, start[other] - base, end[other] - base, other, query,
                    slots, atlas, scale.time, left,
                )  # fmt: skip
            else:
                total += time_unit * _add_time(
                    late, world.base, start[other], end[other], other, query,
                    slots, atlas, scale.time, left,
                )  # fmt: skip
            if total > most:
                continue
            value = max(0.0, total / whole * SAFE)
        if value <= limits[q]:
            push(value, other, keep, q, heap, node)
