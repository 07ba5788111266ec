import json
import shutil
import stat

import polars as pl
import pyarrow.parquet as pq
import pytest

import incrowd as library
from incrowd.data._release import write_record, write_release
from incrowd.errors import PrivacyWarning

LOSSES = {"people_dropped": 0, "samples_dropped": 0, "samples_suppressed": 0}


def publish(folder, data, trajectories, became):
    """Write a release and the private record beside it."""
    _, names = write_release(
        folder / "release", trajectories, method="glove", settings={"k": 2}, losses=LOSSES
    )
    assignment = pl.DataFrame({"user": data.people, "trajectory": became})
    write_record(folder / "who.parquet", assignment, names)
    return folder / "release"


@pytest.fixture(scope="module")
def release(city):
    """Make a release of a small city."""
    data = library.read(city)
    made = library.glove(data, k=2)
    return publish(city.parent, data, made.trajectories, made.assignment["trajectory"])


@pytest.fixture
def beside(release, city):
    """Name the release, its original and the record."""
    record = release.parent / "who.parquet"
    return [release, "--original", city, "--record", record]


class TestEvaluate:
    def test_says_what_the_release_is_good_for(self, incrowd, beside):
        status, out, err = incrowd("evaluate", *beside, "--tz", "Africa/Abidjan")
        assert (status, err) == (0, "Reading the original ...\n")
        lines = out.splitlines()
        assert lines[0] == "How accurate it is"
        assert "people                40 of 40 (100.0%) are published" in lines
        assert "samples lost          none of" in out
        assert "Each person in the release beside the original (40 compared)" in lines
        for name in ("centre of mass", "home (22 to 6 h)", "work (9 to 17 h)", "convex hull area"):
            assert any(line.startswith(name) for line in lines)
        assert "square of 5 km" in " ".join(out.split())
        assert "What a crowd's record tells of its people (40 published)" in lines
        [head] = [line for line in lines if line.startswith("shown to within")]
        assert head.split()[3:] == ["100", "m", "1", "km"]
        assert any(line.startswith("one home for all") for line in lines)
        assert "UTC" not in out
        assert max(map(len, lines)) <= 100

    def test_without_the_record_says_what_cannot_be_told(self, incrowd, beside):
        status, out, _ = incrowd("evaluate", *beside[:3], "--tile-km", 1)
        assert status == 0
        assert "Each person" not in out
        assert "tells of its people (" not in out
        assert "samples lost" not in out
        assert "need the private record of who became whom" in " ".join(out.split())
        assert "Hours are UTC" in out
        assert "square of 1 km" in " ".join(out.split())

    def test_without_the_original_says_how_fine_it_is(self, incrowd, release):
        status, out, err = incrowd("evaluate", release)
        assert (status, err) == (0, "")
        assert out.splitlines()[0] == "people                40 are published, in 20 records"
        assert "published samples     half are up to" in out
        assert "give the data that it was made from with" in out
        status, out, _ = incrowd("evaluate", release, "--json")
        found = json.loads(out)
        assert (status, found["utility"], found["inference"]) == (0, None, None)
        assert found["accuracy"]["people_published"] == 40

    def test_gives_everything_to_machines_and_to_a_file(self, incrowd, beside, tmp_path):
        file = tmp_path / "found.json"
        status, out, err = incrowd(
            "evaluate",
            *beside,
            "--json",
            "-o",
            file,
            "--local-tz",
            "Europe/Paris",
            "--min-people",
            3,
        )
        assert status == 0
        assert str(file) in err
        found = json.loads(out)
        assert json.loads(file.read_text("utf-8")) == found
        assert found["accuracy"]["people"] == 40
        assert (found["utility"]["tz"], found["utility"]["least"]) == ("Europe/Paris", 3)
        assert found["utility"]["persons"]["home"]["within"]["50"] == 1
        assert (found["inference"]["tz"], found["inference"]["people"]) == ("Europe/Paris", 40)
        [fine, coarse] = found["inference"]["disclosures"]
        assert (fine["metres"], coarse["metres"]) == (100, 1000)
        assert fine["home"]["number"] <= coarse["home"]["number"] <= coarse["home"]["of"]
        status, out, _ = incrowd("evaluate", *beside[:3], "--json")
        assert (status, json.loads(out)["inference"]) == (0, None)
        status, _, err = incrowd("evaluate", *beside, "-o", file)
        assert status == 2
        assert "exists already" in err
        assert incrowd("evaluate", *beside, "-o", file, "--overwrite")[0] == 0
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

    def test_no_identifier_is_told(self, incrowd, beside, city):
        _, out, _ = incrowd("evaluate", *beside, "--json")
        names = library.read(city).people.cast(pl.String)
        values = {str(value) for value in _texts(json.loads(out))}
        assert not values & {name for name in names if not name.isdigit()}

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--tz", "Mars"], "unknown time zone 'Mars'"),
            (["--local-tz", "Mars"], "unknown time zone 'Mars'"),
            (["--tile-km", 0.01], "finer than the cells"),
            (["--min-people", 0], "least is 0"),
            (["--cell", 50], "does not lie on the grid of the release"),
        ],
    )
    def test_wrong_use_is_2(self, incrowd, beside, words, says):
        status, out, err = incrowd("evaluate", *beside, *words)
        assert (status, out) == (2, "")
        assert says in err

    def test_a_record_needs_its_original(self, incrowd, beside):
        status, _, err = incrowd("evaluate", beside[0], *beside[3:])
        assert status == 2
        assert "needs --original" in err

    def test_the_record_of_another_release_is_2(self, incrowd, beside, tmp_path):
        other = pl.read_parquet(beside[-1]).with_columns(person=pl.lit("nobody"))
        other.write_parquet(tmp_path / "other.parquet")
        status, _, err = incrowd("evaluate", *beside[:3], "--record", tmp_path / "other.parquet")
        assert status == 2
        assert "belongs to another one" in err

    def test_what_is_no_release_is_4(self, incrowd, tmp_path):
        status, _, err = incrowd("evaluate", tmp_path)
        assert status == 4
        assert "is no release" in err
        assert incrowd("evaluate", tmp_path / "missing")[0] == 4

    def test_a_release_of_another_version_is_4(self, incrowd, release, tmp_path):
        release = shutil.copytree(release, tmp_path / "other")
        manifest = json.loads((release / "manifest.json").read_text("utf-8"))
        (release / "manifest.json").write_text(json.dumps(manifest | {"version": 99}), "utf-8")
        status, _, err = incrowd("evaluate", release)
        assert status == 4
        assert "version 99" in err

    def test_a_changed_file_is_4(self, incrowd, release, tmp_path, city):
        release = shutil.copytree(release, tmp_path / "other")
        (release / "trajectories.parquet").write_bytes(b"")
        status, _, err = incrowd("evaluate", release, "--original", city)
        assert status == 4
        assert "is not the file that was released" in err

    def test_one_person_with_one_sample(self, incrowd, tmp_path):
        calls = tmp_path / "calls.csv"
        calls.write_text("user,timestamp,lat,lon\n7,2012-03-05 07:31,5.3364,-4.0267\n", "utf-8")
        data = library.read(calls)
        with pytest.warns(PrivacyWarning, match="1 of 1 people have a record"):
            release = publish(tmp_path, data, data, [0])
        words = [release, "--original", calls, "--record", tmp_path / "who.parquet"]
        status, out, _ = incrowd("evaluate", *words)
        assert status == 0
        assert "beside the original (1 compared)" in out
        assert "travel distance" in out
        assert incrowd("evaluate", *words, "--json")[0] == 0
        assert incrowd("evaluate", release)[0] == 0

    def test_nothing_published_is_4(self, incrowd, release, tmp_path, city, monkeypatch):
        release = shutil.copytree(release, tmp_path / "other")
        rows = release / "trajectories.parquet"
        pq.write_table(pq.read_table(rows).slice(0, 0), rows)
        monkeypatch.setattr("incrowd.data._manifest._check_seals", lambda *_: None)
        for words in ([], ["--original", city]):
            status, out, err = incrowd("evaluate", release, *words)
            assert (status, out) == (4, "")
            assert "has no rows" in err

    def test_help_has_an_example(self, incrowd):
        status, out, _ = incrowd("evaluate", "--help")
        assert status == 0
        assert "incrowd evaluate release/ --original cdr.csv" in " ".join(out.split())


def _texts(value):
    """Give every text in plain values."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []
