"""Where the sites of a land are, who lives there, and what attracts people to them.

::

    place_sites ──> Sites: cities, then sites in them and between them; all that kernels need
      scale_land           the land for another number of people: sites per person and people per
                           square kilometre stay as they are
    perturbed_positions    published positions that are not the antennas' own
    nearest, nearest_k     which sites are nearest to a point
    LocalProjection        metres of the land to degrees

One seeded generator makes all of it.

The operator of d4d-sen published each antenna as a random point of its Voronoi cell, to hide where
it stands. Such a point is drawn once for an antenna and stays; people are still served by the
antenna's true position.

The nearest sites are found with a k-d tree that is nothing but an order of the sites:
`kd_tree_order` numbers them so that every node of the tree is a range: the site in its middle,
before it those with a smaller x (or y, in turn), after it the others. All other functions take
sites in that order. A tree and not a grid, because antennas are 300 m apart in a city and 30 km
apart in the country.

The projection is Lambert azimuthal equal-area about the preset's own position, so that areas and
the number of people per square kilometre are the same on the plane and on the Earth.
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
    "MIN_SPACING",
    "LocalProjection",
    "Sites",
    "kd_tree_order",
    "nearest",
    "nearest_all",
    "nearest_k",
    "neighbours",
    "perturbed_positions",
    "place_sites",
    "scale_land",
]


MIN_SPACING = 160.0
"""Metres between any two sites, at least: more than the diagonal of a 100 m cell."""

_MIN_SITES = 3
_NEIGHBOURS = 4
_ZIPF = 0.9  # exponent of the sizes of cities
_GROWTH = 1.02  # a city that is full grows by this factor at a time
_ROW = 1 << 32  # more squares than any row of the lattice has
_RESIDENTS_SIGMA = 0.6  # of the number of people per site
_ATTRACTION_SIGMA = 0.8

_LEAF = 8  # sites that are searched one by one
_DEPTH = 64

_ROUNDS = 60
_TRIES = 64
_RANGE = 35_000.0  # metres; the farthest that a GSM antenna serves
_REACH = 2.5  # a cell rarely extends farther than this many times its farthest near neighbour

_DECIMALS = 6


class Sites(NamedTuple):
    """Places that people can be at."""

    at: Floats
    """Their positions, one per row, in the order of `kd_tree_order`."""
    residents: Floats
    """Running sum of the people who live at each."""
    attraction: Floats
    """Running sum of how much each attracts people to work there."""
    near: Ints
    """The nearest others of each, nearest first."""
    half_width: float
    half_height: float
    """Of the ellipse that is the land."""


def scale_land(land: Land, share: float) -> Land:
    """Return the land that `share` of the people live on, as densely as before."""
    sites = max(_MIN_SITES, round(land.sites * share))
    # A country that shrinks has fewer cities, and smaller ones; a city that grows stays one.
    cities = max(1, round(land.cities * math.sqrt(share))) if land.cities > 1 else 1
    return replace(
        land, sites=sites, cities=cities, area=land.area * max(share, _MIN_SITES / land.sites)
    )


def place_sites(land: Land, rng: np.random.Generator) -> Sites:
    """Return the sites of a land.

    Parameters
    ----------
    land
        Its sizes (see `scale_land`).
    rng
        The generator that draws it.
    """
    half_height = math.sqrt(land.area * 1e6 / (math.pi * land.aspect))
    axes = np.array([half_height * land.aspect, half_height])
    shares = _city_shares(land)
    # A Gaussian city of n sites has n / (2 pi sigma^2) per square metre in its middle.
    sigma = np.sqrt(shares * land.sites * (1 - land.rural) / (2 * math.pi * land.peak / 1e6))
    centres = _city_centres(len(shares), axes, rng)
    places, closeness = _draw_sites(land, axes, centres, sigma, shares, rng)
    order = kd_tree_order(places)
    at, closeness = np.ascontiguousarray(places[order]), closeness[order]
    residents = rng.lognormal(0.0, _RESIDENTS_SIGMA, land.sites)
    attraction = (
        residents * rng.lognormal(0.0, _ATTRACTION_SIGMA, land.sites) * (0.5 + 2.0 * closeness)
    )
    return Sites(
        at=at,
        residents=np.cumsum(residents),
        attraction=np.cumsum(attraction),
        near=neighbours(at, min(_NEIGHBOURS, land.sites - 1)),
        half_width=float(axes[0]),
        half_height=float(axes[1]),
    )


def _city_shares(land: Land) -> Floats:
    """Return the cities' shares of sites: the largest has its primacy, the others follow Zipf."""
    if land.cities == 1:
        return np.ones(1)
    rest = np.arange(1, land.cities, dtype=float) ** -_ZIPF
    return np.concatenate([[land.primacy], (1 - land.primacy) * rest / rest.sum()])


def _city_centres(count: int, axes: Floats, rng: np.random.Generator) -> Floats:
    """Draw cities away from each other: each is the most remote of some candidates."""
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


def _draw_sites(
    land: Land,
    axes: Floats,
    centres: Floats,
    sigma: Floats,
    shares: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Draw sites until there are enough; return them, and how close each is to a city's middle.

    Each site takes one square of a lattice and stands within the square so that its neighbours
    are `MIN_SPACING` metres away or more.
    """
    jitter = (land.pitch - MIN_SPACING) / 2
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
        sigma = sigma * _GROWTH
    return placed[: land.sites], closeness[: land.sites]


def perturbed_positions(sites: Sites, rng: np.random.Generator) -> Floats:
    """Draw a point of each site's Voronoi cell, 160 m or more from all others' points.

    By rejection: a point of a disc about the site is taken if it lies in the land, the site is
    the nearest to it, and no point taken so far is too close. A site for which none is found keeps
    its own position.
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
    """Return which points have another closer than `MIN_SPACING`."""
    order = kd_tree_order(points)
    ordered = np.ascontiguousarray(points[order])
    other = neighbours(ordered, 1)[:, 0]
    close = np.empty(len(points), np.bool_)
    close[order] = np.linalg.norm(ordered - ordered[other], axis=1) < MIN_SPACING
    return close


class LocalProjection:
    """Converts between metres and degrees, about the position of a preset.

    Parameters
    ----------
    preset
        The preset.
    """

    def __init__(self, preset: Preset) -> None:
        plane = CRS.from_dict(
            {
                "proj": "laea",
                "lat_0": preset.latitude,
                "lon_0": preset.longitude,
                "datum": "WGS84",
                "units": "m",
            }
        )
        self._transformer = Transformer.from_crs(plane, "EPSG:4326", always_xy=True)

    def degrees(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return latitudes and longitudes, rounded to six decimals (a tenth of a metre)."""
        lon, lat = self._transformer.transform(x, y)
        return np.round(lat, _DECIMALS), np.round(lon, _DECIMALS)

    def metres(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Return x and y in metres of latitudes and longitudes."""
        x, y = self._transformer.transform(lon, lat, direction="INVERSE")
        return np.asarray(x), np.asarray(y)


def kd_tree_order(points: Floats) -> Ints:
    """Return the order of points (one per row) in which they are a k-d tree.

    Examples
    --------
    >>> kd_tree_order(np.array([[2.0, 0.0], [1.0, 0.0], [3.0, 0.0]])).tolist()
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
def nearest(sites: Floats, x: float, y: float) -> int:
    """Return the site nearest to a point."""
    found = np.zeros(1, np.int64)
    squares = np.empty(1)
    nearest_k(sites, x, y, found, squares)
    return int(found[0])


@kernel
def nearest_all(sites: Floats, points: Floats) -> Ints:
    """Return the site nearest to each of many points."""
    result = np.empty(points.shape[0], np.int64)
    for index in range(result.size):
        result[index] = nearest(sites, points[index, 0], points[index, 1])
    return result


@kernel
def neighbours(sites: Floats, count: int) -> Ints:
    """Return the `count` nearest other sites of each site, nearest first."""
    result = np.empty((sites.shape[0], count), np.int64)
    found = np.zeros(count + 1, np.int64)
    squares = np.empty(count + 1)
    for index in range(sites.shape[0]):
        nearest_k(sites, sites[index, 0], sites[index, 1], found, squares)
        slot = 0
        for other in found:
            if other != index and slot < count:
                result[index, slot] = other
                slot += 1
    return result


@kernel_private
def nearest_k(sites: Floats, x: float, y: float, found: Ints, squares: Floats) -> None:
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
            _insert(found, squares, middle, dx * dx + dy * dy)
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
            _insert(found, squares, index, dx * dx + dy * dy)


@kernel_private
def _insert(found: Ints, squares: Floats, site: int, square: float) -> None:
    """Insert a site into the nearest so far, if it is one of them."""
    if square >= squares[-1]:
        return
    slot = found.size - 1
    while slot > 0 and squares[slot - 1] > square:
        squares[slot] = squares[slot - 1]
        found[slot] = found[slot - 1]
        slot -= 1
    squares[slot] = square
    found[slot] = site
