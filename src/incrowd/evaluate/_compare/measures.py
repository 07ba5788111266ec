"""The rows of a comparison, in order. To add one, enter a `Measure` in `MEASURES`.

A measure gives a number; or, in words, why there is none.
"""

from collections.abc import Callable
from typing import Any

from incrowd.attack import ATTACKS
from incrowd.evaluate._compare.context import KNOWN, Context
from incrowd.evaluate._compare.measure import PRIVATE, Measure
from incrowd.evaluate._compare.private import PRIVATE_ROWS
from incrowd.evaluate._compare.useful import USEFUL_ROWS

__all__ = ["MEASURES", "measures"]


ATTACKED = "Attacks"
MEASURES: dict[str, Measure] = {one.key: one for one in (*PRIVATE_ROWS, *USEFUL_ROWS)}
"""All rows, in the order in which they are shown; but those of attacks, which `ATTACKS` has."""
_AFTER = "unique_temporal"


def measures() -> list[Measure]:
    """Return all rows, in the order in which they are shown."""
    found: list[Measure] = []
    for key, one in MEASURES.items():
        found.append(one)
        found += _of_attacks() if key == _AFTER else []
    return found


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
