"""What learns: forests as in the paper, and others beside them (its section 8 asks for more).

Every fit runs on one thread, so that several can run beside each other, and the same seed gives
the same model on any machine with the same libraries.
"""

import difflib
from typing import Any

from incrowd.arguments import is_whole
from incrowd.compiled import Floats, Ints
from incrowd.errors import ArgumentError
from incrowd.predict.trees import Trees, constant, grown

__all__ = ["LEARNERS", "TASKS", "fit", "named"]

TREES = 100
LEARNERS = {
    "forest": "a random forest, as in the paper, of 100 trees",
    "extra_trees": "100 trees with random thresholds",
    "boosting": "gradient boosting on histograms, 100 rounds",
}
TASKS = ("classes", "values")
"""Classes of risk, or the risk itself."""
SEEDS = 2**32


def named(learner: str, task: str = TASKS[0], seed: int = 0) -> None:
    """Refuse a learner or a task that does not exist, and what is no seed."""
    for what, given, known in (("learner", learner, LEARNERS), ("task", task, TASKS)):
        if given not in known:
            close = difflib.get_close_matches(str(given), known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ArgumentError(f"there is no {what} {given!r}; {hint}There are {', '.join(known)}")
    if not is_whole(seed) or not 0 <= seed < SEEDS:
        raise ArgumentError(f"a seed is a whole number from 0 to {SEEDS - 1}, not {seed!r}")


def fit(learner: str, task: str, features: Floats, target: Ints | Floats, seed: int) -> Trees:
    """Learn a target (levels or values) from features.

    Where all targets are alike there is nothing to learn, and the answer is always that one.
    """
    if (target == target[0]).all():
        return constant(target, task)
    return grown(fitted(learner, task, features, target, seed), target)


def fitted(learner: str, task: str, features: Floats, target: Ints | Floats, seed: int) -> Any:
    """Fit an estimator of scikit-learn."""
    from sklearn import ensemble
    from threadpoolctl import threadpool_limits

    name = {
        "forest": "RandomForest",
        "extra_trees": "ExtraTrees",
        "boosting": "HistGradientBoosting",
    }[learner]
    kind = getattr(ensemble, name + ("Classifier" if task == "classes" else "Regressor"))
    how: dict[str, Any] = {"random_state": int(seed)}
    if learner != "boosting":
        how |= {"n_estimators": TREES, "n_jobs": 1}
        if task == "classes":
            how["criterion"] = "entropy"  # what the paper measures importance by
    else:
        how["early_stopping"] = False  # it would depend on the number of people
    with threadpool_limits(1, user_api="openmp"):
        return kind(**how).fit(features, target)
