"""From minutes or seconds of local time since the first midnight to moments in UTC.

People live by the clock on the wall; datasets are in UTC. When summer time begins, the clock
skips an hour: what the model puts there never happened, and `Clock.exists` says so.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from incrowd.compiled import Ints
from incrowd.data.synth.settings import Preset

__all__ = ["Clock"]

_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class Clock:
    """The wall clock of a preset.

    Attributes
    ----------
    hours
        Seconds since 1970 in UTC of the beginning of every local hour.
    real
        Whether the wall clock ever shows that hour.
    weekday
        Of the first day; Monday is 0.
    """

    hours: Ints
    real: NDArray[np.bool_]
    weekday: int

    @classmethod
    def of(cls, preset: Preset) -> "Clock":
        """Read the time zone's rules for all hours of a preset (and two days more)."""
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
        """Say of each local second whether the wall clock showed it."""
        return self.real[seconds // _HOUR]

    def utc(self, seconds: Ints) -> NDArray[np.datetime64]:
        """Turn local seconds since the first midnight into moments."""
        moments = self.hours[seconds // _HOUR] + seconds % _HOUR
        return (moments * 1_000).astype("datetime64[ms]")
