"""Filtering, cloaking, generalising and noise: people as lists of boxes, with or without places.

Here a sample is ``(box, place)``; a place is a name, or None where the data has none.
"""

import math
import struct
from fractions import Fraction

from naive.data import in_time, sides_of


def placed_samples(data):
    """Take trajectories apart: ``(user, crowd, [(box, place), ...])`` for everybody."""
    names = data.place_names()
    names = [None] * data.samples if names is None else names.to_list()
    people, start = [], 0
    for person in data:
        boxes = zip(*(side.tolist() for side in sides_of(person)), strict=True)
        end = start + len(person)
        people.append((person.user, person.crowd, list(zip(boxes, names[start:end], strict=True))))
        start = end
    return people


def filtered(people, at_most):
    """Take away samples at places of at most so many people: by name, then by rectangle."""
    by_name, names = _without_rare(people, at_most, lambda _, place: None if place == "" else place)
    by_box, boxes = _without_rare(by_name, at_most, lambda box, _: box[:4])
    return by_box, names + boxes


def _without_rare(people, at_most, place_of):
    def visitors(place):
        return sum(
            crowd for _, crowd, samples in people if place in {place_of(*one) for one in samples}
        )

    every = {place_of(*one) for _, _, samples in people for one in samples} - {None}
    rare = {place for place in every if visitors(place) <= at_most}
    kept = [
        (user, crowd, [one for one in samples if place_of(*one) not in rare])
        for user, crowd, samples in people
    ]
    return kept, len(rare)


def cloaked(people, frame, minutes):
    """Replace times by slots of so many minutes, or by the whole span."""
    if minutes is None:
        boxes = [box for _, _, samples in people for box, _ in samples]
        first = min((box[4] for box in boxes), default=0)
        last = max((box[5] for box in boxes), default=0)
        return _collapsed(people, lambda box: (*box[:4], first, last))
    return _collapsed(people, lambda box: (*box[:4], *_slots(*box[4:], frame, minutes)))


def generalised(people, frame, metres, minutes):
    """Widen boxes to a coarser grid; places go if space is coarser."""

    def wider(box):
        x0, x1, y0, y1, t0, t1 = box
        if metres is not None:
            step = Fraction(metres) / Fraction(frame.cell)
            x0, x1, y0, y1 = *_cells(x0, x1, step), *_cells(y0, y1, step)
        if minutes is not None:
            t0, t1 = _slots(t0, t1, frame, minutes)
        return x0, x1, y0, y1, t0, t1

    if metres is not None:
        people = [(user, crowd, [(b, None) for b, _ in samples]) for user, crowd, samples in people]
    return _collapsed(people, wider)


def _cells(start, end, step):
    return math.floor(start / step) * step, math.ceil(end / step) * step


def _slots(start, end, frame, minutes):
    """Give the slots of the data that start in the same coarse slots as these, moment by moment."""

    def coarse(slot):
        return (slot * frame.slot + frame.origin) // (60 * minutes)

    while coarse(start - 1) == coarse(start):
        start -= 1
    while coarse(end) == coarse(end - 1):
        end += 1
    return start, end


def _collapsed(people, change):
    """Change every box; of those of a person that are equal then, the first stays."""
    result, renamed = [], 0
    for user, crowd, samples in people:
        kept = {}
        for box, place in samples:
            new = change(box)
            renamed += new in kept and kept[new] != place
            kept.setdefault(new, place)
        ordered = sorted(kept.items(), key=lambda one: in_time(one[0]))
        result.append((user, crowd, ordered))
    return result, renamed


def noisy(cells, cell, epsilon, noise):
    """Move cells ``(x, y)`` by the noise that random bytes give, three words of 64 bits each."""
    number = len(cells)
    words = [word >> 11 for word in struct.unpack(f"={3 * number}Q", noise)]
    moved = []
    for i, (x, y) in enumerate(cells):
        one, two = ((words[i + shift] + 1) / 2**53 for shift in (0, number))
        radius = -(math.log(one) + math.log(two)) / epsilon
        angle = 2 * math.pi * words[i + 2 * number] / 2**53
        east = (x + 0.5) * cell + radius * math.cos(angle)
        north = (y + 0.5) * cell + radius * math.sin(angle)
        moved.append((math.floor(east / cell), math.floor(north / cell)))
    return moved
