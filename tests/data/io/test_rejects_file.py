"""All rows that cannot be used, in a file; against a plain loop over the records."""

import csv
import gzip
import stat

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from data.io.tables import TIMES, table, write_rows
from incrowd.data._io import fast_csv, rejects_file
from incrowd.data._io.lines import is_record_a_line, line_after
from incrowd.data._io.rejects_file import RejectsFile
from incrowd.errors import (
    ArgumentError,
    InputError,
    OutputError,
    PlaceError,
    RowError,
    UnreadableError,
)
from naive.rejects import naive_rejects
from strategies import random_cases

COLUMNS = ["file", "line", "reason", "value"]
HEADER = "user,time,lat,lon,place"
GOOD = "ann,2012-03-05 07:31:00,48.85,2.35,a"
FRANCE = (-9.86, 41.15, 10.38, 51.56)
"""West, south, east and north of where EPSG:2154 may be used."""

users = st.sampled_from(["ann", "bob", "é", "", "  "])
times = st.sampled_from(
    [
        *TIMES,
        TIMES[0],
        "2012-03-05T07:31:00",
        "noon",
        "",
        "1969-12-31 23:59:59",
        "2012-02-30 01:00:00",
    ]
)
numbers = st.sampled_from(["48.85", "48.86", "2.5", "0", "91", "200", "nan", "inf", "2 E", ""])
places = st.sampled_from(["a", "b", "nowhere", ""])
plain = st.one_of(
    st.builds(lambda *fields: ",".join(fields), users, times, numbers, numbers, places),
    st.sampled_from(["too,few", GOOD + ",9", f"{GOOD},{'x' * 90}", "   "]),
    st.just(GOOD),
    st.just(GOOD),
)
odd = st.sampled_from(
    [
        "",
        '"two\nlines",2012-03-05 07:31:00,48.85,2.35,a',
        'ann,"2012-03-05\n07:31:00\n",48.85,2.35,a',
        '"a ""b""",noon,48.85,2.35,a',
        'ann,2012-03-05 07:31:00,"48\n",x,a',
        "Zo\udce9,2012-03-05 07:31:00,48.85,2.35,a",
        "Zo\udce9,few",
    ]
)
files = st.tuples(
    st.lists(st.one_of(plain, plain, odd), max_size=25),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n"]),
)


def text_of(lines, end, ending):
    text = end.join([HEADER, GOOD, *lines]).replace("\r\n", "\n").replace("\n", end)
    return (text + ending.replace("\n", end)).encode("utf-8", "surrogateescape")


def found(path):
    """Return the rows of a file of rejects; of what is no UTF-8 the value is not compared."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == COLUMNS
    return [
        (name, int(line), reason, None if reason == "not UTF-8" else value)
        for name, line, reason, value in rows
    ]


def expected(path, content, **how):
    return [(str(path), *row) for row in naive_rejects(content, **how)]


def attempt(path, rejects, **options):
    """Read, and return how many rows were rejected, or what was raised."""
    try:
        return incrowd.read(path, rejects=rejects, **{"max_bad": 1, **options}).reading.rejects
    except InputError as error:
        return error


class TestAgainstALoop:
    @random_cases(150)
    @given(files, st.booleans(), st.booleans(), st.sampled_from([1, 100]))
    def test_of_a_file(self, tmp_path_factory, parts, packed, fast, size):
        folder, content = tmp_path_factory.mktemp("rejects"), text_of(*parts)
        path = folder / ("x.csv.gz" if packed else "x.csv")
        path.write_bytes(gzip.compress(content) if packed else content)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fast_csv, "MIN_BYTES", 0 if fast else 1 << 40)
            patch.setattr(fast_csv, "PIECE", 128)
            patch.setattr(rejects_file, "_AT_A_TIME", size)
            patch.setattr(rejects_file, "_IN_MEMORY", size)
            counted = attempt(path, folder / "bad.csv")
        assert found(folder / "bad.csv") == expected(path, content)
        if not isinstance(counted, InputError):
            assert counted.total == len(found(folder / "bad.csv"))
            self.check_examples(counted, found(folder / "bad.csv"))

    @staticmethod
    def check_examples(rejects, rows):
        for reason, examples in rejects.examples.items():
            lines = [line for _, line, why, _ in rows if why == reason]
            assert [one.line for one in examples] == lines[:3]

    @random_cases(60)
    @given(files)
    def test_of_places_in_a_table_of_cells(self, tmp_path_factory, parts):
        folder, content = tmp_path_factory.mktemp("rejects"), text_of(*parts)
        path = folder / "x.csv"
        path.write_bytes(content)
        cells = pl.DataFrame({"id": ["a", "b"], "lat": [48.85, 48.86], "lon": [2.35, 2.36]})
        attempt(path, folder / "bad.csv", cells=cells)
        assert found(folder / "bad.csv") == expected(path, content, cells={"a", "b"})

    @random_cases(60)
    @given(files)
    def test_of_positions_where_the_projection_holds(self, tmp_path_factory, parts):
        folder, content = tmp_path_factory.mktemp("rejects"), text_of(*parts)
        path = folder / "x.csv"
        path.write_bytes(content)
        attempt(path, folder / "bad.csv", crs="EPSG:2154")
        assert found(folder / "bad.csv") == expected(path, content, area=FRANCE)

    @random_cases(60)
    @given(st.lists(st.lists(plain, max_size=9), min_size=1, max_size=5))
    def test_of_a_folder(self, tmp_path_factory, parts):
        folder = tmp_path_factory.mktemp("rejects")
        (folder / "in").mkdir()
        rows = []
        for index, lines in enumerate(parts):
            content, path = text_of(lines, "\n", "\n"), folder / "in" / f"{index}.csv"
            path.write_bytes(content)
            rows += expected(path, content)
        attempt(folder / "in", folder / "bad.csv")
        assert found(folder / "bad.csv") == rows

    @random_cases(60)
    @given(st.lists(st.tuples(users, times, numbers, numbers, places), max_size=20), st.booleans())
    def test_of_parquet_and_frames(self, tmp_path_factory, rows, in_memory):
        folder = tmp_path_factory.mktemp("rejects")
        rows = [tuple(GOOD.split(",")), *rows]
        frame = pl.DataFrame(rows, HEADER.split(","), orient="row")
        path = folder / "x.parquet"
        frame.write_parquet(path)
        attempt(frame if in_memory else path, folder / "bad.csv")
        content = "\n".join([HEADER, *map(",".join, rows)]).encode()
        name = "frame" if in_memory else path
        # Rows have numbers, from 1, and no header is counted.
        assert found(folder / "bad.csv") == [
            (str(name), line - 1, *why) for line, *why in naive_rejects(content)
        ]

    def test_of_visits(self, tmp_path):
        lines = ["user,time,place", *(f"ann,{time},a" for time in TIMES), "ann,noon,a", "bob,,a",
                 f"bob,{TIMES[0]},", "x"]  # fmt: skip
        path = tmp_path / "x.csv"
        path.write_text("\n".join(lines))
        incrowd.read_visits(path, max_bad=1, rejects=tmp_path / "bad.csv")
        assert [row[1:] for row in found(tmp_path / "bad.csv")] == [
            (5, "time not understood", "time=noon"),
            (6, "no time", ""),
            (7, "no place", ""),
            (8, "too few fields", "x"),
        ]


class TestFile:
    def test_far_down_lines_are_exact_too(self, tmp_path):
        many = f"{GOOD}\n" * 150_000
        odd = '"two\nlines",2012-03-05 07:31:00,48.85,2.35,a\n\n'
        text = f"{HEADER}\n{odd}{many}few\n{many}bob,noon,1,2,a\n{GOOD}\n"
        (tmp_path / "x.csv").write_text(text)
        data = incrowd.read(tmp_path / "x.csv", rejects=tmp_path / "bad.csv")
        lines = [1 + text[: text.index(word)].count("\n") for word in ("\nfew", "\nbob")]
        assert [row[1] for row in found(tmp_path / "bad.csv")] == [line + 1 for line in lines]
        [example] = data.reading.rejects.examples["time not understood"]
        assert example.line == lines[1] + 1

    def test_can_be_read_by_its_owner_only(self, tmp_path):
        incrowd.read(table(), rejects=tmp_path / "bad.csv")
        assert stat.S_IMODE((tmp_path / "bad.csv").stat().st_mode) == 0o600

    def test_is_there_without_rows_if_all_can_be_used(self, tmp_path):
        assert incrowd.read(table(), rejects=tmp_path / "bad.csv") == incrowd.read(table())
        assert (tmp_path / "bad.csv").read_text() == "file,line,reason,value\n"

    def test_is_there_for_a_file_that_save_wrote(self, tmp_path):
        incrowd.read(table()).save(tmp_path / "x.parquet")
        incrowd.read(tmp_path / "x.parquet", rejects=tmp_path / "bad.csv")
        assert found(tmp_path / "bad.csv") == []

    def test_is_written_if_too_many_rows_are_bad_and_the_error_names_it(self, tmp_path):
        write_rows(tmp_path / "x.csv", [("a", TIMES[0], 1, 2), ("a", "x", 1, 2), ("b", "y", 1, 2)])
        with pytest.raises(RowError, match=r"(?s)2 of 3 rows.*\nAll of them are in .*bad\.csv$"):
            incrowd.read(tmp_path / "x.csv", rejects=tmp_path / "bad.csv")
        assert [row[1] for row in found(tmp_path / "bad.csv")] == [3, 4]

    def test_has_the_first_row_if_reading_stops_there(self, tmp_path):
        write_rows(tmp_path / "x.csv", [("a", TIMES[0], 1, 2), ("a", "x", 1, 2), ("b", "y", 1, 2)])
        with pytest.raises(RowError, match=r"^x\.csv, line 3: .*\nIt is in .*bad\.csv$"):
            incrowd.read(tmp_path / "x.csv", strict=True, rejects=tmp_path / "bad.csv")
        assert [row[1] for row in found(tmp_path / "bad.csv")] == [3]

    def test_is_not_written_if_the_input_cannot_be_read(self, tmp_path):
        text = f"{HEADER}\n{GOOD}\n" + "bob,noon,1,2,a\n" * 9999
        (tmp_path / "x.csv.gz").write_bytes(gzip.compress(text.encode())[:-9])
        with pytest.raises(UnreadableError):
            incrowd.read(tmp_path / "x.csv.gz", max_bad=1, rejects=tmp_path / "bad.csv")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv.gz"]

    def test_is_written_if_the_data_cannot_be_used_for_another_reason(self, tmp_path):
        rows = table(lat=[5.0, 50, 5], lon=[-70.0, 2, 100]).vstack(table(time="x")[:1])
        with pytest.raises(PlaceError):
            incrowd.read(rows, max_bad=1, rejects=tmp_path / "bad.csv")
        assert len(found(tmp_path / "bad.csv")) == 1

    def test_an_earlier_one_is_replaced(self, tmp_path):
        for bad in (2, 1, 0):
            rows = table(time=["x"] * bad + TIMES[bad:])
            incrowd.read(rows, max_bad=1, rejects=tmp_path / "bad.csv")
            assert len(found(tmp_path / "bad.csv")) == bad

    def test_any_other_file_is_refused(self, tmp_path):
        (tmp_path / "bad.csv").write_text("user,time,lat,lon\n")
        with pytest.raises(OutputError, match="exists already and is no file of rejected rows"):
            incrowd.read(table(), rejects=tmp_path / "bad.csv")
        assert (tmp_path / "bad.csv").read_text() == "user,time,lat,lon\n"

    def test_a_folder_that_does_not_exist_is_refused(self, tmp_path):
        with pytest.raises(OutputError, match="does not exist"):
            incrowd.read(table(), rejects=tmp_path / "no" / "bad.csv")

    def test_must_not_lie_among_the_data(self, tmp_path):
        write_rows(tmp_path / "x.csv", [("a", TIMES[0], 1, 2)])
        with pytest.raises(ArgumentError, match="all of which is read as data"):
            incrowd.read(tmp_path, rejects=tmp_path / "bad.csv")
        incrowd.read(tmp_path, rejects=tmp_path / "_bad.csv")  # such names are left out
        assert found(tmp_path / "_bad.csv") == []

    def test_an_earlier_one_that_a_pattern_takes_for_data_is_refused(self, tmp_path):
        write_rows(tmp_path / "x.csv", [("a", TIMES[0], 1, 2)])
        incrowd.read(tmp_path / "*.csv", rejects=tmp_path / "bad.csv")
        with pytest.raises(ArgumentError, match="is read as data"):
            incrowd.read(tmp_path / "*.csv", rejects=tmp_path / "bad.csv")

    def test_a_full_disk_is_said(self, tmp_path, monkeypatch):
        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(rejects_file._Spool, "put", full)
        with pytest.raises(
            OutputError, match=r"cannot write temporary files in .*: the disk is full"
        ):
            incrowd.read(table(time=["x", *TIMES[1:]]), max_bad=1, rejects=tmp_path / "bad.csv")

    def test_changes_nothing_of_how_the_reading_is_recorded(self, tmp_path):
        write_rows(tmp_path / "x.csv", [("a", TIMES[0], 1, 2)])
        data = incrowd.read(tmp_path / "x.csv", rejects=tmp_path / "bad.csv")
        assert data.reading == incrowd.read(tmp_path / "x.csv").reading


class TestSeveralReadings:
    def test_one_after_another_are_in_one_file(self, tmp_path):
        file = RejectsFile(tmp_path / "bad.csv")
        for name in "ab":
            write_rows(tmp_path / f"{name}.csv", [("a", TIMES[0], 1, 2), ("a", name, 1, 2)])
            incrowd.read(tmp_path / f"{name}.csv", max_bad=1, rejects=file)
        assert [row[1:] for row in found(file.path)] == [
            (3, "time not understood", f"time={name}") for name in "ab"
        ]
        assert file.rows == 2

    def test_sensor_by_sensor_have_each_row_once(self, tmp_path):
        rows = [("a", TIMES[0], "gsm", "x"), ("a", "x", "gsm", "x"), ("a", "few"),
                ("b", TIMES[0], "wifi", "y"), ("b", "y", "wifi", "y")]  # fmt: skip
        write_rows(tmp_path / "x.csv", rows, header=("user", "time", "sensor", "place"))
        incrowd.traces(tmp_path / "x.csv", max_bad=1, rejects=RejectsFile(tmp_path / "bad.csv"))
        assert sorted(row[1] for row in found(tmp_path / "bad.csv")) == [3, 4, 6]


class TestLines:
    @given(st.lists(st.integers(1, 30), unique=True).map(sorted), st.integers(1, 20))
    def test_malformed_records_are_counted_in(self, malformed, line):
        after = line
        for other in malformed:
            after += other <= after
        assert line_after(line, malformed) == after

    @pytest.mark.parametrize(
        ("content", "answer"),
        [
            (b"a,b\n1,2\n", True),
            (b"a,b\r\n1,2\r\n", True),
            (b"a,b\n1,2", True),
            (b"\na,b\n1,2\n", False),
            (b"a,b\n\n1,2\n", False),
            (b"a,b\r\n\r\n1,2\r\n", False),
            (b"a,b\r1,2\r", False),
            (b'a,b\n"1\n",2\n', False),
        ],
    )
    @pytest.mark.parametrize("piece", [1, 2, 3, 1 << 20])
    def test_records_are_lines_without_quotes_and_blank_lines(
        self, tmp_path, monkeypatch, content, answer, piece
    ):
        monkeypatch.setattr("incrowd.data._io.lines.PIECE", piece)
        (tmp_path / "x.csv").write_bytes(content)
        assert is_record_a_line(tmp_path / "x.csv") is answer
