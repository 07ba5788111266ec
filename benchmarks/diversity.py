"""What distinct homes in every crowd cost, and what crowds tell of homes then.

``python -m benchmarks.diversity`` prints the table of *Diverse homes* in ``docs/glove.md``. With
``--speed`` it prints how long GLOVE takes beside a run without distinct homes, of ``civ`` with so
many people (5,000 and 20,000 unless given: ``--speed 5000``).
"""

import sys
import time
import warnings

import incrowd
from benchmarks.common import machine
from benchmarks.kmerge import loss, precise

ASKED = (None, "home:2", "home:3", "home:2:5km")
DATA = (("city", 500), ("civ", 5000))


def table() -> None:
    """Print what is lost and what is told, for k = 3."""
    print(
        "| k = 3 | distinct homes | people dropped | largest crowd | loss | 2 km and 2 h or less",
        end="",
    )
    print(" | homes within 1 km | home shown to 1 km |\n|---|---|---|---|---|---|---|---|")
    for preset, users in DATA:
        data = incrowd.synthesize(preset, users=users, seed=1)
        tz = data.reading.local if data.reading and data.reading.local else "UTC"
        for asked in ASKED:
            release = incrowd.glove(data, 3, diverse=asked)
            told = incrowd.inference(incrowd.of_release(data, release), tz=tz).at(1000)
            made = release.trajectories
            print(
                f"| {preset}, {users:,} people | {asked or 'any'} | {release.losses.people_dropped}"
                f" | {made.crowd.max()} | {loss(data, release):.3f} | {precise(made):.1%}"
                f" | {told.homogeneous.share:.1%} | {told.home.share:.1%} |",
                flush=True,
            )


def speed(users: int) -> None:
    """Print processor time, and the ratio to the run without distinct homes."""
    data = incrowd.synthesize("civ", users=users, seed=1)
    incrowd.glove(data[:100], 3, diverse="home:2")  # compiled
    for k in (2, 3):
        plain = 0.0
        for asked in (None, "home:2", "home:3"):
            start = time.process_time()
            incrowd.glove(data, k, diverse=asked)
            took = time.process_time() - start
            plain = plain or took
            print(f"| civ, {users:,} people, k = {k} | {asked or 'any'} | {took:.1f} s", end="")
            print(f" | {took / plain:.2f} |", flush=True)


def main() -> None:
    """Print one of the two."""
    warnings.simplefilter("ignore", incrowd.errors.DataWarning)  # the table says it
    machine()
    if "--speed" not in sys.argv:
        table()
        return
    print("| | distinct homes | processor time | to any |\n|---|---|---|---|")
    for users in [int(word) for word in sys.argv[1:] if word.isdigit()] or [5000, 20_000]:
        speed(users)


if __name__ == "__main__":
    main()
