"""Make datasets of people's trajectories safe to share: measure, attack, protect, prove.

========  ==========================================================================================
data      read, read_visits, synthesize, select, write; Trajectories, Visits, visits, Frame;
          Ledger
measure   describe, k_gap, dispersion, features, uniqueness, traces, points_of_interest; Stretch;
          plot_k_gap; same_person
attack    risk, deanonymize; ATTACKS, Attack
predict   predict.learn, predict.estimate and the rest of the module: risk without simulation
protect   glove; MECHANISMS: Glove, Filter, Cloak, Generalise, GeoI, TGA,
          W4M; Mechanism
evaluate  publish, verify, sign; ledger_history; of_release, of_files, BeforeAfter; accuracy,
          utility, inference, anonymizability, study; attack_release, RELEASE_ATTACKS;
          compare, Comparison; plot_trade_off
report    report.make: the page that a privacy officer reads and signs
errors    errors.IncrowdError and what is below it
========  ==========================================================================================

Each name is loaded when it is first used, so that ``import incrowd`` costs nothing.
"""

# isort: off
import incrowd._interrupted  # before everything else, see there

# isort: on
from typing import TYPE_CHECKING

import incrowd.errors  # noqa: F401  at once: it says how warnings are shown
from incrowd._lazy import lazy
from incrowd._version import __version__ as __version__

if TYPE_CHECKING:
    from incrowd import errors as errors
    from incrowd import predict as predict
    from incrowd import report as report
    from incrowd.attack import ATTACKS as ATTACKS
    from incrowd.attack import Attack as Attack
    from incrowd.attack import Recognition as Recognition
    from incrowd.attack import deanonymize as deanonymize
    from incrowd.attack import risk as risk
    from incrowd.data import Frame as Frame
    from incrowd.data import Ledger as Ledger
    from incrowd.data import Reading as Reading
    from incrowd.data import Trajectories as Trajectories
    from incrowd.data import Trajectory as Trajectory
    from incrowd.data import Visits as Visits
    from incrowd.data import read as read
    from incrowd.data import read_visits as read_visits
    from incrowd.data import select as select
    from incrowd.data import synthesize as synthesize
    from incrowd.data import visits as visits
    from incrowd.data import write as write
    from incrowd.evaluate import RELEASE_ATTACKS as RELEASE_ATTACKS
    from incrowd.evaluate import Accuracy as Accuracy
    from incrowd.evaluate import Anonymizability as Anonymizability
    from incrowd.evaluate import BeforeAfter as BeforeAfter
    from incrowd.evaluate import Check as Check
    from incrowd.evaluate import Comparison as Comparison
    from incrowd.evaluate import Decision as Decision
    from incrowd.evaluate import Inference as Inference
    from incrowd.evaluate import LedgerHistory as LedgerHistory
    from incrowd.evaluate import Publication as Publication
    from incrowd.evaluate import ReleaseAttacks as ReleaseAttacks
    from incrowd.evaluate import Study as Study
    from incrowd.evaluate import Utility as Utility
    from incrowd.evaluate import Verification as Verification
    from incrowd.evaluate import accuracy as accuracy
    from incrowd.evaluate import anonymizability as anonymizability
    from incrowd.evaluate import attack_release as attack_release
    from incrowd.evaluate import compare as compare
    from incrowd.evaluate import inference as inference
    from incrowd.evaluate import ledger_history as ledger_history
    from incrowd.evaluate import of_files as of_files
    from incrowd.evaluate import of_release as of_release
    from incrowd.evaluate import plot_trade_off as plot_trade_off
    from incrowd.evaluate import publish as publish
    from incrowd.evaluate import sign as sign
    from incrowd.evaluate import study as study
    from incrowd.evaluate import utility as utility
    from incrowd.evaluate import verify as verify
    from incrowd.measure import Description as Description
    from incrowd.measure import PointsOfInterest as PointsOfInterest
    from incrowd.measure import SamePerson as SamePerson
    from incrowd.measure import Stretch as Stretch
    from incrowd.measure import Trace as Trace
    from incrowd.measure import Uniqueness as Uniqueness
    from incrowd.measure import VisitsDescription as VisitsDescription
    from incrowd.measure import describe as describe
    from incrowd.measure import dispersion as dispersion
    from incrowd.measure import features as features
    from incrowd.measure import k_gap as k_gap
    from incrowd.measure import plot_k_gap as plot_k_gap
    from incrowd.measure import points_of_interest as points_of_interest
    from incrowd.measure import same_person as same_person
    from incrowd.measure import traces as traces
    from incrowd.measure import uniqueness as uniqueness
    from incrowd.protect import MECHANISMS as MECHANISMS
    from incrowd.protect import TGA as TGA
    from incrowd.protect import W4M as W4M
    from incrowd.protect import Cloak as Cloak
    from incrowd.protect import Diverse as Diverse
    from incrowd.protect import Filter as Filter
    from incrowd.protect import Generalise as Generalise
    from incrowd.protect import GeoI as GeoI
    from incrowd.protect import Glove as Glove
    from incrowd.protect import Losses as Losses
    from incrowd.protect import Mechanism as Mechanism
    from incrowd.protect import Protected as Protected
    from incrowd.protect import ProtectionResult as ProtectionResult
    from incrowd.protect import Release as Release
    from incrowd.protect import glove as glove

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "": ["errors", "predict", "report"],
        "data": [
            "Frame",
            "Ledger",
            "Reading",
            "Trajectories",
            "Trajectory",
            "Visits",
            "read",
            "read_visits",
            "select",
            "synthesize",
            "visits",
            "write",
        ],
        "measure": [
            "Description",
            "PointsOfInterest",
            "SamePerson",
            "Stretch",
            "Trace",
            "Uniqueness",
            "VisitsDescription",
            "describe",
            "dispersion",
            "features",
            "k_gap",
            "plot_k_gap",
            "points_of_interest",
            "same_person",
            "traces",
            "uniqueness",
        ],
        "attack": ["ATTACKS", "Attack", "Recognition", "deanonymize", "risk"],
        "protect": [
            "Cloak",
            "Diverse",
            "Filter",
            "Generalise",
            "GeoI",
            "Glove",
            "Losses",
            "MECHANISMS",
            "Mechanism",
            "Protected",
            "ProtectionResult",
            "Release",
            "W4M",
            "TGA",
            "glove",
        ],
        "evaluate": [
            "Accuracy",
            "Anonymizability",
            "BeforeAfter",
            "Check",
            "Comparison",
            "Decision",
            "Inference",
            "LedgerHistory",
            "Publication",
            "RELEASE_ATTACKS",
            "ReleaseAttacks",
            "Study",
            "Utility",
            "Verification",
            "accuracy",
            "anonymizability",
            "attack_release",
            "compare",
            "inference",
            "ledger_history",
            "of_files",
            "of_release",
            "plot_trade_off",
            "publish",
            "sign",
            "study",
            "utility",
            "verify",
        ],
    },
)
