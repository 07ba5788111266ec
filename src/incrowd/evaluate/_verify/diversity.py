"""Whether every crowd has as many distinct homes as the release says that it has.

The manifest of a release with distinct homes states how many (`homes`), the side of the squares
that count as one home (`metres`) and the zone in which it is night (`tz`). With the original and
the private record everybody's home is found anew here, with code of its own: of a person's samples
from 22 to 6 h the place (centre of the box) with most of them; of equals, the one where she was
first. Squares are counted from the origin of the grid's plane. Who was never seen at night has no
home, and counts for nothing.

Nobody may be left over who could be in a crowd: of the strict variant, without suppression, those
who are dropped have fewer than k people or too few distinct homes, all of them taken together.
"""

import zoneinfo
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from incrowd._format import length
from incrowd.data._manifest import Manifest
from incrowd.data._trajectories import Trajectories
from incrowd.evaluate._verify.alignment import AlignedRelease, Record
from incrowd.evaluate._verify.promises import glove_settings
from incrowd.evaluate._verify.result import Check, failed, passed, several

if TYPE_CHECKING:
    from incrowd._numba import Ints

__all__ = [
    "check_diversity",
    "check_stated",
    "promises_homes",
]


NAME = "diversity"
LEAST = 2
"""Fewer distinct homes are no diversity."""
WIDEST = 1_000_000
"""Squares of more metres hold whole countries."""
EVENING, MORNING = 22, 6
BLOCK = 1 << 22
"""About how many samples are looked at together."""


class _Stated(NamedTuple):
    """What is promised: so many homes, in squares of so many cells, nights in this zone."""

    homes: int
    side: int
    tz: str
    grid: str


def promises_homes(manifest: Manifest) -> bool:
    """Tell whether a release promises distinct homes in its crowds."""
    return glove_settings(manifest).get("diverse") is not None


def check_stated(manifest: Manifest) -> Check | None:
    """Return the check that a release fails whose promise cannot be understood, or promises none.

    None if it can be understood.
    """
    stated = _stated(manifest)
    if isinstance(stated, _Stated):
        return None
    says = f"The manifest promises distinct homes, but {stated}."
    return failed(NAME, says, {"stated": repr(glove_settings(manifest).get("diverse"))})


def check_diversity(aligned: AlignedRelease, record: Record, manifest: Manifest) -> Check:
    """See whether every published crowd has as many distinct homes as is promised."""
    stated = _stated(manifest)
    assert isinstance(stated, _Stated)  # noqa: S101  `check_stated` has looked at it
    original, crowd_of = aligned.original, record.crowd_of
    homes = pl.concat(list(_homes(original, stated))).with_columns(
        pl.lit(crowd_of).gather(pl.col("person")).alias("crowd")
    )
    published = homes.filter(pl.col("crowd") >= 0)
    each = published.group_by("crowd").agg(pl.struct("across", "up").n_unique().alias("homes"))
    number = np.zeros(len(aligned.published.sizes), np.int64)
    number[each["crowd"].to_numpy()] = each["homes"].to_numpy()
    below = number < stated.homes
    left = homes.filter(pl.col("crowd") < 0)
    people_left = int((crowd_of < 0).sum())
    homes_left = left.select(pl.struct("across", "up").n_unique()).item() if len(left) else 0
    figures: dict[str, Any] = {
        "homes": stated.homes,
        "metres": stated.side * original.frame.cell,
        "tz": stated.tz,
        "crowds": len(number),
        "fewest": int(number.min()),
        "crowds_below": int(below.sum()),
        "people_below": int(aligned.published.sizes[below].sum()),
        "without_home": len(original) - len(homes),
        "homes_left_over": homes_left,
    }
    if figures["crowds_below"]:
        says = (
            f"{several(figures['crowds_below'], 'crowd')} of {len(number):,} "
            f"({several(figures['people_below'], 'person', 'people')}) have fewer than "
            f"{stated.homes:,} distinct homes on {stated.grid}; the fewest are {number.min():,}."
        )
        return failed(NAME, says, figures)
    if _could_be_crowd(manifest, people_left, homes_left, stated):
        says = (
            f"{people_left:,} people with {homes_left:,} distinct homes are left over, who could "
            "be in crowds."
        )
        return failed(NAME, says, figures)
    says = (
        f"The people of every crowd have at least {stated.homes:,} distinct homes on {stated.grid} "
        f"(nights of {stated.tz})."
    )
    return passed(NAME, says, figures)


def _stated(manifest: Manifest) -> _Stated | str:
    """Return what a manifest promises, or what is wrong with it."""
    stated: Any = glove_settings(manifest).get("diverse")
    if not isinstance(stated, Mapping):
        return f"states {stated!r} instead of homes, metres and tz"
    homes, tz = stated.get("homes"), stated.get("tz")
    metres: Any = stated.get("metres")
    if type(homes) is not int or homes < LEAST:
        return f"states {homes!r} of them in each crowd"
    cell = manifest.frame["cell"]
    if type(metres) not in (int, float) or not cell <= metres <= WIDEST:
        return f"states squares of {metres!r} m, with cells of {cell:g} m"
    side = round(metres / cell)
    if abs(side * cell - metres) > 1e-6 * metres:
        return f"states squares of {metres:g} m, which are not whole cells of {cell:g} m"
    try:
        zoneinfo.ZoneInfo(str(tz))
    except (TypeError, ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return f"states the time zone {tz!r}, which is not known"
    return _Stated(homes, side, str(tz), f"a grid of {length(side * cell)}")


def _could_be_crowd(manifest: Manifest, people: int, homes: int, stated: _Stated) -> bool:
    """Tell whether people are left over whom GLOVE would have put into crowds."""
    settings = glove_settings(manifest)
    k, limits = settings.get("k"), [settings.get(name) for name in ("max_space", "max_time")]
    suppressed = settings.get("merge") != "optimal" and limits != [None, None]
    if settings.get("variant") != "strict" or suppressed or type(k) is not int:
        return False
    return people >= k and homes >= stated.homes


def _homes(original: Trajectories, stated: _Stated) -> Iterator[pl.DataFrame]:
    """Give the square of everybody's home, of those who have one: person, across and up."""
    offsets, first = original.offsets, 0
    while first < len(original):
        enough = int(np.searchsorted(offsets, offsets[first] + BLOCK, side="right")) - 1
        last = min(max(enough, first + 1), len(original))
        yield _homes_of(original, first, last, stated)
        first = last


def _homes_of(original: Trajectories, first: int, last: int, stated: _Stated) -> pl.DataFrame:
    """Give the same of people from the first to before the last."""
    here = slice(int(original.offsets[first]), int(original.offsets[last]))
    sides = (original.x0, original.x1, original.y0, original.y1, original.t0, original.t1)
    x0, x1, y0, y1, t0, t1 = (side[here].astype(np.int64) for side in sides)
    milliseconds = 500 * original.frame.slot * (t0 + t1) + 1000 * original.frame.origin
    clock = pl.Series(milliseconds, dtype=pl.Datetime("ms", "UTC"))
    hour = clock.dt.convert_time_zone(stated.tz).dt.hour()
    person: Ints = np.repeat(np.arange(first, last), original.lengths()[first:last])
    twice = 2 * stated.side
    places = ["person", "x", "y"]
    return (
        pl.DataFrame({"person": person, "x": x0 + x1, "y": y0 + y1, "middle": t0 + t1})
        .filter((hour >= EVENING) | (hour < MORNING))
        .sort("person", "middle", maintain_order=True)
        .with_row_index("order")
        .group_by(places)
        .agg(pl.len().cast(pl.Int64).alias("samples"), pl.col("order").min())
        .sort("person", -pl.col("samples"), "order")
        .unique("person", keep="first", maintain_order=True)
        .select(
            "person",
            pl.col("x").floordiv(twice).alias("across"),
            pl.col("y").floordiv(twice).alias("up"),
        )
    )
