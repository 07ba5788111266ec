"""Two verdicts: is it private, and against which threat; is it useful, and at what loss.

Nothing is judged that was not verified on the written files. The lights, and the thresholds that
stand on the page under each of them, come from the registry in `_thresholds`.
"""

from collections.abc import Mapping, Sequence

from incrowd._format import percent, rounded_percent
from incrowd.report._disclosure import LEAST
from incrowd.report._lights import (
    AMBER,
    GREEN,
    GREY,
    RED,
    SAME_PERSON,
    Light,
    Question,
    Verdict,
    part_left_out,
    reason_missing,
)
from incrowd.report._numbers import Exposure, Numbers
from incrowd.report._purposes import Purpose, inference_limits, purpose_of, thresholds_for
from incrowd.report._questions import questions_of
from incrowd.report._thresholds import lights_of

__all__ = [
    "judge",
]


LEFT_OUT = "Left out"
_EXPOSED = {
    SAME_PERSON: ": people may be in it under several identifiers, so that its crowds may hold "
    "fewer people than records"
}
"""Why a release may not be shared for one red light."""
FOUR = 4
"""How many known points the second of the three numbers is about."""


def judge(numbers: Numbers) -> Verdict:
    """Judge a release by the numbers that were gathered of it."""
    purpose = purpose_of(numbers.given.purpose)
    lights = lights_of(numbers, thresholds_for(purpose, numbers.given.thresholds))
    limits = inference_limits(purpose, numbers.given.thresholds)
    questions = questions_of(numbers, lights, limits)
    decisive = [each for each in questions if each.name in purpose.decides[1:]]
    answer, headline = _answer(numbers, lights, decisive, purpose)
    level, use = _use(numbers, lights)
    return Verdict(
        answer=answer,
        headline=headline,
        threat=_threat(numbers),
        use=use,
        use_level=level,
        loss=_loss(numbers),
        because=tuple(_because(numbers, lights, decisive, purpose, answer)),
        lights=lights,
        three=_three(numbers),
        questions=questions,
        conditions=purpose.conditions if answer != "no" else (),
    )


def _answer(
    numbers: Numbers, lights: Sequence[Light], decisive: Sequence[Question], purpose: Purpose
) -> tuple[str, str]:
    refused = _refused(numbers, lights, decisive, purpose)
    if refused is not None:
        return "no", f"Do not share this release{refused}."
    crowd = f"everybody in it is in a crowd of {numbers.identical} or more"
    if _lost(lights):
        crowd += f", but {_what_is_lost(numbers)} not in it"
    levels = [light.level for light in lights if light.group == "privacy"]
    levels += [each.level for each in decisive]
    levels += [light.level for light in _gaining(lights, purpose)]
    if all(level == GREEN for level in levels) and not _lost(lights):
        return "yes", f"This release may be shared {purpose.label}: {crowd}."
    return "conditions", (
        f"This release may be shared {purpose.label}, with conditions: {crowd}, and the points "
        "below need your decision."
    )


def _refused(
    numbers: Numbers, lights: Sequence[Light], decisive: Sequence[Question], purpose: Purpose
) -> str | None:
    """Say why a release may not be shared; None if it may, with conditions or without."""
    if not numbers.verification.ok:
        return ": its verification failed"
    if numbers.verification.k is None:
        return (
            " as anonymous: its method hides nobody in a crowd, and people in it can be "
            "re-identified"
        )
    smallest = numbers.smallest_crowd or 0
    if _worst(lights) == "Smallest crowd" and numbers.identical is not None and smallest > 1:
        return (
            f" {purpose.label}: its smallest crowd has {smallest:,} people, which is too few for "
            "that"
        )
    if any(light.group == "privacy" and light.level == RED for light in lights):
        return _EXPOSED.get(_worst(lights) or "", ": people in it can be re-identified")
    told = any(each.level == RED for each in decisive)
    gained = [light for light in _gaining(lights, purpose) if light.level == RED]
    if told or gained:
        text = "its records tell too much of everybody in a crowd"
        return f" {purpose.label}: " + (
            text if told else f"attacks gain too much: {_named(gained)}"
        )
    return None


def _gaining(lights: Sequence[Light], purpose: Purpose) -> list[Light]:
    """Return the attacks that gain more than little; none where they do not decide."""
    levels = (AMBER, RED) if purpose.attacked else ()
    return [light for light in lights if light.group == "attack" and light.level in levels]


def _named(attacks: Sequence[Light]) -> str:
    """Name attacks, and of how many people they gain something."""
    return ", ".join(f"{each.about.lower()} ({each.value} of people)" for each in attacks)


def _what_is_lost(numbers: Numbers) -> str:
    """Say which shares of samples and people are not in the release."""
    sizes = numbers.sizes
    shares = ("samples", numbers.samples_left_out), ("people", sizes.dropped_share)
    parts = [f"{rounded_percent(share)} of the {what}" for what, share in shares if share]
    if sizes.dropped_at_most:
        parts.append(f"up to {rounded_percent(sizes.dropped_at_most)} of the people")
    return f"{' and '.join(parts)} are"


def _worst(lights: Sequence[Light]) -> str | None:
    """Return the only red light of privacy, if it is just one."""
    red = [each.about for each in lights if each.group == "privacy" and each.level == RED]
    return red[0] if len(red) == 1 else None


def _lost(lights: Sequence[Light]) -> str | None:
    """Return how much is left out, if that is so much that somebody has to decide."""
    return next(
        (each.value for each in lights if each.about == LEFT_OUT and each.level == RED), None
    )


def _use(numbers: Numbers, lights: Sequence[Light]) -> tuple[str, str]:
    """Say how useful the release still is: its worst light of use, and which these are."""
    found = {
        level: [light for light in lights if light.group == "use" and light.level == level]
        for level in (RED, AMBER, GREEN)
    }
    for level, much in ((RED, "much"), (AMBER, "some")):
        if found[level]:
            which = ", ".join(f"{each.about.lower()} {each.value}" for each in found[level])
            return level, f"It has lost {much} of its use: {which}."
    unknown = any(light.about == LEFT_OUT and light.level == GREY for light in lights)
    if found[GREEN] and not unknown:
        return GREEN, "It keeps most of its use: all that was measured is good."
    missing = reason_missing(numbers, "the original and the private record")
    return GREY, f"How useful it is cannot be said{missing}."


def _because(
    numbers: Numbers, lights: Sequence[Light], decisive: Sequence[Question], purpose: Purpose,
    answer: str,
) -> list[str]:  # fmt: skip
    """Say what stands between this release and a plain yes."""
    reasons = [f"{check.name}: {check.says}" for check in numbers.verification.failed]
    if answer != "yes":
        reasons += [
            f"{light.about} ({light.value}): {light.says}"
            for light in lights
            if light.group == "privacy" and light.level != GREEN
        ]
        if _lost(lights):
            text = _what_is_lost(numbers)
            reasons.append(
                f"{text[:1].upper()}{text[1:]} not in the release: decide whether what is left "
                "still stands for everybody."
            )
        reasons += [
            f"{each.name.capitalize()}: {each.figure} (see the three questions)."
            for each in decisive
            if each.level != GREEN
        ]
        gaining = _gaining(lights, purpose)
        if gaining:
            reasons.append(
                f"Attacks on what is published gain something: {_named(gaining)} (see “What if it "
                "is attacked?”)."
            )
    return reasons


def _threat(numbers: Numbers) -> str:
    if not numbers.verification.ok or numbers.identical is None:
        return "No protection can be claimed."
    if numbers.same_person is not None and numbers.same_person.groups:
        return (
            "No protection can be claimed of people who may be in the data twice: records that are "
            "exactly alike may all be of one person."
        )
    return (
        "It protects against record linkage: somebody who has the release, knows some or all of "
        "the places and times of a person, and looks for her record, finds "
        f"{numbers.identical} or more that are exactly alike, or none."
    )


def _loss(numbers: Numbers) -> str:
    parts: list[str] = []
    precise, dropped = numbers.accuracy, numbers.sizes.dropped_share
    if precise is not None:
        near, soon = (
            rounded_percent(share) for share in (precise.within_2_km, precise.within_2_hours)
        )
        parts.append(
            f"{near} of the original samples lie in a published one of up to 2 km, {soon} in one "
            "of up to 2 hours"
            if precise.of_samples
            else f"{near} of the published samples are within 2 km and {soon} within 2 hours"
        )
        if numbers.samples_moved is not None:
            moved = rounded_percent(numbers.samples_moved)
            parts.append(f"{moved} of the original samples are not where the release has them")
        if (left_out := numbers.samples_left_out) is not None:
            parts.append(f"{part_left_out(left_out)} of the original samples are left out")
    if numbers.rounded:
        parts.append(
            f"fewer than {max(LEAST, numbers.verification.k or 0)} people are left out, and all "
            "shares are of the others"
        )
    elif dropped is not None:
        parts.append(f"{part_left_out(dropped)} of the people are left out")
    if not parts:
        return f"What was lost cannot be said{reason_missing(numbers, 'the original')}."
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _three(numbers: Numbers) -> tuple[Mapping[str, str], ...]:
    """Give the three numbers that matter: the crowd, who is singled out, what is left."""
    before, after = _singled_out(numbers.before), _singled_out(numbers.after)
    return (
        _crowds(numbers),
        _exposed(before, after),
        {"value": "?", "what": "what is left cannot be said"}
        if numbers.accuracy is None
        else {
            "value": rounded_percent(numbers.accuracy.within_both),
            "what": "of samples are still precise to 2 km and 2 hours"
            if numbers.accuracy.of_samples
            else "of published samples are precise to 2 km and 2 hours",
        },
    )


def _crowds(numbers: Numbers) -> dict[str, str]:
    smallest, crowds = numbers.smallest_crowd, numbers.check("k-anonymity")
    if smallest is None:
        return {"value": "?", "what": "how many people share each record is not known"}
    if smallest > 1:
        return {"value": f"{smallest:,}", "what": "people or more share every record"}
    alone = crowds.figures.get("people_alone") if crowds else None
    if alone is None:
        return {"value": "1", "what": "person or more has a record of her own"}
    people = crowds.figures.get("people") if crowds else None
    of = f" of {people:,}" if isinstance(people, int) else ""
    count = f"{alone:,}" if isinstance(alone, int) else alone
    return {"value": f"{count}{of}", "what": "people have a record that nobody shares"}


def _exposed(before: float | None, after: float | None) -> dict[str, str]:
    if after is None:
        return {"value": "?", "what": "how many are singled out is not known"}
    if before is None:
        what = "of records are singled out by four random places and hours in the release"
        return {"value": percent(after, 0), "what": what}
    return {
        "value": f"{percent(before, 0)} → {percent(after, 0)}",
        "what": "of people are singled out by four random places and hours, before → after",
    }


def _singled_out(when: Exposure | None) -> float | None:
    """Give the share that four places and hours single out."""
    rows = when.known() if when is not None else ()
    return next((row.share for row in rows if row.points == FOUR), None)
