"""The parts of the generator against slow and obvious versions of themselves."""

import math

import numpy as np
import pytest
from numba import njit

from incrowd.data._synthetic.geography import (
    blurred,
    lay_out,
    nearest_all,
    neighbours,
    scaled,
    tree_order,
)
from incrowd.data._synthetic.mobility import _jump_length
from incrowd.data._synthetic.phones import log_median
from incrowd.data._synthetic.presets import PRESETS, Activity
from incrowd.data._synthetic.random import Clock, normal, pick, poisson, start, uniform, word


@njit
def words(rng, count):
    return [word(rng) for _ in range(count)]


@njit
def sample(rng, which, count, weights):
    values = np.empty(count)
    for index in range(count):
        if which == 0:
            values[index] = uniform(rng)
        elif which == 1:
            values[index] = normal(rng)
        elif which == 2:
            values[index] = poisson(rng, 1.3, 50)
        elif which == 3:
            values[index] = pick(rng, weights)
        else:
            values[index] = _jump_length(rng, 1_000.0, 20_000.0)
    return values


@njit
def first_words(seed, people):
    rng = np.zeros(1, np.uint64)
    result = []
    for person in range(people):
        start(rng, seed, person, 0)
        result.append(word(rng))
    return result


def draws(which, count=200_000):
    weights = np.cumsum(np.array([1.0, 0.0, 3.0, 6.0]))
    return sample(np.array([42], np.uint64), which, count, weights)


class TestChance:
    def test_splitmix64(self):
        """The reference implementation's first words for the seed 1234567."""
        assert words(np.array([1234567], np.uint64), 3) == [
            6457827717110365317,
            3203168211198807973,
            9817491932198370423,
        ]

    def test_people_have_streams_of_their_own(self):
        assert len(set(first_words(0, 10_000))) == 10_000
        assert not set(first_words(0, 1_000)) & set(first_words(1, 1_000))

    def test_uniform(self):
        values = draws(0)
        assert 0 <= values.min() < 1e-4 < 1 - 1e-4 < values.max() < 1
        assert values.var() == pytest.approx(1 / 12, rel=0.02)

    def test_normal(self):
        values = draws(1)
        assert values.mean() == pytest.approx(0, abs=0.01)
        assert values.std() == pytest.approx(1, rel=0.01)
        assert (np.abs(values) < 1.96).mean() == pytest.approx(0.95, abs=0.003)

    def test_poisson(self):
        values = draws(2)
        assert values.mean() == pytest.approx(1.3, rel=0.02)
        assert values.var() == pytest.approx(1.3, rel=0.03)

    def test_pick(self):
        shares = np.bincount(draws(3).astype(int), minlength=4) / 200_000
        assert shares == pytest.approx([0.1, 0.0, 0.3, 0.6], abs=0.005)

    def test_jump_lengths(self):
        """Against the density itself, summed up numerically."""
        values = np.sort(draws(4))
        grid = np.linspace(0, 400_000, 2_000_001)
        density = (grid + 1_000.0) ** -1.75 * np.exp(-grid / 20_000.0)
        exact = np.cumsum(density) / density.sum()
        for share in (0.1, 0.5, 0.9, 0.99):
            got = values[int(share * values.size)]
            assert exact[np.searchsorted(grid, got)] == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 17, 500])
def test_nearest_is_nearest(count):
    rng = np.random.default_rng(count)
    # Clusters and ties: whole numbers, some of them very close together.
    points = np.round(rng.normal(0, rng.choice([1.0, 1e4], (count, 1)), (count, 2)))
    sites = points[tree_order(points)]
    assert np.array_equal(np.sort(sites, axis=0), np.sort(points, axis=0))
    queries = rng.normal(0, 1e4, (300, 2))
    away = np.linalg.norm(queries[:, None] - sites[None], axis=2)
    got = nearest_all(sites, queries)
    assert np.array_equal(away[np.arange(300), got], away.min(axis=1))


def test_neighbours_are_nearest_others():
    points = np.random.default_rng(1).uniform(0, 1, (200, 2))
    sites = points[tree_order(points)]
    away = np.linalg.norm(sites[:, None] - sites[None], axis=2)
    np.fill_diagonal(away, np.inf)
    assert np.array_equal(neighbours(sites, 4), np.argsort(away, axis=1)[:, :4])


@pytest.fixture(scope="module")
def sites():
    """Half of civ."""
    return lay_out(scaled(PRESETS["civ"].land, 0.5), np.random.default_rng(0))


class TestLand:
    def test_within_the_ellipse(self, sites):
        axes = np.array([sites.half_width, sites.half_height])
        assert ((sites.at / axes) ** 2).sum(axis=1).max() <= 1
        assert math.pi * axes.prod() / 1e6 == pytest.approx(322_463 / 2)

    def test_dense_cities_and_empty_country(self, sites):
        away = np.linalg.norm(sites.at - sites.at[sites.near[:, 0]], axis=1)
        assert np.percentile(away, 25) < 800
        assert np.percentile(away, 95) > 8_000

    def test_blurred_points_stay_in_their_cells(self, sites):
        points = blurred(sites, np.random.default_rng(1))
        away = np.linalg.norm(points[:, None] - sites.at[None], axis=2)
        assert np.array_equal(away.argmin(axis=1), np.arange(len(points)))
        moved = np.linalg.norm(points - sites.at, axis=1)
        assert (moved > 0).mean() > 0.99


class TestClock:
    def test_summer_time(self):
        clock = Clock.of(PRESETS["campus"])
        sunday = (np.datetime64("2015-03-29") - np.datetime64("2015-02-02")).astype(int) * 86_400
        hours = np.array([1.5, 2.5, 3.5]) * 3_600 + sunday
        seconds = hours.astype(np.int64)
        assert clock.exists(seconds).tolist() == [True, False, True]
        shown = clock.utc(seconds)[[0, 2]].astype(str).tolist()
        assert shown == ["2015-03-29T00:30:00.000", "2015-03-29T01:30:00.000"]

    def test_weekdays(self):
        assert Clock.of(PRESETS["civ"]).weekday == 0
        assert Clock.of(PRESETS["florence"]).weekday == 6


def test_the_mean_of_what_is_left_of_the_log_normal():
    activity = Activity(rate=0.75, sigma=1.1, least=14, most=5_000)
    values = np.random.default_rng(0).lognormal(log_median(activity, 336.0), 1.1, 2_000_000)
    kept = values[(values >= 14) & (values <= 5_000)]
    assert kept.mean() == pytest.approx(252, rel=0.01)
