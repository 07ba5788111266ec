"""The three questions of Opinion 05/2014 (Article 29 Working Party, WP216): what was measured.

Can a person be singled out; can records of the same person be linked; can something be inferred of
her? Each is a row of a table on the page: a figure that was measured, or "not assessed", which is
never green. A new question is a new entry of `QUESTIONS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from incrowd._format import people, rounded_percent
from incrowd.report._lights import AMBER, GREEN, GREY, RED, WORDS, Light, Question
from incrowd.report._numbers import Numbers

__all__ = [
    "QUESTIONS",
    "questions_of",
]

NOT_ASSESSED = "not assessed"
PARTLY_ASSESSED = "partly assessed"
_PLACES = {"home": "homes", "work": "workplaces", "night": "people's nights"}
FEW, MANY = 0.05, 0.5
"""Inference is green up to the first share of people, and amber beyond; for open data it is red
beyond the second."""


class Answer(NamedTuple):
    """The level of an answer, what was measured, and what that means."""

    level: str
    figure: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question: its name, what it asks, and how it is answered from numbers and lights."""

    name: str
    asks: str
    answer: Callable[[Numbers, Sequence[Light]], Answer]


def questions_of(numbers: Numbers, lights: Sequence[Light]) -> tuple[Question, ...]:
    """Return the answers to all questions."""
    found = []
    for each in QUESTIONS:
        level, figure, says = each.answer(numbers, lights)
        word = figure if figure in (NOT_ASSESSED, PARTLY_ASSESSED) else WORDS[level]
        found.append(Question(each.name, each.asks, level, word, figure, says))
    return tuple(found)


def _singling_out(numbers: Numbers, lights: Sequence[Light]) -> Answer:
    order = (RED, AMBER, GREY, GREEN)
    about = [each for each in lights if each.group == "privacy"]
    level = min((each.level for each in about), key=order.index, default=GREY)
    k = numbers.identical
    if k is None:
        says = "Records are not verified to be shared: whoever finds a record has found a person."
        return Answer(RED, "records of single people", says)
    says = f"Every record is exactly alike for {k} people or more, verified on the written files."
    if level == RED:
        says += " For this purpose that is too few."
    else:
        says += " Nobody's record can be isolated by what is published."
    return Answer(level, f"{people(numbers.smallest_crowd or k)} or more per record", says)


def _linkability(numbers: Numbers, _lights: Sequence[Light]) -> Answer:
    check = numbers.check("linkage")
    rest = (
        "Whether records can be linked with another release, or with later data of the same "
        "people, was not assessed: each release is judged alone."
    )
    if numbers.identical is None or check is None or check.ok is not True:
        return Answer(AMBER, NOT_ASSESSED, rest)
    says = (
        f"With the original itself: true samples of a person led to {numbers.identical} records "
        f"or more, or to none, in every trial. {rest}"
    )
    return Answer(AMBER, PARTLY_ASSESSED, says)


def _inference(numbers: Numbers, _lights: Sequence[Light]) -> Answer:
    found = numbers.inference
    if found is None:
        says = (
            "What the record of a crowd tells of everybody in it (homes, workplaces, nights) "
            "needs the original and the private record."
        )
        return Answer(AMBER, NOT_ASSESSED, says)
    near, far = found.disclosures[0], found.disclosures[-1]
    shares = {
        name: share
        for name in ("home", "work", "night")
        if (share := getattr(far, name).share) is not None
    }
    if not shares:
        says = "Nobody was seen at night or by day in the original: no place of anybody is known."
        return Answer(AMBER, NOT_ASSESSED, says)
    worst = max(shares, key=shares.__getitem__)
    limit = MANY if numbers.given.purpose == "open" else 1.0
    level = GREEN if shares[worst] <= FEW else AMBER if shares[worst] <= limit else RED
    parts = [
        f"{name} of {rounded_percent(getattr(near, what).share)} of people to {near.within}, of "
        f"{rounded_percent(getattr(far, what).share)} to {far.within}"
        for what, name in (("home", "the home"), ("work", "the workplace"), ("night", "some night"))
        if getattr(far, what).share is not None
    ]
    figure = f"{rounded_percent(shares[worst])} of {_PLACES[worst]} to {far.within}"
    if numbers.identical is None:
        says = f"Records are of single people, and small boxes of theirs show {'; '.join(parts)}."
        return Answer(RED if shares[worst] > FEW else AMBER, figure, says)
    says = (
        "Whoever knows that a person is in a crowd learns from single small boxes of its record, "
        f"without knowing which is hers: {'; '.join(parts)}. Crowds do not prevent this. (Where "
        "an analyst would look for homes, by all samples of a record, is another question: see "
        "the light Homes.)"
    )
    return Answer(level, figure, says)


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
