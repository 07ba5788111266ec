"""GLOVE: hide everybody in a crowd of k, with the least loss, true to each record.

Algorithm 1 of the paper of 2021: merge the two trajectories that cost least to merge, again and
again, until everybody is in a crowd of k. Where the paper leaves a choice:

- of two trajectories, the *longer* has more samples; of equals, the older one (the lower index;
  merges are younger than all before them);
- of pairs that cost the same, the one with the oldest member, then with the older other one;
- `strict`: who has a crowd of k is left alone, and fewer than k people may be left over; they are
  dropped and counted. `loose`: such a crowd may still take in others, and nobody is left over.
"""

import math
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd._arguments import whole
from incrowd.errors import ArgumentError, IncrowdDeprecationWarning
from incrowd.protect._generalisation import checked
from incrowd.protect._glove.words import (
    GUARANTEE,
    METHOD,
    explanation_of,
    limits_of,
    promises_of,
)
from incrowd.protect._mechanism import Mechanism, setting

if TYPE_CHECKING:
    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.definition import Stretch
    from incrowd.protect._glove.checkpoint import Journal
    from incrowd.protect._glove.engine import Run
    from incrowd.protect._glove.greedy import Rules
    from incrowd.protect._glove.release import Release

__all__ = [
    "Glove",
    "glove",
]


VARIANTS = ("strict", "loose")
RESHAPES = ("split", "union", "none")
SUPPRESSED = ("boxes", "samples")
PAIR, MANY = 2, 1000
STEP = 500
PATIENCE = 10.0
"""Merges are noted at least this often, in seconds; searching alone may take longer."""
FEWEST = 16
"""A list holds no fewer candidates than this, however little memory there is."""
PROGRAM = 400 * 10**6
"""What Python and its libraries take before any data."""
WIDEST = 2**31 - 1
"""Cells and slots are 32-bit integers: nothing is wider or longer."""


@dataclass(frozen=True, slots=True)
class Glove(Mechanism):
    """GLOVE as a mechanism: hide every person in a crowd of at least k.

    What :func:`incrowd.glove` does, as a value that can be compared with others and handed around.
    It protects against record linkage: whatever an adversary knows of a person's trajectory, she
    finds k identical records or more, or none. It does not protect against attribute inference,
    or against a second release of the same people.

    Parameters
    ----------
    k, variant, reshape, max_metres, max_minutes, suppress, stretch
        As for :func:`incrowd.glove`.

    Raises
    ------
    ArgumentError
        If a setting makes no sense, whatever the data.

    References
    ----------
    "Hiding mobile traffic fingerprints with GLOVE" (2015), and its second edition (2021).

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=60, seed=7)
    >>> release = incrowd.Glove(k=2).protect(city)
    >>> int(release.trajectories.crowd.min()), release.guarantee
    (2, 'k-anonymity')
    """

    k: int = setting(
        "How many people share each record, at least.", default=2, metavar="K", least=PAIR
    )
    variant: str = setting(
        "strict: crowds stop at k, and fewer than k people may be dropped; "
        "loose: they may grow, and nobody is.",
        default="strict",
        choices=VARIANTS,
    )
    reshape: str = setting(
        "Where samples overlap in time. split: cut them, as in the papers; "
        "union: join them, so that every box was seen; none: leave them.",
        default="split",
        choices=RESHAPES,
    )
    max_metres: float | None = setting(
        "Suppress samples wider or higher than this; the papers use 15000.",
        default=None,
        metavar="M",
        above=0,
    )
    max_minutes: float | None = setting(
        "Suppress samples longer than this; the papers use 360.",
        default=None,
        metavar="MIN",
        above=0,
    )
    suppress: str = setting(
        "What --max-metres and --max-minutes drop. boxes: merged samples that are larger; "
        "samples: only those that are stretched by more, so that more is left, and larger.",
        default="boxes",
        choices=SUPPRESSED,
    )
    stretch: "Stretch | None" = None

    method: ClassVar[str] = METHOD
    paper: ClassVar[str] = "GLOVE, 2015 and 2021"
    summary: ClassVar[str] = "hide everybody in a crowd of k"
    guarantee: ClassVar[str] = GUARANTEE
    long_running: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("k", self.k, PAIR))
        _check_words(self.variant, self.reshape, self.suppress)
        for name in ("max_metres", "max_minutes"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checked(value, name))
        if self.suppress != "boxes" and self.max_metres is None and self.max_minutes is None:
            raise ArgumentError(f"suppress={self.suppress!r} needs max_metres or max_minutes")

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for, thresholds in metres and minutes."""
        names = ("k", "variant", "reshape", "max_metres", "max_minutes", "suppress")
        return {name: getattr(self, name) for name in names}

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        return promises_of(self.settings)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        return limits_of(self.settings)

    @property
    def explanation(self) -> tuple[str, ...]:
        """What it does to the data, in plain sentences."""
        return explanation_of(self.settings)

    def advice(self, data: "Trajectories") -> tuple[str, ...]:
        """Return how thresholds are rounded to the grid, and that a large k costs much."""
        large = f"k = {self.k:,} is large; expect wide and long samples, and few crowds"
        notes = [large] if self.k > MANY else []
        for name in ("max_metres", "max_minutes"):
            value = getattr(self, name)
            notes += [] if value is None else [_in_units(name, value, data.frame)[1]]
        return tuple(note for note in notes if note)

    def protect(
        self,
        data: "Trajectories",
        *,
        threads: int | None = None,
        memory: str | int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> "Release":
        """Apply it to a dataset; see :func:`incrowd.glove`."""
        return glove(
            data,
            self.k,
            variant=self.variant,
            reshape=self.reshape,
            max_metres=self.max_metres,
            max_minutes=self.max_minutes,
            suppress=self.suppress,
            stretch=self.stretch,
            threads=threads,
            memory=memory,
            checkpoint=checkpoint,
            progress=progress,
        )


def glove(
    data: "Trajectories",
    k: int = 2,
    *,
    variant: str = "strict",
    reshape: str = "split",
    max_metres: float | None = None,
    max_minutes: float | None = None,
    max_space: int | None = None,
    max_time: int | None = None,
    suppress: str = "boxes",
    stretch: "Stretch | None" = None,
    threads: int | None = None,
    block: int | None = None,
    bounds: bool = True,
    memory: str | int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> "Release":
    """Hide every person in a crowd of at least k.

    Parameters
    ----------
    data
        Trajectories of people (or of crowds).
    k
        How many people shall share a published trajectory, at least.
    variant
        ``"strict"``: crowds stop at k, and fewer than k people may be dropped at the end.
        ``"loose"``: crowds of k may still grow, and nobody is dropped.
    reshape
        What is done where merged samples overlap in time. ``"split"``: time is cut at every start
        and end, as in the papers. ``"union"``: overlapping samples become one. ``"none"``.
    max_metres, max_minutes
        Suppression: merged samples wider than this, or longer, are dropped. They are taken as
        whole cells and slots of the grid, rounded down. The papers use 15,000 m and 360 min.
    max_space, max_time
        The same in cells and slots of the grid. Deprecated: write `max_metres`, `max_minutes`.
    suppress
        ``"boxes"``: what is dropped is the merged sample, with all that was merged into it; none
        is larger than the thresholds before overlaps are reshaped. ``"samples"``: only those
        samples go that it takes a stretch of more than this to merge with their match. More is
        left, and boxes can grow larger than the thresholds, a little with every merge.
    stretch
        How a stretch is measured: thresholds and weights.
    threads, block, bounds
        How it is computed; none of it changes the result.
    memory
        How much memory to use at most, as "4GB" or bytes; three quarters of the machine unless
        given. Less of it makes bounds coarser and the run slower; too little is refused before
        anything is done.
    checkpoint
        A file in which to note the merges. If the run is interrupted, the same call goes on from
        there, to the same result; it is left where it is. One of another input, setting or
        version is refused.
    progress
        Called with the name of the stage, how much of it is done, and how much there is.

    Examples
    --------
    >>> import incrowd
    >>> release = incrowd.glove(incrowd.synthesize("city", users=60, seed=7), k=2)
    >>> int(release.trajectories.crowd.min()), release.losses.people_dropped
    (2, 0)
    """
    from incrowd._background import compile_ahead
    from incrowd._numba import is_cached
    from incrowd._parallel import cores
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.batch_bounds import CHUNK
    from incrowd.measure._stretch.definition import Stretch
    from incrowd.measure._stretch.index import scale_for
    from incrowd.protect._glove.checkpoint import Journal
    from incrowd.protect._glove.engine import Run
    from incrowd.protect._glove.greedy import run_until_event
    from incrowd.protect._glove.release import release_of

    data = Trajectories.of(data)
    for old, value, new in (
        ("max_space", max_space, "max_metres"),
        ("max_time", max_time, "max_minutes"),
    ):
        if value is not None:
            said = f"{old} is deprecated; use {new} instead"
            warnings.warn(said, IncrowdDeprecationWarning, stacklevel=2)
    max_space = _threshold("max_space", max_space, "max_metres", max_metres, data.frame)
    max_time = _threshold("max_time", max_time, "max_minutes", max_minutes, data.frame)
    rules = _check(data, k, variant, reshape, max_space, max_time, suppress)
    stretch = Stretch.of(stretch)
    settings = {
        "k": rules.k,
        "variant": variant,
        "reshape": reshape,
        "max_space": None if max_space is None else int(max_space),
        "max_time": None if max_time is None else int(max_time),
        "suppress": suppress,
        "stretch": asdict(stretch),
    }
    tell = progress or _silent
    scale = scale_for(data, stretch, bounds=bounds)
    sizes = fit(data, memory, crowds=k > PAIR or variant == "loose")
    journal = None if checkpoint is None else Journal(checkpoint, data, settings)
    try:
        tell("Searching", 0, len(data))
        if not is_cached(run_until_event):
            compile_ahead("incrowd.protect._glove.engine:compile_kernels")
        run = Run(
            data,
            rules,
            scale,
            threads=cores(threads),
            block=CHUNK if block is None else whole("block", block, 1),
            bounds=bounds,
            **sizes,
        )
        if journal and len(journal.found):
            run.repeat(journal.found)
        run.start(lambda done, total: tell("Searching", done, total))
        _merge(run, journal, tell)
    finally:
        if journal:
            journal.close()
    run.finish(lambda done, total: tell("Finishing", done, total))
    return release_of(data, run, settings)


def _silent(stage: str, done: int, total: int) -> None:
    """Say nothing."""


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


def fit(data: "Trajectories", memory: str | int | None, *, crowds: bool) -> dict[str, int]:
    """Choose how fine bounds are, and how long lists, within the memory; refuse too little.

    `crowds` tells that what was merged is merged again.
    """
    from incrowd._memory import Memory
    from incrowd.measure._stretch.batch_bounds import CHUNK, TILE_CHUNKS, TILE_WIDTH
    from incrowd.measure._stretch.partition import BINS, CORNER_REGIONS, REGIONS
    from incrowd.protect._glove.engine import lists_for

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


def _check_words(variant: str, reshape: str, suppress: str) -> None:
    """Refuse words that are none of those that are known."""
    for name, value, known in (
        ("variant", variant, VARIANTS),
        ("reshape", reshape, RESHAPES),
        ("suppress", suppress, SUPPRESSED),
    ):
        if value not in known:
            raise ArgumentError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def _threshold(
    old: str, number: int | None, new: str, value: float | None, frame: "Frame"
) -> int | None:
    """Return a threshold in cells or slots, given in these or in metres or minutes."""
    if value is None:
        return number
    if number is not None:
        raise ArgumentError(f"{new} and {old} are two ways to say the same; give {new} only")
    return _in_units(new, value, frame)[0]


def _in_units(name: str, value: float, frame: "Frame") -> tuple[int, str]:
    """Return a threshold in whole cells or slots, rounded down; and a note if it was rounded."""
    unit, short, what = (
        (frame.cell, "m", "cell") if name == "max_metres" else (frame.slot / 60, "min", "slot")
    )
    value = checked(value, name)
    number = min(math.floor(value / unit + 1e-9), WIDEST)
    if number < 1:
        raise ArgumentError(
            f"{name} must be at least one {what} of the grid ({unit:g} {short}), not "
            f"{value:g} {short}"
        )
    if math.isclose(number * unit, value) or number == WIDEST:
        return number, ""
    taken = f"{number * unit:g} {short} ({number:,} {what}s of the grid)"
    return number, f"{name} is rounded down to {taken}"


def _check(
    data: "Trajectories",
    k: int,
    variant: str,
    reshape: str,
    max_space: int | None,
    max_time: int | None,
    suppress: str,
) -> "Rules":
    """Return the rules of the run; refuse what makes no sense before any work is done."""
    from incrowd.protect._glove.greedy import Rules
    from incrowd.protect._glove.merge import ANY

    k = whole("k", k, PAIR)
    _check_words(variant, reshape, suppress)
    if suppress != "boxes" and max_space is None and max_time is None:
        raise ArgumentError(f"suppress={suppress!r} needs max_metres or max_minutes")
    for name, value in (("max_space", max_space), ("max_time", max_time)):
        if value is not None:
            whole(name, value, 1, why=": it is in cells or slots, and no sample is smaller")
    people = int(data.crowd.sum())
    if people < k:
        who = "one person" if people == 1 else f"{people} people"
        raise ArgumentError(f"{who} cannot hide in a crowd of {k}")
    return Rules(
        k,
        variant == "loose",
        RESHAPES.index(reshape),
        ANY if max_space is None else min(ANY, int(max_space)),
        ANY if max_time is None else min(ANY, int(max_time)),
        suppress == "samples",
    )
