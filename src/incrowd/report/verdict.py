"""The verdict: may this be shared, against which threat, at what loss.

Nothing is judged that was not verified on the written files. Every light has its thresholds, which
stand on the page; they are ours, for want of better ones, and whoever signs may have others.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from incrowd.report.lights import GREEN, RED, Light, lights_of, part_of, sharpness, without

__all__ = ["Light", "Verdict", "judge"]


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
    >>> from incrowd.report.verdict import judge
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
