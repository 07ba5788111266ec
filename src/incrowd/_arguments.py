"""Checks of arguments: an integer may be one of Python or of numpy; True and 2.0 are none."""

from numbers import Integral, Real
from typing import Any

from incrowd.errors import ArgumentError

__all__ = [
    "is_number",
    "is_whole",
    "whole",
]


def is_whole(value: object) -> bool:
    """Return whether something is an integer, of Python or of numpy; True and 2.0 are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Return whether something is a number, of Python or of numpy; True is not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def whole(name: str, value: Any, least: int, most: int | None = None, why: str = "") -> int:
    """Return an integer as one of Python's; refuse what is none, too small or too large.

    Examples
    --------
    >>> import numpy as np
    >>> from incrowd._arguments import whole
    >>> whole("k", np.int64(3), 2)
    3
    >>> whole("k", 2.5, 2, 100)
    Traceback (most recent call last):
        ...
    incrowd.errors.ArgumentError: k must be an integer from 2 to 100, not 2.5
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        which = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ArgumentError(f"{name} must be an integer {which}, not {value!r}{why}")
    return int(value)
