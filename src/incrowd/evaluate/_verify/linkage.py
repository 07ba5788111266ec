"""What an adversary gets who knows true samples of a person.

She knows p samples of a person, or all of them, and looks for the published records that hold
every one. With k records or more left, she cannot tell which is the person's. None are left only if
what she knows was not published: the person was dropped, or the sample suppressed.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd._disclosure import agrees, least_for, most_of, says_few
from incrowd._numba import Ints
from incrowd.data._manifest import Manifest
from incrowd.evaluate._verify._kernels import T0, count_matching_records
from incrowd.evaluate._verify.alignment import AlignedRelease, Record, in_blocks
from incrowd.evaluate._verify.result import Check, failed, passed

__all__ = [
    "Trials",
    "candidates",
    "check_linkage",
    "draw",
    "what_fitted",
]


@dataclass(frozen=True, slots=True)
class Trials:
    """What the adversary knows in each trial.

    Attributes
    ----------
    points
        How many samples she asked for in each; 0 for all that the person has.
    known, cuts
        What she knows, once for trials in which it is the same: all that there is of a person. The
        samples ``known[cuts[j]:cuts[j + 1]]`` of the original.
    which
        The j of each trial.
    """

    points: Ints
    known: Ints
    cuts: Ints
    which: Ints


def draw(offsets: Ints, draws: int, points: int, seed: int) -> Trials:
    """Draw people, and samples of theirs: 1 to `points`, and all of them, `draws` times each.

    Of somebody with fewer samples than asked for, all are taken.
    """
    rng = np.random.default_rng(seed)
    people = np.flatnonzero(np.diff(offsets))
    asked, which = list[int](), list[int]()
    known: list[Ints] = []
    whole: dict[int, int] = {}
    for number in [*range(1, points + 1), 0]:
        for person in rng.choice(people, draws) if len(people) else ():
            start, length = offsets[person], offsets[person + 1] - offsets[person]
            asked.append(number)
            if 0 < number < length:
                which.append(len(known))
                known.append(start + rng.choice(length, number, replace=False))
            else:
                which.append(whole.setdefault(int(person), len(known)))
                if which[-1] == len(known):
                    known.append(start + np.arange(length))
    cuts = np.cumsum([0, *map(len, known)])
    every = np.concatenate([*known, np.empty(0, np.int64)])
    return Trials(np.array(asked, np.int64), every, cuts, np.array(which, np.int64))


def candidates(aligned: AlignedRelease, trials: Trials, progress: Callable[[int], None]) -> Ints:
    """Count, for each trial, the published records that hold all that is known."""
    published, columns = aligned.published, aligned.original.columns
    order = np.argsort(columns[T0][trials.known[trials.cuts[:-1]]], kind="stable")
    lengths = np.diff(trials.cuts)[order]
    cuts = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.repeat(trials.cuts[:-1][order] - cuts[:-1], lengths) + np.arange(cuts[-1])
    # Copied side by side, in the order in which they are looked at; this is most of the speed.
    known = tuple(column[trials.known[rows]] for column in columns)
    heads = tuple(column[cuts[:-1]] for column in known)

    def work(first: int, last: int) -> Ints:
        return count_matching_records(
            first, last, published.boxes, aligned.reach, published.cuts, published.sizes,
            known, heads, cuts, aligned.shift,
        )  # fmt: skip

    fits = np.zeros(len(order), np.int64)
    for part in in_blocks(len(published.sizes), work, progress):
        fits[order] += part
    return fits[trials.which]


def check_linkage(
    aligned: AlignedRelease,
    record: Record | None,
    manifest: Manifest,
    k: int,
    *,
    draws: int,
    points: int,
    seed: int | None,
    progress: Callable[[int], None],
) -> Check:
    """See whether true samples of a person always leave k records or more."""
    seed = secrets.randbits(48) if seed is None else seed
    trials = draw(aligned.original.offsets, draws, points, seed)
    fits = candidates(aligned, trials, progress)
    exposed, none = int(((fits > 0) & (fits < k)).sum()), fits == 0
    if record is None:
        told = manifest.losses if isinstance(manifest.losses, Mapping) else {}
        losses = [most_of(told.get(name)) for name in ("people_dropped", "samples_suppressed")]
        # If nothing fits, the person was dropped, or one of her samples was suppressed.
        first = trials.known[trials.cuts[:-1]][trials.which][none]
        people = np.unique(np.searchsorted(aligned.original.offsets, first, side="right"))
        lost = np.full(len(fits), len(people) <= sum(loss or 0 for loss in losses))
    else:
        missed = np.concatenate([[0], np.cumsum(record.missed[trials.known])])
        lost = (np.diff(missed[trials.cuts]) > 0)[trials.which]
    unexplained = int((none & ~lost).sum())
    figures: dict[str, Any] = {
        "k": k,
        "seed": seed,
        "trials": len(fits),
        "below_k": exposed,
        "no_record": int(none.sum()),
        "unexplained": unexplained,
        "known": [_summary(fits[trials.points == p], p) for p in [*range(1, points + 1), 0]],
    }
    if exposed:
        says = f"In {exposed:,} of {len(fits):,} trials, true samples fitted fewer than {k} records"
        return failed("linkage", f"{says}.", figures)
    if unexplained:
        says = (
            f"In {unexplained:,} of {len(fits):,} trials, true samples fitted no record, and what "
            "was left out does not explain it."
        )
        return failed("linkage", says, figures)
    if record is None and (says := _miscounted(aligned, manifest)):
        return failed("linkage", says, figures)
    return passed("linkage", what_fitted(figures), figures)


def what_fitted(figures: Mapping[str, Any], *, counted: bool = True) -> str:
    """Say how many records the trials left; and how many trials left none, if that is told."""
    known, none = figures["known"], figures.get("no_record")
    least = min((each["fewest"] for each in known if each["fewest"] is not None), default=0)
    most = max(each["samples"] for each in known if each["samples"] != "all")
    tail = f"; {none:,} fitted none, of people or samples left out" if none and counted else ""
    tail = tail if counted else ", or none, of people or samples left out"
    return (
        f"In {figures['trials']:,} trials, what somebody may know of a person (1 to {most} true "
        f"samples, or all) fitted {least:,} records or more{tail}."
    )


def _miscounted(aligned: AlignedRelease, manifest: Manifest) -> str:
    """Say if there are more people, or fewer, than the original and the losses leave."""
    people, published = len(aligned.original), len(aligned.published.people)
    told = manifest.losses if isinstance(manifest.losses, Mapping) else {}
    dropped, settings = told.get("people_dropped"), manifest.settings
    least = least_for(settings.get("k") if isinstance(settings, Mapping) else None)
    unknown = type(dropped) is not int and not says_few(dropped)
    if published <= people and (unknown or agrees(dropped, people - published, least)):
        return ""
    counted = f"{dropped:,}" if isinstance(dropped, int) else dropped
    stated = "" if unknown else f" and {counted} counted as dropped"
    return f"{published:,} people are published{stated}, but the original has {people:,}."


def _summary(fits: Ints, points: int) -> dict[str, Any]:
    found = fits[fits > 0]
    return {
        "samples": points or "all",
        "trials": len(fits),
        "fewest": int(found.min()) if len(found) else None,
        "median": float(np.median(found)) if len(found) else None,
        "none": int((fits == 0).sum()),
    }
