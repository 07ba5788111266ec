"""The nine attacks, exact, at full size: against the goals, the paper, and scikit-mobility.

Every run has a process of its own, which first attacks a tiny city, so that nothing is compiled
while time is taken; then it makes or reads the data; then comes the call that is timed, which
begins with visits and ends with the table of risks. Beside it stands what its threads took of the
processor together, which hardly depends on what else goes on on the machine.

*Dense* data leaves little room for luck: many people visit few places, so that hardly any k places
tell anybody from everybody else, and the search has to prove it. Times, numbers and orders still
tell most people apart there, and a search that finds somebody alone is over; the share of people
with a risk of 1 says how many were found so. The attacks that know such things are therefore timed
once more in *hard* ways, where hardly anybody is alone: they know them less well, know one point
less, or there are more people.

scikit-mobility is installed from the package index into an environment of its own, once; it is no
dependency. It attacks a few people only, and the time for one of them is compared: on 15 places, a
single one takes it minutes for k = 2, and would take more than an hour for k = 3; there it is
stopped after ten minutes, and the ratio is what is certain. Which of the two is right is told by
the oracle of our tests, which tries every instance, on the same data.
"""

import argparse
import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.common import FOLDER, Run, dataset, machine, python, run

PARTS = (
    "florence",
    "dense-small",
    "hard-small",
    "dense",
    "hard",
    "civ",
    "million",
    "scikit-mobility",
)
KS = (2, 3, 4, 5)
PATIENCE = 600
"""Seconds that scikit-mobility is given."""
PAPER = {"florence": "more than two weeks; 172 s for the learned approximation"}

SETUP = """
import json, time, numpy as np, incrowd
from incrowd.attack._attacks import ATTACKS
tiny = incrowd.visits(incrowd.synthesize("city", users=80, seed=7))
incrowd.risk(tiny, list(ATTACKS), [2, 3])
def drawn(people, places, visits):
    r = np.random.default_rng(1)
    return incrowd.Visits.from_rows({
        "user": np.repeat(np.arange(people), visits),
        "place": r.integers(0, places, people * visits),
        "time": np.tile(np.arange(visits), people)})
"""
TIMED = """
visits = {data}
found = []
for attack in {attacks}:
    start, work = time.perf_counter(), time.process_time()
    table = incrowd.risk(visits, [attack], {ks})
    seconds, work = time.perf_counter() - start, time.process_time() - work
    last = table.filter(table["k"] == table["k"].max())["risk"]
    found.append((attack, seconds, work, float((last == 1).mean()), float(last.mean())))
print(json.dumps([len(visits), len(visits.place), found]))
"""
HARD = """
visits = drawn(*{size})
start, work = time.perf_counter(), time.process_time()
risks = incrowd.risk(visits, {attack!r}, {k}, **{how})["risk"]
seconds, work = time.perf_counter() - start, time.process_time() - work
print(json.dumps([seconds, work, float((risks == 1).mean()), float(risks.mean())]))
"""
HALVES, DOUBLE = {"precision": 15}, {"tolerance": 1, "relative": True}
SMALL, LARGE = (500, 15, 30), (10_000, 60, 30)
HARD_JOBS: dict[str, list[tuple[tuple[int, int, int], str, int, dict[str, Any], str]]] = {
    "hard-small": [
        (SMALL, "visit", 4, HALVES, "in which half of the time"),
        ((5_000, 15, 30), "frequent_location_sequence", 4, {}, "ten times as many people"),
        (SMALL, "frequency", 4, DOUBLE, "half as many visits fit"),
        (SMALL, "home_work", 2, DOUBLE, "half as many visits fit"),
        (SMALL, "proportion", 4, {"tolerance": 0.5}, "within 0.5"),
    ],
    "hard": [
        (LARGE, "visit", 4, HALVES, "in which half of the time"),
        (LARGE, "frequent_location_sequence", 3, {}, "three places"),
        (LARGE, "frequency", 4, DOUBLE, "half as many visits fit"),
        (LARGE, "home_work", 2, DOUBLE, "half as many visits fit"),
        (LARGE, "proportion", 3, {"tolerance": 0.3}, "three places, within 0.3"),
        (LARGE, "proportion", 4, {"tolerance": 0.5}, "within 0.5"),
    ],
}
THEIRS = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import pandas as pd
from skmob import TrajDataFrame
from skmob.privacy import attacks
rows = json.load(open(sys.argv[1]))
k, targets = int(sys.argv[2]), json.loads(sys.argv[3])
frame = pd.DataFrame(rows)
frame["datetime"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(frame.pop("time"), unit="h")
frame["lat"], frame["lng"] = frame["place"] * 0.01, 10.0
frame = TrajDataFrame(frame.rename(columns={"user": "uid"}))
attack = attacks.LocationAttack(knowledge_length=k)
start = time.perf_counter()
found = attack.assess_risk(frame, targets=targets)
print(json.dumps([time.perf_counter() - start, found["risk"].tolist()]))
"""
EIGHT = """
import json, sys, warnings
warnings.filterwarnings("ignore")
import pandas as pd
from skmob import TrajDataFrame
from skmob.privacy import attacks as a
found = []
for rows in json.load(open(sys.argv[1])):
    frame = pd.DataFrame(rows)
    frame["datetime"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(frame.pop("time"), unit="h")
    frame["lat"], frame["lng"] = frame.pop("place") * 0.01, 10.0
    frame = TrajDataFrame(frame.rename(columns={"user": "uid"}))
    eight = {
        "location": a.LocationAttack(2),
        "location_sequence": a.LocationSequenceAttack(2),
        "visit": a.LocationTimeAttack(2, time_precision="Hour"),
        "frequent_location": a.UniqueLocationAttack(2),
        "frequency": a.LocationFrequencyAttack(2, tolerance=0.1),
        "home_work": a.HomeWorkAttack(),
        "proportion": a.LocationProportionAttack(2, tolerance=0.1),
        "probability": a.LocationProbabilityAttack(2, tolerance=0.1),
    }
    found.append({name: one.assess_risk(frame)["risk"].tolist() for name, one in eight.items()})
print(json.dumps(found))
"""
OURS_EIGHT = """
found = []
near = {{"tolerance": "0.1", "relative": True}}
how = {{"frequency": near, "proportion": near, "probability": near}}
for rows in json.load(open({path!r})):
    visits = incrowd.Visits.from_rows(rows)
    eight = [name for name in ATTACKS if name != "frequent_location_sequence"]
    risk = lambda name: incrowd.risk(visits, name, 2, **how.get(name, {{}}))["risk"].to_list()
    found.append({{name: risk(name) for name in eight}})
print(json.dumps(found))
"""
OURS = """
rows = json.load(open({path!r}))
visits = incrowd.Visits.from_rows(rows)
times = []
for _ in range(5):
    start = time.perf_counter()
    table = incrowd.risk(visits, "location", {k}, targets={targets})
    times.append(time.perf_counter() - start)
print(json.dumps([sorted(times)[2], table["risk"].to_list()]))
"""


def show(title: str, done: Run, ks: Sequence[int], goal: str) -> None:
    """Print a table of attacks."""
    people, visits, found = result(done)
    known = ", ".join(map(str, ks))
    print(f"\n{title}: {people:,} people, {visits:,} visits; k = {known}\n")
    print(f"| attack | time | processor | risk 1 (k = {ks[-1]}) | mean risk |")
    print("|---|---|---|---|---|")
    for name, seconds, work, certain, mean in found:
        print(f"| {name} | {seconds:.2f} s | {work:.2f} s | {certain:.1%} | {mean:.4f} |")
    total = sum(each[1] for each in found)
    print(f"\nTogether {total:.1f} s, {done.gigabytes:.2f} GB at most. Goal: {goal}.", flush=True)


def result(done: Run) -> Any:
    """Give what a process printed last; a library may have drawn a bar before."""
    return json.loads(done.output.splitlines()[-1])


def timed(data: str, ks: Sequence[int], attacks: str = "ATTACKS") -> Run:
    """Attack data in a process of its own."""
    return python(SETUP + TIMED.format(data=data, ks=list(ks), attacks=attacks))


def hard(name: str) -> None:
    """Time attacks where hardly anybody is alone."""
    heads = ("attack", "people", "places", "k", "what is known", "time", "processor", "risk 1")
    print(f"\n| {' | '.join(heads)} | mean risk |\n|---|---|---|---|---|---|---|---|---|")
    for size, attack, k, how, text in HARD_JOBS[name]:
        done = python(SETUP + HARD.format(size=size, attack=attack, k=k, how=how))
        seconds, work, certain, mean = result(done)
        what = f"{attack} | {size[0]:,} | {size[1]} | {k} | {text}"
        took = f"{seconds:.2f} s | {work:.2f} s"
        print(f"| {what} | {took} | {certain:.1%} | {mean:.4f} |", flush=True)
    print("\nGoal: 5 min each.", flush=True)


def scikit_mobility() -> None:
    """Compare with scikit-mobility, person by person."""
    home = FOLDER / "scikit-mobility"
    binary = home / "bin" / "python"
    # Looked for by its name: an installation that was interrupted is made again.
    there = [str(binary), "-c", "import skmob"]
    if not binary.exists() or subprocess.run(there, check=False, capture_output=True).returncode:
        print("Installing scikit-mobility, once ...", file=sys.stderr, flush=True)
        venv.create(home, with_pip=True)
        wanted = ["scikit-mobility", "numpy<2", "shapely<2.1"]
        subprocess.run([binary, "-m", "pip", "install", "--quiet", *wanted], check=True)
    version = run(str(binary), "-c", "import skmob; print(getattr(skmob, '__version__', '?'))")
    print(f"\nscikit-mobility {version.output}")
    _eight(str(binary))
    print("\nlocation, 100 people with 30 visits each; how many risks are those of enumeration\n")
    heads = ("places", "k", "people", "theirs, a person", "incrowd, a person", "ratio")
    print(f"| {' | '.join(heads)} | theirs = enumeration | incrowd = enumeration |")
    print("|---|---|---|---|---|---|---|---|")
    for places, k, targets in ((200, 2, 10), (200, 3, 5), (15, 2, 1), (15, 3, 1)):
        path = FOLDER / f"visits-{places}.json"
        rows = _rows(places)
        path.write_text(json.dumps(rows))
        who = list(range(targets))
        right = [float(one) for one in enumerated(rows, "location", k, who)]
        ours = python(SETUP + OURS.format(path=str(path), k=k, targets=who))
        fast, own = result(ours)
        command = [str(binary), "-c", THEIRS, str(path), str(k), json.dumps(who)]
        over = ""
        try:
            found = subprocess.run(
                command, check=True, capture_output=True, text=True, timeout=PATIENCE
            )
            slow, risks = json.loads(found.stdout.splitlines()[-1])
            theirs = f"{alike(risks, right)} of {targets}"
        except subprocess.TimeoutExpired:
            slow, over, theirs = PATIENCE, "over ", "-"
        each = f"{over}{slow / targets:.2f} s | {fast / targets * 1e6:.0f} µs"
        both = f"{theirs} | {alike(own, right)} of {targets}"
        print(
            f"| {places} | {k} | {targets} | {each} | {over}{slow / fast:,.0f} | {both} |",
            flush=True,
        )


def alike(risks: Sequence[float], right: Sequence[float]) -> int:
    """Count the risks that are what they should be."""
    return sum(abs(one - other) < 1e-9 for one, other in zip(risks, right, strict=True))


def enumerated(
    rows: dict[str, list[int]], attack: str, k: int, who: Sequence[int], **how: Any
) -> list[Fraction]:
    """Find the risk of some people by trying every instance: the oracle of the tests."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import naive  # type: ignore[import-not-found]

    people = naive.from_rows(list(zip(rows["user"], rows["place"], rows["time"], strict=True)))
    return [Fraction(1, naive.crowd_left(people, attack, k, i, **how)) for i in who]


def _eight(binary: str) -> None:
    """Compare the risks of its eight attacks with ours, on small random datasets."""
    import numpy as np

    path, random = FOLDER / "small.json", np.random.default_rng(1)
    datasets = [
        {
            "user": np.repeat(np.arange(8), 5).tolist(),
            "place": random.integers(0, 4, 40).tolist(),
            "time": np.concatenate(
                [np.sort(random.choice(9, 5, replace=False)) for _ in range(8)]
            ).tolist(),
        }
        for _ in range(10)
    ]
    path.write_text(json.dumps(datasets))
    theirs = result(run(binary, "-c", EIGHT, str(path)))
    ours = result(python(SETUP + OURS_EIGHT.format(path=str(path))))
    near = {"tolerance": Fraction(1, 10), "relative": True}
    how = {"frequency": near, "proportion": near, "probability": near}
    heads = ("attack, k = 2", "people", "theirs = enumeration", "incrowd = enumeration")
    print(f"\n| {' | '.join(heads)} |\n|---|---|---|---|")
    for name in theirs[0]:
        counts = [0, 0, 0]
        for rows, one, two in zip(datasets, theirs, ours, strict=True):
            right = [
                float(each) for each in enumerated(rows, name, 2, range(8), **how.get(name, {}))
            ]
            found = (len(right), alike(one[name], right), alike(two[name], right))
            counts = [sum(pair) for pair in zip(counts, found, strict=True)]
        print(f"| {' | '.join(map(str, (name, *counts)))} |", flush=True)


def _rows(places: int) -> dict[str, list[int]]:
    import numpy as np

    place = np.random.default_rng(1).integers(0, places, 3000)
    user, hour = np.divmod(np.arange(3000), 30)
    return {"user": user.tolist(), "place": place.tolist(), "time": hour.tolist()}


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.risk", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    only = parser.parse_args(arguments).only
    machine()
    made = 'incrowd.visits(incrowd.synthesize("florence", seed=1))'
    small, large = "drawn(500, 15, 30)", "drawn(10_000, 60, 30)"
    jobs: dict[str, tuple[str, Any, str, Sequence[int], str]] = {
        "florence": ("florence", made, "ATTACKS", KS, f"60 s (the paper: {PAPER['florence']})"),
        "dense-small": ("15 places", small, "ATTACKS", (4,), "5 min each"),
        "dense": ("60 places", large, "ATTACKS", (4,), "5 min each"),
    }
    three = '["location", "visit", "frequency"]'
    read = "incrowd.visits(incrowd.read({!r}))"
    for name, (title, data, attacks, ks, goal) in jobs.items():
        if name in only:
            show(title, timed(data, ks, attacks), ks, goal)
        if name.replace("dense", "hard") in set(only) & set(HARD_JOBS):
            hard(name.replace("dense", "hard"))
    if "civ" in only:
        path = dataset("civ", 82_728, "parquet")
        show("civ", timed(read.format(str(path)), (4,), three), (4,), "2 min each, 8 GB")
    if "million" in only:
        path = dataset("city", 1_000_000, "parquet")
        done = timed(read.format(str(path)), (4,), '["location"]')
        show("a city of a million", done, (4,), "15 min")
    if "scikit-mobility" in only:
        scikit_mobility()


if __name__ == "__main__":
    main(sys.argv[1:])
