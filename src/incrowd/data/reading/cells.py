"""A table of cells: where each antenna, venue or zone lies."""

import os
from typing import Any

from incrowd.data.reading.columns import USUAL, find_by_usual_name
from incrowd.data.reading.fields import name_of, quoted, refuse_nested
from incrowd.data.reading.sources import files_of, open_source, open_table
from incrowd.errors import ColumnError, InputError

__all__ = ["read_cells"]


def read_cells(connection: Any, table: Any) -> dict[str, tuple[float, float]]:
    """Read a table of cells: (longitude, latitude) by the cell's name.

    Parameters
    ----------
    connection
        A DuckDB connection.
    table
        A file or frame with the columns id (or cell, antenna, place, ...), lat and lon.
    """
    if isinstance(table, str | os.PathLike):
        source = open_source(connection, files_of(table)[0], names=None, separator=None)
    else:
        source = open_table(connection, table)
    found = list(source.kinds)
    roles = {"id": ("id", *USUAL["place"]), "lat": USUAL["lat"], "lon": USUAL["lon"]}
    columns = {role: find_by_usual_name(found, names) for role, names in roles.items()}
    for role, name in columns.items():
        if name is None:
            raise ColumnError(
                f"the table of cells ({source.name}) has no column {role}; found: "
                + ", ".join(map(repr, found))
            )
    refuse_nested(source.kinds, {role: str(name) for role, name in columns.items()}, source.name)
    id_column = str(columns["id"])
    query = ", ".join(
        [name_of(quoted(id_column), source.kinds[id_column])]
        + [f"TRY_CAST({quoted(str(columns[role]))} AS DOUBLE)" for role in ("lon", "lat")]
    )
    cells: dict[str, tuple[float, float]] = {}
    for name, lon, lat in connection.execute(f"SELECT {query} FROM {source.relation}").fetchall():
        usable = lon is not None and lat is not None and abs(lon) <= 180 and abs(lat) <= 90  # noqa: PLR2004
        if not name or not usable:
            raise InputError(f"cell {name!r} of {source.name} lies nowhere: lat {lat}, lon {lon}")
        if cells.setdefault(name, (lon, lat)) != (lon, lat):
            raise InputError(f"cell {name!r} of {source.name} lies at two places")
    if not cells:
        raise InputError(f"the table of cells ({source.name}) is empty")
    return cells
