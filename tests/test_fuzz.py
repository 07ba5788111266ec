"""A short form of ``benchmarks/torture/fuzz.py``, and what it and others have found."""

import json
import random
import struct

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.torture import fuzz
from benchmarks.torture.mutations import mutated, packed, unpacked

import incrowd
from evaluate.makers import Case
from incrowd.errors import (
    ColumnError,
    InputError,
    PlaceError,
    RowError,
    UnreadableError,
)
from incrowd.evaluate._verify.alignment import read_record
from strategies import DEEP

TRIES = 60 if DEEP else 6


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz") / "samples"
    fuzz.make_samples(folder)
    return folder


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_whatever_is_thrown_at_it_ends_in_a_typed_error(kind, samples, tmp_path):
    whole, name, uses = fuzz.KINDS[kind]
    (tmp_path / name).write_bytes(
        packed((samples / whole).read_bytes(), kind[4:])
        if kind.startswith("csv.")
        else (samples / whole).read_bytes()
    )
    for number in range(len(uses)):
        assert fuzz.judged(kind, number, tmp_path / name, samples) is None
    for number in range(TRIES):
        how, path = fuzz.attempt(kind, number, 7, samples, tmp_path)
        assert fuzz.judged(kind, number, path, samples) is None, how


def test_a_failure_is_noticed(samples, tmp_path, monkeypatch):
    def use(error):
        def fails(_, __):
            raise error

        return fails

    file = tmp_path / "x.csv"
    for error, fine in (
        (ValueError("odd"), False),
        (pl.exceptions.PanicException("odd"), False),
        (InputError("odd"), False),
        (InputError(f"{file}: odd"), True),
        (InputError("odd", file=file), True),
    ):
        monkeypatch.setitem(fuzz.KINDS, "csv", ("data.csv", "x.csv", (use(error),)))
        found = fuzz.judged("csv", 0, file, samples)
        assert (found is None) == fine


def test_mutations_are_repeatable_and_packing_is_undone():
    for kind in fuzz.KINDS:
        first, second = (mutated(b'{"a": [1, 2]}' * 9, kind, random.Random(3)) for _ in "ab")  # noqa: S311
        assert first == second
    for suffix in ("gz", "zst"):
        assert unpacked(packed(b"hello", suffix), suffix) == b"hello"


GOOD = {"user": ["a", "b"], "time": ["2012-03-05", "2012-03-06"], "lat": [48.85, 500.0]}


class TestWhatWasFound:
    def test_statistics_of_the_input_are_not_relied_on(self, tmp_path):
        file = tmp_path / "x.parquet"
        pq.write_table(pa.table(GOOD | {"lon": [2.35, 2.36]}), file)
        content = file.read_bytes()
        cut = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        rows, about = content[:cut], content[cut:]
        assert struct.pack("<d", 500.0) in about
        about = about.replace(struct.pack("<d", 500.0), struct.pack("<d", 50.0))
        file.write_bytes(rows + about)
        data = incrowd.read(file, max_bad=0.5)
        assert data.reading.rejects.counts == {"impossible position": 1}

    def test_positions_too_far_apart_name_the_file(self, tmp_path):
        file = tmp_path / "x.csv"
        file.write_text("user,time,lat,lon\na,2012-03-05,48,2\nb,2012-03-05,-45,170\n")
        with pytest.raises(PlaceError) as caught:
            incrowd.read(file)
        assert caught.value.file == str(file)

    @pytest.mark.parametrize(
        ("column", "odd"),
        [("user", [[1]]), ("trajectory", ["x"]), ("person", [7]), ("person", [[1]])],
    )
    def test_a_private_record_with_a_column_of_a_wrong_type(self, tmp_path, column, odd):
        file = tmp_path / "who.parquet"
        good = {"user": ["a"], "trajectory": [0], "person": ["0" * 16]}
        pl.DataFrame(good | {column: odd}).write_parquet(file)
        with pytest.raises(ColumnError, match=f"column '{column}'") as caught:
            read_record(file)
        assert caught.value.file == str(file)

    def test_a_private_record_that_tells_of_more_people_than_it_has_room_for(self, tmp_path):
        file = tmp_path / "who.parquet"
        rows = 3_000_000
        table = {"user": pa.nulls(rows), "trajectory": pa.nulls(rows), "person": pa.nulls(rows)}
        pq.write_table(pa.table(table), file, compression="zstd")
        with pytest.raises(UnreadableError, match="3,000,000 people"):
            read_record(file)

    def test_a_manifest_with_half_a_character_in_the_name_of_a_file(self, tmp_path):
        case = Case(tmp_path)
        file = case.path / "manifest.json"
        fields = json.loads(file.read_text())
        fields["files"]["\ud800.parquet"] = fields["files"]["trajectories.parquet"]
        file.write_text(json.dumps(fields))
        with pytest.raises(UnreadableError, match=r"manifest\.json"):
            incrowd.verify(case.path)

    @pytest.mark.parametrize("options", [{"rejects": "x.csv"}, {"source": "y"}, {"odd": 1}])
    def test_a_private_record_cannot_make_reading_write(self, tmp_path, options):
        from incrowd.data._original import reading_of

        about = {
            "source": "x", "options": options, "selection": {}, "sha256": "", "people": 1,
            "samples": 1, "first": 0, "last": 1,
        }  # fmt: skip
        file = tmp_path / "who.parquet"
        pl.DataFrame({"user": ["a"]}).write_parquet(
            file, metadata={"incrowd.original": json.dumps(about)}
        )
        with pytest.raises(UnreadableError, match="does not say how an original was read"):
            reading_of(file)

    def test_a_damaged_parquet_file_names_itself(self, tmp_path):
        file = tmp_path / "x.parquet"
        pq.write_table(pa.table({n: ["a"] * 5000 for n in ("user", "time", "lat", "lon")}), file)
        whole, dice = file.read_bytes(), random.Random(1)  # noqa: S311
        for _ in range(40):
            content = bytearray(whole)
            for _ in range(8):
                content[dice.randrange(4, len(whole))] = dice.randrange(256)
            file.write_bytes(content)
            with pytest.raises(InputError) as caught:
                incrowd.read(file)
            assert "x.parquet" in f"{caught.value} {caught.value.file}"

    def test_lines_of_too_many_fields_are_told_with_their_number(self, tmp_path):
        file = tmp_path / "x.csv"
        row = "ann,2012-03-05 07:31:00,48.85,2.35\n"
        file.write_text("user,time,lat,lon\n" + row + row.strip() + ",1" * 70_000 + "\n")
        with pytest.raises(RowError, match="line 3"):
            incrowd.read(file)
