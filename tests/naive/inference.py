"""What the record of a crowd tells of its people, from what the words mean.

Every slot of every box is looked up on the clock on the wall; places are fractions of cells.
"""

from fractions import Fraction

from naive.accuracy import holds
from naive.utility import local_hour, popular_place

__all__ = ["inferred", "is_small", "meets", "shows"]


def is_small(box, metres, cell):
    """Whether a box is at most so wide and so high; of one cell, it is in any case."""
    return all(
        box[i + 1] - box[i] == 1 or (box[i + 1] - box[i]) * Fraction(cell) <= metres for i in (0, 2)
    )


def meets(box, hours, frame, tz):
    """Whether one of the slots of a box has its middle in some hours."""
    return any(
        local_hour((*box[:4], slot, slot + 1), frame, tz) in hours for slot in range(*box[4:])
    )


def shows(box, place):
    """Whether a place lies in a half-open box."""
    return box[0] <= place[0] < box[1] and box[2] <= place[1] < box[3]


def inferred(before, after, became, metres, hours, frame, tz):
    """Count what is shown of people: ``(number, of)`` of each kind.

    Before and after are lists of boxes; hours are those of the night and of work.
    """
    people = [who for who, crowd in enumerate(became) if crowd >= 0]
    places = {
        name: {who: popular_place(before[who], during, frame, tz) for who in people}
        for name, during in hours.items()
    }
    small = [[box for box in boxes if is_small(box, metres, frame.cell)] for boxes in after]
    found = {}
    for name, during in hours.items():
        having = [who for who in people if places[name][who] is not None]
        shown = [
            who
            for who in having
            if any(
                shows(box, places[name][who]) and meets(box, during, frame, tz)
                for box in small[became[who]]
            )
        ]
        found[name] = len(shown), len(having)
    at_night = {
        who: [box for box in before[who] if local_hour(box, frame, tz) in hours["home"]]
        for who in people
    }
    nights = [
        who
        for who in people
        if any(holds(box, sample) for sample in at_night[who] for box in small[became[who]])
    ]
    found["night"] = len(nights), sum(bool(at_night[who]) for who in people)
    held = [
        any(holds(box, sample) for box in small[became[who]])
        for who in people
        for sample in before[who]
    ]
    found["samples"] = sum(held), len(held)
    homes = {who: place for who, place in places["home"].items() if place is not None}
    alike = [who for who in homes if _together(who, homes, became, metres, frame.cell)]
    found["homogeneous"] = len(alike), len(homes)
    return found


def _together(who, homes, became, metres, cell):
    """Whether all homes of somebody's crowd, each as wide as a cell, lie in one small box."""
    crowd = [place for other, place in homes.items() if became[other] == became[who]]
    sides = []
    for axis in (0, 1):
        along = [place[axis] for place in crowd]
        sides += [min(along) - Fraction(1, 2), max(along) + Fraction(1, 2)]
    return _fits(sides, metres, cell)


def _fits(sides, metres, cell):
    """Whether a box of fractions of cells is small: so many whole cells, or one."""
    most = max(1, int(metres / Fraction(cell)))
    return all(sides[i + 1] - sides[i] <= most for i in (0, 2))
