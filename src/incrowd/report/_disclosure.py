"""Statistical disclosure control: only what is true of enough people is told.

The edges of a dataset, in space and time, are those of whoever went farthest, was seen first or
seen last; she may not even be in the release. So edges are drawn where there are enough people.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._utility.aggregate import Map
    from incrowd.evaluate._verify.result import Check
    from incrowd.report._numbers import Numbers

__all__ = [
    "area_of",
    "days_of",
    "suppress_small_counts",
    "without_tails",
]


SUPPRESSED = "not shown, because it would be that of few people"
HIDDEN = ("people_dropped", "samples_dropped")
DAY = 86_400


def days_of(data: "Trajectories", least: int) -> dict[str, Any]:
    """Give the first and the last day (UTC) on which so many people were seen, and their number.

    Where there is no such day, all are None.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.report._disclosure import days_of
    >>> days_of(incrowd.synthesize("city", users=40, seed=7), least=10)
    {'start': '2012-03-05', 'end': '2012-03-18', 'days': 14}
    """
    day = (data.t0.astype(np.int64) * data.frame.slot + data.frame.origin) // DAY
    fresh = np.ones(len(day), np.bool_)
    fresh[1:] = day[1:] != day[:-1]
    fresh[data.offsets[:-1][data.lengths() > 0]] = True
    days, people = np.unique(day[fresh], return_counts=True)
    enough = days[people >= least]
    if not len(enough):
        return {"start": None, "end": None, "days": None}
    first, last = int(enough[0]), int(enough[-1])
    start, end = (str(dt.date(1970, 1, 1) + dt.timedelta(days=at)) for at in (first, last))
    return {"start": start, "end": end, "days": last - first + 1}


def area_of(about: "Map") -> float | None:
    """Return the area of a map's squares with people enough in the original, in km2.

    Examples
    --------
    >>> from incrowd.evaluate._utility.aggregate import Map
    >>> from incrowd.report._disclosure import area_of
    >>> area_of(Map(None, 500.0, 0.0, 0.0, 2, 1, 10, ((3, 7, 12, None), (4, 7, None, 28))))
    0.25
    """
    shown = sum(cell[2] is not None for cell in about.cells)
    return shown * (about.side_m / 1000) ** 2 if shown else None


def without_tails(
    quantiles: Mapping[float, float | None], people: int, least: int
) -> dict[float, float | None]:
    """Leave out the quantiles that fewer than `least` people lie beyond.

    Examples
    --------
    >>> from incrowd.report._disclosure import without_tails
    >>> without_tails({0.05: 1.0, 0.5: 2.0, 0.9: 3.0, 0.95: 4.0}, people=100, least=10)
    {0.5: 2.0, 0.9: 3.0}
    """
    return {
        share: value
        for share, value in quantiles.items()
        if round(min(share, 1 - share) * people, 6) >= least
    }


def suppress_small_counts(numbers: "Numbers") -> "Numbers":
    """Put words in place of what is counted of fewer than k people who were left out.

    How many samples were dropped with them would be the number of somebody's.
    """
    k = numbers.verification.k or 0
    losses = dict(numbers.settings.losses)
    dropped = losses.get("people_dropped")
    if not isinstance(dropped, int) or not 0 < dropped < k:
        return numbers
    for name, value in losses.items():
        if name.startswith("people") and value:
            losses[name] = f"fewer than {k}"
    if "samples_dropped" in losses:
        losses["samples_dropped"] = SUPPRESSED
    proof = numbers.verification
    checks = tuple(_without_counts(check, k) for check in proof.checks)
    return replace(
        numbers,
        settings=replace(numbers.settings, losses=losses),
        verification=replace(proof, checks=checks),
    )


def _without_counts(check: "Check", k: int) -> "Check":
    if check.name != "membership" or not check.ok:
        return check
    known = {name: of for name, of in check.figures.items() if name not in HIDDEN}
    says = (
        f"Everybody is published once, or counted as dropped: fewer than {k} people; no "
        "identifier of the input occurs."
    )
    return replace(check, figures=known, says=says)
