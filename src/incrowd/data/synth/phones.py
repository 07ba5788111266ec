"""What an operator knows of its subscribers: which antenna served them, and in which minute.

`Phones` is laid out once; `Phones.batch` makes any range of people from it. Each person lives
through her diary and is seen, at the minutes that `rhythm` gives, at the antenna of her stay, at
a neighbouring one now and then (the load is shared, and people stand between antennas), or, on
her way, at the antenna nearest to where she is just then.
"""

import math
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.compiled import Floats, Ints, compiled, inner
from incrowd.data.synth.blur import blurred
from incrowd.data.synth.chance import start, uniform
from incrowd.data.synth.clock import Clock
from incrowd.data.synth.degrees import Globe
from incrowd.data.synth.diary import live
from incrowd.data.synth.geography import Sites, lay_out, scaled
from incrowd.data.synth.nearest import nearest
from incrowd.data.synth.rhythm import count_samples, log_median, place_samples, weekly_rhythm
from incrowd.data.synth.settings import DAY, Activity, Habits, Preset
from incrowd.data.synth.wander import ARRIVE, LEAVE, PLACE, Life, distance, new_life

__all__ = ["Phones"]

COUNTING, LIVING, CALLING, SERVING = 0, 1, 2, 3  # purposes of a person's random streams
HAND_OVER = 0.25  # share of samples for which a neighbouring antenna is tried
HAND_OVER_SCALE = 1_200.0  # metres at which one such try in e succeeds

SCHEMA = pa.schema(
    [
        pa.field("user", pa.int32(), nullable=False),
        pa.field("timestamp", pa.timestamp("ms", tz="UTC"), nullable=False),
        pa.field("lat", pa.float64(), nullable=False),
        pa.field("lon", pa.float64(), nullable=False),
    ]
)


class Scratch(NamedTuple):
    """Room for one person at a time."""

    life: Life
    gaps: Floats
    taken: NDArray[np.bool_]
    """Each minute: is there a sample?"""


class Phones:
    """The subscribers of an operator.

    Parameters
    ----------
    preset
        What to imitate.
    users
        How many people live there.
    seed
        Where all chance comes from.
    """

    schema = SCHEMA

    def __init__(self, preset: Preset, users: int, seed: int) -> None:
        rng = np.random.Generator(np.random.PCG64(seed))
        land = scaled(preset.land, users / preset.users)
        self._sites = lay_out(land, rng)
        published = blurred(self._sites, rng) if land.blurred else self._sites.at
        self._lat, self._lon = Globe(preset).degrees(published[:, 0], published[:, 1])
        self._preset = preset
        self._seed = seed
        self._clock = Clock.of(preset)
        self._rhythm = weekly_rhythm(preset.days, self._clock.weekday)
        self._mu = log_median(preset.activity, 24.0 * preset.days)

    def places(self) -> pa.Table:
        """Give the antennas and their published positions."""
        ids = np.arange(1, self._lat.size + 1, dtype=np.int32)
        return pa.table({"id": ids, "lat": self._lat, "lon": self._lon})

    def batch(self, first: int, last: int) -> pa.RecordBatch:
        """Make people `first` to `last`, counted from 0 and without the last."""
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
            self._scratch(),
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

    def _scratch(self) -> Scratch:
        """Make room for one person; every block has its own, for blocks run side by side."""
        days = self._preset.days
        return Scratch(
            new_life(days), np.empty(self._preset.activity.most + 1), np.empty(days * DAY, np.bool_)
        )


@compiled
def _count(seed: int, first: int, mu: float, activity: Activity, counts: Ints) -> None:
    """Draw the number of samples of each person from `first` on."""
    rng = np.empty(1, np.uint64)
    for index in range(counts.size):
        start(rng, seed, first + index, COUNTING)
        counts[index] = count_samples(rng, mu, activity)


@inner
def _served_by(life: Life, sites: Sites, place: int) -> int:
    """Give the antenna that serves somebody who stays at one: mostly it, else one close by."""
    if uniform(life.rng) >= HAND_OVER:
        return place
    other = sites.near[place, int(uniform(life.rng) * sites.near.shape[1])]
    near_enough = math.exp(-distance(sites, place, other) / HAND_OVER_SCALE)
    return other if uniform(life.rng) < near_enough else place


@inner
def _on_the_way(life: Life, sites: Sites, stay: int, minute: int) -> int:
    """Give the antenna nearest to somebody between a stay and the one before it."""
    left, arrives = life.stays[stay - 1, LEAVE], life.stays[stay, ARRIVE]
    origin, target = life.stays[stay - 1, PLACE], life.stays[stay, PLACE]
    part = (minute - left) / (arrives - left)
    x = sites.at[origin, 0] + part * (sites.at[target, 0] - sites.at[origin, 0])
    y = sites.at[origin, 1] + part * (sites.at[target, 1] - sites.at[origin, 1])
    return nearest(sites.at, x, y)


@inner
def _follow(
    life: Life, sites: Sites, taken: NDArray[np.bool_], minutes: Ints, antennas: Ints
) -> None:
    """Write down the antenna of each minute that is taken."""
    row, stay = 0, 0
    for minute in range(taken.size):
        if not taken[minute]:
            continue
        while life.stays[stay, LEAVE] <= minute:
            stay += 1
        minutes[row] = minute
        if minute >= life.stays[stay, ARRIVE]:
            antennas[row] = _served_by(life, sites, life.stays[stay, PLACE])
        else:
            antennas[row] = _on_the_way(life, sites, stay, minute)
        row += 1


@compiled
def _observe(
    key: tuple[int, int, int],
    sites: Sites,
    habits: Habits,
    activity: Activity,
    rhythm: Floats,
    scratch: Scratch,
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
    scratch
        Room for one person.
    offsets
        Where each person's samples begin in `minutes` and `antennas`.
    """
    seed, first, weekday = key
    life, gaps, taken = scratch
    for index in range(offsets.size - 1):
        begin, end = offsets[index], offsets[index + 1]
        start(life.rng, seed, first + index, CALLING)
        place_samples(life.rng, rhythm, activity, gaps[: end - begin + 1], taken)
        start(life.rng, seed, first + index, LIVING)
        live(life, sites, habits, taken.size // DAY, weekday)
        start(life.rng, seed, first + index, SERVING)
        _follow(life, sites, taken, minutes[begin:end], antennas[begin:end])
