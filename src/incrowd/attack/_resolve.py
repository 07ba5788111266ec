"""From names and settings to attacks; what is none, or does not go together, is refused here."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from incrowd._arguments import is_whole
from incrowd.attack._attacks import ATTACKS, Attack, Visit, as_fraction
from incrowd.errors import ArgumentError

__all__ = [
    "attacks_of",
    "named",
    "one_sided",
    "refuse_odd",
]


ORDERS = ("time", "frequency")
FIELDS = ("time", "visits", "of")
RENAMED = {
    "between": "matching_range",
    "divided": "normalised",
    "first": "top_n",
    "repeated": "multiset",
    "shared": "relative_to_top",
    "tells": "known_fields",
}
"""What attributes of an attack were called before. A class that still has one is refused: ignored,
it would silently be another attack."""


def named(name: str, settings: Mapping[str, Any]) -> Attack:
    """Return the attack of a name, with those of the settings that it has."""
    kind = _kind(name)
    own = {field.name for field in fields(kind)}
    return kind(**{key: value for key, value in settings.items() if key in own})


def _kind(name: str) -> type[Attack]:
    if name not in ATTACKS:
        near = difflib.get_close_matches(name, ATTACKS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else f": {', '.join(ATTACKS)}"
        raise ArgumentError(f"there is no attack {name!r}{hint}")
    return ATTACKS[name]


def one_sided(names: Iterable[str], settings: Mapping[str, Any]) -> list[str]:
    """Return the attacks for which `relative` is ignored, where no tolerance is given.

    They have no tolerance unless it is given; others have one, and for them it is relative. Where
    there are no others, none is returned: `relative` alone would have no effect.

    Examples
    --------
    >>> one_sided(["location", "frequency", "probability"], {"relative": True})
    ['frequency']
    """
    if not settings.get("relative") or settings.get("tolerance") is not None:
        return []
    usual = {
        name: field.default
        for name in names
        for field in fields(_kind(name))
        if field.name == "tolerance"
    }
    without = [name for name, default in usual.items() if default is None]
    return without if len(without) < len(usual) else []


def attacks_of(
    given: str | Attack | Iterable[str | Attack], settings: dict[str, Any]
) -> list[Attack]:
    """Return attacks from names; refuse settings that none of them has, and what is no attack."""
    several = _several(given)
    spared = one_sided([one for one in several if isinstance(one, str)], settings)
    rest = {name: value for name, value in settings.items() if name != "relative"}
    attacks = [
        named(one, rest if one in spared else settings) if isinstance(one, str) else one
        for one in several
    ]
    for one in attacks:
        refuse_odd(one)
    used = {field.name for one in attacks for field in fields(one)}
    for name in settings:
        if name not in used:
            names = ", ".join(one.name for one in attacks)
            raise ArgumentError(f"{name!r} is not a setting of {names}")
    return attacks


def _several(given: Any) -> list[str | Attack]:
    """Return one attack or several as a list; each a name or an attack."""
    several: list[Any]
    if given is None or isinstance(given, str | Attack | type | bytes):
        several = [given]
    elif isinstance(given, Iterable):
        several = list(given)
    else:
        raise ArgumentError(f"attack must be a name or an Attack, not {given!r}")
    if not several or several == [None]:
        raise ArgumentError(f"give at least one attack: {', '.join(ATTACKS)}")
    for one in several:
        if isinstance(one, type) and issubclass(one, Attack):
            raise ArgumentError(
                f"{one.__name__} is a class; give an instance of it: {one.__name__}()"
            )
        if not isinstance(one, str | Attack):
            raise ArgumentError(f"attack must be a name or an Attack, not {type(one).__name__}")
    return several


def refuse_odd(attack: Attack) -> None:
    """Refuse an attack whose parts do not go together, or are not there."""
    name = attack.name or type(attack).__name__
    for is_odd, text in (*_old_names(attack), *_oddities(attack)):
        if is_odd:
            raise ArgumentError(f"{name}: {text}")
    if attack.relative_to_top:
        as_fraction(attack.tolerance)  # type: ignore[attr-defined]


def _old_names(attack: Attack) -> Iterator[tuple[bool, str]]:
    """Yield attributes that go by another name now; unread, they would make another attack."""
    own = [kind for kind in type(attack).__mro__ if kind not in Attack.__mro__]
    for old, new in RENAMED.items():
        there = any(old in vars(kind) for kind in own)
        yield there, f"the attribute {old!r} is called {new!r} now; rename it in the class"


def _oddities(attack: Attack) -> Iterator[tuple[bool, str]]:
    """Yield, one after the other, whether something is odd about an attack, and what."""
    yield not isinstance(attack.name, str) or not attack.name, "it has no name; set one"
    ordered, top_n = attack.ordered, attack.top_n
    yield (
        bool(ordered) and ordered not in ORDERS,
        f"ordered must be {', '.join(map(repr, ORDERS))} or empty, not {ordered!r}",
    )
    yield (
        top_n is not None and not (is_whole(top_n) and top_n >= 1),
        f"top_n must be a positive integer or None, not {top_n!r}",
    )
    own_range = type(attack).matching_range is not Attack.matching_range
    for other, there in (
        ("multiset", attack.multiset),
        ("normalised", attack.normalised),
        ("relative_to_top", attack.relative_to_top),
        ("a matching_range of its own", own_range),
    ):
        yield bool(ordered) and there, f"ordered cannot be combined with {other}"
    yield (
        attack.multiset and attack.normalised,
        "multiset cannot be combined with normalised",
    )
    yield (
        attack.multiset and attack.relative_to_top,
        "multiset cannot be combined with relative_to_top",
    )
    yield (
        attack.normalised and not own_range,
        "normalised needs a matching_range of its own: which shares of a total match",
    )
    yield (
        attack.relative_to_top and getattr(attack, "tolerance", None) is None,
        "relative_to_top needs a tolerance, as Proportion has",
    )
    for each in attack.known_fields:
        yield each not in FIELDS, f"known_fields has {each!r}; it may have {', '.join(FIELDS)}"
    yield (
        "time" in attack.known_fields and not isinstance(attack, Visit),
        "only a Visit knows the time",
    )
