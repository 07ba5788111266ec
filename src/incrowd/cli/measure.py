"""``incrowd measure``: how hard it is to hide each person."""

import json
import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.console import once_begun, progress, write_people
from incrowd.cli.options import AsJson, Force, PeopleFile, Source, numbers_of, reads_data

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data.frame import Frame
    from incrowd.measure.stretch import Stretch

__all__ = ["WIDTH", "Gaps", "gaps_of", "lines_of", "measure"]

WIDTH = 98
_WIDTHS = (8, 9, 10, 12, 8, 8)


@reads_data
def measure(
    source: Source,
    crowds: Annotated[
        str, typer.Option("--k", help="People in a crowd; several as in 2,3,5,10.", metavar="K")
    ] = "2",
    output: PeopleFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Measure how much has to be lost to hide each person in a crowd of k: the k-gap.

    Example:  `incrowd measure cdr.csv --k 2,5,10 -o gaps.parquet`
    """
    wanted = numbers_of(crowds, "2,5,10")
    import incrowd
    from incrowd.data.atomic import refuse_taken
    from incrowd.data.tables import kind_of

    if output is not None:
        kind_of(output)
        refuse_taken(output, overwrite=force)
    data = source.read()
    with progress("Measuring", "people") as update:
        table = incrowd.k_gap(
            data, wanted, threads=source.reading["threads"], progress=once_begun(update)
        )
    stretch = incrowd.Stretch()
    found = [gaps_of(table, k, stretch, data.frame) for k in wanted]
    if output is not None:
        rows = table if len(wanted) > 1 else table.drop("k")
        write_people(rows.drop("nearest"), output, overwrite=force)
    if as_json:
        about: dict[str, Any] = {
            "people": len(data),
            "samples": data.samples,
            "cell_m": data.frame.cell,
            "slot_s": data.frame.slot,
            "stretch": asdict(stretch),
            "k_gap": [asdict(each) for each in found],
        }
        print(json.dumps(about, indent=2))
        return
    print(f"{'people':<22}{len(data):,}\n{'samples':<22}{data.samples:,}\n")
    print("\n".join(lines_of(found, stretch, data.frame)))


@dataclass(frozen=True, slots=True)
class Gaps:
    """How the k-gaps of people are spread.

    Attributes
    ----------
    k
        The size of the crowd.
    mean, median, quarter, three_quarters, percentile_80, least, most
        Of the k-gap.
    already_hidden
        The share of people whose k-gap is 0: k-1 others have the same samples.
    time_above_space
        The share of people for whom time costs more than space.
    median_km, median_minutes
        The medians of what each sample is stretched by: in width and height together, and in time.
    """

    k: int
    mean: float
    median: float
    quarter: float
    three_quarters: float
    percentile_80: float
    least: float
    most: float
    already_hidden: float
    time_above_space: float
    median_km: float
    median_minutes: float


def gaps_of(table: "pl.DataFrame", k: int, stretch: "Stretch", grid: "Frame") -> Gaps:
    """Say how the k-gaps of people are spread, for one k of a table of `incrowd.k_gap`."""
    import numpy as np

    rows = table.filter(table["k"] == k) if "k" in table.columns else table
    gap, spatial, temporal = (rows[name].to_numpy() for name in ("k_gap", "spatial", "temporal"))
    quantiles = np.quantile(gap, (0, 0.25, 0.5, 0.75, 0.8, 1))
    least, quarter, median, three_quarters, percentile_80, most = map(float, quantiles)
    km, minutes = _real(stretch, grid)
    return Gaps(
        k=k,
        mean=float(gap.mean()),
        median=median,
        quarter=quarter,
        three_quarters=three_quarters,
        percentile_80=percentile_80,
        least=least,
        most=most,
        already_hidden=float((gap == 0).mean()),
        time_above_space=float((temporal > spatial).mean()),
        median_km=float(np.median(spatial)) * km,
        median_minutes=float(np.median(temporal)) * minutes,
    )


def lines_of(found: list[Gaps], stretch: "Stretch", grid: "Frame") -> list[str]:
    """Say it in lines: a table, and what it means."""
    km, hours = stretch.max_space * grid.cell / 1000, stretch.max_time * grid.slot / 3600
    heads = ("mean", "median", "quarter", "3 quarters", "80 %", "most")
    lines = [f"{'k-gap':<12}" + "".join(map(str.rjust, heads, _WIDTHS))]
    for each in found:
        ends = (each.mean, each.median, each.quarter, each.three_quarters, each.percentile_80)
        cells = zip((*ends, each.most), _WIDTHS, strict=True)
        lines.append(f"{f'k = {each.k}':<12}" + "".join(f"{value:>{w}.3f}" for value, w in cells))
    meaning = (
        "The k-gap of a person is the cost of hiding her among the k-1 people most like her: 0 if "
        "they have the same samples as she has, 1 if every sample would have to grow by "
        f"{km:g} km and {hours:g} h or more, so that nothing is left of it."
    )
    lines += ["", *textwrap.wrap(meaning, WIDTH), ""]
    for each in found:
        says = (
            f"k = {each.k}: {_people(each.already_hidden)} k-anonymous already. The median "
            f"person's samples would grow by {each.median_km:.2g} km in space (width and height "
            f"together) and by {each.median_minutes:.0f} min in time; for "
            f"{each.time_above_space:.1%} of people, time costs more than space."
        )
        lines += textwrap.wrap(says, WIDTH)
    return lines


def _people(share: float) -> str:
    return f"{share:.1%} of people are" if share else "nobody is"


def _real(stretch: "Stretch", grid: "Frame") -> tuple[float, float]:
    """Give what a part of 1 in space and in time would be, in km and in minutes."""
    both = stretch.space_weight + stretch.time_weight
    return (
        both / stretch.space_weight * stretch.max_space * grid.cell / 1000,
        both / stretch.time_weight * stretch.max_time * grid.slot / 60,
    )
