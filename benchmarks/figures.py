"""Every measured figure of docs/glove.md, beside the paper's.

``python -m benchmarks.figures civ`` makes the preset (or reads a file), measures the k-gap, runs
GLOVE for each k, with and without suppression, and prints a table for each. How things are counted:

- *granularity* of a published box: in space the longer of its two sides, in time its length.
  Every box counts once for each person of its crowd, since each of them gets a record.
- *error* of a sample of the input: from its centre to the centre of the published box of that
  person that holds it, in a straight line; in time likewise. If several hold it, the smallest
  does (cells times slots; of equals the first).
- *deleted*: a sample that no box holds; those of people who were dropped are among them.
- a *quantile* is a value that occurs: the first that so many do not exceed.

The largest take hours. With ``--checkpoints DIR`` a run that was interrupted goes on where it was.
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import incrowd
from incrowd.cli.anonymize import stages
from incrowd.cli.console import progress
from incrowd.compiled import compiled, inner

if TYPE_CHECKING:
    from incrowd.data.trajectories import Trajectories

PRESETS = ("civ", "sen", "city")
PARTS = ("k-gap", "accuracy", "suppression")
Figures = dict[str, float]

GAP = {
    "median": ("median", "{:.3f}"),
    "eighty": ("80 % of the people have at most", "{:.3f}"),
    "mean": ("mean", "{:.3f}"),
    "zero": ("hidden already (k-gap 0)", "{:.1%}"),
    "temporal": ("time costs more than space", "{:.1%}"),
    "mostly": ("time is 80 % of the cost or more", "{:.1%}"),
    "fully": ("time is the whole cost", "{:.1%}"),
}
ACCURACY = {
    "people_dropped": ("people dropped", "{:,.0f}"),
    "boxes": ("published rows", "{:,.0f}"),
    "space_100m": ("100 m or less", "{:.1%}"),
    "space_2km": ("2 km or less", "{:.1%}"),
    "time_30min": ("30 min or less", "{:.1%}"),
    "time_2h": ("2 h or less", "{:.1%}"),
    "both_fine": ("100 m and 30 min or less", "{:.1%}"),
    "both_coarse": ("2 km and 2 h or less", "{:.1%}"),
    "space_mean": ("mean granularity, m", "{:,.0f}"),
    "space_median": ("median granularity, m", "{:,.0f}"),
    "time_mean": ("mean granularity, min", "{:,.0f}"),
    "time_median": ("median granularity, min", "{:,.0f}"),
    "deleted": ("samples deleted", "{:.1%}"),
    "space_error": ("mean position error, m", "{:,.0f}"),
    "time_error": ("mean time error, min", "{:,.1f}"),
}
"""The rows of a table: what each is called, and how it is written."""

PAPER_GAP = {
    "civ": {"median": "0.09", "zero": "0 %", "temporal": "95 %", "mostly": "50 %", "fully": "15 %"},
    "sen": {"eighty": "0.17", "zero": "0 %", "temporal": "95 %", "mostly": "50 %", "fully": "15 %"},
}
_TWO = {
    "people_dropped": "0",
    "space_100m": "20-40 %",
    "space_2km": "70-80 %",
    "time_30min": "20-40 %",
    "time_2h": "70-80 %",
}
PAPER_ACCURACY: dict[str, dict[int, dict[str, str]]] = {
    "civ": {
        2: _TWO | {"space_mean": "over 5,000"},
        3: {"space_100m": "25 %", "space_2km": "70 %", "time_2h": "50 %"},
        5: {"space_100m": "15 %", "space_2km": "50 %", "time_2h": "20 %"},
    },
    "sen": {2: _TWO},
}
_NAMES = ("people_dropped", "deleted", "space_error", "time_error")
PAPER_SUPPRESSION: dict[str, dict[int, dict[str, str]]] = {
    "civ": {
        2: dict(zip(_NAMES, ("0", "8.3 %", "1,014", "60.2"), strict=True)),
        5: dict(zip(_NAMES, ("0", "8.3 %", "5,130", "171.0"), strict=True)),
    },
    "sen": {
        2: dict(zip(_NAMES, ("0", "14.1 %", "1,312", "69.3"), strict=True)),
        5: dict(zip(_NAMES, ("0", "16.9 %", "5,694", "408.3"), strict=True)),
    },
}
"""The paper of 2021: sections 5.2 and 5.4, section 7.1 with figures 11, 13 and 14, and table 2."""


def gap_figures(data: "Trajectories") -> Figures:
    """Measure how hard it is to hide each person among two, and what makes it so."""
    with progress("Measuring", "people") as show:
        table = incrowd.k_gap(data, 2, progress=show)
    gap, space, late = (table[name].to_numpy() for name in ("k_gap", "spatial", "temporal"))
    median, eighty = np.quantile(gap, (0.5, 0.8), method="inverted_cdf")
    return {
        "median": float(median),
        "eighty": float(eighty),
        "mean": float(gap.mean()),
        "zero": float((gap == 0).mean()),
        "temporal": float((late > space).mean()),
        "mostly": float(((late >= 0.8 * (space + late)) & (gap > 0)).mean()),
        "fully": float(((space == 0) & (late > 0)).mean()),
    }


def release_figures(data: "Trajectories", release: incrowd.Release) -> Figures:
    """Measure what is left of a dataset."""
    lost = release.losses
    figures: Figures = {
        "people_dropped": lost.people_dropped,
        "people_emptied": lost.people_emptied,
        "boxes_suppressed": lost.boxes_suppressed,
    }
    if len(release.trajectories):
        figures |= _granularity(release.trajectories)
    place = release.assignment["trajectory"].fill_null(-1).to_numpy().astype(np.int64)
    published = release.trajectories
    held, in_space, in_time = errors(
        data.columns, data.offsets, place, published.columns, published.offsets
    )
    figures["deleted"] = 1 - held / data.samples
    if data.original and data.samples - held != lost.samples_dropped + lost.samples_suppressed:
        raise SystemExit(f"{data.samples - held:,} samples are in no box, but {lost} were counted")
    if held:
        figures["space_error"] = in_space / held * data.frame.cell
        figures["time_error"] = in_time / held * data.frame.slot / 60
    return figures


def _granularity(published: "Trajectories") -> Figures:
    """Measure how large the boxes are that each person gets."""
    frame = published.frame
    wide = np.maximum(published.x1 - published.x0, published.y1 - published.y0) * frame.cell
    long = (published.t1 - published.t0) * (frame.slot / 60)
    weight = np.repeat(published.crowd, published.lengths()).astype(np.float64)
    total = float(weight.sum())

    def share(mask: NDArray[np.bool_]) -> float:
        return float(weight[mask].sum()) / total

    def median(size: NDArray[Any]) -> float:
        return float(np.quantile(size, 0.5, weights=weight, method="inverted_cdf"))

    return {
        "boxes": total,
        "space_100m": share(wide <= 100),
        "space_2km": share(wide <= 2_000),
        "time_30min": share(long <= 30),
        "time_2h": share(long <= 120),
        "both_fine": share((wide <= 100) & (long <= 30)),
        "both_coarse": share((wide <= 2_000) & (long <= 120)),
        "space_mean": float(wide @ weight) / total,
        "space_median": median(wide),
        "time_mean": float(long @ weight) / total,
        "time_median": median(long),
    }


@inner
def _holder(
    sample: tuple[int, int, int, int, int, int],
    first: int,
    after: int,
    boxes: tuple[NDArray[np.int32], ...],
    reach: NDArray[np.int32],
) -> int:
    """Give the smallest box that holds a sample, among those that start before it ends, or -1."""
    x0, x1, y0, y1, t0, t1 = boxes
    best, where, j = np.inf, -1, after - 1
    while j >= first and reach[j] >= sample[5]:
        if (
            t0[j] <= sample[4]
            and sample[5] <= t1[j]
            and x0[j] <= sample[0]
            and sample[1] <= x1[j]
            and y0[j] <= sample[2]
            and sample[3] <= y1[j]
        ):
            size = float(x1[j] - x0[j]) * (y1[j] - y0[j]) * (t1[j] - t0[j])
            if size <= best:
                best, where = size, j
        j -= 1
    return where


@compiled
def errors(
    samples: tuple[NDArray[np.int32], ...],
    offsets: NDArray[np.int64],
    place: NDArray[np.int64],
    boxes: tuple[NDArray[np.int32], ...],
    bounds: NDArray[np.int64],
) -> tuple[int, float, float]:
    """Count the samples that a box of their person holds; add up how far off its centre is.

    In cells and in slots. `place` has each person's published trajectory, or -1.
    """
    x0, x1, y0, y1, t0, t1 = samples
    bx0, bx1, by0, by1, bt0, bt1 = boxes
    held, in_space, in_time = 0, 0.0, 0.0
    reach = bt1.copy()  # the latest end so far; boxes are sorted by their start
    for trajectory in range(len(bounds) - 1):
        for j in range(bounds[trajectory] + 1, bounds[trajectory + 1]):
            reach[j] = max(reach[j], reach[j - 1])
    for person in range(len(place)):
        if place[person] < 0:
            continue
        first, last = bounds[place[person]], bounds[place[person] + 1]
        after = first
        for i in range(offsets[person], offsets[person + 1]):
            while after < last and bt0[after] <= t0[i]:
                after += 1
            sample = (x0[i], x1[i], y0[i], y1[i], t0[i], t1[i])
            box = _holder(sample, first, after, boxes, reach)
            if box >= 0:
                held += 1
                x = (bx0[box] + bx1[box] - x0[i] - x1[i]) / 2
                y = (by0[box] + by1[box] - y0[i] - y1[i]) / 2
                in_space += np.hypot(x, y)
                in_time += abs(bt0[box] + bt1[box] - t0[i] - t1[i]) / 2
    return held, in_space, in_time


def table(
    title: str,
    rows: Mapping[str, tuple[str, str]],
    columns: Sequence[tuple[str, Mapping[str, float | str]]],
) -> None:
    """Print a table: one row a figure, papers' values as they are."""
    print(f"\n### {title}\n\n| | " + " | ".join(head for head, _ in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name, (what, form) in rows.items():
        found = [column.get(name, "") for _, column in columns]
        if any(isinstance(value, float | int) for value in found):
            texts = [value if isinstance(value, str) else form.format(value) for value in found]
            print(f"| {what} | " + " | ".join(text.replace("%", " %") for text in texts) + " |")


def beside(
    paper: Mapping[int, Mapping[str, str]], found: Mapping[int, Figures]
) -> list[tuple[str, Mapping[str, float | str]]]:
    """Put the columns of each k beside each other, the paper's first where there is one."""
    columns: list[tuple[str, Mapping[str, float | str]]] = []
    for k, figures in found.items():
        if k in paper:
            columns.append((f"k = {k}, paper", {n: _tight(v) for n, v in paper[k].items()}))
        columns.append((f"k = {k}", figures))
    return columns


def _tight(text: str) -> str:
    return text.replace(" %", "%")


def measure(data: "Trajectories", options: argparse.Namespace) -> dict[str, Any]:
    """Measure all that is asked for."""
    found: dict[str, Any] = {"seconds": {}}

    def timed(what: str, work: Callable[[], Any]) -> Any:
        print(f"{what} ...", file=sys.stderr, flush=True)
        start = time.perf_counter()
        result = work()
        found["seconds"][what] = time.perf_counter() - start
        if isinstance(result, dict):  # so that nothing is lost if a later step is interrupted
            print(f"{what}: {json.dumps(result)}", file=sys.stderr, flush=True)
        return result

    if "k-gap" in options.only:
        found["k-gap"] = timed("k-gap", lambda: gap_figures(data))
    reshape = {"reshape": options.reshape}
    limits = {"max_space": options.max_space, "max_time": options.max_time} | reshape
    for part, ks, how in (
        ("accuracy", options.k, reshape),
        ("suppression", options.suppress, limits),
    ):
        if part not in options.only:
            continue
        found[part] = {}
        for k in ks:
            name = f"GLOVE, k = {k}{', suppression' if part == 'suppression' else ''}"
            release = timed(name, partial(_hide, data, k, options.checkpoints, **how))
            work = partial(release_figures, data, release)
            found[part][k] = timed(f"{name}: figures", work)
    return found


def _hide(data: "Trajectories", k: int, journals: Path | None, **how: Any) -> incrowd.Release:
    """Run GLOVE, tell how far it is, and keep it in a journal if there is a place for it."""
    journal = None
    if journals:
        journals.mkdir(parents=True, exist_ok=True)
        suppression = "-suppression" if "max_space" in how else ""
        journal = journals / f"{len(data)}-people-k-{k}-{how['reshape']}{suppression}"
    with stages() as show:
        return incrowd.glove(data, k, checkpoint=journal, progress=show, **how)


def load(options: argparse.Namespace) -> "Trajectories":
    """Make the preset, or read the file."""
    if options.dataset in PRESETS:
        return incrowd.synthesize(options.dataset, users=options.users, seed=options.seed)
    if not Path(options.dataset).exists():
        raise SystemExit(f"{options.dataset} is neither a file nor one of {', '.join(PRESETS)}")
    return incrowd.read(options.dataset)


def show(name: str, data: "Trajectories", found: dict[str, Any], options: Any) -> None:
    """Print the tables."""
    print(f"{name}: {len(data):,} people, {data.samples:,} samples")
    if "k-gap" in found:
        paper = PAPER_GAP.get(name)
        columns: list[tuple[str, Mapping[str, float | str]]] = [(name, found["k-gap"])]
        if paper:
            columns.insert(0, ("paper", {n: _tight(v) for n, v in paper.items()}))
        table("k-gap, k = 2", GAP, columns)
    if "accuracy" in found:
        columns = beside(PAPER_ACCURACY.get(name, {}), found["accuracy"])
        table("What is published, without suppression", ACCURACY, columns)
    if "suppression" in found:
        space, late = options.max_space * data.frame.cell, options.max_time * data.frame.slot
        columns = beside(PAPER_SUPPRESSION.get(name, {}), found["suppression"])
        beyond = f"{space / 1000:g} km and {late / 3600:g} h"
        table(f"What is published, with suppression beyond {beyond}", ACCURACY, columns)
    print("\n| step | time |\n|---|---|")
    for what, seconds in found["seconds"].items():
        print(f"| {what} | {seconds:.1f} s |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"\nPeak memory of all steps: {peak:.2f} GB.")


def numbers(text: str) -> list[int]:
    """Read whole numbers with commas between them."""
    return [int(number) for number in text.split(",") if number]


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, and print the tables or the same as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("dataset", help=f"{', '.join(PRESETS)}, or a CSV or Parquet file")
    parser.add_argument("--k", type=numbers, default=[2, 3, 5], help="as in 2,3,5")
    parser.add_argument("--suppress", type=numbers, help="each k to run with suppression (2,5)")
    parser.add_argument("--max-space", type=int, default=150, help="in cells (150: 15 km)")
    parser.add_argument("--max-time", type=int, default=360, help="in slots (360: 6 h)")
    parser.add_argument("--reshape", default="split", help="split, union or none")
    parser.add_argument("--users", type=int, help="how many people a preset has")
    parser.add_argument("--seed", type=int, default=1, help="of a preset")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--checkpoints", type=Path, metavar="DIR", help="where to keep runs")
    parser.add_argument("--json", action="store_true", help="for machines")
    options = parser.parse_args(arguments)
    if options.suppress is None:
        options.suppress = [k for k in options.k if k in (2, 5)]
    start = time.perf_counter()
    data = load(options)
    read = time.perf_counter() - start
    found = measure(data, options)
    name = options.dataset if options.dataset in PRESETS else Path(options.dataset).name
    if options.json:
        whole = {"dataset": name, "people": len(data), "samples": data.samples, "read": read}
        print(json.dumps(whole | found, indent=2))
    else:
        show(name, data, found, options)


if __name__ == "__main__":
    main(sys.argv[1:])
