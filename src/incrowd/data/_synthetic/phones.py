"""What an operator knows of its subscribers: which antenna served them, and in which minute.

::

    Phones                antennas, placed once
      .batch              any range of people, as rows
        _count            how many samples each has: log-normal, cut off at both ends
        _observe          for each person:
          place_samples   the minutes: bursts, by day more than by night, on distinct minutes
          simulate_days   her stays and journeys (mobility)
          _write_antennas the antenna of her stay; a neighbouring one now and then (the load is
                          shared, and people stand between antennas); on her way the nearest one

Gaps between samples are heavy-tailed in a time of their own, which runs fast when people are
active and hardly at all at night; each sample gets a minute of its own; where everybody must be
seen every day, a sample moves from a full day to each empty one.
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, Words, kernel, kernel_private
from incrowd.data._synthetic.geography import (
    LocalProjection,
    Sites,
    nearest,
    perturbed_positions,
    place_sites,
    scale_land,
)
from incrowd.data._synthetic.mobility import (
    ARRIVE,
    LEAVE,
    PLACE,
    PersonState,
    distance,
    new_person_state,
    simulate_days,
)
from incrowd.data._synthetic.presets import DAY, Activity, Clock, Habits, Preset
from incrowd.data._synthetic.random import normal, seed_stream, uniform

__all__ = [
    "Phones",
    "count_samples",
    "log_median",
    "place_samples",
    "weekly_rhythm",
]


COUNTING, LIVING, CALLING, SERVING = 0, 1, 2, 3  # purposes of a person's random streams

HAND_OVER_SCALE = 1_200.0  # metres at which one try in e of a neighbouring antenna succeeds

LONGEST_GAP = 400.0  # in units of the shortest
OWN_HOURS = 45.0  # sigma, in minutes, of how much later or earlier people live
HOUR = 60  # minutes
MORNING = 8  # o'clock

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

SCHEMA = pa.schema(
    [
        pa.field("user", pa.int32(), nullable=False),
        pa.field("timestamp", pa.timestamp("ms", tz="UTC"), nullable=False),
        pa.field("lat", pa.float64(), nullable=False),
        pa.field("lon", pa.float64(), nullable=False),
    ]
)


class Workspace(NamedTuple):
    """Working memory for one person at a time."""

    state: PersonState
    gaps: Floats
    taken: NDArray[np.bool_]
    """Whether there is a sample, for each minute."""


class Phones:
    """The subscribers of an operator.

    Parameters
    ----------
    preset
        What to imitate.
    users
        The number of people.
    seed
        The seed of everything that is drawn.
    """

    schema = SCHEMA

    def __init__(self, preset: Preset, users: int, seed: int) -> None:
        rng = np.random.Generator(np.random.PCG64(seed))
        land = scale_land(preset.land, users / preset.users)
        self._sites = place_sites(land, rng)
        published = perturbed_positions(self._sites, rng) if land.perturbed else self._sites.at
        self._lat, self._lon = LocalProjection(preset).degrees(published[:, 0], published[:, 1])
        self._preset = preset
        self._seed = seed
        self._clock = Clock.of(preset)
        self._rhythm = weekly_rhythm(preset.days, self._clock.weekday, preset.activity.early)
        self._mu = log_median(preset.activity, 24.0 * preset.days)

    def sites(self) -> pa.Table:
        """Return the antennas and their published positions."""
        ids = np.arange(1, self._lat.size + 1, dtype=np.int32)
        return pa.table({"id": ids, "lat": self._lat, "lon": self._lon})

    def batch(self, first: int, last: int) -> pa.RecordBatch:
        """Return the rows of people `first` to `last`, counted from 0, without the last."""
        preset = self._preset
        counts = np.empty(last - first, np.int64)
        _count(self._seed, first, self._mu, preset.activity, counts)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        minutes, antennas = np.empty((2, offsets[-1]), np.int64)
        _observe(
            (self._seed, first, self._clock.weekday),
            self._sites,
            preset.habits,
            preset.activity,
            self._rhythm,
            self._workspace(),
            offsets,
            minutes,
            antennas,
        )
        users = np.repeat(np.arange(first + 1, last + 1, dtype=np.int32), counts)
        columns = [
            pa.array(users),
            pa.array(self._clock.utc(minutes * 60)).cast(SCHEMA.field("timestamp").type),
            pa.array(self._lat[antennas]),
            pa.array(self._lon[antennas]),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)

    def _workspace(self) -> Workspace:
        """Return working memory for one person; every block has its own (they run in parallel)."""
        days = self._preset.days
        return Workspace(
            new_person_state(days),
            np.empty(self._preset.activity.most + 1),
            np.empty(days * DAY, np.bool_),
        )


@kernel
def _count(seed: int, first: int, mu: float, activity: Activity, counts: Ints) -> None:
    """Draw the number of samples of each person from `first` on."""
    rng = np.empty(1, np.uint64)
    for index in range(counts.size):
        seed_stream(rng, seed, first + index, COUNTING)
        counts[index] = count_samples(rng, mu, activity)


@kernel
def _observe(
    key: tuple[int, int, int],
    sites: Sites,
    habits: Habits,
    activity: Activity,
    rhythm: Floats,
    workspace: Workspace,
    offsets: Ints,
    minutes: Ints,
    antennas: Ints,
) -> None:
    """Write the minute and the antenna of every sample of a block of people.

    Parameters
    ----------
    key
        The seed, the first person's number, and the first day's weekday.
    sites, habits, activity, rhythm
        Where people live, and how.
    workspace
        Working memory for one person.
    offsets
        Where each person's samples begin in `minutes` and `antennas`.
    """
    seed, first, weekday = key
    state, gaps, taken = workspace
    for index in range(offsets.size - 1):
        begin, end = offsets[index], offsets[index + 1]
        seed_stream(state.rng, seed, first + index, CALLING)
        place_samples(state.rng, rhythm, activity, gaps[: end - begin + 1], taken)
        seed_stream(state.rng, seed, first + index, LIVING)
        simulate_days(state, sites, habits, taken.size // DAY, weekday)
        seed_stream(state.rng, seed, first + index, SERVING)
        _write_antennas(state, sites, activity, taken, minutes[begin:end], antennas[begin:end])


@kernel_private
def _write_antennas(
    state: PersonState,
    sites: Sites,
    activity: Activity,
    taken: NDArray[np.bool_],
    minutes: Ints,
    antennas: Ints,
) -> None:
    """Write the antenna of each minute that has a sample."""
    row, stay = 0, 0
    for minute in range(taken.size):
        if not taken[minute]:
            continue
        while state.stays[stay, LEAVE] <= minute:
            stay += 1
        minutes[row] = minute
        if minute >= state.stays[stay, ARRIVE]:
            antennas[row] = _serving_antenna(state, sites, activity, state.stays[stay, PLACE])
        else:
            antennas[row] = _antenna_on_the_way(state, sites, stay, minute)
        row += 1


@kernel_private
def _serving_antenna(state: PersonState, sites: Sites, activity: Activity, place: int) -> int:
    """Return the antenna that serves a person who stays at one: mostly it, else one close by."""
    if uniform(state.rng) >= activity.hand_over:
        return place
    other = sites.near[place, int(uniform(state.rng) * sites.near.shape[1])]
    near_enough = math.exp(-distance(sites, place, other) / HAND_OVER_SCALE)
    return other if uniform(state.rng) < near_enough else place


@kernel_private
def _antenna_on_the_way(state: PersonState, sites: Sites, stay: int, minute: int) -> int:
    """Return the antenna nearest to a person between a stay and the one before it."""
    left, arrives = state.stays[stay - 1, LEAVE], state.stays[stay, ARRIVE]
    origin, target = state.stays[stay - 1, PLACE], state.stays[stay, PLACE]
    part = (minute - left) / (arrives - left)
    x = sites.at[origin, 0] + part * (sites.at[target, 0] - sites.at[origin, 0])
    y = sites.at[origin, 1] + part * (sites.at[target, 1] - sites.at[origin, 1])
    return nearest(sites.at, x, y)


def weekly_rhythm(days: int, weekday: int, early: float = 1.0) -> Floats:
    """Return the running sum of activity over all hours, from 0 to 1.

    `early` is a factor of the hours from midnight to 8.

    Examples
    --------
    >>> weekly_rhythm(14, weekday=0).size
    337
    """
    week = np.array([_WEEKDAY] * 5 + [_SATURDAY, _SUNDAY])
    week[:, :MORNING] *= early
    hours = week[(weekday + np.arange(days)) % len(week)].ravel()
    return np.concatenate([[0.0], np.cumsum(hours) / hours.sum()])


def log_median(activity: Activity, hours: float) -> float:
    """Return the mu of the log-normal whose part between `least` and `most` has the right mean.

    Examples
    --------
    >>> activity = Activity(rate=0.75, sigma=1.1, least=14, most=5000)
    >>> round(math.exp(log_median(activity, 336.0)))
    137
    """
    low, high = 0.0, math.log(activity.most)
    for _ in range(100):
        middle = (low + high) / 2
        if _truncated_mean(middle, activity) < activity.rate * hours:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _truncated_mean(mu: float, activity: Activity) -> float:
    """Return the mean of a log-normal cut off at both ends."""
    cdf = NormalDist().cdf
    sigma = activity.sigma
    low = (math.log(activity.least) - mu) / sigma
    high = (math.log(activity.most) - mu) / sigma
    inside = max(cdf(high) - cdf(low), 1e-300)
    return math.exp(mu + sigma**2 / 2) * (cdf(high - sigma) - cdf(low - sigma)) / inside


@kernel_private
def count_samples(rng: Words, mu: float, activity: Activity) -> int:
    """Draw the number of samples of a person."""
    while True:
        count = int(math.exp(mu + activity.sigma * normal(rng)) + 0.5)
        if activity.least <= count <= activity.most:
            return count


@kernel_private
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
        Working memory; one gap before, between and after the samples.
    taken
        Whether there is a sample, for each minute; filled in.
    """
    taken[:] = False
    total = 0.0
    busy = (gaps.size - 1) / (activity.rate * (taken.size / HOUR))
    exponent = max(activity.least_exponent, activity.gap_exponent * busy**activity.regularity)
    for index in range(gaps.size):
        gap = (1.0 - uniform(rng)) ** (-1.0 / exponent)
        gaps[index] = min(gap, LONGEST_GAP)
        total += gaps[index]
    shift = int(OWN_HOURS * normal(rng))
    share, hour = 0.0, 0
    for index in range(gaps.size - 1):
        share += gaps[index] / total
        while hour < rhythm.size - 2 and rhythm[hour + 1] <= share:
            hour += 1
        _mark_free_minute(taken, (_minute(rhythm, share, hour) + shift) % taken.size)
    if activity.every_day:
        _fill_days(rng, rhythm, taken)


@kernel_private
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


@kernel_private
def _mark_free_minute(taken: NDArray[np.bool_], minute: int) -> None:
    """Mark a minute, or the next one that has no sample yet."""
    while taken[minute]:
        minute = (minute + 1) % taken.size
    taken[minute] = True


@kernel_private
def _minute(rhythm: Floats, share: float, hour: int) -> int:
    """Return the minute by which `share` of all activity is over; it lies in the given hour."""
    part = (share - rhythm[hour]) / (rhythm[hour + 1] - rhythm[hour])
    return hour * HOUR + min(int(part * HOUR), HOUR - 1)
