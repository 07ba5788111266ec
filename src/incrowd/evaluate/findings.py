"""What a study found, in sentences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incrowd.evaluate.traits import TRAITS

if TYPE_CHECKING:
    from incrowd.evaluate.study import Correlation, Group, Part, Study

__all__ = ["findings_of", "size"]

CLOSE = 1.2
"""What differs by less than this factor is about the same."""
STRONG, WEAK = 0.5, 0.2
KILOMETRE = 1_000


def findings_of(study: "Study") -> list[str]:
    """Say it, feature by feature."""
    found: list[str] = []
    for parts in (study.span, study.coverage, study.cardinality):
        told = [part for part in parts or () if part.space is not None]
        if len(told) > 1:
            found.append(_compared(told[0], told[-1]))
    if study.frequency:
        found.append(_frequencies(study.frequency))
    found += [_correlated(each) for each in study.correlations or ()]
    return [*found, *study.left_out]


def size(metres: float, minutes: float) -> str:
    """Say how fine something is."""
    space = f"{metres:,.0f} m" if metres < KILOMETRE else f"{metres / KILOMETRE:,.3g} km"
    return f"{space} and {minutes:,.0f} min"


def _compared(small: "Part | Group", large: "Part | Group", names: Sequence[str] = ()) -> str:
    """Say how the medians of two parts differ."""
    assert small.space and small.time and large.space and large.time  # noqa: S101, PT018
    one, other = names or (small.name, large.name)  # type: ignore[union-attr]
    first = size(small.space.median, small.time.median)
    second = size(large.space.median, large.time.median)
    space = _factor(small.space.median, large.space.median, "wide")
    time = _factor(small.time.median, large.time.median, "long")
    text = f"{one}: half of the published samples are up to {first}; {other}: up to {second}, "
    return text[0].upper() + text[1:] + f"which is {space} and {time}."


def _factor(before: float, after: float, what: str) -> str:
    """Say how many times as wide or long."""
    if max(before, after) <= CLOSE * min(before, after):
        return f"about as {what}"
    return f"{after / before:.2g} times as {what}"


def _frequencies(groups: "Sequence[Group]") -> str:
    """Say what being seen more often does, leaving groups of a few people out."""
    people = sum(group.people for group in groups)
    large = [group for group in groups if group.people * 100 >= people]
    if len(large) < 2:  # noqa: PLR2004
        return f"Nearly everybody is seen {_often(large[0])}: nothing to compare."
    names = [f"people seen {_often(group)}" for group in (large[0], large[-1])]
    return _compared(large[0], large[-1], names)


def _often(group: "Group") -> str:
    if group.below is None:
        return f"{group.least:g} times per hour or more"
    return f"{group.least:g} to {group.below:g} times per hour"


def _correlated(each: "Correlation") -> str:
    """Say what the effort goes along with."""
    what = TRAITS[each.name]
    if each.pearson is None or each.spearman is None:
        return f"Nothing can be said of {what}: it is the same for all of {each.people:,} people."
    strength, way = abs(each.pearson), "rises" if each.pearson > 0 else "falls"
    how = f"strongly {way} with" if strength >= STRONG else f"somewhat {way} with"
    if strength < WEAK:
        how = "has little to do with"
    return (
        f"The effort of hiding a person {how} {what} "
        f"(correlation {each.pearson:.2f}, of ranks {each.spearman:.2f})."
    )
