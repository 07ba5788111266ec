"""Geo-Indistinguishability: planar Laplace noise on every position."""

import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._arguments import is_whole
from incrowd.data._frame import Floats, Frame
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError, PlaceError, PrivacyWarning
from incrowd.protect._mechanism import OTHERS, Changed, Mechanism
from incrowd.protect._normalise import settle

__all__ = [
    "LEVELS",
    "SEEDED",
    "GeoI",
    "laplace",
]


Ints = NDArray[np.int32]
Draw = Callable[[int], bytes]

LEVELS = {"low": 0.01, "medium": 0.004, "high": 0.001}
"""How much noise: the epsilons of the paper, in 1/m."""
BLOCK = 1 << 18
"""For how many samples entropy is drawn at a time, which bounds the memory needed."""
BITS = 53
"""Numbers between 0 and 1 are drawn with as many bits as a double holds."""
EDGE = 2**31 - 2
"""Cells beyond cannot be published as 32-bit numbers."""
FAR = 1e300
"""No noise reaches further, so that nothing is infinite."""
HALVINGS = 64
TRUE, SEEDED = "drawn from the operating system's entropy", "seeded, not for release"


@dataclass(frozen=True, slots=True)
class GeoI(Mechanism):
    """Geo-Indistinguishability: move every sample by planar Laplace noise, each by its own.

    The direction is uniform and the distance r has the distribution ``1 - (1 + epsilon r)
    exp(-epsilon r)``: 2/epsilon metres on average, half the time more than 1.68/epsilon. Noise
    is added to the centre of a sample's cell, and the result is snapped to the grid of the data,
    so that the low-order bits of a floating-point number tell nothing (they do where the Laplace
    mechanism is written naively).

    *What is guaranteed.* For one sample: of any two cells whose centres are d metres apart (in
    the plane of the projection), none makes any published cell, or set of cells, more than
    ``exp(epsilon d)`` times as probable as the other does. This holds whatever the adversary
    knows, up to the arithmetic: 53-bit numbers cannot be drawn finer than 2**-53, so that what
    has a probability of about that size or less in theory (noise of 40/epsilon and more) may
    have none.

    *What is not.*

    - A trace is many samples. Under composition n of them cost n epsilon; `notes` tells n for
      this dataset. For a person with hundreds of samples nothing worth the name is left.
    - Samples at one place average out: the mean of n of them is about 2.2/(epsilon sqrt(n)) from
      it. Home and work, where most samples are, are found again.
    - Times are not touched, nor is how many samples a person has. Either may single her out.
    - Nobody is hidden in a crowd; noise makes records more unlike one another, not less.

    *Where noise leaves the map.* A position beyond 32-bit cells is moved to the nearest one. One
    that the projection cannot give back in degrees is moved straight towards the origin of the
    plane until it can. This looks at nothing but the noisy position and the published grid, so
    it is post-processing and keeps the guarantee; drawing again until a position fits would not,
    for how often that happens depends on the true one. `losses` counts both. With the epsilons of
    the paper, on the default projection, it never happens.

    The names of places (antennas, venues) would tell what the noise hides, and go.

    Parameters
    ----------
    epsilon
        In 1/m: 0.01, 0.004 or 0.001 in the paper, by name "low", "medium" or "high" (noise). The
        smaller, the more noise.
    seed
        For tests only: noise that anybody can draw again, and take away. The result says that it
        is not for release; the seed is not published.

    Raises
    ------
    ArgumentError
        If epsilon is not a finite number above 0; by `protect`, if a sample is wider than a cell.

    Warns
    -----
    PrivacyWarning
        By `protect`, if the noise is seeded.

    References
    ----------
    Andrés, Bordenabe, Chatzikokolakis, Palamidessi: "Geo-indistinguishability: differential
    privacy for location-based systems", CCS 2013; section 3.5.3 of "Uniqueness assessment
    of human mobility on multi-sensor datasets" (2016).

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.protect._geo_indistinguishability import GeoI
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> protected = GeoI(epsilon=0.004).protect(city)
    >>> protected.settings
    {'epsilon': 0.004, 'unit': '1/m', 'noise': "drawn from the operating system's entropy"}
    >>> protected.losses["samples_clamped"]
    0
    """

    epsilon: float
    seed: int | None = field(default=None, repr=False)

    method: ClassVar[str] = "Geo-Indistinguishability"
    paper: ClassVar[str] = "Andrés et al., 2013; multi-sensor uniqueness, 2016, section 3.5.3"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _epsilon(self.epsilon))
        if self.seed is not None and not (is_whole(self.seed) and self.seed >= 0):
            raise ArgumentError(f"a seed is a whole number from 0 on, not {self.seed!r}")

    @property
    def settings(self) -> dict[str, Any]:
        """Epsilon, and where the noise comes from; never the seed."""
        noise = TRUE if self.seed is None else SEEDED
        return {"epsilon": self.epsilon, "unit": "1/m", "noise": noise}

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        if self.seed is not None:
            return ()
        told = (
            "locating a single sample: whatever an adversary knows already, one published "
            "position changes the odds between two places (cells) d metres apart by a factor of "
            f"exp(epsilon d) at most; epsilon = {self.epsilon:g}/m makes that "
            f"{_factor(100 * self.epsilon)} for places 100 m apart and "
            f"{_factor(1000 * self.epsilon)} for 1 km"
        )
        return (told,)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        seeded = (
            "anybody at all: the noise was drawn from a seed, for a test, and can be taken away"
        )
        return (
            *(() if self.seed is None else (seeded,)),
            (
                "record linkage: times, and how many samples a person has, are untouched, and "
                "noise makes every record more unlike the others; nobody is hidden in a crowd"
            ),
            (
                "many samples together: n samples of a person cost n times epsilon (composition), "
                "and those at one place average out: with 100 of them it is known ten times as "
                "well, so homes and work places are found again"
            ),
            *OTHERS,
        )

    def _change(self, data: Trajectories, threads: int | None) -> Changed:
        x0, x1, y0, y1, t0, t1 = data.columns
        wide = int(np.count_nonzero((x1 - x0 != 1) | (y1 - y0 != 1)))
        if wide:
            raise ArgumentError(
                f"{wide:,} of {data.samples:,} samples are wider than a cell; noise is added to "
                "positions, not to areas: apply it to the original data, before anything is merged"
            )
        if self.seed is not None:
            warnings.warn(
                "seeded noise can be drawn again and taken away; this is a test and no release",
                PrivacyWarning,
                stacklevel=3,
            )
        x, y, clamped = _moved(data, self.epsilon, self._draw())
        columns = (x, x + np.int32(1), y, y + np.int32(1), t0, t1)
        changed = settle(data, columns, keep_place=False, threads=threads)
        return Changed(
            changed.trajectories,
            collapsed=changed.collapsed,
            more=(("samples_clamped", clamped),),
            notes=_composition(data, self.epsilon),
        )

    def _draw(self) -> Draw:
        # Looked up when it is called, and so is what a test puts in its place.
        return os.urandom if self.seed is None else np.random.default_rng(self.seed).bytes


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


def _moved(data: Trajectories, epsilon: float, draw: Draw) -> tuple[Ints, Ints, int]:
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


def _composition(data: Trajectories, epsilon: float) -> tuple[str, ...]:
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


def _epsilon(value: Any) -> float:
    """Take epsilon as a number or by its name."""
    if isinstance(value, str) and value in LEVELS:
        return LEVELS[value]
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        raise ArgumentError(
            f"epsilon must be a finite number above 0, in 1/m, or one of {', '.join(LEVELS)}, "
            f"not {value!r}"
        )
    return number


def _factor(exponent: float) -> str:
    """Say a factor of which only the size matters."""
    return f"{math.exp(exponent):.2g}" if exponent < 10 else f"e^{exponent:.3g}"  # noqa: PLR2004
