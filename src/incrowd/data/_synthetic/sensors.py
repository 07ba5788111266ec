"""What a phone records about its owner when it may: GPS, WiFi and GSM at once.

::

    Sensors            antennas, buildings and campuses, placed once
      .batch           any range of people, as rows with names for antennas and access points
        record_person  one person's days (mobility); three sensors with a clock each
          _locate      where she is at a second, and whether she moves, rests or sleeps
          _record      what a sensor sees there: GPS the true position with an error that lasts,
                       WiFi every access point of a scan (scan_wifi), GSM the antenna that serves
                       the phone (serving_antenna)

Sensors record more often on the way than at rest, and seldom at night; on some days a phone is off.

There are far too many access points to list (a few in every 50 m square of a city). They are drawn
when somebody comes near, by a hash of the seed and their square, so that everybody who comes by
sees the same ones in the same places.
"""

import math
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, Words, kernel, kernel_private
from incrowd.data._synthetic.geography import (
    LocalProjection,
    Sites,
    nearest_k,
    place_sites,
    scale_land,
)
from incrowd.data._synthetic.mobility import (
    ARRIVE,
    LEAVE,
    PLACE,
    PersonState,
    new_person_state,
    simulate_days,
)
from incrowd.data._synthetic.presets import DAY, Clock, Habits, Preset
from incrowd.data._synthetic.random import (
    exponential,
    hash_words,
    log_normal,
    normal,
    seed_stream,
    to_unit,
    uniform,
)

__all__ = [
    "Sensors",
]


CAMPUSES = 5  # at the preset's own number of people
CANDIDATES = 4  # antennas that may serve a phone
NEXT_ANTENNA = 0.25  # chance to be served by the next nearest antenna instead, and so on

SQUARE = 50.0  # metres
MAX_IN_SQUARE = 7  # access points
MAX_IN_SCAN = 9 * MAX_IN_SQUARE
SIGHT = 30.0  # metres at which one access point in e is seen

LIVING, SENSING, BEING_OFF = 1, 2, 3  # purposes of a person's random streams
SECONDS = 60 * DAY  # of a day
GPS, WIFI, GSM = 0, 1, 2
MOVING, RESTING, SLEEPING = 0, 1, 2
WAKING, BEDTIME = 7 * 3_600, 23 * 3_600
OFF = 0.06  # share of days without any record
BUSIEST = 4.0  # times the mean number of records
INDOORS = 15.0  # metres from a building's middle to a person's own room, at most
LASTING = 0.9  # how much of a GPS error is left at the next fix
ERROR = (4.0, 12.0, 12.0)  # sigma of the GPS error in metres: moving, resting, sleeping
GAPS = np.array([[4.1, 30.8, 180.0], [185.0, 540.0, 1_100.0], [80.0, 520.0, 780.0]])
"""Mean seconds between two records (of WiFi: scans), by sensor; moving, resting and sleeping."""

_CENTRE = 1 << 40  # keeps the numbers of squares west and south of the centre positive
_LOW = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)
_UNIT_32 = 1.0 / 4294967296.0
# 48 bits, with those cleared that would make it a group's or a locally administered address.
_ADDRESS = np.uint64(0xFCFFFFFFFFFF)

SCHEMA = pa.schema(
    [
        pa.field("user", pa.int32(), nullable=False),
        pa.field("timestamp", pa.timestamp("ms", tz="UTC"), nullable=False),
        pa.field("lat", pa.float64(), nullable=False),
        pa.field("lon", pa.float64(), nullable=False),
        pa.field("sensor", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("place", pa.string()),
    ]
)

ROW = np.dtype(
    [
        ("second", np.int64),
        ("sensor", np.int8),
        ("code", np.uint64),
        ("x", np.float64),
        ("y", np.float64),
    ],
    align=True,
)
"""A record; `code` is an access point's address or an antenna's number."""


class Sensors:
    """Students whose phones record GPS, WiFi and GSM.

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
        share = users / preset.users
        self._antennas = place_sites(scale_land(preset.land, share), rng).at
        buildings = place_sites(scale_land(preset.buildings or preset.land, share), rng)
        self._buildings = _with_campuses(buildings, max(1, round(CAMPUSES * share)), rng)
        self._projection = LocalProjection(preset)
        self._preset = preset
        self._seed = seed
        self._clock = Clock.of(preset)

    def sites(self) -> pa.Table:
        """Return the GSM antennas; their ids are those of the column `place`."""
        lat, lon = self._projection.degrees(self._antennas[:, 0], self._antennas[:, 1])
        ids = pa.array([_antenna(index) for index in range(lat.size)])
        return pa.table({"id": ids, "lat": lat, "lon": lon})

    def batch(self, first: int, last: int) -> pa.RecordBatch:
        """Return the rows of people `first` to `last`, counted from 0, without the last."""
        parts = [self._person(person) for person in range(first, last)]
        counts = [len(part) for part in parts]
        users = np.repeat(np.arange(first + 1, last + 1, dtype=np.int32), counts)
        rows = np.concatenate(parts)
        lat, lon = self._projection.degrees(rows["x"], rows["y"])
        sensors = pa.DictionaryArray.from_arrays(
            pa.array(rows["sensor"]), pa.array(["gps", "wifi", "gsm"])
        )
        columns = [
            pa.array(users),
            pa.array(self._clock.utc(rows["second"])).cast(SCHEMA.field("timestamp").type),
            pa.array(lat),
            pa.array(lon),
            sensors,
            _names(rows["sensor"], rows["code"]),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)

    def _person(self, person: int) -> NDArray[np.void]:
        """Return one person's rows."""
        days = self._preset.days
        room = round(24 * days * self._preset.activity.rate)
        while True:
            room *= 2
            rows = np.empty(room, ROW)
            count = record_person(
                (self._seed, person, days, self._clock.weekday),
                self._buildings,
                self._antennas,
                self._preset.habits,
                self._preset.activity.sigma,
                new_person_state(days),
                new_phone_state(min(CANDIDATES, len(self._antennas))),
                rows,
            )
            if count >= 0:
                return rows[:count][self._clock.exists(rows["second"][:count])]


def _with_campuses(buildings: Sites, count: int, rng: np.random.Generator) -> Sites:
    """Return buildings of which only campuses, a building and its neighbours, attract people."""
    attraction = np.zeros(len(buildings.at))
    for middle in rng.choice(attraction.size, min(count, attraction.size), replace=False):
        attraction[[middle, *buildings.near[middle]]] += rng.lognormal(0.0, 0.5)
    return buildings._replace(attraction=np.cumsum(attraction))


def _antenna(index: int) -> str:
    """Return the name of an antenna."""
    return f"cell-{index + 1:06d}"


def _address(code: int) -> str:
    """Return an access point's address as MAC addresses are written."""
    return ":".join(f"{byte:02x}" for byte in int(code).to_bytes(6, "big"))


def _names(sensor: NDArray[np.int8], code: Words) -> pa.Array:
    """Return the name of each row's place; GPS has none."""
    named = np.flatnonzero(sensor != GPS)
    # The address space is 48 bits wide, so that the sensor fits in above it.
    key = code[named] | (sensor[named].astype(np.uint64) << np.uint64(48))
    distinct, name = np.unique(key, return_inverse=True)
    names = [
        _address(value & ((1 << 48) - 1)) if value >> 48 == WIFI else _antenna(value & 0xFFFFFFFF)
        for value in distinct.tolist()
    ]
    index = np.zeros(sensor.size, np.int64)
    index[named] = name
    lookup = pa.array(index, mask=sensor == GPS)
    return pa.array(names, pa.string()).take(lookup)


class PhoneState(NamedTuple):
    """Where a person's phone is, and working memory for what it sees."""

    point: Floats
    """Where it is."""
    error: Floats
    """Of its GPS, at the last fix."""
    seen: Floats
    codes: Words
    """Places and addresses of the access points of a scan."""
    found: Ints
    squares: Floats
    """Antennas that could serve it, and their squared distances."""


def new_phone_state(candidates: int) -> PhoneState:
    """Return the state of a phone, to be filled in."""
    return PhoneState(
        np.empty(2),
        np.zeros(2),
        np.empty((MAX_IN_SCAN, 2)),
        np.empty(MAX_IN_SCAN, np.uint64),
        np.zeros(candidates, np.int64),
        np.empty(candidates),
    )


@kernel
def record_person(
    key: tuple[int, int, int, int],
    buildings: Sites,
    antennas: Floats,
    habits: Habits,
    sigma: float,
    state: PersonState,
    phone: PhoneState,
    rows: NDArray[np.void],
) -> int:
    """Write one person's rows, in order of time; return how many, or -1 if there is no room.

    `key` is the seed, the person's number, how many days, and the first one's weekday; `sigma` is
    by how much people differ in the number of their records.
    """
    seed, person, days, weekday = key
    seed_stream(state.rng, seed, person, LIVING)
    simulate_days(state, buildings, habits, days, weekday)
    seed_stream(state.rng, seed, person, SENSING)
    rng = state.rng
    busy = min(log_normal(rng, sigma) / math.exp(sigma * sigma / 2.0), BUSIEST)
    own = 2.0 * math.pi * to_unit(hash_words(seed, person, LIVING))
    due = np.empty(3)
    for sensor in range(due.size):
        due[sensor] = GAPS[sensor, SLEEPING] * exponential(rng)
    row, stay = 0, 0
    while True:
        sensor = int(np.argmin(due))
        second = int(due[sensor])
        if second >= SECONDS * days:
            return row
        if row + MAX_IN_SCAN >= rows.size:
            return -1
        while 60 * state.stays[stay, LEAVE] <= second:
            stay += 1
        activity = _locate(state, buildings, stay, second, own, phone.point)
        due[sensor] = second + 1.0 + (GAPS[sensor, activity] - 1.0) * exponential(rng) / busy
        if to_unit(hash_words(seed, person, BEING_OFF + 4 * (second // SECONDS))) >= OFF:
            row = _record(rng, seed, antennas, phone, activity, (second, sensor), rows, row)


@kernel_private
def _locate(
    state: PersonState, sites: Sites, stay: int, second: int, own: float, point: Floats
) -> int:
    """Write where a person is; return whether she is on her way, at rest or asleep."""
    place = state.stays[stay, PLACE]
    arrives = 60 * state.stays[stay, ARRIVE]
    if second >= arrives:
        angle = own + place  # everybody has her own corner of every building
        point[0] = sites.at[place, 0] + INDOORS * math.cos(angle)
        point[1] = sites.at[place, 1] + INDOORS * math.sin(angle)
        return RESTING if WAKING <= second % SECONDS < BEDTIME else SLEEPING
    left, origin = 60 * state.stays[stay - 1, LEAVE], state.stays[stay - 1, PLACE]
    part = (second - left) / (arrives - left)
    point[0] = sites.at[origin, 0] + part * (sites.at[place, 0] - sites.at[origin, 0])
    point[1] = sites.at[origin, 1] + part * (sites.at[place, 1] - sites.at[origin, 1])
    return MOVING


@kernel_private
def _record(
    rng: Words,
    seed: int,
    antennas: Floats,
    phone: PhoneState,
    activity: int,
    stamp: tuple[int, int],
    rows: NDArray[np.void],
    row: int,
) -> int:
    """Write what a sensor sees (`stamp` is second and sensor); return the next free row."""
    x, y = phone.point
    if stamp[1] == GPS:
        for axis in range(2):
            added = math.sqrt(1.0 - LASTING * LASTING) * ERROR[activity] * normal(rng)
            phone.error[axis] = LASTING * phone.error[axis] + added
        return _write(rows, row, stamp, 0, x + phone.error[0], y + phone.error[1])
    if stamp[1] == GSM:
        antenna = serving_antenna(rng, antennas, x, y, phone.found, phone.squares)
        return _write(rows, row, stamp, antenna, antennas[antenna, 0], antennas[antenna, 1])
    for index in range(scan_wifi(rng, seed, x, y, phone.seen, phone.codes)):
        seen_x, seen_y = phone.seen[index]
        row = _write(rows, row, stamp, phone.codes[index], seen_x, seen_y)
    return row


@kernel_private
def _write(
    rows: NDArray[np.void], row: int, stamp: tuple[int, int], code: int, x: float, y: float
) -> int:
    """Write a row; return the next free one."""
    rows[row]["second"], rows[row]["sensor"] = stamp
    rows[row]["code"] = code
    rows[row]["x"], rows[row]["y"] = x, y
    return row + 1


@kernel_private
def scan_wifi(rng: Words, seed: int, x: float, y: float, points: Floats, codes: Words) -> int:
    """Write positions and addresses of the access points seen from a point; return how many."""
    seen = 0
    column, row = math.floor(x / SQUARE), math.floor(y / SQUARE)
    for square_x in range(column - 1, column + 2):
        for square_y in range(row - 1, row + 2):
            square = hash_words(seed, square_x + _CENTRE, square_y + _CENTRE)
            for index in range(int(to_unit(square) * (MAX_IN_SQUARE + 1))):
                code = hash_words(seed, square, index)
                at_x = (square_x + float(code & _LOW) * _UNIT_32) * SQUARE
                at_y = (square_y + float(code >> _HIGH) * _UNIT_32) * SQUARE
                away = ((at_x - x) ** 2 + (at_y - y) ** 2) / (SIGHT * SIGHT)
                if uniform(rng) < math.exp(-away):
                    points[seen, 0], points[seen, 1] = at_x, at_y
                    codes[seen] = hash_words(seed, code, index) & _ADDRESS
                    seen += 1
    return seen


@kernel_private
def serving_antenna(
    rng: Words, antennas: Floats, x: float, y: float, found: Ints, squares: Floats
) -> int:
    """Return the antenna that serves a phone: mostly the nearest, sometimes the next ones."""
    nearest_k(antennas, x, y, found, squares)
    rank = 0
    while rank < found.size - 1 and uniform(rng) < NEXT_ANTENNA:
        rank += 1
    return int(found[rank])
