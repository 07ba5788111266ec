"""The seven takeaways of the paper on multi-sensor uniqueness (2016), checked on any data.

``python -m benchmarks.takeaways DATA``, with a column `sensor` or without, prints what was found
for each sensor. Places of a sensor named gps are POIs; of others, what the data names, or cells.
Noise is drawn anew every time.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import polars as pl

import incrowd
from incrowd.data._io.read import sensors_of
from incrowd.errors import IncrowdError
from incrowd.evaluate._analysis.mechanism_effects import NOISE, effects, without_rare
from incrowd.measure._traces import Trace, met_at, stayed

POI: dict[str, Any] = {"diameter": 250.0, "stay": 30.0, "gap": None}
POINTS = (1, 2, 3, 4, 6, 8, 12)
EACH = 100
RANKS = (1, 2, 3, 5, 10, 20, 50)
Row = tuple[str, ...]


def load(path: str, met: int | None) -> dict[str, Trace]:
    """Read traces, sensor by sensor."""
    found = (
        incrowd.traces(path, **POI)
        if sensors_of(path)
        else {"data": met_at(incrowd.read(path), 60)}
    )
    if met is None:
        return found
    return {
        name: Trace(one.visits, one.precision, met, one.fixes, one.pois)
        for name, one in found.items()
    }


def table(title: str, heads: Sequence[str], rows: Sequence[Row]) -> None:
    """Print a table."""
    print(f"\n### {title}\n\n| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def percent(share: float | None) -> str:
    """Write a share."""
    return "-" if share is None else f"{share:.1%}".replace("%", " %")


def shares(trace: Trace, kind: str, **how: Any) -> dict[int, float | None]:
    """Give the share of unique sub-traces by number of points."""
    found = incrowd.uniqueness(trace.visits, POINTS, kind=kind, **trace.how, **how).table
    return dict(zip(found["points"], found["share"], strict=True))


def unique(traces: dict[str, Trace]) -> None:
    """Takeaways 1, 2 and 5: how unique, by space or time, and by which model."""
    rows, models = [], []
    for name, trace in traces.items():
        for kind in ("spatio_temporal", "spatial", "temporal"):
            drawn = shares(trace, kind)
            rows.append((name, kind, *(percent(drawn[p]) for p in POINTS)))
            if kind == "spatial":
                top = shares(trace, kind, model="deterministic")
                models += [
                    (name, "random", *(percent(drawn[p]) for p in POINTS)),
                    (name, "most frequent", *(percent(top[p]) for p in POINTS)),
                ]
    heads = [f"{p} points" for p in POINTS]
    table("1 and 2: random points, in space, in time, in both", ("sensor", "points", *heads), rows)
    table("5: places, random or most frequent", ("sensor", "model", *heads), models)


def differ(traces: dict[str, Trace]) -> None:
    """Takeaway 3: people differ."""
    rows = []
    for name, trace in traces.items():
        for kind in ("spatio_temporal", "spatial"):
            each = incrowd.uniqueness(trace.visits, 4, kind=kind, each=EACH, **trace.how).people
            ends = [each["share"].quantile(q, "nearest") for q in (0, 0.1, 0.5, 0.9, 1)]
            rows.append((name, kind, *map(percent, ends)))
    heads = ("sensor", "points", "least", "a tenth", "half", "nine tenths", "most")
    table("3: unique share of each person's sub-traces of 4 points", heads, rows)


def changed(traces: dict[str, Trace]) -> None:
    """Takeaways 4 and 6: what mechanisms do, and what they cost."""
    found = effects(traces, POI)
    keys = ["sensor", "mechanism", "setting", "kind"]
    rows = [
        (
            *(str(key) for key in group),
            *(percent(share) for share in part["share"]),
            f"{part['places'][0]:.1f}",
            percent(part["lost"][0]) if group[1] == "filter" else "",
        )
        for group, part in found.group_by(keys, maintain_order=True)
    ]
    heads = (*keys, "2 points", "4 points", "places a person", "visits lost")
    table("4 and 6: under each mechanism", heads, rows)


def recognised(traces: dict[str, Trace]) -> None:
    """Takeaway 7: recognition of what comes later, of raw data and of what is protected."""
    rows: list[Row] = []
    for name, trace in traces.items():
        for how, make in _protections(trace):
            try:
                found = incrowd.deanonymize(make().visits, precision=trace.precision, n=RANKS)
            except IncrowdError:
                rows.append((name, how, "nothing is left to recognise", "", "", "", "", ""))
                continue
            for row in found.table.to_dicts():
                attacker = row["attacker"] + (f", n = {row['n']}" if row["n"] else "")
                told = (percent(row[which]) for which in ("precision", "recall", "recall_all"))
                counts = (f"{row['people']:,}", f"{row['matched']:,}")
                rows.append((name, how, attacker, *counts, *told))
    heads = ("sensor", "data", "attacker", "people", "matched", "precision", "recall", "of all")
    table("7: recognised in the last 30 % by the first 70 %", heads, rows)


def _protections(trace: Trace) -> list[tuple[str, Callable[[], Trace]]]:
    """Give ways to make what an attacker gets."""
    ways: list[tuple[str, Callable[[], Trace]]] = [
        ("raw", lambda: trace),
        ("filter, 3", lambda: Trace(without_rare(trace.visits, 3), trace.precision)),
    ]
    fixes = trace.fixes
    if fixes is not None:
        ways += [
            (f"geo-i, {name}", partial(_noisy, fixes, epsilon)) for name, epsilon in NOISE.items()
        ]
    return ways


def _noisy(fixes: incrowd.Trajectories, epsilon: float) -> Trace:
    return stayed(incrowd.GeoI(epsilon).protect(fixes).trajectories, 60, **POI)


def main(arguments: Sequence[str] = ()) -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.takeaways", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("data", help="a file that incrowd reads")
    parser.add_argument("--met", type=int, help="places in an hour that say that somebody moved")
    options = parser.parse_args(arguments)
    traces = load(options.data, options.met)
    for name, trace in traces.items():
        visits = trace.visits
        places = f"{pl.Series(visits.place).n_unique():,} places"
        print(f"{name}: {len(visits):,} people, {len(visits.place):,} visits, {places}", flush=True)
    unique(traces)
    differ(traces)
    changed(traces)
    recognised(traces)


if __name__ == "__main__":
    main(sys.argv[1:])
