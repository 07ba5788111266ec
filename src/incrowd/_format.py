"""How numbers are written for people: percentages, counts, lengths and durations, once for all.

Where a number is missing (None, or not a number) a dash or another text stands in its place.
"""

import math

__all__ = [
    "QUANTILES",
    "WIDTH",
    "count_of",
    "duration",
    "length",
    "people",
    "percent",
    "rounded_percent",
    "several",
    "significant",
]


QUANTILES = {
    "mean": "mean",
    "least": "min",
    "quarter": "Q1",
    "median": "median",
    "three_quarters": "Q3",
    "percentile_80": "p80",
    "most": "max",
}
"""Heads of columns in tables, by the name of the figure in a result."""
KILOMETRE = 1_000
HOUR, DAY = 60, 1_440
"""In minutes."""
TINY = 0.001

WIDTH = 98
"""How many letters a line of printed text has at most."""


def percent(share: float | None, digits: int = 1, *, sign: bool = True, missing: str = "-") -> str:
    """Return a share as a percentage, with the per cent sign or without.

    Examples
    --------
    >>> percent(0.1234), percent(0.1234, 0), percent(0.5, sign=False), percent(None)
    ('12.3%', '12%', '50.0', '-')
    """
    if share is None or math.isnan(share):
        return missing
    return f"{share:.{digits}%}".removesuffix("" if sign else "%")


def rounded_percent(share: float | None) -> str:
    """Return a share in a sentence: never 0% of what is not none, nor 100% of what is not all.

    Examples
    --------
    >>> [rounded_percent(share) for share in (0, 0.0002, 0.051, 0.42, 0.9999, 1)]
    ['0%', 'less than 0.1%', '5.1%', '42%', 'more than 99.9%', '100%']
    """
    share = share or 0.0
    if 0 < share < TINY:
        return "less than 0.1%"
    if 1 - TINY < share < 1:
        return "more than 99.9%"
    fine = share < 0.1 or share > 0.99  # noqa: PLR2004
    return percent(share, 1 if fine else 0).replace(".0%", "%")


def count_of(part: int, whole: int) -> str:
    """Return how many of how many, with the percentage.

    Examples
    --------
    >>> count_of(1, 8), count_of(0, 8)
    ('1 of 8 (12.5%)', 'none of 8')
    """
    return f"{part:,} of {whole:,} ({percent(part / whole)})" if part else f"none of {whole:,}"


def significant(value: float, digits: int = 3) -> str:
    """Return a number with so many digits that count, and never as a power of ten.

    Examples
    --------
    >>> significant(2910.4), significant(2910.4, 2), significant(0.01234), significant(5.0)
    ('2,910', '2,900', '0.0123', '5')
    """
    if not value or not math.isfinite(value):
        return f"{value:g}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, places):,.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def length(metres: float, digits: int = 3) -> str:
    """Return a length in metres, or in kilometres from one on.

    Examples
    --------
    >>> length(250), length(2345), length(2345, 2), length(2_910_400)
    ('250 m', '2.35 km', '2.3 km', '2,910 km')
    """
    if metres < KILOMETRE:
        return f"{metres:.0f} m"
    return f"{significant(metres / KILOMETRE, digits)} km"


def duration(minutes: float, digits: int = 3) -> str:
    """Return a duration in minutes, in hours from two on, in days from two on.

    Examples
    --------
    >>> duration(45), duration(150), duration(2_880), duration(154_193), duration(0.5)
    ('45 min', '2.5 h', '2 days', '107 days', '0.5 min')
    """
    if minutes < 2 * HOUR:
        return f"{significant(minutes, 2) if minutes < 1 else format(minutes, '.0f')} min"
    if minutes < 2 * DAY:
        return f"{significant(minutes / HOUR, digits)} h"
    return f"{significant(minutes / DAY, digits)} days"


def several(number: int, one: str, many: str | None = None) -> str:
    """Return how many of something there are.

    Examples
    --------
    >>> several(1, "sample"), several(1_200, "sample"), several(2, "person", "people")
    ('1 sample', '1,200 samples', '2 people')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def people(number: int) -> str:
    """Return how many people there are.

    Examples
    --------
    >>> people(1), people(1_200)
    ('1 person', '1,200 people')
    """
    return several(number, "person", "people")
