"""Who may be in the data twice, pair by pair, as `incrowd.same_person` defines it."""

import math
from itertools import combinations

CODES = {"1", "7", "20", "27", *map(str, range(30, 35)), "36", "39", "40", "41"}
CODES |= {*map(str, range(43, 50)), *map(str, range(51, 59)), *map(str, range(60, 67))}
CODES |= {"81", "82", "84", "86", *map(str, range(90, 96)), "98"}


def country(digits):
    """Give the country code with which a number begins; three digits, where no shorter one fits."""
    return next((digits[:n] for n in (1, 2) if digits[:n] in CODES), digits[:3])


def phone(name, names):
    """Give the mark and the digits of a phone number, or None."""
    text = "".join(name.split())
    if any(one.lstrip().startswith("+") for one in names):
        text = "".join(letter for letter in text if letter not in "-./()")
    mark = next(mark for mark in ("+", "00", "0", "") if text.startswith(mark))
    digits = text[len(mark) :]
    usual = digits.isascii() and digits.isdigit() and digits[:1] != "0" and 8 <= len(digits) <= 15
    return (mark, digits) if usual else None


def home_of(names):
    """Give the home country and the lengths of its numbers: None, if all that are long."""
    phones = [found for name in names if (found := phone(name, names))]
    marked = [digits for mark, digits in phones if mark in ("+", "00")]
    bare = [digits for mark, digits in phones if not mark and len(digits) >= 11]
    for numbers, least in ((marked, 0.5), (bare, 0.9)):
        codes = [country(digits) for digits in numbers]
        for code in codes:
            share = codes.count(code) / len(codes)
            if share > least or (numbers is bare and share >= least):
                known = {len(digits) for digits in marked if country(digits) == code}
                return code, known or None
        if numbers:
            break
    return None, None


def same_identifier(a, b, names):
    """Tell whether two identifiers are the same, but for how they are written."""
    mixed = [one for one in names if one not in (one.lower(), one.upper(), one.capitalize())]
    plain = ["".join(one.split()) for one in (a, b)]
    if len(mixed) * 100 <= len(names):
        plain = [one.casefold() for one in plain]
    if plain[0] == plain[1]:
        return True
    if not (phone(a, names) and phone(b, names)):
        return False
    home, lengths = home_of(names)

    def meanings(name):
        mark, digits = phone(name, names)
        code = country(digits)
        national = digits[len(code) :].lstrip("0")
        long = len(digits) >= 11 if lengths is None else len(digits) in lengths
        found = set()
        if mark in ("+", "00", "") and len(national) >= 8:
            found.add((code, national))
        if mark in ("0", ""):
            found.add((None, digits))
        if code == home and len(national) >= 8 and (mark in ("+", "00") or (not mark and long)):
            found.add((None, national))
        return found

    return bool(meanings(a) & meanings(b))


def same_traces(people, width, least=10, significance=0.001):
    """Give the pairs with nearly the same trace; people are sets of samples ``(x, y, t)``."""
    seen = [{(x, y, t // width) for x, y, t in samples} for samples in people]
    total = sum(map(len, seen))

    def expected(a, b):
        busy = sum(p in other for p in seen[a] for other in seen if other is not seen[a])
        habit = sum(
            sum(q[:2] == p[:2] for q in seen[b])
            * sum(q[2] == p[2] for other in seen for q in other)
            for p in seen[a]
        )
        parts = (len(seen[b]) * busy, total - len(seen[a])), (habit, total)
        return max(parts, key=lambda part: part[0] / part[1])

    found = []
    for pair in combinations(range(len(seen)), 2):
        a, b = sorted(pair, key=lambda one: (len(seen[one]), one))
        common = len(seen[a] & seen[b])
        if common < least or 5 * common < 4 * len(seen[a]):
            continue
        part, whole = expected(a, b)
        chance = part / whole
        if common <= chance:
            continue
        bound = common - chance - common * math.log(common / chance)
        if bound + math.log(len(seen) * (len(seen) - 1) / 2) <= math.log(significance):
            found.append(pair)
    return found


def joined(people, groups):
    """Give groups with nobody in common."""
    left = [set(group) for group in groups]
    whole = []
    while left:
        group = left.pop(0)
        while more := [other for other in left if other & group]:
            group = group.union(*more)
            left = [other for other in left if not other & group]
        whole.append(tuple(sorted(group)))
    return sorted(whole)
