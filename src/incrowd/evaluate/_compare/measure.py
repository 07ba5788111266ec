"""What a row of a comparison is."""

from collections.abc import Callable
from dataclasses import dataclass

from incrowd.evaluate._compare.context import Context

__all__ = ["COST", "GROUPS", "PRIVATE", "USEFUL", "Measure"]


PRIVATE, USEFUL, COST = "private", "useful", "cost"
GROUPS = {PRIVATE: "Is it private?", USEFUL: "Is it useful?", COST: "What it takes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A row of a comparison.

    Attributes
    ----------
    key
        Its name in JSON.
    group
        What it is about: "private", "useful" or "cost".
    section
        Under which heading it stands.
    label
        What it is called, in a few words.
    unit
        "share" (from 0 to 1), "m", "min", "people", "s", "bytes" or "correlation".
    better
        Whether "less" or "more" is better; None if neither is.
    help
        What it means, in a sentence or two.
    of
        What measures it.
    original
        Whether it is measured of the original as well, to compare with.
    """

    key: str
    group: str
    section: str
    label: str
    unit: str
    better: str | None
    help: str
    of: Callable[[Context], float | str | None]
    original: bool = False
