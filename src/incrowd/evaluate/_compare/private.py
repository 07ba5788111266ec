"""Rows of a comparison that tell who can be found, and what records show; but attacks."""

from collections.abc import Callable

from incrowd.evaluate._compare.context import KNOWN, Context
from incrowd.evaluate._compare.measure import PRIVATE, Measure

__all__ = ["NOBODY", "PRIVATE_ROWS"]


CROWDS, RECORDS, RECOGNISED = "Crowds", "Random points: uniqueness", "Recognition"
NOBODY = "nobody in the original has one"


def _crowd(found: Context) -> float | str:
    return int(found.after.crowd.min()) if len(found.after) else "nothing is published"


def _alone(found: Context) -> float | str:
    crowd = found.after.crowd
    people = int(crowd.sum())
    return int((crowd == 1).sum()) / people if people else "nothing is published"


def _unique(kind: str) -> Callable[[Context], float | str]:
    def share(found: Context) -> float | str:
        known = found.unique[kind]
        return f"nobody has {KNOWN} different points" if known is None else known

    return share


def _recognised(name: str) -> Callable[[Context], float | str]:
    def share(found: Context) -> float | str:
        known = found.recognised[name]
        return "nobody was matched with a record" if known is None else float(known)

    return share


def _shown(place: str) -> Callable[[Context], float | str]:
    def share(found: Context) -> float | str:
        lengths = found.inference.disclosures
        known = getattr(lengths[-1], place).share
        return NOBODY if known is None else float(known)

    return share


PRIVATE_ROWS = (
    Measure(
        key="crowd",
        group=PRIVATE,
        section=CROWDS,
        label="smallest crowd",
        unit="people",
        better="more",
        help="How many people share each published record, at least.",
        of=_crowd,
        original=True,
    ),
    Measure(
        key="alone",
        group=PRIVATE,
        section=CROWDS,
        label="people with a record of their own",
        unit="share",
        better="less",
        help="People whose published record nobody shares.",
        of=_alone,
        original=True,
    ),
    Measure(
        key="unique_spatio_temporal",
        group=PRIVATE,
        section=RECORDS,
        label="4 places and hours",
        unit="share",
        better="less",
        help=(
            "How many sets of 4 random points (places and hours) of a published record are in "
            "no other one."
        ),
        of=_unique("spatio_temporal"),
        original=True,
    ),
    Measure(
        key="unique_spatial",
        group=PRIVATE,
        section=RECORDS,
        label="4 places",
        unit="share",
        better="less",
        help=(
            "How many sets of 4 random points (places) of a published record are in no other one."
        ),
        of=_unique("spatial"),
        original=True,
    ),
    Measure(
        key="unique_temporal",
        group=PRIVATE,
        section=RECORDS,
        label="4 hours",
        unit="share",
        better="less",
        help=(
            "How many sets of 4 random points (hours) of a published record are in no other one."
        ),
        of=_unique("temporal"),
        original=True,
    ),
    Measure(
        key="recall",
        group=PRIVATE,
        section=RECOGNISED,
        label="people recognised",
        unit="share",
        better="less",
        help=(
            "People whose published record is found by somebody who has the whole original, "
            "with names, and compares where people go: of three attackers (most visited "
            "places, tf-idf, moves from place to place) the one who finds most."
        ),
        of=_recognised("recall"),
    ),
    Measure(
        key="precision",
        group=PRIVATE,
        section=RECOGNISED,
        label="of the matches, right",
        unit="share",
        better=None,
        help=(
            "How many matches of that attacker are right. No mark: where few are matched, it is of "
            "few people."
        ),
        of=_recognised("precision"),
    ),
    Measure(
        key="home_shown",
        group=PRIVATE,
        section=RECOGNISED,
        label="homes shown to within 1 km",
        unit="share",
        better="less",
        help=(
            "People whose published record has a box of at most 1 km, at night, in which "
            "their home lies (or 1 cell, if cells are larger)."
        ),
        of=_shown("home"),
    ),
    Measure(
        key="work_shown",
        group=PRIVATE,
        section=RECOGNISED,
        label="workplaces shown to within 1 km",
        unit="share",
        better="less",
        help="The same for places of work, from 9 to 17 h.",
        of=_shown("work"),
    ),
)
