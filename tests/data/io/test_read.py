import csv
import datetime as dt
import gzip
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd import Frame
from incrowd.data._frame import laea
from incrowd.errors import (
    ArgumentError,
    ColumnError,
    DataWarning,
    InputError,
    PlaceError,
    RowError,
    UnreadableError,
)

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
    """Give when each sample starts, as text."""
    return [str(moment) for moment in data.frame.times(data.t0)]


def moments_of(values, **options):
    """Read times, one person each, and give them in UTC (None: refused)."""
    rows = table(user=range(len(values)), time=values, lat=48.85, lon=2.35)
    data = incrowd.read(rows, max_bad=1, slot=1, **options)
    found = dict(zip(data.people, moments(data), strict=True))
    return [found.get(user) for user in range(len(values))]


def write_rows(path, rows, header=("user", "time", "lat", "lon")):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([header, *rows])


class TestOracle:
    @settings(max_examples=100)
    @given(st.data())
    def test_gives_what_plain_python_gives(self, draw):
        zone = draw.draw(st.sampled_from(sorted(strategies.CLOCK_CHANGES)))
        rows = draw.draw(strategies.raw_rows(zone))
        frame = Frame(
            laea(30, 0),
            cell=draw.draw(st.sampled_from([100, 12.5, 5000])),
            slot=draw.draw(st.sampled_from([60, 1, 900])),
            origin=draw.draw(st.sampled_from([0, 1_332_633_661])),
        )
        text = pl.DataFrame(rows, ["user", "time", "lat", "lon"], orient="row")
        people, counts = naive.read_rows(rows, frame, zone)
        if not people:
            with pytest.raises(RowError, match="none is left"):
                incrowd.read(text, frame=frame, tz=zone, max_bad=1)
            return
        data = incrowd.read(text, frame=frame, tz=zone, max_bad=1)
        reading = data.reading
        found = {
            "ambiguous": reading.ambiguous,
            "missing": reading.missing,
            "zoneless": reading.zoneless,
            "collapsed": reading.collapsed,
        }
        assert [(str(user), boxes) for user, boxes in naive.people_of(data)] == people
        assert reading.rejects.counts | {k: v for k, v in found.items() if v} == counts
        assert reading.rows == len(rows)


class TestSources:
    def test_csv_parquet_and_frames_are_the_same(self, tmp_path):
        rows = table()
        rows.write_csv(tmp_path / "a.csv")
        rows.write_parquet(tmp_path / "b.parquet")
        plain = (tmp_path / "a.csv").read_bytes()
        (tmp_path / "c.csv.gz").write_bytes(gzip.compress(plain))
        with pa.output_stream(str(tmp_path / "d.csv.zst"), compression="zstd") as file:
            file.write(plain)
        (tmp_path / "E.CSV.GZ").write_bytes(gzip.compress(plain))
        expected = incrowd.read(rows)
        for name in ("a.csv", "b.parquet", "c.csv.gz", "d.csv.zst", "E.CSV.GZ"):
            assert incrowd.read(tmp_path / name) == expected

    @pytest.mark.parametrize(
        "kind",
        [
            pl.DataFrame.lazy,
            pl.DataFrame.to_arrow,
            pl.DataFrame.to_pandas,
            lambda rows: rows.to_arrow().combine_chunks().to_batches()[0],
            lambda rows: rows.to_dict(as_series=False),
            lambda rows: rows.to_pandas().set_index("user"),
            lambda rows: rows.to_pandas().set_index(["user", "time"]),
        ],
    )
    def test_takes_any_frame(self, kind):
        assert incrowd.read(kind(table())) == incrowd.read(table())

    def test_a_folder_is_all_its_tables_in_the_order_of_their_names(self, tmp_path):
        (tmp_path / "2").mkdir()
        table(user=["cyd"] * 3).write_csv(tmp_path / "2" / "x.csv")
        table(user=["bob"] * 3).write_parquet(tmp_path / "1.parquet")
        (tmp_path / "notes.md").write_text("nothing")
        data = incrowd.read(tmp_path)
        assert data.people.to_list() == ["bob", "cyd"]
        assert data.reading.files == ("1.parquet", "x.csv")

    @pytest.mark.parametrize("hidden", [".hidden/x.csv", "_temporary/0/x.csv", ".x.csv", "_x.csv"])
    def test_what_other_programs_hide_in_a_folder_is_left_out(self, tmp_path, hidden):
        (tmp_path / hidden).parent.mkdir(parents=True, exist_ok=True)
        table(user=["eve"] * 3).write_csv(tmp_path / hidden)
        table().write_csv(tmp_path / "y.csv")
        assert incrowd.read(tmp_path).people.to_list() == ["ann", "bob"]

    def test_a_folder_may_itself_be_hidden(self, tmp_path):
        (tmp_path / ".data").mkdir()
        table().write_csv(tmp_path / ".data" / "y.csv")
        assert len(incrowd.read(tmp_path / ".data")) == 2

    def test_hive_folders_are_read_without_the_columns_in_their_names(self, tmp_path):
        for day in ("day=1", "day=2"):
            (tmp_path / day).mkdir()
            table(user=[day] * 3).write_parquet(tmp_path / day / "part-0.parquet")
        assert incrowd.read(tmp_path).people.to_list() == ["day=1", "day=2"]

    def test_a_glob_is_expanded(self, tmp_path):
        for name in ("a1", "a2", "b1"):
            table(user=[name] * 3).write_csv(tmp_path / f"{name}.csv")
        assert incrowd.read(f"{tmp_path}/a*.csv").people.to_list() == ["a1", "a2"]

    def test_a_list_keeps_its_order(self, tmp_path):
        for name in ("a", "b"):
            table(user=[name] * 3).write_csv(tmp_path / f"{name}.csv")
        files = [tmp_path / "b.csv", str(tmp_path / "a.csv")]
        assert incrowd.read(files).people.to_list() == ["b", "a"]

    @pytest.mark.parametrize(
        "name", ["data[1].csv", "da?a.csv", "da*a.csv", "it's.csv", "{a,b}.csv", "back\\slash.csv"]
    )
    def test_a_name_is_no_pattern(self, tmp_path, name):
        for other in ("data1.csv", "daXa.csv", "a.csv", "b.csv"):
            table(user=["eve"] * 3).write_csv(tmp_path / other)
        table().write_csv(tmp_path / name)
        data = incrowd.read(tmp_path / name)
        assert (data.people.to_list(), data.reading.rows) == (["ann", "bob"], 3)

    def test_a_parquet_name_is_no_pattern(self, tmp_path):
        table(user=["eve"] * 3).write_parquet(tmp_path / "data1.parquet")
        table().write_parquet(tmp_path / "data[1].parquet")
        assert incrowd.read(tmp_path / "data[1].parquet").people.to_list() == ["ann", "bob"]

    def test_files_may_name_and_order_their_columns_differently(self, tmp_path):
        table().write_csv(tmp_path / "1.csv")
        other = table(user=["bob", "cyd", "cyd"]).rename({"user": "uid", "lon": "lng"})
        other.select("lng", "time", "lat", "uid").write_csv(tmp_path / "2.csv")
        both = pl.concat([table(), table(user=["bob", "cyd", "cyd"])])
        assert incrowd.read(tmp_path) == incrowd.read(both)

    def test_files_that_tell_different_things_are_refused(self, tmp_path):
        table().write_csv(tmp_path / "1.csv")
        table(cell=[1, 2, 3]).write_csv(tmp_path / "2.csv")
        with pytest.raises(ColumnError, match=r"2\.csv tells .*place.*read them apart"):
            incrowd.read(tmp_path)

    def test_what_save_wrote_is_loaded(self, tmp_path):
        data = incrowd.read(table())
        data.save(tmp_path / "x.parquet")
        assert incrowd.read(tmp_path / "x.parquet") == data

    @pytest.mark.parametrize("source", [None, 5, [], b"x.csv"])
    def test_refuses_what_is_no_table(self, source):
        with pytest.raises(InputError, match="give a path, or a Polars, Arrow or pandas frame"):
            incrowd.read(source)


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
        "name", ["a", "b", "who", "moment", "zoned", "spot", "bad", "shown", "in_time", "odd"]
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


class TestPeople:
    def test_are_counted_in_the_order_of_their_first_rows(self):
        assert incrowd.read(table(user=["c", "a", "b"])).people.to_list() == ["c", "a", "b"]

    def test_a_person_whose_rows_are_all_unusable_is_not_counted(self):
        rows = table(user=["cyd", "ann", "bob"], lat=[91, 48, 48])
        assert incrowd.read(rows, max_bad=1).people.to_list() == ["ann", "bob"]

    @pytest.mark.parametrize(
        ("users", "people"),
        [
            (["Ann", "ann", "ann "], ["Ann", "ann"]),
            (["é", "e\u0301", "e"], ["é", "e\u0301", "e"]),
            (["007", "7", "+7"], ["007", "7", "+7"]),
            (["7", "-0", "0"], ["7", "-0", "0"]),
            (["NULL", "nan", "None"], ["NULL", "nan", "None"]),
            ([7, 8, -9], [7, 8, -9]),
            (pl.Series([2**64 - 1, 2**63, 1], dtype=pl.UInt64), [str(2**64 - 1), str(2**63), "1"]),
            ([True, False, True], ["true", "false"]),
            ([33_612_345_678.0, 7.0, 7.5], ["33612345678", "7", "7.5"]),
            (
                [Decimal(10**20), Decimal(10**20 + 1), Decimal(7)],
                [*map(str, (10**20, 10**20 + 1, 7))],
            ),
            (pl.Series(["b", "a", "b"], dtype=pl.Categorical), ["b", "a"]),
            (pl.Series(["b", "a", "b"], dtype=pl.Enum(["a", "b"])), ["b", "a"]),
        ],
    )
    def test_are_told_apart_by_their_text(self, users, people):
        assert incrowd.read(table(user=users)).people.to_list() == people

    def test_numbers_with_gaps_in_pandas_stay_whole(self):
        rows = table().to_pandas().assign(user=[7, None, 9])
        data = incrowd.read(rows, max_bad=0.5)
        assert data.people.to_list() == [7, 9]
        assert data.reading.rejects.counts == {"no user": 1}

    def test_categories_of_pandas_are_text(self):
        rows = table().to_pandas()
        assert incrowd.read(rows.assign(user=rows.user.astype("category"))) == incrowd.read(table())

    def test_floats_too_large_to_be_exact_are_nobody(self):
        with pytest.raises(RowError, match=r"3 x no user; first frame:1: user=1e\+17"):
            incrowd.read(table(user=[1e17, 1e17 + 1, 2e17]))


class TestTime:
    def test_iso_8601_of_any_shape(self):
        shapes = [
            "2012-01-02T00:00:00Z", "2012-01-02 00:00:00Z", "2012-01-02T00:00:00z",
            "2012-01-02T00:00Z", "2012-01-02T00:00:00+00:00", "2012-01-02T14:00:00+14:00",
            "2012-01-01T12:00:00-12:00", "2012-01-02T05:30:00+0530", "2012-01-02T05:00:00+05",
            "2012-01-02 05:00:00 +05:00", "2012-01-02T05:00+05", "2012-01-02 00:00:00 UTC",
            "2012-01-02 00:00:00 GMT", "20120102T000000Z", " 2012-01-02T00:00:00Z ",
            "2012-01-02T00:00:00.000Z", "2012-01-02T00:00:00,5Z", "2012-01-02T00:00:00.999999999Z",
            "2012-01-01T24:00:00Z",
        ]  # fmt: skip
        assert moments_of(shapes) == ["2012-01-02T00:00:00"] * len(shapes)

    def test_a_time_without_a_zone_is_in_the_given_one(self):
        shapes = [
            "2012-01-02 00:00:00", "2012-01-02T00:00:00", "2012-01-02 00:00", "2012-01-02",
            "2012-01-02T00:00:00.25", "20120102T0000", "2012/01/02 00:00:00",
        ]  # fmt: skip
        assert moments_of(shapes) == ["2012-01-02T00:00:00"] * len(shapes)
        assert moments_of(shapes, tz="Asia/Kolkata") == ["2012-01-01T18:30:00"] * len(shapes)

    @pytest.mark.parametrize(
        "text",
        [
            "2012-01-01T00:00:60", "2012-01-01 25:00:00", "2012-02-30 01:00:00", "01/02/2012 05:00",
            "2012-01-02 05:00:00 PM", "2012-01-02 00:00:00 EST", "2012-01-02T00:00:00+99:00",
            "2012-01-02T00:00:00+05:99", "2012-01-02T00:00:00+05:30:15", "2012-01-02-05", "now",
            "epoch", "infinity", "1,325,376,000", "noon", "2012", "T", "2012-01-01 00:00:00 (BC)",
        ],
    )  # fmt: skip
    def test_what_is_not_understood_is_refused(self, text):
        assert moments_of(["2012-01-02 00:00:00", text]) == ["2012-01-02T00:00:00", None]

    def test_a_fraction_just_below_a_slot_stays_below(self):
        fractions = ["2012-01-01T00:00:59.999999999", "2012-01-01 00:00:59.9999999"]
        data = incrowd.read(table(time=[*fractions, "2012-01-01 00:00:59"]))
        assert set(moments(data)) == {"2012-01-01T00:00:00"}

    @pytest.mark.parametrize(
        ("unit", "scale"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)]
    )
    @pytest.mark.parametrize("kind", [int, str])
    def test_numbers_since_1970_in_any_unit(self, unit, scale, kind):
        values = [kind(1_325_376_000 * scale), kind(1_325_376_059 * scale + scale - 1)]
        expected = ["2012-01-01T00:00:00", "2012-01-01T00:00:59"]
        assert moments_of(values) == expected
        assert moments_of(values, time_unit=unit) == expected

    def test_numbers_before_1970_are_rounded_down_as_well(self):
        values = [-1, -(10**9), 0]
        options = {"time_unit": "ns", "window": ("1969-01-01", "2000-01-01")}
        assert moments_of(values, **options) == [
            "1969-12-31T23:59:59", "1969-12-31T23:59:59", "1970-01-01T00:00:00",
        ]  # fmt: skip

    def test_numbers_may_have_fractions(self):
        assert moments_of([1_325_376_000.75, 1_325_376_059.999]) == [
            "2012-01-01T00:00:00",
            "2012-01-01T00:00:59",
        ]

    def test_a_number_in_another_unit_is_no_time(self):
        seconds, milliseconds = 1_325_376_000, 1_325_376_000_000
        assert moments_of([seconds, seconds, milliseconds])[2] is None
        assert moments_of([milliseconds, milliseconds, seconds])[2] is None

    def test_numbers_that_are_none_are_refused(self):
        values = [1_325_376_000.0, float("nan"), float("inf"), float("-inf"), None]
        assert moments_of(values) == ["2012-01-01T00:00:00", None, None, None, None]

    def test_days_written_as_numbers_must_be_explained(self):
        days = [20_120_101, 20_120_102]
        with pytest.raises(InputError, match="could be a date or seconds since 1970"):
            moments_of(days)
        assert moments_of(days, time_format="%Y%m%d") == [
            "2012-01-01T00:00:00",
            "2012-01-02T00:00:00",
        ]

    @pytest.mark.parametrize(
        ("text", "pattern", "moment"),
        [
            ("01/02/2012 03:04", "%d/%m/%Y %H:%M", "2012-02-01T02:04:00"),
            ("01/02/2012 03:04 PM", "%d/%m/%Y %I:%M %p", "2012-02-01T14:04:00"),
            ("01/02/2012 03:04 -0100", "%d/%m/%Y %H:%M %z", "2012-02-01T04:04:00"),
            ("01/02/2012 03:04 %z", "%d/%m/%Y %H:%M %%z", "2012-02-01T02:04:00"),
        ],
    )
    def test_a_format_can_be_given(self, text, pattern, moment):
        assert moments_of([text], time_format=pattern, tz="Europe/Paris") == [moment]

    @pytest.mark.parametrize("unit", ["ms", "us", "ns"])
    def test_columns_of_moments(self, unit):
        naive_moments = pl.Series(TIMES).str.to_datetime(time_unit=unit)
        zoned = naive_moments.dt.replace_time_zone("Europe/Paris")
        expected = ["2012-03-05T06:31:00", "2012-03-05T08:02:00", "2012-03-06T17:40:00"]
        assert moments_of(zoned) == expected
        assert moments_of(zoned, tz="America/New_York") == expected
        assert moments_of(naive_moments, tz="Europe/Paris") == expected
        assert moments_of(zoned.to_pandas()) == expected

    def test_columns_of_days(self):
        assert moments_of([dt.date(2012, 7, 1)], tz="Europe/Paris") == ["2012-06-30T22:00:00"]

    def test_missing_moments_of_pandas(self):
        rows = table().to_pandas().assign(time=pd.to_datetime([TIMES[0], None, TIMES[2]]))
        assert incrowd.read(rows, max_bad=1).reading.rejects.counts == {"no time": 1}

    @pytest.mark.parametrize("time", [[dt.time(1)] * 3, [dt.timedelta(1)] * 3, [True] * 3])
    def test_columns_of_something_else_are_refused(self, time):
        with pytest.raises(ColumnError, match=r"column 'time' holds .*, not times"):
            incrowd.read(table(time=time))

    def test_zones_must_not_be_mixed_with_none_unless_one_is_given(self):
        times = ["2012-01-01 00:00:00", "2012-01-01 00:00:00Z", "2012-01-01 00:00:00"]
        with pytest.raises(InputError, match="1 times name their zone and 2 do not"):
            incrowd.read(table(time=times))
        assert incrowd.read(table(time=times), tz="Europe/Paris").reading.zoneless == 2

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


class TestPosition:
    @pytest.mark.parametrize(
        ("lat", "lon", "reason"),
        [
            ("", "2", "no position"),
            (None, "2", "no position"),
            ("x", "2", "position is not a number"),
            ("48,8", "2", "position is not a number"),
            ("nan", "2", "position is not finite"),
            ("2", "-inf", "position is not finite"),
            ("1e9", "2", "impossible position"),
            ("2", "180.1", "impossible position"),
            ("0", "-0.0", "position is exactly 0, 0"),
        ],
    )
    def test_unusable_ones_are_counted_by_reason(self, lat, lon, reason):
        rows = table(lat=["48", lat, "48"], lon=["2", lon, "2"])
        data = incrowd.read(rows, max_bad=0.5)
        assert data.reading.rejects.counts == {reason: 1}
        assert data.reading.rejects.examples[reason][0].line == 2

    def test_numbers_of_any_kind(self):
        decimals = [Decimal("48.85"), Decimal("48.86"), Decimal("48.87")]
        assert incrowd.read(table(lat=decimals)) == incrowd.read(table())
        assert incrowd.read(table(lat=[48, 49, 50])).samples == 3

    def test_a_decimal_comma_can_be_given(self, tmp_path):
        (tmp_path / "x.csv").write_text("user;time;lat;lon\nann;2012-03-05;48,85;2,35\n")
        data = incrowd.read(tmp_path / "x.csv", decimal=",")
        assert data == incrowd.read(table()[:1].with_columns(time=pl.lit("2012-03-05")))

    def test_metres_lie_on_the_plane_as_they_are(self):
        rows = table().rename({"lat": "y", "lon": "x"})
        rows = rows.with_columns(
            x=pl.Series([652_000.0, 652_099.9, 652_100.0]), y=pl.lit(6_862_000.0)
        )
        data = incrowd.read(rows, crs="EPSG:2154")
        assert data.x0.tolist() == [6520, 6521, 6520]
        assert set(data.y0.tolist()) == {68_620}

    def test_metres_outside_the_area_of_the_plane_are_refused(self):
        rows = table(lat=[2.35] * 3, lon=[48.85] * 3).rename({"lat": "y", "lon": "x"})
        with pytest.raises(RowError, match="3 x outside the area of the crs"):
            incrowd.read(rows, crs="EPSG:2154")

    def test_degrees_outside_the_area_of_the_plane_are_refused(self):
        with pytest.raises(RowError, match="outside the area of the crs"):
            incrowd.read(table(lat=[5.0] * 3), crs="EPSG:2154")

    def test_metres_need_a_plane(self):
        with pytest.raises(ArgumentError, match="for example crs='EPSG:2154'"):
            incrowd.read(table().rename({"lat": "y", "lon": "x"}))

    def test_a_box_leaves_rows_out_without_blaming_them(self):
        data = incrowd.read(table(), bbox=(2, 48, 3, 48.865))
        assert (data.samples, data.reading.outside, data.reading.rejects.total) == (2, 1, 0)

    def test_nothing_in_the_box_is_an_error(self):
        with pytest.raises(InputError, match="no row is left of 3; 3 lie outside"):
            incrowd.read(table(), bbox=(10, 10, 11, 11))

    def test_swapped_columns_are_noticed_where_they_give_impossible_positions(self):
        rows = table(lat=[-104.9, -104.8, -104.7], lon=[39.7, 39.8, 39.9])
        with pytest.raises(RowError, match="lat and lon look swapped"):
            incrowd.read(rows)

    def test_swapped_columns_are_noticed_where_nobody_lives(self):
        with pytest.raises(PlaceError, match="lat and lon look swapped"):
            incrowd.read(table(lat=[-74.0] * 3, lon=[40.7] * 3))

    def test_swapped_columns_are_suspected_where_hardly_anybody_lives(self):
        with pytest.warns(DataWarning, match="make sure that lat and lon are not swapped"):
            incrowd.read(table(lat=[77.2] * 3, lon=[28.6] * 3))

    def test_swapped_columns_are_noticed_outside_the_area_of_the_plane(self):
        with pytest.raises(RowError, match="lat and lon look swapped"):
            incrowd.read(table(lat=[2.35] * 3, lon=[48.85] * 3), crs="EPSG:2154")


class TestPlaces:
    def test_a_table_of_cells_gives_positions(self):
        cells = pl.DataFrame({"id": ["A", "B"], "lat": [48.85, 48.86], "lon": [2.35, 2.36]})
        rows = table(cell=["A", "B", "A"]).drop("lat", "lon")
        same = table(lat=[48.85, 48.86, 48.85], lon=[2.35, 2.36, 2.35], cell=["A", "B", "A"])
        assert incrowd.read(rows, cells=cells) == incrowd.read(same)

    def test_a_table_of_cells_may_be_a_file(self, tmp_path):
        (tmp_path / "cells.csv").write_text("antenna_id,latitude,longitude\n7,48.85,2.35\n")
        data = incrowd.read(table(cell=[7, 7, 7]).drop("lat", "lon"), cells=tmp_path / "cells.csv")
        assert data.place.tolist() == [7, 7, 7]

    def test_cells_numbered_with_gaps_are_found(self):
        cells = pl.DataFrame({"id": [7.0, 8.0], "lat": [48.85, 48.86], "lon": [2.35, 2.36]})
        rows = table(cell=[7.0, None, 8.0]).drop("lat", "lon")
        data = incrowd.read(rows, cells=cells, max_bad=1)
        assert data.place.tolist() == [7, 8]
        assert data.reading.rejects.counts == {"no place": 1}

    def test_an_unknown_cell_is_a_bad_row(self):
        cells = {"id": ["A"], "lat": [48.85], "lon": [2.35]}
        rows = table(cell=["A", "X", "A"]).drop("lat", "lon")
        data = incrowd.read(rows, cells=cells, max_bad=1)
        assert data.reading.rejects.counts == {"cell not in the table of cells": 1}
        assert data.reading.rejects.examples["cell not in the table of cells"][0].value == "X"

    @pytest.mark.parametrize(
        ("cells", "words"),
        [
            ({"id": ["A", "A"], "lat": [1.0, 2.0], "lon": [1.0, 1.0]}, "lies at two places"),
            ({"id": ["A"], "lat": [91.0], "lon": [1.0]}, "lies nowhere"),
            ({"id": ["A"], "lat": [None], "lon": [1.0]}, "lies nowhere"),
            ({"id": [], "lat": [], "lon": []}, "is empty"),
            ({"id": ["A"], "lat": [1.0]}, "no column lon"),
            ({"id": [["A"]], "lat": [1.0], "lon": [1.0]}, "not plain values"),
        ],
    )
    def test_a_table_of_cells_must_make_sense(self, cells, words):
        with pytest.raises(InputError, match=words):
            incrowd.read(table(cell=["A"] * 3).drop("lat", "lon"), cells=pl.DataFrame(cells))

    def test_places_are_kept_by_visits(self):
        named = incrowd.visits(incrowd.read(table(place=["x", "y", "x"])))
        assert named.places.gather(named.place).to_list() == ["x", "x", "y"]
        numbered = incrowd.visits(incrowd.read(table(place=[70, 90, 70])))
        assert (numbered.place.tolist(), numbered.places) == ([70, 70, 90], None)

    def test_a_row_without_a_place_is_at_no_place(self):
        assert incrowd.read(table(place=["x", None, ""])).place_names().to_list() == ["x", "", ""]

    def test_a_sample_at_two_places_keeps_the_first_and_says_so(self):
        rows = table(
            user=["ann"] * 3, time=[TIMES[0]] * 3, lat=48.85, lon=2.35, place=["y", "x", "x"]
        )
        data = incrowd.read(rows)
        assert data.place_names().to_list() == ["y"]
        assert (data.reading.collapsed, data.reading.folded) == (2, 1)


class TestGrid:
    def test_cells_of_100_m_and_slots_of_a_minute_about_the_centre(self):
        frame = incrowd.read(table()).frame
        midnight = 1_330_905_600
        assert frame == Frame(laea(48.9, 2.4), cell=100, slot=60, origin=midnight)

    def test_can_be_given(self):
        frame = incrowd.read(table(), crs="EPSG:2154", cell=250, slot=900).frame
        assert (frame.crs, frame.cell, frame.slot) == ("EPSG:2154", 250, 900)

    def test_of_another_dataset_can_be_used(self):
        assert incrowd.read(table(), frame=PARIS).frame == PARIS

    def test_of_a_dataset_far_away_is_refused(self):
        with pytest.raises(PlaceError, match="it is another dataset's"):
            incrowd.read(table(), frame=Frame(laea(-33, 151)))

    @pytest.mark.parametrize(
        ("lat", "lon"),
        [
            ([-17.0, -17.001, -17.002], [179.999, -179.999, 180.0]),
            ([89.999, 89.999, 89.998], [0.0, 180.0, 90.0]),
        ],
    )
    @pytest.mark.filterwarnings("ignore:.*north of 72 N")
    def test_knows_neither_seam_nor_pole(self, lat, lon):
        data = incrowd.read(table(lat=lat, lon=lon))
        assert int(data.x0.max()) - int(data.x0.min()) < 5
        assert int(data.y0.max()) - int(data.y0.min()) < 5

    def test_half_the_earth_is_refused(self):
        with pytest.raises(PlaceError, match="no plane shows them all without bending distances"):
            incrowd.read(table(lat=[5, 50, 5], lon=[-70, 2, 100]))


class TestRejects:
    def test_the_first_three_of_each_reason_are_shown(self):
        rows = table(user="ann", time=[TIMES[0]] * 3).vstack(table(time=["x"] * 3))
        rows = pl.concat([rows, table(time=["y"] * 3)], how="vertical_relaxed")
        data = incrowd.read(rows, max_bad=1)
        assert [str(e) for e in data.reading.rejects.examples["time not understood"]] == [
            f"frame:{line}: time=x" for line in (4, 5, 6)
        ]

    def test_more_than_5_percent_are_an_error(self):
        def rows(bad):
            return pl.concat([table(user=["ann"] * 3)] * 33 + [table(lat=[91.0] * 3)[:1]] * bad)

        assert incrowd.read(rows(5)).reading.rejects.total == 5
        with pytest.raises(RowError, match=r"6 of 105 rows \(5\.7 %\).*more than the 5 % allowed"):
            incrowd.read(rows(6))

    def test_strict_stops_at_the_first(self, tmp_path):
        write_rows(tmp_path / "x.csv", [("a", TIMES[0], 1, 2)] * 50 + [("a", "x", 1, 2)] * 2)
        with pytest.raises(RowError, match=r"^x\.csv, line 52: time not understood: time=x$"):
            incrowd.read(tmp_path / "x.csv", strict=True)

    def test_strict_takes_what_is_clean(self):
        assert incrowd.read(table(), strict=True) == incrowd.read(table())

    def test_a_file_of_bad_rows_among_good_ones_is_counted_only(self, tmp_path):
        write_rows(tmp_path / "1.csv", [("a", "x", 1, 2)])
        write_rows(tmp_path / "2.csv", [("a", TIMES[0], 1, 2)] * 40)
        assert incrowd.read(tmp_path).reading.rejects.total == 1


class TestArguments:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"crs": "EPSG:nonsense"}, "unknown coordinate reference system"),
            ({"crs": ""}, "unknown coordinate reference system"),
            ({"crs": "EPSG:4326"}, "not a plane in metres"),
            ({"crs": "EPSG:2263"}, "not a plane in metres"),
            ({"cell": 0}, "the cell must be a length above 0 m"),
            ({"cell": float("nan")}, "the cell must be a length above 0 m"),
            ({"slot": 0}, "the slot must be at least 1 s"),
            ({"slot": 1.5}, "the slot must be whole seconds"),
            ({"tz": "Nowhere/Land"}, "unknown time zone"),
            ({"tz": "../../etc/passwd"}, "unknown time zone"),
            ({"time_unit": "min"}, "a unit of time is s, ms, us or ns"),
            ({"time": "time", "time_unit": "h"}, "a unit of time is s, ms, us or ns"),
            ({"max_bad": 5}, "a share from 0 to 1"),
            ({"window": ("2013-01-01", "2012-01-01")}, "the window is empty"),
            ({"window": ("soon", "later")}, "a moment must be"),
            ({"bbox": (0, 0, 200, 10)}, "west, south, east, north"),
            ({"bbox": (0, 10, 10, 0)}, "west, south, east, north"),
            ({"frame": PARIS, "cell": 5}, "not both"),
            ({"threads": 0}, "threads must be at least 1"),
            ({"memory": "1MB"}, "the memory limit must be a size of at least 800MB"),
            ({"memory": "much"}, "the memory limit must be a size of at least 800MB"),
            ({"temp_dir": "/no/such/folder"}, "the folder for temporary files does not exist"),
            ({"decimal": ",,"}, "one character"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, options, words):
        with pytest.raises(ArgumentError, match=words):
            incrowd.read(table(), **options)


class TestOrder:
    @pytest.fixture(scope="class", params=[5, 15])
    @staticmethod
    def large(tmp_path_factory, request):
        """Make 300,000 rows in one file, so large that several threads share it.

        With few decimals the lines are plain enough for the fast lane, with many they are not.
        """
        rng = np.random.default_rng(5)
        rows = 300_000
        start = np.datetime64("2012-03-05T00:00:00")
        table = pl.DataFrame(
            {
                "user": pl.Series(rng.integers(0, 40_000, rows)).cast(pl.String) + "-subscriber",
                "time": start + rng.integers(0, 10**9, rows).astype("timedelta64[ms]"),
                "lat": (48 + rng.random(rows)).round(request.param),
                "lon": (2 + rng.random(rows)).round(request.param),
            }
        )
        path = tmp_path_factory.mktemp("large") / "large.csv"
        table.write_csv(path, datetime_format="%Y-%m-%dT%H:%M:%SZ")
        return path, table

    def test_people_of_a_large_file_come_in_the_order_of_their_first_rows(self, large):
        path, rows = large
        data = incrowd.read(path, threads=2)
        assert data.people.to_list() == rows["user"].unique(maintain_order=True).to_list()

    def test_threads_do_not_matter(self, large):
        path, rows = large
        one = incrowd.read(path, threads=1)
        assert incrowd.read(path, threads=4) == one
        assert incrowd.read(rows, threads=3, tz="UTC") == one

    def test_rows_of_a_person_may_lie_in_any_file(self, tmp_path):
        rng = np.random.default_rng(3)
        rows = pl.concat([table(user=rng.integers(0, 9, 3)) for _ in range(40)])
        for part in range(4):
            rows[part * 30 : part * 30 + 30].write_csv(tmp_path / f"{part}.csv")
        assert incrowd.read(tmp_path) == incrowd.read(rows)


class TestProgress:
    def test_is_told_the_number_of_rows(self):
        seen = []
        incrowd.read(table(), progress=seen.append)
        assert seen == [3]


class TestPrivacy:
    def test_identifiers_are_in_people_and_nowhere_else(self):
        data = incrowd.read(table(user=["secret", "hidden", "secret"]))
        assert all(np.issubdtype(column.dtype, np.integer) for column in data.columns)
        assert data.people.to_list() == ["secret", "hidden"]
        assert "secret" not in repr(data)


class TestNothing:
    def test_a_frame_without_rows_is_an_error(self):
        with pytest.raises(UnreadableError, match="no rows to read"):
            incrowd.read(table()[:0])

    def test_a_frame_without_columns_is_an_error(self):
        with pytest.raises(UnreadableError, match="no columns"):
            incrowd.read(pd.DataFrame())
