"""For what a release is meant: the thresholds of each purpose, where they come from, conditions.

::

    PURPOSES ──> thresholds_for(purpose, own) ──> the lights of one report
                 own thresholds win, and say so

A purpose says who gets the data; the fewer rules hold for the recipient, the larger crowds must be.
Whoever signs may set thresholds of her own (``[thresholds]`` in the project file): the page then
shows them as hers, beside those of the purpose. A new purpose is a new entry of `PURPOSES`.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from incrowd._arguments import is_number
from incrowd.errors import ArgumentError
from incrowd.report import _thresholds
from incrowd.report._lights import OURS, ChecksPassed, Threshold
from incrowd.report._thresholds import CODE

__all__ = [
    "DEFAULT",
    "PURPOSES",
    "Purpose",
    "checked_thresholds",
    "inference_limits",
    "key_of",
    "purpose_of",
    "thresholds_for",
]

_PAIR = 2
_EMA = (
    "the guidance on policy 0070 of the European Medicines Agency tolerates a risk of 0.09 in what "
    "is public, which is a crowd of 11 or more"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """Who gets the data, and what is asked of it then.

    Attributes
    ----------
    name
        How it is asked for.
    label
        With whom it may be shared, in a few words.
    thresholds
        Of lights that this purpose judges otherwise than the registry: the last value that is
        green, the last that is amber, and where they come from.
    decides
        The questions of Opinion 05/2014 that must be answered well for a plain yes.
    attacked
        Whether attacks on the release must gain little for a plain yes.
    conditions
        What to ask of the recipient, proposed for the decision.
    """

    name: str
    label: str
    thresholds: Mapping[str, tuple[float, float, str]] = field(default_factory=dict)
    decides: tuple[str, ...] = ("singling out",)
    attacked: bool = True
    conditions: tuple[str, ...] = ()


_NO_LINKAGE = (
    "The recipient does not link the data with other data about people, and does not try to "
    "recognise anybody."
)
PURPOSES: dict[str, Purpose] = {
    each.name: each
    for each in (
        Purpose(
            name="internal",
            label="within the organisation",
            thresholds={
                "Smallest crowd": (2, 2, f"{OURS}: pairs, where the organisation's own rules hold")
            },
            attacked=False,
            conditions=(
                "Only named analysts have access, and they know that it is data about people.",
                _NO_LINKAGE,
                "The data is deleted when the task is done, on this date at the latest: ______.",
            ),
        ),
        Purpose(
            name="contract",
            label="with a named recipient under a contract",
            thresholds={"Smallest crowd": (3, 2, CODE)},
            decides=("singling out", "inference"),
            conditions=(
                "The recipient is named here and bound by a contract: ______.",
                _NO_LINKAGE,
                "The recipient passes the data on to nobody, and uses it for the stated purpose.",
                "No other release of the same people goes to the same recipient.",
                "The data is deleted on this date at the latest: ______.",
            ),
        ),
        Purpose(
            name="open",
            label="as open data",
            thresholds={
                "Smallest crowd": (11, 5, _EMA),
                "Unique in the release": (0.0, 0.01, OURS),
                "Inference": (0.05, 0.5, OURS),
                "A member of the crowd": (0.05, 0.5, OURS),
                "Several releases together": (0.0, 0.01, OURS),
                "What a crowd's record tells": (0.05, 0.5, OURS),
            },
            decides=("singling out", "linkability", "inference"),
            conditions=(
                "No other release of the same people is public, or will be.",
                "What everybody can learn of a whole crowd was judged acceptable, because: ______.",
            ),
        ),
    )
}
DEFAULT = "contract"


def purpose_of(name: str) -> Purpose:
    """Return a purpose by its name.

    Raises
    ------
    ArgumentError
        If there is none of that name.
    """
    if name not in PURPOSES:
        raise ArgumentError(f"purpose must be one of {', '.join(PURPOSES)}, not {name!r}")
    return PURPOSES[name]


def key_of(light: Threshold | ChecksPassed) -> str:
    """Return how a light is named in a project file.

    Examples
    --------
    >>> from incrowd.report._thresholds import LIGHTS
    >>> from incrowd.report._purposes import key_of
    >>> key_of(LIGHTS[0])
    'smallest_crowd'
    """
    own = light.key if isinstance(light, Threshold) else ""
    return own or light.light.lower().replace(" ", "_")


def checked_thresholds(own: Mapping[str, Any] | None) -> dict[str, tuple[float, float]]:
    """Return own thresholds by light: the last value that is green, and the last that is amber.

    Raises
    ------
    ArgumentError
        If there is no such light, or its values are not two numbers in their order.

    Examples
    --------
    >>> from incrowd.report._purposes import checked_thresholds
    >>> checked_thresholds({"smallest_crowd": [5, 3]})
    {'smallest_crowd': (5, 3)}
    """
    there = (*_thresholds.LIGHTS, _thresholds.INFERENCE)
    known = {key_of(each): each for each in there if isinstance(each, Threshold)}
    found: dict[str, tuple[float, float]] = {}
    for name, values in (own or {}).items():
        light = known.get(name)
        if light is None:
            close = difflib.get_close_matches(name, known, 1)
            meant = f" (is {close[0]} meant?)" if close else ""
            raise ArgumentError(
                f"there is no light {name!r}{meant}; thresholds can be set for {', '.join(known)}"
            )
        found[name] = _pair(name, light, values)
    return found


def _pair(name: str, light: Threshold, values: Any) -> tuple[float, float]:
    if (
        not isinstance(values, Sequence)
        or isinstance(values, str)
        or len(values) != _PAIR
        or not all(map(is_number, values))
    ):
        raise ArgumentError(
            f"the thresholds of {name} must be two numbers, like [{light.green:g}, "
            f"{light.amber:g}]: the last value that is green, and the last that is amber; "
            f"not {values!r}"
        )
    green, amber = values
    rising = light.direction == "at most"
    if (green > amber) if rising else (green < amber):
        order = "at most" if rising else "at least"
        raise ArgumentError(f"of {name}, green ({green:g}) must be {order} amber ({amber:g})")
    if light.unit != "people" and not 0 <= min(values) <= max(values) <= 1:
        raise ArgumentError(f"the thresholds of {name} lie between 0 and 1, not {values!r}")
    return green, amber


def thresholds_for(
    purpose: Purpose, own: Mapping[str, tuple[float, float]] | None = None
) -> tuple[Threshold | ChecksPassed, ...]:
    """Return all lights with the thresholds of a purpose; own ones win, and say whose they are."""
    return tuple(
        _adapted(light, purpose, own) if isinstance(light, Threshold) else light
        for light in _thresholds.LIGHTS
    )


def inference_limits(
    purpose: Purpose, own: Mapping[str, tuple[float, float]] | None = None
) -> Threshold:
    """Return when the question of inference is green and amber, for a purpose; own ones win."""
    return _adapted(_thresholds.INFERENCE, purpose, own)


def _adapted(
    light: Threshold, purpose: Purpose, own: Mapping[str, tuple[float, float]] | None
) -> Threshold:
    if light.light in purpose.thresholds:
        green, amber, source = purpose.thresholds[light.light]
        light = replace(light, green=green, amber=amber, source=source)
    if (mine := (own or {}).get(key_of(light))) is not None:
        usual = f"set for this report; for the purpose {purpose.name}: {light.sentence}"
        light = replace(light, green=mine[0], amber=mine[1], source=usual)
    return light
