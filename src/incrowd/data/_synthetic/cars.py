"""What a GPS box in private cars records: where and when each trip began and ended.

`Cars` places the zones once; `Cars.batch` returns the rows of any range of cars. Each driver has
her days (`mobility`); every journey between two stays is a trip and gives two rows, its origin and
its destination, with the zone as `place`. A driver parks at a point of her own in each zone, which
the GPS gives with some metres of error. Some trips are lost (no reception, box switched off), and
then the next one begins elsewhere than the last one ended.

Some cars are guests: they only pass through, and are seen on a few trips between the zones that
attract most.
"""

import math

import numpy as np
import pyarrow as pa

from incrowd._numba import Floats, Ints, kernel, kernel_private
from incrowd.data._synthetic.geography import LocalProjection, Sites, place_sites, scale_land
from incrowd.data._synthetic.mobility import (
    ARRIVE,
    LEAVE,
    PLACE,
    STAYS,
    PersonState,
    new_person_state,
    simulate_days,
)
from incrowd.data._synthetic.presets import DAY, Clock, Guests, Habits, Preset
from incrowd.data._synthetic.random import (
    exponential,
    hash_words,
    normal,
    seed_stream,
    to_unit,
    uniform,
    weighted_choice,
)

__all__ = [
    "Cars",
]


STAYING, LIVING, DRIVING, PURPOSES = 0, 1, 2, 4  # of a person's random streams
LOST = 0.02  # share of trips without a record
PARKING = 120.0  # the farthest parking spot from a zone's middle
GPS = 4.0  # sigma of the GPS error, metres
NO_GUESTS = Guests(share=0.0, trips=1.0, stops=2)
MORNING, DAYTIME = 7 * 60, 12 * 60  # when guests set out, in minutes: from when, and for how long
WAY, STOP = 40.0, 150.0  # mean minutes of their trips and, beyond the shortest, of their stops
SHORTEST = 20.0  # a stop, as in the paper

SCHEMA = pa.schema(
    [
        pa.field("user", pa.int32(), nullable=False),
        pa.field("timestamp", pa.timestamp("ms", tz="UTC"), nullable=False),
        pa.field("lat", pa.float64(), nullable=False),
        pa.field("lon", pa.float64(), nullable=False),
        pa.field("place", pa.int32(), nullable=False),
    ]
)


class Cars:
    """The cars of a province.

    Parameters
    ----------
    preset
        What to imitate.
    users
        The number of cars.
    seed
        The seed of everything that is drawn.
    """

    schema = SCHEMA

    def __init__(self, preset: Preset, users: int, seed: int) -> None:
        rng = np.random.Generator(np.random.PCG64(seed))
        self._sites = place_sites(scale_land(preset.land, users / preset.users), rng)
        self._projection = LocalProjection(preset)
        self._preset = preset
        self._seed = seed
        self._clock = Clock.of(preset)
        self._guests = preset.guests or NO_GUESTS
        share = users / preset.users
        stops = min(max(2, round(self._guests.stops * share)), len(self._sites.at))
        attraction = np.diff(self._sites.attraction, prepend=0.0)
        self._stops = np.argsort(-attraction, kind="stable")[:stops]
        self._choice = np.cumsum(1.0 / np.arange(1, stops + 1))

    def sites(self) -> pa.Table:
        """Return the zones and their middles."""
        lat, lon = self._projection.degrees(self._sites.at[:, 0], self._sites.at[:, 1])
        return pa.table({"id": np.arange(1, lat.size + 1, dtype=np.int32), "lat": lat, "lon": lon})

    def batch(self, first: int, last: int) -> pa.RecordBatch:
        """Return the rows of cars `first` to `last`, counted from 0, without the last."""
        state = new_person_state(self._preset.days)
        most = 2 * (last - first) * len(state.stays)
        ends, points = np.empty((most, 3), np.int64), np.empty((most, 2))
        rows = _simulate_cars(
            self._seed,
            np.arange(first, last),
            self._sites,
            self._preset.habits,
            (self._preset.days, self._clock.weekday),
            (self._guests.share, self._guests.trips, self._stops, self._choice),
            state,
            ends,
            points,
        )
        ends, points = ends[:rows], points[:rows]
        lat, lon = self._projection.degrees(points[:, 0], points[:, 1])
        columns = [
            pa.array((ends[:, 0] + 1).astype(np.int32)),
            pa.array(self._clock.utc(ends[:, 1])).cast(SCHEMA.field("timestamp").type),
            pa.array(lat),
            pa.array(lon),
            pa.array((ends[:, 2] + 1).astype(np.int32)),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


@kernel_private
def _write_position(
    state: PersonState, sites: Sites, seed: int, car: int, zone: int, point: Floats
) -> None:
    """Write the GPS position of a car that is parked in a zone."""
    word = hash_words(seed, car, zone)
    radius = PARKING * math.sqrt(to_unit(word))
    angle = 2.0 * math.pi * to_unit(hash_words(seed, zone, car))
    point[0] = sites.at[zone, 0] + radius * math.cos(angle) + GPS * normal(state.rng)
    point[1] = sites.at[zone, 1] + radius * math.sin(angle) + GPS * normal(state.rng)


@kernel_private
def _write_trips(
    state: PersonState,
    sites: Sites,
    seed: int,
    car: int,
    until: int,
    row: int,
    ends: Ints,
    points: Floats,
) -> int:
    """Write both ends of each of a car's trips from a row on; return the next free row."""
    for stay in range(1, state.size[STAYS]):
        lost = uniform(state.rng) < LOST
        leave = 60 * state.stays[stay - 1, LEAVE] + int(60 * uniform(state.rng))
        arrive = 60 * state.stays[stay, ARRIVE] + int(60 * uniform(state.rng))
        if lost or arrive >= until:
            continue
        for end in range(2):
            zone = state.stays[stay - 1 + end, PLACE]
            ends[row, 0], ends[row, 1], ends[row, 2] = car, arrive if end else leave, zone
            _write_position(state, sites, seed, car, zone, points[row])
            row += 1
    return row


@kernel_private
def _simulate_guest(
    state: PersonState, days: int, trips: float, stops: Ints, choice: Floats
) -> None:
    """Write the stays of a guest: from one of the stops of guests to others."""
    rng, stays = state.rng, state.stays
    minute = DAY * int(days * uniform(rng)) + MORNING + DAYTIME * uniform(rng)
    stays[0, PLACE], stays[0, LEAVE] = stops[weighted_choice(rng, choice)], int(minute)
    size = 1
    more = True
    while more and size < len(stays):
        place = stops[weighted_choice(rng, choice)]
        while place == stays[size - 1, PLACE]:
            place = stops[weighted_choice(rng, choice)]
        minute += 1.0 + WAY * exponential(rng)
        stays[size, PLACE], stays[size, ARRIVE] = place, int(minute)
        minute += 1.0 + SHORTEST + STOP * exponential(rng)
        stays[size, LEAVE] = int(minute)
        size += 1
        more = uniform(rng) * trips >= 1.0
    state.size[STAYS] = size


@kernel
def _simulate_cars(
    seed: int,
    cars: Ints,
    sites: Sites,
    habits: Habits,
    calendar: tuple[int, int],
    guests: tuple[float, float, Ints, Floats],
    state: PersonState,
    ends: Ints,
    points: Floats,
) -> int:
    """Write car, local second and zone, and the position, of each end of each trip.

    Return how many there are. `calendar` is how many days, and the first one's weekday; `guests` is
    their share, their mean trips, the zones where they stop, and the running sum of their weights.
    """
    days, weekday = calendar
    share, trips, stops, choice = guests
    row = 0
    for car in cars:
        begin = row
        attempt = 0
        is_guest = to_unit(hash_words(seed, car, STAYING)) < share
        # A car without a trip would not be in the dataset: its driver is drawn again.
        while row == begin:
            seed_stream(state.rng, seed, car, LIVING + PURPOSES * attempt)
            if is_guest:
                _simulate_guest(state, days, trips, stops, choice)
            else:
                simulate_days(state, sites, habits, days, weekday)
            seed_stream(state.rng, seed, car, DRIVING + PURPOSES * attempt)
            row = _write_trips(state, sites, seed, car, 60 * DAY * days, row, ends, points)
            attempt += 1
    return row
