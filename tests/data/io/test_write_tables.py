import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.data._io.write import SUFFIXES, kind_of, table_file
from incrowd.errors import ArgumentError, OutputError

COLUMNS = pa.schema([("user", pa.string()), ("lat", pa.float64())])
ROWS = pa.record_batch([["a,b", "c"], [1.5, -2.25]], schema=COLUMNS)


def write(path, **how):
    with table_file(path, COLUMNS, **how) as put:
        put(ROWS)
        put(ROWS)


def spoil(path):
    with table_file(path, COLUMNS) as put:
        put(ROWS)
        raise ZeroDivisionError


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
        write(tmp_path / "x.csv", decimals=2)
        rows = '"a,b",1.50\nc,-2.25\n'
        assert (tmp_path / "x.csv").read_text() == "user,lat\n" + 2 * rows

    def test_compresses_by_name(self, tmp_path):
        write(tmp_path / "x.csv")
        write(tmp_path / "x.csv.gz")
        write(tmp_path / "x.csv.zst")
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
        write(tmp_path / "x.csv")
        with pytest.raises(OutputError, match="exists already"):
            write(tmp_path / "x.csv")
        write(tmp_path / "x.csv", overwrite=True)
