"""Integer codes for users, places and positions, in the order of their first appearance.

::

    names      ──> NameEncoder ──────> codes   a dict, asked once per distinct name of a batch
    positions  ──> PositionEncoder ──> codes   equal neighbours share a code; others where it pays
    codes      ──> GrowingArray                columns of unknown length, block by block

Networks see people at a few thousand antennas, however many rows there are, so that a position is
kept and projected once: a compiled hash table finds those that were seen before. Satellites see
people nowhere twice. Which of the two a dataset is shows soon, and where positions hardly ever
repeat `PositionEncoder` stops looking for them. `MIN_POSITIONS` switches the table off when it is
set very high; ``benchmarks/reading.py --ablation`` prints what it brings.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from incrowd._numba import kernel
from incrowd.data._columns import differs_from_previous
from incrowd.data._frame import Floats, Ints

__all__ = [
    "GrowingArray",
    "NameEncoder",
    "PositionEncoder",
    "chunks",
    "encode_positions",
]


MIN_POSITIONS = 20_000
"""Where the first batch is smaller, all of the data is small, and nothing needs to be saved."""
TRIAL = 1 << 18
"""After so many positions, equal neighbours apart, it shows whether they repeat."""

NAME_BYTES = 200
"""What a name takes in memory besides its letters: a text of Python, its entry, and a copy."""
_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
_BLOCK = 1 << 23
"""Blocks are so large that the system takes each back as soon as it is released."""
_CHUNK = 1 << 16

# The prime of FNV-1a, and the golden ratio, which spreads neighbouring numbers.
_PRIME = np.uint64(0x100000001B3)
_GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)

Words = npt.NDArray[np.uint64]


class NameEncoder:
    """Codes for names, in the order of their first appearance."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._bytes = 0

    @property
    def size(self) -> int:
        """About how many bytes the names take."""
        return self._bytes + NAME_BYTES * len(self._codes)

    def __len__(self) -> int:
        return len(self._codes)

    def encode(self, names: pa.Array) -> Ints:
        """Return the code of each name; new names get the next ones."""
        if isinstance(names, pa.DictionaryArray):
            # Runs of equal neighbours; those of which no row is left get no code.
            run = names.indices.to_numpy()
            used = np.zeros(len(names.dictionary), np.bool_)
            used[run] = True
            codes = np.empty(len(used), np.int32)
            codes[used] = self.encode(names.dictionary.filter(pa.array(used)))
            return np.asarray(codes[run])
        distinct, known = names.dictionary_encode(), self._codes
        before = len(known)
        codes = np.fromiter(
            (known.setdefault(name, len(known)) for name in distinct.dictionary.to_pylist()),
            np.int32,
            len(distinct.dictionary),
        )
        if len(known) > before:
            share = (len(known) - before) / len(distinct.dictionary)
            self._bytes += int(share * distinct.dictionary.nbytes)
        return np.asarray(codes[distinct.indices.to_numpy()])

    def names_from(self, start: int) -> list[str]:
        """Return the names whose codes are `start` or above."""
        return list(self._codes)[start:]

    def names(self) -> pl.Series:
        """Return all names by code; as integers where every one is written as an integer."""
        names = pl.Series(self.names_from(0), dtype=pl.String)
        integers = names.str.contains(_INTEGER).all()
        return names.cast(pl.Int64) if len(names) and integers else names


class PositionEncoder:
    """Codes for positions: equal neighbours share one, and others where looking for them pays."""

    def __init__(self) -> None:
        self.east, self.north = GrowingArray(np.float64), GrowingArray(np.float64)
        self._seen = 0
        self._use_table = True
        self._buckets = np.full(1 << 16, -1, np.int32)
        self._hashes = np.empty(0, np.uint64)
        self._known_east, self._known_north = np.empty(0, np.uint64), np.empty(0, np.uint64)

    def __len__(self) -> int:
        return len(self.east)

    def encode(self, east: Floats, north: Floats) -> Ints:
        """Return the code of each position; new positions get the next ones."""
        changed = differs_from_previous(east, north)
        code = np.cumsum(changed, dtype=np.int32)
        code -= 1
        east, north = east[changed], north[changed]
        rarely_repeat = self._seen > TRIAL and len(self) * 2 > self._seen
        self._seen += len(east)
        if rarely_repeat or (not len(self) and len(code) < MIN_POSITIONS):
            self._drop_table()
        if self._use_table:
            return np.asarray(self._look_up(east, north)[code])
        code += len(self)
        self.east.append(east)
        self.north.append(north)
        return code

    @property
    def size(self) -> int:
        """How many bytes the table takes, by which positions are found again."""
        tables = self._buckets, self._hashes, self._known_east, self._known_north
        return sum(table.nbytes for table in tables)

    def clear(self) -> None:
        """Release everything."""
        self._drop_table()
        self.east.clear()
        self.north.clear()

    def _look_up(self, east: Floats, north: Floats) -> Ints:
        """Return the code of each position, found in the table or added to it."""
        known = len(self)
        most = known + len(east)
        self._hashes = _enlarge(self._hashes, most)
        self._known_east = _enlarge(self._known_east, most)
        self._known_north = _enlarge(self._known_north, most)
        if len(self._buckets) < 2 * most:
            self._buckets = np.full(1 << (2 * most).bit_length(), -1, np.int32)
            _rehash(self._buckets, self._hashes, known)
        codes = np.empty(len(east), np.int32)
        found = encode_positions(
            east.view(np.uint64), north.view(np.uint64),
            self._buckets, self._hashes, self._known_east, self._known_north, known, codes,
        )  # fmt: skip
        self.east.append(self._known_east[known:found].view(np.float64))
        self.north.append(self._known_north[known:found].view(np.float64))
        return codes

    def _drop_table(self) -> None:
        """Look for positions no longer."""
        self._use_table = False
        nothing = np.empty(0, np.uint64)
        self._buckets, self._hashes = np.empty(0, np.int32), nothing
        self._known_east, self._known_north = nothing, nothing


class GrowingArray:
    """A column that grows without copying what it holds, and whose parts are views."""

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
                # The system hands out memory only as it is filled in.
                self._blocks.append(np.empty(_BLOCK, self._dtype))
            end = min(len(values), start + _BLOCK - filled)
            self._blocks[-1][filled : filled + end - start] = values[start:end]
            self._length += end - start
            start = end

    def release(self, stop: int) -> None:
        """Release what lies before a place; it cannot be asked for any more."""
        for block in range(min(stop // _BLOCK, len(self._blocks))):
            self._blocks[block] = self._blocks[block][:0]

    def __getitem__(self, part: slice) -> npt.NDArray[Any]:
        """Return a part: a view if it lies within a block, as all `chunks` do, else a copy."""
        start, stop = part.start, part.stop
        views = []
        while start < stop:
            block, first = divmod(start, _BLOCK)
            last = min(first + stop - start, _BLOCK)
            views.append(self._blocks[block][first:last])
            start += last - first
        return views[0] if len(views) == 1 else np.concatenate([np.empty(0, self._dtype), *views])

    def range(self) -> tuple[int, int]:
        """Return the least and the greatest value."""
        parts = [self[part] for part in chunks(self._length)]
        return min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)

    def to_array(self) -> npt.NDArray[Any]:
        """Return everything as one array, and release it."""
        array = self[slice(0, self._length)] if self._length else np.empty(0, self._dtype)
        self.clear()
        return array

    def clear(self) -> None:
        """Release everything."""
        self._blocks, self._length = [], 0


def chunks(length: int) -> list[slice]:
    """Cut a length into chunks whose temporary arrays stay small and that lie within a block.

    Examples
    --------
    >>> chunks(100_000)
    [slice(0, 65536, None), slice(65536, 100000, None)]
    """
    return [slice(start, min(start + _CHUNK, length)) for start in range(0, length, _CHUNK)]


def _enlarge(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Return an array at least `length` long, at least twice as long as before if it grows."""
    if len(array) >= length:
        return array
    larger = np.empty(max(length, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def encode_positions(
    east: Words,
    north: Words,
    buckets: Ints,
    hashes: Words,
    known_east: Words,
    known_north: Words,
    known: int,
    codes: Ints,
) -> int:
    """Write the code of each position; new ones are added, for all of which there must be room.

    Parameters
    ----------
    east, north
        The positions, as the bits of two doubles.
    buckets
        The hash table, with open addressing: a code, or -1 for free; its length is a power of two.
    hashes, known_east, known_north
        The hash and the position behind each code.
    known
        The number of positions known so far.
    codes
        The code of each position; filled in.

    Returns
    -------
    int
        The number of positions known now.
    """
    mask = np.uint64(len(buckets) - 1)
    for i in range(len(codes)):
        hashed = (east[i] * _PRIME ^ north[i]) * _GOLDEN_RATIO
        # The low bits decide on the bucket; the high ones are the better mixed.
        bucket = (hashed ^ (hashed >> np.uint64(32))) & mask
        code = buckets[bucket]
        while code >= 0 and (known_east[code] != east[i] or known_north[code] != north[i]):
            bucket = (bucket + np.uint64(1)) & mask
            code = buckets[bucket]
        if code < 0:
            code = known
            buckets[bucket] = code
            hashes[code] = hashed
            known_east[code], known_north[code] = east[i], north[i]
            known += 1
        codes[i] = code
    return known


@kernel
def _rehash(buckets: Ints, hashes: Words, known: int) -> None:
    """Enter all known positions into a new, empty table."""
    mask = np.uint64(len(buckets) - 1)
    for code in range(known):
        bucket = (hashes[code] ^ (hashes[code] >> np.uint64(32))) & mask
        while buckets[bucket] >= 0:
            bucket = (bucket + np.uint64(1)) & mask
        buckets[bucket] = code
