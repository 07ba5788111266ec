"""What a phone records about its owner when it may: GPS, WiFi and GSM at once.

`Sensors` is laid out once: antennas, buildings where people stay, some of them on campuses.
`Sensors.batch` makes any range of people from it: `recording` writes each one's records, which
here become rows with names for antennas and access points.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.compiled import Words
from incrowd.data.synth.clock import Clock
from incrowd.data.synth.degrees import Globe
from incrowd.data.synth.geography import Sites, lay_out, scaled
from incrowd.data.synth.recording import GPS, ROW, WIFI, new_phone, sense
from incrowd.data.synth.settings import Preset
from incrowd.data.synth.wander import new_life

__all__ = ["Sensors"]

CANDIDATES = 4  # antennas that may serve a phone
CAMPUSES = 5  # at the preset's own number of people

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


class Sensors:
    """Students with a recording phone.

    Parameters
    ----------
    preset
        What to imitate.
    users
        How many people there are.
    seed
        Where all chance comes from.
    """

    schema = SCHEMA

    def __init__(self, preset: Preset, users: int, seed: int) -> None:
        rng = np.random.Generator(np.random.PCG64(seed))
        share = users / preset.users
        self._antennas = lay_out(scaled(preset.land, share), rng).at
        buildings = lay_out(scaled(preset.buildings or preset.land, share), rng)
        self._buildings = _with_campuses(buildings, max(1, round(CAMPUSES * share)), rng)
        self._globe = Globe(preset)
        self._preset = preset
        self._seed = seed
        self._clock = Clock.of(preset)

    def places(self) -> pa.Table:
        """Give the GSM antennas; their ids are those of the column `place`."""
        lat, lon = self._globe.degrees(self._antennas[:, 0], self._antennas[:, 1])
        ids = pa.array([_antenna(index) for index in range(lat.size)])
        return pa.table({"id": ids, "lat": lat, "lon": lon})

    def batch(self, first: int, last: int) -> pa.RecordBatch:
        """Make people `first` to `last`, counted from 0 and without the last."""
        parts = [self._person(person) for person in range(first, last)]
        counts = [len(part) for part in parts]
        users = np.repeat(np.arange(first + 1, last + 1, dtype=np.int32), counts)
        rows = np.concatenate(parts)
        lat, lon = self._globe.degrees(rows["x"], rows["y"])
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
        """Make one person's rows."""
        days = self._preset.days
        room = round(24 * days * self._preset.activity.rate)
        while True:
            room *= 2
            rows = np.empty(room, ROW)
            count = sense(
                (self._seed, person, days, self._clock.weekday),
                self._buildings,
                self._antennas,
                self._preset.habits,
                self._preset.activity.sigma,
                new_life(days),
                new_phone(min(CANDIDATES, len(self._antennas))),
                rows,
            )
            if count >= 0:
                return rows[:count][self._clock.exists(rows["second"][:count])]


def _with_campuses(buildings: Sites, count: int, rng: np.random.Generator) -> Sites:
    """Have everybody study on one of some campuses: a building and its neighbours."""
    pull = np.zeros(len(buildings.at))
    for middle in rng.choice(pull.size, min(count, pull.size), replace=False):
        pull[[middle, *buildings.near[middle]]] += rng.lognormal(0.0, 0.5)
    return buildings._replace(pulling=np.cumsum(pull))


def _antenna(index: int) -> str:
    """Name an antenna."""
    return f"cell-{index + 1:06d}"


def _address(code: int) -> str:
    """Write an access point's address as MAC addresses are written."""
    return ":".join(f"{byte:02x}" for byte in int(code).to_bytes(6, "big"))


def _names(sensor: NDArray[np.int8], code: Words) -> pa.Array:
    """Name the place of each row; GPS has none."""
    named = np.flatnonzero(sensor != GPS)
    # The address space is 48 bits wide, so that the sensor fits in above it.
    key = code[named] | (sensor[named].astype(np.uint64) << np.uint64(48))
    distinct, which = np.unique(key, return_inverse=True)
    names = [
        _address(value & ((1 << 48) - 1)) if value >> 48 == WIFI else _antenna(value & 0xFFFFFFFF)
        for value in distinct.tolist()
    ]
    index = np.zeros(sensor.size, np.int64)
    index[named] = which
    lookup = pa.array(index, mask=sensor == GPS)
    return pa.array(names, pa.string()).take(lookup)
