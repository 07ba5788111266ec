import datetime as dt

import numpy as np
import pytest

import incrowd
import naive
from data.io.tables import TIMES, table
from incrowd.data._io.batches import to_utc
from incrowd.data._select import find_zone
from incrowd.errors import (
    ArgumentError,
)

ZONES = [
    "Europe/Paris",
    "America/New_York",
    "Africa/Casablanca",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "America/St_Johns",
]


def microseconds(moment):
    return (moment - dt.datetime(1970, 1, 1, tzinfo=moment.tzinfo)) // dt.timedelta(microseconds=1)


def local_time(number):
    return dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=int(number))


def one(text, zone):
    """Give a local time in UTC, and how many were ambiguous and missing."""
    moment, ambiguous, missing = to_utc(
        np.array([microseconds(dt.datetime.fromisoformat(text))]), zone
    )
    return str(moment.astype("datetime64[us]").astype("datetime64[s]")[0]), ambiguous, missing


class TestToUtc:
    @pytest.mark.parametrize("zone", ZONES)
    def test_gives_what_zoneinfo_gives(self, zone):
        rng = np.random.default_rng(11)
        first, last = (microseconds(dt.datetime(year, 1, 1)) for year in (1970, 2100))
        local = rng.integers(first, last, 2000)
        expected = [naive.to_utc(local_time(number), zone) for number in local]
        moment, ambiguous, missing = to_utc(local, zone)
        assert moment.tolist() == [microseconds(utc) for utc, _, _ in expected]
        assert ambiguous == sum(twice for _, twice, _ in expected)
        assert missing == sum(never for _, _, never in expected)

    @pytest.mark.parametrize("zone", ZONES)
    def test_gives_what_zoneinfo_gives_around_clock_changes(self, zone):
        hours = (dt.datetime(2011, 1, 1) + dt.timedelta(minutes=15 * n) for n in range(35_040))
        around = [
            hour + dt.timedelta(seconds=s)
            for hour in hours
            if naive.to_utc(hour, zone)[0] + dt.timedelta(minutes=15)
            != naive.to_utc(hour + dt.timedelta(minutes=15), zone)[0]
            for s in (-5400, -1, 0, 1, 899, 900, 901, 1800, 5400)
        ]
        around.append(dt.datetime(2011, 7, 1))
        expected = [naive.to_utc(moment, zone) for moment in around]
        moment, ambiguous, missing = to_utc(np.array([microseconds(m) for m in around]), zone)
        assert moment.tolist() == [microseconds(utc) for utc, _, _ in expected]
        assert ambiguous == sum(twice for _, twice, _ in expected)
        assert missing == sum(never for _, _, never in expected)

    def test_an_hour_that_comes_twice_is_the_first(self):
        assert one("2012-10-28 02:30", "Europe/Paris") == ("2012-10-28T00:30:00", 1, 0)

    def test_an_hour_that_never_comes_is_an_hour_later(self):
        assert one("2012-03-25 02:30", "Europe/Paris") == ("2012-03-25T01:30:00", 0, 1)

    def test_half_an_hour_can_come_twice(self):
        assert one("2012-04-01 01:45", "Australia/Lord_Howe") == ("2012-03-31T14:45:00", 1, 0)

    @pytest.mark.parametrize("zone", ["Europe/Paris", "America/New_York"])
    @pytest.mark.parametrize("year", [1, 2, 9998, 9999])
    def test_the_first_and_the_last_years_can_be_told(self, zone, year):
        local = np.array([microseconds(dt.datetime(year, 7, 1))])
        moment, _, _ = to_utc(local, zone)
        assert abs(int(moment[0] - local[0])) < 86_400 * 10**6

    def test_nothing_gives_nothing(self):
        assert to_utc(np.empty(0, np.int64), "Europe/Paris")[0].tolist() == []


class TestFindZone:
    @pytest.mark.parametrize("name", ["Nowhere/Land", "", "Europe", "/etc/passwd", "a\0b"])
    def test_refuses_what_is_no_zone(self, name):
        with pytest.raises(ArgumentError, match="unknown time zone"):
            find_zone(name)


class TestRowChecker:
    def test_clock_changes_are_counted(self):
        times = ["2012-10-28 02:30:00", "2012-03-25 02:30:00", "2012-03-25 03:30:00"]
        data = incrowd.read(table(time=times), tz="Europe/Paris")
        assert (data.reading.ambiguous, data.reading.missing) == (1, 1)

    @pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "America/New_York"])
    def test_years_that_no_clock_shows_are_outside_the_window(self, zone):
        times = ["0001-01-01 00:00:00", "9999-12-31 23:59:59", TIMES[0]]
        data = incrowd.read(table(time=times), tz=zone, max_bad=1)
        assert data.reading.rejects.counts == {"time outside the window": 2}

    def test_the_window_is_half_open(self):
        data = incrowd.read(table(), window=(TIMES[0], TIMES[2]), max_bad=0.5)
        assert data.reading.rejects.counts == {"time outside the window": 1}

    @pytest.mark.parametrize("slot", [1, 7, 60, 3600, 86_400])
    def test_slots_start_where_the_grid_says(self, slot):
        data = incrowd.read(table(), slot=slot)
        for moment, row in zip(data.frame.times(data.t0), (0, 2, 1), strict=True):
            away = np.datetime64(TIMES[row]) - moment
            assert np.timedelta64(0, "s") <= away < np.timedelta64(slot, "s")
