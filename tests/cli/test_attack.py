import json

import polars as pl
import pytest

import incrowd as library


@pytest.fixture
def twins(tmp_path):
    """Make three people, two of whom did the same."""
    lines = ["user,timestamp,lat,lon,antenna"]
    lines += [f"{who},2012-03-05 07:31,5.3364,-4.0267,A" for who in ("ann", "bob")]
    lines += ["cat,2012-03-05 08:31,5.3364,-4.0267,A", "cat,2012-03-05 09:31,5.3464,-4.0267,B"]
    (tmp_path / "calls.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "calls.csv"


class TestAttack:
    def test_says_what_an_adversary_can_do(self, incrowd, city):
        status, out, err = incrowd("attack", city)
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == "people                40"
        assert lines[3].split() == ["attack", "k", "risk", "1", "0.5", "or", "more", "mean", "risk"]
        names = [line.split()[0] for line in lines[4:21] if not line.startswith(" ")]
        assert names == [
            "location", "location_sequence", "visit", "frequent_location",
            "frequent_location_sequence", "frequency", "home_work", "proportion", "probability",
        ]  # fmt: skip
        assert "as if all had been tried" in " ".join(lines)

    def test_figures_are_those_of_the_library(self, incrowd, city):
        status, out, _ = incrowd("attack", city, "--attack", "location,visit", "--k", "3", "--json")
        found = json.loads(out)
        visits = library.visits(library.read(city))
        assert (status, found["people"], found["visits"]) == (0, 40, len(visits.place))
        for each in found["risk"]:
            risk = library.risk(visits, each["attack"], 3)["risk"]
            assert each["k"] == 3
            assert each["certain"] == pytest.approx((risk == 1).mean())
            assert each["half"] == pytest.approx((risk >= 0.5).mean())
            assert each["mean"] == pytest.approx(risk.mean())

    def test_shows_who_is_most_at_risk_and_warns(self, incrowd, twins):
        words = ("--attack", "location,home_work", "--most-at-risk", "2", "--place", "antenna")
        status, out, err = incrowd("attack", twins, *words)
        assert status == 0
        lines = out.split("Most at risk\n")[1].splitlines()
        assert lines[0] == "  cat: nobody else left (location, k = 2), knowing B"
        assert lines[1] == "  ann: 2 others left (location, k = 2), knowing A"
        assert "PRIVACY WARNING: this output names people" in err
        status, out, err = incrowd("attack", twins, *words, "--json")
        assert [each["user"] for each in json.loads(out)["worst"]] == ["cat", "ann"]
        assert "PRIVACY WARNING: this output names people" in err

    def test_tells_times_and_cells(self, incrowd, twins):
        _, out, _ = incrowd("attack", twins, "--attack", "visit", "--most-at-risk", "1", "--k", "1")
        assert "cat: nobody else left (visit, k = 1), knowing A at 2012-03-05 0" in out

    def test_takes_times_as_precisely_as_told(self, incrowd, twins):
        words = ("attack", twins, "--attack", "visit", "--k", "1", "--json")
        exact, coarse = (
            json.loads(incrowd(*words, *more)[1])["risk"][0]["certain"]
            for more in ((), ("--time-bin", "1440"))
        )
        assert exact == pytest.approx(1 / 3)
        assert coarse == pytest.approx(1 / 3)
        found = json.loads(incrowd(*words, "--time-bin", "1440")[1])["risk"][0]
        assert found["mean"] == pytest.approx((1 / 3 + 1 / 3 + 1) / 3)

    @pytest.mark.parametrize(
        ("zones", "place"),
        [
            (["4711", "4712", "4711"], "4712"),
            (["A", "B", "A"], "B"),
            (["", "", ""], "cell "),
            (["", "", "A"], "cell "),
        ],
        ids=["numbers", "names", "blank", "partly blank"],
    )
    def test_names_places_as_the_input_does(self, incrowd, tmp_path, zones, place):
        lines = ["user,time,lat,lon,zone"]
        for i, (user, zone) in enumerate(zip("aab", zones, strict=True)):
            lines.append(f"{user},2012-03-05 07:3{i},5.3{3 + i % 2},-4.02,{zone}")
        (tmp_path / "z.csv").write_text("\n".join(lines) + "\n")
        words = ("--place", "zone", "--attack", "location", "--k", "1", "--most-at-risk", "1")
        status, out, _ = incrowd("attack", tmp_path / "z.csv", *words)
        assert status == 0
        assert f"a: nobody else left (location, k = 1), knowing {place}" in out

    def test_names_rectangles_by_their_cells(self, incrowd, monkeypatch, tmp_path):
        boxes = {"user": [1, 2], "x0": [-3, 0], "x1": [2, 1], "y0": [4, 0], "y1": [6, 1]}
        data = library.Trajectories.from_boxes(boxes | {"t0": [0, 0], "t1": [1, 1]})
        monkeypatch.setattr("incrowd.cli._options.Source.read", lambda _: data)
        words = ("--attack", "location", "--k", "1", "--most-at-risk", "1")
        _, out, _ = incrowd("attack", tmp_path / "any.csv", *words)
        assert "1: nobody else left (location, k = 1), knowing cells -3 to 1, 4 to 5" in out

    def test_of_some_people(self, incrowd, twins, tmp_path):
        (tmp_path / "ids").write_text("\ufeffcat\n\nann \r\ncat\n", "utf-8")
        words = ("--attack", "location", "--k", "1,2", "--json")
        _, everybody, _ = incrowd("attack", twins, *words, "-o", tmp_path / "all.csv")
        every = pl.read_csv(tmp_path / "all.csv")
        for i, asked in enumerate((f"@{tmp_path / 'ids'}", "cat, ann")):
            some = tmp_path / f"{i}.csv"
            status, out, _ = incrowd("attack", twins, *words, "--targets", asked, "-o", some)
            assert (status, json.loads(out)["targets"], json.loads(out)["people"]) == (0, 2, 3)
            table = pl.read_csv(some)
            assert table["user"].to_list() == ["cat", "ann"] * 2
            assert table.join(every, on=table.columns, how="anti").is_empty()
        assert "targets" not in json.loads(everybody)
        _, out, _ = incrowd("attack", twins, *words[:-1], "--targets", "ann")
        assert "under attack          1; the crowd is everybody" in out
        assert "of those under attack are uniquely re-identified" in " ".join(out.split())

    def test_of_some_people_whose_identifiers_are_numbers(self, incrowd, city):
        words = ("--attack", "location", "--k", "2", "--json", "--targets", "3,1")
        status, out, _ = incrowd("attack", city, *words)
        visits = library.visits(library.read(city))
        risk = library.risk(visits, "location", 2, targets=[3, 1])["risk"]
        assert status == 0
        assert json.loads(out)["risk"][0]["mean"] == pytest.approx(risk.mean())

    def test_relative_concerns_those_who_have_a_tolerance(self, incrowd, city):
        words = ("attack", city, "--attack", "frequency,home_work,proportion", "--k", "2")
        status, out, err = incrowd(*words, "--relative", "--json")
        assert (status, err.count("\n")) == (0, 1)
        assert err.startswith("note: --relative has no effect on frequency and home_work without")
        found = json.loads(out)["risk"]
        visits = library.visits(library.read(city))
        for name, how in (("frequency", {}), ("proportion", {"relative": True})):
            [mean] = [each["mean"] for each in found if each["attack"] == name]
            assert mean == pytest.approx(library.risk(visits, name, 2, **how)["risk"].mean())
        _, _, err = incrowd(*words, "--relative", "--tolerance", "0.1")
        assert err == ""

    @pytest.mark.parametrize("name", ["risk.csv", "risk.parquet"])
    def test_writes_all_risks_and_warns(self, incrowd, twins, tmp_path, name):
        output = tmp_path / name
        words = ("--attack", "location,home_work", "--k", "1,2", "-o", output)
        status, _, err = incrowd("attack", twins, *words)
        assert status == 0
        assert f"wrote 9 rows to {output}" in err
        assert f"PRIVACY WARNING: {output} contains the identifiers" in err
        table = pl.read_csv(output) if name.endswith("csv") else pl.read_parquet(output)
        assert table.columns == ["attack", "k", "user", "risk"]
        assert table["user"].to_list() == ["ann", "bob", "cat"] * 3

    def test_replaces_a_file_only_by_force(self, incrowd, twins, tmp_path):
        output = tmp_path / "risk.csv"
        output.write_text("mine")
        words = ("attack", twins, "--attack", "location", "-o", output)
        status, _, err = incrowd(*words)
        assert status == 2
        assert "exists already; choose another name, or allow overwriting (--overwrite" in err
        assert output.read_text() == "mine"
        assert incrowd(*words, "--overwrite")[0] == 0


class TestHelp:
    def test_has_an_example(self, incrowd):
        status, out, _ = incrowd("attack", "--help")
        assert status == 0
        assert "incrowd attack cdr.csv --attack location,visit" in out


class TestWrongUse:
    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (["--k", "x"], "--k must be integers separated by commas, like 2,3,4,5, not 'x'"),
            (["--k", "0"], "k must be at least 1 (points that the adversary knows), not 0"),
            (["--attack", "locaton"], "there is no attack 'locaton'; did you mean 'location'?"),
            (["--attack", "visit", "--tolerance", "0.1"], "'tolerance' is not a setting of visit"),
            (["--tolerance", "2"], "tolerance must be from 0 to 1, not 2"),
            (
                ["--relative", "--attack", "frequency,home_work"],
                "frequency: relative needs a tolerance",
            ),
            (["--targets", "eve"], "--targets: person 'eve' is not in the data"),
            (["--targets", "ann,eve,joe"], "'eve' is not in the data, nor 1 of the others given"),
            (["--targets", " , "], "--targets names no person"),
            (["--targets", "@none.txt"], "cannot read none.txt"),
            (["--threads", "0"], "threads"),
            (["--time-bin", "0.5"], "--time-bin must be at least one slot of the grid"),
            (["-o", "risk.txt"], "must end in"),
        ],
    )
    def test_is_one_message_and_leaves_nothing(self, incrowd, twins, monkeypatch, words, text):
        monkeypatch.chdir(twins.parent)
        status, out, err = incrowd("attack", "calls.csv", *words, "--show-values")
        assert (status, out) == (4 if "@none.txt" in words else 2, "")
        assert err.startswith("incrowd: ")
        assert text in err
        assert err.count("\n") == 1
        assert list(twins.parent.iterdir()) == [twins]


class TestByName:
    @pytest.fixture
    def named(self, twins, tmp_path):
        """Take the coordinates away."""
        rows = pl.read_csv(twins).drop("lat", "lon")
        rows.write_csv(tmp_path / "named.csv")
        return tmp_path / "named.csv"

    def test_gives_what_positions_give_if_places_lie_apart(self, incrowd, twins, named):
        for words in (("--k", "1,2"), ("--attack", "visit", "--time-bin", "60")):
            by_place = incrowd("attack", twins, *words, "--place", "antenna", "--json")
            by_name = incrowd("attack", named, *words, "--by-name", "--json")
            assert by_name == by_place
            assert by_name[0] == 0

    def test_tells_times_and_names(self, incrowd, named):
        words = ("--by-name", "--attack", "visit", "--most-at-risk", "1", "--k", "1")
        _, out, _ = incrowd("attack", named, *words)
        assert "cat: nobody else left (visit, k = 1), knowing A at 2012-03-05 08:31:00 UTC" in out

    def test_takes_targets_and_writes_people(self, incrowd, named, tmp_path):
        words = ("--by-name", "--targets", "cat", "-o", tmp_path / "risk.csv", "--attack", "visit")
        assert incrowd("attack", named, *words)[0] == 0
        assert pl.read_csv(tmp_path / "risk.csv")["user"].unique().to_list() == ["cat"]

    def test_a_part_cannot_be_taken(self, incrowd, named):
        status, _, err = incrowd("attack", named, "--by-name", "--sample-people", "0.5")
        assert (status, "--sample-people" in err) == (2, True)
