"""Synthetic datasets of real size and shape, for tests, demonstrations and benchmarks.

How a dataset is made::

    presets      what can be made, in numbers; the local clock
    geography    cities, antennas, who lives where, which site is nearest
    mobility     a person's days: home, work, exploration and return
    phones       what an operator sees of those days: minutes and antennas
    cars         what a GPS box sees: the ends of trips
    sensors      what a recording phone sees: GPS, WiFi, GSM
    generate     blocks of people, on several threads, as batches, a file or Trajectories
    random       the random streams of each person

A person depends on the preset, the number of people, the seed and her own number, and on nothing
else; so does every byte of the result. ``docs/synthetic.md`` says what the model keeps of the real
datasets, and what it does not; ``benchmarks/calibration.py`` measures it.
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
