"""Which site is nearest to a point: a k-d tree that is nothing but an order of the sites.

`tree_order` numbers sites so that every node of the tree is a range of them: the site in its
middle, before it those with a smaller x (or y, in turn), after it the others. All other functions
take sites in that order. A tree and not a grid, because antennas stand 300 m apart in a city and
30 km apart in the country.
"""

import numpy as np

from incrowd.compiled import Floats, Ints, compiled, inner

__all__ = ["nearest", "nearest_all", "nearest_few", "neighbours", "tree_order"]

_LEAF = 8
_DEPTH = 64


def tree_order(points: Floats) -> Ints:
    """Give the order of points (one a row) in which they are a tree.

    Examples
    --------
    >>> tree_order(np.array([[2.0, 0.0], [1.0, 0.0], [3.0, 0.0]])).tolist()
    [0, 1, 2]
    """
    order = np.arange(len(points))
    bounds = np.array([0, len(points)])
    axis = 0
    while np.diff(bounds).max(initial=0) > _LEAF:
        node = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))
        order = order[np.lexsort((points[order, axis], node))]
        middle = (bounds[:-1] + bounds[1:]) // 2
        # The middle is a range of its own: deeper levels must not move it.
        bounds = np.unique(np.concatenate([bounds, middle, middle + 1]))
        axis = 1 - axis
    return order


@inner
def _offer(found: Ints, squares: Floats, site: int, square: float) -> None:
    """Insert a site among the nearest so far, if it is one of them."""
    if square >= squares[-1]:
        return
    slot = found.size - 1
    while slot > 0 and squares[slot - 1] > square:
        squares[slot] = squares[slot - 1]
        found[slot] = found[slot - 1]
        slot -= 1
    squares[slot] = square
    found[slot] = site


@inner
def nearest_few(sites: Floats, x: float, y: float, found: Ints, squares: Floats) -> None:
    """Fill `found` with the nearest sites, nearest first, and `squares` with their distances.

    As many as `found` is long; the distances are squared.
    """
    squares[:] = np.inf
    waiting = np.empty((_DEPTH, 3), np.int64)  # ranges not yet looked at: low, high, axis
    bound = np.empty(_DEPTH)  # the least squared distance that each can hold
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, sites.shape[0], 0
    bound[0] = 0.0
    top = 1
    while top > 0:
        top -= 1
        if bound[top] >= squares[-1]:
            continue
        low, high, axis = waiting[top, 0], waiting[top, 1], waiting[top, 2]
        while high - low > _LEAF:
            middle = (low + high) // 2
            dx, dy = sites[middle, 0] - x, sites[middle, 1] - y
            _offer(found, squares, middle, dx * dx + dy * dy)
            across = dx if axis == 0 else dy
            bound[top] = across * across
            axis = 1 - axis
            waiting[top, 2] = axis
            if across > 0.0:
                waiting[top, 0], waiting[top, 1] = middle + 1, high
                high = middle
            else:
                waiting[top, 0], waiting[top, 1] = low, middle
                low = middle + 1
            top += 1
        for index in range(low, high):
            dx, dy = sites[index, 0] - x, sites[index, 1] - y
            _offer(found, squares, index, dx * dx + dy * dy)


@inner
def nearest(sites: Floats, x: float, y: float) -> int:
    """Give the site nearest to a point."""
    found = np.zeros(1, np.int64)
    squares = np.empty(1)
    nearest_few(sites, x, y, found, squares)
    return int(found[0])


@compiled
def nearest_all(sites: Floats, points: Floats) -> Ints:
    """Give the site nearest to each of many points."""
    result = np.empty(points.shape[0], np.int64)
    for index in range(result.size):
        result[index] = nearest(sites, points[index, 0], points[index, 1])
    return result


@compiled
def neighbours(sites: Floats, count: int) -> Ints:
    """Give the `count` nearest other sites of each site, nearest first."""
    result = np.empty((sites.shape[0], count), np.int64)
    found = np.zeros(count + 1, np.int64)
    squares = np.empty(count + 1)
    for index in range(sites.shape[0]):
        nearest_few(sites, sites[index, 0], sites[index, 1], found, squares)
        slot = 0
        for other in found:
            if other != index and slot < count:
                result[index, slot] = other
                slot += 1
    return result
