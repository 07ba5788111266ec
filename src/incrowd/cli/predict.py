"""``incrowd predict``: the risk of new people, by what was learned from others."""

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import WIDTH
from incrowd.cli._attack_options import Targets, asked_for, listed
from incrowd.cli._console import progress, write_people
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson, Overwrite, PeopleFile, Source, reads_data
from incrowd.cli._screen import print_lines

if TYPE_CHECKING:
    import polars as pl

    from incrowd.predict._model import Model

__all__ = [
    "predict",
]


NAMED = 27
MEANING = (
    "The classes are estimated from how people move; nobody was attacked. Missed: when the model "
    "was tested, so many of the people whose risk is in the highest class were predicted to be in "
    "a lower one. The exact risk comes from: incrowd attack."
)


@reads_data
def predict(
    source: Source,
    model: Annotated[
        Path,
        typer.Option("--model", help="Models, as incrowd learn -o writes them.", metavar="FILE"),
    ],
    targets: Targets = None,
    output: PeopleFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Predict the risk of new people by models that were learned from others.

    It needs positions, for how far people move; names of places will do with a table of where these
    are.

    Example:  `incrowd predict new.parquet --model risk.model -o risks.csv`
    """
    import incrowd
    from incrowd._atomic import refuse_taken
    from incrowd.data._io.write import kind_of

    some = listed(targets)
    if output is not None:
        kind_of(output)
        refuse_taken(output, overwrite=overwrite)
    models = incrowd.predict.load(model)
    data = source.read()
    who = asked_for(some, data.people)
    with progress("Predicting", "models") as update:
        table = incrowd.predict.estimate(
            models, data, targets=who, threads=source.reading["threads"], progress=update
        )
    if output is not None:
        write_people(table, output, overwrite=overwrite)
    rows = [_row(one, table) for one in models]
    if as_json:
        about: dict[str, Any] = {"people": len(data)}
        if who is not None:
            about["targets"] = len(who)
        print_json(about | {"predicted": rows})
        return
    print(f"{'people':<22}{len(data):,}")
    if who is not None:
        print(f"{'targets':<22}{len(who):,}; the crowd is everybody")
    print_lines(["", *_lines(rows)])


def _row(model: "Model", table: "pl.DataFrame") -> dict[str, Any]:
    """Say how many people are in each class."""
    import polars as pl

    from incrowd.predict._training import CLASSES

    mine = table.filter((pl.col("attack") == model.attack) & (pl.col("k") == model.k))
    counts = dict(mine["class"].value_counts().iter_rows())
    missed = math.nan if model.tested is None else model.tested.missed
    return {
        "attack": model.attack,
        "k": model.k,
        "settings": model.settings,
        "learner": model.learner,
        "task": model.task,
        "learned_from": model.people,
        "classes": {name: counts.get(name, 0) for name in CLASSES},
        "missed_when_tested": None if math.isnan(missed) else missed,
    }


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    """Say it in lines: a table, and what it means."""
    from incrowd.attack._attacks import ATTACKS
    from incrowd.predict._training import settings_of

    names = list(rows[0]["classes"])[1:]  # no model tells anybody the first
    lines = [f"{'attack':<{NAMED}}{'k':>3}" + "".join(f"{name:>12}" for name in names)]
    lines[0] += f"{'missed':>9}"
    before = ""
    for row in rows:
        name, before = row["attack"] if row["attack"] != before else "", row["attack"]
        people = sum(row["classes"].values())
        shares = "".join(f"{row['classes'][each] / people:>12.1%}" for each in names)
        missed = row["missed_when_tested"]
        tested = "-" if missed is None else f"{missed:.1%}"
        lines.append(f"{name:<{NAMED}}{row['k']:>3}{shares}{tested:>9}")
    how = sorted({f"{row['learner']}, from {row['learned_from']:,} people" for row in rows})
    notes = [f"Learned by {'; '.join(how)}."]
    for row in rows:
        usual = ATTACKS.get(row["attack"])
        if usual is None or row["settings"] != settings_of(usual()):
            told = ", ".join(f"{name} {value}" for name, value in row["settings"].items())
            notes.append(f"{row['attack']}, k = {row['k']}: {told or 'an attack of its own'}.")
    return [*lines, "", *textwrap.wrap(" ".join([*notes[:1], MEANING]), WIDTH), *notes[1:]]
