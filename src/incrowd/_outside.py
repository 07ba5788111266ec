"""Whose line a warning is about: that of the caller of incrowd, however deep it is given."""

import os
import sys
from pathlib import Path

__all__ = ["outside"]


INSIDE = f"{Path(__file__).parent}{os.sep}"


def outside() -> int:
    """Return the `stacklevel`, for a warning in the function that calls this, of the user's line.

    That is the nearest line that is none of incrowd's.

    Examples
    --------
    >>> outside()
    1
    """
    level, frame = 1, sys._getframe(1)  # noqa: SLF001
    while frame.f_code.co_filename.startswith(INSIDE) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    return level
