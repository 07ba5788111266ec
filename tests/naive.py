"""The slow and obvious oracle of every fast path, in plain Python.

People are a list of ``(user, boxes)``; a box is ``(x0, x1, y0, y1, t0, t1)``.
"""

import datetime as dt
import zoneinfo
from fractions import Fraction

import numpy as np


def people_of(data):
    """Take trajectories apart."""
    return [
        (person.user, list(zip(*(side.tolist() for side in sides_of(person)), strict=True)))
        for person in data
    ]


def sides_of(person):
    return (person.x0, person.x1, person.y0, person.y1, person.t0, person.t1)


def from_boxes(rows):
    """Collect the boxes of each user; rows are ``(user, x0, x1, y0, y1, t0, t1)``."""
    boxes = {}
    for user, *box in rows:
        boxes.setdefault(user, set()).add(tuple(box))
    return [(user, sorted(found, key=in_time)) for user, found in boxes.items()]


def in_time(box):
    x0, x1, y0, y1, t0, t1 = box
    return t0, t1, x0, x1, y0, y1


def from_rows(rows):
    """Collect the visits ``(time, place)`` of each user; rows are ``(user, place, time)``."""
    found = {}
    for user, place, time in rows:
        found.setdefault(user, []).append((time, place))
    return [(user, sorted(visits)) for user, visits in found.items()]


def visits(people):
    """Give the visits ``(time, (x0, x1, y0, y1))`` of each user."""
    return [(user, sorted((t0, place) for *place, t0, _ in boxes)) for user, boxes in people]


def select(people, frame, *, wanted=None, bbox=None, time=None, share=None, seed=None, **often):
    """Apply the conditions one after the other; `often` is for `screen`."""
    if wanted is not None:
        people = [(user, boxes) for user, boxes in people if user in wanted]
    if bbox is not None:
        people = _keeping(people, lambda box: _is_inside(box, frame, bbox))
    if time is not None:
        people = _keeping(people, lambda box: time[0] <= _start(box, frame) < time[1])
    people = screen(people, frame, time, **often) if people else []
    if share is not None and people:
        number = max(1, int(Fraction(str(share)) * len(people) + Fraction(1, 2)))
        drawn = np.random.default_rng(seed).choice(len(people), number, replace=False)
        people = [people[i] for i in sorted(drawn)]
    return people


def screen(people, frame, time, *, per_day=None, active=None, every_day=False, zone="UTC"):
    """Keep who was seen often enough on the days from the first to the last."""

    def day(moment):
        return moment.astimezone(zoneinfo.ZoneInfo(zone)).date()

    def days(boxes):
        return {day(_start(box, frame)) for box in boxes}

    if time is None:
        all_days = set.union(*(days(boxes) for _, boxes in people))
        first, last = min(all_days), max(all_days)
    else:
        first, last = day(time[0]), day(time[1] - dt.timedelta(microseconds=1))
    span = (last - first).days + 1
    return [
        (user, boxes)
        for user, boxes in people
        if len(boxes) >= Fraction(str(per_day or 0)) * span
        and len(days(boxes)) >= Fraction(str(active or 0)) * span
        and (not every_day or len(days(boxes)) == span)
    ]


def _keeping(people, condition):
    kept = [(user, [box for box in boxes if condition(box)]) for user, boxes in people]
    return [(user, boxes) for user, boxes in kept if boxes]


def _start(box, frame):
    seconds = box[4] * frame.slot + frame.origin
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds)


def _is_inside(box, frame, bbox):
    x0, x1, y0, y1, _, _ = box
    west, south, east, north = bbox
    lon, lat = frame.degrees([(x0 + x1) * frame.cell / 2], [(y0 + y1) * frame.cell / 2])
    around = west <= lon[0] <= east if west <= east else lon[0] >= west or lon[0] <= east
    return around and south <= lat[0] <= north
