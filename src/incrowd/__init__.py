"""Make datasets of people's trajectories safe to share: measure, attack, protect, prove.

The public names are here and nowhere else; each is loaded when it is first used, so that
``import incrowd`` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd import predict as predict
    from incrowd.attack.attacks import Attack
    from incrowd.attack.risk import risk
    from incrowd.data.frame import Frame
    from incrowd.data.reading import read
    from incrowd.data.selecting import select
    from incrowd.data.synthesize import synthesize
    from incrowd.data.trajectories import Trajectories
    from incrowd.data.visits import Visits, visits
    from incrowd.data.writing import write
    from incrowd.evaluate.verification import Verification
    from incrowd.evaluate.verify import verify
    from incrowd.measure.describe import Description, describe
    from incrowd.measure.features import features
    from incrowd.measure.gaps import k_gap
    from incrowd.measure.stretch import Stretch
    from incrowd.protect.glove import Release, glove

__version__ = "0.1.0"

_HOME = {
    "Attack": "incrowd.attack.attacks",
    "Description": "incrowd.measure.describe",
    "Frame": "incrowd.data.frame",
    "Release": "incrowd.protect.glove",
    "Stretch": "incrowd.measure.stretch",
    "Trajectories": "incrowd.data.trajectories",
    "Verification": "incrowd.evaluate.verification",
    "Visits": "incrowd.data.visits",
    "describe": "incrowd.measure.describe",
    "features": "incrowd.measure.features",
    "glove": "incrowd.protect.glove",
    "k_gap": "incrowd.measure.gaps",
    "read": "incrowd.data.reading",
    "risk": "incrowd.attack.risk",
    "select": "incrowd.data.selecting",
    "synthesize": "incrowd.data.synthesize",
    "verify": "incrowd.evaluate.verify",
    "visits": "incrowd.data.visits",
    "write": "incrowd.data.writing",
}

_ROOMS = ("predict",)
"""Rooms that are entered by name: ``incrowd.predict.learn``."""

__all__ = [
    "Attack",
    "Description",
    "Frame",
    "Release",
    "Stretch",
    "Trajectories",
    "Verification",
    "Visits",
    "describe",
    "features",
    "glove",
    "k_gap",
    "read",
    "risk",
    "select",
    "synthesize",
    "verify",
    "visits",
    "write",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the room in which it lives, or a room."""
    if name in _ROOMS:
        return importlib.import_module(f"incrowd.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'incrowd' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, *_ROOMS, "__version__"]
