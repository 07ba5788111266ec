"""What a model learns from: mobility features, and the risk that attacks found (section 4.3).

::

    Trajectories ──┬──> features (28 columns) ──┬──> Training, one for each attack and k
                   └──> risk (exact) ───────────┘    risk as a value, or as one of six classes
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd._arguments import must_be
from incrowd._format import people
from incrowd._numba import Floats, Ints
from incrowd._summary import Summarised, Summary
from incrowd.attack._attacks import ATTACKS, Attack, as_fraction
from incrowd.attack._resolve import attacks_of
from incrowd.attack._risk import risk
from incrowd.data._one_each import one_each
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import visits
from incrowd.errors import ArgumentError, InputError
from incrowd.measure._features import FEATURES, features

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._frame import Frame

__all__ = [
    "CLASSES",
    "HIGHEST",
    "Grid",
    "Training",
    "levels",
    "settings_of",
    "table_of",
    "training_sets",
]


ENDS = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 1.0])
CLASSES = ("[0]", "(0, 0.1]", "(0.1, 0.2]", "(0.2, 0.3]", "(0.3, 0.5]", "(0.5, 1]")
"""By level. A person of the dataset is never in the first: she fits what is known of her."""
HIGHEST = len(CLASSES) - 1


def levels(risk: ArrayLike) -> NDArray[np.int64]:
    """Return the level of each risk: the index of its class in `CLASSES`.

    Examples
    --------
    >>> levels([1.0, 0.5, 1.0, 0.25, 0.03]).tolist()
    [5, 4, 5, 3, 1]
    """
    values = np.asarray(risk, np.float64)
    if not np.all((values >= 0) & (values <= 1)):  # also refuses what is no number
        raise InputError("a risk must be a number from 0 to 1")
    return np.searchsorted(ENDS, values)


KS = (2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Grid:
    """What places and times are in a dataset; features and risk mean another thing in others."""

    cell: float
    slot: int
    places: bool
    """Whether places are those of the input; cells, otherwise."""

    @classmethod
    def of(cls, data: Trajectories) -> "Grid":
        """Return that of a dataset."""
        frame: Frame = data.frame
        return cls(float(frame.cell), int(frame.slot), data.place is not None)

    def __str__(self) -> str:
        where = "places of the input, " if self.places else ""
        return f"{where}cells of {self.cell:g} m and slots of {self.slot} s"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Training(Summarised):
    """A training set: the features of everybody, and her risk under one attack.

    Attributes
    ----------
    attack, k, settings
        What was known.
    people
        Whom the rows are of.
    features
        A row for each person, a column for each of `incrowd.measure._features.FEATURES`.
    risk
        One for each person: exact.
    grid
        What places and times were.
    among
        Gives features and risk anew as they are among some of the people only, by a mask of them;
        None if the data is not known.
    """

    attack: str
    k: int
    settings: dict[str, Any]
    people: "pl.Series"
    features: Floats
    risk: Floats
    grid: Grid
    among: Callable[[NDArray[np.bool_]], tuple[Floats, Floats]] | None = None

    @property
    def levels(self) -> Ints:
        """The class of each risk, as an index of `incrowd.predict.CLASSES`."""
        return levels(self.risk)

    def __len__(self) -> int:
        return len(self.risk)

    @classmethod
    def of(cls, training: object) -> "Training":
        """Return `training` if it is one, and refuse everything else."""
        hint = "incrowd.predict.training_sets makes a list of them"
        return must_be("training", training, cls, hint)

    def _summary(self) -> Summary:
        return Summary(f"Training({self.attack}, k={self.k}, {people(len(self))})")


def training_sets(
    data: Trajectories,
    attack: str | Attack | Iterable[str | Attack] | None = None,
    k: int | Sequence[int] = KS,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> list[Training]:
    """Return mobility features with the risk of everybody, for each attack and k.

    Parameters
    ----------
    data
        Trajectories. Everybody in a crowd, as releases have them, is a person.
    attack
        One attack or several; all of `incrowd.ATTACKS`, unless given. The nine of the paper with k
        from 2 to 5 are its 33 experiments.
    k
        How many points are known.
    threads
        How many threads to use; all cores, unless given.
    progress
        Called with the number of people attacked, and of all (times attacks).
    settings
        Of the attacks, as for `incrowd.risk`.

    Returns
    -------
    list of Training
        One for each attack and k; home_work has one k only.

    References
    ----------
    - Pellungrini et al., 2017: "A Data Mining Approach to Assess Privacy Risk in Human Mobility
      Data", ACM Transactions on Intelligent Systems and Technology 9 (3), DOI 10.1145/3106774;
      section 4.3.

    Examples
    --------
    >>> import incrowd
    >>> cars = incrowd.synthesize("pisa", users=50, seed=1)
    >>> training_sets(cars, ["visit", "home_work"], [2, 3])
    [Training(visit, k=2, 50 people), Training(visit, k=3, 50 people), \
Training(home_work, k=2, 50 people)]
    """
    data = one_each(Trajectories.of(data))
    attacks = attacks_of(list(ATTACKS) if attack is None else attack, settings)
    names = [one.name for one in attacks]
    if len(set(names)) < len(names):
        raise ArgumentError(
            "an attack is given twice; training sets are known by the names of attacks"
        )
    several = list(k) if isinstance(k, Iterable) else [k]
    found = risk(visits(data), attacks, several, threads=threads, progress=progress)
    table = table_of(features(data, threads=threads))
    grid = Grid.of(data)
    known = {one.name: settings_of(one) for one in attacks}
    by_name = {one.name: one for one in attacks}
    return [
        Training(
            one["attack"][0],
            one["k"][0],
            known[one["attack"][0]],
            data.people,
            table,
            one["risk"].to_numpy(),
            grid,
            partial(_among, data, by_name[one["attack"][0]], one["k"][0], threads),
        )
        for one in found.partition_by("attack", "k", maintain_order=True)
    ]


def _among(
    data: Trajectories, attack: Attack, k: int, threads: int | None, who: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the features and the risk of some people, as if there were no others."""
    part = data[who]
    found = risk(visits(part), attack, k, threads=threads)
    return table_of(features(part, threads=threads)), found["risk"].to_numpy()


def settings_of(attack: Attack) -> dict[str, Any]:
    """Return the settings of an attack as a file can hold them: integers, and all else as text.

    A tolerance is written in one way, whatever it was given as: 0.1, "0.10" and 1/10 are the same.

    Examples
    --------
    >>> from incrowd.attack._attacks import Probability
    >>> settings_of(Probability("0.10"))
    {'tolerance': '0.1', 'relative': False}
    """
    own: dict[str, Any] = {}
    for each in fields(attack):
        value = getattr(attack, each.name)
        if isinstance(value, np.integer):
            value = int(value)
        if each.name == "tolerance" and value is not None:
            value = _as_text(value)
        plain = value is None or isinstance(value, bool | int)
        own[each.name] = value if plain else str(value)
    return own


def _as_text(tolerance: Any) -> str:
    """Return a tolerance as a decimal where that says it all, and as a fraction otherwise."""
    try:
        exact = as_fraction(tolerance)
    except ArgumentError:  # of an attack of one's own, which takes something else for one
        return str(tolerance)
    decimal = Decimal(exact.numerator) / Decimal(exact.denominator)
    return format(decimal.normalize(), "f") if Fraction(decimal) == exact else str(exact)


def table_of(frame: "pl.DataFrame") -> Floats:
    """Return the features as rows of numbers."""
    return np.ascontiguousarray(frame.select(list(FEATURES)).to_numpy())
