"""Releases that promise no k: filtered, cloaked, generalised or noisy data.

What can be said of them is that they are whole, that they keep what they promise where this can be
seen in the rows, and how many people share each record as it happens. Nothing here is shared with
what makes them; the names of the methods are written down twice on purpose.
"""

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.data._manifest import Manifest
from incrowd.evaluate._verify._kernels import T0, T1, X0, X1, Y0, Y1
from incrowd.evaluate._verify.result import Check, failed, passed, several
from incrowd.evaluate._verify.rows import Published

__all__ = [
    "UNSEEN",
    "check_crowds",
    "check_promise",
    "is_plain",
    "limits_of",
    "unasked",
]


FILTER, CLOAK = "spatial filtering", "temporal cloaking"
GENERALISE, NOISE = "uniform generalisation", "Geo-Indistinguishability"
PLAIN = (FILTER, CLOAK, GENERALISE, NOISE)
"""The methods that promise no k; one that is not known must state its k."""
UNSEEN = "nothing is promised against it"

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
_SEEDED = "The noise was drawn from a seed and can be taken away; this release is a test."


def is_plain(manifest: Manifest) -> bool:
    """Tell whether a release promises no k, by its method, and so states none."""
    settings = manifest.settings
    return isinstance(settings, Mapping) and "k" not in settings and manifest.method in PLAIN


def limits_of(manifest: Manifest) -> list[str]:
    """Say what a release of this kind cannot promise."""
    limits = [*_LIMITS]
    if manifest.method == NOISE:
        limits.append(_NOISE)
        if manifest.settings.get("noise") != _ENTROPY:
            limits.append(_SEEDED)
    return limits


def unasked(manifest: Manifest) -> dict[str, str]:
    """Give the checks that mean nothing for a method, each with the reason."""
    if not is_plain(manifest):
        return {}
    if manifest.method == NOISE:
        why = "positions are noise"
        return dict.fromkeys(("coverage", "witness", "no invention", "linkage"), why)
    if manifest.method in (CLOAK, GENERALISE):
        return {"no invention": "edges are those of a coarser grid"}
    return {}


def check_crowds(published: Published) -> Check:
    """Count how many people share each record, where nobody promised that any do."""
    sizes = published.sizes
    alone, people = int((sizes == 1).sum()), len(published.people)
    size, count = np.unique(sizes, return_counts=True)
    figures = {
        "k": None,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "crowds": len(sizes),
        "people": people,
        "people_alone": alone,
        "sizes": {str(s): int(n) for s, n in zip(size, count, strict=True)},
    }
    says = (
        f"It is not promised. {alone:,} of {several(people, 'person')} have a record that nobody "
        f"shares; the smallest crowd of identical records has {sizes.min():,}."
    ).replace("persons", "people")
    return Check("k-anonymity", ok=None, says=says, figures=figures)


def check_promise(published: Published, manifest: Manifest) -> Check:
    """See whether the rows are what the method says they are, as far as rows can tell."""
    settings = manifest.settings
    if manifest.method == FILTER:
        return _rare(published, settings)
    if manifest.method == NOISE:
        epsilon = settings.get("epsilon")
        if not _is_number(epsilon):
            return failed("promise", f"The manifest states epsilon {epsilon!r}.", {})
        says = "Not checked (noise cannot be told from what it made)."
        return Check("promise", ok=None, says=says, figures={"epsilon": epsilon})
    return _coarse(published, settings)


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
            wrong |= _inside(boxes[:, side], frame.slot, frame.origin, round(60 * minutes))
    if not told:
        return failed("promise", "The manifest states no coarser grid.", {})
    rows = np.repeat(published.sizes, np.diff(published.cuts))
    figures = {"rows": published.rows, "finer": int(rows[wrong].sum())}
    grid = " and ".join(told)
    if figures["finer"]:
        says = f"{several(figures['finer'], 'row')} of {published.rows:,} are finer than {grid}."
        return failed("promise", says, figures)
    return passed("promise", f"All {published.rows:,} rows are boxes of {grid}.", figures)


def _inside(edges: NDArray[np.int32], slot: int, origin: int, step: int) -> NDArray[np.bool_]:
    """Tell which edges are not the first slot to start in a coarse one."""
    return (edges.astype(np.int64) * slot + origin) % step >= slot


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
