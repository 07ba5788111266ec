"""Releases of the same people, month after month: with a ledger, and each made by itself.

``python -m benchmarks.ledger``: twelve months of made-up people, of whom some leave for good and
others come in their place, and some are away for a month. For each k and number of spare people:
how many are left out in the last month, what samples lose in the boxes of that month against crowds
that are made afresh, and how many people the attack *composition* leaves alone in releases 1, 6 and
12. The guarantee is checked over all sets of releases.

``python -m benchmarks.ledger --years``: how many are left out as time goes on, for three years; by
histories alone, with crowds of whom it happens, since who may be published depends on nothing else.

``python -m benchmarks.ledger --time``: how long the twelfth month takes on civ of 20,000 people.

*Loss* is the mean stretch effort of an original sample against the published box that holds it, by
equations (1) to (3), 20 km and 8 hours being all; samples of who is left out do not count.
"""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import incrowd
from benchmarks.common import machine
from benchmarks.kmerge import loss
from incrowd.data._ledger import ABSENT, Ledger
from incrowd.data._synthetic import presets
from incrowd.data._trajectories import Trajectories
from incrowd.protect._glove.stable import HELD_BACK, NEWCOMER, keep_together

MONTHS, LEAVING, AWAY = 12, 0.05, 0.0
"""How many months; the share of people who leave in each, and of those who are away for one."""
PEOPLE = 1000
SPARES = (0, 1, 2, 4)
ATTACKED, LEDGER = (0, 5, 11), "ledger.parquet"
BARE: dict[str, Any] = {
    "method": "GLOVE", "settings": {}, "place": "", "manifest_sha256": "", "rows_sha256": "",
    "held_back": 0,
}  # fmt: skip
SLOTS_PER_WEEK = 7 * 24 * 60


def months_of(
    people: int, preset: str, leaving: float, away: float, months: int, seed: int = 1
) -> list[Trajectories]:
    """Draw who is there in each month: those who leave are replaced by new ones.

    Each month is another week of the same people's lives.
    """
    rng = np.random.default_rng(seed)
    fresh = round(people * leaving)
    everybody = lived(preset, people + fresh * (months - 1), 7 * months, seed)
    here = np.arange(people)
    found = []
    for month in range(months):
        if month:
            stay = rng.permutation(len(here))[fresh:] if fresh else np.arange(len(here))
            new = people + fresh * (month - 1) + np.arange(fresh)
            here = np.sort(np.concatenate([here[stay], new]))
        there = here[rng.random(len(here)) >= away]
        found.append(week_of(everybody, there, month))
    return found


def lived(preset: str, people: int, days: int, seed: int) -> Trajectories:
    """Make people of a preset for more days than it has."""
    known = presets.PRESETS
    presets.PRESETS = MappingProxyType({preset: replace(known[preset], days=days)})
    try:
        return incrowd.synthesize(preset, users=people, seed=seed)
    finally:
        presets.PRESETS = known


def week_of(data: Trajectories, people: NDArray[np.int64], week: int) -> Trajectories:
    """Take one week of some people; who was not seen in it is left out."""
    first = int(data.t0.min()) + week * SLOTS_PER_WEEK * 60 // data.frame.slot
    last = first + SLOTS_PER_WEEK * 60 // data.frame.slot
    some = data[people]
    within = (some.t0 >= first) & (some.t1 <= last)
    lengths = np.add.reduceat(within, some.offsets[:-1])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    part = Trajectories(
        tuple(column[within] for column in some.columns), offsets, some.frame, people=some.people
    )
    return part[np.flatnonzero(lengths > 0)]


def played(months: list[Trajectories], k: int, spare: int | None, folder: Path) -> list[Any]:
    """Make all releases, with a ledger or (without a number of spare people) without one.

    Those that will be attacked are published. The others are only entered, as `publish` would.
    """
    made = []
    for month, data in enumerate(months):
        ledger = Ledger.open(folder / LEDGER, k)
        how: dict[str, Any] = {} if spare is None else {"ledger": ledger, "ledger_spare": spare}
        release = incrowd.glove(data, k, **how)
        made.append(release)
        if month in ATTACKED:
            incrowd.publish(
                release, folder / str(month), original=data, draws=20,
                record=folder / f"who-{month}.parquet", ledger=None if spare is None else ledger,
            )  # fmt: skip
        if month not in ATTACKED or spare is None:
            ledger.with_release(release.assignment, **BARE | {"rows_sha256": str(month)}).write()
    return made


def attacked(months: list[Trajectories], folder: Path) -> tuple[float, float]:
    """Attack the last release with the others: who has nobody else in common, and who is left.

    Of all who are in all of them: those whose crowds have nobody else in common, and those whom ten
    true samples in each release leave alone.
    """
    last, *others = (
        (folder / str(month), folder / f"who-{month}.parquet", months[month])
        for month in reversed(ATTACKED)
    )
    found = incrowd.attack_release(
        last[0], "composition", record=last[1], original=last[2], others=others, tz="UTC"
    )
    figures = {each.name: each.share for each in found.findings[0].figures}
    return figures["alone"] or 0.0, figures["alone_10"] or 0.0


def kept_loss(data: Trajectories, release: Any) -> float:
    """Give the mean loss of the samples of those who are published."""
    there = release.assignment["trajectory"].is_not_null().to_numpy()
    lost, whole = loss(data, release), data.samples
    gone = int(data.lengths()[~there].sum())
    return (lost * whole - gone) / (whole - gone)


def table(preset: str, leaving: float, away: float) -> None:
    """Print a table of one way in which people come and go."""
    months = months_of(PEOPLE, preset, leaving, away, MONTHS)
    print(
        f"\n{preset}, {PEOPLE:,} people, {MONTHS} months; every month {leaving:.0%} leave and as "
        f"many come, {away:.0%} are away\n\n"
        "| k | ledger | left out in month 12 | loss in month 12 | fewest in common | alone in 1, 6 "
        "and 12 | by 10 samples in each |\n|---|---|---|---|---|---|---|"
    )
    for k in (2, 3):
        for spare in (None, *SPARES):
            with tempfile.TemporaryDirectory() as name:
                made = played(months, k, spare, Path(name))
                found = incrowd.ledger_history(Path(name) / LEDGER)
                alone, known = attacked(months, Path(name))
            assert found.ok == (spare is not None)
            last, data = made[-1], months[-1]
            out = last.losses.people_dropped / len(data)
            how = "none" if spare is None else f"spare {spare}"
            fewest = min(row["smallest"] for row in found.rows)
            print(
                f"| {k} | {how} | {out:.1%} | {kept_loss(data, last):.3f} | {fewest} | "
                f"{alone:.0%} | {known:.0%} |",
                flush=True,
            )


def timed(people: int) -> None:
    """Print how long the twelfth month takes, with a ledger and without."""
    months = months_of(people, "civ", LEAVING, AWAY, MONTHS)
    print(
        f"\n| civ, {people:,} people, month {MONTHS} | without a ledger | with one |\n|---|---|---|"
    )
    for k in (2, 3):
        with tempfile.TemporaryDirectory() as folder:
            for data in months[:-1]:
                ledger = Ledger.open(Path(folder) / LEDGER, k)
                release = incrowd.glove(data, k, ledger=ledger, ledger_spare=2)
                ledger.with_release(release.assignment, **BARE).write()
            start = time.perf_counter()
            incrowd.glove(months[-1], k)
            middle = time.perf_counter()
            incrowd.glove(months[-1], k, ledger=ledger.path, ledger_spare=2)
            end = time.perf_counter()
            incrowd.ledger_history(ledger.path)
            checked = time.perf_counter() - end
        print(
            f"| k = {k} | {middle - start:.1f} s | {end - middle:.1f} s, and {checked:.1f} s to "
            "check the guarantee |",
            flush=True,
        )


def left_out(k: int, spare: int, leaving: float, months: int, people: int = 4000) -> list[float]:
    """Give the share of people who are held back in each month."""
    rng = np.random.default_rng(1)
    history, here = np.full((people, 0), ABSENT, np.int32), np.arange(people)
    found = []
    for month in range(months):
        if month:
            stay = here[rng.random(len(here)) >= leaving]
            new = len(history) + np.arange(len(here) - len(stay))
            nothing = np.full((len(new), month), ABSENT, np.int32)
            history, here = np.vstack([history, nothing]), np.concatenate([stay, new])
        place = keep_together(history[here], k)
        fresh = rng.permutation(np.flatnonzero(place == NEWCOMER))
        # Who is left over at the end is in the last crowd.
        crowds = max(1, len(fresh) // (k + spare))
        place[fresh] = (
            place.max() + 1 + np.minimum(np.arange(len(fresh)) // (k + spare), crowds - 1)
        )
        column = np.full(len(history), ABSENT, np.int32)
        column[here] = np.where(place == HELD_BACK, ABSENT, place)
        history = np.column_stack([history, column])
        found.append(float((place == HELD_BACK).mean()))
    return found


def years() -> None:
    """Print how many are left out after a half, one, two and three years."""
    print(
        f"\n{LEAVING:.0%} leave every month; held back\n\n"
        "| k | spare | month 6 | month 12 | month 24 | month 36 |\n|---|---|---|---|---|---|"
    )
    for k in (2, 3):
        for spare in (*SPARES, 8):
            found = left_out(k, spare, LEAVING, 36)
            shares = " | ".join(f"{found[month - 1]:.1%}" for month in (6, 12, 24, 36))
            print(f"| {k} | {spare} | {shares} |", flush=True)


if __name__ == "__main__":
    machine()
    if "--years" in sys.argv:
        years()
    elif "--time" in sys.argv:
        timed(20_000)
    else:
        table("city", LEAVING, 0.0)
        table("city", 0.0, LEAVING)
