"""Later data: somebody who has later data with names looks for the crowd of each person.

People come back to the same places at the same times of day. A record is compared with a person as
`incrowd.deanonymize` compares two people (tf-idf: rare places weigh more), but what is found is a
crowd, and not which of its records is hers. Places are squares of 500 m by quarters of the day; a
box counts in all squares that it touches, in each the less the more these are.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd._format import rounded_percent
from incrowd._numba import Ints
from incrowd._parallel import on_threads
from incrowd.attack._reidentification.matchers import TfIdf
from incrowd.data._frame import Frame
from incrowd.data._select import find_zone
from incrowd.data._vectors import Vectors
from incrowd.evaluate._release_attacks.adversary import Adversary, Tell, numbers_in
from incrowd.evaluate._release_attacks.base import ReleaseAttack
from incrowd.evaluate._release_attacks.findings import Figure, Finding
from incrowd.measure._centres import hours_at

__all__ = [
    "WhichCrowd",
    "most_similar",
    "profiles_of",
]


SIDE = 500
"""Metres of a square."""
MOST = 64
"""Boxes that touch more squares tell nothing of where somebody goes."""
QUARTER = 6
"""Hours."""
EARLIER = 0.7
"""The part of the period that is looked at, where the rest stands for later data."""
BLOCK = 64


def profiles_of(
    boxes: NDArray[np.integer], owner: Ints, number: int, frame: Frame, tz: str
) -> Vectors:
    """Return how often each of so many owners is in which square, in which quarter of the day.

    `boxes` has the columns x0, x1, y0, y1, t0, t1.
    """
    side = max(1, round(SIDE / frame.cell))
    x0, x1, y0, y1, t0, t1 = boxes[:, :6].T.astype(np.int64)
    left, low = x0 // side, y0 // side
    wide, high = (x1 - 1) // side - left + 1, (y1 - 1) // side - low + 1
    few = np.flatnonzero(wide * high <= MOST)
    touched = (wide * high)[few]
    row = np.repeat(few, touched)
    at = np.arange(len(row)) - np.repeat(np.cumsum(touched) - touched, touched)
    quarter = hours_at(t0 + t1, frame.slot, frame.origin, find_zone(tz).key) // QUARTER
    place = (left[row] + at // high[row]) << 34 | (low[row] + at % high[row] + (1 << 31)) << 2
    place |= quarter[row]
    keys, which = np.unique(np.stack([owner[row], place], 1), axis=0, return_inverse=True)
    weight = np.repeat(MOST // touched, touched)
    visits = np.bincount(which.reshape(-1), weight, len(keys)).astype(np.int64)
    total = np.bincount(keys[:, 0], visits, number).astype(np.int64)
    offsets = np.searchsorted(keys[:, 0], np.arange(number + 1))
    return Vectors(np.ascontiguousarray(keys[:, 1]), visits, offsets, total)


def most_similar(train: Vectors, test: Vectors, threads: int, tell: Tell = lambda _: None) -> Ints:
    """Return the one owner in training who is most similar to each one in test; -1 for nobody."""
    if not len(train.place) or not len(test.place):
        return np.full(len(test), -1, np.int64)
    matcher = TfIdf(train, test)

    def work(first: int) -> NDArray[np.int32]:
        return matcher.match(first, min(first + BLOCK, len(test)), matcher.scratch())

    found = []
    for part in on_threads(threads, work, range(0, len(test), BLOCK)):
        found.append(part[:, 0])
        tell(min(1.0, len(found) * BLOCK / len(test)))
    return np.concatenate(found).astype(np.int64)


class WhichCrowd(ReleaseAttack):
    """Somebody who has later data of the same people, with names."""

    name = "which_crowd"
    label = "Later data with names"
    knows = (
        "Data of the same people with names from a later time: a dataset that is given (--later), "
        "or else the last three tenths of the period, of which she looks at the rest."
    )
    gains = "whose crowd is found in what they did later"
    helps = "larger crowds and larger boxes, short periods, and other people in each release"

    def run(self, adversary: Adversary, tell: Tell) -> Finding:
        """Find the record that is most similar to what each target did later."""
        release = adversary.release
        published, targets = release.published, adversary.targets
        boxes = published.boxes[:, :6]
        owner = np.repeat(np.arange(len(published.sizes)), np.diff(published.cuts))
        data, who = release.original, targets
        begins = int(boxes[:, 4].min())
        cut = begins + int(EARLIER * (int(boxes[:, 5].max()) - begins))
        if adversary.later is not None:
            data = adversary.later
            who = numbers_in(release.original, data)[targets]
        else:
            earlier = boxes[:, 5] <= cut
            boxes, owner = boxes[earlier], owner[earlier]
        train = profiles_of(boxes, owner, len(published.sizes), published.frame, adversary.tz)
        there = np.flatnonzero(who >= 0)
        later = data[who[there]]
        samples = np.column_stack(later.columns)
        person = later.person().astype(np.int64)
        if adversary.later is None:
            after = samples[:, 4] >= cut
            samples, person = samples[after], person[after]
        test = profiles_of(samples, person, len(there), published.frame, adversary.tz)
        crowd = release.crowd_of[targets[there]]
        known = (test.total > 0) & (train.total[crowd] > 0)
        if not known.any():
            return self.not_tried("Nobody is seen both earlier, in the release, and later.")
        found = most_similar(train, test, adversary.threads, tell)
        right, named = (found == crowd) & known, (found >= 0) & known
        figures = (
            Figure("found", "people whose crowd is found", int(right.sum()), int(known.sum())),
            Figure("right", "crowds named that are right", int(right.sum()), int(named.sum())),
        )
        tried = "" if adversary.later is not None else "(here: the last three tenths of the data) "
        says = (
            "Whoever has data of the same people with names from a later time "
            f"{tried}finds the crowd of {rounded_percent(figures[0].share)} of those who are in "
            f"both, and not which record of it is theirs. By chance it would be one in "
            f"{len(published.sizes):,}."
        )
        return self.found("found", says, *figures)
