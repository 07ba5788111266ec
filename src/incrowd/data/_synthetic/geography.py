"""The lie of the land: where the sites stand, who lives there, and what draws people to them.

`lay_out` scales a `Land` to a number of people (sites a person and people a square kilometre
stay what they are), places cities and then sites in them and between them, and gives all that
the kernels need as `Sites`. One generator, seeded, makes all of it.

Which site is nearest to a point: a k-d tree that is nothing but an order of the sites.

`tree_order` numbers sites so that every node of the tree is a range of them: the site in its
middle, before it those with a smaller x (or y, in turn), after it the others. All other functions
take sites in that order. A tree and not a grid, because antennas stand 300 m apart in a city and
30 km apart in the country.

From metres on the plan of a land to degrees on the Earth.

The plan is a Lambert azimuthal equal-area projection about the preset's own place, so that areas
and the number of people a square kilometre are the same on both.

Published positions that are not the antennas' own: a random point of each Voronoi cell.

The operator of d4d-sen published its antennas so, to hide where they stand. A point is drawn once
for an antenna and stays; people are still served by the antenna's true position.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyproj import CRS, Transformer

from incrowd._numba import Floats, Ints, kernel, kernel_private
from incrowd.data._synthetic.presets import Land, Preset

__all__ = [
    "APART",
    "Globe",
    "Sites",
    "blurred",
    "lay_out",
    "nearest",
    "nearest_all",
    "nearest_few",
    "neighbours",
    "scaled",
    "tree_order",
]


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


@kernel_private
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


@kernel_private
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


@kernel_private
def nearest(sites: Floats, x: float, y: float) -> int:
    """Give the site nearest to a point."""
    found = np.zeros(1, np.int64)
    squares = np.empty(1)
    nearest_few(sites, x, y, found, squares)
    return int(found[0])


@kernel
def nearest_all(sites: Floats, points: Floats) -> Ints:
    """Give the site nearest to each of many points."""
    result = np.empty(points.shape[0], np.int64)
    for index in range(result.size):
        result[index] = nearest(sites, points[index, 0], points[index, 1])
    return result


@kernel
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


_DECIMALS = 6


class Globe:
    """Turns metres into degrees about the place of a preset.

    Parameters
    ----------
    preset
        Whose place to take.
    """

    def __init__(self, preset: Preset) -> None:
        plan = CRS.from_dict(
            {
                "proj": "laea",
                "lat_0": preset.latitude,
                "lon_0": preset.longitude,
                "datum": "WGS84",
                "units": "m",
            }
        )
        self._transformer = Transformer.from_crs(plan, "EPSG:4326", always_xy=True)

    def degrees(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Give latitudes and longitudes, rounded to six decimals (a tenth of a metre)."""
        lon, lat = self._transformer.transform(x, y)
        return np.round(lat, _DECIMALS), np.round(lon, _DECIMALS)

    def metres(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Give the place on the plan of latitudes and longitudes."""
        x, y = self._transformer.transform(lon, lat, direction="INVERSE")
        return np.asarray(x), np.asarray(y)


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
