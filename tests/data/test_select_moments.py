import datetime as dt

import numpy as np
import pytest

from incrowd.data._select import find_zone, seconds_of
from incrowd.errors import ArgumentError


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
        with pytest.raises(ArgumentError, match="a moment must be"):
            seconds_of(moment)


class TestFindZone:
    def test_knows_zones_by_name(self):
        assert find_zone("Africa/Abidjan").key == "Africa/Abidjan"

    @pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc", "Europe"])
    def test_refuses_what_is_no_zone(self, name):
        with pytest.raises(ArgumentError, match="unknown time zone"):
            find_zone(name)
