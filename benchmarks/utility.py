"""Every measured figure of docs/utility.md, beside figures 21 to 28 of the paper of 2021.

``python -m benchmarks.utility civ-v2 --users 5000 --tz Africa/Abidjan`` makes the preset (or reads
a file), hides everybody with GLOVE for each k, and prints what is left, a column for each k and way
of merging. ``--checkpoints DIR`` takes the crowds that `benchmarks.figures` has found of the same
people. ``--users 20000 --bbox=-6.47,7.3,-6.27,7.52`` takes the largest city, as the paper does for
figures 23 to 28.
"""

import argparse
import itertools
import resource
import sys
import time
from collections.abc import Callable, Sequence
from operator import attrgetter

import numpy as np

import incrowd
from benchmarks.common import thresholds
from benchmarks.figures import PRESETS, add_options, hide, kept, load, numbers
from incrowd.evaluate._comparison import BeforeAfter, of_release
from incrowd.evaluate._utility.distributions import Errors, Ratios
from incrowd.evaluate._utility.summary import Persons

PLACES = {"centre_of_mass": "centre of mass", "home": "home", "work": "work"}
MEASURES = {"travelled": "travel distance", "gyration": "radius of gyration", "hull": "convex hull"}
Row = tuple[str, Callable[[incrowd.Utility], str]]


def cent(part: float | None) -> str:
    return "-" if part is None else f"{100 * part:.1f} %"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def errors(find: Callable[[Persons], Errors]) -> list[Row]:
    """Give the rows of figure 21 for one place."""

    def of(how: Callable[[Errors], str]) -> Callable[[incrowd.Utility], str]:
        return lambda found: how(find(_known(found)))

    rows: list[Row] = [
        ("people with one before, after, both", of(lambda e: f"{e.before}, {e.after}, {e.both}")),
        ("unaffected", of(lambda e: cent(e.unaffected))),
    ]
    rows += [
        (f"within {km:g} km", of(lambda e, km=km: cent(e.within[km])))  # type: ignore[misc]
        for km in (0.5, 1, 2, 3, 7)
    ]
    return [*rows, ("median error, km", of(lambda e: number(e.quantiles[0.5])))]


def ratios(find: Callable[[Persons], Ratios]) -> list[Row]:
    """Give the rows of figure 22 for one measure."""

    def of(how: Callable[[Ratios], str]) -> Callable[[incrowd.Utility], str]:
        return lambda found: how(find(_known(found)))

    return [
        ("static (0 before)", of(lambda r: cent(r.static / r.people))),
        ("static people who stay so", of(lambda r: cent(r.static_kept / max(1, r.static)))),
        ("ratio 0.9 to 1.1", of(lambda r: cent(r.near))),
        ("ratio 0.5 to 2", of(lambda r: cent(r.twofold))),
        ("ratio: a quarter up to", of(lambda r: number(r.quantiles[0.25]))),
        ("ratio: median", of(lambda r: number(r.quantiles[0.5]))),
        ("ratio: three quarters up to", of(lambda r: number(r.quantiles[0.75]))),
    ]


TOGETHER: list[Row] = [
    ("trips before", lambda found: f"{found.together.flows.before:,}"),
    ("trips after", lambda found: f"{found.together.flows.after:,}"),
    ("trips to be moved", lambda found: cent(found.together.flows.moved)),
    ("people by hour to be moved", lambda found: cent(found.together.population.moved)),
    ("samples by square to be moved", lambda found: cent(found.together.visits.moved)),
    ("rank correlation of squares", lambda found: number(found.together.rank_correlation)),
]


def _known(found: incrowd.Utility) -> Persons:
    if found.persons is None:
        raise SystemExit("who became whom is known here")
    return found.persons


def table(title: str, rows: list[Row], found: dict[str, incrowd.Utility]) -> None:
    """Print one table."""
    print(f"\n### {title}\n\n| | " + " | ".join(found) + " |")
    print("|---|" + "---|" * len(found))
    for name, how in rows:
        print(f"| {name} | " + " | ".join(how(one) for one in found.values()) + " |")


def by_value(
    name: str, find: Callable[[Persons], Ratios], found: dict[str, incrowd.Utility]
) -> None:
    """Print the median ratio by original value."""
    cuts = sorted({(one.low, one.high) for of in found.values() for one in find(_known(of)).bins})
    unit = find(_known(next(iter(found.values())))).unit
    medians = [{one.low: one for one in find(_known(of)).bins} for of in found.values()]
    print(f"\n### {name}: median ratio by original value\n")
    print(f"| {unit} | " + " | ".join(found) + " |")
    print("|---|" + "---|" * len(found))
    for low, high in cuts:
        texts = [
            f"{at[low].median:.2f} ({at[low].people:,})" if low in at else "-" for at in medians
        ]
        print(f"| {low:.3g} to {high:.3g} | " + " | ".join(texts) + " |")


def repeated(pair: BeforeAfter, times: int) -> BeforeAfter:
    """Give the same people several times over, each with what became of her."""
    if pair.became is None or times == 1:
        return pair
    shifts = np.repeat(np.arange(times) * len(pair.after), len(pair.before))
    became = np.tile(pair.became, times)
    return BeforeAfter(
        pair.before[np.tile(np.arange(len(pair.before)), times)],
        pair.after[np.tile(np.arange(len(pair.after)), times)],
        np.where(became < 0, -1, became + shifts),
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.utility", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("dataset", help=f"{', '.join(PRESETS)}, or a CSV or Parquet file")
    parser.add_argument("--k", type=numbers, default=[2, 3, 4, 5], help="as in 2,3,4,5")
    parser.add_argument("--tz", default="UTC", help="the zone in which it is night")
    parser.add_argument("--bbox", help="take a part: west, south, east, north in degrees")
    parser.add_argument("--copies", type=int, default=1, help="time it on so many times the data")
    parser.add_argument("--limits", type=numbers, help="suppress beyond so many cells, slots")
    add_options(parser)
    options = parser.parse_args(arguments)
    data = load(options)
    if options.bbox:
        west, south, east, north = map(float, options.bbox.split(","))
        data = incrowd.select(data, bbox=(west, south, east, north))
    print(f"{options.dataset}: {len(data):,} people, {data.samples:,} samples")
    found, took = {}, []
    limits = thresholds(data.frame, *options.limits) if options.limits else {}
    for k, merge in itertools.product(options.k, options.merge):
        with kept(options):
            pair = of_release(data, hide(data, k, merge, options, **limits))
        found[f"k = {k}, {merge}"] = incrowd.utility(pair, tz=options.tz)
        pair = repeated(pair, options.copies)
        start = time.perf_counter()
        incrowd.utility(pair, tz=options.tz)
        took.append(time.perf_counter() - start)
    for place, name in PLACES.items():
        table(name, errors(attrgetter(place)), found)
    for measure, name in MEASURES.items():
        table(name, ratios(attrgetter(measure)), found)
        by_value(name, attrgetter(measure), found)
    table("Everybody together, on squares of 5 km", TOGETHER, found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    times = ", ".join(f"{seconds:.1f} s" for seconds in took)
    rows = f"{options.copies * len(data):,} people, {options.copies * data.samples:,} samples"
    print(f"\nUtility of {rows} took {times}; peak memory of everything: {peak:.2f} GB.")


if __name__ == "__main__":
    main(sys.argv[1:])
