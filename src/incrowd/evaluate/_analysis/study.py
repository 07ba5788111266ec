"""Which features of the data make hiding cheap (section 8 of the paper of 2021).

GLOVE is run on subsets of a dataset, and the granularity of what it publishes is told beside what
the subsets differ in (figures 16 to 18). The run on the whole tells the same of people who are seen
often and rarely (figure 19), and what the effort of hiding a person goes along with (figure 20).
Where the paper leaves a choice:

- the first days are counted from the first sample of the data, and people without a sample in
  them are not there;
- a person's *sampling frequency* is her samples over the hours that all the data spans; groups
  reach from one of 0.1, 0.2, 0.3, 0.5, 1, 2, ... up to and without the next; of groups with
  fewer than 10 people nothing is told, for that would be told of somebody;
- the *effort* of hiding a person is the cost of the first merge that she is part of: for k = 2
  that with her only partner, for a larger k that with whom she was found to be most alike. People
  who were merged with nobody are left out.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._arguments import whole
from incrowd._format import duration, length
from incrowd._format import people as _people
from incrowd._numba import Floats
from incrowd._summary import Summarised, Summary
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError
from incrowd.evaluate._analysis.covariates import COVARIATES, covariates
from incrowd.evaluate._analysis.subsets import (
    Progress,
    Subset,
    SubsetRequest,
    SubsetRuns,
    area_subsets,
    first_days,
    people_subsets,
    span_of,
)
from incrowd.evaluate._correlation import pearson, spearman
from incrowd.evaluate._utility.accuracy import sizes_of, tallied
from incrowd.evaluate._utility.distributions import Distribution

if TYPE_CHECKING:
    from incrowd.evaluate._analysis.subsets import Box
    from incrowd.protect._glove.release import Release

__all__ = [
    "FEATURES",
    "Correlation",
    "Group",
    "Study",
    "Subset",
    "check",
    "findings_of",
    "first_costs",
    "size",
    "study",
]


FEATURES = ("span", "coverage", "people", "frequency", "correlations")
LEAST = 10
EDGES = [0.0, *(float(f"{n}e{power}") for power in range(-4, 4) for n in (1, 2, 3, 5))]
"""Between what samples per hour people are grouped."""
CLOSE = 1.2
"""What differs by less than this factor is about the same."""
STRONG, WEAK = 0.5, 0.2
"""From which correlation on something is strong, and below which it is hardly there."""


@dataclass(frozen=True, slots=True)
class Group:
    """People who are seen about as often, and how accurate their records are.

    Attributes
    ----------
    least, below
        Samples per hour, from and up to.
    people
        How many people.
    space, time
        The granularity of their rows, in metres and minutes.
    """

    least: float
    below: float | None
    people: int
    space: Distribution
    time: Distribution


@dataclass(frozen=True, slots=True)
class Correlation:
    """What the effort of hiding a person goes along with.

    Attributes
    ----------
    name
        One of `incrowd.evaluate._analysis.covariates.COVARIATES`.
    people
        Of how many people it is known.
    pearson, spearman
        The correlation of values, and that of ranks; None if one of them never changes.
    """

    name: str
    people: int
    pearson: float | None
    spearman: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Study(Summarised):
    """Which features of the data make hiding cheap.

    Attributes
    ----------
    k, reshape, seed
        What was asked for.
    people, samples, days
        What the data has.
    span, coverage, cardinality
        Subsets of the data, from small to large: its first days, an area, a share of its people.
        None where that was not asked for.
    area
        Where the area is.
    frequency
        People by how often they are seen, rarely seen ones first.
    correlations
        What the effort of hiding somebody goes along with.
    left_out
        Sentences: which subsets were too small.
    """

    k: int
    reshape: str
    seed: int
    people: int
    samples: int
    days: float
    span: tuple[Subset, ...] | None = None
    coverage: tuple[Subset, ...] | None = None
    area: dict[str, Any] | None = None
    cardinality: tuple[Subset, ...] | None = None
    frequency: tuple[Group, ...] | None = None
    correlations: tuple[Correlation, ...] | None = None
    left_out: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON, and what was found in sentences."""
        return asdict(self) | {"findings": self.findings()}

    def findings(self) -> list[str]:
        """Say in sentences what was found."""
        return findings_of(self)

    def _summary(self) -> Summary:
        facts = {
            "people, samples": f"{self.people:,}, {self.samples:,}",
            "days": f"{self.days:,.1f}",
        }
        title = f"Study: which features of the data make hiding cheap, k = {self.k}"
        return Summary(title, facts, notes=[*self.findings(), *self.left_out])


def study(
    data: Trajectories,
    k: int = 2,
    *,
    spans: Sequence[float] = (1, 2, 3, 7, 14),
    shares: Sequence[float] = (0.05, 0.1, 0.25, 0.5, 1.0),
    area: "Box | None" = None,
    only: Iterable[str] = FEATURES,
    reshape: str = "split",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Study:
    """Find out which features of the data make hiding cheap.

    Parameters
    ----------
    data
        Trajectories of people; those without a sample are left out.
    k
        The size of the crowd.
    spans
        How many of its first days to hide by themselves; those beyond its end stand for all of it.
    shares
        Which random shares of its people to hide by themselves.
    area
        Which area to hide by itself: west, south, east and north in degrees. Unless given, the
        square of 20 km with the most samples (of half the extent, if that is less).
    only
        Which features to look at: span, coverage, people, frequency, correlations.
    reshape
        As for :func:`incrowd.glove`.
    seed
        Makes the random shares repeatable.
    threads
        How many threads to use; all cores, unless given.
    progress
        Called with the number of people hidden, and of all in all subsets.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 8.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> found = incrowd.study(city, only=["span", "correlations"], spans=[1])
    >>> [part.name for part in found.span], [each.people for each in found.correlations]
    (['first day', 'all 14 days'], [40, 40, 40, 40])
    """
    wanted = check(k, spans, shares, only)
    if int(Trajectories.of(data).crowd.sum()) != len(data):
        raise ArgumentError("features are those of people; this dataset has crowds")
    if bool(np.any(data.lengths() == 0)):
        data = data[data.lengths() > 0]
    if len(data) < k:
        raise ArgumentError(f"{_people(len(data))} cannot hide in a crowd of {k}")
    subsets: dict[str, list[SubsetRequest]] = {}
    where: dict[str, Any] | None = None
    if "span" in wanted:
        subsets["span"] = list(first_days(data, spans))
    if "coverage" in wanted:
        subsets["coverage"], where = area_subsets(data, area)
    if "people" in wanted:
        subsets["cardinality"] = list(people_subsets(data, shares, seed))
    runs = SubsetRuns(data, k, {"reshape": reshape, "threads": threads}, progress)
    whole = bool({"frequency", "correlations"} & wanted)
    runs.plan([each for several in subsets.values() for each in several], whole=whole)
    found: dict[str, Any] = {
        name: tuple(map(runs.measure, several)) for name, several in subsets.items()
    }
    if "frequency" in wanted:
        found["frequency"] = _frequency(data, runs.whole())
    if "correlations" in wanted:
        found["correlations"] = _correlations(data, runs.whole(), threads)
    return Study(
        k=int(k),
        reshape=reshape,
        seed=seed,
        people=len(data),
        samples=data.samples,
        days=span_of(data)[1],
        area=where,
        left_out=tuple(runs.left_out),
        **found,
    )


def check(k: int, spans: Sequence[float], shares: Sequence[float], only: Iterable[str]) -> set[str]:
    """Refuse what makes no sense, whatever the data; give the features that are wanted."""
    whole("k", k, 2)
    for name, values, most in (("spans of days", spans, math.inf), ("shares", shares, 1)):
        for value in values:
            if not (0 < value <= most and math.isfinite(value)):
                limit = "above 0" if most > 1 else "above 0 and up to 1"
                raise ArgumentError(f"{name} must be numbers {limit}, not {value!r}")
    names = [only] if isinstance(only, str) else list(only)
    unknown = [name for name in names if name not in FEATURES]
    if unknown or not names:
        what = repr(unknown[0]) if unknown else "nothing"
        raise ArgumentError(f"features are {', '.join(FEATURES)}, not {what}")
    return set(names)


def _frequency(data: Trajectories, release: "Release") -> tuple[Group, ...]:
    """Group people by how often they are seen."""
    published = release.trajectories
    became = release.assignment["trajectory"].fill_null(-1).to_numpy().astype(np.int64)
    hours = span_of(data)[1] * 24
    group = np.searchsorted(EDGES, data.lengths() / hours, side="right") - 1
    wide, long = sizes_of(published)
    found = []
    for index in np.unique(group[became >= 0]).tolist():
        own = became[(group == index) & (became >= 0)]
        if len(own) < LEAST:
            continue
        people = np.bincount(own, minlength=len(published))
        space, time = tallied(published, wide, long, people)
        assert space is not None and time is not None  # noqa: S101, PT018  somebody is there
        below = EDGES[index + 1] if index + 1 < len(EDGES) else None
        found.append(Group(EDGES[index], below, len(own), space, time))
    return tuple(found)


def first_costs(people: int, release: "Release") -> Floats:
    """Give the cost of the first merge that each person is part of; not a number without one.

    Parameters
    ----------
    people
        How many people there were.
    release
        What `incrowd.glove` made of them.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.evaluate import first_costs
    >>> city = incrowd.synthesize("city", users=20, seed=7)
    >>> first_costs(len(city), incrowd.glove(city, k=2)).round(2).tolist()[:3]
    [0.22, 0.13, 0.15]
    """
    cost = np.full(people, np.nan)
    merges = release.merges
    for name in ("older", "younger"):
        who = merges[name].to_numpy()
        own = who < people  # later numbers are crowds; a person is merged once, then she is one
        cost[who[own]] = merges["cost"].to_numpy()[own]
    return cost


def _correlations(
    data: Trajectories, release: "Release", threads: int | None
) -> tuple[Correlation, ...]:
    """Correlate properties of people with the effort of hiding them."""
    cost = first_costs(len(data), release)
    values = covariates(data, threads=threads)
    found = []
    for name in COVARIATES:
        known = ~(np.isnan(cost) | np.isnan(values[name]))
        both = values[name][known], cost[known]
        found.append(Correlation(name, int(known.sum()), pearson(*both), spearman(*both)))
    return tuple(found)


def findings_of(study: "Study") -> list[str]:
    """Say it, feature by feature."""
    found: list[str] = []
    for parts in (study.span, study.coverage, study.cardinality):
        told = [part for part in parts or () if part.space is not None]
        if len(told) > 1:
            found.append(_compared(told[0], told[-1]))
    if study.frequency:
        found.append(_frequencies(study.frequency))
    found += [_correlated(each) for each in study.correlations or ()]
    return [*found, *study.left_out]


def size(metres: float, minutes: float) -> str:
    """Say how fine something is."""
    return f"{length(metres)} and {duration(minutes)}"


def _compared(small: "Subset | Group", large: "Subset | Group", names: Sequence[str] = ()) -> str:
    """Say how the medians of two parts differ."""
    assert small.space and small.time and large.space and large.time  # noqa: S101, PT018
    one, other = names or (small.name, large.name)  # type: ignore[union-attr]
    first = size(small.space.median, small.time.median)
    second = size(large.space.median, large.time.median)
    space = _factor(small.space.median, large.space.median, "wide")
    time = _factor(small.time.median, large.time.median, "long")
    text = f"{one}: half of the published samples are up to {first}; {other}: up to {second}, "
    return text[0].upper() + text[1:] + f"which is {space} and {time}."


def _factor(before: float, after: float, what: str) -> str:
    """Say how many times as wide or long."""
    if max(before, after) <= CLOSE * min(before, after):
        return f"about as {what}"
    return f"{after / before:.2g} times as {what}"


def _frequencies(groups: "Sequence[Group]") -> str:
    """Say what being seen more often does, leaving groups of a few people out."""
    people = sum(group.people for group in groups)
    large = [group for group in groups if group.people * 100 >= people]
    if len(large) < 2:  # noqa: PLR2004
        return f"Nearly everybody is seen {_often(large[0])}: nothing to compare."
    names = [f"people seen {_often(group)}" for group in (large[0], large[-1])]
    return _compared(large[0], large[-1], names)


def _often(group: "Group") -> str:
    if group.below is None:
        return f"{group.least:g} times per hour or more"
    return f"{group.least:g} to {group.below:g} times per hour"


def _correlated(each: "Correlation") -> str:
    """Say what the effort goes along with."""
    what = COVARIATES[each.name]
    if each.pearson is None or each.spearman is None:
        return f"Nothing can be said of {what}: it is the same for all of {each.people:,} people."
    strength, way = abs(each.pearson), "rises" if each.pearson > 0 else "falls"
    how = f"strongly {way} with" if strength >= STRONG else f"somewhat {way} with"
    if strength < WEAK:
        how = "has little to do with"
    return (
        f"The cost of hiding a person {how} {what} "
        f"(correlation {each.pearson:.2f}, of ranks {each.spearman:.2f})."
    )
