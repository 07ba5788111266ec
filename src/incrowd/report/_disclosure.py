"""Statistical disclosure control: only what is true of enough people is told.

The edges of a dataset, in space and time, are those of whoever went farthest, was seen first or
seen last; she may not even be in the release. So edges are drawn where there are enough people.
"""

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.data._select import days_in

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._utility.aggregate import Map
    from incrowd.evaluate._utility.inference import Inference, Share
    from incrowd.evaluate._verify.result import Check
    from incrowd.report._numbers import Numbers

__all__ = [
    "LEAST",
    "area_of",
    "days_of",
    "suppress_small_counts",
    "without_tails",
]


SUPPRESSED = "not shown, because it would be that of few people"
TELLS = "not shown, because it would tell another count"
HIDDEN = ("people_dropped", "samples_dropped")
PARTS = ("people_left_over", "people_emptied")
"""The losses of people that add up to those dropped."""
LEAST = 10
"""Counts of fewer people than this, or than k, are not shown."""
STEPS = 1_000
"""What was deleted is told in such parts of everything, where few people are left out."""


def days_of(data: "Trajectories", least: int, tz: str = "UTC") -> dict[str, Any]:
    """Give the first and the last day on which so many people were seen, and their numbers.

    Days are those of the zone in which people live. `days` lie from the first to the last;
    `days_shown` is the number of those on which there were so many. Where there is no such day, all
    are None.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.report._disclosure import days_of
    >>> days_of(incrowd.synthesize("city", users=40, seed=7), least=10)
    {'start': '2012-03-05', 'end': '2012-03-18', 'days': 14, 'days_shown': 14}
    """
    day = days_in(data.t0.astype(np.int64) * data.frame.slot + data.frame.origin, tz)
    fresh = np.ones(len(day), np.bool_)
    fresh[1:] = day[1:] != day[:-1]
    fresh[data.offsets[:-1][data.lengths() > 0]] = True
    days, people = np.unique(day[fresh], return_counts=True)
    enough = days[people >= least]
    if not len(enough):
        return dict.fromkeys(("start", "end", "days", "days_shown"))
    first, last = int(enough[0]), int(enough[-1])
    start, end = (str(dt.date(1970, 1, 1) + dt.timedelta(days=at)) for at in (first, last))
    return {"start": start, "end": end, "days": last - first + 1, "days_shown": len(enough)}


def area_of(about: "Map") -> float | None:
    """Return the area of a map's squares with people enough in the original, in km2.

    Examples
    --------
    >>> from incrowd.evaluate._utility.aggregate import Map
    >>> from incrowd.report._disclosure import area_of
    >>> area_of(Map(None, 500.0, 0.0, 0.0, 2, 1, 10, ((3, 7, 12, None), (4, 7, None, 28))))
    0.25
    """
    shown = sum(cell[2] is not None for cell in about.cells)
    return shown * (about.side_m / 1000) ** 2 if shown else None


def without_tails(
    quantiles: Mapping[float, float | None], people: int, least: int
) -> dict[float, float | None]:
    """Leave out the quantiles that fewer than `least` people lie beyond.

    Examples
    --------
    >>> from incrowd.report._disclosure import without_tails
    >>> without_tails({0.05: 1.0, 0.5: 2.0, 0.9: 3.0, 0.95: 4.0}, people=100, least=10)
    {0.5: 2.0, 0.9: 3.0}
    """
    return {
        share: value
        for share, value in quantiles.items()
        if round(min(share, 1 - share) * people, 6) >= least
    }


def suppress_small_counts(numbers: "Numbers", least: int = LEAST) -> "Numbers":
    """Tell no count of fewer than so many people of the original, and none that would give it away.

    - Losses of fewer people are "fewer than 10". The parts of a sum of which one is so small are
      not told, for the other part and the sum would tell it.
    - Where fewer people are left out, the number of people of the original, beside that of the
      release, would tell how many; so it is rounded wherever it stands, and what was deleted with
      them is a share in steps.
    - What a crowd's record tells of fewer people is not told as a number.

    What can be counted in the release itself (the sizes of crowds) is no secret.
    """
    least = max(least, numbers.verification.k or 0)
    losses = dict(numbers.settings.losses)
    dropped = losses.get("people_dropped")
    few = isinstance(dropped, int) and 0 < dropped < least
    parts = [name for name in PARTS if _is_few(losses.get(name), least)]
    for name in PARTS if parts and not few else ():
        if name in losses and not _is_few(losses[name], least) and losses[name]:
            losses[name] = TELLS
    for name, value in losses.items():
        if name.startswith("people") and _is_few(value, least):
            losses[name] = f"fewer than {least}"
    if few and "samples_dropped" in losses:
        losses["samples_dropped"] = SUPPRESSED
    proof = numbers.verification
    checks = tuple(_without_counts(check, least) for check in proof.checks) if few else proof.checks
    numbers = replace(
        numbers,
        settings=replace(numbers.settings, losses=losses),
        verification=replace(proof, checks=checks),
        inference=_few_told(numbers.inference, least),
    )
    return _rounded(numbers, least) if few else numbers


def _is_few(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < least


def _rounded(numbers: "Numbers", least: int) -> "Numbers":
    """Round the number of people of the original, and what was deleted with those left out."""

    def near(people: int) -> int:
        return max(least, round(people / least) * least)

    before, sizes, precise = numbers.before, numbers.sizes, numbers.accuracy
    if before is not None:
        data, gap, risk = before.data, before.k_gap, before.risk
        all_attacked = risk is not None and risk.attacked == risk.people
        before = replace(
            before,
            data=None if data is None else replace(data, people=near(data.people)),
            k_gap=None if gap is None else replace(gap, people=near(gap.people)),
            risk=None if risk is None else replace(
                risk, people=near(risk.people),
                attacked=near(risk.people) if all_attacked else risk.attacked,
            ),
        )  # fmt: skip
    if sizes.original_people is not None:
        sizes = replace(sizes, original_people=near(sizes.original_people), dropped_share=None)
    if precise is not None and precise.compared is not None:
        known = precise.compared
        lost = known.samples_deleted
        steps = None if lost is None else math.ceil(lost * STEPS / max(known.samples, 1))
        rounded = None if steps is None else min(known.samples, steps * known.samples // STEPS)
        precise = replace(
            precise,
            compared=replace(
                known, people=near(known.people), people_dropped=0, samples_deleted=rounded
            ),
        )
    useful, cost = numbers.utility, numbers.cost_of_k
    if cost is not None:
        cost = replace(cost, people=near(cost.people))
    if useful is not None and useful.persons is not None:
        who = useful.persons
        places = {
            name: replace(of, original=-(-of.original // least) * least)
            for name in ("centre_of_mass", "home", "work")
            if (of := getattr(who, name))
        }
        useful = replace(useful, persons=replace(who, dropped=0, **places))
    return replace(
        numbers, before=before, sizes=sizes, accuracy=precise, utility=useful, cost_of_k=cost,
        rounded=True,
    )  # fmt: skip


def _few_told(told: "Inference | None", least: int) -> "Inference | None":
    """Withhold what is known of few people, and of how few something is not known."""
    if told is None:
        return None
    found = []
    for one in told.disclosures:
        home, work, night, homogeneous = (
            _few_of(of, told.people, least)
            for of in (one.home, one.work, one.night, one.homogeneous)
        )
        found.append(replace(one, home=home, work=work, night=night, homogeneous=homogeneous))
    alone = least if 0 < told.alone < least else told.alone
    dropped = 0 if told.dropped < least else told.dropped
    return replace(told, alone=min(alone, told.people), dropped=dropped, disclosures=tuple(found))


def _few_of(share: "Share", people: int, least: int) -> "Share":
    """Withhold a number of few; if few have no such place, the same share is of everybody."""
    if share.of and 0 < people - share.of < least:
        share = replace(share, number=round(share.number * people / share.of), of=people)
    if 0 < share.number < least:
        return replace(share, number=min(least, share.of), fewer_than=least)
    return share


def _without_counts(check: "Check", least: int) -> "Check":
    known = {name: of for name, of in check.figures.items() if name not in HIDDEN}
    if check.name != "membership" or not check.ok:
        return replace(check, figures=known)
    says = (
        f"Everybody is published once, or counted as dropped: fewer than {least} people; no "
        "identifier of the input occurs."
    )
    return replace(check, figures={n: of for n, of in known.items() if n != "people"}, says=says)
