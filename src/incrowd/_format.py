"""How numbers are written for people: percentages, counts, lengths and durations, once for all.

Where a number is missing (None, or not a number) a dash or another text stands in its place.
"""

import math

__all__ = [
    "QUANTILES",
    "WIDTH",
    "count_of",
    "length",
    "percent",
    "rounded_percent",
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


def length(metres: float, digits: int = 3) -> str:
    """Return a length in metres, or in kilometres from one on.

    Examples
    --------
    >>> length(250), length(2345), length(2345, 2)
    ('250 m', '2.35 km', '2.3 km')
    """
    if metres < KILOMETRE:
        return f"{metres:.0f} m"
    return f"{metres / KILOMETRE:,.{digits}g} km"
