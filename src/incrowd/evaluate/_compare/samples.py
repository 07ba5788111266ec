"""Which published sample stands for which true one: points and boxes, measured on the same terms.

A mechanism may publish boxes in which people were (GLOVE, generalisation), or points at which they
were not (W4M, noise). Both are compared with the original by one rule, for each person who is
published and her own record:

- The *gap* of two samples is how many slots one lies before the other; 0 if they share a slot.
- A true sample and a published one *stand for each other* if neither has another one that is nearer
  in time (by the gap). Ties all count: a box stands for all true samples in its time.
- A true sample that nothing stands for is *deleted*, and so are all of people who are not
  published. A published one that stands for nothing is *created*; it is counted for each person
  who has it in her record.
- The *position error* of a true sample that is not deleted is the distance from its centre to that
  of the nearest published sample that stands for it; the *time error* is the time from the middle
  of the one to the middle of the other (of several as near in space, the least).

So a box is as good as its centre: whoever publishes a box is neither better nor worse off than
somebody who publishes the point in the middle of it.
"""

from dataclasses import dataclass

import numpy as np

from incrowd._numba import Floats, Ints, kernel, kernel_private
from incrowd._parallel import cores, on_threads
from incrowd.errors import ArgumentError
from incrowd.evaluate._comparison import BeforeAfter
from incrowd.evaluate._utility._kernels import Columns, Sides, latest_ends
from incrowd.evaluate._utility.accuracy import SPACE, TIME
from incrowd.evaluate._utility.distributions import Distribution, Tally
from incrowd.evaluate._verify._kernels import sample_from
from incrowd.measure._centres import blocks_of

__all__ = [
    "NEAR",
    "StandIns",
    "stand_ins",
]


NEAR = (1_000, 60)
"""A sample is as good as right up to so many metres and minutes."""


@dataclass(frozen=True, slots=True)
class StandIns:
    """What stands for the samples of the original.

    Attributes
    ----------
    samples, rows
        Of the original, and published: a sample counts once for each person who has it.
    deleted, created
        True samples that nothing stands for, and published rows that stand for nothing.
    near
        True samples that are not deleted, and no more than 1 km and 1 h off.
    position, time
        The errors of samples that are not deleted, in metres and in minutes; None if all are.
    """

    samples: int
    rows: int
    deleted: int
    created: int
    near: int
    position: Distribution | None
    time: Distribution | None


def stand_ins(pair: BeforeAfter, *, threads: int | None = None) -> StandIns:
    """Find what stands for each sample of the original, and how far off it is.

    Raises
    ------
    ArgumentError
        If nobody knows who became whom.
    """
    before, after = pair.before, pair.after
    if pair.became is None:
        raise ArgumentError("who became whom is not known")
    became = pair.became
    mine, theirs = (latest_ends(data.t1, data.offsets) for data in (before, after))
    frame = before.frame
    limit = 4 * (NEAR[0] / frame.cell) ** 2, 2 * NEAR[1] * 60 / frame.slot

    def work(part: tuple[int, int]) -> tuple[int, int, int, Tally, Tally]:
        number = int(before.offsets[part[1]] - before.offsets[part[0]])
        squares, late = np.empty(number), np.empty(number, np.int64)
        found, created = match_samples(
            *part, before.columns, before.offsets, mine, became,
            after.columns, after.offsets, theirs, squares, late,
        )  # fmt: skip
        squares, late = squares[:found], late[:found]
        near = int(((squares <= limit[0]) & (late <= limit[1])).sum())
        return found, created, near, Tally.of(squares), Tally.of(late)

    parts = list(on_threads(cores(threads), work, blocks_of(before.offsets)))
    squares = Tally.together(part[3] for part in parts)
    away = Tally(np.sqrt(squares.values), squares.counts)
    late = Tally.together(part[4] for part in parts)
    known = became[became >= 0]
    return StandIns(
        samples=before.samples,
        rows=int(after.lengths()[known].sum()),
        deleted=before.samples - sum(part[0] for part in parts),
        created=sum(part[1] for part in parts),
        near=sum(part[2] for part in parts),
        position=Distribution.of(away, frame.cell / 2, (0, *SPACE)),
        time=Distribution.of(late, frame.slot / 120, (0, *TIME)),
    )


@kernel_private
def _nearest_gap(start: int, end: int, starts: Sides, reach: Sides, low: int, up: int) -> int:
    """Give how many slots the nearest of some samples lies before or after a time; 0 if in it."""
    after, gap = sample_from(starts, low, up, end), 2**62
    if after > low:
        gap = max(0, start - int(reach[after - 1]) + 1)
    if after < up:
        gap = min(gap, int(starts[after]) - end + 1)
    return gap


@kernel
def match_samples(
    first: int, last: int, samples: Columns, offsets: Ints, my_reach: Sides, place: Ints,
    boxes: Columns, bounds: Ints, reach: Sides, squares: Floats, late: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Find what stands for the samples of people `first` to `last`; count created rows.

    `place` has each person's published trajectory, or -1; `my_reach` and `reach` the latest end
    among samples, and boxes, up to each one. `squares` gets the square of twice the distance of the
    centres in cells, and `late` twice the time between the middles in slots, one after the other;
    how many these are is given back first.
    """
    x0, x1, y0, y1, t0, t1 = samples
    bx0, bx1, by0, by1, bt0, bt1 = boxes
    found, created = 0, 0
    for person in range(first, last):
        if place[person] < 0:
            continue
        low, up = bounds[place[person]], bounds[place[person] + 1]
        from_, to = offsets[person], offsets[person + 1]
        # How far each box is from the nearest sample.
        gaps, stands = np.empty(up - low, np.int64), np.zeros(up - low, np.bool_)
        for b in range(low, up):
            start, end = int(bt0[b]), int(bt1[b])
            gaps[b - low] = _nearest_gap(start, end, t0, my_reach, from_, to)
        for i in range(from_, to):
            start, end = int(t0[i]), int(t1[i])
            gap = _nearest_gap(start, end, bt0, reach, low, up)
            best, soonest = np.inf, 0
            b = sample_from(bt0, low, up, end + gap) - 1 if up > low else low - 1
            while b >= low and start - reach[b] + 1 <= gap:
                away = max(0, start - bt1[b] + 1, bt0[b] - end + 1)
                if away == gap and gaps[b - low] == gap:
                    stands[b - low] = True
                    x = float(np.int64(bx0[b]) + bx1[b] - x0[i] - x1[i])
                    y = float(np.int64(by0[b]) + by1[b] - y0[i] - y1[i])
                    square, when = x * x + y * y, abs(bt0[b] + bt1[b] - start - end)
                    if square < best or (square == best and when < soonest):
                        best, soonest = square, when
                b -= 1
            if best < np.inf:
                squares[found], late[found] = best, soonest
                found += 1
        created += len(stands) - stands.sum()
    return found, created
