"""Whom a search is to find, and what part of the work one thread does."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import light

__all__ = ["ALL", "OLDER", "SHORTER", "Share", "meets"]

ALL, SHORTER, OLDER = 0, 1, 2
"""Among whom to search: everybody, the shorter of the input, or the older."""


class Share(NamedTuple):
    """What one thread does of a search: every so many chunks, or stripes, from its own first on."""

    part: int
    parts: int
    best: NDArray[np.float64]
    """What the nearest of each query cost at most, as far as any of the threads knows."""


@light
def meets(
    query: int,
    other: int,
    scope: int,
    people: int,
    node: NDArray[np.int64],
    full: NDArray[np.bool_],
) -> bool:
    """Tell whether a search from one slot is to find another."""
    if node[other] < 0 or other == query or (full[query] and full[other]):
        return False
    if scope == SHORTER:
        return bool(node[other] < people)
    return scope == ALL or bool(node[other] < node[query])
