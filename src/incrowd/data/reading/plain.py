"""The fast lane: text tables in which every line is as plain as can be.

Most files of most networks are plain: no quotes, ISO 8601 times, positions with a few decimals.
Such lines are parsed here by a compiled kernel, several times faster than a parser that must be
ready for anything. The lane takes a file piece by piece and gives way at the first piece with a
line that is not plain; whoever reads goes on from there with the general scanner, which sees every
row that is bad or unusual. A row that this lane takes is a row that the general scanner would have
taken, with the same values:

- digits are few enough for the quotient of two exact numbers to be the nearest double;
- times are checked as dates; positions in degrees are checked as positions;
- bytes that are not plain ASCII, quotes and carriage returns end the lane.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.data.reading.textfile import TextTable, packing

__all__ = ["plain_rows"]

_PIECE = 1 << 22
_ROLES = {"user": 1, "time": 2, "lon": 3, "x": 3, "lat": 4, "y": 4, "place": 5}
_LEAST = 22
"""Bytes of a row at least: a time, and three fields of one byte."""
_WORTH = 1 << 22
"""Files below this size are read at once anyway."""

Bytes = npt.NDArray[np.uint8]


def plain_rows(
    path: Path, table: TextTable, columns: Mapping[str, str], threads: int
) -> Generator[pa.RecordBatch, None, int | None]:
    """Give batches of rows while all lines are plain.

    Parameters
    ----------
    path
        The file.
    table
        How it is laid out.
    columns
        Column by role.
    threads
        How many pieces are parsed at the same time.

    Yields
    ------
    pyarrow.RecordBatch
        Rows as the general scanner gives them.

    Returns
    -------
    int or None
        How many rows were given before a piece that is not plain; None if that was all.
    """
    usable = set(columns) <= set(_ROLES) and len(table.separator.encode()) == 1
    if not usable or packing(path) != "none" or path.stat().st_size < _WORTH:
        return 0
    roles = np.zeros(len(table.names), np.int8)
    for role, name in columns.items():
        roles[table.names.index(name)] = _ROLES[role]
    done = 0
    with path.open("rb") as file:
        if any(b'"' in file.readline() for _ in range(table.skip)):
            return 0

        def parse(text: memoryview) -> pa.RecordBatch | None:
            return _parse(text, table.separator, roles, degrees="lon" in columns)

        for batch in _in_order(parse, _pieces(file), threads):
            if batch is None:
                return done
            yield batch
            done += batch.num_rows
    return None


def _pieces(file: BinaryIO) -> Iterator[memoryview]:
    """Cut a file into pieces of whole lines."""
    rest = b""
    while True:
        buffer = bytearray(len(rest) + _PIECE)
        buffer[: len(rest)] = rest
        filled = len(rest) + file.readinto(memoryview(buffer)[len(rest) :])  # type: ignore[attr-defined]
        if filled == len(rest):
            if rest:
                yield memoryview(rest + b"\n")  # the last line of a file may do without
            return
        end = buffer.rfind(b"\n", 0, filled) + 1
        rest = bytes(memoryview(buffer)[end:filled])
        if end:
            yield memoryview(buffer)[:end]


def _in_order(
    parse: Callable[[memoryview], pa.RecordBatch | None], pieces: Iterator[memoryview], threads: int
) -> Iterator[pa.RecordBatch | None]:
    """Parse a few pieces at the same time, and give them in order."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[pa.RecordBatch | None]] = deque()
        try:
            for piece in pieces:
                waiting.append(pool.submit(parse, piece))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _parse(
    text: memoryview, separator: str, roles: npt.NDArray[np.int8], *, degrees: bool
) -> pa.RecordBatch | None:
    """Parse whole lines; None if one of them is not plain."""
    from incrowd.data.reading.lines import parse_lines

    size = len(text) // (_LEAST + len(roles)) + 1
    moment, zoned = np.empty(size, np.int64), np.empty(size, np.bool_)
    a, b = np.empty(size), np.empty(size)
    who, spot = Runs.room(size, len(text)), Runs.room(size, len(text) if 5 in roles else 0)  # noqa: PLR2004
    rows = parse_lines(
        np.frombuffer(text, np.uint8), ord(separator), roles, degrees, moment, zoned, a, b,
        who.index, who.ends, who.text, spot.index, spot.ends, spot.text,
    )  # fmt: skip
    if rows < 0:
        return None
    nothing = pa.nulls(rows, pa.string())
    return pa.record_batch(
        {
            "who": who.names(rows),
            "moment": moment[:rows],
            "zoned": zoned[:rows],
            "a": a[:rows],
            "b": b[:rows],
            "spot": spot.names(rows) if len(spot.text) else nothing,
            "bad": np.zeros(rows, np.int8),
            "shown": nothing,
        }
    )


@dataclass(slots=True)
class Runs:
    """Names of rows, where neighbours often have the same: one entry for each run of equals."""

    index: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    text: Bytes

    @classmethod
    def room(cls, rows: int, size: int) -> "Runs":
        """Make room for some rows and bytes."""
        ends = np.zeros(rows + 1, np.int32)
        return cls(np.empty(rows, np.int32), ends, np.empty(size, np.uint8))

    def names(self, rows: int) -> pa.DictionaryArray:
        """Give the names of the first rows."""
        runs = int(self.index[rows - 1]) + 1 if rows else 0
        ends, text = pa.py_buffer(self.ends), pa.py_buffer(self.text)
        names = pa.StringArray.from_buffers(runs, ends, text)
        return pa.DictionaryArray.from_arrays(pa.array(self.index[:rows]), names)
