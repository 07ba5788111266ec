"""`read` and `read_visits`, and what they need first.

::

    read, read_visits ──> _options: check the arguments ──> Reader.scan ──> sort ──> assemble

`sensors_of` returns the sensors that a table has rows of, so that one can be chosen. `read_cells`
reads the table of cells, which gives the position of each antenna, venue or zone.
"""

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from incrowd._file_errors import reading_file
from incrowd._memory import MORE, Memory, duckdb_connection
from incrowd._outside import outside
from incrowd.data._frame import Frame
from incrowd.data._io.batches import Limits
from incrowd.data._io.columns import USUAL, find_by_usual_name
from incrowd.data._io.persons import read_person_table, refuse_both
from incrowd.data._io.projection import area_of_use
from incrowd.data._io.rejects_file import putting_aside
from incrowd.data._io.scan import Options, Reader
from incrowd.data._io.sources import (
    all_files,
    expected_rows,
    files_of,
    open_source,
    open_table,
)
from incrowd.data._io.sql import identifier, quoted, refuse_nested
from incrowd.data._io.staging import SAMPLE_BYTES, Staging
from incrowd.data._parquet import KIND, load, metadata_of, size_of
from incrowd.data._select import degrees_of, find_zone, seconds_of
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Visits
from incrowd.errors import ArgumentError, ColumnError, DataWarning, InputError, UnreadableError

__all__ = [
    "read",
    "read_cells",
    "read_visits",
    "sensors_of",
]


_DEFAULT_WINDOW = ("1970-01-01", "2100-01-01")
_HALF_TURN, _QUARTER_TURN = 180, 90


def read(
    source: Any,
    *,
    user: str | None = None,
    time: str | None = None,
    lat: str | None = None,
    lon: str | None = None,
    x: str | None = None,
    y: str | None = None,
    place: str | None = None,
    geometry: str | None = None,
    cells: Any = None,
    same_person: Any = None,
    person_of: str | None = None,
    sensor: str | None = None,
    crs: str | None = None,
    cell: float | None = None,
    slot: int | None = None,
    frame: Frame | None = None,
    tz: str | None = None,
    time_format: str | None = None,
    time_unit: str | None = None,
    window: tuple[Any, Any] | None = None,
    bbox: tuple[float, float, float, float] | None = None,
    strict: bool = False,
    max_bad: float = 0.05,
    names: Sequence[str] | None = None,
    separator: str | None = None,
    decimal: str = ".",
    memory: str | float | None = None,
    threads: int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
    rejects: str | os.PathLike[str] | None = None,
) -> Trajectories:
    """Return the trajectories in files or frames.

    Parameters
    ----------
    source
        A CSV (plain, .gz, .zst) or Parquet file, a folder or glob of them, a list of these, or a
        Polars, Arrow or pandas frame. Files are read in the order of their names. In a folder,
        names that start with a dot or an underscore are left out.
    user, time, lat, lon, x, y, place, geometry
        The name of the column with each role. Those not given are found by their usual names.
        Positions are degrees (lat and lon, or points in WKT), or metres (x and y, with `crs`).
        Users and places are compared as text, without the spaces around it; only an empty field
        is missing, so that ``NULL`` is a name. A row with a position but no place is at place
        ``''``.
    cells
        A table of cells (id, lat, lon) for data that names a cell and no position.
    same_person
        A table (user, person) of identifiers that belong to the same person: a file or a frame. A
        person has the samples of all her identifiers. Identifiers that are not in it stand for
        themselves, and it may have more rows than the data.
    person_of
        The name of a column that says whose identifier the user is: people are then counted by it.
    sensor
        The sensor whose rows to read from a table with a column `sensor`.
    crs
        The projection of the grid, in metres. By default the Lambert azimuthal equal-area
        projection about the data's centre.
    cell, slot
        The size of a grid cell in metres (default 100) and of a time slot in seconds (default 60).
    frame
        A complete grid, for instance that of another dataset. Files that incrowd wrote carry
        theirs, which is used unless `crs`, `cell` or `slot` are given.
    tz
        The time zone of times that name none; UTC by default.
    time_format
        The format of times, as for `strptime`, where they are not ISO 8601.
    time_unit
        The unit of numeric times since 1970 (s, ms, us, ns). By default it is inferred from the
        size of the first ones, and a number in another unit is then no time.
    window
        Start (included) and end (excluded) of the times allowed; rows outside cannot be used.
        By default from 1970 to 2100.
    bbox
        West, south, east and north in degrees: rows outside are left out, and not counted as bad.
    strict
        Whether the first row that cannot be used is an error.
    max_bad
        The largest share of rows that may be unusable.
    names
        The names of the columns in order, for text files without a header.
    separator, decimal
        The field separator and the decimal mark of text files; the separator is found by default.
    memory
        The memory limit, as "4GB" or bytes; by default three quarters of the machine's. Rows that
        do not fit are sorted on disk.
    threads
        The number of threads; all cores by default.
    temp_dir
        The folder for temporary files when rows are sorted on disk.
    progress
        Called with the number of rows read so far.
    rejects
        A file for all rows that cannot be used: CSV with the columns file, line, reason and value,
        readable by its owner only. It is written also if they are too many to go on. An
        earlier one of this name is replaced; any other file is refused.

    Returns
    -------
    Trajectories
        People in the order in which they first appear; its `reading` says what was rejected.

    Raises
    ------
    InputError
        If the input cannot be used; see :mod:`incrowd.errors` for the kinds.

    Examples
    --------
    >>> import polars as pl
    >>> import incrowd
    >>> calls = pl.DataFrame({
    ...     "msisdn": ["0700000001", "0700000002", "0700000001"],
    ...     "time": ["2012-03-05 07:31", "2012-03-05 09:02", "2012-03-06 18:40"],
    ...     "lat": [5.3364, 6.8206, 5.3599], "lon": [-4.0267, -5.2767, -4.0083]})
    >>> data = incrowd.read(calls, tz="Africa/Abidjan")
    >>> len(data), data.samples
    (2, 3)
    """
    asked = {
        "user": user, "time": time, "lat": lat, "lon": lon, "x": x, "y": y,
        "place": place, "geometry": geometry, "person": person_of,
    }  # fmt: skip
    refuse_both(same_person, person_of)
    if frame is not None and (crs, cell, slot) != (None, None, None):
        raise ArgumentError("give either frame, or crs, cell and slot, but not both")
    options = _options(
        asked, sensor=sensor, crs=crs, cell=cell, slot=slot, frame=frame, tz=tz,
        time_format=time_format, time_unit=time_unit, window=window, bbox=bbox, strict=strict,
        max_bad=max_bad, names=names, separator=separator, decimal=decimal, threads=threads,
        progress=progress,
    )  # fmt: skip
    files = all_files(source)
    if files is not None and len(files) == 1 and _is_saved(files[0]):
        if same_person is not None or person_of is not None:
            raise ArgumentError(
                f"{files[0]} holds trajectories that incrowd saved; say which identifiers are the "
                "same person where the original is read"
            )
        with putting_aside(rejects, source, temp_dir):
            Memory.of(memory).refuse_below(size_of(files[0]), files[0])
            return load(files[0])
    if files is not None:
        _tell_if_tight(files, Memory.of(memory), options)
    with _scan(source, files, options, cells, same_person, memory, temp_dir, rejects) as reader:
        rows = reader.sort()
    data = reader.assemble(*rows)
    by_path = [source, *(one for one in (cells, same_person) if one is not None)]
    if data.reading is not None and all(isinstance(one, str | os.PathLike) for one in by_path):
        given = {
            **{name: value for name, value in asked.items() if name != "person"},
            "cells": cells, "same_person": same_person, "person_of": person_of, "sensor": sensor,
            "crs": crs, "cell": cell, "slot": slot, "tz": tz,
            "time_format": time_format, "time_unit": time_unit, "window": window,
            "bbox": bbox, "strict": strict, "max_bad": max_bad, "names": names,
            "separator": separator, "decimal": decimal,
        }  # fmt: skip
        noted = replace(
            data.reading,
            source=os.fspath(source),
            arguments=given,
            people=len(data),
            samples=data.samples,
        )
        object.__setattr__(data, "reading", noted)  # still ours: nobody has it yet
    return data


def read_visits(
    source: Any,
    *,
    user: str | None = None,
    time: str | None = None,
    place: str | None = None,
    same_person: Any = None,
    person_of: str | None = None,
    sensor: str | None = None,
    slot: int = 3600,
    lat: str | None = None,
    lon: str | None = None,
    bbox: tuple[float, float, float, float] | None = None,
    tz: str | None = None,
    time_format: str | None = None,
    time_unit: str | None = None,
    window: tuple[Any, Any] | None = None,
    strict: bool = False,
    max_bad: float = 0.05,
    names: Sequence[str] | None = None,
    separator: str | None = None,
    decimal: str = ".",
    memory: str | float | None = None,
    threads: int | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
    rejects: str | os.PathLike[str] | None = None,
) -> Visits:
    """Return which places each person visited, and when, wherever these places lie.

    For antennas and access points that have a name, and perhaps no position. Several of them in
    the same 100 m and minute are separate visits (to :func:`read` they are one sample).

    Parameters
    ----------
    source, user, time, place, same_person, person_of, sensor
        As for :func:`read`. A row without a place cannot be used.
    slot
        The length of a time slot in seconds: a place is visited at most once in each.
    lat, lon, bbox
        The columns of the position, and the area in which it must lie. Positions are read only if
        there is a bbox.
    tz, time_format, time_unit, window, strict, max_bad, names, separator, decimal
        As for :func:`read`.
    memory, threads, temp_dir, progress, rejects
        As for :func:`read`.

    Returns
    -------
    Visits
        People in the order in which they first appear; times count slots from the first midnight.
        Its `reading` says what was rejected.

    Raises
    ------
    InputError
        If the input cannot be used; see :mod:`incrowd.errors` for the kinds.

    Examples
    --------
    >>> import polars as pl
    >>> import incrowd
    >>> scans = pl.DataFrame({"user": [1, 1, 1, 2], "bssid": ["a", "b", "a", "a"],
    ...     "time": ["2012-03-05 07:31", "2012-03-05 07:31", "2012-03-05 07:40",
    ...              "2012-03-05 09:02"]})
    >>> incrowd.read_visits(scans)
    Visits(2 people, 3 visits, 2 places)
    """
    refuse_both(same_person, person_of)
    asked = {
        "user": user, "time": time, "place": place, "lat": lat, "lon": lon, "person": person_of,
    }  # fmt: skip
    options = _options(
        asked, sensor=sensor, slot=slot, tz=tz, time_format=time_format, time_unit=time_unit,
        window=window, bbox=bbox, strict=strict, max_bad=max_bad, names=names,
        separator=separator, decimal=decimal, threads=threads, progress=progress, by_place=True,
    )  # fmt: skip
    files = all_files(source)
    with _scan(source, files, options, None, same_person, memory, temp_dir, rejects) as reader:
        return reader.finish_visits()


def _options(
    columns: Mapping[str, str | None],
    *,
    window: tuple[Any, Any] | None,
    bbox: tuple[float, float, float, float] | None,
    crs: str | None = None,
    cell: float | None = None,
    slot: int | None = None,
    frame: Frame | None = None,
    **asked: Any,
) -> Options:
    """Return the arguments, checked before anything is read."""
    limits = Limits(_window(window), _box(bbox), None if crs is None else area_of_use(crs))
    Frame(cell=100.0 if cell is None else cell, slot=60 if slot is None else slot)
    if asked["tz"] is not None:
        find_zone(asked["tz"])
    if len(asked["decimal"]) != 1:
        raise ArgumentError(f"decimal must be one character, not {asked['decimal']!r}")
    threads, max_bad = asked["threads"], asked["max_bad"]
    if threads is not None and threads < 1:
        raise ArgumentError(f"threads must be a positive integer, not {threads!r}")
    if not 0 <= max_bad <= 1:
        raise ArgumentError(f"max_bad must be a share from 0 to 1, not {max_bad!r}")
    asked["threads"] = threads or os.cpu_count() or 1
    return Options(
        columns=columns, crs=crs, cell=cell, slot=slot, frame=frame, limits=limits, **asked
    )


@contextlib.contextmanager
def _scan(
    source: Any,
    files: list[Path] | None,
    options: Options,
    cells: Any,
    same_person: Any,
    memory: str | float | None,
    temp_dir: str | os.PathLike[str] | None,
    rejects: str | os.PathLike[str] | None,
) -> Iterator[Reader]:
    """Yield a reader that has read all rows."""
    limit = Memory.of(memory)
    only = files[0] if files is not None and len(files) == 1 else None
    with (
        reading_file(only),
        putting_aside(rejects, source, temp_dir, only_first=options.strict) as aside,
        duckdb_connection(limit, options.threads, temp_dir) as connection,
    ):
        table = None if cells is None else read_cells(connection, cells)
        persons = None if same_person is None else read_person_table(connection, same_person)
        staging = Staging(
            connection,
            limit.for_rows,
            options.threads,
            samples=limit.for_samples,
            notes=limit.for_notes,
        )
        reader = Reader(connection, options, files, table, staging, aside, persons)
        reader.scan([None] if files is None else files, source)
        yield reader


def _tell_if_tight(files: list[Path], limit: Memory, options: Options) -> None:
    """Warn, before anything is read, where the memory limit is too low unless rows repeat."""
    if (options.sensor, options.limits.bbox) != (None, None) or options.limits.window != _window(
        None
    ):
        return  # how many of the rows are wanted is not known
    rows = expected_rows(files)
    if rows is not None and rows * SAMPLE_BYTES > limit.for_samples:
        need = rows * SAMPLE_BYTES + limit.limit - limit.for_samples
        warnings.warn(
            f"there are about {rows:,} rows. Unless many of them repeat others, reading needs "
            f"{need / 1e9:.1f} GB, and will end with an error half way, for the memory limit is "
            f"{limit.limit / 1e9:.1f} GB; {MORE}",
            DataWarning,
            stacklevel=outside(),
        )


def _is_saved(path: Path) -> bool:
    """Return whether a file holds trajectories that `save` wrote."""
    if path.suffix.lower() not in (".parquet", ".pq"):
        return False
    try:
        with reading_file(path):
            return metadata_of(path).get(KIND) == b"trajectories"
    except UnreadableError:
        return False  # opening the file says more


def _window(given: tuple[Any, Any] | None) -> tuple[int, int]:
    start, end = (seconds_of(edge) for edge in given or _DEFAULT_WINDOW)
    if start >= end:
        raise ArgumentError(
            f"window must be (start, end) with the end after the start, not {given!r}"
        )
    return start, end


def _box(given: Any) -> tuple[float, float, float, float] | None:
    if given is None:
        return None
    west, south, east, north = degrees_of(given)
    if south == north:
        raise ArgumentError(f"bbox must have its north above its south, not {given!r}")
    return west, south, east, north


def sensors_of(source: Any) -> list[str]:
    """Return the sensors that a table names, or none if it has no column for them.

    Parameters
    ----------
    source
        As for `read`: files, or a frame.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.data._io import sensors_of
    >>> sensors_of(pl.DataFrame({"sensor": ["wifi", "GSM ", "wifi"]}))
    ['gsm', 'wifi']
    """
    found: set[str] = set()
    with duckdb_connection(Memory.of(None), 1, None) as connection:
        files = all_files(source)
        tables = (
            [open_table(connection, source)]
            if files is None
            else (open_source(connection, path, names=None, separator=None) for path in files)
        )
        for table in tables:
            column = find_by_usual_name(list(table.kinds), USUAL["sensor"])
            if column is not None:
                # Read by `read` in the same way.
                kind = f"lower(trim(CAST({quoted(column)} AS VARCHAR)))"
                query = f"SELECT DISTINCT {kind} FROM {table.peek}"
                with reading_file(table.path):
                    found |= {row[0] for row in connection.execute(query).fetchall() if row[0]}
    return sorted(found)


def read_cells(connection: Any, table: Any) -> dict[str, tuple[float, float]]:
    """Return (longitude, latitude) by the name of the cell, of a table of cells.

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
                f"the table of cells ({source.name}) has no column {role}; it needs id, lat and "
                "lon. Found: " + ", ".join(map(repr, found))
            )
    refuse_nested(source.kinds, {role: str(name) for role, name in columns.items()}, source.name)
    id_column = str(columns["id"])
    query = ", ".join(
        [identifier(quoted(id_column), source.kinds[id_column])]
        + [f"TRY_CAST({quoted(str(columns[role]))} AS DOUBLE)" for role in ("lon", "lat")]
    )
    cells: dict[str, tuple[float, float]] = {}
    with reading_file(source.path):
        rows = connection.execute(f"SELECT {query} FROM {source.relation}").fetchall()
    for name, lon, lat in rows:
        known = lon is not None and lat is not None
        if not name or not known or abs(lon) > _HALF_TURN or abs(lat) > _QUARTER_TURN:
            raise InputError(
                f"the table of cells ({source.name}): cell {name!r} has no valid position "
                f"(lat {lat}, lon {lon}); lat must be from -90 to 90 and lon from -180 to 180"
            )
        if cells.setdefault(name, (lon, lat)) != (lon, lat):
            raise InputError(
                f"the table of cells ({source.name}): cell {name!r} has two different positions"
            )
    if not cells:
        raise InputError(f"the table of cells ({source.name}) has no rows")
    return cells
