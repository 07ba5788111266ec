"""The first screen of a report, for a terminal."""

import textwrap

from incrowd._format import WIDTH, percent
from incrowd._visible import visible
from incrowd.report._lights import Verdict
from incrowd.report._numbers import Exposure, Numbers

__all__ = [
    "attack_lines",
    "lines",
    "unique_lines",
]


SIGNS = {"green": "+", "amber": "!", "red": "X", "grey": "?"}


def lines(verdict: Verdict) -> list[str]:
    """Give verdict, the three numbers and the lights, in lines."""
    found = textwrap.wrap(verdict.headline, WIDTH)
    found += textwrap.wrap(verdict.use, WIDTH)
    found += ["", *textwrap.wrap(verdict.threat, WIDTH)]
    for reason in verdict.because:
        found += textwrap.wrap(reason, WIDTH, initial_indent="- ", subsequent_indent="  ")
    found += textwrap.wrap(verdict.loss, WIDTH)
    found.append("")
    found += [f"{each['value']:>12}  {each['what']}" for each in verdict.three]
    found += ["", "The three questions of Opinion 05/2014"]
    for each in verdict.questions:
        found.append(f"  [{SIGNS[each.level]}] {each.name:<23}{each.figure}")
        found += textwrap.wrap(each.says, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
    wide = max(23, *(len(light.about) + 2 for light in verdict.lights))
    groups = {
        "privacy": "Is it private?",
        "attack": "What if it is attacked? (what is gained of how many people)",
        "use": "Is it still useful?",
    }
    for group, title in groups.items():
        found += ["", title]
        for light in verdict.lights:
            if light.group == group:
                what = f"  [{SIGNS[light.level]}] {light.about:<{wide}}{light.value:<25}"
                found.append(f"{what}{light.word}")
                found += textwrap.wrap(
                    f"({light.thresholds})", WIDTH, initial_indent=" " * 8,
                    subsequent_indent=" " * 8,
                )  # fmt: skip
    return [visible(line) for line in found]


def attack_lines(numbers: Numbers) -> list[str]:
    """Return what attackers find, before and after, in lines."""
    before, after = (_measured(each).risk for each in (numbers.before, numbers.after))
    if before is None or after is None:
        return []
    heads = ("unique", "after", "highest risk", "after")
    found = [f"{'attack':<28}" + "".join(map(str.rjust, heads, (12, 9, 16, 9)))]
    for first, second in zip(before.attacks, after.attacks, strict=True):
        shares = f"{percent(first.told_apart):>12}{percent(second.told_apart):>9}"
        highest = f"{first.highest_risk:>16.3f}{second.highest_risk:>9.3f}"
        found.append(f"{first.attack:<28}{shares}{highest}")
    drawn = f"{before.attacked:,} of {before.people:,} people, each compared with everybody"
    meaning = (
        f"Attacked: {drawn}. Unique: people who are uniquely re-identified, because the "
        f"{before.known} points that give them away best fit nobody else. After: the same attacks "
        "on what is published, by somebody who knows points as they are published. A merged place "
        "is rarer than a true one, so a low risk may rise, but not above one over the size of the "
        "crowd. (The check 'linkage' is about those who know true points.)"
    )
    return [*found, "", *textwrap.wrap(meaning, WIDTH)]


def unique_lines(numbers: Numbers) -> list[str]:
    """Say how unique people are, before and after, in lines."""
    kinds = {"spatio_temporal": "both", "spatial": "place", "temporal": "time"}
    heads = {"before": _measured(numbers.before), "after": _measured(numbers.after)}
    cells = {
        (row.kind, row.points, when): row.share
        for when, exposure in heads.items()
        for row in exposure.uniqueness
    }
    found = [
        "Per cent of random points that only one person has",
        f"{'':<8}" + "".join(f"{name:^20}" for name in kinds.values()),
        f"{'points':<8}" + "".join(f"{head:>10}" for _ in kinds for head in heads),
    ]
    for points in dict.fromkeys(points for _, points, _ in cells):
        row = (cells.get((kind, points, when)) for kind in kinds for when in heads)
        found.append(f"{points:<8}" + "".join(f"{percent(s, sign=False):>10}" for s in row))
    meaning = (
        "Points are places and hours (both), places, or hours. After: of what is published, where "
        "a place is a rectangle and every record is that of a whole crowd. A person whose record "
        "has fewer points is left out (-: everybody)."
    )
    return [*found, "", *textwrap.wrap(meaning, WIDTH)]


def _measured(exposure: Exposure | None) -> Exposure:
    """Give what was measured, which is nothing where there was nothing to measure."""
    return Exposure((), None) if exposure is None else exposure
