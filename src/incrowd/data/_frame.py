"""The grid behind the integers: where a cell lies on the ground, and when a slot starts.

A :class:`Frame` turns degrees and seconds into cells and slots on the way in, and cells and slots
into metres, degrees and UTC on the way out. It is small, immutable, compared by value, and
travels with every dataset.
"""

import functools
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ArgumentError, InputError

__all__ = [
    "Floats",
    "Frame",
    "Ints",
    "laea",
]


Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


def laea(lat: float, lon: float) -> str:
    """Return the Lambert azimuthal equal-area projection (the papers') about a centre, as text."""
    # Adding zero makes of -0.0 the 0.0 that it is.
    lat, lon = round(float(lat), 4) + 0.0, round(float(lon), 4) + 0.0
    return f"+proj=laea +lat_0={lat} +lon_0={lon} +datum=WGS84 +units=m +no_defs"


@dataclass(frozen=True, slots=True)
class Frame:
    """A grid in space and time: the projection, the cell, the time slot and the time origin.

    Parameters
    ----------
    crs
        The projected coordinate reference system of the plane, as pyproj understands it, in
        metres; None for boxes on a grid without a position on the Earth.
    cell
        The side of a cell in metres.
    slot
        The length of a time slot in seconds.
    origin
        When slot 0 starts, in seconds since 1970-01-01 UTC.

    Examples
    --------
    >>> import incrowd
    >>> frame = incrowd.Frame(crs="EPSG:2154", cell=100)
    >>> x, y = frame.cells(lon=[2.3522], lat=[48.8566])
    >>> int(x[0]), int(y[0])
    (6524, 68620)
    """

    crs: str | None = None
    cell: float = 100.0
    slot: int = 60
    origin: int = 0

    def __post_init__(self) -> None:
        cell = _number(float, self.cell)
        if not (math.isfinite(cell) and cell > 0):
            raise ArgumentError(f"cell must be a positive number of metres, not {self.cell!r}")
        object.__setattr__(self, "cell", cell)
        for name in ("slot", "origin"):
            value = getattr(self, name)
            if _number(int, value) != value:
                raise ArgumentError(f"{name} must be an integer number of seconds, not {value!r}")
            object.__setattr__(self, name, int(value))
        if self.slot < 1:
            raise ArgumentError(f"slot must be at least 1 second, not {self.slot!r}")
        if self.crs is not None:
            if not isinstance(self.crs, str):
                raise ArgumentError(f"crs must be text such as 'EPSG:2154', not {self.crs!r}")
            check_crs(self.crs)

    def cells(self, lon: npt.ArrayLike, lat: npt.ArrayLike) -> tuple[Ints, Ints]:
        """Return the cell of each position in degrees, as (x, y)."""
        x, y = _transformer(self._projection(), inverse=False).transform(
            np.asarray(lon, np.float64), np.asarray(lat, np.float64)
        )
        return self.snap(x), self.snap(y)

    def snap(self, metres: npt.ArrayLike) -> Ints:
        """Return the cell in which a coordinate in metres lies."""
        index = np.floor(np.asarray(metres, np.float64) / self.cell)
        # NaN and infinity fail this comparison as well.
        if not bool(np.all(np.abs(index) < 2**31 - 1)):
            raise InputError(
                "a position lies outside the area that the projection can show; check the "
                "coordinates and the crs"
            )
        return index.astype(np.int32)

    def metres(self, index: npt.ArrayLike) -> Floats:
        """Return the coordinate in metres at which a cell starts."""
        return np.asarray(index, np.float64) * self.cell

    def degrees(self, x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return longitude and latitude of points in metres on the plane."""
        lon, lat = _transformer(self._projection(), inverse=True).transform(
            np.asarray(x, np.float64), np.asarray(y, np.float64)
        )
        return lon, lat

    def times(self, index: npt.ArrayLike) -> npt.NDArray[np.datetime64]:
        """Return the times (UTC) at which slots start."""
        seconds = np.asarray(index, np.int64) * self.slot + self.origin
        return seconds.astype("datetime64[s]")

    def to_json(self) -> str:
        """Return everything as one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Frame":
        """Return the frame that `to_json` described."""
        try:
            fields: dict[str, Any] = json.loads(text)
            return cls(**fields)
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(f"this is not the description of a grid: {error}") from error

    def _projection(self) -> str:
        if self.crs is None:
            raise ArgumentError(
                "this grid has no projection (crs is None), so that positions in degrees are not "
                "known; read the data with lat and lon, or give a Frame with a crs"
            )
        return self.crs


def _number(kind: Callable[[Any], float], value: Any) -> float:
    """Return a number, or NaN (which fails every comparison) for what is none."""
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


@functools.lru_cache(maxsize=64)
def check_crs(crs: str) -> None:
    """Refuse what is not a projection in metres."""
    import pyproj

    try:
        parsed = pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError as error:
        raise ArgumentError(
            f"unknown coordinate reference system {crs!r}; give one such as EPSG:2154"
        ) from error
    units = {axis.unit_name for axis in parsed.axis_info[:2]}
    if not parsed.is_projected or units != {"metre"}:
        raise ArgumentError(
            f"{crs!r} is not a projection in metres ({parsed.name}: {', '.join(sorted(units))}); "
            "give a projected system such as EPSG:2154 or EPSG:32630"
        )


@functools.lru_cache(maxsize=16)
def _transformer(crs: str, *, inverse: bool) -> Any:
    import pyproj

    ends = (crs, "EPSG:4326") if inverse else ("EPSG:4326", crs)
    return pyproj.Transformer.from_crs(*ends, always_xy=True)
