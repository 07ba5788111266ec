"""The words of the page of a comparison, and how its numbers are written."""

from collections.abc import Mapping
from typing import Any

from incrowd._format import significant
from incrowd.evaluate._compare.words import in_unit

__all__ = [
    "BETTER",
    "FOOT",
    "KINDS",
    "MISSING",
    "SIGNS",
    "TERMS",
    "measured",
    "texts",
]


SIGNS = {"green": "✓", "amber": "!", "red": "✕", "grey": "?"}
BETTER = {"less": ("↓", "less is better"), "more": ("↑", "more is better")}
FOOT = "comparison of mechanisms, for the owner of the data: not to be published"
MISSING = "It was not measured."

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
