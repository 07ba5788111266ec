"""The release and the original on one grid and one clock, and who became whom.

::

    Published, original ──> align ──> AlignedRelease ──┐
    private record ──> read_record ────────────────────┴──> match_record ──> Record
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pyproj
from numpy.typing import NDArray

from incrowd._file_errors import reading_file
from incrowd._numba import Ints
from incrowd.data._frame import Frame
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, ColumnError, InputError, UnreadableError
from incrowd.evaluate._verify._kernels import Sides, latest_ends, mark_uncovered
from incrowd.evaluate._verify.rows import Published

__all__ = [
    "AlignedRelease",
    "Record",
    "align",
    "crowds_in",
    "in_blocks",
    "match_record",
    "read_record",
    "same_plane",
]


Result = TypeVar("Result")
MOST, SPARE = 100, 1_000_000
"""People of whom a private record may tell: for each byte of it, and besides."""
BLOCKS = 64
"""Into how many pieces long work is cut, for threads and for progress."""


@dataclass(frozen=True, slots=True)
class AlignedRelease:
    """The original and the release, comparable.

    Attributes
    ----------
    published, original
        The two.
    shift
        What takes a time slot of the original to one of the release.
    reach
        The latest end among the boxes of a trajectory up to each box.
    """

    published: Published
    original: Trajectories
    shift: int
    reach: Sides


@dataclass(frozen=True, slots=True)
class Record:
    """Who became whom.

    Attributes
    ----------
    table
        The private record: user (as text), trajectory, person.
    crowd_of
        The published crowd of each person of the original; -1 for nobody who is published.
    missed
        Which samples of the original no published box of their person holds; all of a person's who
        is not published.
    """

    table: pl.DataFrame
    crowd_of: Ints
    missed: NDArray[np.bool_]


def align(published: Published, original: Trajectories) -> AlignedRelease:
    """Return the original and the release on one clock.

    Raises
    ------
    ArgumentError
        If they do not lie on the same grid, or the original is none.
    """
    mine, theirs = published.frame, original.frame
    if bool(np.any(original.crowd != 1)):
        raise ArgumentError("the original must have one person per trajectory; this one has crowds")
    shift, off = divmod(theirs.origin - mine.origin, mine.slot)
    if (theirs.cell, theirs.slot) != (mine.cell, mine.slot) or off or not same_plane(theirs, mine):
        raise ArgumentError(
            "the original does not lie on the grid of the release; read it with "
            f"crs={mine.crs!r}, cell={mine.cell:g}, slot={mine.slot}"
        )
    return AlignedRelease(published, original, shift, latest_ends(published.boxes, published.cuts))


def same_plane(a: Frame, b: Frame) -> bool:
    if a.crs is None or b.crs is None or a.crs == b.crs:
        return a.crs == b.crs
    return bool(pyproj.CRS.from_user_input(a.crs) == pyproj.CRS.from_user_input(b.crs))


def read_record(record: Any) -> pl.DataFrame:
    """Take the private record: a Parquet file or a frame with user, trajectory, person."""
    if isinstance(record, str | os.PathLike):
        with reading_file(record, "the private record", document=True):
            return _as_record(_record_table(Path(record)))
    if isinstance(record, pl.DataFrame):
        return _as_record(record)
    raise InputError(f"the record is a Parquet file or a frame, not {type(record).__name__}")


def _record_table(path: Path) -> pl.DataFrame:
    """Read the file of a private record, which is no larger than such files are."""
    rows = pq.read_metadata(path).num_rows
    if rows > MOST * path.stat().st_size + SPARE:
        raise UnreadableError(
            f"the private record {path} is damaged: it tells of {rows:,} people, for whom it is "
            "too small",
            file=path,
        )
    return pl.read_parquet(path, use_statistics=False, glob=False)


def _as_record(table: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of a private record; refuse those of another type."""
    names = ("user", "trajectory", "person")
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise ColumnError(f"the private record has no column {missing[0]!r}")
    for name, fine, should in (
        ("user", not table["user"].dtype.is_nested(), "text or numbers"),
        ("trajectory", table["trajectory"].dtype.is_integer() or not len(table), "whole numbers"),
        ("person", table["person"].dtype in (pl.String, pl.Null), "text"),
    ):
        if not fine:
            raise ColumnError(
                f"the private record: its column {name!r} holds {table[name].dtype}; it must hold "
                f"{should}"
            )
    return table.select(
        pl.col("user").cast(pl.String), "trajectory", pl.col("person").cast(pl.String)
    )


def crowds_in(published: Published, original: Trajectories, table: pl.DataFrame) -> Ints:
    """Give the published crowd of everybody in the original, -1 for nobody who is published."""
    crowds = pl.DataFrame({"person": published.people, "crowd": published.crowd_of})
    users = pl.DataFrame({"user": original.people.cast(pl.String)})
    known = table.filter(pl.col("person").is_not_null()).unique("user", keep="first")
    found = users.join(known, on="user", how="left", maintain_order="left").join(
        crowds.unique("person", keep="first"), on="person", how="left", maintain_order="left"
    )
    return found["crowd"].fill_null(-1).to_numpy().astype(np.int64)


def match_record(
    aligned: AlignedRelease, table: pl.DataFrame, progress: Callable[[int], None]
) -> Record:
    """Find the crowd of everybody in the original, and the samples that it does not hold."""
    published, original = aligned.published, aligned.original
    crowd_of = crowds_in(published, original, table)
    missed = np.empty(original.samples, np.bool_)

    def work(first: int, last: int) -> None:
        mark_uncovered(
            first, last, crowd_of, original.columns, original.offsets, aligned.shift,
            published.boxes, aligned.reach, published.cuts, missed,
        )  # fmt: skip

    for _ in in_blocks(len(original), work, progress):
        pass
    return Record(table, crowd_of, missed)


def in_blocks(
    n: int, work: Callable[[int, int], Result], progress: Callable[[int], None]
) -> Iterator[Result]:
    """Do work on pieces of 0 to n by several threads; tell the share that is done in 64ths."""
    edges = np.linspace(0, n, BLOCKS + 1).astype(int).tolist()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda ends: work(*ends), list(pairwise(edges))):
            progress(1)
            yield result
