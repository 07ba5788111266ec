"""What releases without a k promise instead, method by method, as far as rows can tell.

Of filtered, cloaked, generalised or noisy data it can be said that it is whole, that it keeps what
it promises where this can be seen in the rows, and how many people share each record as it happens.
A method that is not known here has its promise reported as not checked.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.data._manifest import Manifest
from incrowd.evaluate._verify._kernels import T0, T1, X0, X1, Y0, Y1
from incrowd.evaluate._verify.result import Check, failed, passed, several
from incrowd.evaluate._verify.rows import Published

__all__ = [
    "GLOVE",
    "PROMISES",
    "EdgeGrid",
    "check_promise",
    "edge_grid",
    "limits_without_k",
    "not_applicable_without_k",
    "off_edge_grid",
    "stated_grid",
]


GLOVE = "GLOVE"
FILTER, CLOAK = "spatial filtering", "temporal cloaking"
GENERALISE, NOISE = "uniform generalisation", "Geo-Indistinguishability"

_ENTROPY = "drawn from the operating system's entropy"
_LIMITS = (
    (
        "Nobody is hidden in a crowd: whoever knows enough of a person finds the records that fit "
        "it, often one; incrowd attack tells how many people that concerns."
    ),
    (
        "Records that several people share are shared by chance; the next release of the same kind "
        "may have none."
    ),
    (
        "A second release of the same people can be laid over this one, and tells more than each "
        "by itself."
    ),
    (
        "Only positions and times were considered: whoever knows something else about a person, "
        "or that she is among the published, may learn more than is said here."
    ),
)
_NOISE = (
    "Noise cannot be told from what it made: that it was drawn as stated is the maker's word, and "
    "what it promises holds for one sample, not for a trace."
)
_EDGES = re.compile(r"(?=\d)(?:(\d+(?:\.\d+)?)m)?(?:(?:^|,)(\d+(?:\.\d+)?)min)?", re.ASCII)
_LARGEST = 2**31
_SEEDED = "The noise was drawn from a seed and can be taken away; this release is a test."


def glove_settings(manifest: Manifest) -> Mapping[str, Any]:
    """Return the settings of GLOVE; none if another method made the release and says so.

    Another method may mean something else by the same names.
    """
    named = isinstance(manifest.settings, Mapping)
    other = manifest.guarantee is not None and manifest.method != GLOVE
    return manifest.settings if named and not other else {}


class EdgeGrid(NamedTuple):
    """The coarser grid to which a release states that sides of boxes were rounded outwards.

    Attributes
    ----------
    wide, long
        How many cells and slots one of its own has; 1 where nothing was rounded.
    words
        What is stated, in words; empty if nothing is.
    """

    wide: int = 1
    long: int = 1
    words: str = ""


def edge_grid(manifest: Manifest, cell: float, slot: int) -> EdgeGrid | None:
    """Return the grid to which edges were rounded; None if one is stated that cannot be."""
    return stated_grid(glove_settings(manifest).get("edges"), cell, slot)


def stated_grid(stated: Any, cell: float, slot: int) -> EdgeGrid | None:
    """Return the grid for edges that the setting of this name states; None if it cannot be."""
    if stated is None:
        return EdgeGrid()
    found = _EDGES.fullmatch(stated) if isinstance(stated, str) else None
    if found is None:
        return None
    sizes, words = [1, 1], list[str]()
    for at, (unit, short) in enumerate(((cell, "m"), (slot / 60, "min"))):
        if found[at + 1] is not None:
            number = float(found[at + 1]) / unit
            sizes[at] = round(number)
            if not 1 < sizes[at] < _LARGEST or not math.isclose(sizes[at], number, rel_tol=1e-8):
                return None
            words.append(f"{float(found[at + 1]):,g} {short}")
    return EdgeGrid(sizes[0], sizes[1], " and ".join(words))


def off_edge_grid(published: Published, grid: EdgeGrid) -> NDArray[np.bool_]:
    """Tell which boxes have a side that is none of the grid to which edges were rounded.

    In space it begins at the origin of the plane, in time at 1970-01-01 UTC.
    """
    boxes, frame = published.boxes, published.frame
    wrong = np.zeros(len(boxes), np.bool_)
    for side in (X0, X1, Y0, Y1):
        wrong |= boxes[:, side] % grid.wide != 0
    for side in (T0, T1):
        wrong |= _off_grid(boxes[:, side], frame.slot, frame.origin, grid.long * frame.slot)
    return wrong


def may_suppress(manifest: Manifest, stated: int | None) -> bool:
    """Tell whether samples may have been left out: by the thresholds of a method that is known.

    Of one that is not, by what it states itself to have left out.
    """
    limits = _THRESHOLDS.get(manifest.method)
    if limits is None and manifest.guarantee is not None:
        return bool(stated)
    names = (*_THRESHOLDS[GLOVE], *_THRESHOLDS[FILTER]) if limits is None else limits
    return any(manifest.settings.get(name) is not None for name in names)


def limits_without_k(manifest: Manifest) -> list[str]:
    """Return what a release that promises no k cannot promise."""
    limits = [*_LIMITS]
    if manifest.method == NOISE:
        limits.append(_NOISE)
        if manifest.settings.get("noise") != _ENTROPY:
            limits.append(_SEEDED)
    return limits


def not_applicable_without_k(manifest: Manifest) -> dict[str, str]:
    """Return the checks that mean nothing for a method, each with the reason."""
    if manifest.method not in PROMISES:
        return dict.fromkeys(_BOXES, f"what {manifest.method} does to boxes is not known")
    return dict(_NOT_APPLICABLE.get(manifest.method, {}))


def check_promise(published: Published, manifest: Manifest) -> Check:
    """See whether the rows are what the method says they are, as far as rows can tell."""
    check = PROMISES.get(manifest.method)
    if check is None:
        says = f"Not checked (what {manifest.method} promises cannot be read off the rows)."
        return Check("promise", ok=None, says=says)
    return check(published, manifest.settings)


def _rare(published: Published, settings: Mapping[str, Any]) -> Check:
    """See whether no place is rare."""
    most = settings.get("at_most")
    if type(most) is not int or most < 1:
        return failed("promise", f"The manifest states at_most {most!r}.", {})
    boxes, names = published.boxes, ("x0", "x1", "y0", "y1")
    crowd = np.repeat(np.arange(len(published.sizes), dtype=np.int32), np.diff(published.cuts))
    visits = pl.DataFrame(
        [
            pl.Series(name, boxes[:, side])
            for name, side in zip(names, (X0, X1, Y0, Y1), strict=True)
        ]
        + [pl.Series("crowd", crowd)]
    ).unique()
    people = visits.with_columns(pl.Series("people", published.sizes[visits["crowd"].to_numpy()]))
    each = people.group_by(names).agg(pl.col("people").sum())["people"]
    rare = int((each <= most).sum())
    figures = {"places": len(each), "rare": rare, "at_most": most, "fewest": int(each.min() or 0)}  # type: ignore[arg-type]
    if rare:
        says = f"{rare:,} of {len(each):,} published places have {most:,} visitors or fewer."
        return failed("promise", says, figures)
    says = f"Each of {len(each):,} published places has at least {figures['fewest']:,} visitors."
    return passed("promise", says, figures)


def _coarse(published: Published, settings: Mapping[str, Any]) -> Check:
    """See whether every edge is one of the coarser grid."""
    boxes, frame = published.boxes, published.frame
    metres, minutes = settings.get("metres"), settings.get("minutes")
    wrong = np.zeros(len(boxes), np.bool_)
    told = []
    if _is_number(metres):
        step = max(1, round(metres / frame.cell))
        told.append(f"cells of {metres:,g} m")
        for side in (X0, X1, Y0, Y1):
            wrong |= boxes[:, side] % step != 0
    if minutes == "all":
        told.append("the whole span")
        wrong |= (boxes[:, T0] != boxes[0, T0]) | (boxes[:, T1] != boxes[0, T1])
    elif _is_number(minutes):
        told.append(f"slots of {minutes:,g} min")
        for side in (T0, T1):
            wrong |= _off_grid(boxes[:, side], frame.slot, frame.origin, round(60 * minutes))
    if not told:
        return failed("promise", "The manifest states no coarser grid.", {})
    rows = np.repeat(published.sizes, np.diff(published.cuts))
    figures = {"rows": published.rows, "finer": int(rows[wrong].sum())}
    grid = " and ".join(told)
    if figures["finer"]:
        says = f"{several(figures['finer'], 'row')} of {published.rows:,} are finer than {grid}."
        return failed("promise", says, figures)
    return passed("promise", f"All {published.rows:,} rows are boxes of {grid}.", figures)


def _off_grid(edges: NDArray[np.int32], slot: int, origin: int, step: int) -> NDArray[np.bool_]:
    """Tell which edges are not the first slot to start in a coarse one."""
    return (edges.astype(np.int64) * slot + origin) % step >= slot


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def _noise(published: Published, settings: Mapping[str, Any]) -> Check:  # noqa: ARG001
    """See whether noise of some size is stated; more cannot be seen."""
    epsilon = settings.get("epsilon")
    if not _is_number(epsilon):
        return failed("promise", f"The manifest states epsilon {epsilon!r}.", {})
    says = "Not checked (noise cannot be told from what it made)."
    return Check("promise", ok=None, says=says, figures={"epsilon": epsilon})


PROMISES: dict[str, Callable[[Published, Mapping[str, Any]], Check]] = {
    FILTER: _rare,
    CLOAK: _coarse,
    GENERALISE: _coarse,
    NOISE: _noise,
}
"""How the promise of each method is checked; the names are those of manifests."""
_THRESHOLDS: dict[str, tuple[str, ...]] = dict.fromkeys(PROMISES, ()) | {
    GLOVE: ("max_space", "max_time", "suppress_price", "suppress_at_most"),
    FILTER: ("at_most",),
}
"""The settings of each method beyond which it leaves samples out."""
_BOXES = ("coverage", "witness", "no invention")
_NOT_APPLICABLE = {
    CLOAK: {"no invention": "edges are those of a coarser grid"},
    GENERALISE: {"no invention": "edges are those of a coarser grid"},
    NOISE: dict.fromkeys((*_BOXES, "linkage"), "positions are noise"),
}
