"""What utility means, a sentence for each figure."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incrowd.evaluate.together import Together
    from incrowd.evaluate.utility import Persons

__all__ = ["words_of_persons", "words_of_together"]


def words_of_persons(found: "Persons") -> dict[str, str]:
    """Say where people are found, of places that somebody has."""
    places = {
        "centre": ("The centre of all places of a person", found.centre_of_mass),
        "home": ("Home (where most samples from 22 to 6 h are)", found.home),
        "work": ("Work (where most samples from 9 to 17 h are)", found.work),
    }
    return {
        name: (
            f"{place} is found within 1 km of the true one for {_of_100(errors.within[1])} "
            f"people, and exactly there for {_of_100(errors.unaffected)}."
        )
        for name, (place, errors) in places.items()
        if errors.both
    }


def words_of_together(found: "Together") -> dict[str, str]:
    """Say what would have to be moved for everybody together to be as in the original."""
    square = f"square of {found.grid_km:g} km"
    words = {}
    if found.flows.before or found.flows.after:
        words["trips"] = (
            f"{_of_100(found.flows.moved)} trips would have to start or end in another {square} to "
            f"be spread as the true ones are (there were {found.flows.before:,}, and there are "
            f"{found.flows.after:,})."
        )
    words["people by hour"] = (
        f"{_of_100(found.population.moved)} hours that people spend in a {square} would have to be "
        "spent in another, or at another time of the day."
    )
    words["samples by place"] = (
        f"{_of_100(found.visits.moved)} samples would have to be in another {square} to be spread "
        "as the true ones are."
    )
    if found.rank_correlation is not None:
        words["busy places"] = (
            f"The rank correlation of squares by their samples is {found.rank_correlation:.3f}: 1 "
            "if they come in the true order, 0 if their order says nothing."
        )
    return words


def _of_100(part: float | None) -> str:
    return f"{100 * (part or 0):.1f} of 100"
