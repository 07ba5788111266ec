"""What GLOVE is asked for: what is left out is filled in, what makes no sense is refused.

`resolve` looks at words and prices, whatever the data; `threshold` turns metres and minutes into
cells and slots; `rules_for` gives what the engine is told.
"""

import math
from typing import TYPE_CHECKING, Any

from incrowd._arguments import is_number, is_whole, whole
from incrowd._format import duration, length
from incrowd.data._extent import beyond
from incrowd.errors import ArgumentError
from incrowd.protect._generalisation import checked

if TYPE_CHECKING:
    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories
    from incrowd.protect._glove.greedy import Rules

__all__ = [
    "CROWDS",
    "MANY",
    "MERGES",
    "OF_MERGE",
    "PAIR",
    "RESHAPES",
    "ROUNDS",
    "SPARE",
    "SUPPRESSED",
    "VARIANTS",
    "in_units",
    "in_vain",
    "in_words",
    "resolve",
    "rules_for",
    "spare_of",
    "threshold",
]


VARIANTS = ("strict", "loose")
MERGES = ("optimal", "two-stage")
RESHAPES = ("split", "union", "none")
SUPPRESSED = ("boxes", "samples")
CROWDS = ("greedy", "refined")
ROUNDS = 20
"""How many rounds of exchanges there are at most unless another number is given."""
SPARE = 2
"""By how many people crowds of newcomers are larger than k, if a ledger is used."""
OF_MERGE = {
    "optimal": ("crowds", "refine_rounds", "suppress_price", "suppress_at_most"),
    "two-stage": ("reshape", "suppress"),
}
"""The settings that only one way of merging has."""
PAIR, MANY, MOST_SPARE = 2, 1000, 1000
WIDEST = 2**31 - 1
"""Cells and slots are 32-bit integers: nothing is wider or longer."""


def resolve(
    variant: str,
    merge: str | None,
    reshape: str | None,
    suppress: str | None,
    price: float | None,
    at_most: float | None,
    *,
    limited: bool,
    crowds: str | None = None,
    rounds: int | None = None,
) -> dict[str, Any]:
    """Return what is meant where something was left out; refuse what does not go together."""
    if merge is None:
        merge = "optimal" if reshape is None and suppress is None else "two-stage"
    for name, value, known in (
        ("variant", variant, VARIANTS),
        ("merge", merge, MERGES),
        ("reshape", reshape, (*RESHAPES, None)),
        ("suppress", suppress, (*SUPPRESSED, None)),
        ("crowds", crowds, (*CROWDS, None)),
    ):
        if value not in known:
            words = ", ".join(word for word in known if word)
            raise ArgumentError(f"{name} must be one of {words}, not {value!r}")
    given: dict[str, Any] = {"reshape": reshape, "suppress": suppress}
    given |= {"suppress_price": price, "suppress_at_most": at_most}
    given |= {"crowds": crowds, "refine_rounds": rounds}
    (other,) = (each for each in MERGES if each != merge)
    for name in OF_MERGE[other]:
        if given[name] is not None:
            raise ArgumentError(f"{name} belongs to merge={other!r}, not to merge={merge!r}")
    if merge == "two-stage":
        if suppress == "samples" and not limited:
            raise ArgumentError("suppress='samples' needs max_metres or max_minutes")
        return given | {
            "merge": merge,
            "reshape": reshape or "split",
            "suppress": suppress or "boxes",
        }
    _check_price(price, at_most)
    crowds = crowds or ("greedy" if rounds is None else "refined")
    if rounds is not None and crowds == "greedy":
        raise ArgumentError("refine_rounds belongs to crowds='refined'")
    if crowds == "refined":
        rounds = whole("refine_rounds", ROUNDS if rounds is None else rounds, 1)
    return given | {
        "merge": merge,
        "suppress_price": None if price is None else float(price),
        "crowds": crowds,
        "refine_rounds": rounds,
    }


def _check_price(price: float | None, at_most: float | None) -> None:
    """Refuse prices and shares that are none."""
    if price is not None and at_most is not None:
        raise ArgumentError("suppress_at_most finds the price; leave suppress_price out")
    if price is not None and not (is_number(price) and 0 <= price < math.inf):
        raise ArgumentError(f"suppress_price must be a finite number from 0 on, not {price!r}")
    if at_most is not None and not (is_number(at_most) and 0 <= at_most < 1):
        raise ArgumentError(f"suppress_at_most must be from 0 to below 1, not {at_most!r}")


def spare_of(ledger: object, spare: int | None, merge: str) -> int | None:
    """Return by how many people crowds of newcomers are larger than k; None without a ledger."""
    if ledger is None:
        if spare is not None:
            raise ArgumentError("ledger_spare belongs to a ledger; give ledger as well")
        return None
    if merge != "optimal":
        raise ArgumentError(
            "ledgers need merge='optimal': the papers' boxes come with merges, which do not know "
            "of earlier releases"
        )
    return whole("ledger_spare", SPARE if spare is None else spare, 0, MOST_SPARE)


def threshold(
    old: str, number: int | None, new: str, value: float | None, frame: "Frame"
) -> int | None:
    """Return a threshold in cells or slots, given in these or in metres or minutes."""
    if value is None:
        return number
    if number is not None:
        raise ArgumentError(f"{new} and {old} are two ways to say the same; give {new} only")
    return in_units(new, value, frame)[0]


def in_units(name: str, value: float, frame: "Frame") -> tuple[int, str]:
    """Return a threshold in whole cells or slots, rounded down; and a note if it was rounded."""
    unit, short, what = (
        (frame.cell, "m", "cell") if name == "max_metres" else (frame.slot / 60, "min", "slot")
    )
    value = checked(value, name)
    number = min(math.floor(value / unit + 1e-9), WIDEST)
    if number < 1:
        raise ArgumentError(
            f"{name} must be at least one {what} of the grid ({unit:g} {short}), not "
            f"{value:g} {short}"
        )
    if math.isclose(number * unit, value) or number == WIDEST:
        return number, ""
    taken = f"{number * unit:g} {short} ({number:,} {what}s of the grid)"
    return number, f"{name} is rounded down to {taken}"


def in_words(name: str, number: Any, frame: "Frame") -> str:
    """Return a threshold in cells or slots as it was asked for, in metres or minutes, and in words.

    Examples
    --------
    >>> from incrowd import Frame
    >>> in_words("max_space", 15_000, Frame())
    'max_space=15000 (1,500 km)'
    """
    if not is_whole(number):
        return f"{name}={number!r}"  # refused in a moment
    if name in ("max_metres", "max_minutes"):
        return f"{name}={number * (frame.cell if name == 'max_metres' else frame.slot / 60):.0f}"
    return f"{name}={number} ({_size(name, number, frame)})"


def _size(name: str, number: int, frame: "Frame") -> str:
    """Return cells as a length, and slots as a duration."""
    if name in ("max_space", "max_metres"):
        return length(number * frame.cell)
    return duration(number * frame.slot / 60)


def in_vain(name: str, number: Any, data: "Trajectories") -> str:
    """Return what to tell of a threshold that no box of these data could exceed; mostly nothing."""
    if not is_whole(number):
        return ""
    said, space = in_words(name, number, data.frame), name in ("max_space", "max_metres")
    return beyond(said, number, data, space=space, so="it would suppress nothing")


def rules_for(
    data: "Trajectories",
    k: int,
    variant: str,
    asked: dict[str, Any],
    max_space: int | None,
    max_time: int | None,
) -> "Rules":
    """Return the rules of the run; refuse what makes no sense before any work is done."""
    from incrowd.protect._glove.greedy import Rules
    from incrowd.protect._glove.merge import ANY

    k = whole("k", k, PAIR)
    for name, value in (("max_space", max_space), ("max_time", max_time)):
        if value is not None:
            whole(name, value, 1, why=": it is in cells or slots, and no sample is smaller")
    people = int(data.crowd.sum())
    if people < k:
        who = "one person" if people == 1 else f"{people} people"
        raise ArgumentError(f"{who} cannot hide in a crowd of {k}")
    loose = variant == "loose"
    if asked["merge"] == "optimal":
        # Who is in which crowd is decided as the papers do, before anything is suppressed.
        return Rules(k, loose, RESHAPES.index("split"), ANY, ANY, False)  # noqa: FBT003
    return Rules(
        k,
        loose,
        RESHAPES.index(asked["reshape"]),
        ANY if max_space is None else min(ANY, int(max_space)),
        ANY if max_time is None else min(ANY, int(max_time)),
        asked["suppress"] == "samples",
    )
