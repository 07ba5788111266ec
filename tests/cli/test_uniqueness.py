import json

import polars as pl
import pytest

import incrowd as library


@pytest.fixture(scope="module")
def campus(tmp_path_factory):
    """Make a small campus, and take three days of it."""
    from incrowd.data._synthetic.generate import stream

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
        [top] = [i for i, line in enumerate(lines) if line.startswith("Most frequent points")]
        assert lines[top + 2].split() == ["points", "both", "place", "time"]
        assert [len(line.split()) for line in lines[top + 3 : top + 5]] == [4, 4]
        assert " ".join(lines[top + 6 : top + 9]).count("points: data both") == 1
        assert "Per cent of people with more places" in out

    def test_figures_are_those_of_the_library(self, incrowd, city):
        words = (
            "--points",
            "2,3",
            "--draws",
            "300",
            "--seed",
            "5",
            "--draws-per-person",
            "20",
            "--json",
        )
        status, out, _ = incrowd("uniqueness", city, *words)
        found = json.loads(out)["sensors"]["data"]
        visits = library.visits(library.read(city))
        assert (status, found["people"], found["visits"]) == (0, 40, len(visits.place))
        for kind, rows in found["random"].items():
            same = library.uniqueness(visits, [2, 3], kind=kind, draws=300, seed=5, precision=60)
            assert rows == same.table.to_dicts()
        top = library.uniqueness(visits, [2, 3], kind="spatial", model="deterministic")
        assert [row["share"] for row in found["frequent"]["spatial"]] == top.share
        for kind, rows in found["frequent"].items():
            same = library.uniqueness(
                visits, [2, 3], kind=kind, model="deterministic", precision=60
            )
            assert rows == same.table.to_dicts()
        assert list(found["frequent"]) == ["spatio_temporal", "spatial", "temporal"]
        every = library.uniqueness(visits, 4, each=20, seed=5, precision=60)
        assert found["each"]["spatio_temporal"] == sorted(every.people["share"].to_list())

    def test_takes_sensors_one_by_one_and_together(self, incrowd, campus):
        status, out, err = incrowd(
            "uniqueness", campus, "--points", "1,2,3", "--draws", "50", "--draws-per-person", "9"
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
        why = "no stay is long enough to make a point of interest (see --min-stay)"
        assert (status, err) == (0, f"note: gps is left out: {why}\n")
        assert "All sub-traces, exactly" in out
        status, _, err = incrowd("uniqueness", file, "--sensor", "gps")
        assert status == 4
        assert err == f"incrowd: gps: {why}\n"

    def test_the_interval_reaches_as_far_as_it_says(self, incrowd, city):
        words = ("--points", "4", "--draws", "5")
        _, out, _ = incrowd("uniqueness", city, *words)
        found = json.loads(incrowd("uniqueness", city, *words, "--json")[1])["sensors"]["data"]
        rows = [row for [row] in found["random"].values() if row["share"] is not None]
        reach = max(max(r["share"] - r["low"], r["high"] - r["share"]) for r in rows)
        assert f"at most {100 * reach:.1f} percentage points" in out.replace("\n", " ")

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (("--time-bin", "nan"), "a positive number of minutes"),
            (("--min-places", "0"), "--min-places"),
            (("--pois", "--min-stay", "1e300"), "at most 1e+09 min"),
            (("--points", "0"), "at least 1"),
            (("--points", "x"), "--points must be integers"),
            (("--pois", "--by-name"), "cannot be combined"),
            (("--time-bin", "0.5"), "not a multiple of the time slots"),
            (("--by-name",), "no column for the place (cell"),
            (("--pois", "--poi-diameter", "5"), "finer cells"),
            (("--pois", "--min-stay", "0"), "must be positive"),
            (("--sensor", "gsm"), "no column for the sensor"),
        ],
    )
    def test_refuses(self, incrowd, city, tmp_path, words, says):
        plain = tmp_path / "plain.csv"
        pl.read_parquet(city).drop("place", strict=False).write_csv(plain)
        status, out, err = incrowd("uniqueness", plain, *words)
        assert (status, out) == (4 if "no column for" in says else 2, "")
        assert says in err

    def test_bad_rows_of_all_sensors_are_put_into_one_file(self, incrowd, tmp_path):
        lines = ["user,time,sensor,place"]
        for sensor in ("gsm", "wifi"):
            lines += [f"{who},2012-03-05 07:31,{sensor},{who}" for who in "abc"]
            lines += [f"a,noon,{sensor},x"]
        (tmp_path / "x.csv").write_text("\n".join([*lines, "too,few"]) + "\n")
        words = ("--max-bad", "1", "--points", "1", "--rejects", tmp_path / "bad.csv")
        status, _, err = incrowd("uniqueness", tmp_path / "x.csv", *words)
        assert (status, "3 rows that cannot be used are in" in err) == (0, True)
        found = [line.split(",")[1] for line in (tmp_path / "bad.csv").read_text().splitlines()]
        assert sorted(found[1:], key=int) == ["5", "9", "10"]

    def test_refuses_to_choose_a_part_by_name(self, incrowd, campus):
        status, _, err = incrowd("uniqueness", campus, "--from", "2012-01-01")
        assert status == 2
        assert "incrowd convert" in err


@pytest.fixture(scope="module")
def files(campus, tmp_path_factory):
    """Make one file a sensor, each with the columns that it needs."""
    folder, rows = tmp_path_factory.mktemp("files"), pl.read_parquet(campus)
    own = {"gsm": {"place": "antenna"}, "wifi": {"place": "bssid"}, "gps": {}}
    for name, names in own.items():
        columns = ["user", "timestamp", *(names or ("lat", "lon"))]
        rows.filter(sensor=name).select(columns).rename(names).write_parquet(
            folder / f"{name}.parquet"
        )
    return {name: folder / f"{name}.parquet" for name in own}


class TestOneFileASensor:
    def test_is_the_same_as_one_table(self, incrowd, campus, files):
        words = ("--points", "1,3", "--draws", "50", "--json")
        named = [f"{name}={path}" for name, path in files.items()]
        status, out, err = incrowd("uniqueness", *named, *words)
        assert (status, err) == (0, "")
        found, table = json.loads(out), json.loads(incrowd("uniqueness", campus, *words)[1])
        together = found["sensors"].pop("together"), table["sensors"].pop("together")
        assert list(found["sensors"]) == list(files)
        assert found == table
        assert together[0]["people"] == together[1]["people"] == 4

    def test_takes_the_one_that_is_asked_for(self, incrowd, files):
        words = (f"GSM={files['gsm']}", f"wifi={files['wifi']}", "--points", "1", "--json")
        _, out, _ = incrowd("uniqueness", *words, "--sensor", "gsm")
        assert list(json.loads(out)["sensors"]) == ["gsm"]

    def test_says_who_is_in_some_files_only(self, incrowd, files, tmp_path):
        rows = pl.read_parquet(files["wifi"])
        some = tmp_path / "some.parquet"
        rows.filter(pl.col("user") != rows["user"][0]).write_parquet(some)
        words = (f"gsm={files['gsm']}", f"wifi={some}", "--points", "2")
        status, out, err = incrowd("uniqueness", *words)
        assert status == 0
        assert err == ("note: 4 people in all, 3 of them in every file (1 not in wifi)\n")
        assert "equally many of each (3 people have all)" in out

    def test_people_of_different_files_may_be_others(self, incrowd, files, tmp_path):
        other = tmp_path / "other.parquet"
        rows = pl.read_parquet(files["wifi"])
        rows.with_columns(user=pl.col("user").cast(pl.String) + "x").write_parquet(other)
        words = (f"gsm={files['gsm']}", f"wifi={other}", "--points", "2")
        status, out, err = incrowd("uniqueness", *words)
        assert (status, "0 of them in every file" in err) == (0, True)
        assert "(0 people have all)" in out

    def test_a_path_may_have_a_sign_of_equality(self, incrowd, files, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "year=2012").mkdir()
        pl.read_parquet(files["gsm"]).write_parquet("year=2012/a.parquet")
        words = ("--by-name", "--points", "1", "--json")
        status, out, _ = incrowd("uniqueness", "year=2012/*.parquet", *words)
        assert (status, list(json.loads(out)["sensors"])) == (0, ["data"])

    @pytest.mark.parametrize(
        ("words", "status", "says"),
        [
            (("gsm=gsm.parquet", "wifi.parquet"), 2, "'wifi.parquet' names no sensor"),
            (("gsm=gsm.parquet", "GSM=wifi.parquet"), 2, "sensor 'gsm' is given twice"),
            (("gsm=gsm.parquet", "gps=none.csv"), 4, "gps: none.csv does not exist"),
            (("gsm=gsm.parquet", "wifi=empty.csv"), 4, "wifi: empty.csv: no rows to read"),
            (("gsm=gsm.parquet", "gpss=gps.parquet"), 4, "Positions are used for gps, or with"),
            (("gsm=all.parquet",), 4, "all.parquet has rows of several sensors (gps, gsm, wifi)"),
            (("gsm=gsm.parquet", "--sensor", "wifi"), 2, "there are files for gsm"),
            (("gsm=gsm.parquet", "--from", "2012-01-01"), 2, "--from or --to cannot be used"),
        ],
    )
    def test_refuses(self, incrowd, campus, files, monkeypatch, words, status, says):
        folder = files["gsm"].parent
        monkeypatch.chdir(folder)
        (folder / "empty.csv").write_text("user,timestamp,bssid\n")
        if not (folder / "all.parquet").exists():
            (folder / "all.parquet").write_bytes(campus.read_bytes())
        found, out, err = incrowd("uniqueness", *words)
        assert (found, out) == (status, "")
        assert says in err
        assert err.count("\n") == 1

    def test_help_has_an_example(self, incrowd):
        for command in ("uniqueness", "deanonymize"):
            text = incrowd(command, "--help")[1]
            assert f"incrowd {command} gsm=gsm.csv wifi=wifi.csv gps=gps.csv" in text
