"""The nine attacks of section 4.2, each as what it makes of a visit and what it makes of a match.

An attack of one's own is a class of the same kind::

    class Weekday(Attack):
        "The adversary knows places and days of the week."

        name = "weekday"
        repeated = True

        def codes(self, visits):
            return visits.place * 7 + visits.time // 1440 % 7

    incrowd.risk(visits, Weekday(), k=3)

Two attacks can be made one: somebody is left if she fits both::

    class Both(Proportion):
        "The adversary knows proportions, and probabilities as well."

        name = "proportion_and_probability"
        divided = True

        def between(self, number, total):
            return Probability(self.tolerance, self.relative).between(number, total)

What cannot be combined is refused before anybody is attacked (`incrowd.attack._attacks`).

From names and settings to attacks; what is none, or does not go together, is refused here.
"""

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from incrowd._arguments import is_whole
from incrowd._numba import Ints
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.data._visits import Visits

__all__ = [
    "ATTACKS",
    "LIMIT",
    "MANY",
    "Attack",
    "Frequency",
    "FrequentLocation",
    "FrequentLocationSequence",
    "HomeWork",
    "Location",
    "LocationSequence",
    "Number",
    "Probability",
    "Proportion",
    "Visit",
    "as_fraction",
    "attacks_of",
    "named",
    "one_sided",
    "refuse_odd",
    "settles",
]


Number = float | str | Decimal | Fraction
Range = tuple[Ints, Ints, Ints]

MANY = 2**31
"""More than anybody has of anything."""
FINEST = 10**6
"""A tolerance has no more than six decimals, so that everything fits in 64 bits."""
LIMIT = 1 << 62
"""No product that is compared may be as large: two of them can be added in 64 bits."""


@dataclass(frozen=True, slots=True)
class Attack:
    """What an adversary knows, and whom that fits.

    Attributes
    ----------
    name
        How it is called.
    repeated
        Whether a code that a person has several times is as many points; somebody fits who has it
        as often as it is known.
    ordered
        ``"time"`` or ``"frequency"`` if the order of the points is known, and nothing else: not
        with `repeated`, `divided`, `shared` or a `between` of its own.
    divided
        Whether numbers are divided by all visits of a person before they are compared; what is
        compared with them is said by a `between` of its own. Not with `repeated`.
    shared
        Whether numbers are known only in proportion to the greatest of those that are known. Needs
        a `tolerance`, and takes `relative`, as `Proportion` has them; who does not fit by `between`
        is left out as well. Not with `repeated`.
    first
        How many of the most frequent codes can be known; all, if None. So many points are known
        then, whatever k is. It goes with everything else.
    """

    name: ClassVar[str] = ""
    repeated: ClassVar[bool] = False
    ordered: ClassVar[str] = ""
    divided: ClassVar[bool] = False
    shared: ClassVar[bool] = False
    first: ClassVar[int | None] = None
    tells: ClassVar[tuple[str, ...]] = ()
    """What is told of a point that is known, besides its place: time, visits, of (how many)."""

    def codes(self, visits: "Visits") -> Ints:
        """Give a whole number for each visit: what an adversary may know of it."""
        return visits.place

    def between(self, number: Ints, total: Ints) -> Range:  # noqa: ARG002
        """Say whom a point fits: numbers from low/under to high/under, both included.

        `number` is how often the person has the code, `total` how many visits she has in all, for
        everything that may be known of anybody; so are the three, in whole numbers. Whom it fits
        has a number in that range at the same code (divided by her own total, if `divided`).
        """
        return np.ones_like(number), np.full_like(number, MANY), np.ones_like(number)


@dataclass(frozen=True, slots=True)
class Location(Attack):
    """Places, as often as they were visited; somebody fits who has each at least as often."""

    name: ClassVar[str] = "location"
    repeated: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class LocationSequence(Attack):
    """Places in the order of visits; somebody fits who visited them in that order."""

    name: ClassVar[str] = "location_sequence"
    ordered: ClassVar[str] = "time"


@dataclass(frozen=True, slots=True)
class Visit(Attack):
    """Places with times; somebody fits who has each of them (at least as often).

    Parameters
    ----------
    precision
        How many slots of the data's time the adversary takes as one.
    """

    name: ClassVar[str] = "visit"
    repeated: ClassVar[bool] = True
    tells: ClassVar[tuple[str, ...]] = ("time",)
    precision: int = 1

    def __post_init__(self) -> None:
        if not is_whole(self.precision):
            raise ArgumentError(f"precision is a whole number of slots, not {self.precision!r}")
        if self.precision < 1:
            raise ArgumentError(f"precision is {self.precision}; it must be at least 1 slot")

    def codes(self, visits: "Visits") -> Ints:
        """Give a number for each place and time that occur together."""
        places, place = np.unique(visits.place, return_inverse=True)
        first, span = self._span(visits)
        if len(places) * span >= 1 << 62:
            raise ArgumentError(
                f"{len(places):,} places and {span:,} moments are too many to be numbered; "
                "take a coarser precision"
            )
        return np.asarray(place * span + visits.time // self.precision - first, np.int64)

    def decode(self, code: Ints, visits: "Visits") -> tuple[Ints, Ints]:
        """Give the place and the time behind codes."""
        first, span = self._span(visits)
        return np.unique(visits.place)[code // span], (code % span + first) * self.precision

    def _span(self, visits: "Visits") -> tuple[int, int]:
        """Give the first moment, and how many there are."""
        first, last = int(visits.time.min()), int(visits.time.max())
        return first // self.precision, last // self.precision - first // self.precision + 1


@dataclass(frozen=True, slots=True)
class FrequentLocation(Attack):
    """Distinct places; somebody fits who has them all."""

    name: ClassVar[str] = "frequent_location"


@dataclass(frozen=True, slots=True)
class FrequentLocationSequence(Attack):
    """Distinct places by falling frequency; somebody fits for whom they have the same order.

    Of places that were visited equally often, the one with the lower code comes first.
    """

    name: ClassVar[str] = "frequent_location_sequence"
    ordered: ClassVar[str] = "frequency"


@dataclass(frozen=True, slots=True)
class Frequency(Attack):
    """Places and how often each was visited; somebody fits who was there at least as often.

    Parameters
    ----------
    tolerance
        If given, her number may be neither lower nor higher by more than this: in visits, or, if
        relative, in parts of her own number.
    relative
        Whether the tolerance is a part of her number.
    """

    name: ClassVar[str] = "frequency"
    tells: ClassVar[tuple[str, ...]] = ("visits",)
    tolerance: Number | None = None
    relative: bool = False

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            as_fraction(self.tolerance)
        elif self.relative:
            raise ArgumentError(f"{self.name} is relative only with a tolerance")

    def between(self, number: Ints, total: Ints) -> Range:  # noqa: ARG002
        """Fit those with as many visits or more, or with as many within the tolerance."""
        if self.tolerance is None:
            return number, np.full_like(number, MANY), np.ones_like(number)
        return _near(number, as_fraction(self.tolerance), relative=self.relative)


@dataclass(frozen=True, slots=True)
class HomeWork(Frequency):
    """The two most visited places, and how often; somebody fits as with `Frequency`."""

    name: ClassVar[str] = "home_work"
    first: ClassVar[int | None] = 2


@dataclass(frozen=True, slots=True)
class Proportion(Attack):
    """Places, and visits relative to the most visited of them; somebody fits with similar ones.

    Hers are relative to the place among these that she visited most.

    Parameters
    ----------
    tolerance
        How much two proportions may differ.
    relative
        Whether the tolerance is a part of her proportion.
    """

    name: ClassVar[str] = "proportion"
    shared: ClassVar[bool] = True
    tells: ClassVar[tuple[str, ...]] = ("visits", "of")
    tolerance: Number = 0.1
    relative: bool = False

    def __post_init__(self) -> None:
        as_fraction(self.tolerance)


@dataclass(frozen=True, slots=True)
class Probability(Attack):
    """Places, and what part of all visits each had; somebody fits with similar parts.

    Parameters
    ----------
    tolerance
        How much two probabilities may differ.
    relative
        Whether the tolerance is a part of her probability.
    """

    name: ClassVar[str] = "probability"
    divided: ClassVar[bool] = True
    tells: ClassVar[tuple[str, ...]] = ("visits", "of")
    tolerance: Number = 0.1
    relative: bool = False

    def __post_init__(self) -> None:
        as_fraction(self.tolerance)

    def between(self, number: Ints, total: Ints) -> Range:
        """Fit those with a probability within the tolerance."""
        return _around(number, total, as_fraction(self.tolerance), relative=self.relative)


def _near(number: Ints, tolerance: Fraction, *, relative: bool) -> Range:
    """Give the whole numbers that differ from others by no more than a tolerance."""
    a, b, under = tolerance.numerator, tolerance.denominator, np.ones_like(number)
    if not relative:
        return -((a - b * number) // b), (b * number + a) // b, under
    # |known - hers| <= a/b * hers
    most = np.full_like(number, MANY) if a == b else b * number // (b - a)
    return -(-b * number // (b + a)), most, under


def _around(number: Ints, total: Ints, tolerance: Fraction, *, relative: bool) -> Range:
    """Give what differs from number/total by no more than a tolerance, as whole numbers."""
    a, b = tolerance.numerator, tolerance.denominator
    # Compared are low and high times the total of somebody else, and under times her number.
    settles(int(total.max(initial=1)), 2 * b * b if relative else 2 * b, tolerance, "visits")
    if not relative:
        return b * number - a * total, b * number + a * total, b * total
    # |known - hers| <= a/b * hers
    if a == b:
        return number, 2 * total, 2 * total
    return b * (b - a) * number, b * (b + a) * number, (b + a) * (b - a) * total


def settles(most: int, factor: int, tolerance: Fraction, what: str) -> None:
    """Refuse numbers whose product, times a factor, does not fit in 64 bits."""
    limit = math.isqrt((LIMIT - 1) // factor)
    if most > limit:
        raise ArgumentError(
            f"somebody has {most:,} {what}; with a tolerance of {tolerance} up to {limit:,} can be "
            "compared exactly. Take a tolerance with fewer decimals"
        )


def as_fraction(tolerance: Number) -> Fraction:
    """Take a tolerance for what it says: 0.1 is a tenth, and not the nearest binary number.

    Examples
    --------
    >>> as_fraction(0.1)
    Fraction(1, 10)
    """
    try:
        exact = Fraction(str(tolerance)) if isinstance(tolerance, float) else Fraction(tolerance)
    except (ValueError, TypeError, ZeroDivisionError) as error:
        raise ArgumentError(f"a tolerance is a number from 0 to 1, not {tolerance!r}") from error
    if not 0 <= exact <= 1:
        raise ArgumentError(f"a tolerance must be from 0 to 1, not {tolerance}")
    if exact.denominator > FINEST:
        raise ArgumentError(f"a tolerance has at most six decimals; {tolerance} has more")
    return exact


ATTACKS: Mapping[str, type[Attack]] = {
    attack.name: attack
    for attack in (
        Location,
        LocationSequence,
        Visit,
        FrequentLocation,
        FrequentLocationSequence,
        Frequency,
        HomeWork,
        Proportion,
        Probability,
    )
}
"""The nine, by name."""


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
