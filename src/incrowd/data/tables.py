"""Tables on their way to the disk: Parquet, or CSV, plain or compressed.

Batches go straight to a file that is there whole, or not at all. The same batches give the same
bytes: no file says when it was written.
"""

import contextlib
import gzip
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from incrowd.data.atomic import replacing
from incrowd.errors import ArgumentError

__all__ = ["SUFFIXES", "kind_of", "table_file"]

SUFFIXES = (".parquet", ".csv", ".csv.gz", ".csv.zst")
"""What a file's name can end in."""

Put = Callable[[pa.RecordBatch], None]
_GZIP_LEVEL = 4
_MOMENT = "%Y-%m-%dT%H:%M:%SZ"


def kind_of(path: str | os.PathLike[str]) -> str:
    """Give the kind of file that a name asks for, one of `SUFFIXES`."""
    name = Path(path).name
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return suffix
    raise ArgumentError(
        f"cannot tell what to write to {name!r}: its name must end in {', '.join(SUFFIXES)}"
    )


@contextlib.contextmanager
def table_file(
    path: str | os.PathLike[str],
    columns: pa.Schema,
    *,
    decimals: int = 6,
    overwrite: bool = False,
) -> Iterator[Put]:
    """Open a file for batches of rows.

    Parameters
    ----------
    path
        The file; how its name ends says of which kind it is (see `SUFFIXES`).
    columns
        The schema of the batches; its metadata goes into a Parquet file.
    decimals
        How many decimals numbers have in a CSV file.
    overwrite
        Whether a file of that name may be replaced.

    Yields
    ------
    callable
        Takes a batch; each becomes a row group of a Parquet file.
    """
    kind = kind_of(path)
    with replacing(path, overwrite=overwrite) as part:
        if kind == ".parquet":
            with pq.ParquetWriter(part, columns, compression="zstd", version="2.6") as writer:
                yield lambda batch: writer.write_batch(batch, max(batch.num_rows, 1))
        else:
            with _opened(part, kind) as file:
                file.write((",".join(columns.names) + "\n").encode())
                yield lambda batch: file.write(_lines(batch, decimals))


def _lines(batch: pa.RecordBatch, decimals: int) -> memoryview:
    """Write rows as CSV: times are ISO 8601 in UTC."""
    text = io.BytesIO()
    pl.DataFrame(pl.from_arrow(batch)).write_csv(
        text, include_header=False, datetime_format=_MOMENT, float_precision=decimals
    )
    return text.getbuffer()


@contextlib.contextmanager
def _opened(path: Path, kind: str) -> Iterator[Any]:
    """Open a file for writing, through the compressor that its name asks for."""
    with path.open("wb") as raw:
        if kind == ".csv.gz":
            # Neither a name nor a time, which gzip would put in its header.
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as packed:
                yield packed
        elif kind == ".csv.zst":
            with pa.CompressedOutputStream(raw, "zstd") as packed:
                yield packed
        else:
            yield raw
