"""Rows on their way from the scanner to the columns: kept, projected, sorted, repeats dropped.

::

    add(batch) ──> in memory ──> one 64-bit key a sample ──> sort ──> columns
               └─> on disk, when that would pass the memory limit ──> DuckDB sorts ──┘

In memory a row is a person, a slot and the number of a position, which many rows share. A sample
and its person fit into one 64-bit integer for nearly all data (people, minutes and cells are few);
sorting those is the fastest way there is. Rows that do not fit, into 64 bits or into memory, are
sorted by DuckDB, which spills to disk. Both ways give the same columns.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.data._frame import Floats, Ints
from incrowd.data._io.encoding import Growing, Spots, pieces
from incrowd.errors import InputError

__all__ = [
    "Batch",
    "Sorted",
    "Staging",
]


_ROW = 28
"""Bytes that a row needs at the worst moment of sorting in memory."""
_SAMPLE = 24
"""Bytes that a sample has in the end."""

_FEW = 2
"""Pieces that are not worth a thread."""

Snap = Callable[[Floats, Floats], tuple[Ints, Ints]]
Layout = list[tuple[str, int, int]]
"""Of a packed key: each field's name, its least value, and how many bits it needs."""


@dataclass(slots=True)
class Batch:
    """Some rows: who, slots since the earliest time allowed, two coordinates, place if any.

    Coordinates are degrees or metres, or cells once they are projected.
    """

    person: Ints
    slot: npt.NDArray[np.uint32]
    a: npt.NDArray[Any]
    b: npt.NDArray[Any]
    place: Ints | None

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True, slots=True)
class Sorted:
    """Distinct samples in order: how many each person has, when, in which cell, at which place."""

    counts: npt.NDArray[np.int64]
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
        self._person, self._slot = Growing(np.int32), Growing(np.uint32)
        self._spot, self._place = Growing(np.int32), Growing(np.int32)
        self._spots = Spots()
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
        if not self.spilled and self._rows * _ROW > self._budget:
            self.spilled = True
            for kept in self._batches():
                self._to_disk("rows", kept)
            self._forget()
        if self.spilled:
            self._to_disk("rows", batch)
            return
        self._person.append(batch.person)
        self._slot.append(batch.slot)
        self._spot.append(self._spots.number(batch.a, batch.b))
        if batch.place is not None:
            self._place.append(batch.place)

    @property
    def earliest(self) -> int:
        """The first slot that occurs."""
        return self._earliest or 0

    def positions(self) -> Iterator[tuple[Floats, Floats, npt.NDArray[np.int64]]]:
        """Give the coordinates, and how many rows are at each, some at a time."""
        if self.spilled:
            for batch in self._stored():
                yield batch.a, batch.b, np.ones(len(batch), np.int64)
            return
        count = np.zeros(len(self._spots), np.int64)
        for rows in pieces(len(self._spot)):
            spot = self._spot[rows]
            low = int(spot.min())
            here = np.bincount(spot - low)
            count[low : low + len(here)] += here
        for some in pieces(len(self._spots)):
            yield self._spots.a[some], self._spots.b[some], count[some]

    def finish(self, snap: Snap, origin: int, *, by_place: bool = False) -> Sorted:
        """Sort all rows.

        Parameters
        ----------
        snap
            Turns coordinates into cells.
        origin
            The slot, since the earliest time allowed, that becomes slot 0.
        by_place
            Whether another place in the same cell and slot is a sample of its own.
        """
        if self.spilled:
            for batch in self._stored():
                batch.a, batch.b = snap(batch.a, batch.b)
                self._to_disk("cells", batch)
            return self._sort_on_disk(origin, by_place)
        with ThreadPoolExecutor(self._threads) as pool:
            x, y = self._cells(snap, pool)
            layout = self._layout(x, y)
            if sum(bits for _, _, bits in layout) <= 64:  # noqa: PLR2004  the size of a key
                keys = self._pack(layout, x, y, pool)
                self._forget()
                return _sort_packed(keys, layout, origin, pool, by_place)
        for batch in self._batches(x, y):
            self._to_disk("cells", batch)
        self._forget()
        return self._sort_on_disk(origin, by_place)

    def _cells(self, snap: Snap, pool: ThreadPoolExecutor) -> tuple[Ints, Ints]:
        """Give the cell of each position, and let the coordinates go."""
        spots = self._spots
        x, y = np.empty(len(spots), np.int32), np.empty(len(spots), np.int32)

        def project(some: slice) -> None:
            x[some], y[some] = snap(spots.a[some], spots.b[some])

        todo = pieces(len(x))
        # Little is done here and now: PROJ starts anew in each thread, which takes longer.
        list(map(project, todo) if len(todo) < _FEW else pool.map(project, todo))
        spots.clear()
        return x, y

    def _layout(self, x: Ints, y: Ints) -> Layout:
        """Decide how many bits of a key each field needs; the first one sorts first."""
        ranges = {
            "person": self._person.range(),
            "slot": self._slot.range(),
            "x": (int(x.min()), int(x.max())),
            "y": (int(y.min()), int(y.max())),
        }
        if len(self._place):
            ranges["place"] = self._place.range()
        return [(name, low, (high - low).bit_length()) for name, (low, high) in ranges.items()]

    def _pack(
        self, layout: Layout, x: Ints, y: Ints, pool: ThreadPoolExecutor
    ) -> npt.NDArray[np.uint64]:
        """Put the fields of each row side by side into one number."""
        keys = np.empty(self._rows, np.uint64)

        def pack(rows: slice) -> None:
            spot = self._spot[rows]
            key = np.zeros(len(spot), np.uint64)
            for name, low, bits in layout:
                if name in ("x", "y"):
                    values = (x if name == "x" else y)[spot]
                else:
                    values = getattr(self, f"_{name}")[rows]
                key <<= np.uint64(bits)
                key |= (values.astype(np.int64) - low).astype(np.uint64)
            keys[rows] = key

        list(pool.map(pack, pieces(self._rows)))
        return keys

    def _batches(self, x: Ints | None = None, y: Ints | None = None) -> Iterator[Batch]:
        """Give the rows in memory, some at a time; with cells where they are known."""
        for rows in pieces(len(self._person)):
            spot = self._spot[rows]
            low, high = int(spot.min()), int(spot.max()) + 1
            a = self._spots.a[low:high] if x is None else x[low:high]
            b = self._spots.b[low:high] if y is None else y[low:high]
            place = self._place[rows] if len(self._place) else None
            spot = spot - low
            yield Batch(self._person[rows], self._slot[rows], a[spot], b[spot], place)

    def _forget(self) -> None:
        for column in (self._person, self._slot, self._spot, self._place, self._spots):
            column.clear()

    def _stored(self) -> Iterator[Batch]:
        """Give the rows on disk, some at a time."""
        query = "SELECT person, slot, a, b, place FROM rows"
        for table in self._connection.cursor().sql(query).to_arrow_reader(1_000_000):
            person, slot, a, b, place = (column.to_numpy() for column in table.columns)
            yield Batch(person, slot, a, b, None if place[0] < 0 else place)

    def _to_disk(self, name: str, batch: Batch) -> None:
        """Append rows to a table; `rows` holds coordinates and `cells` holds cells."""
        kind = "DOUBLE" if name == "rows" else "INTEGER"
        self._connection.execute(
            f"CREATE TABLE IF NOT EXISTS {name} "
            f"(person INTEGER, slot UINTEGER, a {kind}, b {kind}, place INTEGER)"
        )
        place = np.full(len(batch), -1, np.int32) if batch.place is None else batch.place
        rows = pa.table(
            [batch.person, batch.slot, batch.a, batch.b, place],
            names=["person", "slot", "a", "b", "place"],
        )
        self._connection.register("incoming", rows)
        self._connection.execute(f"INSERT INTO {name} SELECT * FROM incoming")
        self._connection.unregister("incoming")

    def _sort_on_disk(self, origin: int, by_place: bool) -> Sorted:  # noqa: FBT001
        self._connection.execute("DROP TABLE IF EXISTS rows")
        # A plain sort is what DuckDB does with the least memory; repeats are dropped here.
        query = "SELECT person, slot, a, b, place FROM cells ORDER BY ALL"
        t, x, y, place = Growing(np.int32), Growing(np.int32), Growing(np.int32), Growing(np.int32)
        counts = np.zeros(0, np.int64)
        folded = size = 0
        before: list[npt.NDArray[Any]] = []
        for table in self._connection.sql(query).to_arrow_reader(1_000_000):
            columns = [column.to_numpy() for column in table.columns]
            fresh, other = _changes(before, columns)
            fresh = other if by_place else fresh
            folded += int(np.count_nonzero(other & ~fresh))
            before = [column[-1:].copy() for column in columns]
            columns = [column[fresh] for column in columns]
            here = np.bincount(columns[0], minlength=len(counts))
            here[: len(counts)] += counts
            counts = here
            t.append(_slots(columns[1].astype(np.int64) - origin))
            x.append(columns[2])
            y.append(columns[3])
            if before[4][0] >= 0:
                place.append(columns[4])
            size += len(columns[0]) * _SAMPLE
            if size > self._budget:
                raise InputError(
                    f"the samples need more than the {self._budget / 1e9:.1f} GB that the memory "
                    "limit leaves for them; allow more memory, or read fewer people or days"
                )
        self._connection.execute("DROP TABLE cells")
        named = place.taken() if len(place) else None
        return Sorted(counts, t.taken(), x.taken(), y.taken(), named, folded)


def _changes(
    before: list[npt.NDArray[Any]], columns: list[npt.NDArray[Any]]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Tell which sorted rows start a new sample, and which differ at all from the row before."""
    differ = np.zeros((2, len(columns[0])), np.bool_)
    for index, column in enumerate(columns):
        changed = np.ones(len(column), np.bool_)
        changed[1:] = column[1:] != column[:-1]
        changed[:1] = not before or column[0] != before[index][0]
        # The place, which comes last, makes a row differ, but no new sample.
        differ[1] |= changed
        if index < len(columns) - 1:
            differ[0] |= changed
    return differ[0], differ[1]


def _slots(values: npt.NDArray[np.int64]) -> Ints:
    """Give slots as 32-bit integers, or refuse."""
    if len(values) and max(abs(int(values.min())), abs(int(values.max()))) >= 2**31 - 1:
        raise InputError("the data spans more slots than 32 bits can count; use longer slots")
    return values.astype(np.int32)


def _sort_packed(
    keys: npt.NDArray[np.uint64],
    layout: Layout,
    origin: int,
    pool: ThreadPoolExecutor,
    by_place: bool,  # noqa: FBT001
) -> Sorted:
    """Sort keys, drop repeats, and take the fields out again."""
    named = layout[-1][0] == "place" and not by_place
    keys.sort()
    sample = keys >> np.uint64(layout[-1][2]) if named else keys
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
    columns: dict[str, Ints] = {}
    shift = 0
    for name, low, bits in reversed(layout[1:]):
        least = low - origin if name == "slot" else low
        columns[name] = _unpack(keys, shift, bits, least, pool)
        shift += bits
    counts = _counts(keys, shift, layout[0][1])
    return Sorted(counts, columns["slot"], columns["x"], columns["y"], columns.get("place"), folded)


def _counts(keys: npt.NDArray[np.uint64], shift: int, first: int) -> npt.NDArray[np.int64]:
    """Count the samples of each person: keys are sorted, so that each person is one stretch."""
    last = int(keys[-1]) >> shift
    starts = np.arange(1, last + 1, dtype=np.uint64) << np.uint64(shift)
    cuts = np.concatenate([[0], np.searchsorted(keys, starts), [len(keys)]])
    return np.concatenate([np.zeros(first, np.int64), np.diff(cuts).astype(np.int64)])


def _unpack(
    keys: npt.NDArray[np.uint64], shift: int, size: int, low: int, pool: ThreadPoolExecutor
) -> Ints:
    """Take one field out of all keys, some at a time to save memory."""
    column = np.empty(len(keys), np.int32)
    mask = np.uint64((1 << size) - 1)

    def unpack(rows: slice) -> None:
        # A shift by 64 is undefined; it is asked for only when no bits are left.
        part = (keys[rows] >> np.uint64(min(shift, 63))) & mask
        column[rows] = _slots(part.astype(np.int64) + low)

    list(pool.map(unpack, pieces(len(keys))))
    return column
