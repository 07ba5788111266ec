import pandas as pd
import polars as pl
import pytest

import incrowd
from data.io.tables import PARIS, TIMES, table, write_rows
from incrowd import Frame
from incrowd.data._frame import laea
from incrowd.errors import (
    InputError,
    PlaceError,
    RowError,
    UnreadableError,
)


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
        with pytest.raises(PlaceError, match="that of another dataset"):
            incrowd.read(table(), frame=Frame(laea(-33, 151)))

    @pytest.mark.parametrize(
        ("lat", "lon"),
        [
            ([-17.0, -17.001, -17.002], [179.999, -179.999, 180.0]),
            ([89.999, 89.999, 89.998], [0.0, 180.0, 90.0]),
        ],
    )
    @pytest.mark.filterwarnings("ignore:.*north of 72 degrees north")
    def test_knows_neither_seam_nor_pole(self, lat, lon):
        data = incrowd.read(table(lat=lat, lon=lon))
        assert int(data.x0.max()) - int(data.x0.min()) < 5
        assert int(data.y0.max()) - int(data.y0.min()) < 5

    def test_half_the_earth_is_refused(self):
        with pytest.raises(PlaceError, match="no projection shows them all without distorting"):
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

    def test_zones_must_not_be_mixed_with_none_unless_one_is_given(self):
        times = ["2012-01-01 00:00:00", "2012-01-01 00:00:00Z", "2012-01-01 00:00:00"]
        with pytest.raises(InputError, match="1 times name their time zone and 2 do not"):
            incrowd.read(table(time=times))
        assert incrowd.read(table(time=times), tz="Europe/Paris").reading.zoneless == 2


class TestNothing:
    def test_a_frame_without_rows_is_an_error(self):
        with pytest.raises(UnreadableError, match="no rows to read"):
            incrowd.read(table()[:0])

    def test_a_frame_without_columns_is_an_error(self):
        with pytest.raises(UnreadableError, match="no columns"):
            incrowd.read(pd.DataFrame())
