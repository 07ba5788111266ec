"""The slow and obvious oracle of every fast path, in plain Python.

People are a list of ``(user, boxes)``; a box is ``(x0, x1, y0, y1, t0, t1)``.
"""

import datetime as dt
import functools
import itertools
import math
import zoneinfo
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pyproj

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


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


class Settings(NamedTuple):
    """The thresholds of equations (2) and (3), in cells and slots, and the weights of (1)."""

    max_space: int = 200
    max_time: int = 480
    space_weight: int = 1
    time_weight: int = 1


DEFAULTS = Settings()
AXES = ((0, 1), (2, 3), (4, 5))
"""Where start and end stand in a box, in x, y and time."""
SPACE, TIME = AXES[:2], AXES[2:]


def left(a, b, axes):
    """Equations (5) and (8): how far the starts of `a` move to cover `b`."""
    return sum(a[start] - min(a[start], b[start]) for start, _ in axes)


def right(a, b, axes):
    """Equations (6) and (9): how far the ends of `a` move to cover `b`."""
    return sum(max(a[end], b[end]) - a[end] for _, end in axes)


def phi(a, b, na, nb, axes, most):
    """Equations (4) and (7), clipped as in (2) and (3)."""
    stretch = (left(a, b, axes) + right(a, b, axes)) * Fraction(na, na + nb) + (
        left(b, a, axes) + right(b, a, axes)
    ) * Fraction(nb, na + nb)
    return stretch / most if stretch <= most else Fraction(1)


@functools.lru_cache(2**17)
def sample_stretch(a, b, na=1, nb=1, settings=DEFAULTS):
    """Equation (1), as its spatial and its temporal part."""
    weights = settings.space_weight + settings.time_weight
    return (
        Fraction(settings.space_weight, weights) * phi(a, b, na, nb, SPACE, settings.max_space),
        Fraction(settings.time_weight, weights) * phi(a, b, na, nb, TIME, settings.max_time),
    )


@functools.lru_cache(2**17)
def sample_effort(a, b, na=1, nb=1, settings=DEFAULTS):
    """Equation (1)."""
    return sum(sample_stretch(a, b, na, nb, settings))


def cheapest(box, boxes, n, n_boxes, settings=DEFAULTS):
    """Find which of the boxes costs least to merge with; the first of equals."""
    efforts = [sample_effort(box, other, n, n_boxes, settings) for other in boxes]
    return efforts.index(min(efforts))


def by_length(older, younger, n_older, n_younger):
    """Put the longer first with its crowd: it has more samples or, of equals, is older."""
    if len(older) >= len(younger):
        return older, younger, n_older, n_younger
    return younger, older, n_younger, n_older


def trajectory_parts(older, younger, n_older=1, n_younger=1, settings=DEFAULTS):
    """Equation (10), as its spatial and its temporal part."""
    longer, shorter, n, m = by_length(older, younger, n_older, n_younger)
    parts = [
        sample_stretch(box, shorter[cheapest(box, shorter, n, m, settings)], n, m, settings)
        for box in longer
    ]
    spatial, temporal = zip(*parts, strict=True)
    return sum(spatial) / len(longer), sum(temporal) / len(longer)


def trajectory_stretch(older, younger, n_older=1, n_younger=1, settings=DEFAULTS):
    """Equation (10)."""
    longer, shorter, n, m = by_length(older, younger, n_older, n_younger)
    least = [min(sample_effort(a, b, n, m, settings) for b in shorter) for a in longer]
    return sum(least) / len(longer)


class Gap(NamedTuple):
    k_gap: Fraction
    spatial: Fraction
    temporal: Fraction
    nearest: list


def k_gaps(people, ks, crowd=None, settings=DEFAULTS):
    """Equation (11) and the sums of section 5.4: a `Gap` for each k, of each person."""
    crowd = crowd or [1] * len(people)
    parts = {
        (i, j): trajectory_parts(people[i][1], people[j][1], crowd[i], crowd[j], settings)
        for j in range(len(people))
        for i in range(j)
    }
    found = []
    for i in range(len(people)):
        to = {j: parts[min(i, j), max(i, j)] for j in range(len(people)) if j != i}
        order = sorted(to, key=lambda j: (sum(to[j]), j))
        found.append([])
        for k in ks:
            nearest = order[: k - 1]
            spatial = sum(to[j][0] for j in nearest) / Fraction(k - 1)
            temporal = sum(to[j][1] for j in nearest) / Fraction(k - 1)
            gap = sum(sum(to[j]) for j in nearest) / Fraction(k - 1)
            found[-1].append(Gap(gap, spatial, temporal, nearest))
    return found


def bounding(boxes):
    """Equations (12) and (13), for any number of boxes."""
    return tuple(
        extreme(box[side] for box in boxes)
        for axis in AXES
        for side, extreme in zip(axis, (min, max), strict=True)
    )


def merge(longer, shorter, n_longer, n_shorter, settings=DEFAULTS):
    """Give the generalized samples of both stages, in the order of the shorter's samples."""
    # Stage A: every sample of the longer goes to a sample of the shorter.
    targets = [cheapest(box, shorter, n_longer, n_shorter, settings) for box in longer]
    results = [
        bounding([shorter[j], *(box for box, to in zip(longer, targets, strict=True) if to == j)])
        for j in range(len(shorter))
        if j in targets
    ]
    # Stage B: what is left of the shorter goes to the results, as stage A left them.
    rest = [shorter[j] for j in range(len(shorter)) if j not in targets]
    both = n_longer + n_shorter
    targets = [cheapest(box, results, n_shorter, both, settings) for box in rest]
    return [
        bounding([result, *(box for box, to in zip(rest, targets, strict=True) if to == j)])
        for j, result in enumerate(results)
    ]


def exceeds(box, max_space, max_time):
    """Tell whether a box is too large to be published."""
    x0, x1, y0, y1, t0, t1 = box
    return (max_space is not None and (x1 - x0 > max_space or y1 - y0 > max_space)) or (
        max_time is not None and t1 - t0 > max_time
    )


def reshaped(boxes, how):
    """Resolve overlaps in time as `how` says: split, union or none."""
    boxes = sorted(set(boxes), key=in_time)
    if how == "split":
        cuts = sorted({moment for *_, t0, t1 in boxes for moment in (t0, t1)})
        pieces = []
        for start, end in itertools.pairwise(cuts):
            covering = [box for box in boxes if box[4] <= start and end <= box[5]]
            if covering:
                pieces.append((*bounding(covering)[:4], start, end))
        return pieces
    if how == "union":
        groups = []
        for box in boxes:
            if groups and box[4] < max(t1 for *_, t1 in groups[-1]):
                groups[-1].append(box)
            else:
                groups.append([box])
        return [bounding(group) for group in groups]
    return boxes


def lies_in(sample, boxes):
    """Tell whether at every slot of the sample some box holds all of its footprint."""
    x0, x1, y0, y1, t0, t1 = sample
    return all(
        any(
            b[0] <= x0 and x1 <= b[1] and b[2] <= y0 and y1 <= b[3] and b[4] <= slot < b[5]
            for b in boxes
        )
        for slot in range(t0, t1)
    )


class Node(NamedTuple):
    """A trajectory in the course of merging: input people first, then one a merge."""

    index: int
    boxes: list
    crowd: int
    members: list


class Gloved(NamedTuple):
    merges: list
    """``(older, younger, cost)``, in the order in which they happened."""
    published: list
    """Nodes, in the order of their index."""
    assignment: list
    """For each person her trajectory's place in `published`, or None."""
    losses: dict


def glove(
    people,
    k,
    variant="strict",
    reshape="split",
    max_space=None,
    max_time=None,
    settings=DEFAULTS,
    crowd=None,
):
    """Algorithm 1, with the whole matrix."""
    crowd = crowd or [1] * len(people)
    alive = {
        i: Node(i, sorted(boxes, key=in_time), crowd[i], [i]) for i, (_, boxes) in enumerate(people)
    }
    unfinished = {"strict": all, "loose": any}[variant]
    matrix = {}

    def fill(index):
        """Compute what every older trajectory costs that may be merged with this one."""
        b = alive[index]
        for a in alive.values():
            if a.index < index and unfinished(node.crowd < k for node in (a, b)):
                cost = trajectory_stretch(a.boxes, b.boxes, a.crowd, b.crowd, settings)
                matrix[a.index, index] = cost

    for index in list(alive):
        fill(index)
    merges, suppressed, emptied = [], 0, []
    while matrix:
        cost, pair = min((cost, pair) for pair, cost in matrix.items())
        matrix = {other: cost for other, cost in matrix.items() if not set(other) & set(pair)}
        a, b = (alive.pop(index) for index in pair)
        merged = merge(*by_length(a.boxes, b.boxes, a.crowd, b.crowd), settings)
        kept = [box for box in merged if not exceeds(box, max_space, max_time)]
        suppressed += len(merged) - len(kept)
        index = len(people) + len(merges)
        merges.append((*pair, cost))
        node = Node(
            index, reshaped(kept, reshape), a.crowd + b.crowd, sorted(a.members + b.members)
        )
        if node.boxes:
            alive[index] = node
            fill(index)
        else:
            emptied.append(node)

    published = [node for node in alive.values() if node.crowd >= k]
    left_over = [node for node in alive.values() if node.crowd < k]
    assignment = [None] * len(people)
    for place, node in enumerate(published):
        for member in node.members:
            assignment[member] = place
    uncovered = [
        sample
        for place, (_, boxes) in zip(assignment, people, strict=True)
        if place is not None
        for sample in boxes
        if not lies_in(sample, published[place].boxes)
    ]
    losses = {
        "people_left_over": sum(node.crowd for node in left_over),
        "people_emptied": sum(node.crowd for node in emptied),
        "people_dropped": sum(node.crowd for node in left_over + emptied),
        "samples_dropped": sum(
            len(people[member][1]) for node in left_over + emptied for member in node.members
        ),
        "samples_suppressed": len(uncovered),
        "boxes_suppressed": suppressed,
    }
    return Gloved(merges, published, assignment, losses)


def _holds(more, fewer):
    """Tell whether a multiset contains another."""
    return all(more[item] >= number for item, number in fewer.items())


def _follows(sequence, part):
    """Tell whether some elements come one after the other in a sequence, with gaps allowed."""
    at = iter(sequence)
    return all(element in at for element in part)


def _is_near(known, hers, tolerance, *, relative):
    return abs(known - hers) <= tolerance * (hers if relative else 1)


def frequencies(visits):
    """Give ``(place, visits)``, most visited places first; of equals, the lower code."""
    found = Counter(place for _, place in visits)
    return sorted(found.items(), key=lambda point: (-point[1], point[0]))


def proportions(points):
    """Relate visits to those of the most visited place among these."""
    most = max(visits for _, visits in points)
    return {place: Fraction(visits, most) for place, visits in points}


def knowledge(visits, attack, precision=1):
    """Give the points of which an adversary may know some, as section 4.2 defines them."""
    if attack in ("location", "location_sequence"):
        return [place for _, place in visits]
    if attack == "visit":
        return [(place, time // precision) for time, place in visits]
    points = frequencies(visits)
    if attack in ("frequent_location", "frequent_location_sequence"):
        return [place for place, _ in points]
    if attack == "probability":
        return [(place, Fraction(number, len(visits))) for place, number in points]
    return points[:2] if attack == "home_work" else points


def matches(visits, instance, attack, tolerance=None, relative=False, precision=1):  # noqa: FBT002
    """Tell whether a person is among those whom an instance of knowledge leaves."""
    hers = knowledge(visits, "frequency" if attack == "home_work" else attack, precision)
    if attack in ("location", "visit", "frequent_location"):
        return _holds(Counter(hers), Counter(instance))
    if attack.endswith("sequence"):
        return _follows(hers, instance)
    hers, known = dict(hers), dict(instance)
    if not known.keys() <= hers.keys():
        return False
    if attack == "proportion":
        known = proportions(instance)
        hers = proportions([(place, hers[place]) for place in known])
    if attack in ("proportion", "probability") and tolerance is None:
        tolerance = Fraction(1, 10)
    if tolerance is None:
        return all(hers[place] >= number for place, number in known.items())
    near = functools.partial(_is_near, tolerance=tolerance, relative=relative)
    return all(near(number, hers[place]) for place, number in known.items())


def crowd_left(people, attack, k, person, **how):
    """Give the fewest people whom any k points of a person leave: definitions 3.3 and 3.4."""
    points = knowledge(people[person][1], attack, how.get("precision", 1))
    known = len(points) if attack == "home_work" else min(k, len(points))
    instances = set(itertools.combinations(points, known))
    return min(
        sum(matches(visits, instance, attack, **how) for _, visits in people)
        for instance in instances
    )


def risk(people, attack, k, **how):
    """Give the risk of each person."""
    return [Fraction(1, crowd_left(people, attack, k, i, **how)) for i in range(len(people))]


def _entropy(numbers):
    total = sum(numbers)
    return sum(-number / total * math.log2(number / total) for number in numbers)


def _centre(box, cell):
    x0, x1, y0, y1, _, _ = box
    return (x0 + x1) / 2 * cell, (y0 + y1) / 2 * cell


def features(people, frame):
    """Give the 28 mobility features of each person, from section 4.1 of the paper of 2017."""
    where = [[_centre(box, frame.cell) for box in boxes] for _, boxes in people]
    codes = [Counter(tuple(box[:4]) for box in boxes) for _, boxes in people]
    everywhere = set(itertools.chain(*where))
    widest = max(math.dist(a, b) for a in everywhere for b in everywhere)
    first = min(box[4] for _, boxes in people for box in boxes)
    last = max(box[5] for _, boxes in people for box in boxes)
    days = math.ceil((last - first) * frame.slot / 86_400)
    places = set(itertools.chain(*codes))
    at = {place: [own[place] for own in codes if own[place]] for place in places}
    return [
        _features(path, own, at, days, widest, len(people))
        for path, own in zip(where, codes, strict=True)
    ]


def _features(path, own, at, days, widest, people):
    ways = [math.dist(a, b) for a, b in itertools.pairwise(path)]
    middle = [sum(side) / len(path) for side in zip(*path, strict=True)]
    longest = max(ways, default=0)
    found = {
        "visits": len(path),
        "visits_per_day": len(path) / days,
        "max_distance": longest,
        "sum_distances": sum(ways),
        "sum_distances_per_day": sum(ways) / days,
        "max_distance_ratio": longest / widest if widest else 0,
        "places": len(own),
        "places_ratio": len(own) / len(at),
        "radius_of_gyration": math.sqrt(sum(math.dist(p, middle) ** 2 for p in path) / len(path)),
        "entropy": _entropy(own.values()),
    }
    # Codes of places go by x and then by y, as boxes do.
    order = sorted(own, key=lambda place: (-own[place], place))
    for name, index in (("first", 0), ("second", 1), ("last", len(order) - 1)):
        place = order[index] if index < len(order) else None
        found[f"{name}_entropy"] = _entropy(at[place]) if place else 0
        found[f"{name}_people"] = len(at[place]) if place else 0
        found[f"{name}_people_ratio"] = found[f"{name}_people"] / people
        found[f"{name}_visits"] = own[place] if place else 0
        found[f"{name}_visits_ratio"] = own[place] / sum(at[place]) if place else 0
        found[f"{name}_visits_per_day"] = found[f"{name}_visits"] / days
    return found


INTERVALS = [(0, 0), (0, 1), (1, 2), (2, 3), (3, 5), (5, 10)]
"""Classes of risk, in tenths: all but the first without their lower end (section 4.3)."""


def level(risk):
    """Give the class of a risk, counted from 0."""
    if risk == 0:
        return 0
    [found] = [i for i, (low, high) in enumerate(INTERVALS) if low < 10 * risk <= high]
    return found


def accuracy(actual, predicted):
    """Give the share of people whose class is right (section 5)."""
    return Fraction(sum(a == b for a, b in zip(actual, predicted, strict=True)), len(actual))


def f_measure(actual, predicted):
    """Give the F-measure of each class, weighted by its share of people (section 5)."""
    pairs = list(zip(actual, predicted, strict=True))
    total = Fraction(0)
    for c in set(actual):
        tp = sum(a == c and b == c for a, b in pairs)
        fp = sum(a != c and b == c for a, b in pairs)
        fn = sum(a == c and b != c for a, b in pairs)
        total += Fraction(actual.count(c), len(actual)) * Fraction(2 * tp, 2 * tp + fp + fn)
    return total


def recall(actual, predicted, i, j):
    """Give the share of class i that is predicted to be in class j; None if nobody is in i."""
    among = [b for a, b in zip(actual, predicted, strict=True) if a == i]
    return Fraction(among.count(j), len(among)) if among else None


def precision(actual, predicted, i, j):
    """Give the share of those predicted to be in class j who are in class i; None if none is."""
    return recall(predicted, actual, j, i)
