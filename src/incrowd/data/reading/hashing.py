"""The kernels of the tables of names and positions: hash, look, compare, insert."""

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = ["number_names", "number_positions", "place_again"]

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
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
