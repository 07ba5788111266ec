"""What all mechanisms have in common: settings, words, and `protect`.

::

    Glove ─────────────────────────────────────────────┐
    Filter, Cloak, Generalise, GeoI                    │ protect(data)
        │ protect(data)                                │
        ▼                                              ▼
    _change: other boxes, or fewer ──> Protected    Release     both are a `ProtectionResult`

A mechanism is a value: its settings and nothing else. It says of itself what it does
(`explanation`), what it guarantees (`guarantee`, by a name that the verifier knows), what it
protects against (`promises`) and what not (`limits`), in words for whoever must decide. What it did
to a dataset, and what that cost, is in its result; `incrowd.publish` takes any of them.

To add one: write a class with the four class attributes, its settings as fields made by `setting`,
its words, and either `_change` (everybody keeps a trajectory of her own, with other boxes) or
`protect`; and enter it in `incrowd.MECHANISMS`. ``incrowd anonymize --method NAME`` then has its
options, its releases are verified for what it guarantees, and the report prints its explanation.

Nothing heavy is imported here, nor where mechanisms are defined, because the command line asks all
of them for their options before it does anything.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from incrowd._format import people as _people
from incrowd._summary import Summarised, Summary

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._trajectories import Trajectories

__all__ = [
    "LINKAGE",
    "OTHERS",
    "Changed",
    "Mechanism",
    "Option",
    "Protected",
    "ProtectionResult",
    "options_of",
    "setting",
    "summary_of",
]


Progress = Callable[[str, int, int], None]

LINKAGE = "nothing is promised against record linkage"
OTHERS = (
    "a second release of the same people: laid over this one, it tells more than each by itself",
    (
        "knowledge beyond positions and times, and the question whether a person is in the data "
        "at all"
    ),
)
"""What no mechanism without a guarantee withstands."""


@runtime_checkable
class ProtectionResult(Protocol):
    """What every mechanism makes of a dataset: all that is needed to publish and verify it.

    Attributes
    ----------
    trajectories
        What is to be published; the crowd says for how many people each one stands.
    assignment
        For every person (user) the index of her trajectory; null if she was dropped.
    losses
        What was lost, by name, in plain counts.
    settings
        What was asked for, in plain values that may be published.
    method
        The name of what was done, for the manifest.
    guarantee
        The name of what is guaranteed: ``"k-anonymity"``, ``"none"``, or another that the
        verifier knows.
    promises, limits
        What it protects against, and what it does not protect against, in words.
    explanation
        What was done to the data, in plain sentences.
    """

    @property
    def trajectories(self) -> "Trajectories": ...
    @property
    def assignment(self) -> "pl.DataFrame": ...
    @property
    def losses(self) -> Mapping[str, int]: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def method(self) -> str: ...
    @property
    def guarantee(self) -> str: ...
    @property
    def promises(self) -> tuple[str, ...]: ...
    @property
    def limits(self) -> tuple[str, ...]: ...
    @property
    def explanation(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Option:
    """How a setting is given on the command line.

    Attributes
    ----------
    help
        What it means, in one or two sentences.
    flags
        Its names, the one to be used first; made from the name of the field if there are none.
    metavar
        What stands for its value in the help, such as M for metres.
    choices
        The words that are allowed, if only some are.
    least, above
        The smallest number that is allowed; or a number below all that are.
    parse
        Makes the value of what was typed, or raises ValueError; numbers and words need none.
    takes
        What `parse` takes, for its error message.
    usual
        What is taken unless it is given, where the field itself cannot tell.
    stated
        The name of the setting in the manifest, where that is not the field's.
    command_line
        What the command line takes unless it is given, where that is not what the field has.
    """

    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    above: float | None = None
    parse: Callable[[str], Any] | None = None
    takes: str = ""
    usual: str | None = None
    stated: str | None = None
    command_line: Any = None


def setting(
    text: str,
    *flags: str,
    default: Any = MISSING,
    shown: bool = True,
    **how: Any,
) -> Any:
    """Make a field of a mechanism that the command line offers as an option.

    Parameters
    ----------
    text
        The help of the option.
    flags
        Names of the option, such as ``"--at-most"``; made from the field's name unless given.
    default
        As for `dataclasses.field`.
    shown
        Whether the value may stand in the mechanism's ``repr``.
    how
        The other attributes of `Option`.
    """
    return field(default=default, repr=shown, metadata={"option": Option(text, flags, **how)})


def options_of(mechanism: "type[Mechanism]") -> dict[str, Option]:
    """Return the options of a mechanism, by the names of its settings."""
    found = {each.name: each.metadata.get("option") for each in fields(mechanism)}  # type: ignore[arg-type]
    return {name: option for name, option in found.items() if option is not None}


@dataclass(frozen=True, slots=True, eq=False)
class Changed:
    """What a mechanism made of a dataset, before people who are left with nothing go.

    Attributes
    ----------
    trajectories
        All people of the input, some of them perhaps without a sample.
    suppressed
        Samples of the input that are gone.
    collapsed
        Samples that became equal to another one of the same person, and are one with it.
    more
        What else is counted.
    settings
        What was done beyond what was asked for.
    notes
        What is to be known about this dataset, in words.
    """

    trajectories: "Trajectories"
    suppressed: int = 0
    collapsed: int = 0
    more: tuple[tuple[str, int], ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Protected(Summarised):
    """What a mechanism made of a dataset.

    Attributes
    ----------
    mechanism
        What was applied.
    trajectories
        What is left. People keep the identifiers of the input, so that both can be compared; a
        release never shows them.
    assignment
        For every person (user) the index of her trajectory; null if she was dropped. The table
        names people: do not print or save it where others read, such as in a notebook.
    losses
        Plain counts. People who were dropped, because no sample of theirs was left, and the
        samples of these; samples of others that are gone (suppressed); samples that are one with
        an equal one of the same person (collapsed); and what else a mechanism counts. People are
        counted by their crowd, samples as they are in the input.
    settings
        What was asked for, in plain values, as the manifest of a release has them.
    notes
        What is to be known about this dataset, in words.
    """

    mechanism: "Mechanism"
    trajectories: "Trajectories"
    assignment: "pl.DataFrame"
    losses: dict[str, int]
    settings: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def method(self) -> str:
        """The name of what was done."""
        return self.mechanism.method

    @property
    def guarantee(self) -> str:
        """The name of what is guaranteed."""
        return self.mechanism.guarantee

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        return self.mechanism.promises

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against, and what this dataset makes of that."""
        return (*self.mechanism.limits, *self.notes)

    @property
    def explanation(self) -> tuple[str, ...]:
        """What was done to the data, in plain sentences."""
        return self.mechanism.explanation

    def _summary(self) -> Summary:
        return summary_of(self)


def summary_of(result: ProtectionResult) -> Summary:
    """Return what is printed of a result: how much is left, what was lost, what is guaranteed."""
    made, losses = result.trajectories, result.losses
    people = int(made.crowd.sum())
    lost = [f"{losses[name]:,} {name.replace('_', ' ')}" for name in losses if losses[name]]
    # Trajectories of crowds stand for more people than there are rows in the assignment.
    everybody = max(people + int(losses.get("people_dropped", 0)), len(result.assignment))
    given = {name: value for name, value in result.settings.items() if value is not None}
    frame = made.frame
    units = {"max_space": ("max_metres", frame.cell), "max_time": ("max_minutes", frame.slot / 60)}
    for old, (new, unit) in units.items():
        if old in given:
            given[new] = f"{given.pop(old) * unit:g}"
    if isinstance(given.get("diverse"), dict):
        asked = given["diverse"]
        given["diverse"] = f"home:{asked['homes']}:{asked['metres']:g}m"
    facts = {
        "people": f"{people:,} of {everybody:,}",
        "records": f"{len(made):,}",
        "samples in them": f"{made.samples:,}",
        "lost": ", ".join(lost) or "nothing",
        "guarantee": result.guarantee,
        "settings": ", ".join(
            f"{name}={value}" for name, value in given.items() if not isinstance(value, dict)
        ),
    }
    crowd = f", in crowds of {int(made.crowd.min()):,} or more" if len(made) < people else ""
    return Summary(f"{result.method}: {_people(people)}{crowd}", facts)


class Mechanism(ABC):
    """A way to protect a dataset.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> protected = incrowd.Cloak(minutes=60).protect(city)
    >>> protected.settings
    {'minutes': 60.0}
    >>> protected.losses["people_dropped"], len(protected.trajectories)
    (0, 40)
    """

    method: ClassVar[str]
    """What it is called, in the manifest of a release as well."""
    paper: ClassVar[str]
    """Where it was described."""
    summary: ClassVar[str]
    """What it does, in a few words for the help of the command line."""
    guarantee: ClassVar[str] = "none"
    """The name of what it guarantees, as the verifier knows it."""
    example: ClassVar[str] = ""
    """Options without which it cannot be used, as one would type them."""
    compared: ClassVar[str] = ""
    """Settings with which ``incrowd compare`` tries it unless others are asked for, as it takes
    them; needed where it has settings that must be given."""
    long_running: ClassVar[bool] = False
    """Whether it may run for hours: it keeps a checkpoint, and its kernels take long to compile."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What was asked for, in plain values that may be published."""

    @property
    @abstractmethod
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""

    @property
    @abstractmethod
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""

    @property
    def explanation(self) -> tuple[str, ...]:
        """What it does to the data, in plain sentences for the report."""
        if self.guarantee != "none":
            return (f"The method is {self.method}.",)
        told = "It changes samples one by one and hides nobody in a crowd."
        return (f"The method is {self.method}. {told}",)

    def advice(self, data: "Trajectories") -> tuple[str, ...]:  # noqa: ARG002
        """Return what should be known before work on a dataset begins; refuse what cannot work."""
        return ()

    def _change(self, data: "Trajectories", threads: int | None) -> Changed:
        """Do it; nobody has to be left out yet."""
        raise NotImplementedError(f"{type(self).__name__} defines neither _change nor protect")

    def protect(
        self,
        data: "Trajectories",
        *,
        threads: int | None = None,
        memory: str | int | None = None,  # noqa: ARG002
        checkpoint: str | os.PathLike[str] | None = None,  # noqa: ARG002
        progress: Progress | None = None,
    ) -> ProtectionResult:
        """Apply it to a dataset, which stays as it is.

        Parameters
        ----------
        data
            Trajectories of people (or of crowds).
        threads
            All cores unless given; the result is the same.
        memory, checkpoint
            How much memory to use, and where to note what is done, for those that run for long
            (see `long_running`); the others need neither.
        progress
            Called with the name of the stage, how much of it is done, and how much there is.

        Returns
        -------
        ProtectionResult
            What is left, who is who, and what was lost.
        """
        from incrowd.data._trajectories import Trajectories

        data = Trajectories.of(data)
        if progress is not None:
            progress("Protecting", 0, data.samples)
        changed = self._change(data, threads)
        if progress is not None:
            progress("Protecting", data.samples, data.samples)
        made = changed.trajectories
        present = made.lengths() > 0
        gone = ~present
        dropped = int(data.lengths()[gone].sum())
        losses = {
            "people_dropped": int(data.crowd[gone].sum()),
            "samples_dropped": dropped,
            "samples_suppressed": changed.suppressed - dropped,
            "samples_collapsed": changed.collapsed,
            **dict(changed.more),
        }
        return Protected(
            self,
            made if bool(present.all()) else made[present],
            _assignment(data, present),
            losses,
            self.settings | dict(changed.settings),
            changed.notes,
        )


def _assignment(data: "Trajectories", present: Any) -> "pl.DataFrame":
    """Count those who are left; the others have no number."""
    import numpy as np
    import polars as pl

    index = pl.Series("trajectory", np.cumsum(present, dtype=np.int32) - np.int32(1))
    left = pl.Series("left", present)
    return pl.DataFrame([data.people.alias("user"), index, left]).select(
        "user", pl.when("left").then("trajectory").alias("trajectory")
    )
