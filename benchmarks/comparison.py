"""The papers' comparisons of GLOVE with W4M and TGA, redone: the tables of docs/comparison.md.

``python -m benchmarks.comparison`` prints them one after the other; ``--only`` takes some:

table2
    Table 2 of the papers of 2015 and 2021: W4M-LC with cylinders of 2 km and 10 % trash, on whole
    countries. What GLOVE gives there is in docs/glove.md and docs/utility.md, from
    `benchmarks.figures`.
city
    The same on the largest city of each (abidjan and dakar in the paper of 2015), with GLOVE beside
    it, whose samples beyond 15 km and 6 h are suppressed.
figure15
    Figure 15: GLOVE and TGA on 1,000 people of civ drawn at random, k = 2.
campus
    Sections 4.7 and 4.8 of the paper of 2016: what W4M (200 m, radius of 1,000 m, k = 2) does to
    POIs, uniqueness and recognition. One fix a minute, 10,000 a person at most, as there.
distributed
    W4M as the authors' program does it (from the plain version in tests/naive, which reproduces
    its defect) and as meant, on 400 people.

Errors are measured twice. *Moved* is W4M's own: how far each original point of a published person
was moved, along its walk. *Error* is that of `incrowd compare`, which measures points and boxes on
the same terms: from the true sample to what stands for it.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import incrowd
from benchmarks.common import dataset, machine
from incrowd.evaluate._analysis.subsets import densest_square
from incrowd.evaluate._compare.samples import stand_ins

COUNTRIES = {"civ-v2": 82_728, "sen-v2": 71_731}
"""sen is a quarter of d4d-sen: the whole takes hours."""
CITIES = {"civ-v2": 82_728, "sen-v2": 71_731}
KS = (2, 5)
DELTA, TRASH = 2_000, 0.1
BEYOND: dict[str, Any] = {"max_metres": 15_000, "max_minutes": 360}
FEW = 1_000
MOST, MINUTE = 10_000, 60
TOP = (1, 2, 3, 5, 10)


def number(value: float | None, form: str = ",.0f") -> str:
    """Write a number, if there is one."""
    return "" if value is None else format(value, form)


def w4m_of(data: incrowd.Trajectories, k: int, **how: Any) -> dict[str, str]:
    """Give the rows of table 2 for W4M."""
    start = time.perf_counter()
    made = incrowd.W4M(k=k, delta=how.pop("delta", DELTA), trash=TRASH, **how).protect(data)
    seconds = time.perf_counter() - start
    lost, found = made.losses, made.settings
    both = stand_ins(incrowd.of_release(data, made))

    def of(name: str) -> str:
        count = lost[name]
        return f"{count:,} ({count / data.samples:.1%})"

    return {
        "people": f"{len(data):,}",
        "discarded": f"{lost['people_dropped']:,} ({lost['people_dropped'] / len(data):.1%})",
        "samples created, net": of("samples_created_net"),
        "samples deleted, net": of("samples_deleted_net"),
        "samples created": of("samples_created"),
        "samples deleted": of("samples_deleted"),
        "moved, m": number(found["mean_moved_metres"]),
        "moved, min": number(found["mean_moved_seconds"] / 60),
        "position error, m": number(None if both.position is None else both.position.mean),
        "time error, min": number(None if both.time is None else both.time.mean),
        "radius reached, m": number(found["radius_reached"]),
        "seconds": number(seconds),
    }


def glove_of(data: incrowd.Trajectories, k: int, **how: Any) -> dict[str, str]:
    """Give the same rows for GLOVE."""
    start = time.perf_counter()
    made = incrowd.Glove(k=k, **BEYOND, **how).protect(data)
    seconds = time.perf_counter() - start
    pair = incrowd.of_release(data, made)
    both, lost = stand_ins(pair), made.losses["people_dropped"]
    kept = incrowd.accuracy(pair)
    deleted = kept.samples_deleted or 0
    return {
        "people": f"{len(data):,}",
        "discarded": f"{lost:,} ({lost / len(data):.1%})",
        "samples deleted": f"{deleted:,} ({deleted / data.samples:.1%})",
        "position error, m": number(None if both.position is None else both.position.mean),
        "time error, min": number(None if both.time is None else both.time.mean),
        "seconds": number(seconds),
    }


def table(columns: dict[str, dict[str, str]]) -> None:
    """Print columns side by side."""
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    print("\n| | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name in names:
        print(
            f"| {name} | " + " | ".join(column.get(name, "") for column in columns.values()) + " |"
        )
    sys.stdout.flush()


def read(preset: str, users: int) -> incrowd.Trajectories:
    """Read a preset from its file, made if it is not there yet."""
    return incrowd.read(dataset(preset, users, "parquet"))


def table2() -> None:
    """W4M-LC on whole countries."""
    columns = {}
    for preset, users in COUNTRIES.items():
        data = read(preset, users)
        for k in KS:
            columns[f"{preset}, W4M-LC, k = {k}"] = w4m_of(data, k)
    table(columns)


def city() -> None:
    """W4M-LC and GLOVE on the largest city of each country."""
    for preset, users in CITIES.items():
        data = read(preset, users)
        data = densest_square(data).of(data)
        columns: dict[str, dict[str, str]] = {}
        for k in KS:
            columns[f"W4M-LC, k = {k}"] = w4m_of(data, k)
            for name, how in (
                ("boxes", {"merge": "two-stage", "suppress": "boxes"}),
                ("samples", {"merge": "two-stage", "suppress": "samples"}),
                ("k-merge", {}),
            ):
                columns[f"GLOVE ({name}), k = {k}"] = glove_of(data, k, **how)
        print(f"\nThe largest city of {preset}: 20 x 20 km")
        table(columns)


def figure15() -> None:
    """GLOVE and TGA on a few people."""
    data = read("civ-v2", 82_728)
    who = np.sort(np.random.default_rng(1).choice(len(data), FEW, replace=False))
    data = data[who]
    columns = {}
    for name, mechanism in (
        ("GLOVE, two-stage", incrowd.Glove(k=2, merge="two-stage")),
        ("GLOVE, k-merge", incrowd.Glove(k=2)),
        ("TGA", incrowd.TGA(k=2)),
    ):
        start = time.perf_counter()
        made = mechanism.protect(data)
        seconds = time.perf_counter() - start
        pair = incrowd.of_release(data, made)
        found, both = incrowd.accuracy(pair), stand_ins(pair)
        rows = {"people dropped": f"{made.losses['people_dropped']:,}"}
        for axis, unit, steps in (
            (found.space, "m", (200, 1_000, 2_000, 5_000, 10_000)),
            (found.time, "min", (30, 60, 120, 240, 480)),
        ):
            assert axis is not None
            cumulative = dict(axis.cumulative)
            rows |= {
                f"{step:,} {unit} or less": f"{cumulative[step]:.1%}"
                for step in steps
                if step in cumulative
            }
            rows[f"median, {unit}"] = number(axis.median)
            rows[f"mean, {unit}"] = number(axis.mean)
        rows["samples deleted"] = f"{(found.samples_deleted or 0) / data.samples:.1%}"
        rows["position error, m"] = number(None if both.position is None else both.position.mean)
        rows["time error, min"] = number(None if both.time is None else both.time.mean)
        columns[name] = rows | {"seconds": number(seconds)}
    table(columns)


def one_a_minute(data: incrowd.Trajectories) -> incrowd.Trajectories:
    """Take the first fix of every minute, and 10,000 of a person at most, drawn at random."""
    minute = data.t0.astype(np.int64) * data.frame.slot // MINUTE
    keep = np.ones(data.samples, np.bool_)
    keep[1:] = minute[1:] != minute[:-1]
    keep[data.offsets[:-1]] = True
    rng = np.random.default_rng(1)
    for low, high in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        mine = low + np.flatnonzero(keep[low:high])
        if len(mine) > MOST:
            keep[rng.choice(mine, len(mine) - MOST, replace=False)] = False
    return data.keep(keep)


def campus() -> None:
    """POIs, uniqueness and recognition with W4M."""
    data = incrowd.read(dataset("campus", 100, "parquet"), sensor="gps", cell=1, slot=1)
    data = one_a_minute(data)
    print(f"\n{len(data):,} people, {data.samples:,} fixes")
    columns, found = {}, {"as it is": data}
    for name, how in (("W4M-L", {"chunked": False}), ("W4M-LC", {})):
        start = time.perf_counter()
        made = incrowd.W4M(k=2, delta=200, radius_max=1_000, trash=TRASH, **how).protect(data)
        print(f"{name}: {time.perf_counter() - start:.0f} s")
        found[name] = made.trajectories
    learned = incrowd.points_of_interest(data)
    for name, some in found.items():
        # The adversary's POIs and those of the release must be the same places: found together.
        pois = learned if some is data else incrowd.points_of_interest(some)
        own = pois.stays.select("person", "poi").unique()
        visits = pois.visits(60)
        rows = {
            "people": f"{len(some):,}",
            "POIs a person": number(len(own) / max(len(some), 1), ".1f"),
        }
        for kind in ("spatial", "spatio_temporal"):
            for share in incrowd.uniqueness(visits, [2, 4], kind=kind).table.iter_rows(named=True):
                rows[f"unique: {share['points']} POIs{', hours' if kind != 'spatial' else ''}"] = (
                    "" if share["share"] is None else f"{share['share']:.1%}"
                )
        matched = incrowd.deanonymize(visits, n=TOP, attackers="top", precision=1)
        for row in matched.table.iter_rows(named=True):
            rows[f"recognised by {row['n']} POIs: precision, recall"] = (
                f"{row['precision'] or 0:.1%}, {row['recall']:.1%}"
            )
        columns[name] = rows
    table(columns)


def distributed() -> None:
    """W4M as the authors' program does it, and as meant."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from naive import w4m  # type: ignore[import-not-found]

    data = read("civ-v2", 82_728)
    who = np.sort(np.random.default_rng(1).choice(len(data), 400, replace=False))
    data = data[who]
    first = np.ones(data.samples, np.bool_)  # one position at a time, as the mechanism has it
    first[1:] = data.t0[1:] != data.t0[:-1]
    first[data.offsets[:-1]] = True
    data = data.keep(first)
    cell, slot = data.frame.cell, data.frame.slot
    person = np.repeat(np.arange(len(data)), data.lengths())
    rows = list(zip(
        person.tolist(),
        (data.t0.astype(float) * slot).tolist(),
        ((data.x0 + 0.5) * cell).tolist(),
        ((data.y0 + 0.5) * cell).tolist(),
        strict=True,
    ))  # fmt: skip
    reach = incrowd.W4M(k=2, delta=DELTA).protect(data).settings["radius_max"]
    columns = {}
    for name, as_distributed in (("as distributed", True), ("as meant", False)):
        for chunked in (False, True):
            start = time.perf_counter()
            _, counts = w4m(
                rows,
                2,
                DELTA,
                reach,
                int(TRASH * len(data)),
                chunked=chunked,
                as_distributed=as_distributed,
            )
            columns[f"{'W4M-LC' if chunked else 'W4M-L'} {name}"] = {
                "discarded": number(counts["trashed"]),
                "samples created, net": number(counts["net_created"]),
                "samples deleted, net": number(counts["net_deleted"]),
                "samples created": number(counts["really_created"]),
                "samples deleted": number(counts["really_deleted"]),
                "moved, m": number(counts["mean_space"]),
                "moved, min": number(counts["mean_time"] / 60),
                "seconds": number(time.perf_counter() - start),
            }
    table(columns)


PARTS: dict[str, Callable[[], None]] = {
    "table2": table2,
    "city": city,
    "figure15": figure15,
    "campus": campus,
    "distributed": distributed,
}


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description="Redo the papers' comparisons.")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    asked = parser.parse_args(arguments)
    machine()
    for name in asked.only:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
