"""Numbers for names, in the order of their first appearance.

A few names are looked up in a dict. A file in the order of time names somebody else on every line,
and then a compiled hash table over the bytes of the names is many times faster.

Numbers for positions, so that one that occurs often is kept and projected once.

Networks see people at a few thousand antennas, however many rows there are; satellites see them
nowhere twice. Which of the two a dataset is shows soon, and where positions hardly ever come back
nobody looks for them any longer.

The kernels of the tables of names and positions: hash, look, compare, insert.

Columns of unknown length, grown block by block.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from numba import njit

from incrowd.data._frame import Floats, Ints

__all__ = [
    "Codes",
    "Growing",
    "Spots",
    "grown",
    "number_names",
    "number_positions",
    "pieces",
    "place_again",
]


_FEW = 20_000
"""Batches with fewer names do not need the compiled table."""
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


class Codes:
    """Numbers for names, in the order of their first appearance."""

    def __init__(self) -> None:
        self._code: dict[str, int] = {}
        self._table: Table | None = None

    def __len__(self) -> int:
        return len(self._code) if self._table is None else self._table.known

    def number(self, names: pa.Array) -> Ints:
        """Give the number of each name, new names included."""
        if isinstance(names, pa.DictionaryArray):
            # Runs of equal neighbours, of which only those that are left may be numbered.
            run = names.indices.to_numpy()
            left = np.zeros(len(names.dictionary), np.bool_)
            left[run] = True
            if left.all():
                return np.asarray(self.number(names.dictionary)[run])
            numbers = np.empty(len(left), np.int32)
            numbers[left] = self.number(names.dictionary.filter(pa.array(left)))
            return np.asarray(numbers[run])
        if self._table is None and len(names) >= _FEW:
            self._table = Table()
            self._table.number(pa.array(list(self._code), pa.string()))
        if self._table is not None:
            return self._table.number(names.cast(pa.string()))
        encoded, code = names.dictionary_encode(), self._code
        found = [code.setdefault(name, len(code)) for name in encoded.dictionary.to_pylist()]
        return np.asarray(np.array(found, np.int32)[encoded.indices.to_numpy()])

    def since(self, known: int) -> list[str]:
        """Give the names that came after the first `known`."""
        if self._table is None:
            return list(self._code)[known:]
        names: list[str] = self._table.names().slice(known).to_pylist()
        return names

    def names(self) -> pl.Series:
        """Give all names in order; as whole numbers where all of them are written as such."""
        names = pl.Series(self.since(0), dtype=pl.String)
        plain = names.str.contains(_WHOLE).all()
        return names.cast(pl.Int64) if len(names) and plain else names


class Table:
    """A hash table over the bytes of names, with open addressing; at most half of it is full."""

    def __init__(self) -> None:
        self.known = 0
        self._slots = np.full(1 << 16, -1, np.int32)
        self._hashes = np.empty(1 << 15, np.uint64)
        self._ends = np.zeros((1 << 15) + 1, np.int64)
        self._text = np.empty(1 << 20, np.uint8)

    def number(self, names: pa.StringArray) -> Ints:
        """Give the number of each name, new names included."""
        if not len(names):
            return np.empty(0, np.int32)
        _, ends, text = names.buffers()
        where = np.frombuffer(ends, np.int32)[names.offset : names.offset + len(names) + 1]
        letters = np.empty(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
        self._make_room(len(names), int(where[-1] - where[0]))
        numbers = np.empty(len(names), np.int32)
        self.known = number_names(
            where, letters, self._slots, self._hashes, self._ends, self._text, self.known, numbers
        )
        return numbers

    def names(self) -> pa.Array:
        """Give all names in order."""
        ends, text = pa.py_buffer(self._ends), pa.py_buffer(self._text)
        return pa.LargeStringArray.from_buffers(self.known, ends, text)

    def _make_room(self, names: int, size: int) -> None:
        """Make room for as many new names, should they all be new."""
        self._text = grown(self._text, int(self._ends[self.known]) + size)
        self._ends = grown(self._ends, self.known + names + 1)
        self._hashes = grown(self._hashes, self.known + names)
        if len(self._slots) < 2 * (self.known + names):
            size = 1 << (2 * (self.known + names)).bit_length()
            self._slots = np.full(size, -1, np.int32)
            place_again(self._slots, self._hashes, self.known)


def grown(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Give an array at least so long, twice as long as before if it must grow."""
    if len(array) >= length:
        return array
    larger = np.empty(max(length, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

# FNV-1a, 64 bits; and the golden ratio, which spreads neighbouring numbers.
_START, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True, error_model="numpy")
def number_names(
    ends: Ints,
    text: Bytes,
    slots: Ints,
    hashes: Words,
    known_ends: Longs,
    known_text: Bytes,
    known: int,
    numbers: Ints,
) -> int:
    """Give names their numbers; new ones are added, for all of which there must be room.

    Parameters
    ----------
    ends, text
        The names, one after the other, and where each starts and ends.
    slots
        The table: a number, or -1; its length is a power of two.
    hashes, known_ends, known_text
        The hash and the bytes behind each number.
    known
        How many names are known.
    numbers
        The number of each name; filled in.

    Returns
    -------
    int
        How many names are known now.
    """
    mask = np.uint64(len(slots) - 1)
    for i in range(len(numbers)):
        start, length = ends[i], ends[i + 1] - ends[i]
        code = _START
        for j in range(length):
            code = (code ^ np.uint64(text[start + j])) * _PRIME
        # The low bits decide on the slot; the high ones are the better mixed.
        slot = (code ^ (code >> np.uint64(32))) & mask
        number = slots[slot]
        while number >= 0:
            if hashes[number] == code and _equal(
                text, start, length, known_text, known_ends[number], known_ends[number + 1]
            ):
                break
            slot = (slot + np.uint64(1)) & mask
            number = slots[slot]
        if number < 0:
            number = known
            slots[slot] = number
            hashes[number] = code
            first = known_ends[known]
            for j in range(length):
                known_text[first + j] = text[start + j]
            known += 1
            known_ends[known] = first + length
        numbers[i] = number
    return known


@njit(cache=True, nogil=True, error_model="numpy")
def place_again(slots: Ints, hashes: Words, known: int) -> None:
    """Fill a new and empty table with the names that are known."""
    mask = np.uint64(len(slots) - 1)
    for number in range(known):
        slot = (hashes[number] ^ (hashes[number] >> np.uint64(32))) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number


@njit(cache=True, nogil=True, error_model="numpy")
def number_positions(
    a: Words,
    b: Words,
    slots: Ints,
    hashes: Words,
    known_a: Words,
    known_b: Words,
    known: int,
    numbers: Ints,
) -> int:
    """Give positions (the bits of two doubles) their numbers, as `number_names` does for names."""
    mask = np.uint64(len(slots) - 1)
    for i in range(len(numbers)):
        code = (a[i] * _PRIME ^ b[i]) * _MIX
        slot = (code ^ (code >> np.uint64(32))) & mask
        number = slots[slot]
        while number >= 0 and (known_a[number] != a[i] or known_b[number] != b[i]):
            slot = (slot + np.uint64(1)) & mask
            number = slots[slot]
        if number < 0:
            number = known
            slots[slot] = number
            hashes[number] = code
            known_a[number], known_b[number] = a[i], b[i]
            known += 1
        numbers[i] = number
    return known


@njit(nogil=True, error_model="numpy", inline="always")
def _equal(text: Bytes, start: int, length: int, known: Bytes, first: int, last: int) -> bool:
    """Tell whether two names have the same bytes."""
    if last - first != length:
        return False
    for i in range(length):  # noqa: SIM110  the compiler knows loops
        if text[start + i] != known[first + i]:
            return False
    return True


_BLOCK = 1 << 23
"""Blocks are so large that the system takes each back as soon as it is let go."""
_PIECE = 1 << 16


def pieces(length: int) -> list[slice]:
    """Cut a length into pieces whose temporary arrays stay small, and that lie within a block.

    Examples
    --------
    >>> pieces(100_000)
    [slice(0, 65536, None), slice(65536, 100000, None)]
    """
    return [slice(start, min(start + _PIECE, length)) for start in range(0, length, _PIECE)]


class Growing:
    """A column that grows without copying what it has, and gives parts of itself as views."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._blocks: list[npt.NDArray[Any]] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end."""
        start = 0
        while start < len(values):
            filled = self._length % _BLOCK
            if filled == 0:
                # Memory is taken only as it is filled in.
                self._blocks.append(np.empty(_BLOCK, self._dtype))
            end = min(len(values), start + _BLOCK - filled)
            self._blocks[-1][filled : filled + end - start] = values[start:end]
            self._length += end - start
            start = end

    def __getitem__(self, part: slice) -> npt.NDArray[Any]:
        """Give a part: a view if it lies within a block, as all `pieces` do, and a copy if not."""
        start, stop = part.start, part.stop
        views = []
        while start < stop:
            block, first = divmod(start, _BLOCK)
            last = min(first + stop - start, _BLOCK)
            views.append(self._blocks[block][first:last])
            start += last - first
        return views[0] if len(views) == 1 else np.concatenate([np.empty(0, self._dtype), *views])

    def range(self) -> tuple[int, int]:
        """Give the least and the greatest value."""
        parts = [self[part] for part in pieces(self._length)]
        return min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)

    def taken(self) -> npt.NDArray[Any]:
        """Give everything as one array, and let go of it."""
        whole = self[slice(0, self._length)] if self._length else np.empty(0, self._dtype)
        self.clear()
        return whole

    def clear(self) -> None:
        """Let everything go."""
        self._blocks, self._length = [], 0


_FEW_SPOTS = 20_000
"""Where the first batch is smaller, all of the data is small, and nothing needs to be saved."""
_TRIAL = 1 << 18
"""After so many stays it shows whether positions come back."""


class Spots:
    """Positions and their numbers; equal neighbours share a number, and others where it pays."""

    def __init__(self) -> None:
        self.a, self.b = Growing(np.float64), Growing(np.float64)
        self._stays = 0
        self._worth = True
        self._slots = np.full(1 << 16, -1, np.int32)
        self._hashes = np.empty(0, np.uint64)
        self._known_a, self._known_b = np.empty(0, np.uint64), np.empty(0, np.uint64)

    def __len__(self) -> int:
        return len(self.a)

    def number(self, a: Floats, b: Floats) -> Ints:
        """Give the number of each position, new ones included."""
        moved = np.ones(len(a), np.bool_)
        moved[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        stay = np.cumsum(moved, dtype=np.int32)
        stay -= 1
        a, b = a[moved], b[moved]
        rare = self._stays > _TRIAL and len(self) * 2 > self._stays
        self._stays += len(a)
        if rare or (not len(self) and len(stay) < _FEW_SPOTS):
            self._give_up()
        if self._worth:
            return np.asarray(self._look_up(a, b)[stay])
        stay += len(self)
        self.a.append(a)
        self.b.append(b)
        return stay

    def clear(self) -> None:
        """Let everything go."""
        self._give_up()
        self.a.clear()
        self.b.clear()

    def _look_up(self, a: Floats, b: Floats) -> Ints:

        known = len(self)
        most = known + len(a)
        self._hashes = grown(self._hashes, most)
        self._known_a, self._known_b = grown(self._known_a, most), grown(self._known_b, most)
        if len(self._slots) < 2 * most:
            self._slots = np.full(1 << (2 * most).bit_length(), -1, np.int32)
            place_again(self._slots, self._hashes, known)
        numbers = np.empty(len(a), np.int32)
        found = number_positions(
            a.view(np.uint64), b.view(np.uint64),
            self._slots, self._hashes, self._known_a, self._known_b, known, numbers,
        )  # fmt: skip
        self.a.append(self._known_a[known:found].view(np.float64))
        self.b.append(self._known_b[known:found].view(np.float64))
        return numbers

    def _give_up(self) -> None:
        self._worth = False
        nothing = np.empty(0, np.uint64)
        self._slots, self._hashes = np.empty(0, np.int32), nothing
        self._known_a, self._known_b = nothing, nothing
