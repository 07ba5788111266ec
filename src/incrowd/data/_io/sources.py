"""What there is to read: files, folders, globs and frames, each as a relation DuckDB can scan.

What kind of text table a file is: its separator, its header, whether it is text at all.

The header is read here, by Python's csv module, so that DuckDB is told everything and guesses
nothing: a guess that depends on the first rows is a guess that changes from file to file.
"""

import contextlib
import csv
import glob
import gzip
import io
import os
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.data._io.columns import refuse_doubled
from incrowd.data._io.sql import quoted
from incrowd.errors import ArgumentError, InputError, UnreadableError

__all__ = [
    "TEXT",
    "Source",
    "TextTable",
    "all_files",
    "exact_lines",
    "files_of",
    "open_bytes",
    "open_source",
    "open_table",
    "packing",
    "sniff",
    "text_source",
    "watched",
]


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


_PARQUET = (".parquet", ".pq")
_PLAIN = "incrowd_source"


@dataclass(frozen=True, slots=True)
class Source:
    """One table to read.

    Attributes
    ----------
    name
        How to name it in messages.
    relation
        What to select from.
    kinds
        DuckDB's type by column, in order.
    peek
        The same as `relation`, but for a look that leaves no trace of broken rows.
    text
        How it is laid out, if it is a text table.
    path
        Where it lies, if it is a file.
    """

    name: str
    relation: str
    kinds: Mapping[str, str]
    peek: str
    text: TextTable | None = None
    path: Path | None = None


def files_of(what: str | os.PathLike[str]) -> list[Path]:
    """Give the files that a path, a folder or a glob stands for, sorted by name.

    Of a folder, what starts with a dot or an underscore is left out: other programs hide their own
    things behind these.
    """
    text = os.fspath(what)
    path = Path(text)
    if path.is_dir():
        files = [p for p in sorted(path.rglob("*")) if p.is_file() and _is_table(p, path)]
        if not files:
            raise UnreadableError(f"no CSV or Parquet file in {path}")
        return files
    if glob.has_magic(text) and not path.exists():
        files = [Path(p) for p in sorted(glob.glob(text, recursive=True))]  # noqa: PTH207
        files = [p for p in files if p.is_file()]
        if not files:
            raise UnreadableError(f"no file matches {text}")
        return files
    if not path.exists():
        raise UnreadableError(f"{path} does not exist")
    return [path]


def all_files(source: Any) -> list[Path] | None:
    """Give the files to read, of a path or a list of them; None for a frame."""
    if isinstance(source, str | os.PathLike):
        return files_of(source)
    if isinstance(source, list | tuple) and source:
        if not all(isinstance(one, str | os.PathLike) for one in source):
            raise ArgumentError("a list to read is a list of paths")
        return [path for one in source for path in files_of(one)]
    return None


def open_source(
    connection: Any, path: Path, *, names: Sequence[str] | None, separator: str | None
) -> Source:
    """Look into a file and make it ready to be scanned."""
    if not os.access(path, os.R_OK):
        raise UnreadableError(f"{path} may not be read (permission denied)")
    if path.stat().st_size == 0:
        raise UnreadableError(f"{path} is empty")
    kind = _kind(path)
    if kind in _PARQUET:
        return _open_parquet(connection, path)
    if kind not in TEXT:
        raise UnreadableError(
            f"{path}: files of kind {kind or '(none)'} are not read; "
            "use .csv, .csv.gz, .csv.zst or .parquet"
        )
    text = sniff(path, names, separator)
    refuse_doubled(text.names, path.name)
    return text_source(path, text)


def text_source(path: Path, text: TextTable, *, done: int = 0) -> Source:
    """Make a text table ready to be scanned, without the rows that are done already."""
    # Columns get plain names inside DuckDB, which takes Lat and lat for the same.
    inner = [f"c{i}" for i in range(len(text.names))]
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in inner)
    layout = (
        f"columns = {{{columns}}}, auto_detect = false, header = false, "
        f"skip = {text.skip + done}, delim = {_string(text.separator)}, quote = '\"', "
        f"escape = '\"', nullstr = '', compression = '{packing(path)}'"
    )
    keep = "store_rejects = true, rejects_table = 'broken', rejects_scan = 'broken_scan', "
    keep += "rejects_limit = 0"
    chosen = ", ".join(
        f"{a} AS {quoted(b)}" for a, b in zip(inner, _distinct(text.names), strict=True)
    )
    where = _literally(path)
    relation, peek = (
        f"(SELECT {chosen} FROM read_csv({where}, {layout}, {rejects}))"
        for rejects in (keep, "ignore_errors = true")
    )
    return Source(path.name, relation, dict.fromkeys(text.names, "VARCHAR"), peek, text, path)


def open_table(connection: Any, table: Any) -> Source:
    """Make a Polars, Arrow or pandas frame ready to be scanned."""
    arrow = _as_arrow(table)
    refuse_doubled(arrow.column_names, "frame")
    if not arrow.column_names:
        raise UnreadableError("the frame has no columns")
    connection.register(_PLAIN, arrow)
    return Source("frame", _PLAIN, _describe(connection, _PLAIN), _PLAIN)


def _open_parquet(connection: Any, path: Path) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    relation = f"read_parquet({_literally(path)}, hive_partitioning = false)"
    try:
        names = pq.read_schema(path).names
    except (OSError, pa.ArrowException) as error:
        raise UnreadableError(f"{path} is damaged or no Parquet file: {error}") from error
    refuse_doubled(names, path.name)
    kinds = _describe(connection, relation)
    return Source(path.name, relation, kinds, relation, path=path)


def _describe(connection: Any, relation: str) -> dict[str, str]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    # An enumeration prints its members; to us it is text.
    return {row[0]: "VARCHAR" if row[1].startswith("ENUM") else row[1] for row in rows}


def _as_arrow(table: Any) -> Any:
    import polars as pl
    import pyarrow as pa

    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if isinstance(table, pl.DataFrame):
        return table.to_arrow(compat_level=pl.CompatLevel.oldest())
    if hasattr(table, "to_dict") and hasattr(table, "columns") and hasattr(table, "index"):
        return _from_pandas(table)
    if isinstance(table, Mapping):
        return pl.DataFrame(dict(table)).to_arrow(compat_level=pl.CompatLevel.oldest())
    raise InputError(
        f"cannot read a {type(table).__name__}; give a path, or a Polars, Arrow or pandas frame"
    )


def _from_pandas(table: Any) -> Any:
    import pyarrow as pa

    columns = list(table.columns)
    refuse_doubled([str(name) for name in columns], "frame")
    # Geometries are Python objects; their coordinates are what is needed (trackintel, geopandas).
    geometry = getattr(table, "_geometry_column_name", None)
    if geometry in columns:
        points = table[geometry]
        if points.crs is not None and not points.crs.is_geographic:
            raise InputError(f"the geometry is in {points.crs.name}; bring it to EPSG:4326 first")
        rest = table.drop(columns=geometry)
        table = rest.assign(lon=points.x.to_numpy(), lat=points.y.to_numpy())
    levels = [name for name in table.index.names if name is not None and name not in columns]
    try:
        return pa.Table.from_pandas(
            table.reset_index(level=levels) if levels else table, preserve_index=False
        )
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"cannot take this pandas frame: {error}") from error


def _distinct(names: Sequence[str]) -> Iterator[str]:
    """Name the columns that have no name, which SQL cannot do without."""
    return (name or f"\u0001{index}" for index, name in enumerate(names))


def _kind(path: Path) -> str:
    return Path(path.stem if packing(path) != "none" else path.name).suffix.lower()


def _is_table(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    return not hidden and _kind(path) in (*TEXT, *_PARQUET)


def _literally(path: Path) -> str:
    """Name a file in SQL; DuckDB would take ``data[1].csv`` for a pattern."""
    return _string(glob.escape(os.path.abspath(path)))  # noqa: PTH100  resolve() follows links


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
