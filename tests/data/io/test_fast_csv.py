"""The fast path against the general scanner, which must see the same rows."""

import datetime as dt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.data._io import fast_csv, scan
from incrowd.data._io.fast_csv import fast_rows
from incrowd.data._io.sources import sniff
from strategies import random_cases

HEADER = "user,timestamp,lat,lon\n"
COLUMNS = {"user": "user", "time": "timestamp", "lat": "lat", "lon": "lon"}

users = st.sampled_from(["1", "2", "33", "a b", "x-y"])
moments = st.datetimes(dt.datetime(2011, 12, 30), dt.datetime(2012, 3, 2)).map(
    lambda when: when.strftime("%Y-%m-%dT%H:%M:%S") + "Z"
)
decimals = st.decimals(-60, 60, allow_nan=False, allow_infinity=False, places=6).map(str)
odd = st.sampled_from(
    [
        '"quoted",2012-01-01T00:00:00Z,1.5,2.5',
        "é,2012-01-01T00:00:00Z,1.5,2.5",
        " 1,2012-01-01T00:00:00Z,1.5,2.5",
        "1,2012-01-01T00:00:00+01:00,1.5,2.5",
        "1,2012-02-30T00:00:00Z,1.5,2.5",
        "1,2012-01-01T24:00:00Z,1.5,2.5",
        "1,2012-01-01T00:00:00Z,1e1,2.5",
        "1,2012-01-01T00:00:00Z,91.0,2.5",
        "1,2012-01-01T00:00:00Z,0.0,0.0",
        "1,2012-01-01T00:00:00Z,,2.5",
        "1,2012-01-01T00:00:00Z,nan,2.5",
        "1,2012-01-01T00:00:00Z,1.5",
        "1,2012-01-01T00:00:00Z,1.5,2.5,9",
        "1,2012-01-01T00:00:00Z,1.12345678901234567,2.5",
        "",
        ",,,",
    ]
)
line = st.builds(lambda *fields: ",".join(fields), users, moments, decimals, decimals)


def both(monkeypatch, path, **options):
    """Read with the fast path and without it; return what each gives."""
    monkeypatch.setattr(fast_csv, "MIN_BYTES", 0)
    found = []
    for lane in (True, False):
        with monkeypatch.context() as patch:
            if not lane:
                patch.setattr(scan, "fast_rows", closed)
            found.append(outcome(path, **options))
    return found


def closed(*_given):
    """Stand for a path that takes nothing."""
    return 0
    yield


def outcome(path, **options):
    try:
        data = incrowd.read(path, max_bad=0.9, **options)
    except incrowd.errors.IncrowdError as error:
        return type(error), str(error)
    return data, data.reading.as_dict()


def taken(text: str, tmp_path: Path) -> tuple[list[dict], int | None]:
    """Return the rows that the path takes, and where it stopped."""
    path = tmp_path / "lane.csv"
    path.write_text(HEADER + text)
    rows, lane = [], fast_rows(path, sniff(path, None, None), COLUMNS, 1)
    while True:
        try:
            rows += next(lane).to_pylist()
        except StopIteration as stop:
            return rows, stop.value


class TestAgainstTheGeneralScanner:
    @random_cases(150)
    @given(st.lists(line, min_size=1, max_size=30), st.lists(odd, max_size=2), st.randoms())
    def test_sees_the_same_rows(self, tmp_path_factory, lines, odds, random):
        lines = list(lines)
        for other in odds:
            lines.insert(random.randint(0, len(lines)), other)
        path = tmp_path_factory.mktemp("lane") / "data.csv"
        path.write_text(HEADER + "\n".join(lines) + "\n")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fast_csv, "PIECE", 128)
            fast, slow = both(patch, path)
        assert fast == slow

    @pytest.mark.parametrize("ending", ["\n", ""])
    def test_needs_no_last_newline(self, tmp_path, monkeypatch, ending):
        path = tmp_path / "data.csv"
        path.write_text(
            HEADER + "1,2012-01-01 00:00:00,1.5,2.5\n2,2012-01-01 00:01:00,1.5,2.5" + ending
        )
        fast, slow = both(monkeypatch, path)
        assert fast == slow
        assert len(fast[0]) == 2

    def test_takes_named_places_and_other_columns(self, tmp_path, monkeypatch):
        path = tmp_path / "data.csv"
        path.write_text(
            "note;place;y;x;uid;time\n"
            "hello;bar;6500000.25;650000.5;ann;2012-01-01T00:00:00Z\n"
            ";foo;6500000.25;650000.5;ann;2012-01-01T00:01:00Z\n"
        )
        fast, slow = both(monkeypatch, path, crs="EPSG:2154")
        assert fast == slow
        assert fast[0].places.to_list() == ["bar", "foo"]

    def test_numbers_nobody_who_has_no_good_row(self, tmp_path, monkeypatch):
        path = tmp_path / "data.csv"
        path.write_text(
            HEADER
            + "ghost,1999-01-01T00:00:00Z,1.5,2.5\n"
            + "".join(f"real,2012-01-01T00:{i:02}:00Z,1.5,2.5\n" for i in range(20))
        )
        fast, slow = both(monkeypatch, path, window=("2010-01-01", "2020-01-01"))
        assert fast == slow
        assert fast[0].people.to_list() == ["real"]

    def test_names_the_line_of_a_bad_row_after_many_simple_ones(self, tmp_path, monkeypatch):
        rows = [f"1,2012-01-01T00:{i % 60:02}:00Z,1.5,{i / 1000:.3f}1" for i in range(5000)]
        rows[4321] = "1,never,1.5,2.5"
        rows[4400] = "1,2012-01-01T00:00:00Z,1.5"
        path = tmp_path / "data.csv"
        path.write_text(HEADER + "\n".join(rows) + "\n")
        monkeypatch.setattr(fast_csv, "PIECE", 4096)
        fast, slow = both(monkeypatch, path)
        assert fast == slow
        shown = fast[1]["rejected"]
        assert shown["time not understood"]["examples"] == ["data.csv:4323: timestamp=never"]
        assert shown["too few fields"]["examples"][0].startswith("data.csv:4402")

    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_does_not_depend_on_threads(self, tmp_path, monkeypatch, threads):
        monkeypatch.setattr(fast_csv, "MIN_BYTES", 0)
        monkeypatch.setattr(fast_csv, "PIECE", 1000)
        rows = [
            f"{i * 7919 % 97},2012-01-01T00:{i % 60:02}:00Z,1.5,{i / 1000:.3f}1"
            for i in range(3000)
        ]
        path = tmp_path / "data.csv"
        path.write_text(HEADER + "\n".join(rows) + "\n")
        data = incrowd.read(path, threads=threads)
        assert data.people.to_list() == list(dict.fromkeys(i * 7919 % 97 for i in range(3000)))


class TestFastRows:
    @pytest.fixture(autouse=True)
    def _any_size(self, monkeypatch):
        monkeypatch.setattr(fast_csv, "MIN_BYTES", 0)

    @random_cases(150)
    @given(st.from_regex(r"-?(0|[1-8]?[0-9])\.[0-9]{1,12}", fullmatch=True))
    def test_gives_the_nearest_double(self, tmp_path_factory, text):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fast_csv, "MIN_BYTES", 0)
            rows, _ = taken(f"1,2012-01-01T00:00:00Z,{text},7.5\n", tmp_path_factory.mktemp("n"))
        assert rows[0]["north"] == float(text)

    def test_knows_every_day(self, tmp_path):
        days = [
            dt.datetime(1970, 1, 1) + dt.timedelta(days=i, seconds=i % 86400) for i in range(60000)
        ]
        rows, stopped = taken("".join(f"1,{d:%Y-%m-%dT%H:%M:%S},1.5,2.5\n" for d in days), tmp_path)
        assert stopped is None
        expected = [int((d - dt.datetime(1970, 1, 1)).total_seconds()) * 10**6 for d in days]
        assert [row["time_us"] for row in rows] == expected
        assert not any(row["zoned"] for row in rows)

    @pytest.mark.parametrize(
        "day", ["2011-02-29", "2100-02-29", "2012-13-01", "2012-00-10", "2012-04-31", "2012-01-00"]
    )
    def test_gives_way_at_days_that_never_were(self, tmp_path, day):
        assert taken(f"1,{day}T00:00:00Z,1.5,2.5\n", tmp_path) == ([], 0)

    @pytest.mark.parametrize(
        "text", ["", ".", "-", "1.", ".5", "+1.5", "1,5", "1.5.5", "0x1", "1" * 16]
    )
    def test_gives_way_at_numbers_that_are_not_simple(self, tmp_path, text):
        assert taken(f"1,2012-01-01T00:00:00Z,{text},2.5\n", tmp_path)[1] == 0

    def test_counts_rows_up_to_the_piece_that_is_not_simple(self, tmp_path, monkeypatch):
        monkeypatch.setattr(fast_csv, "PIECE", 40)
        good = "1,2012-01-01T00:00:00Z,1.5,2.5\n"
        rows, stopped = taken(good * 6 + "1,never,1.5,2.5\n" + good, tmp_path)
        assert len(rows) == stopped
        assert 4 <= stopped <= 6

    def test_leaves_small_and_compressed_files_alone(self, tmp_path, monkeypatch):
        monkeypatch.setattr(fast_csv, "MIN_BYTES", 10**6)
        assert taken("1,2012-01-01T00:00:00Z,1.5,2.5\n", tmp_path) == ([], 0)

    def test_runs_of_equal_users_share_an_entry(self, tmp_path):
        path = tmp_path / "data.csv"
        path.write_text(
            HEADER + "1,2012-01-01T00:00:00Z,1.5,2.5\n" * 5 + "2,2012-01-01T00:00:00Z,1.5,2.5\n"
        )
        batch = next(fast_rows(path, sniff(path, None, None), COLUMNS, 1))
        assert batch.column("user_id").dictionary.to_pylist() == ["1", "2"]
        assert np.array_equal(batch.column("user_id").indices, [0, 0, 0, 0, 0, 1])
