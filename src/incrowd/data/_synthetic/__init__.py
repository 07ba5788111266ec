"""Synthetic datasets of real size and shape, for tests, demonstrations and benchmarks.

::

    presets, settings    what can be made, in numbers
    geography, nearest   cities, antennas, who lives where; blur hides antennas
    diary, wander        how a person spends her days: home, work, exploration and return
    rhythm               in which minutes a phone is used
    phones, cars,        what an operator, a black box or a recording phone sees of those days
      sensors, radio
    streaming, writing   blocks of people, on several threads, to whoever reads or to a file
    check                the figures that a dataset should have, measured

A person depends on the preset, the number of people, the seed and her own number, and on nothing
else; so does every byte of the result. ``docs/synthetic.md`` tells what the model keeps of the
real datasets, and what it does not.
"""

from incrowd.data._synthetic.generate import antennas, schema, stream, write
from incrowd.data._synthetic.presets import PRESETS, Preset

__all__ = [
    "PRESETS",
    "Preset",
    "antennas",
    "schema",
    "stream",
    "write",
]
