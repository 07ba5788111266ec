"""Minimality: insiders who know the algorithm as well try with whom just this record is made.

How boxes are made is public, ties and all, and the manifest names the settings. So all others of a
crowd together put each person who may be the missing member beside themselves, make the boxes
again, and see whether these are the published ones. (Who is together in a crowd they cannot
conclude in the same way: for that they would need the traces of everybody.)
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._format import rounded_percent
from incrowd._numba import Ints
from incrowd.data._trajectories import Trajectories
from incrowd.evaluate._release_attacks.adversary import Adversary, KnownRelease, Tell
from incrowd.evaluate._release_attacks.base import ReleaseAttack
from incrowd.evaluate._release_attacks.findings import Figure, Finding
from incrowd.evaluate._release_attacks.insider import Insiders, insiders_of
from incrowd.evaluate._verify.promises import glove_settings
from incrowd.measure._same_person import checked_before

__all__ = [
    "Minimality",
]


Boxes = NDArray[np.int32]
PAIR = 2


class Minimality(ReleaseAttack):
    """All others of a crowd together, who know how boxes are made."""

    name = "minimality"
    label = "Insiders who know the algorithm"
    knows = (
        "All others of a crowd together: their own traces, the traces of everybody with names, and "
        "how boxes are made, ties and all."
    )
    gains = "whom all others of their crowd name for certain, because nobody else makes its record"
    helps = (
        "nothing against those who hold the complete data with names; that nobody has more than "
        "part of it"
    )

    def unfit(self, adversary: Adversary) -> str:
        """Refuse boxes of a method that cannot be repeated here."""
        settings = glove_settings(adversary.release.manifest)
        if settings.get("merge") not in ("optimal", "two-stage") or "stretch" not in settings:
            return "How the boxes of this method follow from samples is not known here."
        if not len(insiders_of(adversary, every=True).people):
            return "Nobody shares a record with anybody else who is known."
        if settings["merge"] == "two-stage" and adversary.release.published.sizes.max() > PAIR:
            return (
                "Two-stage boxes depend on the order in which a crowd of more than two was merged, "
                "which its members do not know."
            )
        return ""

    def run(self, adversary: Adversary, tell: Tell) -> Finding:
        """Make the boxes of everybody who may be the missing member."""
        inside = insiders_of(adversary, every=True)
        named = inside.name_others(tell=lambda share: tell(share / 2))
        # Where too many people may be members, or several members are not known, nobody is tried.
        some = (named.possible > 0) & (named.possible <= named.members.shape[1])
        some &= inside.unknown == 1
        tried = [
            (i, who)
            for i in np.flatnonzero(some).tolist()
            for who in named.members[i].tolist()
            if who >= 0
        ]
        fits = self._repeat(adversary, inside, tried)
        tell(1.0)
        left = np.zeros(len(inside.people), np.int64)
        right = np.zeros(len(inside.people), np.bool_)
        person = adversary.number_in_reference[inside.people]
        for (i, who), fit in zip(tried, fits, strict=True):
            left[i] += fit
            right[i] |= fit and who == person[i]
        alone = (left == 1) & right
        figures = (
            Figure("named", "people named for certain by who makes the boxes again",
                   int(alone.sum()), len(alone)),
            Figure("named_before", "people named for certain without that",
                   int(named.certain.sum()), len(alone)),
            Figure("tried", "people of whom it was tried", int(some.sum()), len(alone)),
        )  # fmt: skip
        by = {each.name: rounded_percent(each.share) for each in figures}
        says = (
            "The worst case: all others of a crowd together hold the complete data with names, "
            "and make its boxes again with each person who may be the one they do not know. They "
            f"name {by['named']} of people for certain; without making boxes, "
            f"{by['named_before']}. They hold that person's places and times already, and learn "
            "who is in the crowd."
        )
        return self.found("named", says, *figures)

    def _repeat(
        self, adversary: Adversary, inside: Insiders, tried: Sequence[tuple[int, int]]
    ) -> list[bool]:
        """Tell for each target and person whether they make the record of the target's crowd."""
        if not tried:
            return []
        release = adversary.release
        data, groups = _crowds(release.original, adversary.reference, inside, tried)
        settings = glove_settings(release.manifest)
        make = _optimal if settings["merge"] == "optimal" else _two_stage
        found = make(release, settings, data, groups, adversary.threads)
        boxes = inside.boxes[:, :6]
        return [
            any(np.array_equal(one, boxes[inside.cuts[i] : inside.cuts[i + 1]]) for one in versions)
            for (i, _), versions in zip(tried, found, strict=True)
        ]


def _crowds(
    original: Trajectories,
    reference: Trajectories,
    inside: Insiders,
    tried: Sequence[tuple[int, int]],
) -> tuple[Trajectories, list[Ints]]:
    """Return the traces of insiders and of those who are tried, and who is to be together."""
    mine, theirs = np.unique(inside.known), np.unique([who for _, who in tried])
    parts = original[mine], reference[theirs]
    columns = tuple(
        np.concatenate(pieces) for pieces in zip(*(p.columns for p in parts), strict=True)
    )
    offsets = np.concatenate([parts[0].offsets, parts[1].offsets[1:] + parts[0].samples])
    groups = [
        np.append(
            np.searchsorted(mine, inside.known[inside.begins[i] : inside.begins[i + 1]]),
            len(mine) + np.searchsorted(theirs, who),
        )
        for i, who in tried
    ]
    return Trajectories(columns, offsets, original.frame), groups


def _optimal(
    release: KnownRelease, settings: Any, data: Trajectories, groups: list[Ints], threads: int
) -> Iterator[list[Boxes]]:
    """Give the best boxes of each group."""
    from incrowd.measure import Stretch
    from incrowd.measure._stretch.index import scale_for
    from incrowd.protect._glove.edges import rounded
    from incrowd.protect._glove.k_merge import best_boxes
    from incrowd.protect._glove.release import Crowds

    members = np.concatenate(groups)
    starts = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    none = np.empty(0, np.int64)
    crowds = Crowds(members, starts, none, np.empty(0, np.int32), none, none)
    price = settings.get("price_found", settings.get("suppress_price"))
    # The original's own scale: it decides how a price is rounded.
    scale = scale_for(release.original, Stretch(**settings["stretch"]), bounds=True)
    boxed = best_boxes(
        data,
        crowds,
        scale,
        (settings.get("max_space"), settings.get("max_time")),
        price,
        None,
        threads=threads,
        tell=lambda _done, _total: None,
    ).boxed
    offsets = np.concatenate([[0], np.cumsum(boxed.lengths)])
    made, edges = Trajectories(boxed.columns, offsets, data.frame), _edges(settings)
    if edges is not None:
        made = rounded(made, edges)
    boxes = np.column_stack(made.columns)
    for first, last in pairwise(made.offsets.tolist()):
        yield [boxes[first:last]]


def _edges(settings: Any) -> Any:
    """Return the coarser grid to which the manifest says that edges were rounded, if they were."""
    from incrowd.protect._glove.edges import edges_of_text

    stated = settings.get("edges")
    return None if stated is None else edges_of_text(stated)


def _two_stage(
    release: KnownRelease,  # noqa: ARG001
    settings: Any,
    data: Trajectories,
    groups: list[Ints],
    threads: int,  # noqa: ARG001
) -> Iterator[list[Boxes]]:
    """Give the boxes of each pair, in both orders: of equally long ones the first counts."""
    import incrowd
    from incrowd.measure import Stretch
    from incrowd.protect._glove.edges import rounded

    frame = data.frame
    space, time = settings.get("max_space"), settings.get("max_time")
    how = {
        "reshape": settings.get("reshape"),
        "suppress": settings.get("suppress"),
        "max_metres": None if space is None else space * frame.cell,
        "max_minutes": None if time is None else time * frame.slot / 60,
    }
    edges = _edges(settings)
    for one, other in groups:
        found = []
        for pair in ([one, other], [other, one]):
            with checked_before():  # two people alone say nothing
                made = incrowd.glove(
                    data[pair], 2, merge="two-stage", stretch=Stretch(**settings["stretch"]),
                    threads=1, **how,
                )  # fmt: skip
            boxes = made.trajectories
            found.append(np.column_stack((rounded(boxes, edges) if edges else boxes).columns))
        yield found
