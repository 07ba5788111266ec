"""Whether crowds are of people, and not of identifiers.

Where a table or a column says which identifiers are the same person, crowds are counted by it. A
release that was made before that was known is verified by it too: its private record then names
identifiers.
"""

from typing import TYPE_CHECKING, Any

import polars as pl

from incrowd._disclosure import is_few
from incrowd._format import people as _people
from incrowd.evaluate._verify.result import Check, failed, passed
from incrowd.evaluate._verify.rows import Published

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories

__all__ = [
    "PEOPLE",
    "check_people",
    "names_identifiers",
]


PEOPLE = "people"


def check_people(
    published: Published, original: "Trajectories", table: pl.DataFrame | None, k: int | None
) -> Check | None:
    """See that every crowd has k people, counted by persons; None if nobody said who is who.

    Parameters
    ----------
    published
        The records of the release.
    original
        What it was made from, read with a table or a column of persons.
    table
        The private record, if there is one.
    k
        How many people must share a record.
    """
    persons = None if original.reading is None else original.reading.persons
    if persons is None:
        return None
    people, identifiers = len(original), persons.count(original.people)
    figures: dict[str, Any] = {"people": people, "identifiers": identifiers}
    who = f"{_people(people)} under {identifiers:,} identifiers"
    if is_few(identifiers - people):
        figures["identifiers"] = None
        who = f"{_people(people)}, a few of them under several identifiers"
    if table is None:
        if len(published.people) > people:
            return failed(
                PEOPLE,
                f"{len(published.people):,} records are published, of {who}: some people are in "
                "the release more than once.",
                figures,
            )
        return passed(PEOPLE, f"{who}; no more records than people.", figures)
    by_identifier = names_identifiers(original, table)
    found = _crowds(published, persons.table if by_identifier else None, table)
    short = 0 if k is None else int((found["people"] < k).sum())
    twice = int((found["records"] > found["people"]).sum())
    figures |= {"k": k, "smallest": found["people"].min(), "crowds": len(found)}
    figures |= {"below_k": short, "with_somebody_twice": twice}
    if not short and not twice:
        tail = "each is counted once" if k is None else f"every crowd has {k} people or more"
        return passed(PEOPLE, f"{who}; {tail}.", figures)
    wrong = (
        f"{short:,} of {len(found):,} crowds hold fewer than {k} people, and reach {k} only by "
        "counting identifiers"
        if short
        else f"{twice:,} of {len(found):,} crowds hold somebody under two identifiers"
    )
    return failed(PEOPLE, f"{wrong} ({who}).", figures)


def names_identifiers(original: "Trajectories", table: pl.DataFrame | None) -> bool:
    """Return whether a private record names identifiers, and the original was read by person."""
    persons = None if original.reading is None else original.reading.persons
    if persons is None or table is None:
        return False
    people = pl.DataFrame({"user": original.people.cast(pl.String)})
    others = table.join(people, on="user", how="anti")
    return bool(len(others)) and len(others.join(persons.table, on="user", how="semi")) > 0


def _crowds(
    published: Published, persons: pl.DataFrame | None, table: pl.DataFrame
) -> pl.DataFrame:
    """Return how many records each crowd has, and how many people these are of."""
    crowds = pl.DataFrame({"person": published.people, "crowd": published.crowd_of})
    known = table.with_columns(pl.col("user").alias("who"))
    if persons is not None:
        who = persons.select("user", pl.col("person").alias("behind"))
        known = table.join(who, on="user", how="left").with_columns(
            pl.coalesce("behind", "user").alias("who")
        )
    return (
        known.filter(pl.col("person").is_not_null())
        .join(crowds, on="person")
        .group_by("crowd")
        .agg(pl.col("who").n_unique().alias("people"), pl.len().alias("records"))
    )
