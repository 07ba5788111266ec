"""Reading a dataset of the size of d4d-civ, and four times that.

Side by side with pandas: the same CSV, parsed, projected by pyproj, put on the same grid, repeats
dropped, sorted and grouped by person. Both in processes of their own, imports included, three times
in turns, of which the median counts; the answers are compared.

``--ablation`` reads civ from CSV (82,728 people, 21 million rows) with parts of the reader switched
off, each in a process of its own, and prints what each part brings. Measured on two cores that
other jobs used as well, so that processor time (user and system) counts and not the time elapsed:

=============================================  ========  =====  =======  ========  =====  =======
order of the rows                              people                    time
---------------------------------------------  ------------------------  ------------------------
switched off                                   CPU time  ratio  memory   CPU time  ratio  memory
=============================================  ========  =====  =======  ========  =====  =======
nothing                                          14.8 s   1.00  0.96 GB    20.7 s   1.00  0.97 GB
fast path for CSV                                27.2 s   1.84  1.05 GB    26.5 s   1.28  1.05 GB
hash table of positions                          16.1 s   1.09  0.97 GB    28.7 s   1.39  1.14 GB
hash table of users' names                       18.0 s   1.22  0.96 GB    22.5 s   1.09  0.99 GB
fast path and table of names                     29.1 s   1.97  1.12 GB    33.9 s   1.64  1.04 GB
all three                                        26.9 s   1.82  0.95 GB    37.3 s   1.80  1.38 GB
=============================================  ========  =====  =======  ========  =====  =======

The fast path and the table of positions stay. The hash table of users' names, compiled code over
the bytes of the names, brought less than a factor of 1.3 in either order (and 1.05 from Parquet);
a Python dict, asked once per distinct name of a batch, took its place.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import compared, dataset, machine, python, row

PEOPLE = 82_728
SUM = (
    "\nfrom zlib import crc32\n"
    "print(len(t), *(int(c.sum(dtype='int64')) for c in (t, x, y)),"
    " *(crc32(c[::997].astype('int64').tobytes()) for c in (t, x, y)))\n"
)
"""Says which samples were read: how many, their sums, and every 997th of them in order."""
READ = """
import incrowd
data = incrowd.read({path!r}, memory={memory!r})
frame = data.frame
t, x, y = data.t0, data.x0, data.y0
"""
PANDAS = """
import numpy as np, pandas as pd, pyproj
rows = pd.read_csv({path!r}, parse_dates=["timestamp"])
plane = pyproj.Transformer.from_crs("EPSG:4326", {crs!r}, always_xy=True)
x, y = plane.transform(rows["lon"].to_numpy(), rows["lat"].to_numpy())
rows["x"] = np.floor(x / 100).astype(np.int32)
rows["y"] = np.floor(y / 100).astype(np.int32)
rows["t"] = (rows["timestamp"].dt.as_unit("s").astype("int64") - {origin}) // 60
rows = rows[["user", "t", "x", "y"]].drop_duplicates().sort_values(["user", "t", "x", "y"])
people = {{user: person for user, person in rows.groupby("user", sort=False)}}
t, x, y = rows["t"].to_numpy(), rows["x"].to_numpy(), rows["y"].to_numpy()
"""


SWITCHES = {
    "everything": "",
    "without the fast path for CSV": "fast_csv.MIN_BYTES = 1 << 62\n",
    "without the hash table of positions": "encoding.MIN_POSITIONS = 1 << 62\n",
    "without both": "fast_csv.MIN_BYTES = encoding.MIN_POSITIONS = 1 << 62\n",
}
"""Code that switches parts of the reader off."""


def in_order_of_time(csv: Path) -> Path:
    """Give the same rows as a network logs them: in the order of time."""
    path = csv.with_name(f"{csv.stem}-by-time.csv")
    if not path.exists():
        code = "import polars as pl\nrows = pl.scan_csv({!r}, infer_schema=False)\n"
        code += "rows.sort('timestamp', 'user', maintain_order=True).sink_csv({!r})"
        python(code.format(str(csv), str(path)))
    return path


def ablation() -> None:
    """Print what each part of the reader brings."""
    machine()
    csv = dataset("civ", PEOPLE, "csv")
    python(READ.format(path=str(dataset("civ", 5_000, "csv")), memory=None))  # compiles kernels
    print("| civ from CSV | order | CPU time | ratio | elapsed | peak memory |")
    print("|---|---|---|---|---|---|")
    for order, path in (("people", csv), ("time", in_order_of_time(csv))):
        first = None
        for name, switch in SWITCHES.items():
            code = "from incrowd.data._io import encoding, fast_csv\n" + switch
            run = python(code + READ.format(path=str(path), memory=None) + SUM)
            first = first or run
            if run.output != first.output:
                print(f"DIFFERENT SAMPLES: {first.output} and {run.output}")
            print(
                f"| {name} | {order} | {run.cpu:.1f} s | {run.cpu / first.cpu:.2f} "
                f"| {run.seconds:.1f} s | {run.gigabytes:.2f} GB |",
                flush=True,
            )


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table that the command line asks for."""
    parser = argparse.ArgumentParser(description="Time the reading of data.")
    parser.add_argument("--ablation", action="store_true", help="what each part of it brings")
    if parser.parse_args(arguments).ablation:
        ablation()
    else:
        compare()


def compare() -> None:
    """Print the table of times beside those of pandas."""
    machine()
    print("| what | time | peak memory | claim |\n|---|---|---|---|")
    csv, parquet = (dataset("civ", PEOPLE, kind) for kind in ("csv", "parquet"))
    small = dataset("civ", 5_000, "csv")
    python(READ.format(path=str(small), memory=None))  # the kernels are compiled before
    from_parquet = python(READ.format(path=str(parquet), memory=None) + SUM)
    row("`read` civ (21 million rows) from Parquet", from_parquet, "at most 30 s, 4 GB")
    print_frame = (
        READ.format(path=str(csv), memory=None) + "print(frame.crs, frame.origin, sep=';')"
    )
    crs, origin = python(print_frame).output.split(";")
    for order, path in (("people", csv), ("time", in_order_of_time(csv))):
        ours, theirs = compared(
            READ.format(path=str(path), memory=None) + SUM,
            PANDAS.format(path=str(path), crs=crs, origin=origin) + SUM,
        )
        row(f"`read` civ from CSV in the order of {order}", ours, "at most 90 s, 4 GB")
        ratio = f"{theirs.seconds / ours.seconds:.1f} times slower, "
        ratio += f"{theirs.gigabytes / ours.gigabytes:.1f} times the memory"
        row("the same with pandas, pyproj and groupby", theirs, ratio)
        if theirs.output != python(READ.format(path=str(csv), memory=None) + SUM).output:
            print(f"DIFFERENT SAMPLES: {ours.output} and {theirs.output}")
    spilled = python(READ.format(path=str(csv), memory="1.15GB") + SUM)
    row("`read` civ from CSV, `memory='1.15GB'`: sorted on disk", spilled, "within 1.15 GB")
    large = python(READ.format(path=str(dataset("civ", 4 * PEOPLE, "csv")), memory="4GB") + SUM)
    row("`read` of a CSV four times as large, `memory='4GB'`", large, "within 4 GB")


if __name__ == "__main__":
    main(sys.argv[1:])
