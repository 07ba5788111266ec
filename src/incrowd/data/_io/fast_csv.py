"""The fast path for CSV: text tables in which every line is as simple as can be.

::

    file ──> pieces of whole lines ──> parse_lines, compiled, on several threads ──> batches of rows
                                       └─> a piece with any other line: the path ends there

Most files of most networks are simple: no quotes, ISO 8601 times, positions with a few decimals.
Such lines are parsed here by a compiled kernel, several times faster than by a parser that must be
ready for anything. Reading goes on with the general scanner (`sql`) at the first piece with a line
that is not simple; it sees every row that is bad or unusual. A row that this path takes is a row
that the general scanner would have taken, with the same values:

- digits are few enough for the quotient of two exact numbers to be the nearest double;
- times are checked as dates; positions in degrees are checked as positions;
- bytes that are not ASCII, quotes and carriage returns end the path.

In the kernel each field is parsed up to the first byte that does not belong to it; that byte must
be the one that ends the field.

`MIN_BYTES` switches the path off when it is set very high; ``benchmarks/reading.py --ablation``
prints what it brings.
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

from incrowd._numba import kernel, kernel_inline
from incrowd.data._io.sources import TextTable, compression_of

__all__ = [
    "fast_rows",
    "parse_lines",
]


MIN_BYTES = 1 << 22
"""Smaller files are read quickly anyway."""
PIECE = 1 << 22
"""How many bytes are parsed at a time."""

_USER, _TIME, _EAST, _NORTH, _PLACE = 1, 2, 3, 4, 5
_ROLES = {
    "user": _USER, "time": _TIME, "lon": _EAST, "x": _EAST, "lat": _NORTH, "y": _NORTH,
    "place": _PLACE,
}  # fmt: skip
_MIN_ROW_BYTES = 22
"""A time, and three fields of one byte."""
_MAX_LINE = 1 << 20
_MAX_DIGITS = 15
"""Numbers of so many digits are exact as doubles, and so are the powers of ten up to there."""
_HALF_TURN, _QUARTER_TURN = 180.0, 90.0
_MICROSECONDS = 1_000_000

_NEWLINE, _RETURN, _QUOTE, _SPACE, _MINUS, _DOT, _ASCII = 10, 13, 34, 32, 45, 46, 128
_ZERO, _NINE, _COLON, _T, _Z = 48, 57, 58, 84, 90

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]


def fast_rows(
    path: Path, table: TextTable, columns: Mapping[str, str], threads: int
) -> Generator[pa.RecordBatch, None, int | None]:
    """Yield batches of rows while all lines are simple.

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
        The number of rows before the first piece with another line; None if that was all.
    """
    usable = set(columns) <= set(_ROLES) and len(table.separator.encode()) == 1
    if not usable or compression_of(path) != "none" or path.stat().st_size < MIN_BYTES:
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

        for batch in _parse_in_order(parse, _pieces(file), threads):
            if batch is None:
                return done
            yield batch
            done += batch.num_rows
    return None


def _pieces(file: BinaryIO) -> Iterator[memoryview]:
    """Cut a file into pieces of whole lines."""
    rest = b""
    while True:
        buffer = bytearray(len(rest) + PIECE)
        buffer[: len(rest)] = rest
        filled = len(rest) + file.readinto(memoryview(buffer)[len(rest) :])  # type: ignore[attr-defined]
        if filled == len(rest):
            if rest:
                yield memoryview(rest + b"\n")  # the last line of a file may lack it
            return
        end = buffer.rfind(b"\n", 0, filled) + 1
        rest = bytes(memoryview(buffer)[end:filled])
        if end:
            yield memoryview(buffer)[:end]


def _parse_in_order(
    parse: Callable[[memoryview], pa.RecordBatch | None], pieces: Iterator[memoryview], threads: int
) -> Iterator[pa.RecordBatch | None]:
    """Parse a few pieces at the same time, and yield them in order."""
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
    """Return the rows of whole lines; None if one of them is not simple."""
    size = len(text) // (_MIN_ROW_BYTES + len(roles)) + 1
    time_us, zoned = np.empty(size, np.int64), np.empty(size, np.bool_)
    east, north = np.empty(size), np.empty(size)
    user, place = (
        RunLengthNames.allocate(size, len(text)),
        RunLengthNames.allocate(size, len(text) if _PLACE in roles else 0),
    )
    rows = parse_lines(
        np.frombuffer(text, np.uint8), ord(separator), roles, degrees, time_us, zoned, east, north,
        user.index, user.ends, user.text, place.index, place.ends, place.text,
    )  # fmt: skip
    if rows < 0:
        return None
    nothing = pa.nulls(rows, pa.string())
    return pa.record_batch(
        {
            "user_id": user.names(rows),
            "time_us": time_us[:rows],
            "zoned": zoned[:rows],
            "east": east[:rows],
            "north": north[:rows],
            "place_id": place.names(rows) if len(place.text) else nothing,
            "reason": np.zeros(rows, np.int8),
            "shown": nothing,
        }
    )


@dataclass(slots=True)
class RunLengthNames:
    """Names of rows, of which neighbours are often equal: one entry for each run of equals."""

    index: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    text: Bytes

    @classmethod
    def allocate(cls, rows: int, size: int) -> "RunLengthNames":
        """Make room for some rows and bytes."""
        ends = np.zeros(rows + 1, np.int32)
        return cls(np.empty(rows, np.int32), ends, np.empty(size, np.uint8))

    def names(self, rows: int) -> pa.DictionaryArray:
        """Return the names of the first rows."""
        runs = int(self.index[rows - 1]) + 1 if rows else 0
        ends, text = pa.py_buffer(self.ends), pa.py_buffer(self.text)
        names = pa.StringArray.from_buffers(runs, ends, text)
        return pa.DictionaryArray.from_arrays(pa.array(self.index[:rows]), names)


@kernel
def parse_lines(  # noqa: C901, PLR0911, PLR0912  one pass, and every way out of it
    text: Bytes,
    separator: int,
    roles: npt.NDArray[np.int8],
    degrees: bool,  # noqa: FBT001
    time_us: npt.NDArray[np.int64],
    zoned: npt.NDArray[np.bool_],
    east: npt.NDArray[np.float64],
    north: npt.NDArray[np.float64],
    user: Ints,
    user_ends: Ints,
    user_text: Bytes,
    place: Ints,
    place_ends: Ints,
    place_text: Bytes,
) -> int:
    """Parse whole lines into columns, in one pass over the bytes.

    Parameters
    ----------
    text
        The bytes of the lines, the last of which is a newline.
    separator
        The byte between fields.
    roles
        What each field is: 1 user, 2 time, 3 east, 4 north, 5 place, 0 nothing of interest.
    degrees
        Whether positions are degrees, and to be checked as such.
    time_us, zoned, east, north
        Microseconds since 1970, whether the time ends in Z, and the position; filled in.
    user, user_ends, user_text, place, place_ends, place_text
        Users and places, as runs of equal neighbours; filled in.

    Returns
    -------
    int
        The number of rows; -1 if a line is not simple.
    """
    inside = np.ones(256, np.bool_)
    inside[0] = inside[_NEWLINE] = inside[_RETURN] = inside[_QUOTE] = False
    inside[separator] = False
    inside[_ASCII:] = False
    end, fields = len(text), len(roles)
    position = row = 0
    user_run = place_run = -1
    while position < end:
        line = position
        for field in range(fields):
            role = roles[field]
            if role == _TIME:
                # A time and a byte behind it must be there before anything is looked at.
                if position + 20 > end:
                    return -1
                seconds = _seconds(text, position)
                if seconds < 0:
                    return -1
                position += 19
                zoned[row] = text[position] == _Z
                position += zoned[row]
                time_us[row] = seconds * _MICROSECONDS
            elif role in (_EAST, _NORTH):
                number, position = _number(text, position)
                if position < 0:
                    return -1
                if role == _EAST:
                    east[row] = number
                else:
                    north[row] = number
            else:
                start = position
                while inside[text[position]]:
                    position += 1
                if role == _USER:
                    user_run = _name(text, start, position, user_ends, user_text, user_run)
                    user[row] = user_run
                elif role == _PLACE:
                    place_run = _name(text, start, position, place_ends, place_text, place_run)
                    place[row] = place_run
            if text[position] != (_NEWLINE if field == fields - 1 else separator):
                return -1
            position += 1
        if user_run < 0 or (place_run < 0 and len(place_text) > 0) or position - line > _MAX_LINE:
            return -1
        if degrees and (
            abs(east[row]) > _HALF_TURN
            or abs(north[row]) > _QUARTER_TURN
            or (east[row] == 0 and north[row] == 0)
        ):
            return -1
        row += 1
    return row


@kernel_inline
def _name(text: Bytes, start: int, stop: int, ends: Ints, names: Bytes, run: int) -> int:
    """Return the run of a name, a new one unless it equals the last; -1 if it is not simple."""
    length = stop - start
    if length == 0 or text[start] == _SPACE or text[stop - 1] == _SPACE:
        return -1
    if run >= 0 and ends[run + 1] - ends[run] == length:
        same = True
        for i in range(length):
            if names[ends[run] + i] != text[start + i]:
                same = False
                break
        if same:
            return run
    first = ends[run + 1]
    for i in range(length):
        names[first + i] = text[start + i]
    ends[run + 2] = first + length
    return run + 1


@kernel_inline
def _number(text: Bytes, position: int) -> tuple[float, int]:
    """Return a decimal number and where it ends; -1 if it is not simple or has too many digits."""
    negative = text[position] == _MINUS
    position += negative
    value, start = 0, position
    while _ZERO <= text[position] <= _NINE:
        value = value * 10 + text[position] - _ZERO
        position += 1
    digits, scale = position - start, 1
    if digits > 0 and text[position] == _DOT:
        position += 1
        while _ZERO <= text[position] <= _NINE and digits <= _MAX_DIGITS:
            value = value * 10 + text[position] - _ZERO
            scale *= 10
            position += 1
            digits += 1
        if scale == 1:
            return 0.0, -1
    if digits == 0 or digits > _MAX_DIGITS:
        return 0.0, -1
    # Both numbers are exact, so that the one rounding of the division gives the nearest double.
    number = float(value) / float(scale)
    return -number if negative else number, position


@kernel_inline
def _seconds(text: Bytes, start: int) -> int:
    """Return the seconds since 1970 of 2012-03-05T07:31:00; -1 if it is of another form."""
    marks = text[start + 4] == _MINUS and text[start + 7] == _MINUS
    marks = marks and (text[start + 10] == _T or text[start + 10] == _SPACE)
    marks = marks and text[start + 13] == _COLON and text[start + 16] == _COLON
    century, year = _two(text, start), _two(text, start + 2)
    month, day = _two(text, start + 5), _two(text, start + 8)
    hour, minute = _two(text, start + 11), _two(text, start + 14)
    second = _two(text, start + 17)
    year = century * 100 + year if century > 0 and year >= 0 else -1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = 31 - (month in (4, 6, 9, 11))
    days = 28 + leap if month == 2 else days  # noqa: PLR2004
    dated = year >= 1970 and 1 <= month <= 12 and 1 <= day <= days  # noqa: PLR2004
    timed = 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59  # noqa: PLR2004
    if not (marks and dated and timed):
        return -1
    # Days since 1970 with March as the first month, so that a leap day is the last of a year.
    late = month > 2  # noqa: PLR2004
    years = year if late else year - 1
    months = month - 3 if late else month + 9
    days = 365 * years + years // 4 - years // 100 + years // 400 + (153 * months + 2) // 5 + day
    return (days - 719_469) * 86_400 + hour * 3600 + minute * 60 + second


@kernel_inline
def _two(text: Bytes, start: int) -> int:
    """Return the number that two digits are; -1 if they are no digits."""
    tens, ones = int(text[start]) - _ZERO, int(text[start + 1]) - _ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else -1  # noqa: PLR2004
