import contextlib
import gzip
import itertools
import re
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

import incrowd
import strategies
from incrowd import Frame, Trajectories, _renames
from incrowd.data._frame import laea
from incrowd.data._io import write
from incrowd.data._io.write import SUFFIXES, frame_of, kind_of, sidecar, table_file
from incrowd.errors import ArgumentError, IncrowdWarning, InputError, OutputError, PlaceError
from strategies import random_cases

COLUMNS = pa.schema([("user", pa.string()), ("lat", pa.float64())])
ROWS = pa.record_batch([["a,b", "c"], [1.5, -2.25]], schema=COLUMNS)


def write_twice(path, **how):
    with table_file(path, COLUMNS, **how) as put:
        put(ROWS)
        put(ROWS)


def spoil(path):
    with table_file(path, COLUMNS) as put:
        put(ROWS)
        raise ZeroDivisionError


KINDS = itertools.cycle([".csv", ".csv.gz", ".csv.zst", ".parquet"])
GRID = Frame(laea(5.3, -4), cell=250, slot=300, origin=1_325_376_000)


def sample(**changes):
    """Make two people with three samples on a grid near Abidjan, with columns changed."""
    columns = {"user": ["ann", "bob", "ann"], "x0": [1, 2, 3], "y0": [4, 5, 6], "t0": [7, 8, 9]}
    return Trajectories.from_boxes(columns | changes, GRID)


@pytest.fixture(scope="class")
def one_engine():
    """Open DuckDB once and not for each file, which takes half of the time of reading one."""
    connection = duckdb.connect(config={"threads": 1})

    @contextlib.contextmanager
    def duckdb_connection(*_):
        with connection.cursor() as cursor:
            yield cursor

    with pytest.MonkeyPatch.context() as patch:
        # The package names its function `read` as the module.
        module = sys.modules["incrowd.data._io.read"]
        patch.setattr(module, "duckdb_connection", duckdb_connection)
        yield
    connection.close()


@pytest.fixture(scope="class")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@pytest.mark.usefixtures("one_engine")
class TestRoundTrip:
    @random_cases(300)
    @given(data=strategies.placed())
    def test_reading_what_was_written_gives_the_same(self, folder, data):
        path = folder / f"x{next(KINDS)}"
        incrowd.write(data, path, overwrite=True)
        assert incrowd.read(path, threads=1) == data


class TestWrite:
    @pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.zst", ".parquet"])
    def test_the_same_data_gives_the_same_bytes(self, tmp_path, suffix):
        for name in "ab":
            incrowd.write(sample(), tmp_path / f"{name}{suffix}")
        first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
        assert first == second

    def test_gives_degrees_and_utc(self, tmp_path):
        incrowd.write(sample(), tmp_path / "x.csv")
        lines = (tmp_path / "x.csv").read_text().splitlines()
        assert lines[0] == "user,timestamp,lat,lon"
        assert re.fullmatch(r"ann,2012-01-01T00:35:00Z,5\.31\d+,-3\.99\d+", lines[1])

    @pytest.mark.parametrize("name", ["x", "x.txt", "x.CSV.bz2", "x.parquet.gz"])
    def test_refuses_a_name_that_says_no_kind(self, tmp_path, name):
        with pytest.raises(
            ArgumentError, match=r"the name of the file must end in \.parquet, \.csv"
        ):
            incrowd.write(sample(), tmp_path / name)

    def test_refuses_a_grid_without_a_projection(self, tmp_path):
        with pytest.raises(ArgumentError, match="has no projection"):
            incrowd.write(Trajectories.from_boxes(sample().boxes()), tmp_path / "x.csv")

    def test_refuses_what_is_larger_than_a_cell(self, tmp_path):
        with pytest.raises(ArgumentError, match="larger than one cell"):
            incrowd.write(sample(x1=[9, 9, 9]), tmp_path / "x.csv")

    def test_refuses_crowds(self, tmp_path):
        data = sample()
        crowd = Trajectories(
            data.columns, data.offsets, data.frame, crowd=np.array([2, 1], np.int32)
        )
        with pytest.raises(ArgumentError, match="stand for crowds"):
            incrowd.write(crowd, tmp_path / "x.csv")

    @pytest.mark.parametrize("taken", ["x.csv", "x.csv.frame.json"])
    def test_refuses_names_that_are_taken(self, tmp_path, taken):
        (tmp_path / taken).write_text("mine")
        with pytest.raises(OutputError, match="exists already"):
            incrowd.write(sample(), tmp_path / "x.csv")
        assert [path.name for path in tmp_path.iterdir()] == [taken]
        incrowd.write(sample(), tmp_path / "x.csv", overwrite=True)
        assert incrowd.read(tmp_path / "x.csv") == sample()

    def test_killed_between_table_and_grid_it_is_finished_by_who_reads(self, tmp_path, monkeypatch):
        """Nothing could be cleaned up, and without its grid the table would be read otherwise."""
        incrowd.write(incrowd.synthesize("city", users=3, seed=1), tmp_path / "x.csv")
        real = _renames._Step.do

        def stop(self, **how):
            if self.name.name == "x.csv.frame.json":
                raise KeyboardInterrupt
            real(self, **how)

        def killed(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(_renames._Step, "do", stop)
            patch.setattr(_renames._Step, "undo", killed)
            with pytest.raises(KeyboardInterrupt):
                incrowd.write(sample(), tmp_path / "x.csv", overwrite=True)
        with pytest.warns(IncrowdWarning, match="what it had made was complete"):
            assert incrowd.read(tmp_path / "x.csv") == sample()
        assert {path.name for path in tmp_path.iterdir()} == {"x.csv", "x.csv.frame.json"}

    @pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.zst"])
    def test_leaves_neither_table_nor_grid_when_it_fails(self, tmp_path, monkeypatch, suffix):
        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(write, "_lines", full)
        with pytest.raises(OutputError, match="the disk is full"):
            incrowd.write(sample(), tmp_path / f"x{suffix}")
        assert list(tmp_path.iterdir()) == []


class TestFrameOf:
    @pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
    def test_the_grid_travels_along(self, tmp_path, suffix):
        path = tmp_path / f"x{suffix}"
        incrowd.write(sample(), path)
        assert frame_of(path) == GRID

    def test_a_file_of_others_has_none(self, tmp_path):
        (tmp_path / "x.csv").write_text("user,time\n")
        assert frame_of(tmp_path / "x.csv") is None

    def test_a_damaged_one_is_an_error_that_says_what_to_do(self, tmp_path):
        path = tmp_path / "x.csv"
        sidecar(path).write_text("{")
        with pytest.raises(InputError, match=r"x\.csv\.frame\.json.*remove it to read x\.csv"):
            frame_of(path)

    def test_one_left_over_from_another_dataset_is_noticed(self, tmp_path):
        path = tmp_path / "x.csv"
        incrowd.write(sample(), path)
        path.write_text("user,time,lat,lon\nann,2012-03-05,-33.8,151.2\n")
        with pytest.raises(PlaceError, match="that of another dataset"):
            incrowd.read(path)

    def test_is_not_used_when_another_grid_is_asked_for(self, tmp_path):
        incrowd.write(sample(), tmp_path / "x.csv")
        assert incrowd.read(tmp_path / "x.csv", cell=50).frame.cell == 50

    def test_files_of_one_grid_are_read_on_it(self, tmp_path):
        for name, user in (("a.csv", "ann"), ("b.parquet", "bob")):
            incrowd.write(sample(user=[user] * 3), tmp_path / name)
        assert incrowd.read(tmp_path).frame == GRID


class TestKindOf:
    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_goes_by_the_end_of_the_name(self, suffix):
        assert kind_of(f"some/where.else{suffix}") == suffix

    @pytest.mark.parametrize("name", ["x", "x.txt", "x.csv.bz2", ".gz"])
    def test_refuses_other_names(self, name):
        with pytest.raises(ArgumentError, match="must end in"):
            kind_of(name)


class TestTableFile:
    def test_writes_csv_with_a_header_once(self, tmp_path):
        write_twice(tmp_path / "x.csv", decimals=2)
        rows = '"a,b",1.50\nc,-2.25\n'
        assert (tmp_path / "x.csv").read_text() == "user,lat\n" + 2 * rows

    def test_compresses_by_name(self, tmp_path):
        write_twice(tmp_path / "x.csv")
        write_twice(tmp_path / "x.csv.gz")
        write_twice(tmp_path / "x.csv.zst")
        plain = (tmp_path / "x.csv").read_bytes()
        assert gzip.decompress((tmp_path / "x.csv.gz").read_bytes()) == plain
        with pa.input_stream(str(tmp_path / "x.csv.zst"), compression="zstd") as stream:
            assert stream.read() == plain

    def test_writes_parquet_with_its_metadata(self, tmp_path):
        with table_file(tmp_path / "x.parquet", COLUMNS.with_metadata({"a": "b"})) as put:
            put(ROWS)
        found = pq.read_table(tmp_path / "x.parquet")
        assert found.to_pylist() == ROWS.to_pylist()
        assert found.schema.metadata[b"a"] == b"b"

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_leaves_nothing_behind_after_an_error(self, tmp_path, suffix):
        with pytest.raises(ZeroDivisionError):
            spoil(tmp_path / f"x{suffix}")
        assert list(tmp_path.iterdir()) == []

    def test_replaces_only_when_told(self, tmp_path):
        write_twice(tmp_path / "x.csv")
        with pytest.raises(OutputError, match="exists already"):
            write_twice(tmp_path / "x.csv")
        write_twice(tmp_path / "x.csv", overwrite=True)
