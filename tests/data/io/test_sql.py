import datetime as dt
from decimal import Decimal

import pandas as pd
import polars as pl
import pytest

import incrowd
from data.io.tables import TIMES, moments, moments_of, table
from incrowd.data._io.sql import Epoch, is_number, quoted, refuse_nested, time_unit
from incrowd.errors import (
    ArgumentError,
    ColumnError,
    DataWarning,
    InputError,
    PlaceError,
    RowError,
)


class TestTimeUnit:
    @pytest.mark.parametrize(
        ("number", "per_second"),
        [
            ("0", 1),
            ("1325376000", 1),
            ("1325376000.5", 1),
            ("1.3e9", 1),
            ("99999999999", 1),
            ("1325376000000", 10**3),
            ("1325376000000000", 10**6),
            ("1325376000000000000", 10**9),
        ],
    )
    def test_goes_by_the_size_of_numbers(self, number, per_second):
        assert time_unit([number], None, "x").per_second == per_second

    def test_most_values_decide(self):
        assert time_unit(["1325376000000"] * 3 + ["1325376000", "x"], None, "x") == Epoch(
            1000, 1e11
        )
        assert time_unit(["1325376000", "x", "y"], None, "x") is None

    @pytest.mark.parametrize("values", [["2012-03-05"], ["noon"], []])
    def test_text_is_no_number(self, values):
        assert time_unit(values, None, "x") is None

    def test_a_given_unit_is_taken_whatever_the_values(self):
        assert time_unit(["1325376000"], "ms", "x") == Epoch(1000)

    def test_an_unknown_unit_is_refused(self):
        with pytest.raises(ArgumentError, match="s, ms, us or ns"):
            time_unit(["1"], "h", "x")

    @pytest.mark.parametrize("day", ["20120305", "201203050731", "20120305073100"])
    def test_a_number_that_reads_like_a_date_must_be_explained(self, day):
        with pytest.raises(InputError, match="could be a date or seconds since 1970"):
            time_unit([day, day], None, "x")


class TestRefuseNested:
    @pytest.mark.parametrize(
        "kind", ["VARCHAR[]", "STRUCT(a INTEGER)", "MAP(INTEGER, INTEGER)", "BLOB"]
    )
    def test_names_the_column_and_its_role(self, kind):
        with pytest.raises(ColumnError, match=r"x: column 'who' \(user\) holds"):
            refuse_nested({"who": kind}, {"user": "who"}, "x")

    def test_other_columns_may_hold_anything(self):
        refuse_nested({"who": "VARCHAR", "tags": "VARCHAR[]"}, {"user": "who"}, "x")


class TestIsNumber:
    @pytest.mark.parametrize("kind", ["INTEGER", "UBIGINT", "HUGEINT", "DOUBLE", "DECIMAL(18,3)"])
    def test_knows_numbers(self, kind):
        assert is_number(kind)

    @pytest.mark.parametrize("kind", ["VARCHAR", "BOOLEAN", "DATE", "DOUBLE[]"])
    def test_knows_others(self, kind):
        assert not is_number(kind)


class TestQuoted:
    def test_doubles_quotes(self):
        assert quoted('a"b') == '"a""b"'


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
        with pytest.raises(ColumnError, match=r"column 'time' holds .*; a time must be"):
            incrowd.read(table(time=time))


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
        with pytest.raises(InputError, match="none of 3 rows is left: 3 lie outside the bbox"):
            incrowd.read(table(), bbox=(10, 10, 11, 11))

    def test_swapped_columns_are_noticed_where_they_give_impossible_positions(self):
        rows = table(lat=[-104.9, -104.8, -104.7], lon=[39.7, 39.8, 39.9])
        with pytest.raises(RowError, match="lat and lon look swapped"):
            incrowd.read(rows)

    def test_swapped_columns_are_not_suspected_where_most_rows_are_right(self):
        rows = table(lat=[48.86, 48.87, 100.0], lon=[2.35, 2.36, 2.37])
        with pytest.raises(RowError, match="impossible position") as refused:
            incrowd.read(rows)
        assert "swapped" not in str(refused.value)

    def test_swapped_columns_are_noticed_where_nobody_lives(self):
        with pytest.raises(PlaceError, match="lat and lon look swapped"):
            incrowd.read(table(lat=[-74.0] * 3, lon=[40.7] * 3))

    def test_swapped_columns_are_suspected_where_hardly_anybody_lives(self):
        with pytest.warns(DataWarning, match="make sure that lat and lon are not swapped"):
            incrowd.read(table(lat=[77.2] * 3, lon=[28.6] * 3))

    def test_swapped_columns_are_noticed_outside_the_area_of_the_plane(self):
        with pytest.raises(RowError, match="lat and lon look swapped"):
            incrowd.read(table(lat=[2.35] * 3, lon=[48.85] * 3), crs="EPSG:2154")
