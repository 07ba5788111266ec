import datetime as dt
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import strategies
from incrowd import Frame, Trajectories
from incrowd.data._frame import laea
from incrowd.data._select import find_zone, seconds_of, select
from incrowd.errors import ArgumentError
from strategies import random_cases

DAY = 1440
# Two days before clocks went forward in New York, on the antimeridian.
START = dt.datetime(2012, 3, 9, tzinfo=dt.UTC)
FIJI = Frame(laea(-17, 180), cell=10_000, slot=3600, origin=int(START.timestamp()))


def seen(*days, user="ann", times=1):
    """Give rows of a user who is seen so many times on each of some days."""
    return [(user, x, 0, day * DAY + 60) for day in days for x in range(times)]


def make(*rows, frame=None):
    names = ("user", "x0", "y0", "t0")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return Trajectories.from_boxes(columns, frame)


def users(data):
    return data.people.to_list()


moments = st.integers(-80, 80).map(lambda hours: START + dt.timedelta(hours=hours / 2))
conditions = st.fixed_dictionaries(
    {},
    optional={
        "bbox": st.sampled_from(
            [(179.8, -18, -179.8, -16.9), (-180, -17, -179, 0), (0, -90, 180, 90)]
        ),
        "time": st.tuples(moments, moments).filter(lambda pair: pair[0] < pair[1]),
        "per_day": st.sampled_from([0.1, 0.3, 0.5, 1, 1.5]),
        "active": st.sampled_from([0.1, 0.25, 0.3, 0.5, 1]),
        "every_day": st.booleans(),
        "zone": st.sampled_from(["UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Fiji"]),
        "share": st.sampled_from([0.01, 0.1, 0.3, 0.5, 1]),
    },
)


class TestSelect:
    @random_cases(300)
    @given(
        data=strategies.trajectories(frame=FIJI, slots=40, max_crowd=2),
        how=conditions,
        some=st.none() | st.sets(st.integers(0, 4)),
    )
    def test_is_what_the_oracle_says(self, data, how, some):
        wanted = None if some is None else [data.people[i] for i in sorted(some) if i < len(data)]
        got = select(data, people=wanted, **how, seed=5)
        assert naive.people_of(got) == naive.select(
            naive.people_of(data), data.frame, wanted=wanted, **how, seed=5
        )
        assert got.frame == data.frame

    @given(data=strategies.trajectories())
    def test_nothing_asked_gives_the_same_object(self, data):
        assert select(data) is data

    def test_nothing_taken_away_gives_the_same_object(self):
        data = make(*seen(0, 1), *seen(0, 1, user="bob"), frame=FIJI)
        same = select(
            data,
            people=["bob", "ann"],
            bbox=(-180, -90, 180, 90),
            time=("2000-01-01", "2100-01-01"),
            share=1,
            seed=3,
        )
        assert same is data
        assert select(data, per_day=1e-9, active=0.001) is data

    @pytest.mark.parametrize(
        "how",
        [
            {"people": []},
            {"bbox": (0, 0, 1, 1)},
            {"time": ("2000-01-01", "2000-01-02")},
            {"per_day": 99},
        ],
    )
    def test_nothing_left_is_empty(self, how):
        empty = select(make(*seen(0, 1), frame=FIJI), **how)
        assert (len(empty), empty.samples) == (0, 0)
        assert len(select(empty, per_day=1, active=1, every_day=True, share=0.5, seed=1)) == 0


class TestPeople:
    DATA = make(("7", 0, 0, 0), ("8", 0, 0, 0), ("9", 0, 0, 0))

    @pytest.mark.parametrize(
        "people",
        [
            ["9", "7"],
            ("7", "9", "7"),
            {"7", "9"},
            (name for name in "79"),
            [7, 9],
            np.array([7, 9]),
            pl.Series(["7", "9"]),
            pd.Series([9, 7]),
        ],
    )
    def test_are_named_in_any_way_and_keep_their_order(self, people):
        assert users(select(self.DATA, people=people)) == ["7", "9"]

    def test_unknown_ones_are_counted_and_some_are_named(self):
        text = r"5 of the 6 people .* 'a', 'b', 'c' and 2 more; give identifiers"
        with pytest.raises(ArgumentError, match=text):
            select(self.DATA, people=["a", "b", "7", "c", "d", "e"])

    def test_nobody_is_unknown(self):
        with pytest.raises(ArgumentError, match=r"1 of the 2 people .* None"):
            select(self.DATA, people=["7", None])

    @pytest.mark.parametrize("people", ["789", b"7", 7, ["7", object()]])
    def test_anything_else_is_refused(self, people):
        with pytest.raises(ArgumentError, match="people must be"):
            select(self.DATA, people=people)


class TestBbox:
    def test_keeps_samples_whose_centre_is_inside(self):
        frame = Frame(laea(5, -4))
        data = make(("ann", 0, 0, 0), ("ann", 500, 0, 1), ("bob", 0, 500, 0), frame=frame)
        city = select(data, bbox=(-4.1, 4.9, -3.9, 5.1))
        assert city.boxes().rows() == [("ann", 0, 1, 0, 1, 0, 1)]

    def test_reaches_across_the_antimeridian(self):
        data = make(("west", -1, 0, 0), ("east", 0, 0, 0), ("far", 90, 0, 0), frame=FIJI)
        assert users(select(data, bbox=(179, -18, -179, -16))) == ["west", "east"]
        assert users(select(data, bbox=(-180, -18, -179, -16))) == ["east"]

    def test_needs_a_crs(self):
        with pytest.raises(ArgumentError, match="give a Frame with a crs"):
            select(make(*seen(0)), bbox=(0, 0, 1, 1))

    @pytest.mark.parametrize(
        "bbox",
        [
            (0, 0, 1),
            7,
            "0,0,1,1",
            (0, 1, 1, 0),
            (0, -91, 1, 0),
            (0, 0, 181, 1),
            (-181, 0, 0, 1),
            (0, 0, float("nan"), 1),
            (float("nan"), 0, 1, 1),
            (0, float("nan"), 1, 1),
            (None, 0, 1, 1),
        ],
    )
    def test_what_is_no_area_is_refused(self, bbox):
        with pytest.raises(ArgumentError, match=r"bbox must be \(west, south, east, north\)"):
            select(make(*seen(0), frame=FIJI), bbox=bbox)


class TestTime:
    DATA = make(*((f"m{minute}", 0, 0, minute) for minute in range(4)))

    @pytest.mark.parametrize(
        ("start", "end"),
        [
            ("1970-01-01T00:01", "1970-01-01T00:03"),
            ("1970-01-01T00:01:00Z", "1970-01-01T01:03:00+01:00"),
            ("1970-01-01T00:00:00.5", "1970-01-01T00:02:00.000001"),
            (dt.datetime(1970, 1, 1, 0, 1), dt.datetime(1970, 1, 1, 0, 3, tzinfo=dt.UTC)),
            (np.datetime64("1970-01-01T00:01"), np.datetime64("1970-01-01T00:03")),
            (
                np.datetime64("1970-01-01T00:00:00.000000001"),
                np.datetime64("1970-01-01T00:02:00.000000001"),
            ),
        ],
    )
    def test_is_half_open_and_exact(self, start, end):
        assert users(select(self.DATA, time=(start, end))) == ["m1", "m2"]

    def test_may_be_open_on_either_side(self):
        everyone = users(self.DATA)
        start, end = "1970-01-01T00:01", "1970-01-01T00:03"
        assert users(select(self.DATA, time=(None, None))) == everyone
        assert users(select(self.DATA, time=(start, None))) == everyone[everyone.index("m1") :]
        assert users(select(self.DATA, time=(None, end))) == everyone[: everyone.index("m2") + 1]

    def test_an_open_window_spans_the_days_of_the_data(self):
        data = make(("a", 0, 0, 0), ("a", 0, 0, 1440), ("b", 0, 0, 1441))
        assert users(select(data, time=("1970-01-01", None), every_day=True)) == ["a"]
        assert users(select(data, time=("1970-01-02", None), every_day=True)) == ["a", "b"]

    def test_counts_from_the_origin_of_the_frame(self):
        data = make(
            *((f"s{slot}", 0, 0, slot) for slot in (-1, 0, 1)), frame=Frame(slot=7, origin=3)
        )
        assert users(select(data, time=("1970-01-01T00:00:03", "1970-01-01T00:00:10"))) == ["s0"]

    @pytest.mark.parametrize("moment", ["noon", 7, np.datetime64("NaT"), dt.time(12), "2012-13-01"])
    def test_what_is_no_moment_is_refused(self, moment):
        with pytest.raises(ArgumentError, match="a time must be a datetime or text such as"):
            select(self.DATA, time=(moment, "2012-01-02"))

    @pytest.mark.parametrize("time", ["2012-01-01", 7, ("2012-01-01",), ("a", "b", "c")])
    def test_what_is_no_pair_is_refused(self, time):
        with pytest.raises(ArgumentError, match=r"time must be \(start, end\)"):
            select(self.DATA, time=time)

    def test_must_end_after_it_starts(self):
        with pytest.raises(ArgumentError, match="with the end after the start"):
            select(self.DATA, time=("2012-01-02", "2012-01-02"))


class TestPerDay:
    def test_is_an_average_over_all_days(self):
        data = make(*seen(0, times=3), *seen(0, 1, user="bob"), *seen(2, user="cyd"))
        assert users(select(data, per_day=1)) == ["ann"]

    def test_has_no_surprise_of_floats(self):
        # 0.1 * 30 is a little more than 3 in floats.
        data = make(*seen(0, 5, 29))
        assert users(select(data, per_day=0.1)) == ["ann"]

    @pytest.mark.parametrize("per_day", [0, -1, float("nan"), float("inf"), "many", True])
    def test_must_be_above_0(self, per_day):
        with pytest.raises(ArgumentError, match="per_day must be a number greater than 0, not"):
            select(make(*seen(0)), per_day=per_day)


class TestActive:
    def test_is_at_least_a_share_of_the_days(self):
        data = make(*seen(0, 1, 2), *seen(0, 3, times=5, user="bob"))
        assert users(select(data, active=0.75)) == ["ann"]
        assert users(select(data, active=0.5)) == ["ann", "bob"]
        assert users(select(data, active=Fraction(3, 4))) == ["ann"]

    def test_the_papers_share_of_14_days_is_11(self):
        data = make(*seen(*range(11)), *seen(*range(4, 14), user="bob"))
        assert users(select(data, active=0.75)) == ["ann"]

    def test_days_are_those_of_the_zone(self):
        # 23:30 and 00:30 in UTC are one evening in New York.
        data = make(("ann", 0, 0, 1410), ("ann", 0, 0, 1470), ("bob", 0, 0, 4000))
        assert users(select(data, active=0.6)) == ["ann"]
        assert users(select(data, active=0.6, zone="America/New_York")) == []

    def test_the_window_says_how_many_days_there_are(self):
        data = make(*seen(1, 2))
        week = ("1970-01-01", "1970-01-08")
        assert users(select(data, active=0.5)) == ["ann"]
        assert users(select(data, active=0.5, time=week)) == []
        assert users(select(data, active=0.28, time=week)) == ["ann"]

    @pytest.mark.parametrize("active", [0, 1.01, -0.5, "all"])
    def test_must_be_a_share(self, active):
        with pytest.raises(
            ArgumentError, match="active must be a number greater than 0 and at most 1"
        ):
            select(make(*seen(0)), active=active)


class TestEveryDay:
    def test_one_missing_day_is_too_many(self):
        data = make(*seen(0, 1, 2), *seen(0, 2, times=9, user="bob"))
        assert users(select(data, every_day=True)) == ["ann"]

    def test_a_day_on_which_nobody_was_seen_counts(self):
        assert users(select(make(*seen(0, 2)), every_day=True)) == []


class TestZone:
    @pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", None])
    def test_must_be_known(self, zone):
        with pytest.raises(ArgumentError, match=r"unknown time zone .*; give one such as"):
            select(make(*seen(0)), zone=zone)


class TestShare:
    DATA = make(*((user, 0, 0, 0) for user in range(10)))

    @pytest.mark.parametrize(
        ("share", "people"), [(0.01, 1), (0.14, 1), (0.15, 2), (0.25, 3), (0.5, 5), (1, 10)]
    )
    def test_rounds_half_up_to_one_at_least(self, share, people):
        assert len(select(self.DATA, share=share, seed=1)) == people

    def test_keeps_the_order_of_people(self):
        chosen = users(select(self.DATA, share=0.5, seed=1))
        assert chosen == sorted(chosen)

    def test_is_the_same_for_the_same_seed(self):
        first = select(self.DATA, share=0.5, seed=1)
        assert first == select(self.DATA, share=0.5, seed=np.random.default_rng(1))
        assert first != select(self.DATA, share=0.5, seed=2)

    def test_is_a_share_of_those_who_passed(self):
        assert len(select(self.DATA, people=range(4), share=0.5, seed=1)) == 2

    def test_needs_a_seed(self):
        with pytest.raises(ArgumentError, match="needs a seed"):
            select(self.DATA, share=0.5)

    @pytest.mark.parametrize("seed", [-1, 1.5, "one"])
    def test_the_seed_must_be_one(self, seed):
        with pytest.raises(ArgumentError, match="seed must be an integer of at least 0"):
            select(self.DATA, share=0.5, seed=seed)

    @pytest.mark.parametrize("share", [0, 1.5, -1, float("nan")])
    def test_must_be_a_share(self, share):
        with pytest.raises(
            ArgumentError, match="share must be a number greater than 0 and at most 1"
        ):
            select(self.DATA, share=share, seed=1)


class TestSecondsOf:
    @pytest.mark.parametrize(
        "moment",
        [
            "1970-01-02",
            "1970-01-02T01:00+01:00",
            dt.date(1970, 1, 2),
            dt.datetime(1970, 1, 2),
            dt.datetime(1970, 1, 1, 19, tzinfo=dt.timezone(dt.timedelta(hours=-5))),
            np.datetime64("1970-01-02"),
        ],
    )
    def test_takes_moments_of_any_kind(self, moment):
        assert seconds_of(moment) == 86_400

    @pytest.mark.parametrize(
        "moment", ["1970-01-01T23:59:59.000001", np.datetime64("1970-01-01T23:59:59.000000001")]
    )
    def test_is_never_before_the_moment(self, moment):
        assert seconds_of(moment) == 86_400

    def test_counts_backwards_before_1970(self):
        assert seconds_of("1969-12-31T23:59:58.5") == -1

    @pytest.mark.parametrize("moment", ["soon", "", 7, None, np.datetime64("NaT"), dt.time(12)])
    def test_refuses_what_is_no_moment(self, moment):
        with pytest.raises(ArgumentError, match="a time must be"):
            seconds_of(moment)


class TestFindZone:
    def test_knows_zones_by_name(self):
        assert find_zone("Africa/Abidjan").key == "Africa/Abidjan"

    @pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc", "Europe"])
    def test_refuses_what_is_no_zone(self, name):
        with pytest.raises(ArgumentError, match="unknown time zone"):
            find_zone(name)
