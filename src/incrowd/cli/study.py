"""``incrowd study``: which features of the data make hiding cheap."""

import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import QUANTILES, WIDTH, significant
from incrowd.cli._console import on_first_progress, progress
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson, Source, reads_data
from incrowd.cli._screen import print_lines
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.evaluate._analysis.study import Correlation, Group, Study
    from incrowd.evaluate._analysis.subsets import Subset

__all__ = [
    "lines_of",
    "study",
]


_CUTS = ("mean", "quarter", "median", "three_quarters")
_SIDES = 4


@reads_data
def study(
    source: Source,
    k: Annotated[int, typer.Option("--k", "-k", help="Size of the crowd.", metavar="K")] = 2,
    spans: Annotated[
        str,
        typer.Option(
            help="Time spans to anonymize by themselves: numbers of first days.", metavar="DAYS"
        ),
    ] = "1,2,3,7,14",
    shares: Annotated[
        str,
        typer.Option(
            help="Random shares of the people to anonymize by themselves.", metavar="SHARES"
        ),
    ] = "0.05,0.1,0.25,0.5,1",
    area: Annotated[
        str | None,
        typer.Option(
            help="Area to anonymize by itself, in degrees.",
            metavar="WEST,SOUTH,EAST,NORTH",
            show_default="the densest square of 20 km",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Features to study, separated by commas: span, coverage, people, frequency, "
            "correlations.",
            metavar="FEATURES",
            show_default="all",
        ),
    ] = None,
    reshape: Annotated[
        str,
        typer.Option(
            help="What happens to samples that overlap in time: split, union or none.",
            metavar="HOW",
        ),
    ] = "split",
    seed: Annotated[
        int, typer.Option(help="Seed: the same seed, the same random shares.", metavar="N")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Study which features of the data make anonymization with GLOVE accurate.

    Anonymizes subsets of the data (time spans, areas, shares of the people) and compares how
    accurate the results are.

    Example:  `incrowd study cdr.csv --only span,people --spans 1,7`
    """
    days = _numbers("--spans", spans, "1,2,7")
    parts = _numbers("--shares", shares, "0.1,0.5,1")
    sides = None if area is None else _numbers("--area", area, "-4.1,5.2,-3.9,5.4")
    if sides is not None and len(sides) != _SIDES:
        raise ArgumentError(
            f"--area must be west, south, east and north in degrees, like -4.1,5.2,-3.9,5.4, not "
            f"{area!r}"
        )
    import incrowd
    from incrowd.evaluate._analysis.study import FEATURES, check

    wanted = FEATURES if only is None else [name.strip() for name in only.split(",")]
    check(k, days, parts, wanted)
    data = source.read()
    with progress("Hiding", "people") as update:
        found = incrowd.study(
            data,
            k,
            spans=days,
            shares=parts,
            area=None if sides is None else (sides[0], sides[1], sides[2], sides[3]),
            only=wanted,
            reshape=reshape,
            seed=seed,
            threads=source.reading["threads"],
            progress=on_first_progress(update, "search"),
        )
    if as_json:
        print_json(found.as_dict())
    else:
        print_lines(lines_of(found))


def _numbers(option: str, text: str, example: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise ArgumentError(
            f"{option} must be numbers separated by commas, like {example}, not {text!r}"
        ) from error


def lines_of(found: "Study") -> list[str]:
    """Say it in lines: a table for each feature, and what it means."""
    lines = [
        f"{'people':<22}{found.people:,}",
        f"{'samples':<22}{found.samples:,}",
        f"{'time':<22}{found.days:.1f} days",
        f"{'k':<22}{found.k}, by GLOVE",
    ]
    for title, parts in (
        ("Time span", found.span),
        ("Coverage", found.coverage),
        ("Number of people", found.cardinality),
    ):
        if parts is not None:
            lines += ["", *_table(title, [_row(part.name, part) for part in parts])]
            if title == "Coverage" and found.area and found.area["degrees"]:
                edges = ",".join(f"{edge:g}" for edge in found.area["degrees"])
                lines.append(f"The area is {edges} (west, south, east, north).")
    if found.frequency is not None:
        rows = [_row(_range(group), group) for group in found.frequency]
        lines += ["", *_table("Samples per hour", rows)]
    if found.correlations is not None:
        lines += ["", *_correlations(found.correlations)]
    lines.append("")
    for finding in found.findings():
        lines += textwrap.wrap(finding, WIDTH, initial_indent="- ", subsequent_indent="  ")
    return lines


def _range(group: "Group") -> str:
    return (
        f"{group.least:g} or more" if group.below is None else f"{group.least:g} to {group.below:g}"
    )


def _row(name: str, part: "Subset | Group") -> list[str]:
    row = [name, f"{part.people:,}"]
    if part.space is None or part.time is None:
        return [*row, *"-" * 2 * len(_CUTS)]
    row += [significant(getattr(part.space, cut) / 1000) for cut in _CUTS]
    return row + [f"{getattr(part.time, cut):,.0f}" for cut in _CUTS]


def _table(title: str, rows: "Sequence[list[str]]") -> list[str]:
    """Lay out what is published: kilometres, then minutes."""
    heads = [QUANTILES[cut] for cut in _CUTS]
    lines = [f"{'':<34}{'km wide':>32}{'min long':>32}"]
    for name, people, *cells in [[title, "people", *heads, *heads], *rows]:
        lines.append(f"{name:<24}{people:>10}" + "".join(f"{cell:>8}" for cell in cells))
    return lines


def _correlations(found: "Sequence[Correlation]") -> list[str]:
    lines = [f"{'Cost of hiding with':<24}{'people':>10}{'Pearson':>10}{'Spearman':>10}"]
    for each in found:
        values: list[Any] = [each.pearson, each.spearman]
        cells = "".join(f"{'-' if value is None else f'{value:.3f}':>10}" for value in values)
        lines.append(f"{each.name.replace('_', ' '):<24}{each.people:>10,}{cells}")
    return lines
