"""Insiders: members of a crowd who know their own traces subtract them from its record.

Every side of a published box is that of a true sample of somebody in the crowd. A side that none of
the insiders' own samples touches is therefore somebody else's. So they learn where the others were
more precisely than the box tells, and find them in a dataset that has names::

    box of Alma and Binta      Alma knows her own sample   ──> the west and the south side are
    ┌─────────────┐            (A), which touches the          Binta's: she was in the corner (B)
    │           A │            north and the east side
    │ B           │
    └─────────────┘

Where boxes were cut in time, sides in space may come from samples before or after the box. Where
sides were rounded outwards (--edges), a sample inside touches those to which its own are rounded:
so fewer are surely another's, and each tells a coarser cell only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from incrowd._format import rounded_percent
from incrowd._numba import Ints
from incrowd.data._trajectories import Trajectories
from incrowd.evaluate._release_attacks._kernels import (
    ALL,
    EAST,
    END,
    NORTH,
    SOUTH,
    START,
    WEST,
    Judging,
    Targets,
    locate_samples,
    rank_people,
)
from incrowd.evaluate._release_attacks.adversary import Adversary, Tell, in_parts
from incrowd.evaluate._release_attacks.base import UNMOVED, ReleaseAttack
from incrowd.evaluate._release_attacks.findings import Figure, Finding
from incrowd.evaluate._utility.individual import HOME, mobility_profiles, places_apart
from incrowd.evaluate._verify._kernels import witnesses_and_edges
from incrowd.measure._centres import centres_of

__all__ = [
    "Insider",
    "Insiders",
    "Named",
    "insiders_of",
]


ROOM = 64
"""How many people who may be members are kept for each target."""
PAIR = 2
SOME = 10
"""How many samples of everybody the dataset with names has, unless it has all."""
NEAR = 100
"""Metres."""
AXES = ((0, WEST, EAST), (2, SOUTH, NORTH), (4, START, END))
"""The first column of each axis, and the bits of its two sides."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Whom insiders name.

    Attributes
    ----------
    possible
        How many people may be members, of all that the dataset with names has.
    names, right
        How many people are named, and how many of them are members.
    target
        Whether the target is named.
    certain
        Whether she is, because nobody else may be a member.
    members
        The first of those who may be members; -1 where there are no more.
    """

    possible: Ints
    names: Ints
    right: Ints
    target: NDArray[np.bool_]
    certain: NDArray[np.bool_]
    members: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Insiders:
    """Members of the crowd of each target who together know their own traces.

    Attributes
    ----------
    adversary
        What they hold.
    people
        The targets.
    known, begins
        The insiders of each, by their numbers in the original.
    boxes, reach, cuts
        The record of the crowd of each target.
    sides
        The sides of each box that no sample of an insider touches, as bits.
    """

    adversary: Adversary
    people: Ints
    known: Ints
    begins: Ints
    boxes: NDArray[np.int32]
    reach: NDArray[np.int32]
    cuts: Ints
    sides: NDArray[np.uint8]

    @property
    def unknown(self) -> Ints:
        """How many people of each crowd are not among the insiders."""
        release = self.adversary.release
        return release.published.sizes[release.crowd_of[self.people]] - np.diff(self.begins)

    def name_others(self, some: int = 0, tell: Tell = lambda _: None) -> Named:
        """Find the other members in the dataset with names, of which `some` samples are there.

        Of each person as many, drawn at random; 0 for all. Of part of a trace it can be said that
        boxes must hold it, but not that it must have a sample in each of them.
        """
        mine, release = self.adversary, self.adversary.release
        number = mine.number_in_reference
        crowds = release.crowd_of[self.people]
        insiders = [self.known[low:up] for low, up in pairwise(self.begins)]
        others, known = [], []
        for person, crowd, those in zip(self.people, crowds, insiders, strict=True):
            rest = np.setdiff1d(release.members_of(crowd), [*those, person])
            others.append(number[rest][number[rest] >= 0])
            known.append(number[those][number[those] >= 0])
        targets = Targets(
            self.boxes,
            self.reach,
            self.cuts,
            self.sides,
            *_joined(known),
            *_joined(others),
            number[self.people],
            self.unknown,
        )
        counts = np.zeros((len(self.people), 5), np.int64)
        members = np.full((len(self.people), ROOM), -1, np.int32)
        data, index = mine.reference_of(some)
        rules = release.rules
        judging = Judging(rules.whole, rules.witness and not some, rules.whole and not some,
                          rules.most, rules.wide, rules.long)  # fmt: skip

        def work(first: int, last: int) -> None:
            rank_people(
                first, last, targets, judging, data.columns, data.offsets, index, counts, members
            )

        in_parts(len(self.people), work, mine.threads, tell)
        possible, names, right, target, may_be = counts.T
        certain = (possible == targets.unknown) & (may_be > 0)
        return Named(possible, names, right, target > 0, certain, members)

    def narrowed(self) -> NDArray[np.int32]:
        """Return the boxes as narrow as the insiders know where somebody else was.

        Along an axis of which one side is not theirs, somebody else was in the outermost cell (or
        slot) on that side; of sides that were rounded, in the outermost of the coarser grid.
        """
        boxes, rules = self.boxes[:, :6].copy(), self.adversary.release.rules
        for (low, start, end), step in zip(AXES, (rules.wide, rules.wide, rules.long), strict=True):
            first, last = (self.sides & bit > 0 for bit in (start, end))
            boxes[:, low + 1] = np.where(first & ~last, boxes[:, low] + step, boxes[:, low + 1])
            boxes[:, low] = np.where(last & ~first, boxes[:, low + 1] - step, boxes[:, low])
        return boxes

    def guess_samples(self, boxes: NDArray[np.int32]) -> tuple[int, int]:
        """Count the targets' samples within 100 m of the middle of what is known of their boxes.

        Of all samples that a box holds; along both axes.
        """
        data = self.adversary.release.original
        lengths = data.lengths()[self.people]
        begins = np.concatenate([[0], np.cumsum(lengths)])
        where = np.full(begins[-1], -1, np.int64)

        def work(first: int, last: int) -> None:
            locate_samples(
                first, last, self.people, data.columns, data.offsets, self.boxes, self.cuts,
                begins, where,
            )  # fmt: skip

        in_parts(len(self.people), work, self.adversary.threads)
        row = np.repeat(data.offsets[self.people] - begins[:-1], lengths) + np.arange(begins[-1])
        row, where = row[where >= 0], where[where >= 0]
        off = np.zeros(len(row), np.int64)
        for low in (0, 2):
            true = data.columns[low][row].astype(np.int64) + data.columns[low + 1][row]
            guess = boxes[where, low].astype(np.int64) + boxes[where, low + 1]
            off = np.maximum(off, np.abs(true - guess))
        return int((off * data.frame.cell <= 2 * self._near).sum()), len(row)

    def find_homes(self, boxes: NDArray[np.int32]) -> tuple[int, int]:
        """Count the targets whose home is where most of their boxes are by night, to 100 m."""
        mine, data = self.adversary, self.adversary.release.original
        true, told = (
            mobility_profiles(centres_of(each, mine.tz, mine.threads), mine.threads)
            for each in (data[self.people], _as_trajectories(boxes, self.cuts, data))
        )
        having = int((true.whole[:, HOME + 2] > 0).sum())
        apart = places_apart(true, told, HOME)
        found = sum(each is not None and each * data.frame.cell <= self._near for each in apart)
        return found, having

    @property
    def _near(self) -> float:
        """100 m, or the side of a cell that is wider."""
        return max(NEAR, self.adversary.release.original.frame.cell)


def insiders_of(adversary: Adversary, *, every: bool) -> Insiders:
    """Return insiders for each target: all other members of her crowd, or one drawn at random."""
    key = ("insiders", every)
    if key not in adversary.cache:
        adversary.cache[key] = _insiders_of(adversary, every=every)
    found: Insiders = adversary.cache[key]
    return found


def _insiders_of(adversary: Adversary, *, every: bool) -> Insiders:
    release, rng = adversary.release, np.random.default_rng([adversary.seed, every])
    people, known = [], []
    for person in adversary.targets:
        members = release.members_of(release.crowd_of[person])
        rest = members[members != person]
        if len(rest):
            people.append(person)
            known.append(rest if every else rng.choice(rest, 1))
    who = np.array(people, np.int64)
    insiders, begins = _joined(known)
    boxes, reach, cuts = release.boxes_of(release.crowd_of[who])
    sides = np.zeros(len(boxes), np.uint8)
    data, (blocks, spans) = release.original, release.blocks
    longest = int((data.t1 - data.t0).max(initial=1))
    unused = np.zeros((2, len(boxes)), np.int32)

    def work(first: int, last: int) -> None:
        witnesses_and_edges(
            first, last, insiders, begins, data.columns, data.offsets, 0, longest, blocks, spans,
            boxes, cuts, int(release.rules.whole), release.rules.wide, release.rules.long,
            unused[0], unused[1], sides,
        )  # fmt: skip

    in_parts(len(who), work, adversary.threads)
    return Insiders(adversary, who, insiders, begins, boxes, reach, cuts, sides ^ np.uint8(ALL))


def _joined(parts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Lay arrays one behind the other; return where each begins as well."""
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int64), starts


def _as_trajectories(boxes: NDArray[np.int32], cuts: Ints, data: Trajectories) -> Trajectories:
    """Return boxes as trajectories: in order, each once."""
    owner = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    keys = np.column_stack([owner, boxes[:, [4, 5, 0, 1, 2, 3]]])
    rows = np.unique(keys, axis=0)
    columns = tuple(
        np.ascontiguousarray(rows[:, 1 + at]).astype(np.int32) for at in (2, 3, 4, 5, 0, 1)
    )
    offsets = np.searchsorted(rows[:, 0], np.arange(len(cuts)))
    return Trajectories(columns, offsets, data.frame)


class Insider(ReleaseAttack):
    """A member of the crowd, or all others of it together, who know their own traces."""

    name = "insider"
    label = "A member of the crowd"
    knows = (
        "She is one of the crowd herself and knows her own trace; to name others, she has a "
        "dataset with names that is like the original."
    )
    gains = "whom one other member of the crowd finds in a dataset with names"
    helps = (
        "larger crowds (k = 3 or more), sides of boxes that are nobody's exact place and time "
        "(--edges), and that nobody has a dataset with names"
    )

    def unfit(self, adversary: Adversary) -> str:
        """Where positions were moved, sides tell nothing; and who is alone has no insider."""
        if not adversary.release.rules.held:
            return "Points were moved: sides of boxes need not be anybody's. " + UNMOVED
        if not len(insiders_of(adversary, every=False).people):
            return "Nobody shares a record with anybody else who is known."
        return ""

    def run(self, adversary: Adversary, tell: Tell) -> Finding:
        """Let one other member try, and all others together."""
        figures: list[Figure] = []
        pairs = bool((adversary.release.published.sizes == PAIR).all())
        groups = {"one": "one other member"} | ({} if pairs else {"all": "all others together"})
        for part, (which, who) in enumerate(groups.items()):
            inside = insiders_of(adversary, every=which == "all")
            people, sides = len(inside.people), int(np.bitwise_count(inside.sides).sum())
            for nth, some in enumerate((SOME, 0)):
                at = (part + nth / 2) / len(groups)
                named = inside.name_others(some, lambda share, at=at: tell(at + share / 4))  # type: ignore[misc]
                known = f"knowing {some} samples of everybody" if some else "knowing all samples"
                name = f"{which}{'' if some else '_knowing_all'}"
                figures += [
                    Figure(f"named_by_{name}", f"people whom {who} names, {known}",
                           int(named.target.sum()), people),
                    Figure(f"right_of_{name}", f"names of {who} that are right, {known}",
                           int(named.right.sum()), int(named.names.sum())),
                ]  # fmt: skip
            figures += [
                Figure(f"sides_for_{which}", f"sides of boxes that {who} knows to be others'",
                       sides, 6 * len(inside.boxes)),
                *_guessed(inside, which, who, inside.narrowed()),
            ]  # fmt: skip
            if which == "one":
                figures += _guessed(inside, "outsider", "somebody outside", inside.boxes)
        by = {each.name: rounded_percent(each.share) for each in figures}
        says = (
            "Somebody in a crowd knows her own places and times, and has a dataset with the name "
            f"and {SOME} samples of everybody. In it {by['named_by_one']} of people are named by "
            "one other member of their crowd"
            + ("" if pairs else f", {by['named_by_all']} by all others of it together")
            + f". She guesses {by['near_one']} of the other's samples to 100 m; somebody outside "
            f"the crowd guesses {by['near_outsider']}."
        )
        return self.found("named_by_one", says, *figures)


def _guessed(
    inside: Insiders, which: str, who: str, boxes: NDArray[np.int32]
) -> tuple[Figure, Figure]:
    """Count what is guessed to 100 m from what is known of boxes."""
    samples, homes = inside.guess_samples(boxes), inside.find_homes(boxes)
    return (
        Figure(f"near_{which}", f"samples that {who} guesses to 100 m", *samples),
        Figure(f"homes_{which}", f"homes that {who} finds to 100 m", *homes),
    )
