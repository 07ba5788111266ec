"""The rows of a release, read anew and taken as boxes on its grid.

Rows are streamed. Each record becomes a block of whole numbers that stands for its values bit by
bit (a row for which that is not so is a problem, and counted), and records whose blocks are equal,
byte for byte, are one crowd. Only one block a crowd is kept.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pyproj
from numpy.typing import NDArray

from incrowd._file_errors import reading_file
from incrowd._numba import Floats, Ints
from incrowd.data._frame import Frame
from incrowd.errors import UnreadableError
from incrowd.evaluate._verify._kernels import T0, T1, X0, X1, Y0, Y1, Sides

__all__ = [
    "PROBLEMS",
    "Published",
    "load",
]


Longs = NDArray[np.int64]
Progress = Callable[[int], None]

ROWS = 1 << 19
"""How many rows are taken at a time."""
SIDES = ("x_min", "x_max", "y_min", "y_max")
TIMES = ("t_start", "t_end")
DEGREES = ("lon", "lat")
KINDS = {
    "person": pa.string(),
    **dict.fromkeys(TIMES, pa.timestamp("ms", "UTC")),
    **dict.fromkeys((*SIDES, *DEGREES), pa.float64()),
}
LON, LAT = 6, 7
MICRO = 1e6
"""Degrees are published to six decimals."""
REACH = 2**31 - 1
MINUS_ZERO = REACH
"""Stands for -0.0 degrees, which rounding makes of -1e-7 and which is not the same bits as 0.0."""

PROBLEMS = {
    "cells": "off the grid of cells",
    "slots": "off the grid of time slots",
    "empty": "empty, ending before it starts",
    "order": "out of order, or a repeat of the row before",
    "centre": "with lon, lat that are not the centre of its box to six decimals",
    "text": "written in another way than its values usually are",
    "statistics": "in groups of rows whose statistics, or numbers of rows, are not true",
}
"""What can be wrong with a row."""


@dataclass(frozen=True, slots=True)
class Published:
    """What a release publishes.

    Attributes
    ----------
    frame
        Its grid; slot 0 starts at the midnight (UTC) before the first row, as where data is read:
        whoever counts hours counts those of the clock.
    people
        The names, in the order of the file.
    crowd_of
        The crowd of each person: those with identical records.
    sizes
        How many people each crowd has.
    boxes, cuts
        The record of each crowd: a matrix with the columns x0, x1, y0, y1, t0, t1, and lon and lat
        in millionths of a degree; rows ``cuts[c]`` to ``cuts[c + 1]`` are those of crowd c.
    rows
        How many rows there are.
    problems
        How many rows have each of `PROBLEMS`.
    """

    frame: Frame
    people: pl.Series
    crowd_of: Ints
    sizes: Ints
    boxes: Sides
    cuts: Ints
    rows: int
    problems: dict[str, int]


def load(file: Path, frame: Frame, progress: Progress) -> Published:
    """Read the rows of a release that lies on a grid (its origin does not count).

    Raises
    ------
    UnreadableError
        If the file cannot be read, has other columns, or has no rows.
    """
    problems: Counter[str] = Counter()
    names: list[pl.Series] = []
    crowd_of: list[int] = []
    records: dict[bytes, int] = {}
    origin, rows = 0, 0
    for batch in _whole_people(_tables(file, problems)):
        if not rows:
            origin = _midnight_before(int(batch["t_start"].to_physical()[0]) // 1000, frame.slot)
        first = _starts(batch["person"])
        boxes = _boxes(batch, frame, origin, problems)
        _count_disorder(boxes, first, problems)
        ends = [*first[1:], len(batch)]
        for start, end in zip(first, ends, strict=True):
            # Equal keys of a dict are equal byte for byte, whatever their hashes.
            crowd_of.append(records.setdefault(boxes[start:end].tobytes(), len(records)))
        names.append(batch["person"].gather(first))
        rows += len(batch)
        progress(len(batch))
    if not rows:
        raise UnreadableError(f"{file.name} has no rows")
    cuts = np.cumsum([0, *(len(record) // 32 for record in records)])
    boxes = np.frombuffer(b"".join(records), np.int32).reshape(-1, 8)
    del records
    crowds = np.array(crowd_of, np.int64)
    grid = Frame(frame.crs, frame.cell, frame.slot, origin)
    sizes = np.bincount(crowds)
    if not problems.total():
        wrong = _off_centre(boxes, grid)
        problems["centre"] += int(np.repeat(sizes, np.diff(cuts))[wrong].sum())
    return Published(
        frame=grid,
        people=pl.concat(names),
        crowd_of=crowds,
        sizes=sizes,
        boxes=boxes,
        cuts=cuts,
        rows=rows,
        problems={name: problems[name] for name in PROBLEMS if problems[name]},
    )


def _midnight_before(moment: int, slot: int) -> int:
    """Give the last midnight before a moment; or the first slot after it, where none starts then.

    The first row is that of whoever has the first name, which is drawn at random: slots that were
    counted from it would make other hours each time.
    """
    return moment - moment % 86400 // slot * slot


def _tables(file: Path, problems: Counter[str]) -> Iterator[pl.DataFrame]:
    """Give the rows some at a time, columns and all values there."""
    with reading_file(file, document=True):
        batches = (_csv if file.suffix == ".csv" else _parquet)(file, problems)
        for batch in batches:
            batch.validate(full=True)
            missing = sum(column.null_count for column in batch.columns)
            if missing:
                raise UnreadableError(f"{file.name} has {missing:,} empty values")
            table = pl.from_arrow(batch)
            assert isinstance(table, pl.DataFrame)  # noqa: S101  a batch gives a frame
            yield table


def _parquet(file: Path, problems: Counter[str]) -> Iterator[Any]:
    """Read rows, and see whether what the file says of them beside them is true.

    Whoever reads a file may go by the least and the greatest value that it states for each group
    of rows, and not look at rows that they rule out.
    """
    with pq.ParquetFile(file) as parquet:
        found = parquet.schema_arrow
        _check_columns(file, dict(zip(found.names, found.types, strict=True)), found.names)
        for number in range(parquet.num_row_groups):
            group, rows = parquet.metadata.row_group(number), 0
            edges: list[tuple[Any, Any]] = []
            for batch in parquet.iter_batches(batch_size=ROWS, row_groups=[number]):
                rows += batch.num_rows
                here = [_edges(column) for column in batch.columns]
                edges = [*map(_widest, edges, here)] if edges else here
                yield batch
            # As many rows as it says, or some could be hidden from others.
            if rows != group.num_rows or not _is_true(group, edges):
                problems["statistics"] += max(rows, 1)


def _edges(column: Any) -> tuple[Any, Any]:
    """Return the least and the greatest value of a column; numbers as they are in the file."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    found = pc.min_max(column)
    return found["min"].as_py(), found["max"].as_py()


def _widest(some: tuple[Any, Any], more: tuple[Any, Any]) -> tuple[Any, Any]:
    known = [edge for edge in (*some, *more) if edge is not None]
    return (min(known), max(known)) if known else (None, None)


def _is_true(group: Any, edges: list[tuple[Any, Any]]) -> bool:
    """Tell whether the statistics of a group of rows are those of its rows, if it has any."""
    for number, edge in enumerate(edges):
        column = group.column(number)
        if column.num_values != group.num_rows or column.has_column_index:
            return False
        stated = column.statistics
        if stated is None:
            continue
        if stated.null_count not in (None, 0) or stated.has_distinct_count:
            return False
        if stated.has_min_max and (_number(stated.min_raw), _number(stated.max_raw)) != edge:
            return False
    return True


def _number(raw: Any) -> Any:
    return raw.decode("utf-8") if isinstance(raw, bytes) else raw


def _csv(file: Path, problems: Counter[str]) -> Iterator[Any]:
    """Read text, and see whether writing it again gives the same text.

    Otherwise people with equal values could be told apart by how their numbers are written.
    """
    convert = pa.csv.ConvertOptions(column_types=KINDS, strings_can_be_null=False)
    reading = pa.csv.ReadOptions(block_size=ROWS << 6)
    iso = pl.col(TIMES).dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    digest, header = hashlib.sha256(), True
    with pa.csv.open_csv(file, reading, convert_options=convert) as reader:
        found = reader.schema
        _check_columns(file, dict(zip(found.names, found.types, strict=True)), found.names)
        for batch in reader:
            table = pl.DataFrame(pl.from_arrow(batch)).with_columns(iso)
            digest.update(table.write_csv(include_header=header).encode())
            header = False
            yield batch
    with file.open("rb") as text:
        problems["text"] += digest.digest() != hashlib.file_digest(text, "sha256").digest()


def _check_columns(file: Path, found: dict[str, Any], names: list[str]) -> None:
    if list(found.items()) != list(KINDS.items()) or len(names) != len(KINDS):
        raise UnreadableError(
            f"the columns of {file.name} must be {', '.join(KINDS)}, in their usual types, "
            f"not {', '.join(f'{name} ({kind})' for name, kind in found.items())}"
        )


def _whole_people(tables: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Cut the rows so that nobody's are torn apart."""
    rest: list[pl.DataFrame] = []
    for table in tables:
        if not len(table):
            continue
        last = int(_starts(table["person"])[-1])
        if rest and (last or table["person"][0] != rest[0]["person"][0]):
            yield pl.concat([*rest, table[:last]], rechunk=True)
            rest = []
        elif last:
            yield table[:last]
        rest.append(table[last:])
    if rest:
        yield pl.concat(rest, rechunk=True)


def _starts(person: pl.Series) -> Longs:
    """Give the rows at which another person begins."""
    return person.ne_missing(person.shift()).arg_true().to_numpy().astype(np.int64)


def _boxes(batch: pl.DataFrame, frame: Frame, origin: int, problems: Counter[str]) -> Sides:
    """Turn metres, moments and degrees into whole numbers; count rows for which it is not exact."""
    boxes = np.zeros((len(batch), 8), np.int32)
    bad = np.zeros(len(batch), np.bool_)
    for column, name in zip((X0, X1, Y0, Y1), SIDES, strict=True):
        metres = batch[name].to_numpy()
        index = _whole(metres / frame.cell, bad)
        # Compared by their bits, for -0.0 equals 0.0 and is another one all the same.
        bad |= (index * frame.cell).view(np.int64) != metres.view(np.int64)
        boxes[:, column] = index
    problems["cells"] += int(bad.sum())
    bad[:] = False
    for column, name in zip((T0, T1), TIMES, strict=True):
        slots, late = np.divmod(
            batch[name].to_physical().to_numpy() - 1000 * origin, 1000 * frame.slot
        )
        bad |= late != 0
        boxes[:, column] = _whole(slots.astype(np.float64), bad)
    problems["slots"] += int(bad.sum())
    bad[:] = False
    for column, name in zip((LON, LAT), DEGREES, strict=True):
        degrees = batch[name].to_numpy()
        index = _whole(degrees * MICRO, bad)
        bad |= index / MICRO != degrees
        boxes[:, column] = np.where(np.signbit(degrees) & (index == 0), MINUS_ZERO, index)
    problems["centre"] += int(bad.sum())
    empty = [boxes[:, low] >= boxes[:, low + 1] for low in (X0, Y0, T0)]
    problems["empty"] += int(np.any(empty, axis=0).sum())
    return boxes


def _whole(numbers: Floats, bad: NDArray[np.bool_]) -> Floats:
    """Round to numbers that fit into 32 bits; mark those that do not, which become 0."""
    index = np.rint(numbers) + 0.0
    fits = np.abs(index) < REACH  # neither NaN nor infinity is
    bad |= ~fits
    return np.where(fits, index, 0.0)


def _count_disorder(boxes: Sides, first: Longs, problems: Counter[str]) -> None:
    """Count rows that do not come strictly after the row before of the same person."""
    tied = np.ones(len(boxes), np.bool_)
    tied[first] = False
    tied = tied[1:]
    wrong = np.zeros(len(tied), np.bool_)
    for column in (T0, T1, X0, X1, Y0, Y1):
        before, here = boxes[:-1, column], boxes[1:, column]
        wrong |= tied & (here < before)
        tied &= here == before
    problems["order"] += int((wrong | tied).sum())


def _off_centre(boxes: Sides, frame: Frame) -> NDArray[np.bool_]:
    """Tell which boxes have another centre than the one published, beyond its rounding."""
    back = pyproj.Transformer.from_crs(frame.crs, "EPSG:4326", always_xy=True)
    wrong = np.empty(len(boxes), np.bool_)
    for start in range(0, len(boxes), ROWS):
        part = boxes[start : start + ROWS].astype(np.float64)
        x, y = (frame.cell * (part[:, i] + part[:, i + 1]) / 2 for i in (X0, Y0))
        lon, lat = (MICRO * degrees for degrees in back.transform(x, y))
        said = np.where(part[:, [LON, LAT]] == MINUS_ZERO, 0, part[:, [LON, LAT]])
        apart = np.abs(said[:, 0] - lon)
        near = (np.minimum(apart, 360 * MICRO - apart) <= 1) & (np.abs(said[:, 1] - lat) <= 1)
        wrong[start : start + ROWS] = ~near  # what cannot be projected is not near
    return wrong
