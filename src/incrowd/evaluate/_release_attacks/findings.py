"""What an attack on a release found: shares of people, and what they mean in words."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from incrowd._format import count_of, rounded_percent
from incrowd._summary import Summarised, Summary

__all__ = [
    "Figure",
    "Finding",
    "ReleaseAttacks",
]


@dataclass(frozen=True, slots=True)
class Figure:
    """How many of how many.

    Attributes
    ----------
    name
        What it is called in JSON.
    what
        What is counted, in words.
    number, of
        How many, and of how many.
    """

    name: str
    what: str
    number: int
    of: int

    @property
    def share(self) -> float | None:
        """The number over that of all; None if there are none."""
        return self.number / self.of if self.of else None

    @property
    def words(self) -> str:
        """The numbers, as text."""
        return count_of(self.number, self.of) if self.of else "-"


@dataclass(frozen=True, slots=True, repr=False)
class Finding(Summarised):
    """What one attack found.

    Attributes
    ----------
    attack, label
        Its name, and what it is called.
    headline
        The name of the figure that counts first: a share of people. None if it was not tried.
    says
        What that means, in a sentence; or why the attack was not tried.
    figures
        Everything that was counted.
    knows, helps
        What the adversary knows, and what makes the attack weaker.
    """

    attack: str
    label: str
    headline: str | None
    says: str
    figures: tuple[Figure, ...] = ()
    knows: str = ""
    helps: str = ""

    def __getitem__(self, name: str) -> Figure:
        """Return a figure by its name."""
        return next(each for each in self.figures if each.name == name)

    @property
    def made(self) -> bool:
        """Whether the attack was tried."""
        return self.headline is not None

    @property
    def share(self) -> float | None:
        """The share of people that the headline counts; None if it was not tried."""
        return None if self.headline is None else self[self.headline].share

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        plain = asdict(self) | {"share": self.share}
        plain["figures"] = {
            each.name: {"what": each.what, "number": each.number, "of": each.of,
                        "share": each.share}
            for each in self.figures
        }  # fmt: skip
        return plain

    def _summary(self) -> Summary:
        facts = {each.what: each.words for each in self.figures}
        return Summary(
            f"{self.label}: {rounded_percent(self.share)} of people"
            if self.made
            else f"{self.label}: not tried",
            facts,
            notes=[self.says],
        )


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseAttacks(Summarised):
    """What adversaries gain who hold a release.

    Attributes
    ----------
    findings
        What each attack found, in the order of `incrowd.RELEASE_ATTACKS`.
    people, attacked
        How many people are published, and how many of them were attacked.
    seed
        With which these were drawn.
    """

    findings: tuple[Finding, ...]
    people: int
    attacked: int
    seed: int

    def __getitem__(self, attack: str) -> Finding:
        """Return what an attack found, by its name."""
        return self.by_name[attack]

    @property
    def by_name(self) -> Mapping[str, Finding]:
        """What each attack found, by its name."""
        return {each.attack: each for each in self.findings}

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "people": self.people,
            "attacked": self.attacked,
            "seed": self.seed,
            "attacks": {each.attack: each.as_dict() for each in self.findings},
        }

    def _summary(self) -> Summary:
        rows = [
            (each.label, rounded_percent(each.share) if each.made else "not tried")
            for each in self.findings
        ]
        notes = [f"{each.label}: {each.says}" for each in self.findings if not each.made]
        return Summary(
            f"Attacks on a release: {self.attacked:,} of {self.people:,} people",
            head=("attack", "people"),
            rows=rows,
            notes=notes,
        )
