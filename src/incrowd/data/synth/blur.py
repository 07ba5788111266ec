"""Published positions that are not the antennas' own: a random point of each Voronoi cell.

The operator of d4d-sen published its antennas so, to hide where they stand. A point is drawn once
for an antenna and stays; people are still served by the antenna's true position.
"""

import math

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Floats
from incrowd.data.synth.geography import APART, Sites
from incrowd.data.synth.nearest import nearest_all, neighbours, tree_order

__all__ = ["blurred"]

_ROUNDS = 60
_TRIES = 64
_RANGE = 35_000.0  # the farthest that a GSM antenna serves
_REACH = 2.5  # a cell rarely extends farther than this many times its farthest near neighbour


def blurred(sites: Sites, rng: np.random.Generator) -> Floats:
    """Draw a point of each site's Voronoi cell, 160 m or more from all others' points.

    By rejection: a point of a disc about the site is taken if it lies in the land, the site is
    the nearest to it, and no point taken so far is too close. A site without luck keeps its own
    position.
    """
    axes = np.array([sites.half_width, sites.half_height])
    published = sites.at.copy()
    reach = np.minimum(
        _RANGE, _REACH * np.linalg.norm(sites.at - sites.at[sites.near[:, -1]], axis=1)
    )
    waiting = np.arange(len(published))
    for _ in range(_ROUNDS):
        if waiting.size == 0:
            break
        # The fewer are left, the more points each may try at once.
        tries = np.repeat(waiting, min(_TRIES, len(published) // waiting.size))
        angle = rng.uniform(0, 2 * math.pi, tries.size)
        radius = reach[tries] * np.sqrt(rng.uniform(0, 1, tries.size))
        point = sites.at[tries] + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        fits = ((point / axes) ** 2).sum(axis=1) <= 1.0
        fits &= nearest_all(sites.at, point) == tries
        moved, first = np.unique(tries[fits], return_index=True)
        trial = published.copy()
        trial[moved] = point[fits][first]
        moved = moved[~_too_close(trial)[moved]]
        published[moved] = trial[moved]
        waiting = np.setdiff1d(waiting, moved)
    return published


def _too_close(points: Floats) -> NDArray[np.bool_]:
    """Say of each point whether another is closer than `APART`."""
    order = tree_order(points)
    ordered = np.ascontiguousarray(points[order])
    other = neighbours(ordered, 1)[:, 0]
    close = np.empty(len(points), np.bool_)
    close[order] = np.linalg.norm(ordered - ordered[other], axis=1) < APART
    return close
