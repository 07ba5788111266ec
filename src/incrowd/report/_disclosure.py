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
import polars as pl

from incrowd.data._select import days_in
from incrowd.evaluate._comparison import BeforeAfter
from incrowd.evaluate._verify.linkage import what_fitted

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._utility.aggregate import Map
    from incrowd.evaluate._utility.inference import Inference, Share
    from incrowd.evaluate._verify.result import Check
    from incrowd.report._numbers import Numbers, OriginalData, Sizes

__all__ = [
    "LEAST",
    "area_of",
    "days_of",
    "leaves_out_few",
    "of_published",
    "suppress_small_counts",
    "without_tails",
]


SUPPRESSED = "not shown, because it would be that of few people"
TELLS = "not shown, because it would tell another count"
HIDDEN = ("people_dropped", "samples_dropped", "no_record")
PARTS = ("people_left_over", "people_emptied")
"""The losses of people that add up to those dropped."""
LEAST = 10
"""Counts of fewer people than this, or than k, are not shown."""


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


def leaves_out_few(sizes: "Sizes", least: int) -> bool:
    """Tell whether people are left out, and fewer than may be counted."""
    people, share = sizes.original_people, sizes.dropped_share
    return bool(people and share) and 0 < round((share or 0) * (people or 0)) < least


def of_published(
    pair: BeforeAfter, gaps: pl.DataFrame | None = None
) -> tuple[BeforeAfter, pl.DataFrame | None]:
    """Leave the people out of the original who are not published; and out of a table of k-gaps.

    Where few are left out, everything that is measured of the original is measured of the others:
    the difference between two totals, or two shares, then tells nothing of the few. Where nobody
    knows who became whom, nothing can be left out. A table that names nobody is not used.
    """
    if pair.became is None:
        return pair, gaps
    known = pair.known
    if gaps is not None:
        out = pair.before.people.filter(pl.Series(pair.became < 0)).cast(pl.String)
        named = "user" in gaps.columns
        gaps = gaps.filter(~gaps["user"].cast(pl.String).is_in(out.implode())) if named else None
    return BeforeAfter(pair.before[known], pair.after, pair.became[known]), gaps


def suppress_small_counts(numbers: "Numbers", least: int = LEAST) -> "Numbers":
    """Tell no count of fewer than so many people of the original, and none that would give it away.

    - Losses of fewer people are "fewer than 10". The parts of a sum of which one is so small are
      not told, for the other part and the sum would tell it.
    - Where fewer people are left out, what is measured of the original is of the others
      (`of_published`), if it is known who they are. The number of people of the original, beside
      that of the release, would tell how many are left out, and is rounded wherever it stands.
    - What a crowd's record tells of fewer people is not told as a number.

    What can be counted in the release itself (the sizes of crowds) is no secret.
    """
    least = max(least, numbers.verification.k or 0)
    losses = dict(numbers.settings.losses)
    few = _is_few(losses.get("people_dropped"), least) or leaves_out_few(numbers.sizes, least)
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
    """Round the number of people of the original, where it is still that of everybody.

    It is a round number of which it can be told from the release alone: to round what is not known
    would tell something, as 34 people are about 30 and 35 are about 40.
    """
    sizes, published = numbers.sizes, numbers.sizes.stated.get("people")

    def near(people: int) -> int:
        if isinstance(published, int) and not 0 < people - published < least:
            return people
        middle = published + least / 2 if isinstance(published, int) else people
        return max(least, round(middle / least) * least)

    before, precise, useful = numbers.before, numbers.accuracy, numbers.utility
    if before is not None:
        data, gap, risk = before.data, before.k_gap, before.risk
        all_attacked = risk is not None and risk.attacked == risk.people
        before = replace(
            before,
            data=None if data is None else _of_rows(replace(data, people=near(data.people)), least),
            k_gap=None if gap is None else replace(gap, people=near(gap.people)),
            risk=None if risk is None else replace(
                risk, people=near(risk.people),
                attacked=near(risk.people) if all_attacked else risk.attacked,
            ),
        )  # fmt: skip
    most = None
    if isinstance(published, int) and published:
        most = (least - 1) / (published + least - 1)
    if sizes.original_people is not None:
        sizes = replace(sizes, original_people=near(sizes.original_people), dropped_share=None)
    sizes = replace(sizes, dropped_at_most=most)
    if precise is not None and precise.compared is not None:
        known = precise.compared
        precise = replace(
            precise, compared=replace(known, people=near(known.people), people_dropped=0)
        )
    if useful is not None and useful.persons is not None:
        useful = replace(useful, persons=replace(useful.persons, dropped=0))
    cost = numbers.cost_of_k
    if cost is not None:
        cost = replace(cost, people=near(cost.people))
    return replace(
        numbers, before=before, sizes=sizes, accuracy=precise, utility=useful, cost_of_k=cost,
        rounded=True,
    )  # fmt: skip


def _of_rows(data: "OriginalData", least: int) -> "OriginalData":
    """Round the number of rows that were read, among which are those of who is left out."""
    step = 10 ** math.ceil(math.log10(max(1.0, data.rows * least / max(data.people, 1))))
    return replace(data, rows=round(data.rows / step) * step)


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
    """Withhold how many are left out, and how many trials fit none because of them."""
    known = {name: of for name, of in check.figures.items() if name not in HIDDEN}
    if check.name == "linkage" and check.ok and "known" in known:
        said = what_fitted(known, counted=False)
        known["known"] = [{n: of for n, of in row.items() if n != "none"} for row in known["known"]]
        return replace(check, figures=known, says=said)
    if check.name == "people":
        known = {n: of for n, of in known.items() if n not in ("people", "identifiers")}
        says = "Crowds are of people, and not of identifiers." if check.ok else check.says
        return replace(check, figures=known, says=says.partition(" (")[0].removesuffix(".") + ".")
    if check.name != "membership" or not check.ok:
        return replace(check, figures=known)
    says = (
        f"Everybody is published once, or counted as dropped: fewer than {least} people; no "
        "identifier of the input occurs."
    )
    return replace(check, figures={n: of for n, of in known.items() if n != "people"}, says=says)
