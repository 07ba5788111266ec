import gzip
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import incrowd
import strategies
from incrowd._memory import Memory
from incrowd.data._io import scan, staging
from incrowd.errors import ArgumentError, DataWarning, InputError
from strategies import in_deep, random_cases


def table(**changes):
    """Make three rows of two people, with columns changed."""
    columns = {
        "user": ["ann", "bob", "ann"],
        "time": ["2012-03-05 07:31:00", "2012-03-05 09:02:00", "2012-03-06 18:40:00"],
        "lat": [48.85, 48.86, 48.87],
        "lon": [2.35, 2.36, 2.37],
    }
    return pl.DataFrame(columns | changes)


class TestSpilling:
    @pytest.mark.parametrize("places", [{}, {"place": ["x", "y", "x"]}, {"place": [70, 90, 70]}])
    def test_gives_the_same_as_memory(self, monkeypatch, places):
        rows = pl.concat([table(**places)] * 3 + [table(user=["bob", "cyd", "bob"], **places)])
        expected = incrowd.read(rows)
        monkeypatch.setattr(staging, "ROW_BYTES", 10**12)
        data = incrowd.read(rows)
        assert data.reading.spilled
        assert data == expected
        assert data.reading.collapsed == expected.reading.collapsed

    @random_cases(25)
    @given(strategies.placed())
    def test_gives_the_same_for_anything(self, data):
        rows = data.boxes().select("user", "x0", "y0", "t0")
        lon, lat = data.frame.degrees(
            data.frame.metres(data.x0 + 0.5), data.frame.metres(data.y0 + 0.5)
        )
        rows = rows.with_columns(
            lat=pl.Series(lat), lon=pl.Series(lon),
            time=pl.Series(data.frame.times(data.t0).astype("datetime64[ms]")),
            place=data.place_names() if data.place is not None else pl.lit("x"),
        ).drop("x0", "y0", "t0")  # fmt: skip
        expected = incrowd.read(rows, frame=data.frame)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(staging, "ROW_BYTES", 10**12)
            assert incrowd.read(rows, frame=data.frame) == expected

    def test_keys_of_more_than_64_bits_are_sorted_as_well(self):
        users, slots = 5000, 2**31 // 7200
        rows = pl.DataFrame(
            {
                "user": np.arange(users) % 2500,
                "time": 1_000_000_000 + (np.arange(users) * 7919 % slots) * 7200,
                "lat": 48 + np.arange(users) % 41 / 10,
                "lon": 2 + np.arange(users) % 43 / 10,
            }
        )
        fine = {"cell": 0.01, "slot": 1, "window": ("1990-01-01", "2099-01-01")}
        data = incrowd.read(rows, **fine)
        frame = data.frame
        expected = {}
        x, y = frame.cells(rows["lon"].to_numpy(), rows["lat"].to_numpy())
        t = rows["time"].to_numpy() - frame.origin
        for user, *sample in zip(rows["user"], t, x, y, strict=True):
            expected.setdefault(user, set()).add(tuple(map(int, sample)))
        found = {
            person.user: list(
                zip(person.t0.tolist(), person.x0.tolist(), person.y0.tolist(), strict=True)
            )
            for person in data
        }
        assert found == {user: sorted(samples) for user, samples in expected.items()}

    def test_nothing_is_left_in_the_temporary_folder(self, monkeypatch, tmp_path):
        monkeypatch.setattr(staging, "ROW_BYTES", 10**12)
        incrowd.read(table(), temp_dir=tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_samples_that_do_not_fit_are_an_error_that_says_so(self, monkeypatch):
        monkeypatch.setattr(staging, "ROW_BYTES", 10**12)
        monkeypatch.setattr(staging, "SAMPLE_BYTES", 10**12)
        with pytest.raises(InputError, match=r"raise the limit .*, or read fewer people or days"):
            incrowd.read(table())


class TestSlots:
    def test_more_than_32_bits_are_refused(self):
        times = ["1970-01-01 00:00:00", "2099-01-01 00:00:00", "2012-01-01 00:00:00"]
        with pytest.raises(InputError, match="more than 2,147,483,647 slots"):
            incrowd.read(table(time=times), slot=1)

    def test_a_window_too_long_for_the_slots_is_refused(self):
        with pytest.raises(ArgumentError, match="too short for a time window of 73,049 days"):
            incrowd.read(table(), slot=1, window=("1900-01-01", "2100-01-01"))


PEAK = """
import resource, sys, incrowd
data = incrowd.read(sys.argv[1], memory="800MB", threads=2)
print(data.reading.spilled, data.samples, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


class TestMemory:
    def test_too_many_samples_are_told_before_all_is_read(self, monkeypatch, tmp_path):
        monkeypatch.setattr(staging, "ROW_BYTES", 10**12)
        monkeypatch.setattr(scan, "_BATCH", 1 << 16)
        rows = 1 << 19
        file = tmp_path / "x.parquet"
        pl.select(
            user=pl.int_range(rows) // 64,
            time=1_000_000_000 + pl.int_range(rows) % 64 * 60,
            lat=pl.lit(48.0),
            lon=pl.lit(2.0),
        ).write_parquet(file)
        assert incrowd.read(file).samples == rows
        seen = []
        monkeypatch.setattr(Memory, "for_samples", property(lambda _: rows // 4 * 24))
        with (
            pytest.raises(InputError, match="raise the limit") as caught,
            pytest.warns(DataWarning, match="about 524,288 rows"),
        ):
            incrowd.read(file, progress=seen.append)
        assert seen[-1] < rows // 2
        assert caught.value.file == str(file)

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_a_limit_that_may_be_too_low_is_told_before_anything_is_read(
        self, kind, monkeypatch, tmp_path
    ):
        monkeypatch.setattr(Memory, "for_samples", property(lambda _: 2_000 * 24))
        rows = pl.concat([table()] * 1_000)
        file = tmp_path / f"x.{kind}"
        getattr(rows, f"write_{kind}")(file)
        with pytest.warns(DataWarning, match=r"about [23],\d{3} rows.* memory limit is") as told:
            assert incrowd.read(file).samples == 3
        assert [one.filename for one in told] == [__file__]

    def test_and_not_where_it_is_not_known(self, monkeypatch, tmp_path):
        monkeypatch.setattr(Memory, "for_samples", property(lambda _: 2_000 * 24))
        rows = pl.concat([table()] * 1_000)
        rows.write_csv(tmp_path / "x.csv")
        with gzip.open(tmp_path / "x.csv.gz", "wb") as packed:
            packed.write((tmp_path / "x.csv").read_bytes())
        assert incrowd.read(tmp_path / "x.csv.gz").samples == 3
        assert incrowd.read(tmp_path / "x.csv", window=("2000-01-01", "2050-01-01")).samples == 3

    def test_repeats_are_no_samples(self, monkeypatch):
        monkeypatch.setattr(staging, "ROW_BYTES", 10**12)
        rows = table()[np.tile(np.arange(3), 100_000)]
        monkeypatch.setattr(Memory, "for_samples", property(lambda _: 100_000))
        assert incrowd.read(rows).samples == 3

    def test_saved_trajectories_are_refused_before_they_are_read(self, monkeypatch, tmp_path):
        file = tmp_path / "x.parquet"
        incrowd.synthesize("city", users=50, seed=1).save(file)
        monkeypatch.setattr(Memory, "of", classmethod(lambda cls, _: cls(340_000_001)))
        with pytest.raises(InputError, match="memory limit") as caught:
            incrowd.read(file)
        assert caught.value.file == str(file)

    def test_names_are_counted(self, monkeypatch):
        monkeypatch.setattr(Memory, "for_rows", property(lambda _: 100_000))
        rows = pl.concat([table()] * 2).with_columns(user=pl.lit("x" * 60_000) + pl.col("time"))
        with pytest.raises(InputError, match="names of people and places"):
            incrowd.read(rows)

    @in_deep
    def test_the_peak_keeps_to_the_limit(self, tmp_path):
        rows = 8_000_000
        file = tmp_path / "x.parquet"
        pl.select(
            user=pl.int_range(rows) // 200,
            time=1_700_000_000 + pl.int_range(rows) % 200 * 5820,
            lat=5 + pl.int_range(rows).hash() % 2_000_003 / 1e6,
            lon=-5 + pl.int_range(rows).hash(7) % 2_000_003 / 1e6,
        ).write_parquet(file)
        run = [sys.executable, "-c", PEAK, str(file)]
        ended = subprocess.run(run, capture_output=True, text=True, check=True)  # noqa: S603
        spilled, samples, peak = ended.stdout.split()
        assert (spilled, int(samples)) == ("True", rows)
        assert int(peak) * 1024 <= 800e6
