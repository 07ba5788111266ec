"""From boxes on the grid of the data to boxes on a coarser one, outward.

A coarse step holds those cells (or slots) of the grid that *start* in it. Space is counted from the
origin of the plane, time from 1970-01-01 UTC; so where slots of the data start at odd seconds, a
coarse slot begins with the first of them that starts in it, and every slot is still in one.
"""

import math

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import compiled
from incrowd.data.frame import Frame
from incrowd.errors import ArgumentError

__all__ = ["checked", "coarser_space", "coarser_time"]

Ints = NDArray[np.int32]
Pair = tuple[Ints, Ints]

LOWEST, HIGHEST = -(2**31), 2**31 - 1
LONGEST = 2**31
"""Steps of more cells, or seconds, would hold everything that 32 bits can say."""


def checked(value: float, what: str) -> float:
    """Give a granularity as a number, and refuse what is none, whatever the data."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        raise ArgumentError(f"{what} must be a number above 0, not {value!r}")
    return number


def coarser_time(start: Ints, end: Ints, frame: Frame, minutes: float) -> Pair:
    """Widen times to slots of so many minutes.

    Raises
    ------
    ArgumentError
        If these are finer than the slots of the data, or no whole multiple of them.
    """
    step = _times(minutes * 60, frame.slot, f"{minutes:g} min", "slots", f"{_slot(frame)}")
    return _snapped(start, end, frame.slot, frame.origin, step * frame.slot)


def coarser_space(start: Ints, end: Ints, frame: Frame, metres: float) -> Pair:
    """Widen one side of boxes to cells of so many metres.

    Raises
    ------
    ArgumentError
        If these are finer than the cells of the data, or no whole multiple of them.
    """
    step = _times(metres, frame.cell, f"{metres:g} m", "cells", f"{frame.cell:g} m")
    return _snapped(start, end, 1, 0, step)


def _slot(frame: Frame) -> str:
    return f"{frame.slot // 60} min" if frame.slot % 60 == 0 else f"{frame.slot} s"


def _times(wanted: float, unit: float, said: str, what: str, units: str) -> int:
    """Give how many units of the grid a step has."""
    ratio = wanted / unit
    number = round(ratio)
    if number < 1 or (ratio < 1 and not math.isclose(ratio, 1)):
        raise ArgumentError(
            f"{said} is finer than the data, whose {what} are {units}; nothing can be made finer"
        )
    if not math.isclose(number, ratio, rel_tol=1e-9):
        raise ArgumentError(
            f"{said} is no whole multiple of the {what} of the data, {units}; "
            f"the nearest are {math.floor(ratio)} and {math.floor(ratio) + 1} {what}"
        )
    if wanted > LONGEST or number > LONGEST:
        raise ArgumentError(f"{said} is more than a grid of 32-bit numbers can hold")
    return number


def _snapped(start: Ints, end: Ints, unit: int, shift: int, step: int) -> Pair:
    new = np.empty(len(start), np.int32), np.empty(len(start), np.int32)
    if not _snap(start, end, unit, shift, step, *new):
        raise ArgumentError(
            "boxes on so coarse a grid reach beyond what 32-bit numbers can say; choose a finer one"
        )
    return new


@compiled
def _snap(
    start: Ints, end: Ints, unit: int, shift: int, step: int, new_start: Ints, new_end: Ints
) -> bool:
    """Widen every side; tell whether all of them fit into 32 bits."""
    fit = True
    for i in range(len(start)):
        first = (start[i] * unit + shift) // step
        last = ((end[i] - 1) * unit + shift) // step
        # The first unit that starts in a step, rounding up.
        low = -((shift - first * step) // unit)
        high = -((shift - (last + 1) * step) // unit)
        fit = fit and low >= LOWEST and high <= HIGHEST
        new_start[i], new_end[i] = low, high
    return fit
