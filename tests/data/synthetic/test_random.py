"""Random streams and distributions, against the reference and the densities themselves."""

import numpy as np
import pytest
from numba import njit

from incrowd.data._synthetic.mobility import _jump_length
from incrowd.data._synthetic.random import (
    next_word,
    normal,
    poisson,
    seed_stream,
    uniform,
    weighted_choice,
)


@njit
def words(rng, count):
    return [next_word(rng) for _ in range(count)]


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
            values[index] = weighted_choice(rng, weights)
        else:
            values[index] = _jump_length(rng, 1_000.0, 20_000.0)
    return values


@njit
def first_words(seed, people):
    rng = np.zeros(1, np.uint64)
    result = []
    for person in range(people):
        seed_stream(rng, seed, person, 0)
        result.append(next_word(rng))
    return result


def draws(which, count=200_000):
    weights = np.cumsum(np.array([1.0, 0.0, 3.0, 6.0]))
    return sample(np.array([42], np.uint64), which, count, weights)


class TestDistributions:
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

    def test_weighted_choice(self):
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
