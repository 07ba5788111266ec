"""The time zone in which people live: given, or that which data was read with; else UTC, said so.

Nights, days and working hours are those of a wall clock. Whoever measures them takes the zone from
`known_zone`, or, where it has to have one, from `zone_or_utc`.
"""

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from incrowd._outside import outside
from incrowd.data._select import find_zone
from incrowd.errors import DataWarning

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "known_zone",
    "living_in",
    "zone_or_utc",
]


def known_zone(tz: str | None, data: Any = None) -> str | None:
    """Return the zone that was given, or with which data was read; None if nobody said it.

    Raises
    ------
    ArgumentError
        If there is no such zone.

    Examples
    --------
    >>> import incrowd
    >>> known_zone(None, incrowd.synthesize("florence", users=2)), known_zone(None)
    ('Europe/Rome', None)
    """
    zone = getattr(getattr(data, "reading", None), "local", None) if tz is None else tz
    if zone is not None:
        find_zone(zone)
    return zone


def living_in(data: "Trajectories", tz: str | None) -> "Trajectories":
    """Return the same data, of people who live in a zone; as it was read if none is given.

    Raises
    ------
    ArgumentError
        If there is no such zone.
    """
    if tz is None or data.reading is None:
        return data
    find_zone(tz)
    return type(data)(
        data.columns,
        data.offsets,
        data.frame,
        people=data.people,
        crowd=data.crowd,
        place=data.place,
        places=data.places,
        reading=replace(data.reading, local=tz),
    )


def zone_or_utc(tz: str | None, data: Any = None, *, where: str = "") -> str:
    """Return the same, or UTC with a warning: `where` things may be wrong, if not everywhere."""
    zone = known_zone(tz, data)
    if zone is None:
        warnings.warn(
            "the time zone in which people live is not known; UTC is assumed, so that days, nights "
            f"and working hours may be wrong{where} (give tz, or --local-tz)",
            DataWarning,
            stacklevel=outside(),
        )
    return zone or "UTC"
