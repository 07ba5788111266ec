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
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd._format import people, several
from incrowd._outside import outside
from incrowd._summary import Summarised, Summary
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
_RARE = 4
"""So many of the rarest presences must be common before two people are compared."""
_PIECE = 1 << 22

Longs = npt.NDArray[np.int64]
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
        how = [
            text
            for found, text in (
                (
                    self.by_identifier,
                    f"{several(len(self.by_identifier), 'identifier')} written in several ways",
                ),
                (
                    self.by_trace,
                    f"{several(len(self.by_trace), 'pair')} with nearly the same trace",
                ),
            )
            if found
        ]
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
        groups=tuple(_joined(len(data), [*written, *traced])),
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


def _joined(people: int, groups: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return groups that have nobody in common, in order."""
    from incrowd.measure._same_identifier import groups_of_keys

    keys: list[set[tuple[str, ...]]] = [set() for _ in range(people)]
    for number, group in enumerate(groups):
        for one in group:
            keys[one].add((str(number),))
    members = [one for one in range(people) if keys[one]]
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

    place: Longs
    person: Longs
    cuts: Longs
    cell: Longs
    bin: Longs


def _presences(data: Trajectories) -> _Presences:
    width = max(1, MINUTES * 60 // data.frame.slot)
    x, y = (side.astype(np.int64) - int(side.min()) for side in (data.x0, data.y0))
    cell = np.unique(x * (int(y.max()) + 1) + y, return_inverse=True)[1]
    bins = data.t0.astype(np.int64) // width
    bins -= bins.min()
    many = int(bins.max()) + 1
    key, place = np.unique(cell * many + bins, return_inverse=True)
    rows = np.unique(place.astype(np.int64) * len(data) + data.person())
    place, person = np.divmod(rows, len(data))
    cuts = np.searchsorted(place, np.arange(len(key) + 1))
    return _Presences(place, person, cuts, key // many, key % many)


def _same_traces(data: Trajectories) -> tuple[list[tuple[int, int]], int]:
    """Return pairs of people with nearly the same trace, and how many have too few presences."""
    if not data.samples:
        return [], len(data)
    all_of = _presences(data)
    many, total = len(data), len(all_of.place)
    size = np.diff(all_of.cuts)
    number = np.bincount(all_of.person, minlength=many)
    met = np.zeros(many, np.int64)
    np.add.at(met, all_of.person, size[all_of.place] - 1)
    need = np.maximum(LEAST, -(-SHARE[0] * number // SHARE[1]))
    order = np.lexsort((all_of.place, size[all_of.place], all_of.person))
    mine, start = all_of.place[order], np.concatenate([[0], np.cumsum(number)])
    shared = np.bincount(all_of.person, size[all_of.place] > 1, many)
    able = np.flatnonzero((number >= need) & (shared >= need))
    found: list[tuple[int, int]] = []
    busy = np.bincount(all_of.bin, size).astype(np.int64)
    cells = _by_cell(all_of)
    known = all_of.place * many + all_of.person
    for a, b in _near(all_of, able, number, need, start, mine):
        common = _common(known, mine, start, a, b, many)
        enough = common >= need[a]
        for one, other, both in zip(a[enough], b[enough], common[enough], strict=True):
            own = mine[start[one] : start[one + 1]]
            habits = cells(int(other), all_of.cell[own])
            chance = max(
                (int(number[other]) * int(met[one]), int(total - number[one])),
                (int(habits @ busy[all_of.bin[own]]), total),
                key=lambda part: part[0] / part[1],
            )
            if log_chance(int(both), *chance, many) <= math.log(SIGNIFICANCE):
                found.append((min(int(one), int(other)), max(int(one), int(other))))
    return sorted(found), int(np.count_nonzero(number < LEAST))


def log_chance(common: int, numerator: int, denominator: int, people: int) -> float:
    """Return the logarithm of the bound on chance, for all pairs; 0 if there are as many as that.

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
        return 0.0
    bound = common - expected - common * math.log(common / expected)
    return bound + math.log(people * (people - 1) / 2)


def _near(
    all_of: _Presences, able: Longs, number: Longs, need: Longs, start: Longs, mine: Longs
) -> Iterator[tuple[Longs, Longs]]:
    """Yield pairs that may have enough in common, some at a time: the shorter, and the other.

    Of a person's presences, all but the `need` most common must hold one of those in common; all
    but these less three must hold four.
    """
    size, rare = np.diff(all_of.cuts), np.minimum(need, _RARE)
    looked = number - need + rare
    place = mine[_ranges(start[able], looked[able])]
    who = np.repeat(able, looked[able])
    place, who = place[size[place] > 1], who[size[place] > 1]
    # Cut between two people, so that what each shares with others is counted at once.
    first = np.flatnonzero(np.diff(who, prepend=-1))
    work = np.add.reduceat(size[place], first) if len(first) else first
    for some in _pieces(work):
        rows = slice(first[some.start], first[some.stop] if some.stop < len(first) else len(who))
        other = all_of.person[_ranges(all_of.cuts[place[rows]], size[place[rows]])]
        one = np.repeat(who[rows], size[place[rows]])
        # The shorter of two is `one`; of equals the first.
        longer = (number[other] > number[one]) | ((number[other] == number[one]) & (other > one))
        pair, times = np.unique(one[longer] * len(number) + other[longer], return_counts=True)
        one, other = np.divmod(pair, len(number))
        enough = times >= rare[one]
        if enough.any():
            yield one[enough], other[enough]


def _pieces(work: Longs) -> Iterator[slice]:
    """Cut a list into pieces of bounded work, or of one each."""
    ends, at = np.cumsum(work), 0
    while at < len(work):
        begin = ends[at - 1] if at else 0
        until = max(at + 1, int(np.searchsorted(ends, begin + _PIECE, side="right")))
        yield slice(at, until)
        at = until


def _common(known: Longs, mine: Longs, start: Longs, a: Longs, b: Longs, people: int) -> Longs:
    """Return how many presences pairs have in common."""
    counts = np.zeros(len(a), np.int64)
    length = start[a + 1] - start[a]
    for part in _pieces(length):
        wanted = mine[_ranges(start[a[part]], length[part])] * people
        wanted += np.repeat(b[part], length[part])
        where = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        pair = np.repeat(np.arange(part.stop - part.start), length[part])
        counts[part] = np.bincount(pair, known[where] == wanted, part.stop - part.start)
    return counts


def _by_cell(all_of: _Presences) -> Any:
    """Return a function that counts the presences of a person in cells."""
    many = int(all_of.cell.max()) + 1
    code, count = np.unique(all_of.person * many + all_of.cell[all_of.place], return_counts=True)

    def counted(person: int, cells: Longs) -> Longs:
        wanted = person * many + cells
        where = np.minimum(np.searchsorted(code, wanted), len(code) - 1)
        return np.where(code[where] == wanted, count[where], 0)

    return counted


def _ranges(start: Longs, length: Longs) -> Longs:
    """Return the numbers from each start on, so many of each."""
    ends = np.cumsum(length)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(start - ends + length, length) + np.arange(total)
