"""``incrowd attack``: what somebody who knows a little of a person can find out who she is.

Of data that nothing was done to; of a release, `_release_attacks` does the work.
"""

import textwrap
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import WIDTH
from incrowd.cli._attack_options import (
    Names,
    Points,
    Relative,
    Targets,
    TimeBin,
    Tolerance,
    asked_for,
    checked,
    listed,
    with_precision,
)
from incrowd.cli._console import on_first_progress, progress, warn, write_people
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson, LocalZone, Overwrite, PeopleFile, Source, reads_data
from incrowd.cli._release_attacks import (
    Beside,
    Details,
    Later,
    Original,
    OtherRecords,
    Others,
    Places,
    Record,
    Reference,
    Sample,
    Seed,
    attack_release,
    refuse_release_options,
    release_in,
)
from incrowd.cli._screen import print_lines
from incrowd.cli._sensors import NamedPlaces, visits_by_name
from incrowd.cli._values import numbers_of

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._trajectories import Trajectories
    from incrowd.data._visits import Visits

__all__ = [
    "Risks",
    "attack",
    "lines_of",
    "risks_of",
]


HALF = 0.5
NAMED = 27
"""How wide the column of names is."""


@reads_data
def attack(
    context: typer.Context,
    source: Source,
    attacks: Names = "",
    points: Points = "2,4",
    tolerance: Tolerance = None,
    relative: Relative = False,
    time_bin: TimeBin = None,
    targets: Targets = None,
    by_name: NamedPlaces = False,
    worst: Annotated[
        int,
        typer.Option(
            "--most-at-risk",
            min=0,
            help="Show this many of the people most at risk, and the points that identify them.",
            metavar="N",
        ),
    ] = 0,
    record: Record = None,
    original: Original = None,
    reference: Reference = None,
    later: Later = None,
    others: Others = None,
    other_records: OtherRecords = None,
    sensitive: Places = None,
    details: Details = False,
    sample: Sample = None,
    seed: Seed = 0,
    local: LocalZone = None,
    output: PeopleFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Compute each person's exact risk of re-identification by an adversary who knows k points.

    The risk of a person is one over the number of people whom the k points leave, for the k points
    that leave fewest. If DATA is a release: what adversaries gain who hold it.

    Example:  `incrowd attack cdr.csv --attack location,visit --k 2,3,4,5 --most-at-risk 10`

    Example:  `incrowd attack scans.csv --by-name`

    Example:  `incrowd attack release/ --record who.parquet`

    Example:  `incrowd attack may/ --with june/ --attack composition`
    """
    if (release := release_in(source)) is not None:
        beside = Beside(record, original, reference, later, others, other_records, sensitive)
        attack_release(
            context, release, source, attacks, beside,
            sample=sample, seed=seed, local=local, details=details, as_json=as_json,
        )  # fmt: skip
        return
    refuse_release_options(context)
    import incrowd
    from incrowd._atomic import refuse_taken
    from incrowd.data._io.write import kind_of

    names, settings = checked(attacks, tolerance, relative)
    wanted, some = numbers_of(points, "2,3,4,5"), listed(targets)
    if output is not None:
        kind_of(output)
        refuse_taken(output, overwrite=overwrite)
    if by_name:
        visits = visits_by_name(source)
        places = _Places(visits)
    else:
        data = source.read()
        visits = incrowd.visits(data)
        places = _Places(visits, data)
    who = asked_for(some, visits.people)
    settings = with_precision(settings, time_bin, places.grid)
    with progress("Attacking", "people") as update:
        table = incrowd.risk(
            visits,
            names,
            wanted,
            targets=who,
            instances=worst > 0,
            threads=source.reading["threads"],
            progress=on_first_progress(update, "attack"),
            **settings,
        )
    found = risks_of(table)
    most = _most_at_risk(table, worst)
    if output is not None:
        write_people(table.select("attack", "k", "user", "risk"), output, overwrite=overwrite)
    if as_json:
        about: dict[str, Any] = {"people": len(visits), "visits": len(visits.place)}
        if who is not None:
            about["targets"] = len(who)
        about["risk"] = [asdict(each) for each in found]
        if worst:
            about["worst"] = most
        print_json(about)
        return
    print(f"{'people':<22}{len(visits):,}\n{'visits':<22}{len(visits.place):,}")
    if who is not None:
        print(f"{'under attack':<22}{len(who):,}; the crowd is everybody")
    print_lines(["", *lines_of(found, "people" if who is None else "those under attack")])
    if most:
        print_lines(["", *_people(most, places)])


@dataclass(frozen=True, slots=True)
class Risks:
    """How the risks of people are spread, for one attack and one number of known points.

    Attributes
    ----------
    attack, k
        What is known, and how many points of it.
    certain
        The share of people of whom some k points leave nobody else: their risk is 1.
    half
        The share of people whose risk is a half or more: at most one other is left.
    mean, highest
        Of the risk.
    """

    attack: str
    k: int
    certain: float
    half: float
    mean: float
    highest: float


def risks_of(table: "pl.DataFrame") -> list[Risks]:
    """Say how risks are spread, for each attack and each k of a table of `incrowd.risk`."""
    return [
        Risks(
            attack=name,
            k=k,
            certain=float((part["risk"] == 1).mean()),  # type: ignore[arg-type]
            half=float((part["risk"] >= HALF).mean()),  # type: ignore[arg-type]
            mean=float(part["risk"].mean()),  # type: ignore[arg-type]
            highest=float(part["risk"].max()),  # type: ignore[arg-type]
        )
        for (name, k), part in table.group_by("attack", "k", maintain_order=True)
    ]


def lines_of(found: list[Risks], whom: str = "people") -> list[str]:
    """Say it in lines: a table, and what it means."""
    lines = [f"{'attack':<{NAMED}}{'k':>3}{'risk 1':>12}{'0.5 or more':>14}{'mean risk':>12}"]
    before = ""
    for each in found:
        name, before = each.attack if each.attack != before else "", each.attack
        shares = f"{each.certain:>12.1%}{each.half:>14.1%}"
        lines.append(f"{name:<{NAMED}}{each.k:>3}{shares}{each.mean:>12.3f}")
    worst = max(found, key=lambda each: each.certain)
    meaning = (
        "The risk of a person is one over the number of people who are left when an adversary "
        "knows k points of her: those k points that leave fewest. Nothing is estimated; it is as "
        f"if all had been tried. At worst ({worst.attack}, k = {worst.k}), {worst.certain:.1%} of "
        f"{whom} are uniquely re-identified."
    )
    return [*lines, "", *textwrap.wrap(meaning, WIDTH)]


def _most_at_risk(table: "pl.DataFrame", number: int) -> list[dict[str, Any]]:
    """Give the people most at risk; of equals, those of whom fewest points have to be known."""
    import polars as pl

    if not number:
        return []
    warn("this output names people of the input and what identifies them")
    ranked = table.with_row_index("row").sort(
        pl.col("crowd"), pl.col("knows").list.len(), pl.col("row")
    )
    return (
        ranked.unique("user", keep="first", maintain_order=True).head(number).drop("row").to_dicts()
    )


def _people(most: list[dict[str, Any]], places: "_Places") -> list[str]:
    """Say who is most at risk, and what an adversary would have to know."""
    lines = ["Most at risk"]
    for each in most:
        left = each["crowd"] - 1
        others = "nobody else" if not left else f"{left:,} other{'s' if left > 1 else ''}"
        known = "; ".join(_point(point, places) for point in each["knows"])
        how = f"({each['attack']}, k = {each['k']})"
        text = f"{each['user']}: {others} left {how}, knowing {known}"
        lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines


class _Places:
    """Names places as the input does, or by their cells where it names none."""

    def __init__(self, visits: "Visits", data: "Trajectories | None" = None) -> None:
        assert visits.frame is not None  # noqa: S101  that of what was read
        self.grid, self.sides, self.cells = visits.frame, None, False
        if data is None:
            return
        whole = bool((data.x1 - data.x0 == 1).all() and (data.y1 - data.y0 == 1).all())
        # Codes are names, too, if the input has whole numbers for places; as text it has none.
        self.cells = visits.places is None and (data.place is None or data.places is not None)
        if self.cells and not whole:
            import numpy as np

            self.sides = np.unique(np.stack([data.x0, data.x1, data.y0, data.y1], 1), axis=0)

    def __call__(self, place: Any) -> str:
        """Name a place by its code, or by the name that it has already."""
        if not self.cells:
            return str(place)
        if self.sides is not None:
            x0, x1, y0, y1 = self.sides[place].tolist()
            return f"cells {x0} to {x1 - 1}, {y0} to {y1 - 1}"
        x, y = (place + 2**31) >> 32, (place + 2**31) % 2**32 - 2**31
        return f"cell {x}, {y}"


def _point(point: dict[str, Any], places: _Places) -> str:
    """Say what is known of a place."""
    text = places(point["place"])
    if point["time"] is not None:
        moment = str(places.grid.times([point["time"]])[0]).replace("T", " ")
        text += f" at {moment} UTC"
    if point["visits"] is not None:
        text += f" {point['visits']:,} times"
    if point["of"] is not None:
        text += f" of {point['of']:,}"
    return text
