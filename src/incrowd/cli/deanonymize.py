"""``incrowd deanonymize``: who is recognised in later data, by what was learned from earlier.

Both sides of recognition: what is looked at, and what is known; one of them may be a release.
"""

import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._format import WIDTH
from incrowd.cli._console import on_first_progress, progress, say, write_people
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson, Overwrite, PeopleFile, Source, reads_sensors
from incrowd.cli._screen import print_lines
from incrowd.cli._sensors import ByName, Diameter, MaxGap, MinStay, Pois, traces_of
from incrowd.cli._values import by_sensor, in_units
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    import polars as pl

    from incrowd._numba import Ints
    from incrowd.attack._reidentification.deanonymize import Recognition
    from incrowd.data._frame import Frame
    from incrowd.data._visits import Visits
    from incrowd.evaluate._comparison import ComparedDataset
    from incrowd.measure._traces import Trace

__all__ = [
    "HOUR",
    "How",
    "Sides",
    "both_sides",
    "deanonymize",
    "lines_of",
]


HOUR = 60.0


@dataclass(frozen=True, slots=True)
class Sides:
    """What an attacker looks at, and what he knows.

    Attributes
    ----------
    trace
        What he looks at.
    known
        What he knows, if it is another dataset.
    crowd, known_crowd
        How many people share each record, of a release.
    this, that
        What to call them.
    """

    trace: "Trace"
    known: "Visits | None" = None
    crowd: "Ints | None" = None
    known_crowd: "Ints | None" = None
    this: str = "this one"
    that: str = "the other dataset"

    @property
    def shared(self) -> int | None:
        """How many people share their record, of a release."""
        crowd = self.known_crowd if self.crowd is None else self.crowd
        return None if crowd is None else int((crowd > 1).sum())


@dataclass(frozen=True, slots=True)
class How:
    """How traces are made: minutes of a slot, what a POI is, and what a place is."""

    minutes: float | None
    poi: dict[str, Any]
    by_name: bool
    pois: bool

    def traces(self, source: Source) -> dict[str, "Trace"]:
        """Read the traces of sensors."""
        minutes = HOUR if self.minutes is None else self.minutes
        return traces_of(source, minutes, self.poi, by_name=self.by_name, pois=self.pois)

    def stayed(self, fixes: Any, known: Any = None) -> "Trace":
        """Find where people stayed, at POIs that are known where there are any."""
        from incrowd.measure._traces import stayed

        minutes = HOUR if self.minutes is None else self.minutes
        return stayed(fixes, minutes, known=known, **self.poi)


def both_sides(
    source: Source, against: list[str], record: Path | None, how: How
) -> dict[str, Sides]:
    """Read what is attacked and what is known, sensor by sensor if there are several."""
    path, files = by_sensor(against) if against else (None, {})
    other = None if path is None else replace(source, path=path, files=files)
    releases = [one for one in (source, other) if one is not None and _is_release(one)]
    if releases:
        return {"data": _with_release(source, other, record, how)}
    if record is not None:
        paths = [source.path] if path is None else [source.path, path]
        raise ArgumentError(
            f"--record needs a release, and {' and '.join(paths)} "
            f"{'is' if len(paths) == 1 else 'are'} none; leave --record out"
        )
    if _by_sensors(source, how):
        traces = how.traces(source)
        return {name: Sides(one, _sensed(one, name, other, how)) for name, one in traces.items()}
    import incrowd
    from incrowd.measure._traces import Trace

    data = source.read()
    trace = Trace(incrowd.visits(data), _slots(how.minutes, data.frame), fixes=data)
    # On the same grid, so that a place has the same code in both.
    known = None if other is None else incrowd.visits(other.read_on(data.frame))
    return {"data": Sides(trace, known)}


def _by_sensors(source: Source, how: How) -> bool:
    from incrowd.data._io.read import sensors_of

    asked = how.by_name or how.pois or source.reading["sensor"] or source.files
    return bool(asked or sensors_of(source.path))


def _sensed(trace: "Trace", name: str, other: Source | None, how: How) -> "Visits | None":
    """Read what another dataset tells of a sensor, with the same POIs if it has any."""
    if other is None:
        return None
    reading: dict[str, Any] = other.reading | {"sensor": None if name == "data" else name}
    if trace.fixes is not None:
        grid = dict.fromkeys(("crs", "cell", "slot"))
        reading |= {**grid, "frame": trace.fixes.frame}
    theirs = how.traces(replace(other, reading=reading))[name]
    if trace.pois is None:
        return theirs.visits
    return how.stayed(theirs.fixes, trace.pois).visits


def _is_release(source: Source) -> bool:
    from incrowd.data._manifest import MANIFEST

    return not source.files and (Path(source.path) / MANIFEST).is_file()


def _with_release(source: Source, other: Source | None, record: Path | None, how: How) -> Sides:
    """Read a release, and the other dataset beside it, if there is one."""
    from incrowd.evaluate._comparison import compared_datasets, of_files, release_alone

    if how.by_name:
        raise ArgumentError("--by-name cannot be used with a release, which has no place names")
    if other is None:
        if record is not None:
            raise ArgumentError(
                "--record needs --against, the data that the release is compared with"
            )
        with progress("Reading", "people"):
            side = release_alone(source.path)
        [trace] = _laid_out(how, side)
        return Sides(trace, crowd=side.crowd, this="the rest of this release")
    attacked = _is_release(source)
    folder, original = (source.path, other) if attacked else (other.path, source)
    if _is_release(original):
        raise ArgumentError(
            "DATA and --against are both releases; one of them must be data with the identifiers "
            "of the input"
        )
    if record is None:
        raise ArgumentError(
            f"{folder} is a release, in which people have new identifiers; give the private record "
            "that incrowd anonymize --record wrote with --record FILE"
        )
    _refuse_sensors(original)
    with progress("Reading", "people"):
        pair = of_files(folder, original.read_on, record, other=True)
    strangers = int(pair.after.crowd.sum()) - len(pair.known)
    if strangers:
        say(f"note: {strangers:,} people of the release are not in the other dataset")
    before, after = compared_datasets(pair)
    if attacked:
        trace, known = _laid_out(how, after, before, gps=original)
        return Sides(trace, known.visits, crowd=after.crowd, this="this release")
    trace, known = _laid_out(how, before, after, gps=original)
    return Sides(trace, known.visits, known_crowd=after.crowd, that="the release")


def _laid_out(how: How, *sides: "ComparedDataset", gps: Source | None = None) -> list["Trace"]:
    """Give places of a release, and of what is beside it, the same codes."""
    from incrowd.evaluate._comparison import as_cells
    from incrowd.measure._traces import Trace

    if how.pois or (gps is not None and str(gps.reading["sensor"]).lower() == "gps"):
        found = how.stayed(sides[0].data)
        return [found, *(how.stayed(side.data, found.pois) for side in sides[1:])]
    data = [side.data for side in sides]
    slots = _slots(how.minutes, data[0].frame)
    return [Trace(v, slots, fixes=d) for v, d in zip(as_cells(*data), data, strict=True)]


def _refuse_sensors(original: Source) -> None:
    """Refuse several sensors beside a release, which has none."""
    from incrowd.data._io.read import sensors_of

    names = [*original.files] or sensors_of(original.path)
    if original.files or (names and not original.reading["sensor"]):
        raise ArgumentError(
            f"the data has several sensors ({', '.join(names)}); choose the one that the release "
            f"was made from in a table with a column `sensor`, like --sensor {names[0]}"
        )


def _slots(minutes: float | None, frame: "Frame") -> int:
    """Give the length of a time slot in slots of the data: an hour, or one if it is longer."""
    unit = frame.slot / 60
    asked = max(HOUR, unit) if minutes is None else minutes
    return in_units("--time-bin", asked, unit, "min", "slot") or 1


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
        typer.Option(
            help="Share of each person's record, the earliest part, that the attacker learns from.",
            metavar="SHARE",
        ),
    ] = "0.7",
    most: Annotated[
        int,
        typer.Option(
            "--top-places",
            min=1,
            max=100_000,
            help="Largest number of most visited places that the attacker `top` knows.",
            metavar="N",
        ),
    ] = 50,
    attackers: Annotated[
        str,
        typer.Option(
            "--attacker",
            help="Attackers, separated by commas: top (most visited places), tfidf (places, rare "
            "ones weigh more), markov (moves from place to place).",
            metavar="NAMES",
        ),
    ] = "top,tfidf,markov",
    time_bin: Annotated[
        float | None,
        typer.Option(
            help="Time bin: visits to a place within one count once.",
            metavar="MINUTES",
            show_default="60, or a time step of the grid that is longer",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Learn from this other dataset of the same people, read with the same options; "
            "one of the two may be a release. Repeat it if each sensor has a file.",
            metavar="DATA2",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="With a release and --against: private record of who became whom.",
            metavar="FILE",
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--no-split",
            help="With --against: learn from all of that dataset and test on all of DATA.",
        ),
    ] = False,
    by_name: ByName = False,
    pois: Pois = False,
    diameter: Diameter = 250,
    stay: MinStay = 30,
    gap: MaxGap = None,
    output: PeopleFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Try to re-identify everybody in later data by what was learned from earlier data.

    The attacker learns from the first part of each person's record and looks for the people in the
    rest, which has no names. A table with a column `sensor` is attacked sensor by sensor, and so
    are several files, one for each sensor: GPS by where people stayed, others by the places that
    they name.

    Example:  `incrowd deanonymize cdr.csv --train 0.7 --top-places 50 -o matches.csv`

    Example:  `incrowd deanonymize june.parquet --against may.parquet --no-split`

    Example:  `incrowd deanonymize gsm=gsm.csv wifi=wifi.csv gps=gps.csv`

    Example:  `incrowd deanonymize release --against cdr.csv --record who.parquet`
    """
    from incrowd._atomic import refuse_taken
    from incrowd.attack._reidentification.deanonymize import deanonymize as recognise
    from incrowd.data._io.write import kind_of

    if whole and not against:
        raise ArgumentError(
            "--no-split needs --against: without another dataset to learn from, the data must be "
            "split"
        )
    settings = _checked(None if whole else train, most, attackers)
    if output is not None:
        kind_of(output)
        refuse_taken(output, overwrite=overwrite)
    poi = {"diameter": diameter, "stay": stay, "gap": gap}
    how = How(time_bin, poi, by_name, pois)
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
                progress=on_first_progress(update, "recognition"),
                **settings,
            )
    shown = sorted({*(n for n in SHOWN if n <= most), most})
    if output is not None:
        write_people(_matches(found, shown), output, overwrite=overwrite)
    trained = None if whole else train
    if as_json:
        about = {
            name: _about(one, trained, sides[name], _seconds(sides[name].trace, time_bin))
            for name, one in found.items()
        }
        print_json(about["data"] if list(about) == ["data"] else about)
        return
    for i, (name, one) in enumerate(found.items()):
        if name != "data":
            print(f"{'' if i == 0 else chr(10)}{name}\n{'-' * len(name)}")
        learned = _learned(trained, sides[name])
        print_lines(lines_of(one, shown, learned, sides[name].shared))


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
    from incrowd.attack._reidentification.matchers import attackers_of
    from incrowd.attack._reidentification.split import share_of

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
