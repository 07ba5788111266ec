"""What a report looks at: a release, beside its original if that is there."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import incrowd
from incrowd.data.frame import Frame
from incrowd.data.manifest import Manifest
from incrowd.data.trajectories import Trajectories
from incrowd.evaluate.accuracy import COARSE, accuracy, sizes_of, tallied
from incrowd.evaluate.pairing import (
    BeforeAfter,
    load_rows,
    of_files,
    published_as_trajectories,
)
from incrowd.evaluate.utility import utility
from incrowd.report import exposure
from incrowd.report.drawing import drawn
from incrowd.report.stated import sizes_in
from incrowd.report.steps import Steps
from incrowd.report.telling import area_of, days_of, without_tails

if TYPE_CHECKING:
    from incrowd.evaluate.verification import Verification

__all__ = ["Once", "looked_at"]

LEAST = 10
"""Groups of fewer people than this, or than k, are not shown."""


class Once:
    """Reads the original once, however often it is asked for."""

    def __init__(self, source: Trajectories | Callable[[Frame], Trajectories] | None) -> None:
        self.source, self._data = source, source if isinstance(source, Trajectories) else None

    def __call__(self, frame: Frame) -> Trajectories:
        """Give the original, on a grid."""
        if self._data is None:
            assert callable(self.source)  # noqa: S101  it is data, or reads it
            self._data = self.source(frame)
        return self._data


def looked_at(
    folder: Path,
    manifest: Manifest,
    proof: "Verification",
    read: Once,
    record: Any,
    gaps: Any,
    tz: str,
    tell: Steps,
    how: dict[str, Any],
) -> dict[str, Any]:
    """Look at a release whose rows can be read, beside its original if that is there."""
    tell("reading")
    found: dict[str, Any] = {}
    least = max(LEAST, proof.k or 1)
    if read.source is None:
        published = load_rows(folder, manifest)
        pair, after = None, published_as_trajectories(published)
    else:
        pair = of_files(folder, read, record)
        after = pair.after
        found["before"] = _before(pair.before, gaps, tell, how, least)
        found["sizes"] = sizes_in(manifest, int(after.crowd.sum()), len(pair.before))
    tell("exposure after")
    found["after"] = _exposure(after, how)
    tell("what is left")
    found |= _left(pair, after, tz, least, how["threads"])
    if pair is not None:
        found["before"]["data"]["area_km2"] = area_of(found["utility"]["together"]["map"])
    smallest = int(after.crowd.min())
    found["drawn"] = drawn(after, least=max(2, proof.k or 2)) if smallest > 1 else []
    return found


def _before(
    data: Trajectories,
    gaps: pl.DataFrame | None,
    tell: Steps,
    how: dict[str, Any],
    least: int,
) -> dict[str, Any]:
    """Tell how exposed people were."""
    tell("k-gap")
    stretch = incrowd.Stretch()
    if gaps is None and len(data) > 1:
        gaps = incrowd.k_gap(data, 2, threads=how["threads"], progress=tell.within)
    tell("exposure before")
    about = incrowd.describe(data)
    return {
        "data": {
            "people": about.people,
            "samples": about.samples,
            **days_of(data, least),
            "cell_m": about.cell_m,
            "slot_s": about.slot_s,
            "samples_a_person": about.samples_a_person.median,
            "gyration_km": about.gyration_km.median,
        },
        "k_gap": None if gaps is None else exposure.gaps_in(gaps, data, stretch),
        **_exposure(data, how, tell.within),
    }


def _exposure(
    data: Trajectories, how: dict[str, Any], progress: Callable[..., None] | None = None
) -> dict[str, Any]:
    """Tell how unique people are, and what attacks find."""
    seen, slots = incrowd.visits(data), max(1, 3600 // data.frame.slot)
    common = {"seed": how["seed"], "threads": how["threads"]}
    return {
        "uniqueness": exposure.unique(seen, slots, **common),
        "risk": exposure.attacked(seen, slots, targets=how["targets"], progress=progress, **common),
    }


def _left(
    pair: BeforeAfter | None, after: Trajectories, tz: str, least: int, threads: int | None
) -> dict[str, Any]:
    """Tell what is left of the data."""
    if pair is None:
        return {"accuracy": _alone(after)}
    sharp = accuracy(pair, threads=threads)
    plain = sharp.as_dict()
    for name in ("position_error", "time_error"):
        if plain[name]:  # the extremes are somebody's
            plain[name] = {k: v for k, v in plain[name].items() if k not in ("least", "most")}
    useful = utility(pair, tz=tz, grid=_grid(pair.before), least=least, threads=threads).as_dict()
    for of in (useful["persons"] or {}).values():
        if isinstance(of, dict):
            people = of["both"] if "both" in of else of["moving"]
            of["quantiles"] = without_tails(of["quantiles"], people, least)
    return {"accuracy": plain | {"figures": sharp.figures()}, "utility": useful}


def _grid(data: Trajectories) -> float:
    """Choose the side of squares in km: 20 of them along the data, from 0.5 to 5 km."""
    along = max(
        int(end.max()) - int(start.min()) for start, end in ((data.x0, data.x1), (data.y0, data.y1))
    )
    km = along * data.frame.cell / 1000
    side = next((side for side in (0.5, 1.0, 2.0) if km <= 20 * side), 5.0)
    return max(side, data.frame.cell / 1000)


def _alone(after: Trajectories) -> dict[str, Any]:
    """Tell how precise a release is, which needs no original."""
    wide, long = sizes_of(after)
    space, time = tallied(after, wide, long, after.crowd)
    assert space is not None and time is not None  # noqa: S101, PT018  a release has rows
    cell, minute = after.frame.cell, after.frame.slot / 60
    weight = np.repeat(after.crowd, after.lengths())
    coarse = (wide * cell <= COARSE[0]) & (long * minute <= COARSE[1])
    figures = {
        "space_median": space.median,
        "time_median": time.median,
        "space_2km": space.up_to(COARSE[0]),
        "time_2h": time.up_to(COARSE[1]),
        "both_coarse": float(weight[coarse].sum() / weight.sum()),
    }
    return {"space": asdict(space), "time": asdict(time), "figures": figures}
