"""The words of the page of a comparison, and how its numbers are written."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from incrowd._format import duration, length, percent, significant

__all__ = [
    "BETTER",
    "FOOT",
    "KINDS",
    "MISSING",
    "SIGNS",
    "TERMS",
    "in_unit",
    "measured",
    "texts",
]


SIGNS = {"green": "✓", "amber": "!", "red": "✕", "grey": "?"}
BETTER = {"less": ("↓", "less is better"), "more": ("↑", "more is better")}
FOOT = "comparison of mechanisms, for the owner of the data: not to be published"
MISSING = "It was not measured."
TINY = 0.0005
MINUTE, MEGABYTE, GIGABYTE = 60, 10**6, 10**9

TERMS = (
    (
        "Mechanisms publish boxes in which people were, or points at which they need not have "
        "been. Both are compared with the original by one rule, for each person who is published "
        "and the record that stands for her."
    ),
    (
        "A true sample and a published one stand for each other if neither has another one that "
        "is nearer in time. A true sample that nothing stands for is deleted, and so are all of "
        "people who are not published. A published one that stands for nothing is created."
    ),
    (
        "The position error of a true sample is the distance from its centre to that of the "
        "published one that stands for it, and the time error is the time between the middles of "
        "the two. So a box is as good as its centre: whoever publishes a box is neither better nor "
        "worse off than somebody who publishes the point in the middle of it."
    ),
)
"""How points and boxes are measured on the same terms, unless the comparison says it itself."""

KINDS = {
    "verified": (
        "green",
        "k-anonymous",
        "Verified to be k-anonymous",
        (
            "Everybody's published record is the same, sample for sample, as that of at least "
            "k - 1 others; this was verified on the written files. What all of a crowd have in "
            "common is still told."
        ),
    ),
    "own": (
        "amber",
        "not k-anonymous",
        "Another promise, which is not k-anonymity",
        (
            "Something else than k-anonymity is promised. Records need not be the same, so that "
            "a person can still be the only one with her record; that the promise is kept does "
            "not change this."
        ),
    ),
    "none": (
        "amber",
        "no crowd",
        "Hide nobody in a crowd",
        (
            "Samples are changed one by one. Nobody is promised that anybody else has the same "
            "record."
        ),
    ),
    "unverified": (
        "grey",
        "not verified",
        "Not verified",
        "k-anonymity is promised, and was not verified on written files.",
    ),
    "broken": (
        "red",
        "not kept",
        "Failed the verification",
        "What was promised was not found in the written files, or these are not whole.",
    ),
    "refused": (
        "grey",
        "refused",
        "Refused by the mechanism",
        "The mechanism does not do this with this data or these settings.",
    ),
    "failed": ("red", "failed", "Failed", "There is no result."),
}
"""What a column can be, in the order of the summary: level, short word, heading, what it means."""

TOLD = {
    "cell": ("cells of the grid", "m"),
    "slot": ("slots of the clock", "s"),
    "hash": ("hash of the data", ""),
    "targets": ("people attacked, at most", ""),
    "known": ("points that an attacker knows", ""),
    "seed": ("seed of what is drawn", ""),
    "tz": ("time zone", ""),
    "grid": ("side of squares, for trips and people by hour, in km", ""),
}
"""Data and settings, as they are called on the page, and their units."""


def in_unit(value: float, unit: str) -> str:
    """Return a value as it is written; a share that is not quite none is never 0%.

    Examples
    --------
    >>> from incrowd.report._comparison_text import in_unit
    >>> in_unit(0.123, "share"), in_unit(0.0001, "share"), in_unit(1, "share")
    ('12.3%', '< 0.1%', '100.0%')
    >>> in_unit(2345, "m"), in_unit(150, "min"), in_unit(1200, "people")
    ('2.35 km', '2.5 h', '1,200')
    >>> in_unit(3.21, "s"), in_unit(600, "s"), in_unit(1.5e9, "bytes")
    ('3.2 s', '10 min', '1.5 GB')
    """
    return _UNITS.get(unit, _plain_number)(value)


def _share(value: float) -> str:
    if 0 < value < TINY:
        return "< 0.1%"
    return "> 99.9%" if 1 - TINY < value < 1 else percent(value)


def _seconds(value: float) -> str:
    is_short = value < 2 * MINUTE
    return f"{significant(value, 2)} s" if is_short else duration(value / MINUTE)


def _bytes(value: float) -> str:
    is_small = value < GIGABYTE
    return f"{value / MEGABYTE:,.0f} MB" if is_small else f"{value / GIGABYTE:,.1f} GB"


def _plain_number(value: float) -> str:
    return f"{value:,.0f}" if math.floor(value) == value else significant(value)


_UNITS: dict[str, Callable[[float], str]] = {
    "share": _share,
    "m": length,
    "min": duration,
    "s": _seconds,
    "bytes": _bytes,
    "correlation": lambda value: f"{value:.2f}",
}
"""How values are written, by their unit; others are plain numbers."""


def texts(found: Any) -> tuple[str, ...]:
    """Return texts, of a list or of a single one.

    Examples
    --------
    >>> from incrowd.report._comparison_text import texts
    >>> texts(None), texts("one"), texts(["one", "two"])
    ((), ('one',), ('one', 'two'))
    """
    if isinstance(found, str):
        return (found,)
    return tuple(str(each) for each in found or ())


def measured(comparison: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return data and settings of a comparison, as names and values.

    Examples
    --------
    >>> from incrowd.report._comparison_text import measured
    >>> measured({"data": {"people": 1200, "cell": 100.0}, "settings": {"threads": None}})
    [('people', '1,200'), ('cells of the grid', '100 m')]
    """
    found = []
    for part in ("data", "settings"):
        for key, value in (comparison.get(part) or {}).items():
            if value is None:
                continue
            name, unit = TOLD.get(key, (str(key).replace("_", " "), ""))
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            found.append((name, in_unit(value, unit) if unit and is_number else _plain(value)))
    return found


def _plain(value: Any) -> str:
    """Return a value of the settings, as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else significant(value, 6)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_plain(of)}" for name, of in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_plain(of) for of in value)
    return str(value)
