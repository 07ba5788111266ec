"""What an adversary holds: a release from its files, and, to judge what she gains, the truth.

::

    files, original, private record ──> KnownRelease: everything on the clock of the release
    KnownRelease, what she knows more ──> Adversary: people who are attacked, drawn once for all
                                          attacks; what some true samples of each leave

Attacks use the files, and what an adversary is said to know of people. The original and the
private record only tell whether she is right.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd._numba import Ints
from incrowd._parallel import on_threads
from incrowd.data._frame import Frame
from incrowd.data._manifest import Manifest, read_manifest
from incrowd.data._original import as_recorded, refuse_other_original
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError
from incrowd.evaluate._comparison import BeforeAfter, load_rows, published_as_trajectories
from incrowd.evaluate._release_attacks._kernels import SampleIndex, index_samples, match_records
from incrowd.evaluate._verify._kernels import blocks_of
from incrowd.evaluate._verify.alignment import AlignedRelease, align, match_record, read_record
from incrowd.evaluate._verify.guarantees import guarantee_of
from incrowd.evaluate._verify.promises import EdgeGrid, edge_grid, may_suppress
from incrowd.evaluate._verify.rows import Published
from incrowd.evaluate._verify.truthfulness import stated_loss

__all__ = [
    "Adversary",
    "KnownRelease",
    "Matched",
    "Rules",
    "Tell",
    "in_parts",
    "match_points",
]


PARTS = 64
"""Into how many pieces long work is cut."""
Columns = tuple[NDArray[np.int32], ...]
Tell = Callable[[float], None]
"""Called with the share that is done."""


class Rules(NamedTuple):
    """What the method says of boxes, from which an adversary concludes who may be a member.

    Attributes
    ----------
    held
        Boxes hold samples of their people; not where these were moved.
    most
        How many samples of a person may lie in none of her boxes; -1 for any number.
    witness
        Everybody of a crowd has a sample in each of its boxes.
    whole
        Boxes were not cut in time.
    wide, long
        The cells and slots to which sides were rounded outwards; 1 where they were not.
    """

    held: bool
    most: int
    witness: bool
    whole: bool
    wide: int = 1
    long: int = 1


@dataclass(frozen=True, eq=False)
class KnownRelease:
    """A release, from its files, and the truth beside it, on one clock.

    Attributes
    ----------
    path, manifest, published
        The release.
    original
        What it was made from, on the clock of the release.
    crowd_of
        The published crowd of each person of the original; -1 for nobody who is published.
    missed
        Which samples of the original lie in no box of their person.
    reach
        The latest end among the boxes of a record up to each box.
    """

    path: Path
    manifest: Manifest
    published: Published
    original: Trajectories
    crowd_of: Ints
    missed: NDArray[np.bool_]
    reach: NDArray[np.int32]

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        original: Trajectories | Callable[[Frame], Trajectories] | None,
        record: Any,
    ) -> "KnownRelease":
        """Read a release, its original and the private record.

        Raises
        ------
        UnreadableError
            If it is no release, or its rows are not what they should be.
        ArgumentError
            If the original or the record belong to another release.
        """
        if record is None:
            raise ArgumentError(
                "whether an attack succeeds is known from the private record of who became whom; "
                "give it (record=, --record)"
            )
        folder, table = Path(path), read_record(record)
        manifest = read_manifest(folder)
        published = load_rows(folder, manifest)
        read = as_recorded(record) if original is None else original
        data = read if isinstance(read, Trajectories) else read(published.frame)
        refuse_other_original(record, data)
        aligned = align(published, data)
        data = on_clock(data, published.frame, aligned.shift)
        found = match_record(
            AlignedRelease(published, data, 0, aligned.reach), table, lambda _: None
        )
        if not bool(np.any(found.crowd_of >= 0)):
            raise ArgumentError(
                f"the private record names nobody of both the original and {folder}; it belongs "
                "to another release"
            )
        return cls(folder, manifest, published, data, found.crowd_of, found.missed, aligned.reach)

    @property
    def pair(self) -> BeforeAfter:
        """The data before and after."""
        after = published_as_trajectories(self.published)
        edges = (self.rules.wide, self.rules.long)
        return BeforeAfter(self.original, after, self.crowd_of, edges)

    @cached_property
    def people(self) -> Ints:
        """The people of the original who are published."""
        return np.flatnonzero(self.crowd_of >= 0)

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """The people of each crowd, and where those of each begin."""
        who = self.people[np.argsort(self.crowd_of[self.people], kind="stable")]
        count = np.bincount(self.crowd_of[who], minlength=len(self.published.sizes))
        return who, np.concatenate([[0], np.cumsum(count)])

    def members_of(self, crowd: int) -> Ints:
        """Return the people of a crowd."""
        who, starts = self.members
        return who[starts[crowd] : starts[crowd + 1]]

    @cached_property
    def rules(self) -> Rules:
        """What the method says of boxes."""
        guarantee = guarantee_of(self.manifest)
        if guarantee is None:
            return Rules(held=False, most=-1, witness=False, whole=False)
        means_nothing = guarantee.not_applicable(self.manifest)
        stated = stated_loss(self.manifest, "samples_suppressed")
        most = -1 if stated is None else stated
        whole = not guarantee.cut_in_time(self.manifest)
        frame = self.published.frame
        grid = edge_grid(self.manifest, frame.cell, frame.slot) or EdgeGrid()
        return Rules(
            held="coverage" not in means_nothing,
            most=most if may_suppress(self.manifest, stated) else 0,
            witness=whole and "witness" not in means_nothing,
            whole=whole,
            wide=grid.wide,
            long=grid.long,
        )

    @cached_property
    def blocks(self) -> tuple[Ints, NDArray[np.int32]]:
        """The samples of the original in blocks; see `blocks_of`."""
        return blocks_of(self.original.columns, self.original.offsets)

    def boxes_of(self, crowds: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32], Ints]:
        """Return the boxes of some crowds, their reach, and where those of each begin."""
        cuts = self.published.cuts
        lengths = (cuts[1:] - cuts[:-1])[crowds]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        row = np.repeat(cuts[crowds] - starts[:-1], lengths) + np.arange(starts[-1])
        return self.published.boxes[row], self.reach[row], starts


def on_clock(data: Trajectories, frame: Frame, shift: int) -> Trajectories:
    """Return data on the clock of a grid; `shift` takes a slot of its own to one of that."""
    *sides, t0, t1 = data.columns
    columns = (*sides, t0 + np.int32(shift), t1 + np.int32(shift))
    return Trajectories(
        columns, data.offsets, frame, people=data.people, crowd=data.crowd, reading=data.reading
    )


@dataclass(frozen=True, eq=False)
class Adversary:
    """What an adversary holds and knows, and the people whom she attacks.

    Attributes
    ----------
    release
        The release under attack.
    others
        Other releases that she holds.
    named
        A dataset with names that is like the original: the original itself, unless another is
        given. On the clock of the release.
    later
        A later dataset of the same people with names, on the clock of the release; None to take
        the last part of the original for it.
    places
        Sensitive places: a frame with lat, lon and, if it has one, name; None if none are given.
    tz
        The zone of nights and working hours.
    sample, seed
        How many people are attacked, at most, and the seed with which these, and what is known of
        them, are drawn.
    threads
        How many threads to use.
    cache
        What one attack has found that others use as well.
    """

    release: KnownRelease
    others: tuple[KnownRelease, ...] = ()
    named: Trajectories | None = None
    later: Trajectories | None = None
    places: pl.DataFrame | None = None
    tz: str = "UTC"
    sample: int = 1000
    seed: int = 0
    threads: int = 1
    cache: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def targets(self) -> Ints:
        """The people who are attacked: published ones, drawn at random."""
        return self.draw(self.release.people)

    def draw(self, people: Ints) -> Ints:
        """Draw people to be attacked; all, if there are no more than that."""
        if len(people) <= self.sample:
            return people
        rng = np.random.default_rng([self.seed, len(people)])
        return np.sort(rng.choice(people, self.sample, replace=False))

    @cached_property
    def reference(self) -> Trajectories:
        """The dataset with names."""
        return self.release.original if self.named is None else self.named

    @cached_property
    def number_in_reference(self) -> Ints:
        """The number of each person of the original in the dataset with names; -1 for nobody."""
        if self.named is None:
            return np.arange(len(self.release.original))
        return numbers_in(self.release.original, self.named)

    def reference_of(self, some: int = 0) -> tuple[Trajectories, SampleIndex]:
        """Return the dataset with names, or so many random samples of each person; and its index.

        Of somebody with fewer samples all are there.
        """
        key = ("reference", some)
        if key not in self.cache:
            data = self.reference
            if some:
                data = _some_samples(data, some, self.seed)
            self.cache[key] = data, index_samples(data)
        found: tuple[Trajectories, SampleIndex] = self.cache[key]
        return found

    def points(self, number: int) -> "Matched":
        """Return what so many true samples of each target leave; 0 stands for all of them."""
        key = ("points", number)
        if key not in self.cache:
            self.cache[key] = match_points(
                self.release, self.targets, number, self.seed, self.threads
            )
        found: Matched = self.cache[key]
        return found


def _some_samples(data: Trajectories, some: int, seed: int) -> Trajectories:
    """Keep so many samples of each person, drawn at random."""
    rng = np.random.default_rng([seed, some])
    order = np.lexsort((rng.random(data.samples), data.person()))
    rank = np.arange(data.samples) - np.repeat(data.offsets[:-1], data.lengths())
    kept = np.sort(order[rank < some])
    offsets = np.searchsorted(kept, data.offsets)
    columns = tuple(column[kept] for column in data.columns)
    return Trajectories(columns, offsets, data.frame, people=data.people)


def numbers_in(data: Trajectories, other: Trajectories) -> Ints:
    """Return the number of each person of a dataset in another one, by her name; -1 for nobody."""
    names = pl.DataFrame(
        {"user": other.people.cast(pl.String), "number": np.arange(len(other), dtype=np.int64)}
    )
    mine = pl.DataFrame({"user": data.people.cast(pl.String)})
    found = mine.join(names, on="user", how="left", maintain_order="left")
    return found["number"].fill_null(-1).to_numpy()


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Records that hold what is known of people.

    Attributes
    ----------
    known, starts
        The known samples, and where those of each person begin.
    records, begins
        The records that hold all that is known of a person, and where those of each begin.
    """

    known: Columns
    starts: Ints
    records: Ints
    begins: Ints

    @property
    def number(self) -> Ints:
        """How many records are left of each person."""
        return np.diff(self.begins)

    def of(self, i: int) -> Ints:
        """Return the records that are left of the person at a position."""
        return self.records[self.begins[i] : self.begins[i + 1]]


def match_points(
    release: KnownRelease, people: Ints, number: int, seed: int, threads: int
) -> Matched:
    """Find the records that hold true samples of people, drawn at random; 0 for all of hers.

    Of somebody with fewer samples all are known.
    """
    rng, data = np.random.default_rng([seed, number]), release.original
    rows: list[Ints] = []
    for start, length in zip(data.offsets[people], data.lengths()[people], strict=True):
        every = start + np.arange(length)
        known = every
        if 0 < number < length:
            known = start + rng.choice(length, number, replace=False)
        rows.append(np.sort(known))
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    row = np.concatenate([*rows, np.empty(0, np.int64)]).astype(np.int64)
    known = tuple(column[row] for column in data.columns)
    pairs = _pairs(release, known, starts, threads)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    begins = np.searchsorted(pairs[order, 0], np.arange(len(people) + 1))
    return Matched(known, starts, pairs[order, 1], begins)


def _pairs(release: KnownRelease, known: Columns, starts: Ints, threads: int) -> Ints:
    """Return pairs of a person and a record that holds all that is known of her."""
    none = np.empty((0, 2), np.int64)
    if not len(starts) - 1:
        return none
    # The kernel takes people in the order of their first known sample.
    order = np.argsort(known[4][starts[:-1]], kind="stable")
    lengths = np.diff(starts)[order]
    trials = np.concatenate([[0], np.cumsum(lengths)])
    row = np.repeat(starts[:-1][order] - trials[:-1], lengths) + np.arange(trials[-1])
    sorted_known = tuple(column[row] for column in known)
    heads = tuple(column[trials[:-1]] for column in sorted_known)
    published = release.published

    def work(first: int, last: int) -> Ints:
        return match_records(
            first, last, published.boxes, release.reach, published.cuts, sorted_known, heads,
            trials,
        )  # fmt: skip

    found = np.concatenate([none, *in_parts(len(published.sizes), work, threads)])
    found[:, 0] = order[found[:, 0]]
    return found


def in_parts(
    number: int, work: Callable[[int, int], Any], threads: int, tell: Tell = lambda _: None
) -> list[Any]:
    """Do work on pieces of 0 to `number`, on several threads; return what each gives, in order."""
    edges = np.unique(np.linspace(0, number, PARTS + 1).astype(int)).tolist()
    jobs = list(pairwise(edges))
    found = []
    for part in on_threads(threads, lambda ends: work(*ends), jobs):
        found.append(part)
        tell(len(found) / len(jobs))
    return found
