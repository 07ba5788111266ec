"""How unique people are, and where they stay: what it takes.

``python -m benchmarks.uniqueness`` prints, from one run: all numbers of points on civ, beside a
plain Polars query for each draw; a city of a million; the POIs of campus, 25 million fixes, beside
scikit-mobility and trackintel on some of the same fixes, each in an environment of its own. Nothing
is compiled while time is taken; reading is not counted.
"""

import argparse
import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import FOLDER, Run, dataset, machine, python

PARTS = ("civ", "polars", "million", "pois", "others")
FEW = 20
"""Draws that the plain query is timed with."""
PEOPLE = 2
"""Of how many people the other libraries get the fixes."""
PATIENCE = 1200

SETUP = """
import json, time
import incrowd
small = incrowd.Visits.from_rows({"user": [1, 1, 2], "place": [1, 2, 1], "time": [0, 0, 0]})
KINDS = ("spatio_temporal", "spatial", "temporal")
for kind in KINDS:
    for model in ("probabilistic", "deterministic"):
        incrowd.uniqueness(small, [1, 2], kind=kind, model=model)
"""
TIMED = """
data = incrowd.read({path!r})
visits = incrowd.visits(data)
del data
found = []
for kind in {kinds}:
    for model in {models}:
        start = time.perf_counter()
        told = incrowd.uniqueness(
            visits, list(range(1, 13)), kind=kind, model=model, precision=60)
        seconds = time.perf_counter() - start
        found.append((kind, model, seconds, told.share[3], told.share[11]))
print(json.dumps([len(visits), len(visits.place), found]))
"""
PLAIN = """
import numpy as np
import polars as pl
from incrowd.measure._uniqueness.encoding import points_of
from incrowd.measure._uniqueness.estimate import _draw
visits = incrowd.visits(incrowd.read({path!r}))
traces = points_of(visits, precision=60)
who, codes = _draw(traces, 4, {few}, None, 0)
person = np.repeat(np.arange(len(traces), dtype=np.int32), np.diff(traces.cuts))
table = pl.DataFrame({{"user": person, "point": traces.code}})
start = time.perf_counter()
crowds = []
for row in codes:
    known = pl.DataFrame({{"point": row}})
    left = table.join(known, on="point", how="semi").group_by("user").len()
    crowds.append(int((left["len"] == len(row)).sum()))
slow = (time.perf_counter() - start) / {few}
start = time.perf_counter()
ours = incrowd.uniqueness(visits, list(range(1, 13)), precision=60)
fast = (time.perf_counter() - start) / (12 * 2500)
same = incrowd.uniqueness(visits, 4, precision=60, draws={few})
again = same.crowds.select("crowd", "trials").rows()
print(json.dumps([slow, fast, sorted(crowds) == sorted(c for c, n in again for _ in range(n))]))
"""
POIS = """
fixes = incrowd.read({path!r}, sensor="gps", cell=1, slot=1)
few = incrowd.Trajectories.from_boxes({{"user": [1, 1], "x0": [0, 0], "y0": [0, 0], "t0": [0, 9]}},
                                      incrowd.Frame(cell=1.0, slot=1))
incrowd.points_of_interest(few)
start = time.perf_counter()
found = incrowd.points_of_interest(fixes)
seconds = time.perf_counter() - start
print(json.dumps([len(fixes), fixes.samples, seconds, found.stays.height, found.pois.height]))
"""
SOME = """
fixes = incrowd.read({path!r}, sensor="gps", cell=1, slot=1)[list(range({people}))]
lon, lat = fixes.frame.degrees(fixes.x0 + 0.5, fixes.y0 + 0.5)
import polars as pl
pl.DataFrame({{"user": fixes.person(), "lat": lat, "lon": lon,
               "time": fixes.frame.times(fixes.t0).astype("datetime64[ms]")}}).write_csv({file!r})
times = []
for _ in range(3):
    start = time.perf_counter()
    found = incrowd.points_of_interest(fixes, threads=1)
    times.append(time.perf_counter() - start)
print(json.dumps([fixes.samples, sorted(times)[1], found.stays.height]))
"""
SKMOB = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import pandas as pd, skmob
from skmob.preprocessing import detection
table = pd.read_csv(sys.argv[1], parse_dates=["time"])
tdf = skmob.TrajDataFrame(table, latitude="lat", longitude="lon", user_id="user", datetime="time")
start = time.perf_counter()
found = detection.stay_locations(tdf, minutes_for_a_stop=30.0, spatial_radius_km=0.25)
print(json.dumps([time.perf_counter() - start, len(found)]))
"""
TRACKINTEL = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import geopandas as gpd, pandas as pd, trackintel as ti
table = pd.read_csv(sys.argv[1], parse_dates=["time"])
table["time"] = table["time"].dt.tz_localize("UTC")
points = gpd.GeoDataFrame(table[["user", "time"]].rename(
    columns={"user": "user_id", "time": "tracked_at"}),
    geometry=gpd.points_from_xy(table["lon"], table["lat"]), crs="EPSG:4326")
fixes = ti.Positionfixes(points)
start = time.perf_counter()
_, found = fixes.generate_staypoints(
    method="sliding", dist_threshold=250, time_threshold=30, gap_threshold=30, n_jobs=1)
print(json.dumps([time.perf_counter() - start, len(found)]))
"""
LIBRARIES = {
    "scikit-mobility": (["scikit-mobility", "numpy<2", "shapely<2.1"], SKMOB),
    "trackintel": (["trackintel"], TRACKINTEL),
}


def result(done: Run) -> Any:
    """Give what a process printed last."""
    return json.loads(done.output.splitlines()[-1])


def show(title: str, done: Run, goal: str) -> None:
    """Print what uniqueness takes on a dataset."""
    people, visits, found = result(done)
    print(f"\n{title}: {people:,} people, {visits:,} visits; 1 to 12 points, 2,500 draws each\n")
    print("| points | model | time | unique by 4 | by 12 |\n|---|---|---|---|---|")
    for kind, model, seconds, four, twelve in found:
        print(f"| {kind} | {model} | {seconds:.1f} s | {four:.1%} | {twelve:.1%} |")
    print(f"\n{done.gigabytes:.2f} GB at most, reading included. Goal: {goal}.", flush=True)


def others(path: Path) -> None:
    """Find stays with other libraries, on the fixes of some people."""
    file = FOLDER / "fixes.csv"
    fixes, ours, stays = result(
        python(SETUP + SOME.format(path=str(path), people=PEOPLE, file=str(file)))
    )
    print(f"\nStays of 30 min within 250 m, {fixes:,} fixes of {PEOPLE} people, one thread\n")
    print("| | time | stays | times as long |\n|---|---|---|---|")
    print(f"| incrowd | {ours:.2f} s | {stays:,} | |", flush=True)
    for name, (packages, code) in LIBRARIES.items():
        home = FOLDER / name
        binary = home / "bin" / "python"
        if not binary.exists():
            print(f"Installing {name}, once ...", file=sys.stderr, flush=True)
            venv.create(home, with_pip=True)
            subprocess.run([binary, "-m", "pip", "install", "--quiet", *packages], check=True)
        try:
            done = subprocess.run(
                [binary, "-c", code, file], check=True, capture_output=True, text=True,
                timeout=PATIENCE,
            )  # fmt: skip
            slow, found = json.loads(done.stdout.splitlines()[-1])
            print(f"| {name} | {slow:.1f} s | {found:,} | {slow / ours:,.0f} |", flush=True)
        except subprocess.TimeoutExpired:
            print(f"| {name} | over {PATIENCE} s | - | over {PATIENCE / ours:,.0f} |", flush=True)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.uniqueness", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    only = parser.parse_args(arguments).only
    machine()
    if {"civ", "polars"} & set(only):
        path = str(dataset("civ", 82_728, "parquet"))
    both = '("probabilistic", "deterministic")'
    if "civ" in only:
        code = TIMED.format(path=path, kinds="KINDS", models=both)
        show("civ, slots of an hour", python(SETUP + code), "20 s each, 4 GB")
    if "polars" in only:
        slow, fast, same = result(python(SETUP + PLAIN.format(path=path, few=FEW)))
        print(
            f"\nOne draw of 4 points on civ, a semi-join in Polars: {slow * 1e3:,.0f} ms; incrowd, "
        )
        print(f"a draw of 30,000: {fast * 1e3:.2f} ms; {slow / fast:,.0f} times. Goal: 100 times. ")
        print(f"The same crowds: {'yes' if same else 'NO'}.", flush=True)
    if "million" in only:
        city = str(dataset("city", 1_000_000, "parquet"))
        code = TIMED.format(path=city, kinds='["spatio_temporal"]', models='["probabilistic"]')
        show("a city of a million, slots of an hour", python(SETUP + code), "3 min")
    if {"pois", "others"} & set(only):
        campus = dataset("campus", 100, "parquet")
    if "pois" in only:
        done = python(SETUP + POIS.format(path=str(campus)))
        people, fixes, seconds, stays, pois = result(done)
        print(f"\nPOIs of campus: {fixes:,} fixes of {people} people in {seconds:.1f} s; ")
        print(f"{stays:,} stays at {pois:,} POIs. Goal: 30 s for 25 million.", flush=True)
    if "others" in only:
        others(campus)


if __name__ == "__main__":
    main(sys.argv[1:])
