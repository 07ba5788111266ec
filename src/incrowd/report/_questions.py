"""The three questions of Opinion 05/2014 (Article 29 Working Party, WP216): what was measured.

Can a person be singled out; can records of the same person be linked; can something be inferred of
her? Each is a row of a table on the page: a figure that was measured, or "not assessed", which is
never green. A new question is a new entry of `QUESTIONS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from incrowd._format import people, rounded_percent
from incrowd.report._lights import (
    AMBER,
    GREEN,
    GREY,
    RED,
    SAME_PERSON,
    WORDS,
    Light,
    Question,
    Threshold,
)
from incrowd.report._numbers import Numbers

__all__ = [
    "QUESTIONS",
    "questions_of",
]

NOT_ASSESSED = "not assessed"
PARTLY_ASSESSED = "partly assessed"
_PLACES = {"home": "the home", "work": "the workplace", "night": "some night"}


class Answer(NamedTuple):
    """The level of an answer, what was measured, what that means, and when it would be green."""

    level: str
    figure: str
    says: str
    thresholds: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question: its name, what it asks, and how it is answered from numbers and lights."""

    name: str
    asks: str
    answer: Callable[[Numbers, Sequence[Light], Threshold], Answer]


def questions_of(
    numbers: Numbers, lights: Sequence[Light], limits: Threshold
) -> tuple[Question, ...]:
    """Return the answers to all questions; `limits` are those of inference."""
    found = []
    for each in QUESTIONS:
        level, figure, *rest = each.answer(numbers, lights, limits)
        word = figure if figure in (NOT_ASSESSED, PARTLY_ASSESSED) else WORDS[level]
        found.append(Question(each.name, each.asks, level, word, figure, *rest))
    return tuple(found)


def _singling_out(numbers: Numbers, lights: Sequence[Light], _limits: Threshold) -> Answer:
    order = (RED, AMBER, GREY, GREEN)
    about = [each for each in lights if each.group == "privacy"]
    level = min((each.level for each in about), key=order.index, default=GREY)
    k = numbers.identical
    if k is None:
        says = "Records are not verified to be shared: whoever finds a record has found a person."
        return Answer(RED, "records of single people", says)
    says = f"Every record is exactly alike for {k} people or more, verified on the written files."
    if [each.about for each in about if each.level == RED] == [SAME_PERSON]:
        says += " But some of them may be the same person under several identifiers."
    elif level == RED:
        says += " For this purpose that is too few."
    else:
        says += " Nobody's record can be isolated by what is published."
    figure = f"{people(numbers.smallest_crowd or k)} or more per record"
    return Answer(level, figure, says, "as the worst of the lights under “Is it private?”")


def _linkability(numbers: Numbers, lights: Sequence[Light], _limits: Threshold) -> Answer:
    check = numbers.check("linkage")
    rest = (
        "Whether records can be linked with another release, or with later data of the same "
        "people, was not assessed: each release is judged alone."
    )
    kept = numbers.settings.settings.get("ledger_k")
    if kept is not None:
        rest = (
            "The release was made with a ledger. As its maker found when it was published, "
            f"releases of that ledger, laid over one another, leave {kept} people or more in the "
            "same crowds; that cannot be verified from the release, but with incrowd ledger. "
            "Whether records can be linked with a release that is not in the ledger, or with later "
            "data of the same people, was not assessed."
        )
    if numbers.identical is None or check is None or check.ok is not True:
        return Answer(AMBER, NOT_ASSESSED, rest)
    says = (
        f"With the original itself: true samples of a person led to {numbers.identical} records "
        "or more, or to none, in every trial."
    )
    found = {each.key: each for each in lights if each.group == "attack" and each.level != GREY}
    if (later := found.get("which_crowd")) is not None:
        says += (
            f" With later data of the same people: the right crowd is found of {later.value} of "
            "people, and not which of its records is theirs."
        )
        rest = rest.replace(", or with later data of the same people,", "")
    if (together := found.get("composition")) is None:
        return Answer(AMBER, PARTLY_ASSESSED, f"{says} {rest}")
    says += f" With the other releases that were given: {together.says}"
    worst = min((together.level, later.level if later else AMBER), key=(RED, AMBER, GREEN).index)
    return Answer(
        worst, f"{together.value} of people are alone in all releases together", says,
        f"{together.thresholds} ({together.source})",
    )  # fmt: skip


def _inference(numbers: Numbers, _lights: Sequence[Light], limits: Threshold) -> Answer:
    found = numbers.inference
    if found is None:
        says = (
            "What the record of a crowd tells of everybody in it (homes, workplaces, nights) "
            "needs the original and the private record."
        )
        return Answer(AMBER, NOT_ASSESSED, says)
    near, far = found.disclosures[0], found.disclosures[-1]
    shown = {name: of for name in _PLACES if (of := getattr(far, name)).share is not None}
    if not shown:
        says = (
            "Nobody was seen from 22 to 6 h or from 9 to 17 h in the original, so that nobody has "
            "a home or a workplace there that could be told. Other places were not looked at."
        )
        return Answer(AMBER, NOT_ASSESSED, says)
    parts = [
        f"{_PLACES[name]} of {getattr(near, name).words} to {near.within}, of {of.words} to "
        f"{far.within}"
        for name, of in shown.items()
    ]
    if numbers.identical is None:
        return _of_single_people(numbers, parts)
    worst = max(shown, key=lambda name: shown[name].share or 0.0)
    figure = f"{_PLACES[worst]} of {shown[worst].words} to {far.within}"
    says = (
        "Whoever knows that a person is in a crowd learns from single small boxes of its record, "
        f"without knowing which is hers: {'; '.join(parts)}. "
    )
    if far.homogeneous.number:
        says += (
            f"Whoever knows the homes of the others as well learns more: {far.homogeneous.words} "
            f"are in a crowd whose homes all lie within {far.within}. "
        )
    says += "Crowds do not prevent this."
    if "home" in shown:
        says += (
            " (Where an analyst would look for homes, by all samples of a record, is another "
            "question: see the light Homes.)"
        )
    else:
        says += " Nobody was seen from 22 to 6 h in the original: nobody has a home there."
    level = limits.level(shown[worst].share or 0.0)
    return Answer(level, figure, says, f"{limits.sentence} ({limits.source})")


def _of_single_people(numbers: Numbers, parts: Sequence[str]) -> Answer:
    """Say what is learned where records are of single people: whoever finds one has all of it."""
    persons = numbers.utility.persons if numbers.utility else None
    homes = persons.home.found_within(1) if persons else None
    says = f"Records are of single people, and small boxes of theirs show {'; '.join(parts)}."
    if homes is None:
        return Answer(RED, "records of single people", says)
    says += (
        f" Where most samples of a record at night are, the home of {rounded_percent(homes)} of "
        "people is found to 1 km, also where single samples were moved."
    )
    return Answer(RED, f"{_PLACES['home']} of {rounded_percent(homes)} of people to 1 km", says)


QUESTIONS: tuple[Asked, ...] = (
    Asked(
        name="singling out",
        asks="Can the record of one person be isolated?",
        answer=_singling_out,
    ),
    Asked(
        name="linkability",
        asks="Can two records of the same person, or of the same crowd, be linked?",
        answer=_linkability,
    ),
    Asked(
        name="inference",
        asks="Can something be learned of a person without finding her record?",
        answer=_inference,
    ),
)
