"""A person's days: nights at home, weekdays at work, the rest elsewhere, some days far away.

::

    simulate_days ─ who she is: home, work, hours, pace
      └─ for each day ─┬─ _work_day    to work, perhaps lunch out, outings, home
                       ├─ _free_day    outings, home
                       └─ _start_trip  leave for another place, which is home for some days

The result is a list of stays in the person's `PersonState`, in minutes of local time; between two
stays she is on her way, in a straight line. All kinds of observation (calls, trips of a car,
sensors) start from it.

Where people go next is exploration and preferential return (Song et al., 2010); `next_place` is one
step of that model. With probability ``RHO * S ** -GAMMA``, S the number of places known so far, a
person explores: a jump of heavy-tailed length in any direction, to the site nearest to where it
ends. Otherwise she returns to a known place, in proportion to how often she was there. What a
person knows and where she was stands in her `PersonState`, which is the working memory of one
thread and is reset for each person.
"""

import math
from typing import NamedTuple

import numpy as np

from incrowd._numba import Ints, Words, kernel_private
from incrowd.data._synthetic.geography import Sites, nearest
from incrowd.data._synthetic.presets import DAY, Habits
from incrowd.data._synthetic.random import (
    exponential,
    log_normal,
    normal,
    poisson,
    uniform,
    weighted_choice,
)

__all__ = [
    "ARRIVE",
    "LEAVE",
    "PLACE",
    "STAYS",
    "PersonState",
    "distance",
    "new_person_state",
    "simulate_days",
]


ARRIVE, LEAVE, PLACE = 0, 1, 2  # columns of `stays`
STAYS, KNOWN = 0, 1  # of `size`
STAYS_PER_DAY = 24  # at most

# Exploration and preferential return.
RHO = 0.6
GAMMA = 0.21
BETA = 1.75  # of the jump lengths (Gonzalez et al., 2008)
TRIES = 12  # to find a place that fits, before giving up
NEARBY = 60_000.0  # metres; away from home, only places this close are returned to

# Days.
WEEK = 7
SATURDAY = 5
MIN_STAY = 20  # minutes of the shortest stay (and of the shortest stop between a car's trips)
MAX_OUTINGS = 5  # per day
LATEST = 23 * 60  # nobody goes out after this minute of a day
ATTENDANCE = 0.92  # share of weekdays on which people do go to work
LUNCH_OUT = 0.12  # share of working days with lunch elsewhere
HOMEWARD = 0.6  # share of outings that end at home and not at the next place
FAR = 20_000.0  # metres to where a trip goes, at least
TRIP_TRIES = 24

# Journeys.
SLOW, FAST = 20_000.0 / 60.0, 60_000.0 / 60.0  # metres per minute in town and beyond
TOWN = 10_000.0  # metres of a journey that are done at the slow pace
STARTING = 4.0  # minutes that every journey takes


class PersonState(NamedTuple):
    """One person's stays and the places that she knows."""

    rng: Words
    stays: Ints
    """A row for each stay: minute of arrival, minute of leaving, place."""
    memory: Ints
    """A row for each known place: place, visits."""
    size: Ints
    """How many rows of `stays` and of `memory` are in use."""


def new_person_state(days: int) -> PersonState:
    """Return the state of one person, with room for so many days.

    In Python, since every array made within a kernel adds to the time that it takes to compile.
    """
    rows = STAYS_PER_DAY * days + 8
    return PersonState(
        np.zeros(1, np.uint64),
        np.empty((rows, 3), np.int64),
        np.empty((rows, 2), np.int64),
        np.zeros(2, np.int64),
    )


class Person(NamedTuple):
    """What stays the same about somebody."""

    home: int
    work: int
    """-1 if she has none."""
    begin: float
    end: float
    """Of her working day."""
    pace: float
    """How much more, and farther, she goes out than others."""
    roaming: float
    """Her chance to set out on a trip on a day."""


@kernel_private
def simulate_days(state: PersonState, sites: Sites, habits: Habits, days: int, weekday: int) -> int:
    """Write one person's stays; return her home.

    Parameters
    ----------
    state
        Working memory, with her random stream at its beginning.
    sites, habits
        Where and how people live.
    days
        The number of days.
    weekday
        Of the first day; Monday is 0.
    """
    state.size[:] = 0
    person = _draw_person(state, sites, habits)
    state.stays[0, ARRIVE] = 0
    state.stays[0, PLACE] = person.home
    state.size[STAYS] = 1
    lodging = person.home
    back = 0
    for day in range(days):
        midnight = day * DAY
        count_visit(state, lodging)
        if lodging != person.home:
            if day >= back:
                lodging = person.home
                _move(state, sites, lodging, midnight + 8.0 * 60.0 + 600.0 * uniform(state.rng))
            else:
                _free_day(state, sites, habits, person, lodging, midnight)
        elif uniform(state.rng) < person.roaming:
            lodging = _start_trip(state, sites, habits, person, midnight)
            back = day + 1 + int(habits.trip_days * exponential(state.rng))
        elif (
            person.work >= 0
            and (weekday + day) % WEEK < SATURDAY
            and uniform(state.rng) < ATTENDANCE
        ):
            _work_day(state, sites, habits, person, midnight)
        else:
            _free_day(state, sites, habits, person, lodging, midnight)
    state.stays[state.size[STAYS] - 1, LEAVE] = days * DAY + DAY
    return person.home


@kernel_private
def _draw_person(state: PersonState, sites: Sites, habits: Habits) -> Person:
    """Draw home, work, hours and pace of a person."""
    rng = state.rng
    home = weighted_choice(rng, sites.residents)
    work = -1
    if uniform(rng) < habits.workers:
        work = _draw_work(state, sites, habits, home)
    begin = 8.0 * 60.0 + 60.0 * normal(rng)
    end = begin + max(120.0, 8.5 * 60.0 + 80.0 * normal(rng))
    pace = log_normal(rng, habits.spread)
    roaming = habits.trips * log_normal(rng, 1.0)
    return Person(home, work, begin, end, pace, roaming)


@kernel_private
def _draw_work(state: PersonState, sites: Sites, habits: Habits, home: int) -> int:
    """Draw a place of work by gravity: of some at commuting distance, one by its attraction."""
    if habits.shared_work:
        return weighted_choice(state.rng, sites.attraction)
    best, total = home, 0.0
    for _ in range(habits.openings):
        place = jump(state.rng, sites, home, habits.commute, habits.cutoff, habits.nearest_work)
        attraction = sites.attraction[place] - (sites.attraction[place - 1] if place > 0 else 0.0)
        attraction = attraction**habits.pull
        total += attraction
        if uniform(state.rng) * total < attraction:
            best = place
    return best


@kernel_private
def _work_day(
    state: PersonState, sites: Sites, habits: Habits, person: Person, midnight: int
) -> None:
    """Add a day at work, and what is left of it elsewhere."""
    rng = state.rng
    _move(state, sites, person.work, midnight + person.begin + 20.0 * normal(rng))
    count_visit(state, person.work)
    end = midnight + person.end + 30.0 * normal(rng)
    if uniform(rng) < LUNCH_OUT:
        noon = midnight + 12.0 * 60.0 + 60.0 * uniform(rng)
        place = next_place(state, sites, person.work, habits.jump, habits.cutoff)
        _move(state, sites, place, noon)
        _move(state, sites, person.work, _arrived(state) + 45.0)
    end = _outings(state, sites, habits, person, person.home, end, habits.weekday)
    _move(state, sites, person.home, end)


@kernel_private
def _free_day(
    state: PersonState, sites: Sites, habits: Habits, person: Person, lodging: int, midnight: int
) -> None:
    """Add a day without work, from and to where she sleeps (`lodging`)."""
    begin = midnight + 9.0 * 60.0 + 240.0 * uniform(state.rng)
    end = _outings(state, sites, habits, person, lodging, begin, habits.weekend)
    _move(state, sites, lodging, end)


@kernel_private
def _outings(
    state: PersonState,
    sites: Sites,
    habits: Habits,
    person: Person,
    lodging: int,
    minute: float,
    mean: float,
) -> float:
    """Add some outings, from `minute` on; return the minute at which the last one ends."""
    rng = state.rng
    midnight = math.floor(minute / DAY) * DAY
    scale = habits.jump * person.pace
    for _ in range(poisson(rng, mean * person.pace, MAX_OUTINGS)):
        if minute > midnight + LATEST:
            break
        place = next_place(state, sites, lodging, scale, habits.cutoff)
        _move(state, sites, place, minute)
        minute = max(minute, _arrived(state)) + 75.0 * log_normal(rng, 0.7)
        if uniform(rng) < HOMEWARD:
            _move(state, sites, lodging, minute)
            minute = max(minute, _arrived(state)) + 90.0 * exponential(rng)
    return minute


@kernel_private
def _start_trip(
    state: PersonState, sites: Sites, habits: Habits, person: Person, midnight: int
) -> int:
    """Leave on a trip; return where it goes."""
    place = _draw_destination(state, sites, habits, person.home)
    _move(state, sites, place, midnight + 6.0 * 60.0 + 600.0 * uniform(state.rng))
    return place


@kernel_private
def _draw_destination(state: PersonState, sites: Sites, habits: Habits, home: int) -> int:
    """Draw where a trip goes: by people living there and by distance; home if nothing fits."""
    for _ in range(TRIP_TRIES):
        place = weighted_choice(state.rng, sites.residents)
        away = distance(sites, home, place)
        near_enough = uniform(state.rng) < habits.trip_scale / (habits.trip_scale + away)
        if away > FAR and near_enough:
            return place
    return home


@kernel_private
def _move(state: PersonState, sites: Sites, place: int, minute: float) -> None:
    """End the present stay at a minute (or as soon as possible after it) and go to a place."""
    last = state.size[STAYS] - 1
    here = state.stays[last, PLACE]
    if here == place:
        return
    away = distance(sites, here, place)
    leave = max(int(minute), state.stays[last, ARRIVE] + MIN_STAY)
    travel = STARTING + min(away, TOWN) / SLOW + max(away - TOWN, 0.0) / FAST
    state.stays[last, LEAVE] = leave
    state.stays[last + 1, ARRIVE] = leave + int(travel) + 1
    state.stays[last + 1, PLACE] = place
    state.size[STAYS] = last + 2


@kernel_private
def _arrived(state: PersonState) -> float:
    """Return the minute at which the present stay began."""
    return float(state.stays[state.size[STAYS] - 1, ARRIVE])


@kernel_private
def next_place(state: PersonState, sites: Sites, lodging: int, scale: float, cutoff: float) -> int:
    """Draw the next place of a person who is at her last stay and sleeps at `lodging`."""
    here = state.stays[state.size[STAYS] - 1, PLACE]
    if uniform(state.rng) < RHO * state.size[KNOWN] ** -GAMMA:
        place = jump(state.rng, sites, here, scale, cutoff, 0.0)
    else:
        place = _return_to_known(state, sites, here, lodging)
    count_visit(state, place)
    return place


@kernel_private
def jump(rng: Words, sites: Sites, origin: int, scale: float, cutoff: float, least: float) -> int:
    """Draw a jump of at least so many metres from a site to another; never out of the land.

    The other is the site nearest to where it ends, and possibly the same.
    """
    for _ in range(TRIES):
        length = least + _jump_length(rng, scale, cutoff)
        angle = 2.0 * math.pi * uniform(rng)
        x = sites.at[origin, 0] + length * math.cos(angle)
        y = sites.at[origin, 1] + length * math.sin(angle)
        if (x / sites.half_width) ** 2 + (y / sites.half_height) ** 2 <= 1.0:
            return nearest(sites.at, x, y)
    return origin


@kernel_private
def _jump_length(rng: Words, scale: float, cutoff: float) -> float:
    """Draw from (dr + scale) ** -BETA * exp(-dr / cutoff), by rejection from the power law."""
    while True:
        length: float = scale * ((1.0 - uniform(rng)) ** (-1.0 / (BETA - 1.0)) - 1.0)
        if uniform(rng) < math.exp(-length / cutoff):
            return length


@kernel_private
def _return_to_known(state: PersonState, sites: Sites, here: int, lodging: int) -> int:
    """Draw a known place in proportion to visits, but not `here` nor one far away."""
    total = 0
    for index in range(state.size[KNOWN]):
        total += state.memory[index, 1]
    for _ in range(TRIES):
        left = int(uniform(state.rng) * total)
        index = 0
        while left >= state.memory[index, 1]:
            left -= state.memory[index, 1]
            index += 1
        place = int(state.memory[index, 0])
        if place != here and distance(sites, place, lodging) < NEARBY:
            return place
    return lodging


@kernel_private
def count_visit(state: PersonState, place: int) -> None:
    """Count a visit to a place."""
    known = state.size[KNOWN]
    for index in range(known):
        if state.memory[index, 0] == place:
            state.memory[index, 1] += 1
            return
    state.memory[known, 0] = place
    state.memory[known, 1] = 1
    state.size[KNOWN] = known + 1


@kernel_private
def distance(sites: Sites, one: int, other: int) -> float:
    """Return the metres between two sites."""
    return math.hypot(sites.at[one, 0] - sites.at[other, 0], sites.at[one, 1] - sites.at[other, 1])
