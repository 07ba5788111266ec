"""The traffic lights of a report, each with its thresholds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["GREEN", "RED", "Light", "lights_of", "part_of", "sharpness", "without"]

GREEN, AMBER, RED, GREY = "green", "amber", "red", "grey"
WORDS = {GREEN: "good", AMBER: "take care", RED: "bad", GREY: "not known"}
CROWD = (3, 2)
"""People a record: the Italian code of conduct that the paper of 2021 quotes asks for 3."""
LOST = (0.05, 0.2)
DETAIL = (0.7, 0.4)
"""The paper calls 70 % of samples within 2 km and 2 h tolerable."""
PLACES = (0.7, 0.4)
"""The paper finds 70 % of homes and workplaces within 1 km."""
UNIQUE = (0.01, 0.05)


@dataclass(frozen=True, slots=True)
class Light:
    """One traffic light.

    Attributes
    ----------
    about, group
        What it is about; "privacy" or "use".
    level, word
        green, amber, red or grey, and the same as a word, for those who see no colours.
    value
        What was found, written out.
    says
        What that means.
    thresholds
        When it would be green, amber and red.
    """

    about: str
    group: str
    level: str
    word: str
    value: str
    says: str
    thresholds: str


def lights_of(numbers: Mapping[str, Any]) -> tuple[Light, ...]:
    """Give all lights: those of privacy, which decide, and those of use."""
    return (*_privacy(numbers), *_use(numbers))


def without(numbers: Mapping[str, Any], what: str) -> str:
    """Say for want of what something is not known: files that can be read come first."""
    checks = {check["name"]: check["ok"] for check in numbers["verification"]["checks"]}
    return f" without {what}" if checks.get("rows") else ": the files did not pass"


def sharpness(numbers: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the figures of accuracy, if there are any."""
    figures: Mapping[str, Any] = (numbers.get("accuracy") or {}).get("figures") or {}
    return figures if "both_coarse" in figures else {}


def part_of(share: float) -> str:
    """Write a share of what is left out."""
    if share == 0:
        return "none"
    return "less than 0.1%" if share < 0.001 else f"{share:.1%}"  # noqa: PLR2004


def _level(value: float, limits: tuple[float, float], *, high: bool) -> str:
    good, fair = limits
    if high:
        return GREEN if value >= good else AMBER if value >= fair else RED
    return GREEN if value <= good else AMBER if value <= fair else RED


def _light(about: str, group: str, level: str, value: str, says: str, limits: str) -> Light:
    return Light(about, group, level, WORDS[level], value, says, limits)


def _privacy(numbers: Mapping[str, Any]) -> list[Light]:
    proof = numbers["verification"]
    checks = {check["name"]: check for check in proof["checks"]}
    crowds = checks.get("k-anonymity", {"ok": None, "figures": {}})
    smallest = crowds["figures"].get("smallest")
    good, fair = CROWD
    limits = f"green from {good} people, amber from {fair}, red below"
    lights = []
    if smallest is None:
        lights.append(
            _light("Smallest crowd", "privacy", RED, "not known",
                   "How many people share each record could not be counted.", limits)
        )  # fmt: skip
    else:
        level = _level(smallest, CROWD, high=True)
        if proof["k"] is None or crowds["ok"] is False:
            level = RED
        says = {
            GREEN: f"Nobody has a record of her own; each is that of {smallest:,} people or more.",
            AMBER: "Each record is shared, but some by a pair only: whoever knows that it is not "
            "the one, knows that it is the other.",
            RED: "Somebody has a record that she shares with too few, or with nobody.",
        }[level]
        if proof["k"] is None and smallest > 1:
            says = "Records are shared by chance; the method promises no crowd."
        lights.append(_light("Smallest crowd", "privacy", level, f"{smallest:,}", says, limits))
    lights.append(_proof(proof, checks))
    after = (numbers.get("after") or {}).get("uniqueness")
    if after:
        most = max(row["share"] for row in after)
        lights.append(
            _light("Unique in the release", "privacy", _level(most, UNIQUE, high=False),
                   f"{most:.1%}",
                   "The largest share of random points (up to 10) that one record alone has, in "
                   "what is published.",
                   "green up to 1%, amber up to 5%, red above")
        )  # fmt: skip
    return lights


def _proof(proof: Mapping[str, Any], checks: Mapping[str, Any]) -> Light:
    made = [check for check in checks.values() if check["ok"] is not None]
    wrong = [check for check in made if not check["ok"]]
    limits = "green if all were made and passed, amber if some could not be made, red if one failed"
    value = f"{len(made) - len(wrong)} of {len(checks)} checks passed"
    if wrong or not proof["ok"]:
        says = "A check failed; nothing can be claimed of this release."
        return _light("Proof", "privacy", RED, value, says, limits)
    if len(made) < len(checks):
        left = ", ".join(name for name, check in checks.items() if check["ok"] is None)
        says = f"All checks that could be made passed. Not checked: {left}."
        return _light("Proof", "privacy", AMBER, value, says, limits)
    return _light("Proof", "privacy", GREEN, value,
                  "All checks were made on the written files, beside the original and the private "
                  "record, and all passed.", limits)  # fmt: skip


def _use(numbers: Mapping[str, Any]) -> list[Light]:
    sharp, persons = sharpness(numbers), (numbers.get("utility") or {}).get("persons") or {}
    rows = []
    dropped, deleted = numbers["sizes"].get("dropped_share"), sharp.get("deleted")
    lost = [share for share in (dropped, deleted) if share is not None]
    both = "The larger of two shares: of people, and of samples, that are not in the release."
    if deleted is None:
        both = (
            "The share of people who are not in the release. That of samples is not known without "
            "the private record."
        )
    rows.append(
        ("Left out", max(lost) if lost else None, LOST, False, both,
         "green up to 5%, amber up to 20%, red above")
    )  # fmt: skip
    for about, name, what in (
        ("Detail in space", "space_2km", "within 2 km"),
        ("Detail in time", "time_2h", "within 2 hours"),
    ):
        rows.append(
            (about, sharp.get(name), DETAIL, True,
             (f"The share of published samples that are precise to {what.removeprefix('within ')} "
             "or better."), "green from 70%, amber from 40%, red below")
        )  # fmt: skip
    for about, name in (("Homes", "home"), ("Workplaces", "work")):
        rows.append(
            (about, _near(persons.get(name)), PLACES, True,
             "The share of people for whom the release gives the same place to within 1 km.",
             "green from 70%, amber from 40%, red below")
        )  # fmt: skip
    lights = []
    for about, value, limits, high, says, text in rows:
        if value is None:
            missing = f"Cannot be said{without(numbers, 'the original and the private record')}."
            lights.append(_light(about, "use", GREY, "not known", missing, text))
        else:
            lights.append(
                _light(about, "use", _level(value, limits, high=high), f"{value:.0%}"
                       if high else part_of(value), says, text)
            )  # fmt: skip
    return lights


def _near(errors: Mapping[str, Any] | None) -> float | None:
    """Give the share within 1 km."""
    return next((share for km, share in (errors or {}).get("within", {}).items()
                 if float(km) == 1), None)  # fmt: skip
