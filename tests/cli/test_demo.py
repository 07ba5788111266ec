import json

import pytest

import incrowd as library
from incrowd.data._manifest import read_manifest
from incrowd.errors import DataWarning, PrivacyWarning
from strategies import in_deep

# Mechanisms that hide nobody are compared, and say so; of few people little is left.
pytestmark = [
    pytest.mark.filterwarnings(f"always::{kind.__module__}.{kind.__name__}")
    for kind in (PrivacyWarning, DataWarning)
]


@pytest.fixture
def short(monkeypatch):
    """Compare one mechanism only: where the comparison is not what is asked about."""
    monkeypatch.setattr("incrowd.cli.demo.METHODS", ("glove",))


class TestDemo:
    def test_makes_measures_hides_and_verifies_a_city(self, incrowd, tmp_path):
        folder = tmp_path / "new" / "demo"
        status, out, _ = incrowd("demo", "-o", folder, "--users", 20)
        assert status == 0
        assert out.startswith("A synthetic city of 20 people, none of them real\n---")
        assert "k = 3: nobody is k-anonymous already" in out
        assert " of 20 are published, in " in out
        assert "linkage       ok" in out
        attacked = [
            line.split() for line in out.split("highest risk    after\n")[1].splitlines()[:9]
        ]
        assert [line[0] for line in attacked[:3]] == ["location", "location_sequence", "visit"]
        assert all(float(line[4]) <= 0.334 for line in attacked)
        unique = [line.split() for line in out.split("How unique people are")[1].splitlines()[5:9]]
        assert [line[0] for line in unique] == ["1", "2", "3", "4"]
        assert all(float(line[2]) == 0 for line in unique)
        assert "under a contract, with conditions:" in out
        assert f"The report is in {folder / 'report.html'}" in out
        assert (folder / "report.html").read_text().startswith("<!doctype html>")
        assert f"the release in {folder / 'release'}," in out
        assert "W4M, k = 3" in out.split("Other mechanisms beside it, on 20 people")[1]
        page = (folder / "comparison" / "comparison.html").read_text("utf-8")
        assert "W4M, k = 3" in page
        city = library.read(folder / "city.parquet")
        assert len(city) == 20
        assert library.verify(folder / "release", original=city).ok
        assert sorted(entry.name for entry in folder.iterdir()) == [
            "city.parquet",
            "comparison",
            "release",
            "report.html",
            "who.parquet",
        ]

    @pytest.mark.usefixtures("short")
    def test_its_record_knows_the_city_and_its_zone(self, incrowd, tmp_path):
        assert incrowd("demo", "-o", tmp_path, "--users", 12)[0] == 0
        record = ("--record", tmp_path / "who.parquet")
        assert incrowd("verify", tmp_path / "release", *record)[0] == 0
        status, out, err = incrowd("evaluate", tmp_path / "release", *record)
        assert status == 0
        assert "UTC" not in err + out
        words = ("--decision", "refuse", "--signer", "A. Diop")
        status, out, _ = incrowd("sign", tmp_path / "release", *words)
        assert status == 0
        assert str(tmp_path / "release-decision.json") in out

    @in_deep
    @pytest.mark.usefixtures("short")
    def test_the_next_command_works(self, incrowd, tmp_path):
        _, out, _ = incrowd("demo", "-o", tmp_path, "--users", 5)
        assert incrowd(*out.splitlines()[-1].split("incrowd ")[1].split())[0] == 0

    @in_deep
    @pytest.mark.usefixtures("short")
    def test_can_be_run_again(self, incrowd, tmp_path):
        for users in (5, 6):
            assert incrowd("demo", "-o", tmp_path, "--users", users)[0] == 0
            assert read_manifest(tmp_path / "release").sizes["smallest_crowd"] >= 3

    @pytest.mark.usefixtures("short")
    def test_tells_programs(self, incrowd, tmp_path):
        status, out, _ = incrowd("demo", "-o", tmp_path, "--users", 5, "--json")
        found = json.loads(out)
        assert (status, found["people"], found["release"]) == (0, 5, str(tmp_path / "release"))

    @pytest.mark.parametrize("users", [2, 1, 0, "x"])
    def test_nobody_hides_alone(self, incrowd, tmp_path, users):
        assert incrowd("demo", "-o", tmp_path, "--users", users)[0] == 2
        assert list(tmp_path.iterdir()) == []

    def test_replaces_nothing_but_a_release(self, incrowd, tmp_path):
        (tmp_path / "release").mkdir()
        (tmp_path / "release" / "thesis.txt").touch()
        status, _, err = incrowd("demo", "-o", tmp_path, "--users", 5)
        assert status == 2
        assert "is no release" in err
        assert [entry.name for entry in tmp_path.iterdir()] == ["release"]

    @pytest.mark.usefixtures("short")
    def test_tells_of_the_compiler(self, incrowd, tmp_path, said):
        assert incrowd("demo", "-o", tmp_path, "--users", 5)[0] == 0
        assert said == ["compiler"]
