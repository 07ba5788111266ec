"""Identifiers that are one person's by how they are written: the same phone number in two ways.

::

    identifiers ──> rules_of (what the data shows) ──> keys_of each ──> groups with a key in common

Two identifiers are the same in any of these cases, and in no other:

1. They differ in white space only, or in upper and lower case. Case counts where the data uses it:
   if more than one identifier in a hundred has both cases inside (``aB3x``; not ``Ann``), as
   random codes have.
2. They are the same phone number. A phone number is ``+``, ``00``, ``0`` or nothing, then 8 to 15
   digits of which the first is no 0. White space is ignored; ``-``, ``.``, ``/``, ``(`` and ``)``
   only if some identifier of the data begins with ``+``. Numbers with ``+`` or ``00`` are
   international: the country code of ITU-T E.164, then the national number. A national number is
   compared without its leading zeros, and has 8 digits or more without them.

   - Two international numbers are the same if country and national number are.
   - Two others are, if their digits without leading zeros are.
   - A number without any mark is taken as either. So ``2250700000001`` is ``+2250700000001``.
   - A national number is the same as an international one only if that is of the *home country*:
     the one that more than half of the international numbers are of. A number without a mark is
     international in this case only if it is as long as an international number of home. If no
     number is marked, home is the country code with which nine in ten begin of all numbers without
     a mark that have 11 digits or more.

That one number ends like another is never enough: ``12345678`` and ``9912345678`` differ.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "groups_of_keys",
    "keys_of",
    "rules_of",
    "same_identifiers",
]


_MIXED = 100
"""One identifier in so many may have both cases inside before case counts."""
_LEAST = 8
"""Digits of a national number, without leading zeros."""
_LONG = 11
"""Digits of a number without a mark that may be international."""
_HOME = 0.9
_PHONE = re.compile(r"(\+|00|0)?([1-9][0-9]{7,14})")
_COUNTRY = re.compile(r"1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|[2-9][0-9][0-9]")
"""Country codes of ITU-T E.164: no code is the beginning of another."""
_SEPARATORS = str.maketrans("", "", "-./()")

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """What the data shows of how its identifiers are written.

    Attributes
    ----------
    fold
        Whether upper and lower case are the same.
    separators
        Whether dashes, dots, slashes and brackets are left out of phone numbers.
    home
        The home country's code; None if the data shows none.
    lengths
        How many digits international numbers of home have; None if any number may be one.
    """

    fold: bool
    separators: bool
    home: str | None
    lengths: frozenset[int] | None


def rules_of(names: Sequence[str]) -> Rules:
    """Return what identifiers show of how they are written."""
    mixed = sum(name not in (name.lower(), name.upper(), name.capitalize()) for name in names)
    separators = any(name.lstrip().startswith("+") for name in names)
    phones = [phone for name in names if (phone := _phone(name, separators=separators))]
    marked: Counter[str] = Counter()
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    bare: Counter[str] = Counter()
    for mark, digits in phones:
        code = _country(digits)
        if mark in ("+", "00"):
            marked[code] += 1
            lengths[code].add(len(digits))
        elif not mark and len(digits) >= _LONG:
            bare[code] += 1
    home, known = None, None
    if marked:
        code, number = marked.most_common(1)[0]
        if 2 * number > marked.total():
            home, known = code, frozenset(lengths[code])
    elif bare:
        code, number = bare.most_common(1)[0]
        home = code if number >= _HOME * bare.total() else None
    return Rules(mixed * _MIXED <= len(names), separators, home, known)


def keys_of(name: str, rules: Rules) -> set[Key]:
    """Return what an identifier is compared by: two are the same if they have a key in common."""
    text = "".join(name.split())
    keys: set[Key] = {("text", text.casefold() if rules.fold else text)}
    phone = _phone(name, separators=rules.separators)
    if phone is None:
        return keys
    mark, digits = phone
    code = _country(digits)
    national = digits[len(code) :].lstrip("0")
    if mark in ("+", "00"):
        if len(national) >= _LEAST:
            keys.add(("international", code, national))
        at_home = code == rules.home
    else:
        keys.add(("national", digits))
        if not mark and len(national) >= _LEAST:
            keys.add(("international", code, national))
        at_home = not mark and code == rules.home
        at_home &= len(digits) >= _LONG if rules.lengths is None else len(digits) in rules.lengths
    if at_home and len(national) >= _LEAST:
        keys.add(("national", national))
    return keys


def same_identifiers(names: Sequence[str]) -> list[list[int]]:
    """Return groups of identifiers that are the same, as indices; only groups of two or more.

    Examples
    --------
    >>> from incrowd.measure._same_identifier import same_identifiers
    >>> same_identifiers(["0700000001", "+2250700000001", "0700000002", "ann", "ANN "])
    [[0, 1], [3, 4]]
    """
    rules = rules_of(names)
    return groups_of_keys([keys_of(name, rules) for name in names])


def groups_of_keys(keys: Sequence[set[Key]]) -> list[list[int]]:
    """Return groups of those that have a key in common, directly or through others."""
    first: dict[Key, int] = {}
    parent: dict[int, int] = {}

    def root(one: int) -> int:
        while (above := parent.setdefault(one, one)) != one:
            parent[one] = parent[above]
            one = above
        return one

    for index, own in enumerate(keys):
        for key in own:
            before = first.setdefault(key, index)
            if before != index:
                a, b = root(before), root(index)
                parent[max(a, b)] = min(a, b)
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for index in sorted(parent):
        groups[root(index)].append(index)
    return list(groups.values())


def _phone(name: str, *, separators: bool) -> tuple[str, str] | None:
    """Return the mark and the digits of a phone number; None if it is none."""
    if len(name) < _LEAST:
        return None
    text = "".join(name.split())
    found = _PHONE.fullmatch(text.translate(_SEPARATORS) if separators else text)
    return None if found is None else (found[1] or "", found[2])


def _country(digits: str) -> str:
    found = _COUNTRY.match(digits)
    return found[0] if found else digits[:3]
