"""What is offered for publication, whoever made it, and what is said of it.

GLOVE's words are here; the other mechanisms bring their own.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.data.trajectories import Trajectories
    from incrowd.protect.glove import Release
    from incrowd.protect.mechanisms import Protected

__all__ = ["Offer", "offered", "threats"]

METHOD = "GLOVE"
FAILS = (
    (
        "attribute inference: everybody in a crowd has the same record, so whoever knows that a "
        "person is in it learns where she was without knowing which record is hers (k-anonymity "
        "is not l-diversity)"
    ),
    (
        "a second release of the same people: laid over this one, crowds that differ leave what "
        "both have in common, which may be one person"
    ),
    (
        "reading off extremes: every edge of a published box is that of a true sample of somebody "
        "in the crowd"
    ),
    (
        "knowledge beyond positions and times, and the question whether a person is in the data "
        "at all"
    ),
)
"""What no release of GLOVE withstands."""
CUT = (
    "taking every box for seen: pieces cut in time (reshape 'split') can state a time at which a "
    "person was not seen there; the check 'witness' counts them"
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What is written, whoever made it."""

    method: str
    settings: dict[str, Any]
    losses: dict[str, Any]
    holds: tuple[str, ...]
    fails: tuple[str, ...]
    trajectories: "Trajectories"
    assignment: pl.DataFrame


def offered(release: "Release | Protected") -> Offer:
    """Take what a mechanism made; refuse it if nothing is left."""
    from incrowd.protect.mechanisms import Protected

    if isinstance(release, Protected):
        if not len(release.trajectories):
            asked = ", ".join(f"{name} = {value}" for name, value in release.settings.items())
            raise ArgumentError(f"{release.method} left nothing ({asked}); no release was written")
        return Offer(
            release.method,
            release.settings,
            release.losses,
            release.promises,
            release.limits,
            *_together(release.trajectories, release.assignment),
        )
    if not len(release.trajectories):
        raise ArgumentError(
            "suppression left nothing: every sample exceeded the thresholds when it was merged; "
            "no release was written (allow larger samples, or a smaller k)"
        )
    return Offer(
        METHOD,
        release.settings,
        asdict(release.losses),
        *threats(release.settings),
        release.trajectories,
        release.assignment,
    )


def _together(
    trajectories: "Trajectories", assignment: pl.DataFrame
) -> tuple["Trajectories", pl.DataFrame]:
    """Put people with identical records together, for that is what the release shows of them.

    The sizes of the manifest are then true, and whoever is warned of people who stand alone is
    told how many there are.
    """
    from incrowd.data.trajectories import Trajectories

    offsets, known = trajectories.offsets, dict[bytes, int]()
    of = np.empty(len(trajectories), np.int64)
    for person in range(len(trajectories)):
        digest = hashlib.blake2b(digest_size=32)
        for column in trajectories.columns:
            digest.update(column[offsets[person] : offsets[person + 1]].data)
        of[person] = known.setdefault(digest.digest(), len(known))
    if len(known) == len(trajectories):
        return trajectories, assignment
    _, first = np.unique(of, return_index=True)
    distinct = trajectories[first]
    crowd = np.bincount(of, trajectories.crowd).astype(np.int32)
    table = pl.DataFrame(
        {"trajectory": np.arange(len(of), dtype=np.int32), "shared": of.astype(np.int32)}
    )
    placed = assignment.join(table, on="trajectory", how="left", maintain_order="left")
    return (
        Trajectories(distinct.columns, distinct.offsets, distinct.frame, crowd=crowd),
        placed.select("user", pl.col("shared").alias("trajectory")),
    )


def threats(settings: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say against what a release of GLOVE holds, and against what it does not.

    The attacker model of section 2.3 of the paper of 2021 (record linkage, whatever part of a
    trajectory is known), and the limits of section 2.5.

    Parameters
    ----------
    settings
        Those of the release.
    """
    linkage = (
        "record linkage: an adversary who knows any part, or all, of a person's original "
        f"trajectory and wants to single out her record finds {settings['k']} identical records "
        "or more, or none"
    )
    fails = FAILS if settings.get("reshape") != "split" else (*FAILS, CUT)
    return (linkage,), fails
