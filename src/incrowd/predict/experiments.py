"""The paper's experiments: every attack and k, in one area, in another, and from each to the other.

Table 2 has accuracy and F of 33 configurations in two areas, tested by cross-validation and by
transfer both ways; table 3 the importance of features over all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.errors import ArgumentError
from incrowd.predict.learners import TASKS, named
from incrowd.predict.model import Model, learn
from incrowd.predict.scores import Scores, Values
from incrowd.predict.testing import (
    FOLDS,
    baseline,
    cross_validate,
    hold_out,
    refuse_few,
    refuse_share,
    refuse_unlike,
    scored,
)
from incrowd.predict.training import Training

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Experiment", "experiments", "importances"]


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
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


def experiments(
    areas: Sequence[Sequence[Training]],
    learner: str = "forest",
    task: str = TASKS[0],
    *,
    folds: int = FOLDS,
    held_out: float | None = None,
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
    seed
        Makes it repeatable.
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
        raise ArgumentError(f"there are {len(areas)} areas; experiments take one or two")
    if len({len(area) for area in areas}) > 1:
        raise ArgumentError("the areas were not attacked in the same ways")
    for sets in zip(*areas, strict=True):
        refuse_unlike(sets[0], sets[-1])
        if held_out is None:
            refuse_few(folds, min(len(one) for one in sets))
    how: dict[str, Any] = {"folds": folds, "threads": threads}
    if held_out is not None:
        refuse_share(held_out)
        how = {"share": held_out}
    return _experiments(areas, learner, task, how | {"seed": seed}, progress)


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
