"""Errors of libraries, while a file is read, are errors of ours that name the file."""

import json
import zlib

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from incrowd._file_errors import MOST_TEXT, read_json, read_text, reading_file
from incrowd.errors import ArgumentError, InputError, OutputError, UnreadableError

FOREIGN = [
    OSError("odd"),
    FileNotFoundError(2, "No such file or directory"),
    PermissionError(13, "Permission denied"),
    EOFError("ended early"),
    OverflowError("too large"),
    RecursionError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    zlib.error("-3"),
    pa.ArrowInvalid("odd"),
    pa.ArrowMemoryError("malloc"),
    pl.exceptions.ComputeError("odd"),
    pl.exceptions.PanicException("index out of bounds"),
    duckdb.IOException("odd"),
    duckdb.InternalException("odd"),
]


class TestReadingFile:
    @pytest.mark.parametrize("error", FOREIGN, ids=lambda error: type(error).__name__)
    def test_whatever_a_library_raises_names_the_file(self, error):
        with (
            pytest.raises(UnreadableError, match=r"^cannot read the record x\.bin: .") as caught,
            reading_file("x.bin", "the record"),
        ):
            raise error
        assert caught.value.file == "x.bin"
        assert caught.value.__cause__ is error

    @pytest.mark.parametrize("error", [KeyError("k"), TypeError("odd"), ValueError("odd")])
    def test_of_a_document_odd_values_are_damage_and_else_a_fault_of_ours(self, error):
        with pytest.raises(UnreadableError), reading_file("x", document=True):
            raise error
        with pytest.raises(type(error)), reading_file("x"):
            raise error

    def test_errors_of_ours_stay_and_learn_the_file(self):
        with pytest.raises(ArgumentError) as caught, reading_file("x"):
            raise ArgumentError("odd")
        assert caught.value.file is None
        with pytest.raises(InputError, match=r"^odd$") as found, reading_file("x"):
            raise InputError("odd")
        assert found.value.file == "x"

    def test_a_full_disk_is_no_damage(self):
        with pytest.raises(OutputError, match="disk is full"), reading_file("x"):
            raise OSError(28, "No space left on device")

    def test_too_little_memory_for_duckdb_is_no_damage(self):
        with pytest.raises(InputError, match="memory limit is too low"), reading_file("x"):
            raise duckdb.OutOfMemoryException("Out of Memory Error: could not allocate")

    def test_what_is_said_can_be_printed(self):
        with pytest.raises(UnreadableError) as caught, reading_file("x"):
            raise OSError("a\x1b[2J\nb" + "c" * 9999)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 400


class TestDocuments:
    def test_half_a_character_is_damage(self, tmp_path):
        file = tmp_path / "x.json"
        file.write_text(json.dumps({"name": "\ud800"}))
        with pytest.raises(UnreadableError, match=r"x\.json"):
            read_json(file, "the manifest")

    def test_nesting_is_damage(self, tmp_path):
        file = tmp_path / "x.json"
        file.write_text("[" * 100_000)
        with pytest.raises(UnreadableError, match="nested too deeply"):
            read_json(file, "the manifest")

    def test_size_is_bounded(self, tmp_path):
        file = tmp_path / "x.json"
        with file.open("wb") as out:
            out.truncate(MOST_TEXT + 1)
        with pytest.raises(UnreadableError, match="larger than 67,108,864 bytes"):
            read_text(file, "the manifest")
