"""What the simple mechanisms have in common: `protect` a dataset, say what is promised and lost.

::

    Filter, Cloak, Generalise, GeoI
        │
        │ protect(data)
        ▼
    Mechanism ──> _change: other boxes, or fewer ──> settle: in order, repeats gone ──> Protected

A mechanism is a value: its settings and nothing else. It says of itself what it protects against
(`promises`) and what not (`limits`), in words for whoever must decide; what it did to a dataset,
and what that cost, is in `Protected`. None of the four hides anybody in a crowd.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from incrowd.data._trajectories import Trajectories

__all__ = [
    "LINKAGE",
    "Changed",
    "Mechanism",
    "Protected",
]


LINKAGE = "nothing is promised against record linkage"
OTHERS = (
    "a second release of the same people: laid over this one, it tells more than each by itself",
    (
        "knowledge beyond positions and times, and the question whether a person is in the data "
        "at all"
    ),
)
"""What none of these mechanisms withstands."""


@dataclass(frozen=True, slots=True, eq=False)
class Changed:
    """What a mechanism made of a dataset, before people who are left with nothing go.

    Attributes
    ----------
    trajectories
        All people of the input, some of them perhaps without a sample.
    suppressed
        Samples of the input that are gone.
    collapsed
        Samples that became equal to another one of the same person, and are one with it.
    more
        What else is counted.
    settings
        What was done beyond what was asked for.
    notes
        What is to be known about this dataset, in words.
    """

    trajectories: Trajectories
    suppressed: int = 0
    collapsed: int = 0
    more: tuple[tuple[str, int], ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Protected:
    """What a mechanism made of a dataset.

    Attributes
    ----------
    mechanism
        What was applied.
    trajectories
        What is left. People keep the identifiers of the input, so that both can be compared; a
        release never shows them.
    assignment
        For every person (user) the index of her trajectory; null if she was dropped.
    losses
        Plain counts. People who were dropped, because no sample of theirs was left, and the
        samples of these; samples of others that are gone (suppressed); samples that are one with
        an equal one of the same person (collapsed); and what else a mechanism counts. People are
        counted by their crowd, samples as they are in the input.
    settings
        What was asked for, in plain values, as the manifest of a release has them.
    notes
        What is to be known about this dataset, in words.
    """

    mechanism: "Mechanism"
    trajectories: Trajectories
    assignment: pl.DataFrame
    losses: dict[str, int]
    settings: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def method(self) -> str:
        """The name of what was done."""
        return self.mechanism.method

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        return self.mechanism.promises

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against, and what this dataset makes of that."""
        return (*self.mechanism.limits, *self.notes)

    @property
    def guarantee(self) -> str:
        """The name of what is guaranteed."""
        return self.mechanism.guarantee

    @property
    def explanation(self) -> tuple[str, ...]:
        """What was done to the data, in plain sentences."""
        return self.mechanism.explanation


class Mechanism(ABC):
    """A way to protect a dataset.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.protect._generalisation import Cloak
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> protected = Cloak(minutes=60).protect(city)
    >>> protected.settings
    {'minutes': 60.0}
    >>> protected.losses["people_dropped"], len(protected.trajectories)
    (0, 40)
    """

    method: ClassVar[str]
    """What it is called, in the manifest of a release as well."""
    paper: ClassVar[str]
    """Where it was described."""
    guarantee: ClassVar[str] = "none"
    """The name of what it guarantees, as the verifier knows it; most guarantee nothing of the kind
    and are verified for what they promise."""

    @property
    def explanation(self) -> tuple[str, ...]:
        """What it does to the data, in plain sentences for the report."""
        told = "It changes samples one by one and hides nobody in a crowd."
        return (f"The method is {self.method}. {told}",)

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What was asked for, in plain values that may be published."""

    @property
    @abstractmethod
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""

    @property
    @abstractmethod
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""

    @abstractmethod
    def _change(self, data: Trajectories, threads: int | None) -> Changed:
        """Do it; nobody has to be left out yet."""

    def protect(self, data: Trajectories, *, threads: int | None = None) -> Protected:
        """Apply it to a dataset, which stays as it is.

        Parameters
        ----------
        data
            Trajectories of people (or of crowds).
        threads
            All cores unless given; the result is the same.

        Returns
        -------
        Protected
            What is left, who is who, and what was lost.
        """
        changed = self._change(data, threads)
        made = changed.trajectories
        present = made.lengths() > 0
        gone = ~present
        dropped = int(data.lengths()[gone].sum())
        losses = {
            "people_dropped": int(data.crowd[gone].sum()),
            "samples_dropped": dropped,
            "samples_suppressed": changed.suppressed - dropped,
            "samples_collapsed": changed.collapsed,
            **dict(changed.more),
        }
        return Protected(
            self,
            made if bool(present.all()) else made[present],
            _assignment(data, present),
            losses,
            self.settings | dict(changed.settings),
            changed.notes,
        )


def _assignment(data: Trajectories, present: Any) -> pl.DataFrame:
    """Count those who are left; the others have no number."""
    index = pl.Series("trajectory", np.cumsum(present, dtype=np.int32) - np.int32(1))
    left = pl.Series("left", present)
    return pl.DataFrame([data.people.alias("user"), index, left]).select(
        "user", pl.when("left").then("trajectory").alias("trajectory")
    )
