"""`traces`: from raw records of GPS, WiFi and GSM to visits, for uniqueness and re-identification.

Section 3.2 of *Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets*, 2016 (figure 2)::

    GSM, WiFi   antenna or access point by its name ──────────────┐
    GPS         fixes on a fine grid ──> stays ──> POIs ──────────┴──> visits: a place and a slot
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from incrowd._format import people
from incrowd._summary import Summarised, Summary
from incrowd.data._frame import Frame
from incrowd.data._io.read import read, read_visits, sensors_of
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Visits
from incrowd.data._visits import visits as visits_of
from incrowd.errors import ArgumentError, InputError
from incrowd.measure._points_of_interest import PointsOfInterest, points_of_interest, slots_of

__all__ = [
    "FINE",
    "Trace",
    "traces",
]


FINE = 10.0
"""Cells for GPS, in metres: POIs are some hundred wide."""
MET = 3
"""Antennas or access points in one time slot that show that somebody moved."""
_GRID = ("x", "y", "geometry", "cells", "crs", "cell", "frame")
"""Options of reading that tell where places lie, which names do without."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trace(Summarised):
    """What one sensor recorded of everybody.

    Attributes
    ----------
    visits
        Who was where, and when.
    precision
        How many units of the visits' time make a slot.
    met
        How many places must be met in a slot of a temporal trace.
    fixes
        What was recorded, where positions were read.
    pois
        Of GPS: where people stayed.
    """

    visits: Visits
    precision: int = 1
    met: int = MET
    fixes: Trajectories | None = None
    pois: PointsOfInterest | None = None

    @property
    def how(self) -> dict[str, Any]:
        """How uniqueness takes the visits apart."""
        return {"precision": self.precision, "met": self.met}

    def _summary(self) -> Summary:
        facts = {"visits": repr(self.visits), "units of time in a slot": f"{self.precision:,}"}
        if self.fixes is not None:
            facts["fixes"] = repr(self.fixes)
        if self.pois is not None:
            facts["points of interest"] = "found"
        return Summary(f"Trace of one sensor of {people(len(self.visits))}", facts)


def traces(
    source: Any,
    *,
    sensors: Iterable[str] | None = None,
    pois: Iterable[str] = ("gps",),
    minutes: float = 60,
    diameter: float = 250.0,
    stay: float = 30.0,
    gap: float | None = None,
    **reading: Any,
) -> dict[str, Trace]:
    """Return the traces of several sensors.

    Parameters
    ----------
    source
        A table with a column `sensor`, as for :func:`incrowd.read`; or several tables, by the name
        of their sensor.
    sensors
        Which to take; all unless given.
    pois
        Sensors that give positions, whose places are POIs. Places of the others are those named in
        the column `place`.
    minutes
        How long a slot of time is.
    diameter, stay, gap
        What a POI is; see :func:`incrowd.points_of_interest`.
    reading
        How to read; see :func:`incrowd.read`. Cells are 10 m wide unless given.

    Returns
    -------
    dict
        The trace of each sensor.

    References
    ----------
    - Boutet et al., 2016: "Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets", LIRIS
      research report hal-01381986; section 3.2.

    Examples
    --------
    >>> import polars as pl
    >>> import incrowd
    >>> scans = pl.DataFrame({
    ...     "user": [1, 1, 2, 2], "sensor": ["wifi", "wifi", "wifi", "gsm"],
    ...     "place": ["a", "b", "a", "c"],
    ...     "time": ["2012-03-05 07:31", "2012-03-05 07:33", "2012-03-05 07:40",
    ...              "2012-03-05 09:02"]})
    >>> found = incrowd.traces(scans)
    >>> {name: trace.visits for name, trace in found.items()}
    {'gsm': Visits(1 person, 1 visit, 1 place), 'wifi': Visits(2 people, 3 visits, 2 places)}
    >>> incrowd.uniqueness(found["wifi"].visits, points=2).share
    1.0
    """
    whole = slots_of(minutes, Frame(slot=1))
    if isinstance(sensors, str):
        sensors = [sensors]
    found: dict[str, tuple[Any, str | None]] = {}
    if isinstance(source, Mapping) and all(isinstance(name, str) for name in source):
        found = {name.lower(): (table, None) for name, table in source.items()}
        if len(found) < max(1, len(source)):
            raise ArgumentError(
                "give at least one sensor, and each name once (upper and lower case are the same)"
            )
    else:
        found = {name: (source, name) for name in sensors_of(source)}
        if not found:
            raise InputError(
                "the table has no column for the sensor; give tables by the names of their "
                "sensors, or read the table with incrowd.read or incrowd.read_visits"
            )
    for name in sensors or ():
        if name.lower() not in found:
            raise InputError(f"there is no sensor {name!r}; found: {', '.join(found)}")
    wanted = list(found) if sensors is None else [name.lower() for name in sensors]
    places = {name.lower() for name in pois}
    how = {"diameter": diameter, "stay": stay, "gap": gap}
    return {
        name: (
            _stayed(*found[name], whole, how, reading)
            if name in places
            else _named(*found[name], whole, reading)
        )
        for name in wanted
    }


def _named(table: Any, sensor: str | None, seconds: int, reading: Mapping[str, Any]) -> Trace:
    """Read the places that one sensor names."""
    how = without_grid(reading) | {"slot": seconds}
    return Trace(read_visits(table, sensor=sensor, **how))


def without_grid(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of reading that places with names need: all that say nothing of positions."""
    return {name: value for name, value in reading.items() if name not in _GRID}


def _stayed(
    table: Any,
    sensor: str | None,
    seconds: int,
    poi: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> Trace:
    """Read the fixes of one sensor, and find where people stayed."""
    how = dict(reading)
    if how.get("cell") is None and how.get("frame") is None:
        how["cell"] = FINE
    return stayed(read(table, sensor=sensor, **how), seconds / 60, **poi)


def stayed(fixes: Trajectories, minutes: float, **poi: Any) -> Trace:
    """Find where people stayed, and when, in slots of so many minutes."""
    found = points_of_interest(fixes, **poi)
    return Trace(found.visits(minutes), met=1, fixes=fixes, pois=found)


def met_at(data: Trajectories, minutes: float) -> Trace:
    """Take the places of trajectories: those named in the input, or cells."""
    return Trace(visits_of(data), slots_of(minutes, data.frame), fixes=data)
