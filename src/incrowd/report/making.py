"""`make`: gather everything that a report says, judge it, and give it as a page."""

import datetime as dt
import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import incrowd
from incrowd.data.atomic import replacing
from incrowd.data.frame import Frame
from incrowd.data.manifest import Manifest, amend_release, read_manifest
from incrowd.data.moments import find_zone
from incrowd.data.trajectories import Trajectories
from incrowd.errors import ArgumentError, UnreadableError
from incrowd.evaluate.accuracy import COARSE, accuracy, sizes_of, tallied
from incrowd.evaluate.pairing import (
    BeforeAfter,
    load_rows,
    of_files,
    published_as_trajectories,
)
from incrowd.evaluate.utility import utility
from incrowd.report import exposure
from incrowd.report.drawing import drawn
from incrowd.report.telling import area_of, cropped, days_of, without_tails
from incrowd.report.verdict import Verdict, judge

if TYPE_CHECKING:
    from incrowd.evaluate.verification import Verification

__all__ = ["PAGE", "Report", "make"]

PAGE = "report.html"
LEAST = 10
"""Groups of fewer people than this, or than k, are not shown."""
PARTS = 100
STEPS = ("verifying", "reading", "k-gap", "exposure before", "exposure after", "what is left")

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What is reported of a release.

    Attributes
    ----------
    path
        The release.
    numbers
        Everything that the page says, as plain values.
    verdict
        What is made of it.
    """

    path: Path
    numbers: Mapping[str, Any]
    verdict: Verdict

    def html(self) -> str:
        """Give the page: one file, no network."""
        from incrowd.report.page import page

        return page(self.numbers)

    def json(self) -> str:
        """Give the numbers, as text."""
        return json.dumps(self.numbers, indent=2, allow_nan=False) + "\n"

    def add(self) -> Path:
        """Put the page into the release, and note it in the manifest."""
        amend_release(self.path, files={PAGE: self.html().encode()})
        return self.path / PAGE

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, whole or not at all."""
        text = self.html()
        with replacing(path, overwrite=overwrite) as part:
            part.write_text(text, encoding="utf-8")
        return Path(path)

    def lines(self) -> list[str]:
        """Give the first screen, in lines for a terminal."""
        from incrowd.report.first import lines

        return lines(self.verdict)


def make(
    path: str | os.PathLike[str],
    *,
    original: Trajectories | Callable[[Frame], Trajectories] | None = None,
    record: Any = None,
    gaps: Any = None,
    tz: str = "UTC",
    title: str | None = None,
    targets: int = exposure.TARGETS,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Gather what can be said of a release.

    Parameters
    ----------
    path
        The release.
    original
        What it was made from, or a function that reads it on a grid. Without it, the report says
        what it therefore cannot say.
    record
        The private record of who became whom; for each person before and after.
    gaps
        A table of `incrowd.k_gap`, or a file that `incrowd measure -o` wrote; measured if not
        given, which takes longest.
    tz
        The zone in which people live: nights are nights there.
    title
        What the data is called on the page.
    targets
        How many people are attacked, drawn at random.
    seed
        Of what is drawn.
    threads
        How many threads to use; all cores unless given.
    progress
        Called with what is being done, how far all of it is, and how far it will be.

    Raises
    ------
    UnreadableError
        If it is no release, or of a version that is not known.
    ArgumentError
        If the original, the record or the k-gaps do not belong to it.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> from incrowd.evaluate.publish import publish
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = publish(city, incrowd.glove(city, k=2), f"{folder}/release", draws=50)
    ...     report = incrowd.report.make(f"{folder}/release", original=city)
    >>> report.verdict.answer
    'conditions'
    """
    folder = Path(path)
    if record is not None and original is None:
        raise ArgumentError("the private record tells something only beside the original")
    if gaps is not None and original is None:
        raise ArgumentError("the k-gaps are those of the original; name it as well")
    if targets < 1:
        raise ArgumentError(f"targets is {targets!r}; at least one person has to be attacked")
    find_zone(tz)
    manifest, gaps = read_manifest(folder), _gaps(gaps)
    tell = _Steps(progress)
    tell("verifying")
    read = _Once(original)
    proof = incrowd.verify(
        folder,
        original=None if original is None else read,
        record=record,
        seed=seed,
        progress=tell.within,
    )
    numbers: dict[str, Any] = {
        "title": title,
        "made": _made(manifest),
        "given": {
            "original": original is not None,
            "record": record is not None,
            "tz": tz,
            "targets": targets,
            "seed": seed,
        },
        "settings": _settings(manifest),
        "verification": proof.to_dict(),
        "sizes": _sizes(manifest),
        "before": None,
        "after": None,
        "accuracy": None,
        "utility": None,
        "drawn": [],
    }
    if proof["rows"].ok:
        how = {"targets": targets, "seed": seed, "threads": threads}
        numbers |= _looked_at(folder, manifest, proof, read, record, gaps, tz, tell, how)
    tell.finish()
    # As they are read again from the page: what is judged and drawn is what is written there.
    numbers = json.loads(json.dumps(numbers, default=_plain, allow_nan=False))
    verdict = judge(numbers)
    numbers["verdict"] = json.loads(json.dumps(verdict.as_dict()))
    return Report(folder, numbers, verdict)


def _looked_at(
    folder: Path,
    manifest: Manifest,
    proof: "Verification",
    read: "_Once",
    record: Any,
    gaps: Any,
    tz: str,
    tell: "_Steps",
    how: dict[str, Any],
) -> dict[str, Any]:
    """Look at a release whose rows can be read, beside its original if that is there."""
    tell("reading")
    found: dict[str, Any] = {}
    least = max(LEAST, proof.k or 1)
    if read.source is None:
        published = load_rows(folder, manifest)
        pair, after = None, published_as_trajectories(published)
    else:
        pair = of_files(folder, read, record)
        after = pair.after
        found["before"] = _before(pair.before, gaps, tell, how, least)
        found["sizes"] = _sizes(manifest, int(after.crowd.sum()), len(pair.before))
    tell("exposure after")
    found["after"] = _exposure(after, how)
    tell("what is left")
    found |= _left(pair, after, tz, least, how["threads"])
    if pair is not None:
        found["before"]["data"]["area_km2"] = area_of(found["utility"]["together"]["map"])
    smallest = int(after.crowd.min())
    found["drawn"] = drawn(after, least=max(2, proof.k or 2)) if smallest > 1 else []
    return found


def _before(
    data: Trajectories,
    gaps: pl.DataFrame | None,
    tell: "_Steps",
    how: dict[str, Any],
    least: int,
) -> dict[str, Any]:
    """Tell how exposed people were."""
    tell("k-gap")
    stretch = incrowd.Stretch()
    if gaps is None and len(data) > 1:
        gaps = incrowd.k_gap(data, 2, threads=how["threads"], progress=tell.within)
    tell("exposure before")
    about = incrowd.describe(data)
    return {
        "data": {
            "people": about.people,
            "samples": about.samples,
            **days_of(data, least),
            "cell_m": about.cell_m,
            "slot_s": about.slot_s,
            "samples_a_person": about.samples_a_person.median,
            "gyration_km": about.gyration_km.median,
        },
        "k_gap": None if gaps is None else exposure.gaps_in(gaps, data, stretch),
        **_exposure(data, how, tell.within),
    }


def _exposure(
    data: Trajectories, how: dict[str, Any], progress: Callable[..., None] | None = None
) -> dict[str, Any]:
    """Tell how unique people are, and what attacks find."""
    seen, slots = incrowd.visits(data), max(1, 3600 // data.frame.slot)
    common = {"seed": how["seed"], "threads": how["threads"]}
    return {
        "uniqueness": exposure.unique(seen, slots, **common),
        "risk": exposure.attacked(seen, slots, targets=how["targets"], progress=progress, **common),
    }


def _left(
    pair: BeforeAfter | None, after: Trajectories, tz: str, least: int, threads: int | None
) -> dict[str, Any]:
    """Tell what is left of the data."""
    if pair is None:
        return {"accuracy": _alone(after)}
    sharp = accuracy(pair, threads=threads)
    plain = sharp.as_dict()
    for name in ("position_error", "time_error"):
        if plain[name]:  # the extremes are somebody's
            plain[name] = {k: v for k, v in plain[name].items() if k not in ("least", "most")}
    useful = utility(pair, tz=tz, grid=_grid(pair.before), least=least, threads=threads).as_dict()
    useful["together"]["map"] = cropped(useful["together"]["map"])
    for of in (useful["persons"] or {}).values():
        if isinstance(of, dict):
            people = of["both"] if "both" in of else of["moving"]
            of["quantiles"] = without_tails(of["quantiles"], people, least)
    return {"accuracy": plain | {"figures": sharp.figures()}, "utility": useful}


def _grid(data: Trajectories) -> float:
    """Choose the side of squares in km: 20 of them along the data, from 0.5 to 5 km."""
    along = max(
        int(end.max()) - int(start.min()) for start, end in ((data.x0, data.x1), (data.y0, data.y1))
    )
    km = along * data.frame.cell / 1000
    side = next((side for side in (0.5, 1.0, 2.0) if km <= 20 * side), 5.0)
    return max(side, data.frame.cell / 1000)


def _alone(after: Trajectories) -> dict[str, Any]:
    """Tell how precise a release is, which needs no original."""
    wide, long = sizes_of(after)
    space, time = tallied(after, wide, long, after.crowd)
    assert space is not None and time is not None  # noqa: S101, PT018  a release has rows
    cell, minute = after.frame.cell, after.frame.slot / 60
    weight = np.repeat(after.crowd, after.lengths())
    coarse = (wide * cell <= COARSE[0]) & (long * minute <= COARSE[1])
    figures = {
        "space_median": space.median,
        "time_median": time.median,
        "space_2km": space.up_to(COARSE[0]),
        "time_2h": time.up_to(COARSE[1]),
        "both_coarse": float(weight[coarse].sum() / weight.sum()),
    }
    return {"space": asdict(space), "time": asdict(time), "figures": figures}


def _gaps(gaps: Any) -> pl.DataFrame | None:
    """Take a table of k-gaps, or read one."""
    if gaps is None or isinstance(gaps, pl.DataFrame):
        return gaps
    file = Path(gaps)
    try:
        return pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_csv(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UnreadableError(f"cannot read the k-gaps in {file}: {error}") from error


def _made(manifest: Manifest) -> dict[str, Any]:
    """Say with what the report was made, and of what."""
    files = {name: _mapping(known) for name, known in manifest.files.items() if name != PAGE}
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "incrowd": incrowd.__version__,
        "python": platform.python_version(),
        "release_made_with": manifest.incrowd,
        "files": files,
    }


def _settings(manifest: Manifest) -> dict[str, Any]:
    return {
        "method": manifest.method,
        "settings": _mapping(manifest.settings),
        "frame": _mapping(manifest.frame),
        "losses": _mapping(manifest.losses),
        "names": manifest.names,
        "holds_against": _texts(manifest.holds_against),
        "fails_against": _texts(manifest.fails_against),
    }


def _mapping(value: Any) -> dict[str, Any]:
    """Give names and values; none where a manifest that was tampered with has something else."""
    return dict(value) if isinstance(value, Mapping) else {}


def _texts(values: Any) -> list[str]:
    return [str(value) for value in values] if isinstance(values, list | tuple) else []


def _sizes(
    manifest: Manifest, published: int | None = None, people: int | None = None
) -> dict[str, Any]:
    """Give the sizes of the release, and which share of people is not in it."""
    sizes = _mapping(manifest.sizes)
    if published is not None and people:
        sizes["original_people"] = people
        sizes["dropped_share"] = max(0.0, 1 - published / people)
    return sizes


class _Once:
    """Reads the original once, however often it is asked for."""

    def __init__(self, source: Trajectories | Callable[[Frame], Trajectories] | None) -> None:
        self.source, self._data = source, source if isinstance(source, Trajectories) else None

    def __call__(self, frame: Frame) -> Trajectories:
        if self._data is None:
            assert callable(self.source)  # noqa: S101  it is data, or reads it
            self._data = self.source(frame)
        return self._data


class _Steps:
    """Tell what is being done, and how far it is: every step has so many parts."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._what = progress, STEPS[0]

    def __call__(self, what: str) -> None:
        self._what = what
        self.within(0, 1)

    def within(self, done: int, total: int) -> None:
        """Tell how far a step is."""
        if self._progress:
            parts = PARTS * STEPS.index(self._what) + min(PARTS * done // max(total, 1), PARTS - 1)
            self._progress(self._what, parts, PARTS * len(STEPS))

    def finish(self) -> None:
        """Tell that all is done."""
        if self._progress:
            self._progress("done", PARTS * len(STEPS), PARTS * len(STEPS))


def _plain(value: Any) -> Any:
    """Give the plain number behind one of numpy's."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")
