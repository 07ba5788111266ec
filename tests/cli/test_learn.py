import json
import shutil
import stat
import zipfile
from pathlib import Path

import polars as pl
import pytest

import incrowd as library
from strategies import in_deep


@pytest.fixture(scope="module")
def cars(tmp_path_factory):
    """Make the cars of two areas."""
    folder = tmp_path_factory.mktemp("cars")
    for name in ("pisa", "florence"):
        data = library.synthesize(name, users=120, seed=3)
        library.write(data, folder / f"{name}.parquet")
    return folder / "pisa.parquet", folder / "florence.parquet"


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """Make other cars of the first area."""
    path = tmp_path_factory.mktemp("new") / "new.parquet"
    library.write(library.synthesize("pisa", users=120, seed=4), path)
    return path


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    return tmp_path_factory.mktemp("learned") / "m"


@pytest.fixture
def model(incrowd, cars, learned, tmp_path):
    """Give the file of a model that a test may change; it is learned once."""
    words = ("--attack", "location,home_work", "--k", "2", "--learner", "extra_trees")
    if not learned.exists():
        assert incrowd("learn", cars[0], *words, "--folds", "3", "-o", learned)[0] == 0
    return Path(shutil.copy(learned, tmp_path / "m"))


class TestLearn:
    def test_says_how_good_models_are(self, incrowd, cars):
        status, out, err = incrowd(
            "learn", cars[0], "--attack", "location", "--k", "2,3", "--folds", "3"
        )
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == "pisa                  120 people"
        assert "random forest" in lines[1]
        assert lines[4].split() == ["attack", "k", "accuracy", "F", "missed", "underestimated"]
        assert lines[5].split()[:2] == ["location", "2"]
        assert lines[6].split()[0] == "3"
        assert lines[7].split()[:3] == ["guessing,", "on", "average"]
        assert max(map(len, lines)) <= 98

    def test_says_among_whom_it_was_learned(self, incrowd, cars):
        words = ("learn", cars[0], "--attack", "location", "--k", "2", "--folds", "3")
        _, out, _ = incrowd(*words)
        assert "(transductive, as in the paper;" in " ".join(out.split())
        _, out, _ = incrowd(*words, "--inductive")
        assert "without those who are predicted (inductive)" in " ".join(out.split())
        found = [json.loads(incrowd(*words, *more, "--json")[1]) for more in ((), ("--inductive",))]
        assert [one["inductive"] for one in found] == [False, True]
        usual, other = (one["experiments"][0] for one in found)
        assert usual != other

    def test_table_two_has_four_columns(self, incrowd, cars):
        words = ("--attack", "location", "--k", "2", "--folds", "3", "--transfer", cars[1])
        status, out, _ = incrowd("learn", cars[0], *words)
        lines = out.splitlines()
        assert status == 0
        assert lines[8].startswith("missed, on average")
        assert len(lines[8].split()) == 3 + 4
        assert " ".join(lines[4].split()) == "pisa florence pisa > florence florence > pisa"
        assert len(lines[6].split()) == 2 + 8
        assert len(lines[7].split()) == 3 + 4

    def test_figures_are_those_of_the_library(self, incrowd, cars):
        words = ("--attack", "location", "--k", "2", "--folds", "4", "--seed", "5", "--json")
        _, out, _ = incrowd("learn", cars[0], *words, "--transfer", cars[1])
        found = json.loads(out)
        assert found["areas"] == [{"data": str(path), "people": 120} for path in cars]
        [one] = found["experiments"]
        [here], [there] = (
            library.predict.training_sets(library.read(path), "location", 2) for path in cars
        )
        scores = library.predict.cross_validate(here, folds=4, seed=5)
        assert one["within"][0]["matrix"] == scores.matrix.tolist()
        assert one["within"][0]["accuracy"] == scores.accuracy
        across = library.predict.transfer(there, here, seed=5)
        assert one["across"][1]["matrix"] == across.matrix.tolist()
        assert len(one["importances"][0]) == 28

    def test_details(self, incrowd, cars):
        words = ("--attack", "location", "--k", "2", "--folds", "3", "--details")
        _, out, _ = incrowd("learn", cars[0], *words)
        assert "Recall (pisa, location, k = 2)" in out
        assert "Precision (pisa, location, k = 2)" in out
        assert len(out.split("each model has 1 to give\n")[1].splitlines()) == 28

    @in_deep
    def test_details_of_both_areas(self, incrowd, cars):
        words = ("--attack", "location", "--k", "2", "--folds", "3", "--details")
        _, alone, _ = incrowd("learn", cars[1], *words)
        _, out, _ = incrowd("learn", cars[0], *words, "--transfer", cars[1])
        for title in ("pisa", "florence"):
            for what in ("Recall", "Precision"):
                assert out.count(f"{what} ({title}, location, k = 2)") == 1
            assert out.count(f"Importance of features ({title})") == 1
        second = out[out.index("Recall (florence") :]
        assert second == alone[alone.index("Recall (florence") :]

    def test_held_out(self, incrowd, cars):
        words = ("--attack", "location", "--k", "2", "--hold-out", "0.3", "--seed", "5")
        status, out, _ = incrowd("learn", cars[0], *words, "--json")
        found = json.loads(out)
        [training] = library.predict.training_sets(library.read(cars[0]), "location", 2)
        scores = library.predict.hold_out(training, share=0.3, seed=5)
        assert (status, found["held_out"], "folds" in found) == (0, 0.3, False)
        assert found["experiments"][0]["within"][0]["matrix"] == scores.matrix.tolist()
        _, out, _ = incrowd("learn", cars[0], *words)
        assert "; 30% held out" in out
        assert "those who were held out are predicted" in " ".join(out.split())
        assert "fold by fold" not in " ".join(out.split())

    def test_values(self, incrowd, cars):
        words = ("--attack", "location,visit", "--k", "2", "--folds", "3", "--regression")
        status, out, _ = incrowd("learn", cars[0], *words)
        assert status == 0
        assert "R2  error" in out
        assert "guessing" not in out
        assert out.splitlines()[6].split()[:3] == ["visit", "2", "-"]
        _, out, _ = incrowd("learn", cars[0], *words, "--json")
        assert json.loads(out)["experiments"][1]["within"][0]["r2"] is None

    def test_areas_with_one_name_are_told_apart(self, incrowd, cars, tmp_path):
        other = tmp_path / "pisa.parquet"
        other.write_bytes(cars[1].read_bytes())
        words = ("--attack", "visit", "--k", "2", "--transfer", other)
        _, out, _ = incrowd("learn", cars[0], *words)
        assert f"{cars[0]} > {other}" in out

    def test_writes_models_and_warns(self, incrowd, cars, tmp_path):
        words = ("--attack", "location", "--k", "2", "--folds", "2", "-o", tmp_path / "m")
        status, _, err = incrowd("learn", cars[0], *words)
        assert status == 0
        assert "PRIVACY WARNING" in err
        assert "keep it as safe as the data" in err
        assert f"wrote 1 model, learned from {cars[0]}, to {tmp_path / 'm'}" in err
        [model] = library.predict.load(tmp_path / "m")
        assert model.tested.people == 120
        assert incrowd("learn", cars[0], *words)[0] == 2
        assert incrowd("learn", cars[0], *words, "--overwrite")[0] == 0

    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (("--attack", "locaton"), "did you mean 'location'?"),
            (("--attack", "visit,visit"), "--attack names visit twice"),
            (("--seed", "4294967296"), "4294967295"),
            (("--learner", "forrest"), "did you mean 'forest'?"),
            (("--k", "0"), "at least"),
            (("--k", "two"), "must be integers"),
            (("--folds", "1"), "at least 2"),
            (("--hold-out", "1"), "share must be a number between 0 and 1, exclusive, not 1.0"),
            (("--hold-out", "0.3", "--folds", "10"), "cannot be combined"),
            (("--folds", "500"), "too few for 500 folds"),
            (("--tolerance", "2", "--attack", "probability"), "tolerance"),
            (("--transfer", "missing.parquet", "--attack", "visit"), "missing.parquet"),
        ],
    )
    def test_bad_use(self, incrowd, cars, words, text):
        status, out, err = incrowd("learn", cars[0], *words)
        bad_data = "500" in words or "missing.parquet" in words
        assert (status, out) == (4 if bad_data else 2, "")
        assert text in err


class TestPredict:
    def test_says_how_many_are_in_each_class(self, incrowd, new, model):
        status, out, err = incrowd("predict", new, "--model", model)
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == "people                120"
        assert lines[3].split()[0] == "location"
        assert sum(float(part[:-1]) for part in lines[3].split()[2:7]) == pytest.approx(
            100, abs=0.3
        )
        assert "nobody was attacked" in " ".join(out.split())
        assert "Learned by extra_trees, from 120 people." in out
        assert max(map(len, lines)) <= 99

    def test_writes_a_row_for_each_person(self, incrowd, new, model, tmp_path):
        words = ("--model", model, "-o", tmp_path / "risks.csv", "--json")
        status, out, err = incrowd("predict", new, *words)
        found = json.loads(out)
        assert status == 0
        assert "PRIVACY WARNING" in err
        rows = pl.read_csv(tmp_path / "risks.csv")
        models = library.predict.load(model)
        expected = library.predict.estimate(models, library.read(new))
        assert rows["class"].to_list() == expected["class"].to_list()
        assert [sum(one["classes"].values()) for one in found["predicted"]] == [120, 120]
        assert found["predicted"][0]["learned_from"] == 120
        assert 0 <= found["predicted"][0]["missed_when_tested"] <= 1

    def test_of_some_people(self, incrowd, new, model, tmp_path):
        words = ("--model", model, "--targets", "5,3")
        status, out, _ = incrowd("predict", new, *words, "--json", "-o", tmp_path / "some.csv")
        assert status == 0
        assert (json.loads(out)["people"], json.loads(out)["targets"]) == (120, 2)
        rows = pl.read_csv(tmp_path / "some.csv")
        models = library.predict.load(model)
        expected = library.predict.estimate(models, library.read(new), targets=[5, 3])
        assert rows.rows() == expected.rows()
        _, out, _ = incrowd("predict", new, *words)
        assert out.splitlines()[1] == "targets               2; the crowd is everybody"
        status, out, err = incrowd("predict", new, "--model", model, "--targets", "5,nobody")
        assert (status, out) == (2, "")
        assert "--targets: person 'n...' (6 characters) is not in the data" in err

    @pytest.mark.filterwarnings("default::incrowd.errors.DataWarning")
    def test_warns_of_people_unlike_all_it_has_seen(self, incrowd, cars, model):
        status, _, err = incrowd("predict", cars[1], "--model", model)
        assert status == 0
        assert "warning: " in err
        assert "outside the range that the model" in err

    def test_bad_use(self, incrowd, cars, city, model, tmp_path):
        status, out, err = incrowd("predict", cars[0], "--model", tmp_path / "none")
        assert (status, out) == (4, "")
        assert "does not exist" in err
        status, _, err = incrowd("predict", cars[0], "--model", cars[0])
        assert status == 4
        assert "not a model file" in err
        status, _, err = incrowd("predict", city, "--model", model)
        assert status == 4
        assert "with the same cells" in err
        status, _, err = incrowd("predict", cars[0], "--model", model, "-o", "risks.txt")
        assert status == 2

    @pytest.mark.parametrize(
        ("about", "text"),
        [
            ({"incrowd": "0.0.9"}, "written with incrowd 0.0.9"),
            ({"features": ["shoe_size"]}, "learned from other features"),
        ],
    )
    def test_a_model_of_another_kind(self, incrowd, cars, model, about, text):
        with zipfile.ZipFile(model) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        parts["model.json"] = json.dumps(json.loads(parts["model.json"]) | about).encode()
        with zipfile.ZipFile(model, "w") as archive:
            for name, part in parts.items():
                archive.writestr(name, part)
        status, out, err = incrowd("predict", cars[0], "--model", model)
        assert (status, out) == (4, "")
        assert text in err

    def test_says_settings_that_are_not_the_usual_ones(self, incrowd, cars, tmp_path):
        words = ("--attack", "visit,probability", "--k", "2", "--folds", "2", "--tolerance", "0.3")
        assert incrowd("learn", cars[0], *words, "-o", tmp_path / "m")[0] == 0
        # It holds numbers of single people.
        assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o600
        _, out, _ = incrowd("predict", cars[0], "--model", tmp_path / "m")
        assert out.splitlines()[-1] == "probability, k = 2: tolerance 0.3, relative False."
