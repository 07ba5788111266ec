"""From names and settings to attacks; what is none, or does not go together, is refused here."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from incrowd.arguments import is_whole
from incrowd.attack.attacks import ATTACKS, Attack, Visit, as_fraction
from incrowd.errors import ArgumentError

__all__ = ["attacks_of", "named", "one_sided", "refuse_odd"]

ORDERS = ("time", "frequency")
TELLS = ("time", "visits", "of")


def named(name: str, settings: Mapping[str, Any]) -> Attack:
    """Give the attack of a name, with those of the settings that it has."""
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
    """Give those attacks whom `relative` does not concern, where no tolerance is given.

    They have none unless it is given; others have, and for them it is relative. Where there are no
    others, nobody is spared: `relative` alone would say nothing.

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
    """Give the attacks by name; refuse settings that none of them has, and what is no attack."""
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
            raise ArgumentError(f"{name!r} is no setting of {names}")
    return attacks


def _several(given: Any) -> list[str | Attack]:
    """Give what may be one attack, or several, as several; each a name or an attack."""
    several: list[Any]
    if given is None or isinstance(given, str | Attack | type | bytes):
        several = [given]
    elif isinstance(given, Iterable):
        several = list(given)
    else:
        raise ArgumentError(f"an attack is a name or an Attack, not {given!r}")
    if not several or several == [None]:
        raise ArgumentError(f"name an attack, or several: {', '.join(ATTACKS)}")
    for one in several:
        if isinstance(one, type) and issubclass(one, Attack):
            raise ArgumentError(f"{one.__name__} is a class of attacks; {one.__name__}() is one")
        if not isinstance(one, str | Attack):
            raise ArgumentError(f"an attack is a name or an Attack, not {type(one).__name__}")
    return several


def refuse_odd(attack: Attack) -> None:
    """Refuse an attack that asks for what does not go together, or is not there."""
    for is_odd, text in _oddities(attack):
        if is_odd:
            raise ArgumentError(f"{attack.name or type(attack).__name__}: {text}")
    if attack.shared:
        as_fraction(attack.tolerance)  # type: ignore[attr-defined]


def _oddities(attack: Attack) -> Iterator[tuple[bool, str]]:
    """Tell, one after the other, whether something is odd about an attack, and what."""
    yield not isinstance(attack.name, str) or not attack.name, "it has no name"
    ordered, first = attack.ordered, attack.first
    yield (
        bool(ordered) and ordered not in ORDERS,
        f"ordered is {ordered!r}; it is {' or '.join(map(repr, ORDERS))}, or empty",
    )
    yield (
        first is not None and not (is_whole(first) and first >= 1),
        f"first is {first!r}; it is a whole number from 1 on, or None",
    )
    between = type(attack).between is not Attack.between
    for other, there in (
        ("repeated", attack.repeated),
        ("divided", attack.divided),
        ("shared", attack.shared),
        ("a between of its own", between),
    ):
        yield bool(ordered) and there, f"ordered does not go with {other}"
    yield attack.repeated and attack.divided, "repeated does not go with divided"
    yield attack.repeated and attack.shared, "repeated does not go with shared"
    yield (
        attack.divided and not between,
        "divided needs a between of its own: which parts of a total fit",
    )
    yield (
        attack.shared and getattr(attack, "tolerance", None) is None,
        "shared needs a tolerance, as Proportion has",
    )
    for each in attack.tells:
        yield each not in TELLS, f"it tells {each!r}; there are {', '.join(TELLS)}"
    yield "time" in attack.tells and not isinstance(attack, Visit), "only a Visit tells the time"
