"""W4M on civ, read from a file; the plain version beside it on a few people of the city.

Time is that of `protect` alone, the kernels compiled before; memory is the most that the process
held in it, the data included.
"""

from benchmarks.common import Run, dataset, machine, python, row

PEOPLE = 82_728
CLAIM = "at most 180 s, 4 GB"
FEW = 100
CASES = (
    ("W4M-LC, k = 2, delta 2 km, 10 % trash", "k=2, delta=2000", CLAIM),
    ("W4M-LC, k = 5, delta 2 km, 10 % trash", "k=5, delta=2000", ""),
)
CODE = """
import time
import incrowd
made = incrowd.W4M({how})
made.protect(incrowd.synthesize("city", users=20, seed=1))
data = incrowd.read({path!r})
start = time.perf_counter()
found = made.protect(data)
print(time.perf_counter() - start)
kept = {{name: value for name, value in found.settings.items() if name not in made.settings}}
print(found.losses | kept)
"""
PLAIN = """
import sys, time
sys.path.insert(0, "tests")
import incrowd, naive
data = incrowd.synthesize("city", users={few}, seed=1)
made = incrowd.W4M(k=2, delta=2000, radius_max=100)
made.protect(data, threads=1)
start = time.perf_counter()
found = made.protect(data, threads=1)
fast = time.perf_counter() - start
cell, slot = data.frame.cell, float(data.frame.slot)
rows = [
    (user, t0 * slot, (x0 + 0.5) * cell, (y0 + 0.5) * cell)
    for user, x0, _, y0, _, t0, _ in data.boxes().unique(["user", "t0"], keep="first",
        maintain_order=True).rows()
]
start = time.perf_counter()
_, counts = naive.w4m(rows, 2, 2000, 100, {few} // 10, chunked=True)
plain = time.perf_counter() - start
assert counts["really_created"] == found.losses["samples_created"]
print(f"{{plain:.2f}} s in plain Python, {{fast:.4f}} s: {{plain / fast:,.0f}} times")
"""


def main() -> None:
    """Print the table, and what was created, deleted and moved."""
    machine()
    print(f"{FEW} people of the city: {python(PLAIN.format(few=FEW)).output}\n", flush=True)
    path = str(dataset("civ", PEOPLE, "parquet"))
    print("| what | time | peak memory | claim |\n|---|---|---|---|")
    told: list[str] = []
    for what, how, claim in CASES:
        run = python(CODE.format(how=how, path=path))
        seconds, losses = run.output.split("\n")
        row(what, Run(float(seconds), run.gigabytes, "", run.cpu), claim)
        told.append(f"{what}: {losses}")
    print("", *told, sep="\n")


if __name__ == "__main__":
    main()
