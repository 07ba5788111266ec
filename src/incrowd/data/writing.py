"""Original data back to files, in degrees and UTC, such that reading them gives the same again."""

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from incrowd.data.atomic import refuse_taken, replacing
from incrowd.data.frame import Frame
from incrowd.data.parquet import FRAME, KIND
from incrowd.data.sidecar import sidecar
from incrowd.data.tables import kind_of, table_file
from incrowd.data.trajectories import Trajectories
from incrowd.errors import ArgumentError

__all__ = ["write"]

_ROWS = 1 << 20


def write(data: Trajectories, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write original data as a table: user, timestamp, lat, lon and, where known, place.

    Positions are the centres of cells and times the starts of slots, so that :func:`incrowd.read`
    of the file gives the same trajectories. The grid travels along: inside a Parquet file, and
    beside a CSV file as ``NAME.frame.json``.

    The input's identifiers are written as they are: this is a copy of the original and no
    release. A file has no rows for people without samples; they are lost.

    Parameters
    ----------
    data
        Samples of one cell and one slot each.
    path
        A name that ends in .parquet, .csv, .csv.gz or .csv.zst.
    overwrite
        Whether files of that name may be replaced.

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
    if data.frame.crs is None:
        raise ArgumentError("these boxes lie on a grid without a projection; save() keeps them")
    if not data.original or bool(np.any(data.crowd != 1)):
        raise ArgumentError(
            "these samples are larger than a cell and a slot, or stand for crowds; "
            "save() keeps them, and a release publishes them"
        )
    decimals = _decimals(data.frame)
    columns = _schema(data)
    beside = None if kind == ".parquet" else sidecar(final)
    if beside is not None:
        refuse_taken(beside, overwrite=overwrite)
    with contextlib.ExitStack() as both:
        if beside is not None:
            # Written first and named last, so that a full disk leaves neither.
            part = both.enter_context(replacing(beside, overwrite=overwrite))
            part.write_text(data.frame.to_json() + "\n", "utf-8")
        put = both.enter_context(table_file(final, columns, decimals=decimals, overwrite=overwrite))
        for batch in _batches(data, columns, decimals):
            put(batch)


def _decimals(frame: Frame) -> int:
    """Give as many decimals of a degree as keep a centre well inside its cell."""
    return max(6, math.ceil(math.log10(111_320 * 20 / frame.cell)))


def _schema(data: Trajectories) -> pa.Schema:
    user = data.people.to_arrow(compat_level=pl.CompatLevel.oldest()).type
    fields = [("user", user), ("timestamp", pa.timestamp("ms", tz="UTC"))]
    fields += [("lat", pa.float64()), ("lon", pa.float64())]
    names = data.place_names()
    if names is not None:
        fields.append(("place", pa.large_string() if names.dtype == pl.String else pa.int32()))
    metadata = {KIND: b"samples", FRAME: data.frame.to_json().encode()}
    return pa.schema(fields, metadata=metadata)


def _batches(data: Trajectories, columns: pa.Schema, decimals: int) -> Iterator[pa.RecordBatch]:
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
