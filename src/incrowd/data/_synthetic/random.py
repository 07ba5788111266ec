"""Random numbers whose stream depends on the seed and the person, and on nothing else.

A stream is one 64-bit word in an array of length one. `seed_stream` fills it from the seed, the
person and a purpose; each draw moves it on by splitmix64 (Steele, Lea and Flood, 2014). People can
therefore be made in any order, on any thread, in blocks of any size, and stay who they are.
"""

import math

import numpy as np

from incrowd._numba import Floats, Words, kernel_private

__all__ = [
    "exponential",
    "hash_words",
    "log_normal",
    "next_word",
    "normal",
    "poisson",
    "seed_stream",
    "to_unit",
    "uniform",
    "weighted_choice",
]


_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_SHIFT_30 = np.uint64(30)
_SHIFT_27 = np.uint64(27)
_SHIFT_31 = np.uint64(31)
_SHIFT_11 = np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2 ** -53


@kernel_private
def _mixed(value: np.uint64) -> np.uint64:
    """Return a word with its bits mixed (the finaliser of splitmix64)."""
    value = (value ^ (value >> _SHIFT_30)) * _FIRST
    value = (value ^ (value >> _SHIFT_27)) * _SECOND
    return value ^ (value >> _SHIFT_31)


@kernel_private
def hash_words(first: int, second: int | np.uint64, third: int) -> np.uint64:
    """Return a word that three numbers determine; all words are equally likely."""
    value = _mixed(np.uint64(first) + _STEP)
    value = _mixed((value ^ np.uint64(second)) + _STEP)
    return _mixed((value ^ np.uint64(third)) + _STEP)


@kernel_private
def to_unit(value: np.uint64) -> float:
    """Return a random word as a number in [0, 1)."""
    return float(value >> _SHIFT_11) * _UNIT


@kernel_private
def seed_stream(rng: Words, seed: int, person: int, purpose: int) -> None:
    """Start the stream of a person and a purpose."""
    rng[0] = hash_words(seed, person, purpose)


@kernel_private
def next_word(rng: Words) -> np.uint64:
    """Draw 64 random bits."""
    rng[0] += _STEP
    return _mixed(rng[0])


@kernel_private
def uniform(rng: Words) -> float:
    """Draw from [0, 1)."""
    return to_unit(next_word(rng))


@kernel_private
def exponential(rng: Words) -> float:
    """Draw from the exponential distribution with mean 1."""
    return -math.log(1.0 - uniform(rng))


@kernel_private
def normal(rng: Words) -> float:
    """Draw from the standard normal distribution (Box and Muller, one of the two)."""
    radius = math.sqrt(2.0 * exponential(rng))
    return radius * math.cos(2.0 * math.pi * uniform(rng))


@kernel_private
def log_normal(rng: Words, sigma: float) -> float:
    """Draw from the log-normal distribution with median 1."""
    return math.exp(sigma * normal(rng))


@kernel_private
def poisson(rng: Words, mean: float, most: int) -> int:
    """Draw from the Poisson distribution with a small mean, cut off at `most`."""
    limit = math.exp(-mean)
    product = uniform(rng)
    count = 0
    while product > limit and count < most:
        product *= uniform(rng)
        count += 1
    return count


@kernel_private
def weighted_choice(rng: Words, cumulative: Floats) -> int:
    """Draw an index in proportion to weights whose running sum is given."""
    target = uniform(rng) * cumulative[-1]
    low, high = 0, cumulative.size - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low
