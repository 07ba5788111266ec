"""Disclosure control: which counts of people may be published, and in which form. One rule.

A count of one to nine people says something of persons whom somebody may know, so it is not told
to whoever gets a release: neither by the manifest, the fact sheet or the report, nor by the
verification that goes with them. Two steps:

- *Primary*: a count of fewer than ten people (or than k, if that is more) is told as "fewer than
  10". That it is not nobody is told.
- *Complementary*: what could be worked out from it by a subtraction is not told either: the other
  part of a sum that is told, how many samples few people had, and the total that differs from a
  published one by just those few.

Whoever has the original needs no such rule, and is told exact numbers.
"""

import re
from collections.abc import Mapping
from typing import Any

__all__ = [
    "LEAST",
    "NOT_SHOWN",
    "PARTS",
    "TELLS",
    "agrees",
    "fewer_than",
    "is_few",
    "least_for",
    "losses_to_tell",
    "most_of",
    "says_few",
    "tell",
]


LEAST = 10
"""Counts of fewer people than this, or than k, are not told."""
NOT_SHOWN = "not shown, because it would be that of few people"
TELLS = "not shown, because it would tell another count"
TOTAL = "people_dropped"
PARTS = ("people_left_over", "people_emptied", "people_held_back")
"""The losses of people that add up to those dropped; the last one is of releases with a ledger."""
OF_THEM = ("samples_dropped",)
"""Losses that are of the people who were left out."""
_FEWER = re.compile(r"fewer than (\d{1,18})\Z")


def least_for(k: Any) -> int:
    """Return the smallest count of people that is told of a release for this k.

    Examples
    --------
    >>> from incrowd._disclosure import least_for
    >>> least_for(None), least_for(2), least_for(20)
    (10, 10, 20)
    """
    return max(LEAST, k) if type(k) is int else LEAST


def is_few(value: Any, least: int = LEAST) -> bool:
    """Tell whether a value is a count of people, of somebody, and too small to be told.

    Examples
    --------
    >>> from incrowd._disclosure import is_few
    >>> [count for count in (0, 1, 9, 10, "fewer than 10") if is_few(count)]
    [1, 9]
    """
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < least


def fewer_than(least: int = LEAST) -> str:
    """Return what stands in the place of a small count.

    Examples
    --------
    >>> from incrowd._disclosure import fewer_than
    >>> fewer_than()
    'fewer than 10'
    """
    return f"fewer than {least}"


def tell(count: int, least: int = LEAST) -> int | str:
    """Return a count of people as it may be told.

    Examples
    --------
    >>> from incrowd._disclosure import tell
    >>> [tell(count) for count in (0, 9, 10)]
    [0, 'fewer than 10', 10]
    """
    return fewer_than(least) if is_few(count, least) else count


def says_few(value: Any) -> bool:
    """Tell whether a value stands in the place of a small count."""
    return isinstance(value, str) and _FEWER.fullmatch(value) is not None


def most_of(value: Any) -> int | None:
    """Return the largest count that a told value can stand for; None if it tells none.

    Examples
    --------
    >>> from incrowd._disclosure import most_of
    >>> most_of(12), most_of("fewer than 10"), most_of("many")
    (12, 9, None)
    """
    if type(value) is int:
        return value
    found = _FEWER.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else int(found[1]) - 1


def agrees(value: Any, count: int, least: int = LEAST) -> bool:
    """Tell whether a told value is true of a count: it is the count, or "fewer than" it hides.

    Who withholds more than the rule does is not true to it: "fewer than 1000" agrees with nothing.

    Examples
    --------
    >>> from incrowd._disclosure import agrees
    >>> agrees(3, 3), agrees("fewer than 10", 3), agrees("fewer than 10", 0)
    (True, True, False)
    >>> agrees("fewer than 1000", 3)
    False
    """
    if says_few(value):
        return value == fewer_than(least) and is_few(count, least)
    return type(value) is int and value == count


def losses_to_tell(losses: Mapping[str, Any], least: int = LEAST) -> dict[str, Any]:
    """Return the losses of a release as they may be told.

    Examples
    --------
    >>> from incrowd._disclosure import losses_to_tell
    >>> losses_to_tell({"people_dropped": 3, "samples_dropped": 70, "samples_suppressed": 12})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'people_dropped': 'fewer than 10',
     'samples_dropped': 'not shown, because it would be that of few people',
     'samples_suppressed': 12}
    """
    found = dict(losses)
    few = is_few(found.get(TOTAL), least) or says_few(found.get(TOTAL))
    hidden = [name for name in PARTS if is_few(found.get(name), least)]
    for name, value in losses.items():
        if name in PARTS and hidden and not few:
            # The parts and the total: of three numbers, two tell the third. That both are withheld
            # in the same words does not tell which one is small.
            found[name] = TELLS if value else value
        elif name.startswith("people"):
            found[name] = tell(value, least)
        elif name in OF_THEM and few:
            found[name] = NOT_SHOWN
    return found
