"""Everything that a report says, as typed and frozen values; `as_dict` gives it as JSON has it.

::

    Numbers ─┬─ made, given            with what, and from what, the report was made
             ├─ settings, sizes        what the manifest of the release states
             ├─ verification           what the verifier found on the written files
             ├─ same_person            who may be in the original under several identifiers
             ├─ before, after          how exposed people were, and are: k-gap, uniqueness, attacks
             ├─ accuracy, utility      what is left of the data
             ├─ inference              what a crowd's record tells of everybody in it
             ├─ attacks                what adversaries gain who hold the release
             ├─ cost_of_k              what larger crowds would cost
             ├─ rounded                whether few people are left out of the figures as well
             ├─ drawn                  a few published records
             └─ verdict                what is made of all that

Names of attributes are the keys of the JSON that stands on the page and that ``--json`` prints.
What was not given or could not be measured is None.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from incrowd.evaluate._utility.accuracy import COARSE, Accuracy, Curve, SampleSizes
from incrowd.evaluate._utility.distributions import Distribution
from incrowd.evaluate._utility.inference import Inference
from incrowd.evaluate._utility.summary import Utility
from incrowd.evaluate._verify.result import Check, Verification
from incrowd.report._lights import Verdict
from incrowd.report._release_attacks import AttackOnRelease

__all__ = [
    "Attacked",
    "Box",
    "CostOfK",
    "Exposure",
    "ExposureBefore",
    "Given",
    "KGap",
    "KGapParts",
    "MadeWith",
    "Method",
    "Numbers",
    "OriginalData",
    "Precision",
    "PublishedRecord",
    "Risk",
    "SamePersons",
    "Sizes",
    "Unique",
    "plain",
]


COUNTS = frozenset(
    (
        "words",
        "static",
        "static_kept",
        "moving",
        "vanished",
        "hidden",
        "both",
        "kinds_before",
        "kinds_after",
    )
)
"""Counts of results that the page does not show, and that may be of few people."""


@dataclass(frozen=True, slots=True)
class MadeWith:
    """When and with what the report was made, and the files of the release with their hashes."""

    date: str
    incrowd: str
    python: str
    release_made_with: str
    files: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Given:
    """What the report was made from: whether the original and the private record were there.

    Attributes
    ----------
    original, record
        Whether they were there.
    tz, zone_known
        The zone in which people live; UTC is assumed where nobody said it.
    targets, seed
        How many people were attacked, and the seed of what is drawn.
    reading
        How the original was read, as options of the command line, if the record says so.
    purpose, thresholds
        For what the release is meant, and the thresholds that were set for this report.
    """

    original: bool
    record: bool
    tz: str
    targets: int
    seed: int
    reading: str = ""
    zone_known: bool = True
    purpose: str = "contract"
    thresholds: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Method:
    """How the release was made and what was lost, as its manifest states it.

    Settings, the grid and losses have the names that the mechanism gave them. `explanation` says in
    sentences what was done, and `guarantee` what is guaranteed; older manifests have neither.
    """

    method: str
    settings: Mapping[str, Any]
    frame: Mapping[str, Any]
    losses: Mapping[str, Any]
    names: str
    holds_against: tuple[str, ...] = ()
    fails_against: tuple[str, ...] = ()
    guarantee: str | None = None
    explanation: tuple[str, ...] = ()

    def in_metres_and_minutes(self) -> dict[str, Any]:
        """Return the settings; thresholds in cells and slots also as commands take them."""
        cell, slot = self.frame.get("cell"), self.frame.get("slot")
        wide, long = self.settings.get("max_space"), self.settings.get("max_time")
        found = dict(self.settings)
        if isinstance(wide, int) and isinstance(cell, int | float):
            found["max_metres"] = wide * cell
        if isinstance(long, int) and isinstance(slot, int | float):
            found["max_minutes"] = long * slot / 60
        return found


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the release is.

    Attributes
    ----------
    stated
        What the manifest states: people, samples, trajectories, the smallest crowd.
    original_people, dropped_share
        How many people the original has, and which share of them is not in the release.
    dropped_at_most
        The largest share of people who may be left out, where they are too few to be counted.
    """

    stated: Mapping[str, Any]
    original_people: int | None = None
    dropped_share: float | None = None
    dropped_at_most: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return everything that is known, for JSON."""
        names = ("original_people", "dropped_share", "dropped_at_most")
        counted = {name: getattr(self, name) for name in names}
        return dict(self.stated) | {n: of for n, of in counted.items() if of is not None}


@dataclass(frozen=True, slots=True)
class SamePersons:
    """How many people may be in the original twice.

    How many people there are stands elsewhere, rounded where it has to be.

    Attributes
    ----------
    suspected, groups
        How many may be the same person as another, and how many groups they make.
    """

    suspected: int
    groups: int


@dataclass(frozen=True, slots=True)
class OriginalData:
    """The original, as far as it may be told.

    Attributes
    ----------
    people, samples, cell_m, slot_s, samples_a_person, gyration_km
        Counts, the grid, and two medians.
    start, end, days, days_shown, least
        The first and the last day (where people live) on which so many people were seen, how many
        days lie between them, and on how many of these there were so many.
    rows, rejected
        Rows that were read, and those that could not be used; 0 where that is not known.
    area_km2
        The area of the squares in which people enough were seen.
    """

    people: int
    samples: int
    start: str | None
    end: str | None
    days: int | None
    cell_m: float
    slot_s: int
    samples_a_person: float
    gyration_km: float
    area_km2: float | None = None
    days_shown: int | None = None
    least: int = 10
    rows: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True)
class KGapParts:
    """Which part of the k-gap is space and which is time."""

    time_above_space: float
    median_km: float
    median_minutes: float


@dataclass(frozen=True, slots=True)
class KGap:
    """How the k-gaps of people are spread; no figure is that of one of the last.

    Attributes
    ----------
    k, people
        The size of the crowd, and of how many people it is known.
    spread
        Mean, quartiles and ninth tenth.
    hidden_already
        The share of people whose k-gap is 0.
    curve
        k-gaps, each with the share of people who do not exceed it.
    parts
        Space and time; None if the table of k-gaps does not tell them apart.
    """

    k: int
    people: int
    spread: Mapping[str, float]
    hidden_already: float
    curve: tuple[tuple[float, float], ...]
    parts: KGapParts | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return everything that is known, for JSON."""
        found: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)[:-1]}
        found["curve"] = [{"gap": gap, "share": share} for gap, share in self.curve]
        return found | (plain(self.parts) if self.parts else {})


@dataclass(frozen=True, slots=True)
class Unique:
    """Which share of random points is one person's alone, with its interval of 95 %."""

    kind: str
    points: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Attacked:
    """Which share of people an attack re-identifies uniquely, and how high the risks are."""

    attack: str
    told_apart: float
    low: float
    high: float
    mean_risk: float
    highest_risk: float


@dataclass(frozen=True, slots=True)
class Risk:
    """What attackers find who know so many points, of so many of all people."""

    known: int
    attacked: int
    people: int
    attacks: tuple[Attacked, ...]


@dataclass(frozen=True, slots=True)
class Exposure:
    """How exposed people are: how unique they are, and what attackers find."""

    uniqueness: tuple[Unique, ...]
    risk: Risk | None

    def known(self, kind: str = "spatio_temporal") -> tuple[Unique, ...]:
        """Return the uniqueness by points of one kind."""
        return tuple(row for row in self.uniqueness if row.kind == kind)


@dataclass(frozen=True, slots=True)
class ExposureBefore(Exposure):
    """How exposed people were in the original, and what that was like."""

    data: OriginalData | None
    k_gap: KGap | None

    def as_dict(self) -> dict[str, Any]:
        """Return what the original was like first, for JSON."""
        return {name: getattr(self, name) for name in ("data", "k_gap", "uniqueness", "risk")}


@dataclass(frozen=True, slots=True)
class Precision:
    """How precise published samples are, and how true beside the original.

    Attributes
    ----------
    space, time
        The granularity of published rows, in metres and minutes.
    coarse
        The share of rows up to 2 km and 2 h.
    compared
        Everything that is measured beside the original; None without it.
    """

    space: Distribution
    time: Distribution
    coarse: float
    compared: Accuracy | None = None

    @property
    def of_samples(self) -> bool:
        """Whether it is known of the original's samples, and not of published rows only."""
        return self.compared is not None and self.compared.samples_coarse is not None

    @property
    def within_2_km(self) -> float:
        """The share of original samples in a box of up to 2 km; of rows, where that is unknown."""
        known = self.compared.samples_2km if self.compared else None
        return self.space.up_to(COARSE[0]) if known is None else known

    @property
    def within_2_hours(self) -> float:
        """The share of original samples in a box of up to 2 h; of rows, where that is unknown."""
        known = self.compared.samples_2h if self.compared else None
        return self.time.up_to(COARSE[1]) if known is None else known

    @property
    def within_both(self) -> float:
        """The share of original samples in a box of up to 2 km and 2 h; of rows likewise."""
        known = self.compared.samples_coarse if self.compared else None
        return self.coarse if known is None else known

    @property
    def deleted(self) -> float | None:
        """The share of original samples that no published one holds, where that is known."""
        return None if self.compared is None else self.compared.deleted

    @property
    def errors(self) -> tuple[float, float] | None:
        """The mean errors of position and time, in metres and minutes, where they are known."""
        of = self.compared
        if of is None or of.position_error is None or of.time_error is None:
            return None
        return of.position_error.mean, of.time_error.mean

    def sizes(self, axis: str) -> SampleSizes:
        """Return how wide or how long boxes are, of original samples; of rows, if unknown."""
        known = self.compared
        found = None
        if known is not None:
            found = known.samples_space if axis == "space" else known.samples_time
        if found is not None:
            return found
        rows = self.space if axis == "space" else self.time
        by: tuple[Curve, ...] = ()
        if known is not None:
            by = known.people_by_space if axis == "space" else known.people_by_time
        return SampleSizes(rows.cumulative, rows.median, by)

    def as_dict(self) -> dict[str, Any]:
        """Return everything that may be told, for JSON: extremes of errors are somebody's."""
        if self.compared is None:
            figures = {
                "space_median": self.space.median,
                "time_median": self.time.median,
                "space_2km": self.within_2_km,
                "time_2h": self.within_2_hours,
                "both_coarse": self.coarse,
            }
            return {"space": self.space, "time": self.time, "figures": figures}
        found = self.compared.as_dict()
        for name in ("position_error", "time_error"):
            if found[name]:
                found[name] = {n: of for n, of in found[name].items() if n not in ("least", "most")}
        return found | {"figures": self.compared.figures()}


@dataclass(frozen=True, slots=True)
class Box:
    """A published sample: kilometres from the record's corner, hours from its first midnight."""

    east: float
    east_to: float
    north: float
    north_to: float
    hour: float
    hour_to: float


@dataclass(frozen=True, slots=True)
class PublishedRecord:
    """A published record that is drawn, and how many people share it."""

    crowd: int
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class CostOfK:
    """What larger crowds would cost: measured on people drawn at random, by k.

    Attributes
    ----------
    people
        How many people were drawn.
    rows
        For each k: the shares of samples that lie in a published one of up to 2 km, of up to 2
        hours, and of both; of samples that are left out; of homes within 1 km.
    """

    people: int
    rows: tuple[Mapping[str, float | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Everything that a report says; see the top of this module."""

    title: str | None = None
    made: MadeWith
    given: Given
    settings: Method
    verification: Verification
    sizes: Sizes
    same_person: SamePersons | None = None
    before: ExposureBefore | None = None
    after: Exposure | None = None
    accuracy: Precision | None = None
    utility: Utility | None = None
    inference: Inference | None = None
    attacks: tuple[AttackOnRelease, ...] = ()
    cost_of_k: CostOfK | None = None
    rounded: bool = False
    drawn: tuple[PublishedRecord, ...] = field(default=())
    verdict: Verdict | None = None

    def check(self, name: str) -> Check | None:
        """Return a check of the verifier; None if it makes no such check."""
        return next((check for check in self.verification.checks if check.name == name), None)

    @property
    def readable(self) -> bool:
        """Whether the rows of the release could be read."""
        rows = self.check("rows")
        return rows is not None and rows.ok is True

    @property
    def smallest_crowd(self) -> int | None:
        """How many people share the rarest record, if that was counted."""
        crowds = self.check("k-anonymity")
        return None if crowds is None else crowds.figures.get("smallest")

    @property
    def identical(self) -> int | None:
        """How many people share every record, verified; None if that was not, or did not hold.

        A release may be verified for a k that means something else.
        """
        crowds = self.check("k-anonymity")
        return crowds.figures.get("k") if crowds is not None and crowds.ok is True else None

    @property
    def samples_left_out(self) -> float | None:
        """The share of original samples that are not in the release, if it is known.

        Measured, where crowds are promised; otherwise, and without the private record, as whoever
        made it states: a method that moves samples leaves none where it was, and none out.
        """
        measured = self.accuracy.deleted if self.accuracy else None
        if self.verification.k is not None and measured is not None:
            return measured
        total = self.before.data.samples if self.before and self.before.data else 0
        lost = [self.settings.losses.get(f"samples_{how}") for how in ("dropped", "suppressed")]
        known = [number for number in lost if isinstance(number, int)]
        return sum(known) / total if total and known else None

    @property
    def samples_moved(self) -> float | None:
        """The share of original samples that are in the release and not where they were."""
        deleted = self.accuracy.deleted if self.accuracy else None
        if deleted is None or self.verification.k is not None:
            return None
        return max(0.0, deleted - (self.samples_left_out or 0.0)) or None

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        found = {each.name: plain(getattr(self, each.name)) for each in fields(self)}
        return _without_zeros(found) if self.rounded else found


def plain(value: Any) -> Any:
    """Return a value as JSON has it: names are text, tuples are lists, numbers are Python's.

    Examples
    --------
    >>> import numpy as np
    >>> plain(KGapParts(np.float64(0.5), 1.0, 2.0))
    {'time_above_space': 0.5, 'median_km': 1.0, 'median_minutes': 2.0}
    """
    if isinstance(value, Verification):
        value = value.to_dict()
    elif isinstance(value, Inference | Utility):
        # Sentences that the page has not, and counts that may be of few people.
        value = _without(value.as_dict(), COUNTS)
    elif isinstance(value, ExposureBefore | KGap | Precision | Sizes):
        value = value.as_dict()
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.item() if hasattr(value, "item") else value


def _without(value: Any, names: frozenset[str]) -> Any:
    """Return plain values without what has one of these names."""
    if isinstance(value, dict):
        return {name: _without(of, names) for name, of in value.items() if name not in names}
    return [_without(each, names) for each in value] if isinstance(value, list | tuple) else value


def _without_zeros(value: Any) -> Any:
    """Return plain values; how many people are left out is null, for it is few, and not 0."""
    if isinstance(value, dict):
        return {
            name: None if name in ("people_dropped", "dropped") and of == 0 else _without_zeros(of)
            for name, of in value.items()
        }
    return [_without_zeros(each) for each in value] if isinstance(value, list) else value
