"""A look at every line of a text file, before the general scanner reads it.

::

    file ──> pieces ──> count_fields, compiled ──> lines with other fields than the header has
                                                   └─> one of far too many, or far too much of them:
                                                       refused, with the line

DuckDB notes every missing field and every field too many, with the whole line each time: a line of
40,000 fields takes 12 s and 1.3 GB, 5,000 lines that lack 1,000 fields 35 s and 4.8 GB, and neither
limit of it bounds that. So what it would note is added up before. A compressed file is read to
its end here, because DuckDB reads one that is truncated, or has a wrong checksum, without an error.
"""

import zlib

import numpy as np
import numpy.typing as npt

from incrowd._numba import kernel
from incrowd.data._io.sources import MOST_FIELDS, PIECE, TextTable, compression_of, open_bytes
from incrowd.errors import InputError, RowError, UnreadableError

__all__ = [
    "check_lines",
    "count_fields",
]


SMALL = 1 << 13
"""Bytes up to which a file can do no harm, whatever its lines are."""
NOTE_BYTES = 1000
"""What DuckDB needs to note a field, besides the line itself."""

# What is kept from piece to piece.
_INSIDE, _QUOTED, _FRESH, _RETURNED, _FIELDS, _BYTES, _LINE, _START = range(8)
_WIDEST, _WIDEST_LINE, _ODD, _FIRST_ODD, _COST, _RECORDS = range(8, 14)
_STATE = 14
_NEWLINE, _RETURN, _QUOTE = 10, 13, 34

Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]


def check_lines(table: TextTable, budget: int) -> None:
    """Refuse a text file whose lines would take the scanner too much time or memory.

    Parameters
    ----------
    table
        The file.
    budget
        The bytes that notes of missing and surplus fields may take.

    Raises
    ------
    RowError
        If a line has more fields than any table, or too many lines have others than the header.
    UnreadableError
        If the file is compressed and damaged.
    """
    path, columns = table.path, len(table.names)
    packed = compression_of(path) != "none"
    if not packed and path.stat().st_size <= SMALL:
        return
    state = np.zeros(_STATE, np.int64)
    state[[_FRESH, _LINE, _START]] = 1
    # Of a separator of several bytes the last one: there may be more of it, and never fewer.
    separator = table.separator.encode()[-1]
    try:
        with open_bytes(path) as stream:
            while piece := stream.read(PIECE):
                count_fields(np.frombuffer(piece, np.uint8), separator, columns, state)
                _refuse(table, state, budget)
    except (EOFError, OSError, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        raise UnreadableError(f"{path}: damaged or incomplete: {error}", file=path) from error
    count_fields(np.frombuffer(b"\n", np.uint8), separator, columns, state)
    _refuse(table, state, budget)


def _refuse(table: TextTable, state: Longs, budget: int) -> None:
    path, columns = table.path, len(table.names)
    if state[_WIDEST] > MOST_FIELDS:
        line = int(state[_WIDEST_LINE])
        raise RowError(
            f"{path}, line {line}: this line has more than {MOST_FIELDS:,} fields, and the header "
            f"has {columns:,}",
            file=path,
            line=line,
        )
    if state[_COST] > budget:
        line = int(state[_FIRST_ODD])
        raise RowError(
            f"{path}, line {line}: {state[_ODD]:,} of the first {state[_RECORDS]:,} lines have "
            f"another number of fields than the header, which has {columns:,}; this one is the "
            "first. They are too many for the memory limit",
            file=path,
            line=line,
            hint="mend the export, or raise the limit (memory=, --memory)",
        )


@kernel
def count_fields(text: Bytes, separator: int, columns: int, state: Longs) -> None:
    """Count the fields of each line of a piece, and what those with other fields would cost.

    Parameters
    ----------
    text
        The piece.
    separator
        The byte between fields.
    columns
        The number of fields that a line should have.
    state
        What is known so far, to go on from; changed.
    """
    inside, quoted, fresh, returned, fields, size, line, start = (
        state[_INSIDE], state[_QUOTED], state[_FRESH], state[_RETURNED],
        state[_FIELDS], state[_BYTES], state[_LINE], state[_START],
    )  # fmt: skip
    for byte in text:
        ends = byte in (_NEWLINE, _RETURN)
        line += ends and not (byte == _NEWLINE and returned)
        returned = byte == _RETURN
        if inside:
            size += 1
            inside = byte != _QUOTE
        elif ends:
            if size:
                state[_RECORDS] += 1
                if fields >= state[_WIDEST]:
                    state[_WIDEST], state[_WIDEST_LINE] = fields + 1, start
                if fields + 1 != columns:
                    state[_ODD] += 1
                    if not state[_FIRST_ODD]:
                        state[_FIRST_ODD] = start
                    state[_COST] += abs(fields + 1 - columns) * (NOTE_BYTES + size)
            fields, size, start, fresh, quoted = 0, 0, line, True, False
        else:
            size += 1
            if byte == separator:
                fields, fresh, quoted = fields + 1, True, False
            else:
                # A quote opens a field at its start only; a doubled one opens it again.
                inside = byte == _QUOTE and (fresh or quoted)
                quoted, fresh = quoted or inside, False
    state[_INSIDE], state[_QUOTED], state[_FRESH], state[_RETURNED] = (
        inside, quoted, fresh, returned,
    )  # fmt: skip
    state[_FIELDS], state[_BYTES], state[_LINE], state[_START] = fields, size, line, start
