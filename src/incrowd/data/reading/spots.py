"""Numbers for positions, so that one that occurs often is kept and projected once.

Networks see people at a few thousand antennas, however many rows there are; satellites see them
nowhere twice. Which of the two a dataset is shows soon, and where positions hardly ever come back
nobody looks for them any longer.
"""

import numpy as np

from incrowd.data.frame import Floats, Ints
from incrowd.data.reading.growing import Growing
from incrowd.data.reading.names import grown

__all__ = ["Spots"]

_FEW = 20_000
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
        if rare or (not len(self) and len(stay) < _FEW):
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
        from incrowd.data.reading.hashing import number_positions, place_again

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
