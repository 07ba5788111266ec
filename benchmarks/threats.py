"""Attacks on releases: what each gains with which settings, and what it takes at full size.

Three tables: each attack on one release, by its settings; several releases of the same people; and
time and memory of each attack on the release of civ (82,728 people), one process each.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common import FOLDER, dataset, incrowd, machine

if TYPE_CHECKING:
    from collections.abc import Callable

PEOPLE, SEED = 500, 7
FIGURES = {
    "insider, 10 samples of everybody": ("insider", "named_by_one"),
    "insider, all samples of everybody": ("insider", "named_by_one_knowing_all"),
    "others' samples to 100 m, insider": ("insider", "near_one"),
    "the same, outsider": ("insider", "near_outsider"),
    "crowd found from 4 samples": ("edges", "found_4"),
    "presence certain from 4 samples": ("presence", "certain_some"),
    "crowd found in later data": ("which_crowd", "found"),
    "something missing": ("absence", "told"),
    "home shown to 1 km": ("inference", "home_1000"),
    "whole crowd lives within 1 km": ("inference", "homogeneous"),
}
TOGETHER = {
    "nobody else in common": "alone",
    "alone, 10 samples known in each": "alone_10",
    "linked by the releases alone": "linked",
}


def settings() -> dict[str, Any]:
    """Give the mechanisms that are attacked, by what they are called."""
    from incrowd import Glove

    return {
        "k = 2": Glove(2),
        "k = 3": Glove(3),
        "k = 5": Glove(5),
        "k = 2, two-stage (split)": Glove(2, merge="two-stage"),
        "k = 2, two-stage (union)": Glove(2, merge="two-stage", reshape="union"),
        "k = 2, two-stage (none)": Glove(2, merge="two-stage", reshape="none"),
        "k = 3, 15 km and 6 h": Glove(3, max_metres=15000, max_minutes=360),
    }


def published(folder: Path, name: str, mechanism: Any, data: Any) -> tuple[Path, Path, Any]:
    """Publish what a mechanism makes; give the release, its record and its original."""
    import incrowd as library

    number = len(list(folder.iterdir()))
    path, who = folder / f"{number}", folder / f"{number}.parquet"
    library.publish(mechanism.protect(data), path, original=data, record=who, draws=20)
    print(f"made: {name}", flush=True)
    return path, who, data


def one_release(city: Any, folder: Path) -> None:
    """Attack one release of each kind."""
    import incrowd as library

    columns = {}
    for name, mechanism in settings().items():
        path, who, _ = published(folder, name, mechanism, city)
        found = library.attack_release(
            path, {attack for attack, _ in FIGURES.values()}, record=who, original=city,
            tz="Africa/Abidjan",
        )  # fmt: skip
        columns[name] = {what: found[a][f].share for what, (a, f) in FIGURES.items()}
    print(f"\n| {PEOPLE} people of a city | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for what in FIGURES:
        cells = (_percent(column[what]) for column in columns.values())
        print(f"| {what} | {' | '.join(cells)} |")


def several(city: Any, folder: Path) -> None:
    """Attack pairs of releases of the same people."""
    import numpy as np

    import incrowd as library
    from incrowd import Glove

    rng = np.random.default_rng(SEED)

    def without(share: float) -> Any:
        kept = np.sort(rng.permutation(len(city))[round(share * len(city)) :])
        return city[kept]

    pairs: dict[str, tuple[Callable[[], Any], Any]] = {
        "k = 2 and k = 3": (lambda: city, Glove(3)),
        "strict and loose": (lambda: city, Glove(2, variant="loose")),
        "without a tenth of the people": (lambda: without(0.1), Glove(2)),
        "without two people": (lambda: without(2 / PEOPLE), Glove(2)),
    }
    first = published(folder, "k = 2", Glove(2), city)
    columns = {}
    for name, (make, mechanism) in pairs.items():
        other = published(folder, name, mechanism, make())
        found = library.attack_release(
            first[0], "composition", record=first[1], original=city, others=[other],
            tz="Africa/Abidjan",
        )["composition"]  # fmt: skip
        columns[name] = {what: found[f].share for what, f in TOGETHER.items()}
    print(f"\n| k = 2, and another release | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for what in TOGETHER:
        print(f"| {what} | {' | '.join(_percent(each[what]) for each in columns.values())} |")


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def full_size() -> None:
    """Attack the release of civ, one process for each attack."""
    from incrowd.evaluate import RELEASE_ATTACKS

    data = dataset("civ", 82_728, "parquet")
    release, who = FOLDER / "civ-release", FOLDER / "civ-who.parquet"
    if not release.exists():
        incrowd("anonymize", str(data), "--k", "2", "-o", str(release), "--record", str(who))
    print("\n| attack on civ's release, k = 2 | time | processor | memory | of people |")
    print("|---|---|---|---|---|")
    words = ("attack", str(release), "--record", str(who), "--json", "--quiet")
    for name in (*RELEASE_ATTACKS, ",".join(RELEASE_ATTACKS)):
        if name == "composition":
            continue
        made = incrowd(*words, "--attack", name)
        found = json.loads(made.output)["attacks"]
        share = _percent(found[name]["share"]) if name in found else ""
        what = name if name in found else "all in one process"
        print(
            f"| {what} | {made.seconds:.0f} s | {made.cpu:.0f} s | {made.gigabytes:.2f} GB "
            f"| {share} |", flush=True,
        )  # fmt: skip


def main(*words: str) -> None:
    """Print the tables; that of full size only on request."""
    import incrowd as library

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--civ", action="store_true", help="only time and memory at full size")
    asked = parser.parse_args(words)
    machine()
    if asked.civ:
        full_size()
        return
    city = library.synthesize("city", users=PEOPLE, seed=SEED)
    with tempfile.TemporaryDirectory() as folder:
        one_release(city, Path(folder))
        several(city, Path(folder))


if __name__ == "__main__":
    import sys

    main(*sys.argv[1:])
