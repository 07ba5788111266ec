"""Distinct homes in a crowd: which pairs may merge where every crowd needs some.

A home is a whole number (a square of a grid, say); people without one have none. A crowd is
complete when it has k people and `least` distinct homes. If all pairs could merge as they do
without that, neighbours of the same home would merge first, and grow into wide crowds until
somebody from elsewhere is near. So two may merge only if one of these holds for the crowd that
they make:

1. it has enough homes;
2. it has more homes than either of the two: each brings one that the other lacks;
3. one of the two has a home and the other none at all: whoever has none may join anybody;
4. there is still room: it lacks no more homes than it lacks people of k.

Whatever the order of merges, those who are left in the end because no two of them may merge have
fewer than k people or fewer than `least` distinct homes, all of them taken together: of any two
with homes of which neither has all homes of the other, the second holds; so the homes of each are
among those of the next larger, and if the largest had enough, the first would hold.

A pair that may not merge is none: a search does not find it. Which pairs may merge follows from the
two alone and does not change while they are there, so what a search listed stays true.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel_inline, kernel_nogc

__all__ = [
    "Variety",
    "count_together",
    "make_variety",
    "may_merge",
    "no_variety",
    "set_together",
]


NONE = 2**31 - 1
"""Behind all homes."""


class Variety(NamedTuple):
    """What every crowd needs, and the homes of those who are there.

    Attributes
    ----------
    k
        How many people a crowd needs.
    least
        How many distinct homes a crowd needs; 0 if any will do, and all pairs may merge.
    homes
        By node (people, then merges): the number of distinct homes, and these in order. No more of
        them are counted, or kept, than a crowd needs.
    """

    k: int
    least: int
    homes: NDArray[np.int32]


def no_variety(k: int) -> Variety:
    """Return what lets all pairs merge."""
    return Variety(k, 0, np.empty((0, 1), np.int32))


def make_variety(k: int, least: int, homes: NDArray[np.int64]) -> Variety:
    """Return what is needed, for people with these homes (-1: none) and all their merges."""
    table = np.full((2 * len(homes), 1 + least), -1, np.int32)
    table[:, 0] = 0
    table[: len(homes), 0] = homes >= 0
    table[: len(homes), 1] = homes
    return Variety(k, least, table)


@kernel_nogc
def count_together(a: int, b: int, variety: Variety) -> int:
    """Count the distinct homes of two nodes together, no further than a crowd needs."""
    homes, least = variety.homes, variety.least
    number, other = homes[a, 0], homes[b, 0]
    i, j, found = 0, 0, 0
    while (i < number or j < other) and found < least:
        one = homes[a, 1 + i] if i < number else NONE
        two = homes[b, 1 + j] if j < other else NONE
        i += one <= two
        j += two <= one
        found += 1
    return found


@kernel_nogc
def set_together(a: int, b: int, node: int, variety: Variety) -> None:
    """Write down the distinct homes of two nodes as those of the node that they make."""
    homes, least = variety.homes, variety.least
    number, other = homes[a, 0], homes[b, 0]
    i, j, found = 0, 0, 0
    while (i < number or j < other) and found < least:
        one = homes[a, 1 + i] if i < number else NONE
        two = homes[b, 1 + j] if j < other else NONE
        homes[node, 1 + found] = min(one, two)
        i += one <= two
        j += two <= one
        found += 1
    homes[node, 0] = found


@kernel_inline
def may_merge(a: int, b: int, people: int, variety: Variety) -> bool:
    """Tell whether two nodes, of so many people together, may become one crowd."""
    if variety.least == 0:
        return True
    number, other = variety.homes[a, 0], variety.homes[b, 0]
    together = count_together(a, b, variety)
    return (
        together >= variety.least
        or together > max(number, other)
        or (number == 0) != (other == 0)
        or variety.least - together <= variety.k - people
    )
