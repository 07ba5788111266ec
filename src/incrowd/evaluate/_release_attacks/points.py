"""Somebody outside who knows a few true samples of a person: what the release tells her.

`Edges`: which crowd the person is in. Records that hold all known samples are left; of these, the
one of whose boxes the known samples touch most sides, for sides are true extremes. `Presence`: that
she is in the data at all, because no other record holds what is known. `Absence`: that she, or a
sample of hers, was left out, because no record holds it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd._format import rounded_percent
from incrowd._numba import Ints
from incrowd.data._trajectories import Trajectories, Trajectory
from incrowd.evaluate._release_attacks._kernels import count_touched
from incrowd.evaluate._release_attacks.adversary import (
    Adversary,
    KnownRelease,
    Matched,
    Tell,
    in_parts,
    match_points,
)
from incrowd.evaluate._release_attacks.base import MOVED, ReleaseAttack
from incrowd.evaluate._release_attacks.findings import Figure, Finding

__all__ = [
    "Absence",
    "Edges",
    "Presence",
    "Ranked",
    "rank_records",
]


KNOWN = (1, 2, 4, 10)
USUAL = 4
"""How many samples are known where one number is told."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Which record is found for each person, by known samples that touch sides of its boxes.

    Attributes
    ----------
    record
        The one record with most sides touched, of those that hold all that is known; -1 if there
        is none, or more than one.
    alone
        Whether her own record, and no other, holds all that is known.
    """

    record: Ints
    alone: NDArray[np.bool_]


def rank_records(release: KnownRelease, crowd: Ints, matched: Matched, threads: int) -> Ranked:
    """Rank the records that are left of each person by the sides that known samples touch.

    `crowd` tells the true one of each.
    """
    number = matched.number
    pairs = np.column_stack([np.repeat(np.arange(len(number)), number), matched.records])
    touched = np.zeros(len(pairs), np.int64)
    published = release.published

    def work(first: int, last: int) -> None:
        count_touched(
            first, last, pairs, published.boxes, release.reach, published.cuts, matched.known,
            matched.starts, release.rules.wide, release.rules.long, touched,
        )  # fmt: skip

    in_parts(len(pairs), work, threads)
    record = np.full(len(number), -1, np.int64)
    some = np.flatnonzero(number)
    if len(some):
        most = np.maximum.reduceat(touched, matched.begins[some])
        top = touched == np.repeat(most, number[some])
        one = np.add.reduceat(top.astype(np.int64), matched.begins[some]) == 1
        record[pairs[top, 0]] = matched.records[top]
        record[some[~one]] = -1
    alone = number == 1
    alone[alone] = matched.records[matched.begins[:-1][alone]] == crowd[alone]
    return Ranked(record, alone)


class Edges(ReleaseAttack):
    """Somebody who knows a few samples, and that sides of boxes are true extremes."""

    name = "edges"
    label = "Somebody who knows a few samples"
    knows = (
        f"Some true samples of a person, drawn at random ({USUAL}, unless said otherwise), and "
        "that each side of a box is that of a true sample, or that rounded outwards."
    )
    gains = "whose crowd is found"
    helps = (
        "larger crowds, larger boxes, and sides of boxes that are nobody's exact place and time "
        "(--edges)"
    )

    def unfit(self, adversary: Adversary) -> str:
        """Where positions were moved, nothing holds what is known."""
        return "" if adversary.release.rules.held else MOVED

    def run(self, adversary: Adversary, tell: Tell) -> Finding:
        """Try several numbers of known samples."""
        release, figures = adversary.release, []
        crowd = release.crowd_of[adversary.targets]
        for part, points in enumerate(KNOWN):
            found = rank_records(release, crowd, adversary.points(points), adversary.threads)
            right = found.record == crowd
            known = f"from {points} sample{'' if points == 1 else 's'}"
            figures += [
                Figure(f"found_{points}", f"people whose crowd is found {known} and sides",
                       int(right.sum()), len(crowd)),
                Figure(f"alone_{points}", f"people of whom no other record is left {known}",
                       int(found.alone.sum()), len(crowd)),
                Figure(f"right_{points}", f"crowds named {known} that are right",
                       int(right.sum()), int((found.record >= 0).sum())),
            ]  # fmt: skip
            tell((part + 1) / len(KNOWN))
        by = {each.name: rounded_percent(each.share) for each in figures}
        says = (
            f"Whoever knows {USUAL} samples of a person, picked at random, finds her crowd, for "
            f"{by[f'found_{USUAL}']} of people; for {by[f'alone_{USUAL}']} no other crowd's record "
            "holds them. That tells where the person was at other times, to the size of the "
            "boxes, but not which of the crowd's records is hers."
        )
        return self.found(f"found_{USUAL}", says, *figures)


class Presence(ReleaseAttack):
    """Somebody who wants to know whether a person is in the data at all."""

    name = "presence"
    label = "Presence in the data"
    knows = f"{USUAL} true samples of a person, drawn at random; or all of them."
    gains = "whose presence in the data is certain, because no other record holds what is known"
    helps = "larger boxes and larger crowds; data of so many people that to be in it tells nothing"

    def unfit(self, adversary: Adversary) -> str:
        """Where positions were moved, nothing holds what is known."""
        return "" if adversary.release.rules.held else MOVED

    def run(self, adversary: Adversary, tell: Tell) -> Finding:
        """Count people whose own record alone holds what is known of them."""
        release, figures = adversary.release, []
        crowd = release.crowd_of[adversary.targets]
        for name, points, known in (("some", USUAL, f"{USUAL} samples"), ("all", 0, "all samples")):
            found = rank_records(release, crowd, adversary.points(points), adversary.threads)
            figures.append(
                Figure(f"certain_{name}", f"people whose record alone holds {known} of theirs",
                       int(found.alone.sum()), len(crowd))
            )  # fmt: skip
            tell(len(figures) / 2)
        by = {each.name: rounded_percent(each.share) for each in figures}
        says = (
            f"For {by['certain_some']} of people, {USUAL} samples picked at random lie in no "
            "record but that of their crowd: whoever knows them knows that the person is in the "
            f"data. Of all samples this is true for {by['certain_all']} of people"
        )
        if figures[1].number < figures[0].number:
            says += ": samples that were left out lie in no record"
        return self.found("certain_some", f"{says}.", *figures)


class Absence(ReleaseAttack):
    """Somebody who finds that what she knows is not there."""

    name = "absence"
    label = "What was left out"
    knows = "All true samples of a person; or, of a member of the crowd, her own."
    gains = "of whom it can be seen that they, or a sample of theirs, were left out"
    helps = (
        "to leave out less, by larger boxes (--max-metres, --max-minutes) or by crowds of people "
        "who are more alike (--crowds refined)"
    )

    def unfit(self, adversary: Adversary) -> str:
        """Where positions were moved, nothing can be found missing."""
        return "" if adversary.release.rules.held else MOVED

    def run(self, adversary: Adversary, tell: Tell) -> Finding:
        """Count who was left out, and for whom missing samples tell of the others."""
        release, data = adversary.release, adversary.release.original
        dropped = np.flatnonzero(release.crowd_of < 0)
        drawn = adversary.draw(dropped)
        left = match_points(release, drawn, 0, adversary.seed, adversary.threads).number
        tell(0.5)
        missing = np.add.reduceat(
            np.append(release.missed, False), data.offsets[:-1], dtype=np.int64
        )
        missing[data.lengths() == 0] = 0
        incomplete = (missing > 0) & (release.crowd_of >= 0)
        apart, of = self._apart(adversary)
        told = int((incomplete | (release.crowd_of < 0)).sum())
        figures = (
            Figure("told", "people of whom something is missing", told, len(data)),
            Figure("left_out", "people who are left out", len(dropped), len(data)),
            Figure("proven", "people left out whose samples no record holds",
                   int((left == 0).sum()), len(drawn)),
            Figure("incomplete", "published people of whom a sample is missing",
                   int(incomplete.sum()), len(release.people)),
            Figure("apart", "missing samples that somebody else of the crowd was far from",
                   apart, of),
        )  # fmt: skip
        if not told:
            return self.found("told", "Nobody and no sample was left out.", *figures)
        by = {each.name: rounded_percent(each.share) for each in figures}
        says = f"{by['left_out']} of people are left out"
        if incomplete.any():
            says += (
                f", and of {by['incomplete']} of the others a sample is missing: whoever knows "
                "that sample sees that the person was far from her crowd then"
            )
        if of:
            says += (
                "; a member of the crowd of whom a sample is missing concludes that somebody else "
                f"of it was far away then, rightly for {by['apart']} of such samples"
            )
        return self.found("told", f"{says}.", *figures)

    def _apart(self, adversary: Adversary) -> tuple[int, int]:
        """Count missing samples of targets, and those that somebody else of the crowd was far from.

        Near is what a box may be by the thresholds that the manifest states; without thresholds
        nothing is concluded.
        """
        release, data = adversary.release, adversary.release.original
        limits = _thresholds(release)
        if limits == (None, None):
            return 0, 0
        apart = number = 0
        for person in adversary.targets:
            mine = np.arange(data.offsets[person], data.offsets[person + 1])
            row = mine[release.missed[mine]]
            members = release.members_of(release.crowd_of[person])
            others = [data[int(member)] for member in members if member != person]
            if not len(row) or not others:
                continue
            near = np.column_stack([_near(data, row, other, limits) for other in others])
            apart += int((~near.all(axis=1)).sum())
            number += len(row)
        return apart, number


def _near(
    data: Trajectories, row: Ints, other: Trajectory, limits: tuple[int | None, int | None]
) -> NDArray[np.bool_]:
    """Tell of which samples a person has one so near that a box of allowed size holds both."""
    near = np.ones((len(row), len(other)), np.bool_)
    space, time = limits
    x0, x1, y0, y1, t0, t1 = data.columns
    for low, high, start, end, most in (
        (x0, x1, other.x0, other.x1, space),
        (y0, y1, other.y0, other.y1, space),
        (t0, t1, other.t0, other.t1, time),
    ):
        if most is not None:
            near &= np.maximum.outer(high[row], end) - np.minimum.outer(low[row], start) <= most
    return np.asarray(near.any(axis=1))


def _thresholds(release: KnownRelease) -> tuple[int | None, int | None]:
    """Return the thresholds of suppression in cells and slots, as the manifest states them."""
    settings = release.manifest.settings
    found = (settings.get("max_space"), settings.get("max_time"))
    space, time = (each if type(each) is int else None for each in found)
    return space, time
