"""Attacks on a release, from what the words mean, in plain Python.

A record is a list of boxes ``(x0, x1, y0, y1, t0, t1)``; a person is a list of samples, which are
boxes as well. Where sides of boxes were rounded outwards, `rounded` does so with any box.
"""

from collections import Counter
from fractions import Fraction

__all__ = [
    "held_by",
    "lies_in_box",
    "linked_record",
    "near_within",
    "others_sides",
    "ranked_members",
    "record_found",
    "records_left",
    "square_profile",
    "touched_sides",
]


def place_in(sample, box):
    """Whether the place of a sample lies in that of a box."""
    return (
        box[0] <= sample[0] and sample[1] <= box[1] and box[2] <= sample[2] and sample[3] <= box[3]
    )


def meets(sample, box):
    """Whether two boxes have time in common."""
    return sample[4] < box[5] and box[4] < sample[5]


def lies_in_box(sample, box, *, whole):
    """Whether a sample is in a box: in time as well, or, where boxes were cut, meeting it."""
    within = box[4] <= sample[4] and sample[5] <= box[5]
    return place_in(sample, box) and (within if whole else meets(sample, box))


def held_by(sample, record):
    """Whether at every slot of a sample some box of a record holds its place."""
    return all(
        any(place_in(sample, box) and box[4] <= slot < box[5] for box in record)
        for slot in range(sample[4], sample[5])
    )


def as_it_is(box):
    """A box of which nothing was rounded."""
    return box


def touched_sides(sample, box, rounded=as_it_is):
    """The sides of a box that a sample in it touches, or is rounded to, by their column."""
    return {side for side in range(6) if rounded(sample)[side] == box[side]}


def records_left(known, records):
    """The records that hold all known samples."""
    return [
        number
        for number, record in enumerate(records)
        if all(held_by(sample, record) for sample in known)
    ]


def record_found(known, records, rounded=as_it_is):
    """The one record, of those left, of which known samples touch most sides; None if several."""
    left = records_left(known, records)
    score = {
        number: sum(
            max(
                (
                    len(touched_sides(sample, box, rounded))
                    for box in records[number]
                    if place_in(sample, box) and meets(sample, box)
                ),
                default=0,
            )
            for sample in known
        )
        for number in left
    }
    top = [number for number in left if score[number] == max(score.values())]
    return top[0] if len(top) == 1 else None


def others_sides(insiders, record, rounded=as_it_is, *, whole):
    """The sides of each box that come from no sample of the insiders."""
    found = []
    samples = [sample for person in insiders for sample in person]
    for box in record:
        if whole:
            inside = [sample for sample in samples if lies_in_box(sample, box, whole=True)]
            touched = set().union(*(touched_sides(sample, box, rounded) for sample in inside))
        else:
            # A piece owes its place to samples of any time, and its time to those of any place.
            inside = [sample for sample in samples if place_in(sample, box)]
            touched = set().union(*(touched_sides(sample, box, rounded) for sample in inside))
            moments = {moment for sample in samples for moment in sample[4:]}
            starts = {rounded((0, 1, 0, 1, moment, moment + 1))[4] for moment in moments}
            ends = {rounded((0, 1, 0, 1, moment - 1, moment))[5] for moment in moments}
            touched &= {0, 1, 2, 3}
            touched |= {side for side, of in ((4, starts), (5, ends)) if box[side] in of}
        found.append(set(range(6)) - touched)
    return found


def ranked_members(
    people, record, wanted, known, unknown, rounded=as_it_is, *, whole, witness, alone, most
):
    """Who may be a member, and who is named: as many as are not known; of equals all or nobody."""
    keys, sides = {}, sum(map(len, wanted))
    for who, samples in enumerate(people):
        near = [[s for s in samples if lies_in_box(s, box, whole=whole)] for box in record]
        if who in known or not any(near):
            continue
        score = sum(
            len(want & set().union(*(touched_sides(sample, box, rounded) for sample in some)))
            for box, some, want in zip(record, near, wanted, strict=True)
        )
        missed = sum(not held_by(sample, record) for sample in samples)
        may_be = (
            (not witness or all(near))
            and (not (alone and unknown == 1) or score == sides)
            and (most < 0 or missed <= most)
        )
        keys[who] = may_be, score
    named = set()
    for key in sorted(set(keys.values()), reverse=True):
        more = {who for who, mine in keys.items() if mine == key}
        if key == (False, 0) or len(named) + len(more) > unknown:
            break
        named |= more
    return {who for who, (may_be, _) in keys.items() if may_be}, named


def near_within(sample, person, space, time):
    """Whether a person has a sample so near that a box within thresholds holds both."""
    for other in person:
        sizes = [max(sample[i + 1], other[i + 1]) - min(sample[i], other[i]) for i in (0, 2, 4)]
        limits = (space, space, time)
        if all(limit is None or size <= limit for size, limit in zip(sizes, limits, strict=True)):
            return True
    return False


def linked_record(record, others):
    """The one record that has most sides in common with a record; None if there is none, or more.

    Of each box it is the box that meets it in space and time with most sides in common.
    """

    def common(box, other):
        if all(box[i] < other[i + 1] and other[i] < box[i + 1] for i in (0, 2, 4)):
            return len(touched_sides(box, other))
        return 0

    score = [sum(max((common(box, o) for o in other), default=0) for box in record)
             for other in others]  # fmt: skip
    top = [number for number, each in enumerate(score) if each == max(score)]
    return top[0] if len(top) == 1 and score[top[0]] else None


def square_profile(boxes, side, most, quarter):
    """How often boxes are in each square of some cells, by quarter of the day; in parts of most.

    `quarter` gives that of a box.
    """
    found = Counter()
    for box in boxes:
        squares = {
            (x // side, y // side) for x in range(box[0], box[1]) for y in range(box[2], box[3])
        }
        if len(squares) <= most:
            for square in squares:
                found[(*square, quarter(box))] += int(Fraction(most, len(squares)))
    return found
