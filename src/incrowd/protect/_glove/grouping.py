"""Who is together by GLOVE's merges: the search, the merges, and their exchange, for some people.

::

    Grouping(people, size) ──> Run ──> merges (noted in a checkpoint) ──> crowds_of
                                          └──> refined: exchanges of places, round by round

Thresholds decide nothing here, but which crowds are refined to.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from incrowd.errors import ArgumentError
from incrowd.protect._glove.checkpoint import Journal
from incrowd.protect._glove.engine import Run, lists_for
from incrowd.protect._glove.k_merge import Objective, objective_of
from incrowd.protect._glove.refine import neighbours, refine
from incrowd.protect._glove.release import Crowds, crowds_of, regrouped
from incrowd.protect._glove.settings import PAIR, rules_for

if TYPE_CHECKING:
    from incrowd._numba import Ints
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.effort import Scale
    from incrowd.protect._glove.diverse import Homes
    from incrowd.protect._glove.greedy import Rules

__all__ = [
    "Asked",
    "Grouping",
    "deciding",
    "fit",
]


STEP = 500
PATIENCE = 10.0
"""Merges are noted at least this often, in seconds; searching alone may take longer."""
FEWEST = 16
"""A list holds no fewer candidates than this, however little memory there is."""
PROGRAM = 400 * 10**6
"""What Python and its libraries take before any data."""


class Asked(NamedTuple):
    """What decides who is together.

    Attributes
    ----------
    variant
        strict or loose.
    merge
        What `resolve` has filled in.
    limits
        The thresholds in cells and slots.
    settings
        All of it, as the manifest of a release has it.
    """

    variant: str
    merge: dict[str, Any]
    limits: tuple[int | None, int | None]
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Puts people together in crowds of a size: who is in which, and the run that found it.

    Where crowds need so many distinct homes, `homes` has those of everybody who is put together.
    """

    asked: Asked
    scale: "Scale"
    threads: int
    block: int
    bounds: bool
    memory: str | int | None
    checkpoint: str | os.PathLike[str] | None
    tell: Callable[[str, int, int], None]
    homes: "Homes | None" = None
    distinct: int = 0

    def __call__(self, some: "Trajectories", size: int) -> tuple[Run, Crowds]:
        """Put some people together; the boxes of two-stage merging are finished as well."""
        variant, asked, limits, settings = self.asked
        rules, tell = rules_for(some, size, variant, asked, *limits), self.tell
        homes = self.homes
        if homes is not None:
            rules = rules._replace(homes=self.distinct)
        again = size > PAIR or variant == "loose" or homes is not None
        sizes = fit(some, self.memory, crowds=again)
        journal, people = None, None
        if self.checkpoint is not None:
            journal = Journal(self.checkpoint, some, deciding(rules, settings, homes))
        try:
            tell("Searching", 0, len(some))
            _compile_ahead()
            how: dict[str, Any] = {"threads": self.threads, "block": self.block, **sizes}
            how["homes"] = None if homes is None else homes.square
            make = partial(Run, some, rules, self.scale, bounds=self.bounds, **how)
            run, near = make(), None
            if journal and len(journal.found):
                run.repeat(journal.found)
            run.start(lambda done, total: tell("Searching", done, total))
            if asked["crowds"] == "refined" and not run.merges:
                near = neighbours(run)
            _merge(run, journal, tell)
            if asked["crowds"] == "refined":
                people = _refine(some, run, near, make, limits, asked, journal, tell)
        finally:
            if journal:
                journal.close()
        if asked["merge"] == "two-stage":
            run.finish(lambda done, total: tell("Finishing", done, total))
        return run, people or crowds_of(some, run)

    def objective(self, data: "Trajectories", most: int) -> Objective:
        """Return by what crowds are compared, if none has more than so many members."""
        price = self.asked.merge["suppress_price"]
        return objective_of(data, self.scale, self.asked.limits, price, most)


def _compile_ahead() -> None:
    """Let other processes compile what comes after the search, unless it is there already."""
    from incrowd._background import compile_ahead
    from incrowd._numba import is_cached
    from incrowd.protect._glove.greedy import run_until_event

    if not is_cached(run_until_event):
        home = "incrowd.protect._glove"
        compile_ahead(f"{home}.engine:compile_kernels", f"{home}.k_merge:compile_kernels")


def deciding(
    rules: "Rules", settings: dict[str, Any], homes: "Homes | None" = None
) -> dict[str, Any]:
    """Return the settings that decide who is together: all that a checkpoint depends on."""
    decide = {**rules._asdict(), "stretch": settings["stretch"]}
    if homes is None:
        del decide["homes"]
    else:
        decide["diverse"] = homes.settings | {"squares": homes.fingerprint()}
    return decide | settings if settings.get("crowds") == "refined" else decide


def _merge(run: "Run", journal: "Journal | None", tell: Callable[[str, int, int], None]) -> None:
    """Merge until nothing is left to be merged, and note it now and then."""
    noted, last, log = run.merges, time.monotonic(), run.log
    # So many merges leave nothing but crowds of k.
    expected = max(1, run.index.people - run.index.people // run.rules.k)
    more = True
    while more:
        try:
            more = run.go_on(run.merges + STEP)
        finally:
            if journal and (
                not more or time.monotonic() - last > PATIENCE or sys.exc_info()[0] is not None
            ):
                new = slice(noted, run.merges)
                journal.append(
                    log.older[new], log.younger[new], log.numerator[new], log.denominator[new]
                )
                noted, last = run.merges, time.monotonic()
        tell("Merging", min(run.merges, expected), expected)
    tell("Merging", expected, expected)


def _refine(
    data: "Trajectories",
    run: "Run",
    near: "Ints | None",
    make: "Callable[[], Run]",
    thresholds: tuple[int | None, int | None],
    asked: dict[str, Any],
    journal: "Journal | None",
    tell: Callable[[str, int, int], None],
) -> Crowds:
    """Improve the crowds of a run, and note every round.

    Who is near whom is known from its first search; or, after an interruption, from that of
    another run.
    """
    crowds = crowds_of(data, run)
    # Those who were left over may all join one crowd, and one more person in every round.
    members = max(run.rules.k, int(np.diff(crowds.groups).max())) + asked["refine_rounds"]
    members += int(np.count_nonzero(crowds.place < 0))
    scale, price = run.index.scale, asked["suppress_price"]
    objective = objective_of(data, scale, thresholds, price, members)
    place = crowds.place.copy()
    begun, ended = journal.repeat_rounds(place) if journal else (0, False)
    if ended or begun >= asked["refine_rounds"]:
        return regrouped(data, crowds, place)
    if near is None:
        again = make()
        again.start(lambda done, total: tell("Searching", done, total))
        near = neighbours(again)
    place = refine(
        data,
        place,
        run.rules.k,
        objective,
        near,
        threads=run.threads,
        rounds=asked["refine_rounds"],
        begun=begun,
        note=journal.append_round if journal else None,
        tell=tell,
    )
    return regrouped(data, crowds, place)


def fit(data: "Trajectories", memory: str | int | None, *, crowds: bool) -> dict[str, int]:
    """Choose how fine bounds are, and how long lists, within the memory; refuse too little.

    `crowds` tells that what was merged is merged again.
    """
    from incrowd._memory import Memory
    from incrowd.measure._stretch.batch_bounds import CHUNK, TILE_CHUNKS, TILE_WIDTH
    from incrowd.measure._stretch.partition import BINS, CORNER_REGIONS, REGIONS

    people, samples = len(data), data.samples
    limit = Memory.of(memory).limit
    merged = 54 * samples // 2 if crowds else 0  # otherwise it is done at the end
    for part in (1, 2, 4, 8, 16):
        listed = max(FEWEST, lists_for(people) // part)
        sizes = {"regions": REGIONS // part, "bins": BINS // part, "listed": listed}
        sizes["corner_regions"] = CORNER_REGIONS // part if crowds else 0
        rows = people * (sizes["regions"] + sizes["bins"])
        rows += rows * TILE_WIDTH // (TILE_CHUNKS * CHUNK)  # one by one, and side by side
        rows += people * 5 * sizes["corner_regions"]
        # Codes of places while the map is drawn, boxes and orders at the end.
        work = max(24 * samples, rows + 12 * listed * people + merged + 20 * samples)
        need = PROGRAM + 32 * samples + work
        if need <= limit:
            return sizes
    raise ArgumentError(
        f"{people:,} people with {samples:,} samples need {need / 1e9:.1f} GB; the memory limit is "
        f"{limit / 1e9:.1f} GB"
    )
