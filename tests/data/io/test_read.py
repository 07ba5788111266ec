import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from data.io.tables import PARIS, TIMES, table
from incrowd import Frame
from incrowd.data._frame import laea
from incrowd.data._io import staging
from incrowd.data._io.read import sensors_of
from incrowd.errors import (
    ArgumentError,
    ColumnError,
    InputError,
    RowError,
)
from strategies import random_cases

VISITS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "cat"]),
        st.sampled_from(["a", "b", "c", "d"]),
        st.integers(0, 20_000),
    ),
    min_size=1,
    max_size=30,
)


def visit_table(rows, **more):
    users, places, seconds = zip(*rows, strict=True)
    epoch = [1_331_000_000 + second for second in seconds]
    return pl.DataFrame({"user": users, "bssid": places, "time": epoch} | more)


def expected_visits(rows, slot):
    people = list(dict.fromkeys(user for user, _, _ in rows))
    first = min(1_331_000_000 + second for _, _, second in rows) // 86_400 * 86_400 // slot
    found = {
        (user, (1_331_000_000 + second) // slot - first, place) for user, place, second in rows
    }
    return [(user, sorted(one[1:] for one in found if one[0] == user)) for user in people]


def named_visits(visits):
    return [
        (
            person.user,
            sorted(zip(person.time.tolist(), visits.places.gather(person.place), strict=True)),
        )
        for person in visits
    ]


class TestOracle:
    @random_cases(100)
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


class TestArguments:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"crs": "EPSG:nonsense"}, "unknown coordinate reference system"),
            ({"crs": ""}, "unknown coordinate reference system"),
            ({"crs": "EPSG:4326"}, "not a projection in metres"),
            ({"crs": "EPSG:2263"}, "not a projection in metres"),
            ({"cell": 0}, "cell must be a positive number of metres"),
            ({"cell": float("nan")}, "cell must be a positive number of metres"),
            ({"slot": 0}, "slot must be at least 1 second"),
            ({"slot": 1.5}, "slot must be an integer number of seconds"),
            ({"tz": "Nowhere/Land"}, "unknown time zone"),
            ({"tz": "../../etc/passwd"}, "unknown time zone"),
            ({"time_unit": "min"}, "time_unit must be s, ms, us or ns"),
            ({"time": "time", "time_unit": "h"}, "time_unit must be s, ms, us or ns"),
            ({"max_bad": 5}, "max_bad must be a share from 0 to 1"),
            ({"window": ("2013-01-01", "2012-01-01")}, "with the end after the start"),
            ({"window": ("soon", "later")}, "a time must be"),
            ({"bbox": (0, 0, 200, 10)}, "west, south, east, north"),
            ({"bbox": (0, 10, 10, 0)}, "west, south, east, north"),
            ({"frame": PARIS, "cell": 5}, "not both"),
            ({"threads": 0}, "threads must be a positive integer"),
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

        With few decimals the lines are simple enough for the fast path, with many they are not.
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
            (
                {"id": ["A", "A"], "lat": [1.0, 2.0], "lon": [1.0, 1.0]},
                "has two different positions",
            ),
            ({"id": ["A"], "lat": [91.0], "lon": [1.0]}, "has no valid position"),
            ({"id": ["A"], "lat": [None], "lon": [1.0]}, "has no valid position"),
            ({"id": [], "lat": [], "lon": []}, "has no rows"),
            ({"id": ["A"], "lat": [1.0]}, "no column lon"),
            ({"id": [["A"]], "lat": [1.0], "lon": [1.0]}, "one text or number per row"),
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


class TestReadVisits:
    @given(rows=VISITS, slot=st.sampled_from([1, 60, 3600]))
    @random_cases(60)
    def test_every_place_is_there_once_a_slot(self, rows, slot):
        assert named_visits(incrowd.read_visits(visit_table(rows), slot=slot)) == expected_visits(
            rows, slot
        )

    def test_no_position_is_needed(self, tmp_path):
        rows = [("ann", "a", 0), ("ann", "b", 0), ("bob", "a", 7200)]
        path = tmp_path / "scans.csv"
        visit_table(rows).write_csv(path)
        assert named_visits(incrowd.read_visits(path)) == expected_visits(rows, 3600)

    def test_places_in_one_cell_and_minute_are_told_apart(self):
        same = {"lat": [48.85] * 2, "lon": [2.35] * 2}
        rows = visit_table([("ann", "a", 0), ("ann", "b", 0)], **same)
        assert len(incrowd.visits(incrowd.read(rows)).place) == 1
        assert len(incrowd.read_visits(rows).place) == 2

    def test_a_box_is_looked_at(self):
        where = {"lat": [48.85, 10.0], "lon": [2.35, 2.35]}
        rows = visit_table([("ann", "a", 0), ("bob", "b", 0)], **where)
        inside = incrowd.read_visits(rows, bbox=(2, 48, 3, 49))
        assert inside.people.to_list() == ["ann"]

    def test_a_box_needs_positions(self):
        with pytest.raises(ColumnError, match="lat"):
            incrowd.read_visits(visit_table([("ann", "a", 0)]), bbox=(2, 48, 3, 49))

    def test_a_row_without_a_place_is_bad(self):
        with pytest.raises(RowError, match="place"):
            incrowd.read_visits(visit_table([("ann", "", 0), ("bob", "b", 0)]))

    def test_a_place_is_needed(self):
        with pytest.raises(ColumnError, match="place"):
            incrowd.read_visits(visit_table([("ann", "a", 0)]).drop("bssid"))

    def test_one_sensor_is_taken(self):
        rows = visit_table([("ann", "a", 0), ("ann", "b", 0)], sensor=["wifi", "gsm"])
        assert incrowd.read_visits(rows, sensor="gsm").places.to_list() == ["b"]

    def test_several_sensors_are_not_mixed(self):
        rows = visit_table([("ann", "a", 0), ("ann", "b", 0)], sensor=["wifi", "gsm"])
        with pytest.raises(InputError, match="several sensors"):
            incrowd.read_visits(rows)

    def test_a_slot_is_a_time(self):
        with pytest.raises(ArgumentError, match="slot"):
            incrowd.read_visits(visit_table([("ann", "a", 0)]), slot=0)

    def test_is_the_same_when_sorted_on_disk(self, monkeypatch):
        rows = [(f"user{i % 7}", f"place{i % 11}", i * 97 % 50_000) for i in range(5_000)]
        frame = visit_table(rows)
        in_memory = incrowd.read_visits(frame)
        monkeypatch.setattr(staging, "ROW_BYTES", 10**12)
        assert incrowd.read_visits(frame) == in_memory


class TestSensorsOf:
    def test_are_those_of_all_files(self, tmp_path):
        for name in ("wifi", "gsm"):
            rows = visit_table([("ann", "a", 0)], sensor=[name])
            rows.write_csv(tmp_path / f"{name}.csv")
        assert sensors_of(tmp_path) == ["gsm", "wifi"]

    def test_none_without_a_column(self):
        assert sensors_of(visit_table([("ann", "a", 0)])) == []
