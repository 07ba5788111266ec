"""What an adversary gets: re-identification attacks, and recognising people in later data.

::

    Visits ──> _attacks (what is known) ──> _search (the smallest crowd it leaves) ──> risk
    Visits, earlier and later ──> _reidentification (three matchers) ──> deanonymize

An attack of one's own is a class with `register` before it; `_attacks` says how.
"""

from typing import TYPE_CHECKING

from incrowd._lazy import lazy

if TYPE_CHECKING:
    from incrowd.attack._attacks import ATTACKS as ATTACKS
    from incrowd.attack._attacks import Attack as Attack
    from incrowd.attack._attacks import register as register
    from incrowd.attack._reidentification.deanonymize import Recognition as Recognition
    from incrowd.attack._reidentification.deanonymize import deanonymize as deanonymize
    from incrowd.attack._risk import risk as risk

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "_attacks": ["ATTACKS", "Attack", "register"],
        "_reidentification.deanonymize": ["Recognition", "deanonymize"],
        "_risk": ["risk"],
    },
)
