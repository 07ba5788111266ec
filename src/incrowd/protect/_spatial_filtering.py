"""Spatial filtering: samples at places that few people visit go. How is in `_rare_places`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd._arguments import whole
from incrowd.protect._mechanism import LINKAGE, OTHERS, Changed, Mechanism, setting

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "Filter",
]


@dataclass(frozen=True, slots=True)
class Filter(Mechanism):
    """Spatial filtering: take away samples at places that few different people visited.

    A place is what the data names so (an antenna, an access point, a venue). What is published is
    the cell of the grid and not the name, so cells that few people visited (of what is left) go as
    well; where samples are larger than a cell, each rectangle that occurs. A trajectory that stands
    for a crowd counts as so many people. Whoever has no sample left is dropped, and counted.

    It protects against publishing places that hardly anybody else visits, such as most people's
    homes. It does not protect against being recognised by the places that are left, by when they
    were visited (the paper finds that times give people away as before), or by their order.

    Parameters
    ----------
    at_most
        Places visited by so many different people, or fewer, go. The paper tries 3 and 5.

    Raises
    ------
    ArgumentError
        If it is not a whole number of at least 1.

    References
    ----------
    - Boutet et al., 2016: "Uniqueness Assessment of Human Mobility on Multi-Sensor Datasets", LIRIS
      research report hal-01381986; section 3.5.1.

    Examples
    --------
    >>> from incrowd import Filter, Trajectories
    >>> data = Trajectories.from_boxes(
    ...     {"user": [1, 1, 2, 3], "x0": [0, 5, 5, 7], "y0": [2, 2, 2, 2], "t0": [0, 9, 3, 3]})
    >>> protected = Filter(at_most=1).protect(data)
    >>> protected.trajectories.boxes().select("user", "x0").rows()
    [(1, 5), (2, 5)]
    >>> protected.assignment.rows()
    [(1, 0), (2, 1), (3, None)]
    >>> protected.losses["samples_dropped"], protected.losses["samples_suppressed"]
    (1, 1)
    """

    at_most: int = setting(
        "Samples at places that at most N people visited go.", metavar="N", least=1
    )

    method: ClassVar[str] = "spatial filtering"
    paper: ClassVar[str] = "Boutet et al., 2016, section 3.5.1"
    summary: ClassVar[str] = "drop samples at places that few people visit"
    example: ClassVar[str] = "--at-most 3"
    compared: ClassVar[str] = "3"

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_most", whole("at_most", self.at_most, 1))

    @property
    def settings(self) -> dict[str, Any]:
        """How few people make a place go."""
        return {"at_most": self.at_most}

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        told = (
            f"every published place was visited by at least {self.at_most + 1:,} different people"
        )
        return (f"publishing rare places: {told}; {LINKAGE}",)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        return (
            (
                "record linkage: no place is rare, but which of them a person visited, and when, "
                "is hers alone; whoever knows some of it finds her record"
            ),
            (
                "what is missing: gaps in a record tell that somebody was where few others go, "
                "and whoever is dropped went nowhere else"
            ),
            *OTHERS,
        )

    def _change(self, data: "Trajectories", threads: int | None) -> Changed:  # noqa: ARG002
        from incrowd.protect._rare_places import without_rare_places

        made, filtered, named = without_rare_places(data, self.at_most)
        what = "places named in the data, and cells" if named else "cells"
        return Changed(
            made,
            suppressed=data.samples - made.samples,
            more=(("places_filtered", filtered),),
            settings=(("places", what),),
        )
