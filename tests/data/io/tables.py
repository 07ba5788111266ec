"""Small tables of samples, and what is read from them."""

import csv

import polars as pl

import incrowd
from incrowd import Frame
from incrowd.data._frame import laea

TIMES = ["2012-03-05 07:31:00", "2012-03-05 09:02:00", "2012-03-06 18:40:00"]
PARIS = Frame(laea(48.85, 2.35))


def table(**changes):
    """Make three rows of two people, with columns changed."""
    columns = {
        "user": ["ann", "bob", "ann"],
        "time": TIMES,
        "lat": [48.85, 48.86, 48.87],
        "lon": [2.35, 2.36, 2.37],
    }
    return pl.DataFrame(columns | changes)


def moments(data):
    """Return when each sample starts, as text."""
    return [str(moment) for moment in data.frame.times(data.t0)]


def moments_of(values, **options):
    """Read times, one person each, and return them in UTC (None: refused)."""
    rows = table(user=range(len(values)), time=values, lat=48.85, lon=2.35)
    data = incrowd.read(rows, max_bad=1, slot=1, **options)
    found = dict(zip(data.people, moments(data), strict=True))
    return [found.get(user) for user in range(len(values))]


def write_rows(path, rows, header=("user", "time", "lat", "lon")):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([header, *rows])
