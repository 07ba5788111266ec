"""The nine attacks, trying every instance, and the mobility features."""

import functools
import itertools
import math
from collections import Counter
from fractions import Fraction


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
    """Give ``(place, visits)``, most visited places first; of equals, the lower code.

    Visits may be a Counter of places, where neither their order nor their time matters.
    """
    found = visits if isinstance(visits, Counter) else Counter(place for _, place in visits)
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
        total = sum(number for _, number in points)
        return [(place, Fraction(number, total)) for place, number in points]
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
