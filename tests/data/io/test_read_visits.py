"""Reading visits: places by their names, wherever they lie."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.data._io import staging
from incrowd.data._io.read import sensors_of
from incrowd.errors import ArgumentError, ColumnError, InputError, RowError

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "cat"]),
        st.sampled_from(["a", "b", "c", "d"]),
        st.integers(0, 20_000),
    ),
    min_size=1,
    max_size=30,
)


def table(rows, **more):
    users, places, seconds = zip(*rows, strict=True)
    epoch = [1_331_000_000 + second for second in seconds]
    return pl.DataFrame({"user": users, "bssid": places, "time": epoch} | more)


def expected(rows, slot):
    people = list(dict.fromkeys(user for user, _, _ in rows))
    first = min(1_331_000_000 + second for _, _, second in rows) // 86_400 * 86_400 // slot
    found = {
        (user, (1_331_000_000 + second) // slot - first, place) for user, place, second in rows
    }
    return [(user, sorted(one[1:] for one in found if one[0] == user)) for user in people]


def named(visits):
    return [
        (
            person.user,
            sorted(zip(person.time.tolist(), visits.places.gather(person.place), strict=True)),
        )
        for person in visits
    ]


class TestReadVisits:
    @given(rows=ROWS, slot=st.sampled_from([1, 60, 3600]))
    @settings(max_examples=60)
    def test_every_place_is_there_once_a_slot(self, rows, slot):
        assert named(incrowd.read_visits(table(rows), slot=slot)) == expected(rows, slot)

    def test_no_position_is_needed(self, tmp_path):
        rows = [("ann", "a", 0), ("ann", "b", 0), ("bob", "a", 7200)]
        path = tmp_path / "scans.csv"
        table(rows).write_csv(path)
        assert named(incrowd.read_visits(path)) == expected(rows, 3600)

    def test_places_in_one_cell_and_minute_are_told_apart(self):
        same = {"lat": [48.85] * 2, "lon": [2.35] * 2}
        rows = table([("ann", "a", 0), ("ann", "b", 0)], **same)
        assert len(incrowd.visits(incrowd.read(rows)).place) == 1
        assert len(incrowd.read_visits(rows).place) == 2

    def test_a_box_is_looked_at(self):
        where = {"lat": [48.85, 10.0], "lon": [2.35, 2.35]}
        rows = table([("ann", "a", 0), ("bob", "b", 0)], **where)
        inside = incrowd.read_visits(rows, bbox=(2, 48, 3, 49))
        assert inside.people.to_list() == ["ann"]

    def test_a_box_needs_positions(self):
        with pytest.raises(ColumnError, match="lat"):
            incrowd.read_visits(table([("ann", "a", 0)]), bbox=(2, 48, 3, 49))

    def test_a_row_without_a_place_is_bad(self):
        with pytest.raises(RowError, match="place"):
            incrowd.read_visits(table([("ann", "", 0), ("bob", "b", 0)]))

    def test_a_place_is_needed(self):
        with pytest.raises(ColumnError, match="place"):
            incrowd.read_visits(table([("ann", "a", 0)]).drop("bssid"))

    def test_one_sensor_is_taken(self):
        rows = table([("ann", "a", 0), ("ann", "b", 0)], sensor=["wifi", "gsm"])
        assert incrowd.read_visits(rows, sensor="gsm").places.to_list() == ["b"]

    def test_several_sensors_are_not_mixed(self):
        rows = table([("ann", "a", 0), ("ann", "b", 0)], sensor=["wifi", "gsm"])
        with pytest.raises(InputError, match="several sensors"):
            incrowd.read_visits(rows)

    def test_a_slot_is_a_time(self):
        with pytest.raises(ArgumentError, match="slot"):
            incrowd.read_visits(table([("ann", "a", 0)]), slot=0)

    def test_is_the_same_when_sorted_on_disk(self, monkeypatch):
        rows = [(f"user{i % 7}", f"place{i % 11}", i * 97 % 50_000) for i in range(5_000)]
        frame = table(rows)
        in_memory = incrowd.read_visits(frame)
        monkeypatch.setattr(staging, "_ROW", 10**12)
        assert incrowd.read_visits(frame) == in_memory


class TestSensorsOf:
    def test_are_those_of_all_files(self, tmp_path):
        for name in ("wifi", "gsm"):
            rows = table([("ann", "a", 0)], sensor=[name])
            rows.write_csv(tmp_path / f"{name}.csv")
        assert sensors_of(tmp_path) == ["gsm", "wifi"]

    def test_none_without_a_column(self):
        assert sensors_of(table([("ann", "a", 0)])) == []
