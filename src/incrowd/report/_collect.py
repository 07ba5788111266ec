"""What a report looks at: a release, beside its original if that is there.

How exposed people are, before and after: the k-gap, uniqueness, the nine attacks.

Everything is told of all people together. Attacks are exact for those who are attacked, who are
drawn at random where there are many; the crowd in which they hide is always everybody.

What may be drawn of people: published records only, and few of them.

A published record is what everybody gets who gets the release, and stands for a whole crowd. The
ones drawn are those in the middle: as wide and as long as most.

What a release says about itself, as a report repeats it.
"""

import datetime as dt
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import incrowd
from incrowd._numba import Floats
from incrowd._progress import Steps
from incrowd.data._frame import Frame
from incrowd.data._manifest import PAGE, Manifest
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ColumnError
from incrowd.evaluate._comparison import BeforeAfter, load_rows, of_files, published_as_trajectories
from incrowd.evaluate._utility.accuracy import COARSE, accuracy, sizes_of, tallied
from incrowd.evaluate._utility.summary import utility
from incrowd.measure._uniqueness.estimate import interval
from incrowd.report._disclosure import area_of, days_of, without_tails

if TYPE_CHECKING:
    from incrowd.data._visits import Visits
    from incrowd.evaluate._verify.result import Verification
    from incrowd.measure._stretch.definition import Stretch

__all__ = [
    "ATTACKS",
    "KINDS",
    "POINTS",
    "Once",
    "attacked",
    "drawn",
    "gaps_in",
    "looked_at",
    "made_with",
    "settings_in",
    "sizes_in",
    "spread_of",
    "unique",
]


KINDS = {"spatio_temporal": "places and hours", "spatial": "places", "temporal": "hours"}
POINTS = (1, 2, 3, 4, 6, 8, 10)
ATTACKS = (
    "location",
    "location_sequence",
    "visit",
    "frequent_location",
    "frequent_location_sequence",
    "frequency",
    "home_work",
    "proportion",
    "probability",
)
KNOWN = 4
"""How many points an attacker knows."""
TARGETS = 500
"""How many people are attacked, drawn at random; all, if there are fewer."""
STEPS = 50
BEYOND = 10
"""How many people the end of a distribution leaves out, at least."""
Progress = Callable[[int, int], None]


def gaps_in(
    table: "pl.DataFrame", data: "Trajectories", stretch: "Stretch", k: int | None = None
) -> dict[str, Any]:
    """Tell how the k-gaps of people are spread, from a table of `incrowd.k_gap`.

    No figure is that of one of the last: the distribution ends where 99 % of people are below, or
    before it, so that ten people (a tenth, where there are few) are beyond.

    Raises
    ------
    ColumnError
        If the table is none of k-gaps, or not of this data.
    """
    import polars as pl

    if "k_gap" not in table.columns:
        raise ColumnError(
            "the table of k-gaps has no column 'k_gap'; incrowd measure -o writes one"
        )
    if "k" in table.columns:
        smallest = table["k"].min() if k is None or k not in table["k"] else k
        table = table.filter(pl.col("k") == smallest)
        k = int(table["k"][0]) if len(table) else k
    if len(table) != len(data):
        raise ColumnError(
            f"the table of k-gaps has {len(table):,} people, the original {len(data):,}; it is of "
            "other data"
        )
    if "user" in table.columns and not _alike(table["user"], data.people):
        raise ColumnError("the table of k-gaps names other people; it is of other data")
    gap = table["k_gap"].to_numpy()
    found: dict[str, Any] = {
        "k": 2 if k is None else k,
        "people": len(gap),
        "spread": spread_of(gap),
        "hidden_already": float((gap == 0).mean()),
        "curve": _curve(gap),
    }
    if {"spatial", "temporal"} <= set(table.columns):
        space, time = (table[name].to_numpy() for name in ("spatial", "temporal"))
        both = stretch.space_weight + stretch.time_weight
        km = both / max(stretch.space_weight, 1) * stretch.max_space * data.frame.cell / 1000
        minutes = both / max(stretch.time_weight, 1) * stretch.max_time * data.frame.slot / 60
        found["time_above_space"] = float((time > space).mean())
        found["median_km"] = float(np.median(space)) * km
        found["median_minutes"] = float(np.median(time)) * minutes
    return found


def _alike(some: "pl.Series", others: "pl.Series") -> bool:
    """Tell whether two series name the same people; as text, for a CSV file has nothing else."""
    import polars as pl

    names = (series.cast(pl.String).sort() for series in (some, others))
    return next(names).equals(next(names))


def _curve(values: Floats) -> list[dict[str, float]]:
    """Give the distribution at equal steps, up to what 99 % of people do not exceed, or less."""
    beyond = max(len(values) // 100, min(BEYOND, len(values) // 10))
    ordered = np.sort(values)
    end = float(ordered[len(values) - 1 - beyond]) or 1.0
    at = np.linspace(0, end, STEPS + 1)
    share = np.searchsorted(ordered, at, side="right") / len(values)
    return [{"gap": float(x), "share": float(y)} for x, y in zip(at, share, strict=True)]


def spread_of(values: Floats) -> dict[str, float]:
    """Give mean, quartiles and ninth tenth; no extremes, for these are somebody's."""
    cuts = np.quantile(values, (0.25, 0.5, 0.75, 0.9), method="inverted_cdf")
    names = ("quarter", "median", "three_quarters", "nine_tenths")
    return {"mean": float(np.mean(values))} | dict(zip(names, map(float, cuts), strict=True))


def unique(
    visits: "Visits", slots: int, *, draws: int = 2500, seed: int = 0, threads: int | None = None
) -> list[dict[str, Any]]:
    """Tell which share of random points is one person's alone, by their number and kind.

    `slots` of the data's clock make an hour.
    """
    import incrowd

    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        found = incrowd.uniqueness(
            visits, POINTS, kind=kind, precision=slots, met=1, draws=draws, seed=seed,
            threads=threads,
        )  # fmt: skip
        told = ("points", "share", "low", "high")
        rows += [
            {"kind": kind} | {name: row[name] for name in told}
            for row in found.table.iter_rows(named=True)
            if row["share"] is not None
        ]
    return rows


def attacked(
    visits: "Visits",
    slots: int,
    *,
    known: int = KNOWN,
    targets: int = TARGETS,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Attack people in nine ways; tell which share is left with nobody else.

    Times are known to the hour. Where people were drawn, `low` and `high` enclose the share in all
    (Wilson, 95 %).
    """
    import incrowd

    rng = np.random.default_rng(seed)
    number = min(targets, len(visits))
    who = np.sort(rng.choice(len(visits), number, replace=False))
    people = visits.people.gather(who)
    table = incrowd.risk(
        visits, ATTACKS, known, targets=people, precision=slots, threads=threads, progress=progress
    )
    rows = []
    for attack in ATTACKS:
        risk = table.filter(table["attack"] == attack)["risk"].to_numpy()
        alone = int((risk == 1).sum())
        share = alone / number
        low, high = (share, share) if number == len(visits) else interval(alone, number)
        rows.append(
            {
                "attack": attack,
                "told_apart": share,
                "low": min(low, share),  # rounding takes it beyond where nobody or everybody is
                "high": max(high, share),
                "mean_risk": float(risk.mean()),
                "highest_risk": float(risk.max()),
            }
        )
    return {"known": known, "attacked": number, "people": len(visits), "attacks": rows}


RECORDS = 3
DAYS = 3
MOST = 150
"""Boxes drawn of a record, at most."""
DAY = 86_400


def drawn(published: "Trajectories", *, least: int) -> list[dict[str, Any]]:
    """Give a few published records as boxes: kilometres from the record's corner, hours.

    Only records that `least` people share are drawn, and only their first days. Positions count
    from the south-west corner of each record, times from the midnight (UTC) before its first box.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.report._collect import drawn
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> found = drawn(incrowd.glove(city, k=2).trajectories, least=2)
    >>> len(found), sorted(found[0]["boxes"][0])
    (3, ['east', 'east_to', 'hour', 'hour_to', 'north', 'north_to'])
    """
    crowds = np.flatnonzero((published.crowd >= least) & (published.lengths() > 1))
    if not len(crowds):
        return []
    wide = np.maximum(published.x1 - published.x0, published.y1 - published.y0)
    owner = np.repeat(np.arange(len(published)), published.lengths())
    width = np.bincount(owner, wide, len(published)) / np.maximum(published.lengths(), 1)
    middle = crowds[np.argsort(width[crowds], kind="stable")]
    at = np.linspace(0, 1, RECORDS + 2)[1:-1] * (len(middle) - 1)
    chosen = dict.fromkeys(int(middle[round(index)]) for index in at)
    return [_record(published, index) for index in chosen]


def _record(published: "Trajectories", index: int) -> dict[str, Any]:
    frame, record = published.frame, published[index]
    start = int(record.t0[0]) * frame.slot + frame.origin
    midnight = start - start % DAY
    hour = (record.t0.astype(np.int64) * frame.slot + frame.origin - midnight) / 3600
    end = (record.t1.astype(np.int64) * frame.slot + frame.origin - midnight) / 3600
    kept = np.flatnonzero(hour < DAYS * 24)[:MOST]
    km = frame.cell / 1000
    west, south = int(record.x0[kept].min()), int(record.y0[kept].min())
    columns = {
        "east": (record.x0[kept] - west) * km,
        "east_to": (record.x1[kept] - west) * km,
        "north": (record.y0[kept] - south) * km,
        "north_to": (record.y1[kept] - south) * km,
        "hour": hour[kept],
        "hour_to": end[kept],
    }
    boxes = [
        {name: round(float(column[i]), 3) for name, column in columns.items()}
        for i in range(len(kept))
    ]
    return {"crowd": int(record.crowd), "boxes": boxes}


def made_with(manifest: Manifest) -> dict[str, Any]:
    """Say with what the report was made, and of what."""
    files = {name: _mapping(known) for name, known in manifest.files.items() if name != PAGE}
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "incrowd": incrowd.__version__,
        "python": platform.python_version(),
        "release_made_with": manifest.incrowd,
        "files": files,
    }


def settings_in(manifest: Manifest) -> dict[str, Any]:
    """Say how the release was made, and what was lost."""
    return {
        "method": manifest.method,
        "settings": _mapping(manifest.settings),
        "frame": _mapping(manifest.frame),
        "losses": _mapping(manifest.losses),
        "names": manifest.names,
        "holds_against": _texts(manifest.holds_against),
        "fails_against": _texts(manifest.fails_against),
    }


def _mapping(value: Any) -> dict[str, Any]:
    """Give names and values; none where a manifest that was tampered with has something else."""
    return dict(value) if isinstance(value, Mapping) else {}


def _texts(values: Any) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list | tuple) else []


def sizes_in(
    manifest: Manifest, published: int | None = None, people: int | None = None
) -> dict[str, Any]:
    """Give the sizes of the release, and which share of people is not in it."""
    sizes = _mapping(manifest.sizes)
    if published is not None and people:
        sizes["original_people"] = people
        sizes["dropped_share"] = max(0.0, 1 - published / people)
    return sizes


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
        "k_gap": None if gaps is None else gaps_in(gaps, data, stretch),
        **_exposure(data, how, tell.within),
    }


def _exposure(
    data: Trajectories, how: dict[str, Any], progress: Callable[..., None] | None = None
) -> dict[str, Any]:
    """Tell how unique people are, and what attacks find."""
    seen, slots = incrowd.visits(data), max(1, 3600 // data.frame.slot)
    common = {"seed": how["seed"], "threads": how["threads"]}
    return {
        "uniqueness": unique(seen, slots, **common),
        "risk": attacked(seen, slots, targets=how["targets"], progress=progress, **common),
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
