"""Rows on their way from the scanner to the columns: kept, projected, sorted, repeats dropped.

::

    add(batch) ──> in memory, 24 bytes a row ──> one 64-bit key a sample ──> sort ──> columns
               └─> on disk, when that would pass the memory limit ──> DuckDB sorts ──┘

A sample and its person fit into one 64-bit integer for nearly all data (people, minutes and cells
are few); sorting those is the fastest way there is. Rows that do not fit, into 64 bits or into
memory, are sorted by DuckDB, which spills to disk. Both ways give the same columns.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.data.frame import Floats, Ints
from incrowd.errors import InputError

__all__ = ["Batch", "Sorted", "Staging"]

_ROW = 28
"""Bytes a row needs at the worst moment of sorting in memory."""
_SAMPLE = 24
"""Bytes a sample has in the end."""
_BLOCK = 1 << 23
"""Rows are kept in blocks so large that the system takes each back as soon as it is let go."""
_PIECE = 1 << 19

Snap = Callable[[Floats, Floats], tuple[Ints, Ints]]


@dataclass(slots=True)
class Batch:
    """Some rows: who, slots since the earliest time allowed, two coordinates, place if any.

    The coordinates are degrees or metres at first, and cells after `to_cells`.
    """

    person: Ints
    slot: npt.NDArray[np.uint32]
    a: npt.NDArray[Any]
    b: npt.NDArray[Any]
    place: Ints | None

    def __len__(self) -> int:
        return len(self.person)

    def fields(self) -> list[str]:
        """Give the names of the columns that there are, in the order of sorting."""
        return ["person", "slot", "a", "b", *([] if self.place is None else ["place"])]

    def part(self, rows: slice) -> "Batch":
        """Give some of the rows, as views."""
        place = None if self.place is None else self.place[rows]
        return Batch(self.person[rows], self.slot[rows], self.a[rows], self.b[rows], place)

    @classmethod
    def room(cls, rows: int, *, placed: bool) -> "Batch":
        """Make room for rows; memory is taken only as they are filled in."""
        place = np.empty(rows, np.int32) if placed else None
        a, b = np.empty(rows, np.float64), np.empty(rows, np.float64)
        return cls(np.empty(rows, np.int32), np.empty(rows, np.uint32), a, b, place)

    def to_cells(self, snap: Snap, pool: ThreadPoolExecutor) -> None:
        """Replace coordinates by cells, which gives half of the memory back."""
        x, y = np.empty(len(self), np.int32), np.empty(len(self), np.int32)

        def project(rows: slice) -> None:
            x[rows], y[rows] = snap(self.a[rows], self.b[rows])

        list(pool.map(project, _pieces(len(self))))
        self.a, self.b = x, y


def _pieces(rows: int) -> list[slice]:
    """Cut rows into pieces whose temporary arrays stay small."""
    return [slice(start, min(start + _PIECE, rows)) for start in range(0, rows, _PIECE)]


@dataclass(frozen=True, slots=True)
class Sorted:
    """Distinct samples in order: who, when, in which cell, at which place."""

    person: Ints
    t: Ints
    x: Ints
    y: Ints
    place: Ints | None
    folded: int


class Staging:
    """Holds rows until all are read; then gives them sorted and distinct."""

    def __init__(self, connection: Any, budget: int, threads: int) -> None:
        # A cursor of its own: the scan's result stays open while rows go to disk.
        self._connection = connection.cursor()
        self._budget = budget
        self._threads = threads
        self._full: list[Batch] = []
        self._block: Batch | None = None
        self._filled = 0
        self._rows = 0
        self._earliest: int | None = None
        self.spilled = False

    def add(self, batch: Batch) -> None:
        """Take rows in."""
        if not len(batch):
            return
        low = int(batch.slot.min())
        self._earliest = low if self._earliest is None else min(low, self._earliest)
        self._rows += len(batch)
        start = 0
        while start < len(batch):
            if self._block is None:
                self._block, self._filled = Batch.room(_BLOCK, placed=batch.place is not None), 0
            end = min(len(batch), start + _BLOCK - self._filled)
            room = slice(self._filled, self._filled + end - start)
            for name in batch.fields():
                getattr(self._block, name)[room] = getattr(batch, name)[start:end]
            start, self._filled = end, room.stop
            if self._filled == _BLOCK:
                self._close_block()
        if self._rows * _ROW > self._budget:
            self.spilled = True
        if self.spilled:
            self._close_block()
            self._to_disk("rows", self._full)
            self._full = []

    def _close_block(self) -> None:
        if self._block is not None and self._filled:
            self._full.append(self._block.part(slice(0, self._filled)))
        self._block = None

    @property
    def earliest(self) -> int:
        """The first slot that occurs."""
        return self._earliest or 0

    def positions(self) -> Iterator[tuple[Floats, Floats]]:
        """Give the coordinates of all rows, piece by piece."""
        self._close_block()
        for batch in self._stored():
            for rows in _pieces(len(batch)):
                yield batch.a[rows], batch.b[rows]

    def finish(self, snap: Snap, origin: int) -> Sorted:
        """Sort all rows.

        Parameters
        ----------
        snap
            Turns coordinates into cells.
        origin
            The slot, since the earliest time allowed, that becomes slot 0.
        """
        self._close_block()
        with ThreadPoolExecutor(self._threads) as pool:
            for batch in self._stored():
                batch.to_cells(snap, pool)
                if self.spilled:
                    self._to_disk("cells", [batch])
        if not self.spilled:
            packed = _sort_packed(self._full, origin)
            if packed is not None:
                return packed
            self._to_disk("cells", self._full)
        return self._sort_on_disk(origin)

    def _stored(self) -> Iterator[Batch]:
        if not self.spilled:
            yield from self._full
            return
        query = "SELECT person, slot, a, b, place FROM rows"
        for table in self._connection.cursor().sql(query).to_arrow_reader(1_000_000):
            person, slot, a, b, place = (column.to_numpy() for column in table.columns)
            yield Batch(person, slot, a, b, None if place[0] < 0 else place)

    def _to_disk(self, name: str, batches: list[Batch]) -> None:
        kind = "DOUBLE" if name == "rows" else "INTEGER"
        self._connection.execute(
            f"CREATE TABLE IF NOT EXISTS {name} "
            f"(person INTEGER, slot UINTEGER, a {kind}, b {kind}, place INTEGER)"
        )
        for batch in batches:
            place = np.full(len(batch), -1, np.int32) if batch.place is None else batch.place
            rows = pa.table(
                [batch.person, batch.slot, batch.a, batch.b, place],
                names=["person", "slot", "a", "b", "place"],
            )
            self._connection.register("incoming", rows)
            self._connection.execute(f"INSERT INTO {name} SELECT * FROM incoming")
            self._connection.unregister("incoming")

    def _sort_on_disk(self, origin: int) -> Sorted:
        # The smallest place comes first, as in memory; without places all are -1.
        query = """SELECT person, slot, a, b, min(place) AS place,
                          count(DISTINCT place) - 1 AS folded
                   FROM cells GROUP BY person, slot, a, b ORDER BY person, slot, a, b"""
        parts: list[list[npt.NDArray[Any]]] = [[], [], [], [], []]
        folded = size = 0
        for table in self._connection.sql(query).to_arrow_reader(1_000_000):
            columns = [column.to_numpy() for column in table.columns]
            folded += int(columns.pop().sum())
            columns[1] = _slots(columns[1].astype(np.int64) - origin)
            for part, column in zip(parts, columns, strict=True):
                part.append(column)
            size += table.num_rows * _SAMPLE
            if size > self._budget:
                raise InputError(
                    f"the samples need more than the {self._budget / 1e9:.1f} GB that the memory "
                    "limit leaves for them; allow more memory, or read fewer people or days"
                )
        joined: list[Ints] = []
        while parts:
            part = parts.pop(0)
            joined.append(np.concatenate(part) if part else np.empty(0, np.int32))
        person, t, x, y, place = joined
        named = len(place) > 0 and int(place[0]) >= 0
        return Sorted(person, t, x, y, place if named else None, folded)


def _slots(values: npt.NDArray[np.int64]) -> Ints:
    """Give slots as 32-bit integers, or refuse."""
    if len(values) and max(abs(int(values.min())), abs(int(values.max()))) >= 2**31 - 1:
        raise InputError("the data spans more slots than 32 bits can count; use longer slots")
    return values.astype(np.int32)


def _sort_packed(batches: list[Batch], origin: int) -> Sorted | None:
    """Sort through one 64-bit key a row; None if a row does not fit into one."""
    fields = batches[0].fields()
    named = "place" in fields
    lows, bits = [], []
    for name in fields:
        arrays = [getattr(batch, name) for batch in batches]
        lows.append(min(int(array.min()) for array in arrays))
        bits.append((max(int(array.max()) for array in arrays) - lows[-1]).bit_length())
    if sum(bits) > 64:  # noqa: PLR2004  the size of a key
        return None
    keys = np.empty(sum(map(len, batches)), np.uint64)
    start = 0
    while batches:
        batch = batches.pop(0)
        for rows in _pieces(len(batch)):
            part = batch.part(rows)
            key = keys[start : start + len(part)]
            key[:] = 0
            for name, low, size in zip(fields, lows, bits, strict=True):
                key <<= np.uint64(size)
                key |= (getattr(part, name).astype(np.int64) - low).astype(np.uint64)
            start += len(part)
    keys.sort()
    tail = np.uint64(bits[-1] if named else 0)
    sample = keys >> tail if named else keys
    fresh = np.ones(len(keys), np.bool_)
    np.not_equal(sample[1:], sample[:-1], out=fresh[1:])
    folded = 0
    if named:
        # Repeats of a sample at yet another place: distinct keys beyond the first of a sample.
        other = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=other[1:])
        folded = int(np.count_nonzero(other & ~fresh))
    if not fresh.all():
        keys = keys[fresh]
    del sample, fresh
    columns: list[Ints] = []
    shift = 0
    for name, low, size in reversed(list(zip(fields, lows, bits, strict=True))):
        columns.append(_unpack(keys, shift, size, low - (origin if name == "slot" else 0)))
        shift += size
    place = columns.pop(0) if named else None
    y, x, t, person = columns
    return Sorted(person, t, x, y, place, folded)


def _unpack(keys: npt.NDArray[np.uint64], shift: int, size: int, low: int) -> Ints:
    """Take one field out of all keys, some at a time to save memory."""
    column = np.empty(len(keys), np.int32)
    mask = np.uint64((1 << size) - 1)
    for rows in _pieces(len(keys)):
        # A shift by 64 is undefined; it is asked for only when no bits are left.
        part = (keys[rows] >> np.uint64(min(shift, 63))) & mask
        column[rows] = _slots(part.astype(np.int64) + low)
    return column
