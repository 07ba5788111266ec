"""The lie of the land: where the sites stand, who lives there, and what draws people to them.

`lay_out` scales a `Land` to a number of people (sites a person and people a square kilometre
stay what they are), places cities and then sites in them and between them, and gives all that
the kernels need as `Sites`. One generator, seeded, makes all of it.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from incrowd.compiled import Floats, Ints
from incrowd.data.synth.nearest import neighbours, tree_order
from incrowd.data.synth.settings import Land

__all__ = ["APART", "Sites", "lay_out", "scaled"]

APART = 160.0
"""Metres between any two sites, at least: more than the diagonal of a 100 m cell."""

_FEWEST = 3
_NEIGHBOURS = 4
_ZIPF = 0.9
_CROWDING = 1.02  # a city that is full grows by this factor at a time
_ROW = 1 << 32  # more squares than any row of the lattice has
_LIVING = 0.6  # sigma of the number of people a site
_PULLING = 0.8  # sigma of what draws people to a site


class Sites(NamedTuple):
    """Places that people can be at."""

    at: Floats
    """Their positions, one a row, in the order of a tree (see `nearest`)."""
    living: Floats
    """Running sum of the people who live at each."""
    pulling: Floats
    """Running sum of how much each attracts people to work there."""
    near: Ints
    """The nearest others of each, nearest first."""
    half_width: float
    half_height: float
    """Of the ellipse that is the land."""


def scaled(land: Land, share: float) -> Land:
    """Give the land that `share` of the people live on, as densely as before."""
    sites = max(_FEWEST, round(land.sites * share))
    # A country that shrinks has fewer cities, and smaller ones; a city that grows stays one.
    cities = max(1, round(land.cities * math.sqrt(share))) if land.cities > 1 else 1
    return replace(
        land, sites=sites, cities=cities, area=land.area * max(share, _FEWEST / land.sites)
    )


def lay_out(land: Land, rng: np.random.Generator) -> Sites:
    """Place all sites of a land.

    Parameters
    ----------
    land
        Its sizes, as wanted (see `scaled`).
    rng
        Where chance comes from.
    """
    half_height = math.sqrt(land.area * 1e6 / (math.pi * land.aspect))
    axes = np.array([half_height * land.aspect, half_height])
    shares = _city_shares(land)
    # A Gaussian city of n sites has n / (2 pi sigma^2) a square metre in its middle.
    sigma = np.sqrt(shares * land.sites * (1 - land.rural) / (2 * math.pi * land.peak / 1e6))
    centres = _city_centres(len(shares), axes, rng)
    places, closeness = _settle(land, axes, centres, sigma, shares, rng)
    order = tree_order(places)
    at, closeness = np.ascontiguousarray(places[order]), closeness[order]
    living = rng.lognormal(0.0, _LIVING, land.sites)
    pull = living * rng.lognormal(0.0, _PULLING, land.sites) * (0.5 + 2.0 * closeness)
    return Sites(
        at=at,
        living=np.cumsum(living),
        pulling=np.cumsum(pull),
        near=neighbours(at, min(_NEIGHBOURS, land.sites - 1)),
        half_width=float(axes[0]),
        half_height=float(axes[1]),
    )


def _city_shares(land: Land) -> Floats:
    """Share the cities' sites out: the largest gets its primacy, the others follow Zipf."""
    if land.cities == 1:
        return np.ones(1)
    rest = np.arange(1, land.cities, dtype=float) ** -_ZIPF
    return np.concatenate([[land.primacy], (1 - land.primacy) * rest / rest.sum()])


def _city_centres(count: int, axes: Floats, rng: np.random.Generator) -> Floats:
    """Place cities away from each other: each is the loneliest of some candidates."""
    centres = np.zeros((count, 2))
    if count == 1:
        return centres
    angle = rng.uniform(0, 2 * math.pi)
    centres[0] = 0.6 * axes * (math.cos(angle), math.sin(angle))
    for index in range(1, count):
        candidates = 0.95 * _in_ellipse(6, axes, rng)
        gaps = np.linalg.norm(candidates[:, None] - centres[None, :index], axis=2).min(axis=1)
        centres[index] = candidates[gaps.argmax()]
    return centres


def _in_ellipse(count: int, axes: Floats, rng: np.random.Generator) -> Floats:
    """Draw points uniformly from the land."""
    angle = rng.uniform(0, 2 * math.pi, count)
    radius = np.sqrt(rng.uniform(0, 1, count))
    disc: Floats = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return disc * axes


def _settle(
    land: Land,
    axes: Floats,
    centres: Floats,
    sigma: Floats,
    shares: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Place sites until there are enough; give them, and how close each is to a city's middle.

    Each site takes one square of a lattice and stands within the square so that its neighbours
    are `APART` metres away or more.
    """
    jitter = (land.pitch - APART) / 2
    odds = np.append(shares * (1 - land.rural), land.rural)
    placed = np.empty((0, 2))
    closeness = np.empty(0)
    taken: Ints = np.empty(0, np.int64)
    while len(placed) < land.sites:
        count = (land.sites - len(placed)) * 5 // 4 + 16
        city = rng.choice(odds.size, count, p=odds)
        urban = city < shares.size
        home = np.where(urban, city, 0)
        aim = centres[home] + sigma[home, None] * rng.normal(size=(count, 2))
        aim = np.where(urban[:, None], aim, _in_ellipse(count, axes, rng))
        square = np.floor(aim / land.pitch).astype(np.int64)
        point = (square + 0.5) * land.pitch + rng.uniform(-jitter, jitter, (count, 2))
        inside = ((point / axes) ** 2).sum(axis=1) <= 1.0
        off = ((point - centres[home]) ** 2).sum(axis=1) / (2 * sigma[home] ** 2)
        taken = np.concatenate([taken, (square[:, 0] * _ROW + square[:, 1])[inside]])
        placed = np.concatenate([placed, point[inside]])
        closeness = np.concatenate([closeness, np.where(urban, np.exp(-off), 0.0)[inside]])
        # The first to take a square keeps it.
        first = np.sort(np.unique(taken, return_index=True)[1])
        taken, placed, closeness = taken[first], placed[first], closeness[first]
        sigma = sigma * _CROWDING
    return placed[: land.sites], closeness[: land.sites]
