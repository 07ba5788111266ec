"""What may be drawn of people: published records only, and few of them.

A published record is what everybody gets who gets the release, and stands for a whole crowd. The
ones drawn are those in the middle: as wide and as long as most.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from incrowd.data.trajectories import Trajectories

__all__ = ["drawn"]

RECORDS = 3
DAYS = 3
MOST = 150
"""Boxes drawn of a record, at most."""
DAY = 86_400


def drawn(published: "Trajectories", *, least: int) -> list[dict[str, Any]]:
    """Give a few published records as boxes: kilometres from the record's corner, hours.

    Only records that `least` people share are drawn, and only their first days. Positions count
    from the south-west corner of each record, times from the midnight (UTC) before its first box.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.report.drawing import drawn
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> found = drawn(incrowd.glove(city, k=2).trajectories, least=2)
    >>> len(found), sorted(found[0]["boxes"][0])
    (3, ['east', 'east_to', 'hour', 'hour_to', 'north', 'north_to'])
    """
    crowds = np.flatnonzero((published.crowd >= least) & (published.lengths() > 1))
    if not len(crowds):
        return []
    wide = np.maximum(published.x1 - published.x0, published.y1 - published.y0)
    owner = np.repeat(np.arange(len(published)), published.lengths())
    width = np.bincount(owner, wide, len(published)) / np.maximum(published.lengths(), 1)
    middle = crowds[np.argsort(width[crowds], kind="stable")]
    at = np.linspace(0, 1, RECORDS + 2)[1:-1] * (len(middle) - 1)
    chosen = dict.fromkeys(int(middle[round(index)]) for index in at)
    return [_record(published, index) for index in chosen]


def _record(published: "Trajectories", index: int) -> dict[str, Any]:
    frame, record = published.frame, published[index]
    start = int(record.t0[0]) * frame.slot + frame.origin
    midnight = start - start % DAY
    hour = (record.t0.astype(np.int64) * frame.slot + frame.origin - midnight) / 3600
    end = (record.t1.astype(np.int64) * frame.slot + frame.origin - midnight) / 3600
    kept = np.flatnonzero(hour < DAYS * 24)[:MOST]
    km = frame.cell / 1000
    west, south = int(record.x0[kept].min()), int(record.y0[kept].min())
    columns = {
        "east": (record.x0[kept] - west) * km,
        "east_to": (record.x1[kept] - west) * km,
        "north": (record.y0[kept] - south) * km,
        "north_to": (record.y1[kept] - south) * km,
        "hour": hour[kept],
        "hour_to": end[kept],
    }
    boxes = [
        {name: round(float(column[i]), 3) for name, column in columns.items()}
        for i in range(len(kept))
    ]
    return {"crowd": int(record.crowd), "boxes": boxes}
