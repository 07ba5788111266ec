"""Testing models on people whom they were not learned from (section 5).

Cross-validation, a share that is held out, another area; and the paper's experiments, which are all
of these for every attack and k.

Table 2 has accuracy and F of 33 configurations in two areas, tested by cross-validation and by
transfer both ways; table 3 the importance of features over all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._arguments import is_whole
from incrowd._numba import Ints
from incrowd._parallel import cores, on_threads
from incrowd._summary import Summarised, Summary
from incrowd.errors import ArgumentError, InputError
from incrowd.predict._model import TASKS, Model, fit, learn, named
from incrowd.predict._scores import Scores, Values
from incrowd.predict._training import Training, levels

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Experiment",
    "baseline",
    "cross_validate",
    "experiments",
    "hold_out",
    "importances",
    "refuse_few",
    "refuse_share",
    "refuse_unlike",
    "scored",
    "transfer",
]


FOLDS = 10


def cross_validate(
    training: Training,
    learner: str = "forest",
    task: str = TASKS[0],
    *,
    folds: int = FOLDS,
    inductive: bool = False,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Scores | Values:
    """Return scores of predicting each fold of the people by what is learned from the others.

    Folds are drawn at random, and have as equal shares of every class as can be.

    As in the paper this is *transductive*: the features and the risk of the people who are learned
    from were found in the whole dataset, among the people of the fold that is then predicted. So
    something of them is in what is learned. `inductive` gives the figure without that.

    Parameters
    ----------
    training
        Features and risks.
    learner
        ``"forest"``, ``"extra_trees"`` or ``"boosting"``.
    task
        ``"classes"`` of risk, or ``"values"``.
    folds
        How many parts.
    inductive
        Whether features and risk of the people who are learned from are computed anew for every
        fold, among these people only. Those of the fold keep the features and the risk that they
        have in the whole dataset: this is what is to be predicted. It takes as many attacks as
        there are folds.
    seed
        The same seed gives the same result.
    threads
        How many threads to use; all cores, unless given. The result is the same.
    progress
        Called with the number of folds done, and of all.

    Returns
    -------
    Scores or Values
        Of the predictions for everybody.

    References
    ----------
    - Pellungrini et al., 2017: "A Data Mining Approach to Assess Privacy Risk in Human Mobility
      Data", ACM Transactions on Intelligent Systems and Technology 9 (3), DOI 10.1145/3106774;
      section 5.

    Examples
    --------
    >>> import incrowd
    >>> cars = incrowd.synthesize("pisa", users=200, seed=1)
    >>> [training] = incrowd.predict.training_sets(cars, "location", 2)
    >>> incrowd.predict.cross_validate(training).accuracy > 0.6
    True
    >>> incrowd.predict.cross_validate(training, folds=2, inductive=True)
    Scores(200 people, accuracy 0.655, F 0.610, inductive)
    """
    Training.of(training)
    named(learner, task, seed)
    fold = folds_of(training.levels, folds, seed)
    refuse_unknown(training, inductive=inductive)

    def one(number: int) -> tuple[int, Any]:
        mine = fold == number
        return number, _guess(training, mine, learner, task, seed, inductive=inductive)

    guess = np.empty_like(_target(training, task))
    # An attack uses all threads by itself.
    number_of = 1 if inductive else cores(threads)
    for done, (number, found) in enumerate(on_threads(number_of, one, range(folds), warm=True), 1):
        guess[fold == number] = found
        if progress:
            progress(done, folds)
    return scored(training, task, guess, inductive=inductive)


def hold_out(
    training: Training,
    learner: str = "forest",
    task: str = TASKS[0],
    *,
    share: float = 0.3,
    inductive: bool = False,
    seed: int = 0,
) -> Scores | Values:
    """Return scores of predicting a random share of the people by what the others teach.

    Every class has the same share in both, as far as can be. The other parameters are those of
    `cross_validate`.
    """
    Training.of(training)
    named(learner, task, seed)
    refuse_share(share)
    order = _dealt(training.levels, seed)
    # Taken evenly from people in order of their class.
    held = np.zeros(len(training), bool)
    turns = np.floor(np.arange(len(order) + 1) * share)
    held[order[np.diff(turns) > 0]] = True
    if held.all() or not held.any():
        raise InputError(
            f"{len(training)} people are too few to hold out a share of {share}; give more people "
            "or another share"
        )
    refuse_unknown(training, inductive=inductive)
    guess = _guess(training, held, learner, task, seed, inductive=inductive)
    return scored(training, task, guess, held, inductive=inductive)


def _guess(
    training: Training, held: Any, learner: str, task: str, seed: int, *, inductive: bool
) -> Any:
    """Learn from everybody who is not held out, and predict who is."""
    known, risk = training.features[~held], training.risk[~held]
    if inductive and training.among is not None:
        known, risk = training.among(~held)
    target = levels(risk) if task == "classes" else risk
    return fit(learner, task, known, target, seed).tell(training.features[held])


def transfer(
    training: Training,
    elsewhere: Training,
    learner: str = "forest",
    task: str = TASKS[0],
    *,
    seed: int = 0,
) -> Scores | Values:
    """Return scores of predicting the people of another area by what is learned in one.

    `elsewhere` must be of the same attack and k.
    """
    Training.of(training)
    Training.of(elsewhere)
    named(learner, task, seed)
    refuse_unlike(training, elsewhere)
    trees = fit(learner, task, training.features, _target(training, task), seed)
    return scored(elsewhere, task, trees.tell(elsewhere.features))


def refuse_unknown(training: Training, *, inductive: bool) -> None:
    """Refuse to compute anew what the data is not known for."""
    if inductive and training.among is None:
        raise ArgumentError(
            "inductive=True computes features and risk anew, which needs the data; make the "
            "training set with incrowd.predict.training_sets"
        )


def refuse_unlike(one: Training, other: Training) -> None:
    """Refuse training sets of different attacks, or in which things mean something else."""
    if (one.attack, one.k) != (other.attack, other.k):
        raise ArgumentError(f"{one} and {other} must be of the same attack and k")
    if one.settings != other.settings:
        raise ArgumentError(
            f"{one} has settings {one.settings}, the other {other.settings}; they must be the same"
        )
    if one.grid != other.grid:
        raise InputError(
            f"one area has {one.grid}, the other {other.grid}; read both with the same cells, time "
            "slots and places"
        )


def baseline(training: Training, *, seed: int = 0) -> Scores:
    """Return scores of guessing classes at random, by the shares that they have."""
    named("forest", seed=seed)
    rng = np.random.Generator(np.random.PCG64(seed))
    actual = training.levels
    return Scores.of(actual, rng.choice(actual, len(actual)))


def folds_of(actual: Ints, folds: int, seed: int) -> Ints:
    """Deal people out to folds, class by class."""
    refuse_few(folds, len(actual))
    fold = np.empty(len(actual), np.int64)
    fold[_dealt(actual, seed)] = np.arange(len(actual)) % folds
    return fold


def refuse_few(folds: int, people: int | None = None) -> None:
    """Refuse what is no number of folds, or more than there are people."""
    if not is_whole(folds) or folds < 2:  # noqa: PLR2004
        raise ArgumentError(f"folds must be an integer of at least 2, not {folds!r}")
    if people is not None and people < folds:
        raise InputError(
            f"{people} people are too few for {folds} folds; give more people or fewer folds"
        )


def refuse_share(share: float) -> None:
    """Refuse what is no share of people that could be held out."""
    number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
    if not number or not 0 < share < 1:
        raise ArgumentError(f"share must be a number between 0 and 1, exclusive, not {share!r}")


def _dealt(actual: Ints, seed: int) -> Ints:
    """Give people in order of their class, at random within each."""
    rng = np.random.Generator(np.random.PCG64(seed))
    return np.lexsort((rng.permutation(len(actual)), actual))


def _target(training: Training, task: str) -> Any:
    return training.levels if task == "classes" else training.risk


def scored(
    training: Training, task: str, guess: Any, part: Any = slice(None), *,
    inductive: bool | None = None,
) -> Scores | Values:  # fmt: skip
    """Score predictions for the people of a training set, or for a part of them."""
    if task == "classes":
        return Scores.of(training.levels[part], guess, inductive=inductive)
    risk = training.risk[part]
    squares = float(((risk - guess) ** 2).mean())
    variance = float(risk.var())
    return Values(
        r2=1 - squares / variance if variance else float("nan"),
        error=float(np.abs(risk - guess).mean()),
        squared=squares**0.5,
        classes=Scores.of(training.levels[part], levels(guess), inductive=inductive),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Experiment(Summarised):
    """One configuration: what was learned of it in each area, and how good that is.

    Attributes
    ----------
    attack, k
        The configuration.
    within
        Cross-validation in each area, or a share that was held out.
    guessed
        The baseline in each area: classes guessed by their shares.
    across
        From each area to the other, if there are two: from the first, and from the second.
    models
        Learned from the whole of each area.
    """

    attack: str
    k: int
    within: tuple[Scores | Values, ...]
    guessed: tuple[Scores, ...]
    across: tuple[Scores | Values, ...]
    models: tuple[Model, ...]

    def _summary(self) -> Summary:
        several = len(self.within) > 1
        facts = {}
        for name, scores in (
            ("tested within", self.within),
            ("guessed by the shares of classes", self.guessed),
            ("learned from the other", self.across),
        ):
            for number, one in enumerate(scores, 1):
                classes = one if isinstance(one, Scores) else one.classes
                facts[f"{name}, area {number}" if several else name] = repr(classes)
        return Summary(f"What can be learned of the attack {self.attack}, k = {self.k}", facts)


def experiments(
    areas: Sequence[Sequence[Training]],
    learner: str = "forest",
    task: str = TASKS[0],
    *,
    folds: int = FOLDS,
    held_out: float | None = None,
    inductive: bool = False,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Experiment]:
    """Learn every configuration in one area or in two, and test it.

    Parameters
    ----------
    areas
        For each area its training sets, of the same attacks and k in the same order.
    learner
        ``"forest"``, ``"extra_trees"`` or ``"boosting"``.
    task
        ``"classes"`` of risk, or ``"values"``.
    folds
        Of cross-validation.
    held_out
        If given, this share of the people is predicted by what is learned from the others, and
        there are no folds.
    inductive
        Of both: whether features and risk of the people who are learned from are computed among
        these only; see `cross_validate`.
    seed
        The same seed gives the same result.
    threads
        How many threads to use; all cores, unless given.
    progress
        Called with the number of configurations done, and of all.

    Returns
    -------
    iterator of Experiment
        One for each configuration, as soon as it is done.
    """
    named(learner, task, seed)
    if len(areas) not in (1, 2):
        raise ArgumentError(f"areas must be one or two, not {len(areas)}")
    if len({len(area) for area in areas}) > 1:
        raise ArgumentError("both areas must have training sets of the same attacks and k")
    for sets in zip(*areas, strict=True):
        refuse_unlike(sets[0], sets[-1])
        if held_out is None:
            refuse_few(folds, min(len(one) for one in sets))
    how: dict[str, Any] = {"folds": folds, "threads": threads}
    if held_out is not None:
        refuse_share(held_out)
        how = {"share": held_out}
    for one in (one for area in areas for one in area):
        refuse_unknown(one, inductive=inductive)
    how |= {"seed": seed, "inductive": inductive}
    return _experiments(areas, learner, task, how, progress)


def _experiments(
    areas: Sequence[Sequence[Training]],
    learner: str,
    task: str,
    how: dict[str, Any],
    progress: Callable[[int, int], None] | None,
) -> Iterator[Experiment]:
    """Make experiments one by one; here, so that bad arguments are refused at once."""
    test = hold_out if "share" in how else cross_validate
    for done, sets in enumerate(zip(*areas, strict=True), 1):
        within = [test(one, learner, task, **how) for one in sets]
        models = [
            learn(one, learner, task, seed=how["seed"], tested=each)
            for one, each in zip(sets, within, strict=True)
        ]
        across = [
            scored(there, task, model.trees.tell(there.features))
            for model, there in zip(models, sets[::-1], strict=True)
        ]
        yield Experiment(
            attack=sets[0].attack,
            k=sets[0].k,
            within=tuple(within),
            guessed=tuple(baseline(one, seed=how["seed"]) for one in sets),
            across=tuple(across) if len(sets) > 1 else (),
            models=tuple(models),
        )
        if progress:
            progress(done, len(areas[0]))


def importances(models: Sequence[Model]) -> "pl.DataFrame":
    """Give the importance of each feature over several models, the greatest first.

    It is the sum over all of them, as in table 3, which calls it an average: its numbers add up to
    33, one for each model.
    """
    import polars as pl

    each = pl.concat(model.importances() for model in models)
    total = each.group_by("feature", maintain_order=True).agg(pl.col("importance").sum())
    return total.sort("importance", descending=True, maintain_order=True)
