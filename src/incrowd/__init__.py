"""Make datasets of people's trajectories safe to share: measure, attack, protect, prove.

The public names are here and nowhere else; each is loaded when it is first used, so that
``import incrowd`` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd import predict as predict
    from incrowd import report as report
    from incrowd.attack.attacks import Attack
    from incrowd.attack.recognition import Recognition, deanonymize
    from incrowd.attack.risk import risk
    from incrowd.data.frame import Frame
    from incrowd.data.reading import read, read_visits
    from incrowd.data.selecting import select
    from incrowd.data.synthesize import synthesize
    from incrowd.data.trajectories import Trajectories
    from incrowd.data.visits import Visits, visits
    from incrowd.data.writing import write
    from incrowd.evaluate.accuracy import Accuracy, accuracy
    from incrowd.evaluate.anonymizability import Anonymizability, anonymizability
    from incrowd.evaluate.study import Study, study
    from incrowd.evaluate.utility import Utility, utility
    from incrowd.evaluate.verification import Verification
    from incrowd.evaluate.verify import verify
    from incrowd.measure.describe import Description, describe
    from incrowd.measure.dispersion import dispersion
    from incrowd.measure.features import features
    from incrowd.measure.gaps import k_gap
    from incrowd.measure.pois import PointsOfInterest, points_of_interest
    from incrowd.measure.stretch import Stretch
    from incrowd.measure.traces import Trace, traces
    from incrowd.measure.uniqueness import Uniqueness, uniqueness
    from incrowd.protect.cloaking import Cloak
    from incrowd.protect.filtering import Filter
    from incrowd.protect.generalising import Generalise
    from incrowd.protect.glove import Release, glove
    from incrowd.protect.mechanisms import Mechanism, Protected
    from incrowd.protect.noise import GeoI

__version__ = "0.1.0"

_HOME = {
    "Accuracy": "incrowd.evaluate.accuracy",
    "Anonymizability": "incrowd.evaluate.anonymizability",
    "Attack": "incrowd.attack.attacks",
    "Cloak": "incrowd.protect.cloaking",
    "Description": "incrowd.measure.describe",
    "Filter": "incrowd.protect.filtering",
    "Frame": "incrowd.data.frame",
    "Generalise": "incrowd.protect.generalising",
    "GeoI": "incrowd.protect.noise",
    "Mechanism": "incrowd.protect.mechanisms",
    "PointsOfInterest": "incrowd.measure.pois",
    "Protected": "incrowd.protect.mechanisms",
    "Recognition": "incrowd.attack.recognition",
    "Release": "incrowd.protect.glove",
    "Stretch": "incrowd.measure.stretch",
    "Study": "incrowd.evaluate.study",
    "Trace": "incrowd.measure.traces",
    "Trajectories": "incrowd.data.trajectories",
    "Uniqueness": "incrowd.measure.uniqueness",
    "Utility": "incrowd.evaluate.utility",
    "Verification": "incrowd.evaluate.verification",
    "Visits": "incrowd.data.visits",
    "accuracy": "incrowd.evaluate.accuracy",
    "anonymizability": "incrowd.evaluate.anonymizability",
    "deanonymize": "incrowd.attack.recognition",
    "describe": "incrowd.measure.describe",
    "dispersion": "incrowd.measure.dispersion",
    "features": "incrowd.measure.features",
    "glove": "incrowd.protect.glove",
    "k_gap": "incrowd.measure.gaps",
    "points_of_interest": "incrowd.measure.pois",
    "read": "incrowd.data.reading",
    "read_visits": "incrowd.data.reading",
    "risk": "incrowd.attack.risk",
    "select": "incrowd.data.selecting",
    "study": "incrowd.evaluate.study",
    "synthesize": "incrowd.data.synthesize",
    "traces": "incrowd.measure.traces",
    "uniqueness": "incrowd.measure.uniqueness",
    "utility": "incrowd.evaluate.utility",
    "verify": "incrowd.evaluate.verify",
    "visits": "incrowd.data.visits",
    "write": "incrowd.data.writing",
}

_ROOMS = ("predict", "report")
"""Rooms that are entered by name: ``incrowd.predict.learn``, ``incrowd.report.make``."""

__all__ = [
    "Accuracy",
    "Anonymizability",
    "Attack",
    "Cloak",
    "Description",
    "Filter",
    "Frame",
    "Generalise",
    "GeoI",
    "Mechanism",
    "PointsOfInterest",
    "Protected",
    "Recognition",
    "Release",
    "Stretch",
    "Study",
    "Trace",
    "Trajectories",
    "Uniqueness",
    "Utility",
    "Verification",
    "Visits",
    "accuracy",
    "anonymizability",
    "deanonymize",
    "describe",
    "dispersion",
    "features",
    "glove",
    "k_gap",
    "points_of_interest",
    "read",
    "read_visits",
    "risk",
    "select",
    "study",
    "synthesize",
    "traces",
    "uniqueness",
    "utility",
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
