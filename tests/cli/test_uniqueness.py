import json

import polars as pl
import pytest

import incrowd as library


@pytest.fixture(scope="module")
def campus(tmp_path_factory):
    """Make a small campus, and take three days of it."""
    from incrowd.data.synth.streaming import stream

    rows = pl.concat(pl.DataFrame(batch) for batch in stream("campus", users=4, seed=3))
    start = rows["timestamp"].min()
    file = tmp_path_factory.mktemp("campus") / "campus.parquet"
    rows.filter(pl.col("timestamp") < start + pl.duration(days=3)).write_parquet(file)
    return file


class TestUniqueness:
    def test_says_how_unique_people_are(self, incrowd, city):
        status, out, err = incrowd("uniqueness", city, "--points", "1,4", "--draws", "200")
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0].split() == ["sensor", "people", "visits", "places"]
        assert lines[1].split()[:2] == ["data", "40"]
        assert lines[5].split() == ["points", "both", "place", "time"]
        assert [line.split()[0] for line in lines[6:8]] == ["1", "4"]
        assert "Most frequent points" in out
        assert "Per cent of people with more places" in out

    def test_figures_are_those_of_the_library(self, incrowd, city):
        words = ("--points", "2,3", "--draws", "300", "--seed", "5", "--each", "20", "--json")
        status, out, _ = incrowd("uniqueness", city, *words)
        found = json.loads(out)["sensors"]["data"]
        visits = library.visits(library.read(city))
        assert (status, found["people"], found["visits"]) == (0, 40, len(visits.place))
        for kind, rows in found["random"].items():
            same = library.uniqueness(visits, [2, 3], kind=kind, draws=300, seed=5, precision=60)
            assert rows == same.table.to_dicts()
        top = library.uniqueness(visits, [2, 3], kind="spatial", model="deterministic")
        assert [row["share"] for row in found["frequent"]["spatial"]] == top.share
        every = library.uniqueness(visits, 4, each=20, seed=5, precision=60)
        assert found["each"]["spatio_temporal"] == sorted(every.people["share"].to_list())

    def test_takes_sensors_one_by_one_and_together(self, incrowd, campus):
        status, out, err = incrowd(
            "uniqueness", campus, "--points", "1,2,3", "--draws", "50", "--each", "9"
        )
        assert (status, err) == (0, "")
        assert out.splitlines()[6].split() == ["gps", "gsm", "wifi"]
        assert "Places of all sensors together, equally many of each (4 people have all)" in out
        assert "People differ" in out

    def test_shows_what_mechanisms_change(self, incrowd, campus):
        words = ("--points", "2", "--draws", "50", "--mechanisms", "--json")
        status, out, _ = incrowd("uniqueness", campus, *words)
        rows = pl.DataFrame(json.loads(out)["mechanisms"], infer_schema_length=None)
        assert status == 0
        names = rows.group_by("sensor").agg(pl.col("mechanism").unique().sort()).sort("sensor")
        assert names.rows() == [
            ("gps", ["cloak", "filter", "geo-i", "none"]),
            ("gsm", ["cloak", "filter", "none"]),
            ("wifi", ["cloak", "filter", "none"]),
        ]
        plain = rows.filter(pl.col("mechanism") == "none", pl.col("sensor") == "wifi")
        cloaked = rows.filter(setting="1 hour", sensor="wifi")
        assert plain.filter(kind="spatio_temporal")["share"].to_list() == cloaked["share"].to_list()
        status, out, _ = incrowd("uniqueness", campus, *words[:-1], "--sensor", "gsm")
        assert "What mechanisms change" in out

    def test_names_do_without_positions(self, incrowd, tmp_path):
        file = tmp_path / "scans.csv"
        file.write_text("user,time,bssid\n1,2012-03-05 07:31,a\n2,2012-03-05 07:31,b\n")
        status, out, _ = incrowd("uniqueness", file, "--by-name", "--points", "1", "--json")
        [row] = json.loads(out)["sensors"]["data"]["random"]["spatial"]
        assert (status, row["share"]) == (0, 1)

    def test_places_where_people_stayed(self, incrowd, campus, tmp_path):
        file = tmp_path / "gps.parquet"
        pl.read_parquet(campus).filter(sensor="gps").drop("sensor", "place").write_parquet(file)
        words = ("--points", "1", "--draws", "50", "--json")
        _, out, _ = incrowd("uniqueness", file, "--pois", *words)
        _, other, _ = incrowd("uniqueness", campus, "--sensor", "gps", *words)
        assert json.loads(out)["sensors"]["data"] == json.loads(other)["sensors"]["gps"]

    def test_leaves_out_a_sensor_that_tells_nothing(self, incrowd, campus, tmp_path):
        file = tmp_path / "few.parquet"
        rows = pl.read_parquet(campus)
        few = rows.filter(sensor="gps").group_by("user").head(2).select(rows.columns)
        pl.concat([few, rows.filter(sensor="gsm")]).write_parquet(file)
        status, out, err = incrowd("uniqueness", file, "--points", "1,2", "--exact")
        assert (status, err) == (
            0, "note: gps is left out: nobody stays anywhere for long enough\n",
        )  # fmt: skip
        assert "All sub-traces, exactly" in out
        status, _, err = incrowd("uniqueness", file, "--sensor", "gps")
        assert status == 2
        assert err == "incrowd: gps: nobody stays anywhere for long enough\n"

    def test_the_interval_reaches_as_far_as_it_says(self, incrowd, city):
        words = ("--points", "4", "--draws", "5")
        _, out, _ = incrowd("uniqueness", city, *words)
        found = json.loads(incrowd("uniqueness", city, *words, "--json")[1])["sensors"]["data"]
        rows = [row for [row] in found["random"].values() if row["share"] is not None]
        reach = max(max(r["share"] - r["low"], r["high"] - r["share"]) for r in rows)
        assert f"within {100 * reach:.1f} points" in out.replace("\n", " ")

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (("--minutes", "nan"), "some minutes"),
            (("--met", "0"), "--met"),
            (("--pois", "--stay", "1e300"), "too long"),
            (("--points", "0"), "at least 1"),
            (("--points", "x"), "--points takes whole numbers"),
            (("--pois", "--by-name"), "exclude each other"),
            (("--minutes", "0.5"), "whole number"),
            (("--by-name",), "no column tells which cell"),
            (("--pois", "--diameter", "5"), "finer cells"),
            (("--pois", "--stay", "0"), "above 0"),
            (("--sensor", "gsm"), "no column tells the sensor"),
        ],
    )
    def test_refuses(self, incrowd, city, tmp_path, words, says):
        plain = tmp_path / "plain.csv"
        pl.read_parquet(city).drop("place", strict=False).write_csv(plain)
        status, out, err = incrowd("uniqueness", plain, *words)
        assert (status, out) == (2, "")
        assert says in err

    def test_refuses_to_choose_a_part_by_name(self, incrowd, campus):
        status, _, err = incrowd("uniqueness", campus, "--from", "2012-01-01")
        assert status == 2
        assert "incrowd convert" in err
