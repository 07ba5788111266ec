"""Original data to files, in degrees and UTC, such that reading them gives the same data again.

::

    Trajectories ──> write ──> batches of rows ──> table_file ──> Parquet or CSV (gzip, zstd)
                         └──> the grid ──> in the Parquet file, or beside the CSV file (sidecar)

Batches go straight to a file that is there complete, or not at all. The same batches give the same
bytes: no file says when it was written.

The grid travels with the file, so that reading gives the same boxes. A Parquet file carries it in
its metadata. A CSV file has no place for it, so it lies beside, as ``NAME.frame.json``; without
it, reading chooses a grid about the data's centre, as for any file.
"""

import contextlib
import gzip
import io
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from incrowd._atomic import refuse_taken, replacing_all
from incrowd._file_errors import read_text, reading_file
from incrowd._renames import settle
from incrowd.data._frame import Frame
from incrowd.data._parquet import FRAME, KIND, metadata_of
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, InputError

__all__ = [
    "SUFFIXES",
    "frame_of",
    "kind_of",
    "sidecar",
    "table_file",
    "write",
]


SUFFIXES = (".parquet", ".csv", ".csv.gz", ".csv.zst")
"""What a file's name can end in."""
_ROWS = 1 << 20
"""Rows that are written at a time."""
_GZIP_LEVEL = 4
_LARGEST_GRID = 1 << 16
"""Bytes that the file beside a CSV may have, which holds its grid."""
_TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"

Put = Callable[[pa.RecordBatch], None]


def write(
    data: Trajectories,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    private: bool = False,
) -> None:
    """Write original data as a table: user, timestamp, lat, lon and, where known, place.

    Positions are the centres of cells and times the starts of slots, so that :func:`incrowd.read`
    of the file gives the same trajectories. The grid travels along: inside a Parquet file, and
    beside a CSV file as ``NAME.frame.json``.

    The input's identifiers are written as they are: this is a copy of the original, not a release.
    A file has no rows for people without samples; they are lost.

    Parameters
    ----------
    data
        Samples of one cell and one slot each.
    path
        A name that ends in .parquet, .csv, .csv.gz or .csv.zst.
    overwrite
        Whether files of that name may be replaced.
    private
        Whether nobody but its owner may read the file.

    Raises
    ------
    ArgumentError
        If samples are larger than a cell or a slot, or the grid has no projection.
    OutputError
        If the file could not be written; nothing is left of it.

    Examples
    --------
    >>> import tempfile, incrowd
    >>> data = incrowd.synthesize("city", users=5, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     incrowd.write(data, folder + "/city.csv.gz")
    ...     incrowd.read(folder + "/city.csv.gz") == data
    True
    """
    kind, final = kind_of(path), Path(path)
    data = Trajectories.of(data)
    if data.frame.crs is None:
        raise ArgumentError(
            "cannot write positions in degrees: the grid of this data has no projection (crs is "
            "None); Trajectories.save keeps such data"
        )
    if not data.original or bool(np.any(data.crowd != 1)):
        raise ArgumentError(
            "cannot write samples that are larger than one cell and one slot, or that stand for "
            "crowds; Trajectories.save keeps them, incrowd.publish makes a release of them"
        )
    decimals = _decimals(data.frame)
    columns = _schema(data)
    beside = None if kind == ".parquet" else sidecar(final)
    if beside is not None:
        refuse_taken(beside, overwrite=overwrite)
    finals = [final] if beside is None else [final, beside]
    with replacing_all(finals, overwrite=overwrite, private=private) as parts:
        for part in parts[1:]:
            part.write_text(data.frame.to_json() + "\n", "utf-8")
        with _table(parts[0], kind, columns, decimals) as put:
            for batch in _batches(data, columns, decimals):
                put(batch)


def _decimals(frame: Frame) -> int:
    """Return as many decimals of a degree as keep a centre well inside its cell."""
    return max(6, math.ceil(math.log10(111_320 * 20 / frame.cell)))


def _schema(data: Trajectories) -> pa.Schema:
    """Return the columns of the file."""
    user = data.people.to_arrow(compat_level=pl.CompatLevel.oldest()).type
    fields = [("user", user), ("timestamp", pa.timestamp("ms", tz="UTC"))]
    fields += [("lat", pa.float64()), ("lon", pa.float64())]
    names = data.place_names()
    if names is not None:
        fields.append(("place", pa.large_string() if names.dtype == pl.String else pa.int32()))
    metadata = {KIND: b"samples", FRAME: data.frame.to_json().encode()}
    return pa.schema(fields, metadata=metadata)


def _batches(data: Trajectories, columns: pa.Schema, decimals: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the file, some at a time."""
    frame, person, names = data.frame, data.person(), data.place_names()
    for start in range(0, data.samples, _ROWS):
        rows = slice(start, min(start + _ROWS, data.samples))
        x, y = (frame.metres(side[rows] + 0.5) for side in (data.x0, data.y0))
        lon, lat = frame.degrees(x, y)
        arrays = [
            data.people.gather(pl.Series(person[rows])).to_arrow(
                compat_level=pl.CompatLevel.oldest()
            ),
            pa.array(frame.times(data.t0[rows]).astype("datetime64[ms]")),
            pa.array(np.round(lat, decimals)),
            pa.array(np.round(lon, decimals)),
        ]
        if names is not None:
            arrays.append(
                names[rows.start : rows.stop].to_arrow(compat_level=pl.CompatLevel.oldest())
            )
        cast = [array.cast(field.type) for array, field in zip(arrays, columns, strict=True)]
        yield pa.record_batch(cast, schema=columns)


def kind_of(path: str | os.PathLike[str]) -> str:
    """Return the kind of file that a name asks for, one of `SUFFIXES`."""
    name = Path(path).name
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return suffix
    raise ArgumentError(
        f"cannot write {name!r}: the name of the file must end in {', '.join(SUFFIXES)}"
    )


@contextlib.contextmanager
def table_file(
    path: str | os.PathLike[str],
    columns: pa.Schema,
    *,
    decimals: int = 6,
    overwrite: bool = False,
    private: bool = False,
    gone: Sequence[Path] = (),
) -> Iterator[Put]:
    """Open a file for batches of rows.

    Parameters
    ----------
    path
        The file; how its name ends says of which kind it is (see `SUFFIXES`).
    columns
        The schema of the batches; its metadata goes into a Parquet file.
    decimals
        The number of decimals in a CSV file.
    overwrite
        Whether a file of that name may be replaced.
    private
        Whether nobody but its owner may read it.
    gone
        Files that would not belong to the new one, and go with the old one.

    Yields
    ------
    callable
        Writes a batch; each becomes a row group of a Parquet file.
    """
    kind = kind_of(path)
    with (
        replacing_all([path], gone=gone, overwrite=overwrite, private=private) as parts,
        _table(parts[0], kind, columns, decimals) as put,
    ):
        yield put


@contextlib.contextmanager
def _table(part: Path, kind: str, columns: pa.Schema, decimals: int) -> Iterator[Put]:
    if kind == ".parquet":
        with pq.ParquetWriter(part, columns, compression="zstd", version="2.6") as writer:
            yield lambda batch: writer.write_batch(batch, max(batch.num_rows, 1))
    else:
        with _opened(part, kind) as file:
            file.write((",".join(columns.names) + "\n").encode())
            yield lambda batch: file.write(_lines(batch, decimals))


def _lines(batch: pa.RecordBatch, decimals: int) -> memoryview:
    """Return rows as CSV: times are ISO 8601 in UTC."""
    text = io.BytesIO()
    pl.DataFrame(pl.from_arrow(batch)).write_csv(
        text, include_header=False, datetime_format=_TIME_FORMAT, float_precision=decimals
    )
    return text.getbuffer()


@contextlib.contextmanager
def _opened(path: Path, kind: str) -> Iterator[Any]:
    """Open a file for writing, through the compressor that its name asks for."""
    with path.open("wb") as raw:
        if kind == ".csv.gz":
            # Neither a name nor a time, which gzip would put in its header.
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as compressed:
                yield compressed
        elif kind == ".csv.zst":
            with pa.CompressedOutputStream(raw, "zstd") as compressed:
                yield compressed
        else:
            yield raw


def sidecar(path: Path) -> Path:
    """Return the path of the file that holds the grid of a CSV file."""
    return path.with_name(f"{path.name}.frame.json")


def frame_of(path: Path) -> Frame | None:
    """Return the grid that travels with a file, or None."""
    settle(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        with reading_file(path):
            text = metadata_of(path).get(FRAME)
            return None if text is None else Frame.from_json(text)
    beside = sidecar(path)
    if not beside.is_file():
        return None
    try:
        return Frame.from_json(read_text(beside, "the grid", most=_LARGEST_GRID))
    except InputError as error:
        raise InputError(
            f"{beside}: {error}; remove it to read {path.name} with a new grid", file=beside
        ) from error
