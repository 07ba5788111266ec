"""Trajectories as Arrow tables and Parquet files, without loss.

A row per person, a list per column: the layout of `Trajectories` itself, so that Arrow and Polars
see the same memory. The grid travels in the schema's metadata.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from incrowd._atomic import replacing
from incrowd._file_errors import reading_file
from incrowd.data._columns import COLUMNS
from incrowd.data._frame import Frame
from incrowd.data._trajectories import Trajectories
from incrowd.errors import InputError

__all__ = [
    "KIND",
    "from_arrow",
    "from_polars",
    "load",
    "metadata_of",
    "save",
    "size_of",
    "to_arrow",
]


KIND = b"incrowd.kind"
"""The key of the metadata that says what a Parquet file of ours holds."""
_VALUE_BYTES = 4
"""What a value of a column takes in memory."""
FRAME = b"incrowd.frame"
PLACES = b"incrowd.places"


def to_arrow(data: Trajectories) -> pa.Table:
    """Return an Arrow table: a row per person, a list per column; without copying."""
    offsets = pa.array(data.offsets)
    names = [*COLUMNS, *([] if data.place is None else ["place"])]
    lists = [pa.LargeListArray.from_arrays(offsets, pa.array(getattr(data, n))) for n in names]
    users = data.people.to_arrow(compat_level=pl.CompatLevel.oldest())
    return pa.table(
        [users, pa.array(data.crowd), *lists], names=["user", "crowd", *names]
    ).replace_schema_metadata(_metadata(data.frame, data.places))


def from_polars(table: pl.DataFrame, frame: Frame, places: pl.Series | None) -> Trajectories:
    """Return the trajectories of a frame of `to_polars`, and of what Polars does not keep."""
    arrow = table.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    return from_arrow(arrow.replace_schema_metadata(_metadata(frame, places)))


def _metadata(frame: Frame, places: pl.Series | None) -> dict[bytes, bytes]:
    metadata = {KIND: b"trajectories", FRAME: frame.to_json().encode()}
    if places is not None:
        metadata[PLACES] = places.to_frame().write_json().encode()
    return metadata


def from_arrow(table: pa.Table) -> Trajectories:
    """Return the trajectories of a table of `to_arrow`, without copying where it is one chunk."""
    metadata = table.schema.metadata or {}
    if metadata.get(KIND) != b"trajectories":
        raise InputError(
            "this table does not hold trajectories saved by incrowd; incrowd.read reads others"
        )
    try:
        lists = {name: _single(table[name]) for name in table.column_names[2:]}
        offsets = [array.offsets.to_numpy() for array in lists.values()]
        if not all(np.array_equal(offsets[0], other) for other in offsets):
            raise InputError("the lists of a person have different lengths")
        first = int(offsets[0][0])
        values = {name: array.flatten().to_numpy() for name, array in lists.items()}
        users = pl.from_arrow(_single(table["user"]))
        places = metadata.get(PLACES)
        return Trajectories(
            tuple(values[name] for name in COLUMNS),
            offsets[0] - first if first else offsets[0],
            Frame.from_json(metadata[FRAME]),
            people=users if isinstance(users, pl.Series) else None,
            crowd=_single(table["crowd"]).to_numpy(),
            place=values.get("place"),
            places=None if places is None else _names(places),
        )
    except (
        LookupError,
        AttributeError,
        TypeError,
        ValueError,
        OverflowError,
        RecursionError,
        pa.ArrowException,
        pl.exceptions.PolarsError,
    ) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the saved trajectories are damaged: {error}") from error


def save(data: Trajectories, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write everything, the grid and the identifiers included, to a Parquet file."""
    with replacing(path, overwrite=overwrite) as part:
        pq.write_table(to_arrow(data), part, compression="zstd")


def load(path: str | os.PathLike[str]) -> Trajectories:
    """Return the trajectories of a file that `save` wrote."""
    with reading_file(path):
        table = pq.read_table(path, use_threads=True, partitioning=None)
        table.validate(full=True)
        try:
            return from_arrow(table)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error


def metadata_of(path: Path) -> dict[bytes, bytes]:
    """Return the metadata of a Parquet file's schema."""
    return dict(pq.read_schema(path).metadata or {})


def size_of(path: Path) -> int:
    """Return how many bytes the trajectories of a file of `save` take in memory, at least."""
    with reading_file(path):
        about = pq.read_metadata(path)
        groups = [about.row_group(n) for n in range(about.num_row_groups)]
        values: int = sum(g.column(n).num_values for g in groups for n in range(g.num_columns))
    return values * _VALUE_BYTES


def _names(text: bytes) -> pl.Series:
    """Return the names of places; the JSON of none does not even name their column."""
    table = pl.read_json(text)
    return table.to_series() if table.width else pl.Series("place", [], pl.String)


def _single(column: Any) -> Any:
    """Return a column as one chunk; only several have to be copied."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
