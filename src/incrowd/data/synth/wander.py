"""Where people go next: exploration and preferential return (Song et al., 2010).

`choose` is one step of the model. With probability ``RHO * S ** -GAMMA``, S the number of
places known so far, a person explores: a jump of heavy-tailed length in any direction, to the
site nearest to where it ends. Otherwise she returns to a known place, in proportion to how often
she was there. What a person knows and where she was stands in her `Life`, which is scratch space
of one thread and starts afresh for each person.
"""

import math
from typing import NamedTuple

import numpy as np

from incrowd.compiled import Ints, Words, inner
from incrowd.data.synth.chance import uniform
from incrowd.data.synth.geography import Sites
from incrowd.data.synth.nearest import nearest

__all__ = [
    "ARRIVE",
    "LEAVE",
    "PLACE",
    "STAYS",
    "Life",
    "choose",
    "distance",
    "jump",
    "new_life",
    "remember",
]

RHO = 0.6
GAMMA = 0.21
BETA = 1.75  # of the jump lengths (Gonzalez et al., 2008)
TRIES = 12  # to find a place that fits, before giving up
NEARBY = 60_000.0  # away from home, only places this close are returned to

ARRIVE, LEAVE, PLACE = 0, 1, 2
STAYS, KNOWN = 0, 1
STAYS_A_DAY = 24


class Life(NamedTuple):
    """One person's diary and memory."""

    rng: Words
    stays: Ints
    """A row for each stay: minute of arrival, minute of leaving, place."""
    memory: Ints
    """A row for each known place: place, visits."""
    size: Ints
    """How many rows of `stays` and of `memory` are in use."""


def new_life(days: int) -> Life:
    """Make room for one person's diary of so many days.

    In Python, since every array made within a kernel adds to the time that it takes to compile.
    """
    rows = STAYS_A_DAY * days + 8
    return Life(
        np.zeros(1, np.uint64),
        np.empty((rows, 3), np.int64),
        np.empty((rows, 2), np.int64),
        np.zeros(2, np.int64),
    )


@inner
def distance(sites: Sites, one: int, other: int) -> float:
    """Give the metres between two sites."""
    return math.hypot(sites.at[one, 0] - sites.at[other, 0], sites.at[one, 1] - sites.at[other, 1])


@inner
def remember(life: Life, place: int) -> None:
    """Count a visit to a place."""
    known = life.size[KNOWN]
    for index in range(known):
        if life.memory[index, 0] == place:
            life.memory[index, 1] += 1
            return
    life.memory[known, 0] = place
    life.memory[known, 1] = 1
    life.size[KNOWN] = known + 1


@inner
def _jump_length(rng: Words, scale: float, cutoff: float) -> float:
    """Draw from (dr + scale) ** -BETA * exp(-dr / cutoff), by rejection from the power law."""
    while True:
        length: float = scale * ((1.0 - uniform(rng)) ** (-1.0 / (BETA - 1.0)) - 1.0)
        if uniform(rng) < math.exp(-length / cutoff):
            return length


@inner
def jump(rng: Words, sites: Sites, origin: int, scale: float, cutoff: float) -> int:
    """Jump from a site to another, possibly the same; never out of the land."""
    for _ in range(TRIES):
        length = _jump_length(rng, scale, cutoff)
        angle = 2.0 * math.pi * uniform(rng)
        x = sites.at[origin, 0] + length * math.cos(angle)
        y = sites.at[origin, 1] + length * math.sin(angle)
        if (x / sites.half_width) ** 2 + (y / sites.half_height) ** 2 <= 1.0:
            return nearest(sites.at, x, y)
    return origin


@inner
def _return(life: Life, sites: Sites, here: int, base: int) -> int:
    """Return to a known place in proportion to visits, but not to `here` nor to one far away."""
    total = 0
    for index in range(life.size[KNOWN]):
        total += life.memory[index, 1]
    for _ in range(TRIES):
        left = int(uniform(life.rng) * total)
        index = 0
        while left >= life.memory[index, 1]:
            left -= life.memory[index, 1]
            index += 1
        place = int(life.memory[index, 0])
        if place != here and distance(sites, place, base) < NEARBY:
            return place
    return base


@inner
def choose(life: Life, sites: Sites, base: int, scale: float, cutoff: float) -> int:
    """Choose the next place of somebody who is in her diary's last one and sleeps at `base`."""
    here = life.stays[life.size[STAYS] - 1, PLACE]
    if uniform(life.rng) < RHO * life.size[KNOWN] ** -GAMMA:
        place = jump(life.rng, sites, here, scale, cutoff)
    else:
        place = _return(life, sites, here, base)
    remember(life, place)
    return place
