"""What a report is made from: a release, beside its original if that is there, as `Numbers`.

::

    manifest ─────────────> how it was made, what was lost, how large it is
    release, original ────> how exposed people were and are: k-gap, uniqueness, attacks
                      ────> what is left: accuracy and utility
    release ──────────────> a few published records

Everything is told of all people together. Attacks are exact for those who are attacked, who are
drawn at random where there are many; the crowd in which they hide is always everybody. Of single
records only published ones are shown: everybody has these who has the release, and each stands for
a whole crowd.
"""

import datetime as dt
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import incrowd
from incrowd._numba import Floats
from incrowd._progress import Progress, Stages
from incrowd.attack import ATTACKS
from incrowd.data._frame import Frame
from incrowd.data._manifest import PAGE, Manifest
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, ColumnError
from incrowd.evaluate._comparison import BeforeAfter, load_rows, of_files, published_as_trajectories
from incrowd.evaluate._utility.accuracy import COARSE, accuracy, sizes_of, tallied
from incrowd.evaluate._utility.inference import inference
from incrowd.evaluate._utility.summary import Persons, side_for, utility
from incrowd.measure._uniqueness.estimate import interval
from incrowd.report._cost_of_k import cost_of_k
from incrowd.report._disclosure import (
    LEAST,
    area_of,
    days_of,
    leaves_out_few,
    of_published,
    without_tails,
)
from incrowd.report._numbers import (
    Attacked,
    Exposure,
    ExposureBefore,
    KGap,
    KGapParts,
    MadeWith,
    Method,
    Numbers,
    OriginalData,
    Precision,
    Risk,
    SamePersons,
    Sizes,
    Unique,
)
from incrowd.report._release_attacks import AttackOnRelease, attacks_on_release
from incrowd.report._sample_records import sample_records

if TYPE_CHECKING:
    from incrowd.data._visits import Visits
    from incrowd.evaluate._utility.summary import Utility
    from incrowd.measure._stretch.definition import Stretch

__all__ = [
    "KINDS",
    "POINTS",
    "STAGES",
    "Options",
    "ReadOnce",
    "attacked",
    "collect_numbers",
    "gaps_in",
    "made_with",
    "settings_in",
    "sizes_in",
    "spread_of",
    "unique",
]


KINDS = {"spatio_temporal": "places and hours", "spatial": "places", "temporal": "hours"}
POINTS = (1, 2, 3, 4, 6, 8, 10)
KNOWN = 4
"""How many points an attacker knows."""
TARGETS = 500
"""How many people are attacked, drawn at random; all, if there are fewer."""
CURVE_STEPS = 50
"""At how many equal steps a distribution is told."""
BEYOND = 10
"""How many people the end of a distribution leaves out, at least."""
STAGES = (
    "verifying",
    "reading",
    "k-gap",
    "exposure before",
    "exposure after",
    "what is left",
    "attacks on the release",
    "larger crowds",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What may be chosen: how many people are attacked, the seed of draws, threads.

    `others` are other releases of the same people, as `incrowd.attack_release` takes them.
    """

    targets: int = TARGETS
    seed: int = 0
    threads: int | None = None
    others: tuple[tuple[Any, ...], ...] = ()


class ReadOnce:
    """Reads the original once, however often it is asked for."""

    def __init__(self, source: Trajectories | Callable[[Frame], Trajectories] | None) -> None:
        self.source, self._data = source, source if isinstance(source, Trajectories) else None

    def __call__(self, frame: Frame) -> Trajectories:
        """Give the original, on a grid."""
        if self._data is None:
            if not callable(self.source):
                raise ArgumentError(
                    "original must be Trajectories, as incrowd.read gives them, not "
                    f"{type(self.source).__name__}"
                )
            self._data = self.source(frame)
        return self._data


def collect_numbers(
    numbers: Numbers,
    folder: Path,
    manifest: Manifest,
    read: ReadOnce,
    record: Any,
    gaps: pl.DataFrame | None,
    stages: Stages,
    options: Options,
) -> Numbers:
    """Add to what the manifest and the verifier say everything that is measured of the rows."""
    stages.begin("reading")
    k = numbers.verification.k
    least = max(LEAST, k or 1)
    pair, before, sizes, twice = None, None, numbers.sizes, None
    if read.source is None:
        after = published_as_trajectories(load_rows(folder, manifest))
    else:
        pair = of_files(folder, read, record)
        twice = _same_persons(pair.before)
        after = pair.after
        sizes = sizes_in(manifest, int(after.crowd.sum()), len(pair.before))
        if leaves_out_few(sizes, least):
            pair, gaps = of_published(pair, gaps)
        before = _before(pair.before, gaps, stages, options, least, numbers)
    stages.begin("exposure after")
    exposed = Exposure(*_exposure(after, options))
    stages.begin("what is left")
    zone = numbers.given.tz
    precise, useful = _left(pair, after, zone, least, options.threads)
    told = None
    if pair is not None and pair.became is not None:
        told = inference(pair, tz=zone, threads=options.threads)
    stages.begin("attacks on the release")
    tried: tuple[AttackOnRelease, ...] = ()
    if told is not None and numbers.verification.ok:
        tried = attacks_on_release(
            folder, read, record, least=least, others=options.others, tz=zone,
            sample=options.targets, seed=options.seed, threads=options.threads,
            progress=stages.within,
        )  # fmt: skip
    stages.begin("larger crowds")
    cost = None
    if pair is not None:
        cost = cost_of_k(
            pair.before, numbers.settings, tz=zone, seed=options.seed, threads=options.threads,
            progress=stages.within,
        )  # fmt: skip
    if before is not None and before.data is not None and useful is not None:
        area = area_of(useful.together.map)
        before = replace(before, data=replace(before.data, area_km2=area))
    crowds = int(after.crowd.min()) > 1
    return replace(
        numbers,
        sizes=sizes,
        same_person=twice,
        before=before,
        after=exposed,
        accuracy=precise,
        utility=useful,
        inference=told,
        attacks=tried,
        cost_of_k=cost,
        drawn=sample_records(after, least=max(2, k or 2), tz=zone) if crowds else (),
    )


def _same_persons(data: Trajectories) -> SamePersons:
    """Count who may be in the original twice."""
    found = incrowd.same_person(data)
    return SamePersons(found.suspected, len(found.groups))


def gaps_in(
    table: pl.DataFrame, data: Trajectories, stretch: "Stretch", k: int | None = None
) -> KGap:
    """Tell how the k-gaps of people are spread, from a table of `incrowd.k_gap`.

    No figure is that of one of the last: the distribution ends where 99 % of people are below, or
    before it, so that ten people (a tenth, where there are few) are beyond.

    Raises
    ------
    ColumnError
        If the table is none of k-gaps, or not of this data.
    """
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
    parts = None
    if {"spatial", "temporal"} <= set(table.columns):
        space, time = (table[name].to_numpy() for name in ("spatial", "temporal"))
        both = stretch.space_weight + stretch.time_weight
        km = both / max(stretch.space_weight, 1) * stretch.max_space * data.frame.cell / 1000
        minutes = both / max(stretch.time_weight, 1) * stretch.max_time * data.frame.slot / 60
        parts = KGapParts(
            time_above_space=float((time > space).mean()),
            median_km=float(np.median(space)) * km,
            median_minutes=float(np.median(time)) * minutes,
        )
    return KGap(
        k=2 if k is None else k,
        people=len(gap),
        spread=spread_of(gap),
        hidden_already=float((gap == 0).mean()),
        curve=_curve(gap),
        parts=parts,
    )


def _alike(some: pl.Series, others: pl.Series) -> bool:
    """Tell whether two series name the same people; as text, for a CSV file has nothing else."""
    names = (series.cast(pl.String).sort() for series in (some, others))
    return next(names).equals(next(names))


def _curve(values: Floats) -> tuple[tuple[float, float], ...]:
    """Give the distribution at equal steps, up to what 99 % of people do not exceed, or less."""
    beyond = max(len(values) // 100, min(BEYOND, len(values) // 10))
    ordered = np.sort(values)
    end = float(ordered[len(values) - 1 - beyond]) or 1.0
    at = np.linspace(0, end, CURVE_STEPS + 1)
    share = np.searchsorted(ordered, at, side="right") / len(values)
    return tuple(zip(at.tolist(), share.tolist(), strict=True))


def spread_of(values: Floats) -> dict[str, float]:
    """Give mean, quartiles and ninth tenth; no extremes, for these are somebody's."""
    cuts = np.quantile(values, (0.25, 0.5, 0.75, 0.9), method="inverted_cdf")
    names = ("quarter", "median", "three_quarters", "nine_tenths")
    return {"mean": float(np.mean(values))} | dict(zip(names, map(float, cuts), strict=True))


def unique(
    visits: "Visits", slots: int, *, draws: int = 2500, seed: int = 0, threads: int | None = None
) -> tuple[Unique, ...]:
    """Tell which share of random points is one person's alone, by their number and kind.

    `slots` of the data's clock make an hour.
    """
    rows: list[Unique] = []
    for kind in KINDS:
        found = incrowd.uniqueness(
            visits, POINTS, kind=kind, precision=slots, met=1, draws=draws, seed=seed,
            threads=threads,
        )  # fmt: skip
        rows += [
            Unique(kind, row["points"], row["share"], row["low"], row["high"])
            for row in found.table.iter_rows(named=True)
            if row["share"] is not None
        ]
    return tuple(rows)


def attacked(
    visits: "Visits",
    slots: int,
    *,
    known: int = KNOWN,
    targets: int = TARGETS,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Risk:
    """Run all attacks of the registry; return which share of people is uniquely re-identified.

    Times are known to the hour. Where people were drawn, `low` and `high` enclose the share in all
    (Wilson, 95 %).
    """
    rng = np.random.default_rng(seed)
    number = min(targets, len(visits))
    who = np.sort(rng.choice(len(visits), number, replace=False))
    people = visits.people.gather(who)
    table = incrowd.risk(
        visits, list(ATTACKS), known, targets=people, precision=slots, threads=threads,
        progress=progress,
    )  # fmt: skip
    rows = []
    for attack in ATTACKS:
        risk = table.filter(table["attack"] == attack)["risk"].to_numpy()
        alone = int((risk == 1).sum())
        share = alone / number
        low, high = (share, share) if number == len(visits) else interval(alone, number)
        rows.append(
            Attacked(
                attack=attack,
                told_apart=share,
                low=min(low, share),  # rounding takes it beyond where nobody or everybody is
                high=max(high, share),
                mean_risk=float(risk.mean()),
                highest_risk=float(risk.max()),
            )
        )
    return Risk(known, number, len(visits), tuple(rows))


def made_with(manifest: Manifest) -> MadeWith:
    """Say with what the report was made, and of what."""
    return MadeWith(
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        incrowd=incrowd.__version__,
        python=platform.python_version(),
        release_made_with=manifest.incrowd,
        files={name: _mapping(known) for name, known in manifest.files.items() if name != PAGE},
    )


def settings_in(manifest: Manifest) -> Method:
    """Say how the release was made, and what was lost."""
    return Method(
        method=manifest.method,
        settings=_mapping(manifest.settings),
        frame=_mapping(manifest.frame),
        losses=_mapping(manifest.losses),
        names=manifest.names,
        holds_against=_texts(manifest.holds_against),
        fails_against=_texts(manifest.fails_against),
        guarantee=manifest.guarantee,
        explanation=_texts(manifest.explanation),
    )


def _mapping(value: Any) -> dict[str, Any]:
    """Give names and values; none where a manifest that was tampered with has something else."""
    return dict(value) if isinstance(value, Mapping) else {}


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(str, values)) if isinstance(values, list | tuple) else ()


def sizes_in(manifest: Manifest, published: int | None = None, people: int | None = None) -> Sizes:
    """Give the sizes of the release, and which share of people is not in it."""
    stated = _mapping(manifest.sizes)
    if published is None or not people:
        return Sizes(stated)
    return Sizes(stated, people, max(0.0, 1 - published / people))


def _before(
    data: Trajectories,
    gaps: pl.DataFrame | None,
    stages: Stages,
    options: Options,
    least: int,
    numbers: Numbers,
) -> ExposureBefore:
    """Tell how exposed people were; hard to hide among as many as the release does it."""
    stages.begin("k-gap")
    k = min(numbers.identical or numbers.verification.k or 2, max(2, len(data)))
    if gaps is None and len(data) > 1:
        gaps = incrowd.k_gap(data, k, threads=options.threads, progress=stages.within)
    stages.begin("exposure before")
    about = incrowd.describe(data)
    original = OriginalData(
        people=about.people,
        samples=about.samples,
        **days_of(data, least, numbers.given.tz),
        least=least,
        rows=0 if data.reading is None else data.reading.rows,
        rejected=0 if data.reading is None else data.reading.rejects.total,
        cell_m=about.cell_m,
        slot_s=about.slot_s,
        samples_a_person=about.samples_a_person.median,
        gyration_km=about.gyration_km.median,
    )
    gap = None if gaps is None else gaps_in(gaps, data, incrowd.Stretch.of(None, data.frame), k)
    uniqueness, risk = _exposure(data, options, stages.within)
    return ExposureBefore(uniqueness, risk, original, gap)


def _exposure(
    data: Trajectories, options: Options, progress: Progress | None = None
) -> tuple[tuple[Unique, ...], Risk]:
    """Tell how unique people are, and what attacks find."""
    seen, slots = incrowd.visits(data), max(1, 3600 // data.frame.slot)
    seed, threads = options.seed, options.threads
    return (
        unique(seen, slots, seed=seed, threads=threads),
        attacked(
            seen, slots, targets=options.targets, seed=seed, threads=threads, progress=progress
        ),
    )


def _left(
    pair: BeforeAfter | None, after: Trajectories, tz: str, least: int, threads: int | None
) -> "tuple[Precision, Utility | None]":
    """Tell what is left of the data."""
    if pair is None:
        return _precision(after), None
    precise = replace(_precision(after), compared=accuracy(pair, threads=threads))
    useful = utility(pair, tz=tz, grid=side_for(pair.before), least=least, threads=threads)
    if useful.persons is not None:
        useful = replace(useful, persons=_without_tails(useful.persons, least))
    return precise, useful


def _without_tails(persons: Persons, least: int) -> Persons:
    """Leave out the quantiles that fewer than so many people lie beyond."""
    errors = {
        name: replace(of, quantiles=without_tails(of.quantiles, of.both, least))
        for name in ("centre_of_mass", "home", "work")
        if (of := getattr(persons, name))
    }
    ratios = {
        name: replace(of, quantiles=without_tails(of.quantiles, of.moving, least))
        for name in ("travelled", "gyration", "hull")
        if (of := getattr(persons, name))
    }
    return replace(persons, **errors, **ratios)


def _precision(after: Trajectories) -> Precision:
    """Tell how precise a release is, which needs no original."""
    wide, long = sizes_of(after)
    space, time = tallied(after, wide, long, after.crowd)
    assert space is not None and time is not None  # noqa: S101, PT018  a release has rows
    cell, minute = after.frame.cell, after.frame.slot / 60
    weight = np.repeat(after.crowd, after.lengths())
    coarse = (wide * cell <= COARSE[0]) & (long * minute <= COARSE[1])
    return Precision(space, time, float(weight[coarse].sum() / weight.sum()))
