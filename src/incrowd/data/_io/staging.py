"""Rows on their way from the scanner to the columns: kept, projected, sorted, repeats dropped.

::

    add(batch) ──> in memory ──> one 64-bit key per sample ──> sort ──> columns
               └─> on disk, when that would pass the memory limit ──> DuckDB sorts ──┘

In memory a row is a person, a slot and the code of a position, which many rows share. A sample
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

from incrowd._memory import MORE
from incrowd.data._columns import differs_from_previous
from incrowd.data._frame import Floats, Ints
from incrowd.data._io.encoding import GrowingArray, PositionEncoder, chunks
from incrowd.errors import InputError

__all__ = [
    "SAMPLE_BYTES",
    "Batch",
    "SortedSamples",
    "Staging",
]


ROW_BYTES = 36
"""What a row needs in memory at the peak of sorting, if each has a position of its own."""
SAMPLE_BYTES = 24
"""What a sample needs in the result."""
_LOOKED_AT = 1 << 6
"""One in so many samples is counted, to tell how many there are while rows go to disk."""
_SURE = 0.9
"""The share of that estimate of which one can be sure."""
_KEY_BITS = 64
_MIN_CHUNKS = 2
"""Fewer chunks are not worth a thread."""
_DISK_ROWS = 1_000_000
"""Rows that are read back from disk at a time."""

ToCells = Callable[[Floats, Floats], tuple[Ints, Ints]]
Layout = list[tuple[str, int, int]]
"""Of a packed key: each field's name, its least value, and how many bits it needs."""


@dataclass(slots=True)
class Batch:
    """Some rows: person, slot since the earliest time allowed, coordinates, place if any.

    Coordinates are degrees or metres, or cells once they are projected.
    """

    person: Ints
    slot: npt.NDArray[np.uint32]
    east: npt.NDArray[Any]
    north: npt.NDArray[Any]
    place: Ints | None

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True, slots=True)
class SortedSamples:
    """Distinct samples in order: how many each person has, when, in which cell, at which place.

    `folded` counts the repeats that named another place than the sample that was kept.
    """

    counts: npt.NDArray[np.int64]
    t: Ints
    x: Ints
    y: Ints
    place: Ints | None
    folded: int


class Staging:
    """Holds rows until all are read; then returns them sorted and distinct.

    Parameters
    ----------
    connection
        To the DuckDB that keeps rows on disk.
    budget
        The memory for rows, in bytes.
    threads
        How many threads project and pack rows.
    samples
        The memory for samples once they are sorted, in bytes.
    notes
        The memory for what the scanner notes of lines with missing or surplus fields, in bytes.
    """

    def __init__(
        self, connection: Any, budget: int, threads: int, *, samples: int, notes: int
    ) -> None:
        # A cursor of its own: the scan's result stays open while rows go to disk.
        self._connection = connection.cursor()
        self._budget = budget
        self._for_samples = samples
        self.notes = notes
        self._threads = threads
        self._person, self._slot = GrowingArray(np.int32), GrowingArray(np.uint32)
        self._position, self._place = GrowingArray(np.int32), GrowingArray(np.int32)
        self._positions = PositionEncoder()
        self._rows = 0
        self._earliest: int | None = None
        self._names = 0
        self._distinct = np.empty(0, np.uint64)
        self.spilled = False

    def add(self, batch: Batch) -> None:
        """Keep rows, in memory or, once they would not fit, on disk."""
        if not len(batch):
            return
        low = int(batch.slot.min())
        self._earliest = low if self._earliest is None else min(low, self._earliest)
        self._rows += len(batch)
        if not self.spilled and self._rows * ROW_BYTES + self._positions.size > self._room:
            self.spilled = True
            done = 0
            for kept in self._batches():
                self._to_disk("rows", kept)
                self._refuse_too_many(kept)
                done += len(kept)
                for column in (self._person, self._slot, self._position, self._place):
                    column.release(done)
            self._clear()
        if self.spilled:
            self._to_disk("rows", batch)
            self._refuse_too_many(batch)
            return
        self._person.append(batch.person)
        self._slot.append(batch.slot)
        self._position.append(self._positions.encode(batch.east, batch.north))
        if batch.place is not None:
            self._place.append(batch.place)

    def keep_names(self, size: int) -> None:
        """Note how many bytes the names of people and places take, which rows cannot have.

        Raises
        ------
        InputError
            If they alone take more than there is.
        """
        self._names = size
        if size > self._budget:
            raise InputError(
                f"the names of people and places need more than the {self._budget / 1e9:.2f} GB "
                f"that the memory limit leaves for them; {MORE}",
                hint=MORE,
            )

    @property
    def _room(self) -> int:
        return self._budget - self._names

    def _refuse_too_many(self, batch: Batch) -> None:
        """Refuse data of which too many samples are known to be distinct, before all is read.

        A person is at most once in a slot and cell, so distinct pairs of person and slot are no
        more than the samples. One in 64 of these pairs is kept, chosen by its hash.
        """
        pair = batch.person.astype(np.uint64) << np.uint64(32) | batch.slot.astype(np.uint64)
        # The mix of splitmix64, of which all bits depend on all.
        mixed = pair.copy()
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        chosen = pair[mixed % np.uint64(_LOOKED_AT) == 0]
        self._distinct = np.union1d(self._distinct, chosen)
        least = int(_SURE * _LOOKED_AT * len(self._distinct))
        if least * SAMPLE_BYTES > self._for_samples - self._names:
            raise self._too_many(f"{least:,} samples and more")

    def _too_many(self, what: str) -> InputError:
        return InputError(
            f"{what} need more than the {(self._for_samples - self._names) / 1e9:.2f} GB that the "
            f"memory limit leaves for them; {MORE}",
            hint=MORE,
        )

    @property
    def earliest(self) -> int:
        """The first slot that occurs."""
        return self._earliest or 0

    def positions(self) -> Iterator[tuple[Floats, Floats, npt.NDArray[np.int64]]]:
        """Yield the coordinates, and how many rows are at each, some at a time."""
        if self.spilled:
            for batch in self._stored():
                yield batch.east, batch.north, np.ones(len(batch), np.int64)
            return
        count = np.zeros(len(self._positions), np.int64)
        for rows in chunks(len(self._position)):
            position = self._position[rows]
            low = int(position.min())
            here = np.bincount(position - low)
            count[low : low + len(here)] += here
        for some in chunks(len(self._positions)):
            yield self._positions.east[some], self._positions.north[some], count[some]

    def rows(self) -> Iterator[tuple[Ints, Floats, Floats]]:
        """Yield person and coordinates of all rows, some at a time."""
        for batch in self._stored() if self.spilled else self._batches():
            yield batch.person, batch.east, batch.north

    def finish(self, to_cells: ToCells, origin: int, *, by_place: bool = False) -> SortedSamples:
        """Return all rows, sorted and distinct.

        Parameters
        ----------
        to_cells
            Returns the cells of coordinates.
        origin
            The slot, since the earliest time allowed, that becomes slot 0.
        by_place
            Whether another place in the same cell and slot is a sample of its own.
        """
        if self.spilled:
            for batch in self._stored():
                batch.east, batch.north = to_cells(batch.east, batch.north)
                self._to_disk("cells", batch)
            return self._sort_on_disk(origin, by_place)
        with ThreadPoolExecutor(self._threads) as pool:
            x, y = self._cells(to_cells, pool)
            layout = self._layout(x, y)
            if sum(bits for _, _, bits in layout) <= _KEY_BITS:
                keys = self._pack(layout, x, y, pool)
                self._clear()
                return _sort_packed(keys, layout, origin, pool, by_place)
        for batch in self._batches(x, y):
            self._to_disk("cells", batch)
        self._clear()
        return self._sort_on_disk(origin, by_place)

    def _cells(self, to_cells: ToCells, pool: ThreadPoolExecutor) -> tuple[Ints, Ints]:
        """Return the cell of each position, and release the coordinates."""
        positions = self._positions
        x, y = np.empty(len(positions), np.int32), np.empty(len(positions), np.int32)

        def project(some: slice) -> None:
            x[some], y[some] = to_cells(positions.east[some], positions.north[some])

        todo = chunks(len(x))
        # Little is done in this thread: PROJ starts anew in each other, which takes longer.
        list(map(project, todo) if len(todo) < _MIN_CHUNKS else pool.map(project, todo))
        positions.clear()
        return x, y

    def _layout(self, x: Ints, y: Ints) -> Layout:
        """Return how many bits of a key each field needs; the first one sorts first."""
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
        """Return the keys: the fields of each row side by side in one integer."""
        keys = np.empty(self._rows, np.uint64)

        def pack(rows: slice) -> None:
            position = self._position[rows]
            key = np.zeros(len(position), np.uint64)
            for name, low, bits in layout:
                if name in ("x", "y"):
                    values = (x if name == "x" else y)[position]
                else:
                    values = getattr(self, f"_{name}")[rows]
                key <<= np.uint64(bits)
                key |= (values.astype(np.int64) - low).astype(np.uint64)
            keys[rows] = key

        list(pool.map(pack, chunks(self._rows)))
        return keys

    def _batches(self, x: Ints | None = None, y: Ints | None = None) -> Iterator[Batch]:
        """Yield the rows in memory, some at a time; with cells where they are known."""
        for rows in chunks(len(self._person)):
            code = self._position[rows]
            low, high = int(code.min()), int(code.max()) + 1
            east = self._positions.east[low:high] if x is None else x[low:high]
            north = self._positions.north[low:high] if y is None else y[low:high]
            place = self._place[rows] if len(self._place) else None
            code = code - low
            yield Batch(self._person[rows], self._slot[rows], east[code], north[code], place)

    def _clear(self) -> None:
        for column in (self._person, self._slot, self._position, self._place, self._positions):
            column.clear()

    def _stored(self) -> Iterator[Batch]:
        """Yield the rows on disk, some at a time."""
        query = "SELECT person, slot, east, north, place FROM rows"
        for table in self._connection.cursor().sql(query).to_arrow_reader(_DISK_ROWS):
            person, slot, east, north, place = (column.to_numpy() for column in table.columns)
            yield Batch(person, slot, east, north, None if place[0] < 0 else place)

    def _to_disk(self, name: str, batch: Batch) -> None:
        """Append rows to a table; `rows` holds coordinates and `cells` holds cells."""
        kind = "DOUBLE" if name == "rows" else "INTEGER"
        self._connection.execute(
            f"CREATE TABLE IF NOT EXISTS {name} "
            f"(person INTEGER, slot UINTEGER, east {kind}, north {kind}, place INTEGER)"
        )
        place = np.full(len(batch), -1, np.int32) if batch.place is None else batch.place
        rows = pa.table(
            [batch.person, batch.slot, batch.east, batch.north, place],
            names=["person", "slot", "east", "north", "place"],
        )
        self._connection.register("incoming", rows)
        self._connection.execute(f"INSERT INTO {name} SELECT * FROM incoming")
        self._connection.unregister("incoming")

    def _sort_on_disk(self, origin: int, by_place: bool) -> SortedSamples:  # noqa: FBT001
        self._connection.execute("DROP TABLE IF EXISTS rows")
        # A plain sort is what DuckDB does with the least memory; repeats are dropped here.
        query = "SELECT person, slot, east, north, place FROM cells ORDER BY ALL"
        t, x, y, place = (GrowingArray(np.int32) for _ in range(4))
        counts = np.zeros(0, np.int64)
        folded = size = 0
        last: list[npt.NDArray[Any]] = []
        for table in self._connection.sql(query).to_arrow_reader(_DISK_ROWS):
            columns = [column.to_numpy() for column in table.columns]
            distinct, new = _distinct(last, columns)
            new = distinct if by_place else new
            folded += int(np.count_nonzero(distinct & ~new))
            last = [column[-1:].copy() for column in columns]
            columns = [column[new] for column in columns]
            here = np.bincount(columns[0], minlength=len(counts))
            here[: len(counts)] += counts
            counts = here
            t.append(_slots(columns[1].astype(np.int64) - origin))
            x.append(columns[2])
            y.append(columns[3])
            if last[4][0] >= 0:
                place.append(columns[4])
            size += len(columns[0]) * SAMPLE_BYTES
            if size > self._for_samples - self._names:
                raise self._too_many("the samples")
        self._connection.execute("DROP TABLE cells")
        named = place.to_array() if len(place) else None
        return SortedSamples(counts, t.to_array(), x.to_array(), y.to_array(), named, folded)


def _distinct(
    last: list[npt.NDArray[Any]], columns: list[npt.NDArray[Any]]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which sorted rows differ from the row before, and which start a new sample.

    `last` is the row before the first one, if there is one. The place, which comes last, makes a
    row differ, but no new sample.
    """
    distinct, new = differs_from_previous(*columns), differs_from_previous(*columns[:-1])
    if last:
        differ = [column[0] != before[0] for column, before in zip(columns, last, strict=True)]
        distinct[0], new[0] = any(differ), any(differ[:-1])
    return distinct, new


def _slots(values: npt.NDArray[np.int64]) -> Ints:
    """Return slots as 32-bit integers, or refuse."""
    if len(values) and max(abs(int(values.min())), abs(int(values.max()))) >= 2**31 - 1:
        raise InputError(
            "the data spans more than 2,147,483,647 slots; use longer slots (slot=, in seconds) or "
            "a shorter time window"
        )
    return values.astype(np.int32)


def _sort_packed(
    keys: npt.NDArray[np.uint64],
    layout: Layout,
    origin: int,
    pool: ThreadPoolExecutor,
    by_place: bool,  # noqa: FBT001
) -> SortedSamples:
    """Return the samples of keys, sorted and distinct."""
    named = layout[-1][0] == "place" and not by_place
    keys.sort()
    sample = keys >> np.uint64(layout[-1][2]) if named else keys
    new = differs_from_previous(sample)
    # Repeats of a sample at yet another place: distinct keys beyond the first of a sample.
    folded = int(np.count_nonzero(differs_from_previous(keys) & ~new)) if named else 0
    if not new.all():
        keys = keys[new]
    del sample, new
    columns: dict[str, Ints] = {}
    shift = 0
    for name, low, bits in reversed(layout[1:]):
        least = low - origin if name == "slot" else low
        columns[name] = _unpack(keys, shift, bits, least, pool)
        shift += bits
    counts = _counts(keys, shift, layout[0][1])
    place = columns.get("place")
    return SortedSamples(counts, columns["slot"], columns["x"], columns["y"], place, folded)


def _counts(keys: npt.NDArray[np.uint64], shift: int, first: int) -> npt.NDArray[np.int64]:
    """Return the number of samples of each person; the keys of a person lie side by side."""
    last = int(keys[-1]) >> shift
    starts = np.arange(1, last + 1, dtype=np.uint64) << np.uint64(shift)
    cuts = np.concatenate([[0], np.searchsorted(keys, starts), [len(keys)]])
    return np.concatenate([np.zeros(first, np.int64), np.diff(cuts).astype(np.int64)])


def _unpack(
    keys: npt.NDArray[np.uint64], shift: int, size: int, low: int, pool: ThreadPoolExecutor
) -> Ints:
    """Return one field of all keys; some at a time, to save memory."""
    column = np.empty(len(keys), np.int32)
    mask = np.uint64((1 << size) - 1)

    def unpack(rows: slice) -> None:
        # A shift by 64 is undefined; it is asked for only when no bits are left.
        part = (keys[rows] >> np.uint64(min(shift, 63))) & mask
        column[rows] = _slots(part.astype(np.int64) + low)

    list(pool.map(unpack, chunks(len(keys))))
    return column
