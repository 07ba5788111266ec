"""``incrowd deanonymize``: who is recognised in later data, by what was learned from earlier."""

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.console import once_begun, progress, write_people
from incrowd.cli.knowing import HOUR, How, Sides, both_sides
from incrowd.cli.measure import WIDTH
from incrowd.cli.options import AsJson, Force, PeopleFile, Source, reads_sensors
from incrowd.cli.sensing import ByName, Diameter, Gap, Pois, Stay
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.attack.recognition import Recognition
    from incrowd.measure.traces import Trace

__all__ = ["deanonymize", "lines_of"]

SHOWN = (1, 2, 3, 5, 10, 20, 50)
KNOWS = {
    "top": "each person's n most visited places",
    "tfidf": "how often each person was where; rare places weigh more",
    "markov": "how often each person went from where to where",
}


@reads_sensors
def deanonymize(
    source: Source,
    train: Annotated[
        str,
        typer.Option(help="The part of each person's record, in time, to learn.", metavar="PART"),
    ] = "0.7",
    most: Annotated[
        int,
        typer.Option(
            "--n", min=1, max=100_000, help="Most visited places known, at most.", metavar="N"
        ),
    ] = 50,
    attackers: Annotated[
        str,
        typer.Option(
            "--attacker", help="top, tfidf, markov; several as in top,markov.", metavar="NAMES"
        ),
    ] = "top,tfidf,markov",
    slot_minutes: Annotated[
        float | None,
        typer.Option(
            help="A place counts once in so many minutes; an hour unless given.", metavar="MIN"
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Learn from this other dataset of the same people, read with the same options; "
            "DATA or this may be a release. Several times, if each sensor has its file.",
            metavar="DATA2",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="With a release and --against: the private record of who became whom.",
            metavar="FILE",
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="With --against: learn from all of it, test all of DATA."),
    ] = False,
    by_name: ByName = False,
    pois: Pois = False,
    diameter: Diameter = 250,
    stay: Stay = 30,
    gap: Gap = None,
    output: PeopleFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Try to recognise everybody in the last part of the data, by what is known from the first.

    A table with a column `sensor` is taken sensor by sensor: gps by where people stayed, others by
    the places that they name. So is one file a sensor, each with the sensor's name before it.

    Example:  `incrowd deanonymize cdr.csv --train 0.7 --n 50 -o recognised.csv`

    Example:  `incrowd deanonymize june.parquet --against may.parquet --whole`

    Example:  `incrowd deanonymize gsm=gsm.csv wifi=wifi.csv gps=gps.csv`

    Example:  `incrowd deanonymize release --against cdr.csv --record who.parquet`
    """
    from incrowd.attack.recognition import deanonymize as recognise
    from incrowd.data.atomic import refuse_taken
    from incrowd.data.tables import kind_of

    if whole and not against:
        raise ArgumentError("--whole needs --against: nobody learns from what is to be recognised")
    settings = _checked(None if whole else train, most, attackers)
    if output is not None:
        kind_of(output)
        refuse_taken(output, overwrite=force)
    poi = {"diameter": diameter, "stay": stay, "gap": gap}
    how = How(slot_minutes, poi, by_name, pois)
    sides = both_sides(source, against or [], record, how)
    found = {}
    for name, both in sides.items():
        with progress("Recognising", "people") as update:
            found[name] = recognise(
                both.trace.visits,
                known=both.known,
                crowd=both.crowd,
                known_crowd=both.known_crowd,
                precision=both.trace.precision,
                matches=output is not None,
                threads=source.reading["threads"],
                progress=once_begun(update, "attack.top", "half a minute"),
                **settings,
            )
    shown = sorted({*(n for n in SHOWN if n <= most), most})
    if output is not None:
        write_people(_matches(found, shown), output, overwrite=force)
    trained = None if whole else train
    if as_json:
        about = {
            name: _about(one, trained, sides[name], _seconds(sides[name].trace, slot_minutes))
            for name, one in found.items()
        }
        print(json.dumps(about["data"] if list(about) == ["data"] else about, indent=2))
        return
    for i, (name, one) in enumerate(found.items()):
        if name != "data":
            print(f"{'' if i == 0 else chr(10)}{name}\n{'-' * len(name)}")
        learned = _learned(trained, sides[name])
        print("\n".join(lines_of(one, shown, learned, sides[name].shared)))


def _seconds(trace: "Trace", minutes: float | None) -> int:
    """Give how long a slot is."""
    if trace.fixes is not None and trace.pois is None:
        return trace.precision * trace.fixes.frame.slot
    return round(60 * (HOUR if minutes is None else minutes))


def _matches(found: dict[str, "Recognition"], shown: list[int]) -> "pl.DataFrame":
    """Give who was taken for whom, sensor by sensor if there are several."""
    import polars as pl

    tables = []
    for name, one in found.items():
        assert one.matches is not None  # noqa: S101  they were asked for
        rows = one.matches.filter(pl.col("n").is_in(shown) | pl.col("n").is_null())
        tables.append(rows if name == "data" else rows.insert_column(0, _named(name, len(rows))))
    return pl.concat(tables)


def _named(name: str, rows: int) -> "pl.Series":
    import polars as pl

    return pl.Series("sensor", [name] * rows, dtype=pl.String)


def _checked(train: str | None, most: int, attackers: str) -> dict[str, Any]:
    """Give the settings, so that nothing is read for the sake of an error."""
    from incrowd.attack.attackers import attackers_of
    from incrowd.attack.halves import share_of

    names = attackers_of(name.strip() for name in attackers.split(",") if name.strip())
    share = share_of(train, other=train is None)
    return {"share": share, "n": range(1, most + 1), "attackers": names}


def _about(found: "Recognition", train: str | None, sides: Sides, slot_s: int) -> dict[str, Any]:
    """Give everything for machines."""
    about: dict[str, Any] = {
        "everybody": found.everybody,
        "people": found.people,
        "excluded": found.excluded,
        "trained_on": train,
        "slot_s": slot_s,
    }
    if sides.shared is not None:
        about["sharing_a_record"] = sides.shared
    if found.without_transitions is not None:
        about["without_transitions"] = found.without_transitions
    return about | {"recognised": found.table.drop("people").to_dicts()}


def lines_of(
    found: "Recognition", shown: list[int], learned: str, shared: int | None = None
) -> list[str]:
    """Say it in lines: a table (of top, the n to be shown), and what it means.

    `shared` people share their published record, if one side is a release.
    """
    lines = [f"{'people':<22}{found.people:,}"]
    for reason, number in found.excluded.items():
        if number:
            lines.append(f"{'  left out':<22}{number:,}  ({reason})")
    if shared:
        lines.append(f"{'  in crowds':<22}{shared:,}  (share their published record: no match)")
    heads = (
        f"{'attacker':<12}{'n':>4}{'named':>12}{'precision':>12}{'recognised':>13}{'of all':>10}"
    )
    lines += ["", heads]
    before = ""
    for row in found.table.iter_rows(named=True):
        if row["n"] is not None and row["n"] not in shown:
            continue
        name, before = row["attacker"] if row["attacker"] != before else "", row["attacker"]
        n = "" if row["n"] is None else row["n"]
        precise = "-" if row["precision"] is None else f"{row['precision']:.1%}"
        named = row["matched"] / row["people"]
        recalls = f"{row['recall']:>13.1%}{row['recall_all']:>10.1%}"
        lines.append(f"{name:<12}{n:>4}{named:>12.1%}{precise:>12}{recalls}")
    lines += ["", *textwrap.wrap(_meaning(found, learned), WIDTH), ""]
    for name in found.table["attacker"].unique(maintain_order=True):
        lines.append(f"{name + ' knows':<14}{KNOWS[name]}")
    if found.without_transitions:
        lines.append(
            f"{'':<14}(nothing of {found.without_transitions:,} people with one entry only)"
        )
    return lines


def _learned(train: str | None, sides: Sides) -> str:
    """Say from what somebody learned, and where he looks for people."""
    from fractions import Fraction

    if train is None:
        return f"has {sides.that}, with names, looks at {sides.this}"
    part = f"the first {float(Fraction(train)) * 100:g} % of each record"
    if sides.known is not None:
        return f"has {part} of {sides.that}, with names, looks at the rest of {sides.this}"
    return f"has {part}, with names, looks at the rest"


def _meaning(found: "Recognition", learned: str) -> str:
    """Say what the table means to whoever decides about the data."""
    best = max(found.table.iter_rows(named=True), key=lambda row: row["correct"])
    which = best["attacker"] if best["n"] is None else f"{best['attacker']}, n = {best['n']}"
    right = (
        f"{best['precision']:.1%} of the names that are given are right"
        if best["matched"]
        else "nobody is named"
    )
    then = (
        "Taking names away, or giving new ones from time to time, does not protect them."
        if best["correct"]
        else "That these attackers fail does not mean that others do."
    )
    return (
        f"Somebody who {learned}, without names, and says who each is if one person alone fits "
        "best. Named: of how many he says it. Precision: how many of those names are right. "
        "Recognised: how many people are named, and rightly, of those who have something on both "
        "sides; of all: of everybody, those left out among them. At worst "
        f"({which}), {best['correct']:,} of {best['people']:,} people ({best['recall']:.1%}) are "
        f"recognised; {right}. A guess would be right for one person in {best['people']:,}. "
        f"{then}"
    )
