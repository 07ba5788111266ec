"""Runs of GLOVE on parts of a dataset, each once, and how accurate what they publish is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.data.trajectories import Trajectories
from incrowd.evaluate.accuracy import sizes_of, tallied
from incrowd.evaluate.parts import Wanted
from incrowd.evaluate.tallies import Distribution
from incrowd.protect.glove import Release, glove

__all__ = ["Part", "Progress", "Runs"]

STAGES = ("Searching", "Merging", "Finishing")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the data, and how accurate it is once it was hidden.

    Attributes
    ----------
    name, value
        What it is called, and its size: days, square kilometres, or the share of people.
    people, samples
        How many it has.
    space, time
        The granularity of published rows, in metres and minutes; None for a part with too few
        people to hide, which is left out.
    """

    name: str
    value: float | None
    people: int
    samples: int
    space: Distribution | None
    time: Distribution | None


class Runs:
    """Runs of GLOVE, each once, and how far they are all together."""

    def __init__(
        self, data: Trajectories, k: int, how: dict[str, Any], progress: Progress | None
    ) -> None:
        self.data, self.k, self.how = data, k, how
        self.tell = progress or (lambda _done, _all: None)
        self.done, self.total = 0, 0
        self.left_out: list[str] = []
        self._whole: Release | None = None

    def plan(self, parts: list[Wanted], *, whole: bool) -> None:
        """Add up how many people there are to hide."""
        for part in parts:
            piece = part.make()
            if piece is self.data:
                whole = True
            elif len(piece) >= self.k:
                self.total += len(piece)
        self.total += len(self.data) if whole else 0
        self.tell(0, self.total)

    def whole(self) -> Release:
        """Hide everybody, or tell what came out of it before."""
        if self._whole is None:
            self._whole = self.run(self.data)
        return self._whole

    def run(self, piece: Trajectories) -> Release:
        """Hide the people of a part."""

        def tell(stage: str, done: int, total: int) -> None:
            # A stage counts for a third of the people, whatever it counts itself.
            passed = STAGES.index(stage) + done / max(1, total)
            self.tell(self.done + int(len(piece) * passed / len(STAGES)), self.total)

        release = glove(piece, self.k, progress=tell, **self.how)
        self.done += len(piece)
        self.tell(self.done, self.total)
        return release

    def part(self, wanted: Wanted) -> Part:
        """Hide a part and tell how accurate it is then."""
        piece = wanted.make()
        value = None if np.isnan(wanted.value) else wanted.value
        about = (wanted.name, value, len(piece), piece.samples)
        if len(piece) < self.k:
            people = "one person" if len(piece) == 1 else f"{len(piece) or 'no'} people"
            self.left_out.append(
                f"{wanted.name}: left out, since {people} cannot hide in a crowd of {self.k}."
            )
            return Part(*about, None, None)
        release = self.whole() if piece is self.data else self.run(piece)
        published = release.trajectories
        return Part(*about, *tallied(published, *sizes_of(published), published.crowd))
