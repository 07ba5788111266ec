"""Traces of several sensors, from one table or one table a sensor."""

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.errors import ArgumentError, InputError
from incrowd.evaluate._analysis.mechanism_effects import without_rare
from incrowd.measure._traces import met_at
from incrowd.measure._uniqueness.encoding import exceeding, people_at, places_of, points_of


def moments(*minutes):
    return [f"2012-03-05 {7 + minute // 60:02}:{minute % 60:02}" for minute in minutes]


WIFI = pl.DataFrame(
    {
        "user": [1, 1, 1, 1, 2],
        "sensor": "wifi",
        "place": ["a", "b", "c", "a", "a"],
        "lat": 45.75,
        "lon": 4.85,
        "time": moments(0, 1, 2, 3, 70),
    }
)
GPS = pl.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 2],
        "sensor": "gps",
        "place": None,
        "lat": [45.75, 45.75, 45.7501, 45.75, 45.75, 45.75],
        "lon": [4.85] * 6,
        "time": moments(0, 20, 40, 30, 50, 70),
    },
    schema_overrides={"place": pl.String},
)


class TestTraces:
    def test_one_table(self):
        found = incrowd.traces(pl.concat([WIFI, GPS]))
        assert list(found) == ["gps", "wifi"]
        assert found["gps"].visits.rows().rows() == [(1, 0, 7), (2, 0, 7), (2, 0, 8)]
        assert found["wifi"].visits.rows().rows() == [
            (1, 0, 7), (1, 1, 7), (1, 2, 7), (2, 0, 8),
        ]  # fmt: skip
        assert (found["gps"].met, found["wifi"].met) == (1, 3)

    def test_a_table_a_sensor(self, tmp_path):
        WIFI.drop("sensor").write_csv(tmp_path / "wifi.csv")
        GPS.drop("sensor").write_csv(tmp_path / "gps.csv")
        files = {name: tmp_path / f"{name}.csv" for name in ("gps", "wifi")}
        apart, whole = incrowd.traces(files), incrowd.traces(pl.concat([WIFI, GPS]))
        for name in files:
            assert apart[name].visits == whole[name].visits

    def test_time_alone_is_when_people_moved_or_stayed(self):
        found = incrowd.traces(pl.concat([WIFI, GPS]))
        when = {
            name: points_of(trace.visits, "temporal", **trace.how).lengths().reshape(-1).tolist()
            for name, trace in found.items()
        }
        assert when == {"gps": [1, 2], "wifi": [1, 0]}

    def test_a_part_of_the_land(self):
        far = WIFI.with_columns(lat=pl.Series([45.75, 48.0, 45.75, 45.75, 45.75]))
        [trace] = incrowd.traces(far, bbox=(4, 45, 5, 46)).values()
        assert set(trace.visits.places.gather(trace.visits.place)) == {"a", "c"}

    def test_some_sensors(self):
        assert list(incrowd.traces(pl.concat([WIFI, GPS]), sensors=["WiFi"])) == ["wifi"]

    def test_other_slots(self):
        assert incrowd.traces(WIFI, minutes=1)["wifi"].visits.time.tolist()[:4] == [
            420, 421, 422, 423,
        ]  # fmt: skip

    def test_refuses_a_sensor_without_data(self):
        with pytest.raises(InputError, match="no sensor 'gsm'; found: wifi"):
            incrowd.traces(WIFI, sensors=["gsm"])

    def test_a_name_alone_is_one_sensor(self):
        assert list(incrowd.traces(WIFI, sensors="wifi")) == ["wifi"]

    def test_refuses_two_of_one_name(self):
        with pytest.raises(ArgumentError, match="once"):
            incrowd.traces({"WiFi": WIFI, "wifi": WIFI})

    def test_refuses_a_table_without_sensors(self):
        with pytest.raises(InputError, match="no column for the sensor"):
            incrowd.traces(WIFI.drop("sensor"))

    @pytest.mark.parametrize("minutes", [0, -1, 0.001, float("nan")])
    def test_refuses_slots_that_are_none(self, minutes):
        with pytest.raises(ArgumentError, match=r"minutes, not|not a multiple"):
            incrowd.traces(WIFI, minutes=minutes)


class TestMetAt:
    def test_slots_of_the_data(self):
        data = incrowd.Trajectories.from_boxes({"user": [1], "x0": [0], "y0": [0], "t0": [0]})
        assert met_at(data, 60).precision == 60
        with pytest.raises(ArgumentError, match="not a multiple"):
            met_at(data, 0.5)


class TestSpread:
    def test_places_of_people_and_people_at_places(self):
        rows = {"user": [1, 1, 1, 2], "place": [5, 6, 5, 5], "time": [0, 1, 2, 3]}
        places = points_of(incrowd.Visits.from_rows(rows), "spatial")
        assert (places_of(places).tolist(), people_at(places).tolist()) == ([2, 1], [2, 1])

    def test_of_nothing_nothing_exceeds(self):
        assert exceeding(np.zeros(0, np.int64), np.array([1, 2])).tolist() == [0, 0]


class TestWithoutRare:
    def test_people_stay_even_with_nothing(self):
        rows = {"user": [1, 1, 2, 3], "place": [5, -6, 5, 9], "time": [0, 1, 2, 3]}
        left = without_rare(incrowd.Visits.from_rows(rows), 1)
        assert left.rows().rows() == [(1, 5, 0), (2, 5, 2)]
        assert len(left) == 3

    def test_everything_may_go(self):
        rows = {"user": [1], "place": [5], "time": [0]}
        assert len(without_rare(incrowd.Visits.from_rows(rows), 5).place) == 0
