"""Checks of arguments: what they must be, and what they are instead.

An integer may be one of Python or of numpy; True and 2.0 are none.
"""

from numbers import Integral, Real
from typing import Any, TypeVar

from incrowd.errors import ArgumentError

__all__ = [
    "is_number",
    "is_whole",
    "must_be",
    "whole",
]


Kind = TypeVar("Kind")


def is_whole(value: object) -> bool:
    """Return whether something is an integer, of Python or of numpy; True and 2.0 are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Return whether something is a number, of Python or of numpy; True is not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def must_be(name: str, value: object, kind: type[Kind], hint: str) -> Kind:
    """Return what is of a kind; refuse all else, and say what makes one of it.

    Examples
    --------
    >>> from incrowd import Frame
    >>> from incrowd._arguments import must_be
    >>> must_be("frame", 100, Frame, "Frame(cell=100) makes one")
    Traceback (most recent call last):
        ...
    incrowd.errors.ArgumentError: frame must be a Frame, not int; Frame(cell=100) makes one
    """
    if isinstance(value, kind):
        return value
    found, wanted = type(value).__name__, kind.__name__
    if found == wanted:  # frames of Polars and of pandas have one name
        found, wanted = (
            f"{each.__module__.split('.')[0]}.{each.__name__}" for each in (type(value), kind)
        )
    article = "" if wanted.endswith("s") else "an " if wanted[0] in "AEIOU" else "a "
    raise ArgumentError(f"{name} must be {article}{wanted}, not {found}; {hint}")


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
