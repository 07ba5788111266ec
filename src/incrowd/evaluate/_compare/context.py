"""What a measure is taken of: a release as it was written and verified, beside its original.

Everything is worked out when it is first asked for, and once.
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import incrowd
from incrowd.attack import ATTACKS
from incrowd.data._trajectories import Trajectories
from incrowd.evaluate._compare.samples import StandIns, stand_ins
from incrowd.evaluate._comparison import BeforeAfter, as_cells, compared_datasets
from incrowd.evaluate._release_attacks.registry import RELEASE_ATTACKS
from incrowd.evaluate._utility.accuracy import Accuracy
from incrowd.evaluate._utility.inference import Inference
from incrowd.evaluate._utility.summary import Utility

if TYPE_CHECKING:
    from incrowd._progress import Progress
    from incrowd.evaluate._release_attacks.findings import ReleaseAttacks

__all__ = [
    "KINDS",
    "KNOWN",
    "Context",
    "Settings",
]


KINDS = ("spatio_temporal", "spatial", "temporal")
KNOWN = 4
"""How many points an adversary knows."""
TOP = (1, 2, 3, 5, 10, 20, 50)
"""How many most visited places the attacker of that name knows."""
HOUR = 3600
HOLDERS = 100
"""How many people are attacked by those who hold the release, at most: insiders take long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How everything is measured, the same in all columns.

    Attributes
    ----------
    targets
        How many people are attacked, drawn at random; all, if there are fewer.
    seed
        Of all draws but a mechanism's own.
    tz
        The zone of nights and working hours.
    grid
        The side of squares in km, for trips and people by hour.
    rows
        The keys of the rows that are measured; all if None.
    threads
        How many threads are used; all cores unless given.
    """

    targets: int
    seed: int
    tz: str
    grid: float
    rows: tuple[str, ...] | None = None
    threads: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all that decides what is measured; the result does not depend on threads."""
        rows = None if self.rows is None else [*self.rows]
        how = {"targets": self.targets, "seed": self.seed, "tz": self.tz, "grid": self.grid}
        return how | {"rows": rows}


class Context:
    """A release beside its original; or the original by itself, as it would be published."""

    def __init__(
        self,
        settings: Settings,
        pair: BeforeAfter | None,
        after: Trajectories,
        *,
        files: tuple[Path, Path] | None = None,
        seconds: float | None = None,
        memory: int | None = None,
    ) -> None:
        self.settings, self.pair, self.after = settings, pair, after
        self.files, self.seconds, self.memory = files, seconds, memory
        self.progress: Progress | None = None

    @property
    def beside(self) -> BeforeAfter:
        """The release beside its original."""
        assert self.pair is not None  # noqa: S101  measures of the original do not ask
        return self.pair

    @functools.cached_property
    def accuracy(self) -> Accuracy:
        """How accurate it is."""
        return incrowd.accuracy(self.beside, threads=self.settings.threads)

    @functools.cached_property
    def utility(self) -> Utility:
        """What it is still good for."""
        how = self.settings
        return incrowd.utility(
            self.beside, tz=how.tz, grid=how.grid, threads=how.threads, progress=self.progress
        )

    @functools.cached_property
    def inference(self) -> Inference:
        """What the records of crowds show."""
        how = self.settings
        return incrowd.inference(
            self.beside, tz=how.tz, threads=how.threads, progress=self.progress
        )

    @functools.cached_property
    def stand_ins(self) -> StandIns:
        """What stands for the samples of the original."""
        return stand_ins(self.beside, threads=self.settings.threads)

    @functools.cached_property
    def slots(self) -> int:
        """How many slots of the clock an hour has."""
        return max(1, HOUR // self.after.frame.slot)

    @functools.cached_property
    def _visits(self) -> Any:
        return incrowd.visits(self.after)

    @functools.cached_property
    def unique(self) -> dict[str, float | None]:
        """The share of random sets of points that are one person's alone, by their kind."""
        found = {}
        for kind in KINDS:
            table = incrowd.uniqueness(
                self._visits, [KNOWN], kind=kind, precision=self.slots, met=1,
                seed=self.settings.seed, threads=self.settings.threads,
            ).table  # fmt: skip
            found[kind] = table["share"][0]
        return found

    @functools.cached_property
    def risk(self) -> dict[str, float]:
        """The share of people whom each attack finds, of those who are attacked, at worst."""
        visits, how = self._visits, self.settings
        rng = np.random.default_rng(how.seed)
        who = np.sort(rng.choice(len(visits), min(how.targets, len(visits)), replace=False))
        table = incrowd.risk(
            visits, list(ATTACKS), KNOWN, targets=visits.people.gather(who),
            precision=self.slots, threads=how.threads, progress=self.progress,
        )  # fmt: skip
        alone = table.group_by("attack").agg((pl.col("risk") == 1).mean())
        return dict(alone.iter_rows())

    @functools.cached_property
    def recognised(self) -> dict[str, Any]:
        """The attacker who recognises most people of the release, knowing the whole original."""
        before, after = compared_datasets(self.beside)
        places = as_cells(after.data, before.data)
        table = incrowd.deanonymize(
            places[0], known=places[1], crowd=after.crowd, share=None, n=TOP,
            precision=self.slots, threads=self.settings.threads, progress=self.progress,
        ).table  # fmt: skip
        order = ["recall", "precision"]
        return table.sort(order, descending=True, nulls_last=True).row(0, named=True)

    @functools.cached_property
    def attacked(self) -> "ReleaseAttacks":
        """What adversaries gain who hold the release."""
        assert self.files is not None  # noqa: S101  measures of the original do not ask
        (release, record), how = self.files, self.settings
        known = [name for name, one in RELEASE_ATTACKS.items() if not one.needs_others]
        return incrowd.attack_release(
            release, known, record=record, original=self.beside.before, tz=how.tz,
            sample=min(how.targets, HOLDERS), seed=how.seed, threads=how.threads,
            progress=self.progress,
        )  # fmt: skip
