"""Which column has which role: as given, or by the names that people use.

Names are compared without case and punctuation, so ``User ID``, ``user_id`` and ``userId`` are
one. Of several that fit, the first in the list of usual names wins.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence

from incrowd.errors import ColumnError

__all__ = [
    "USUAL",
    "find_by_usual_name",
    "find_columns",
    "refuse_duplicates",
]


USUAL: Mapping[str, tuple[str, ...]] = {
    "user": (
        *("user", "uid", "userid", "msisdn", "imsi", "subscriber", "subscriberid", "person"),
        *("personid", "customer", "customerid", "caller", "callerid", "deviceid", "device"),
        *("agent", "agentid", "vehicle", "vehicleid", "carid", "taxiid", "traj", "trajid", "id"),
    ),
    "time": (
        *("time", "timestamp", "datetime", "ts", "trackedat", "utctime", "startedat", "starttime"),
        *("eventtime", "calltime", "unixtime", "epoch", "dt", "date"),
    ),
    "lat": ("lat", "latitude"),
    "lon": ("lon", "lng", "long", "longitude"),
    "x": ("x", "xcoord", "easting"),
    "y": ("y", "ycoord", "northing"),
    "geometry": ("geom", "geometry", "wkt", "thegeom"),
    "place": (
        *("cell", "cellid", "antenna", "antennaid", "place", "placeid", "venue", "venueid"),
        *("location", "locationid", "site", "siteid", "tower", "towerid", "basestation", "bs"),
        *("zone", "zoneid", "poi", "poiid", "bssid", "accesspoint"),
        *("cgi", "ecgi", "ncgi", "nrcgi", "cellglobalid", "globalcellid", "cellidentity", "eci"),
    ),
    "sensor": ("sensor", "sensortype"),
}
"""The usual names of each role, likeliest first; with those of scikit-mobility and trackintel."""

_MEANING = {
    "user": "the user",
    "time": "the time",
    "lat": "the latitude (lat)",
    "lon": "the longitude (lon)",
    "x": "the x coordinate (x)",
    "y": "the y coordinate (y)",
    "place": "the place (cell, antenna, venue)",
}
_LISTED = 20
"""How many columns an error lists."""


def find_columns(
    found: Sequence[str],
    given: Mapping[str, str | None],
    *,
    where: str,
    no_position: bool = False,
    place_needed: bool = False,
) -> dict[str, str]:
    """Return the column of each role.

    Parameters
    ----------
    found
        The names of the columns in the table.
    given
        The column that the caller gave for a role; None means to look for it.
    where
        The table's name, for error messages.
    no_position
        Whether positions come from a table of cells, or are not needed; then a place is.
    place_needed
        Whether a place is needed anyway.

    Returns
    -------
    dict
        Column by role; always user and time, the position in one form, and place and sensor where
        there are such columns.

    Raises
    ------
    ColumnError
        If a given column is not there, or a role cannot be filled.
    """
    chosen = {role: _take(found, name, where) for role, name in given.items() if name is not None}
    for role, names in USUAL.items():
        if role not in chosen:
            match = find_by_usual_name(found, names, taken=set(chosen.values()))
            if match is not None:
                chosen[role] = match
    _keep_one_position(chosen, given, no_position=no_position)
    needed = ["user", "time", *([] if no_position else _position(chosen, given))]
    needed += ["place"] if no_position or place_needed else []
    for role in needed:
        if role not in chosen:
            # Where places are taken by their names already, a position is for the bbox.
            hint = "" if place_needed else _hint(role, chosen.get("place"))
            text = _missing(role, found, where)
            raise ColumnError(f"{text} {hint}".rstrip(), file=where, hint=hint or None)
    return chosen


def find_by_usual_name(
    found: Sequence[str], names: Sequence[str], taken: Collection[str] = ()
) -> str | None:
    """Return the column whose name comes first among the usual ones."""
    columns = {_normalised(name): name for name in reversed(found) if name not in taken}
    return next((columns[name] for name in names if name in columns), None)


def _keep_one_position(
    chosen: dict[str, str], given: Mapping[str, str | None], *, no_position: bool
) -> None:
    """Keep the position in one form: as given, else degrees, a geometry, metres."""
    forms: tuple[tuple[str, ...], ...] = (("lat", "lon"), ("geometry",), ("x", "y"))
    kept: tuple[str, ...] = ("lat", "lon")
    if no_position:
        kept = ()
    elif any(given.get(role) for role in ("x", "y")):
        kept = ("x", "y")
    elif given.get("geometry"):
        kept = ("geometry",)
    else:
        complete = [form for form in forms if all(role in chosen for role in form)]
        kept = complete[0] if complete else kept
    for role in (role for form in forms for role in form):
        if role not in kept:
            chosen.pop(role, None)


def _position(chosen: Mapping[str, str], given: Mapping[str, str | None]) -> list[str]:
    if "geometry" in chosen:
        return ["geometry"]
    if {"x", "y"} & set(chosen) or given.get("x") or given.get("y"):
        return ["x", "y"]
    return ["lat", "lon"]


def _take(found: Sequence[str], name: str, where: str) -> str:
    if name in found:
        return name
    alike = [column for column in found if _normalised(column) == _normalised(name)]
    if len(alike) == 1:
        return alike[0]
    near = difflib.get_close_matches(name, found, 1, 0.5)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ColumnError(f"{where}: no column {name!r}{hint} Found: {_listed(found)}")


def _hint(role: str, place: str | None) -> str:
    """Say what to do where places are named and have no position."""
    if place is None or role not in ("lat", "lon"):
        return ""
    return (
        f"{place} names cells: give --antennas FILE (cells= in Python), a table of their positions "
        "(id, lat, lon); for describe, attack, uniqueness and deanonymize, --by-name will do "
        "(incrowd.read_visits in Python)"
    )


def _missing(role: str, found: Sequence[str], where: str) -> str:
    near = [
        column
        for column in found
        if difflib.get_close_matches(_normalised(column), USUAL[role], 1, 0.6)
    ]
    hint = f" If it is {near[0]!r}, give {role}={near[0]!r}." if near else ""
    return (
        f"{where}: no column for {_MEANING[role]}. Found: {_listed(found)}.{hint} "
        f"Usual names are {', '.join(USUAL[role][:4])}; give any other name with {role}=... "
        f"in Python or --{role} on the command line."
    )


def refuse_duplicates(found: Sequence[str], where: str) -> None:
    """Refuse columns whose names are the same, or differ in case only; empty names may repeat."""
    seen: set[str] = set()
    for name in found:
        if name and name.casefold() in seen:
            raise ColumnError(
                f"{where}: two columns are named {name!r} (upper and lower case are the same); "
                f"rename one. Found: {_listed(found)}"
            )
        seen.add(name.casefold())


def _listed(found: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in found[:_LISTED])
    return shown + (f" and {len(found) - _LISTED} more" if len(found) > _LISTED else "")


def _normalised(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
