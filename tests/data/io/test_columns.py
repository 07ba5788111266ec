import polars as pl
import pytest

import incrowd
from data.io.tables import TIMES, table
from incrowd.data._io.columns import USUAL, find_by_usual_name, find_columns, refuse_duplicates
from incrowd.errors import (
    ColumnError,
    InputError,
)


def found(*names, no_position=False, **given):
    return find_columns(names, given, where="x.csv", no_position=no_position)


class TestFindColumns:
    @pytest.mark.parametrize("role", ["user", "time", "lat", "lon", "place"])
    def test_every_usual_name_is_found(self, role):
        base = {"user": "uid", "time": "ts", "lat": "lat", "lon": "lon"}
        for name in USUAL[role]:
            columns = [column for other, column in base.items() if other != role]
            assert found(*columns, name)[role] == name

    @pytest.mark.parametrize("name", ["User ID", "user_id", "userId", "USERID", "user-id"])
    def test_case_and_punctuation_do_not_matter(self, name):
        assert found(name, "time", "lat", "lon")["user"] == name

    def test_the_likeliest_wins(self):
        assert found("id", "user", "time", "lat", "lon")["user"] == "user"

    def test_degrees_come_before_a_geometry_and_metres(self):
        assert set(found("user", "time", "x", "y", "geom", "lat", "lon")) == {
            "user", "time", "lat", "lon",
        }  # fmt: skip
        assert set(found("user", "time", "x", "y", "geom")) == {"user", "time", "geometry"}
        assert set(found("user", "time", "x", "y")) == {"user", "time", "x", "y"}

    def test_what_is_given_comes_first(self):
        columns = found("user", "who", "time", "lat", "lon", "x", "y", user="who", x="x")
        assert columns == {"user": "who", "time": "time", "x": "x", "y": "y"}

    def test_what_is_given_may_be_spelt_differently(self):
        assert found("Caller Nr", "time", "lat", "lon", user="caller_nr")["user"] == "Caller Nr"

    def test_a_given_name_in_another_script_is_not_taken_for_any_other(self):
        with pytest.raises(ColumnError, match="no column '用户'"):
            found("时间", "time", "lat", "lon", user="用户")

    def test_cells_need_a_place_and_no_position(self):
        assert set(found("user", "time", "antenna", "lat", no_position=True)) == {
            "user",
            "time",
            "place",
        }

    @pytest.mark.parametrize(
        ("names", "words"),
        [
            (
                ("usr", "time", "lat", "lon"),
                r"for the user.*'usr', 'time'.*If it is 'usr', give user='usr'",
            ),
            (("user", "tme", "lat", "lon"), r"for the time.*If it is 'tme', give time='tme'"),
            (
                ("user", "time", "lattitude", "lon"),
                r"latitude \(lat\).*If it is 'lattitude', give lat='lattitude'",
            ),
            (("user", "time"), r"latitude \(lat\).*Usual names are lat, latitude"),
            (("user", "time", "x"), r"latitude \(lat\)"),
        ],
    )
    def test_a_missing_one_is_named_with_the_nearest(self, names, words):
        with pytest.raises(ColumnError, match=words):
            found(*names)

    def test_a_given_one_that_is_missing_is_named_with_the_nearest(self):
        with pytest.raises(ColumnError, match="no column 'calller'; did you mean 'caller'"):
            found("caller", "time", "lat", "lon", user="calller")

    def test_many_columns_are_not_all_listed(self):
        with pytest.raises(ColumnError, match="'c19' and 30 more"):
            found(*(f"c{i}" for i in range(50)))


class TestFindByUsualName:
    def test_gives_none_when_there_is_none(self):
        assert find_by_usual_name(["a", "b"], ["lat"]) is None

    def test_leaves_out_what_is_taken(self):
        assert find_by_usual_name(["id", "uid"], ["uid", "id"], taken={"uid"}) == "id"


class TestRefuseDuplicates:
    @pytest.mark.parametrize("names", [["lat", "lon", "lat"], ["lat", "LAT"]])
    def test_refuses_names_that_are_the_same_but_for_case(self, names):
        with pytest.raises(ColumnError, match="two columns are named"):
            refuse_duplicates(names, "x.csv")

    def test_columns_without_a_name_are_nobodys(self):
        refuse_duplicates(["lat", "", "lon", ""], "x.csv")


class TestColumns:
    def test_scikit_mobility(self):
        rows = table().rename({"user": "uid", "time": "datetime", "lon": "lng"})
        assert incrowd.read(rows) == incrowd.read(table())

    @pytest.mark.parametrize("time", ["tracked_at", "started_at"])
    def test_trackintel_with_points_in_text(self, time):
        points = [f"POINT ({2.35 + i / 100:.2f} {48.85 + i / 100:.2f})" for i in range(3)]
        rows = pl.DataFrame(
            {"id": [0, 1, 2], "user_id": ["ann", "bob", "ann"], time: TIMES, "geom": points}
        )
        assert incrowd.read(rows) == incrowd.read(table())

    def test_trackintel_with_degrees(self):
        rows = table(id=[0, 1, 2], elevation=[1, 2, 3]).rename(
            {"user": "user_id", "time": "tracked_at", "lon": "longitude", "lat": "latitude"}
        )
        assert incrowd.read(rows) == incrowd.read(table())

    def test_points_may_have_a_height_and_a_system(self):
        points = ["SRID=4326;POINT Z (2.35 48.85 33)", "point(2.35 48.85)", "POLYGON ((0 0))"]
        data = incrowd.read(table(geom=points).drop("lat", "lon"), max_bad=1)
        assert data.reading.rejects.counts == {"position is not a number": 2}

    @pytest.mark.parametrize(
        "name",
        [
            "east",
            "north",
            "user_id",
            "time_us",
            "zoned",
            "in_place",
            "reason",
            "shown",
            "in_time",
            "unusual",
        ],
    )
    def test_other_columns_do_not_get_in_the_way(self, name):
        assert incrowd.read(table(**{name: ["x", "y", "z"]})) == incrowd.read(table())

    def test_columns_without_a_name_do_not_get_in_the_way(self, tmp_path):
        (tmp_path / "x.csv").write_text("user,time,lat,lon,,\nann,2012-03-05,48,2,,\n")
        assert len(incrowd.read(tmp_path / "x.csv")) == 1

    def test_a_sensor_must_be_chosen(self):
        rows = table(sensor=["gps", "wifi", "gps"])
        with pytest.raises(InputError, match=r"several sensors \(gps, wifi\)"):
            incrowd.read(rows)
        assert incrowd.read(rows, sensor="GPS").people.to_list() == ["ann"]

    def test_rows_of_other_sensors_do_not_count(self):
        rows = table(sensor=["gps", "wifi", "gps"], time=["x", "x", TIMES[2]])
        data = incrowd.read(rows, sensor="gps", max_bad=1)
        assert data.reading.rows == 2
        assert [str(e) for e in data.reading.rejects.examples["time not understood"]] == [
            "frame:1: time=x"
        ]

    def test_a_sensor_that_is_not_told_cannot_be_chosen(self):
        with pytest.raises(ColumnError, match="no column named sensor"):
            incrowd.read(table(), sensor="gps")
