"""A person's days: nights at home, weekdays at work, the rest elsewhere, some days far away.

::

    live ─ who she is: home, work, hours, pace
      └─ for each day ─┬─ _work_day   to work, perhaps lunch out, outings, home
                       ├─ _free_day   outings, home
                       └─ _set_out    leave for another place, which is home for some days

What comes out is a list of stays in the person's `Life`, in minutes of local time; between two
stays she is on her way, in a straight line. All kinds of observation (calls, trips of a car,
sensors) start from it.

Where people go next: exploration and preferential return (Song et al., 2010).

`choose` is one step of the model. With probability ``RHO * S ** -GAMMA``, S the number of
places known so far, a person explores: a jump of heavy-tailed length in any direction, to the
site nearest to where it ends. Otherwise she returns to a known place, in proportion to how often
she was there. What a person knows and where she was stands in her `Life`, which is scratch space
of one thread and starts afresh for each person.
"""

import math
from typing import NamedTuple

import numpy as np

from incrowd._numba import Ints, Words, kernel_private
from incrowd.data._synthetic.geography import Sites, nearest
from incrowd.data._synthetic.presets import DAY, Habits
from incrowd.data._synthetic.random import exponential, log_normal, normal, pick, poisson, uniform

__all__ = [
    "ARRIVE",
    "LEAVE",
    "PLACE",
    "STAYS",
    "Life",
    "choose",
    "distance",
    "jump",
    "live",
    "new_life",
    "remember",
]


RHO = 0.6
GAMMA = 0.21
BETA = 1.75  # of the jump lengths (Gonzalez et al., 2008)
TRIES = 12  # to find a place that fits, before giving up
NEARBY = 60_000.0  # away from home, only places this close are returned to

ARRIVE, LEAVE, PLACE = 0, 1, 2
STAYS, KNOWN = 0, 1
STAYS_A_DAY = 24


class Life(NamedTuple):
    """One person's diary and memory."""

    rng: Words
    stays: Ints
    """A row for each stay: minute of arrival, minute of leaving, place."""
    memory: Ints
    """A row for each known place: place, visits."""
    size: Ints
    """How many rows of `stays` and of `memory` are in use."""


def new_life(days: int) -> Life:
    """Make room for one person's diary of so many days.

    In Python, since every array made within a kernel adds to the time that it takes to compile.
    """
    rows = STAYS_A_DAY * days + 8
    return Life(
        np.zeros(1, np.uint64),
        np.empty((rows, 3), np.int64),
        np.empty((rows, 2), np.int64),
        np.zeros(2, np.int64),
    )


@kernel_private
def distance(sites: Sites, one: int, other: int) -> float:
    """Give the metres between two sites."""
    return math.hypot(sites.at[one, 0] - sites.at[other, 0], sites.at[one, 1] - sites.at[other, 1])


@kernel_private
def remember(life: Life, place: int) -> None:
    """Count a visit to a place."""
    known = life.size[KNOWN]
    for index in range(known):
        if life.memory[index, 0] == place:
            life.memory[index, 1] += 1
            return
    life.memory[known, 0] = place
    life.memory[known, 1] = 1
    life.size[KNOWN] = known + 1


@kernel_private
def _jump_length(rng: Words, scale: float, cutoff: float) -> float:
    """Draw from (dr + scale) ** -BETA * exp(-dr / cutoff), by rejection from the power law."""
    while True:
        length: float = scale * ((1.0 - uniform(rng)) ** (-1.0 / (BETA - 1.0)) - 1.0)
        if uniform(rng) < math.exp(-length / cutoff):
            return length


@kernel_private
def jump(rng: Words, sites: Sites, origin: int, scale: float, cutoff: float) -> int:
    """Jump from a site to another, possibly the same; never out of the land."""
    for _ in range(TRIES):
        length = _jump_length(rng, scale, cutoff)
        angle = 2.0 * math.pi * uniform(rng)
        x = sites.at[origin, 0] + length * math.cos(angle)
        y = sites.at[origin, 1] + length * math.sin(angle)
        if (x / sites.half_width) ** 2 + (y / sites.half_height) ** 2 <= 1.0:
            return nearest(sites.at, x, y)
    return origin


@kernel_private
def _return(life: Life, sites: Sites, here: int, base: int) -> int:
    """Return to a known place in proportion to visits, but not to `here` nor to one far away."""
    total = 0
    for index in range(life.size[KNOWN]):
        total += life.memory[index, 1]
    for _ in range(TRIES):
        left = int(uniform(life.rng) * total)
        index = 0
        while left >= life.memory[index, 1]:
            left -= life.memory[index, 1]
            index += 1
        place = int(life.memory[index, 0])
        if place != here and distance(sites, place, base) < NEARBY:
            return place
    return base


@kernel_private
def choose(life: Life, sites: Sites, base: int, scale: float, cutoff: float) -> int:
    """Choose the next place of somebody who is in her diary's last one and sleeps at `base`."""
    here = life.stays[life.size[STAYS] - 1, PLACE]
    if uniform(life.rng) < RHO * life.size[KNOWN] ** -GAMMA:
        place = jump(life.rng, sites, here, scale, cutoff)
    else:
        place = _return(life, sites, here, base)
    remember(life, place)
    return place


WEEK = 7
SATURDAY = 5
STEP = 20  # minutes of the shortest stay (and of the shortest stop between a car's trips)
MOST_OUTINGS = 5  # a day
LATEST = 23 * 60  # nobody goes out after this minute of a day
ATTENDANCE = 0.92  # share of weekdays on which people do go to work
LUNCH_OUT = 0.12  # share of working days with lunch elsewhere
HOMEWARD = 0.6  # share of outings that end at home and not at the next place
OPENINGS = 3  # places of work to choose from
FAR = 20_000.0  # metres to where a trip goes, at least
TRIP_TRIES = 24
SLOW, FAST = 20_000.0 / 60.0, 60_000.0 / 60.0  # metres a minute in town and beyond
TOWN = 10_000.0  # metres of a journey that are done at the slow pace
STARTING = 4.0  # minutes that every journey takes


class Person(NamedTuple):
    """What stays the same about somebody."""

    home: int
    work: int
    """-1 when she has none."""
    begin: float
    end: float
    """Of her working day."""
    pace: float
    """How much more, and farther, she goes out than others."""
    roaming: float
    """Her chance to set out on a trip on a day."""


@kernel_private
def _draw_work(life: Life, sites: Sites, habits: Habits, home: int) -> int:
    """Draw a place of work: gravity, as some openings at commuting distance, one taken by pull."""
    if habits.shared_work:
        return pick(life.rng, sites.pulling)
    best, total = home, 0.0
    for _ in range(OPENINGS):
        place = jump(life.rng, sites, home, habits.commute, habits.cutoff)
        pull = sites.pulling[place] - (sites.pulling[place - 1] if place > 0 else 0.0)
        total += pull
        if uniform(life.rng) * total < pull:
            best = place
    return best


@kernel_private
def _draw_person(life: Life, sites: Sites, habits: Habits) -> Person:
    """Draw who somebody is."""
    rng = life.rng
    home = pick(rng, sites.living)
    work = -1
    if uniform(rng) < habits.workers:
        work = _draw_work(life, sites, habits, home)
    begin = 8.0 * 60.0 + 60.0 * normal(rng)
    end = begin + max(120.0, 8.5 * 60.0 + 80.0 * normal(rng))
    pace = log_normal(rng, habits.spread)
    roaming = habits.trips * log_normal(rng, 1.0)
    return Person(home, work, begin, end, pace, roaming)


@kernel_private
def _move(life: Life, sites: Sites, place: int, minute: float) -> None:
    """End the present stay at a minute (or as soon as possible after it) and go to a place."""
    last = life.size[STAYS] - 1
    here = life.stays[last, PLACE]
    if here == place:
        return
    away = distance(sites, here, place)
    leave = max(int(minute), life.stays[last, ARRIVE] + STEP)
    travel = STARTING + min(away, TOWN) / SLOW + max(away - TOWN, 0.0) / FAST
    life.stays[last, LEAVE] = leave
    life.stays[last + 1, ARRIVE] = leave + int(travel) + 1
    life.stays[last + 1, PLACE] = place
    life.size[STAYS] = last + 2


@kernel_private
def _arrived(life: Life) -> float:
    """Give the minute at which the present stay began."""
    return float(life.stays[life.size[STAYS] - 1, ARRIVE])


@kernel_private
def _outings(
    life: Life, sites: Sites, habits: Habits, person: Person, base: int, minute: float, mean: float
) -> float:
    """Go out some times, from `minute` on, and give the minute at which the last one ends."""
    rng = life.rng
    midnight = math.floor(minute / DAY) * DAY
    scale = habits.jump * person.pace
    for _ in range(poisson(rng, mean * person.pace, MOST_OUTINGS)):
        if minute > midnight + LATEST:
            break
        place = choose(life, sites, base, scale, habits.cutoff)
        _move(life, sites, place, minute)
        minute = max(minute, _arrived(life)) + 75.0 * log_normal(rng, 0.7)
        if uniform(rng) < HOMEWARD:
            _move(life, sites, base, minute)
            minute = max(minute, _arrived(life)) + 90.0 * exponential(rng)
    return minute


@kernel_private
def _work_day(life: Life, sites: Sites, habits: Habits, person: Person, midnight: int) -> None:
    """Spend a day at work, and what is left of it elsewhere."""
    rng = life.rng
    _move(life, sites, person.work, midnight + person.begin + 20.0 * normal(rng))
    remember(life, person.work)
    end = midnight + person.end + 30.0 * normal(rng)
    if uniform(rng) < LUNCH_OUT:
        noon = midnight + 12.0 * 60.0 + 60.0 * uniform(rng)
        place = choose(life, sites, person.work, habits.jump, habits.cutoff)
        _move(life, sites, place, noon)
        _move(life, sites, person.work, _arrived(life) + 45.0)
    end = _outings(life, sites, habits, person, person.home, end, habits.weekday)
    _move(life, sites, person.home, end)


@kernel_private
def _free_day(
    life: Life, sites: Sites, habits: Habits, person: Person, base: int, midnight: int
) -> None:
    """Spend a day without work, from and to where one sleeps."""
    begin = midnight + 9.0 * 60.0 + 240.0 * uniform(life.rng)
    end = _outings(life, sites, habits, person, base, begin, habits.weekend)
    _move(life, sites, base, end)


@kernel_private
def _destination(life: Life, sites: Sites, habits: Habits, home: int) -> int:
    """Draw where a trip goes: by people living there and by distance; home when nothing fits."""
    for _ in range(TRIP_TRIES):
        place = pick(life.rng, sites.living)
        away = distance(sites, home, place)
        near_enough = uniform(life.rng) < habits.trip_scale / (habits.trip_scale + away)
        if away > FAR and near_enough:
            return place
    return home


@kernel_private
def _set_out(life: Life, sites: Sites, habits: Habits, person: Person, midnight: int) -> int:
    """Leave on a trip and give where it goes to."""
    place = _destination(life, sites, habits, person.home)
    _move(life, sites, place, midnight + 6.0 * 60.0 + 600.0 * uniform(life.rng))
    return place


@kernel_private
def live(life: Life, sites: Sites, habits: Habits, days: int, weekday: int) -> int:
    """Write one person's diary; give her home.

    Parameters
    ----------
    life
        Her scratch space, with her random stream at its beginning.
    sites, habits
        Where and how people live.
    days
        How many.
    weekday
        Of the first; Monday is 0.
    """
    life.size[:] = 0
    person = _draw_person(life, sites, habits)
    life.stays[0, ARRIVE] = 0
    life.stays[0, PLACE] = person.home
    life.size[STAYS] = 1
    base = person.home
    back = 0
    for day in range(days):
        midnight = day * DAY
        remember(life, base)
        if base != person.home:
            if day >= back:
                base = person.home
                _move(life, sites, base, midnight + 8.0 * 60.0 + 600.0 * uniform(life.rng))
            else:
                _free_day(life, sites, habits, person, base, midnight)
        elif uniform(life.rng) < person.roaming:
            base = _set_out(life, sites, habits, person, midnight)
            back = day + 1 + int(habits.trip_days * exponential(life.rng))
        elif (
            person.work >= 0
            and (weekday + day) % WEEK < SATURDAY
            and uniform(life.rng) < ATTENDANCE
        ):
            _work_day(life, sites, habits, person, midnight)
        else:
            _free_day(life, sites, habits, person, base, midnight)
    life.stays[life.size[STAYS] - 1, LEAVE] = days * DAY + DAY
    return person.home
