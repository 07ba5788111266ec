"""A person's days: nights at home, weekdays at work, the rest elsewhere, some days far away.

::

    live ─ who she is: home, work, hours, pace
      └─ for each day ─┬─ _work_day   to work, perhaps lunch out, outings, home
                       ├─ _free_day   outings, home
                       └─ _set_out    leave for another place, which is home for some days

What comes out is a list of stays in the person's `Life`, in minutes of local time; between two
stays she is on her way, in a straight line. All kinds of observation (calls, trips of a car,
sensors) start from it.
"""

import math
from typing import NamedTuple

from incrowd.compiled import inner
from incrowd.data.synth.chance import (
    exponential,
    log_normal,
    normal,
    pick,
    poisson,
    uniform,
)
from incrowd.data.synth.geography import Sites
from incrowd.data.synth.settings import DAY, Habits
from incrowd.data.synth.wander import (
    ARRIVE,
    LEAVE,
    PLACE,
    STAYS,
    Life,
    choose,
    distance,
    jump,
    remember,
)

__all__ = ["live"]

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


@inner
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


@inner
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


@inner
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


@inner
def _arrived(life: Life) -> float:
    """Give the minute at which the present stay began."""
    return float(life.stays[life.size[STAYS] - 1, ARRIVE])


@inner
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


@inner
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


@inner
def _free_day(
    life: Life, sites: Sites, habits: Habits, person: Person, base: int, midnight: int
) -> None:
    """Spend a day without work, from and to where one sleeps."""
    begin = midnight + 9.0 * 60.0 + 240.0 * uniform(life.rng)
    end = _outings(life, sites, habits, person, base, begin, habits.weekend)
    _move(life, sites, base, end)


@inner
def _destination(life: Life, sites: Sites, habits: Habits, home: int) -> int:
    """Draw where a trip goes: by people living there and by distance; home when nothing fits."""
    for _ in range(TRIP_TRIES):
        place = pick(life.rng, sites.living)
        away = distance(sites, home, place)
        near_enough = uniform(life.rng) < habits.trip_scale / (habits.trip_scale + away)
        if away > FAR and near_enough:
            return place
    return home


@inner
def _set_out(life: Life, sites: Sites, habits: Habits, person: Person, midnight: int) -> int:
    """Leave on a trip and give where it goes to."""
    place = _destination(life, sites, habits, person.home)
    _move(life, sites, place, midnight + 6.0 * 60.0 + 600.0 * uniform(life.rng))
    return place


@inner
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
