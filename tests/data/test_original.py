"""How an original was read is kept in the private record, and it is read so again."""

import polars as pl
import pytest

import incrowd
from incrowd.data._original import OriginalReading, hash_of_files, reading_as_given, reading_of
from incrowd.errors import ArgumentError, UnreadableError
from incrowd.evaluate._comparison import of_files

OPTIONS = {"tz": "Europe/Paris", "time_format": "%d/%m/%Y %H:%M"}


@pytest.fixture
def calls(tmp_path):
    """Make calls of four people in local time, two and two alike."""
    rows = ["user,time,lat,lon"]
    for who, place in (("ann", 5.33), ("bob", 5.33), ("cat", 5.36), ("dan", 5.36)):
        rows += [f"{who},0{day}/03/2024 07:31,{place},-4.02" for day in (5, 6, 7)]
    file = tmp_path / "calls.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


@pytest.fixture
def release(calls):
    """Publish them, with a record that knows how they were read."""
    data = incrowd.read(calls, **OPTIONS)
    known = OriginalReading.of(str(calls), OPTIONS, {}, data)
    folder = calls.parent
    incrowd.publish(
        incrowd.glove(data, k=2), folder / "release", original=data,
        record=folder / "who.parquet", reading=known, draws=20,
    )  # fmt: skip
    return folder / "release"


def record_of(release):
    return release.parent / "who.parquet"


class TestRecord:
    def test_keeps_options_files_and_facts(self, calls, release):
        known = reading_of(record_of(release))
        assert known.source == str(calls)
        assert known.options == OPTIONS
        assert known.sha256 == hash_of_files(calls)
        assert (known.people, known.samples) == (4, 12)

    def test_is_enough_for_verify_evaluate_and_report(self, release):
        found = incrowd.verify(release, record=record_of(release), draws=20)
        assert found.ok
        assert found.scope == "with the original and the private record"
        assert len(of_files(release, record=record_of(release)).before) == 4
        report = incrowd.report.make(release, record=record_of(release))
        assert report.numbers.given.original
        assert "--tz Europe/Paris" in report.numbers.given.reading

    def test_says_by_how_much_times_are_shifted(self, calls, release):
        with pytest.raises(ArgumentError, match=r"its times are 1 h later .* --tz Europe/Paris"):
            incrowd.verify(
                release,
                original=lambda grid: incrowd.read(
                    calls, time_format=OPTIONS["time_format"], frame=grid
                ),
                record=record_of(release),
            )

    def test_says_that_other_data_is_other_data(self, calls, release):
        with pytest.raises(ArgumentError, match="2 people with 6 samples"):
            incrowd.verify(
                release,
                original=lambda grid: incrowd.read(
                    pl.read_csv(calls).head(6), **OPTIONS, frame=grid
                ),
                record=record_of(release),
            )

    def test_files_that_changed_are_refused(self, calls, release):
        calls.write_text(calls.read_text() + "eve,05/03/2024 07:31,5.3,-4\n")
        with pytest.raises(UnreadableError, match="has changed since the release was made"):
            incrowd.verify(release, record=record_of(release))

    def test_files_that_are_gone_are_to_be_named(self, calls, release):
        calls.unlink()
        with pytest.raises(UnreadableError, match="name it with --original"):
            incrowd.verify(release, record=record_of(release))

    def test_an_older_record_needs_the_original(self, release):
        old = release.parent / "old.parquet"
        pl.read_parquet(record_of(release)).write_parquet(old)
        assert reading_of(old) is None
        with pytest.raises(ArgumentError, match="give the original as well"):
            incrowd.verify(release, record=old)

    def test_one_that_is_no_parquet_is_refused(self, calls, release):
        with pytest.raises(UnreadableError, match="cannot read the private record"):
            incrowd.verify(release, record=calls)


class TestPython:
    def test_publish_notes_what_read_was_given(self, calls):
        data = incrowd.read(calls, **OPTIONS)
        folder = calls.parent
        incrowd.publish(
            incrowd.glove(data, k=2), folder / "release", original=data,
            record=folder / "who.parquet", draws=20,
        )  # fmt: skip
        assert reading_of(folder / "who.parquet").options == OPTIONS
        assert incrowd.verify(folder / "release", record=folder / "who.parquet", draws=20).ok

    def test_what_was_selected_afterwards_is_not_known(self, calls):
        data = incrowd.read(calls, **OPTIONS)
        assert reading_as_given(data) is not None
        assert reading_as_given(incrowd.select(data, time=(None, "2024-03-07"))) is None
        assert reading_as_given(data[[0, 1]]) is None

    def test_nor_is_a_frame(self, calls):
        assert reading_as_given(incrowd.read(pl.read_csv(calls), **OPTIONS)) is None


class TestWords:
    def test_are_the_options_of_the_command_line(self, calls):
        data = incrowd.read(calls, **OPTIONS)
        options = OPTIONS | {"cells": calls, "strict": True, "bbox": (1.0, 2.0, 3.5, 4.0)}
        selection = {"time": (None, "2024-03-08"), "share": 0.5, "seed": 7, "zone": "Europe/Paris"}
        known = OriginalReading.of(str(calls), options, selection, data)
        assert known.words(files=False) == (
            "--tz Europe/Paris --time-format '%d/%m/%Y %H:%M' --antennas CELLS --fail-on-bad-row "
            "--bbox 1,2,3.5,4 --to 2024-03-08 --sample-people 0.5 --sample-seed 7"
        )

    def test_what_only_concerns_the_machine_is_not_kept(self, calls):
        data = incrowd.read(calls, **OPTIONS)
        known = OriginalReading.of(str(calls), {"threads": 2, "memory": "1GB"}, {}, data)
        assert known.options == {}
