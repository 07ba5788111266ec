"""``incrowd measure``: how hard it is to hide each person, why, and who is."""

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import QUANTILES, WIDTH, duration, length, percent, significant
from incrowd.cli._console import on_first_progress, progress, write_people
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson, Overwrite, PeopleFile, Source, reads_data
from incrowd.cli._screen import print_lines
from incrowd.cli._values import numbers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from incrowd.data._frame import Frame
    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._analysis.anonymizability import Anonymizability, Level
    from incrowd.measure._hardness import Causes, Gaps, Hardest
    from incrowd.measure._stretch.definition import Stretch

__all__ = [
    "gaps_of",
    "lines_of",
    "measure",
    "why",
]


_QUARTILES = ("mean", "quarter", "median", "three_quarters")


@reads_data
def measure(
    source: Source,
    crowds: Annotated[
        str,
        typer.Option("--k", help="Size of the crowd; several as in 2,3,5,10.", metavar="K"),
    ] = "2",
    curve: Annotated[
        bool,
        typer.Option(
            "--curve",
            help="Also measure crowds from 2 to 100; takes as long as the largest of them.",
        ),
    ] = False,
    generalise: Annotated[
        bool,
        typer.Option(
            "--generalise",
            help="Also measure coarser grids, from 100 m and 1 min to 20 km and 8 h.",
        ),
    ] = False,
    output: PeopleFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Measure the k-gap: how far each person is from the k-1 who are most like her, and why.

    Example:  `incrowd measure cdr.csv --k 2,5,10 --generalise -o gaps.parquet`
    """
    wanted = numbers_of(crowds, "2,5,10")
    import incrowd
    from incrowd._atomic import refuse_taken
    from incrowd.data._io.write import kind_of
    from incrowd.evaluate._analysis.anonymizability import crowds_for

    if output is not None:
        kind_of(output)
        refuse_taken(output, overwrite=overwrite)
    data = source.read()
    threads = source.reading["threads"]
    every = sorted({*wanted, *(crowds_for(len(data)) if curve else ())})
    with progress("Measuring", "people") as update:
        table = incrowd.k_gap(
            data, every, threads=threads, progress=on_first_progress(update, "search")
        )
    spread = _spread(data, wanted if output is not None else every[:1], table, threads)
    with progress("Analysing causes", "people") as update:
        found = incrowd.anonymizability(
            data,
            every if curve else wanted,
            None if generalise else (),
            gaps=table,
            causes=spread.get(every[0]),
            threads=threads,
            progress=update,
        )
    stretch = incrowd.Stretch.of(None, data.frame)
    told = [gaps_of(table, k, stretch, data.frame) for k in wanted]
    if output is not None:
        write_people(_people_of(table, spread), output, overwrite=overwrite)
    if as_json:
        about: dict[str, Any] = {
            "people": len(data),
            "samples": data.samples,
            "cell_m": data.frame.cell,
            "slot_s": data.frame.slot,
            "stretch": asdict(stretch),
            "k_gap": [asdict(each) for each in told],
        }
        more = found.as_dict()
        names = ("k", "points", "distribution", "causes", "hardest", "words")
        about["anonymizability"] = {name: more[name] for name in names}
        if curve:
            about["anonymizability"]["curve"] = more["gaps"]
        if generalise:
            about["anonymizability"]["levels"] = more["levels"]
        print_json(about)
        return
    print(f"{'people':<22}{len(data):,}\n{'samples':<22}{data.samples:,}\n")
    print_lines(lines_of(told, stretch, data.frame))
    print_lines(["", *why(found, curve=curve)])


def _spread(
    data: "Trajectories", ks: list[int], table: "pl.DataFrame", threads: int | None
) -> dict[int, "pl.DataFrame"]:
    """Take the cost of everybody apart, for each k."""
    import incrowd

    with progress("Decomposing costs", "people") as update:
        return {
            k: incrowd.dispersion(data, k, gaps=table, threads=threads, progress=update) for k in ks
        }


def _people_of(table: "pl.DataFrame", spread: dict[int, "pl.DataFrame"]) -> "pl.DataFrame":
    """Put k-gaps and what they are made of side by side: a row per person and k."""
    import polars as pl

    several = len(spread) > 1
    parts = []
    for k, rows in spread.items():
        gaps = table.filter(pl.col("k") == k).drop("nearest")
        both = pl.concat([gaps, rows.drop("user")], how="horizontal")
        parts.append(both.with_row_index("person"))
    people = pl.concat(parts).sort("person", "k", maintain_order=True).drop("person")
    return people if several else people.drop("k")


def gaps_of(table: "pl.DataFrame", k: int, stretch: "Stretch", grid: "Frame") -> "Gaps":
    """Say how the k-gaps of people are spread, for one k of a table of `incrowd.k_gap`."""
    from incrowd.measure import _hardness as hardness

    return hardness.gaps_of(table, k, stretch, grid)


def lines_of(found: list["Gaps"], stretch: "Stretch", grid: "Frame") -> list[str]:
    """Say it in lines: a table, and what it means."""
    km, hours = stretch.max_space * grid.cell / 1000, stretch.max_time * grid.slot / 3600
    lines = _quantiles("k-gap", found, (*_QUARTILES, "percentile_80", "most"))
    meaning = (
        "The k-gap of a person is the mean cost of merging her with each of the k-1 people most "
        "like her, by herself: 0 if they have the same samples as she has, 1 if every sample would "
        "have to grow by "
        f"{km:g} km and {hours:g} h or more, so that nothing is left of it."
    )
    lines += ["", *textwrap.wrap(meaning, WIDTH), ""]
    for each in found:
        says = (
            f"k = {each.k}: {_people(each.already_hidden)} k-anonymous already. The median "
            f"person's samples would grow by {length(1000 * each.median_km, 2)} in space (width "
            f"and height together) and by {duration(each.median_minutes)} in time; for "
            f"{percent(each.time_above_space)} of people, time costs more than space."
        )
        lines += textwrap.wrap(says, WIDTH)
    return lines


def _quantiles(title: str, found: "Sequence[Gaps]", names: tuple[str, ...]) -> list[str]:
    """Lay out figures of the k-gap: a row for each k."""
    lines = [f"{title:<12}" + "".join(f"{QUANTILES[name]:>9}" for name in names)]
    for each in found:
        cells = "".join(f"{getattr(each, name):>9.3f}" for name in names)
        lines.append(f"{f'k = {each.k}':<12}{cells}")
    return lines


def _people(share: float) -> str:
    return f"{percent(share)} of people are" if share else "nobody is"


def why(found: "Anonymizability", *, curve: bool = False) -> list[str]:
    """Say why in lines: tables, and sentences."""
    lines = [f"Why, for k = {found.k}", *_causes(found.causes)]
    if found.hardest is not None:
        lines += ["", *_hardest(found.hardest)]
    if curve:
        lines += ["", *_curve(found.gaps)]
    if found.levels:
        lines += ["", *_levels(found.levels, found.k)]
    lines.append("")
    for text in found.words():
        lines += textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ")
    return lines


def _causes(causes: "Causes") -> list[str]:
    heads = ("TWI below 1.6", "1.6 or more", "undefined", "median TWI", "median Gini")
    lines = [f"{'':<12}" + "".join(f"{head:>15}" for head in heads)]
    for name, tail in (("total", causes.total), ("space", causes.space), ("time", causes.time)):
        index = "-" if tail.median is None else f"{tail.median:.2f}"
        cells = (*map(percent, (tail.light, tail.heavy, tail.undefined)), index)
        lines.append(
            f"{name:<12}" + "".join(f"{cell:>15}" for cell in (*cells, f"{tail.gini_median:.2f}"))
        )
    if causes.time_above_space is None:
        return lines
    shares = (
        ("time costs more than space", causes.time_above_space),
        ("time is 80% of the cost or more", causes.mostly_time),
        ("time is all of it", causes.only_time),
        ("space is all of it", causes.only_space),
    )
    whom = "people" if causes.already_hidden == 0 else "those who are not hidden"
    return [
        *lines,
        "",
        *(f"{name:<36}{percent(share or 0):>7} of {whom}" for name, share in shares),
    ]


def _hardest(hardest: "Hardest") -> list[str]:
    lines = [f"{'typical of':<56}{'hardest tenth':>16}{'others':>12}"]
    lines += [
        f"{trait.says:<56}{significant(trait.hardest):>16}{significant(trait.others):>12}"
        for trait in hardest.traits
    ]
    return lines


def _curve(gaps: tuple["Gaps", ...]) -> list[str]:
    return _quantiles("crowd", gaps, _QUARTILES)


def _levels(levels: tuple["Level", ...], k: int) -> list[str]:
    cuts = "".join(f"{QUANTILES[name]:>9}" for name in ("median", "three_quarters"))
    lines = [f"{'km-min':<12}{f'{k}-anonymous':>13}{cuts}{'samples':>13}"]
    lines += [
        f"{f'{each.metres / 1000:g}-{each.minutes:g}':<12}{percent(each.hidden):>13}"
        f"{each.median:>9.3f}{each.three_quarters:>9.3f}{each.samples:>13,}"
        for each in levels
    ]
    return lines
