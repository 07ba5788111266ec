"""Dispersion of stretch efforts, as section 5.4 of the paper and that of 2014 say."""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist
from typing import NamedTuple

from naive.glove import DEFAULTS, by_length, cheapest, k_gaps, sample_stretch


class Dispersed(NamedTuple):
    """Of one person: tail weight and Gini coefficient of all, space and time, and the ratio."""

    twi_total: float | None
    twi_space: float | None
    twi_time: float | None
    gini_total: float
    gini_space: float
    gini_time: float
    ratio: float | None


def efforts(people, person, nearest, crowd=None, settings=DEFAULTS):
    """Disaggregate equation (10) for each of the nearest: ``(space, time)`` of every sample."""
    crowd = crowd or [1] * len(people)
    found = []
    for other in nearest:
        i, j = min(person, other), max(person, other)
        longer, shorter, n, m = by_length(people[i][1], people[j][1], crowd[i], crowd[j])
        for box in longer:
            match = shorter[cheapest(box, shorter, n, m, settings)]
            found.append(sample_stretch(box, match, n, m, settings))
    return found


def quantile(values, share):
    """Give the smallest of the values that so large a share of them does not exceed."""
    order = sorted(values)
    return next(value for at, value in enumerate(order, 1) if Fraction(at, len(order)) >= share)


def tail_weight(values):
    """Give the tail weight index; None where the median and the third quartile are the same."""
    half, most, tail = (quantile(values, Fraction(p, 100)) for p in (50, 75, 99))
    normal = NormalDist()
    usual = normal.inv_cdf(0.99) / normal.inv_cdf(0.75)
    return None if most == half else float(Fraction(tail - half) / (most - half)) / usual


def gini(values):
    """Give half the mean difference of any two values, over their mean; 0 if all are 0."""
    if not any(values):
        return 0.0
    # The same in whole numbers, which are faster than fractions.
    common = math.lcm(*(value.denominator for value in values))
    whole = [int(value * common) for value in values]
    apart = sum(abs(a - b) for a in whole for b in whole)
    return float(Fraction(apart, 2 * len(whole) * sum(whole)))


def time_over_space(space, time):
    """Give the ratio; infinite where only time costs, None where nothing does."""
    if sum(space):
        return float(Fraction(sum(time)) / sum(space))
    return math.inf if sum(time) else None


def dispersion(people, k=2, crowd=None, settings=DEFAULTS):
    """Give a `Dispersed` for each person."""
    found = []
    for person, [gap] in enumerate(k_gaps(people, [k], crowd, settings)):
        both = efforts(people, person, gap.nearest, crowd, settings)
        space, time = zip(*both, strict=True)
        total = [sum(one) for one in both]
        sets = (total, space, time)
        found.append(
            Dispersed(*map(tail_weight, sets), *map(gini, sets), time_over_space(space, time))
        )
    return found


class Properties(NamedTuple):
    """How one person is seen: samples, radius, samples an hour, spread of the time between."""

    samples: int
    radius_km: float
    per_hour: float
    interval_std_min: float | None


def properties(boxes, cell, slot):
    """Give the properties that section 8 looks at."""
    x = [(box[0] + box[1]) / 2 * cell for box in boxes]
    y = [(box[2] + box[3]) / 2 * cell for box in boxes]
    middle = sum(x) / len(x), sum(y) / len(y)
    squares = [(a - middle[0]) ** 2 + (b - middle[1]) ** 2 for a, b in zip(x, y, strict=True)]
    starts = sorted(box[4] for box in boxes)
    seconds = (max(box[5] for box in boxes) - starts[0]) * slot
    between = [(b - a) * slot / 60 for a, b in itertools.pairwise(starts)]
    spread = None
    if between:
        mean = sum(between) / len(between)
        spread = math.sqrt(sum((one - mean) ** 2 for one in between) / len(between))
    return Properties(
        len(boxes),
        math.sqrt(sum(squares) / len(squares)) / 1000,
        len(boxes) / (seconds / 3600),
        spread,
    )


def typical(values):
    """Give the mean of the middle half: without the lowest and the highest quarter of values."""
    values = sorted(value for value in values if value is not None)
    cut = len(values) // 4
    middle = values[cut : len(values) - cut]
    return sum(middle) / len(middle)
