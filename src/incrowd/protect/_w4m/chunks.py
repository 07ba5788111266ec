"""Which people are clustered together: all, or the first one who is left and who is nearest to her.

Near is who has a similar extent: the Euclidean distance of the least and greatest x and y, and of
the first and last time, multiplied by the mean speed of all.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "CHUNK",
    "chunks",
    "extents",
    "mean_speed",
    "number_of_chunks",
]


CHUNK = 20
"""A chunk has so many people times k."""
_BLOCK = 1 << 20


def number_of_chunks(people: int, k: int, *, chunked: bool) -> int:
    """Return into how many chunks people are cut."""
    return max(people // (CHUNK * k), 1) if chunked else 1


def mean_speed(data: "Trajectories") -> float:
    """Return the mean of everybody's distance travelled over the time it took, in m/s.

    Whoever has one point, or all of them at one time, has a speed of 0. Sums are made one by one,
    in the order of the data.
    """
    cell, slot, offsets = data.frame.cell, data.frame.slot, data.offsets
    # Centres of cells, so that differences are rounded as those of the walks are.
    total, start = 0.0, 0
    while start < len(data):
        end = int(np.searchsorted(offsets, offsets[start] + _BLOCK, "right")) - 1
        end = min(max(end, start + 1), len(data))
        part = slice(int(offsets[start]), int(offsets[end]))
        x, y = ((side[part] + 0.5) * cell for side in (data.x0, data.y0))
        dx, dy = np.diff(x), np.diff(y)
        steps = np.sqrt(dx * dx + dy * dy)
        lengths = np.diff(offsets[start : end + 1])
        person = np.repeat(np.arange(end - start), lengths)
        same = person[1:] == person[:-1]
        # Adds one after the other.
        length = np.bincount(person[1:][same], steps[same], end - start)
        first, last = offsets[start:end], offsets[start + 1 : end + 1] - 1
        lasts = (data.t0[last].astype(np.float64) - data.t0[first]) * slot
        speeds = np.divide(length, lasts, out=np.zeros(end - start), where=lasts > 0)
        for speed in speeds.tolist():
            total += speed
        start = end
    return total / len(data)


def extents(data: "Trajectories", speed: float) -> list[Floats]:
    """Return the least and greatest x and y of everybody, and her first and last time as metres."""
    cell, slot, starts = data.frame.cell, data.frame.slot, data.offsets[:-1]
    low, high = (
        [(edge.reduceat(side, starts) + 0.5) * cell for side in (data.x0, data.y0)]
        for edge in (np.minimum, np.maximum)
    )
    seconds = data.t0.astype(np.float64) * slot
    times = [speed * seconds[at] for at in (starts, data.offsets[1:] - 1)]
    return [*low, *high, *times]


def chunks(sides: list[Floats], size: int, number: int) -> Iterator[Ints]:
    """Give the people of each chunk, in the order of the data; the last one takes all who are left.

    Of two who are equally near, the first in the data is taken.
    """
    left = np.arange(len(sides[0]))
    for _ in range(number - 1):
        rest = left[1:]
        apart = np.zeros(len(rest))
        for side in sides:
            difference = side[left[0]] - side[rest]
            apart += difference * difference
        near = _smallest(apart, size - 1)
        taken = np.zeros(len(left), np.bool_)
        taken[0] = True
        taken[near + 1] = True
        yield left[taken]
        left = left[~taken]
    yield left


def _smallest(numbers: Floats, count: int) -> NDArray[np.int64]:
    """Return where the smallest numbers stand; of equals the first ones."""
    limit = np.partition(numbers, count - 1)[count - 1]
    below, equal = np.flatnonzero(numbers < limit), np.flatnonzero(numbers == limit)
    return np.concatenate([below, equal[: count - len(below)]])
