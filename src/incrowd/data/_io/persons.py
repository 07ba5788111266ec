"""Who is behind the identifiers: a table of them, or a column of the data that names the person.

::

    same_person=TABLE  ──> read_person_table ──> PersonTable ─┐
    person_of=COLUMN   ──> a column of each row ──────────────┴─> PersonEncoder ──> codes of persons
                                                                       └──> Persons (in `Reading`)

People have two SIM cards, and exports write a number in two ways. A crowd must be of people, so
that identifiers of one person become one person before anything is counted. An identifier that the
table does not name stands for itself.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from incrowd.data._frame import Ints
from incrowd.data._io.columns import USUAL, find_by_usual_name
from incrowd.data._io.encoding import NameEncoder
from incrowd.data._io.lines import exact_lines
from incrowd.data._io.sources import Source, files_of, open_source, open_table
from incrowd.data._io.sql import identifier, quoted, refuse_nested
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.data._io.reading_report import Rejects

__all__ = [
    "ANOTHER_PERSON",
    "NO_PERSON",
    "PersonEncoder",
    "PersonTable",
    "Persons",
    "read_person_table",
    "refuse_bad_persons",
    "refuse_both",
]


NO_PERSON = "no person"
ANOTHER_PERSON = "another person than in a row before"
_PERSON = ("person", "personid")
_USER = tuple(name for name in USUAL["user"] if name not in _PERSON)


@dataclass(frozen=True, slots=True)
class Persons:
    """Who is behind the identifiers of data that was read.

    Attributes
    ----------
    table
        The columns user and person, as text: a row for each identifier that occurs.
    told_apart
        The persons of whom a table says who they are: two of them are two people, however alike.
    """

    table: pl.DataFrame = field(repr=False)
    told_apart: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def identifiers(self) -> int:
        """The number of identifiers."""
        return len(self.table)

    def of(self, people: pl.Series) -> pl.DataFrame:
        """Return the rows of some people (as text: person, identifiers)."""
        wanted = pl.DataFrame({"person": people.cast(pl.String)})
        lists = self.table.group_by("person", maintain_order=True).agg(
            pl.col("user").alias("identifiers")
        )
        return wanted.join(lists, on="person", how="left", maintain_order="left")

    def count(self, people: pl.Series) -> int:
        """Return under how many identifiers some people were read."""
        return int(self.of(people)["identifiers"].list.len().sum())


@dataclass(frozen=True, slots=True)
class PersonTable:
    """A table of identifiers and persons that was read.

    Attributes
    ----------
    name
        The name of the table, for messages.
    person_of
        The person of each identifier.
    lines
        The line of each identifier.
    """

    name: str
    person_of: Mapping[str, str]
    lines: Mapping[str, int]


def refuse_both(same_person: Any, person_of: str | None) -> None:
    """Refuse a table and a column at the same time."""
    if same_person is not None and person_of is not None:
        raise ArgumentError(
            "give either a table of persons (same_person=, --same-person) or a column that names "
            "the person (person_of=, --person-of), but not both"
        )


def read_person_table(connection: Any, table: Any) -> PersonTable:
    """Return who is behind which identifier.

    Parameters
    ----------
    connection
        A DuckDB connection.
    table
        A file or frame with the columns user and person.

    Raises
    ------
    ArgumentError
        If a column is missing, the table is empty, a field is, or an identifier has two persons.
    """
    if isinstance(table, str | os.PathLike):
        source = open_source(connection, files_of(table)[0], names=None, separator=None)
    else:
        source = open_table(connection, table)
    where = f"the table of persons ({source.name})"
    found = list(source.kinds)
    user = find_by_usual_name(found, _USER)
    person = find_by_usual_name(found, _PERSON)
    for role, name in (("user", user), ("person", person)):
        if name is None:
            raise ArgumentError(
                f"{where} has no column {role}; it needs user (the identifier in the data) and "
                f"person. Found: {', '.join(map(repr, found))}",
                file=source.path,
            )
    assert user is not None and person is not None  # noqa: S101, PT018  just checked
    refuse_nested(source.kinds, {"user": user, "person": person}, source.name)
    columns = ", ".join(identifier(quoted(name), source.kinds[name]) for name in (user, person))
    rows = connection.execute(f"SELECT {columns} FROM {source.relation}").fetchall()
    if not rows:
        raise ArgumentError(
            f"{where} has no rows; it needs one for each identifier: user, person",
            file=source.path,
        )
    person_of: dict[str, str] = {}
    first: dict[str, int] = {}
    for row, (name, who) in enumerate(rows):
        if not name or not who:
            line = _line(source, row)
            what = "no user" if not name else f"no person for {name!r}"
            raise ArgumentError(
                f"{where}, line {line}: {what}; every row needs both, and an identifier that "
                "stands for itself needs no row",
                file=source.path,
                line=line,
            )
        first.setdefault(name, row)
        if person_of.setdefault(name, who) != who:
            line, before = _line(source, row), _line(source, first[name])
            raise ArgumentError(
                f"{where}, line {line}: {name!r} is {who!r}, and in line {before} it is "
                f"{person_of[name]!r}; an identifier is that of one person",
                file=source.path,
                line=line,
            )
    lines = _lines(source, set(first.values()))
    return PersonTable(source.name, person_of, {name: lines[row] for name, row in first.items()})


def _lines(source: Source, rows: set[int]) -> dict[int, int]:
    """Return the lines of a text file on which rows are; of other tables the row, from 1."""
    usual = {row: row + 1 for row in rows}
    if source.text is None:
        return usual
    return usual | exact_lines(source.text, rows, (), ())[0]


def _line(source: Source, row: int) -> int:
    return _lines(source, {row})[row]


class PersonEncoder:
    """Codes of persons, in the order of their first appearance, for the codes of identifiers.

    Parameters
    ----------
    table
        Who is behind which identifier; None if a column of the data says so.
    """

    def __init__(self, table: PersonTable | None) -> None:
        self.table = table
        self._people = NameEncoder()
        self._person = np.full(1 << 10, -1, np.int32)
        """The person of each identifier's code."""

    def from_table(self, users: NameEncoder, user: Ints, known: int) -> Ints:
        """Return the persons of rows, by the table; identifiers from `known` on are new."""
        assert self.table is not None  # noqa: S101  otherwise a column says it
        self._make_room(len(users))
        new = users.names_from(known)
        if new:
            persons = [self.table.person_of.get(name, name) for name in new]
            self._person[known : len(users)] = self._people.encode(pa.array(persons, pa.string()))
        return np.asarray(self._person[user])

    def from_column(
        self, users: NameEncoder, user: Ints, person: pa.Array
    ) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Return the persons of rows, by the column; and which rows name another than before."""
        self._make_room(len(users))
        codes = self._people.encode(person)
        # The first row of an identifier says whose it is.
        seen, first = np.unique(user, return_index=True)
        new = self._person[seen] < 0
        self._person[seen[new]] = codes[first[new]]
        return codes, self._person[user] != codes

    def _make_room(self, size: int) -> None:
        if size > len(self._person):
            more = np.full(max(size, 2 * len(self._person)) - len(self._person), -1, np.int32)
            self._person = np.concatenate([self._person, more])

    def names(self) -> pl.Series:
        """Return all persons by code."""
        return self._people.names()

    def result(self, users: NameEncoder) -> Persons:
        """Return who is behind the identifiers that occurred.

        Raises
        ------
        ArgumentError
            If the table calls a person like an identifier of the data that it does not name.
        """
        names = users.names_from(0)
        people = self._people.names_from(0)
        persons = [people[code] for code in self._person[: len(names)].tolist()]
        told: frozenset[str] = frozenset()
        if self.table is not None:
            self._refuse_mistaken(names)
            told = frozenset(
                self.table.person_of[name] for name in names if name in self.table.person_of
            )
        return Persons(
            pl.DataFrame(
                {"user": names, "person": persons}, {"user": pl.String, "person": pl.String}
            ),
            told,
        )

    def _refuse_mistaken(self, names: list[str]) -> None:
        table = self.table
        assert table is not None  # noqa: S101  asked for only then
        alone = {name for name in names if name not in table.person_of}
        for name, person in table.person_of.items():
            if person in alone:
                raise ArgumentError(
                    f"the table of persons ({table.name}), line {table.lines[name]}: the person "
                    f"{person!r} is called like an identifier of the data that the table does not "
                    f"name. If it is hers, add the row {person},{person}; if not, call the person "
                    "otherwise",
                    line=table.lines[name],
                )


def refuse_bad_persons(rejects: "Rejects", column: str | None) -> None:
    """Refuse data in which a row has no person, or an identifier has two."""
    for reason, what in (
        (NO_PERSON, "is empty; every row needs a person"),
        (ANOTHER_PERSON, "names another person for the same identifier than a row before"),
    ):
        if rejects.counts.get(reason):
            first = rejects.examples[reason][0]
            shown = f": {first.value}" if first.value else ""
            raise ArgumentError(
                f"{first.file}, line {first.line}: the column {column!r} {what}{shown} "
                f"({rejects.counts[reason]:,} such rows)",
                file=first.file,
                line=first.line,
            )
