"""``incrowd deanonymize``: who is recognised in later data, by what was learned from earlier."""

import json
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.console import once_begun, progress, write_people
from incrowd.cli.measure import WIDTH
from incrowd.cli.options import AsJson, Force, PeopleFile, Source, in_units, reads_data
from incrowd.cli.sensing import ByName, Diameter, Gap, Pois, Stay, traces_of
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.attack.recognition import Recognition
    from incrowd.data.frame import Frame
    from incrowd.measure.traces import Trace

__all__ = ["deanonymize", "lines_of"]

HOUR = 60.0
SHOWN = (1, 2, 3, 5, 10, 20, 50)
KNOWS = {
    "top": "each person's n most visited places",
    "tfidf": "how often each person was where; rare places weigh more",
    "markov": "how often each person went from where to where",
}


@reads_data
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
        str | None,
        typer.Option(
            help="Learn from this other dataset of the same people, read with the same options.",
            metavar="DATA2",
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
    the places that they name.

    Example:  `incrowd deanonymize cdr.csv --train 0.7 --n 50 -o recognised.csv`

    Example:  `incrowd deanonymize june.parquet --against may.parquet --whole`
    """
    import incrowd
    from incrowd.attack.recognition import deanonymize as recognise
    from incrowd.data.atomic import refuse_taken
    from incrowd.data.tables import kind_of

    if whole and against is None:
        raise ArgumentError("--whole needs --against: nobody learns from what is to be recognised")
    settings = _checked(None if whole else train, most, attackers)
    if output is not None:
        kind_of(output)
        refuse_taken(output, overwrite=force)
    poi = {"diameter": diameter, "stay": stay, "gap": gap}
    traces = _sensed(source, slot_minutes, poi, by_name=by_name, pois=pois, other=against)
    if not traces:
        traces = {"data": _laid_out(source, slot_minutes)}
    known = None
    if against is not None:
        # On the same grid, so that a place has the same code in both.
        frame = traces["data"].fixes.frame  # type: ignore[union-attr]
        known = incrowd.visits(replace(source, path=against).read_on(frame))
    found = {}
    for name, trace in traces.items():
        with progress("Recognising", "people") as update:
            found[name] = recognise(
                trace.visits,
                known=known,
                precision=trace.precision,
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
            name: _about(one, trained, _seconds(traces[name], slot_minutes))
            for name, one in found.items()
        }
        print(json.dumps(about["data"] if list(about) == ["data"] else about, indent=2))
        return
    about_it = _learned(trained, other=against is not None)
    for i, (name, one) in enumerate(found.items()):
        if name != "data":
            print(f"{'' if i == 0 else chr(10)}{name}\n{'-' * len(name)}")
        print("\n".join(lines_of(one, shown, about_it)))


def _sensed(
    source: Source,
    minutes: float | None,
    poi: dict[str, Any],
    *,
    by_name: bool,
    pois: bool,
    other: str | None,
) -> dict[str, "Trace"]:
    """Read traces of sensors, if there are any or if they are asked for."""
    from incrowd.data.reading import sensors_of

    if not (by_name or pois or source.reading["sensor"] or sensors_of(source.path)):
        return {}
    if other is not None:
        raise ArgumentError(
            "--against is for data on one grid; with sensors, names or POIs, use "
            "incrowd.deanonymize(..., known=...) in Python"
        )
    return traces_of(source, HOUR if minutes is None else minutes, poi, by_name=by_name, pois=pois)


def _laid_out(source: Source, minutes: float | None) -> "Trace":
    """Read trajectories, and take their places as they are."""
    import incrowd
    from incrowd.measure.traces import Trace

    data = source.read()
    return Trace(incrowd.visits(data), _slots(minutes, data.frame), fixes=data)


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


def _slots(minutes: float | None, frame: "Frame") -> int:
    """Give the length of a time slot in slots of the data: an hour, or one if it is longer."""
    unit = frame.slot / 60
    asked = max(HOUR, unit) if minutes is None else minutes
    return in_units("--slot-minutes", asked, unit, "min", "slot") or 1


def _about(found: "Recognition", train: str | None, slot_s: int) -> dict[str, Any]:
    """Give everything for machines."""
    about: dict[str, Any] = {
        "people": found.people,
        "excluded": found.excluded,
        "trained_on": train,
        "slot_s": slot_s,
    }
    if found.without_transitions is not None:
        about["without_transitions"] = found.without_transitions
    return about | {"recognised": found.table.drop("people").to_dicts()}


def lines_of(found: "Recognition", shown: list[int], learned: str) -> list[str]:
    """Say it in lines: a table (of top, the n to be shown), and what it means."""
    lines = [f"{'people':<22}{found.people:,}"]
    for reason, number in found.excluded.items():
        if number:
            lines.append(f"{'  left out':<22}{number:,}  ({reason})")
    lines += ["", f"{'attacker':<12}{'n':>4}{'named':>12}{'precision':>12}{'recognised':>13}"]
    before = ""
    for row in found.table.iter_rows(named=True):
        if row["n"] is not None and row["n"] not in shown:
            continue
        name, before = row["attacker"] if row["attacker"] != before else "", row["attacker"]
        n = "" if row["n"] is None else row["n"]
        precise = "-" if row["precision"] is None else f"{row['precision']:.1%}"
        named = row["matched"] / row["people"]
        lines.append(f"{name:<12}{n:>4}{named:>12.1%}{precise:>12}{row['recall']:>13.1%}")
    lines += ["", *textwrap.wrap(_meaning(found, learned), WIDTH), ""]
    for name in found.table["attacker"].unique(maintain_order=True):
        lines.append(f"{name + ' knows':<14}{KNOWS[name]}")
    if found.without_transitions:
        lines.append(
            f"{'':<14}(nothing of {found.without_transitions:,} people with one entry only)"
        )
    return lines


def _learned(train: str | None, *, other: bool) -> str:
    """Say from what somebody learned, and where he looks for people."""
    from fractions import Fraction

    if train is None:
        return "has the other dataset, with names, looks at this one"
    part = f"the first {float(Fraction(train)) * 100:g} % of each record"
    if other:
        return f"has {part} of the other dataset, with names, looks at the rest of this one"
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
        "Recognised: how many of all people are named, and rightly. At worst "
        f"({which}), {best['correct']:,} of {best['people']:,} people ({best['recall']:.1%}) are "
        f"recognised; {right}. A guess would be right for one person in {best['people']:,}. "
        f"{then}"
    )
