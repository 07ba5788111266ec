"""Trajectories as tables of pandas and GeoPandas: a row per sample, in degrees, metres and UTC.

Names and units are those of a release, so that what is worked on in memory reads like what was
published. Both libraries are the user's: incrowd works without them, and says so where they are
missing.
"""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from incrowd.data._manifest import MOMENT
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, PlaceError

if TYPE_CHECKING:
    import geopandas as gpd
    import pandas as pd

__all__ = [
    "to_geopandas",
    "to_pandas",
]


HALF_TURN = 180
"""Degrees. No box is as wide; one that seems so crosses the meridian where degrees jump."""


def to_pandas(data: Trajectories) -> "pd.DataFrame":
    """Return a row per sample: who, from when to when, centre in degrees, sides in metres."""
    _library("pandas", "to_pandas")
    _check_projection(data, "to_pandas")
    sides = _sides(data)
    west, south, east, north = sides.values()
    lon, lat = data.frame.degrees((west + east) / 2, (south + north) / 2)
    if not (np.isfinite(lon).all() and np.isfinite(lat).all()):
        raise PlaceError("the centre of a box lies outside the projection, where no degrees are")
    table: pd.DataFrame = _table(data, {"lon": lon, "lat": lat, **sides}).to_pandas()
    return table


def to_geopandas(data: Trajectories, crs: Any = None) -> "gpd.GeoDataFrame":
    """Return a row per sample: who, from when to when, and the box as a polygon."""
    geopandas = _library("geopandas", "to_geopandas")
    shapely = _library("shapely", "to_geopandas")
    _check_projection(data, "to_geopandas")
    table = _table(data, {}).to_pandas()
    boxes = shapely.box(*_sides(data).values())
    found = geopandas.GeoDataFrame(table, geometry=boxes, crs=data.frame.crs)
    return found if crs is None else _projected(found, crs)


def _projected(boxes: "gpd.GeoDataFrame", crs: Any) -> "gpd.GeoDataFrame":
    import pyproj

    try:
        target = pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError as error:
        raise ArgumentError(
            f"unknown coordinate reference system {crs!r}; give one such as 'EPSG:4326', or none "
            "for that of the data"
        ) from error
    found = boxes.to_crs(target)
    edges = found.geometry.bounds.to_numpy()
    if not np.isfinite(edges).all():
        raise PlaceError(
            f"a box lies outside the area that {target.name} can show; leave out crs, for the "
            "projection of the data"
        )
    wide = edges[:, 2] - edges[:, 0]
    if target.is_geographic and bool(np.any(wide > HALF_TURN)):
        raise PlaceError(
            f"the box in row {int(np.argmax(wide))} crosses the 180th meridian, where degrees "
            "jump; leave out crs, for the projection of the data"
        )
    return found


def _table(data: Trajectories, numbers: "dict[str, Any]") -> pl.DataFrame:
    """Return who and when, then `numbers`, then the name of the place where the input has one."""
    person, frame = data.person(), data.frame
    who = data.people.gather(pl.Series(person))
    alone = bool((data.crowd == 1).all())
    columns: dict[str, Any] = {"user" if alone else "trajectory": who}
    if not alone:
        columns["crowd"] = data.crowd[person]
    for name, slots in (("t_start", data.t0), ("t_end", data.t1)):
        moments = pl.Series(name, frame.times(slots).astype("datetime64[ms]"))
        columns[name] = moments.dt.replace_time_zone("UTC").cast(MOMENT)
    columns |= numbers
    place = data.place_names()
    return pl.DataFrame(columns if place is None else {**columns, "place": place})


def _sides(data: Trajectories) -> dict[str, Any]:
    """Return west, south, east and north of every box, in metres on the plane."""
    frame = data.frame
    return {
        "x_min": frame.metres(data.x0),
        "y_min": frame.metres(data.y0),
        "x_max": frame.metres(data.x1),
        "y_max": frame.metres(data.y1),
    }


def _check_projection(data: Trajectories, method: str) -> None:
    if data.frame.crs is None:
        raise ArgumentError(
            f"{method} gives positions on earth, and these boxes lie on a grid without a crs; "
            "boxes().to_pandas() gives cells and slots, or give a Frame with a crs"
        )


def _library(name: str, method: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        what = "geopandas" if name == "shapely" else name
        raise ArgumentError(
            f"{method} needs {name}, which is not installed; get it with: pip install {what}",
            hint=f"pip install {what}",
        ) from error
