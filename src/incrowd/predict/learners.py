"""What learns: forests as in the paper, and others beside them (its section 8 asks for more).

Every fit runs on one thread, so that several can run beside each other, and the same seed gives
the same model on any machine with the same libraries.
"""

import difflib
from typing import Any

import numpy as np

from incrowd.compiled import Floats, Ints
from incrowd.errors import ArgumentError

__all__ = ["LEARNERS", "TASKS", "expected_type", "fit", "importances_of", "named"]

TREES = 100
LEARNERS = {
    "forest": "a random forest of 100 trees, as in the paper",
    "extra_trees": "100 trees with random thresholds",
    "boosting": "gradient boosting on histograms: 100 rounds of small trees",
}
TASKS = ("classes", "values")
"""Classes of risk, or the risk itself."""


def named(learner: str, task: str = TASKS[0]) -> None:
    """Refuse a learner or a task that does not exist."""
    for what, given, known in (("learner", learner, LEARNERS), ("task", task, TASKS)):
        if given not in known:
            close = difflib.get_close_matches(str(given), known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ArgumentError(f"there is no {what} {given!r}; {hint}There are {', '.join(known)}")


def fit(learner: str, task: str, features: Floats, target: Ints | Floats, seed: int) -> Any:
    """Learn a target (levels or values) from features.

    Where all targets are alike there is nothing to learn, and the answer is always that one.
    """
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from threadpoolctl import threadpool_limits

    if (target == target[0]).all():
        constant = DummyClassifier if task == "classes" else DummyRegressor
        return constant(strategy="constant", constant=target[0]).fit(features, target)
    kind = expected_type(learner, task)
    how: dict[str, Any] = {"random_state": seed}
    if learner != "boosting":
        how |= {"n_estimators": TREES, "n_jobs": 1}
        if task == "classes":
            how["criterion"] = "entropy"  # what the paper measures importance by
    else:
        how["early_stopping"] = False  # it would depend on the number of people
    with threadpool_limits(1, user_api="openmp"):
        return kind(**how).fit(features, target)


def expected_type(learner: str, task: str) -> Any:
    """Give the class of the estimator that a learner makes."""
    from sklearn import ensemble

    name = {
        "forest": "RandomForest",
        "extra_trees": "ExtraTrees",
        "boosting": "HistGradientBoosting",
    }[learner]
    return getattr(ensemble, name + ("Classifier" if task == "classes" else "Regressor"))


def importances_of(estimator: Any, number: int) -> Floats:
    """Give how much each feature contributed, all together 1; 0 if none was used.

    For trees that is the mean, over all of them, of the reduction of entropy (of variance, where
    values are learned) that the feature brought. Boosting counts the gain of its splits.
    """
    if hasattr(estimator, "feature_importances_"):
        return np.asarray(estimator.feature_importances_, np.float64)
    gain = np.zeros(number)
    for round_ in getattr(estimator, "_predictors", ()):
        for tree in round_:
            inner = tree.nodes[tree.nodes["is_leaf"] == 0]
            np.add.at(gain, inner["feature_idx"], inner["gain"])
    return gain / gain.sum() if gain.sum() else gain
