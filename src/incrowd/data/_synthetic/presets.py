"""The datasets that can be made, by name, and what a preset consists of.

A `Preset` holds numbers: the land (`Land`), how people move (`Habits`), how often they are seen
(`Activity`), where and when. Lengths are metres and times minutes unless a name says otherwise.

The figures come from the papers where they give them (people, antennas, area, rates, days); the
others were fitted so that the results match what the papers report. ``docs/synthetic.md`` says
which is which.

People live by the local clock; datasets are in UTC. `Clock` converts. When summer time begins, the
clock skips an hour: what the model puts there never happened, and `Clock.exists` says so.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Ints
from incrowd.errors import ArgumentError

__all__ = [
    "DAY",
    "PRESETS",
    "Activity",
    "Clock",
    "Guests",
    "Habits",
    "Land",
    "Preset",
    "find_preset",
]


DAY = 1_440
"""Minutes."""
_HOUR = 3_600
"""Seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Land:
    """Where sites stand: cities of Zipf-like sizes in an ellipse, and the country between them."""

    sites: int
    """Antennas or zones at the preset's own number of people."""
    area: float
    """Square kilometres at the preset's own number of people."""
    aspect: float = 1.0
    """The ellipse's width over its height."""
    cities: int = 1
    primacy: float = 1.0
    """The largest city's share of all that is urban."""
    rural: float = 0.0
    """The share of sites outside the cities."""
    peak: float
    """Sites per square kilometre in the middle of a city."""
    pitch: float = 400.0
    """No two sites share a square of this side, and they stand 160 m apart at least."""
    perturbed: bool = False
    """Whether a site is published as a random point of its Voronoi cell."""


class Habits(NamedTuple):
    """How people move."""

    jump: float
    """dr0 of the jump lengths (dr + dr0) ** -beta * exp(-dr / kappa)."""
    commute: float
    """dr0 of the distance between home and work."""
    cutoff: float
    """kappa of both."""
    workers: float
    """The share of people who have a place of work (or study)."""
    weekday: float
    """Mean outings after work."""
    weekend: float
    """Mean outings of a day without work."""
    spread: float
    """Sigma of the log-normal factor by which people go out more, and farther, than others."""
    trips: float
    """Chance per day to leave for some days in another place."""
    trip_days: float
    """Mean length of such a trip, in days."""
    trip_scale: float
    """The distance at which a destination has half its attraction."""
    shared_work: bool = False
    """Whether places of work are drawn by their attraction alone, wherever people live."""
    nearest_work: float = 0.0
    """Metres that are added to every distance between home and work."""
    openings: int = 3
    """Places of work to choose from."""
    pull: float = 1.0
    """To which power their attraction counts: the larger, the more people work at the same."""


class Activity(NamedTuple):
    """How often people are seen.

    Phones draw their numbers of samples from it; sensors, by how much people differ. Of cars it
    only states what their habits were fitted to: a trip is seen whenever there is one.
    """

    rate: float
    """Mean samples (of cars: trips) per person-hour."""
    sigma: float
    """Sigma of the log-normal number of samples per person."""
    least: int
    """The fewest samples of a person over the whole time."""
    most: int
    """The most samples of a person over the whole time."""
    every_day: bool = False
    """Whether everybody is seen on every day."""
    gap_exponent: float = 0.9
    """Of the tail of the gaps between samples, P(gap > g) ~ g ** -gap_exponent."""
    regularity: float = 0.0
    """How much more regular people are who are seen more: their exponent is that of a person seen
    as often as the mean, times (samples / mean) ** regularity."""
    least_exponent: float = 0.0
    """The smallest exponent: that of people who are seen least."""
    hand_over: float = 0.25
    """The share of samples for which a neighbouring antenna is tried."""
    early: float = 1.0
    """By how much more people are seen from midnight to 8 o'clock than `weekly_rhythm` has it."""


class Guests(NamedTuple):
    """Who only passes through: a few trips between places where many strangers stop."""

    share: float
    """Of all people."""
    trips: float
    """Mean trips of one of them; their number is geometric, and at least 1."""
    stops: int
    """Zones where strangers stop, at the preset's own number of people.

    They are those that attract most; the n-th is chosen 1/n times as often as the first.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A dataset that can be made."""

    name: str
    description: str
    kind: str
    """How people are observed: phones, cars or sensors."""
    users: int
    """The number of people unless another is given."""
    latitude: float
    longitude: float
    timezone: str
    start: str
    """The first local midnight, as an ISO date."""
    days: int
    land: Land
    habits: Habits
    activity: Activity
    guests: Guests | None = None
    """People who only pass through (only when cars are observed)."""
    buildings: Land | None = None
    """Where people stay, when that is not at the sites (only when sensors observe them)."""
    block: int
    """People made at a time."""
    most: int = 50_000_000
    """The largest number of people; their land must fit on the Earth, and in memory."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The local clock of a preset.

    Attributes
    ----------
    hours
        Seconds since 1970 in UTC of the beginning of every local hour.
    real
        Whether the local clock ever shows that hour.
    weekday
        Of the first day; Monday is 0.
    """

    hours: Ints
    real: NDArray[np.bool_]
    weekday: int

    @classmethod
    def of(cls, preset: Preset) -> "Clock":
        """Return the clock of a preset: its time zone's rules for all hours, and two days more."""
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
        """Return which local seconds the clock showed."""
        return self.real[seconds // _HOUR]

    def utc(self, seconds: Ints) -> NDArray[np.datetime64]:
        """Return local seconds since the first midnight as times in UTC."""
        moments = self.hours[seconds // _HOUR] + seconds % _HOUR
        return (moments * 1_000).astype("datetime64[ms]")


_CIV = Preset(
    name="civ",
    description="phones in a whole country, as in d4d-civ (Ivory Coast), 14 days",
    kind="phones",
    users=82_728,
    latitude=7.5,
    longitude=-5.5,
    timezone="UTC",
    start="2012-03-05",
    days=14,
    land=Land(
        sites=1_238,
        area=322_463.0,
        aspect=1.05,
        cities=45,
        primacy=0.45,
        rural=0.25,
        peak=1.6,
    ),
    habits=Habits(
        jump=1_400.0,
        commute=4_600.0,
        cutoff=30_000.0,
        workers=0.7,
        weekday=0.6,
        weekend=1.6,
        spread=0.6,
        trips=0.0058,
        trip_days=2.5,
        trip_scale=150_000.0,
    ),
    activity=Activity(rate=0.75, sigma=1.1, least=14, most=5_000),
    block=4_096,
)

_SEN = Preset(
    name="sen",
    description="phones in a whole country, as in d4d-sen (Senegal), 14 days, seen every day",
    kind="phones",
    users=286_926,
    latitude=14.4,
    longitude=-14.5,
    timezone="UTC",
    start="2013-01-07",
    days=14,
    land=Land(
        sites=1_666,
        area=196_712.0,
        aspect=1.4,
        cities=40,
        primacy=0.5,
        rural=0.3,
        peak=3.0,
        perturbed=True,
    ),
    habits=Habits(
        jump=780.0,
        commute=2_100.0,
        cutoff=30_000.0,
        workers=0.65,
        weekday=0.6,
        weekend=1.6,
        spread=0.6,
        trips=0.0053,
        trip_days=2.5,
        trip_scale=150_000.0,
    ),
    activity=Activity(rate=0.45, sigma=0.9, least=14, most=4_000, every_day=True),
    block=4_096,
)

_CIV_V2 = replace(
    _CIV,
    name="civ-v2",
    description="civ, fitted anew to how hard the people of d4d-civ are to hide",
    land=replace(_CIV.land, rural=0.2),
    habits=_CIV.habits._replace(
        jump=700.0,
        commute=1_000.0,
        cutoff=6_000.0,
        workers=0.95,
        weekday=0.12,
        weekend=0.4,
        trips=0.0055,
        trip_days=5.0,
        trip_scale=200_000.0,
        nearest_work=4_100.0,
        openings=30,
        pull=3.0,
    ),
    activity=_CIV.activity._replace(
        sigma=0.9,
        gap_exponent=4.0,
        regularity=2.5,
        least_exponent=1.05,
        hand_over=0.12,
        early=2.0,
    ),
)

_SEN_V2 = replace(
    _SEN,
    name="sen-v2",
    description="sen, fitted anew to how hard the people of d4d-sen are to hide",
    land=replace(_SEN.land, rural=0.2),
    habits=_CIV_V2.habits._replace(trips=0.005, trip_days=4.5, nearest_work=3_500.0),
    activity=_SEN.activity._replace(
        sigma=0.7,
        gap_exponent=4.5,
        regularity=2.5,
        least_exponent=1.2,
        hand_over=0.2,
        early=2.3,
    ),
)

_CITY = Preset(
    name="city",
    description="phones in one city of the civ kind, 14 days; for demonstrations and tests",
    kind="phones",
    users=2_000,
    latitude=7.5,
    longitude=-5.5,
    timezone="UTC",
    start="2012-03-05",
    days=14,
    land=Land(sites=30, area=63.0, peak=1.6),
    habits=_CIV.habits._replace(trips=0.0),
    activity=_CIV.activity,
    block=4_096,
)

_FLORENCE = Preset(
    name="florence",
    description="trips of private cars between some 3,000 zones, as in Florence, May 2011",
    kind="cars",
    users=9_715,
    latitude=43.77,
    longitude=11.25,
    timezone="Europe/Rome",
    start="2011-05-01",
    days=31,
    land=Land(
        sites=3_000,
        area=3_514.0,
        aspect=1.2,
        cities=25,
        primacy=0.5,
        rural=0.2,
        peak=8.0,
        pitch=300.0,
    ),
    habits=Habits(
        jump=2_500.0,
        commute=4_000.0,
        cutoff=40_000.0,
        workers=0.7,
        weekday=2.5,
        weekend=3.8,
        spread=0.5,
        trips=0.0,
        trip_days=1.0,
        trip_scale=30_000.0,
    ),
    activity=Activity(rate=83.0 / (31 * 24), sigma=0.5, least=2, most=1_000),
    guests=Guests(share=0.4, trips=2.0, stops=100),
    block=1_024,
)

_PISA = Preset(
    name="pisa",
    description="trips of private cars between some 700 zones, as in Pisa, May 2011",
    kind="cars",
    users=2_280,
    latitude=43.71,
    longitude=10.40,
    timezone="Europe/Rome",
    start="2011-05-01",
    days=31,
    land=Land(
        sites=704,
        area=2_444.0,
        aspect=0.8,
        cities=12,
        primacy=0.45,
        rural=0.25,
        peak=8.0,
        pitch=300.0,
    ),
    habits=_FLORENCE.habits,
    activity=_FLORENCE.activity,
    guests=Guests(share=0.4, trips=2.0, stops=24),
    block=1_024,
)

_CAMPUS = Preset(
    name="campus",
    description="GPS, WiFi and GSM of students at once, as in PRIVAMOV (Lyon), 89 days",
    kind="sensors",
    users=100,
    latitude=45.76,
    longitude=4.85,
    timezone="Europe/Paris",
    start="2015-02-02",
    days=89,
    land=Land(sites=3_816, area=1_300.0, rural=0.1, peak=9.0, pitch=280.0),
    buildings=Land(sites=6_000, area=1_300.0, rural=0.05, peak=10.0, pitch=260.0),
    habits=Habits(
        jump=1_200.0,
        commute=3_000.0,
        cutoff=40_000.0,
        workers=1.0,
        weekday=2.5,
        weekend=3.8,
        spread=0.4,
        trips=0.0,
        trip_days=1.0,
        trip_scale=30_000.0,
        shared_work=True,
    ),
    activity=Activity(rate=3_725.0 / 24, sigma=0.35, least=1, most=10**9),
    block=2,
    most=100_000,
)

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (_CIV, _SEN, _CIV_V2, _SEN_V2, _CITY, _FLORENCE, _PISA, _CAMPUS)
    }
)
"""Every preset by its name."""


def find_preset(name: str) -> Preset:
    """Return the preset of a name.

    Parameters
    ----------
    name
        One of the keys of `PRESETS`.

    Raises
    ------
    ArgumentError
        If there is none of that name.

    Examples
    --------
    >>> find_preset("civ").users
    82728
    """
    if name in PRESETS:
        return PRESETS[name]
    close = difflib.get_close_matches(str(name), PRESETS, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ArgumentError(f"unknown preset {name!r}.{hint} The presets are {', '.join(PRESETS)}")
