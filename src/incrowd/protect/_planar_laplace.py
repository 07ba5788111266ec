"""Planar Laplace noise: drawn, added to cells, and kept on the map.

::

    draw (random bytes) ──> laplace (metres) ──> add_noise (cells) ──> back on the map, if off it
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from incrowd.data._frame import Floats, Frame
from incrowd.data._trajectories import Trajectories
from incrowd.errors import PlaceError

__all__ = [
    "add_noise",
    "composition",
    "laplace",
]


Ints = NDArray[np.int32]
Draw = Callable[[int], bytes]

BLOCK = 1 << 18
"""For how many samples entropy is drawn at a time, which bounds the memory needed."""
BITS = 53
"""Numbers between 0 and 1 are drawn with as many bits as a double holds."""
EDGE = 2**31 - 2
"""Cells beyond cannot be published as 32-bit numbers."""
FAR = 1e300
"""No noise reaches further, so that nothing is infinite."""
HALVINGS = 64


def laplace(number: int, epsilon: float, draw: Draw) -> tuple[Floats, Floats]:
    """Draw planar Laplace noise, in metres east and north.

    The radius is the sum of two exponential variables: Gamma(2, 1/epsilon).

    Parameters
    ----------
    number
        How many.
    epsilon
        In 1/m.
    draw
        Gives as many random bytes as it is asked for.
    """
    words = np.frombuffer(draw(24 * number), np.uint64).reshape(3, number) >> np.uint64(64 - BITS)
    # From 2**-53 to 1, both included: the logarithm never sees 0.
    one, two = ((word + np.uint64(1)) * 2.0**-BITS for word in words[:2])
    with np.errstate(over="ignore"):
        radius = np.minimum(-np.log(one * two) / epsilon, FAR)
    angle = words[2] * (2 * math.pi * 2.0**-BITS)
    return radius * np.cos(angle), radius * np.sin(angle)


def add_noise(data: Trajectories, epsilon: float, draw: Draw) -> tuple[Ints, Ints, int]:
    """Give the cell of each sample after noise, and how many had to be moved back to the map."""
    frame = data.frame
    new = np.empty((2, data.samples), np.int32)
    clamped = 0
    if not data.samples:
        return new[0], new[1], 0
    box = [(int(old.min()), int(old.max())) for old in (data.x0, data.y0)]
    for start in range(0, data.samples, BLOCK):
        here = slice(start, start + BLOCK)
        old = [side[here] for side in (data.x0, data.y0)]
        noise = laplace(len(old[0]), epsilon, draw)
        cells = [np.floor(a + 0.5 + b / frame.cell) for a, b in zip(old, noise, strict=True)]
        kept = [np.clip(cell, -EDGE, EDGE - 1) for cell in cells]
        # Where people were, the projection works, so that nothing would be moved there.
        outside = np.zeros(len(kept[0]), np.bool_)
        for cell, (low, high) in zip(kept, box, strict=True):
            outside |= (cell < low) | (cell > high)
        out = np.flatnonzero(outside)
        if frame.crs is not None and len(out):
            kept[0][out], kept[1][out] = _back(frame, kept[0][out], kept[1][out])
        clamped += int(np.count_nonzero((kept[0] != cells[0]) | (kept[1] != cells[1])))
        new[0, here], new[1, here] = kept
    return new[0], new[1], clamped


def _back(frame: Frame, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Move cells that have no degrees towards the origin of the plane until they have."""
    lost = ~_on_earth(frame, x, y)
    if not lost.any():
        return x, y
    px, py = x[lost], y[lost]
    if not _on_earth(frame, np.zeros(1), np.zeros(1))[0]:
        raise PlaceError(
            "noise took a position off the projection, whose origin is off it as well; read the "
            "data without naming a plane"
        )
    low, high = np.zeros(len(px)), np.ones(len(px))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fine = _on_earth(frame, np.floor(middle * px), np.floor(middle * py))
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    x, y = x.copy(), y.copy()
    x[lost], y[lost] = np.floor(low * px), np.floor(low * py)
    return x, y


def _on_earth(frame: Frame, x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Tell which cells have a centre that the projection gives back in degrees."""
    lon, lat = frame.degrees(frame.metres(x + 0.5), frame.metres(y + 0.5))
    return np.isfinite(lon) & np.isfinite(lat)


def composition(data: Trajectories, epsilon: float) -> tuple[str, ...]:
    """Say what a trace costs under composition."""
    lengths = data.lengths()
    lengths = lengths[lengths > 0]
    if not len(lengths):
        return ()
    middle, most = float(np.median(lengths)), int(lengths.max())
    return (
        (
            f"whole traces: half of the people have {middle:,.0f} samples or more, the one with "
            f"most {most:,}; under composition they cost {middle * epsilon:,.3g}/m and "
            f"{most * epsilon:,.3g}/m. In words: of a single sample, places {1 / epsilon:,.0f} m "
            "apart stay within a factor of 2.7; of a trace of that many samples, only traces that "
            f"are within {1 / (middle * epsilon):.2g} m and {1 / (most * epsilon):.2g} m of each "
            "other all the time"
        ),
    )
