"""What may be told of where and when people of the original were: what is true of enough of them.

The edges of a dataset, in space and time, are those of whoever went farthest, was seen first or
seen last; she may not even be in the release. So edges are drawn where there are enough people.
"""

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from incrowd.data.trajectories import Trajectories

__all__ = ["area_of", "cropped", "days_of", "without_tails"]

DAY = 86_400


def days_of(data: "Trajectories", least: int) -> dict[str, Any]:
    """Give the first and the last day (UTC) on which so many people were seen, and their number.

    Where there is no such day, all are None.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.report.telling import days_of
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


def cropped(about: dict[str, Any]) -> dict[str, Any]:
    """Cut a map to the squares that are shown.

    Examples
    --------
    >>> from incrowd.report.telling import cropped
    >>> whole = {"side_m": 500.0, "west_m": 0.0, "south_m": 0.0, "columns": 60, "rows": 60,
    ...          "cells": [[3, 7, 12, None], [4, 7, 30, 28]]}
    >>> cut = cropped(whole)
    >>> cut["cells"], cut["columns"], cut["rows"], cut["west_m"]
    ([[0, 0, 12, None], [1, 0, 30, 28]], 2, 1, 1500.0)
    """
    cells = about["cells"]
    if not cells:
        return about | {"west_m": None, "south_m": None, "columns": 0, "rows": 0}
    column, row = (min(cell[i] for cell in cells) for i in (0, 1))
    return about | {
        "west_m": about["west_m"] + column * about["side_m"],
        "south_m": about["south_m"] + row * about["side_m"],
        "columns": 1 + max(cell[0] for cell in cells) - column,
        "rows": 1 + max(cell[1] for cell in cells) - row,
        "cells": [[cell[0] - column, cell[1] - row, *cell[2:]] for cell in cells],
    }


def area_of(about: Mapping[str, Any]) -> float | None:
    """Give the area of a map's squares with people enough in the original, in km2.

    Examples
    --------
    >>> from incrowd.report.telling import area_of
    >>> area_of({"side_m": 500.0, "cells": [[3, 7, 12, None], [4, 7, None, 28]]})
    0.25
    """
    shown = sum(cell[2] is not None for cell in about["cells"])
    return shown * (about["side_m"] / 1000) ** 2 if shown else None


def without_tails(quantiles: Mapping[str, Any], people: int, least: int) -> dict[str, Any]:
    """Leave out the quantiles that fewer than `least` people lie beyond.

    Examples
    --------
    >>> from incrowd.report.telling import without_tails
    >>> without_tails({"0.05": 1.0, "0.5": 2.0, "0.9": 3.0, "0.95": 4.0}, people=100, least=10)
    {'0.5': 2.0, '0.9': 3.0}
    """
    return {
        share: value
        for share, value in quantiles.items()
        if round(min(float(share), 1 - float(share)) * people, 6) >= least
    }
