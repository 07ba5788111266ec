"""The four simple mechanisms on civ, read from a file; the kernels are compiled before.

Time is that of `protect` alone; memory is the most that the process held in it, the data included.
"""

from benchmarks.common import Run, dataset, machine, python, row

CASES = (
    ("spatial filtering, at most 3 people", "incrowd.protect._spatial_filtering", "Filter(3)"),
    ("temporal cloaking, 1 hour", "incrowd.protect._generalisation", "Cloak(60)"),
    ("temporal cloaking, all time removed", "incrowd.protect._generalisation", "Cloak(None)"),
    ("generalisation, 1 km and 30 min", "incrowd.protect._generalisation", "Generalise(1000, 30)"),
    ("generalisation, 20 km and 8 h", "incrowd.protect._generalisation", "Generalise(20_000, 480)"),
    ("Geo-I, epsilon 0.001/m", "incrowd.protect._geo_indistinguishability", "GeoI(0.001)"),
)
CLAIM = "at most 30 s, 3 GB"
CODE = """
import time
import incrowd
from {module} import {name}
mechanism = {make}
mechanism.protect(incrowd.synthesize("city", users=10, seed=1))
data = incrowd.read({path!r})
start = time.perf_counter()
mechanism.protect(data)
print(time.perf_counter() - start)
"""


def main() -> None:
    """Print the table."""
    machine()
    path = str(dataset("civ", 82_728, "parquet"))
    print("| what | time | peak memory | claim |\n|---|---|---|---|")
    for what, module, make in CASES:
        name = make.partition("(")[0]
        run = python(CODE.format(module=module, name=name, make=make, path=path))
        row(what, Run(float(run.output), run.gigabytes, "", run.cpu), CLAIM)


if __name__ == "__main__":
    main()
