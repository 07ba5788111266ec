"""What a verification says: check by check, in words for people and in figures for machines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incrowd._format import several
from incrowd._summary import Summarised, Summary
from incrowd._visible import visible

__all__ = [
    "LIMITS",
    "NAMES",
    "PROMISED",
    "ROUNDED",
    "SEEDED",
    "SPLIT",
    "WHOLE",
    "Check",
    "Verification",
    "failed",
    "passed",
    "several",
]


NAMES = (
    "files",
    "rows",
    "sizes",
    "names",
    "k-anonymity",
    "membership",
    "coverage",
    "witness",
    "no invention",
    "linkage",
)
"""All checks, in the order in which they are made."""
PROMISED = (*NAMES[:4], "promise", *NAMES[4:])
"""Those of a release that promises no k, but something else."""
WHOLE = ("files", "rows", "sizes", "names")
"""Those that tell whether the release is whole."""
_RECORD = ("membership", "coverage", "witness", "no invention")

LIMITS = (
    (
        "Edges are real: every edge of a published box is the edge of a true sample of somebody "
        "in the crowd, so the extremes of a crowd's movements can be read off."
    ),
    (
        "A second release of the same people can be laid over this one; where its crowds differ, "
        "people hide in what both have in common, which may be one person."
    ),
    (
        "All members of a crowd share one record: whoever knows that somebody is in it learns "
        "where she was without knowing which record is hers (k-anonymity is not l-diversity)."
    ),
    (
        "Only positions and times were considered: whoever knows something else about a person, "
        "or that she is among the published, may learn more than is said here."
    ),
    (
        "Fraud can go unseen: that names look random does not show that they are, and whoever made "
        "the release could have chosen them, or the losses, to tell more than the rows do."
    ),
)
"""What no release of this kind can promise."""
ROUNDED = (
    "Edges are true ones rounded outwards ({edges}): to that, the extremes of a crowd's movements "
    "can be read off; members who know their own traces still learn of edges to which these are "
    "not rounded."
)
SPLIT = (
    "Pieces cut in time (reshape 'split') can state a time at which a member was not seen there; "
    "the check 'witness' counts them."
)
SEEDED = "The names were drawn from a seed and can be guessed; this release is a test."


@dataclass(frozen=True, slots=True, repr=False)
class Check(Summarised):
    """One thing that was looked at.

    Attributes
    ----------
    name
        One of `NAMES`, of `PROMISED`, or of those that a guarantee adds.
    ok
        Whether it holds; None if it was not checked.
    says
        What was found, in one sentence.
    figures
        The numbers behind it, plain enough for JSON.
    noted
        Whether it is a note: it holds, and says something that no check could fail by.
    """

    name: str
    ok: bool | None
    says: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    noted: bool = False

    @property
    def mark(self) -> str:
        """How it ended, in a word or two."""
        if self.noted:
            return "note"
        return {True: "ok", False: "FAILED", None: "not checked"}[self.ok]

    def _summary(self) -> Summary:
        return Summary(f"Check of {self.name}: {self.mark}", notes=[self.says])


def passed(name: str, says: str, figures: Mapping[str, Any]) -> Check:
    """Make a check that holds."""
    return Check(name, ok=True, says=says, figures=figures)


def failed(name: str, says: str, figures: Mapping[str, Any]) -> Check:
    """Make a check that does not hold."""
    return Check(name, ok=False, says=says, figures=figures)


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Summarised):
    """What was found out about a release.

    Attributes
    ----------
    path
        The release.
    k
        How many people were to share each record, at least; None if the release promises nothing
        of the kind, and nobody asked.
    checks
        Everything that was looked at, and what was not.
    limits
        What a release like this cannot promise, whatever was checked.
    required
        The checks that must have been made and hold.
    claim
        What may be claimed of the records if they do; empty if nothing is guaranteed of them.
    """

    path: Path
    k: int | None
    checks: tuple[Check, ...]
    limits: tuple[str, ...]
    required: tuple[str, ...] = ("k-anonymity",)
    claim: str = ""

    @property
    def ok(self) -> bool:
        """Whether what is guaranteed (k-anonymity, mostly) was found to hold and no check failed.

        Of a release that guarantees nothing, and without a k to be verified (`k` is None): whether
        it is whole and nothing that it promises failed. That is no anonymity; `claims` says so.
        """
        return all(self._holds(name) is True for name in self.required) and not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.ok is False)

    @property
    def scope(self) -> str:
        """With what the release was compared."""
        if any(self._holds(name) is not None for name in _RECORD):
            return "with the original and the private record"
        if self._holds("linkage") is not None:
            return "with the original, without the private record"
        return "the files alone"

    @property
    def claims(self) -> str:
        """What may be said of the release after this verification, and no more."""
        if not self.ok:
            unmade = f"{', '.join(self.required)} was not checked"
            names = ", ".join(c.name for c in self.failed) or unmade
            return f"Nothing can be claimed of this release (checked: {self.scope}): {names}."
        left = [check.name for check in self.checks if check.ok is None]
        if not self.claim:
            return self._claims_without_k([name for name in left if name != "k-anonymity"])
        held = [self.claim]
        if self._holds("coverage"):
            held.append("no sample was lost that is not counted as lost")
        if self._holds("no invention"):
            held.append("no box reaches beyond what its people did")
        if self._holds("diversity"):
            homes = self["diversity"].figures["homes"]
            held.append(f"the people of every crowd have at least {homes:,} distinct homes")
        if self._holds("linkage"):
            held.append(
                f"in every trial, true samples of a person fitted {self.k} records or more, or none"
            )
        tail = f" Not checked: {', '.join(left)}." if left else ""
        return f"Checked, {self.scope}: {'; '.join(held)}.{tail}"

    def _claims_without_k(self, left: list[str]) -> str:
        """Return what may be said where nothing was guaranteed of the records."""
        held = ["the files are whole, and count what they hold"]
        for name in ("promise", *self.required):
            if name not in WHOLE and self._holds(name):
                says = self[name].says.rstrip(".")
                held.append(says[:1].lower() + says[1:])
        if self._holds("coverage"):
            held.append("no sample was lost that is not counted as lost")
        tail = f" Not checked: {', '.join(left)}." if left else ""
        crowds = self["k-anonymity"].says
        return f"Checked, {self.scope}: {'; '.join(held)}. k-anonymity: {crowds}{tail}"

    def _holds(self, name: str) -> bool | None:
        """Tell whether a check holds; None if it was not made."""
        return next((check.ok for check in self.checks if check.name == name), None)

    def __getitem__(self, name: str) -> Check:
        """Give a check by its name."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the path, which is private, as plain values for JSON."""
        return {
            "ok": self.ok,
            "k": self.k,
            "scope": self.scope,
            "claims": self.claims,
            "checks": [
                {"name": c.name, "ok": c.ok, "says": c.says, "figures": dict(c.figures)}
                for c in self.checks
            ],
            "limits": list(self.limits),
        }

    def for_recipients(self) -> "Verification":
        """Return the same without counts of few people: what may go with the release."""
        from incrowd.evaluate._verify.disclosure import for_recipients

        return for_recipients(self)

    def lines(self) -> list[str]:
        """Say everything in lines for a terminal."""
        found = {check.name: check.mark for check in self.checks}
        if self.k is None and "k-anonymity" in found:
            found["k-anonymity"] = "none"
        lines = [f"{c.name:<14}{found[c.name]:<13}{c.says}" for c in self.checks]
        lines += ["", self.claims, "", "What a release like this cannot promise:"]
        # A manifest or a decision may have been written by anybody.
        return [visible(line) for line in (*lines, *(f"- {limit}" for limit in self.limits))]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return str(self)

    def _summary(self) -> Summary:
        return Summary(
            f"Verification of a release: {'passed' if self.ok else 'FAILED'}",
            {check.name: f"{check.mark}: {check.says}" for check in self.checks},
            notes=[self.claims],
        )
