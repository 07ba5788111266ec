"""What is made of the numbers of a report: lights, answers to questions, and the verdict.

Also the two kinds of lights that there are: one whose level follows from a number and its
thresholds, and the one of the verifier's checks. Which lights there are stands in `_thresholds`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from incrowd._format import percent, rounded_percent
from incrowd._summary import Summarised, Summary

if TYPE_CHECKING:
    from incrowd.report._numbers import Numbers

__all__ = [
    "AMBER",
    "GREEN",
    "GREY",
    "OURS",
    "RED",
    "SAME_PERSON",
    "WORDS",
    "ChecksPassed",
    "Light",
    "Question",
    "Threshold",
    "Verdict",
    "part_left_out",
    "reason_missing",
]


GREEN, AMBER, RED, GREY = "green", "amber", "red", "grey"
WORDS = {GREEN: "good", AMBER: "caution", RED: "bad", GREY: "not known"}
OURS = "our choice"
TINY = 0.001
SAME_PERSON = "Same person twice"
"""The light that other modules name as well."""
_COUNTED = ("people", "groups")


@dataclass(frozen=True, slots=True)
class Light:
    """One traffic light.

    Attributes
    ----------
    about, group
        What it is about; "privacy", "attack" or "use".
    level, word
        green, amber, red or grey, and the same as a word, for those who see no colours.
    value
        What was found, written out.
    says
        What that means.
    thresholds, source
        When it would be green, amber and red; and who says so.
    key
        How it is named in a project file.
    """

    about: str
    group: str
    level: str
    word: str
    value: str
    says: str
    thresholds: str
    source: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One of the three questions of Opinion 05/2014.

    Attributes
    ----------
    name, asks
        Its name, and what it asks.
    level, word
        green, amber or red, and the same as a word.
    figure, says, thresholds
        What was measured, what that means, and when it would be green, amber and red.
    """

    name: str
    asks: str
    level: str
    word: str
    figure: str
    says: str
    thresholds: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Summarised):
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

    def _summary(self) -> Summary:
        return Summary(
            f"Verdict: {self.headline}",
            {"answer": self.answer, "use": self.use, "lost": self.loss},
            head=("about", "light", "found"),
            rows=[(light.about, light.word, light.value) for light in self.lights],
            notes=[*self.because, *self.conditions],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A light whose level follows from one number.

    Attributes
    ----------
    light, group
        What it is about, as the page names it; "privacy", "attack" or "use".
    green, amber
        The last value that is green, and the last that is amber.
    direction
        Whether values must be at least the threshold, or at most.
    unit
        "people", "groups" (of identifiers), a "share" of 1, which is written as a percentage, or a
        "correlation".
    source
        Where the thresholds come from.
    measures
        What the number is, for the documentation.
    value
        Takes the number from those of the report; None if it is not known.
    says
        What a level means, in one sentence.
    overruled
        Tells whether the level is red, whatever the number.
    bounded
        Tells whether the number is the most that it can be, and not what it is.
    if_missing
        The level if the number is not known; None leaves the light out.
    key
        How it is named in a project file; unless given, as on the page.
    shown_if_missing
        What stands in place of the number then.
    """

    light: str
    group: Literal["privacy", "attack", "use"]
    green: float
    amber: float
    direction: Literal["at least", "at most"]
    unit: Literal["people", "groups", "share", "correlation"]
    source: str
    measures: str
    value: "Callable[[Numbers], float | None]"
    says: "Callable[[Numbers, str], str]"
    overruled: "Callable[[Numbers], bool]" = lambda _: False
    bounded: "Callable[[Numbers], bool]" = lambda _: False
    if_missing: str | None = GREY
    shown_if_missing: str = "not known"
    missing: "Callable[[Numbers], str]" = lambda numbers: (
        "Too little is left to say."
        if numbers.given.record and numbers.readable
        else f"Cannot be said{reason_missing(numbers, 'the original and the private record')}."
    )
    key: str = ""

    def level(self, value: float) -> str:
        """Return the level of a number."""
        for level, threshold in ((GREEN, self.green), (AMBER, self.amber)):
            if value >= threshold if self.direction == "at least" else value <= threshold:
                return level
        return RED

    @property
    def never_red(self) -> bool:
        """Whether any share is amber at worst."""
        return self.unit == "share" and self.direction == "at most" and self.amber == 1

    @property
    def sentence(self) -> str:
        """When the light is green, amber and red."""
        word, beyond = ("from", "below") if self.direction == "at least" else ("up to", "above")
        unit = f" {self.unit}" if self.unit in _COUNTED else ""
        green, amber = self.written(self.green), self.written(self.amber)
        if self.never_red:
            return f"green {word} {green}, amber {beyond}"
        if green == amber:
            return f"green {word} {green}{unit}, red {beyond}"
        return f"green {word} {green}{unit}, amber {word} {amber}, red {beyond}"

    def written(self, threshold: float) -> str:
        """Return a threshold as text: 3, 2.5%, or 0.9."""
        if self.unit in _COUNTED:
            return f"{threshold:,}"
        return f"{100 * threshold:g}%" if self.unit == "share" else f"{threshold:g}"

    def shown(self, value: float) -> str:
        """Return what was found as text, with the digits that it takes to be on its side.

        39.7% is not shown as 40% where amber begins at 40%, nor nearly all as 100% or little as 0%.
        """
        if self.unit in _COUNTED:
            return f"{value:,}"
        if value == 1:
            return self.written(value)
        if self.unit == "share" and self.direction == "at most" and value < TINY:
            return part_left_out(value)
        digits = 2 if self.direction == "at least" else 3
        while self.level(rounded := round(value, digits)) != self.level(value) or (
            rounded in (0, 1) and rounded != value
        ):
            digits += 1
        return percent(value, digits - 2) if self.unit == "share" else f"{value:.{digits}f}"

    def judge(self, numbers: "Numbers") -> Light | None:
        """Return the light; None if it is to be left out."""
        value = self.value(numbers)
        if value is None:
            if self.if_missing is None:
                return None
            level, shown, says = self.if_missing, self.shown_if_missing, self.missing(numbers)
        else:
            level = RED if self.overruled(numbers) else self.level(value)
            shown, says = self.shown(value), self.says(numbers, level)
            shown = f"up to {shown}" if self.bounded(numbers) else shown
        return Light(
            self.light, self.group, level, WORDS[level], shown, says, self.sentence, self.source,
            self.key,
        )  # fmt: skip

    def row(self) -> tuple[str, ...]:
        """Return the row of the documentation: light, what it measures, levels, source."""
        word, beyond = ("from", "less") if self.direction == "at least" else ("up to", "more")
        green, amber = (f"{word} {self.written(each)}" for each in (self.green, self.amber))
        if self.never_red:
            amber, beyond = beyond, "-"
        return self.light, self.measures, green, amber, beyond, self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksPassed:
    """The light that says whether the verifier's checks were made and passed."""

    light: str = "Proof"
    group: Literal["privacy", "use"] = "privacy"
    measures: str = "checks of the verifier, on the written files"
    green: str = "all were made and passed"
    amber: str = "some could not be made, or found what is not true of everybody"
    red: str = "one failed"
    source: str = OURS

    @property
    def sentence(self) -> str:
        """When the light is green, amber and red."""
        return f"green if {self.green}, amber if {self.amber}, red if {self.red}"

    def judge(self, numbers: "Numbers") -> Light:
        """Return the light."""
        checks = numbers.verification.checks
        noted = [check.name for check in checks if check.noted]
        passed = sum(check.ok is True for check in checks) - len(noted)
        left = [check.name for check in checks if check.ok is None]
        if not numbers.verification.ok:
            level, says = RED, "A check failed; nothing can be claimed of this release."
        elif left:
            level = AMBER
            says = f"All checks that could be made passed. Not checked: {', '.join(left)}."
        elif noted:
            level = AMBER
            says = (
                f"No check failed, but {', '.join(noted)} found statements that are not true of "
                "everybody, which this way of merging allows."
            )
        else:
            level = GREEN
            says = (
                "All checks were made on the written files, beside the original and the private "
                "record, and all passed."
            )
        shown = f"{passed} of {len(checks)} checks passed"
        return Light(
            self.light, self.group, level, WORDS[level], shown, says, self.sentence, self.source
        )

    def row(self) -> tuple[str, ...]:
        """Return the row of the documentation."""
        return self.light, self.measures, self.green, self.amber, self.red, self.source


def reason_missing(numbers: "Numbers", what: str) -> str:
    """Return why something is not known: files that cannot be read come first."""
    return f" without {what}" if numbers.readable else ": the files did not pass verification"


def part_left_out(share: float) -> str:
    """Return a share of what is lost or found, as text."""
    if share == 0:
        return "none"
    return rounded_percent(share)
