"""Composition: somebody who lays several releases of the same people over one another.

Names are fresh in each release, so that records are linked by what they say. Who knows a few true
samples of a person in each period finds the crowds that she may be in; the people who are in such a
crowd in *every* release are left, which may be one person. And records are linked without knowing
anything: by boxes that meet in space and time, where periods overlap; by places and times of day,
where they do not.
"""

from collections.abc import Sequence
from math import lcm

import numpy as np
from numpy.typing import NDArray

from incrowd._format import rounded_percent
from incrowd._numba import Ints
from incrowd.data._frame import Frame
from incrowd.data._vectors import Vectors
from incrowd.evaluate._release_attacks._kernels import match_boxes
from incrowd.evaluate._release_attacks.adversary import (
    Adversary,
    KnownRelease,
    Tell,
    in_parts,
    match_points,
    numbers_in,
)
from incrowd.evaluate._release_attacks.base import MOVED, ReleaseAttack
from incrowd.evaluate._release_attacks.findings import Figure, Finding
from incrowd.evaluate._release_attacks.later import most_similar, profiles_of
from incrowd.evaluate._release_attacks.points import rank_records
from incrowd.evaluate._verify._kernels import latest_ends
from incrowd.evaluate._verify.alignment import same_plane
from incrowd.protect._normalise import coarser_space, coarser_time

__all__ = [
    "Composition",
    "left_of",
    "link_records",
]


KNOWN = (4, 10, 0)
"""How many samples are known in each release; 0 for all."""
USUAL = 10


def left_of(
    releases: list[KnownRelease], crowds: list[Ints], targets: Ints, points: int, seed: int,
    threads: int,
) -> tuple[Ints, NDArray[np.bool_]]:  # fmt: skip
    """Return how many people are left of each target, and whether she is one of them.

    `crowds` has the crowd of each person of the first original in each release, -1 for none. Those
    are left who are, in every release, in the crowd that is found by what is known of the target
    there; where none is found, in one whose record holds it.
    """
    matched = []
    for release, crowd in zip(releases, crowds, strict=True):
        number = numbers_in(releases[0].original, release.original)[targets]
        found = match_points(release, number, points, seed, threads)
        matched.append((found, rank_records(release, crowd[targets], found, threads).record))
    left, there = np.zeros(len(targets), np.int64), np.zeros(len(targets), np.bool_)
    for i, target in enumerate(targets):
        still = np.ones(len(crowds[0]), np.bool_)
        for release, (found, record), crowd in zip(releases, matched, crowds, strict=True):
            fits = np.zeros(len(release.published.sizes) + 1, np.bool_)  # the last one: no crowd
            fits[found.of(i) if record[i] < 0 else record[i]] = True
            still &= fits[crowd]
        left[i], there[i] = int(still.sum()), still[target]
    return left, there


def link_records(
    one: KnownRelease, other: KnownRelease, some: Ints, tz: str, threads: int, tell: Tell
) -> Ints:
    """Return the record of the other release that goes best with some of the one; -1 for none."""
    mine, theirs = one.published, other.published
    shift = theirs.frame.origin - mine.frame.origin
    alike = (
        (mine.frame.cell, mine.frame.slot) == (theirs.frame.cell, theirs.frame.slot)
        and same_plane(mine.frame, theirs.frame)
        and shift % mine.frame.slot == 0
    )
    # The boxes of the one lie on its own clock, so many slots before that of the other.
    shift = -shift // mine.frame.slot
    own, its = (_rounded(release, (one, other) if alike else ()) for release in (one, other))
    first = max(int(own[:, 4].min()) + shift, int(its[:, 4].min()))
    last = min(int(own[:, 5].max()) + shift, int(its[:, 5].max()))
    if alike and first < last:
        boxes, cuts = _within(own, mine.cuts, first - shift, last - shift)
        others, bounds = _within(its, theirs.cuts, first, last)
        reach = latest_ends(others, bounds)
        best = np.zeros((len(some), 2), np.int64)

        def work(begin: int, end: int) -> None:
            match_boxes(begin, end, some, boxes, cuts, others, bounds, reach, shift, best)

        in_parts(len(some), work, threads, tell)
        return np.where(best[:, 1] == 1, best[:, 0], -1)
    train, test = (_profiles(release, one, tz) for release in (other, one))
    found = most_similar(train, test, threads, tell)
    return found[some]


def _rounded(release: KnownRelease, releases: Sequence[KnownRelease]) -> NDArray[np.int32]:
    """Return the boxes of a release on the coarser grid that edges of several have in common.

    Sides that were the same before they were rounded, each to a grid of its own, are so on it.
    """
    wide, long = lcm(*(r.rules.wide for r in releases)), lcm(*(r.rules.long for r in releases))
    boxes, frame = release.published.boxes.copy(), release.published.frame
    x0, x1, y0, y1, t0, t1 = (np.ascontiguousarray(boxes[:, side]) for side in range(6))
    if wide > release.rules.wide:
        x0, x1 = coarser_space(x0, x1, frame, wide * frame.cell)
        y0, y1 = coarser_space(y0, y1, frame, wide * frame.cell)
    if long > release.rules.long:
        t0, t1 = coarser_time(t0, t1, frame, long * frame.slot / 60)
    boxes[:, :6] = np.column_stack([x0, x1, y0, y1, t0, t1])
    return boxes


def _within(
    boxes: NDArray[np.int32], cuts: Ints, first: int, last: int
) -> tuple[NDArray[np.int32], Ints]:
    """Keep the boxes that lie in a period."""
    kept = (boxes[:, 4] >= first) & (boxes[:, 5] <= last)
    return boxes[kept], np.concatenate([[0], np.cumsum(kept)])[cuts]


def _profiles(release: KnownRelease, grid: KnownRelease, tz: str) -> Vectors:
    """Return the squares of each record, on the plane of another release."""
    published, frame = release.published, grid.published.frame
    boxes = published.boxes[:, :6].astype(np.int64)
    if release is not grid:
        # Moved so that centres are where they are on the other plane; boxes stay as large.
        cell, own = frame.cell, published.frame
        x, y = (own.metres(boxes[:, i] + boxes[:, i + 1]) / 2 for i in (0, 2))
        there = frame.cells(*own.degrees(x, y))
        for i, centre in zip((0, 2), there, strict=True):
            size = np.maximum(1, ((boxes[:, i + 1] - boxes[:, i]) * own.cell / cell).astype(int))
            boxes[:, i] = centre - (size - 1) // 2
            boxes[:, i + 1] = boxes[:, i] + size
    owner = np.repeat(np.arange(len(published.sizes)), np.diff(published.cuts))
    clock = Frame(None, frame.cell, published.frame.slot, published.frame.origin)
    return profiles_of(boxes, owner, len(published.sizes), clock, tz)


class Composition(ReleaseAttack):
    """Somebody who holds several releases of the same people."""

    name = "composition"
    label = "Several releases together"
    knows = (
        "Other releases of the same people (--with), and some true samples of a person in each; or "
        "nothing but the releases."
    )
    gains = "who are alone in what their crowds have in common"
    helps = "crowds of the same people in every release (--ledger)"
    needs_others = True

    def unfit(self, adversary: Adversary) -> str:
        """There must be another release."""
        if not adversary.others:
            return (
                "It needs another release of the same people (--with). Where there is none, and "
                "will be none, nobody can do this."
            )
        if not all(each.rules.held for each in (adversary.release, *adversary.others)):
            return MOVED
        return ""

    def run(self, adversary: Adversary, tell: Tell) -> Finding:
        """Count who is alone, by what is known; and who is linked without anything."""
        releases = [adversary.release, *adversary.others]
        crowds = [adversary.release.crowd_of]
        for release in adversary.others:
            number = numbers_in(adversary.release.original, release.original)
            crowds.append(np.where(number >= 0, np.append(release.crowd_of, -1)[number], -1))
        everywhere = np.flatnonzero(np.all([crowd >= 0 for crowd in crowds], axis=0))
        if not len(everywhere):
            return self.not_tried("Nobody is published in all of these releases.")
        targets = adversary.draw(everywhere)
        figures = []
        for part, points in enumerate(KNOWN):
            left, there = left_of(
                releases, crowds, targets, points, adversary.seed, adversary.threads
            )
            known = f"{points} samples" if points else "all samples"
            figures.append(
                Figure(f"alone_{points or 'all'}",
                       f"people who are left alone, by {known} known in each release",
                       int(((left == 1) & there).sum()), len(targets))
            )  # fmt: skip
            tell((part + 1) / (len(KNOWN) + 1))
        together = np.unique(np.stack(crowds, 1)[everywhere], axis=0, return_counts=True)
        alone = {tuple(each) for each in together[0][together[1] == 1].tolist()}
        mine = [tuple(each) for each in np.stack(crowds, 1)[targets].tolist()]
        single = np.array([each in alone for each in mine], np.bool_)
        linked, out = self._linked(adversary, crowds, targets)
        figures += [
            Figure("alone", "people whose crowds have nobody else in common", int(single.sum()),
                   len(targets)),
            Figure("linked", "people whose records are linked by the releases alone",
                   int(linked.sum()), len(targets)),
            Figure("linked_alone", "people who are then alone in what both crowds have in common",
                   int((linked & out).sum()), len(targets)),
        ]  # fmt: skip
        tell(1.0)
        by = {each.name: rounded_percent(each.share) for each in figures}
        says = (
            f"In {len(releases)} releases together {by['alone']} of people are in crowds that have "
            f"nobody else in common; {by[f'alone_{USUAL}']} are left alone for somebody who knows "
            f"{USUAL} samples of them in each. The records of {by['linked']} are linked by the "
            "releases alone."
        )
        return self.found(f"alone_{USUAL}", says, *figures)

    def _linked(
        self, adversary: Adversary, crowds: list[Ints], targets: Ints
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell whose records are linked with those of any other release, and who is alone then."""
        linked, out = (np.zeros(len(targets), np.bool_) for _ in range(2))
        some, which = np.unique(crowds[0][targets], return_inverse=True)
        for release, crowd in zip(adversary.others, crowds[1:], strict=True):
            found = link_records(
                adversary.release, release, some, adversary.tz, adversary.threads, lambda _: None
            )
            right = found[which] == crowd[targets]
            both = np.stack([crowds[0], crowd], 1)
            both = both[(both >= 0).all(axis=1)]
            pairs, number = np.unique(both, axis=0, return_counts=True)
            alone = {tuple(each) for each in pairs[number == 1].tolist()}
            pair = zip(crowds[0][targets].tolist(), crowd[targets].tolist(), strict=True)
            linked |= right
            out |= right & np.array([each in alone for each in pair], np.bool_)
        return linked, out
