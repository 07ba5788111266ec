import json

import polars as pl
import pytest

import incrowd as library
from incrowd.attack._reidentification.deanonymize import deanonymize


def calls(path, people):
    """Write a file of people at antennas, one an hour."""
    lines = ["user,timestamp,lat,lon,antenna"]
    for user, places in people.items():
        for hour, place in enumerate(places):
            lines += [
                f"{user},2012-03-05 {hour:02}:{minute},5.3,-4.0,{place}" for minute in (10, 50)
            ]
    path.write_text("\n".join(lines) + "\n")
    return path


def sensed(path, day):
    """Write a file of two people who share a network, and nothing else, on a day."""
    lines = ["user,time,sensor,place,lat,lon"]
    for user in (1, 2):
        for hour in range(10):
            lines.append(f"{user},2012-03-{day} {hour:02}:00,gsm,cell{user},45.7{user},4.8")
            lines.append(f"{user},2012-03-{day} {hour:02}:00,wifi,home,45.7{user},4.8")
            lines += [
                f"{user},2012-03-{day} {hour:02}:{minute},gps,,45.7{user},4.8"
                for minute in (10, 30, 50)
            ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def three(tmp_path):
    """Make three people, two of whom do the same."""
    people = {"ann": "AAB" + "AAB", "bob": "AAB" + "AAB", "cat": "CCD" + "CDC", "dan": "A"}
    return calls(tmp_path / "calls.csv", people)


class TestDeanonymize:
    def test_says_who_is_recognised_and_what_it_means(self, incrowd, three):
        words = ("--place", "antenna", "--train", "0.5", "--top-places", "4")
        status, out, err = incrowd("deanonymize", three, *words)
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0].split() == ["people", "3"]
        assert lines[1].split(maxsplit=2)[2] == "1  (nothing to train on)"
        assert lines[3].split() == [
            "attacker", "n", "named", "precision", "recognised", "of", "all"
        ]  # fmt: skip
        # Ann and bob are alike, and cat is recognised.
        rows = [line.split() for line in lines[4:10]]
        assert [row[:-4] for row in rows] == [
            ["top", "1"], ["2"], ["3"], ["4"], ["tfidf"], ["markov"]
        ]  # fmt: skip
        assert {tuple(row[-4:]) for row in rows} == {("33.3%", "100.0%", "33.3%", "25.0%")}
        text = " ".join(lines)
        assert "the first 50 % of each record" in text
        assert "1 of 3 people (33.3%) are recognised" in text
        assert "markov knows  how often" in out

    def test_shows_some_n_and_the_last(self, incrowd, three):
        words = ("--place", "antenna", "--attacker", "top", "--top-places", "7")
        lines = incrowd("deanonymize", three, *words)[1].splitlines()
        assert [line.split()[-5] for line in lines[4:9]] == ["1", "2", "3", "5", "7"]

    def test_figures_are_those_of_the_library(self, incrowd, city):
        words = ("--train", "0.6", "--top-places", "9", "--time-bin", "120", "--json")
        status, out, _ = incrowd("deanonymize", city, *words)
        found = json.loads(out)
        visits = library.visits(library.read(city))
        wanted = deanonymize(visits, share=0.6, n=range(1, 10), precision=120)
        assert (status, found["people"], found["slot_s"]) == (0, wanted.people, 7200)
        assert found["recognised"] == wanted.table.drop("people").to_dicts()
        assert found["excluded"] == wanted.excluded
        assert found["without_transitions"] == wanted.without_transitions

    def test_takes_an_hour_unless_slots_are_longer(self, incrowd, city):
        words = ("deanonymize", city, "--top-places", "1", "--attacker", "top", "--json")
        assert json.loads(incrowd(*words)[1])["slot_s"] == 3600
        assert json.loads(incrowd(*words, "--slot", "86400")[1])["slot_s"] == 86400

    @pytest.mark.parametrize("name", ["who.csv", "who.parquet"])
    def test_writes_who_was_taken_for_whom_and_warns(self, incrowd, three, tmp_path, name):
        output = tmp_path / name
        words = ("--place", "antenna", "--train", "0.5", "--top-places", "4", "-o", output)
        status, _, err = incrowd("deanonymize", three, *words)
        assert status == 0
        assert f"wrote 18 rows to {output}" in err
        assert f"PRIVACY WARNING: {output} contains the identifiers" in err
        table = pl.read_csv(output) if name.endswith("csv") else pl.read_parquet(output)
        assert table.columns == ["user", "attacker", "n", "matched"]
        last = table.filter(pl.col("attacker") == "markov")
        assert last.rows() == [
            ("ann", "markov", None, None), ("bob", "markov", None, None),
            ("cat", "markov", None, "cat"),
        ]  # fmt: skip

    def test_replaces_a_file_only_by_force(self, incrowd, three, tmp_path):
        output = tmp_path / "who.csv"
        output.write_text("mine")
        words = ("deanonymize", three, "--place", "antenna", "-o", output)
        assert incrowd(*words)[0] == 2
        assert output.read_text() == "mine"
        assert incrowd(*words, "--overwrite")[0] == 0


class TestAgainst:
    def test_learns_from_the_other_dataset(self, incrowd, tmp_path):
        # The places of the second are named in another order; eve is in the first only.
        one = calls(tmp_path / "one.csv", {"eve": "AA", "ann": "AAB", "bob": "CCD"})
        two = calls(tmp_path / "two.csv", {"bob": "DCC", "ann": "BAA"})
        words = ("--place", "antenna", "--no-split", "--json", "--top-places", "2")
        found = json.loads(incrowd("deanonymize", one, "--against", two, *words)[1])
        assert found["people"] == 2
        assert found["excluded"]["only in the visits"] == 1
        assert {row["recall"] for row in found["recognised"]} == {1.0}

    def test_reads_both_on_one_grid(self, incrowd, tmp_path):
        # Zoe is far away: with her the centre is another, and so would be the cells.
        people = {"ann": (5.301, 5.302), "bob": (5.303, 5.304), "zoe": (7.9, 7.8)}
        paths = []
        for name, users in (("one.csv", ("ann", "bob")), ("two.csv", ("ann", "bob", "zoe"))):
            lines = [
                f"{user},2012-03-05 0{hour}:10,{lat},-4.0"
                for user in users
                for hour, lat in enumerate(people[user])
            ]
            (tmp_path / name).write_text("\n".join(["user,timestamp,lat,lon", *lines]) + "\n")
            paths.append(tmp_path / name)
        assert library.read(paths[0]).frame.crs != library.read(paths[1]).frame.crs
        words = ("--no-split", "--json", "--top-places", "2")
        found = json.loads(incrowd("deanonymize", paths[0], "--against", paths[1], *words)[1])
        assert found["excluded"]["only in what is known"] == 1
        assert {row["recall"] for row in found["recognised"]} == {1.0}

    def test_says_so(self, incrowd, three):
        words = ("--place", "antenna", "--against", three)
        whole = incrowd("deanonymize", three, *words, "--no-split")[1]
        assert "Somebody who has the other dataset, with names, looks at this one" in whole
        part = " ".join(incrowd("deanonymize", three, *words)[1].split())
        assert "has the first 70 % of each record of the other dataset" in part


@pytest.fixture(scope="module")
def releases(city, tmp_path_factory):
    """Protect the city in three ways: a folder and a private record of each."""
    from incrowd.evaluate._publish import publish

    folder, data = tmp_path_factory.mktemp("releases"), library.read(city)
    ways = {
        "glove": library.glove(data, k=2),
        "cloak": library.Cloak(60).protect(data),
        "geo-i": library.GeoI(0.1).protect(data),
    }
    for name, protected in ways.items():
        publish(protected, folder / name, original=data, record=folder / f"{name}.parquet")
    return {name: (folder / name, folder / f"{name}.parquet") for name in ways}


@pytest.mark.filterwarnings("ignore::incrowd.errors.PrivacyWarning")
class TestRelease:
    WORDS = ("--no-split", "--top-places", "3", "--json")

    def test_a_k_anonymous_one_yields_no_match(self, incrowd, city, releases):
        release, record = releases["glove"]
        for one, two in ((release, city), (city, release)):
            words = ("deanonymize", one, "--against", two, "--record", record, *self.WORDS)
            status, out, err = incrowd(*words)
            found = json.loads(out)
            assert (status, err, found["people"], found["sharing_a_record"]) == (0, "", 40, 40)
            assert {row["matched"] for row in found["recognised"]} == {0}
        found = json.loads(incrowd("deanonymize", release, "--top-places", "3", "--json")[1])
        assert {row["matched"] for row in found["recognised"]} == {0}
        out = incrowd("deanonymize", release, "--top-places", "3")[1]
        assert "  in crowds           40  (share their published record: no match)" in out

    @pytest.mark.parametrize("name", ["cloak", "geo-i"])
    def test_others_do(self, incrowd, city, releases, name):
        release, record = releases[name]
        for one, two in ((release, city), (city, release)):
            words = ("deanonymize", one, "--against", two, "--record", record, *self.WORDS)
            status, out, _ = incrowd(*words)
            found = json.loads(out)
            assert (status, found["sharing_a_record"]) == (0, 0)
            assert max(row["correct"] for row in found["recognised"]) > 0

    def test_figures_are_those_of_the_library(self, incrowd, city, releases):
        from incrowd.evaluate._comparison import as_cells, compared_datasets, of_files

        release, record = releases["cloak"]
        words = ("--record", record, "--top-places", "3", "--json", "--time-bin", "120")
        found = json.loads(incrowd("deanonymize", release, "--against", city, *words)[1])
        pair = of_files(release, lambda frame: library.read(city, frame=frame), record)
        visits, known = as_cells(*(side.data for side in reversed(compared_datasets(pair))))
        wanted = deanonymize(visits, known=known, n=range(1, 4), precision=120)
        assert found["recognised"] == wanted.table.drop("people").to_dicts()

    def test_names_are_those_of_the_original(self, incrowd, city, releases, tmp_path):
        release, record = releases["geo-i"]
        words = ("--against", city, "--record", record, "--attacker", "markov", "--no-split")
        output = tmp_path / "who.csv"
        _, out, _ = incrowd("deanonymize", release, *words, "-o", output)
        users = {str(user) for user in library.read(city).people}
        assert set(pl.read_csv(output, infer_schema=False)["user"]) == users
        assert "has the other dataset, with names, looks at this release" in " ".join(out.split())

    def test_counts_who_is_not_in_the_other_dataset(self, incrowd, city, releases, tmp_path):
        release, record = releases["glove"]
        rows = pl.read_parquet(city)
        few = tmp_path / "few.parquet"
        users = rows["user"].unique(maintain_order=True)[:25]
        rows.filter(pl.col("user").is_in(users.implode())).write_parquet(few)
        words = ("--against", release, "--record", record, *self.WORDS)
        status, out, err = incrowd("deanonymize", few, *words)
        assert (status, err) == (0, "note: 15 people of the release are not in the other dataset\n")
        # Who is left without her crowd still shares her record.
        assert {row["matched"] for row in json.loads(out)["recognised"]} == {0}

    def test_places_may_be_where_people_stayed(self, incrowd, city, releases):
        release, record = releases["geo-i"]
        words = ("--against", city, "--record", record, "--pois", "--max-gap", "600", *self.WORDS)
        status, out, _ = incrowd("deanonymize", release, *words)
        assert status == 0
        assert json.loads(out)["everybody"] == 40

    def test_refuses(self, incrowd, city, releases, tmp_path):
        release, record = releases["geo-i"]
        sensors = sensed(tmp_path / "sensors.csv", "05")
        cases = [
            ((release, "--against", city), "with --record FILE"),
            ((city, "--against", release), "with --record FILE"),
            ((city, "--record", record), "--record needs a release"),
            ((city, "--against", city, "--record", record), "are none; leave --record out"),
            ((release, "--record", record), "--record needs --against"),
            ((release, "--against", release, "--record", record), "are both releases"),
            ((release, "--against", city, "--record", releases["cloak"][1]), "another one"),
            ((release, "--against", city, "--record", record, "--by-name"), "has no place names"),
            (
                (release, "--against", sensors, "--record", record),
                "several sensors (gps, gsm, wifi)",
            ),
            ((release, "--against", f"gsm={sensors}", "--record", record), "like --sensor gsm"),
        ]
        for words, says in cases:
            status, out, err = incrowd("deanonymize", *words)
            assert (status, out) == (2, "")
            assert says in err


class TestHelp:
    def test_has_an_example(self, incrowd):
        status, out, _ = incrowd("deanonymize", "--help")
        assert status == 0
        assert "incrowd deanonymize cdr.csv --train 0.7" in out


class TestWrongUse:
    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (["--train", "1"], "share must be between 0 and 1, exclusive, not 1"),
            (["--train", "x"], "share must be a number between 0 and 1, not 'x'"),
            (["--attacker", "tops"], "there is no attacker 'tops'; did you mean 'top'?"),
            (["--attacker", ","], "give at least one attacker: top, tfidf, markov"),
            (["--time-bin", "0.5"], "--time-bin must be at least one slot of the grid"),
            (["--no-split"], "--no-split needs --against"),
            (["-o", "who.txt"], "must end in"),
            (["--against", "none.csv"], "none.csv"),
            (["--train", "0.01"], "there is nobody to re-identify: 4 nothing to train on"),
        ],
    )
    def test_is_one_message_and_leaves_nothing(self, incrowd, three, monkeypatch, words, text):
        monkeypatch.chdir(three.parent)
        status, out, err = incrowd("deanonymize", "calls.csv", "--place", "antenna", *words)
        bad_data = words in (["--against", "none.csv"], ["--train", "0.01"])
        assert (status, out) == (4 if bad_data else 2, "")
        assert err.startswith("incrowd: ")
        assert text in err
        assert err.count("\n") == 1
        assert list(three.parent.iterdir()) == [three]

    def test_takes_sensors_one_by_one(self, incrowd, tmp_path):
        file = sensed(tmp_path / "sensors.csv", "05")
        words = ("--top-places", "1", "--attacker", "top")
        status, out, err = incrowd("deanonymize", file, *words, "--json")
        found = json.loads(out)
        assert (status, err) == (0, "")
        recall = {name: one["recognised"][0]["recall"] for name, one in list(found.items())[4:]}
        assert recall == {"gps": 1, "gsm": 1, "wifi": 0}
        status, out, _ = incrowd("deanonymize", file, *words)
        assert [line for line in out.splitlines() if line in recall] == ["gps", "gsm", "wifi"]
        output = tmp_path / "who.csv"
        assert incrowd("deanonymize", file, *words, "-o", output)[0] == 0
        assert output.read_text().startswith("sensor,user,attacker")


class TestSensors:
    def test_learns_from_another_dataset_sensor_by_sensor(self, incrowd, tmp_path):
        paths = [sensed(tmp_path / f"{day}.csv", day) for day in ("05", "06")]
        words = (
            "--top-places",
            "1",
            "--attacker",
            "top",
            "--no-split",
            "--json",
            "--against",
            paths[1],
        )
        status, out, err = incrowd("deanonymize", paths[0], *words)
        found = json.loads(out)
        assert (status, err) == (0, "")
        recall = {name: one["recognised"][0]["recall"] for name, one in list(found.items())[4:]}
        assert recall == {"gps": 1, "gsm": 1, "wifi": 0}
        status, out, _ = incrowd("deanonymize", paths[0], "--sensor", "gps", *words)
        assert json.loads(out)["gps"] == found["gps"]

    def test_a_sensor_that_the_other_lacks_is_an_error(self, incrowd, tmp_path):
        one, two = (sensed(tmp_path / f"{day}.csv", day) for day in ("05", "06"))
        two.write_text("\n".join(x for x in two.read_text().split("\n") if ",gsm," not in x))
        status, _, err = incrowd("deanonymize", one, "--against", two)
        assert status == 4
        assert "there is no sensor 'gsm'; found: gps, wifi" in err

    def test_one_file_a_sensor_is_the_same(self, incrowd, tmp_path):
        file = sensed(tmp_path / "all.csv", "05")
        rows, files = pl.read_csv(file, schema_overrides={"place": pl.String}), []
        for name in ("gps", "gsm", "wifi"):
            own = tmp_path / f"{name}.csv"
            rows.filter(sensor=name).drop("sensor").write_csv(own)
            files.append(f"{name}={own}")
        words = ("--top-places", "2", "--json")
        assert incrowd("deanonymize", *files, *words) == incrowd("deanonymize", file, *words)
        known = [word for one in files for word in ("--against", one)]
        status, out, _ = incrowd("deanonymize", *files, *known, "--no-split", *words)
        assert (status, list(json.loads(out))[4:]) == (0, ["gps", "gsm", "wifi"])
