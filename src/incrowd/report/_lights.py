"""What is made of the numbers of a report: lights, answers to questions, and the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = [
    "Light",
    "Question",
    "Verdict",
]


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
    thresholds, source
        When it would be green, amber and red; and who says so.
    """

    about: str
    group: str
    level: str
    word: str
    value: str
    says: str
    thresholds: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One of the three questions of Opinion 05/2014.

    Attributes
    ----------
    name, asks
        Its name, and what it asks.
    level, word
        green, amber or red, and the same as a word.
    figure, says
        What was measured, and what that means.
    """

    name: str
    asks: str
    level: str
    word: str
    figure: str
    says: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said.

    Attributes
    ----------
    answer
        "yes", "conditions" or "no".
    headline
        The answer in one sentence.
    threat
        Against which threat it protects.
    use, use_level, loss
        How useful it still is, in one sentence and as a level; and what was lost.
    because
        Why it is not a plain yes.
    lights
        The traffic lights.
    three
        The three numbers that matter, each with what it is.
    questions
        The three questions of Opinion 05/2014, answered.
    conditions
        What to ask of the recipient, proposed; none for a plain yes or no.
    """

    answer: str
    headline: str
    threat: str
    use: str
    use_level: str
    loss: str
    because: tuple[str, ...]
    lights: tuple[Light, ...]
    three: tuple[Mapping[str, str], ...]
    questions: tuple[Question, ...] = ()
    conditions: tuple[str, ...] = ()
