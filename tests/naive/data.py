"""Reading, arranging and selecting: people as lists of boxes."""

import datetime as dt
import math
import zoneinfo
from collections import Counter
from fractions import Fraction

import numpy as np
import pyproj

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def people_of(data):
    """Take trajectories apart."""
    return [
        (person.user, list(zip(*(side.tolist() for side in sides_of(person)), strict=True)))
        for person in data
    ]


def one_each(people, crowd):
    """Give everybody of a crowd the boxes of her trajectory, and the number of that trajectory."""
    numbers = [i for i, size in enumerate(crowd) for _ in range(size)]
    return [people[i] for i in numbers], numbers


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


def read_rows(rows, frame, zone="UTC"):
    """Read rows ``(user, time, lat, lon)`` of text, one after the other.

    Gives the boxes of each user, and how often everything worth counting came up.
    """
    project = pyproj.Transformer.from_crs("EPSG:4326", frame.crs, always_xy=True).transform
    people, counts = {}, Counter()
    for user, time, lat, lon in rows:
        reason = _refusal(user, time, lat, lon)
        if reason is None:
            moment = _utc(time, zone, counts)
            if moment is None:
                reason = "time outside the window"
        if reason is not None:
            counts[reason] += 1
            continue
        t = (moment - EPOCH - frame.origin * dt.timedelta(seconds=1)) // (
            frame.slot * dt.timedelta(seconds=1)
        )
        x, y = (math.floor(metres / frame.cell) for metres in project(float(lon), float(lat)))
        box = (x, x + 1, y, y + 1, t, t + 1)
        boxes = people.setdefault(user.strip(), set())
        counts["collapsed"] += box in boxes
        boxes.add(box)
    return [(user, sorted(boxes, key=in_time)) for user, boxes in people.items()], +counts


def to_utc(local, zone):
    """Give what a wall clock's time is in UTC, and whether it came twice or never."""
    first, second = (local.replace(tzinfo=zoneinfo.ZoneInfo(zone), fold=fold) for fold in (0, 1))
    twice = first.utcoffset() > second.utcoffset()
    never = first.utcoffset() < second.utcoffset()
    return first.astimezone(dt.UTC), twice, never


def _refusal(user, time, lat, lon):  # noqa: PLR0911  one a reason
    if not user.strip():
        return "no user"
    if not time:
        return "no time"
    try:
        _parsed(time)
    except ValueError:
        return "time not understood"
    if not lat or not lon:
        return "no position"
    try:
        north, east = float(lat), float(lon)
    except ValueError:
        return "position is not a number"
    if not (math.isfinite(north) and math.isfinite(east)):
        return "position is not finite"
    if abs(north) > 90 or abs(east) > 180:
        return "impossible position"
    return "position is exactly 0, 0" if north == east == 0 else None


def _parsed(time):
    return dt.datetime.fromisoformat(time.replace(" UTC", "Z"))


def _utc(time, zone, counts):
    """Give a time in UTC, or None if it is not from 1970 to 2099."""
    moment = _parsed(time)
    if moment.tzinfo is None:
        counts["zoneless"] += 1
        if not 1969 <= moment.year <= 2100:
            return None
        moment, twice, never = to_utc(moment, zone)
        counts["ambiguous"] += twice
        counts["missing"] += never
    moment = moment.astimezone(dt.UTC)
    return moment if 1970 <= moment.year < 2100 else None
