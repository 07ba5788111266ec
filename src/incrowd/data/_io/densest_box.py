"""The box that keeps most people of data that spans the world, to offer it where all is refused."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.data._frame import Floats

__all__ = ["Box", "densest_box"]

_WIDE, _HIGH = 35, 26
"""Degrees: nothing in such a box is farther from anything else than a projection can show."""
_LONGITUDES, _LATITUDES = 360, 180

Rows = tuple[npt.NDArray[np.int32], Floats, Floats]
"""Person, longitude and latitude of some rows."""


@dataclass(frozen=True, slots=True)
class Box:
    """West, south, east and north in whole degrees, and the shares of the data that lie inside."""

    bounds: tuple[int, int, int, int]
    people: int
    all_people: int
    rows: int
    all_rows: int

    def __str__(self) -> str:
        west, south, east, north = self.bounds
        # With = : a west that is negative would look like an option.
        return (
            f"--bbox={west},{south},{east},{north} keeps {self.people:,} of {self.all_people:,} "
            f"people and {100 * self.rows / self.all_rows:.0f} % of rows"
        )


def densest_box(rows: Callable[[], Iterable[Rows]], people: int) -> Box:
    """Return the box, small enough to be projected, in which most of people's rows lie.

    Everybody counts the same, however many rows she has. `rows` is called for each pass over the
    data.

    Examples
    --------
    >>> import numpy as np
    >>> from incrowd.data._io.densest_box import densest_box
    >>> person = np.array([0, 0, 1, 2], np.int32)
    >>> lon, lat = np.array([2.3, 151.2, 2.4, 13.4]), np.array([48.8, -33.9, 48.9, 52.5])
    >>> print(densest_box(lambda: [(person, lon, lat)], 3))
    --bbox=2,48,14,53 keeps 3 of 3 people and 75 % of rows
    """
    own = np.zeros(people, np.int64)
    for person, _, _ in rows():
        own += np.bincount(person, minlength=people)
    weight = np.zeros((_LATITUDES, _LONGITUDES))
    for person, lon, lat in rows():
        cells = _cells(lon, lat)
        flat = cells[0] * _LONGITUDES + cells[1]
        here = np.bincount(flat, 1 / own[person], minlength=weight.size)
        weight += here.reshape(weight.shape)
    south, west = _best_window(weight)
    inside = weight[south : south + _HIGH, west : west + _WIDE] > 0
    up, along = np.flatnonzero(inside.any(1)), np.flatnonzero(inside.any(0))
    bounds = (
        int(west + along[0]) - 180,
        int(south + up[0]) - 90,
        int(west + along[-1]) - 179,
        int(south + up[-1]) - 89,
    )
    kept, count = np.zeros(people, np.bool_), 0
    for person, lon, lat in rows():
        within = (lon >= bounds[0]) & (lon <= bounds[2])
        within &= (lat >= bounds[1]) & (lat <= bounds[3])
        kept[person[within]] = True
        count += int(np.count_nonzero(within))
    return Box(bounds, int(kept.sum()), int((own > 0).sum()), count, int(own.sum()))


def _cells(lon: Floats, lat: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the degrees in which positions lie, from the south pole and the antimeridian."""
    up = np.clip(np.floor(lat).astype(np.int64) + 90, 0, _LATITUDES - 1)
    return up, np.clip(np.floor(lon).astype(np.int64) + 180, 0, _LONGITUDES - 1)


def _best_window(weight: Floats) -> tuple[int, int]:
    """Return the south and west of the window in which the weights have the largest sum."""
    total = np.zeros((_LATITUDES + 1, _LONGITUDES + 1))
    total[1:, 1:] = weight.cumsum(0).cumsum(1)
    inside = (
        total[_HIGH:, _WIDE:]
        - total[:-_HIGH, _WIDE:]
        - total[_HIGH:, :-_WIDE]
        + total[:-_HIGH, :-_WIDE]
    )
    south, west = np.unravel_index(int(np.argmax(inside)), inside.shape)
    return int(south), int(west)
