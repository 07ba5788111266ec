"""The first screen of a report, for a terminal."""

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incrowd.report.verdict import Verdict

__all__ = ["lines"]

WIDTH = 98
SIGNS = {"green": "+", "amber": "!", "red": "X", "grey": "?"}


def lines(verdict: "Verdict") -> list[str]:
    """Give verdict, the three numbers and the lights, in lines."""
    found = textwrap.wrap(verdict.headline, WIDTH)
    found += ["", *textwrap.wrap(verdict.threat, WIDTH), *textwrap.wrap(verdict.loss, WIDTH)]
    for reason in verdict.because:
        found += textwrap.wrap(reason, WIDTH, initial_indent="- ", subsequent_indent="  ")
    found.append("")
    found += [f"{each['value']:>12}  {each['what']}" for each in verdict.three]
    for group, title in (("privacy", "Is it private?"), ("use", "Is it still useful?")):
        found += ["", title]
        found += [
            f"  [{SIGNS[light.level]}] {light.about:<22}{light.value:<22}{light.word}"
            f"  ({light.thresholds})"
            if len(light.thresholds) < 45  # noqa: PLR2004
            else f"  [{SIGNS[light.level]}] {light.about:<22}{light.value:<22}{light.word}"
            for light in verdict.lights
            if light.group == group
        ]
    return found
