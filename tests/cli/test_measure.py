import json

import polars as pl
import pytest

import incrowd as library
from incrowd.measure._dispersion import COLUMNS


@pytest.fixture
def twins(tmp_path):
    """Make four people, two of whom did the same."""
    lines = ["user,timestamp,lat,lon"]
    lines += [f"{who},2012-03-05 07:31,5.3364,-4.0267" for who in ("ann", "bob")]
    lines += ["cat,2012-03-05 08:31,5.3364,-4.0267", "dan,2012-03-05 07:31,5.3464,-4.0267"]
    (tmp_path / "calls.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "calls.csv"


class TestMeasure:
    def test_says_how_hard_it_is_to_hide(self, incrowd, city):
        status, out, err = incrowd("measure", city)
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == "people                40"
        assert lines[3].split() == [
            "k-gap", "mean", "Q1", "median", "Q3", "p80", "max",
        ]  # fmt: skip
        assert lines[4].startswith("k = 2  ")
        assert "would have to grow by 20 km and 8 h or more" in " ".join(lines)
        assert "k = 2: nobody is k-anonymous already." in out

    def test_figures_are_those_of_the_library(self, incrowd, city):
        found = json.loads(incrowd("measure", city, "--k", "5,2,2", "--json")[1])
        assert (found["people"], found["cell_m"], found["slot_s"]) == (40, 100, 60)
        assert [each["k"] for each in found["k_gap"]] == [2, 5]
        data = library.read(city)
        for each in found["k_gap"]:
            table = library.k_gap(data, each["k"])
            assert each["mean"] == pytest.approx(table["k_gap"].mean())
            assert each["median"] == pytest.approx(table["k_gap"].median())
            assert each["percentile_80"] == table["k_gap"].quantile(0.8, "linear")
            assert each["most"] == table["k_gap"].max()
            share = (table["temporal"] > table["spatial"]).mean()
            assert each["time_above_space"] == pytest.approx(share)

    def test_of_any_grid_it_is_20_km_and_8_h(self, incrowd, city):
        grid = ("--cell", "500", "--slot", "600")
        found = json.loads(incrowd("measure", city, *grid, "--json")[1])
        assert (found["cell_m"], found["slot_s"]) == (500, 600)
        stretch = {"max_space": 40, "max_time": 48, "space_weight": 1, "time_weight": 1}
        assert found["stretch"] == stretch
        gaps = library.k_gap(library.read(city, cell=500, slot=600))
        assert found["k_gap"][0]["mean"] == pytest.approx(gaps["k_gap"].mean())
        assert found["k_gap"][0]["median_minutes"] == pytest.approx(
            gaps["temporal"].median() * 2 * 480
        )
        assert "would have to grow by 20 km and 8 h or more" in " ".join(
            incrowd("measure", city, *grid)[1].split()
        )

    def test_means_kilometres_and_minutes(self, incrowd, twins):
        found = json.loads(incrowd("measure", twins, "--json")[1])["k_gap"][0]
        assert (found["already_hidden"], found["least"]) == (0.5, 0)
        # Cat is an hour from ann and bob, dan eleven or twelve cells; half have nothing to lose.
        assert found["time_above_space"] == 0.25
        assert found["median_minutes"] == found["median_km"] == 0
        assert found["most"] == pytest.approx(60 / 480 / 2)
        assert "50.0% of people are k-anonymous already" in incrowd("measure", twins)[1]

    @pytest.mark.parametrize("name", ["gaps.csv", "gaps.parquet"])
    def test_writes_a_row_a_person_and_warns(self, incrowd, twins, tmp_path, name):
        output = tmp_path / name
        status, _, err = incrowd("measure", twins, "-o", output)
        assert status == 0
        assert f"wrote 4 rows to {output}" in err
        assert f"PRIVACY WARNING: {output} contains the identifiers" in err
        table = pl.read_csv(output) if name.endswith("csv") else pl.read_parquet(output)
        assert table.columns == ["user", "k_gap", "spatial", "temporal", *COLUMNS]
        # Ann and bob are hidden, only the time of cat costs, only the place of dan.
        assert table["ratio"].to_list() == [None, None, float("inf"), 0]
        assert table["user"].to_list() == ["ann", "bob", "cat", "dan"]
        assert table["k_gap"][2] == pytest.approx(60 / 480 / 2)

    def test_writes_a_row_a_person_and_k(self, incrowd, twins, tmp_path):
        incrowd("measure", twins, "--k", "2,3", "-o", tmp_path / "gaps.parquet")
        table = pl.read_parquet(tmp_path / "gaps.parquet")
        assert table.columns == ["user", "k", "k_gap", "spatial", "temporal", *COLUMNS]
        assert table["k"].to_list() == [2, 3] * 4
        for k in (2, 3):
            alone = library.dispersion(library.read(twins), k)
            assert table.filter(pl.col("k") == k).select("user", *COLUMNS).equals(alone)

    def test_replaces_a_file_only_by_force(self, incrowd, twins, tmp_path):
        output = tmp_path / "gaps.csv"
        output.write_text("mine")
        assert incrowd("measure", twins, "-o", output)[0] == 2
        assert output.read_text() == "mine"
        assert incrowd("measure", twins, "-o", output, "--overwrite")[0] == 0


class TestHelp:
    def test_has_an_example(self, incrowd):
        status, out, _ = incrowd("measure", "--help")
        assert status == 0
        assert "incrowd measure cdr.csv --k 2,5,10" in out
        assert "--curve" in out
        assert "--generalise" in out


class TestWhy:
    def test_is_said_for_the_smallest_crowd(self, incrowd, city):
        status, out, err = incrowd("measure", city, "--k", "3,5")
        assert (status, err) == (0, "")
        assert "Why, for k = 3" in out
        found = library.anonymizability(library.read(city), [3, 5], ())
        text = " ".join(out.split())
        for sentence in found.words():
            assert " ".join(sentence.split()) in text
        assert f"time costs more than space {found.causes.time_above_space:.1%} of people" in text
        assert "km-min" not in out
        assert "crowd  " not in out

    def test_is_in_json(self, incrowd, city):
        found = json.loads(incrowd("measure", city, "--json")[1])["anonymizability"]
        wanted = library.anonymizability(library.read(city), [2], ()).as_dict()
        assert set(found) == {"k", "points", "distribution", "causes", "hardest", "words"}
        assert found["causes"] == wanted["causes"]
        assert found["words"] == list(wanted["words"])
        assert found["distribution"] == list(wanted["distribution"])

    def test_with_the_curve_and_coarser_grids(self, incrowd, twins):
        out = incrowd("measure", twins, "--curve", "--generalise")[1]
        rows = [line.split() for line in out.splitlines()]
        assert [row[2] for row in rows if row[:2] == ["k", "="]] == ["2", "2:", "2", "3"]
        levels = [row for row in rows if row[:1] in (["0.1-1"], ["20-480"])]
        assert [row[1] for row in levels] == ["50.0%", "75.0%"]  # an hour later is another 8 h
        found = json.loads(incrowd("measure", twins, "--curve", "--generalise", "--json")[1])
        assert [each["k"] for each in found["k_gap"]] == [2]
        assert [each["k"] for each in found["anonymizability"]["curve"]] == [2, 3]
        assert len(found["anonymizability"]["levels"]) == 6

    def test_of_people_who_are_all_alike(self, incrowd, tmp_path):
        file = tmp_path / "same.csv"
        rows = [f"{who},2012-03-05 07:31,5.3364,-4.0267" for who in "abc"]
        file.write_text("\n".join(["user,timestamp,lat,lon", *rows]) + "\n")
        status, out, _ = incrowd("measure", file, "--generalise")
        assert status == 0
        assert "Everybody is hidden already: each of 3 people shares a record" in out
        assert "time costs more than space" not in out.split("Why")[1]

    def test_of_one_person_is_an_error(self, incrowd, tmp_path):
        file = tmp_path / "one.csv"
        file.write_text("user,timestamp,lat,lon\na,2012-03-05 07:31,5.3364,-4.0267\n")
        for words in ([], ["--curve"], ["--generalise", "--json"]):
            status, out, err = incrowd("measure", file, *words)
            assert (status, bool(out)) == (2, "--json" in words)
            assert "a crowd of 2 needs as many people, but there is 1" in err


class TestWrongUse:
    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (["--k", "x"], "--k must be integers separated by commas, like 2,5,10, not 'x'"),
            (["--k", "2,"], "--k must be integers"),
            (["--k", "2.5"], "--k must be integers"),
            (["--k", "1"], "k must be an integer from 2"),
            (["--k", "2,0"], "k must be an integer from 2"),
            (["--k", "5"], "a crowd of 5 needs as many people, but there are 4"),
            (["-o", "gaps.txt"], "must end in"),
            (["-o", "no/gaps.csv"], "the folder no does not exist"),
        ],
    )
    def test_is_one_message_and_2_and_leaves_nothing(
        self, incrowd, twins, monkeypatch, words, text
    ):
        monkeypatch.chdir(twins.parent)
        status, out, err = incrowd("measure", "calls.csv", *words)
        assert (status, out) == (2, "")
        assert err.startswith("incrowd: ")
        assert text in err
        assert err.count("\n") == 1
        assert list(twins.parent.iterdir()) == [twins]
