r"""Who may be in the data twice: under two identifiers, with the same trace or the same number.

::

    people ────> same_identifiers ───────────────────────────────┐
    samples ──> presences ──> pairs that coincide ──> test ──────┴──> groups ──> SamePerson

A *presence* is a person in a cell of the grid within ten minutes of the clock. Of two people, the
one with fewer presences is the shorter. They are suspected if

1. they coincide in at least 10 presences,
2. these are at least 4/5 of the presences of the shorter, and
3. so many are beyond chance: with N people and the number :math:`\lambda` that chance explains,

   .. math:: \binom{N}{2} \, e^{o - \lambda} (\lambda / o)^o \le 0.001
      \quad\text{for } o > \lambda \text{ presences in common.}

:math:`e^{o - \lambda} (\lambda / o)^o` is the bound of Chernoff for the probability that a sum of
independent events, of which :math:`\lambda` are expected, is at least o (Poisson's distribution and
sums of events of different probability alike); the factor is Bonferroni's, for all pairs.

What chance explains is the larger of two expectations, for the shorter a and the other b:

- *busy places and hours*: :math:`n_b \sum_{p \in a} (m_p - 1) / (T - n_a)`, where :math:`m_p`
  people have the presence p, :math:`n` are presences of a person and T of all;
- *her own places*: :math:`\sum_{p \in a} k_b(p) w(p)`, where b is in the cell of p in
  :math:`k_b` of her presences, and w is the share of all presences that are in the ten minutes of
  p. Two people who stay at home all day in the same cell coincide all day, and that is no wonder.

All pairs are looked at, without all being compared: whoever shares 4/5 of somebody's presences
shares some of the rarest of them (prefix filtering).
"""

import math
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._format import people, several
from incrowd._numba import Ints, kernel
from incrowd._outside import outside
from incrowd._summary import Summarised, Summary
from incrowd.data._columns import differs_from_previous
from incrowd.data._trajectories import Trajectories
from incrowd.errors import SamePersonWarning
from incrowd.measure._same_identifier import same_identifiers

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "LEAST",
    "MINUTES",
    "SHARE",
    "SIGNIFICANCE",
    "SamePerson",
    "checked_before",
    "log_chance",
    "same_person",
    "warn_of_same_person",
]


MINUTES = 10
"""Presences are counted once in so many minutes."""
LEAST = 10
"""Presences in common below which nothing is said."""
SHARE = (4, 5)
"""The share of the shorter's presences that are common, at least."""
SIGNIFICANCE = 0.001
"""How often chance alone may raise a suspicion at all, in the whole dataset."""
_ROOM = 1 << 16
_CHECKED: ContextVar[bool] = ContextVar("checked", default=False)


@dataclass(frozen=True, slots=True, repr=False)
class SamePerson(Summarised):
    """Who may be in the data under several identifiers.

    Attributes
    ----------
    people
        How many people the data counts.
    identifiers
        Under how many identifiers they were read.
    by_identifier
        Groups of identifiers that are the same but for how they are written.
    by_trace
        Pairs of people with nearly the same trace.
    groups
        Who may be one person: indices of people, from both.
    too_few
        People with too few presences for their trace to say anything.
    assessed
        Whether traces were compared: those of crowds are not.
    """

    people: int
    identifiers: int
    by_identifier: tuple[tuple[int, ...], ...] = field(repr=False)
    by_trace: tuple[tuple[int, int], ...] = field(repr=False)
    groups: tuple[tuple[int, ...], ...] = field(repr=False)
    too_few: int
    assessed: bool
    names: "pl.Series" = field(repr=False)

    @property
    def suspected(self) -> int:
        """How many identifiers may share a person with another."""
        return sum(map(len, self.groups))

    @property
    def at_most(self) -> int:
        """How many people there are, if every suspicion is true."""
        return self.people - self.suspected + len(self.groups)

    @property
    def words(self) -> str:
        """What was found, in one sentence."""
        if not self.groups:
            return "no two identifiers look like the same person"
        written, traced = len(self.by_identifier), len(self.by_trace)
        ways = several(written, "number or name", "numbers or names")
        how = [f"{ways} written in several ways"] if written else []
        how += [f"{several(traced, 'pair')} with nearly the same trace"] if traced else []
        return (
            f"{self.suspected:,} of {self.people:,} identifiers may be only "
            f"{people(len(self.groups))} ({', '.join(how)})"
        )

    def table(self) -> "pl.DataFrame":
        """Return a table to start from: user, person, why; a row for each suspected identifier.

        The table names people: do not print or save it where others read, such as in a notebook.
        Correct it by hand and give it to :func:`incrowd.read` as ``same_person``.
        """
        import polars as pl

        written = {one for group in self.by_identifier for one in group}
        traced = {one for pair in self.by_trace for one in pair}
        names = self.names.cast(pl.String).to_list()
        rows = [
            {
                "user": names[one],
                "person": names[group[0]],
                "why": " and ".join(
                    why for whom, why in ((written, "identifier"), (traced, "trace")) if one in whom
                ),
            }
            for group in self.groups
            for one in group
        ]
        return pl.DataFrame(rows, {"user": pl.String, "person": pl.String, "why": pl.String})

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, for JSON; no identifiers."""
        return {
            "people": self.people,
            "identifiers": self.identifiers,
            "suspected_identifiers": self.suspected,
            "suspected_people": len(self.groups),
            "by_identifier": len(self.by_identifier),
            "by_trace": len(self.by_trace) if self.assessed else None,
            "too_few_samples": self.too_few,
        }

    def _summary(self) -> Summary:
        facts = {
            "people": f"{self.people:,}",
            "identifiers": f"{self.identifiers:,}",
            "same identifier, written in several ways": f"{len(self.by_identifier):,} groups",
            "nearly the same trace": f"{len(self.by_trace):,} pairs",
            "too few samples for their trace to tell": f"{self.too_few:,}",
        }
        return Summary("People who may be in the data twice", facts, notes=[self.words])


def same_person(data: Trajectories) -> SamePerson:
    """Find people who may be in the data under several identifiers.

    Whoever is in the data twice is hidden in a crowd with herself, which is no crowd. Found are
    identifiers that are the same but for how they are written (phone numbers with and without
    country code, upper and lower case), and people whose traces coincide in nearly all samples,
    more often than chance explains.

    Two SIM cards that are used in turn, in one phone or two, are *not* found: their calls are at
    different times, and what is alike, homes and workplaces, is alike of neighbours as well. People
    who always travel together look like one.

    Parameters
    ----------
    data
        Trajectories of people. Two of whom ``read(..., same_person=...)`` was told who they are
        are not suspected.

    Returns
    -------
    SamePerson
        Counts and groups; `SamePerson.table` names them.

    References
    ----------
    - Chernoff, 1952: "A Measure of Asymptotic Efficiency for Tests of a Hypothesis Based on the sum
      of Observations", Annals of Mathematical Statistics 23 (4), DOI 10.1214/aoms/1177729330.
    - Chaudhuri et al., 2006: "A Primitive Operator for Similarity Joins in Data Cleaning", ICDE
      2006, DOI 10.1109/ICDE.2006.9; the prefix filter.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd import Trajectories
    >>> boxes = {"user": ["0700000001", "+2250700000001", "0700000002"],
    ...          "x0": [0, 9, 4], "y0": [0, 9, 4], "t0": [0, 60, 60]}
    >>> found = incrowd.same_person(Trajectories.from_boxes(boxes))
    >>> found.suspected, len(found.groups), found.at_most
    (2, 1, 2)
    """
    import polars as pl

    data = Trajectories.of(data)
    persons = None if data.reading is None else data.reading.persons
    names = data.people.cast(pl.String).to_list()
    written = [tuple(group) for group in same_identifiers(names)]
    alone = bool(np.all(data.crowd == 1)) and len(data) > 1
    traced, few = _same_traces(data) if alone else ([], 0)
    if persons is not None and persons.told_apart:
        told = np.array([name in persons.told_apart for name in names])
        traced = [(a, b) for a, b in traced if not (told[a] and told[b])]
        # Of those who are told apart, each is compared with the others only.
        written = [group for group in written if not told[list(group)].all()]
    return SamePerson(
        people=len(data),
        identifiers=len(data) if persons is None else persons.count(data.people),
        by_identifier=tuple(written),
        by_trace=tuple(traced),
        groups=tuple(_joined([*written, *traced])),
        too_few=few,
        assessed=alone,
        names=data.people,
    )


def warn_of_same_person(data: Trajectories) -> None:
    """Warn of people who may be in the data twice, unless that was looked at before."""
    if _CHECKED.get():
        return
    found = same_person(data)
    if found.groups:
        warnings.warn(
            f"{found.words}. Whoever is there twice is hidden in a crowd with herself, so that a "
            "crowd of k holds fewer than k people. See who they are with incrowd describe DATA "
            "--same-person-table FILE, correct the table, and read the data with --same-person "
            "FILE (in Python incrowd.same_person, and same_person= of incrowd.read). They may also "
            "be different people who always travel together: a table that gives each a person of "
            "her own says so",
            SamePersonWarning,
            stacklevel=outside(),
        )


@contextmanager
def checked_before() -> Iterator[None]:
    """Do not look again, within a block: what is protected is part of data that was looked at."""
    token = _CHECKED.set(True)
    try:
        yield
    finally:
        _CHECKED.reset(token)


def _joined(groups: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return groups that have nobody in common, in order."""
    from incrowd.measure._same_identifier import groups_of_keys

    keys: defaultdict[int, set[tuple[str, ...]]] = defaultdict(set)
    for number, group in enumerate(groups):
        for one in group:
            keys[one].add((str(number),))
    members = sorted(keys)
    joined = groups_of_keys([keys[one] for one in members])
    return [tuple(members[one] for one in group) for group in joined]


@dataclass(frozen=True, slots=True)
class _Presences:
    """All presences, sorted by cell and time, then by person.

    Attributes
    ----------
    place, person
        The presence (a number for each cell and ten minutes) and the person of each row.
    cuts
        Where the rows of each presence start.
    cell, bin
        Its cell and its ten minutes.
    """

    place: Ints
    person: Ints
    cuts: Ints
    cell: Ints
    bin: Ints


def _presences(data: Trajectories) -> _Presences:
    width, people = max(1, MINUTES * 60 // data.frame.slot), len(data)
    bins = data.t0 // width
    bins -= bins.min()
    high, many = int(data.y0.max()) - int(data.y0.min()) + 1, int(bins.max()) + 1
    # One number for cell, time and person; in place, for these are as many as samples.
    rows = data.x0.astype(np.int64)
    rows -= rows.min()
    wide = int(rows.max()) + 1
    rows *= high
    rows += data.y0
    rows -= int(data.y0.min())
    if wide * high * many * people >= 2**63:
        rows = np.unique(rows, return_inverse=True)[1].astype(np.int64)
    rows *= many
    rows += bins
    rows *= people
    rows += data.person()
    rows.sort()
    rows = rows[differs_from_previous(rows)]
    key, person = np.divmod(rows, people)
    first = differs_from_previous(key)
    cuts = np.append(np.flatnonzero(first), len(rows))
    cell, ten_minutes = np.divmod(key[first], many)
    return _Presences(np.cumsum(first) - 1, person, cuts, cell, ten_minutes)


def _same_traces(data: Trajectories) -> tuple[list[tuple[int, int]], int]:
    """Return pairs of people with nearly the same trace, and how many have too few presences."""
    if not data.samples:
        return [], len(data)
    all_of = _presences(data)
    many, total, places = len(data), len(all_of.place), len(all_of.cell)
    size = np.diff(all_of.cuts)
    number = np.bincount(all_of.person, minlength=many)
    start = np.concatenate([[0], np.cumsum(number)])
    # The presences of each person in order, and the rarest first.
    own = all_of.person * places + all_of.place
    own.sort()
    own %= places
    rarest = (all_of.person * (int(size.max()) + 1) + size[all_of.place]) * places + all_of.place
    rarest.sort()
    rarest %= places
    met = np.add.reduceat(size[own] - 1, start[:-1][number > 0])
    need = np.maximum(LEAST, -(-SHARE[0] * number // SHARE[1]))
    shared = np.add.reduceat((size[own] > 1).astype(np.int64), start[:-1][number > 0])
    able = np.flatnonzero(number > 0)
    met_by = np.zeros(many, np.int64)
    met_by[able] = met
    able = able[(number[able] >= need[able]) & (shared >= need[able])]
    busy = np.bincount(all_of.bin, size).astype(np.int64)
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(able):
        pairs = np.empty((_ROOM + many, 3), np.int64)
        at, filled = find_alike(
            at, able, number, need, start, own, rarest, all_of.cuts, all_of.person, pairs, LEAST
        )
        for one, other, common in pairs[:filled].tolist():
            mine = own[start[one] : start[one + 1]]
            theirs = all_of.cell[own[start[other] : start[other + 1]]]
            chance = max(
                (int(number[other]) * int(met_by[one]), int(total - number[one])),
                (_habit(all_of.cell[mine], busy[all_of.bin[mine]], theirs), total),
                key=lambda part: part[0] / part[1],
            )
            if log_chance(common, *chance, many) <= math.log(SIGNIFICANCE):
                found.append((min(one, other), max(one, other)))
    return sorted(found), int(np.count_nonzero(number < LEAST))


def _habit(cells: Ints, busy: Ints, theirs: Ints) -> int:
    """Return the sum over presences of how often somebody is in their cells, times how busy."""
    place, times = np.unique(theirs, return_counts=True)
    where = np.minimum(np.searchsorted(place, cells), len(place) - 1)
    return int(np.where(place[where] == cells, times[where], 0) @ busy)


def log_chance(common: int, numerator: int, denominator: int, people: int) -> float:
    """Return the logarithm of the bound on chance, for all pairs.

    Infinite if there are no more than chance explains: then nothing is bounded.

    Parameters
    ----------
    common
        Presences in common.
    numerator, denominator
        How many of them chance explains, as a fraction.
    people
        How many people there are.
    """
    expected = numerator / denominator
    if common <= expected:
        return math.inf
    bound = common - expected - common * math.log(common / expected)
    return bound + math.log(people * (people - 1) / 2)


@kernel
def find_alike(
    at: int,
    able: Ints,
    number: Ints,
    need: Ints,
    start: Ints,
    own: Ints,
    rarest: Ints,
    cuts: Ints,
    person: Ints,
    pairs: Ints,
    least: int,
) -> tuple[int, int]:
    """Find pairs that have as many presences in common as the shorter needs.

    Of a person's presences, all but the `need` most common must hold one of those in common; all
    but these and with `least` more must hold `least`. Only who has these is compared.

    Parameters
    ----------
    at
        The first of `able` to look at.
    able
        People who may be the shorter of a pair.
    number, need
        How many presences everybody has, and how many must be common.
    start, own, rarest
        Where the presences of everybody start; these in order, and the rarest first.
    cuts, person
        Where the people of each presence start, and who they are.
    pairs
        Takes the shorter, the other, and how many presences they have in common.
    least
        The least that anybody needs.

    Returns
    -------
    tuple
        How many of `able` are done, and how many pairs were found.
    """
    count = np.zeros(len(number), np.int64)
    seen = np.empty(len(number), np.int64)
    filled = 0
    while at < len(able) and filled + len(number) <= len(pairs):
        one = able[at]
        at += 1
        touched = 0
        for row in range(start[one], start[one] + number[one] - need[one] + least):
            place = rarest[row]
            for other in person[cuts[place] : cuts[place + 1]]:
                longer = number[other] > number[one]
                if longer or (number[other] == number[one] and other > one):
                    if count[other] == 0:
                        seen[touched] = other
                        touched += 1
                    count[other] += 1
        for index in range(touched):
            other = seen[index]
            if count[other] >= least:
                common, i, j = 0, start[one], start[other]
                while i < start[one + 1] and j < start[other + 1]:
                    common += own[i] == own[j]
                    mine, theirs = own[i], own[j]
                    i += mine <= theirs
                    j += theirs <= mine
                if common >= need[one]:
                    pairs[filled] = one, other, common
                    filled += 1
            count[other] = 0
    return at, filled
