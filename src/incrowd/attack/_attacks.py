"""The nine attacks of section 4.2, each as what it makes of a visit and what it makes of a match.

An attack is a class; `register` puts it into `ATTACKS`, from where `incrowd.risk`, the command
line, the learned models and the report take it by its name::

    @register
    class Weekday(Attack):
        name = "weekday"
        label = "places with days of the week"
        summary = "The adversary knows k places with the days of the week of the visits."
        multiset = True

        def codes(self, visits):
            return visits.place * 7 + visits.time // 1440 % 7

    incrowd.risk(visits, "weekday", k=3)

Without `register` it is handed over as it is: ``incrowd.risk(visits, Weekday(), k=3)``.

Two attacks can be made one: somebody is left if she matches both::

    class Both(Proportion):
        name = "proportion_and_probability"
        normalised = True

        def matching_range(self, count, total):
            return Probability(self.tolerance, self.relative).matching_range(count, total)

What cannot be combined is refused before anybody is attacked (`incrowd.attack._resolve`).
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from incrowd._arguments import is_whole
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    # Help texts list the attacks, and should not wait for the compiler of kernels.
    from incrowd._numba import Ints
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
    "refuse_large_products",
    "register",
]


Number = float | str | Decimal | Fraction
Range = tuple["Ints", "Ints", "Ints"]

MANY = 2**31
"""More than anybody has of anything."""
FINEST = 10**6
"""A tolerance has no more than six decimals, so that everything fits in 64 bits."""
LIMIT = 1 << 62
"""No product that is compared may be as large: two of them can be added in 64 bits."""


@dataclass(frozen=True, slots=True)
class Attack:
    """What an adversary knows, and whom that matches.

    Attributes
    ----------
    name
        How it is called, in `ATTACKS`, on the command line and in tables.
    label
        What is known, in two or three words: for charts.
    summary
        What is known, in one sentence: for help texts.
    multiset
        Whether a code that a person has several times is as many points; somebody matches who has
        it as often as it is known.
    ordered
        ``"time"`` or ``"frequency"`` if the order of the points is known, and nothing else: not
        with `multiset`, `normalised`, `relative_to_top` or a `matching_range` of its own.
    normalised
        Whether counts are divided by all visits of a person before they are compared; what is
        compared with them is said by a `matching_range` of its own. Not with `multiset`.
    relative_to_top
        Whether counts are known only in proportion to the greatest of those that are known. Needs a
        `tolerance`, and takes `relative`, as `Proportion` has them; who does not match by
        `matching_range` is left out as well. Not with `multiset`.
    top_n
        How many of the most frequent codes can be known; all, if None. So many points are known
        then, whatever k is. It goes with everything else.
    known_fields
        What is known of a point besides its place: ``"time"``, ``"visits"``, ``"of"`` (how many).
    """

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    multiset: ClassVar[bool] = False
    ordered: ClassVar[str] = ""
    normalised: ClassVar[bool] = False
    relative_to_top: ClassVar[bool] = False
    top_n: ClassVar[int | None] = None
    known_fields: ClassVar[tuple[str, ...]] = ()

    def codes(self, visits: "Visits") -> "Ints":
        """Return an integer for each visit: what an adversary may know of it."""
        return visits.place

    def matching_range(self, count: "Ints", total: "Ints") -> Range:  # noqa: ARG002
        """Return whom a point matches: from low/denominator to high/denominator, inclusive.

        `count` is how often the person has the code, `total` how many visits she has in all, for
        everything that may be known of anybody; so are the three results, in integers. A point
        matches who has a count in that range at the same code (divided by her own total, if
        `normalised`).
        """
        return np.ones_like(count), np.full_like(count, MANY), np.ones_like(count)


ATTACKS: dict[str, type[Attack]] = {}
"""All attacks by name; `register` adds to them."""
Kind = TypeVar("Kind", bound=type[Attack])


def register(kind: Kind) -> Kind:
    """Add a class of attacks to `ATTACKS`, and so to `incrowd.risk`, help texts and reports.

    Raises
    ------
    ArgumentError
        If it lacks a name, a label or a summary, or if another attack has its name.

    Examples
    --------
    >>> from incrowd.attack import ATTACKS, Attack, register
    >>> @register
    ... class Quarter(Attack):
    ...     name, label = "quarter", "quarters of the town"
    ...     summary = "The adversary knows k quarters of the town that a person visited."
    ...
    ...     def codes(self, visits):
    ...         return visits.place // 1000
    >>> ATTACKS.pop("quarter").label
    'quarters of the town'
    """
    for what in ("name", "label", "summary"):
        text = getattr(kind, what)
        if not isinstance(text, str) or not text:
            raise ArgumentError(f"{kind.__name__} has no {what}; a registered attack needs one")
    if kind.name in ATTACKS:
        raise ArgumentError(f"there is an attack {kind.name!r} already; give it another name")
    ATTACKS[kind.name] = kind
    return kind


@register
@dataclass(frozen=True, slots=True)
class Location(Attack):
    """Places, as often as they were visited; who has each at least as often matches.

    Definition 4.1.
    """

    name: ClassVar[str] = "location"
    label: ClassVar[str] = "places"
    summary: ClassVar[str] = (
        "The adversary knows k places of a person, each as often as she visited it."
    )
    multiset: ClassVar[bool] = True


@register
@dataclass(frozen=True, slots=True)
class LocationSequence(Attack):
    """Places in the order of visits; who visited them in that order matches.

    Definition 4.2.
    """

    name: ClassVar[str] = "location_sequence"
    label: ClassVar[str] = "places in order"
    summary: ClassVar[str] = (
        "The adversary knows k places in the order in which the person visited them."
    )
    ordered: ClassVar[str] = "time"


@register
@dataclass(frozen=True, slots=True)
class Visit(Attack):
    """Places with times; who has each of them (at least as often) matches: Definition 4.3.

    Parameters
    ----------
    precision
        How many time slots of the data the adversary cannot tell apart.
    """

    name: ClassVar[str] = "visit"
    label: ClassVar[str] = "places with times"
    summary: ClassVar[str] = (
        "The adversary knows k places with the times at which the person visited them."
    )
    multiset: ClassVar[bool] = True
    known_fields: ClassVar[tuple[str, ...]] = ("time",)
    precision: int = 1

    def __post_init__(self) -> None:
        if not is_whole(self.precision):
            raise ArgumentError(
                f"precision must be an integer (time slots), not {self.precision!r}"
            )
        if self.precision < 1:
            raise ArgumentError(f"precision must be at least 1 time slot, not {self.precision}")

    def codes(self, visits: "Visits") -> "Ints":
        """Return an integer for each place and time slot that occur together."""
        places, place = np.unique(visits.place, return_inverse=True)
        first, span = self._span(visits)
        if len(places) * span >= 1 << 62:
            raise ArgumentError(
                f"{len(places):,} places times {span:,} time slots are too many for 64-bit codes; "
                "set a larger precision"
            )
        return np.asarray(place * span + visits.time // self.precision - first, np.int64)

    def decode(self, code: "Ints", visits: "Visits") -> "tuple[Ints, Ints]":
        """Return the places and the times that codes stand for."""
        first, span = self._span(visits)
        return np.unique(visits.place)[code // span], (code % span + first) * self.precision

    def _span(self, visits: "Visits") -> tuple[int, int]:
        """Return the first time slot of the data, and how many slots there are."""
        first, last = int(visits.time.min()), int(visits.time.max())
        return first // self.precision, last // self.precision - first // self.precision + 1


@register
@dataclass(frozen=True, slots=True)
class FrequentLocation(Attack):
    """Distinct places; who has them all matches (section 4.2.4)."""

    name: ClassVar[str] = "frequent_location"
    label: ClassVar[str] = "distinct places"
    summary: ClassVar[str] = "The adversary knows k distinct places of the person."


@register
@dataclass(frozen=True, slots=True)
class FrequentLocationSequence(Attack):
    """Distinct places by falling frequency; who has them in the same order matches.

    Section 4.2.4. Of places that were visited equally often, the lower code comes first.
    """

    name: ClassVar[str] = "frequent_location_sequence"
    label: ClassVar[str] = "places by frequency"
    summary: ClassVar[str] = (
        "The adversary knows k distinct places, from the most to the least visited."
    )
    ordered: ClassVar[str] = "frequency"


@register
@dataclass(frozen=True, slots=True)
class Frequency(Attack):
    """Places and how often each was visited; who was there at least as often matches.

    Definition 4.4.

    Parameters
    ----------
    tolerance
        If given, the other's count may be neither lower nor higher by more than this: in visits,
        or, if relative, as a share of her count.
    relative
        Whether the tolerance is a share of the other's count.
    """

    name: ClassVar[str] = "frequency"
    label: ClassVar[str] = "how often at places"
    summary: ClassVar[str] = "The adversary knows k places, and how often the person visited each."
    known_fields: ClassVar[tuple[str, ...]] = ("visits",)
    tolerance: Number | None = None
    relative: bool = False

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            as_fraction(self.tolerance)
        elif self.relative:
            raise ArgumentError(
                f"{self.name}: relative needs a tolerance; set one, e.g. tolerance=0.1"
            )

    def matching_range(self, count: "Ints", total: "Ints") -> Range:  # noqa: ARG002
        """Match those with as many visits or more, or with as many within the tolerance."""
        if self.tolerance is None:
            return count, np.full_like(count, MANY), np.ones_like(count)
        return _near(count, as_fraction(self.tolerance), relative=self.relative)


@register
@dataclass(frozen=True, slots=True)
class HomeWork(Frequency):
    """The two most visited places, and how often; matching is that of `Frequency`.

    Section 4.2.6.
    """

    name: ClassVar[str] = "home_work"
    label: ClassVar[str] = "home and work"
    summary: ClassVar[str] = (
        "The adversary knows the two most visited places, and how often each was visited."
    )
    top_n: ClassVar[int | None] = 2


@register
@dataclass(frozen=True, slots=True)
class Proportion(Attack):
    """Places, and visits relative to the most visited of them; similar ones match.

    Definition 4.5. Those of somebody else are relative
    to the one of these places that she visited most.

    Parameters
    ----------
    tolerance
        How much two proportions may differ.
    relative
        Whether the tolerance is a share of the other's proportion.
    """

    name: ClassVar[str] = "proportion"
    label: ClassVar[str] = "visits in proportion"
    summary: ClassVar[str] = (
        "The adversary knows k places, and visits to each relative to the most visited one."
    )
    relative_to_top: ClassVar[bool] = True
    known_fields: ClassVar[tuple[str, ...]] = ("visits", "of")
    tolerance: Number = 0.1
    relative: bool = False

    def __post_init__(self) -> None:
        as_fraction(self.tolerance)


@register
@dataclass(frozen=True, slots=True)
class Probability(Attack):
    """Places, and which share of all visits each had; similar shares match: Definition 4.6.

    Parameters
    ----------
    tolerance
        How much two probabilities may differ.
    relative
        Whether the tolerance is a share of the other's probability.
    """

    name: ClassVar[str] = "probability"
    label: ClassVar[str] = "share of visits"
    summary: ClassVar[str] = "The adversary knows k places, and which share of all visits each had."
    normalised: ClassVar[bool] = True
    known_fields: ClassVar[tuple[str, ...]] = ("visits", "of")
    tolerance: Number = 0.1
    relative: bool = False

    def __post_init__(self) -> None:
        as_fraction(self.tolerance)

    def matching_range(self, count: "Ints", total: "Ints") -> Range:
        """Match those with a probability within the tolerance."""
        return _around(count, total, as_fraction(self.tolerance), relative=self.relative)


def _near(count: "Ints", tolerance: Fraction, *, relative: bool) -> Range:
    """Return the integers that differ from counts by no more than a tolerance."""
    a, b, one = tolerance.numerator, tolerance.denominator, np.ones_like(count)
    if not relative:
        return -((a - b * count) // b), (b * count + a) // b, one
    # |known - theirs| <= a/b * theirs, solved for theirs
    most = np.full_like(count, MANY) if a == b else b * count // (b - a)
    return -(-b * count // (b + a)), most, one


def _around(count: "Ints", total: "Ints", tolerance: Fraction, *, relative: bool) -> Range:
    """Return what differs from count/total by no more than a tolerance, in integers."""
    a, b = tolerance.numerator, tolerance.denominator
    # Compared are low and high times another person's total, and the denominator times her count.
    factor = 2 * b * b if relative else 2 * b
    refuse_large_products(int(total.max(initial=1)), factor, tolerance, "visits")
    if not relative:
        return b * count - a * total, b * count + a * total, b * total
    # |known - theirs| <= a/b * theirs, solved for theirs
    if a == b:
        return count, 2 * total, 2 * total
    return b * (b - a) * count, b * (b + a) * count, (b + a) * (b - a) * total


def refuse_large_products(most: int, factor: int, tolerance: Fraction, what: str) -> None:
    """Refuse numbers whose square, times a factor, does not fit in 64 bits."""
    limit = math.isqrt((LIMIT - 1) // factor)
    if most > limit:
        raise ArgumentError(
            f"a person has {most:,} {what}; with a tolerance of {tolerance}, up to {limit:,} can "
            "be compared exactly. Set a tolerance with fewer decimals"
        )


def as_fraction(tolerance: Number) -> Fraction:
    """Return a tolerance as the decimal that was written: 0.1 is a tenth, not the nearest float.

    Examples
    --------
    >>> as_fraction(0.1)
    Fraction(1, 10)
    """
    try:
        exact = Fraction(str(tolerance)) if isinstance(tolerance, float) else Fraction(tolerance)
    except (ValueError, TypeError, ZeroDivisionError) as error:
        raise ArgumentError(f"tolerance must be a number from 0 to 1, not {tolerance!r}") from error
    if not 0 <= exact <= 1:
        raise ArgumentError(f"tolerance must be from 0 to 1, not {tolerance}")
    if exact.denominator > FINEST:
        raise ArgumentError(f"tolerance must have at most six decimals; {tolerance} has more")
    return exact
