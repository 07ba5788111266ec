"""What there is to read: files, folders, globs and frames, each as a relation DuckDB can scan.

::

    path, folder, glob, list ──> all_files ──> open_source ─┬─> Parquet: its schema
                                                             └─> text: sniff ──> text_source
    Polars, Arrow, pandas ─────────────────────> open_table

The header of a text table is read here, by Python's csv module, so that DuckDB is told everything
and guesses nothing: a guess that depends on the first rows is a guess that changes from file to
file.
"""

import contextlib
import csv
import fnmatch
import glob
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from incrowd._file_errors import reading_file
from incrowd.data._io.columns import refuse_duplicates
from incrowd.data._io.sql import literal, quoted
from incrowd.data._manifest import MANIFEST, TABLES
from incrowd.errors import ArgumentError, ColumnError, InputError, UnreadableError

__all__ = [
    "Source",
    "TextTable",
    "all_files",
    "compression_of",
    "expected_rows",
    "explain_missing_columns",
    "files_of",
    "is_table",
    "open_bytes",
    "open_source",
    "open_table",
    "sniff",
    "text_source",
]


TEXT, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
_COMPRESSION = {".gz": "gzip", ".zst": "zstd"}
_SEPARATORS = (",", ";", "\t", "|")
_HEAD = 1 << 16
"""Bytes from which the layout of a text table is inferred."""
_LOOKED_AT = 9
"""In how many places lines are counted, to estimate how many there are."""
MOST_FIELDS = 4096
"""The most columns of a text table, and the most fields of a line."""
PIECE = 1 << 20
_FRAME = "incrowd_source"
"""The name of a frame in DuckDB."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """How a text table is laid out.

    Attributes
    ----------
    path
        The file.
    names
        The names of the columns.
    separator
        The character between fields.
    skip
        The number of records before the first row: blank lines, and the header if any.
    """

    path: Path
    names: tuple[str, ...]
    separator: str
    skip: int


@dataclass(frozen=True, slots=True)
class Source:
    """One table to read.

    Attributes
    ----------
    name
        Its name in messages.
    relation
        What to select from, in SQL.
    kinds
        DuckDB's type by column, in order.
    peek
        The same as `relation`, for a look that does not record malformed rows.
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
    """Return the files that a path, a folder or a glob stands for, sorted by name.

    Files and folders in a folder whose names start with a dot or an underscore are left out: these
    are the temporary and status files of other programs.
    """
    text = os.fspath(what)
    path = Path(text)
    if path.is_dir():
        files = [p for p in sorted(path.rglob("*")) if p.is_file() and is_table(p, path)]
        if not files:
            raise UnreadableError(f"{path}: the folder holds no CSV or Parquet file", file=path)
        return files
    if glob.has_magic(text) and not path.exists():
        files = [Path(p) for p in sorted(glob.glob(text, recursive=True))]  # noqa: PTH207
        files = [p for p in files if p.is_file()]
        if not files:
            raise UnreadableError(f"{text}: no file matches this pattern")
        return files
    if not path.exists():
        raise UnreadableError(f"{path} does not exist", file=path)
    return [path]


def expected_rows(files: Sequence[Path]) -> int | None:
    """Estimate how many rows files have, before they are read; None where that cannot be told.

    Parquet files say it. Lines of text are counted in some places of a file; how much a compressed
    one holds is not known.
    """
    rows = 0.0
    for path in files:
        try:
            if _suffix(path) in PARQUET:
                rows += pq.read_metadata(path).num_rows
                continue
            if compression_of(path) != "none":
                return None
            size = path.stat().st_size
            with path.open("rb") as file:
                pieces = []
                for place in range(_LOOKED_AT):
                    file.seek(place * max(size - _HEAD, 0) // (_LOOKED_AT - 1))
                    pieces.append(file.read(_HEAD))
            looked = sum(map(len, pieces))
            rows += size * sum(piece.count(b"\n") for piece in pieces) / max(looked, 1)
        except (OSError, pa.ArrowException):
            return None  # opening the file says more
    return int(rows)


@contextlib.contextmanager
def explain_missing_columns(path: Path | None, files: Sequence[Path | None]) -> Iterator[None]:
    """Say more of a table that lacks a column: it is a release, or none of the data beside it."""
    try:
        yield
    except ColumnError as error:
        if path is not None and path.name in TABLES and (path.parent / MANIFEST).is_file():
            folder = path.parent
            hint = (
                "incrowd verify, evaluate, report, sign and deanonymize take it; in Python, "
                "incrowd.of_files pairs it with its original"
            )
            raise ColumnError(
                f"{folder} is a release, whose rows are boxes: it cannot be read like data; {hint}",
                file=path,
                hint=hint,
            ) from error
        others = [one for one in files if one is not None and one != path]
        if path is None or not others or error.hint is not None:
            raise
        alike = [one.name for one in others if one.parent == others[0].parent]
        start = os.path.commonprefix(alike)  # noqa: RUF071  letters of names, not folders
        pattern = others[0].with_name(alike[0] if len(alike) == 1 else f"{start}*")
        if fnmatch.fnmatch(str(path), str(pattern)):
            raise
        hint = (
            f"if it is none of the data, as a table of antennas is, take the others by a quoted "
            f"pattern, like '{pattern}'"
        )
        raise ColumnError(f"{error}; {hint}", file=path, hint=hint) from error


def all_files(source: Any) -> list[Path] | None:
    """Return the files to read, of a path or a list of them; None for a frame."""
    if isinstance(source, str | os.PathLike):
        return files_of(source)
    if isinstance(source, list | tuple) and source:
        if not all(isinstance(one, str | os.PathLike) for one in source):
            raise ArgumentError("a list to read must hold paths only")
        return [path for one in source for path in files_of(one)]
    return None


def open_source(
    connection: Any, path: Path, *, names: Sequence[str] | None, separator: str | None
) -> Source:
    """Return a file as a table that DuckDB can scan."""
    with reading_file(path):
        return _open_file(connection, path, names, separator)


def _open_file(
    connection: Any, path: Path, names: Sequence[str] | None, separator: str | None
) -> Source:
    if not os.access(path, os.R_OK):
        raise UnreadableError(f"{path}: permission denied", file=path)
    if path.stat().st_size == 0:
        raise UnreadableError(f"{path}: the file is empty", file=path)
    suffix = _suffix(path)
    if suffix in PARQUET:
        return _open_parquet(connection, path)
    if suffix not in TEXT:
        raise UnreadableError(
            f"{path}: cannot read files that end in {suffix or 'nothing'}; "
            "the name must end in .csv, .csv.gz, .csv.zst or .parquet"
        )
    text = sniff(path, names, separator)
    refuse_duplicates(text.names, path.name)
    return text_source(path, text)


def text_source(path: Path, text: TextTable, *, done: int = 0, parallel: bool = True) -> Source:
    """Return a text table as one that DuckDB can scan, without the rows that are done already."""
    # Columns get simple names inside DuckDB, which takes Lat and lat for the same.
    inner = [f"c{i}" for i in range(len(text.names))]
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in inner)
    layout = (
        f"columns = {{{columns}}}, auto_detect = false, header = false, "
        f"skip = {text.skip + done}, delim = {literal(text.separator)}, quote = '\"', "
        f"escape = '\"', nullstr = '', compression = '{compression_of(path)}'"
    )
    keep = "store_rejects = true, rejects_table = 'malformed', rejects_scan = 'malformed_scan', "
    keep += f"rejects_limit = 0, parallel = {str(parallel).lower()}"
    chosen = ", ".join(
        f"{a} AS {quoted(b)}" for a, b in zip(inner, _column_names(text.names), strict=True)
    )
    where = _sql_path(path)
    relation, peek = (
        f"(SELECT {chosen} FROM read_csv({where}, {layout}, {rejects}))"
        for rejects in (keep, "ignore_errors = true")
    )
    return Source(path.name, relation, dict.fromkeys(text.names, "VARCHAR"), peek, text, path)


def open_table(connection: Any, table: Any) -> Source:
    """Return a Polars, Arrow or pandas frame as a table that DuckDB can scan."""
    arrow = _as_arrow(table)
    refuse_duplicates(arrow.column_names, "frame")
    if not arrow.column_names:
        raise UnreadableError("the frame has no columns")
    connection.register(_FRAME, arrow)
    return Source("frame", _FRAME, _describe(connection, _FRAME), _FRAME)


def _open_parquet(connection: Any, path: Path) -> Source:
    relation = f"read_parquet({_sql_path(path)}, hive_partitioning = false)"
    try:
        with reading_file(path):
            names = pq.read_schema(path).names
    except UnreadableError as error:
        why = str(error).partition(": ")[2]
        raise UnreadableError(
            f"{path}: damaged, or not a Parquet file: {why}", file=path
        ) from error
    if len(names) > MOST_FIELDS:
        raise UnreadableError(
            f"{path}: {len(names):,} columns; a table may have at most {MOST_FIELDS:,}", file=path
        )
    refuse_duplicates(names, path.name)
    kinds = _describe(connection, relation)
    return Source(path.name, relation, kinds, relation, path=path)


def _describe(connection: Any, relation: str) -> dict[str, str]:
    rows = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    # An enumeration prints its members; to us it is text.
    return {row[0]: "VARCHAR" if row[1].startswith("ENUM") else row[1] for row in rows}


def _as_arrow(table: Any) -> Any:
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
        f"cannot read {type(table).__name__}; give a path, or a Polars, Arrow or pandas frame"
    )


def _from_pandas(table: Any) -> Any:
    columns = list(table.columns)
    refuse_duplicates([str(name) for name in columns], "frame")
    # Geometries are Python objects; their coordinates are what is needed (trackintel, geopandas).
    geometry = getattr(table, "_geometry_column_name", None)
    if geometry in columns:
        points = table[geometry]
        if points.crs is not None and not points.crs.is_geographic:
            raise InputError(
                f"the geometry is in {points.crs.name}; convert it to degrees first: "
                "data.to_crs('EPSG:4326')"
            )
        kinds = sorted(set(points.geom_type.dropna()) - {"Point"})
        if kinds:
            raise InputError(
                f"geometries must be points; here some are {kinds[0]}s, which are no position of "
                "anybody. What Trajectories.to_geopandas gave are boxes; keep such data with "
                "Trajectories.save, and read it again with Trajectories.load"
            )
        rest = table.drop(columns=geometry)
        table = rest.assign(lon=points.x.to_numpy(), lat=points.y.to_numpy())
    levels = [name for name in table.index.names if name is not None and name not in columns]
    try:
        return pa.Table.from_pandas(
            table.reset_index(level=levels) if levels else table, preserve_index=False
        )
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"cannot read this pandas frame: {error}") from error


def sniff(path: Path, names: Sequence[str] | None, separator: str | None) -> TextTable:
    """Return the layout of a text table, inferred from the first bytes of the file.

    Parameters
    ----------
    path
        The file.
    names
        The names of the columns, for a file without a header.
    separator
        The separator, or None to find it.

    Raises
    ------
    UnreadableError
        If the file is missing, empty, damaged, or not text.
    InputError
        If it has no header and no names were given.
    """
    head = _head(path)
    text = _text_of(head, path)
    rest = text.lstrip("\r\n")
    blank = len(re.findall("\r\n|\r|\n", text[: len(text) - len(rest)]))
    first = re.split("[\r\n]", rest, maxsplit=1)[0]
    if len(head) == _HEAD and len(first) == len(rest):
        raise _wide(path, blank + 1, f"is longer than the {_HEAD:,} bytes that a header may have")
    separator = _separator(first, separator)
    record = next(csv.reader(io.StringIO(rest, newline=""), delimiter=separator))
    if len(record) > MOST_FIELDS:
        raise _wide(path, blank + 1, f"has {len(record):,} fields; there may be {MOST_FIELDS:,}")
    fields = [field.strip() for field in record]
    if names is not None:
        if len(names) != len(fields):
            raise InputError(
                f"{path}: names has {len(names)} columns, but the first line has {len(fields)} "
                f"fields separated by {separator!r}: {first[:60]!r}",
                values=[repr(first[:60])],
            )
        return TextTable(path, tuple(names), separator, blank)
    if 2 * sum(map(_is_data, fields)) >= len(fields):
        raise InputError(
            f"{path}, line {blank + 1}: the first line must hold the column names, not "
            f"{first[:60]!r}; if the file has no header, give the names in order, for example "
            "names=['user', 'time', 'lat', 'lon'], or --column-names on the command line",
            values=[repr(first[:60])],
        )
    return TextTable(path, tuple(fields), separator, blank + 1)


def _wide(path: Path, line: int, how: str) -> UnreadableError:
    return UnreadableError(
        f"{path}, line {line}: the first line, which names the columns, {how}",
        file=path,
        line=line,
    )


def _text_of(head: bytes, path: Path) -> str:
    """Return the first bytes of a file as text; refuse what is none."""
    if not head.removeprefix(b"\xef\xbb\xbf").strip():
        raise UnreadableError(f"{path}: the file is empty", file=path)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UnreadableError(f"{path}: the text is UTF-16; save it as UTF-8", file=path)
    if b"\x00" in head:
        raise UnreadableError(f"{path}: not a text table, the file holds binary data", file=path)
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    if text.count("\ufffd") > len(text) // 20:
        raise UnreadableError(f"{path}: not a text table in UTF-8; save it as UTF-8", file=path)
    if not text.strip():
        raise UnreadableError(f"{path}: the file is empty", file=path)
    return text


def _head(path: Path) -> bytes:
    try:
        with open_bytes(path) as stream:
            head: bytes = stream.read(_HEAD)
            return head
    except FileNotFoundError as error:
        raise UnreadableError(f"{path} does not exist", file=path) from error
    except PermissionError as error:
        raise UnreadableError(f"{path}: permission denied", file=path) from error
    except (EOFError, OSError, zlib.error) as error:
        raise UnreadableError(
            f"{path}: damaged, or not the kind of file that its name says: {error}"
        ) from error


def _separator(first: str, given: str | None) -> str:
    if given is not None:
        if len(given) != 1 or given in '"\r\n':
            raise ArgumentError(f"separator must be one character, not {given!r}")
        if given not in first:
            likely = max(_SEPARATORS, key=first.count)
            if first.count(likely):
                raise InputError(
                    f"separator is {given!r}, but the first line holds none; it looks separated by "
                    f"{likely!r}: {first[:80]!r}",
                    values=[repr(first[:80])],
                )
        return given
    return max(_SEPARATORS, key=first.count)


def _is_data(field: str) -> bool:
    """Return whether a field is a value rather than a name."""
    rest = field.replace("T", "").replace("Z", "")
    return any(map(str.isdigit, rest)) and not any(map(str.isalpha, rest))


def open_bytes(path: Path) -> Any:
    """Open an uncompressed, gzip or zstd file for reading its bytes."""
    compression = compression_of(path)
    if compression == "gzip":
        return gzip.open(path, "rb")
    if compression == "zstd":
        return pa.input_stream(os.fspath(path), compression="zstd")
    return path.open("rb")


def compression_of(path: Path) -> str:
    """Return how a file is compressed, by its name: none, gzip or zstd."""
    return _COMPRESSION.get(path.suffix.lower(), "none")


def _column_names(names: Sequence[str]) -> Iterator[str]:
    """Return names for all columns, which SQL cannot do without."""
    return (name or f"\u0001{index}" for index, name in enumerate(names))


def _suffix(path: Path) -> str:
    return Path(path.stem if compression_of(path) != "none" else path.name).suffix.lower()


def is_table(path: Path, folder: Path) -> bool:
    """Return whether a file would be read with all others of its folder."""
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    return not hidden and _suffix(path) in (*TEXT, *PARQUET)


def _sql_path(path: Path) -> str:
    """Return a file's name in SQL; DuckDB would take ``data[1].csv`` for a pattern."""
    return literal(glob.escape(os.path.abspath(path)))  # noqa: PTH100  resolve() follows links
