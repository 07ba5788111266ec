"""Each person before and after: centre, home, work, travel, gyration, hull (figures 21 and 22).

What is measured of a trajectory is one row of `MobilityProfile`: sums in whole numbers of half
cells, from which every figure follows by one division or one root, so that equal is equal and
nothing depends on threads. Only the travel distance is a sum of roots, added up in the order of
time.

`Centres` has the samples as points. As in section 9.2 of the paper of 2021, the place of a sample
is the centre of its box and its time the middle of its slots. Both are whole numbers here:
coordinates are doubled (half cells), and so are moments (half slots). Samples of a person are taken
in the order of their middles; of equals, in the order in which the data has them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, kernel, kernel_private
from incrowd._parallel import on_threads
from incrowd.data._select import find_zone
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, InputError
from incrowd.measure._staypoints import Hull, cover

__all__ = [
    "BLOCK",
    "HOME",
    "NIGHT",
    "SIZE",
    "WORK",
    "WORKING",
    "Centres",
    "MobilityProfile",
    "area",
    "blocks_of",
    "centres_of",
    "gyration",
    "hours_at",
    "mass_apart",
    "mobility_profiles",
    "places_apart",
    "travelled",
]


BLOCK = 1 << 19
"""About how many samples are worked on at a time."""
FARTHEST = 2**28
"""No cell lies farther out, so that products of doubled coordinates fit into 64 bits."""
NIGHT = (22, 6)
WORKING = (9, 17)
"""Hours from and to (not included), on the wall clock, on every day of the week."""
SIZE, FIRST_X, FIRST_Y, SUM_X, SUM_Y, HIGH, LOW, AREA = range(8)
HOME, WORK = 8, 11
COLUMNS = 14
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


@dataclass(frozen=True, slots=True, eq=False)
class MobilityProfile:
    """What is measured of trajectories, one a row.

    Attributes
    ----------
    whole
        How many samples there are; x and y of the first one; the sums of x and y from there; the
        sum of squared distances from there (in two parts, 31 bits in the lower one); twice the
        area of the hull; x, y and samples at home, and the same at work (no samples: none). All in
        half cells.
    travel
        The sum of distances from one sample to the next, in half cells.
    """

    whole: Ints
    travel: Floats

    def of(self, who: Ints) -> "MobilityProfile":
        """Give those of some trajectories, in their order."""
        return MobilityProfile(self.whole[who], self.travel[who])


def mobility_profiles(points: Centres, threads: int) -> MobilityProfile:
    """Measure every trajectory."""
    people = len(points.offsets) - 1
    whole, travel = np.zeros((people, COLUMNS), np.int64), np.zeros(people)

    def work(block: tuple[int, int]) -> None:
        first, last = block
        _profile(
            points.x, points.y, points.hour, points.offsets[first : last + 1],
            whole[first:last], travel[first:last],
        )  # fmt: skip

    for _ in on_threads(threads, work, blocks_of(points.offsets)):
        pass
    return MobilityProfile(whole, travel)


def mass_apart(before: MobilityProfile, after: MobilityProfile) -> list[float]:
    """Give how far apart the two centres of mass of each person are, in cells."""
    found = []
    for a, b in zip(before.whole.tolist(), after.whole.tolist(), strict=True):
        n, m = a[SIZE], b[SIZE]
        x = (a[SUM_X] + n * a[FIRST_X]) * m - (b[SUM_X] + m * b[FIRST_X]) * n
        y = (a[SUM_Y] + n * a[FIRST_Y]) * m - (b[SUM_Y] + m * b[FIRST_Y]) * n
        found.append(math.sqrt((x * x + y * y) / (2 * n * m) ** 2))
    return found


def places_apart(before: MobilityProfile, after: MobilityProfile, place: int) -> list[float | None]:
    """Give how far apart homes (or places of work) are, in cells; None where one is missing."""
    columns = slice(place, place + 3)
    return [
        math.sqrt(((x - u) ** 2 + (y - v) ** 2) / 4) if seen and found else None
        for (x, y, seen), (u, v, found) in zip(
            before.whole[:, columns].tolist(), after.whole[:, columns].tolist(), strict=True
        )
    ]


def gyration(profiles: MobilityProfile) -> Floats:
    """Give radii of gyration in cells: the root of the mean squared distance to the centre."""
    found = []
    for row in profiles.whole.tolist():
        n, squares = row[SIZE], (row[HIGH] << BITS) + row[LOW]
        found.append(math.sqrt((n * squares - row[SUM_X] ** 2 - row[SUM_Y] ** 2) / (2 * n) ** 2))
    return np.array(found, np.float64)


def travelled(profiles: MobilityProfile) -> Floats:
    """Give the travel distance from sample to sample, in cells."""
    return profiles.travel / 2


def area(profiles: MobilityProfile) -> Floats:
    """Give the area of each convex hull, in square cells."""
    return profiles.whole[:, AREA] / 8


@kernel
def _profile(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    hour: NDArray[np.uint8],
    offsets: Ints,
    whole: Ints,
    travel: Floats,
) -> None:
    """Measure some trajectories."""
    longest = 1
    for person in range(len(offsets) - 1):
        longest = max(longest, offsets[person + 1] - offsets[person])
    hull = Hull(
        np.empty((longest, 2), np.int64), np.empty(2 * longest, np.int64), np.full(3, -1, np.int64)
    )
    keys, night, working = np.empty(longest, np.int64), np.array(NIGHT), np.array(WORKING)
    spot_x, spot_y = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for person in range(len(offsets) - 1):
        first, last = offsets[person], offsets[person + 1]
        size = last - first
        if size == 0:
            continue
        out = whole[person]
        travel[person] = _sum_up(x, y, first, last, out)
        for i in range(size):
            keys[i] = ((np.int64(x[first + i]) + HALF) << BITS) | (np.int64(y[first + i]) + HALF)
        order = np.argsort(keys[:size], kind="mergesort")
        _find_most(keys, order, hour[first:last], night, out[HOME : HOME + 3])
        _find_most(keys, order, hour[first:last], working, out[WORK : WORK + 3])
        spots = _find_spots(keys, order, spot_x, spot_y)
        # Somebody else's hull begins anew, though her places stand where the last one's stood.
        hull.state[1] = -1
        cover(hull, spot_x, spot_y, 0, spots)
        out[AREA] = _twice_area(hull.corners, hull.state[0])


@kernel_private
def _sum_up(x: NDArray[np.int32], y: NDArray[np.int32], first: int, last: int, out: Ints) -> float:
    """Add up coordinates and squares; give the travel distance."""
    out[SIZE], out[FIRST_X], out[FIRST_Y] = last - first, x[first], y[first]
    travel = 0.0
    for i in range(first + 1, last):
        along, up = np.int64(x[i]) - x[first], np.int64(y[i]) - y[first]
        out[SUM_X] += along
        out[SUM_Y] += up
        square = along * along + up * up
        out[HIGH] += square >> BITS
        out[LOW] += square & ((1 << BITS) - 1)
        along, up = np.int64(x[i]) - x[i - 1], np.int64(y[i]) - y[i - 1]
        travel += np.sqrt(np.float64(along * along + up * up))
    return travel


@kernel_private
def _find_most(keys: Ints, order: Ints, hour: NDArray[np.uint8], hours: Ints, out: Ints) -> None:
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
            out[0], out[1] = _x_of(keys[order[at]]), _y_of(keys[order[at]])
            out[2], earliest = number, since


@kernel_private
def _find_spots(keys: Ints, order: Ints, x: NDArray[np.int32], y: NDArray[np.int32]) -> int:
    """Write down every distinct place in the order of x and y; give how many there are."""
    spots = 0
    for at in range(len(order)):
        key = keys[order[at]]
        if at == 0 or key != keys[order[at - 1]]:
            x[spots], y[spots] = _x_of(key), _y_of(key)
            spots += 1
    return spots


@kernel_private
def _x_of(key: int) -> int:
    return (key >> BITS) - HALF


@kernel_private
def _y_of(key: int) -> int:
    return (key & ((1 << BITS) - 1)) - HALF


@kernel_private
def _twice_area(corners: Ints, size: int) -> int:
    """Give twice the area of a convex hull whose corners are in the order of x and y."""
    if size == 0:
        return 0
    start_x, start_y = corners[0, 0], corners[0, 1]
    far_x, far_y = corners[size - 1, 0] - start_x, corners[size - 1, 1] - start_y
    last, area = np.zeros((2, 2), np.int64), 0
    for i in range(1, size):
        x, y = corners[i, 0] - start_x, corners[i, 1] - start_y
        above = far_x * y - far_y * x
        # The last corner closes both the chain below the line to it and the one above.
        for side in range(2):
            if above == 0 or (above > 0) == (side == 1):
                turn = last[side, 0] * y - last[side, 1] * x
                area += turn if side == 0 else -turn
                last[side, 0], last[side, 1] = x, y
    return area
