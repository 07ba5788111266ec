"""Models on disk: back as they were, or refused."""

import hashlib
import json
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from incrowd import predict
from incrowd.errors import ArgumentError, InputError, OutputError, PrivacyWarning, UnreadableError
from incrowd.predict.learners import TASKS
from incrowd.predict.trees import oddity

LEARNERS = list(predict.LEARNERS)


@pytest.fixture(scope="module")
def models(sets):
    """Learn one of each kind; of visits, where all are alike, as well."""
    return {
        (learner, task, name): predict.learn(one, learner, task)
        for name, one in sets.items()
        for learner in LEARNERS
        for task in TASKS
    }


class Foreign:
    """Somebody else's code, which must not run."""

    made = 0

    def __new__(cls):
        cls.made += 1
        return super().__new__(cls)


def save(models, path, **how):
    with pytest.warns(PrivacyWarning, match="keep it as safe as the data"):
        predict.save(models, path, **how)


def change(path, about=None, estimator=None):
    """Rewrite a file: what is said of it, or what is in it (with the right hash)."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    said = json.loads(parts["model.json"])
    if estimator is not None:
        parts["0.skops"] = skops.io.dumps(estimator)
        said["models"][0]["sha256"] = hashlib.sha256(parts["0.skops"]).hexdigest()
    parts["model.json"] = json.dumps(about(said) if about else said).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)


@pytest.fixture
def file(tmp_path, models):
    save(models["forest", "classes", "location"], tmp_path / "m")
    return tmp_path / "m"


class TestRoundTrip:
    @pytest.mark.parametrize("name", ["location", "visit"])
    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize("learner", LEARNERS)
    def test_predicts_the_same(self, models, training, tmp_path, learner, task, name):
        model = models[learner, task, name]
        save(model, tmp_path / "m")
        [back] = predict.load(tmp_path / "m")
        for each in ("attack", "k", "settings", "learner", "task", "people", "grid", "tested"):
            assert getattr(back, each) == getattr(model, each)
        assert back.lowest.tolist() == model.lowest.tolist()
        assert back.highest.tolist() == model.highest.tolist()
        one, two = (each.estimator.predict(training.features) for each in (model, back))
        assert one.tolist() == two.tolist()
        assert back.importances().equals(model.importances())

    def test_several_with_their_tests_and_settings(self, cars, training, tmp_path):
        scores = predict.cross_validate(training, "extra_trees", folds=3)
        [near] = predict.training_sets(cars, "probability", 2, tolerance=0.25)
        both = [
            predict.learn(training, "extra_trees", tested=scores),
            predict.learn(near, "extra_trees", "values"),
        ]
        save(both, tmp_path / "m")
        one, two = predict.load(tmp_path / "m")
        assert one.tested.matrix.tolist() == scores.matrix.tolist()
        assert two.settings == {"tolerance": "0.25", "relative": False}
        assert predict.estimate([one, two], cars).equals(predict.estimate(both, cars))

    def test_never_replaces_a_file_unasked(self, models, file):
        before = file.read_bytes()
        with pytest.raises(OutputError, match="exists already"):
            predict.save(models["forest", "classes", "visit"], file)
        assert file.read_bytes() == before
        save(models["forest", "classes", "visit"], file, overwrite=True)
        assert predict.load(file)[0].attack == "visit"

    def test_nothing_to_write(self, tmp_path):
        with pytest.raises(ArgumentError, match="no model"):
            predict.save([], tmp_path / "m")
        assert list(tmp_path.iterdir()) == []


class TestRefusal:
    @pytest.mark.parametrize(
        ("name", "value", "text"),
        [
            ("incrowd", "0.0.9", r"with incrowd 0\.0\.9, and this is .*; learn it again"),
            ("scikit-learn", "1.2.0", r"with scikit-learn 1\.2\.0, and this is"),
            ("layout", 2, "with layout 2, and this is 1"),
            ("classes", ["low", "high"], "other classes of risk"),
        ],
    )
    def test_another_version(self, file, name, value, text):
        change(file, lambda said: said | {name: value})
        with pytest.raises(InputError, match=text):
            predict.load(file)

    def test_other_features(self, file):
        change(file, lambda said: said | {"features": [*said["features"][:-1], "shoe_size"]})
        with pytest.raises(InputError, match="other features: last_visits_per_day, shoe_size;"):
            predict.load(file)
        change(file, lambda said: said | {"features": said["features"][::-1]})
        with pytest.raises(InputError, match="other features"):
            predict.load(file)

    def test_what_is_no_model_file(self, tmp_path):
        with pytest.raises(UnreadableError, match="does not exist"):
            predict.load(tmp_path / "m")
        (tmp_path / "m").write_text("user,risk\n")
        with pytest.raises(UnreadableError, match="no model file"):
            predict.load(tmp_path / "m")
        for content in (None, "[]", "{", '{"format": "other"}'):
            with zipfile.ZipFile(tmp_path / "m", "w") as archive:
                if content is not None:
                    archive.writestr("model.json", content)
            with pytest.raises(UnreadableError, match="no model file"):
                predict.load(tmp_path / "m")
        with pytest.raises(UnreadableError, match="cannot read"):
            predict.load(tmp_path)

    def test_a_file_that_was_cut(self, file):
        content = file.read_bytes()
        for size in np.linspace(0, len(content) - 1, 9).astype(int):
            file.write_bytes(content[:size])
            with pytest.raises(UnreadableError):
                predict.load(file)

    def test_a_bit_that_flipped(self, file):
        """Wherever it is: refused, or in what zip says about itself and no one reads."""
        content, [model] = file.read_bytes(), predict.load(file)
        for at in np.random.default_rng(0).integers(0, len(content), 60):
            bad = bytearray(content)
            bad[at] ^= 1 << int(at) % 8
            file.write_bytes(bytes(bad))
            try:
                [back] = predict.load(file)
            except InputError:
                continue
            assert skops.io.dumps(back.estimator) == skops.io.dumps(model.estimator)

    @pytest.mark.parametrize(
        "spoil",
        [
            {"learner": "oracle"},
            {"task": "fortune"},
            {"lowest": [1.0]},
            {"highest": ["high"] * 28},
            {"tested": [[1]]},
            {"tested": [[0] * 6] * 6},
            {"grid": {}},
            {"grid": {"cell": float("inf"), "slot": 60, "places": True}},
            {"k": "many"},
        ],
    )
    def test_what_is_said_and_makes_no_sense(self, file, spoil):
        change(file, lambda said: said | {"models": [said["models"][0] | spoil]})
        with pytest.raises(InputError):
            predict.load(file)

    def test_what_is_not_of_scikit_learn(self, file):
        change(file, estimator=Foreign())
        Foreign.made = 0
        with pytest.raises(InputError, match="Foreign, which no model has; do not trust the file"):
            predict.load(file)
        assert Foreign.made == 0

    def test_another_estimator(self, file, training):
        change(file, estimator=LogisticRegression())
        with pytest.raises(InputError, match="a LogisticRegression where a forest was announced"):
            predict.load(file)
        small = RandomForestClassifier(3).fit(training.features[:, :5], training.levels)
        change(file, estimator=small)
        with pytest.raises(InputError, match="a model of 5 features"):
            predict.load(file)
        named = RandomForestClassifier(3).fit(training.features, training.levels + 10)
        change(file, estimator=named)
        with pytest.raises(InputError, match="classes that are none"):
            predict.load(file)

    def test_what_unpacks_to_too_much(self, file, monkeypatch):
        monkeypatch.setattr("incrowd.predict.storing.MOST", 1_000)
        with pytest.raises(InputError, match="unpacks to more"):
            predict.load(file)


def copied(estimator):
    types = skops.io.get_untrusted_types(data=(stored := skops.io.dumps(estimator)))
    return skops.io.loads(stored, trusted=types)


@pytest.mark.parametrize("task", TASKS)
class TestTrees:
    """Nodes that lead nowhere would be followed into memory that is somebody else's."""

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("left_child", 10**6), ("right_child", 10**6), ("left_child", 0), ("right_child", -7),
            ("left_child", -1), ("feature", 28), ("feature", -5),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("learner", ["forest", "extra_trees"])
    def test_of_forests(self, models, learner, task, field, value):
        forest = copied(models[learner, task, "location"].estimator)
        assert oddity(forest, learner, task) == ""
        tree = forest.estimators_[50].tree_
        state = tree.__getstate__()
        state["nodes"] = state["nodes"].copy()
        state["nodes"][field][0] = value
        tree.__setstate__(state)
        assert oddity(forest, learner, task) in ("a tree that is none", "a node with one branch")

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("left", 10**6), ("right", 2**32 - 1), ("left", 0), ("feature_idx", 28),
            ("feature_idx", -1), ("is_categorical", 1), ("value", np.nan),
        ],
    )  # fmt: skip
    def test_of_boosting(self, models, task, field, value):
        boosting = copied(models["boosting", task, "location"].estimator)
        assert oddity(boosting, "boosting", task) == ""
        tree = boosting._predictors[50][0]
        tree.nodes = tree.nodes.copy()
        tree.nodes[field][0] = value
        assert oddity(boosting, "boosting", task)

    def test_that_are_missing(self, models, task):
        forest = copied(models["forest", task, "location"].estimator)
        forest.estimators_ = []
        assert oddity(forest, "forest", task) == "a forest without trees"
        boosting = copied(models["boosting", task, "location"].estimator)
        boosting._predictors[3] = []
        assert oddity(boosting, "boosting", task) == "rounds without trees"

    def test_of_another_kind(self, models, task):
        forest = copied(models["forest", task, "location"].estimator)
        forest.estimators_[7] = models["boosting", task, "location"].estimator
        assert oddity(forest, "forest", task).endswith("among the trees")
        boosting = copied(models["boosting", task, "location"].estimator)
        boosting._preprocessor = forest
        assert oddity(boosting, "boosting", task) == "another kind of boosting"

    def test_constant(self, models, task):
        constant = copied(models["forest", task, "visit"].estimator)
        assert oddity(constant, "forest", task) == ""
        constant.strategy = "uniform"
        assert oddity(constant, "forest", task) == "a guess that is not constant"
