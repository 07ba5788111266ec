"""A file for the rows that cannot be used, so that somebody can look at each of them.

::

    RowChecker ──> put, end_batch ──┐   on disk, by number
    count_malformed ──> put_malformed ──> end_file ──> lines of CSV ──> RejectsFile
                                          the line of each

Rows go to the disk as soon as they are found, so that millions of them take no memory. Their lines
are known when their file is at its end: a record that the scanner cannot parse, a blank line and a
line end inside quotes shift those after them. Where there are such, the file is walked through once
more; nobody pays for that who does not want the rejected rows.
"""

import contextlib
import csv
import heapq
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd._atomic import refuse_taken, replacing
from incrowd._hidden import temporary_place
from incrowd._memory import temporary_full
from incrowd.data._io.lines import is_record_a_line, line_after, records_of
from incrowd.data._io.reading_report import EXAMPLES
from incrowd.data._io.sources import Source, TextTable, files_of, is_table
from incrowd.errors import ArgumentError, InputError, OutputError, RowError

__all__ = [
    "RejectedRows",
    "RejectsFile",
    "Shown",
    "putting_aside",
]


COLUMNS = ("file", "line", "reason", "value")
_HEADER = ",".join(COLUMNS) + "\n"
_AT_A_TIME = 1 << 16
_IN_MEMORY = 1 << 20
"""Bytes up to which nothing goes to the disk before the file itself."""
_SCHEMA = pa.schema([("number", pa.int64()), ("reason", pa.string()), ("value", pa.string())])

Longs = npt.NDArray[np.int64]
Shown = Callable[[Longs], list[str]]
"""Gives what is wrong with some rows of a batch, as text."""
Rejected = tuple[int, str, str]
"""The number of a row, of a record, or of a line; why it cannot be used; what is wrong."""


class RejectsFile(os.PathLike[str]):
    """The file for rows that cannot be used, of one reading or of several one after another.

    A command that reads several files, or one file sensor by sensor, gives the same object to each
    reading; a row is in the file once.

    Attributes
    ----------
    path
        Where it is written.
    rows
        The number of rows that are in it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.rows = 0
        self._begun = False
        self._known: set[tuple[Path, str | None]] = set()

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def note(self, file: Path | None, sensor: str | None) -> tuple[bool, bool]:
        """Note that a file is read, or its rows of one sensor.

        Returns
        -------
        tuple
            Whether its rows are in the file already, and whether its malformed records are.
        """
        if file is None:
            return False, False
        mine = file.resolve()
        rows = bool({(mine, sensor), (mine, None)} & self._known)
        records = any(mine == known for known, _ in self._known)
        self._known.add((mine, sensor))
        return rows, records

    def refuse(self, source: Any) -> None:
        """Refuse a name that is taken by anything else, or that would be read as data.

        Raises
        ------
        OutputError
            If there is a file of this name that holds something else.
        ArgumentError
            If it lies in the folder that is read.
        """
        if not self._begun and not self._is_replaceable():
            raise OutputError(
                f"{self.path} exists already and is no file of rejected rows, which alone would be "
                "replaced; choose another name or remove it first"
            )
        refuse_taken(self.path, overwrite=True)
        for one in source if isinstance(source, list | tuple) else [source]:
            if isinstance(one, str | os.PathLike) and self._is_among(one):
                raise ArgumentError(
                    f"the file for rejected rows, {self.path}, would be one of those in {one}, "
                    "all of which is read as data; choose another name or folder"
                )

    def _is_among(self, source: str | os.PathLike[str]) -> bool:
        """Return whether the file is, or would be, one of those that are read."""
        mine, folder = self.path.resolve(), Path(source)
        if folder.is_dir():
            return mine.is_relative_to(folder.resolve()) and is_table(mine, folder.resolve())
        return mine in [file.resolve() for file in files_of(source)]

    def _is_replaceable(self) -> bool:
        if not os.path.lexists(self.path):
            return True
        if not self.path.is_file():
            return False
        with self.path.open("rb") as file:
            return file.read(len(_HEADER)) in (b"", _HEADER.encode())

    def add(self, lines: Any, rows: int) -> None:
        """Write lines, behind those of earlier readings."""
        with (
            replacing(self.path, overwrite=True, private=True) as part,
            part.open("w", encoding="utf-8", errors="replace", newline="") as file,
        ):
            if self._begun:
                with self.path.open(encoding="utf-8", newline="") as before:
                    shutil.copyfileobj(before, file)
            else:
                file.write(_HEADER)
            lines.seek(0)
            shutil.copyfileobj(lines, file)
        self._begun = True
        self.rows += rows


@contextlib.contextmanager
def putting_aside(
    path: str | os.PathLike[str] | None,
    source: Any,
    temp_dir: str | os.PathLike[str] | None,
    *,
    only_first: bool = False,
) -> Iterator["RejectedRows | None"]:
    """Yield what takes the rows that cannot be used; write them to a file when all are known.

    They are written also if they are too many, and the error then says where they are; and whenever
    all rows were read, but the data cannot be used for another reason.

    Parameters
    ----------
    path
        The file; None if nobody wants it.
    source
        What is read.
    temp_dir
        The folder for temporary files.
    only_first
        Whether reading stops at the first of them.

    Raises
    ------
    OutputError, ArgumentError
        If the file cannot be written, or the name is taken.
    """
    if path is None:
        yield None
        return
    file = path if isinstance(path, RejectsFile) else RejectsFile(path)
    file.refuse(source)
    with RejectedRows(file, temp_dir, only_first=only_first) as rows:
        try:
            yield rows
        except InputError as error:
            if isinstance(error, RowError):
                where = "It is" if only_first else "All of them are"
                error.args = (f"{error}\n{where} in {file.path}",)
            if isinstance(error, RowError) or rows.complete:
                rows.save()
            raise
        rows.save()


class RejectedRows:
    """The rows of one reading that cannot be used, on their way to a file.

    Attributes
    ----------
    complete
        Whether all rows have been read.
    """

    def __init__(
        self, file: RejectsFile, temp_dir: str | os.PathLike[str] | None, *, only_first: bool
    ) -> None:
        self._file, self._only_first = file, only_first
        self._folder = temporary_place() if temp_dir is None else temp_dir
        self._rows, self._malformed = _Spool(temp_dir), _Spool(temp_dir)
        self._batch: list[pa.RecordBatch] = []
        self._records: list[Rejected] = []
        self._lines = tempfile.SpooledTemporaryFile(  # noqa: SIM115  closed with the others
            _IN_MEMORY, "w+", encoding="utf-8", errors="replace", newline="", dir=_text(temp_dir)
        )
        self._count = 0
        self.complete = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._rows, self._malformed, self._lines):
            one.close()

    def put(self, rows: Longs, reason: str, shown: Shown, first: int) -> None:
        """Put rows of a batch aside, which all have the same reason.

        Parameters
        ----------
        rows
            Their numbers in the batch, in order.
        reason, shown
            Why they cannot be used, and what gives the values to show.
        first
            The number of the batch's first row in its file.
        """
        for start in range(0, len(rows), _AT_A_TIME):
            some = rows[start : start + _AT_A_TIME]
            columns = [some + first, np.full(len(some), reason, object), shown(some)]
            self._batch.append(pa.record_batch(list(map(pa.array, columns)), schema=_SCHEMA))

    def end_batch(self) -> None:
        """Bring the rows of a batch, which came by reason, into their order."""
        if self._batch:
            with self._writing():
                self._rows.put(pa.Table.from_batches(self._batch).sort_by("number"))
            self._batch.clear()

    def put_malformed(self, record: int, reason: str, shown: str) -> None:
        """Put a record aside that the scanner could not parse; they come in their order."""
        self._records.append((record, reason, shown))
        if len(self._records) == _AT_A_TIME:
            self._end_records()

    def _end_records(self) -> None:
        if self._records:
            columns = [pa.array(column) for column in zip(*self._records, strict=True)]
            with self._writing():
                self._malformed.put(pa.table(columns, schema=_SCHEMA))
            self._records.clear()

    def end_file(
        self, source: Source, malformed: Sequence[int], sensor: str | None
    ) -> dict[str, list[int]]:
        """Find the lines of a file's rows, all of which have been put aside.

        Parameters
        ----------
        source
            The file, or frame.
        malformed
            The records of it that the scanner could not parse.
        sensor
            The sensor whose rows were read, if only those were.

        Returns
        -------
        dict
            The lines of the first few, by reason.
        """
        self._end_records()
        name = source.name if source.path is None else os.fspath(source.path)
        # A table that is read sensor by sensor has the same malformed records each time.
        there = self._file.note(source.path, sensor)
        lines: dict[str, list[int]] = {}
        writer = csv.writer(self._lines, lineterminator="\n")
        with self._writing():
            found = _in_order(source.text, self._rows.drain(), self._malformed.drain(), malformed)
            for is_record, (line, reason, value) in found:
                first = lines.setdefault(reason, [])
                if len(first) < EXAMPLES:
                    first.append(line)
                if there[is_record] or (self._only_first and self._count):
                    continue
                writer.writerow((name, line, reason, value))
                self._count += 1
        return lines

    def save(self) -> None:
        """Write the file."""
        self._file.add(self._lines, self._count)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # The rows wait in temporary files; `save` writes the file itself.
            raise temporary_full(self._folder, error) from error


class _Spool:
    """Rows that wait on disk, in a file without a name, until their file is at its end."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=_text(folder))  # noqa: SIM115
        self._writer: Any = None

    def put(self, rows: pa.Table) -> None:
        """Take rows, which come behind those before."""
        if self._writer is None:
            self._writer = pa.ipc.new_stream(self._file, _SCHEMA)
        self._writer.write_table(rows, _AT_A_TIME)

    def drain(self) -> Iterator[Rejected]:
        """Yield all rows, and begin anew."""
        if self._writer is None:
            return
        self._writer.close()
        self._writer = None
        self._file.seek(0)
        for batch in pa.ipc.open_stream(self._file):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
        self._file.seek(0)
        self._file.truncate()

    def close(self) -> None:
        """Forget everything."""
        self._file.close()


def _in_order(
    table: TextTable | None,
    rows: Iterator[Rejected],
    records: Iterator[Rejected],
    malformed: Sequence[int],
) -> Iterator[tuple[bool, Rejected]]:
    """Yield rows and malformed records of a file in its order, with their lines.

    Parameters
    ----------
    table
        The file; None if it is no text table, whose rows have numbers and not lines.
    rows, records
        Rows by their numbers, and malformed records by theirs, in order.
    malformed
        The numbers of all malformed records.

    Yields
    ------
    tuple
        Whether it is a malformed record; its line, reason and value.
    """
    row, broken = next(rows, None), next(records, None)
    if row is None and broken is None:
        return
    if table is not None and not is_record_a_line(table.path):
        with contextlib.closing(records_of(table, malformed)) as found:
            for number, index, line in found:
                if broken is not None and number == broken[0]:
                    yield True, (line, broken[1], broken[2])
                    broken = next(records, None)
                elif row is not None and index == row[0]:
                    yield False, (line, row[1], row[2])
                    row = next(rows, None)
                if row is None and broken is None:
                    return
    # Every record is a line here; or nothing better is known of those that are left.
    skip = 0 if table is None else table.skip
    left = itertools.chain([] if row is None else [row], rows)
    also = itertools.chain([] if broken is None else [broken], records)
    yield from heapq.merge(
        ((False, (line_after(n + 1 + skip, malformed), why, what)) for n, why, what in left),
        ((True, one) for one in also),
        key=lambda one: one[1][0],
    )


def _text(folder: str | os.PathLike[str] | None) -> str | None:
    return None if folder is None else os.fspath(folder)
