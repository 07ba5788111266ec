"""Random numbers whose stream depends on the seed and the person, and on nothing else.

A stream is one 64-bit word in an array of length one. `start` fills it from the seed, the person
and a purpose; each draw moves it on by splitmix64 (Steele, Lea and Flood, 2014). People can
therefore be made in any order, on any thread, in blocks of any size, and stay who they are.

From minutes or seconds of local time since the first midnight to moments in UTC.

People live by the clock on the wall; datasets are in UTC. When summer time begins, the clock
skips an hour: what the model puts there never happened, and `Clock.exists` says so.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, Words, kernel_private
from incrowd.data._synthetic.presets import Preset

__all__ = [
    "Clock",
    "exponential",
    "hashed",
    "log_normal",
    "normal",
    "pick",
    "poisson",
    "start",
    "uniform",
    "unit",
    "word",
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
    """Scramble a word (the finaliser of splitmix64)."""
    value = (value ^ (value >> _SHIFT_30)) * _FIRST
    value = (value ^ (value >> _SHIFT_27)) * _SECOND
    return value ^ (value >> _SHIFT_31)


@kernel_private
def hashed(first: int, second: int | np.uint64, third: int) -> np.uint64:
    """Give a word that three numbers determine; all words are equally likely."""
    value = _mixed(np.uint64(first) + _STEP)
    value = _mixed((value ^ np.uint64(second)) + _STEP)
    return _mixed((value ^ np.uint64(third)) + _STEP)


@kernel_private
def unit(value: np.uint64) -> float:
    """Turn a random word into a number in [0, 1)."""
    return float(value >> _SHIFT_11) * _UNIT


@kernel_private
def start(rng: Words, seed: int, person: int, purpose: int) -> None:
    """Set a stream to its beginning."""
    rng[0] = hashed(seed, person, purpose)


@kernel_private
def word(rng: Words) -> np.uint64:
    """Draw 64 random bits."""
    rng[0] += _STEP
    return _mixed(rng[0])


@kernel_private
def uniform(rng: Words) -> float:
    """Draw from [0, 1)."""
    return unit(word(rng))


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
def pick(rng: Words, cumulative: Floats) -> int:
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


_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class Clock:
    """The wall clock of a preset.

    Attributes
    ----------
    hours
        Seconds since 1970 in UTC of the beginning of every local hour.
    real
        Whether the wall clock ever shows that hour.
    weekday
        Of the first day; Monday is 0.
    """

    hours: Ints
    real: NDArray[np.bool_]
    weekday: int

    @classmethod
    def of(cls, preset: Preset) -> "Clock":
        """Read the time zone's rules for all hours of a preset (and two days more)."""
        zone = ZoneInfo(preset.timezone)
        midnight = datetime.fromisoformat(preset.start)
        local = [midnight + timedelta(hours=hour) for hour in range(24 * (preset.days + 2))]
        moments = [hour.replace(tzinfo=zone).astimezone(UTC) for hour in local]
        real = [
            moment.astimezone(zone).replace(tzinfo=None) == hour
            for moment, hour in zip(moments, local, strict=True)
        ]
        hours = np.array([int(moment.timestamp()) for moment in moments])
        return cls(hours, np.array(real), midnight.weekday())

    def exists(self, seconds: Ints) -> NDArray[np.bool_]:
        """Say of each local second whether the wall clock showed it."""
        return self.real[seconds // _HOUR]

    def utc(self, seconds: Ints) -> NDArray[np.datetime64]:
        """Turn local seconds since the first midnight into moments."""
        moments = self.hours[seconds // _HOUR] + seconds % _HOUR
        return (moments * 1_000).astype("datetime64[ms]")
