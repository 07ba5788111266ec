"""Numbers for names, in the order of their first appearance.

A few names are looked up in a dict. A file in the order of time names somebody else on every line,
and then a compiled hash table over the bytes of the names is many times faster.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from incrowd.data.frame import Ints

__all__ = ["Codes", "grown"]

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
        from incrowd.data.reading.hashing import number_names

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
        from incrowd.data.reading.hashing import place_again

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
