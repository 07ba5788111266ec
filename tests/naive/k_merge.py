"""The best boxes of a crowd, by trying all sets of boxes."""

from itertools import combinations

from naive.glove import DEFAULTS, bounding, exceeds, glove, sample_effort

FEWEST = "fewest"
"""The price above all others: nothing is deleted that can be kept."""


def holds(box, sample):
    """Tell whether a sample lies in a box."""
    return all(
        box[start] <= sample[start] and sample[start + 1] <= box[start + 1] for start in (0, 2, 4)
    )


def k_merge(members, crowd=None, price=None, max_space=None, max_time=None, settings=DEFAULTS):
    """Give the boxes of least loss that are true of every member, their loss, and what is deleted.

    `members` are lists of samples. Without a price nothing may be deleted. Boxes and deleted
    samples (in the order of the members) are None if thresholds leave no box.
    """
    crowd = crowd or [1] * len(members)
    samples = [(box, n) for boxes, n in zip(members, crowd, strict=True) for box in boxes]
    # Every box is the smallest around some samples, and holds a sample of every member.
    around = {
        bounding([box for box, _ in some])
        for number in range(1, len(samples) + 1)
        for some in combinations(samples, number)
    }
    possible = [
        box
        for box in around
        if not exceeds(box, max_space, max_time)
        and all(any(holds(box, sample) for sample in boxes) for boxes in members)
    ]
    best = None
    for boxes in _disjoint(sorted(possible, key=lambda box: box[4])):
        deleted, loss = 0, 0
        for sample, n in samples:
            inside = [box for box in boxes if holds(box, sample)]
            if inside:
                loss += n * sample_effort(sample, inside[0], 1, 0, settings)
            else:
                deleted += n
        if price is None and deleted:
            continue
        first = (deleted, loss) if price in (None, FEWEST) else loss + price * deleted
        # Of equals: more boxes; then, from the last box back, what ends and starts later.
        order = [(-t1, -t0, *place) for *place, t0, t1 in sorted(boxes, key=lambda box: -box[4])]
        key = (first, -len(boxes), order)
        if best is None or key < best[0]:
            best = key, sorted(boxes, key=lambda box: box[4]), loss
    if best is None:
        return None, None, None
    _, boxes, loss = best
    gone = [sample for sample, _ in samples if not any(holds(box, sample) for box in boxes)]
    return boxes, loss, gone


def _disjoint(boxes, start=None):
    """Give all sets of boxes, one at least, that do not overlap in time."""
    for i, box in enumerate(boxes):
        if start is None or box[4] >= start:
            yield [box]
            for more in _disjoint(boxes[i + 1 :], box[5]):
                yield [box, *more]


def glove_optimal(people, k, variant, price, max_space, max_time, settings, crowd):
    """Crowds as `glove` makes them, and the best boxes of each from its members' own samples.

    Gives the boxes of each published crowd, and for each person the place of hers, or None.
    """
    gloved = glove(people, k, variant, settings=settings, crowd=crowd)
    published, place = [], {}
    for number, node in enumerate(gloved.published):
        boxes, _, _ = k_merge(
            [people[member][1] for member in node.members],
            [crowd[member] for member in node.members],
            price,
            max_space,
            max_time,
            settings,
        )
        if boxes is not None:
            place[number] = len(published)
            published.append(boxes)
    return published, [place.get(number) for number in gloved.assignment]
