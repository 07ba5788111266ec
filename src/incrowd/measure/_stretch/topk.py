"""The k best candidates of a search: by what they cost at least, of equals the older first.

As many as are wanted are kept, not yet in order. Candidates are appended until the buffer is full;
then the best are selected and the others are dropped. What was dropped is remembered as the
*remainder bound*: nobody who was left out costs less.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import ZERO, kernel_nogc, kernel_private

__all__ = [
    "CandidateBuffer",
    "make_buffer",
    "push",
    "shrink",
    "sort",
    "stable_order",
]


class CandidateBuffer(NamedTuple):
    """The candidates of some queries, not yet in order: a row, or a number, for each query.

    Attributes
    ----------
    value, cluster
        What each candidate costs at least, and who it is.
    count
        How many there are.
    limit
        Nobody is wanted who costs more; it falls when the buffer is full.
    remainder_bound, remainder_node
        Whoever was left out costs at least this, and at this price has at least this index.
    """

    value: NDArray[np.float64]
    cluster: NDArray[np.int32]
    count: NDArray[np.int64]
    limit: NDArray[np.float64]
    remainder_bound: NDArray[np.float64]
    remainder_node: NDArray[np.int64]


@kernel_private
def make_buffer(number: int, size: int) -> CandidateBuffer:
    """Make a buffer for candidates of some queries."""
    return CandidateBuffer(
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
    cluster: NDArray[np.int32],
    count: int,
    keep: int,
    node: NDArray[np.int64],
) -> None:
    """Bring the first `keep` candidates, in any order, to the front (Hoare's quickselect)."""
    low, high, last = 0, count - 1, keep - 1
    while low < high:
        v, s = value[(low + high) // 2], cluster[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while before(value[i], cluster[i], v, s, node):
                i += 1
            while before(v, s, value[j], cluster[j], node):
                j -= 1
            if i <= j:
                value[i], value[j] = value[j], value[i]
                cluster[i], cluster[j] = cluster[j], cluster[i]
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
    cluster: NDArray[np.int32],
    begin: int,
    end: int,
    node: NDArray[np.int64],
) -> None:
    """Sort candidates by heapsort: in place, and in no case slow."""
    number = end - begin
    for phase in range(2):
        for step in range(number // 2 - 1, -1, -1) if phase == 0 else range(number - 1, 0, -1):
            root, size = step, number
            if phase == 1:
                value[begin], value[begin + step] = value[begin + step], value[begin]
                cluster[begin], cluster[begin + step] = cluster[begin + step], cluster[begin]
                root, size = 0, step
            while 2 * root + 1 < size:
                child = 2 * root + 1
                if child + 1 < size and before(
                    value[begin + child],
                    cluster[begin + child],
                    value[begin + child + 1],
                    cluster[begin + child + 1],
                    node,
                ):
                    child += 1
                a, b = begin + root, begin + child
                if not before(value[a], cluster[a], value[b], cluster[b], node):
                    break
                value[a], value[b] = value[b], value[a]
                cluster[a], cluster[b] = cluster[b], cluster[a]
                root = child


@kernel_private
def stable_order(values: NDArray[np.float64], count: int) -> NDArray[np.int32]:
    """Give the places of the first numbers from the least to the largest, of equals in their order.

    NumPy's argsort would do, but takes the compiler three seconds for every kind of number.
    """
    keys, order = np.empty(count), np.empty(count, np.int32)
    place = np.empty(count, np.int64)
    for i in range(count):
        keys[i], order[i], place[i] = values[i], i, i
    sort(keys, order, ZERO, count, place)
    return order


@kernel_nogc
def push(
    v: float, s: int, keep: int, q: int, buffer: CandidateBuffer, node: NDArray[np.int64]
) -> None:
    """Take in a candidate; when the buffer is full, keep only the first ones."""
    count = buffer.count[q]
    buffer.value[q, count], buffer.cluster[q, count] = v, s
    buffer.count[q] = count + 1
    if count + 1 == buffer.value.shape[1]:
        shrink(keep, q, buffer, node)


@kernel_nogc
def shrink(keep: int, q: int, buffer: CandidateBuffer, node: NDArray[np.int64]) -> None:
    """Keep the first candidates of a query; whoever is left out is behind the last one kept."""
    if buffer.count[q] <= keep:
        return
    value, cluster = buffer.value[q], buffer.cluster[q]
    select(value, cluster, buffer.count[q], keep, node)
    last = 0
    for c in range(1, keep):
        if before(value[last], cluster[last], value[c], cluster[c], node):
            last = c
    buffer.count[q] = keep
    buffer.limit[q], buffer.remainder_bound[q] = value[last], value[last]
    buffer.remainder_node[q] = node[cluster[last]] + 1
