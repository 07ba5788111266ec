"""Run all trials, each for its share of the time, and say what was tried and what failed."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.torture.trials import TRIALS, Tries

# One thread each: what is tried is short.
for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def main() -> int:
    words = argparse.ArgumentParser(prog="python -m benchmarks.torture", description=__doc__)
    words.add_argument("--minutes", type=float, default=10, help="for all trials together")
    words.add_argument("--seed", type=int, default=int(time.time()))
    words.add_argument("--only", choices=sorted(TRIALS), help="one trial")
    words.add_argument("--tries", type=int, help="end each trial after so many, and not by time")
    words.add_argument(
        "--keep", type=Path, default=Path(".benchmarks/torture"), help="for failures"
    )
    given = words.parse_args()
    trials = {name: of for name, of in TRIALS.items() if given.only in (None, name)}
    print(f"seed {given.seed}", flush=True)
    failed = False
    table = []
    for name, tries in trials.items():
        seconds = 60 * given.minutes / len(trials)
        tried, wrong = run(name, tries, given.seed, given.keep, seconds, given.tries)
        table += [(name, kind, tried[kind], wrong[kind]) for kind in sorted(tried)]
        table.append((name, "all", tried.total(), wrong.total()))
        failed = failed or bool(wrong)
    print(f"\n{'trial':<13}{'of':<40}{'tried':>8}{'failed':>8}")
    for name, kind, number, bad in table:
        print(f"{name:<13}{kind:<40}{number:>8,}{bad:>8,}")
    return int(failed)


def run(
    name: str, tries: Tries, seed: int, keep: Path, seconds: float, most: int | None
) -> tuple[Counter[str], Counter[str]]:
    """Run a trial; count what was tried and what failed by the words before the first colon."""
    tried: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        scratch = Path(folder)
        for what, failure in tries(seed, scratch):
            kind = what.partition(":")[0]
            tried[kind] += 1
            if failure is not None:
                wrong[kind] += 1
                place = keep / f"{name}-{seed}-{tried.total()}"
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(scratch, place, symlinks=True)
                text = f"seed {seed}, try {tried.total()}, {what}\n{failure}\n"
                (place / "failure.txt").write_text(text, "utf-8")
                print(f"FAILED {text}kept in {place}", flush=True)
            if tried.total() % 25 == 0:
                passed = time.monotonic() - begun
                print(f"{name}: {tried.total():,} tried, {passed:,.0f} s", flush=True)
            if tried.total() >= most if most else time.monotonic() - begun > seconds:
                break
    return tried, wrong


if __name__ == "__main__":
    sys.exit(main())
