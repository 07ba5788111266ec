"""Boxes that were changed: widened to a coarser grid, in order again, and equal ones made one.

::

    columns ──> coarser_space, coarser_time ──> sort_and_deduplicate ──> Changed

A coarse step holds those cells (or slots) of the grid that *start* in it. Space is counted from the
origin of the plane, time from 1970-01-01 UTC; so where slots of the data start at odd seconds, a
coarse slot begins with the first of them that starts in it, and every slot is still in one.

Samples that were in order in time mostly still are, so what is sorted are short runs: pieces of
sixteen by insertion, and two neighbours are merged only where the later begins before the earlier
ends. Equal boxes stay in the order of the input, and the first of them stays.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel, kernel_private
from incrowd._parallel import cores, on_threads
from incrowd.data._columns import Columns, frozen
from incrowd.data._frame import Frame
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError
from incrowd.protect._mechanism import Changed

__all__ = [
    "coarser_space",
    "coarser_time",
    "sort_and_deduplicate",
]


Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Pair = tuple[Ints, Ints]

LOWEST, HIGHEST = -(2**31), 2**31 - 1
LONGEST = 2**31
"""Steps of more cells, or seconds, would hold everything that 32 bits can say."""
RUN = 16
BLOCK = 1 << 20
"""How many samples are sorted at a time, about."""


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


@kernel
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


def sort_and_deduplicate(
    data: Trajectories, columns: Columns, *, keep_place: bool, threads: int | None = None
) -> Changed:
    """Give the people of `data` with other boxes, sample for sample, in order and without repeats.

    Parameters
    ----------
    data
        The people.
    columns
        The six sides of the new box of each sample.
    keep_place
        Whether the name of a place may stay. Of samples that become one, the first keeps its
        name; ``places_collapsed`` counts those that had another.
    threads
        All cores unless given.
    """
    columns = tuple(frozen(column) for column in columns)
    place = frozen(data.place) if keep_place else None
    names = frozen(np.empty(0, np.int32)) if place is None else place
    order = np.empty(data.samples, np.int32)
    lengths = np.zeros(len(data), np.int64)

    def work(ends: tuple[int, int]) -> int:
        return int(_order(*ends, data.offsets, columns, names, order, lengths))

    renamed = sum(on_threads(cores(threads), work, _blocks(data.offsets)))
    offsets = np.concatenate([[0], np.cumsum(lengths)])

    def taken(column: Ints) -> Ints:
        out = np.empty(int(offsets[-1]), np.int32)
        _take(column, data.offsets, offsets, order, out)
        return out

    made = Trajectories(
        tuple(taken(column) for column in columns),
        offsets,
        data.frame,
        people=data.people,
        crowd=data.crowd,
        place=None if place is None else taken(place),
        places=data.places if keep_place else None,
        reading=data.reading,
    )
    more = () if place is None else (("places_collapsed", renamed),)
    return Changed(made, collapsed=data.samples - made.samples, more=more)


def _blocks(offsets: Longs) -> list[tuple[int, int]]:
    """Cut people into blocks of about as many samples."""
    pieces = max(1, int(offsets[-1]) // BLOCK)
    marks = np.linspace(0, offsets[-1], pieces + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(offsets, marks), len(offsets) - 1]).tolist()
    return list(pairwise(cuts))


@kernel_private
def _before(columns: Columns, a: int, b: int) -> Any:
    """Tell whether a sample comes before another in the order of the design."""
    x0, x1, y0, y1, t0, t1 = columns
    if t0[a] != t0[b]:
        return t0[a] < t0[b]
    if t1[a] != t1[b]:
        return t1[a] < t1[b]
    if x0[a] != x0[b]:
        return x0[a] < x0[b]
    if x1[a] != x1[b]:
        return x1[a] < x1[b]
    if y0[a] != y0[b]:
        return y0[a] < y0[b]
    return y1[a] < y1[b]


@kernel
def _order(
    first: int,
    last: int,
    offsets: Longs,
    columns: Columns,
    places: Ints,
    order: Ints,
    lengths: Longs,
) -> int:
    """Order the samples of some people, counted from each one's first, and leave repeats out.

    Fills `order` from where a person starts, and `lengths`; gives the number of samples left out
    whose place has another name than that of the one that stays.
    """
    longest = 0
    for person in range(first, last):
        longest = max(longest, offsets[person + 1] - offsets[person])
    spare = np.empty(longest, np.int32)
    renamed = 0
    for person in range(first, last):
        start, number = offsets[person], offsets[person + 1] - offsets[person]
        row = order[start : start + number]
        _sort(columns, start, row, spare)
        kept = 0
        for i in range(number):
            if kept and not _before(columns, start + row[kept - 1], start + row[i]):
                if len(places):
                    renamed += places[start + row[kept - 1]] != places[start + row[i]]
                continue
            row[kept] = row[i]
            kept += 1
        lengths[person] = kept
    return renamed


@kernel_private
def _sort(columns: Columns, start: int, row: Ints, spare: Ints) -> None:
    """Sort the samples of one person, those that are equal in the order of the input."""
    number = len(row)
    for low in range(0, number, RUN):
        for i in range(low, min(low + RUN, number)):
            j = i
            while j > low and _before(columns, start + i, start + row[j - 1]):
                row[j] = row[j - 1]
                j -= 1
            row[j] = i
    width = RUN
    while width < number:
        for low in range(0, number - width, 2 * width):
            _merge(columns, start, row[low : low + 2 * width], width, spare)
        width *= 2


@kernel_private
def _merge(columns: Columns, start: int, row: Ints, middle: int, spare: Ints) -> None:
    """Merge two sorted pieces, the second of which starts at `middle`."""
    if not _before(columns, start + row[middle], start + row[middle - 1]):
        return
    spare[:middle] = row[:middle]
    left, right = 0, middle
    for to in range(len(row)):
        if left == middle:
            return  # what is left of the second piece lies where it belongs
        if right < len(row) and _before(columns, start + row[right], start + spare[left]):
            row[to] = row[right]
            right += 1
        else:
            row[to] = spare[left]
            left += 1


@kernel
def _take(column: Ints, old: Longs, new: Longs, order: Ints, out: Ints) -> None:
    """Collect what stays of a column."""
    for person in range(len(new) - 1):
        start, to = old[person], new[person]
        for i in range(new[person + 1] - to):
            out[to + i] = column[start + order[start + i]]
