"""When people use their phones: bursts, by day more than by night, on n distinct minutes.

`count_samples` draws how many samples a person has. `place_samples` spreads them: gaps between
them are heavy-tailed in a time of their own, which runs fast when people are active and stands
nearly still at night; each sample gets a minute of its own; where everybody must be seen every
day, a sample moves from a full day to each empty one.
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Floats, Words, inner
from incrowd.data.synth.chance import normal, uniform
from incrowd.data.synth.settings import DAY, Activity

__all__ = ["count_samples", "log_median", "place_samples", "weekly_rhythm"]

HOUR = 60
GAP_EXPONENT = 0.9  # of the gaps' tail, P(gap > g) ~ g ** -0.9
LONGEST_GAP = 400.0  # in units of the shortest
OWN_HOURS = 45.0  # sigma, in minutes, of how much later or earlier people live

_WEEKDAY = (
    *(0.20, 0.10, 0.06, 0.05, 0.08, 0.25, 0.60, 0.95, 1.15, 1.20, 1.20, 1.20),
    *(1.25, 1.15, 1.10, 1.10, 1.15, 1.30, 1.50, 1.65, 1.70, 1.40, 0.90, 0.45),
)
_SATURDAY = (
    *(0.28, 0.15, 0.09, 0.06, 0.08, 0.20, 0.45, 0.75, 1.00, 1.15, 1.20, 1.20),
    *(1.15, 1.10, 1.05, 1.05, 1.15, 1.30, 1.45, 1.60, 1.65, 1.40, 1.00, 0.60),
)
_SUNDAY = (
    *(0.35, 0.20, 0.12, 0.08, 0.08, 0.18, 0.38, 0.62, 0.85, 1.00, 1.05, 1.05),
    *(1.00, 0.95, 0.95, 0.95, 1.05, 1.20, 1.35, 1.45, 1.45, 1.20, 0.80, 0.40),
)


def weekly_rhythm(days: int, weekday: int) -> Floats:
    """Give the running sum of activity over all hours, from 0 to 1.

    Examples
    --------
    >>> weekly_rhythm(14, weekday=0).size
    337
    """
    week = np.array([_WEEKDAY] * 5 + [_SATURDAY, _SUNDAY])
    hours = week[(weekday + np.arange(days)) % len(week)].ravel()
    return np.concatenate([[0.0], np.cumsum(hours) / hours.sum()])


def log_median(activity: Activity, hours: float) -> float:
    """Give the mu of the log-normal whose part between `least` and `most` has the right mean.

    Examples
    --------
    >>> activity = Activity(rate=0.75, sigma=1.1, least=14, most=5000)
    >>> round(math.exp(log_median(activity, 336.0)))
    137
    """
    low, high = 0.0, math.log(activity.most)
    for _ in range(100):
        middle = (low + high) / 2
        if _cut_mean(middle, activity) < activity.rate * hours:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _cut_mean(mu: float, activity: Activity) -> float:
    """Give the mean of a log-normal cut off at both ends."""
    cdf = NormalDist().cdf
    sigma = activity.sigma
    low = (math.log(activity.least) - mu) / sigma
    high = (math.log(activity.most) - mu) / sigma
    inside = max(cdf(high) - cdf(low), 1e-300)
    return math.exp(mu + sigma**2 / 2) * (cdf(high - sigma) - cdf(low - sigma)) / inside


@inner
def count_samples(rng: Words, mu: float, activity: Activity) -> int:
    """Draw how many samples a person has."""
    while True:
        count = int(math.exp(mu + activity.sigma * normal(rng)) + 0.5)
        if activity.least <= count <= activity.most:
            return count


@inner
def _take(taken: NDArray[np.bool_], minute: int) -> None:
    """Take a minute, or the next one that is free."""
    while taken[minute]:
        minute = (minute + 1) % taken.size
    taken[minute] = True


@inner
def _minute(rhythm: Floats, share: float, hour: int) -> int:
    """Give the minute by which `share` of all activity is over; it lies in the given hour."""
    part = (share - rhythm[hour]) / (rhythm[hour + 1] - rhythm[hour])
    return hour * HOUR + min(int(part * HOUR), HOUR - 1)


@inner
def place_samples(
    rng: Words, rhythm: Floats, activity: Activity, gaps: Floats, taken: NDArray[np.bool_]
) -> None:
    """Mark as many minutes in `taken` as `gaps` is long, less one.

    Parameters
    ----------
    rng
        The person's stream.
    rhythm
        From `weekly_rhythm`.
    activity
        Whether she must be seen every day.
    gaps
        Scratch space; one gap before, between and after the samples.
    taken
        All minutes; none taken beforehand.
    """
    taken[:] = False
    total = 0.0
    for index in range(gaps.size):
        gap = (1.0 - uniform(rng)) ** (-1.0 / GAP_EXPONENT)
        gaps[index] = min(gap, LONGEST_GAP)
        total += gaps[index]
    shift = int(OWN_HOURS * normal(rng))
    share, hour = 0.0, 0
    for index in range(gaps.size - 1):
        share += gaps[index] / total
        while hour < rhythm.size - 2 and rhythm[hour + 1] <= share:
            hour += 1
        _take(taken, (_minute(rhythm, share, hour) + shift) % taken.size)
    if activity.every_day:
        _fill_days(rng, rhythm, taken)


@inner
def _fill_days(rng: Words, rhythm: Floats, taken: NDArray[np.bool_]) -> None:
    """Move samples from days that have several to days that have none."""
    days = taken.size // DAY
    counts = np.empty(days, np.int64)
    for day in range(days):
        counts[day] = 0
    for minute in range(taken.size):
        counts[minute // DAY] += taken[minute]
    for day in range(days):
        if counts[day] > 0:
            continue
        giver = int(uniform(rng) * days)
        while counts[giver] <= 1:
            giver = (giver + 1) % days
        minute = giver * DAY + int(uniform(rng) * DAY)
        while not taken[minute]:
            minute = giver * DAY + (minute + 1) % DAY
        taken[minute] = False
        counts[giver] -= 1
        first, last = rhythm[day * 24], rhythm[(day + 1) * 24]
        share = first + uniform(rng) * (last - first)
        hour = day * 24
        while rhythm[hour + 1] <= share and hour < day * 24 + 23:
            hour += 1
        taken[_minute(rhythm, share, hour)] = True
        counts[day] = 1
