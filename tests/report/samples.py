"""Numbers of a report, made by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from incrowd.evaluate._utility.accuracy import Accuracy
from incrowd.evaluate._utility.aggregate import AggregateUtility, Difference, Map
from incrowd.evaluate._utility.distributions import Distribution, errors_of, ratios_of
from incrowd.evaluate._utility.inference import Disclosure, Inference, Share
from incrowd.evaluate._utility.summary import Persons, Utility
from incrowd.evaluate._verify.result import NAMES, Check, Verification
from incrowd.report._numbers import (
    Exposure,
    ExposureBefore,
    Given,
    MadeWith,
    Method,
    Numbers,
    Precision,
    SamePersons,
    Sizes,
    Unique,
)

NONE = Difference(0, 0, 0, 0, 0.0, 1.0)
NEEDED = (("k-anonymity",), ("files", "rows", "sizes", "names"))
"""The checks that must hold of a release that promises a k, and of one that does not."""


def checks(
    smallest: int | None = 3, k: int | None = 3, **results: bool | None
) -> tuple[Check, ...]:
    """Give checks that hold, but for those that are named."""
    return tuple(
        Check(
            name,
            results.get(name.replace("-", "_").replace(" ", "_"), True),
            f"The {name}.",
            {"smallest": smallest, "k": k} if name == "k-anonymity" and smallest else {},
        )
        for name in NAMES
    )


def numbers(
    smallest: int | None = 3,
    k: int | None = 3,
    *,
    unique: tuple[float, ...] = (),
    **results: bool | None,
) -> Numbers:
    """Give numbers of a release of which nothing but its files is known."""
    return Numbers(
        made=MadeWith("2012-03-19", "1", "3", "1", {}),
        given=Given(original=False, record=False, tz="UTC", targets=500, seed=0),
        settings=Method("GLOVE", {"k": k}, {"cell": 100.0, "slot": 60}, {}, "random"),
        verification=Verification(
            Path("release"),
            k,
            checks(smallest, k, **results),
            (),
            required=NEEDED[k is None],
            claim="" if k is None else f"at least {k} people share every record",
        ),
        sizes=Sizes({"people": 90, "samples": 900}),
        same_person=SamePersons(0, 0),
        after=Exposure(rows(*unique), None) if unique else None,
        inference=told(0),
    )


def told(people: int, of: int = 100) -> Inference:
    """Give what records tell: the home and a night of so many people to 1 km, and none to 100 m."""
    share, none = Share(people, of), Share(0, of)
    lengths = (
        Disclosure(100, 1, 100, none, none, none, none, none),
        Disclosure(1000, 10, 1000, share, none, share, none, none),
    )
    return Inference("UTC", of, 0, 0, lengths)


def with_sizes(known: Numbers, **sizes: float) -> Numbers:
    """Give the same with other sizes."""
    return replace(known, sizes=replace(known.sizes, **sizes))


def with_settings(known: Numbers, **settings: Any) -> Numbers:
    """Give the same with another method, settings or losses."""
    return replace(known, settings=replace(known.settings, **settings))


def before(*shares: float, **more: Any) -> ExposureBefore:
    """Give how exposed people were."""
    known: dict[str, Any] = {"risk": None, "data": None, "k_gap": None} | more
    return ExposureBefore(uniqueness=rows(*shares), **known)


def rows(*shares: float, kind: str = "spatio_temporal") -> tuple[Unique, ...]:
    """Give uniqueness by one point, two points and so on."""
    return tuple(
        Unique(kind, points, share, share, share) for points, share in enumerate(shares, 1)
    )


def spread(median: float = 100.0, mean: float = 100.0, **up_to: float) -> Distribution:
    """Give a distribution; `up_to` has shares by thresholds, as in t2000=0.5."""
    cumulative = tuple((float(name[1:]), share) for name, share in up_to.items())
    return Distribution(mean, 0.0, median, median, median, median, cumulative)


def sharp(
    space: float = 1.0,
    time: float = 1.0,
    *,
    deleted: int | None = None,
    errors: tuple[float, float] | None = None,
    medians: tuple[float, float] = (100.0, 1.0),
) -> Precision:
    """Give how precise samples are; of 10,000 in the original, so many are deleted."""
    wide, long = spread(medians[0], t2000=space), spread(medians[1], t120=time)
    off = (None, None) if errors is None else tuple(spread(mean=mean) for mean in errors)
    compared = Accuracy(
        people=90, samples=10_000, people_published=90, people_dropped=0, boxes=1, rows=1,
        space=wide, time=long, fine=0.0, coarse=space * time, people_by_space=(),
        people_by_time=(), rows_created=0, rows_unseen=0, samples_deleted=deleted,
        position_error=off[0], time_error=off[1],
    )  # fmt: skip
    there = deleted is not None or errors is not None
    return Precision(wide, long, space * time, compared if there else None)


def squares(
    *cells: tuple[int, int, int | None, int | None], columns: int = 3, rows: int = 2
) -> Map:
    """Give a map of some squares of half a kilometre."""
    return Map(None, 500.0, 0.0, 0.0, columns, rows, 10, cells)


def useful(persons: Persons | None = None, about: Map | None = None, moved: float = 0.0) -> Utility:
    """Give what the data is still good for."""
    change = replace(NONE, before=9, after=9, moved=moved, common=1 - moved)
    together = AggregateUtility(
        1.0, change, change, change, None, about or squares(columns=0, rows=0)
    )
    return Utility("UTC", 10, persons, together)


def within(home: float | None, work: float | None) -> Utility:
    """Give what became of homes and workplaces."""
    import numpy as np

    nobody, still = errors_of(0, 0, []), ratios_of("km", np.zeros(0), np.zeros(0), 10)
    at_home, at_work = (
        replace(nobody, within={0.5: 0.0, 1: share, 2: 1.0}, both=10_000, original=10_000)
        if share is not None
        else nobody
        for share in (home, work)
    )
    return useful(Persons(9, 0, nobody, at_home, at_work, still, still, still))
