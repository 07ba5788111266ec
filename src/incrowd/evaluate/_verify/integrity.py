"""Is the release whole: its files, its rows, its sizes and its names.

These checks need nothing but the release itself, and apply to every release, whatever it
guarantees. Whether what it guarantees holds is decided in `guarantees`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from incrowd._file_errors import reading_file
from incrowd.data._manifest import FILES, MANIFEST, TABLES, Manifest, seal
from incrowd.errors import ArgumentError, UnreadableError
from incrowd.evaluate._verify._kernels import T0, X0, Y0, latest_ends
from incrowd.evaluate._verify.promises import (
    EdgeGrid,
    edge_grid,
    glove_settings,
    off_edge_grid,
)
from incrowd.evaluate._verify.result import Check, failed, passed, several
from incrowd.evaluate._verify.rows import PROBLEMS, Published

__all__ = [
    "check_files",
    "check_names",
    "check_rows",
    "check_sizes",
    "rows_file",
]


NAME = r"\A[0-9a-f]{16}\z"
"""What a name looks like that incrowd has drawn."""
_METADATA = {b"incrowd.kind": b"release"}


def rows_file(folder: Path, manifest: Manifest) -> Path:
    """Give the file that holds the rows."""
    return folder / next(name for name in TABLES if name in manifest.files)


def check_files(folder: Path, manifest: Manifest) -> Check:
    """See whether the files are those that were released, the manifest among them."""
    wrong: list[str] = []
    if not _is_sealed(folder, manifest):
        wrong.append(f"{MANIFEST} was changed after it was written (or never sealed)")
    here = {entry.name for entry in folder.iterdir()}
    for name, expected in manifest.files.items():
        # The name may be one that no file can have.
        if name not in here or not (folder / name).is_file():
            wrong.append(f"{name} is missing")
        elif seal(folder / name) != expected:
            wrong.append(f"{name} is not the file that was released (its SHA-256 differs)")
    extra = sorted(here - {MANIFEST, *manifest.files})
    wrong += [f"{name} is not named in the manifest" for name in extra]
    wrong += [f"{name} has no place in a release" for name in manifest.files if name not in FILES]
    wrong += [
        f"{name} is a link, and not the file itself"
        for name in sorted(here)
        if (folder / name).is_symlink()
    ]
    tables = [name for name in TABLES if name in manifest.files]
    if len(tables) != 1:
        wrong.append(f"there must be one file of trajectories, not {len(tables)}")
    if not wrong and tables == ["trajectories.parquet"]:
        wrong += _odd_metadata(folder / tables[0])
    figures = {"files": 1 + len(manifest.files), "wrong": len(wrong)}
    if wrong:
        return failed("files", f"{_upper(wrong[0])}{_more(wrong)}.", figures)
    says = f"All {figures['files']} files are those that were released, byte for byte."
    return passed("files", says, figures)


def _is_sealed(folder: Path, manifest: Manifest) -> bool:
    try:
        return (folder / MANIFEST).read_bytes() == manifest.to_json().encode()
    except ArgumentError:  # values that are none, such as NaN
        return False


def _odd_metadata(file: Path) -> list[str]:
    """Find what a Parquet file carries beside its rows."""
    try:
        with reading_file(file, document=True):
            found = pq.read_metadata(file).metadata or {}
    except UnreadableError as error:
        return [f"{file.name} is damaged ({error})"]
    odd = {key: value for key, value in found.items() if _METADATA.get(key) != value}
    return [f"{file.name} carries {len(odd)} notes beside its rows"] if odd else []


def check_rows(published: Published) -> Check:
    """See whether every row is a box on the grid, with its centre, in order."""
    rows = published.rows
    figures: dict[str, Any] = {"rows": rows} | {
        name: published.problems.get(name, 0) for name in PROBLEMS if name != "text"
    }
    wrong = [
        f"{several(count, 'row')} {PROBLEMS[name]}"
        for name, count in published.problems.items()
        if name != "text"
    ]
    if "text" in published.problems:
        wrong.append(f"some {PROBLEMS['text']}")
    if wrong:
        return failed("rows", f"Of {several(rows, 'row')}, {'; '.join(wrong)}.", figures)
    says = (
        f"All {rows:,} rows are boxes on the grid of {published.frame.cell:g} m and "
        f"{published.frame.slot} s, with their true centre, sorted and distinct in each person."
    )
    return passed("rows", says, figures)


def _misshapen(published: Published, manifest: Manifest) -> dict[str, tuple[int, str]]:
    """Count rows that GLOVE does not make with the settings that the manifest states."""
    settings = glove_settings(manifest)
    reshape, boxes = settings.get("reshape"), published.boxes.astype(np.int64)
    rows = np.repeat(published.sizes, np.diff(published.cuts))
    found: dict[str, tuple[int, str]] = {}
    grid = edge_grid(manifest, published.frame.cell, published.frame.slot)
    if grid is None:
        stated = settings.get("edges")
        text = f"lie on a grid for edges that is stated as {stated!r}, which it cannot be"
        found["edges"], grid = (published.rows, text), EdgeGrid()
    elif grid.words:
        text = f"have an edge that is not rounded to {grid.words}, as all are said to be"
        found["edges"] = int(rows[off_edge_grid(published, grid)].sum()), text
    optimal = settings.get("merge") == "optimal"
    if optimal or reshape in ("split", "union"):
        # Two boxes that did not overlap do so by one coarse slot at most when they are rounded.
        over = grid.long if grid.long > 1 else 0
        latest = latest_ends(published.boxes, published.cuts).astype(np.int64)
        meets = np.zeros(len(boxes), np.bool_)
        meets[1:] = boxes[1:, T0] + over < latest[:-1]
        meets[published.cuts[:-1]] = False  # the first of each record
        how = "optimal merging" if optimal else f"reshaping by {reshape}"
        text = f"overlap the row before in time, which {how} rules out"
        if over:
            text = f"overlap a row before in time by more than {over * published.frame.slot / 60:g}"
            text += f" min, which {how} and rounding rule out"
        found["overlap"] = int(rows[meets].sum()), text
    # Areas are put together by reshaping, and times by union; what was merged is not larger.
    kept = {"max_time": ("split", "none"), "max_space": ("none",)}
    for name, sides, step in (("max_time", (T0,), grid.long), ("max_space", (X0, Y0), grid.wide)):
        limit = settings.get(name)
        boxed = optimal or (settings.get("suppress", "boxes") == "boxes" and reshape in kept[name])
        if type(limit) is int and boxed:
            # A box may have gained nearly a coarse cell, or slot, on either side.
            most = limit + 2 * (step - 1)
            large = np.any([boxes[:, low + 1] - boxes[:, low] > most for low in sides], axis=0)
            text = f"are larger than {name} = {limit}, beyond which all was to be suppressed"
            text += " (and than rounding can make what is not)" if step > 1 else ""
            found[name] = int(rows[large].sum()), text
    return found


def check_sizes(published: Published, manifest: Manifest, what: str = "crowds") -> Check:
    """See whether the manifest counts what is there; `what` identical records are called.

    And whether boxes are as the settings that it states make them: `split` and `union` leave no
    two that overlap in time, what exceeds a threshold is suppressed, and edges that were rounded
    lie on the coarser grid.
    """
    stated = manifest.sizes if isinstance(manifest.sizes, Mapping) else {}
    counted = {
        "people": len(published.people),
        "samples": published.rows,
        "trajectories": len(published.sizes),
        "smallest_crowd": int(published.sizes.min()),
    }
    misshapen = _misshapen(published, manifest)
    figures: dict[str, Any] = {"counted": counted, "stated": dict(stated)}
    figures |= {name: count for name, (count, _) in misshapen.items()}
    odd = [f"{several(count, 'row')} {text}" for count, text in misshapen.values() if count]
    if odd:
        says = f"The manifest's settings do not fit: {'; '.join(odd)}."
        return failed("sizes", says, figures)
    if stated == counted:
        says = (
            f"The manifest's sizes are true: {counted['people']:,} people, "
            f"{counted['samples']:,} rows, {counted['trajectories']:,} {what}."
        )
        return passed("sizes", says, figures)
    if stated.keys() == counted.keys() and _crowds_alike(stated, counted):
        says = (
            f"The manifest's {counted['people']:,} people and {counted['samples']:,} rows are "
            f"true; of its {stated['trajectories']:,} crowds, some have the same record and "
            f"look like one ({counted['trajectories']:,} are told apart)."
        )
        return passed("sizes", says, figures)
    wrong = [
        f"{name.replace('_', ' ')} {stated.get(name, 'not stated')}, found {number:,}"
        for name, number in counted.items()
        if stated.get(name) != number
    ]
    return failed("sizes", f"The manifest miscounts: {'; '.join(wrong)}.", figures)


def _crowds_alike(stated: Mapping[str, Any], counted: Mapping[str, int]) -> bool:
    """Tell whether the sizes agree once crowds with equal records are taken for one."""
    if not all(type(value) is int for value in stated.values()):
        return False
    return (
        all(stated[name] == counted[name] for name in ("people", "samples"))
        and counted["trajectories"] < stated["trajectories"]
        and 1 <= stated["smallest_crowd"] <= counted["smallest_crowd"]
        and stated["trajectories"] * stated["smallest_crowd"] <= stated["people"]
    )


def check_names(published: Published) -> Check:
    """See whether names are distinct and in order; whether they are random cannot be seen."""
    names = published.people
    lengths = names.str.len_bytes().n_unique()
    odd = len(names) - int(names.str.contains(NAME).sum())
    repeated = len(names) - names.n_unique()
    in_order = names.is_sorted()
    figures = {"people": len(names), "repeated": repeated, "lengths": lengths, "sorted": in_order}
    figures["odd"] = odd
    wrong = [f"{repeated:,} names return after others"] if repeated else []
    wrong += [f"names have {lengths} different lengths"] if lengths > 1 else []
    wrong += [f"{odd:,} names are not 16 hexadecimal digits, as names are drawn"] if odd else []
    wrong += [] if in_order else ["people are not in the order of their names"]
    if wrong:
        return failed("names", f"{_upper('; '.join(wrong))}.", figures)
    says = f"All {len(names):,} names are distinct, of one length, and people are in their order."
    return passed("names", says, figures)


def _upper(text: str) -> str:
    """Start a sentence, unless it starts with the name of a file."""
    return text if "." in text.split(maxsplit=1)[0] else text[:1].upper() + text[1:]


def _more(wrong: list[str]) -> str:
    return f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
