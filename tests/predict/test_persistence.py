"""Models on disk: back as they were, or refused."""

import json
import zipfile

import numpy as np
import pytest

from incrowd import predict
from incrowd.errors import ArgumentError, InputError, OutputError, PrivacyWarning, UnreadableError
from incrowd.predict._model import TASKS

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


def save(models, path, **how):
    with pytest.warns(PrivacyWarning, match="keep it as safe as the data"):
        predict.save(models, path, **how)


def change(path, about=None, kind=zipfile.ZIP_DEFLATED, **arrays):
    """Rewrite a file: what is said of it, or what is in it."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if about:
        parts["model.json"] = json.dumps(about(json.loads(parts["model.json"]))).encode()
    for name, array in arrays.items():
        parts[f"0/{name}"] = array.tobytes()
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)


@pytest.fixture
def model(models):
    return models["forest", "classes", "location"]


@pytest.fixture
def file(tmp_path, model):
    save(model, tmp_path / "m")
    return tmp_path / "m"


class TestRoundTrip:
    @pytest.mark.parametrize("name", ["location", "visit"])
    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize("learner", LEARNERS)
    def test_tells_the_same(self, models, training, tmp_path, learner, task, name):
        model = models[learner, task, name]
        save(model, tmp_path / "m")
        [back] = predict.load(tmp_path / "m")
        for each in ("attack", "k", "settings", "learner", "task", "people", "grid", "tested"):
            assert getattr(back, each) == getattr(model, each)
        assert back.lowest.tolist() == model.lowest.tolist()
        assert back.highest.tolist() == model.highest.tolist()
        one, two = (each.trees.tell(training.features) for each in (model, back))
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
        assert two.settings == both[1].settings == {"tolerance": "0.25", "relative": False}
        assert predict.estimate([one, two], cars).equals(predict.estimate(both, cars))

    def test_never_replaces_a_file_unasked(self, models, file):
        before = file.read_bytes()
        with pytest.raises(OutputError, match="exists already"):
            predict.save(models["forest", "classes", "visit"], file)
        assert file.read_bytes() == before
        save(models["forest", "classes", "visit"], file, overwrite=True)
        assert predict.load(file)[0].attack == "visit"

    def test_its_owner_alone_can_read_it_also_where_another_was(self, tmp_path, model):
        path = tmp_path / "m"
        path.touch(mode=0o644)
        save(model, path, overwrite=True)
        assert path.stat().st_mode & 0o777 == 0o600

    def test_nothing_to_write_or_two_of_a_kind(self, tmp_path, model):
        with pytest.raises(ArgumentError, match="at least one model"):
            predict.save([], tmp_path / "m")
        with pytest.raises(ArgumentError, match="two models of location, k = 2"):
            predict.save([model, model], tmp_path / "m")
        assert list(tmp_path.iterdir()) == []


class TestRefusal:
    @pytest.mark.parametrize(
        ("name", "value", "text"),
        [
            ("incrowd", "0.0.9", r"with incrowd 0\.0\.9, and this is .*; learn it again"),
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
        with pytest.raises(UnreadableError, match="not a model file"):
            predict.load(tmp_path / "m")
        for content in (None, "[]", "{", '{"format": "other"}', "[" * 100_000):
            with zipfile.ZipFile(tmp_path / "m", "w") as archive:
                if content is not None:
                    archive.writestr("model.json", content)
            with pytest.raises(UnreadableError, match="not a model file"):
                predict.load(tmp_path / "m")
        with pytest.raises(UnreadableError, match="cannot read"):
            predict.load(tmp_path)

    def test_a_file_that_was_cut(self, file):
        content = file.read_bytes()
        for size in np.linspace(0, len(content) - 1, 9).astype(int):
            file.write_bytes(content[:size])
            with pytest.raises(UnreadableError):
                predict.load(file)

    def test_a_bit_that_flipped(self, file, training, model):
        """Wherever it is: refused, or in what zip says about itself and nobody reads."""
        content = file.read_bytes()
        told = model.trees.tell(training.features).tolist()
        for at in [*range(60), *np.random.default_rng(0).integers(0, len(content), 100)]:
            bad = bytearray(content)
            bad[at] ^= 1 << int(at) % 8
            file.write_bytes(bytes(bad))
            try:
                [back] = predict.load(file)
            except InputError:
                continue
            assert back.trees.tell(training.features).tolist() == told

    @pytest.mark.parametrize(
        "spoil",
        [
            {"learner": "oracle"}, {"task": "fortune"}, {"task": "values"}, {"task": []},
            {"lowest": [1.0]}, {"highest": ["high"] * 28}, {"lowest": [float("nan")] * 28},
            {"lowest": [float("inf")] * 28}, {"tested": [[1]]}, {"tested": [[0] * 6] * 6},
            {"tested": [[1] * 6] * 6}, {"tested": [[0] * 6] + [[1] * 6] * 5},
            {"tested": [[2**62] * 6] * 6}, {"tested": [[-1] * 6] * 6},
            {"tested": [[2**40] * 6] * 6}, {"grid": {}}, {"grid": 5},
            {"grid": {"cell": float("inf"), "slot": 60, "places": True}},
            {"grid": {"cell": 100, "slot": 0, "places": True}},
            {"grid": {"cell": 100, "slot": 60, "places": "yes"}},
            {"k": "many"}, {"k": 0}, {"k": -3}, {"k": 10**30}, {"k": 2.5}, {"k": True},
            {"people": -5}, {"attack": 7}, {"attack": "\x1b[2J"}, {"attack": "a" * 1_000},
            {"settings": []}, {"settings": {"tolerance": [1]}}, {"settings": {"\x1b": 1}},
            {"settings": {"tolerance": "0" * 1_000}}, {"mean": 1}, {"mean": None},
        ],
        ids=str,
    )  # fmt: skip
    def test_what_is_said_and_makes_no_sense(self, file, spoil):
        change(file, lambda said: said | {"models": [said["models"][0] | spoil]})
        with pytest.raises(InputError):
            predict.load(file)

    @pytest.mark.parametrize("said_models", [[], None, 3, {}, [{}], [None]], ids=str)
    def test_no_models(self, file, said_models):
        change(file, lambda said: said | {"models": said_models})
        with pytest.raises(InputError):
            predict.load(file)

    def test_two_of_a_kind(self, file):
        with zipfile.ZipFile(file, "a") as archive:
            for name in archive.namelist():
                if name.startswith("0/"):
                    archive.writestr("1" + name[1:], archive.read(name))
        change(file, lambda said: said | {"models": said["models"] * 2})
        with pytest.raises(InputError, match="two models"):
            predict.load(file)

    def test_what_unpacks_to_too_much(self, file):
        change(file, value=np.zeros(30_000_000))
        with pytest.raises(InputError, match="unpacks to more"):
            predict.load(file)

    @pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_what_unpacks_before_its_size_is_known(self, file, kind):
        change(file, kind=kind)
        with pytest.raises(UnreadableError, match="not a model file"):
            predict.load(file)


def trees_of(model, **changes):
    """Give the arrays of a model's trees, some of them changed by a function."""
    return {name: edit(getattr(model.trees, name).copy()) for name, edit in changes.items()}


def at(place, value):
    def edit(array):
        array[place] = value
        return array

    return edit


@pytest.mark.parametrize("learner", LEARNERS)
class TestTrees:
    """Nodes that lead nowhere would be followed into memory that is somebody else's."""

    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize(
        ("name", "edit"),
        [
            ("left", at(0, 10**9)), ("right", at(0, 10**9)), ("left", at(0, 0)),
            ("left", at(0, -1)), ("right", at(0, -7)), ("right", at(0, -(2**31))),
            ("feature", at(0, 28)), ("feature", at(0, -2)), ("feature", at(0, 2**31 - 1)),
            ("column", at(0, -1)), ("column", at(0, 6)), ("column", at(0, 2**31 - 1)),
            ("value", at(0, np.nan)), ("value", at(3, np.inf)), ("threshold", at(0, np.nan)),
            ("start", at(0, 1)), ("start", at(-1, 10**9)), ("start", at(1, 0)),
            ("start", at(slice(1, 3), [2**63 - 1, -5])), ("start", at(1, -5)),
            ("value", lambda array: array[:-1]), ("value", lambda array: array[:0]),
            ("feature", lambda array: array[:0]), ("left", lambda array: array[:-1]),
            ("threshold", lambda array: array[1:]), ("start", lambda array: array[:-1]),
            ("start", lambda array: array[:0]), ("column", lambda array: array[:0]),
            ("column", lambda array: array[:-1]), ("base", lambda array: array[:0]),
            ("base", lambda array: np.zeros(7)), ("base", at(0, np.nan)),
            ("range", lambda array: array[:1]), ("range", at(0, np.nan)), ("range", at(1, 2.0)),
            ("importances", lambda array: array[:1]), ("importances", at(0, np.inf)),
            ("importances", at(slice(None), -7.0)), ("importances", at(0, -0.5)),
            ("importances", at(slice(None), 1.0)), ("classes", at(0, 0)),
            ("classes", lambda array: np.arange(len(array), dtype=np.int32)),
            ("range", lambda _: np.array([0.0, 1.1])),
            ("classes", at(slice(None), 9)), ("classes", lambda _: np.array([5, 1], np.int32)),
        ],
    )  # fmt: skip
    def test_that_are_none_are_refused(self, models, tmp_path, learner, task, name, edit):
        model = models[learner, task, "location"]
        if name == "classes" and task == "values":
            edit = lambda _: np.array([2], np.int32)  # noqa: E731
        save(model, tmp_path / "m")
        assert predict.load(tmp_path / "m")
        change(tmp_path / "m", **trees_of(model, **{name: edit}))
        with pytest.raises(InputError, match=r"cannot be used|damaged"):
            predict.load(tmp_path / "m")

    def test_that_tell_a_risk_of_0_are_refused(self, models, tmp_path, learner):
        model = models[learner, "values", "location"]
        save(model, tmp_path / "m")
        change(tmp_path / "m", **trees_of(model, range=at(0, 0.0)))
        with pytest.raises(InputError, match="a risk of 0 to tell"):
            predict.load(tmp_path / "m")

    @pytest.mark.parametrize("task", TASKS)
    def test_between_trees_no_way_leads(self, models, tmp_path, learner, task):
        model = models[learner, task, "location"]
        second = int(model.trees.start[1])
        save(model, tmp_path / "m")
        change(tmp_path / "m", **trees_of(model, left=at(0, second)))
        with pytest.raises(InputError, match="lead nowhere"):
            predict.load(tmp_path / "m")

    def test_an_array_that_is_missing(self, models, tmp_path, learner):
        save(models[learner, "classes", "location"], tmp_path / "m")
        with zipfile.ZipFile(tmp_path / "m") as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(tmp_path / "m", "w") as archive:
            for name, part in parts.items():
                if name != "0/left":
                    archive.writestr(name, part)
        with pytest.raises(UnreadableError, match="not a model file, or is damaged"):
            predict.load(tmp_path / "m")
