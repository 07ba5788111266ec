"""Mechanisms side by side: how long a comparison takes, and how long each part of it.

``python -m benchmarks.compare [PEOPLE]``: a synthetic city (2,000 people unless told otherwise),
and seven columns: every mechanism as it suggests itself, and GLOVE with other settings up to that
number. The claim is five minutes on two cores. The command line runs in a process of its own; what
a mechanism took alone is read from the comparison.
"""

import json
import sys
import tempfile
from pathlib import Path

from benchmarks.common import dataset, incrowd, machine, row
from incrowd.evaluate._compare.methods import default_methods

COLUMNS = 7
MORE = ("glove:k=2", "glove:k=5", "glove:two-stage", "glove:loose")
CLAIM = 300


def main(people: int = 2000) -> None:
    """Compare seven mechanisms, and print what that took."""
    machine()
    methods = [*default_methods(), *MORE][:COLUMNS]
    data = dataset("city", people, "parquet")
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "comparison")
        words = ("--methods", ",".join(methods), "--tz", "Africa/Abidjan", "-o", out, "--json")
        done = incrowd("compare", str(data), *words)
    found = json.loads(done.output)
    print("| what | time | memory | claim |\n|---|---|---|---|")
    row(f"{len(found['columns'])} columns of {people:,} people", done, f"{CLAIM} s")
    for column in found["columns"]:
        of = found["values"][column["key"]]
        memory = of["memory"]["value"]
        beside = "-" if memory is None else f"{memory / 1e9:.2f} GB"
        print(f"| - {column['label']}, the mechanism alone | {of['seconds']['value']:.1f} s | "
              f"{beside} | |")  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
