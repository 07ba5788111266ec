"""Each person before and after: centre, home, work, travel, gyration, hull (figures 21 and 22).

What is measured of a trajectory is one row of `MobilityProfile`: sums in whole numbers of half
cells, from which every figure follows by one division or one root, so that equal is equal and
nothing depends on threads. Only the travel distance is a sum of roots, added up in the order of
time.

Samples are taken as points (see `incrowd.measure._centres`).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, kernel, kernel_private
from incrowd._parallel import on_threads
from incrowd.measure._centres import (
    BITS,
    HALF,
    NIGHT,
    WORKING,
    Centres,
    blocks_of,
    find_most,
    x_of,
    y_of,
)
from incrowd.measure._staypoints import Hull, cover

__all__ = [
    "HOME",
    "SIZE",
    "WORK",
    "MobilityProfile",
    "area",
    "gyration",
    "mass_apart",
    "mobility_profiles",
    "places_apart",
    "travelled",
]


SIZE, FIRST_X, FIRST_Y, SUM_X, SUM_Y, HIGH, LOW, AREA = range(8)
HOME, WORK = 8, 11
COLUMNS = 14


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
        find_most(keys, order, hour[first:last], night, out[HOME : HOME + 3])
        find_most(keys, order, hour[first:last], working, out[WORK : WORK + 3])
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
def _find_spots(keys: Ints, order: Ints, x: NDArray[np.int32], y: NDArray[np.int32]) -> int:
    """Write down every distinct place in the order of x and y; give how many there are."""
    spots = 0
    for at in range(len(order)):
        key = keys[order[at]]
        if at == 0 or key != keys[order[at - 1]]:
            x[spots], y[spots] = x_of(key), y_of(key)
            spots += 1
    return spots


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
