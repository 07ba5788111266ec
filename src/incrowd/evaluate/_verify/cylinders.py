"""(k, delta)-anonymity: whether trajectories are, at all times, k together in a cylinder.

A cylinder stands around a published trajectory, its centre: who has the same sequence of times and
is, at each of them, within delta / 2 of the centre, is in it. Every published trajectory must be in
one that holds k or more, herself and the centre included. Distances are those of the centres of
boxes, in half cells, compared as whole numbers, with delta as it is written in the manifest.

::

    rows ──> records with the same times ──> who is near whom at one time ──> at all of them

Being in a cylinder is mutual (of r and c, each is in the other's), so that whoever is not known to
be in one looks for her neighbours, and only if these are too few for those of each neighbour.

It hides nobody. So how many records are unique as a whole is said with it, and, where the original
is at hand, how many of them are originals, sample for sample.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from incrowd._disclosure import most_of, says_few
from incrowd._numba import Ints
from incrowd.data._manifest import Manifest
from incrowd.evaluate._verify._kernels import T0, T1, X0, X1, Y0, Y1
from incrowd.evaluate._verify.alignment import AlignedRelease
from incrowd.evaluate._verify.result import Check, failed, passed, several
from incrowd.evaluate._verify.rows import Published

__all__ = [
    "CYLINDERS",
    "LIMITS",
    "ORIGINALS",
    "TRASH",
    "check_cylinders",
    "check_originals",
    "check_trash",
]


CYLINDERS, TRASH, ORIGINALS = "cylinders", "trash", "originals"
LIMITS = (
    (
        "Nobody is hidden among k: for delta above 0 the trajectories of a cylinder differ "
        "(Trujillo-Rasua and Domingo-Ferrer, 2013), and whoever knows enough of a person finds her "
        "record, if it was hers that was published as it is."
    ),
    (
        "One person of every cluster, the pivot, is published as she is, sample for sample; the "
        "check 'originals' counts such records."
    ),
    (
        "Most points are not where their people were: they were moved in space and time, repeated "
        "or left out. How far is the maker's word."
    ),
    (
        "A second release of the same people can be laid over this one, and tells more than each "
        "by itself."
    ),
    (
        "Only positions and times were considered: whoever knows something else about a person, "
        "or that she is among the published, may learn more than is said here."
    ),
)
"""What a release of this kind cannot promise."""
_LEAST = 2
_WIDEST = 2**31
_TIMES = 8
"""At so many times of a group it is looked where its trajectories differ most."""
_FEW = 64
"""Of fewer trajectories, the first time will do."""
_BLOCK = 1 << 22


def check_cylinders(published: Published, manifest: Manifest) -> Check:
    """Decide whether every published trajectory is in a cylinder with k - 1 others."""
    k, delta = (manifest.settings.get(name) for name in ("k_together", "delta"))
    if type(k) is not int or k < _LEAST:
        return failed(CYLINDERS, f"The manifest states {k!r} trajectories in a cylinder.", {})
    if not _is_number(delta) or delta <= 0:
        return failed(CYLINDERS, f"The manifest states a diameter of {delta!r} m.", {})
    # Twice the distance of two centres, in cells, squared.
    most = math.floor((Fraction(str(delta)) / Fraction(str(published.frame.cell))) ** 2)
    if math.isqrt(most) >= _WIDEST:
        says = f"A cylinder of {delta:g} m holds everything that can be published."
        return failed(CYLINDERS, says, {"k": k, "delta": delta})
    together = np.zeros(len(published.sizes), np.bool_)
    for group in _same_times(published):
        together[group] = _in_cylinders(published, group, k, most)
    people, sizes = len(published.people), published.sizes
    outside, unique = int(sizes[~together].sum()), int((sizes == 1).sum())
    figures = {
        "k": k,
        "delta": delta,
        "people": people,
        "people_outside": outside,
        "people_unique": unique,
    }
    around = f"in a cylinder of {delta:,g} m around a published trajectory"
    if outside:
        says = (
            f"{outside:,} of {several(people, 'published trajectory', 'published trajectories')} "
            f"are not with {several(k - 1, 'other')} {around}, at all of their times."
        )
        return failed(CYLINDERS, says, figures)
    says = (
        f"Each of {several(people, 'published trajectory', 'published trajectories')} is at all "
        f"of its times with at least {several(k - 1, 'other')} {around}. That hides nobody: "
        f"{unique:,} of {several(people, 'record')} are unique as a whole."
    )
    return passed(CYLINDERS, says, figures)


def check_trash(published: Published, manifest: Manifest, people: int | None = None) -> Check:
    """See whether no more people were left out than the share that may be.

    Parameters
    ----------
    published, manifest
        The release.
    people
        How many people the original has, if it is known; otherwise what the manifest states to
        have left out counts, if that is enough to tell.
    """
    share, here = manifest.settings.get("trash"), len(published.people)
    if not _is_number(share) or not 0 <= share < 1:
        return failed(TRASH, f"The manifest states a share of {share!r} that may be left out.", {})
    losses = manifest.losses if isinstance(manifest.losses, Mapping) else {}
    told = losses.get("people_dropped")
    most = most_of(told) if people is None else people - here
    least = 1 if people is None and says_few(told) else most
    if most is None or least is None:
        return failed(TRASH, f"The manifest states {told!r} people who were left out.", {})
    exact = Fraction(str(share))
    figures: dict[str, Any] = {"share": share}
    figures |= {"people_dropped": most} if most == least else {}
    left_out = f"{most:,} of {here + most:,} people were left out" if most == least else str(told)
    if not 0 <= least <= math.floor(exact * (here + least)):
        says = f"{left_out}, more than the share of {share:g} that may be."
        return failed(TRASH, says, figures)
    if most > math.floor(exact * (here + most)):
        says = "Not checked (how many people were left out is not told, because they are few)."
        return Check(TRASH, ok=None, says=says, figures=figures)
    says = f"No more people were left out than a share of {share:g}."
    return passed(TRASH, says, figures)


def check_originals(aligned: AlignedRelease) -> Check:
    """Count the published records that are, sample for sample, somebody's in the original."""
    published, original = aligned.published, aligned.original
    shift = np.array([0, 0, 0, 0, aligned.shift, aligned.shift])
    sides = np.stack(original.columns, 1)
    known = {
        _digest(sides[start:end].astype(np.int64) + shift)
        for start, end in _pairs(original.offsets)
    }
    columns = [X0, X1, Y0, Y1, T0, T1]
    same = np.array(
        [
            _digest(published.boxes[start:end, columns].astype(np.int64)) in known
            for start, end in _pairs(published.cuts)
        ],
        np.bool_,
    )
    count, people = int(published.sizes[same].sum()), len(published.people)
    says = (
        f"{count:,} of {several(people, 'published record')} are, sample for sample, that of a "
        "person in the original."
    )
    figures = {"people": people, "people_unchanged": count}
    return Check(ORIGINALS, ok=True, says=says, figures=figures, noted=True)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _pairs(cuts: Ints) -> "zip[tuple[int, int]]":
    return zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)


def _digest(rows: NDArray[Any]) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(rows).data, digest_size=32).digest()


def _same_times(published: Published) -> list[Ints]:
    """Give the records that have the same sequence of times, group by group."""
    times = np.ascontiguousarray(published.boxes[:, [T0, T1]])
    found = defaultdict[bytes, list[int]](list)
    for record, (start, end) in enumerate(_pairs(published.cuts)):
        found[_digest(times[start:end])].append(record)
    return [np.array(group) for group in found.values()]


def _in_cylinders(published: Published, group: Ints, k: int, most: int) -> NDArray[np.bool_]:
    """Tell which records of a group with the same times are in a cylinder with k people."""
    sizes = published.sizes[group]
    if len(group) == 1:
        return sizes >= k
    nearby = _Neighbours(published, group, most)
    together = np.zeros(len(group), np.bool_)
    for record in range(len(group)):
        if together[record]:
            continue
        around = nearby.of(record)
        if sizes[around].sum() >= k:
            together[around] = True
            continue
        for centre in around[around != record].tolist():
            held = nearby.of(centre)
            if sizes[held].sum() >= k:
                together[held] = True
                break
    return together


class _Neighbours:
    """Who of a group is within delta / 2 of whom, at all times.

    Those who are near at one time are found in the order of x; only they are looked at further.
    """

    def __init__(self, published: Published, group: Ints, most: int) -> None:
        self._most, self._reach = most, math.isqrt(most)
        self._boxes, self._start = published.boxes, published.cuts[group]
        self._length = int(published.cuts[group[0] + 1] - published.cuts[group[0]])
        self._x, self._y = self._where_they_differ(np.arange(len(group)))
        self._order = np.argsort(self._x, kind="stable")
        self._sorted = self._x[self._order]
        self._found: dict[int, Ints] = {}

    def _where_they_differ(self, records: Ints) -> tuple[Ints, Ints]:
        """Give the places of all at one time: of some times, that with the most distinct places."""
        times = np.linspace(0, self._length - 1, _TIMES if len(records) > _FEW else 1)
        places = [self._at(records, time) for time in np.unique(times.astype(np.int64))]
        return max(places, key=lambda place: np.unique(np.stack(place), axis=1).shape[1])

    def _at(self, records: Ints, time: Any) -> tuple[Ints, Ints]:
        """Give twice the centres of some records, at one time or several."""
        rows = self._start[records] + time
        x, y = (
            self._boxes[rows, low].astype(np.int64) + self._boxes[rows, high]
            for low, high in ((X0, X1), (Y0, Y1))
        )
        return x, y

    def _near(self, dx: Ints, dy: Ints) -> NDArray[np.bool_]:
        # No farther than this along an axis, so that no square is too large.
        inside = (np.abs(dx) <= self._reach) & (np.abs(dy) <= self._reach)
        dx, dy = np.where(inside, dx, 0), np.where(inside, dy, 0)
        return inside & (dx * dx + dy * dy <= self._most)

    def of(self, record: int) -> Ints:
        """Give all who are near a record at all times, herself included."""
        if record not in self._found:
            self._found[record] = self._look(record)
        return self._found[record]

    def _look(self, record: int) -> Ints:
        x, y = self._x[record], self._y[record]
        low = np.searchsorted(self._sorted, x - self._reach, "left")
        high = np.searchsorted(self._sorted, x + self._reach, "right")
        others = self._order[low:high]
        others = others[self._near(self._x[others] - x, self._y[others] - y)]
        step = max(1, _BLOCK // max(len(others), 1))
        for start in range(0, self._length, step):
            times = np.arange(start, min(start + step, self._length))
            x, y = self._at(others[:, None], times)
            px, py = self._at(np.array([[record]]), times)
            others = others[self._near(x - px, y - py).all(axis=1)]
        return others
