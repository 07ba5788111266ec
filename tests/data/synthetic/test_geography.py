"""Sites and nearest sites, against slow and obvious searches."""

import math

import numpy as np
import pytest

from incrowd.data._synthetic.geography import (
    kd_tree_order,
    nearest_all,
    neighbours,
    perturbed_positions,
    place_sites,
    scale_land,
)
from incrowd.data._synthetic.presets import PRESETS


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 17, 500])
def test_nearest_is_nearest(count):
    rng = np.random.default_rng(count)
    # Clusters and ties: whole numbers, some of them very close together.
    points = np.round(rng.normal(0, rng.choice([1.0, 1e4], (count, 1)), (count, 2)))
    sites = points[kd_tree_order(points)]
    assert np.array_equal(np.sort(sites, axis=0), np.sort(points, axis=0))
    queries = rng.normal(0, 1e4, (300, 2))
    away = np.linalg.norm(queries[:, None] - sites[None], axis=2)
    got = nearest_all(sites, queries)
    assert np.array_equal(away[np.arange(300), got], away.min(axis=1))


def test_neighbours_are_nearest_others():
    points = np.random.default_rng(1).uniform(0, 1, (200, 2))
    sites = points[kd_tree_order(points)]
    away = np.linalg.norm(sites[:, None] - sites[None], axis=2)
    np.fill_diagonal(away, np.inf)
    assert np.array_equal(neighbours(sites, 4), np.argsort(away, axis=1)[:, :4])


@pytest.fixture(scope="module")
def sites():
    """Half of civ."""
    return place_sites(scale_land(PRESETS["civ"].land, 0.5), np.random.default_rng(0))


class TestLand:
    def test_within_the_ellipse(self, sites):
        axes = np.array([sites.half_width, sites.half_height])
        assert ((sites.at / axes) ** 2).sum(axis=1).max() <= 1
        assert math.pi * axes.prod() / 1e6 == pytest.approx(322_463 / 2)

    def test_dense_cities_and_empty_country(self, sites):
        away = np.linalg.norm(sites.at - sites.at[sites.near[:, 0]], axis=1)
        assert np.percentile(away, 25) < 800
        assert np.percentile(away, 95) > 8_000

    def test_perturbed_positions_stay_in_their_cells(self, sites):
        points = perturbed_positions(sites, np.random.default_rng(1))
        away = np.linalg.norm(points[:, None] - sites.at[None], axis=2)
        assert np.array_equal(away.argmin(axis=1), np.arange(len(points)))
        moved = np.linalg.norm(points - sites.at, axis=1)
        assert (moved > 0).mean() > 0.99
