"""Why people are hard to hide, and who is, in sentences for somebody who has to decide.

Every sentence follows from figures of `Anonymizability`; which ones are said depends on them.
"""

from typing import TYPE_CHECKING

from incrowd._format import duration, length, people, percent, rounded_percent
from incrowd.measure._hardness import FEWEST

if TYPE_CHECKING:
    from incrowd.evaluate._analysis.anonymizability import Anonymizability, Level
    from incrowd.measure._hardness import Trait

__all__ = ["words"]


MUCH = 0.75
"""A share from which on something holds of most people."""
DIFFERENT = 1.15
"""How many times as much is worth a word."""


def words(found: "Anonymizability") -> tuple[str, ...]:
    """Say why these people are hard to hide, and who is."""
    said = [_standing(found)]
    if found.people < FEWEST:
        said.append(
            f"With {people(found.people)} there is hardly a crowd to hide in, and what follows "
            "says little."
        )
    if found.causes.already_hidden < 1:
        said += [_cost(found), *_curve(found), *_levels(found), _what(found), _how(found)]
        said += _who(found)
    return tuple(said)


def _standing(found: "Anonymizability") -> str:
    hidden, k = found.causes.already_hidden, found.k
    others = "another" if k == 2 else f"{k - 1} others"  # noqa: PLR2004
    if hidden == 1:
        return (
            f"Everybody is hidden already: each of {found.people:,} people shares a record with "
            f"{others}."
        )
    if hidden == 0:
        return f"Nobody of {found.people:,} people shares a record with {others}."
    return (
        f"{rounded_percent(hidden)} of {found.people:,} people share a record with {others}; the "
        "rest do not."
    )


def _cost(found: "Anonymizability") -> str:
    gap = found.gaps[0]
    text = (
        f"To hide the median person among {found.k} costs {percent(gap.median)} of what there is "
        f"to lose: her samples grow by {length(1000 * gap.median_km, 2)} and "
        f"{duration(gap.median_minutes)} on average."
    )
    if gap.median == 0:
        return "The median person has nothing to lose; what follows is about the others."
    return text


def _curve(found: "Anonymizability") -> list[str]:
    first, last = found.gaps[0], found.gaps[-1]
    if first is last or first.median == 0:
        return []
    times = last.median / first.median
    text = (
        f"The median k-gap among {last.k} is {times:.1f} times that among {first.k}. It compares "
        f"people two at a time, and is no price of a crowd of {last.k}, which costs more: "
        "anonymize a sample of people to see it."
    )
    return [text]


def _levels(found: "Anonymizability") -> list[str]:
    if not found.levels:
        return []
    coarsest = max(found.levels, key=lambda level: level.metres * level.minutes)
    enough = [level for level in found.levels if level.hidden >= 0.99]  # noqa: PLR2004
    if enough:
        return [f"A grid of {_grid(enough[0])} hides {rounded_percent(enough[0].hidden)} of them."]
    hides = (
        f"hides only {rounded_percent(coarsest.hidden)} of them"
        if coarsest.hidden
        else "hides nobody"
    )
    text = (
        f"Coarser data alone does not do it: even a grid of {_grid(coarsest)} {hides}, because "
        "the grid would have to be as coarse as everybody's hardest sample needs."
    )
    return [text]


def _what(found: "Anonymizability") -> str:
    """Say whether time or space gives people away."""
    causes = found.causes
    above, share = causes.time_above_space or 0.0, causes.median_time_share or 0.0
    if causes.only_time == 1:
        return "Time alone gives people away: their places cost nothing, only when they were seen."
    if causes.only_space == 1:
        return "Space alone gives people away: when they were seen costs nothing, only where."
    if above >= MUCH:
        alone = (
            f"; for {rounded_percent(causes.only_time)} time is all of it"
            if causes.only_time
            else ""
        )
        return (
            f"Time gives people away: for {rounded_percent(above)} it costs more to hide when they "
            f"were seen than where, and for the median person time is {percent(share, 0)} of the "
            f"cost{alone}."
        )
    if above <= 1 - MUCH:
        alone = (
            f"; for {rounded_percent(causes.only_space)} space is all of it"
            if causes.only_space
            else ""
        )
        return (
            f"Space gives people away: for {rounded_percent(1 - above)} it costs as much or more "
            "to hide where they were seen than when, and for the median person space is "
            f"{percent(1 - share, 0)} of the cost{alone}."
        )
    return (
        "Both time and space give people away: time costs more than space for "
        f"{rounded_percent(above)} of them, and is {percent(share, 0)} of the cost of the median "
        "person."
    )


def _how(found: "Anonymizability") -> str:
    """Say whether a few samples cost most."""
    causes = found.causes
    gini = causes.total.gini_median
    if found.samples == found.people:
        return "Everybody has one sample: there is nothing but that one to hide."
    heavy = f"for {rounded_percent(causes.total.heavy)} of people the efforts have a heavy tail"
    if causes.total.heavy >= 0.5:  # noqa: PLR2004
        return (
            f"Most samples are easy to hide and a few are very hard: {heavy}. Merging people "
            "(incrowd anonymize) stretches each sample by what it needs; dropping the hardest "
            "helps further."
        )
    if gini >= 0.4:  # noqa: PLR2004
        return (
            "The cost is uneven: some samples of a person are much harder to hide than others "
            f"(the median Gini coefficient is {gini:.2f}; {heavy}). Merging people (incrowd "
            "anonymize) stretches each sample by what it needs."
        )
    return (
        "The cost is spread over all samples of a person (the median Gini coefficient is "
        f"{gini:.2f}), so that dropping a few of them would not help much."
    )


def _who(found: "Anonymizability") -> list[str]:
    if found.hardest is None:
        text = (
            "Who is hardest to hide is not shown: the group is so small that it would describe "
            "single people."
        )
        return [text]
    traits = {trait.name: trait for trait in found.hardest.traits}
    names = {
        "samples": ("more samples", "fewer samples", "", ".0f"),
        "radius_km": ("move farther", "move less far", " km", ".2g"),
        "per_hour": ("are seen more often", "are seen less often", " times an hour", ".2g"),
        "interval_std_min": ("are seen less regularly", "are seen more regularly", " min", ".0f"),
    }
    told = [
        said
        for name, (more, fewer, unit, form) in names.items()
        if name in traits and (said := _trait(traits[name], more, fewer, unit, form))
    ]
    tell = _listed(told) or "are seen as often, as regularly and in as wide an area as the others"
    return [f"The hardest tenth ({found.hardest.people:,} people) {tell}."]


def _trait(trait: "Trait", more: str, fewer: str, unit: str, form: str) -> str | None:
    mine, others = trait.hardest, trait.others
    if max(mine, others) <= DIFFERENT * min(mine, others):
        return None
    verb = "have " if trait.name == "samples" else ""
    what = more if mine > others else fewer
    spread = "standard deviation of the time between samples " if unit == " min" else ""
    return f"{verb}{what} ({spread}{mine:{form}}{unit} against {others:{form}})"


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), *parts[-1:]]) if len(parts) > 1 else "".join(parts)


def _grid(level: "Level") -> str:
    minutes = level.minutes
    hours = 2 * 60
    long = f"{minutes / 60:g} h" if minutes >= hours and minutes % 60 == 0 else f"{minutes:g} min"
    return f"{level.metres / 1000:g} km and {long}"
