"""Samples as points on a wall clock, and where a person is most: at night, and in working hours.

As in section 9.2 of the paper of 2021, the place of a sample is the centre of its box and its time
the middle of its slots. Both are whole numbers here: coordinates are doubled (half cells), and so
are moments (half slots). Samples of a person are taken in the order of their middles; of equals, in
the order in which the data has them.

Home is the place with most samples at night; of equals, the one where the person was first. Work is
the same in working hours.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._numba import Ints, kernel, kernel_private
from incrowd._parallel import on_threads
from incrowd.data._select import find_zone
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, InputError

__all__ = [
    "BITS",
    "BLOCK",
    "HALF",
    "NIGHT",
    "WORKING",
    "Centres",
    "blocks_of",
    "centres_of",
    "find_most",
    "homes_of",
    "hours_at",
    "x_of",
    "y_of",
]


BLOCK = 1 << 19
"""About how many samples are worked on at a time."""
FARTHEST = 2**28
"""No cell lies farther out, so that products of doubled coordinates fit into 64 bits."""
NIGHT = (22, 6)
WORKING = (9, 17)
"""Hours from and to (not included), on the wall clock, on every day of the week."""
BITS = 31
HALF = 1 << 30
"""Doubled coordinates are smaller, so that two of them make one key."""


@dataclass(frozen=True, slots=True, eq=False)
class Centres:
    """The samples of a dataset as points.

    Attributes
    ----------
    x, y
        The centre of each box, in half cells.
    hour
        The hour of the day (0 to 23) of its middle instant, on the wall clock.
    offsets, crowd
        Where each trajectory starts, and how many people it stands for.
    """

    x: NDArray[np.int32]
    y: NDArray[np.int32]
    hour: NDArray[np.uint8]
    offsets: Ints
    crowd: NDArray[np.int32]


def centres_of(data: Trajectories, tz: str, threads: int) -> Centres:
    """Take samples as points; daylight saving is that of each sample.

    Raises
    ------
    ArgumentError
        If there is no such zone.
    InputError
        If cells are so small, and so far out, that sums would not fit into 64 bits.
    """
    sides = (data.x0, data.x1, data.y0, data.y1)
    if any(max(-int(side.min()), int(side.max())) >= FARTHEST for side in sides if len(side)):
        raise InputError(
            "the data reaches too far for cells as small as these; read it with larger ones"
        )
    zone = find_zone(tz).key
    try:
        hours_at(np.zeros(1, np.int64), 1, 0, zone)
    except pl.exceptions.PolarsError as error:
        raise ArgumentError(f"unknown time zone {tz!r}; name one like Africa/Abidjan") from error
    x, y = np.empty(data.samples, np.int32), np.empty(data.samples, np.int32)
    hour = np.empty(data.samples, np.uint8)

    def work(block: tuple[int, int]) -> None:
        offsets = data.offsets[block[0] : block[1] + 1]
        here = slice(int(offsets[0]), int(offsets[-1]))
        middle = data.t0[here].astype(np.int64) + data.t1[here]
        order = _order(middle, offsets - offsets[0])
        np.add(data.x0[here], data.x1[here], out=x[here])
        np.add(data.y0[here], data.y1[here], out=y[here])
        hour[here] = hours_at(middle, data.frame.slot, data.frame.origin, zone)
        if order is not None:
            for column in (x, y, hour):
                column[here] = column[here][order]

    for _ in on_threads(threads, work, blocks_of(data.offsets), warm=True):
        pass
    return Centres(x, y, hour, data.offsets, data.crowd)


def blocks_of(offsets: Ints) -> Iterator[tuple[int, int]]:
    """Cut people into blocks with about as many samples: the first, and the one after the last."""
    first, people = 0, len(offsets) - 1
    while first < people:
        enough = int(np.searchsorted(offsets, offsets[first] + BLOCK, side="right")) - 1
        last = min(max(enough, first + 1), people)
        yield first, last
        first = last


def _order(middle: Ints, offsets: Ints) -> Ints | None:
    """Give the order of middles in each trajectory; None if they are in it already."""
    falls = middle[1:] < middle[:-1]
    # From one trajectory to the next, anything goes.
    inside = offsets[(offsets > 0) & (offsets < len(middle))] - 1
    falls[inside] = False
    if not falls.any():
        return None
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort((middle, owner))


def hours_at(middle: Ints, slot: int, origin: int, zone: str) -> NDArray[np.uint8]:
    """Give the hour of the day at moments in half slots."""
    if not len(middle):
        return np.empty(0, np.uint8)
    low, reach = int(middle.min()), int(middle.max()) - int(middle.min()) + 1
    # Mostly there are fewer moments than samples, and each is asked for once.
    moments = np.arange(low, low + reach) if reach <= len(middle) else middle
    milliseconds = moments * (500 * slot) + 1000 * origin
    clock = pl.Series(milliseconds, dtype=pl.Datetime("ms", "UTC")).dt.convert_time_zone(zone)
    hours = clock.dt.hour().to_numpy().astype(np.uint8)
    return hours[middle - low] if reach <= len(middle) else hours


def homes_of(points: Centres, threads: int) -> Ints:
    """Give the home of every person: x and y in half cells, and how many samples it has.

    Who was never seen at night has none: no samples.
    """
    homes = np.zeros((len(points.offsets) - 1, 3), np.int64)

    def work(block: tuple[int, int]) -> None:
        first, last = block
        _find_homes(
            points.x, points.y, points.hour, points.offsets[first : last + 1], homes[first:last]
        )

    for _ in on_threads(threads, work, blocks_of(points.offsets)):
        pass
    return homes


@kernel
def _find_homes(
    x: NDArray[np.int32], y: NDArray[np.int32], hour: NDArray[np.uint8], offsets: Ints, homes: Ints
) -> None:
    """Find the homes of some people."""
    longest = 1
    for person in range(len(offsets) - 1):
        longest = max(longest, offsets[person + 1] - offsets[person])
    keys, night = np.empty(longest, np.int64), np.array(NIGHT)
    for person in range(len(offsets) - 1):
        first, last = offsets[person], offsets[person + 1]
        for i in range(last - first):
            keys[i] = ((np.int64(x[first + i]) + HALF) << BITS) | (np.int64(y[first + i]) + HALF)
        order = np.argsort(keys[: last - first], kind="mergesort")
        find_most(keys, order, hour[first:last], night, homes[person])


@kernel_private
def find_most(keys: Ints, order: Ints, hour: NDArray[np.uint8], hours: Ints, out: Ints) -> None:
    """Find the place with most samples in some hours: of equals, where the person was first."""
    earliest, number, since = 0, 0, 0
    for at in range(len(order)):
        if at == 0 or keys[order[at]] != keys[order[at - 1]]:
            number = 0
        now = hour[order[at]]
        early, late = hours[0] <= now, now < hours[1]
        if not (early and late if hours[0] < hours[1] else early or late):
            continue
        if number == 0:
            since = order[at]
        number += 1
        if number > out[2] or (number == out[2] and since < earliest):
            out[0], out[1] = x_of(keys[order[at]]), y_of(keys[order[at]])
            out[2], earliest = number, since


@kernel_private
def x_of(key: int) -> int:
    return (key >> BITS) - HALF


@kernel_private
def y_of(key: int) -> int:
    return (key & ((1 << BITS) - 1)) - HALF
