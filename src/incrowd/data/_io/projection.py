"""The projection of the data: the papers' about the data's centre, checked.

The Lambert azimuthal equal-area projection keeps areas everywhere and distances near its centre;
neither the antimeridian nor a pole is special to it. What it cannot do is show half the Earth
without distorting distances, so data that reaches too far from its centre is refused.
"""

import math
import re
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from incrowd.data._frame import Floats, check_crs, laea
from incrowd.errors import PlaceError

__all__ = [
    "MAX_DISTANCE",
    "area_of_use",
    "centre",
    "local_projection",
    "refuse_far",
]


Chunk = tuple[Floats, Floats, npt.NDArray[np.int64]]
"""Longitudes, latitudes, and how many rows are at each."""

MAX_DISTANCE = 5_000
"""How far from the centre data may reach, in km: distances there are off by 8 %."""
_RADIUS = 6371.0088
_HALF_TURN = 180.0
_POLAR = 80.0


def local_projection(positions: Callable[[], Iterable[Chunk]]) -> str:
    """Return the projection about the centre of positions, or refuse.

    `positions` is called for each pass over the data, which may lie on disk.
    """
    lat0, lon0 = centre(positions)
    beyond = _count_beyond(positions, lat0, lon0, MAX_DISTANCE)
    if beyond:
        raise PlaceError(
            f"{_lie(beyond)} more than {MAX_DISTANCE:,} km from the data's centre "
            f"(lat {lat0:.2f}, lon {lon0:.2f}): no projection shows them all without distorting "
            "distances. Read one region at a time (bbox=), or give the projection to use (crs=)"
        )
    return laea(lat0, lon0)


def _lie(number: int) -> str:
    """Say that so many positions lie somewhere."""
    return "1 position lies" if number == 1 else f"{number:,} positions lie"


def refuse_far(crs: str, cell: float, positions: Callable[[], Iterable[Chunk]]) -> None:
    """Refuse positions too far from the centre of a projection that came with a file or was given.

    The projection of another dataset fits one nearby only. Positions may be half a cell off.
    """
    at = re.match(r"\+proj=laea \+lat_0=(\S+) \+lon_0=(\S+) ", crs)
    if at is None:
        return
    lat0, lon0 = float(at[1]), float(at[2])
    beyond = _count_beyond(positions, lat0, lon0, MAX_DISTANCE + cell / 1000)
    if beyond:
        raise PlaceError(
            f"{_lie(beyond)} more than {MAX_DISTANCE:,} km from the centre of the grid "
            f"(lat {lat0:.2f}, lon {lon0:.2f}), which seems to be that of another dataset. Remove "
            "the file NAME.frame.json beside the data, or give another grid (frame=)"
        )


def _count_beyond(
    positions: Callable[[], Iterable[Chunk]], lat0: float, lon0: float, farthest: float
) -> int:
    """Return the number of positions that lie too far away."""
    beyond = 0
    for lon, lat, count in positions():
        corners = np.meshgrid([lon.min(), lon.max()], [lat.min(), lat.max()])
        if _distance(corners[0], corners[1], lon0, lat0).max() > farthest / 2:
            beyond += int(count[_distance(lon, lat, lon0, lat0) > farthest].sum())
    return beyond


def centre(positions: Callable[[], Iterable[Chunk]]) -> tuple[float, float]:
    """Return the (latitude, longitude) about which positions lie.

    Sums are taken in integers (millionths), so that the answer does not depend on how the data
    is cut. Away from the antimeridian and the poles it is the mean of the degrees; elsewhere the
    direction of the mean vector, which has neither a seam nor a pole.

    It is rounded to a tenth of a degree: distances do not notice, parts of one dataset mostly get
    the same grid, and a release that names its projection does not give the mean of all positions.
    """
    total = east_sum = north_sum = 0
    west, east, polar = 180.0, -180.0, 0.0
    for lon, lat, count in positions():
        total += int(count.sum())
        east_sum += _millionths(lon, count)
        north_sum += _millionths(lat, count)
        west, east = min(west, float(lon.min())), max(east, float(lon.max()))
        polar = max(polar, float(np.abs(lat).max()))
    if east - west < _HALF_TURN and polar < _POLAR:
        return round(north_sum / total / 1e6, 1), round(east_sum / total / 1e6, 1)
    x = y = z = 0
    for lon, lat, count in positions():
        along, up = np.radians(lon), np.radians(lat)
        x += _millionths(np.cos(up) * np.cos(along), count)
        y += _millionths(np.cos(up) * np.sin(along), count)
        z += _millionths(np.sin(up), count)
    return (
        round(math.degrees(math.atan2(z, math.hypot(x, y))), 1),
        round(math.degrees(math.atan2(y, x)), 1),
    )


def area_of_use(crs: str, *, metres: bool = False) -> tuple[float, float, float, float] | None:
    """Return west, south, east and north of the area for which a crs is made.

    In degrees; or in metres on its own plane, as the box around that area.
    """
    import pyproj

    check_crs(crs)
    area = pyproj.CRS.from_user_input(crs).area_of_use
    if area is None:
        return None
    bounds = (area.west, area.south, area.east, area.north)
    if metres:
        transformer = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
        bounds = transformer.transform_bounds(*bounds)
    return bounds


def _millionths(values: Floats, count: npt.NDArray[np.int64]) -> int:
    """Return the sum of values in millionths, as an integer."""
    return int((np.rint(values * 1e6).astype(np.int64) * count).sum())


def _distance(
    lon: npt.NDArray[np.float64], lat: npt.NDArray[np.float64], lon0: float, lat0: float
) -> Floats:
    """Return great-circle distances in km."""
    east, north = np.radians(lon - lon0), np.radians(lat)
    south = math.radians(lat0)
    half = (
        np.sin((north - south) / 2) ** 2 + math.cos(south) * np.cos(north) * np.sin(east / 2) ** 2
    )
    distance: Floats = 2 * _RADIUS * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
    return distance
