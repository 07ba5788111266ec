"""Models that predict the risk of new people from how they move, without attacking anybody.

::

    Training ──> learn (a forest as in the paper, extra trees or boosting) ──> Model
    new people ──> features ──> estimate: what the models predict

Every fit runs on one thread, so that several can run beside each other, and the same seed gives
the same model on any machine with the same libraries.
"""

import difflib
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._arguments import is_whole, must_be
from incrowd._format import people as _people
from incrowd._format import percent
from incrowd._numba import Floats, Ints
from incrowd._outside import outside
from incrowd._parallel import cores, on_threads
from incrowd._summary import Summarised, Summary
from incrowd.attack._risk import which_of
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, DataWarning, InputError
from incrowd.measure._features import FEATURES, features
from incrowd.predict._scores import Scores, Values
from incrowd.predict._training import CLASSES, Grid, Training, levels, table_of
from incrowd.predict._trees import Trees, constant, grown

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "LEARNERS",
    "TASKS",
    "Model",
    "estimate",
    "fit",
    "learn",
    "named",
    "refuse_twins",
]


TREES = 100
LEARNERS = {
    "forest": "a random forest, as in the paper, of 100 trees",
    "extra_trees": "100 trees with random thresholds",
    "boosting": "gradient boosting, 100 rounds of trees with 31 leaves",
}
TASKS = ("classes", "values")
"""Classes of risk, or the risk itself."""
SEEDS = 2**32


def named(learner: str, task: str = TASKS[0], seed: int = 0) -> None:
    """Refuse a learner or a task that does not exist, and a seed out of range."""
    for what, given, known in (("learner", learner, LEARNERS), ("task", task, TASKS)):
        if given not in known:
            close = difflib.get_close_matches(str(given), known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ArgumentError(
                f"there is no {what} {given!r}; {hint}It must be one of {', '.join(known)}"
            )
    if not is_whole(seed) or not 0 <= seed < SEEDS:
        raise ArgumentError(f"seed must be an integer from 0 to {SEEDS - 1}, not {seed!r}")


def fit(learner: str, task: str, features: Floats, target: Ints | Floats, seed: int) -> Trees:
    """Return trees that predict a target (levels or values) from features.

    Where all targets are equal there is nothing to learn, and that one is always predicted.
    """
    if (target == target[0]).all():
        return constant(target, task)
    return grown(fitted(learner, task, features, target, seed), target)


def fitted(learner: str, task: str, features: Floats, target: Ints | Floats, seed: int) -> Any:
    """Return a fitted estimator of scikit-learn."""
    from sklearn import ensemble
    from threadpoolctl import threadpool_limits

    name = {
        "forest": "RandomForest",
        "extra_trees": "ExtraTrees",
        "boosting": "GradientBoosting",
    }[learner]
    kind = getattr(ensemble, name + ("Classifier" if task == "classes" else "Regressor"))
    how: dict[str, Any] = {"random_state": int(seed), "n_estimators": TREES}
    if learner == "boosting":
        # As on histograms (whose trees scikit-learn keeps to itself): leaf by leaf, the best first.
        how |= {"max_leaf_nodes": 31, "max_depth": None, "min_samples_leaf": 20}
        # Every split among a few features: with all of them, fitting takes twice as long.
        how["max_features"] = "sqrt"
    else:
        how["n_jobs"] = 1
        if task == "classes":
            how["criterion"] = "entropy"  # what the paper measures importance by
    with threadpool_limits(1, user_api="openmp"):
        return kind(**how).fit(features, target)


BLOCK = 4_096
"""How many people are predicted at a time."""
FAR, MANY = 0.5, 0.1
"""Warn if so many people have a feature so far beyond the range (as a part of it) learned from."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Model(Summarised):
    """A model of the risk under one attack.

    Attributes
    ----------
    attack, k, settings
        What the adversary knows.
    learner, task
        How it was learned; ``"classes"`` of risk or ``"values"``.
    people
        From how many.
    grid
        What places and times were there.
    lowest, highest
        The range of each feature there.
    trees
        What the learner grew.
    tested
        How it does on people who were not learned from, if that was tried.
    """

    attack: str
    k: int
    settings: dict[str, Any]
    learner: str
    task: str
    people: int
    grid: Grid
    lowest: Floats = field(repr=False)
    highest: Floats = field(repr=False)
    trees: Trees = field(repr=False)
    tested: Scores | None = None

    def importances(self) -> "pl.DataFrame":
        """Return the importance of each feature, the greatest first; together 1.

        For trees that is the mean, over all of them, of the reduction of entropy (of variance,
        where values or boosted trees are learned) that the feature brought.
        """
        import polars as pl

        table = pl.DataFrame({"feature": list(FEATURES), "importance": self.trees.importances})
        return table.sort("importance", descending=True, maintain_order=True)

    def _summary(self) -> Summary:
        facts = {
            "learned by": self.learner,
            "learned from": f"{_people(self.people)}, {self.grid}",
            "tells": self.task,
        }
        if self.settings:
            facts["settings"] = ", ".join(f"{name}={one}" for name, one in self.settings.items())
        facts["tested"] = "no" if self.tested is None else repr(self.tested)
        return Summary(f"Model of the risk by {self.attack}, k = {self.k}", facts)


def learn(
    training: Training,
    learner: str = "forest",
    task: str = TASKS[0],
    *,
    seed: int = 0,
    tested: Scores | Values | None = None,
) -> Model:
    """Return a model of the risk, learned from mobility features.

    Parameters
    ----------
    training
        Features and risks.
    learner
        ``"forest"``, ``"extra_trees"`` or ``"boosting"``.
    task
        ``"classes"`` of risk, or ``"values"``.
    seed
        The same seed gives the same model.
    tested
        Scores of `cross_validate`; those of its classes are kept with the model.

    References
    ----------
    - Pellungrini et al., 2017: "A Data Mining Approach to Assess Privacy Risk in Human Mobility
      Data", ACM Transactions on Intelligent Systems and Technology 9 (3), DOI 10.1145/3106774;
      section 4.3.

    Examples
    --------
    >>> import incrowd
    >>> cars = incrowd.synthesize("pisa", users=200, seed=1)
    >>> [training] = incrowd.predict.training_sets(cars, "location", 2)
    >>> model = incrowd.predict.learn(training)
    >>> new = incrowd.synthesize("pisa", users=200, seed=2)
    >>> incrowd.predict.estimate(model, new).columns
    ['attack', 'k', 'user', 'class']
    """
    Training.of(training)
    named(learner, task, seed)
    target = training.levels if task == "classes" else training.risk
    return Model(
        attack=training.attack,
        k=training.k,
        settings=training.settings,
        learner=learner,
        task=task,
        people=len(training),
        grid=training.grid,
        lowest=training.features.min(0),
        highest=training.features.max(0),
        trees=fit(learner, task, training.features, target, seed),
        tested=tested.classes if isinstance(tested, Values) else tested,
    )


def estimate(
    models: Model | Sequence[Model],
    data: "Trajectories | pl.DataFrame",
    *,
    targets: Iterable[Any] | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> "pl.DataFrame":
    """Return the risk of people as models predict it: estimated, not found by an attack.

    Parameters
    ----------
    models
        One model or several, of different attacks or k.
    data
        Trajectories of the new people and of everybody in their dataset. Or a table of
        `incrowd.features`, of data with the cells and slots that the models were learned with
        (which cannot be checked in a table).
    targets
        Identifiers of the people; everybody, unless given.
    threads
        How many threads to use; all cores, unless given. The result is the same.
    progress
        Called with the number of models applied, and of all.

    Returns
    -------
    polars.DataFrame
        attack, k, user, class; and risk, where a model learned values. The table names people: do
        not print or save it where others read, such as in a notebook.
    """
    import polars as pl

    given = isinstance(models, Iterable) and not isinstance(models, Model)
    several: list[Any] = list(models) if given else [models]  # type: ignore[arg-type]
    if not several:
        raise ArgumentError("models is empty; give at least one model")
    for each in several:
        how = "incrowd.predict.learn makes one, incrowd.predict.load reads several from a file"
        must_be("models", each, Model, how)
    refuse_twins(several)
    if isinstance(data, pl.DataFrame):
        frame = _checked(data)
    elif not isinstance(data, Trajectories):
        raise ArgumentError(
            f"data must be Trajectories or a table of features, not {type(data).__name__}"
        )
    else:
        _same_grid(several, Grid.of(data))
        frame = features(data, threads=threads)
    if targets is not None:
        frame = frame[which_of(frame["user"], targets)]
    table = table_of(frame)
    _warn_of_range(several, table)
    frames = []
    for done, model in enumerate(several, 1):
        predict = partial(_predict_block, model.trees, table)
        blocks = range(0, len(table), BLOCK)
        found = np.concatenate(list(on_threads(cores(threads), predict, blocks)))
        columns: dict[str, Any] = {
            "attack": pl.repeat(model.attack, len(frame), eager=True),
            "k": pl.repeat(model.k, len(frame), dtype=pl.Int64, eager=True),
            "user": frame["user"],
            "class": np.array(CLASSES)[found if model.task == "classes" else levels(found)],
        }
        if model.task == "values":
            columns["risk"] = found
        frames.append(pl.DataFrame(columns))
        if progress:
            progress(done, len(several))
    return pl.concat(frames, how="diagonal")


def _predict_block(trees: Trees, table: Floats, first: int) -> Any:
    """Return the prediction for a block of people."""
    return trees.tell(table[first : first + BLOCK])


def _checked(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Refuse a table that is not one of features."""
    missing = [name for name in ("user", *FEATURES) if name not in frame.columns]
    if missing:
        others = f" (nor {len(missing) - 1} others)" if len(missing) > 1 else ""
        raise InputError(
            f"the table of features has no column {missing[0]!r}{others}; incrowd.features makes it"
        )
    if not len(frame):
        raise InputError("the table of features is empty; it needs one row per person")
    if frame["user"].is_duplicated().any():
        raise InputError(
            "a person has several rows in the table of features; it needs one row per person"
        )
    text = [name for name in FEATURES if not frame.schema[name].is_numeric()]
    if text:
        raise InputError(f"the column {text[0]!r} must be numeric; incrowd.features makes it")
    if not np.isfinite(table_of(frame)).all():
        raise InputError(
            "a feature is missing or not finite; incrowd.features makes complete tables"
        )
    return frame


def refuse_twins(models: Sequence[Model]) -> None:
    """Refuse two models of the same attack and k: their predictions could not be distinguished."""
    seen = set()
    for model in models:
        if (model.attack, model.k) in seen:
            raise ArgumentError(
                f"there are two models of {model.attack}, k = {model.k}; give one of each"
            )
        seen.add((model.attack, model.k))


def _same_grid(models: Sequence[Model], grid: Grid) -> None:
    for model in models:
        if model.grid != grid:
            raise InputError(
                f"the model was learned from {model.grid}, and the data has {grid}; read the data "
                "with the same cells, time slots and places"
            )


def _warn_of_range(models: Sequence[Model], table: Floats) -> None:
    """Warn if many people are outside the range of features that a model was learned from."""
    lowest = np.min([model.lowest for model in models], 0)
    highest = np.max([model.highest for model in models], 0)
    margin = FAR * (highest - lowest)
    beyond = (table < lowest - margin) | (table > highest + margin)
    share = float(beyond.any(1).mean())
    if share >= MANY:
        worst = list(FEATURES)[int(beyond.mean(0).argmax())]
        warnings.warn(
            f"{percent(share, 0)} of people have a feature (mostly {worst}) outside the range that "
            "the model was learned from; predictions for them are unreliable. Attack the data "
            "itself, or learn from similar data",
            DataWarning,
            stacklevel=outside(),
        )
