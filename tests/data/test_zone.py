"""The time zone in which people live: given, known from reading, or UTC with a warning."""

import warnings

import polars as pl
import pytest

import incrowd
from incrowd.data._synthetic.presets import PRESETS
from incrowd.errors import ArgumentError, DataWarning

ROWS = pl.DataFrame(
    {
        "user": ["ann"] * 3 + ["bob"] * 3,
        "time": ["2024-03-05 07:31", "2024-03-05 13:31", "2024-03-05 21:31"] * 2,
        "lat": [14.7, 14.8, 14.7] * 2,
        "lon": [-17.4, -17.4, -17.4] * 2,
    }
)
MEASURES = (incrowd.utility, incrowd.inference)


def beside(data):
    """Pair data with what is published of it, and refuse every warning from then on."""
    return incrowd.of_release(data, incrowd.glove(data, k=2))


@pytest.mark.parametrize("measure", MEASURES)
class TestUnlessGiven:
    def test_is_that_of_reading(self, measure):
        pair = beside(incrowd.read(ROWS, tz="Asia/Tokyo"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert measure(pair) == measure(pair, tz="Asia/Tokyo")
            assert measure(pair).tz == "Asia/Tokyo"
            assert measure(pair, tz="UTC").tz == "UTC"

    def test_utc_that_was_given_is_known(self, measure):
        pair = beside(incrowd.read(ROWS, tz="UTC"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert measure(pair).tz == "UTC"

    def test_is_utc_with_a_warning_if_nobody_said_it(self, measure):
        pair = beside(incrowd.read(ROWS))
        with pytest.warns(DataWarning, match="the time zone in which people live is not") as told:
            assert measure(pair).tz == "UTC"
        assert [one.filename for one in told] == [__file__]

    def test_wrong_ones_are_refused(self, measure):
        pair = beside(incrowd.read(ROWS))
        for wrong in ("", "Mars/Olympus"):
            with pytest.raises(ArgumentError, match="unknown time zone"):
                measure(pair, tz=wrong)


@pytest.mark.parametrize("preset", PRESETS)
def test_synthetic_people_live_where_their_land_is(preset):
    data = incrowd.synthesize(preset, users=4)
    assert data.reading.local == PRESETS[preset].timezone
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        some = data[[2, 0, 1]]
        assert incrowd.utility(incrowd.BeforeAfter(some, some, None)).tz == some.reading.local
