"""`Comparison`: what was measured of every column, as a table, JSON, CSV and a chart."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._atomic import replacing_all
from incrowd._format import several
from incrowd._summary import Summarised, Summary
from incrowd.errors import ArgumentError, UnreadableError

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = [
    "CSV",
    "FORMAT",
    "JSON",
    "VERSION",
    "ComparedColumn",
    "ComparedRow",
    "ComparedValue",
    "Comparison",
]


FORMAT, VERSION = "incrowd comparison", 1
JSON, CSV = "comparison.json", "comparison.csv"
DONE = "done"
LISTS = ("warnings", "notes", "promises", "limits")
SHORT = {
    "crowd", "unique_spatio_temporal", "attack", "recall", "loss", "discarded", "deleted",
    "created", "position_error_mean", "time_error_mean", "home", "work", "flows", "seconds",
}  # fmt: skip
"""The rows that are printed of a comparison; all are in its table."""


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A mechanism with its settings, and how it went.

    Attributes
    ----------
    key, method, label
        As one would type it; the name of the mechanism; and the same for people.
    settings
        What was asked for, in plain values.
    state
        "done"; "refused": the mechanism said that it cannot do this; or "failed".
    why
        Why it is not done.
    guarantee
        The name of what the mechanism guarantees.
    verified
        Whether the written release has passed its verification; None if none was written.
    says
        What may be claimed of it, or what the verification found.
    warnings
        What was warned of that concerns privacy, while it was made.
    notes
        What else was warned of.
    promises, limits
        What the mechanism says that it protects against, and against what not.
    """

    key: str
    method: str
    label: str
    settings: dict[str, Any]
    state: str
    why: str | None
    guarantee: str
    verified: bool | None
    says: str
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    promises: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return asdict(self) | {name: [*getattr(self, name)] for name in LISTS}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "ComparedColumn":
        """Return what `as_dict` gave."""
        lists = {name: tuple(found.get(name, ())) for name in LISTS}
        return cls(**{**found, **lists})


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """What is measured; see `incrowd.evaluate` for what the fields mean."""

    key: str
    group: str
    section: str
    label: str
    unit: str
    better: str | None
    help: str


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A number, or why there is none; and whether no column has a better one."""

    value: float | None
    why: str | None = None
    best: bool = False


Values = Mapping[str, Mapping[str, ComparedValue]]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Comparison(Summarised):
    """Mechanisms side by side, on one dataset.

    For whoever has the data: it tells exact numbers, also of few people.

    Attributes
    ----------
    made_with
        The version of incrowd.
    data
        What the dataset is: people, samples, cell, slot, and a hash.
    settings
        How everything was measured.
    columns, rows
        What is compared, and what was measured.
    values
        By the keys of a column and of a row: the number.
    original
        By the key of a row, the same of the original, as it would be if it were published as it is;
        for rows that make sense for it.
    curves
        By the key of a column: distributions, each as pairs of a threshold and the share up to it.
        "space" and "time" have the errors of true samples (of all of them: deleted ones are up to
        no threshold), in metres and minutes; "wide" and "long" the sizes of published samples.
    """

    made_with: str
    data: dict[str, Any]
    settings: dict[str, Any]
    columns: tuple[ComparedColumn, ...]
    rows: tuple[ComparedRow, ...]
    values: Values
    original: Mapping[str, ComparedValue]
    curves: Mapping[str, Mapping[str, list[list[float]]]]

    @property
    def table(self) -> "pl.DataFrame":
        """A row for each measure, and a column for each column that is compared."""
        import polars as pl

        about = ("group", "section", "key", "label", "unit", "better")
        table: dict[str, Any] = {name: [getattr(row, name) for row in self.rows] for name in about}
        table["original"] = [self._number(self.original, row) for row in self.rows]
        for column in self.columns:
            of = self.values[column.key]
            table[column.key] = [self._number(of, row) for row in self.rows]
        numbers = dict.fromkeys(list(table)[len(about) :], pl.Float64)
        return pl.DataFrame(table, schema_overrides=numbers | {"better": pl.String})

    @staticmethod
    def _number(of: Mapping[str, ComparedValue], row: ComparedRow) -> float | None:
        return of[row.key].value if row.key in of else None

    @property
    def failed(self) -> tuple[ComparedColumn, ...]:
        """The columns that are not done."""
        return tuple(column for column in self.columns if column.state != DONE)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "made_with": self.made_with,
            "meant_for": "owner",
            "data": self.data,
            "settings": self.settings,
            "columns": [column.as_dict() for column in self.columns],
            "rows": [asdict(row) for row in self.rows],
            "values": {
                key: {row: asdict(value) for row, value in of.items()}
                for key, of in self.values.items()
            },
            "original": {row: asdict(value) for row, value in self.original.items()},
            "curves": {key: dict(of) for key, of in self.curves.items()},
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Comparison":
        """Return a comparison that was written as JSON.

        Raises
        ------
        UnreadableError
            If it is none, or was written by a later version.
        """
        if not isinstance(found, Mapping) or found.get("format") != FORMAT:
            raise UnreadableError("this is no comparison, as incrowd compare writes one")
        if found.get("version") != VERSION:
            raise UnreadableError(
                f"the comparison has the version {found.get('version')!r}, and this incrowd reads "
                f"version {VERSION}"
            )
        try:
            return cls(
                made_with=found["made_with"],
                data=found["data"],
                settings=found["settings"],
                columns=tuple(ComparedColumn.from_dict(one) for one in found["columns"]),
                rows=tuple(ComparedRow(**one) for one in found["rows"]),
                values={
                    key: {row: ComparedValue(**one) for row, one in of.items()}
                    for key, of in found["values"].items()
                },
                original={row: ComparedValue(**one) for row, one in found["original"].items()},
                curves=found["curves"],
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise UnreadableError(f"the comparison is damaged: {error}") from error

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> "Comparison":
        """Return the comparison that was written into a folder.

        Raises
        ------
        UnreadableError
            If there is none.
        """
        file = Path(folder) / JSON
        try:
            return cls.from_dict(json.loads(file.read_text("utf-8")))
        except (OSError, ValueError) as error:
            if isinstance(error, UnreadableError):
                raise UnreadableError(f"{file}: {error}", file=file) from error
            raise UnreadableError(f"{file} cannot be read: {error}", file=file) from error

    def to_json(self) -> str:
        """Return everything as one document of JSON."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def write(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the comparison into a folder, as JSON and as CSV, whole or not at all.

        Raises
        ------
        OutputError
            If the files are there already, or cannot be written.
        """
        paths = [Path(folder) / name for name in (JSON, CSV)]
        with replacing_all(paths, overwrite=overwrite, private=True) as (as_json, as_csv):
            as_json.write_text(f"{self.to_json()}\n", "utf-8")
            self.table.write_csv(as_csv)

    def plot(self, risk: str = "attack", loss: str = "loss") -> "alt.LayerChart":
        """Return a chart (Altair) of the trade-off: what is lost against what risk is left.

        Parameters
        ----------
        risk, loss
            The keys of two rows: upwards, and to the right.

        Raises
        ------
        ArgumentError
            If there is no such row, or no column has both.
        """
        import altair as alt

        from incrowd._charts import ORANGE, data_of, styled

        known = {row.key: row for row in self.rows}
        for name in (risk, loss):
            if name not in known:
                raise ArgumentError(f"there is no row {name!r}; there are {', '.join(known)}")
        points = [
            {
                "with": column.label,
                "risk": of[risk].value,
                "loss": of[loss].value,
                "verified": "yes" if column.verified else "no",
            }
            for column in self.columns
            if (of := self.values[column.key])
            and of[risk].value is not None
            and of[loss].value is not None
        ]
        if not points:
            raise ArgumentError("no column has both, so there is nothing to be drawn")

        def axis(name: str) -> dict[str, Any]:
            shares = known[name].unit == "share"
            return {
                "title": known[name].label,
                "axis": alt.Axis(format="%" if shares else "~s"),
                "scale": alt.Scale(domain=[0, 1]) if shares else alt.Scale(zero=True),
            }

        base = alt.Chart().encode(
            x=alt.X("loss:Q", **axis(loss)),
            y=alt.Y("risk:Q", **axis(risk)),
            tooltip=[
                "with:N",
                alt.Tooltip("loss:Q", title=known[loss].label, format=".3~g"),
                alt.Tooltip("risk:Q", title=known[risk].label, format=".3~g"),
                alt.Tooltip("verified:N"),
            ],
        )
        marks = base.mark_point(size=80, filled=True, opacity=1, color=ORANGE)
        names = base.mark_text(align="left", dx=8, color="#7a7f85").encode(text="with:N")
        chart = alt.layer(marks, names, data=data_of(points))
        found: alt.LayerChart = styled(chart, "What is lost, and what risk is left")
        return found

    def _summary(self) -> Summary:
        from incrowd.evaluate._compare.words import value_in_words

        done = [column for column in self.columns if column.state == DONE]
        head = ["", *(str(number) for number, _ in enumerate(done, 1))]
        shown = [row for row in self.rows if row.key in SHORT] or self.rows
        rows = [
            [row.label, *(value_in_words(self.values[one.key][row.key], row.unit) for one in done)]
            for row in shown
        ]
        facts = {str(number): one.label for number, one in enumerate(done, 1)}
        notes = [f"{one.label}: {one.state}. {one.why}" for one in self.failed]
        notes.append(f"* No other column is better. `table` has all {len(self.rows)} rows.")
        people, samples = (int(self.data[name]) for name in ("people", "samples"))
        said = f"{several(people, 'person', 'people')} and {several(samples, 'sample')}"
        title = f"{several(len(self.columns), 'column')} compared, on {said}"
        return Summary(
            title, facts, head=head if done else (), rows=rows if done else (), notes=notes
        )
