"""`ReleaseAttack`: what all attacks on a release have in common.

An attack is a class with words (what the adversary knows, what she gains, what helps) and `run`,
which gives a `Finding`.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from incrowd.evaluate._release_attacks.adversary import Adversary, Tell
    from incrowd.evaluate._release_attacks.findings import Figure, Finding

__all__ = [
    "MOVED",
    "UNMOVED",
    "ReleaseAttack",
]


UNMOVED = "A record that was left as it is would be found."
MOVED = f"Points were moved: boxes need not hold what is known. {UNMOVED}"
"""Why attacks by boxes that hold a sample are not tried where points were moved."""


class ReleaseAttack(ABC):
    """An attack by somebody who holds a release.

    Attributes
    ----------
    name
        How it is called, in `RELEASE_ATTACKS`, on the command line and in JSON.
    label
        Who or what it is, in a few words: for tables and lights.
    knows
        What the adversary knows, besides the release, in one sentence.
    gains
        What she gains, of a share of people, in one clause: "of how many people ...".
    helps
        What makes it weaker.
    needs_others
        Whether it cannot be tried on one release alone.
    """

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    knows: ClassVar[str] = ""
    gains: ClassVar[str] = ""
    helps: ClassVar[str] = ""
    needs_others: ClassVar[bool] = False

    def unfit(self, adversary: "Adversary") -> str:  # noqa: ARG002
        """Return why it cannot be tried on this release, or what is lacking; mostly nothing."""
        return ""

    @abstractmethod
    def run(self, adversary: "Adversary", tell: "Tell") -> "Finding":
        """Try it; `tell` is called with the share that is done."""

    def found(self, headline: str, says: str, *figures: "Figure") -> "Finding":
        """Return what was found."""
        from incrowd.evaluate._release_attacks.findings import Finding

        return Finding(self.name, self.label, headline, says, figures, self.knows, self.helps)

    def not_tried(self, why: str) -> "Finding":
        """Return that it was not tried, and why."""
        from incrowd.evaluate._release_attacks.findings import Finding

        return Finding(self.name, self.label, None, why, (), self.knows, self.helps)
