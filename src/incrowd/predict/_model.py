"""Models that tell the risk of new people from how they move, without attacking anybody.

What learns: forests as in the paper, and others beside them (its section 8 asks for more).

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

from incrowd._arguments import is_whole
from incrowd._numba import Floats, Ints
from incrowd._parallel import cores, on_threads
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
        "boosting": "GradientBoosting",
    }[learner]
    kind = getattr(ensemble, name + ("Classifier" if task == "classes" else "Regressor"))
    how: dict[str, Any] = {"random_state": int(seed), "n_estimators": TREES}
    if learner == "boosting":
        # As on histograms (whose trees scikit-learn keeps to itself): leaf by leaf, the best first.
        how |= {"max_leaf_nodes": 31, "max_depth": None, "min_samples_leaf": 20}
    else:
        how["n_jobs"] = 1
        if task == "classes":
            how["criterion"] = "entropy"  # what the paper measures importance by
    with threadpool_limits(1, user_api="openmp"):
        return kind(**how).fit(features, target)


BLOCK = 4_096
"""How many people are told at a time."""
FAR, MANY = 0.5, 0.1
"""Warn if so many people have a feature so far beyond the range (as a part of it) learned from."""


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What was learned of one attack.

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
        """Give how much each feature contributed, most first; all together 1.

        For trees that is the mean, over all of them, of the reduction of entropy (of variance,
        where values or boosted trees are learned) that the feature brought.
        """
        import polars as pl

        table = pl.DataFrame({"feature": list(FEATURES), "importance": self.trees.importances})
        return table.sort("importance", descending=True, maintain_order=True)


def learn(
    training: Training,
    learner: str = "forest",
    task: str = TASKS[0],
    *,
    seed: int = 0,
    tested: Scores | Values | None = None,
) -> Model:
    """Learn the risk from mobility features.

    Parameters
    ----------
    training
        Features and risks.
    learner
        ``"forest"``, ``"extra_trees"`` or ``"boosting"``.
    task
        ``"classes"`` of risk, or ``"values"``.
    seed
        Makes it repeatable.
    tested
        What `cross_validate` found; its classes are kept with the model.

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
    """Tell the risk of people by what was learned from others: estimated, not found by attack.

    Parameters
    ----------
    models
        One model or several, of different attacks or k.
    data
        Trajectories of new people and of the crowd that they are in. Or what `incrowd.features`
        gave for them, of data with the cells and slots that the models were learned with: from a
        table of features that cannot be seen.
    targets
        Whose risk to tell; everybody's, unless given.
    threads
        How many threads to use; all cores, unless given. The result is the same.
    progress
        Called with the number of models applied, and of all.

    Returns
    -------
    polars.DataFrame
        attack, k, user, class; and risk, where a model learned values.
    """
    import polars as pl

    several = [models] if isinstance(models, Model) else list(models)
    if not several:
        raise ArgumentError("there is no model to apply")
    refuse_twins(several)
    if isinstance(data, pl.DataFrame):
        frame = _checked(data)
    elif not isinstance(data, Trajectories):
        raise ArgumentError(f"data are Trajectories or features, not a {type(data).__name__}")
    else:
        _same_grid(several, Grid.of(data))
        frame = features(data, threads=threads)
    if targets is not None:
        frame = frame[which_of(frame["user"], targets)]
    table = table_of(frame)
    _warn_of_range(several, table)
    frames = []
    for done, model in enumerate(several, 1):
        tell = partial(_told, model.trees, table)
        blocks = range(0, len(table), BLOCK)
        found = np.concatenate(list(on_threads(cores(threads), tell, blocks)))
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


def _told(trees: Trees, table: Floats, first: int) -> Any:
    """Tell the risk of a block of people."""
    return trees.tell(table[first : first + BLOCK])


def _checked(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Refuse a table that is not one of features."""
    missing = [name for name in ("user", *FEATURES) if name not in frame.columns]
    if missing:
        others = f" (nor {len(missing) - 1} others)" if len(missing) > 1 else ""
        raise InputError(f"the table has no column {missing[0]!r}{others}; see incrowd.features")
    if not len(frame):
        raise InputError("there is nobody whose risk could be told")
    if frame["user"].is_duplicated().any():
        raise InputError("somebody has several rows; features are one row a person")
    text = [name for name in FEATURES if not frame.schema[name].is_numeric()]
    if text:
        raise InputError(f"the column {text[0]!r} is not numeric; see incrowd.features")
    if not np.isfinite(table_of(frame)).all():
        raise InputError("a feature is missing or not finite; see incrowd.features")
    return frame


def refuse_twins(models: Sequence[Model]) -> None:
    """Refuse two models of the same attack and k: nobody could tell whose answer is whose."""
    seen = set()
    for model in models:
        if (model.attack, model.k) in seen:
            raise ArgumentError(f"there are two models of {model.attack}, k = {model.k}")
        seen.add((model.attack, model.k))


def _same_grid(models: Sequence[Model], grid: Grid) -> None:
    for model in models:
        if model.grid != grid:
            raise InputError(
                f"the model was learned from {model.grid}, and the data has {grid}; features and "
                "risk do not mean the same in both"
            )


def _warn_of_range(models: Sequence[Model], table: Floats) -> None:
    """Warn if many people are unlike all whom a model has seen."""
    lowest = np.min([model.lowest for model in models], 0)
    highest = np.max([model.highest for model in models], 0)
    margin = FAR * (highest - lowest)
    outside = (table < lowest - margin) | (table > highest + margin)
    share = float(outside.any(1).mean())
    if share >= MANY:
        worst = list(FEATURES)[int(outside.mean(0).argmax())]
        warnings.warn(
            f"{share:.0%} of the people have a feature beyond what the model has seen "
            f"({worst}, mostly); what it tells of them is a guess. Attack the data itself, or "
            "learn from data like these",
            DataWarning,
            stacklevel=3,
        )
