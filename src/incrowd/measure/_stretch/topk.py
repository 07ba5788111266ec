"""Candidates of a search by what they cost at least, of equals the older first.

As many as are wanted are kept; of all others it is known what they cost at least.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel_nogc, kernel_private

__all__ = [
    "Heap",
    "make_heap",
    "push",
    "shrink",
    "sort",
]


class Heap(NamedTuple):
    """The candidates of some queries, not yet in order: a row, or a number, for each query."""

    value: NDArray[np.float64]
    slot: NDArray[np.int32]
    count: NDArray[np.int64]
    limit: NDArray[np.float64]
    rest: NDArray[np.float64]
    rest_node: NDArray[np.int64]


@kernel_private
def make_heap(number: int, size: int) -> Heap:
    """Give room for candidates of some queries."""
    return Heap(
        np.empty((number, size)),
        np.empty((number, size), np.int32),
        np.zeros(number, np.int64),
        np.full(number, np.inf),
        np.full(number, np.inf),
        np.full(number, np.int64(2) ** 62),
    )


@kernel_nogc
def before(v: float, s: int, w: float, t: int, node: NDArray[np.int64]) -> bool:
    """Tell whether candidate (v, s) comes before (w, t): cheaper, or as cheap and older."""
    return v < w or (v == w and node[s] < node[t])


@kernel_nogc
def select(
    value: NDArray[np.float64],
    slot: NDArray[np.int32],
    count: int,
    keep: int,
    node: NDArray[np.int64],
) -> None:
    """Bring the first `keep` candidates, in any order, to the front."""
    low, high, last = 0, count - 1, keep - 1
    while low < high:
        v, s = value[(low + high) // 2], slot[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while before(value[i], slot[i], v, s, node):
                i += 1
            while before(v, s, value[j], slot[j], node):
                j -= 1
            if i <= j:
                value[i], value[j] = value[j], value[i]
                slot[i], slot[j] = slot[j], slot[i]
                i += 1
                j -= 1
        if last <= j:
            high = j
        elif last >= i:
            low = i
        else:
            return


@kernel_nogc
def sort(
    value: NDArray[np.float64],
    slot: NDArray[np.int32],
    begin: int,
    end: int,
    node: NDArray[np.int64],
) -> None:
    """Sort candidates, by building a heap and taking it down."""
    number = end - begin
    for phase in range(2):
        for step in range(number // 2 - 1, -1, -1) if phase == 0 else range(number - 1, 0, -1):
            root, size = step, number
            if phase == 1:
                value[begin], value[begin + step] = value[begin + step], value[begin]
                slot[begin], slot[begin + step] = slot[begin + step], slot[begin]
                root, size = 0, step
            while 2 * root + 1 < size:
                child = 2 * root + 1
                if child + 1 < size and before(
                    value[begin + child],
                    slot[begin + child],
                    value[begin + child + 1],
                    slot[begin + child + 1],
                    node,
                ):
                    child += 1
                a, b = begin + root, begin + child
                if not before(value[a], slot[a], value[b], slot[b], node):
                    break
                value[a], value[b] = value[b], value[a]
                slot[a], slot[b] = slot[b], slot[a]
                root = child


@kernel_nogc
def push(v: float, s: int, keep: int, q: int, heap: Heap, node: NDArray[np.int64]) -> None:
    """Take in a candidate; when there is no more room, keep only the first ones."""
    count = heap.count[q]
    heap.value[q, count], heap.slot[q, count] = v, s
    heap.count[q] = count + 1
    if count + 1 == heap.value.shape[1]:
        shrink(keep, q, heap, node)


@kernel_nogc
def shrink(keep: int, q: int, heap: Heap, node: NDArray[np.int64]) -> None:
    """Keep the first candidates of a query; whoever is left out is behind the last one kept."""
    if heap.count[q] <= keep:
        return
    value, slot = heap.value[q], heap.slot[q]
    select(value, slot, heap.count[q], keep, node)
    last = 0
    for c in range(1, keep):
        if before(value[last], slot[last], value[c], slot[c], node):
            last = c
    heap.count[q] = keep
    heap.limit[q], heap.rest[q] = value[last], value[last]
    heap.rest_node[q] = node[slot[last]] + 1
