"""What kind of text table a file is: its separator, its header, whether it is text at all.

The header is read here, by Python's csv module, so that DuckDB is told everything and guesses
nothing: a guess that depends on the first rows is a guess that changes from file to file.
"""

import contextlib
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.errors import ArgumentError, InputError, UnreadableError

__all__ = ["TEXT", "TextTable", "exact_lines", "open_bytes", "packing", "sniff", "watched"]

TEXT = (".csv", ".tsv", ".txt")
_HEAD = 1 << 16
_PIECE = 1 << 20
_SEPARATORS = (",", ";", "\t", "|")
_PACKED = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True, slots=True)
class TextTable:
    """How to read a text table.

    `skip` is the number of records before the first row: blank lines, and the header if any.
    """

    path: Path
    names: tuple[str, ...]
    separator: str
    skip: int


def open_bytes(path: Path) -> Any:
    """Open a plain, gzip or zstd file for reading its bytes."""
    packed = packing(path)
    if packed == "gzip":
        return gzip.open(path, "rb")
    if packed == "zstd":
        return pa.input_stream(os.fspath(path), compression="zstd")
    return path.open("rb")


def packing(path: Path) -> str:
    """Tell how a file is compressed, by its name: none, gzip or zstd."""
    return _PACKED.get(path.suffix.lower(), "none")


@contextlib.contextmanager
def watched(path: Path | None) -> Iterator[None]:
    """Make sure that a compressed file is whole while it is read.

    DuckDB takes a truncated zstd file, or a gzip file with a wrong checksum, for what is left of
    it. So another thread unpacks it as well, to the end; an error of the reading itself goes first.
    """
    if path is None or packing(path) == "none":
        yield
        return
    with ThreadPoolExecutor(1) as pool:
        whole = pool.submit(_unpack, path)
        yield
        whole.result()


def _unpack(path: Path) -> None:
    try:
        with open_bytes(path) as stream:
            while stream.read(_PIECE):
                pass
    except (EOFError, OSError, zlib.error) as error:
        raise UnreadableError(f"{path} is damaged or was cut short: {error}") from error


def sniff(path: Path, names: Sequence[str] | None, separator: str | None) -> TextTable:
    """Look at the head of a file and tell how to read it.

    Raises
    ------
    UnreadableError
        If the file is missing, empty, damaged, or no text.
    InputError
        If it has no header and no names were given.
    """
    head = _head(path)
    if not head.strip():
        raise UnreadableError(f"{path} is empty")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UnreadableError(f"{path} is UTF-16 text; save it as UTF-8")
    if b"\x00" in head:
        raise UnreadableError(f"{path} is not a text table: it holds binary data")
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    if text.count("\ufffd") > len(text) // 20:
        raise UnreadableError(f"{path} is not a text table in UTF-8")
    rest = text.lstrip("\r\n")
    blank = len(re.findall("\r\n|\r|\n", text[: len(text) - len(rest)]))
    first = re.split("[\r\n]", rest, maxsplit=1)[0]
    separator = _separator(first, separator)
    record = next(csv.reader(io.StringIO(rest, newline=""), delimiter=separator))
    fields = [field.strip() for field in record]
    if names is not None:
        if len(names) != len(fields):
            raise InputError(
                f"{path}: {len(names)} names were given, but the first line has {len(fields)} "
                f"fields separated by {separator!r}"
            )
        return TextTable(path, tuple(names), separator, blank)
    if 2 * sum(map(_is_data, fields)) >= len(fields):
        raise InputError(
            f"{path}: the first line has no column names ({first[:60]!r}); "
            "give them in order, for example names=['user', 'time', 'lat', 'lon']"
        )
    return TextTable(path, tuple(fields), separator, blank + 1)


def exact_lines(
    table: TextTable, rows: Collection[int], records: Collection[int], broken: Collection[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """Find the physical lines on which rows and records start.

    Parameters
    ----------
    table
        The file.
    rows
        Rows that the scanner gave, counted from 0.
    records
        Records as the scanner counts those that it cannot take: from 1, blank lines and the header
        included, a record with line ends inside quotes as one.
    broken
        All records that the scanner could not take.

    Returns
    -------
    tuple
        The line of each row, and of each record; some may be missing.
    """
    row_lines: dict[int, int] = {}
    record_lines: dict[int, int] = {}
    # A field longer than Python takes, or damage, ends the search, not the reading.
    with contextlib.suppress(csv.Error, EOFError, OSError), open_bytes(table.path) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="")
        reader = csv.reader(text, delimiter=table.separator)
        row, line = 0, 1
        for number, record in enumerate(reader, 1):
            if number in records:
                record_lines[number] = line
            if number > table.skip and record and number not in broken:
                if row in rows:
                    row_lines[row] = line
                row += 1
            if len(row_lines) == len(rows) and len(record_lines) == len(records):
                break
            line = reader.line_num + 1
    return row_lines, record_lines


def _head(path: Path) -> bytes:
    try:
        with open_bytes(path) as stream:
            head: bytes = stream.read(_HEAD)
            return head
    except FileNotFoundError as error:
        raise UnreadableError(f"{path} does not exist") from error
    except PermissionError as error:
        raise UnreadableError(f"{path} may not be read (permission denied)") from error
    except (EOFError, OSError, zlib.error) as error:
        raise UnreadableError(f"{path} is damaged or not of its kind: {error}") from error


def _separator(first: str, given: str | None) -> str:
    if given is not None:
        if len(given) != 1 or given in '"\r\n':
            raise ArgumentError(f"the separator must be one character, not {given!r}")
        if given not in first:
            likely = max(_SEPARATORS, key=first.count)
            if first.count(likely):
                raise InputError(
                    f"the first line holds no {given!r}; it looks separated by {likely!r}: "
                    f"{first[:80]!r}"
                )
        return given
    return max(_SEPARATORS, key=first.count)


def _is_data(field: str) -> bool:
    """Tell whether a field is a value rather than a name."""
    plain = field.replace("T", "").replace("Z", "")
    return any(map(str.isdigit, plain)) and not any(map(str.isalpha, plain))
