"""Columns of unknown length, grown block by block."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Growing", "pieces"]

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
