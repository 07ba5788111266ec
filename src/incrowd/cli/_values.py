"""Values of options as they are typed: numbers separated by commas, files by sensor, sizes."""

import glob
import math
import re

from incrowd.cli._messages import say
from incrowd.errors import ArgumentError

__all__ = [
    "by_sensor",
    "in_units",
    "numbers",
    "numbers_of",
    "parts",
    "unescaped",
]

_NAMED = r"([^\W\d][\w-]*)=(.+)"
"""A sensor and its file."""
_WIDEST = 2**31 - 1
"""Cells and slots are 32-bit integers: nothing is wider or longer."""


def by_sensor(given: list[str]) -> tuple[str, dict[str, str]]:
    """Return the one path, or the file of each sensor if they are named: ``gsm=gsm.csv``."""
    # A path may have a = in it, as folders of partitions do; then it is there.
    there = [bool(glob.glob(one)) for one in given]  # noqa: PTH207  absolute ones, too
    named = [
        None if is_path else re.fullmatch(_NAMED, one)
        for is_path, one in zip(there, given, strict=True)
    ]
    if len(given) == 1 and named[0] is None:
        return given[0], {}
    files: dict[str, str] = {}
    for one, match in zip(given, named, strict=True):
        if match is None:
            raise ArgumentError(
                f"{one!r} names no sensor: several files must be given as one for each sensor, "
                "like gsm=gsm.csv wifi=wifi.csv (many files of one table are given as a folder or "
                "as a quoted pattern, like 'june-*.csv')"
            )
        name, path = match[1].lower(), match[2]
        if name in files:
            raise ArgumentError(
                f"sensor {name!r} is given twice ({files[name]} and {path}); give several files of "
                "a sensor as a folder or as a quoted pattern"
            )
        files[name] = path
    return " ".join(given), files


def parts(text: str, count: int, option: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != count:
        raise ArgumentError(f"{option} must be {count} values separated by commas, not {text!r}")
    return parts


def numbers(text: str, count: int, option: str) -> list[float]:
    try:
        return [float(part) for part in parts(text, count, option)]
    except ValueError as error:
        raise ArgumentError(
            f"{option} must be {count} numbers separated by commas, not {text!r}"
        ) from error


def unescaped(separator: str | None) -> str | None:
    return "\t" if separator in ("\\t", "tab") else separator


def in_units(option: str, value: float | None, unit: float, short: str, name: str) -> int | None:
    """Return a threshold in whole cells or slots, rounded down."""
    if value is None:
        return None
    if not math.isfinite(value):
        raise ArgumentError(f"{option} must be a finite number of {short}, not {value}")
    number = min(math.floor(value / unit + 1e-9), _WIDEST)
    if number < 1:
        raise ArgumentError(
            f"{option} must be at least one {name} of the grid ({unit:g} {short}), not "
            f"{value:g} {short}"
        )
    if not math.isclose(number * unit, value) and number < _WIDEST:
        say(
            f"note: {option} is rounded down to {number * unit:g} {short} ({number:,} {name}s of "
            "the grid)"
        )
    return number


def numbers_of(text: str, example: str, option: str = "--k") -> list[int]:
    """Return the numbers of an option, each once, in order."""
    try:
        return sorted({int(part) for part in text.split(",")})
    except ValueError as error:
        raise ArgumentError(
            f"{option} must be integers separated by commas, like {example}, not {text!r}"
        ) from error
