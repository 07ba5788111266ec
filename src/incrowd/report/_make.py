"""`make`: gather everything that a report says, judge it, and give it as a page."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

import incrowd
from incrowd._atomic import refuse_taken, replacing
from incrowd._file_errors import reading_file
from incrowd._progress import Stages
from incrowd._summary import Summarised, Summary
from incrowd.data._frame import Frame
from incrowd.data._manifest import PAGE, amend_release, read_manifest
from incrowd.data._original import OriginalReading, as_recorded, reading_of
from incrowd.data._trajectories import Trajectories
from incrowd.data._zone import known_zone, zone_or_utc
from incrowd.errors import ArgumentError
from incrowd.report._collect import (
    STAGES,
    TARGETS,
    Options,
    ReadOnce,
    collect_numbers,
    made_with,
    settings_in,
    sizes_in,
)
from incrowd.report._disclosure import suppress_small_counts
from incrowd.report._lights import Verdict
from incrowd.report._numbers import Given, Numbers
from incrowd.report._purposes import DEFAULT, checked_thresholds, purpose_of
from incrowd.report._verdict import judge

__all__ = [
    "PAGE",
    "Report",
    "make",
]


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how far all of it is, and how far it will be."""


@dataclass(frozen=True, slots=True, repr=False)
class Report(Summarised):
    """What is reported of a release.

    Attributes
    ----------
    path
        The release.
    numbers
        Everything that the page says.
    """

    path: Path
    numbers: Numbers

    @property
    def verdict(self) -> Verdict:
        """What is made of the numbers."""
        return self.numbers.verdict or judge(self.numbers)

    def html(self) -> str:
        """Give the page: one file, no network."""
        from incrowd.report._page import page

        return page(self.numbers)

    def json(self) -> str:
        """Give the numbers, as text."""
        return json.dumps(self.numbers.as_dict(), indent=2, allow_nan=False) + "\n"

    def add(self, *, overwrite: bool = True) -> Path:
        """Put the page into the release, for its recipient, and note it in the manifest."""
        if not overwrite:
            refuse_taken(self.path / PAGE)
        amend_release(self.path, files={PAGE: self.html().encode()})
        return self.path / PAGE

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, whole or not at all."""
        text = self.html()
        with replacing(path, overwrite=overwrite) as part:
            part.write_text(text, encoding="utf-8")
        return Path(path)

    def pdf(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Print the page to a PDF; needs Chromium or a browser of its kind."""
        from incrowd.report._page import page
        from incrowd.report._pdf import print_pdf

        return print_pdf(page(self.numbers, paper=True), path, overwrite=overwrite)

    def lines(self) -> list[str]:
        """Give the first screen, in lines for a terminal."""
        from incrowd.report._terminal import lines

        return lines(self.verdict)

    def _summary(self) -> Summary:
        first, *others = self.lines()
        return Summary(first, notes=[line for line in others if line.strip()])


def make(
    path: str | os.PathLike[str],
    *,
    original: Trajectories | Callable[[Frame], Trajectories] | None = None,
    record: Any = None,
    gaps: Any = None,
    tz: str | None = None,
    title: str | None = None,
    purpose: str = DEFAULT,
    thresholds: Mapping[str, Any] | None = None,
    others: Sequence[tuple[Any, ...]] = (),
    targets: int = TARGETS,
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
        What it was made from, or a function that reads it on a grid; unless given, it is read as
        the private record says. Without either, the report says what it therefore cannot say.
    record
        The private record of who became whom; for each person before and after.
    gaps
        A table of `incrowd.k_gap`, or a file that `incrowd measure -o` wrote; measured if not
        given, which takes longest.
    tz
        The zone in which people live: nights are nights there, and days are days. Unless given,
        the zone in which the private record says that times were read, or that with which the
        original was read; if neither says one, UTC is assumed, with a warning and a word on the
        page.
    title
        What the data is called on the page.
    purpose
        For what the release is meant: ``"internal"``, ``"contract"`` or ``"open"``; each has
        thresholds of its own.
    thresholds
        Thresholds of lights that win over those of the purpose: the last value that is green and
        the last that is amber, as in ``{"smallest_crowd": (5, 3)}``.
    others
        Other releases of the same people, for attacks on several together: for each its
        directory, its private record and, unless that says how to read it, its original.
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

    References
    ----------
    - Article 29 Working Party, 2014: "Opinion 05/2014 on Anonymisation Techniques", WP216; the
      three questions that the page answers.

    Examples
    --------
    >>> import tempfile
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=40, seed=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hidden = incrowd.glove(city, k=2)
    ...     done = incrowd.publish(hidden, f"{folder}/release", original=city, draws=50)
    ...     report = incrowd.report.make(f"{folder}/release", original=city, tz="Africa/Abidjan")
    >>> report.verdict.answer
    'conditions'
    """
    folder = Path(path)
    known = reading_of(record)
    if record is not None and original is None:
        original = as_recorded(record)
    if gaps is not None and original is None:
        raise ArgumentError("the k-gaps are those of the original; name it as well")
    if targets < 1:
        raise ArgumentError(f"targets is {targets!r}; at least one person has to be attacked")
    zone = _zone(tz, known, original)
    purpose_of(purpose)
    own = checked_thresholds(thresholds)
    manifest, gaps = read_manifest(folder), _gaps(gaps)
    stages = Stages(_named(progress, lambda: stages.name), STAGES)
    stages.begin("verifying")
    read = ReadOnce(original)
    proof = incrowd.verify(
        folder,
        original=None if original is None else read,
        record=record,
        seed=seed,
        progress=stages.within,
    )
    numbers = Numbers(
        title=title,
        made=made_with(manifest),
        given=Given(
            original is not None,
            record is not None,
            zone or "UTC",
            targets,
            seed,
            "" if known is None else known.words(files=False),
            zone is not None,
            purpose,
            own,
        ),
        settings=settings_in(manifest),
        verification=proof,
        sizes=sizes_in(manifest),
    )
    if proof["rows"].ok:
        options = Options(
            targets=targets, seed=seed, threads=threads, others=tuple(map(tuple, others))
        )
        numbers = collect_numbers(numbers, folder, manifest, read, record, gaps, stages, options)
    stages.finish()
    numbers = suppress_small_counts(numbers)
    return Report(folder, replace(numbers, verdict=judge(numbers)))


def _zone(tz: str | None, known: OriginalReading | None, original: Any) -> str | None:
    """Return the zone in which people live; warn if nobody said it and it matters."""
    if tz is None and known is not None:
        tz = known.zone
    zone = known_zone(tz, original)
    if zone is None and original is not None:
        zone_or_utc(None, where=" on the page")
    return zone


def _named(progress: Progress | None, name: Callable[[], str]) -> Callable[[int, int], None] | None:
    """Say what is being done as well."""
    return None if progress is None else lambda done, total: progress(name(), done, total)


def _gaps(gaps: Any) -> pl.DataFrame | None:
    """Take a table of k-gaps, or read one."""
    if gaps is None or isinstance(gaps, pl.DataFrame):
        return gaps
    file = Path(gaps)
    with reading_file(file, "the k-gaps in"):
        return pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_csv(file)
