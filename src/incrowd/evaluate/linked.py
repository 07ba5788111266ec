"""What can be measured of a release where it is known who became whom: errors, rows made up."""

from typing import Any

import numpy as np

from incrowd.compiled import Ints
from incrowd.evaluate.centres import blocks_of
from incrowd.evaluate.holding import errors, latest_ends, look_up
from incrowd.evaluate.pairing import BeforeAfter
from incrowd.evaluate.tallies import Distribution, Tally
from incrowd.threads import on_threads

__all__ = ["SPACE", "TIME", "errors_in", "rows_in"]

SPACE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)
"""Thresholds in metres."""
TIME = (1, 5, 10, 30, 60, 120, 240, 480, 1_440, 2_880, 10_080)
"""Thresholds in minutes."""


def errors_in(pair: BeforeAfter, became: Ints, threads: int) -> dict[str, Any]:
    """Find the samples that are held, and how far off."""
    before, after = pair.before, pair.after
    reach = latest_ends(after.t1, after.offsets)

    def work(part: tuple[int, int]) -> tuple[int, Tally, Tally]:
        most = int(before.offsets[part[1]] - before.offsets[part[0]])
        squares, late = np.empty(most), np.empty(most, np.int64)
        held = errors(
            *part, before.columns, before.offsets, became, after.columns, after.offsets, reach,
            squares, late,
        )  # fmt: skip
        return held, Tally.of(squares[:held]), Tally.of(late[:held])

    found = list(on_threads(threads, work, blocks_of(before.offsets)))
    squares = Tally.together(part for _, part, _ in found)
    away = Tally(np.sqrt(squares.values), squares.counts)
    late = Tally.together(part for *_, part in found)
    frame = before.frame
    return {
        "samples_deleted": before.samples - sum(held for held, *_ in found),
        "position_error": Distribution.of(away, frame.cell / 2, (0, *SPACE)),
        "time_error": Distribution.of(late, frame.slot / 120, (0, *TIME)),
    }


def rows_in(pair: BeforeAfter, became: Ints, threads: int) -> dict[str, Any]:
    """Count the rows that have an edge of nobody's, and those where nobody was seen."""
    before, after = pair.before, pair.after
    people = np.flatnonzero(became >= 0)
    members = people[np.argsort(became[people], kind="stable")]
    count = np.bincount(became[people], minlength=len(after))
    groups = np.concatenate([[0], np.cumsum(count)])
    longest = int((before.t1 - before.t0).max(initial=1))
    created, unseen = np.zeros(after.samples, np.bool_), np.zeros(after.samples, np.bool_)

    def work(part: tuple[int, int]) -> None:
        look_up(
            *part, members, groups, before.columns, before.offsets, longest,
            after.columns, after.offsets, created, unseen,
        )  # fmt: skip

    for _ in on_threads(threads, work, blocks_of(after.offsets)):
        pass
    rows = np.repeat(after.crowd.astype(np.int64), after.lengths())
    return {"rows_created": int(rows[created].sum()), "rows_unseen": int(rows[unseen].sum())}
