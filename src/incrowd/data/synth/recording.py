"""One person's days as the sensors of her phone record them.

`sense` has her live through her diary, which names buildings; three clocks tick along, one for
each sensor, faster on the way than at rest and slowly at night. At each tick the phone is where
the diary says (`_locate`) and the sensor writes what it sees (`_record`): GPS the true place with
an error that lasts, WiFi every access point of a scan, GSM the antenna that serves the phone. On
some days the phone is off.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Floats, Ints, Words, compiled, inner
from incrowd.data.synth.chance import exponential, hashed, log_normal, normal, start, unit
from incrowd.data.synth.diary import live
from incrowd.data.synth.geography import Sites
from incrowd.data.synth.radio import MOST_SEEN, scan, serving
from incrowd.data.synth.settings import DAY, Habits
from incrowd.data.synth.wander import ARRIVE, LEAVE, PLACE, Life

__all__ = ["GPS", "GSM", "ROW", "WIFI", "Phone", "new_phone", "sense"]

LIVING, SENSING, BEING_OFF = 1, 2, 3  # purposes of a person's random streams
SECONDS = 60 * DAY
GPS, WIFI, GSM = 0, 1, 2
MOVING, RESTING, SLEEPING = 0, 1, 2
WAKING, BEDTIME = 7 * 3_600, 23 * 3_600
OFF = 0.06  # share of days without any record
BUSIEST = 4.0
INDOORS = 15.0  # metres from a building's middle to somebody's own room, at most
LASTING = 0.9  # how much of a GPS error is left at the next fix
ERROR = (4.0, 12.0, 12.0)  # sigma of the GPS error moving, resting, sleeping

# Mean seconds between two records (of WiFi: scans), by sensor, moving, resting and sleeping.
GAPS = np.array([[4.1, 30.8, 180.0], [185.0, 540.0, 1_100.0], [80.0, 520.0, 780.0]])

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
"""What is known of a record. `code` is an access point's address or an antenna's number."""


class Phone(NamedTuple):
    """Scratch space of one person's phone."""

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


def new_phone(candidates: int) -> Phone:
    """Make room for one phone."""
    return Phone(
        np.empty(2),
        np.zeros(2),
        np.empty((MOST_SEEN, 2)),
        np.empty(MOST_SEEN, np.uint64),
        np.zeros(candidates, np.int64),
        np.empty(candidates),
    )


@inner
def _locate(life: Life, sites: Sites, stay: int, second: int, own: float, point: Floats) -> int:
    """Write where somebody is; say whether she is on her way, at rest or asleep."""
    place = life.stays[stay, PLACE]
    arrives = 60 * life.stays[stay, ARRIVE]
    if second >= arrives:
        angle = own + place  # everybody has her own corner of every building
        point[0] = sites.at[place, 0] + INDOORS * math.cos(angle)
        point[1] = sites.at[place, 1] + INDOORS * math.sin(angle)
        return RESTING if WAKING <= second % SECONDS < BEDTIME else SLEEPING
    left, origin = 60 * life.stays[stay - 1, LEAVE], life.stays[stay - 1, PLACE]
    part = (second - left) / (arrives - left)
    point[0] = sites.at[origin, 0] + part * (sites.at[place, 0] - sites.at[origin, 0])
    point[1] = sites.at[origin, 1] + part * (sites.at[place, 1] - sites.at[origin, 1])
    return MOVING


@inner
def _write(
    rows: NDArray[np.void], row: int, stamp: tuple[int, int], code: int, x: float, y: float
) -> int:
    """Write a row; give the next free one."""
    rows[row]["second"], rows[row]["sensor"] = stamp
    rows[row]["code"] = code
    rows[row]["x"], rows[row]["y"] = x, y
    return row + 1


@inner
def _record(
    rng: Words,
    seed: int,
    antennas: Floats,
    phone: Phone,
    state: int,
    stamp: tuple[int, int],
    rows: NDArray[np.void],
    row: int,
) -> int:
    """Write what a sensor sees at a moment (`stamp` is second and sensor)."""
    x, y = phone.point
    if stamp[1] == GPS:
        for axis in range(2):
            fresh = math.sqrt(1.0 - LASTING * LASTING) * ERROR[state] * normal(rng)
            phone.error[axis] = LASTING * phone.error[axis] + fresh
        return _write(rows, row, stamp, 0, x + phone.error[0], y + phone.error[1])
    if stamp[1] == GSM:
        antenna = serving(rng, antennas, x, y, phone.found, phone.squares)
        return _write(rows, row, stamp, antenna, antennas[antenna, 0], antennas[antenna, 1])
    for index in range(scan(rng, seed, x, y, phone.seen, phone.codes)):
        seen_x, seen_y = phone.seen[index]
        row = _write(rows, row, stamp, phone.codes[index], seen_x, seen_y)
    return row


@compiled
def sense(
    key: tuple[int, int, int, int],
    buildings: Sites,
    antennas: Floats,
    habits: Habits,
    sigma: float,
    life: Life,
    phone: Phone,
    rows: NDArray[np.void],
) -> int:
    """Write one person's rows, in order of time; give how many, or -1 if there is no room.

    `key` is the seed, the person's number, how many days, and the first one's weekday; `sigma` is
    by how much people differ in the number of their records.
    """
    seed, person, days, weekday = key
    start(life.rng, seed, person, LIVING)
    live(life, buildings, habits, days, weekday)
    start(life.rng, seed, person, SENSING)
    rng = life.rng
    busy = min(log_normal(rng, sigma) / math.exp(sigma * sigma / 2.0), BUSIEST)
    own = 2.0 * math.pi * unit(hashed(seed, person, LIVING))
    due = np.empty(3)
    for sensor in range(due.size):
        due[sensor] = GAPS[sensor, SLEEPING] * exponential(rng)
    row, stay = 0, 0
    while True:
        sensor = int(np.argmin(due))
        second = int(due[sensor])
        if second >= SECONDS * days:
            return row
        if row + MOST_SEEN >= rows.size:
            return -1
        while 60 * life.stays[stay, LEAVE] <= second:
            stay += 1
        state = _locate(life, buildings, stay, second, own, phone.point)
        due[sensor] = second + 1.0 + (GAPS[sensor, state] - 1.0) * exponential(rng) / busy
        if unit(hashed(seed, person, BEING_OFF + 4 * (second // SECONDS))) >= OFF:
            row = _record(rng, seed, antennas, phone, state, (second, sensor), rows, row)
