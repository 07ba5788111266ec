"""Which mechanisms are compared, and with which settings: what ``--methods`` means.

A method is the name of a mechanism and words for its settings, ``name[:word...]``. A word is

- a choice of one of its settings (``glove:two-stage``), or the name of one that is yes or no,
- ``setting=value`` (``glove:max-metres=15000``), or
- the value of its next setting in the order in which it has them (``generalise:1000m:30min``): a
  value in m or km is that of the next setting in metres, one in min, h or d that of the next in
  minutes, and one without a unit that of the very next.

A value that has commas or colons stands in parentheses (``glove:diverse=(home:3)``). All this is
read from the settings of the mechanism, so that one that is entered in `MECHANISMS` is compared.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, get_args

from incrowd._arguments import whole
from incrowd._format import duration, length, significant
from incrowd.errors import ArgumentError
from incrowd.protect._mechanism import Mechanism, Option, options_of
from incrowd.protect._registry import MECHANISMS

__all__ = [
    "Column",
    "K",
    "columns_of",
    "default_methods",
    "split_methods",
]


K = 3
"""The k of the columns unless another is given: that of ``incrowd anonymize``."""
LEAST_K = 2
METRES = {"m": 1.0, "km": 1000.0}
MINUTES = {"min": 1.0, "h": 60.0, "d": 1440.0}
UNITS = {"M": METRES, "MIN": MINUTES}
"""Units of settings, by what stands for their value in the help."""
FILE = "FILE"
"""What stands for the value of a setting that is a file; files cannot be compared."""
_NUMBER = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(m|km|min|h|d)")
_KINDS: dict[str, type] = {"int": int, "float": float, "bool": bool}
_YES_NO = {"yes": True, "no": False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Column:
    """A mechanism with its settings.

    Attributes
    ----------
    key
        Which it is, as ``--methods`` would take it: the name and all settings that are not usual.
    name
        The mechanism's name in `MECHANISMS`.
    label
        The same for people.
    mechanism
        The mechanism itself.
    """

    key: str
    name: str
    label: str
    mechanism: Mechanism


def split_methods(text: str) -> list[str]:
    """Return the methods of a list with commas; those in parentheses do not part them.

    Examples
    --------
    >>> from incrowd.evaluate._compare.methods import split_methods
    >>> split_methods("glove, geo-i:low,glove:edges=(500m,15min)")
    ['glove', 'geo-i:low', 'glove:edges=(500m,15min)']
    """
    return [one.strip() for one in _split(text, ",")]


def _split(text: str, mark: str) -> list[str]:
    """Split a text at a mark that is not in parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            break
        if letter == mark and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise ArgumentError(f"{text!r} has a parenthesis too few or too many")
    return parts


def default_methods() -> list[str]:
    """Return what is compared unless something is asked for: each mechanism, as it suggests."""
    found = []
    for name, kind in MECHANISMS.items():
        text = f"{name}:{kind.compared}" if kind.compared else name
        try:
            columns_of([text], [K])
        except ArgumentError:
            continue  # one that says neither what it takes by itself nor what to compare it with
        found.append(text)
    return found


def columns_of(
    methods: Sequence[str | Mechanism] | str | None, k: Sequence[int] | int = (K,)
) -> list[Column]:
    """Return the columns that methods stand for: one for each k, of those that have one.

    A method that names its own k, and a `Mechanism`, is one column.

    Raises
    ------
    ArgumentError
        If a mechanism or a setting is not known, a value is none, or a column is there twice.
    """
    ks = [whole("k", one, LEAST_K) for one in ([k] if isinstance(k, int) else k)]
    if not ks:
        raise ArgumentError("k is empty; give at least one size of crowds")
    asked = default_methods() if methods is None else methods
    asked = split_methods(asked) if isinstance(asked, str) else list(asked)
    if not asked:
        raise ArgumentError(
            f"there is nothing to compare; the mechanisms are {_listed(MECHANISMS)}"
        )
    found: list[Column] = []
    for one in asked:
        for mechanism in _made(one, ks):
            column = _column(mechanism)
            same = next((old for old in found if old.mechanism == mechanism), None)
            if same is not None:
                raise ArgumentError(
                    f"{_said(one)} and another method are the same column twice ({same.label}); "
                    "leave one of them out, and give each k once"
                )
            number = 2 + sum(old.key.partition("#")[0] == column.key for old in found)
            if number > 2:  # noqa: PLR2004 - settings that are not shown differ, such as a seed
                column = Column(f"{column.key}#{number - 1}", *_rest(column))
            found.append(column)
    return found


def _rest(column: Column) -> tuple[str, str, Mechanism]:
    return column.name, column.label, column.mechanism


def _said(one: str | Mechanism) -> str:
    return repr(one) if isinstance(one, str) else type(one).__name__


def _made(one: object, ks: list[int]) -> Iterable[Mechanism]:
    """Return the mechanisms that a method stands for."""
    if isinstance(one, Mechanism):
        return [one]
    if not isinstance(one, str):
        raise ArgumentError(
            f"a method must be a Mechanism, or text like 'glove' or 'generalise:1000m:30min', not "
            f"{type(one).__name__}"
        )
    name, *words = (word.strip() for word in _split(one, ":"))
    if name not in MECHANISMS:
        raise ArgumentError(
            f"{one!r}: there is no mechanism {name!r}{_near(name, MECHANISMS)}; there are "
            f"{_listed(MECHANISMS)}"
        )
    kind = MECHANISMS[name]
    try:
        given = _settings(kind, words)
        several = "k" in options_of(kind) and "k" not in given
        example = f"settings, like {name}:{kind.compared}" if kind.compared else kind.example
        try:
            return [kind(**given | {"k": k}) for k in ks] if several else [kind(**given)]
        except TypeError as error:  # a setting is missing that must be given
            raise ArgumentError(f"{name} needs {example or 'settings'}") from error
        except ArgumentError as error:
            if not given and not several and example:
                raise ArgumentError(f"{name} needs {example}") from error
            raise
    except ArgumentError as error:
        raise ArgumentError(f"{one!r}: {error}") from error


def _settings(kind: type[Mechanism], words: Iterable[str]) -> dict[str, Any]:
    """Return the settings that words stand for."""
    options = {name: option for name, option in options_of(kind).items() if option.metavar != FILE}
    kinds, given = {name: _kind(kind, name) for name in options}, dict[str, Any]()
    for word in words:
        name, value = _meaning(word, options, given, kinds)
        if name in given:
            raise ArgumentError(f"{_typed(name)} is given twice")
        given[name] = _value(name, options[name], kinds[name], value)
    return given


def _meaning(
    word: str, options: dict[str, Option], given: dict[str, Any], kinds: dict[str, type | None]
) -> tuple[str, str]:
    """Return which setting a word is about, and the text of its value."""
    typed, is_named, value = word.partition("=")
    if is_named:
        name = _named(typed.strip(), options)
        return name, _bare(value.strip())
    if kinds.get(word.replace("-", "_")) is bool:
        return word.replace("-", "_"), "yes"
    of = [name for name, option in options.items() if word in option.choices]
    if len(of) == 1:
        return of[0], word
    if of:
        ways = " or ".join(f"{_typed(name)}={word}" for name in of)
        raise ArgumentError(f"{word!r} may be meant for several settings; write {ways}")
    free = [
        name
        for name, option in options.items()
        if not option.choices and name not in given and kinds[name] is not bool
    ]
    unit = _NUMBER.fullmatch(word)
    if unit is not None:
        free = [name for name in free if unit[2] in UNITS.get(options[name].metavar or "", {})]
    if not free or not (word[:1].isdigit() or options[free[0]].parse is not None):
        choices = [one for option in options.values() for one in option.choices]
        known = [*choices, *(_typed(name) for name in options)]
        raise ArgumentError(
            f"{word!r} is no setting of it{_near(word, known)}; it takes {_taken(options)}"
        )
    return free[0], _bare(word)


def _named(typed: str, options: dict[str, Option]) -> str:
    """Return the setting of a name: that of the field, or that of the option."""
    for name, option in options.items():
        names = {name, _typed(name), *(flag.removeprefix("--") for flag in option.flags)}
        if typed in names:
            return name
    raise ArgumentError(
        f"there is no setting {typed!r}{_near(typed, map(_typed, options))}; it takes "
        f"{_taken(options)}"
    )


def _bare(text: str) -> str:
    """Return a value without the parentheses around it."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _value(name: str, option: Option, kind: type | None, text: str) -> Any:
    """Return the value of a setting that was typed."""
    if option.choices:
        if text not in option.choices:
            raise ArgumentError(
                f"{_typed(name)} must be one of {', '.join(option.choices)}, not {text!r}"
                f"{_near(text, option.choices)}"
            )
        return text
    if kind is bool:
        if text.lower() not in _YES_NO:
            raise ArgumentError(f"{_typed(name)} must be yes or no, not {text!r}")
        return _YES_NO[text.lower()]
    units = UNITS.get(option.metavar or "", {})
    unit = _NUMBER.fullmatch(text)
    if unit is not None and unit[2] in units:
        text = f"{float(unit[1]) * units[unit[2]]!r}"
    try:
        if option.parse is not None:
            return option.parse(text)
        return text if kind is None else kind(text)
    except ValueError as error:
        takes = option.takes or ("a whole number" if kind is int else "a number")
        more = f", in {' or '.join(units)}" if units else ""
        raise ArgumentError(f"{_typed(name)} takes {takes}{more}, not {text!r}") from error


def _kind(mechanism: type[Mechanism], name: str) -> type | None:
    """Return the type of a setting that is a number; None for others."""
    annotation = next(one.type for one in fields(mechanism) if one.name == name)  # type: ignore[arg-type]
    if isinstance(annotation, str):
        return _KINDS.get(annotation.partition("|")[0].strip())
    kinds = (*get_args(annotation), annotation)
    return next((one for one in kinds if one in (int, float, bool)), None)


def _typed(name: str) -> str:
    return name.replace("_", "-")


def _taken(options: dict[str, Option]) -> str:
    """Say what words a mechanism takes."""
    said = [
        f"{_typed(name)} ({', '.join(option.choices)})" if option.choices else _typed(name)
        for name, option in options.items()
    ]
    return ", ".join(said) or "no settings"


def _near(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _column(mechanism: Mechanism) -> Column:
    """Return the column of a mechanism: named by its settings, without those that are usual."""
    kind = type(mechanism)
    name = next((one for one, known in MECHANISMS.items() if known is kind), kind.method)
    values = _unusual(mechanism)
    stated = mechanism.settings
    options = options_of(kind)
    # What is no plain value is stated as text, as it may be typed.
    shown = {
        one: stated.get(one, of) if of is None or isinstance(of, tuple) else of
        for one, of in values.items()
    }
    key = ":".join([name, *(f"{_typed(one)}={_plain(of)}" for one, of in shown.items())])
    told = [_in_words(one, of, options.get(one)) for one, of in shown.items()]
    return Column(key, name, ", ".join([kind.method, *told]), mechanism)


def _unusual(mechanism: Mechanism) -> dict[str, Any]:
    """Return the settings without which it would be another mechanism; k in any case."""
    if not is_dataclass(mechanism):
        return dict(mechanism.settings)
    known = [one for one in fields(mechanism) if one.init]
    values = {one.name: getattr(mechanism, one.name) for one in known}
    for name in [*reversed(values)]:
        fewer = {one: of for one, of in values.items() if one != name}
        try:
            same = name != "k" and type(mechanism)(**fewer) == mechanism
        except (ArgumentError, TypeError):
            same = False
        values = fewer if same else values
    hidden = {one.name for one in known if not one.repr}
    return {one: of for one, of in values.items() if one not in hidden}


def _plain(value: Any) -> str:
    """Return a value as it may be typed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value)
    return f"({text})" if "," in text or ":" in text else text


def _in_words(name: str, value: Any, option: Option | None) -> str:
    """Return a setting for people."""
    if isinstance(value, bool):
        return f"{'' if value else 'not '}{name.replace('_', ' ')}"
    metavar = None if option is None else option.metavar
    if isinstance(value, int | float):
        if metavar == "M":
            return _with_name(name, length(value), "metres")
        if metavar == "MIN":
            return _with_name(name, duration(value), "minutes")
        return f"{name.replace('_', ' ')} = {significant(value, 6)}"
    if option is not None and option.choices:
        return str(value)
    return f"{name.replace('_', ' ')} {value}"


def _with_name(name: str, text: str, unit: str) -> str:
    """Say a length or a duration; what it is of, where its name says more than the unit."""
    more = name.replace(unit, "").replace("_", " ").strip()
    return f"{more} {text}" if more else text
