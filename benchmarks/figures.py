"""Every measured figure of docs/glove.md, beside the paper's.

``python -m benchmarks.figures civ-v2`` makes the preset (or reads a file), measures the k-gap, runs
GLOVE for each k, with and without suppression, and prints a table for each. How things are counted
is told by `incrowd.accuracy`: granularity is the longer side of a box, every box counts
once for each person of its crowd, an error is from centre to centre of the smallest box that holds
the sample, and what is in no box is deleted. A quantile is a value that occurs. ``--curves``
prints figures 11 and 12 as well, for each k; ``--only thresholds`` is figure 14.

Each is measured for both ways of merging, the papers' (two-stage) and the best boxes of the same
crowds (optimal), which are found once for both. The largest take hours. With ``--checkpoints DIR``
a run that was interrupted goes on where it was, and `benchmarks.utility` need not search again.
"""

import argparse
import contextlib
import itertools
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import incrowd
from benchmarks.common import thresholds
from incrowd.cli._console import progress
from incrowd.cli.anonymize import stages
from incrowd.data._synthetic import PRESETS as SYNTHETIC
from incrowd.evaluate._comparison import of_release
from incrowd.evaluate._utility.accuracy import accuracy_table

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

PRESETS = tuple(name for name, preset in SYNTHETIC.items() if preset.kind == "phones")
PARTS = ("k-gap", "accuracy", "suppression")
MORE = ("thresholds",)
THRESHOLDS = (
    (None, None), (None, 480), (None, 360), (800, 360), (400, 360), (200, 360), (150, 360),
    (100, 240), (50, 120),
)  # fmt: skip
"""Of figure 14: in cells and in slots."""
POINTS = ("5 %", "25 %", "50 %", "75 %", "95 %", "100 %")
ERROR = {"space": "position_error", "time": "time_error"}
MERGES = ("two-stage", "optimal")
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
THRESHOLD = {
    "people_dropped": ("people dropped", "{:,.0f}"),
    "deleted": ("samples deleted", "{:.1%}"),
    "space_mean": ("mean granularity, m", "{:,.0f}"),
    "space_quarter": ("a quarter up to, m", "{:,.0f}"),
    "space_median": ("half up to, m", "{:,.0f}"),
    "space_three_quarters": ("three quarters up to, m", "{:,.0f}"),
    "time_mean": ("mean granularity, min", "{:,.0f}"),
    "time_quarter": ("a quarter up to, min", "{:,.0f}"),
    "time_median": ("half up to, min", "{:,.0f}"),
    "time_three_quarters": ("three quarters up to, min", "{:,.0f}"),
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


def release_figures(
    data: "Trajectories", release: incrowd.Release, curves: list[incrowd.Accuracy]
) -> Figures:
    """Measure what is left of a dataset; keep all of it in `curves`."""
    lost = release.losses
    found = incrowd.accuracy(of_release(data, release))
    curves.append(found)
    figures: Figures = {
        "people_dropped": lost.people_dropped,
        "people_emptied": lost.people_emptied,
    }
    deleted = found.samples_deleted
    if data.original and deleted != lost.samples_dropped + lost.samples_suppressed:
        raise SystemExit(f"{deleted:,} samples are in no box, but {lost} were counted")
    measured = found.figures()
    return figures | {name: measured[name] for name in ACCURACY if name in measured}


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
    paper: Mapping[int, Mapping[str, str]], found: Mapping[int, Mapping[str, Figures]]
) -> list[tuple[str, Mapping[str, float | str]]]:
    """Put the columns of each k beside each other, the paper's first where there is one."""
    columns: list[tuple[str, Mapping[str, float | str]]] = []
    for k, ways in found.items():
        if k in paper:
            columns.append((f"k = {k}, paper", {n: _tight(v) for n, v in paper[k].items()}))
        columns += [(f"k = {k}, {merge}", figures) for merge, figures in ways.items()]
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
    limits = thresholds(data.frame, options.max_space, options.max_time)
    for part, ks, how in (
        ("accuracy", options.k, {}),
        ("suppression", options.suppress, limits),
    ):
        if part not in options.only:
            continue
        found[part] = {k: {} for k in ks}
        for k, merge in itertools.product(ks, options.merge):
            words = f"GLOVE, k = {k}, {merge}{', suppression' if how else ''}"
            release = timed(words, partial(hide, data, k, merge, options, **how))
            curves: list[incrowd.Accuracy] = []
            work = partial(release_figures, data, release, curves)
            found[part][k][merge] = timed(f"{words}: figures", work)
            if options.curves:
                found.setdefault("curves", {})[words] = curves[0].as_dict()
    if "thresholds" in options.only:
        found["thresholds"] = timed("thresholds", lambda: threshold_figures(data, options))
    return found


def threshold_figures(data: "Trajectories", options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure what is left for k = 2 beyond each pair of thresholds (figure 14)."""
    pairs = {}
    for (space, late), merge in itertools.product(THRESHOLDS, options.merge):
        how = thresholds(data.frame, space, late) if space or late else {}
        name = " and ".join(
            f"{limit * unit:g} {short}"
            for limit, unit, short in (
                (space, data.frame.cell / 1000, "km"),
                (late, data.frame.slot / 3600, "h"),
            )
            if limit is not None
        )
        release = hide(data, 2, merge, options, **how)
        pairs[f"{name or 'none'}, {merge}"] = of_release(data, release)
    return accuracy_table(pairs).to_dicts()


def show_curves(name: str, found: dict[str, Any]) -> None:
    """Print figures 11 and 12 of one release, and how many rows nobody was seen in."""
    for what, unit, scale in (("space", "km", 1000), ("time", "min", 1)):
        limits = [f"{limit / scale:g}" for limit, _ in found[what]["cumulative"]]
        print(f"\n### {name}: {what}, {unit}\n\n| up to | " + " | ".join(limits) + " |")
        print("|---|" + "---|" * len(limits))
        for title, key in (("rows", what), ("samples, by their error", ERROR[what])):
            up_to = dict(found[key]["cumulative"])
            texts = [f"{up_to[limit]:.1%}" for limit, _ in found[what]["cumulative"]]
            print(f"| {title} | " + " | ".join(text.replace("%", " %") for text in texts) + " |")
        print("\n| people with so much of their rows | none | " + " | ".join(POINTS) + " |")
        print("|---|---|" + "---|" * len(POINTS))
        for curve in found[f"people_by_{what}"]:
            shares = [curve["nobody"], *(curve["people"][int(at[:-2]) // 5] for at in POINTS)]
            texts = [f"{share:.1%}".replace("%", " %") for share in shares]
            limit = f"up to {curve['threshold'] / scale:g} {unit}"
            print(f"| {limit} | " + " | ".join(texts) + " |")
    rows, created, unseen = (found[key] for key in ("rows", "rows_created", "rows_unseen"))
    print(f"\n{created:,} of {rows:,} rows are created; in {unseen:,} nobody was seen.")


def hide(
    data: "Trajectories", k: int, merge: str, options: argparse.Namespace, **limits: Any
) -> incrowd.Release:
    """Run GLOVE, or take the crowds that it found before, and tell how far it is.

    The crowds of the papers' merges without suppression are those of the best boxes as well.
    """
    how, name = {"merge": merge, **limits}, f"{len(data)}-people-{data.samples}-samples-k-{k}-"
    if merge == "optimal":
        name += "split"
    else:
        how["reshape"] = options.reshape
        name += options.reshape
        if limits:
            how["suppress"] = options.what
            name += "-" + "-".join(f"{limit:g}" for limit in limits.values() if limit)
            name += f"-{options.what}"
    options.checkpoints.mkdir(parents=True, exist_ok=True)
    with stages() as show:
        return incrowd.glove(data, k, checkpoint=options.checkpoints / name, progress=show, **how)


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
        paper = PAPER_GAP.get(name.partition("-")[0])
        columns: list[tuple[str, Mapping[str, float | str]]] = [(name, found["k-gap"])]
        if paper:
            columns.insert(0, ("paper", {n: _tight(v) for n, v in paper.items()}))
        table("k-gap, k = 2", GAP, columns)
    if "accuracy" in found:
        columns = beside(PAPER_ACCURACY.get(name.partition("-")[0], {}), found["accuracy"])
        table("What is published, without suppression", ACCURACY, columns)
    if "suppression" in found:
        space, late = options.max_space * data.frame.cell, options.max_time * data.frame.slot
        columns = beside(PAPER_SUPPRESSION.get(name.partition("-")[0], {}), found["suppression"])
        beyond = f"{space / 1000:g} km and {late / 3600:g} h"
        title = f"What is published, with suppression beyond {beyond}"
        table(title, ACCURACY, columns)
    if "thresholds" in found:
        columns = [(figures["name"], figures) for figures in found["thresholds"]]
        table("Suppression beyond, k = 2", THRESHOLD, columns)
    for title, curves in found.get("curves", {}).items():
        show_curves(title, curves)
    print("\n| step | time |\n|---|---|")
    for what, seconds in found["seconds"].items():
        print(f"| {what} | {seconds:.1f} s |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"\nPeak memory of all steps: {peak:.2f} GB.")


def numbers(text: str) -> list[int]:
    """Read whole numbers with commas between them."""
    return [int(number) for number in text.split(",") if number]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `load` and `hide` are told."""
    parser.add_argument(
        "--merge", type=lambda text: text.split(","), default=MERGES, help="one of them only"
    )
    parser.add_argument("--reshape", default="split", help="of two-stage: split, union or none")
    parser.add_argument("--what", default="boxes", help="of two-stage: suppress boxes or samples")
    parser.add_argument("--users", type=int, help="how many people a preset has")
    parser.add_argument("--seed", type=int, default=1, help="of a preset")
    parser.add_argument("--checkpoints", type=Path, metavar="DIR", help="where to keep runs")


@contextlib.contextmanager
def kept(options: argparse.Namespace) -> Iterator[None]:
    """Have a folder for checkpoints: the one that was named, or one for this time only."""
    with contextlib.ExitStack() as stack:
        if options.checkpoints is None:
            options.checkpoints = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        yield


def main(arguments: Sequence[str] = ()) -> None:
    """Measure, and print the tables or the same as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("dataset", help=f"{', '.join(PRESETS)}, or a CSV or Parquet file")
    parser.add_argument("--k", type=numbers, default=[2, 3, 5], help="as in 2,3,5")
    parser.add_argument("--suppress", type=numbers, help="each k to run with suppression (2,5)")
    parser.add_argument("--max-space", type=int, default=150, help="in cells (150: 15 km)")
    parser.add_argument("--max-time", type=int, default=360, help="in slots (360: 6 h)")
    parser.add_argument("--only", nargs="+", choices=PARTS + MORE, default=PARTS)
    parser.add_argument("--curves", action="store_true", help="figures 11 and 12 as well")
    parser.add_argument("--json", action="store_true", help="for machines")
    add_options(parser)
    options = parser.parse_args(arguments)
    if options.suppress is None:
        options.suppress = [k for k in options.k if k in (2, 5)]
    start = time.perf_counter()
    data = load(options)
    read = time.perf_counter() - start
    with kept(options):
        found = measure(data, options)
    name = options.dataset if options.dataset in PRESETS else Path(options.dataset).name
    if options.json:
        whole = {"dataset": name, "people": len(data), "samples": data.samples, "read": read}
        print(json.dumps(whole | found, indent=2))
    else:
        show(name, data, found, options)


if __name__ == "__main__":
    main(sys.argv[1:])
