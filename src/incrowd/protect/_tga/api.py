"""TGA as a mechanism: what is asked for, what is refused, and what comes out."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd._arguments import whole
from incrowd.errors import ArgumentError
from incrowd.protect._mechanism import Mechanism, Protected, setting
from incrowd.protect._tga.words import LIMITS, explanation_of, promises_of

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.protect._tga.costs import Costs
    from incrowd.protect._tga.crowds import Crowd

__all__ = [
    "TGA",
]


LEAST, VARIANTS = 2, ("multi", "fast")
CELLS = 1 << 29
"""A matching of more points than this with each other is refused: it takes a byte for each two."""
MANY = 20_000
"""Of more people it is said that they take long."""
EXACT = 1 << 61
"""Costs must stay below this for exact sums in 64 bits."""


@dataclass(frozen=True, slots=True)
class TGA(Mechanism):
    """TGA: hide every person in a crowd of at least k, by matching points one to one.

    The first person of a crowd is drawn at random, and others are added whom it costs least to
    match with it: the log cost. Their points are matched one to one, in the order of time; a match
    becomes the smallest box around all of them, and points without a match are suppressed. A box
    costs the logarithms of its width and height in cells and of its length in slots, for each of
    the people in it, and a suppressed point as much as a box of the whole domain: the width, height
    and length of the data. (The paper's weights are both 1 here, and logarithms natural ones.)

    It protects against record linkage, as GLOVE does, and is here to be compared with it. It loses
    more: the first of a crowd is drawn without looking, and trajectories of unlike numbers of
    points cannot be matched without suppressing the difference. Points inside boxes are not drawn,
    as the paper proposes for a reconstruction: the boxes are published.

    Nobody is dropped. When fewer than k people are left, they join the crowds to which that costs
    least; the losses count them (``people_joined_late``). ``samples_suppressed`` counts samples
    that lie in no published box of their people; ``samples_unmatched`` counts all that had no
    match, those included that lie in another box by chance.

    Parameters
    ----------
    k
        How many people share each record, at least.
    variant
        ``"multi"``: each of the k - 1 others is whoever costs least to add to the crowd as it is by
        then. ``"fast"``: people are ranked once, by what they cost with the first. For k = 2 both
        are the same.
    seed
        Of the order in which people are the first of a crowd. It is not published.

    Raises
    ------
    ArgumentError
        If a setting makes no sense; by `protect`, if there are fewer people than k, or if
        trajectories are too long to be matched: more than 2**29 pairs of points of any two.

    Warns
    -----
    SamePersonWarning
        By `protect`, if people may be in the data twice, and would be hidden with themselves; see
        :func:`incrowd.same_person`.

    References
    ----------
    - Nergiz et al., 2009: "Towards Trajectory Anonymization: a Generalization-Based Approach",
      Transactions on Data Privacy 2 (1); multi TGA, fast TGA and the log cost.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=41, seed=7)
    >>> hidden = incrowd.TGA(k=2, seed=1).protect(city)
    >>> len(hidden.trajectories), int(hidden.trajectories.crowd.min()), hidden.guarantee
    (20, 2, 'k-anonymity')
    >>> hidden.losses["people_dropped"], hidden.losses["people_joined_late"]
    (0, 1)
    """

    k: int = setting(
        "How many people share each record, at least.", default=2, metavar="K", least=LEAST,
        command_line=3,
    )  # fmt: skip
    variant: str = setting(
        "How others are added to the first of a crowd. multi: one by one, each to the crowd as it "
        "is by then; fast: ranked once, by the first.",
        "--tga",
        default="multi",
        choices=VARIANTS,
    )
    seed: int = setting(
        "Seed of the order in which people are the first of a crowd; it is not published.",
        "--tga-seed",
        default=0,
        metavar="N",
        least=0,
    )

    method: ClassVar[str] = "TGA"
    paper: ClassVar[str] = "Nergiz et al., 2009"
    summary: ClassVar[str] = "match points one to one, suppress the rest: crowds of k"
    guarantee: ClassVar[str] = "k-anonymity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("k", self.k, LEAST))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0))
        if self.variant not in VARIANTS:
            known = ", ".join(VARIANTS)
            raise ArgumentError(f"variant must be one of {known}, not {self.variant!r}")

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for; neither the seed, nor the size of the domain.

        Whoever holds nearly all of the data could try with the seed who makes a crowd. The size of
        the domain would tell extremes that were suppressed.
        """
        return {"k": self.k, "variant": self.variant}

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        return promises_of(self.k)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        return LIMITS

    @property
    def explanation(self) -> tuple[str, ...]:
        """What it does to the data, in plain sentences."""
        return explanation_of(self.k, self.variant)

    def advice(self, data: "Trajectories") -> tuple[str, ...]:
        """Refuse what cannot be matched; say what takes long."""
        self._refuse(data)
        if len(data) <= MANY:
            return ()
        long = (
            f"TGA compares everybody with everybody: {len(data):,} people can take hours, four "
            "times as long for twice as many, and an interrupted run begins anew"
        )
        return (long,)

    def protect(
        self,
        data: "Trajectories",
        *,
        threads: int | None = None,
        memory: str | int | None = None,  # noqa: ARG002
        checkpoint: str | os.PathLike[str] | None = None,  # noqa: ARG002
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Protected:
        """Apply it to a dataset, which stays as it is; see `Mechanism.protect`."""
        import numpy as np

        from incrowd._parallel import cores
        from incrowd.data._trajectories import Trajectories
        from incrowd.measure._same_person import warn_of_same_person
        from incrowd.protect._tga.costs import costs_of
        from incrowd.protect._tga.crowds import crowds_of

        data = Trajectories.of(data)
        self._refuse(data)
        warn_of_same_person(data)
        # Whoever has no sample has nothing in common with anybody.
        present = data.lengths() > 0
        people = data if bool(present.all()) else data[present]
        costs = costs_of(people)
        self._refuse_inexact(people, costs)
        order = np.random.default_rng(self.seed).permutation(len(people))
        made = crowds_of(
            people,
            costs,
            order,
            self.k,
            self.variant,
            threads=cores(threads),
            progress=None
            if progress is None
            else lambda done, total: progress("Grouping", done, total),
        )
        return self._result(data, present, made.crowds, made.late)

    def _result(
        self, data: "Trajectories", present: Any, crowds: "list[Crowd]", late: int
    ) -> Protected:
        """Put crowds into what is published; count what is lost."""
        import numpy as np
        import polars as pl

        from incrowd.data._columns import group_by_person
        from incrowd.data._trajectories import Trajectories
        from incrowd.protect._glove.release import uncovered

        points = np.array([crowd.boxes.shape[1] for crowd in crowds], np.int64)
        boxes = [
            np.concatenate([c.boxes[side] for c in crowds]).astype(np.int64) for side in range(6)
        ]
        # In the order of time, and boxes of a crowd that are equal become one.
        columns, offsets = group_by_person(
            np.repeat(np.arange(len(crowds)), points), boxes, len(crowds)
        )
        size = np.array([crowd.size for crowd in crowds], np.int32)
        place = np.full(len(data), -1, np.int64)
        who = np.flatnonzero(present)
        for number, crowd in enumerate(crowds):
            place[who[list(crowd.members)]] = number
        lengths = data.lengths()
        losses = {
            "people_dropped": int(data.crowd[~present].sum()),
            "people_left_over": 0,
            "people_emptied": int(data.crowd[~present].sum()),
            "people_joined_late": late,
            "samples_dropped": 0,
            "samples_suppressed": int(
                uncovered(data.columns, data.offsets, place, columns, offsets)
            ),
            "samples_unmatched": int((lengths[present] - points[place[present]]).sum()),
        }
        assigned = pl.Series("trajectory", place.astype(np.int32))
        assignment = pl.DataFrame([data.people.alias("user"), assigned]).with_columns(
            pl.when(pl.col("trajectory") >= 0).then(pl.col("trajectory"))
        )
        trajectories = Trajectories(columns, offsets, data.frame, crowd=size)
        return Protected(self, trajectories, assignment, losses, self.settings, ())

    def _refuse(self, data: "Trajectories") -> None:
        """Refuse fewer people than k, and trajectories that are too long to be matched."""
        import numpy as np

        lengths = data.lengths()
        people = int(data.crowd[lengths > 0].sum())
        if people < self.k:
            who = "one person" if people == 1 else f"{people:,} people"
            raise ArgumentError(f"{who} cannot hide in a crowd of {self.k:,}")
        second, longest = (int(number) for number in np.sort(np.append(lengths, 0))[-2:])
        if second * longest > CELLS:
            raise ArgumentError(
                f"trajectories of {longest:,} and {second:,} samples are too long to be matched "
                f"with each other: TGA tries each sample with each, and more than {CELLS:,} pairs "
                "do not fit into memory; take fewer days, or coarser times (--method cloak on the "
                "data first), or --method glove"
            )

    def _refuse_inexact(self, data: "Trajectories", costs: "Costs") -> None:
        """Refuse crowds whose costs do not fit into 64 bits."""
        most = 2 * self.k + int(data.crowd.max())
        if most * int(data.lengths().max()) * 2 * costs.suppressed >= EXACT:
            raise ArgumentError(
                f"crowds of {self.k:,} people with up to {int(data.lengths().max()):,} samples "
                "each are too much for exact arithmetic in 64 bits; take a smaller k"
            )
