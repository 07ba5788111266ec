"""``incrowd learn``: models of the risk, tested on people whom they have not seen."""

import math
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import WIDTH, percent
from incrowd.cli._attack_options import (
    Names,
    Points,
    Relative,
    TimeBin,
    Tolerance,
    checked,
    with_precision,
)
from incrowd.cli._console import on_first_progress, progress, say
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson, Overwrite, Source, reads_data
from incrowd.cli._screen import print_lines
from incrowd.cli._values import numbers_of
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd._numba import Floats
    from incrowd.predict._scores import Scores, Values
    from incrowd.predict._training import Training
    from incrowd.predict._validation import Experiment

__all__ = [
    "learn",
    "table_two",
]


NAMED = 27
MISSED = (
    "Missed: the share of people of the highest class, (0.5, 1], who are predicted to be in a "
    "lower one."
)
LOWER = "Underestimated: the share of all people whose predicted class is lower than the true one."
ACCURACY = (
    "Accuracy is the share of people whose class of risk is right, F the F-measure of the classes "
    "weighted by their people; guessing draws classes by their shares."
)
VALUES = "R2 is the share of the variance that is explained, error the mean absolute one."
TRANSDUCTIVE = (
    " Features and risks of these were found among everybody, those who are predicted included "
    "(transductive, as in the paper; --inductive leaves them out)."
)
INDUCTIVE = " Features and risks of these were found without those who are predicted (inductive)."
FOLDED = (
    "Within a dataset everybody is predicted by what was learned from the others, fold by fold."
)
HELD = "Within a dataset those who were held out are predicted by what was learned from the others."


@reads_data
def learn(
    source: Source,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the models learned from DATA to this file.",
            metavar="FILE",
            rich_help_panel="Output",
        ),
    ] = None,
    attacks: Names = "",
    points: Points = "2,3,4,5",
    tolerance: Tolerance = None,
    relative: Relative = False,
    time_bin: TimeBin = None,
    elsewhere: Annotated[
        str | None,
        typer.Option(
            "--transfer",
            help="Another dataset: learn from it as well, and test each model on the other's data.",
            metavar="DATA2",
        ),
    ] = None,
    learner: Annotated[
        str, typer.Option(help="Learner: forest, extra_trees or boosting.", metavar="NAME")
    ] = "forest",
    folds: Annotated[
        int | None,
        typer.Option(help="Folds of the cross-validation.", metavar="N", show_default="10"),
    ] = None,
    held_out: Annotated[
        float | None,
        typer.Option(
            "--hold-out",
            help="Test on this random share of the people instead of by cross-validation.",
            metavar="SHARE",
        ),
    ] = None,
    inductive: Annotated[
        bool,
        typer.Option(
            "--inductive",
            help="For the test, compute features and risk of the people learned from among these "
            "only, and not among those tested as in the paper (transductive); slower.",
        ),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=2**32 - 1,
            help="Seed: the same seed gives the same models.",
            metavar="N",
        ),
    ] = 0,
    values: Annotated[
        bool,
        typer.Option("--regression", help="Learn the risk itself instead of its class."),
    ] = False,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Also show recall and precision by class, and the importance of features.",
        ),
    ] = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Learn to predict people's risk from how they move, and test it on people not learned from.

    `incrowd predict` applies the models to new people, without attacking them. Both need positions,
    for how far people move; names of places will do with a table of where these are.

    Example:  `incrowd learn cars.parquet --attack location,visit -o risk.model`
    """
    from incrowd import predict
    from incrowd._atomic import refuse_taken
    from incrowd.predict._model import named
    from incrowd.predict._validation import refuse_few

    names, settings = checked(attacks, tolerance, relative)
    wanted = numbers_of(points, "2,3,4,5")
    named(learner)
    number = _folds(folds, held_out)
    if output is not None:
        refuse_taken(output, overwrite=overwrite)
    sources = [source]
    if elsewhere is not None:
        sources.append(replace(source, path=elsewhere))
    threads = source.reading["threads"]
    areas: list[list[Training]] = []
    for data in [each.read() for each in sources]:
        refuse_few(number, len(data) if held_out is None else None)
        with progress("Attacking", "people") as update:
            areas.append(
                predict.training_sets(
                    data,
                    names,
                    wanted,
                    threads=threads,
                    progress=on_first_progress(update, "attack"),
                    **with_precision(settings, time_bin, data.frame),
                )
            )
    task = "values" if values else "classes"
    with progress("Learning", "configurations") as update:
        update(0, len(areas[0]))
        found = list(
            predict.experiments(
                areas,
                learner,
                task,
                folds=number,
                held_out=held_out,
                inductive=inductive,
                seed=seed,
                threads=threads,
                progress=update,
            )
        )
    if output is not None:
        predict.save([one.models[0] for one in found], output, overwrite=overwrite)
        models = "1 model" if len(found) == 1 else f"{len(found)} models"
        say(f"wrote {models}, learned from {source.path}, to {output}")
    titles = _titles(sources)
    if as_json:
        each = [
            {"data": source.path, "people": len(area[0])}
            for source, area in zip(sources, areas, strict=True)
        ]
        about = {"areas": each, "learner": learner, "task": task, "seed": seed}
        about |= {"folds": number} if held_out is None else {"held_out": held_out}
        about |= {"inductive": inductive}
        print_json(about | {"experiments": [_as_json(one) for one in found]})
        return
    for title, area in zip(titles, areas, strict=True):
        print(f"{title:<22}{len(area[0]):,} people")
    tested = f"{number} folds" if held_out is None else f"{held_out:.0%} held out"
    print(f"{'learner':<22}{learner}: {predict.LEARNERS[learner]}; {tested}\n")
    how_tested = FOLDED if held_out is None else HELD
    how_tested += INDUCTIVE if inductive else TRANSDUCTIVE
    print_lines(table_two(found, titles, how_tested))
    if details:
        print_lines(line for i in range(len(titles)) for line in _details(found, i, titles[i]))


def _folds(folds: int | None, held_out: float | None) -> int:
    """Give the number of folds, and refuse two ways to test at once."""
    from incrowd.predict._validation import FOLDS, refuse_few, refuse_share

    if held_out is not None and folds is not None:
        raise ArgumentError("--folds and --hold-out cannot be combined; choose one way to test")
    if held_out is not None:
        refuse_share(held_out)
    number = FOLDS if folds is None else folds
    refuse_few(number)
    return number


def _titles(sources: list[Source]) -> list[str]:
    """Name areas by their files, and by where these are if their names are the same."""
    titles = [Path(each.path).stem for each in sources]
    return titles if len(set(titles)) == len(titles) else [each.path for each in sources]


def table_two(found: "list[Experiment]", titles: list[str], how_tested: str = FOLDED) -> list[str]:
    """Give a table of the shape of the paper's table 2, and what it means."""
    from incrowd.predict._scores import Scores

    heads, one = list(titles), len(titles) == 1
    classes = isinstance(found[0].within[0], Scores)
    if not one:
        heads += [f"{titles[0]} > {titles[1]}", f"{titles[1]} > {titles[0]}"]
    width = max(17, *(len(head) + 3 for head in heads))
    lines = [" " * (NAMED + 3) + "".join(f"{head:>{width}}" for head in heads)]
    pair = ("accuracy", "F") if classes else ("R2", "error")
    parts = f"{pair[0]:>{width - 7}}{pair[1]:>7}"
    lines.append(f"{'attack':<{NAMED}}{'k':>3}{parts * len(heads)}")
    if one:
        lines[-1] += f"{'missed':>10}{'underestimated':>16}"
    for name in dict.fromkeys(each.attack for each in found):
        mine = [each for each in found if each.attack == name]
        for i, each in enumerate(mine):
            cells = [_pair(scores, width) for scores in (*each.within, *each.across)]
            line = f"{name if not i else '':<{NAMED}}{each.k:>3}{''.join(cells)}"
            if one:
                scores = _classes(each.within[0])
                line += f"{percent(scores.missed):>10}{scores.lower:>13.1%}"
            lines.append(line)
        if classes:
            means = (
                _mean([each.guessed[area] for each in mine], width) for area in range(len(titles))
            )
            lines.append(f"{'  guessing, on average':<{NAMED + 3}}{''.join(means)}")
    if not one:
        means = (
            f"{percent(_missed([(*each.within, *each.across)[i] for each in found])):>{width}}"
            for i in range(len(heads))
        )
        lines.append(f"{'missed, on average':<{NAMED + 3}}{''.join(means)}")
    meaning = f"{ACCURACY if classes else VALUES} {how_tested} {MISSED}{f' {LOWER}' if one else ''}"
    return [*lines, "", *textwrap.wrap(meaning, WIDTH)]


def _classes(found: "Scores | Values") -> "Scores":
    from incrowd.predict._scores import Values

    return found.classes if isinstance(found, Values) else found


def _pair(found: "Scores | Values", width: int) -> str:
    from incrowd.predict._scores import Values

    if isinstance(found, Values):
        r2 = "-" if math.isnan(found.r2) else f"{found.r2:.2f}"
        return f"{r2:>{width - 7}}{found.error:>7.3f}"
    return f"{found.accuracy:>{width - 7}.2f}{found.f_measure:>7.2f}"


def _mean(guesses: "list[Scores]", width: int) -> str:
    accuracy = sum(guess.accuracy for guess in guesses) / len(guesses)
    f_measure = sum(guess.f_measure for guess in guesses) / len(guesses)
    return f"{accuracy:>{width - 7}.2f}{f_measure:>7.2f}"


def _missed(found: "list[Scores | Values]") -> float:
    """Give the mean share of people of the highest class who are predicted lower."""
    shares = [_classes(each).missed for each in found]
    known = [share for share in shares if not math.isnan(share)]
    return sum(known) / len(known) if known else math.nan


def _details(found: "list[Experiment]", area: int, title: str) -> list[str]:
    """Give recall and precision of each class, and the importance of features."""
    from incrowd.predict._validation import importances

    lines = []
    for one in found:
        scores = _classes(one.within[area])
        for what, part, of in (
            ("Recall", scores.recall(), "row"),
            ("Precision", scores.precision(), "column"),
        ):
            lines += ["", f"{what} ({title}, {one.attack}, k = {one.k}): rows are what people are,"]
            lines.append(f"columns what they are predicted to be, in percent of the {of}")
            lines += _matrix(part)
    table = importances([one.models[area] for one in found])
    lines += ["", f"Importance of features ({title}); each model has 1 to give"]
    lines += [f"  {name:<28}{value:>7.2f}" for name, value in table.iter_rows()]
    return lines


def _matrix(part: "Floats") -> list[str]:
    """Say a matrix of shares in lines; nobody of the data is in the first class."""
    from incrowd.predict._training import CLASSES

    lines = [f"{'':<14}" + "".join(f"{name:>12}" for name in CLASSES[1:])]
    for name, row in zip(CLASSES[1:], part[1:, 1:], strict=True):
        lines.append(
            f"  {name:<12}" + "".join(f"{percent(value, sign=False):>12}" for value in row)
        )
    return lines


def _as_json(one: "Experiment") -> dict[str, Any]:
    return {
        "attack": one.attack,
        "k": one.k,
        "within": [_scores(each) for each in one.within],
        "guessing": [_scores(each) for each in one.guessed],
        "across": [_scores(each) for each in one.across],
        "importances": [dict(model.importances().iter_rows()) for model in one.models],
    }


def _scores(found: "Scores | Values") -> dict[str, Any]:
    from incrowd.predict._scores import Values

    scores = _classes(found)
    about = {
        "accuracy": scores.accuracy,
        "f_measure": scores.f_measure,
        "missed": None if math.isnan(scores.missed) else scores.missed,
        "told_lower": scores.lower,
        "matrix": scores.matrix.tolist(),
    }
    if isinstance(found, Values):
        r2 = None if math.isnan(found.r2) else found.r2
        about |= {"r2": r2, "mean_error": found.error, "squared_error": found.squared}
    return about
