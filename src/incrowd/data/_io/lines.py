"""On which line of a text file a row is.

The scanner counts rows and records, not lines: blank lines, line ends inside quotes and records
that it could not parse come between. `records_of` walks through the file and tells; where every
record is a line (`is_record_a_line`), `line_after` knows without that.
"""

import bisect
import contextlib
import csv
import io
import re
import zlib
from collections.abc import Collection, Generator, Iterable, Sequence
from pathlib import Path

from incrowd.data._io.sources import PIECE, TextTable, open_bytes

__all__ = [
    "count_lines",
    "exact_lines",
    "first_other_line_end",
    "is_record_a_line",
    "line_after",
    "records_of",
]


def records_of(
    table: TextTable, malformed: Iterable[int]
) -> Generator[tuple[int, int | None, int], None, None]:
    """Yield the number of each record, of its row, and of the line of the file on which it starts.

    Parameters
    ----------
    table
        The file.
    malformed
        The records that the scanner could not parse, in order; see `exact_lines`.

    Yields
    ------
    tuple
        The record, from 1; its row, from 0, None if it is none (blank, of the header, malformed);
        its line. A field longer than Python takes, or damage, ends it early.
    """
    bad = iter(malformed)
    broken = next(bad, None)
    ends = contextlib.suppress(csv.Error, EOFError, OSError, zlib.error)
    with ends, open_bytes(table.path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="")
        reader = csv.reader(text, delimiter=table.separator)
        row, line = 0, 1
        for number, record in enumerate(reader, 1):
            if number == broken:
                broken = next(bad, None)
                yield number, None, line
            elif number > table.skip and record:
                yield number, row, line
                row += 1
            else:
                yield number, None, line
            line = reader.line_num + 1


def exact_lines(
    table: TextTable, rows: Collection[int], records: Collection[int], malformed: Iterable[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """Return the lines of the file on which rows and records start.

    Parameters
    ----------
    table
        The file.
    rows
        Rows that the scanner gave, counted from 0.
    records
        Records as the scanner counts those that it cannot parse: from 1, blank lines and the header
        included, a record with line ends inside quotes as one.
    malformed
        All records that the scanner could not parse, in order.

    Returns
    -------
    tuple
        The line of each row, and of each record; some may be missing.
    """
    row_lines: dict[int, int] = {}
    record_lines: dict[int, int] = {}
    with contextlib.closing(records_of(table, malformed)) as found:
        for number, row, line in found:
            if number in records:
                record_lines[number] = line
            if row is not None and row in rows:
                row_lines[row] = line
            if len(row_lines) == len(rows) and len(record_lines) == len(records):
                break
    return row_lines, record_lines


def line_after(line: int, malformed: Sequence[int]) -> int:
    """Return the line of a row if every record is a line, with the malformed ones counted in.

    Parameters
    ----------
    line
        The line that it would have if all records before it were rows.
    malformed
        The records that the scanner left out, in order.

    Examples
    --------
    >>> from incrowd.data._io.lines import line_after
    >>> [line_after(line, [3, 4, 6]) for line in (2, 3, 4)]
    [2, 5, 7]
    """
    # The malformed record j, from 0, is before it if it is at most `line` and the j before it.
    before = range(len(malformed))
    return line + bisect.bisect_right(before, line, key=lambda j: malformed[j] - j)


def count_lines(path: Path) -> int:
    """Return the number of lines of a text file; a carriage return alone ends none."""
    lines, last = 0, b"\n"
    # Damage is told by what reads the rows.
    with contextlib.suppress(EOFError, OSError, zlib.error), open_bytes(path) as stream:
        while piece := stream.read(PIECE):
            lines += piece.count(b"\n")
            last = piece[-1:]
    return lines + (last != b"\n")


def is_record_a_line(path: Path) -> bool:
    """Return whether every line of a text file is a record: without quotes and blank lines."""
    end = b"\n"
    # Damage is told by what reads the rows.
    with contextlib.suppress(EOFError, OSError, zlib.error), open_bytes(path) as stream:
        while piece := stream.read(PIECE):
            text = end + piece
            # What follows a carriage return may be in the next piece.
            whole = text[:-1] if text.endswith(b"\r") else text
            blank = b"\n\n" in whole or b"\n\r" in whole
            if b'"' in whole or blank or whole.count(b"\r") != whole.count(b"\r\n"):
                return False
            end = text[len(whole) - 1 :]
    return not end.endswith(b"\r")


def first_other_line_end(path: Path) -> int | None:
    """Return the first line that ends otherwise than the first one; None if all end alike."""
    usual, line, last = None, 0, b""
    with contextlib.suppress(EOFError, OSError, zlib.error), open_bytes(path) as stream:
        while piece := stream.read(PIECE):
            # The last byte waits for the next piece, for \\r\\n is one end.
            text = last + piece
            text, last = (text[:-1], b"\r") if text.endswith(b"\r") else (text, b"")
            for end in re.finditer(rb"\r\n|\n|\r", text):
                line += 1
                usual = usual or end[0]
                if end[0] != usual:
                    return line
    return line + 1 if last and usual not in (None, last) else None
