"""The rows of a comparison, in order. To add one, enter a `Measure` in `MEASURES`.

A measure gives a number; or, in words, why there is none.
"""

import difflib
from collections.abc import Callable, Sequence
from typing import Any

from incrowd.attack import ATTACKS
from incrowd.errors import ArgumentError
from incrowd.evaluate._compare.context import KNOWN, Context
from incrowd.evaluate._compare.measure import GROUPS, PRIVATE, Measure
from incrowd.evaluate._compare.private import PRIVATE_ROWS
from incrowd.evaluate._compare.useful import USEFUL_ROWS
from incrowd.evaluate._release_attacks.registry import RELEASE_ATTACKS

__all__ = ["MEASURES", "docs_table", "measures"]


ATTACKED, HELD = "Attacks", "Attacks by somebody who holds the release"
MEASURES: dict[str, Measure] = {one.key: one for one in (*PRIVATE_ROWS, *USEFUL_ROWS)}
"""All rows, in the order in which they are shown; but those of attacks.

`ATTACKS` and `RELEASE_ATTACKS` have these.
"""
_AFTER, _LAST = "unique_temporal", "work_shown"


def measures(only: Sequence[str] | None = None) -> list[Measure]:
    """Return rows in the order in which they are shown: all, or those of some keys or groups.

    Raises
    ------
    ArgumentError
        If there is no such row, and no such group.
    """
    found: list[Measure] = []
    for key, one in MEASURES.items():
        found.append(one)
        found += _of_attacks() if key == _AFTER else _of_holders() if key == _LAST else []
    if only is None:
        return found
    names = [*GROUPS, *(one.key for one in found)]
    for name in only:
        if name not in names:
            near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ArgumentError(f"there is no row {name!r}{hint}; there are {', '.join(names)}")
    return [one for one in found if one.key in only or one.group in only]


def _of_attacks() -> list[Measure]:
    """Return a row for each attack, and one for the worst of them."""
    told = f"People of the release whom an adversary finds who knows {KNOWN} points of it, at worst"
    common: dict[str, Any] = {
        "group": PRIVATE, "section": ATTACKED, "unit": "share", "better": "less", "original": True,
    }  # fmt: skip
    worst = Measure(
        key="attack", label="worst of the attacks", help=f"{told}: by the attack that finds most.",
        of=lambda found: max(found.risk.values()), **common,
    )  # fmt: skip

    def share(name: str) -> Callable[[Context], float | str]:
        return lambda found: found.risk[name]

    return [worst] + [
        Measure(
            key=f"attack_{name}", label=kind.label, help=f"{told}. {kind.summary}",
            of=share(name), **common,
        )
        for name, kind in ATTACKS.items()
    ]  # fmt: skip


def _of_holders() -> list[Measure]:
    """Return a row for each attack that can be tried on one release by itself."""

    def share(name: str) -> Callable[[Context], float | str]:
        def of(found: Context) -> float | str:
            finding = found.attacked[name]
            return finding.says if finding.share is None else finding.share

        return of

    return [
        Measure(
            key=f"release_{name}", group=PRIVATE, section=HELD, label=kind.label, unit="share",
            better="less", of=share(name),
            help=f"People {kind.gains}. What helps: {kind.helps}.",
        )
        for name, kind in RELEASE_ATTACKS.items()
        if not kind.needs_others
    ]  # fmt: skip


def docs_table() -> str:
    """Return what each row means, as a table for the page about comparisons."""
    lines = ["| row | better | what it means |", "|---|---|---|"]
    section = None
    for row in MEASURES.values():
        if row.section != section:
            section = row.section
            lines.append(f"| **{section}** | | |")
        lines.append(f"| {row.label} | {row.better or ''} | {row.help} |")
        if row.key == _AFTER:
            worst = _of_attacks()[0]
            lines.append(f"| **{worst.section}** | | |")
            lines.append(f"| {worst.label}, and each of them | {worst.better} | {worst.help} |")
        if row.key == _LAST:
            lines.append(f"| **{HELD}** | | |")
            lines += [f"| {one.label} | {one.better} | {one.help} |" for one in _of_holders()]
    return "\n".join(lines)
