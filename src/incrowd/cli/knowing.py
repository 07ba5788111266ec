"""Both sides of recognition: what is looked at, and what is known; one of them may be a release."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.cli.console import progress, say
from incrowd.cli.files import by_sensor
from incrowd.cli.options import Source, in_units
from incrowd.cli.sensing import traces_of
from incrowd.errors import ArgumentError

if TYPE_CHECKING:
    from incrowd.compiled import Ints
    from incrowd.data.frame import Frame
    from incrowd.data.visits import Visits
    from incrowd.evaluate.sides import Side
    from incrowd.measure.traces import Trace

__all__ = ["HOUR", "How", "Sides", "both_sides"]

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
        from incrowd.measure.traces import stayed

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
            f"--record tells who is who in a release; there is none at {' or '.join(paths)}"
        )
    if _by_sensors(source, how):
        traces = how.traces(source)
        return {name: Sides(one, _sensed(one, name, other, how)) for name, one in traces.items()}
    import incrowd
    from incrowd.measure.traces import Trace

    data = source.read()
    trace = Trace(incrowd.visits(data), _slots(how.minutes, data.frame), fixes=data)
    # On the same grid, so that a place has the same code in both.
    known = None if other is None else incrowd.visits(other.read_on(data.frame))
    return {"data": Sides(trace, known)}


def _by_sensors(source: Source, how: How) -> bool:
    from incrowd.data.reading import sensors_of

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
    from incrowd.data.manifest import MANIFEST

    return not source.files and (Path(source.path) / MANIFEST).is_file()


def _with_release(source: Source, other: Source | None, record: Path | None, how: How) -> Sides:
    """Read a release, and the other dataset beside it, if there is one."""
    from incrowd.evaluate.pairing import of_files
    from incrowd.evaluate.sides import alone, two_sides

    if how.by_name:
        raise ArgumentError("a release names no places; leave --by-name out")
    if other is None:
        if record is not None:
            raise ArgumentError("--record needs --against: a release by itself has its own names")
        with progress("Reading", "people"):
            side = alone(source.path)
        [trace] = _laid_out(how, side)
        return Sides(trace, crowd=side.crowd, this="the rest of this release")
    attacked = _is_release(source)
    folder, original = (source.path, other) if attacked else (other.path, source)
    if _is_release(original):
        raise ArgumentError("both are releases; hold one against data with the people's names")
    if record is None:
        raise ArgumentError(
            f"{folder} is a release, whose people have fresh names; --record FILE tells who is "
            "who: the private record that incrowd anonymize --record wrote"
        )
    _refuse_sensors(original)
    with progress("Reading", "people"):
        pair = of_files(folder, original.read_on, record)
    strangers = int(pair.after.crowd.sum()) - len(pair.known)
    if strangers:
        say(f"note: {strangers:,} people of the release are not in the other dataset")
    before, after = two_sides(pair)
    if attacked:
        trace, known = _laid_out(how, after, before, gps=original)
        return Sides(trace, known.visits, crowd=after.crowd, this="this release")
    trace, known = _laid_out(how, before, after, gps=original)
    return Sides(trace, known.visits, known_crowd=after.crowd, that="the release")


def _laid_out(how: How, *sides: "Side", gps: Source | None = None) -> list["Trace"]:
    """Give places of a release, and of what is beside it, the same codes."""
    from incrowd.evaluate.sides import as_cells
    from incrowd.measure.traces import Trace

    if how.pois or (gps is not None and str(gps.reading["sensor"]).lower() == "gps"):
        found = how.stayed(sides[0].data)
        return [found, *(how.stayed(side.data, found.pois) for side in sides[1:])]
    data = [side.data for side in sides]
    slots = _slots(how.minutes, data[0].frame)
    return [Trace(v, slots, fixes=d) for v, d in zip(as_cells(*data), data, strict=True)]


def _refuse_sensors(original: Source) -> None:
    """Refuse several sensors beside a release, which has none."""
    from incrowd.data.reading import sensors_of

    names = [*original.files] or sensors_of(original.path)
    if original.files or (names and not original.reading["sensor"]):
        raise ArgumentError(
            f"a release does not tell its sensor; choose one of {', '.join(names)} in a table with "
            f"a column for it, like --sensor {names[0]}"
        )


def _slots(minutes: float | None, frame: "Frame") -> int:
    """Give the length of a time slot in slots of the data: an hour, or one if it is longer."""
    unit = frame.slot / 60
    asked = max(HOUR, unit) if minutes is None else minutes
    return in_units("--slot-minutes", asked, unit, "min", "slot") or 1
