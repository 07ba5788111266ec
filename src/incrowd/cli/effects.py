"""What mechanisms change of uniqueness, in lines for a terminal."""

import textwrap
from typing import TYPE_CHECKING

from incrowd.cli.measure import WIDTH

if TYPE_CHECKING:
    import polars as pl

__all__ = ["lines_of"]

KINDS = {"spatial": "place", "spatio_temporal": "both"}


def lines_of(changes: "pl.DataFrame") -> list[str]:
    """Say it in lines: a table for each sensor, and what it means."""
    lines = ["What mechanisms change: per cent of sub-traces that one person alone has"]
    for (sensor,), part in changes.group_by("sensor", maintain_order=True):
        heads = f"{'2 points':>10}{'4 points':>10}{'places each':>13}{'visits lost':>13}"
        lines += ["", f"{sensor!s:<12}{'setting':<18}{'points':<8}{heads}"]
        before = ""
        for (mechanism, setting, kind), rows in part.group_by(
            "mechanism", "setting", "kind", maintain_order=True
        ):
            name, before = mechanism if mechanism != before else "", str(mechanism)
            shares = "".join(_percent(share) for share in rows["share"])
            places, lost = rows["places"][0], rows["lost"][0]
            lost = f"{lost:.1%}" if mechanism == "filter" else ""
            lines.append(
                f"{name!s:<12}{setting!s:<18}{KINDS[str(kind)]:<8}{shares}{places:>13.1f}{lost:>13}"
            )
    meaning = (
        "filter: places that so few people visited go. cloak: times are told in longer slots, or "
        "not at all. Both change traces, as in the paper. generalise: positions and times on a "
        "coarser grid. geo-i: noise on every position (epsilon in 1/m), then POIs are found in "
        "what is left. A share that rises is no mistake: noise leaves fewer POIs, and whoever has "
        "few that nobody shares is unique by them."
    )
    return [*lines, "", *textwrap.wrap(meaning, WIDTH)]


def _percent(share: float | None) -> str:
    return f"{'-' if share is None else f'{share * 100:.1f}':>10}"
