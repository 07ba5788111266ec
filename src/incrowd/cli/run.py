"""``incrowd run``: all of it, from the project file to a folder with release and report.

::

    out/2024-03/
      release/          what may be shared: rows, manifest, fact sheet
      report.html       for whoever decides
      run.json          what was run, how it ended, and the SHA-256 of every file
      private/          who became whom, k-gaps, accuracy and utility; for the owner only

The folder is made under a hidden name beside, and gets its own when everything is there. What a run
that was interrupted has finished is kept there, and the same command goes on from it.
"""

import hashlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._atomic import replacing
from incrowd._format import several
from incrowd._renames import settle_all, tidy
from incrowd._visible import visible
from incrowd.cli import _methods, anonymize, describe
from incrowd.cli._console import on_first_progress, progress, say
from incrowd.cli._ledger_in_use import told_of_ledger, with_ledger
from incrowd.cli._messages import note_log, print_json, reading_as_dict
from incrowd.cli._methods import mechanism_of, refuse_options, takes_settings, without_others
from incrowd.cli._options import MACHINE, AsJson, LocalZone, Source, reads_data
from incrowd.cli._project import own_thresholds
from incrowd.cli._run_folder import (
    EVALUATION,
    GAPS,
    JOURNAL,
    OWNER_ONLY,
    PRIVATE,
    READING,
    RECORD,
    RELEASE,
    REPORT,
    RUN,
    alone,
    check_name,
    find_same,
    give_name,
    leave_nothing,
    make_folder,
    period_of,
    refuse,
    refuse_damaged,
    seals_of,
    working_folder,
    working_name,
)
from incrowd.cli.report import STATUS, Purposes
from incrowd.errors import ArgumentError, IncrowdError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._ledger import Ledger
    from incrowd.data._trajectories import Trajectories
    from incrowd.protect._mechanism import Mechanism
    from incrowd.report._make import Report

__all__ = ["run"]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What decides the result: two runs with the same are the same run."""

    source: Source
    method: str
    settings: dict[str, Any]
    reporting: dict[str, Any]
    form: str
    max_lost: float | None

    def key(self) -> str:
        """Return a hash of the settings and of every byte of the input."""
        import incrowd
        from incrowd.data._original import hash_of_files

        cells, persons = (self.source.reading[name] for name in ("cells", "same_person"))
        said = {
            "version": incrowd.__version__,
            "data": hash_of_files(self.source.path),
            "cells": None if cells is None else hash_of_files(cells),
            "same_person": None if persons is None else hash_of_files(persons),
            "reading": {n: str(of) for n, of in self.source.reading.items() if n not in MACHINE},
            "selecting": {name: str(of) for name, of in self.source.selecting.items()},
            "method": self.method,
            "settings": {name: str(of) for name, of in self.settings.items()},
            "reporting": {name: str(of) for name, of in self.reporting.items()},
            "format": self.form,
            "max_lost": self.max_lost,
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@takes_settings
@reads_data
def run(
    context: typer.Context,
    source: Source,
    method: str,
    settings: dict[str, Any],
    folder: Annotated[
        Path,
        typer.Option(
            "--folder",
            help="Folder of all runs; each gets a folder of its own in it.",
            metavar="DIR",
            rich_help_panel="Output",
        ),
    ] = Path("out"),
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            help="Name of this run's folder.",
            metavar="NAME",
            show_default="the month of the data, like 2024-03",
            rich_help_panel="Output",
        ),
    ] = None,
    form: Annotated[
        anonymize.Format,
        typer.Option("--format", help="Format of the release's rows.", rich_help_panel="Output"),
    ] = anonymize.Format.parquet,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace the results of an earlier run of this name, once all is done.",
            rich_help_panel="Output",
        ),
    ] = False,
    fail_above: anonymize.FailAbove = None,
    local: LocalZone = None,
    title: Annotated[
        str | None, typer.Option(help="Name of the data in the report.", metavar="TEXT")
    ] = None,
    targets: Annotated[
        int,
        typer.Option(
            "--attack-sample",
            min=1,
            help="Number of people to attack in the report, drawn at random.",
            metavar="N",
        ),
    ] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random draws.", metavar="N")] = 0,
    purpose: Purposes = "contract",
    as_json: AsJson = False,
) -> None:
    """Run everything from the project file: read, measure, anonymize, verify, evaluate, report.

    With a project file (incrowd init DATA writes one), incrowd run needs no options. Results lie
    in one folder per run, which is there whole or not at all; after an interruption,
    the same command goes on. Exit status as that of report: 0 if the release may be shared, 3 if
    with conditions, 1 if not.

    Example:  `incrowd run cdr.csv --tz Africa/Dakar --k 3`
    """
    if source.files:
        raise ArgumentError("incrowd run takes one table, and not a file for each sensor")
    settings = without_others(context, method, settings)
    refuse_options(method, settings)
    mechanism = mechanism_of(method, settings)
    tz = local or source.reading["tz"]
    reporting = {
        "tz": tz, "title": title, "targets": targets, "seed": seed,
        "purpose": purpose, "thresholds": own_thresholds(context),
    }  # fmt: skip
    _refuse_reporting(reporting)
    wanted = _Wanted(source, method, settings, reporting, form.value, fail_above)
    check_name(name)
    ledger_file = getattr(mechanism, "ledger", None)
    anonymize.refuse_same(
        source.path, {"ledger": None if ledger_file is None else Path(ledger_file)}
    )
    if ledger_file is not None:
        from incrowd.data._ledger import Ledger

        Ledger.open(ledger_file)  # one that cannot be used is refused before the data is read
    say("Hashing the input ...")
    key = wanted.key()
    final = None
    settle_all(folder)
    if (found := find_same(folder, name, key)) is not None:
        if not found.damage:
            leave_nothing(found.folder)
            _finish(found.folder, as_json=as_json, again=True)
        refuse_damaged(found, overwrite=overwrite)
        final = found.folder
    data = source.read()
    final = final or folder / (name or period_of(data, tz or "UTC"))
    make_folder(folder)
    with alone(final):
        tidy(final)
        refuse(final, source.path, overwrite=overwrite)
        # What a run that was interrupted, or is to be replaced, has entered does not count.
        before = [working_name(final), final] if overwrite else [working_name(final)]
        mechanism, ledger = with_ledger(mechanism, final, *(run / RELEASE for run in before))
        with working_folder(final, key) as work:
            steps = _Steps(work, wanted, mechanism, data, _telling(as_json=as_json), ledger)
            steps.all(key, _options_in_use(context))
            give_name(work, final)
    if ledger is not None and not as_json:
        _print("\n" + "\n".join(told_of_ledger(ledger.path)))
    _finish(final, as_json=as_json)


class _Steps:
    """What a run does, one after another; what is done already is left as it is."""

    def __init__(
        self,
        folder: Path,
        wanted: _Wanted,
        mechanism: "Mechanism",
        data: "Trajectories",
        tell: "Callable[[list[str]], None]",
        ledger: "Ledger | None" = None,
    ) -> None:
        self.folder, self.wanted, self.mechanism = folder, wanted, mechanism
        self.data, self.tell, self.ledger = data, tell, ledger
        self.private = folder / PRIVATE
        self.private.mkdir(mode=OWNER_ONLY, exist_ok=True)

    def all(self, key: str, options: dict[str, Any]) -> None:
        """Do everything that is not done yet."""
        self._reading()
        gaps = self._measured()
        self._released()
        self._evaluated()
        report = self._reported(gaps)
        from incrowd import __version__
        from incrowd.data._manifest import read_manifest

        verdict, reading = report.verdict, self.data.reading
        proof, losses = report.numbers.verification, read_manifest(self.folder / RELEASE).losses
        found = {
            "schema": 1, "incrowd": __version__, "key": key, "answer": verdict.answer,
            "status": STATUS[verdict.answer], "people": len(self.data),
            "samples": self.data.samples, "options": options,
            "reading": reading_as_dict(reading),
            "losses": dict(losses),
            "verification": {"ok": proof.ok, "failed": [check.name for check in proof.failed]},
            "verdict": {
                "answer": verdict.answer, "headline": verdict.headline, "use": verdict.use,
                "because": list(verdict.because),
                "lights": {light.about: light.level for light in verdict.lights},
            },
            "files": seals_of(self.folder),
        }  # fmt: skip
        self._write(self.folder / RUN, json.dumps(found, indent=2, default=str))
        _log(found)

    def _reading(self) -> None:
        import incrowd

        about = incrowd.describe(self.data)
        lines = describe.lines_of(about)
        if self.data.reading is not None:
            lines += ["", *describe.reading_lines(self.data.reading)]
        self.tell(lines)
        text = json.dumps({"lines": lines}, indent=2)
        self._write(self.private / READING, text)

    def _measured(self) -> "pl.DataFrame | None":
        import polars as pl

        import incrowd
        from incrowd.measure._k_gap import MAX_K

        file = self.private / GAPS
        if file.is_file():
            return pl.read_parquet(file)
        # Larger crowds than the k-gap can be measured of are judged by the largest that it can.
        k = min(getattr(self.mechanism, "k", 2), MAX_K)
        if len(self.data) < k:
            return None
        with progress("Measuring", "people") as update:
            first = on_first_progress(update, "glove")
            table = incrowd.k_gap(
                self.data, k, threads=self.wanted.source.reading["threads"], progress=first
            )
        with replacing(file, overwrite=True, private=True) as part:
            table.write_parquet(part)
        return table

    def _released(self) -> None:
        from incrowd.evaluate._publish import publish

        release, record = self.folder / RELEASE, self.private / RECORD
        if release.is_dir() and record.is_file() and _is_whole(release) and self._is_entered():
            say(f"the release is there already, in {release}")
            (self.private / JOURNAL).unlink(missing_ok=True)
            return
        record.unlink(missing_ok=True)
        shutil.rmtree(release, ignore_errors=True)
        journal = self.private / JOURNAL if self.mechanism.long_running else None
        result = anonymize.protected(
            self.mechanism, self.wanted.method, self.data, self.wanted.source.reading, journal,
            self.wanted.reporting["tz"],
        )  # fmt: skip
        with progress("Writing and verifying", "steps") as update:
            done = publish(
                result, release, original=self.data,
                format=self.wanted.form, record=record, max_lost=self.wanted.max_lost,
                reading=self.wanted.source.noted(self.data, self.wanted.reporting["tz"]),
                ledger=self.ledger, progress=update,
            )  # fmt: skip
        self.tell(["", *_methods.lines_of(self.data, result, done)])
        if journal is not None:
            journal.unlink(missing_ok=True)

    def _is_entered(self) -> bool:
        """Tell whether the ledger, if there is one, has the release of an interrupted run."""
        if self.ledger is None:
            return True
        from incrowd.data._ledger import Ledger

        return Ledger.open(self.ledger.path).find(self.folder / RELEASE) is not None

    def _evaluated(self) -> None:
        import incrowd
        from incrowd.evaluate._comparison import of_files

        file = self.private / EVALUATION
        if file.is_file():
            return
        pair = of_files(self.folder / RELEASE, self.data, self.private / RECORD)
        tz, threads = self.wanted.reporting["tz"] or "UTC", self.wanted.source.reading["threads"]
        with progress("Evaluating", "steps") as update:
            useful = incrowd.utility(pair, tz=tz, threads=threads, progress=update)
            accurate = incrowd.accuracy(pair, threads=threads)
            told = incrowd.inference(pair, tz=tz, threads=threads)
        found = {
            "schema": 1, "accuracy": accurate.as_dict(), "utility": useful.as_dict(),
            "inference": told.as_dict(),
        }  # fmt: skip
        self._write(file, json.dumps(found, indent=2, allow_nan=False))

    def _reported(self, gaps: "pl.DataFrame | None") -> "Report":
        from incrowd.report._make import make

        with progress("Reporting", "steps") as update:
            made = make(
                self.folder / RELEASE,
                original=self.data,
                record=self.private / RECORD,
                gaps=gaps,
                threads=self.wanted.source.reading["threads"],
                progress=lambda _what, done, total: update(done, total),
                **self.wanted.reporting,
            )
        made.save(self.folder / REPORT, overwrite=True)
        self.tell(["", *made.lines()])
        return made

    def _write(self, file: Path, text: str) -> None:
        with replacing(file, overwrite=True, private=file.parent == self.private) as part:
            part.write_text(f"{text}\n", "utf-8")


def _is_whole(release: Path) -> bool:
    """Return whether a release of an interrupted run is as it was verified."""
    from incrowd.data._manifest import read_release

    try:
        read_release(release)
    except (IncrowdError, OSError):
        return False
    return True


def _log(found: dict[str, Any]) -> None:
    """Write to the log, which is read when nobody has watched, how it went."""
    verdict, proof, reading = found["verdict"], found["verification"], found["reading"]
    if reading is not None:
        bad = sum(one["rows"] for one in reading["rejected"].values())
        cells = reading["unknown_cells"]
        note_log(
            f"rows: {reading['rows']:,} read, {bad:,} rejected, {cells['rows']:,} of them name "
            f"{several(cells['cells'], 'unknown cell')}"
        )
    lost = ", ".join(f"{name} {value}" for name, value in found["losses"].items())
    note_log(f"lost: {lost or 'nothing is told'}")
    note_log(f"verified: {'ok' if proof['ok'] else 'failed ' + ', '.join(proof['failed'])}")
    note_log(f"answer: {verdict['answer']}. {verdict['headline']} {verdict['use']}")
    for reason in verdict["because"]:
        note_log(f"because: {reason}")


def _refuse_reporting(reporting: dict[str, Any]) -> None:
    """Refuse, before the work, what the report could not be made with."""
    from incrowd.data._select import find_zone
    from incrowd.report._purposes import checked_thresholds, purpose_of

    purpose_of(reporting["purpose"])
    checked_thresholds(reporting["thresholds"])
    if reporting["tz"] is not None:
        find_zone(reporting["tz"])


def _options_in_use(context: typer.Context) -> dict[str, Any]:
    """Return every option that was given, by the command line or by the project file."""
    found = {}
    for name, value in sorted(context.params.items()):
        of = context.get_parameter_source(name)
        if of is not None and of.name in ("COMMANDLINE", "DEFAULT_MAP") and value is not None:
            plain = value.value if isinstance(value, Enum) else value
            found[name] = plain if isinstance(plain, bool | int | float) else str(plain)
    return found


def _telling(*, as_json: bool) -> Callable[[list[str]], None]:
    """Return what prints lines as they come; nothing, where one document is asked for."""

    def tell(lines: list[str]) -> None:
        if not as_json:
            _print("\n".join(visible(line) for line in lines))

    return tell


def _print(text: str) -> None:
    """Print; whoever read the output may have seen enough, and the work goes on without her."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _finish(final: Path, *, as_json: bool, again: bool = False) -> None:
    """Say where everything is, and end with the status of the report's answer."""
    found = json.loads((final / RUN).read_text("utf-8"))
    if as_json:
        about = {name: of for name, of in found.items() if name != "schema"}
        print_json({"folder": str(final), **about}, status=found["status"])
    else:
        if again:
            _print(f"Nothing to do: {final} has the results for this data and these settings.")
        _print(f"\nThe release is in {final / RELEASE}; share nothing else.")
        _print(f"The report is in {final / REPORT}: open it in a browser.")
        _print(f"{final / PRIVATE} names people: it stays with the owner of the data.")
        words = ["sign", str(final), "--decision", "WORD", "--signer", "NAME"]
        _print(f"When you have decided:  {shlex.join([anonymize.itself(), *words])}")
    if found["status"] or again:
        raise typer.Exit(found["status"])
