"""Random trajectories: few users, few cells and few slots, so that everything collides."""

import datetime as dt
import os
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import note
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import naive
from incrowd import Frame, Trajectories, Visits
from incrowd.data._frame import laea
from incrowd.measure._stretch.definition import Stretch

DEEP = os.environ.get("INCROWD_TESTS") == "deep"
"""Whether as many random cases are drawn as tests ask for, or fewer of them."""
in_deep = pytest.mark.skipif(
    not DEEP, reason="slow, and similar to another test; run by make test-deep"
)


def only_deep(*values):
    """Return parameters of a test that are tried in the deep profile only."""
    return [pytest.param(one, marks=in_deep) for one in values]


def few(number):
    """Return how many of so many random cases the everyday profile draws."""
    return min(number, max(25, number // 8))


def random_cases(number, **more):
    """Draw so many random cases in the deep profile, and fewer every day."""
    return hypothesis_settings(max_examples=number if DEEP else few(number), **more)


TEXT = st.text("ab\"',;é \U0001f600", min_size=1, max_size=3)
WHOLE = st.integers(-(2**63), 2**63 - 1)


def users():
    """Identifiers of one kind: text or whole numbers."""
    return st.one_of(
        st.lists(TEXT, min_size=1, max_size=5), st.lists(WHOLE, min_size=1, max_size=5)
    )


def sides(low, high, longest):
    """Draw start and end of a box along one axis."""
    return st.tuples(st.integers(low, high), st.integers(1, longest)).map(
        lambda side: (side[0], side[0] + side[1])
    )


@st.composite
def rows(draw, *, max_rows=30, cells=4, slots=6, longest=3):
    """Rows ``(user, x0, x1, y0, y1, t0, t1)`` in any order, some of them repeated."""
    names = draw(users())
    row = st.tuples(
        st.sampled_from(names),
        sides(-cells, cells, longest),
        sides(-cells, cells, longest),
        sides(-slots, slots, longest),
    )
    return [(user, *x, *y, *t) for user, x, y, t in draw(st.lists(row, max_size=max_rows))]


def table(rows):
    """Turn rows into a dict of columns."""
    names = ("user", "x0", "x1", "y0", "y1", "t0", "t1")
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


@st.composite
def trajectories(draw, *, frame=None, min_people=0, max_crowd=1, original=False, **limits):
    """Trajectories of up to five people, each with a sample at least."""
    longest = 1 if original else limits.pop("longest", 3)
    smallest = rows(longest=longest, **limits)
    if min_people:
        smallest = smallest.filter(lambda found: len({user for user, *_ in found}) >= min_people)
    data = Trajectories.from_boxes(table(draw(smallest)), frame or Frame())
    crowd = draw(st.lists(st.integers(1, max_crowd), min_size=len(data), max_size=len(data)))
    return Trajectories(
        data.columns,
        data.offsets,
        data.frame,
        people=data.people,
        crowd=np.array(crowd, np.int32),
    )


CLOCK_CHANGES = {
    "Europe/Paris": ["2012-03-25 02:30", "2012-10-28 02:30"],
    "America/New_York": ["2012-03-11 02:30", "2012-11-04 01:30"],
    "Africa/Casablanca": ["2019-05-05 02:30", "2019-06-09 02:30"],
    "Australia/Lord_Howe": ["2012-04-01 01:45", "2012-10-07 02:15"],
    "UTC": ["2012-01-01 00:00"],
}
"""Local times that come twice or never, by zone."""
BAD_TIMES = (
    "", "noon", "2012-13-01 00:00:00", "2012-02-30T07:00Z", "2012-01-01 25:00:00",
    "0001-01-01 00:00:00", "9999-12-31 23:59:59", "1969-12-31T23:59:59Z", "2100-01-01T00:00:00Z",
)  # fmt: skip
BAD_NUMBERS = ("", "x", "nan", "inf", "-inf", "181", "1e9", "-1000", "5,3", "0")


@st.composite
def raw_rows(draw, zone):
    """Rows ``(user, time, lat, lon)`` of text as files have them, some of them unusable."""
    near = [dt.datetime.fromisoformat(moment) for moment in CLOCK_CHANGES[zone]]
    moment = st.builds(
        lambda start, seconds: start + dt.timedelta(seconds=seconds),
        st.sampled_from(near),
        st.integers(-7200, 7200) | st.sampled_from([0, 30, 59, 60]) | st.floats(-90, 90),
    )
    offset = st.sampled_from(["Z", "+00:00", "+05:30", "-12:00", "+14:00", "+0545", "-03", " UTC"])
    good = st.builds(
        lambda when, apart, tail: (
            f"{when:%Y-%m-%d}{apart}{when:%H:%M:%S.%f}".removesuffix(".000000") + tail
        ),
        moment,
        st.sampled_from("T "),
        st.just("") | offset,
    )
    north = st.sampled_from(["48.85", "48.8502", "48.9", "4885e-2", "30"])
    east = st.sampled_from(["2.35", "2.350", "2.36", "2", "-12.5"])
    bad = st.sampled_from(BAD_NUMBERS)
    row = st.tuples(
        st.sampled_from(["ann", "Ann", "bob", " bob ", "0", "00", "", " "]),
        st.one_of(good, good, good, good, st.sampled_from(BAD_TIMES)),
        st.one_of(north, north, north, north, bad),
        st.one_of(east, east, east, east, bad),
    )
    return draw(st.lists(row, min_size=1, max_size=25))


CENTRES = ((90, 0), (-90, 0), (-17.5, 180), (65.1, -179.9), (0, 0), (48.9, 2.4), (-33.9, 151.2))
"""Centres of grids: both poles, the antimeridian, and where people live."""


@st.composite
def placed(draw):
    """Original trajectories on any grid anywhere on earth, with or without places."""
    # Mostly at places that are known already, because PROJ takes long to get to know one.
    known = st.sampled_from(CENTRES)
    anywhere = st.tuples(st.integers(-90, 90), st.integers(-180, 180))
    frame = Frame(
        laea(*draw(st.one_of(known, known, known, known, known, anywhere))),
        cell=draw(st.sampled_from([100, 0.5, 37.5, 1000, 20_000])),
        slot=draw(st.sampled_from([60, 1, 7, 3600, 86_400])),
        origin=draw(st.sampled_from([0, 1_325_376_000, 1_325_376_061])),
    )
    name = st.text("ab\"',;|\té \n\r0\U0001f600", min_size=1, max_size=4).map(_bare).filter(bool)
    names = draw(st.lists(name | WHOLE.map(str), min_size=1, max_size=4, unique=True))
    cell = st.integers(-60, 60)
    row = st.tuples(st.sampled_from(names), cell, cell, st.integers(0, 5000))
    found = draw(st.lists(row, min_size=1, max_size=12))
    data = Trajectories.from_boxes(
        dict(zip(("user", "x0", "y0", "t0"), zip(*found, strict=True), strict=True)), frame
    )
    kind = draw(st.sampled_from(["none", "numbered", "named"]))
    if kind == "none":
        return data
    codes = draw(st.lists(st.integers(0, 2), min_size=data.samples, max_size=data.samples))
    places = pl.Series(["007", 'é, "x"', "two\nlines"]) if kind == "named" else None
    place = np.array(codes, np.int32) if places is not None else np.array(codes, np.int32) * 5 - 5
    return Trajectories(
        data.columns, data.offsets, data.frame, people=data.people, place=place, places=places
    )


def _bare(text):
    """Take away what reading takes away: spaces around a name."""
    return text.strip(" ")


class Case(NamedTuple):
    """A dataset with everything that GLOVE is told about it."""

    data: Trajectories
    settings: naive.Settings = naive.DEFAULTS
    k: int = 2
    variant: str = "strict"
    reshape: str = "split"
    max_space: int | None = None
    max_time: int | None = None
    suppress: str = "boxes"

    def told(self):
        """Give what GLOVE is told, beside the data."""
        names = ("k", "variant", "reshape", "max_space", "max_time", "suppress")
        return {name: getattr(self, name) for name in names} | {"stretch": Stretch(*self.settings)}


def boxes(*, cells=3, slots=8, longest=3):
    """Boxes ``(x0, x1, y0, y1, t0, t1)``, close together."""
    across = sides(0, cells, longest)
    return st.tuples(across, across, sides(0, slots, longest)).map(
        lambda box: box[0] + box[1] + box[2]
    )


def crowded(people, crowd=None):
    """Make trajectories from lists of boxes, one a person."""
    rows = [(user, *box) for user, boxes in enumerate(people) for box in boxes]
    data = Trajectories.from_boxes(table(rows))
    if crowd is None:
        return data
    return Trajectories(
        data.columns, data.offsets, data.frame, people=data.people, crowd=np.array(crowd, np.int32)
    )


def noted(people, crowd):
    """Make trajectories that a failing test shows in full."""
    note(f"people = {people}, crowd = {crowd}")
    return crowded(people, crowd)


def sized(most, rarely):
    """Draw how many: up to `most`, and up to `rarely` at times."""
    usual = st.integers(2, most)
    return st.one_of(*[usual] * 9, st.integers(2, max(most, rarely)))


@st.composite
def settings(draw):
    """Thresholds that clip nearly everything, or the papers'; weights equal or not, or one 0."""
    weights = [(1, 1), (1, 1), (1, 2), (2, 1), (3, 1), (2, 3), (0, 1), (1, 0)]
    small = st.tuples(st.integers(2, 6), st.integers(2, 8))
    space, time = draw(st.one_of(small, small, st.just(naive.DEFAULTS[:2])))
    return naive.Settings(space, time, *draw(st.sampled_from(weights)))


@st.composite
def grown(
    draw, *, most=9, rarely=30, copies=None, max_crowd=4, lengths=(1, 2, 3, 4, 6), original=False
):
    """People of a few shapes, grown from a seed because drawing them one by one is slow."""
    number = draw(sized(most, rarely))
    longest = draw(st.sampled_from(lengths))
    equal = draw(st.booleans())
    cells, slots = draw(
        st.sampled_from([(2, 3), (3, 4), (4, 9), (4, 9), (1, 9), (9, 2), (600, 1500)])
    )
    side = 1 if original else draw(st.sampled_from([1, 1, 1, 3]))
    repeated = draw(st.sampled_from([0, 0.2, 0.6])) if copies is None else copies
    crowd = draw(st.sampled_from([1, 1, max_crowd]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    people = []
    for i in range(number):
        if i and rng.random() < repeated:
            people.append(people[rng.integers(i)])
            continue
        length = longest if equal else rng.integers(1, longest + 1)
        start = rng.integers([-1, 0, 0], [cells - 1, cells, slots], (length, 3))
        end = start + rng.integers(1, side + 1, (length, 3))
        people.append(np.stack([start, end], 2).reshape(length, 6).tolist())
    return noted(people, rng.integers(1, crowd + 1, number).tolist())


@st.composite
def drawn(draw, *, max_crowd=4):
    """A handful of people, drawn number by number so that they shrink well."""
    trajectory = st.lists(boxes(), min_size=1, max_size=4)
    people = draw(st.lists(trajectory, min_size=2, max_size=6))
    crowd = st.lists(st.integers(1, max_crowd), min_size=len(people), max_size=len(people))
    return noted(people, draw(crowd))


def collisions(*, max_crowd=4, **shape):
    """Trajectories in which costs tie, boxes repeat and thresholds clip."""
    many = grown(max_crowd=max_crowd, **shape)
    return st.one_of(many, many, many, drawn(max_crowd=max_crowd))


@st.composite
def cases(draw, data, *, k=None, variant=None, suppress=None):
    """Everything for GLOVE; there are people enough for one crowd of k at least."""
    found = draw(data)
    most = int(found.crowd.sum())
    suppress = draw(st.booleans()) if suppress is None else suppress
    space = draw(st.sampled_from([None, 1, 2, 3, 4, 6, 200])) if suppress else None
    time = draw(st.sampled_from([None, 1, 2, 4, 6, 8, 500])) if suppress else None
    return Case(
        found,
        draw(settings()),
        draw(st.integers(2, min(7, most))) if k is None else k,
        draw(st.sampled_from(["strict", "loose"])) if variant is None else variant,
        draw(st.sampled_from(["split", "union", "none"])),
        space,
        time,
        draw(st.sampled_from(["boxes", "samples"])) if (space, time) != (None, None) else "boxes",
    )


@st.composite
def visited(draw, *, most_people=6, most_visits=6):
    """Visits ``(user, place, time)`` of some people; some have all visits of another, and more."""
    visit = st.tuples(st.integers(0, draw(st.integers(0, 4))), st.integers(0, 5))
    people = draw(
        st.lists(
            st.lists(visit, min_size=1, max_size=most_visits), min_size=1, max_size=most_people
        )
    )
    for copy in draw(st.lists(st.sampled_from(range(len(people))), max_size=2)):
        people.append(people[copy] + draw(st.lists(visit, max_size=2)))
    return [(user, *one) for user, visits in enumerate(people) for one in visits]


def as_visits(rows):
    """Turn rows into visits."""
    columns = zip(*rows, strict=True)
    return Visits.from_rows(dict(zip(("user", "place", "time"), columns, strict=True)))
