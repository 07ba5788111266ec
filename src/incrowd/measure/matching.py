"""Which sample of another is the cheapest match, where all samples are one cell and one slot."""

import numpy as np

from incrowd.compiled import light
from incrowd.measure.effort import CELLS, Boxes, Scale
from incrowd.measure.effort import _effort_of_cells as effort

__all__ = ["nearest_cell"]


@light
def nearest_cell(  # noqa: C901, PLR0912
    boxes: Boxes, i: int, b0: int, b1: int, at: int, scale: Scale
) -> int:
    """Do as `nearest_sample` does where every sample is one cell and one slot, in 32 bits.

    First what the cheapest costs, many samples at a time; then which is the first that does.
    `at` is the first of the samples from b0 to b1 that starts no earlier than sample i.
    """
    x0, y0, t0 = boxes.x0, boxes.y0, boxes.t0
    x, y, t = x0[i], y0[i], t0[i]
    widest, longest = np.int32(scale.space), np.int32(scale.time)
    space_unit, time_unit = np.int32(scale.space_unit), np.int32(scale.time_unit)
    units, ceiling = (widest, longest, space_unit, time_unit), np.int32(time_unit * longest)
    best = np.int32(2**31 - 1)
    for j in range(max(at - 1, b0), min(at + 1, b1)):
        best = min(best, effort(x, y, t, x0[j], y0[j], t0[j], *units))
    low, high = b0, b1
    if best <= ceiling and time_unit:
        # Whoever is farther away in time than this costs more for that alone.
        reach = best // time_unit
        low, high = max(at - 1, b0), min(at + 1, b1)
        while low > b0 and t - t0[low - 1] <= reach:
            low = max(b0, low - CELLS)
        while high < b1 and t0[high] - t <= reach:
            high = min(b1, high + CELLS)
    if b1 - b0 < CELLS:
        for j in range(low, high):
            best = min(best, effort(x, y, t, x0[j], y0[j], t0[j], *units))
    else:
        for block in range(low, high, CELLS):
            shift = np.uintp(min(block, b1 - CELLS))  # the last ones may be looked at twice
            for step in range(np.uintp(CELLS)):
                j = shift + step
                best = min(best, effort(x, y, t, x0[j], y0[j], t0[j], *units))
    if best >= ceiling:
        low = b0  # whoever is there at any other time may cost as little
    elif time_unit:
        reach = best // time_unit
        first = max(at - 1, low)
        while first > low and t - t0[first - 1] <= reach:
            first -= 1
        low = first
    for j in range(low, b1):
        if effort(x, y, t, x0[j], y0[j], t0[j], *units) == best:
            return np.int64(j)
    return np.int64(-1)
