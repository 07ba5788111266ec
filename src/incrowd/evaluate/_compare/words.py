"""A comparison in lines for a terminal: blocks of columns, the best value of each row marked."""

from collections.abc import Callable

from incrowd._format import duration, length, percent, significant
from incrowd.evaluate._compare.result import ComparedValue

__all__ = ["value_in_words"]


GIGABYTE, MEGABYTE = 10**9, 10**6
BEST = "*"


def value_in_words(value: ComparedValue, unit: str) -> str:
    """Return a number with its unit, marked if no column has a better one; a dash for none."""
    number = value.value
    if number is None:
        return "-"
    return _in_words(number, unit) + (BEST if value.best else "")


def _in_words(number: float, unit: str) -> str:
    said = _UNITS.get(unit)
    return significant(number) if said is None else said(number)


def _size(number: float) -> str:
    if number >= GIGABYTE:
        return f"{number / GIGABYTE:.1f} GB"
    return f"{number / MEGABYTE:.0f} MB"


_UNITS: dict[str, Callable[[float], str]] = {
    "share": percent,
    "m": length,
    "min": duration,
    "s": lambda number: f"{significant(number, 2)} s",
    "bytes": _size,
}
