"""One reading, from the scan to the result.

::

    Reader.scan       for each file: find columns, choose the parser (fast_csv or sql), check every
                      batch (RowChecker), keep it (Staging); then name the lines of bad rows
    Reader.sort       choose the grid, sort
    Reader.assemble   make Trajectories, once DuckDB has given its memory back
    Reader.finish_visits   the same for Visits, which need no grid

Rows that cannot be used are counted by reason, with the lines of the first few (`bad_rows`); all of
them are put into a file, if one is wanted (`rejects_file`).
"""

import contextlib
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from incrowd._file_errors import reading_file
from incrowd._outside import outside
from incrowd.data._frame import Frame
from incrowd.data._io.bad_rows import (
    count_malformed,
    find_lines,
    forget_malformed,
    is_cut_short,
    refuse_if_too_many,
    take_lines,
)
from incrowd.data._io.batches import Limits, RowChecker
from incrowd.data._io.columns import find_columns
from incrowd.data._io.densest_box import densest_box
from incrowd.data._io.fast_csv import fast_rows
from incrowd.data._io.line_check import check_lines
from incrowd.data._io.lines import first_other_line_end
from incrowd.data._io.persons import PersonEncoder, Persons, PersonTable, refuse_bad_persons
from incrowd.data._io.projection import area_of_use, local_projection, refuse_far
from incrowd.data._io.reading_report import Reading
from incrowd.data._io.rejects_file import RejectedRows
from incrowd.data._io.sources import (
    Source,
    explain_missing_columns,
    open_source,
    open_table,
    text_source,
)
from incrowd.data._io.sql import is_number, quoted, refuse_nested, row_query, time_unit
from incrowd.data._io.staging import SortedSamples, Staging
from incrowd.data._io.write import frame_of
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Visits
from incrowd.errors import (
    ArgumentError,
    ColumnError,
    DataWarning,
    InputError,
    PlaceError,
    SamePersonWarning,
    UnreadableError,
)

__all__ = [
    "Options",
    "Reader",
]


_LOOKED_AT = 20_000
"""Rows in which the format of times is looked for, if they were not understood."""
_BATCH = 1 << 20
"""Rows that the general scanner gives at a time."""
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of `read`, checked."""

    columns: Mapping[str, str | None]
    sensor: str | None
    crs: str | None
    cell: float | None
    slot: int | None
    frame: Frame | None
    tz: str | None
    time_format: str | None
    time_unit: str | None
    limits: Limits
    strict: bool
    max_bad: float
    names: Sequence[str] | None
    separator: str | None
    decimal: str
    threads: int
    progress: Callable[[int], None] | None
    by_place: bool = False
    """Whether visits to places are read, wherever these lie."""


class Reader:
    """One reading, from the scan to the result."""

    def __init__(
        self,
        connection: Any,
        options: Options,
        files: list[Path] | None,
        cells: Mapping[str, tuple[float, float]] | None,
        staging: Staging,
        aside: RejectedRows | None = None,
        persons: PersonTable | None = None,
    ) -> None:
        self._connection, self._options, self._staging = connection, options, staging
        self._frame = options.frame or self._own_frame(files)
        slot = 60 if options.slot is None else options.slot
        slot = slot if self._frame is None else self._frame.slot
        reference = 0 if self._frame is None else self._frame.origin
        by_person = persons is not None or options.columns.get("person") is not None
        who = PersonEncoder(persons) if by_person else None
        self._checker = RowChecker(options.limits, options.tz, slot, reference, cells, aside, who)
        span = options.limits.window[1] - options.limits.window[0]
        if span // slot >= 2**32:
            raise ArgumentError(
                f"slots of {slot} s are too short for a time window of {span // _DAY:,} days; use "
                "longer slots or a shorter window"
            )
        self._columns: dict[str, str] = {}
        self._files: list[str] = []
        self._metres = False
        self._last: tuple[Source, str] | None = None

    def _own_frame(self, files: list[Path] | None) -> Frame | None:
        """Return the grid that all files carry, if they carry one and no other is asked for."""
        options = self._options
        if files is None or (options.crs, options.cell, options.slot) != (None, None, None):
            return None
        try:
            carried = {frame_of(path) for path in files}
        except UnreadableError:
            return None  # opening the file says more
        return carried.pop() if len(carried) == 1 else None

    def scan(self, files: Iterable[Path | None], frame: Any) -> None:
        """Read all rows into the staging."""
        options = self._options
        every = list(files)
        for path in every:
            with reading_file(path):
                if path is None:
                    source = open_table(self._connection, frame)
                else:
                    source = open_source(
                        self._connection, path, names=options.names, separator=options.separator
                    )
                    self._files.append(source.name)
                with explain_missing_columns(path, every):
                    self._scan_one(source)
        if self._checker.aside is not None:
            self._checker.aside.complete = True

    def _scan_one(self, source: Source) -> None:
        import duckdb

        try:
            self._scan_rows(source)
        except duckdb.Error as error:
            line = first_other_line_end(source.path) if source.path and source.text else None
            if line is None or "invalid state" not in str(error):
                raise
            raise UnreadableError(
                f"{source.name}, line {line}: mixed line endings: it does not end as the lines "
                "before it do, so that the rest of the file cannot be read",
                file=source.path,
                line=line,
                hint="write all line ends alike, for instance with dos2unix",
            ) from error

    def _scan_rows(self, source: Source) -> None:
        options, checker = self._options, self._checker
        # Positions that are not needed are not looked for.
        no_position = checker.cells is not None or (
            options.by_place and options.limits.bbox is None
        )
        columns = find_columns(
            list(source.kinds),
            options.columns,
            where=source.name,
            no_position=no_position,
            place_needed=options.by_place,
        )
        refuse_nested(source.kinds, columns, source.name)
        self._note_columns(columns, source)
        self._last = source, columns["time"]
        first, has_place = 0, "place" in columns
        with contextlib.closing(self._batches(source, columns)) as batches:
            for batch in batches:
                rows = checker.check(batch, file=source.name, first=first, has_place=has_place)
                if checker.aside is not None:
                    checker.aside.end_batch()
                self._staging.keep_names(checker.users.size + checker.places.size)
                self._staging.add(rows)
                first += batch.num_rows
                if options.progress is not None:
                    options.progress(checker.rows)
                if options.strict and checker.rejects.total:
                    break
        malformed = count_malformed(self._connection, source, checker)
        if checker.aside is None:
            find_lines(checker.rejects, source, malformed)
        else:
            lines = checker.aside.end_file(source, malformed, options.sensor)
            take_lines(checker.rejects, lines)
        refuse_bad_persons(checker.rejects, options.columns.get("person"))
        if options.strict:
            refuse_if_too_many(checker, allowed=0, strict=True, times=self._some_times)

    def _batches(self, source: Source, columns: Mapping[str, str]) -> Generator[Any, None, None]:
        """Yield rows: simple lines by the fast path, all others by the general scanner."""
        options = self._options
        epoch = self._epoch(source, columns["time"])
        given = (epoch, options.time_format, options.sensor, options.decimal)
        # A line without a place is as simple as others, but no visit.
        simple = given == (None, None, None, ".") and not options.by_place
        if source.text is not None and source.path is not None and simple:
            done = yield from fast_rows(source.path, source.text, columns, options.threads)
            if done is None:
                return
            source = text_source(source.path, source.text, done=done)
        else:
            done = 0
        if source.text is not None:
            check_lines(source.text, self._staging.notes)

        def scanned(relation: str) -> Any:
            query = row_query(
                relation,
                columns,
                source.kinds,
                epoch=epoch,
                time_format=options.time_format,
                decimal=options.decimal,
                sensor=options.sensor,
                place_needed=self._checker.cells is not None or options.by_place,
            )
            return self._connection.sql(query).to_arrow_reader(_BATCH)

        seen = 0
        with scanned(source.relation) as batches:
            for batch in batches:
                seen += batch.num_rows
                yield batch
        if is_cut_short(self._connection, source, columns.values(), seen, done):
            assert source.path is not None and source.text is not None  # noqa: S101, PT018
            forget_malformed(self._connection)
            again = text_source(source.path, source.text, done=done, parallel=False)
            with scanned(again.relation) as batches:
                for batch in batches:
                    if batch.num_rows > seen:
                        yield batch.slice(seen)
                    seen -= min(seen, batch.num_rows)

    def _note_columns(self, columns: dict[str, str], source: Source) -> None:
        """Remember which column has which role; it must be the same roles in all files."""
        if self._columns and set(columns) != set(self._columns):
            raise ColumnError(
                f"{source.name} has columns for {', '.join(sorted(columns))}, but the files before "
                f"it for {', '.join(sorted(self._columns))}; read them separately"
            )
        self._columns = self._columns or columns
        self._metres = "x" in columns
        if self._metres and self._options.crs is None and self._frame is None:
            raise ArgumentError(
                "positions in x and y need their coordinate reference system, for example "
                "crs='EPSG:2154'; positions in degrees need columns for lat and lon"
            )
        if self._metres and self._options.limits.bbox is not None:
            raise ArgumentError(
                "bbox is in degrees, but these positions are in metres (x, y); leave bbox out"
            )
        if self._metres and self._options.crs is not None:
            area = area_of_use(self._options.crs, metres=True)
            self._checker.limits = replace(self._options.limits, area=area)
        if "sensor" not in columns and self._options.sensor is not None:
            raise ColumnError(
                f"{source.name} has no column named sensor; leave out "
                f"sensor={self._options.sensor!r}, or rename the column"
            )
        if "sensor" in columns and self._options.sensor is None:
            self._refuse_mixed_sensors(source, columns["sensor"])

    def _refuse_mixed_sensors(self, source: Source, column: str) -> None:
        query = f"SELECT DISTINCT CAST({quoted(column)} AS VARCHAR) FROM {source.peek} LIMIT 9"
        kinds = sorted(row[0] for row in self._connection.execute(query).fetchall() if row[0])
        if len(kinds) > 1:
            raise InputError(
                f"{source.name} holds several sensors ({', '.join(kinds)}); "
                f"choose one, for example sensor={kinds[0]!r}"
            )

    def _epoch(self, source: Source, time: str) -> Any:
        """Return the unit of numeric times, inferred from the first values; None for text."""
        options = self._options
        kind = source.kinds[time]
        if options.time_format is not None or not (kind == "VARCHAR" or is_number(kind)):
            return None
        column = quoted(time)
        present = f"isfinite({column}::DOUBLE)" if is_number(kind) else f"{column} IS NOT NULL"
        query = (
            f"SELECT trim(CAST({column} AS VARCHAR)) FROM {source.peek} WHERE {present} LIMIT 100"
        )
        values = [row[0] for row in self._connection.execute(query).fetchall() if row[0]]
        unit = options.time_unit or ("s" if is_number(kind) and not values else None)
        return time_unit(values, unit, f"{source.name}, column {time!r}")

    def _some_times(self) -> list[str]:
        """Return times from all of the last file: its first days do not tell days from months."""
        if self._last is None:
            return []
        import duckdb

        source, column = self._last
        query = (
            f"SELECT DISTINCT trim(CAST({quoted(column)} AS VARCHAR)) FROM {source.peek} "
            f"USING SAMPLE reservoir({_LOOKED_AT} ROWS) REPEATABLE (1)"
        )
        with contextlib.suppress(duckdb.Error):
            return [row[0] for row in self._connection.execute(query).fetchall() if row[0]]
        return []

    def sort(self) -> tuple[SortedSamples, Frame]:
        """Choose the grid, and return the samples on it, sorted."""
        self._check()
        frame = self._choose_frame()
        if self._metres:
            rows = self._staging.finish(
                lambda a, b: (frame.snap(a), frame.snap(b)), self._origin(frame)
            )
        else:
            rows = self._staging.finish(frame.cells, self._origin(frame))
        return rows, frame

    def finish_visits(self) -> Visits:
        """Return the visits: places and slots, wherever the places lie."""
        self._check()
        grid = Frame(None, slot=self._checker.slot, origin=self._first_day())
        rows = self._staging.finish(
            lambda a, _: (np.zeros(len(a), np.int32),) * 2, self._origin(grid), by_place=True
        )
        assert rows.place is not None  # noqa: S101  a row without a place is bad
        offsets = np.concatenate([[0], np.cumsum(rows.counts)]).astype(np.int64)
        return Visits(
            rows.place.astype(np.int64),
            rows.t.astype(np.int64),
            offsets,
            people=self._people(),
            places=self._checker.places.names(),
            frame=grid,
            reading=self._report(rows),
        )

    def _check(self) -> None:
        """Refuse data of which too little can be used."""
        options, checker = self._options, self._checker
        if checker.rows == 0:
            raise UnreadableError(f"{', '.join(self._files) or 'the frame'}: no rows to read")
        refuse_if_too_many(checker, allowed=options.max_bad, strict=False, times=self._some_times)
        if checker.zoned and checker.zoneless and options.tz is None:
            raise InputError(
                f"{checker.zoned:,} times name their time zone and {checker.zoneless:,} do not; "
                "give the time zone of the others, for example tz='UTC'"
            )
        if checker.used == 0:
            raise InputError(
                f"none of {checker.rows:,} rows is left: {checker.outside:,} lie outside the bbox"
            )

    def _choose_frame(self) -> Frame:
        if self._frame is not None:
            if not self._metres and self._frame.crs is not None:
                refuse_far(self._frame.crs, self._frame.cell, self._staging.positions)
            return self._frame
        options, checker = self._options, self._checker
        crs = options.crs
        if crs is None:
            if checker.polar * 2 > checker.used:
                raise PlaceError(
                    f"{checker.polar:,} of {checker.used:,} positions lie south of 60 degrees "
                    "south, where nobody lives: lat and lon look swapped. Give lat= and lon= the "
                    "other way round; or, for Antarctica, give crs='EPSG:3031'"
                )
            if checker.arctic * 2 > checker.used:
                warnings.warn(
                    f"{checker.arctic:,} of {checker.used:,} positions lie north of 72 degrees "
                    "north, where hardly anybody lives: make sure that lat and lon are not swapped",
                    DataWarning,
                    stacklevel=outside(),
                )
            try:
                crs = local_projection(self._staging.positions)
            except PlaceError as error:
                hint = str(densest_box(self._staging.rows, len(checker.users)))
                raise PlaceError(f"{error}. {hint}", hint=hint) from None
        cell = 100.0 if options.cell is None else options.cell
        return Frame(crs, cell, checker.slot, self._first_day())

    def _first_day(self) -> int:
        """Return the midnight (UTC) before the first row, in whole slots."""
        slot = self._checker.slot
        first = (self._staging.earliest + self._checker.base) * slot
        return first // _DAY * _DAY // slot * slot

    def _origin(self, frame: Frame) -> int:
        """Return the slot, counted from the start of the window, at which the grid starts."""
        checker = self._checker
        return (frame.origin - checker.reference) // checker.slot - checker.base

    def assemble(self, rows: SortedSamples, frame: Frame) -> Trajectories:
        """Return the trajectories. DuckDB is not needed, and best closed before, for its memory."""
        checker = self._checker
        offsets = np.concatenate([[0], np.cumsum(rows.counts)]).astype(np.int64)
        place, places = rows.place, None
        if place is not None:
            places = checker.places.names()
            if places.dtype.is_integer() and _fits(places):
                place, places = places.to_numpy().astype(np.int32)[place], None
        x, y, t = rows.x, rows.y, rows.t
        return Trajectories(
            (x, x + 1, y, y + 1, t, t + 1),
            offsets,
            frame,
            people=self._people(),
            place=place,
            places=places,
            reading=self._report(rows),
        )

    def _people(self) -> Any:
        """Return the names of the people: their identifiers, or the persons behind these."""
        persons = self._checker.persons
        return (self._checker.users if persons is None else persons).names()

    def _persons(self) -> Persons | None:
        """Return who is behind the identifiers; warn of a table that names none of them."""
        encoder = self._checker.persons
        if encoder is None:
            return None
        found = encoder.result(self._checker.users)
        if encoder.table is not None and not found.told_apart:
            some = next(iter(encoder.table.person_of))
            warnings.warn(
                f"none of the {len(encoder.table.person_of):,} identifiers of the table of persons "
                f"({encoder.table.name}) is in the data, so that nobody was counted by it; write "
                f"them as the data does (the first is {some!r})",
                SamePersonWarning,
                stacklevel=outside(),
            )
        return found

    def _report(self, rows: SortedSamples) -> Reading:
        """Return what happened to all rows."""
        checker = self._checker
        return Reading(
            files=tuple(self._files),
            columns=self._columns,
            rows=checker.rows,
            rejects=checker.rejects,
            outside=checker.outside,
            collapsed=checker.used - len(rows.t),
            folded=rows.folded,
            ambiguous=checker.ambiguous,
            missing=checker.missing,
            zoneless=checker.zoneless,
            zone=self._options.tz or "UTC",
            spilled=self._staging.spilled,
            unknown_cells=dict(checker.unknown_cells.most_common()),
            local=self._options.tz,
            persons=self._persons(),
        )


def _fits(places: Any) -> bool:
    return bool(len(places)) and places.min() >= -(2**31) and places.max() < 2**31
