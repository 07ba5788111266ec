"""Which published sample stands for which true one, as the page on comparisons says it.

Boxes are ``(x0, x1, y0, y1, t0, t1)``; `before` is a list of each person's boxes, `after` one of
each crowd's, and `became` says which crowd each person is in (-1 for none).
"""

from fractions import Fraction


def slots_apart(one, other):
    """How many slots one box lies before the other; 0 if they share a slot."""
    return max(0, other[4] - one[5] + 1, one[4] - other[5] + 1)


def standing_for(sample, samples, boxes):
    """Which boxes stand for a sample: neither has another one that is nearer in time."""
    nearest = min((slots_apart(sample, box) for box in boxes), default=None)
    return [
        number
        for number, box in enumerate(boxes)
        if slots_apart(sample, box) == nearest
        and nearest == min(slots_apart(one, box) for one in samples)
    ]


def off_by(sample, box):
    """Twice the distance of the centres, squared, and twice the time between the middles."""
    x, y, t = (box[i] + box[i + 1] - sample[i] - sample[i + 1] for i in (0, 2, 4))
    return x**2 + y**2, abs(t)


def stand_ins(before, after, became, cell, slot):
    """Errors of samples that something stands for, and how many are deleted, created and near."""
    errors, deleted, created = [], 0, 0
    for samples, place in zip(before, became, strict=True):
        boxes = after[place] if place >= 0 else []
        standing = [standing_for(sample, samples, boxes) for sample in samples]
        deleted += standing.count([])
        created += len(boxes) - len({number for numbers in standing for number in numbers})
        errors += [
            min(off_by(sample, boxes[number]) for number in numbers)
            for sample, numbers in zip(samples, standing, strict=True)
            if numbers
        ]
    near = sum(
        Fraction(square, 4) * Fraction(cell) ** 2 <= 1000**2
        and Fraction(late, 2) * Fraction(slot) <= 3600
        for square, late in errors
    )
    return {
        "samples": sum(map(len, before)),
        "rows": sum(len(after[place]) for place in became if place >= 0),
        "deleted": deleted,
        "created": created,
        "near": near,
        "errors": errors,
    }
