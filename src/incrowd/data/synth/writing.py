"""A synthetic dataset as a file: batches go from `stream` straight to the disk."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from incrowd.data.sidecar import sidecar
from incrowd.data.synth.streaming import schema, stream
from incrowd.data.tables import table_file

__all__ = ["write"]


def write(
    preset: str,
    path: str | os.PathLike[str],
    *,
    users: int | None = None,
    seed: int = 0,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Make a dataset and write it to a file; the same arguments give the same bytes.

    Parameters
    ----------
    preset, users, seed, progress
        As given to `incrowd.data.synth.streaming.stream`.
    path
        The file; how its name ends says of which kind it is.
    overwrite
        Whether a file of that name may be replaced.

    Returns
    -------
    int
        How many rows were written.

    Raises
    ------
    ArgumentError
        If there is no such preset, a number makes no sense, or the file's name ends in something
        else.
    OutputError
        If the file could not be written; nothing is left of it.
    """
    rows = 0
    columns = schema(preset)
    with table_file(path, columns, overwrite=overwrite) as put:
        batches = stream(preset, users=users, seed=seed, progress=progress)
        with contextlib.closing(batches):
            for batch in batches:
                put(batch)
                rows += batch.num_rows
    # The grid of a table that was replaced is not the new one's.
    sidecar(Path(path)).unlink(missing_ok=True)
    return rows
