"""What each simple mechanism does to uniqueness (figures 10, 11 and 12 of the paper of 2016).

As in the paper, filtering and cloaking change traces: places that are rare go, slots get longer.
Generalisation and noise change positions, and traces are made anew from these.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.data._visits import Visits
from incrowd.errors import InputError
from incrowd.measure._traces import Trace, met_at, stayed
from incrowd.measure._uniqueness.encoding import points_of
from incrowd.measure._uniqueness.estimate import uniqueness
from incrowd.protect._generalisation import Generalise
from incrowd.protect._geo_indistinguishability import GeoI

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "effects",
    "without_rare",
]


POINTS = (2, 4)
FILTERS = (1, 3, 5)
HOURS = {"1 hour": 1, "6 hours": 6, "1 day": 24, "7 days": 168, "30 days": 720, "all": None}
COARSE = ((1_000, 60), (5_000, 120), (20_000, 480))
"""Cells in metres, and slots in minutes."""
NOISE = {"low": 0.01, "medium": 0.004, "high": 0.001}
"""The paper's values of epsilon, in 1/m."""


def effects(
    traces: Mapping[str, Trace],
    poi: Mapping[str, Any],
    minutes: float = 60,
    *,
    draws: int = 2500,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> "pl.DataFrame":
    """Measure the uniqueness of 2 and 4 random points under each mechanism.

    Parameters
    ----------
    traces
        What :func:`incrowd.traces` gives.
    poi
        What a POI is, for GPS under noise: diameter, stay and gap.
    minutes
        How long a slot of time is.
    draws, seed, threads
        As for :func:`incrowd.uniqueness`. Noise is drawn anew every time.
    progress
        Called with the number of sensors done, and of all.

    Returns
    -------
    polars.DataFrame
        sensor, mechanism, setting, kind, points, share, people (who have so many points), places
        (mean number of places that a person has), lost (share of visits that are gone).
    """
    import polars as pl

    tell = progress or (lambda _done, _all: None)
    rows: list[dict[str, Any]] = []
    for done, (sensor, trace) in enumerate(traces.items()):
        tell(done, len(traces))
        before = len(trace.visits.place)
        for mechanism, setting, kind, changed in _changed(trace, poi, minutes):
            row: dict[str, Any] = {
                "sensor": sensor, "mechanism": mechanism, "setting": setting, "kind": kind,
            }  # fmt: skip
            row |= _places(changed.visits, before)
            try:
                found = uniqueness(
                    changed.visits, POINTS, kind=kind, draws=draws, seed=seed, threads=threads,
                    **changed.how,
                ).table  # fmt: skip
            except InputError:  # nothing is left
                rows += [row | {"points": p, "share": None, "people": 0} for p in POINTS]
                continue
            rows += [row | one for one in found.select("points", "share", "people").to_dicts()]
    tell(len(traces), len(traces))
    return pl.DataFrame(rows, infer_schema_length=None)


def _changed(
    trace: Trace, poi: Mapping[str, Any], minutes: float
) -> Iterator[tuple[str, str, str, Trace]]:
    """Give the trace under each mechanism, and of which kind it is then."""
    for kind in ("spatial", "spatio_temporal"):
        yield "none", "", kind, trace
        for most in FILTERS:
            visits = without_rare(trace.visits, most)
            yield "filter", f"{most} or fewer", kind, Trace(visits, trace.precision, trace.met)
    for name, hours in HOURS.items():
        slots = None if hours is None else hours * 60 / minutes
        if slots is None:
            yield "cloak", name, "spatial", trace
        elif slots == int(slots):
            wider = Trace(trace.visits, trace.precision * int(slots), trace.met)
            yield "cloak", name, "spatio_temporal", wider
    yield from _moved(trace, poi, minutes)


def _moved(
    trace: Trace, poi: Mapping[str, Any], minutes: float
) -> Iterator[tuple[str, str, str, Trace]]:
    """Give the trace made anew of what is coarser or noisy."""
    fixes = trace.fixes
    if fixes is None or (trace.pois is None and fixes.place is not None):
        return  # places that have names are not moved
    if trace.pois is None:
        for metres, long in COARSE:
            if metres % fixes.frame.cell == 0 and long * 60 % fixes.frame.slot == 0:
                wide = Generalise(metres=metres, minutes=long).protect(fixes).trajectories
                for kind in ("spatial", "spatio_temporal"):
                    yield (
                        "generalise",
                        f"{metres / 1000:g} km, {long} min",
                        kind,
                        met_at(wide, minutes),
                    )
    for name, epsilon in NOISE.items():
        noisy = GeoI(epsilon).protect(fixes).trajectories
        moved = met_at(noisy, minutes) if trace.pois is None else stayed(noisy, minutes, **poi)
        for kind in ("spatial", "spatio_temporal"):
            yield "geo-i", f"{name} ({epsilon:g})", kind, moved


def without_rare(visits: Visits, at_most: int) -> Visits:
    """Leave out places that so many people, or fewer, visited.

    Examples
    --------
    >>> from incrowd import Visits
    >>> visits = Visits.from_rows({"user": [1, 1, 2], "place": [5, 6, 5], "time": [0, 1, 2]})
    >>> without_rare(visits, 1)
    Visits(2 people, 2 visits, 1 place)
    """
    if not len(visits.place):
        return visits
    places = points_of(visits, "spatial")
    codes, people = np.unique(places.code, return_counts=True)
    distinct, which = np.unique(visits.place, return_inverse=True)
    # Codes are in the order of places, whatever numbers they have.
    assert len(distinct) == len(codes)  # noqa: S101
    keep = (people > at_most)[which]
    offsets = np.concatenate([[0], np.cumsum(keep)])[visits.offsets]
    return Visits(
        visits.place[keep], visits.time[keep], offsets, people=visits.people, places=visits.places
    )


def _places(visits: Visits, before: int) -> dict[str, Any]:
    """Say how many places people have, and what is gone."""
    lost = 1 - len(visits.place) / before if before else 0.0
    if not len(visits.place):
        return {"places": 0.0, "lost": lost}
    spatial = points_of(visits, "spatial")
    return {"places": len(spatial.code) / len(spatial), "lost": lost}
