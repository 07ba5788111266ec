"""What kind of text table a file is: its separator, its header, whether it is text at all.

The header is read here, by Python's csv module, so that DuckDB is told everything and guesses
nothing: a guess that depends on the first rows is a guess that changes from file to file.
"""

import codecs
import csv
import gzip
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.errors import ArgumentError, InputError, UnreadableError

__all__ = ["TEXT", "TextTable", "exact_lines", "open_bytes", "sniff"]

TEXT = (".csv", ".tsv", ".txt")
_HEAD = 1 << 16
_SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class TextTable:
    """How to read a text table."""

    path: Path
    names: tuple[str, ...]
    separator: str
    header: bool


def open_bytes(path: Path) -> Any:
    """Open a plain, gzip or zstd file for reading its bytes."""
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    if path.suffix == ".zst":
        return pa.input_stream(os.fspath(path), compression="zstd")
    return path.open("rb")


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
    first = text.lstrip("\r\n").splitlines()[0]
    separator = _separator(first, separator)
    fields = [field.strip() for field in next(csv.reader([first], delimiter=separator))]
    if names is not None:
        if len(names) != len(fields):
            raise InputError(
                f"{path}: {len(names)} names were given, but the first line has {len(fields)} "
                f"fields separated by {separator!r}"
            )
        return TextTable(path, tuple(names), separator, header=False)
    if all(_is_data(field) for field in fields):
        raise InputError(
            f"{path}: the first line has no column names ({first[:60]!r}); "
            "give them in order, for example names=['user', 'time', 'lat', 'lon']"
        )
    return TextTable(path, tuple(fields), separator, header=True)


def exact_lines(table: TextTable, rows: Sequence[int]) -> dict[int, int]:
    """Find the physical lines of some rows (counted from 0), blank and broken lines included."""
    wanted, found = set(rows), {}
    with open_bytes(table.path) as stream:
        lines = codecs.getreader("utf-8-sig")(stream, "replace")
        reader = csv.reader(lines, delimiter=table.separator)
        row = -1 if table.header else 0
        for record in reader:
            if len(record) != len(table.names):
                continue  # counted by the scanner, with lines of its own
            if row in wanted:
                found[row] = reader.line_num
                if len(found) == len(wanted):
                    break
            row += 1
    return found


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
    return not any(letter.isalpha() for letter in field.replace("T", "").replace("Z", ""))
