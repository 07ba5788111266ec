"""A few published records that are drawn on the page: what a recipient gets."""

import datetime as dt

import numpy as np

from incrowd.data._select import find_zone
from incrowd.data._trajectories import Trajectories
from incrowd.report._numbers import Box, PublishedRecord

__all__ = ["sample_records"]

RECORDS, DAYS, MOST = 3, 3, 150
"""How many published records are drawn, of how many days, and how many boxes of each at most."""
DAY = 86_400


def sample_records(
    published: Trajectories, *, least: int, tz: str = "UTC"
) -> tuple[PublishedRecord, ...]:
    """Return a few published records as boxes: kilometres from the record's corner, hours.

    Only records that `least` people share are taken, those in the middle (as wide and as long as
    most), and only their first days. Positions count from the south-west corner of each record,
    times from the midnight before its first box, on the wall clock of the zone.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.report._sample_records import sample_records
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> found = sample_records(incrowd.glove(city, k=2).trajectories, least=2)
    >>> len(found), found[0].crowd, found[0].boxes[0].hour < 24
    (3, 2, True)
    """
    crowds = np.flatnonzero((published.crowd >= least) & (published.lengths() > 1))
    if not len(crowds):
        return ()
    wide = np.maximum(published.x1 - published.x0, published.y1 - published.y0)
    owner = np.repeat(np.arange(len(published)), published.lengths())
    width = np.bincount(owner, wide, len(published)) / np.maximum(published.lengths(), 1)
    middle = crowds[np.argsort(width[crowds], kind="stable")]
    at = np.linspace(0, 1, RECORDS + 2)[1:-1] * (len(middle) - 1)
    chosen = dict.fromkeys(int(middle[round(index)]) for index in at)
    return tuple(_record(published, index, find_zone(tz)) for index in chosen)


def _record(published: Trajectories, index: int, zone: dt.tzinfo) -> PublishedRecord:
    frame, record = published.frame, published[index]
    starts, ends = (
        np.array([_wall_clock(at * frame.slot + frame.origin, zone) for at in moments.tolist()])
        for moments in (record.t0, record.t1)
    )
    midnight = starts[0] - starts[0] % DAY
    hour, end = (starts - midnight) / 3600, (ends - midnight) / 3600
    kept = np.flatnonzero(hour < DAYS * 24)[:MOST]
    km = frame.cell / 1000
    west, south = int(record.x0[kept].min()), int(record.y0[kept].min())
    columns = (
        (record.x0[kept] - west) * km,
        (record.x1[kept] - west) * km,
        (record.y0[kept] - south) * km,
        (record.y1[kept] - south) * km,
        hour[kept],
        end[kept],
    )
    rows = zip(*columns, strict=True)
    boxes = (Box(*(round(float(value), 3) for value in row)) for row in rows)
    return PublishedRecord(int(record.crowd), tuple(boxes))


def _wall_clock(second: int, zone: dt.tzinfo) -> int:
    """Return a moment in seconds of the clock on the wall, as if it never was put forward."""
    there = dt.datetime.fromtimestamp(second, zone).utcoffset() or dt.timedelta()
    return second + int(there.total_seconds())
