"""What a phone's radios see: WiFi access points close by, and one GSM antenna.

There are far too many access points to list (a few in every 50 m square of a city). They are
drawn when somebody comes near, by a hash of the seed and their square, so that everybody who comes
by sees the same ones in the same places.
"""

import math

import numpy as np

from incrowd.compiled import Floats, Ints, Words, inner
from incrowd.data.synth.chance import hashed, uniform, unit
from incrowd.data.synth.nearest import nearest_few

__all__ = ["MOST_SEEN", "scan", "serving"]

SQUARE = 50.0
MOST_IN_SQUARE = 7
MOST_SEEN = 9 * MOST_IN_SQUARE
SIGHT = 30.0  # metres at which one access point in e is seen
RANKS = 0.25  # chance to be served by the next nearest antenna instead, and so on

_WORLD = 1 << 40  # keeps squares west and south of the middle positive
_LOW = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)
_UNIT_32 = 1.0 / 4294967296.0
# 48 bits, with those cleared that would make it a group's or a made-up address.
_ADDRESS = np.uint64(0xFCFFFFFFFFFF)


@inner
def scan(rng: Words, seed: int, x: float, y: float, points: Floats, codes: Words) -> int:
    """Write the places and addresses of the access points seen from a point; give how many."""
    seen = 0
    column, row = math.floor(x / SQUARE), math.floor(y / SQUARE)
    for square_x in range(column - 1, column + 2):
        for square_y in range(row - 1, row + 2):
            square = hashed(seed, square_x + _WORLD, square_y + _WORLD)
            for index in range(int(unit(square) * (MOST_IN_SQUARE + 1))):
                code = hashed(seed, square, index)
                at_x = (square_x + float(code & _LOW) * _UNIT_32) * SQUARE
                at_y = (square_y + float(code >> _HIGH) * _UNIT_32) * SQUARE
                away = ((at_x - x) ** 2 + (at_y - y) ** 2) / (SIGHT * SIGHT)
                if uniform(rng) < math.exp(-away):
                    points[seen, 0], points[seen, 1] = at_x, at_y
                    codes[seen] = hashed(seed, code, index) & _ADDRESS
                    seen += 1
    return seen


@inner
def serving(rng: Words, antennas: Floats, x: float, y: float, found: Ints, squares: Floats) -> int:
    """Give the antenna that serves a phone: mostly the nearest, now and then one behind it."""
    nearest_few(antennas, x, y, found, squares)
    rank = 0
    while rank < found.size - 1 and uniform(rng) < RANKS:
        rank += 1
    return int(found[rank])
