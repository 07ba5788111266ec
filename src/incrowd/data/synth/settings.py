"""What a preset is made of: the land, the habits of its people, and how they are observed.

Numbers only; `presets` fills them in. Lengths are metres and times minutes unless a name says
otherwise.
"""

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["DAY", "Activity", "Guests", "Habits", "Land", "Preset"]

DAY = 1_440
"""Minutes."""


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
    """Sites a square kilometre in the middle of a city."""
    pitch: float = 400.0
    """No two sites share a square of this side, and they stand 160 m apart at least."""
    blurred: bool = False
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
    """Chance a day to leave for some days in another place."""
    trip_days: float
    """Mean length of such a trip, in days."""
    trip_scale: float
    """The distance at which a destination has half its pull."""
    shared_work: bool = False
    """Whether places of work are drawn by their pull alone, wherever people live."""


class Activity(NamedTuple):
    """How often people are seen.

    Phones draw their numbers of samples from it; sensors, by how much people differ. Of cars it
    only states what their habits were fitted to: a trip is seen whenever there is one.
    """

    rate: float
    """Mean samples (of cars: trips) a person-hour."""
    sigma: float
    """Sigma of the log-normal number of samples a person."""
    least: int
    """The fewest samples of a person over the whole time."""
    most: int
    """The most samples of a person over the whole time."""
    every_day: bool = False
    """Whether everybody is seen on every day."""


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
    """People when no other number is asked for."""
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
    """The most people that can be asked for; their land must fit on the Earth, and in memory."""
