"""Which column is what: by the names that people use, or as told.

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
    "refuse_doubled",
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
    ),
    "sensor": ("sensor", "sensortype"),
}
"""The usual names of each role, likeliest first; scikit-mobility's and trackintel's among them."""

_WORDS = {
    "user": "who (user)",
    "time": "when (time)",
    "lat": "where (lat)",
    "lon": "where (lon)",
    "x": "where (x)",
    "y": "where (y)",
    "place": "which cell (place)",
}


def find_columns(
    found: Sequence[str],
    given: Mapping[str, str | None],
    *,
    where: str,
    cells: bool = False,
    placed: bool = False,
) -> dict[str, str]:
    """Decide which column plays which role.

    Parameters
    ----------
    found
        The names of the columns in the table.
    given
        Roles that the caller has assigned; None means to look for it.
    where
        The table's name, for error messages.
    cells
        Whether positions come from a table of cells, or nowhere; then they are not looked for.
    placed
        Whether a place is needed anyway.

    Returns
    -------
    dict
        Column by role; always user and time, one way of telling the position, and place and
        sensor where there are such columns.

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
    _one_position(chosen, given, cells=cells)
    needed = ["user", "time", *([] if cells else _position(chosen, given))]
    needed += ["place"] if cells or placed else []
    for role in needed:
        if role not in chosen:
            raise ColumnError(_missing(role, found, where))
    return chosen


def find_by_usual_name(
    found: Sequence[str], names: Sequence[str], taken: Collection[str] = ()
) -> str | None:
    """Give the column whose name comes first among the usual ones."""
    plain = {_plain(name): name for name in reversed(found) if name not in taken}
    return next((plain[name] for name in names if name in plain), None)


def _one_position(chosen: dict[str, str], given: Mapping[str, str | None], *, cells: bool) -> None:
    """Leave one way of telling the position: as given, else degrees, a geometry, metres."""
    ways = (("lat", "lon"), ("geometry",), ("x", "y"))
    if cells:
        ways_left: tuple[str, ...] = ()
    elif any(given.get(role) for role in ("x", "y")):
        ways_left = ("x", "y")
    elif given.get("geometry"):
        ways_left = ("geometry",)
    else:
        whole = [way for way in ways if all(role in chosen for role in way)]
        ways_left = whole[0] if whole else ("lat", "lon")
    for way in ways:
        for role in way:
            if role not in ways_left:
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
    alike = [column for column in found if _plain(column) == _plain(name)]
    if len(alike) == 1:
        return alike[0]
    near = difflib.get_close_matches(name, found, 1, 0.5)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ColumnError(f"{where}: no column {name!r}{hint} Found: {_listed(found)}")


def _missing(role: str, found: Sequence[str], where: str) -> str:
    near = [
        column for column in found if difflib.get_close_matches(_plain(column), USUAL[role], 1, 0.6)
    ]
    hint = f" The nearest is {near[0]!r}: say {role}={near[0]!r} if it is that." if near else ""
    return (
        f"{where}: no column tells {_WORDS[role]}. Found: {_listed(found)}.{hint} "
        f"Usual names are {', '.join(USUAL[role][:4])}; any other can be named: {role}=..., "
        f"or --{role} on the command line."
    )


def refuse_doubled(found: Sequence[str], where: str) -> None:
    """Refuse columns whose names are the same, or differ in case only; empty ones are nobody's."""
    seen: set[str] = set()
    for name in found:
        if name and name.casefold() in seen:
            raise ColumnError(
                f"{where}: two columns are named {name!r}; rename one, so that it is clear "
                f"which is meant. Found: {_listed(found)}"
            )
        seen.add(name.casefold())


def _listed(found: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in found[:20])
    return shown + (f" and {len(found) - 20} more" if len(found) > 20 else "")  # noqa: PLR2004


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
