"""Synthetic datasets: the same bytes for the same seed, and the shape that they promise."""

import platform
import zlib
from datetime import UTC, datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.calibration import hiding, measure, people_figures

import incrowd
from incrowd.data._synthetic import generate
from incrowd.data._synthetic.generate import antennas, schema, stream, write
from incrowd.data._synthetic.geography import LocalProjection
from incrowd.data._synthetic.phones import Phones
from incrowd.data._synthetic.presets import PRESETS
from incrowd.errors import ArgumentError, OutputError

SMALL = {
    "civ": 1_500,
    "sen": 1_500,
    "civ-v2": 1_500,
    "sen-v2": 1_500,
    "city": 1_500,
    "florence": 600,
    "pisa": 200,
    "campus": 2,
}

PHONES = [name for name in SMALL if PRESETS[name].kind == "phones"]


def table(preset, **options):
    return pa.Table.from_batches(stream(preset, **options), schema(preset))


@pytest.fixture(scope="module")
def made():
    """Every preset once, small, as a frame."""
    return {
        name: pl.DataFrame(pl.from_arrow(table(name, users=users, seed=3)))
        for name, users in SMALL.items()
    }


class TestSameBytes:
    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".csv.gz", ".csv.zst"])
    def test_same_seed_same_file(self, tmp_path, suffix):
        first, second = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
        rows = write("city", first, users=60, seed=5)
        assert write("city", second, users=60, seed=5) == rows
        assert first.read_bytes() == second.read_bytes()

    @pytest.mark.parametrize("preset", ["sen", "florence", "campus"])
    def test_other_kinds_repeat_too(self, tmp_path, preset):
        users = {"campus": 1}.get(preset, 60)
        first, second = tmp_path / "one.parquet", tmp_path / "two.parquet"
        write(preset, first, users=users, seed=5)
        write(preset, second, users=users, seed=5)
        assert first.read_bytes() == second.read_bytes()

    @pytest.mark.skipif(platform.machine() != "x86_64", reason="sines differ in their last bit")
    @pytest.mark.parametrize(
        ("preset", "rows", "check"),
        [
            ("civ", 69_526, 3950983571),
            ("sen", 44_513, 3881710369),
            ("city", 69_526, 890642763),
            ("civ-v2", 70_233, 3048635980),
            ("sen-v2", 42_915, 2781773461),
        ],
    )
    def test_a_name_means_the_same_people_for_ever(self, preset, rows, check):
        """A better fit gets a name of its own."""
        made = table(preset, users=300, seed=5)
        found = 0
        for column in ("user", "timestamp", "lat", "lon"):
            values = made[column].to_numpy()
            whole = np.round(values * 1e6) if values.dtype == float else values
            found = zlib.crc32(whole.astype(np.int64).tobytes(), found)
        assert (made.num_rows, found) == (rows, check)

    @pytest.mark.parametrize("preset", ["city", "florence"])
    def test_other_seed_other_rows(self, preset):
        one, other = (table(preset, users=30, seed=seed) for seed in (1, 2))
        assert one != other

    @pytest.mark.parametrize("preset", ["civ", "sen", "florence"])
    def test_block_and_threads_change_nothing(self, preset):
        whole = table(preset, users=90, seed=9, block=90, threads=1).combine_chunks()
        pieces = table(preset, users=90, seed=9, block=7, threads=3).combine_chunks()
        assert whole.equals(pieces)

    def test_block_changes_nothing_for_sensors(self):
        whole = table("campus", users=2, seed=9, block=2, threads=1).combine_chunks()
        pieces = table("campus", users=2, seed=9, block=1, threads=2).combine_chunks()
        assert whole.equals(pieces)


class TestRows:
    @pytest.mark.parametrize("preset", SMALL)
    def test_schema(self, preset, made):
        names = ["user", "timestamp", "lat", "lon"]
        more = {"cars": ["place"], "sensors": ["sensor", "place"]}
        assert made[preset].columns == names + more.get(PRESETS[preset].kind, [])
        assert schema(preset).field("timestamp").type == pa.timestamp("ms", tz="UTC")
        assert schema(preset).field("user").type == pa.int32()

    @pytest.mark.parametrize("preset", SMALL)
    def test_everybody_in_order(self, preset, made):
        users = made[preset]["user"]
        assert users.is_sorted()
        assert users.unique().sort().to_list() == list(range(1, SMALL[preset] + 1))

    @pytest.mark.parametrize("preset", SMALL)
    def test_sorted_by_time_and_within_the_days(self, preset, made):
        frame = made[preset]
        steps = frame.select(pl.col("timestamp").diff().over("user")).drop_nulls().to_series()
        assert steps.dt.total_milliseconds().min() >= 0
        begin = {"cars": datetime(2011, 4, 30, 22, tzinfo=UTC)}.get(
            PRESETS[preset].kind, frame["timestamp"].min()
        )
        span = frame["timestamp"].max() - begin
        assert frame["timestamp"].min() >= begin
        assert span.total_seconds() < PRESETS[preset].days * 86_400

    @pytest.mark.parametrize("preset", SMALL)
    def test_six_decimals(self, preset, made):
        for column in ("lat", "lon"):
            values = made[preset][column].to_numpy()
            assert np.array_equal(values, np.round(values, 6))

    @pytest.mark.parametrize("preset", PHONES)
    def test_one_row_a_minute(self, preset, made):
        frame = made[preset]
        assert frame["timestamp"].dt.second().max() == 0
        assert frame.select("user", "timestamp").is_unique().all()

    @pytest.mark.parametrize("preset", PHONES)
    def test_seen_at_antennas(self, preset, made):
        sites = pl.DataFrame(pl.from_arrow(antennas(preset, users=SMALL[preset], seed=3)))
        assert made[preset].join(sites, on=["lat", "lon"], how="anti").height == 0

    @pytest.mark.parametrize("preset", PHONES)
    def test_nobody_is_a_copy_of_somebody(self, preset, made):
        traces = made[preset].group_by("user").agg("timestamp", "lat", "lon").drop("user")
        assert traces.unique().height == SMALL[preset]


class TestActivity:
    @pytest.mark.parametrize(
        ("preset", "rate"), [("civ", 0.75), ("sen", 0.45), ("civ-v2", 0.75), ("sen-v2", 0.45)]
    )
    def test_rate(self, preset, rate, made):
        got = made[preset].height / SMALL[preset] / (14 * 24)
        assert got == pytest.approx(rate, rel=0.12)

    @pytest.mark.parametrize("preset", ["civ", "civ-v2"])
    def test_civ_at_least_one_a_day_on_average(self, preset, made):
        assert made[preset].group_by("user").len()["len"].min() >= 14

    @pytest.mark.parametrize("preset", ["sen", "sen-v2"])
    def test_sen_every_day(self, preset, made):
        days = made[preset].group_by("user").agg(pl.col("timestamp").dt.date().n_unique())
        assert days["timestamp"].min() == days["timestamp"].max() == 14

    def test_heavy_tail(self, made):
        samples = made["civ"].group_by("user").len()["len"]
        assert samples.quantile(0.99) > 6 * samples.median()

    def test_bursts(self, made):
        """Gaps vary more than those of a process without memory (burstiness above 0)."""
        gaps = made["civ"].select(pl.col("timestamp").diff().over("user")).drop_nulls()
        minutes = gaps["timestamp"].dt.total_minutes()
        assert (minutes.std() - minutes.mean()) / (minutes.std() + minutes.mean()) > 0.3
        assert minutes.median() < minutes.mean() / 4

    def test_day_and_night(self, made):
        hours = made["civ"]["timestamp"].dt.hour()
        assert ((hours >= 18) & (hours < 21)).sum() > 8 * ((hours >= 2) & (hours < 5)).sum()


class TestHiding:
    """What the second edition is fitted to: section 5 of GLOVE (2021)."""

    def test_k_gaps_and_tails_are_those_of_the_paper(self):
        found = hiding("civ-v2", users=5_000, seed=1)
        assert 0.07 < found["k_gap"]["median"] < 0.10
        assert 0.65 < found["heavy_tails"]["time"] < 0.80
        assert 0.25 < found["hidden_by_20_km_and_480_min"] < 0.45
        assert found["already_hidden"] == 0

    def test_regular_people_are_seen_at_all_times(self, made):
        """Whoever is seen often is seen in nearly every third of a day; quiet people are not."""
        thirds = pl.col("timestamp").dt.epoch("s") // 28_800
        people = made["civ-v2"].group_by("user").agg(pl.len(), thirds.n_unique().alias("thirds"))
        often = people["len"] > people["len"].quantile(0.7)
        assert people.filter(often)["thirds"].median() == 42
        assert people.filter(people["len"] < 60)["thirds"].median() < 30


class TestMobility:
    @pytest.mark.parametrize(
        ("preset", "median", "mean"),
        [
            ("civ", 1.8, 12.0),
            ("sen", 2.0, 10.0),
            ("civ-v2", 1.8, 12.0),
            ("sen-v2", 2.0, 10.0),
        ],
    )
    def test_radius_of_gyration_in_the_full_country(self, preset, median, mean):
        settings = PRESETS[preset]
        some = Phones(settings, settings.users, 0).batch(0, 6_000)
        people = people_figures(some, settings)
        assert people["radius_km"].median() == pytest.approx(median, rel=0.15)
        assert people["radius_km"].mean() == pytest.approx(mean, rel=0.15)
        assert people["confined"].mean() > 0.75
        # A heavy tail, which a small land with few antennas could not show.
        assert people["places"].quantile(0.99) >= 3 * people["places"].median()

    def test_nights_at_home(self, made):
        frame = made["city"].with_columns(pl.col("timestamp").dt.hour().alias("hour"))
        homes = (
            frame.filter(pl.col("hour").is_in([22, 23, 0, 1, 2, 3, 4, 5]))
            .group_by("user", "lat", "lon")
            .len()
            .sort("len", "lat", "lon")
            .group_by("user", maintain_order=True)
            .last()
            .select("user", pl.col("lat").alias("home"))
        )
        at_home = frame.join(homes, on="user").with_columns(pl.col("lat") == pl.col("home"))
        weekday = pl.col("timestamp").dt.weekday() <= 5
        night = at_home.filter(pl.col("hour").is_in([2, 3, 4]))["lat"].mean()
        work = at_home.filter(pl.col("hour").is_in([10, 11, 14, 15]) & weekday)["lat"].mean()
        assert night > 0.75
        assert work < 0.6

    def test_trips_make_the_mean_larger_than_the_median(self, made):
        people = people_figures(made["civ"].to_arrow(), PRESETS["civ"])
        assert people["radius_km"].mean() > 2 * people["radius_km"].median()


class TestAntennas:
    @pytest.mark.parametrize("preset", ["civ", "sen", "city", "florence", "campus"])
    def test_in_cells_of_their_own(self, preset):
        sites = antennas(preset)
        x, y = LocalProjection(PRESETS[preset]).metres(
            sites["lat"].to_numpy(), sites["lon"].to_numpy()
        )
        gaps = np.hypot(x[:, None] - x, y[:, None] - y)
        np.fill_diagonal(gaps, np.inf)
        assert gaps.min() > 150
        for shift in (0.0, 33.0, 71.0):
            cells = np.column_stack([(x + shift) // 100, (y + shift) // 100])
            assert len(np.unique(cells, axis=0)) == sites.num_rows

    def test_ids_are_distinct(self):
        assert (
            antennas("campus", users=5)["id"].unique().__len__()
            == antennas("campus", users=5).num_rows
        )

    @pytest.mark.parametrize("preset", PRESETS)
    def test_people_an_antenna_stay_the_same(self, preset):
        settings = PRESETS[preset]
        share = settings.users / settings.land.sites
        users = 2 * settings.users
        assert users / antennas(preset, users=users).num_rows == pytest.approx(share, rel=0.02)

    def test_the_area_follows_the_people(self):
        def spread(users):
            sites = antennas("civ", users=users)
            x, y = LocalProjection(PRESETS["civ"]).metres(
                sites["lat"].to_numpy(), sites["lon"].to_numpy()
            )
            return np.ptp(x) * np.ptp(y)

        assert spread(82_728) / spread(82_728 // 9) == pytest.approx(9, rel=0.3)

    @pytest.mark.parametrize("preset", PRESETS)
    def test_one_person_is_enough(self, preset):
        assert antennas(preset, users=1).num_rows >= 3
        assert sum(batch.num_rows for batch in stream(preset, users=1)) > 0

    def test_crowded_city_has_a_middle(self):
        sites = antennas("city", users=30_000)
        x, y = LocalProjection(PRESETS["city"]).metres(
            sites["lat"].to_numpy(), sites["lon"].to_numpy()
        )
        away = np.hypot(x, y)
        assert (away < away.max() / 2).mean() > 0.5  # a quarter if they were spread evenly


class TestCars:
    def test_trips_a_car(self, made):
        assert made["florence"].height / 2 / SMALL["florence"] == pytest.approx(83, rel=0.08)

    def test_guests_are_seen_on_few_trips_between_few_zones(self, made):
        cars = made["florence"].group_by("user").agg(pl.len(), pl.col("place").unique())
        guests, others = cars.filter(pl.col("len") <= 20), cars.filter(pl.col("len") > 20)
        assert len(guests) / len(cars) == pytest.approx(0.4, abs=0.06)
        assert guests["len"].mean() / 2 == pytest.approx(2, abs=0.3)
        stops = guests["place"].explode().n_unique()
        assert stops <= round(100 * SMALL["florence"] / PRESETS["florence"].users) + 3
        assert others["place"].explode().n_unique() > 10 * stops

    def test_a_trip_begins_where_the_last_one_ended(self, made):
        ends = made["florence"].with_columns(pl.int_range(pl.len()).over("user").alias("n"))
        pairs = ends.with_columns(
            pl.col("place").shift(1).over("user").alias("last"),
        ).filter((pl.col("n") % 2 == 0) & (pl.col("n") > 0))
        same = (pairs["place"] == pairs["last"]).mean()
        assert 0.95 < same < 1.0  # some trips are lost

    def test_a_spot_of_ones_own(self, made):
        frame = made["florence"]
        x, y = LocalProjection(PRESETS["florence"]).metres(
            frame["lat"].to_numpy(), frame["lon"].to_numpy()
        )
        spots = frame.with_columns(pl.Series("x", x), pl.Series("y", y)).group_by("user", "place")
        spread = spots.agg(pl.col("x").std(), pl.len()).filter(pl.col("len") >= 10)
        assert spread["x"].mean() == pytest.approx(4.0, rel=0.1)
        # Two drivers do not share one.
        shared = spots.agg(pl.col("x").mean()).group_by("place").agg(pl.col("x").std(), pl.len())
        assert shared.filter(pl.col("len") > 5)["x"].median() > 20

    def test_zones_are_those_of_the_table(self, made):
        zones = set(antennas("pisa", users=SMALL["pisa"], seed=3)["id"].to_pylist())
        assert set(made["pisa"]["place"].unique()) <= zones


class TestSensors:
    def test_rates(self, made):
        """Two people only: within what people differ by."""
        counts = dict(made["campus"]["sensor"].cast(pl.String).value_counts().iter_rows())
        for sensor, rate in {"gps": 3_000, "wifi": 550, "gsm": 175}.items():
            assert rate / 2 < counts[sensor] / 2 / 89 < rate * 2

    def test_places(self, made):
        frame = made["campus"].with_columns(pl.col("sensor").cast(pl.String))
        assert frame.filter(pl.col("sensor") == "gps")["place"].null_count() == (
            frame["place"].null_count()
        )
        wifi = frame.filter(pl.col("sensor") == "wifi")
        assert wifi["place"].str.contains(r"^([0-9a-f]{2}:){5}[0-9a-f]{2}$").all()
        fixed = wifi.group_by("place").agg(pl.struct("lat", "lon").n_unique())
        assert fixed["lat"].max() == 1
        known = pl.DataFrame(pl.from_arrow(antennas("campus", users=2, seed=3)))
        gsm = frame.filter(pl.col("sensor") == "gsm").rename({"place": "id"})
        assert gsm.join(known, on=["id", "lat", "lon"], how="anti").height == 0

    def test_sensors_agree_on_where_she_is(self, made):
        frame = made["campus"].with_columns(
            pl.col("sensor").cast(pl.String), pl.col("timestamp").dt.truncate("1m")
        )
        gps, wifi = (
            frame.filter(pl.col("sensor") == sensor)
            .group_by("user", "timestamp")
            .agg(pl.col("lat").mean())
            for sensor in ("gps", "wifi")
        )
        both = gps.join(wifi, on=["user", "timestamp"])
        assert both.height > 1_000
        assert ((both["lat"] - both["lat_right"]).abs() * 111_000).median() < 60


class TestArguments:
    def test_unknown_preset(self):
        with pytest.raises(ArgumentError, match=r"'florance'.*'florence'\?.*civ-v2, sen-v2, city"):
            stream("florance")

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"users": 0}, "users must be .* from 1 to 50000000, not 0"),
            ({"users": 50_000_001}, "users must be .*, not 50000001"),
            ({"users": 2.5}, "users must be .*, not 2.5"),
            ({"users": True}, "users must be .*, not True"),
            ({"seed": -1}, "seed must be .* from 0 to .*, not -1"),
            ({"seed": "x"}, "seed must be .*, not 'x'"),
            ({"block": 0}, "block must be .*, not 0"),
            ({"threads": 0}, "threads must be .*, not 0"),
        ],
    )
    def test_refused_at_once(self, options, text):
        with pytest.raises(ArgumentError, match=text):
            stream("city", **options)

    def test_antennas_check_too(self):
        with pytest.raises(ArgumentError, match=r"users must be .*, not -3"):
            antennas("city", users=-3)

    def test_largest_seed(self):
        assert next(stream("city", users=1, seed=2**63 - 1)).num_rows >= 14


class TestWriting:
    def test_parquet_is_what_was_streamed(self, tmp_path):
        path = tmp_path / "city.parquet"
        rows = write("city", path, users=50, seed=2)
        read = pq.read_table(path)
        assert read.num_rows == rows
        assert read.equals(table("city", users=50, seed=2).combine_chunks())

    def test_csv(self, tmp_path):
        path = tmp_path / "city.csv"
        write("city", path, users=50, seed=2)
        header, first = path.read_text().splitlines()[:2]
        assert header == "user,timestamp,lat,lon"
        row = table("city", users=50, seed=2).slice(0, 1).to_pylist()[0]
        moment = row["timestamp"].strftime("%Y-%m-%dT%H:%M:%SZ")
        assert first == f"1,{moment},{row['lat']:.6f},{row['lon']:.6f}"

    def test_csv_of_several_blocks_has_one_header(self, tmp_path, monkeypatch):
        def blocks(preset, **options):
            return stream(preset, block=10, **options)

        monkeypatch.setattr(generate, "stream", blocks)
        path = tmp_path / "city.csv.gz"
        rows = write("city", path, users=50, seed=2)
        assert pl.read_csv(path).height == rows

    def test_progress(self, tmp_path):
        seen = []
        write("city", tmp_path / "a.csv", users=50, progress=lambda *step: seen.append(step))
        assert seen[-1] == (50, 50)

    @pytest.mark.parametrize("name", ["city.json", "city", "city.gz", "parquet"])
    def test_other_endings(self, tmp_path, name):
        with pytest.raises(ArgumentError, match=r"must end in \.parquet, \.csv"):
            write("city", tmp_path / name, users=5)

    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".csv.gz", ".csv.zst"])
    def test_an_error_leaves_nothing(self, tmp_path, monkeypatch, suffix):
        def broken(preset, **options):
            yield from stream(preset, **options)
            raise RuntimeError("no more")

        monkeypatch.setattr(generate, "stream", broken)
        with pytest.raises(RuntimeError, match="no more"):
            write("city", tmp_path / f"city{suffix}", users=5)
        assert list(tmp_path.iterdir()) == []

    def test_a_taken_name(self, tmp_path):
        path = tmp_path / "city.csv"
        path.write_text("mine")
        with pytest.raises(OutputError, match="exists already"):
            write("city", path, users=5)
        assert path.read_text() == "mine"
        write("city", path, users=5, overwrite=True)
        assert path.read_text() != "mine"


def test_whoever_stops_early_is_not_kept_waiting():
    batches = stream("city", users=2_000, block=50)
    assert next(batches).num_rows > 0
    batches.close()
    assert next(batches, None) is None


def test_measured_figures():
    figures = measure("city", users=50, seed=1)
    assert figures["people"] == 50
    assert figures["antennas"] == 3
    assert figures["samples"] == table("city", users=50, seed=1).num_rows

    def test_drops_the_grid_of_the_table_that_it_replaces(self, tmp_path):
        path = tmp_path / "x.csv"
        incrowd.write(incrowd.synthesize("pisa", users=3, seed=1), path)
        write("city", path, users=5, overwrite=True)
        assert "+lat_0=7.5" in incrowd.read(path).frame.crs
