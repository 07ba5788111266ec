"""Is a written release private, true and useful: verification, accuracy, utility.

::

    release ──> publish ──> files ──> verify (shares no code with protect and measure)
    original, release ──> BeforeAfter ──> accuracy, utility, inference
    release, original, record ──> attack_release (RELEASE_ATTACKS) ──> ReleaseAttacks
    original, mechanisms ──> compare ──> Comparison
    release, report ──> sign ──> decision.json
"""

from typing import TYPE_CHECKING

from incrowd._lazy import lazy

if TYPE_CHECKING:
    from incrowd.evaluate._analysis.anonymizability import Anonymizability as Anonymizability
    from incrowd.evaluate._analysis.anonymizability import anonymizability as anonymizability
    from incrowd.evaluate._analysis.covariates import covariates as covariates
    from incrowd.evaluate._analysis.study import Study as Study
    from incrowd.evaluate._analysis.study import first_costs as first_costs
    from incrowd.evaluate._analysis.study import study as study
    from incrowd.evaluate._compare.result import Comparison as Comparison
    from incrowd.evaluate._compare.run import compare as compare
    from incrowd.evaluate._comparison import BeforeAfter as BeforeAfter
    from incrowd.evaluate._comparison import ComparedDataset as ComparedDataset
    from incrowd.evaluate._comparison import as_cells as as_cells
    from incrowd.evaluate._comparison import compared_datasets as compared_datasets
    from incrowd.evaluate._comparison import of_files as of_files
    from incrowd.evaluate._comparison import of_release as of_release
    from incrowd.evaluate._decision import Decision as Decision
    from incrowd.evaluate._decision import check_decision as check_decision
    from incrowd.evaluate._decision import sign as sign
    from incrowd.evaluate._ledger import LedgerHistory as LedgerHistory
    from incrowd.evaluate._ledger import ledger_history as ledger_history
    from incrowd.evaluate._plots import plot_trade_off as plot_trade_off
    from incrowd.evaluate._publish import Publication as Publication
    from incrowd.evaluate._publish import publish as publish
    from incrowd.evaluate._release_attacks.base import ReleaseAttack as ReleaseAttack
    from incrowd.evaluate._release_attacks.findings import Finding as Finding
    from incrowd.evaluate._release_attacks.findings import ReleaseAttacks as ReleaseAttacks
    from incrowd.evaluate._release_attacks.registry import RELEASE_ATTACKS as RELEASE_ATTACKS
    from incrowd.evaluate._release_attacks.run import attack_release as attack_release
    from incrowd.evaluate._utility.accuracy import Accuracy as Accuracy
    from incrowd.evaluate._utility.accuracy import accuracy as accuracy
    from incrowd.evaluate._utility.accuracy import accuracy_table as accuracy_table
    from incrowd.evaluate._utility.inference import Inference as Inference
    from incrowd.evaluate._utility.inference import inference as inference
    from incrowd.evaluate._utility.summary import Utility as Utility
    from incrowd.evaluate._utility.summary import utility as utility
    from incrowd.evaluate._verify.result import Check as Check
    from incrowd.evaluate._verify.result import Verification as Verification
    from incrowd.evaluate._verify.run import verify as verify

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "_analysis.anonymizability": ["Anonymizability", "anonymizability"],
        "_analysis.covariates": ["covariates"],
        "_analysis.study": ["Study", "first_costs", "study"],
        "_compare.result": ["Comparison"],
        "_compare.run": ["compare"],
        "_comparison": [
            "BeforeAfter",
            "ComparedDataset",
            "as_cells",
            "compared_datasets",
            "of_files",
            "of_release",
        ],
        "_decision": ["Decision", "check_decision", "sign"],
        "_ledger": ["LedgerHistory", "ledger_history"],
        "_plots": ["plot_trade_off"],
        "_publish": ["Publication", "publish"],
        "_release_attacks.base": ["ReleaseAttack"],
        "_release_attacks.findings": ["Finding", "ReleaseAttacks"],
        "_release_attacks.registry": ["RELEASE_ATTACKS"],
        "_release_attacks.run": ["attack_release"],
        "_utility.accuracy": ["Accuracy", "accuracy", "accuracy_table"],
        "_utility.inference": ["Inference", "inference"],
        "_utility.summary": ["Utility", "utility"],
        "_verify.result": ["Check", "Verification"],
        "_verify.run": ["verify"],
    },
)
