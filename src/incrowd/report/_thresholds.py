"""The traffic lights of a report: a registry in which each light stands once.

A light has thresholds from green to amber to red, a direction, a unit and a source. Its level, the
sentence under it and its row in ``docs/report.md`` all come from that one entry, so that they
cannot contradict each other. A new light is a new entry of `LIGHTS`.

The lights of privacy decide whether a release may be shared; those of use decide nothing, but that
of what is left out. The thresholds here are those of a recipient under a contract; `_purposes` has
those of other purposes, and a report may set its own.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from incrowd.report._lights import (
    AMBER,
    GREEN,
    OURS,
    RED,
    SAME_PERSON,
    ChecksPassed,
    Light,
    Threshold,
    reason_missing,
)
from incrowd.report._numbers import Numbers
from incrowd.report._release_attacks import ATTACK_LIGHTS

__all__ = [
    "CODE",
    "INFERENCE",
    "LIGHTS",
    "docs_table",
    "lights_of",
]


PAIR = 2
CODE = "the Italian code of conduct that the paper of 2021 quotes asks for 3"
TOLERABLE = "the paper of 2021 calls 70% of published samples tolerable"
FINDS = "the paper of 2021 finds 70%"


def lights_of(
    numbers: Numbers, lights: "Sequence[Threshold | ChecksPassed] | None" = None
) -> tuple[Light, ...]:
    """Return all lights: those of privacy, which decide, of attacks on the release, and of use."""
    asked = LIGHTS if lights is None else lights
    found = (each.judge(numbers) for each in asked if each.group != "attack" or numbers.attacks)
    return tuple(light for light in found if light is not None)


def docs_table() -> str:
    """Return the table of ``docs/report.md``."""
    heads = ("light", "of what", GREEN, AMBER, RED, "thresholds from")
    rows = [heads, ("---",) * len(heads), *(each.row() for each in LIGHTS)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _crowd_says(numbers: Numbers, level: str) -> str:
    smallest, crowds = numbers.smallest_crowd or 0, numbers.check("k-anonymity")
    if smallest > 1 and crowds is not None and crowds.ok is None:
        return "Records are shared by chance; the method promises no crowd."
    if level == GREEN:
        return f"Nobody has a record of her own; each is that of {smallest:,} people or more."
    if level == AMBER:
        return (
            f"Each record is shared, but some by {smallest:,} people only: whoever can rule out "
            f"the other{'' if smallest == PAIR else 's'} knows whose it is."
        )
    if smallest > 1:
        return f"Some records are shared by {smallest:,} people only: too few for this purpose."
    return "People have records that nobody shares: whoever finds a record has found a person."


def _same_person_says(numbers: Numbers, level: str) -> str:
    found = numbers.same_person
    if found is None or level == GREEN:
        return (
            "No identifiers in the original look like those of one person. Two SIM cards that are "
            "used in turn cannot be told from two people by their traces."
        )
    return (
        "In the original so many groups of identifiers look like one person each: the same number "
        "written in several ways, or nearly the same trace. Whoever is there twice shares a crowd "
        "with herself. Read the data with a table of persons (--same-person), which may "
        "also say that they are different people, and make the release anew."
    )


def _most_unique(numbers: Numbers) -> float | None:
    rows = numbers.after.uniqueness if numbers.after else ()
    return max((row.share for row in rows), default=None)


def _left_out(numbers: Numbers) -> float | None:
    sizes = numbers.sizes
    shares = sizes.dropped_share, sizes.dropped_at_most, numbers.samples_left_out
    known = [share for share in shares if share is not None]
    if not known and not numbers.given.original:
        people, dropped = (
            of.get(name)
            for of, name in ((numbers.sizes.stated, "people"),
                             (numbers.settings.losses, "people_dropped"))
        )  # fmt: skip
        if isinstance(people, int) and isinstance(dropped, int) and dropped:
            known = [dropped / (people + dropped)]
    return max(known, default=None)


def _few_left_out(numbers: Numbers) -> bool:
    """Tell whether the light shows the most that few people can be."""
    most = numbers.sizes.dropped_at_most
    return most is not None and most == _left_out(numbers)


def _left_out_says(numbers: Numbers, _level: str) -> str:
    if _few_left_out(numbers):
        return (
            "Few people are not in the release; how many is not shown, nor which samples were "
            "theirs. This share of everybody is the most that they can be."
        )
    if not numbers.given.original:
        return (
            "The share of people who are not in the release, as whoever made it states it; that of "
            "samples is not known without the original."
        )
    stated = numbers.accuracy is None or numbers.accuracy.deleted is None or not numbers.identical
    text = "The larger of two shares: of people, and of samples, that are not in the release"
    return f"{text}; that of samples as whoever made it states it." if stated else f"{text}."


def _seen(numbers: Numbers) -> float | None:
    witness = numbers.check("witness")
    share = witness.figures.get("share") if witness else None
    return None if share is None else 1 - share


def _seen_by_somebody(numbers: Numbers) -> float | None:
    compared = numbers.accuracy.compared if numbers.accuracy else None
    if compared is None or compared.rows_unseen is None or not compared.rows:
        return None
    return 1 - compared.rows_unseen / compared.rows


def _seen_says(numbers: Numbers, _level: str) -> str:
    if _seen(numbers) == 1:
        return "Everybody of a crowd was seen in the place and time of each of its samples."
    return (
        "The share of published samples in whose place and time everybody of the crowd was seen. "
        "The others state a time at which somebody was not seen there."
    )


def _somebody_says(numbers: Numbers, _level: str) -> str:
    if _seen_by_somebody(numbers) == 1:
        return "Somebody of a crowd was seen in the place and time of each of its samples."
    return (
        "The share of published samples in whose place and time somebody of the crowd was seen. "
        "In the others nobody was: the method has fabricated or moved them."
    )


def _within_2_km(numbers: Numbers) -> float | None:
    return numbers.accuracy.within_2_km if numbers.accuracy else None


def _within_2_hours(numbers: Numbers) -> float | None:
    return numbers.accuracy.within_2_hours if numbers.accuracy else None


def _detail_says(limit: str) -> Callable[[Numbers, str], str]:
    def says(numbers: Numbers, _level: str) -> str:
        if numbers.accuracy is None or not numbers.accuracy.of_samples:
            return (
                f"The share of published samples that are precise to {limit} or better. How many "
                "of the original's are is not known without the private record."
            )
        return (
            f"The share of the original's samples that lie in a published one of {limit} or less. "
            "What is left out does not."
        )

    return says


def _within_1_km(numbers: Numbers, place: Literal["home", "work"]) -> float | None:
    persons = numbers.utility.persons if numbers.utility else None
    if persons is None:
        return None
    found = persons.home if place == "home" else persons.work
    return found.found_within(1)


def _no_place(what: str, hours: str) -> Callable[[Numbers], str]:
    """Say why nothing is said of homes, or of workplaces."""

    def says(numbers: Numbers) -> str:
        if numbers.utility is None or numbers.utility.persons is None:
            reason = reason_missing(numbers, "the original and the private record")
            return f"Cannot be said{reason}."
        return f"Nobody was seen from {hours} in the original: nobody has a {what} there."

    return says


def _in_place(numbers: Numbers, what: Literal["flows", "population"]) -> float | None:
    """Return the share of trips, or of people's hours, that are where they were."""
    if numbers.utility is None:
        return None
    change = getattr(numbers.utility.together, what)
    return float(change.common) if change.before else None


def _in_place_says(
    text: str, what: Literal["flows", "population"], where: str
) -> Callable[[Numbers, str], str]:
    def says(numbers: Numbers, _level: str) -> str:
        if numbers.utility is None:
            return ""
        together = numbers.utility.together
        change = getattr(together, what)
        return (
            f"The share of {text} that the release has where they were, on squares of "
            f"{together.grid_km:g} km: {change.before:,} in the original, {change.after:,} in the "
            f"release. The others are missing, there too often, or in {where}."
        )

    return says


def _order(numbers: Numbers) -> float | None:
    found = None if numbers.utility is None else numbers.utility.together.rank_correlation
    return None if found is None else round(found, 9)  # 0.9 is not a little less


def _order_says(numbers: Numbers, _level: str) -> str:
    side = numbers.utility.together.grid_km if numbers.utility else 0
    return (
        f"The rank correlation of squares of {side:g} km by their samples: 1 if the busy ones are "
        "busy in the same order as in the original, 0 if nothing is left of that order."
    )


def _always(text: str) -> Callable[[Numbers, str], str]:
    return lambda _numbers, _level: text


def _in_hours(text: str) -> Callable[[Numbers, str], str]:
    """Say, where no time zone was given, that nights and working hours may be others."""
    doubt = (
        " Nights and working hours are taken in UTC, because no time zone was given: where people "
        "live elsewhere, this figure is wrong."
    )
    return lambda numbers, _level: text + ("" if numbers.given.zone_known else doubt)


LIGHTS: tuple[Threshold | ChecksPassed, ...] = (
    Threshold(
        light="Smallest crowd",
        group="privacy",
        green=3,
        amber=2,
        direction="at least",
        unit="people",
        source=CODE,
        measures="people who share the rarest record; red if the method promises no crowd",
        value=lambda numbers: numbers.smallest_crowd,
        says=_crowd_says,
        overruled=lambda numbers: numbers.identical is None,
        if_missing=RED,
        missing=lambda _: "How many people share each record could not be counted.",
    ),
    ChecksPassed(),
    Threshold(
        light=SAME_PERSON,
        group="privacy",
        green=0,
        amber=0,
        direction="at most",
        unit="groups",
        source=OURS,
        measures="groups of identifiers in the original that look like one person",
        value=lambda numbers: None if numbers.same_person is None else numbers.same_person.groups,
        says=_same_person_says,
        shown_if_missing="not assessed",
        missing=lambda numbers: (
            f"Whether people are in the data twice was not assessed"
            f"{reason_missing(numbers, 'the original')}."
        ),
    ),
    Threshold(
        light="Unique in the release",
        group="privacy",
        green=0.01,
        amber=0.05,
        direction="at most",
        unit="share",
        source=OURS,
        measures="random points (up to 10) that one record alone has",
        value=_most_unique,
        says=_always(
            "The largest share of random points (up to 10) that one record alone has, in what is "
            "published."
        ),
        if_missing=None,
    ),
    *ATTACK_LIGHTS,
    Threshold(
        light="Left out",
        group="use",
        green=0.05,
        amber=0.2,
        direction="at most",
        unit="share",
        source=OURS,
        measures="people or samples, whichever is more",
        value=_left_out,
        says=_left_out_says,
        bounded=_few_left_out,
    ),
    Threshold(
        light="True of everybody",
        group="use",
        green=0.95,
        amber=0.7,
        direction="at least",
        unit="share",
        source=OURS,
        measures="published samples in whose place and time everybody of the crowd was seen",
        value=_seen,
        says=_seen_says,
        if_missing=None,
    ),
    Threshold(
        light="True of somebody",
        group="use",
        green=0.99,
        amber=0.9,
        direction="at least",
        unit="share",
        source=OURS,
        measures="published samples in whose place and time anybody of the crowd was seen",
        value=_seen_by_somebody,
        says=_somebody_says,
        if_missing=None,
    ),
    Threshold(
        light="Detail in space",
        group="use",
        green=0.7,
        amber=0.4,
        direction="at least",
        unit="share",
        source=TOLERABLE,
        measures="samples of the original that lie in a published one of up to 2 km",
        value=_within_2_km,
        says=_detail_says("2 km"),
    ),
    Threshold(
        light="Detail in time",
        group="use",
        green=0.7,
        amber=0.4,
        direction="at least",
        unit="share",
        source=TOLERABLE,
        measures="samples of the original that lie in a published one of up to 2 hours",
        value=_within_2_hours,
        says=_detail_says("2 hours"),
    ),
    Threshold(
        light="Homes",
        group="use",
        green=0.7,
        amber=0.4,
        direction="at least",
        unit="share",
        source=FINDS,
        measures="of all people with a home in the original, those whose home in the release is "
        "within 1 km",
        value=lambda numbers: _within_1_km(numbers, "home"),
        says=_in_hours(
            "Of all people who have a home in the original, published or not, the share whose home "
            "in the release, the place of most samples at night, is within 1 km of it."
        ),
        missing=_no_place("home", "22 to 6 h"),
    ),
    Threshold(
        light="Workplaces",
        group="use",
        green=0.7,
        amber=0.4,
        direction="at least",
        unit="share",
        source=FINDS,
        measures="the same of workplaces",
        value=lambda numbers: _within_1_km(numbers, "work"),
        says=_in_hours(
            "Of all people who have a workplace in the original, published or not, the share whose "
            "workplace in the release, the place of most samples by day, is within 1 km of it."
        ),
        missing=_no_place("workplace", "9 to 17 h"),
    ),
    Threshold(
        light="Trips",
        group="use",
        green=0.7,
        amber=0.4,
        direction="at least",
        unit="share",
        source=OURS,
        measures="trips that are between the same squares of the map as in the original",
        value=lambda numbers: _in_place(numbers, "flows"),
        says=_in_place_says("trips", "flows", "another pair of squares"),
    ),
    Threshold(
        light="People by hour",
        group="use",
        green=0.7,
        amber=0.4,
        direction="at least",
        unit="share",
        source=OURS,
        measures="people by square of the map and hour of the day, as in the original",
        value=lambda numbers: _in_place(numbers, "population"),
        says=_in_place_says("hours of people", "population", "another square or time of day"),
    ),
    Threshold(
        light="Busy places",
        group="use",
        green=0.9,
        amber=0.7,
        direction="at least",
        unit="correlation",
        source=OURS,
        measures="squares of the map in order of their samples: rank correlation with the original",
        value=_order,
        says=_order_says,
        if_missing=None,
    ),
)
INFERENCE = Threshold(
    light="Inference",
    group="privacy",
    green=0.05,
    amber=1,
    direction="at most",
    unit="share",
    source=OURS,
    measures="people whose home, workplace or some night single small boxes show, to 1 km",
    value=lambda _: None,
    says=lambda *_: "",
)
"""No light, but the thresholds of the third question, which says itself what was found."""
