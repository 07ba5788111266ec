"""Trees as arrays tell what scikit-learn's estimators tell, to the last bit."""

import numpy as np
import pytest

from incrowd.measure._features import FEATURES
from incrowd.predict._model import LEARNERS, TASKS, fit, fitted
from incrowd.predict._trees import LEAF, Trees, _for_unrounded
from strategies import DEEP


def drawn(seed, people, classes, ties):
    """Draw features, many of them alike, and targets."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(people, len(FEATURES))) * 10.0 ** rng.integers(-6, 7, len(FEATURES))
    if ties:
        features = np.round(features, 1)
    levels = rng.choice([1, 2, 3, 4, 5][:classes], people)
    return features, levels + 0, rng.choice([1.0, 0.5, 0.25, 0.01], people)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("learner", list(LEARNERS))
class TestTrees:
    @pytest.mark.parametrize("classes", [2, 3, 5])
    def test_tell_what_scikit_learn_tells(self, learner, task, ties, classes):
        for seed in range(3 if DEEP else 1):
            features, levels, risk = drawn(seed, 60 + 40 * seed, classes, ties)
            target = levels if task == "classes" else risk
            trees = fit(learner, task, features, target, seed)
            trees.refuse_odd()
            new = np.concatenate([features, drawn(seed + 9, 200, classes, ties)[0]])
            told = fitted(learner, task, features, target, seed).predict(new)
            expected = told if task == "classes" else np.clip(told, risk.min(), risk.max())
            assert trees.tell(new).tolist() == expected.tolist()

    def test_where_all_are_alike(self, learner, task, ties):
        features, levels, risk = drawn(1, 20, 1, ties)
        target = levels if task == "classes" else np.full(20, risk[0])
        trees = fit(learner, task, features, target, 0)
        trees.refuse_odd()
        assert trees.tell(features).tolist() == target.tolist()


class TestThresholds:
    def test_for_unrounded_features_part_people_as_rounding_does(self):
        """Around 32-bit numbers, half way between two of them, and far from any."""
        rng = np.random.default_rng(3)
        size = 10.0 ** rng.integers(-30, 30, 5000)
        near = (rng.normal(size=5000) * size).astype(np.float32)
        near[:4] = 0.0, -0.0, 1.0, -1.0
        above = np.nextafter(near, np.float32(np.inf)).astype(np.float64)
        middle = (near.astype(np.float64) + above) / 2
        for threshold in (near.astype(np.float64), middle, near + (above - near) * 0.3):
            exact = _for_unrounded(threshold)
            for point in (near.astype(np.float64), middle, above, exact):
                for feature in (point, np.nextafter(point, -np.inf), np.nextafter(point, np.inf)):
                    rounded = feature.astype(np.float32).astype(np.float64)
                    assert ((feature <= exact) == (rounded <= threshold)).all()

    def test_of_boosted_models_written_before_are_for_unrounded_features(self):
        """Their thresholds may lie between two 32-bit numbers, which part people nevertheless."""
        trees = Trees(
            mean=False,
            classes=np.zeros(0, np.int32),
            start=np.array([0, 3]),
            column=np.zeros(1, np.int32),
            feature=np.array([0, LEAF, LEAF], np.int32),
            threshold=np.array([0.1, 0, 0]),
            left=np.array([1, LEAF, LEAF], np.int32),
            right=np.array([2, LEAF, LEAF], np.int32),
            value=np.array([0, 0.25, 0.75]),
            base=np.zeros(1),
            range=np.array([0.1, 1.0]),
            importances=np.zeros(len(FEATURES)),
        )
        trees.refuse_odd()
        features = np.zeros((2, len(FEATURES)))
        features[:, 0] = 0.1, 0.1 + 1e-12
        assert trees.tell(features).tolist() == [0.25, 0.75]
