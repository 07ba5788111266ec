"""Inference: what the record of a crowd tells of everybody in it, without finding anybody's.

Homes, workplaces and nights as `incrowd.inference` counts them: in single small boxes of a record.
And sensitive places from a list that the user gives (clinics, places of worship, barracks): of how
many people does a small box of their record hold one? Where boxes are not cut in time, everybody of
the crowd was seen in each of them.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd._format import length, rounded_percent
from incrowd._numba import Ints, kernel
from incrowd.errors import ArgumentError, ColumnError
from incrowd.evaluate._release_attacks.adversary import Adversary, Tell, in_parts
from incrowd.evaluate._release_attacks.base import ReleaseAttack
from incrowd.evaluate._release_attacks.findings import Figure, Finding
from incrowd.evaluate._utility.inference import inference
from incrowd.evaluate._verify._kernels import X0, X1, Y0, Y1, Sides

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Inferred",
    "checked_places",
    "people_near",
]


NEAR, FAR = 100, 1000
"""Metres."""


def checked_places(places: "pl.DataFrame") -> "pl.DataFrame":
    """Return a table of places with lat and lon as numbers; refuse what is none.

    Raises
    ------
    ColumnError
        If it lacks lat or lon.
    ArgumentError
        If there is no place, or one that is not on earth.
    """
    import polars as pl

    for name in ("lat", "lon"):
        if name not in places.columns:
            raise ColumnError(
                f"the table of sensitive places has no column {name!r}; it needs lat and lon, in "
                "degrees"
            )
    found = places.select(pl.col("lat", "lon").cast(pl.Float64, strict=False))
    wrong = found.with_row_index("row").filter(
        pl.col("lat").is_null()
        | pl.col("lon").is_null()
        | ~pl.col("lat").is_between(-90, 90)
        | ~pl.col("lon").is_between(-180, 180)
    )
    if len(wrong):
        raise ArgumentError(
            f"place {wrong['row'][0] + 1:,} of the table of sensitive places has no position in "
            "degrees"
        )
    if not len(found):
        raise ArgumentError("the table of sensitive places is empty")
    return found


@kernel
def _holds_place(
    first: int, last: int, boxes: Sides, cuts: Ints, limit: int, x: Sides, y: Sides,
    shown: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Mark the records with a box of at most so many cells that holds one of some cells.

    Cells come in the order of x.
    """
    for c in range(first, last):
        for b in range(cuts[c], cuts[c + 1]):
            wide, high = boxes[b, X1] - boxes[b, X0], boxes[b, Y1] - boxes[b, Y0]
            if shown[c] or wide > limit or high > limit:
                continue
            i = np.searchsorted(x, boxes[b, X0])
            while i < len(x) and x[i] < boxes[b, X1]:
                if boxes[b, Y0] <= y[i] < boxes[b, Y1]:
                    shown[c] = True
                i += 1


def people_near(adversary: Adversary, metres: float) -> int:
    """Count the published people of whom a box of up to so many metres holds a sensitive place."""
    published, places = adversary.release.published, adversary.places
    assert places is not None  # noqa: S101  asked for where there are some
    frame = published.frame
    x, y = frame.cells(places["lon"].to_numpy(), places["lat"].to_numpy())
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    shown = np.zeros(len(published.sizes), np.bool_)
    limit = max(1, int(metres // frame.cell))

    def work(first: int, last: int) -> None:
        _holds_place(first, last, published.boxes, published.cuts, limit, x, y, shown)

    in_parts(len(shown), work, adversary.threads)
    return int(published.sizes[shown].sum())


class Inferred(ReleaseAttack):
    """Somebody who knows of a person no more than that she is in a crowd."""

    name = "inference"
    label = "What a crowd's record tells"
    knows = "That a person is in a crowd; of sensitive places, a list (--places)."
    gains = "of whom single small boxes of the record show the home, the workplace or a night"
    helps = (
        "crowds of people who live apart from one another (--diverse), larger boxes, fewer nights"
    )

    def run(self, adversary: Adversary, tell: Tell) -> Finding:
        """Count what is shown of everybody, to 100 m and to 1 km."""
        told = inference(
            adversary.release.pair, tz=adversary.tz, metres=(NEAR, FAR), threads=adversary.threads
        )
        tell(0.9)
        words = {"home": "home", "work": "workplace", "night": "place on some night"}
        figures = [
            Figure(f"{name}_{metres}", f"people whose {words[name]} is shown to {one.within}",
                   share.number, share.of)
            for metres, one in zip((NEAR, FAR), told.disclosures, strict=True)
            for name in words
            for share in [getattr(one, name)]
        ]  # fmt: skip
        far = told.disclosures[-1].homogeneous
        figures.append(
            Figure("homogeneous", "people whose whole crowd lives within 1 km", far.number, far.of)
        )
        if adversary.places is not None:
            everybody = len(adversary.release.published.people)
            figures += [
                Figure(f"places_{metres}",
                       f"people of whom a box of up to {length(metres)} holds a sensitive place",
                       people_near(adversary, metres), everybody)
                for metres in (NEAR, FAR)
            ]  # fmt: skip
        tell(1.0)
        by = {each.name: each for each in figures}
        shown = [f"{name}_{FAR}" for name in words if by[f"{name}_{FAR}"].of]
        if not shown:
            return self.not_tried(
                "Nobody was seen from 22 to 6 h or from 9 to 17 h in the original: nobody has a "
                "home or a workplace there."
            )
        worst = max(shown, key=lambda name: by[name].share or 0.0)
        said = {"home": "the home", "work": "the workplace", "night": "where they were on a night"}
        parts = ", ".join(
            f"{said[name.partition('_')[0]]} of {rounded_percent(by[name].share)}" for name in shown
        )
        says = (
            f"Whoever knows that a person is in a crowd learns from single boxes of up to 1 km "
            f"{parts} of people. Which record is theirs does not matter"
        )
        if f"places_{FAR}" in by:
            says += (
                f"; and of {rounded_percent(by[f'places_{FAR}'].share)} that they were near a "
                "sensitive place"
            )
        return self.found(worst, f"{says}.", *figures)
