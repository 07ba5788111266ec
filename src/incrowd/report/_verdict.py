"""The verdict: may this be shared, against which threat, at what loss.

Nothing is judged that was not verified on the written files. Every light has its thresholds, which
stand on the page; they are ours, for want of better ones, and whoever signs may have others.

The traffic lights of a report, each with its thresholds.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = [
    "GREEN",
    "RED",
    "Light",
    "Verdict",
    "judge",
    "lights_of",
    "part_of",
    "sharpness",
    "without",
]


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said.

    Attributes
    ----------
    answer
        "yes", "conditions" or "no".
    headline
        The answer in one sentence.
    threat, loss
        Against which threat it holds; what was lost.
    because
        Why it is not a plain yes.
    lights
        The traffic lights.
    three
        The three numbers that matter, each with what it is.
    """

    answer: str
    headline: str
    threat: str
    loss: str
    because: tuple[str, ...]
    lights: tuple[Light, ...]
    three: tuple[Mapping[str, str], ...]

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        return asdict(self)


def judge(numbers: Mapping[str, Any]) -> Verdict:
    """Judge a release by the numbers that were gathered of it.

    Examples
    --------
    >>> from incrowd.report._verdict import judge
    >>> crowds = {"name": "k-anonymity", "ok": False, "says": "1 person is alone.",
    ...           "figures": {"smallest": 1}}
    >>> proof = {"ok": False, "k": 2, "scope": "the files alone", "checks": [crowds]}
    >>> judge({"verification": proof, "sizes": {"people": 9}}).headline
    'Do not share this release: its verification failed.'
    """
    lights = lights_of(numbers)
    answer, headline = _answer(numbers, lights)
    return Verdict(
        answer=answer,
        headline=headline,
        threat=_threat(numbers, answer),
        loss=_loss(numbers),
        because=tuple(_because(numbers, lights, answer)),
        lights=lights,
        three=_three(numbers),
    )


def _answer(numbers: Mapping[str, Any], lights: tuple[Light, ...]) -> tuple[str, str]:
    proof = numbers["verification"]
    if not proof["ok"]:
        return "no", "Do not share this release: its verification failed."
    if proof["k"] is None:
        return "no", (
            "Do not share this release as anonymous: its method hides nobody in a crowd, and the "
            "people in it can be told apart."
        )
    private = [light.level for light in lights if light.group == "privacy"]
    k = proof["k"]
    if RED in private:
        return "no", "Do not share this release: people in it can be told apart."
    if all(level == GREEN for level in private):
        return "yes", f"This release may be shared: everybody in it is in a crowd of {k} or more."
    return "conditions", (
        f"This release may be shared with conditions: everybody in it is in a crowd of {k} or "
        "more, and the points below need your decision."
    )


def _because(numbers: Mapping[str, Any], lights: tuple[Light, ...], answer: str) -> list[str]:
    """Say what stands between this release and a plain yes."""
    reasons = [f"{c['name']}: {c['says']}" for c in numbers["verification"]["checks"]
               if c["ok"] is False]  # fmt: skip
    if answer != "yes":
        reasons += [
            f"{light.about} ({light.value}): {light.says}"
            for light in lights
            if light.group == "privacy" and light.level != GREEN
        ]
    return reasons


def _threat(numbers: Mapping[str, Any], answer: str) -> str:
    k = numbers["verification"]["k"]
    if answer == "no":
        return "No protection can be claimed."
    return (
        "It protects against record linkage: somebody who has the release, knows some or all of "
        f"the places and times of a person, and looks for her record, finds {k} or more that are "
        "exactly alike, or none."
    )


def _loss(numbers: Mapping[str, Any]) -> str:
    parts: list[str] = []
    sharp = sharpness(numbers)
    if sharp:
        parts.append(
            f"{sharp['space_2km']:.0%} of the published samples are within 2 km and "
            f"{sharp['time_2h']:.0%} within 2 hours"
        )
        if sharp.get("deleted") is not None:
            parts.append(f"{part_of(sharp['deleted'])} of the original samples are left out")
    dropped = numbers["sizes"].get("dropped_share")
    if dropped is not None:
        parts.append(f"{part_of(dropped)} of the people are left out")
    if not parts:
        return f"What was lost cannot be said{without(numbers, 'the original')}."
    return "; ".join(parts) + "."


def _three(numbers: Mapping[str, Any]) -> tuple[Mapping[str, str], ...]:
    """Give the three numbers that matter: the crowd, who is told apart, what is left."""
    checks = {check["name"]: check for check in numbers["verification"]["checks"]}
    smallest = checks.get("k-anonymity", {"figures": {}})["figures"].get("smallest")
    three = [
        {
            "value": "?" if smallest is None else f"{smallest:,}",
            "what": "how many people share each record is not known"
            if smallest is None
            else "people or more share every record"
            if smallest > 1
            else "person alone has a record, at least",
        }
    ]
    before, after = (_four(numbers.get(when)) for when in ("before", "after"))
    if before is not None and after is not None:
        three.append(
            {
                "value": f"{before:.0%} → {after:.0%}",
                "what": "of people are singled out by four known places and hours, before → after",
            }
        )
    elif after is not None:
        what = "of records are singled out by four known places and hours in the release"
        three.append({"value": f"{after:.0%}", "what": what})
    else:
        three.append({"value": "?", "what": "how many are singled out is not known"})
    sharp = sharpness(numbers)
    three.append(
        {"value": "?", "what": "what is left cannot be said"}
        if not sharp
        else {
            "value": f"{sharp['both_coarse']:.0%}",
            "what": "of samples are still precise to 2 km and 2 hours",
        }
    )
    return tuple(three)


def _four(when: Mapping[str, Any] | None) -> float | None:
    """Give the share that four places and hours single out."""
    for row in (when or {}).get("uniqueness") or ():
        if row["kind"] == "spatio_temporal" and row["points"] == 4:  # noqa: PLR2004
            return float(row["share"])
    return None
