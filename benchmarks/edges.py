"""Edges that are nobody's: what it gains against members of the crowd, and what it costs.

``python -m benchmarks.edges [PEOPLE]``: a made-up city (500 people unless told otherwise), crowds
of two and three, both ways of merging, and edges rounded to ever coarser grids. Everything is
measured on files that were verified:

- *named*: people whom one other member of their crowd names, knowing her own trace, and of
  everybody the name and ten samples, or all samples (`incrowd attack RELEASE`, *insider*);
- *homes to 100 m*: homes that she finds so, and that somebody outside finds;
- *2 km, 2 h*: samples of the original that lie in a box no larger than that;
- *loss*: the mean stretch effort of a sample against the box that holds it, by equations (1) to
  (3), 20 km and 8 hours being all; of several boxes the one that loses least;
- *homes within 1 km*: homes that users of the release find so, by `incrowd.utility`.
"""

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import incrowd
from benchmarks.common import machine
from incrowd.data._trajectories import Trajectories
from incrowd.errors import DataWarning
from incrowd.measure._stretch.definition import Stretch

EDGES: dict[str, tuple[float, float] | None] = {
    "none": None,
    "200m,5min": (200, 5),
    "500m,15min": (500, 15),
    "1000m,30min": (1000, 30),
}
WAYS = {"optimal": "optimal", "two-stage (split)": "two-stage"}
WIDE, LONG = 2000, 120
"""What is still precise: metres and minutes."""


def kept(data: Trajectories, release: Any) -> tuple[float, float]:
    """Give the mean loss of samples, and the share that lies in a box within 2 km and 2 hours."""
    made, stretch = release.trajectories, Stretch.of(None, data.frame)
    wide, long = WIDE / data.frame.cell, LONG * 60 / data.frame.slot
    lost = near = 0.0
    for person, place in enumerate(release.assignment["trajectory"].to_list()):
        mine = slice(*data.offsets[person : person + 2])
        if place is None:
            lost += mine.stop - mine.start
            continue
        box = np.column_stack(made.columns)[slice(*made.offsets[place : place + 2])]
        own = np.column_stack(data.columns)[mine][:, None]
        inside = np.all((box[:, ::2] <= own[..., ::2]) & (own[..., 1::2] <= box[:, 1::2]), axis=-1)
        grown = (box[:, 1::2] - box[:, ::2]) - (own[..., 1::2] - own[..., ::2])
        space = np.minimum((grown[..., 0] + grown[..., 1]) / stretch.max_space, 1)
        effort = (space + np.minimum(grown[..., 2] / stretch.max_time, 1)) / 2
        effort = np.where(inside, effort, 1.0)
        best = effort.argmin(axis=1)
        lost += effort.min(axis=1).sum()
        side = (box[:, 1::2] - box[:, ::2])[best]
        fine = (side[:, :2].max(axis=1) <= wide) & (side[:, 2] <= long)
        near += (fine & inside[np.arange(len(best)), best]).sum()
    return float(lost / data.samples), float(near / data.samples)


def line(data: Trajectories, k: int, merge: str, edges: str, folder: Path) -> str:
    """Give a line of the table."""
    release = incrowd.glove(
        data, k, merge=WAYS[merge], edges=EDGES[edges],
        checkpoint=folder / f"{k}-{merge}.checkpoint" if merge == "optimal" else None,
    )  # fmt: skip
    name = folder / f"{k}-{merge}-{edges}"
    who = name.with_suffix(".who.parquet")
    incrowd.publish(release, name, original=data, record=who, draws=200)
    found = incrowd.attack_release(name, "insider", record=who, original=data)["insider"]
    persons = incrowd.utility(incrowd.of_release(data, release)).persons
    assert persons is not None
    lost, near = kept(data, release)
    shares = (
        found["named_by_one"].share, found["named_by_one_knowing_all"].share,
        found["homes_one"].share, found["homes_outsider"].share, near,
    )  # fmt: skip
    words = " | ".join(f"{share:.1%}" for share in shares)
    return f"| {k} | {merge} | {edges} | {words} | {lost:.3f} | {persons.home.within[1.0]:.1%} |"


def main() -> None:
    """Print the table."""
    machine()
    warnings.simplefilter("ignore", DataWarning)
    people = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    data = incrowd.synthesize("city", users=people, seed=7)
    print(
        "| k | merge | edges | named, 10 samples | named, all | homes to 100 m, insider | outsider "
        f"| 2 km, 2 h | loss | homes within 1 km |\n|{'---|' * 10}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for k in (2, 3):
            for merge in WAYS:
                for edges in EDGES:
                    print(line(data, k, merge, edges, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
