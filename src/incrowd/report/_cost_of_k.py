"""What larger crowds would cost: the same method for several k, on people drawn at random.

The k-gap says how hard people are to hide, and nothing about what is left of their data. So the
price of a crowd is measured: people are drawn from the original and protected again with the
release's own settings, once for each k, and what is left is compared. Who is drawn hides among
those drawn, who are farther apart than everybody is, so each figure is worse than that of all
people; how it falls with k is what the table shows.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import incrowd
from incrowd.data._trajectories import Trajectories
from incrowd.errors import DataWarning, IncrowdError
from incrowd.measure._same_person import checked_before
from incrowd.protect import MECHANISMS, Mechanism
from incrowd.protect._mechanism import options_of
from incrowd.report._numbers import CostOfK, Method

__all__ = [
    "cost_of_k",
    "mechanism_in",
]

KS = (2, 3, 5, 10)
PEOPLE = 400
"""How many people are drawn."""
SAMPLES = 100_000
"""How many samples they have at most, together: fewer people are drawn where they have more."""


def mechanism_in(about: Method, k: int) -> Mechanism | None:
    """Return the mechanism that a manifest names, with another k; None if it has no k."""
    found = next((each for each in MECHANISMS.values() if each.method == about.method), None)
    if found is None or found.guarantee != "k-anonymity":
        return None
    known = options_of(found)
    settings = {
        name: value
        for name, value in about.in_metres_and_minutes().items()
        if name in known and value is not None
    }
    try:
        return found(**settings | {"k": k})
    except (IncrowdError, TypeError):
        return None  # settings of another version


def cost_of_k(
    data: Trajectories,
    about: Method,
    *,
    tz: str,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CostOfK | None:
    """Protect people drawn at random for several k; None if the method has no k.

    Parameters
    ----------
    data
        The original.
    about
        How the release was made.
    tz
        The zone in which people live.
    seed
        Of who is drawn.
    threads, progress
        As elsewhere.
    """
    stated = about.settings.get("k")
    ks = sorted({*KS, *([stated] if isinstance(stated, int) else [])})
    number = min(PEOPLE, len(data), max(40, round(SAMPLES * len(data) / max(data.samples, 1))))
    ks = [k for k in ks if 2 * k <= number]
    if not ks or mechanism_in(about, ks[0]) is None:
        return None
    who = np.sort(np.random.default_rng(seed).choice(len(data), number, replace=False))
    drawn = data[who]
    rows: list[Mapping[str, float | None]] = []
    for done, k in enumerate(ks):
        mechanism = mechanism_in(about, k)
        assert mechanism is not None  # noqa: S101  as for the first k
        with warnings.catch_warnings(), checked_before():
            # Thresholds that are wider than the few who were drawn: nothing to be told here.
            warnings.simplefilter("ignore", DataWarning)
            made = mechanism.protect(drawn, threads=threads)
        rows.append({"k": float(k), **_left(drawn, made, tz, threads)})
        if progress is not None:
            progress(done + 1, len(ks))
    return CostOfK(number, tuple(rows))


def _left(drawn: Trajectories, made: Any, tz: str, threads: int | None) -> dict[str, float | None]:
    if not len(made.trajectories):
        return {"within_2_km": 0.0, "within_2_hours": 0.0, "within_both": 0.0, "deleted": 1.0,
                "homes": None}  # fmt: skip
    pair = incrowd.of_release(drawn, made)
    precise = incrowd.accuracy(pair, threads=threads)
    persons = incrowd.utility(pair, tz=tz, threads=threads).persons
    return {
        "within_2_km": precise.samples_2km,
        "within_2_hours": precise.samples_2h,
        "within_both": precise.samples_coarse,
        "deleted": precise.deleted,
        "homes": None if persons is None else persons.home.found_within(1),
    }
