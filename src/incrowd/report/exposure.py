"""How exposed people are, before and after: the k-gap, uniqueness, the nine attacks.

Everything is told of all people together. Attacks are exact for those who are attacked, who are
drawn at random where there are many; the crowd in which they hide is always everybody.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.compiled import Floats
from incrowd.errors import ColumnError
from incrowd.measure.uniqueness import interval

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data.trajectories import Trajectories
    from incrowd.data.visits import Visits
    from incrowd.measure.stretch import Stretch

__all__ = ["ATTACKS", "KINDS", "POINTS", "attacked", "gaps_in", "spread_of", "unique"]

KINDS = {"spatio_temporal": "places and hours", "spatial": "places", "temporal": "hours"}
POINTS = (1, 2, 3, 4, 6, 8, 10)
ATTACKS = (
    "location",
    "location_sequence",
    "visit",
    "frequent_location",
    "frequent_location_sequence",
    "frequency",
    "home_work",
    "proportion",
    "probability",
)
KNOWN = 4
"""How many points an attacker knows."""
TARGETS = 500
"""How many people are attacked, drawn at random; all, if there are fewer."""
STEPS = 50
BEYOND = 10
"""How many people the end of a distribution leaves out, at least."""
Progress = Callable[[int, int], None]


def gaps_in(
    table: "pl.DataFrame", data: "Trajectories", stretch: "Stretch", k: int | None = None
) -> dict[str, Any]:
    """Tell how the k-gaps of people are spread, from a table of `incrowd.k_gap`.

    No figure is that of one of the last: the distribution ends where 99 % of people are below, or
    before it, so that ten people (a tenth, where there are few) are beyond.

    Raises
    ------
    ColumnError
        If the table is none of k-gaps, or not of this data.
    """
    import polars as pl

    if "k_gap" not in table.columns:
        raise ColumnError(
            "the table of k-gaps has no column 'k_gap'; incrowd measure -o writes one"
        )
    if "k" in table.columns:
        smallest = table["k"].min() if k is None or k not in table["k"] else k
        table = table.filter(pl.col("k") == smallest)
        k = int(table["k"][0]) if len(table) else k
    if len(table) != len(data):
        raise ColumnError(
            f"the table of k-gaps has {len(table):,} people, the original {len(data):,}; it is of "
            "other data"
        )
    if "user" in table.columns and not _alike(table["user"], data.people):
        raise ColumnError("the table of k-gaps names other people; it is of other data")
    gap = table["k_gap"].to_numpy()
    found: dict[str, Any] = {
        "k": 2 if k is None else k,
        "people": len(gap),
        "spread": spread_of(gap),
        "hidden_already": float((gap == 0).mean()),
        "curve": _curve(gap),
    }
    if {"spatial", "temporal"} <= set(table.columns):
        space, time = (table[name].to_numpy() for name in ("spatial", "temporal"))
        both = stretch.space_weight + stretch.time_weight
        km = both / max(stretch.space_weight, 1) * stretch.max_space * data.frame.cell / 1000
        minutes = both / max(stretch.time_weight, 1) * stretch.max_time * data.frame.slot / 60
        found["time_above_space"] = float((time > space).mean())
        found["median_km"] = float(np.median(space)) * km
        found["median_minutes"] = float(np.median(time)) * minutes
    return found


def _alike(some: "pl.Series", others: "pl.Series") -> bool:
    """Tell whether two series name the same people; as text, for a CSV file has nothing else."""
    import polars as pl

    names = (series.cast(pl.String).sort() for series in (some, others))
    return next(names).equals(next(names))


def _curve(values: Floats) -> list[dict[str, float]]:
    """Give the distribution at equal steps, up to what 99 % of people do not exceed, or less."""
    beyond = max(len(values) // 100, min(BEYOND, len(values) // 10))
    ordered = np.sort(values)
    end = float(ordered[len(values) - 1 - beyond]) or 1.0
    at = np.linspace(0, end, STEPS + 1)
    share = np.searchsorted(ordered, at, side="right") / len(values)
    return [{"gap": float(x), "share": float(y)} for x, y in zip(at, share, strict=True)]


def spread_of(values: Floats) -> dict[str, float]:
    """Give mean, quartiles and ninth tenth; no extremes, for these are somebody's."""
    cuts = np.quantile(values, (0.25, 0.5, 0.75, 0.9), method="inverted_cdf")
    names = ("quarter", "median", "three_quarters", "nine_tenths")
    return {"mean": float(np.mean(values))} | dict(zip(names, map(float, cuts), strict=True))


def unique(
    visits: "Visits", slots: int, *, draws: int = 2500, seed: int = 0, threads: int | None = None
) -> list[dict[str, Any]]:
    """Tell which share of random points is one person's alone, by their number and kind.

    `slots` of the data's clock make an hour.
    """
    import incrowd

    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        found = incrowd.uniqueness(
            visits, POINTS, kind=kind, precision=slots, met=1, draws=draws, seed=seed,
            threads=threads,
        )  # fmt: skip
        told = ("points", "share", "low", "high")
        rows += [
            {"kind": kind} | {name: row[name] for name in told}
            for row in found.table.iter_rows(named=True)
            if row["share"] is not None
        ]
    return rows


def attacked(
    visits: "Visits",
    slots: int,
    *,
    known: int = KNOWN,
    targets: int = TARGETS,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Attack people in nine ways; tell which share is left with nobody else.

    Times are known to the hour. Where people were drawn, `low` and `high` enclose the share in all
    (Wilson, 95 %).
    """
    import incrowd

    rng = np.random.default_rng(seed)
    number = min(targets, len(visits))
    who = np.sort(rng.choice(len(visits), number, replace=False))
    people = visits.people.gather(who)
    table = incrowd.risk(
        visits, ATTACKS, known, targets=people, precision=slots, threads=threads, progress=progress
    )
    rows = []
    for attack in ATTACKS:
        risk = table.filter(table["attack"] == attack)["risk"].to_numpy()
        alone = int((risk == 1).sum())
        share = alone / number
        low, high = (share, share) if number == len(visits) else interval(alone, number)
        rows.append(
            {
                "attack": attack,
                "told_apart": share,
                "low": min(low, share),  # rounding takes it beyond where nobody or everybody is
                "high": max(high, share),
                "mean_risk": float(risk.mean()),
                "highest_risk": float(risk.max()),
            }
        )
    return {"known": known, "attacked": number, "people": len(visits), "attacks": rows}
