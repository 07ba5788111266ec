"""What a box costs: the logarithms of its sides, in integers.

A box costs the logarithms of its width and height, in cells, and of its length, in slots, for each
of the people in it (both weights of the paper are 1). To suppress a point is to make it the whole
domain: it costs what a box of the width, height and length of the data does, so no box costs more.

Costs are integers, in units of 2**-32 of the natural logarithm, each logarithm rounded to units.
Sums are exact then, and the same in any order. Of spans of more than 20 binary digits (a million
cells or slots) the first 20 count, which changes a logarithm by less than two in a million: the
table of logarithms stays small.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from incrowd._numba import ZERO, Ints, kernel_private
from incrowd.data._trajectories import Trajectories

__all__ = [
    "NEVER",
    "UNIT",
    "Costs",
    "costs_of",
    "log_of",
]


UNIT = 2**32
"""One of the natural logarithm."""
DIGITS = 20
TABLE = 1 << DIGITS
NEVER: Any = np.int64(1 << 62)
"""More than anything costs."""


class Costs(NamedTuple):
    """What boxes and suppressed points cost.

    Attributes
    ----------
    logs
        The logarithms of numbers from 0 (not used) on, in units.
    suppressed
        What a point costs that is suppressed, for each of the people behind it.
    """

    logs: Ints
    suppressed: int


def costs_of(data: Trajectories) -> Costs:
    """Give the costs of a dataset; its width, height and length are the domain."""
    x0, x1, y0, y1, t0, t1 = data.columns
    spans = [
        int(high.max()) - int(low.min()) if len(low) else 1
        for low, high in ((x0, x1), (y0, y1), (t0, t1))
    ]
    largest = min(max(2, *spans), TABLE - 1)
    logs = np.array(
        [0, *(round(math.log(number) * UNIT) for number in range(1, largest + 1))], np.int64
    )
    return Costs(logs, sum(_log_of(span, logs) for span in spans))


def _log_of(span: int, logs: Ints) -> int:
    dropped = max(0, span.bit_length() - DIGITS)
    return int(logs[span >> dropped]) + dropped * int(logs[2])


@kernel_private
def log_of(span: int, logs: Ints) -> int:
    """Give the logarithm of a number of cells or slots."""
    # Numbers without a sign: the compiler need not look for indices from the end.
    if span < TABLE:
        return int(logs[np.uint64(span)])
    dropped = ZERO
    while span >= TABLE:
        span >>= 1
        dropped += 1
    return int(logs[span] + dropped * logs[2])
