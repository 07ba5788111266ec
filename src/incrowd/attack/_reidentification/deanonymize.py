"""`deanonymize`: who is re-identified across time, by three attackers.

::

    visits ──> train_test_split ──> train, test ──┬──> TopN ────┐
               (split.py)                         ├──> TfIdf ───┼──> who is matched ──> Recognition
                                                  └──> Markov ──┘    with whom
                                                  (top_n.py, matchers.py)

Test people are worked on in blocks, on several threads; what is found for one does not depend on
the others.
"""

import functools
import queue
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd._arguments import is_whole
from incrowd._format import percent
from incrowd._numba import Ints
from incrowd._parallel import cores, on_threads
from incrowd._summary import Summarised, Summary
from incrowd.attack._reidentification.matchers import (
    ATTACKERS,
    Markov,
    Matcher,
    Matches,
    TfIdf,
    attackers_of,
)
from incrowd.attack._reidentification.split import share_of, train_test_split
from incrowd.attack._reidentification.top_n import TopN
from incrowd.data._trajectories import Trajectories
from incrowd.data._visits import Visits
from incrowd.errors import ArgumentError, InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Recognition",
    "deanonymize",
]


Flags = npt.NDArray[np.bool_]

BLOCK = 64
"""How many people are matched at a time."""
MANY = 1 << 30
"""Of more people than this, the sum of indices in `top_n.PERSON` would not fit."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recognition(Summarised):
    """How many people were re-identified, by which attacker.

    Attributes
    ----------
    table
        A row for each attacker (and each n): attacker, n (null where it has no meaning), people
        (all who have training and test entries), matched (M: exactly one person was most similar),
        correct (C: and it was the right one), precision (correct of matched; null if nobody was
        matched), recall (correct of people), recall_all (correct of everybody, as in the paper).
    people
        How many people have training and test entries.
    excluded
        How many people have not, by the reason.
    without_transitions
        How many of `people` have one entry only, in training or in test: the Markov attacker knows
        nothing of them. None if that attacker was not asked for.
    matches
        If asked for, a row for each attacker, n and person: user, attacker, n, matched (the person
        she was matched with; null if nobody). The table names people: do not print or save it where
        others read, such as in a notebook.
    """

    table: "pl.DataFrame"
    people: int
    excluded: dict[str, int]
    without_transitions: int | None
    matches: "pl.DataFrame | None"

    @property
    def everybody(self) -> int:
        """How many people there are, with or without training and test entries."""
        return self.people + sum(self.excluded.values())

    def _summary(self) -> Summary:
        best = self.table.sort("recall", descending=True, maintain_order=True)
        rows = [
            (
                row["attacker"] + ("" if row["n"] is None else f", n = {row['n']}"),
                f"{row['matched']:,}",
                f"{row['correct']:,}",
                percent(row["precision"]),
                percent(row["recall"]),
            )
            for row in best.unique("attacker", keep="first", maintain_order=True).iter_rows(
                named=True
            )
        ]
        return Summary(
            f"Re-identification of {self.people:,} of {self.everybody:,} people",
            head=("attacker", "matched", "correct", "precision", "recall"),
            rows=rows,
            notes=["Of each attacker the n that finds most; `table` has all."],
        )


def deanonymize(
    visits: Visits | Trajectories,
    *,
    known: Visits | Trajectories | None = None,
    crowd: npt.ArrayLike | None = None,
    known_crowd: npt.ArrayLike | None = None,
    share: float | str | Fraction | None = 0.7,
    n: int | Iterable[int] = range(1, 51),
    attackers: str | Iterable[str] = ATTACKERS,
    precision: int = 1,
    matches: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Recognition:
    """Re-identify people in the last part of the data, by what is known from the first part.

    The attack of section 3.4 of the paper of 2016 (*Top-n*), and two stronger ones. Each compares
    the test entries of a person with the training entries of everybody; if exactly one person is
    most similar, she is the match, right or wrong. If several are, or nobody has anything in
    common, there is no match.

    Parameters
    ----------
    visits
        Visits of everybody; of trajectories, those of :func:`incrowd.visits`, and their crowds.
    known
        What the adversary learned from, if it is another dataset of the same people: then the first
        part of `known` is for training, and the last part of `visits` for testing. People are
        matched by identifiers that read the same; places by their names if both have names, by
        their codes otherwise.
    crowd, known_crowd
        Of a release: how many people share the record of each person of `visits`, and of `known`
        (of all `visits`, if there is no `known`). A record that several people share
        identifies none of them: its tests have no match, and matches with it do not count.
    share
        The share of a person's entries, in the order of time, for training; the rest is for
        testing. 0.7 is seven tenths, exactly; a person with ten entries has seven for training.
        With `known`, None trains on all of it, and tests on all of `visits`.
    n
        How many of a person's most visited places the first attacker knows; or several numbers.
    attackers
        ``"top"`` knows the n most visited places of each person, and nothing else of them;
        ``"tfidf"`` knows how often each person was where, and rare places weigh more;
        ``"markov"`` knows how often each person went from where to where.
    precision
        How many time units of the visits make a slot. Being at a place is one entry of a slot,
        however often it was recorded.
    matches
        Whether to return who was matched with whom.
    threads
        How many threads to use; all cores, unless given. The result is the same.
    progress
        Called now and then with the number of people done, and of all (times attackers).

    Returns
    -------
    Recognition
        How many were matched, and how many of them correctly: of those with training and test
        entries, and of everybody.

    Notes
    -----
    *top*: the cosine of two sets, compared exactly; of places visited equally often, the one with
    the lower code comes first. *tfidf*: the cosine of two vectors of ``count * log(people /
    people who were there)``, the people being those who train; two cosines within a billionth of
    each other count as equal. *markov*: after Gambs, Killijian and Núñez del Prado (2014). Theirs
    are chains between clusters of positions, compared by how far the clusters of two people lie
    apart. Here places have codes and no positions; so a chain is the share of each transition (or
    stay) among all, and the similarity of two is what they share: the sum of the lesser ones,
    which is 1 minus the total variation distance. Compared exactly.

    References
    ----------
    - Boutet et al., 2016: "Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets", LIRIS
      research report hal-01381986; section 3.4, top.
    - Gambs et al., 2014: "De-anonymization attack on geolocated data", Journal of Computer and
      System Sciences 80 (8), DOI 10.1016/j.jcss.2014.04.024; the chains that markov is after.

    Examples
    --------
    >>> from incrowd import Visits, deanonymize
    >>> visits = Visits.from_rows({
    ...     "user": ["ann"] * 4 + ["bob"] * 4,
    ...     "place": [1, 1, 2, 1] + [3, 2, 2, 3],
    ...     "time": [0, 1, 2, 3] + [0, 1, 2, 3]})
    >>> found = deanonymize(visits, n=[1, 2], attackers="top")
    >>> found.table.select("n", "matched", "correct", "recall").rows()
    [(1, 1, 1, 0.5), (2, 2, 2, 1.0)]
    """
    part, wanted, names = (
        share_of(share, other=known is not None),
        _wanted(n),
        attackers_of(attackers),
    )
    _check_precision(precision)
    visits, crowd = _visits_of(visits, crowd)
    if known is not None:
        known, known_crowd = _visits_of(known, known_crowd)
    tested, trained = _alone(visits, crowd, "crowd"), _alone(known, known_crowd, "known_crowd")
    number = cores(threads)
    split = train_test_split(visits, known, part, int(precision), number)
    people, found = len(split.who), {}
    if people >= MANY:
        raise InputError(f"there are {people:,} people; up to {MANY:,} can be compared")
    report = _progress(progress, people * len(names))
    report(0)
    places = functools.cache(lambda: split.visits(number))
    without = None
    for done, name in enumerate(names):
        matcher: Matcher
        if name == "top":
            matcher = TopN(*places(), split.places, wanted)
        elif name == "tfidf":
            matcher = TfIdf(*places())
        else:
            train, test = split.transitions(number)
            without = int(np.sum((train.total == 0) | (test.total == 0)))
            matcher = Markov(train, test)
        parts = []
        for first, matched in _blocks(matcher, people, number):
            parts.append(matched)
            report(done * people + first + len(matched))
        found[name] = np.concatenate(parts)
        _drop_shared(
            found[name], tested[split.who], (tested if known is None else trained)[split.known]
        )
    users = visits.people.gather(split.who)
    table = _table(found, wanted, people + sum(split.excluded.values()))
    pairs = _pairs(users, found, wanted) if matches else None
    return Recognition(table, people, split.excluded, without, pairs)


def _blocks(matcher: Matcher, people: int, threads: int) -> Iterator[tuple[int, Matches]]:
    """Match all test people, block by block."""
    buffers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for _ in range(threads + 1):
        buffers.put(matcher.scratch())

    def work(first: int) -> tuple[int, Matches]:
        scratch = buffers.get()
        try:
            return first, matcher.match(first, min(first + BLOCK, people), scratch)
        finally:
            buffers.put(scratch)

    return on_threads(threads, work, range(0, people, BLOCK))


def _visits_of(
    data: Visits | Trajectories, crowd: npt.ArrayLike | None
) -> tuple[Visits, npt.ArrayLike | None]:
    """Return the visits of everybody, and how many people share the record of each."""
    if crowd is None and isinstance(data, Trajectories):
        crowd = np.repeat(data.crowd, data.crowd)
    return Visits.of(data), crowd


def _alone(visits: Visits | None, crowd: npt.ArrayLike | None, name: str) -> Flags:
    """Return whose record is not shared with anybody."""
    number = 0 if visits is None else len(visits)
    if crowd is None:
        return np.ones(number, np.bool_)
    sizes = np.asarray(crowd)
    if sizes.shape != (number,) or sizes.dtype.kind not in "iu" or bool(np.any(sizes < 1)):
        raise ArgumentError(f"{name} must be a positive integer for each of {number:,} people")
    return np.asarray(sizes == 1)


def _drop_shared(matched: Matches, tested: Flags, trained: Flags) -> None:
    """Drop matches of records, or with records, that several people share."""
    matched[~tested] = -1
    matched[(matched >= 0) & ~trained[matched]] = -1


def _table(found: dict[str, Matches], wanted: Ints, everybody: int) -> "pl.DataFrame":
    """Return how many were matched, how many correctly, and precision and recall (section 3.4)."""
    import polars as pl

    rows = []
    for name, matched in found.items():
        people = len(matched)
        some = np.sum(matched >= 0, axis=0).tolist()
        right = np.sum(matched == np.arange(people)[:, None], axis=0).tolist()
        for n, m, c in zip(_ns(name, wanted), some, right, strict=True):
            rows.append((name, n, people, m, c, c / m if m else None, c / people, c / everybody))
    return pl.DataFrame(
        rows,
        schema={
            "attacker": pl.String,
            "n": pl.Int64,
            "people": pl.Int64,
            "matched": pl.Int64,
            "correct": pl.Int64,
            "precision": pl.Float64,
            "recall": pl.Float64,
            "recall_all": pl.Float64,
        },
        orient="row",
    )


def _pairs(users: "pl.Series", found: dict[str, Matches], wanted: Ints) -> "pl.DataFrame":
    """Return who was matched with whom."""
    import polars as pl

    runs = [(name, n) for name in found for n in _ns(name, wanted)]
    which = np.repeat(np.arange(len(runs)), len(users))
    who = pl.Series(
        np.concatenate([matched.T.ravel() for matched in found.values()]), dtype=pl.Int64
    )
    return pl.DataFrame(
        {
            "user": users.gather(np.tile(np.arange(len(users)), len(runs))),
            "attacker": pl.Series([name for name, _ in runs]).gather(which),
            "n": pl.Series([n for _, n in runs], dtype=pl.Int64).gather(which),
            "matched": users.gather(who.set(who < 0, None)),
        }
    )


def _ns(attacker: str, wanted: Ints) -> list[int | None]:
    return [*wanted.tolist()] if attacker == "top" else [None]


def _progress(tell: Callable[[int, int], None] | None, of: int) -> Callable[[int], None]:
    return lambda done: tell(done, of) if tell else None


def _wanted(n: int | Iterable[int]) -> Ints:
    """Return the numbers of places, each once, in order."""
    several = list(n) if isinstance(n, Iterable) else [n]
    for one in several:
        if not is_whole(one):
            raise ArgumentError(f"n must be an integer, not {one!r}")
        if not 1 <= one < 1 << 62:
            raise ArgumentError(f"n must be at least 1 (places that the attacker knows), not {one}")
    if not several:
        raise ArgumentError("n is empty; give at least one number of places")
    return np.array(sorted({int(one) for one in several}), np.int64)


def _check_precision(precision: int) -> None:
    if not is_whole(precision):
        raise ArgumentError(f"precision must be an integer (time units), not {precision!r}")
    if precision < 1:
        raise ArgumentError(f"precision must be at least 1 time unit, not {precision}")
