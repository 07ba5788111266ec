"""The options of ``incrowd anonymize`` that belong to mechanisms, and what is said of a release.

::

    MECHANISMS ──> offered_settings ──> options of the command (`takes_settings`), by mechanism
                                   └──> mechanism_of: the mechanism that was asked for

A mechanism's options are made from its fields (`incrowd.protect.setting`), so that one that is
entered in `MECHANISMS` is offered without another line here. The second half of the module says in
lines what was lost, what was verified, and what the release protects against.
"""

import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from incrowd._format import WIDTH, duration, length
from incrowd._format import count_of as share
from incrowd.cli._command import Wrapped
from incrowd.cli._messages import reading_as_dict
from incrowd.errors import ArgumentError
from incrowd.protect._mechanism import Mechanism, Option, options_of
from incrowd.protect._registry import MECHANISMS

if TYPE_CHECKING:
    from pathlib import Path

    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._publish import Publication
    from incrowd.protect._mechanism import ProtectionResult

__all__ = [
    "as_plain",
    "blur",
    "in_option_names",
    "lines_of",
    "losses_in",
    "mechanism_of",
    "offered_settings",
    "proof",
    "refuse_options",
    "share",
    "takes_settings",
    "without_others",
    "wrapped",
]


DEFAULT = "glove"
_KINDS = {"int": int, "float": float, "str": str, "bool": bool}


@dataclass(frozen=True, slots=True)
class Offered:
    """An option of the command line that one mechanism has, or several.

    Attributes
    ----------
    flag
        How it is written.
    option
        What the first of its mechanisms says about it.
    kind
        The type of its value as it is typed.
    default
        What the first of its mechanisms takes unless it is given; MISSING if it must be given.
    owners
        For the name of each mechanism that has it, the field that it sets.
    """

    flag: str
    option: Option
    kind: Any
    default: Any
    owners: dict[str, str] = field(default_factory=dict)


def offered_settings() -> dict[str, Offered]:
    """Return the options of all mechanisms, by the names of their parameters."""
    found: dict[str, Offered] = {}
    for method, mechanism in MECHANISMS.items():
        known = {each.name: each for each in fields(mechanism)}  # type: ignore[arg-type]
        for name, option in options_of(mechanism).items():
            flag = _flag(name, option)
            each = Offered(flag, option, _kind(known[name].type, option), known[name].default)
            same = found.setdefault(_parameter(flag), each)
            if same.kind is not each.kind and not option.choices:
                raise ArgumentError(
                    f"{flag} of the mechanism {method} must be a {same.kind.__name__}, as it is "
                    f"for {next(iter(same.owners))}; choose another name for it"
                )
            same.owners[method] = name
    return found


def _flag(name: str, option: Option) -> str:
    return option.flags[0] if option.flags else f"--{name.replace('_', '-')}"


def _parameter(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _kind(annotation: Any, option: Option) -> Any:
    """Return the type of an option's value: that of the field, or text if it is parsed."""
    if option.choices:
        return _words("Choice", option.choices)
    if option.parse is not None:
        return str
    if isinstance(annotation, str):
        return _KINDS[annotation.partition("|")[0].strip()]
    return next(one for one in (*get_args(annotation), annotation) if one in _KINDS.values())


def _words(name: str, words: Iterable[str]) -> Any:
    """Return the type of an option that takes one of some words."""
    return Enum(name, {re.sub(r"\W", "_", word): word for word in words}, type=str)


def takes_settings(command: Callable[..., None]) -> "_WithSettings":
    """Give a command the options of all mechanisms, beside its parameter `method`.

    Its parameter `settings` gets what was given, by the names of the options' parameters; None
    for what was not.
    """
    return _WithSettings(command)


class _WithSettings(Wrapped):
    """A command with the options of every mechanism that is entered when it is run."""

    @property
    def __signature__(self) -> inspect.Signature:
        own = dict(inspect.signature(self._command).parameters)
        taken = own.keys() - {"settings", "method"}
        given = [_method(), *(_option(name, each) for name, each in offered_settings().items())]
        for each in given:
            if each.name in taken:
                raise ArgumentError(
                    f"--{each.name.replace('_', '-')} is an option of the command itself; a "
                    "mechanism needs another name for its own"
                )
        parameters: list[inspect.Parameter] = []
        for name, parameter in own.items():
            if name != "settings":
                parameters += given if name == "method" else [parameter]
        return inspect.Signature(parameters)

    def __call__(self, **given: Any) -> None:
        settings = {name: _plain(given.pop(name)) for name in offered_settings()}
        self._command(**given | {"method": _plain(given["method"])}, settings=settings)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _method() -> inspect.Parameter:
    """Return the option that chooses the mechanism."""
    names = _words("Method", MECHANISMS)
    text = "; ".join(f"{name}: {one.summary}" for name, one in MECHANISMS.items())
    option = typer.Option("--method", help=f"{text}.", metavar="NAME")
    return inspect.Parameter(
        "method",
        inspect.Parameter.KEYWORD_ONLY,
        default=names(DEFAULT),
        annotation=Annotated[names, option],
    )


def _option(name: str, each: Offered) -> inspect.Parameter:
    """Return the parameter of an option, in the group of the first mechanism that has it."""
    first, *others = each.owners
    also = f" Also an option of {', '.join(others)}." if others else ""
    usual = each.option.usual or (None if each.default is MISSING else each.default)
    usual = usual if each.option.command_line is None else each.option.command_line
    option = typer.Option(
        each.flag,
        help=f"{each.option.help}{also}",
        metavar=each.option.metavar,
        rich_help_panel=f"--method {first}: {MECHANISMS[first].summary}",
        show_default=False if usual is None else str(usual),
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[each.kind | None, option],
    )


def without_others(context: typer.Context, method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the project file says for another mechanism than the one asked for here."""
    offered = offered_settings()
    named = context.get_parameter_source("method")
    if named is None or named.name != "COMMANDLINE":
        return settings
    found = dict(settings)
    for name, each in offered.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "DEFAULT_MAP" and method not in each.owners:
            found[name] = None
    return found


def refuse_options(method: str, settings: dict[str, Any]) -> None:
    """Refuse options that belong to another mechanism than the chosen one."""
    offered = offered_settings()
    own = " or ".join(each.flag for each in offered.values() if method in each.owners)
    for name, each in offered.items():
        if settings[name] is not None and method not in each.owners:
            hides = name == "k" and MECHANISMS[method].guarantee == "none"
            raise ArgumentError(
                f"{each.flag} belongs to --method {' or '.join(each.owners)}, not to {method}"
                f"{', which hides nobody in a crowd' if hides else ''}; "
                f"{method} takes {own or 'no options'}"
            )


def mechanism_of(method: str, settings: dict[str, Any]) -> Mechanism:
    """Return the mechanism that was asked for; refuse it without the settings that it needs."""
    mechanism, values = MECHANISMS[method], dict[str, Any]()
    needed = [each.name for each in fields(mechanism) if each.default is MISSING]  # type: ignore[arg-type]
    for name, each in offered_settings().items():
        if method not in each.owners:
            continue
        option = options_of(mechanism)[each.owners[method]]
        given = option.command_line if settings[name] is None else settings[name]
        if given is not None:
            values[each.owners[method]] = _checked(each.flag, option, given)
    example = mechanism.example or " and ".join(f"--{name.replace('_', '-')}" for name in needed)
    if not values.keys() >= set(needed):
        raise ArgumentError(f"--method {method} needs {example}")
    try:
        return mechanism(**values)
    except ArgumentError as error:
        if not values and example:
            raise ArgumentError(f"--method {method} needs {example}") from error
        raise ArgumentError(in_option_names(str(error), method)) from error


def in_option_names(text: str, method: str) -> str:
    """Return what a mechanism says about its settings, with the names that options have."""
    for name, option in options_of(MECHANISMS[method]).items():
        # A name of one word may be a word of the sentence as well.
        ends = r"(?![-\w])" if "_" in name else r"(?=[= ]| and | or )"
        text = re.sub(rf"(?<![-\w]){name}{ends}", _flag(name, option), text)
    return text


def _checked(flag: str, option: Option, value: Any) -> Any:
    """Return the value of an option; refuse one that is out of range or cannot be understood."""
    if option.parse is not None:
        try:
            return option.parse(value)
        except ValueError as error:
            raise ArgumentError(f"{flag} takes {option.takes}, not {value!r}") from error
    if option.least is not None and not value >= option.least:
        raise ArgumentError(f"{flag} must be at least {option.least:g}, not {value:g}")
    if option.above is not None and not value > option.above:
        raise ArgumentError(f"{flag} must be above {option.above:g}, not {value:g}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ArgumentError(f"{flag} must be finite, not {value:g}")
    return value


def wrapped(start: str, text: str) -> list[str]:
    """Return a text in lines that are indented by its start."""
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


def losses_in(data: "Trajectories", rows: list[tuple[str, str]]) -> list[str]:
    """Say what was lost, in rows of a name and a value, and what was not understood at all."""
    if data.reading is not None and data.reading.rejects.total:
        rejected = share(data.reading.rejects.total, data.reading.rows)
        rows = [*rows, ("rows not understood", f"{rejected}; incrowd describe tells why")]
    return [line for name, value in rows for line in wrapped(f"{name:<22}", value)]


def blur(trajectories: "Trajectories") -> list[str]:
    """Say how wide and how long published samples are."""
    import numpy as np

    x0, x1, y0, y1, t0, t1 = trajectories.columns
    weight = np.repeat(trajectories.crowd, trajectories.lengths())
    wide = np.repeat(np.maximum(x1 - x0, y1 - y0), weight) * trajectories.frame.cell / 1000
    long = np.repeat(t1 - t0, weight) * trajectories.frame.slot / 60
    ends = [np.quantile(of, (0.5, 0.9)) for of in (wide, long)]
    (km, kms), (minutes, most) = ends
    return wrapped(
        f"{'published samples':<22}",
        f"half are up to {length(1000 * km)} wide and {duration(minutes)} long, nine in ten up to "
        f"{length(1000 * kms)} and {duration(most)}",
    )


def proof(done: "Publication") -> list[str]:
    """Return what was verified, and what the release protects against and what not, in lines."""
    manifest, found = done.manifest, done.verification
    lines = ["", f"Verified, on the written files, {found.scope}:"]
    for check in found.checks:
        mark = "-" if check.ok is None else check.mark
        lines += wrapped(f"  {check.name:<14}{mark + ' ':<4}", check.says)
    lines += ["", "It protects against"]
    for threat in manifest.holds_against or ["nothing"]:
        lines += wrapped("- ", threat)
    lines.append("It does not protect against")
    for threat in manifest.fails_against:
        lines += wrapped("- ", threat)
    return lines


def as_plain(
    data: "Trajectories", result: "ProtectionResult", done: "Publication", record: "Path | None"
) -> dict[str, Any]:
    """Return the result as plain values for JSON: exact, for the owner of the data."""
    manifest = done.manifest
    return {
        "ok": True,
        "release": str(done.path),
        "record": None if record is None else str(record),
        "people": len(data),
        "samples": data.samples,
        "published": dict(manifest.sizes),
        "losses": dict(result.losses),
        "method": manifest.method,
        "settings": dict(manifest.settings),
        "guarantee": manifest.guarantee,
        "explanation": list(manifest.explanation),
        "frame": dict(manifest.frame),
        "verification": done.verification.to_dict(),
        "holds_against": list(manifest.holds_against),
        "fails_against": list(manifest.fails_against),
        "reading": reading_as_dict(data.reading),
    }


def lines_of(data: "Trajectories", result: "ProtectionResult", done: "Publication") -> list[str]:
    """Return what was published, lost and verified, and what is not promised, in lines."""
    people, samples, sizes = len(data), data.samples, done.manifest.sizes
    losses = dict(result.losses)
    published = f"{sizes['people']:,} of {people:,} are published"
    counted = next((c.figures for c in done.verification.checks if "smallest" in c.figures), {})
    if counted and done.verification.k is not None:
        published += f", in {_crowds(sizes['trajectories'], counted)}"
    rows = [("people", published)]
    if "people_alone" in counted:
        text = f"{share(counted['people_alone'], sizes['people'])} have a record that nobody shares"
        rows.append(("people alone", f"{text}; k-anonymity is not promised"))
    dropped = losses.pop("people_dropped", people - sizes["people"])
    rows.append(("people dropped", share(dropped, people)))
    if "people_held_back" in losses:
        held = share(losses["people_held_back"], people)
        rows.append(("people held back", f"{held}, because of earlier releases of the ledger"))
    rows += [
        (name.replace("_", " "), share(count, samples) if "sample" in name else f"{count:,}")
        for name, count in losses.items()
        if not name.startswith("people")
    ]
    rows += [
        (name.replace("_", " "), f"{value:,.6g}")
        for name, value in result.settings.items()
        if name.startswith("mean_")
    ]
    return [*losses_in(data, rows), *blur(result.trajectories), *proof(done)]


def _crowds(number: int, counted: Mapping[str, Any]) -> str:
    least, most = counted["smallest"], counted["largest"]
    size = f"of {least:,} people" if least == most else f"of {least:,} to {most:,} people"
    return f"{number:,} crowd{'' if number == 1 else 's'} {size}"
