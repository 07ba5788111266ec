"""Trees as arrays tell what scikit-learn's estimators tell, to the last bit."""

import numpy as np
import pytest

from incrowd.measure._features import FEATURES
from incrowd.predict._model import LEARNERS, TASKS, fit, fitted


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
        for seed in range(3):
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
