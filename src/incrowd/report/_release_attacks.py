"""What adversaries gain who hold the release, for the page: shares of people, no counts.

::

    release, original, record ──> RELEASE_ATTACKS ──> Finding ──> AttackOnRelease ──> a light each

Counts of few people are withheld here, so that nothing behind a light has them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._format import rounded_percent
from incrowd._progress import Progress
from incrowd.evaluate import RELEASE_ATTACKS, attack_release
from incrowd.report._lights import OURS, Threshold

if TYPE_CHECKING:
    from incrowd.evaluate import Finding
    from incrowd.report._numbers import Numbers

__all__ = [
    "ATTACK_LIGHTS",
    "AttackOnRelease",
    "attacks_on_release",
    "found_by",
]


SINGLES_OUT = f"{OURS}: whoever is alone in several releases is singled out"
LIMITS = {"composition": (0.01, 0.05, SINGLES_OUT)}
"""Of attacks that are judged otherwise than the rest: green, amber, and whose choice that is."""
USUAL = (0.05, 1.0, OURS)


@dataclass(frozen=True, slots=True)
class AttackOnRelease:
    """What one attack on the release found.

    Attributes
    ----------
    attack, label
        Its name, and who or what it is.
    share
        Of which share of people something is gained; None if it was not tried.
    at_most
        Whether that is the most that it can be, because few people are not counted.
    says
        What it means; or why it was not tried.
    knows, helps
        What the adversary knows, and what makes the attack weaker.
    """

    attack: str
    label: str
    share: float | None
    at_most: bool
    says: str
    knows: str
    helps: str


def attacks_on_release(
    folder: Path, original: Any, record: Any, *, least: int, others: Sequence[tuple[Any, ...]],
    tz: str, sample: int, seed: int, threads: int | None, progress: Progress | None = None,
) -> tuple[AttackOnRelease, ...]:  # fmt: skip
    """Try every attack of the registry; see `incrowd.attack_release`."""
    found = attack_release(
        folder, record=record, original=original, others=others, tz=tz, sample=sample, seed=seed,
        threads=threads, progress=progress,
    )  # fmt: skip
    return tuple(_without_counts(each, least) for each in found.findings)


def _without_counts(found: "Finding", least: int) -> AttackOnRelease:
    """Tell shares, and none of fewer people than may be counted."""
    share, at_most, says = found.share, False, found.says
    few = [each for each in found.figures if 0 < each.number < least]
    if any(rounded_percent(each.share) in found.says for each in few):
        says = (
            f"The share of people {RELEASE_ATTACKS[found.attack].gains}. What else was found is "
            f"not shown, because some of it is true of fewer than {least} people."
        )
    if found.headline is not None and 0 < found[found.headline].number < least:
        share, at_most = min(1.0, least / found[found.headline].of), True
    return AttackOnRelease(
        found.attack, found.label, share, at_most, says, found.knows, f"{found.helps}."
    )


def found_by(numbers: "Numbers", attack: str) -> AttackOnRelease | None:
    """Return what an attack found; None if no attacks were tried."""
    return next((each for each in numbers.attacks if each.attack == attack), None)


def _light(attack: str) -> Threshold:
    """Return the light of an attack."""
    kind = RELEASE_ATTACKS[attack]
    green, amber, source = LIMITS.get(attack, USUAL)

    def value(numbers: "Numbers") -> float | None:
        found = found_by(numbers, attack)
        return None if found is None else found.share

    def says(numbers: "Numbers") -> str:
        found = found_by(numbers, attack)
        if found is None:
            return "Attacks need the original and the private record."
        return f"{found.says} What helps: {found.helps}" if found.share else found.says

    return Threshold(
        light=kind.label,
        key=attack,
        group="attack",
        green=green,
        amber=amber,
        direction="at most",
        unit="share",
        source=source,
        measures=f"people {kind.gains}",
        value=value,
        says=lambda numbers, _level: says(numbers),
        bounded=lambda numbers: bool((found := found_by(numbers, attack)) and found.at_most),
        missing=says,
    )


ATTACK_LIGHTS: tuple[Threshold, ...] = tuple(map(_light, RELEASE_ATTACKS))
"""A light for each attack on a release: a new attack has one by being registered."""
