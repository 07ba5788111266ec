"""One reading, from the scan to the result: the way of the rows, and the grid that is chosen.

Rows that cannot be used: on which lines they stand, and when they are too many.
"""

import contextlib
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.data._frame import Frame
from incrowd.data._io.batches import Intake, Limits
from incrowd.data._io.columns import find_columns
from incrowd.data._io.fast_csv import plain_rows
from incrowd.data._io.projection import area_of_use, local_plane, refuse_far
from incrowd.data._io.reading_report import Example, Reading, Rejects
from incrowd.data._io.sources import (
    Source,
    exact_lines,
    open_source,
    open_table,
    text_source,
    watched,
)
from incrowd.data._io.sql import is_number, quoted, refuse_nested, row_query, time_unit
from incrowd.data._io.staging import Sorted, Staging
from incrowd.data._io.write import frame_of
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Visits
from incrowd.errors import (
    ArgumentError,
    ColumnError,
    DataWarning,
    InputError,
    PlaceError,
    RowError,
    UnreadableError,
)

__all__ = [
    "Options",
    "Reader",
    "refuse_if_too_many",
    "take_broken",
    "with_lines",
]


_COUNTED = {
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "INVALID ENCODING": "not UTF-8",
}
_FATAL = {
    "UNQUOTED VALUE": "a quote opens or closes where it should not, and what follows is lost",
    "LINE SIZE OVER MAXIMUM": "this line is longer than 2,000,000 bytes",
}
_NEAR = 200_000
"""Up to this row, lines are looked up in the file itself; that is quick."""


def take_broken(connection: Any, source: Source, intake: Intake) -> list[int]:
    """Count records that the scanner could not take apart; give their numbers, from 1.

    A quote that is never closed swallows the rest of the file, so it is an error, not a row.
    """
    known = connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'broken'")
    if source.text is None or not known.fetchall():
        return []
    query = "SELECT line, error_type::VARCHAR, error_message, csv_line FROM broken ORDER BY line"
    records: list[int] = []
    for record, kind, message, text in connection.execute(query).fetchall():
        if kind not in _COUNTED:
            line = exact_lines(source.text, (), {record}, ())[1].get(record, record)
            raise UnreadableError(f"{source.name}, line {line}: {_FATAL.get(kind, message)}")
        if records and records[-1] == record:
            continue  # one record, two complaints
        records.append(record)
        reason = _COUNTED[kind]
        intake.rejects.add(reason, 1)
        if intake.rejects.wants(reason):
            shown = (text or "").strip()[:80]
            intake.rejects.show(reason, Example(source.name, record, shown))
    intake.rows += len(records)
    connection.execute("DELETE FROM broken")
    connection.execute("DELETE FROM broken_scan")
    return records


def with_lines(rejects: Rejects, source: Source, broken: list[int]) -> None:
    """Replace the numbers of rows and records in examples by lines of the file."""
    text = source.text
    rows, records = set[int](), set[int]()
    for reason, examples in rejects.examples.items():
        numbers = {e.line for e in examples if not e.exact and e.line < _NEAR}
        (records if reason in _COUNTED.values() else rows).update(numbers)
    row_lines, record_lines = dict[int, int](), dict[int, int]()
    if text is not None and (rows or records):
        row_lines, record_lines = exact_lines(text, rows, records, set(broken))
    for reason, examples in rejects.examples.items():
        for index, example in enumerate(examples):
            if example.exact:
                continue  # of a file before this one
            number = example.line
            if reason in _COUNTED.values():
                line = record_lines.get(number, number)
            else:
                guess = number + 1 if text is None else _shifted(number + 1 + text.skip, broken)
                line = row_lines.get(number, guess)
            examples[index] = Example(example.file, line, example.value, exact=True)


def _shifted(line: int, broken: list[int]) -> int:
    """Make room for the records that the scanner left out."""
    for other in broken:
        if other <= line:
            line += 1
    return line


def refuse_if_too_many(intake: Intake, *, allowed: float, strict: bool) -> None:
    """Raise if more than a share of the rows cannot be used."""
    rejects, rows = intake.rejects, intake.rows
    if not rejects.total or (rejects.total <= allowed * rows and intake.used):
        return
    if strict:
        reason, first = min(
            ((reason, shown[0]) for reason, shown in rejects.examples.items()),
            key=lambda pair: pair[1].line,
        )
        raise RowError(f"{first.file}, line {first.line}: {reason}{_colon(first.value)}")
    share = 100 * rejects.total / rows
    allowance = f"more than the {100 * allowed:g} % allowed" if intake.used else "and none is left"
    text = [f"{rejects.total:,} of {rows:,} rows ({share:.1f} %) cannot be used, {allowance}:"]
    for reason, count in sorted(rejects.counts.items(), key=lambda item: -item[1]):
        first = rejects.examples[reason][0]
        text.append(f"  {count:,} x {reason}; first {first.file}:{first.line}{_colon(first.value)}")
    if intake.swapped * 2 > rejects.total:
        text.append("lat and lon look swapped: name them the other way round")
    raise RowError("\n".join(text))


def _colon(value: str) -> str:
    return f": {value}" if value else ""


_BATCH = 1 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller of `read` asked for."""

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
    """Whether a row tells a place, and where that lies does not matter."""


class Reader:
    """One reading, from the scan to the result."""

    def __init__(
        self,
        connection: Any,
        options: Options,
        files: list[Path] | None,
        cells: Mapping[str, tuple[float, float]] | None,
        staging: Staging,
    ) -> None:
        self._connection, self._options, self._staging = connection, options, staging
        self._frame = options.frame or self._own_frame(files)
        slot = 60 if options.slot is None else options.slot
        slot = slot if self._frame is None else self._frame.slot
        reference = 0 if self._frame is None else self._frame.origin
        self._intake = Intake(options.limits, options.tz, slot, reference, cells)
        span = options.limits.window[1] - options.limits.window[0]
        if span // slot >= 2**32:
            raise ArgumentError(f"slots of {slot} s are too fine for so long a window")
        self._columns: dict[str, str] = {}
        self._files: list[str] = []
        self._metres = False

    def _own_frame(self, files: list[Path] | None) -> Frame | None:
        """Give the grid that all files carry, if they carry one and none other is asked for."""
        options = self._options
        if files is None or (options.crs, options.cell, options.slot) != (None, None, None):
            return None
        try:
            carried = {frame_of(path) for path in files}
        except (OSError, pa.ArrowException):
            return None  # said with more detail when the file is opened
        return carried.pop() if len(carried) == 1 else None

    def scan(self, files: Iterable[Path | None], frame: Any) -> None:
        """Read everything into the staging."""
        options = self._options
        for path in files:
            if path is None:
                source = open_table(self._connection, frame)
            else:
                source = open_source(
                    self._connection, path, names=options.names, separator=options.separator
                )
                self._files.append(source.name)
            with watched(path):
                self._scan_one(source)

    def _scan_one(self, source: Source) -> None:
        options, intake = self._options, self._intake
        # Positions that nobody asks for are not looked at.
        placed = intake.cells is not None or (options.by_place and options.limits.bbox is None)
        columns = find_columns(
            list(source.kinds),
            options.columns,
            where=source.name,
            cells=placed,
            placed=options.by_place,
        )
        refuse_nested(source.kinds, columns, source.name)
        self._note_columns(columns, source)
        first, placed = 0, "place" in columns
        with contextlib.closing(self._batches(source, columns)) as batches:
            for batch in batches:
                rows = intake.take(batch, file=source.name, first=first, placed=placed)
                self._staging.add(rows)
                first += batch.num_rows
                if options.progress is not None:
                    options.progress(intake.rows)
                if options.strict and intake.rejects.total:
                    break
        broken = take_broken(self._connection, source, intake)
        with_lines(intake.rejects, source, broken)
        if options.strict:
            refuse_if_too_many(intake, allowed=0, strict=True)

    def _batches(self, source: Source, columns: Mapping[str, str]) -> Generator[Any, None, None]:
        """Give rows: plain lines by the fast lane, all else by the general scanner."""
        options = self._options
        epoch = self._epoch(source, columns["time"])
        usual = (epoch, options.time_format, options.sensor, options.decimal)
        # A line without a place is as plain as others, but no visit.
        quick = usual == (None, None, None, ".") and not options.by_place
        if source.text is not None and source.path is not None and quick:
            done = yield from plain_rows(source.path, source.text, columns, options.threads)
            if done is None:
                return
            source = text_source(source.path, source.text, done=done)
        query = row_query(
            source.relation,
            columns,
            source.kinds,
            epoch=epoch,
            time_format=options.time_format,
            decimal=options.decimal,
            sensor=options.sensor,
            place_needed=self._intake.cells is not None or options.by_place,
        )
        yield from self._connection.sql(query).to_arrow_reader(_BATCH)

    def _note_columns(self, columns: dict[str, str], source: Source) -> None:
        """Remember which column was what; all files must tell positions in the same way."""
        if self._columns and set(columns) != set(self._columns):
            raise ColumnError(
                f"{source.name} tells {', '.join(sorted(columns))}, but the files before it "
                f"{', '.join(sorted(self._columns))}; read them apart"
            )
        self._columns = self._columns or columns
        self._metres = "x" in columns
        if self._metres and self._options.crs is None and self._frame is None:
            raise ArgumentError(
                "positions in x and y need the system they are in, for example crs='EPSG:2154'; "
                "positions in degrees are columns named lat and lon"
            )
        if self._metres and self._options.limits.bbox is not None:
            raise ArgumentError("bbox is in degrees, and these positions are in metres")
        if self._metres and self._options.crs is not None:
            area = area_of_use(self._options.crs, metres=True)
            self._intake.limits = replace(self._options.limits, area=area)
        if "sensor" not in columns and self._options.sensor is not None:
            raise ColumnError(
                f"{source.name} has no column named sensor, so that sensor="
                f"{self._options.sensor!r} cannot be taken from it"
            )
        if "sensor" in columns and self._options.sensor is None:
            self._refuse_mixed_sensors(source, columns["sensor"])

    def _refuse_mixed_sensors(self, source: Source, column: str) -> None:
        query = f"SELECT DISTINCT CAST({quoted(column)} AS VARCHAR) FROM {source.peek} LIMIT 9"
        kinds = sorted(row[0] for row in self._connection.execute(query).fetchall() if row[0])
        if len(kinds) > 1:
            raise InputError(
                f"{source.name} holds several sensors ({', '.join(kinds)}); "
                f"say which to read, for example sensor={kinds[0]!r}"
            )

    def _epoch(self, source: Source, time: str) -> Any:
        """Decide from the first values whether times are numbers."""
        options = self._options
        kind = source.kinds[time]
        if options.time_format is not None or not (kind == "VARCHAR" or is_number(kind)):
            return None
        column = quoted(time)
        there = f"isfinite({column}::DOUBLE)" if is_number(kind) else f"{column} IS NOT NULL"
        query = f"SELECT trim(CAST({column} AS VARCHAR)) FROM {source.peek} WHERE {there} LIMIT 100"
        values = [row[0] for row in self._connection.execute(query).fetchall() if row[0]]
        unit = options.time_unit or ("s" if is_number(kind) and not values else None)
        return time_unit(values, unit, f"{source.name}, column {time!r}")

    def finish(self) -> Trajectories:
        """Choose the grid, sort, and make the trajectories."""
        self._check()
        frame = self._choose_frame()
        if self._metres:
            rows = self._staging.finish(
                lambda a, b: (frame.snap(a), frame.snap(b)), self._origin(frame)
            )
        else:
            rows = self._staging.finish(frame.cells, self._origin(frame))
        return self._assemble(rows, frame)

    def finish_visits(self) -> Visits:
        """Sort, and make visits: places and slots, wherever the places lie."""
        self._check()
        nowhere = Frame(None, slot=self._intake.slot, origin=self._first_day())
        rows = self._staging.finish(
            lambda a, _: (np.zeros(len(a), np.int32),) * 2, self._origin(nowhere), by_place=True
        )
        assert rows.place is not None  # noqa: S101  a row without a place is bad
        offsets = np.concatenate([[0], np.cumsum(rows.counts)]).astype(np.int64)
        return Visits(
            rows.place.astype(np.int64),
            rows.t.astype(np.int64),
            offsets,
            people=self._intake.people.names(),
            places=self._intake.places.names(),
        )

    def _check(self) -> None:
        """Refuse what cannot be used, all in all."""
        options, intake = self._options, self._intake
        if intake.rows == 0:
            raise UnreadableError(f"{', '.join(self._files) or 'the frame'}: no rows to read")
        refuse_if_too_many(intake, allowed=options.max_bad, strict=False)
        if intake.zoned and intake.zoneless and options.tz is None:
            raise InputError(
                f"{intake.zoned:,} times name their zone and {intake.zoneless:,} do not; "
                "say in which zone the others are, for example tz='UTC'"
            )
        if intake.used == 0:
            raise InputError(f"no row is left of {intake.rows:,}; {intake.outside:,} lie outside")

    def _choose_frame(self) -> Frame:
        if self._frame is not None:
            if not self._metres and self._frame.crs is not None:
                refuse_far(self._frame.crs, self._frame.cell, self._staging.positions)
            return self._frame
        options, intake = self._options, self._intake
        crs = options.crs
        if crs is None:
            if intake.polar * 2 > intake.used:
                raise PlaceError(
                    f"{intake.polar:,} of {intake.used:,} positions lie south of 60 S, where "
                    "nobody lives: lat and lon look swapped. Name them the other way round; or, "
                    "if this is Antarctica, give its crs (EPSG:3031)"
                )
            if intake.arctic * 2 > intake.used:
                warnings.warn(
                    f"{intake.arctic:,} of {intake.used:,} positions lie north of 72 N, where "
                    "hardly anybody lives: make sure that lat and lon are not swapped",
                    DataWarning,
                    stacklevel=2,
                )
            crs = local_plane(self._staging.positions)
        cell = 100.0 if options.cell is None else options.cell
        return Frame(crs, cell, intake.slot, self._first_day())

    def _first_day(self) -> int:
        """Give the midnight (UTC) before the first row, in whole slots."""
        slot = self._intake.slot
        first = (self._staging.earliest + self._intake.base) * slot
        return first // 86_400 * 86_400 // slot * slot

    def _origin(self, frame: Frame) -> int:
        """Give the slot, counted from the start of the window, at which the grid starts."""
        intake = self._intake
        return (frame.origin - intake.reference) // intake.slot - intake.base

    def _assemble(self, rows: Sorted, frame: Frame) -> Trajectories:
        intake = self._intake
        offsets = np.concatenate([[0], np.cumsum(rows.counts)]).astype(np.int64)
        place, places = rows.place, None
        if place is not None:
            places = intake.places.names()
            if places.dtype.is_integer() and _fits(places):
                place, places = places.to_numpy().astype(np.int32)[place], None
        reading = Reading(
            files=tuple(self._files),
            columns=self._columns,
            rows=intake.rows,
            rejects=intake.rejects,
            outside=intake.outside,
            collapsed=intake.used - len(rows.t),
            folded=rows.folded,
            ambiguous=intake.ambiguous,
            missing=intake.missing,
            zoneless=intake.zoneless,
            zone=self._options.tz or "UTC",
            spilled=self._staging.spilled,
        )
        x, y, t = rows.x, rows.y, rows.t
        return Trajectories(
            (x, x + 1, y, y + 1, t, t + 1),
            offsets,
            frame,
            people=intake.people.names(),
            place=place,
            places=places,
            reading=reading,
        )


def _fits(places: Any) -> bool:
    return bool(len(places)) and places.min() >= -(2**31) and places.max() < 2**31
