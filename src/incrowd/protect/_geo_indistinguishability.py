"""Geo-Indistinguishability: planar Laplace noise on every position. How is in `_planar_laplace`."""

import math
import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd._arguments import whole
from incrowd._outside import outside
from incrowd.errors import ArgumentError, PrivacyWarning
from incrowd.protect._mechanism import OTHERS, Changed, Mechanism, setting

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "LEVELS",
    "SEEDED",
    "TRUE",
    "GeoI",
]


LEVELS = {"low": 0.01, "medium": 0.004, "high": 0.001}
"""How much noise: the epsilons of the paper, in 1/m."""
TRUE, SEEDED = "drawn from the operating system's entropy", "seeded, not for release"


def _typed(text: str) -> float:
    """Return an epsilon that was typed, as a number or by its name."""
    return _epsilon(text if text in LEVELS else float(text))


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
    - Andrés et al., 2013: "Geo-Indistinguishability: Differential Privacy for Location-Based
      Systems", CCS '13, DOI 10.1145/2508859.2516735.
    - Boutet et al., 2016: "Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets", LIRIS
      research report hal-01381986; section 3.5.3.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> protected = incrowd.GeoI(epsilon=0.004).protect(city)
    >>> protected.settings
    {'epsilon': 0.004, 'unit': '1/m', 'noise': "drawn from the operating system's entropy"}
    >>> protected.losses["samples_clamped"]
    0
    """

    epsilon: float = setting(
        "How much noise every position gets, in 1/m: the smaller, the more. "
        "low, medium, high are 0.01, 0.004, 0.001.",
        metavar="E",
        parse=_typed,
        takes=f"a finite number above 0, in 1/m, or {', '.join(LEVELS)}",
    )
    seed: int | None = setting(
        "For tests: noise that anybody can draw again; marked as not for release.",
        "--noise-seed",
        default=None,
        shown=False,
        metavar="N",
        least=0,
    )

    method: ClassVar[str] = "Geo-Indistinguishability"
    paper: ClassVar[str] = "Andrés et al., 2013; Boutet et al., 2016, section 3.5.3"
    summary: ClassVar[str] = "add noise to every position"
    example: ClassVar[str] = "--epsilon 0.01 (in 1/m), or low, medium, high"
    compared: ClassVar[str] = "low"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _epsilon(self.epsilon))
        if self.seed is not None:
            whole("seed", self.seed, 0)

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

    def _change(self, data: "Trajectories", threads: int | None) -> Changed:
        import numpy as np

        from incrowd.protect._normalise import sort_and_deduplicate
        from incrowd.protect._planar_laplace import add_noise, composition

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
                stacklevel=outside(),
            )
        # Looked up when it is called, and so is what a test puts in its place.
        draw = os.urandom if self.seed is None else np.random.default_rng(self.seed).bytes
        x, y, clamped = add_noise(data, self.epsilon, draw)
        columns = (x, x + np.int32(1), y, y + np.int32(1), t0, t1)
        changed = sort_and_deduplicate(data, columns, keep_place=False, threads=threads)
        return Changed(
            changed.trajectories,
            collapsed=changed.collapsed,
            more=(("samples_clamped", clamped),),
            notes=composition(data, self.epsilon),
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
