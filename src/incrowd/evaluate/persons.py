"""Each person before and after: centre, home, work, travel, gyration, hull (figures 21 and 22).

What is measured of a trajectory is one row of `Portraits`: sums in whole numbers of half cells,
from which every figure follows by one division or one root, so that equal is equal and nothing
depends on threads. Only the travel distance is a sum of roots, added up in the order of time.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Floats, Ints, compiled, inner
from incrowd.evaluate.centres import Centres, blocks_of
from incrowd.measure.hull import Hull, cover
from incrowd.threads import on_threads

__all__ = [
    "HOME",
    "SIZE",
    "WORK",
    "Portraits",
    "area",
    "gyration",
    "mass_apart",
    "places_apart",
    "portraits_of",
    "travelled",
]

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
class Portraits:
    """What is measured of trajectories, one a row.

    Attributes
    ----------
    whole
        How many samples there are; x and y of the first one; the sums of x and y from there; the
        sum of squared distances from there (in two parts, 31 bits in the lower one); twice the
        area of the hull; x, y and samples at home, and the same at work (no samples: none). All in
        half cells.
    way
        The sum of distances from one sample to the next, in half cells.
    """

    whole: Ints
    way: Floats

    def of(self, who: Ints) -> "Portraits":
        """Give those of some trajectories, in their order."""
        return Portraits(self.whole[who], self.way[who])


def portraits_of(points: Centres, threads: int) -> Portraits:
    """Measure every trajectory."""
    people = len(points.offsets) - 1
    whole, way = np.zeros((people, COLUMNS), np.int64), np.zeros(people)

    def work(block: tuple[int, int]) -> None:
        first, last = block
        _portray(
            points.x, points.y, points.hour, points.offsets[first : last + 1],
            whole[first:last], way[first:last],
        )  # fmt: skip

    for _ in on_threads(threads, work, blocks_of(points.offsets)):
        pass
    return Portraits(whole, way)


def mass_apart(before: Portraits, after: Portraits) -> list[float]:
    """Give how far apart the two centres of mass of each person are, in cells."""
    found = []
    for a, b in zip(before.whole.tolist(), after.whole.tolist(), strict=True):
        n, m = a[SIZE], b[SIZE]
        x = (a[SUM_X] + n * a[FIRST_X]) * m - (b[SUM_X] + m * b[FIRST_X]) * n
        y = (a[SUM_Y] + n * a[FIRST_Y]) * m - (b[SUM_Y] + m * b[FIRST_Y]) * n
        found.append(math.sqrt((x * x + y * y) / (2 * n * m) ** 2))
    return found


def places_apart(before: Portraits, after: Portraits, place: int) -> list[float | None]:
    """Give how far apart homes (or places of work) are, in cells; None where one is missing."""
    columns = slice(place, place + 3)
    return [
        math.sqrt(((x - u) ** 2 + (y - v) ** 2) / 4) if seen and found else None
        for (x, y, seen), (u, v, found) in zip(
            before.whole[:, columns].tolist(), after.whole[:, columns].tolist(), strict=True
        )
    ]


def gyration(portraits: Portraits) -> Floats:
    """Give radii of gyration in cells: the root of the mean squared distance to the centre."""
    found = []
    for row in portraits.whole.tolist():
        n, squares = row[SIZE], (row[HIGH] << BITS) + row[LOW]
        found.append(math.sqrt((n * squares - row[SUM_X] ** 2 - row[SUM_Y] ** 2) / (2 * n) ** 2))
    return np.array(found, np.float64)


def travelled(portraits: Portraits) -> Floats:
    """Give the length of each way from sample to sample, in cells."""
    return portraits.way / 2


def area(portraits: Portraits) -> Floats:
    """Give the area of each convex hull, in square cells."""
    return portraits.whole[:, AREA] / 8


@compiled
def _portray(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    hour: NDArray[np.uint8],
    offsets: Ints,
    whole: Ints,
    way: Floats,
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
        way[person] = _sum_up(x, y, first, last, out)
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


@inner
def _sum_up(x: NDArray[np.int32], y: NDArray[np.int32], first: int, last: int, out: Ints) -> float:
    """Add up coordinates and squares; give the length of the way."""
    out[SIZE], out[FIRST_X], out[FIRST_Y] = last - first, x[first], y[first]
    way = 0.0
    for i in range(first + 1, last):
        along, up = np.int64(x[i]) - x[first], np.int64(y[i]) - y[first]
        out[SUM_X] += along
        out[SUM_Y] += up
        square = along * along + up * up
        out[HIGH] += square >> BITS
        out[LOW] += square & ((1 << BITS) - 1)
        along, up = np.int64(x[i]) - x[i - 1], np.int64(y[i]) - y[i - 1]
        way += np.sqrt(np.float64(along * along + up * up))
    return way


@inner
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


@inner
def _find_spots(keys: Ints, order: Ints, x: NDArray[np.int32], y: NDArray[np.int32]) -> int:
    """Write down every distinct place in the order of x and y; give how many there are."""
    spots = 0
    for at in range(len(order)):
        key = keys[order[at]]
        if at == 0 or key != keys[order[at - 1]]:
            x[spots], y[spots] = _x_of(key), _y_of(key)
            spots += 1
    return spots


@inner
def _x_of(key: int) -> int:
    return (key >> BITS) - HALF


@inner
def _y_of(key: int) -> int:
    return (key & ((1 << BITS) - 1)) - HALF


@inner
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
