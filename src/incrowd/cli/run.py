"""``incrowd run``: all of it, from the project file to a folder with release and report.

::

    out/2024-03/
      release/          what may be shared: rows, manifest, fact sheet
      report.html       for whoever decides
      run.json          what was run, and how it ended
      private/          who became whom, k-gaps, accuracy and utility; for the owner only

The folder is made under a hidden name beside, and gets its own when everything is there. What a run
that was interrupted has finished is kept there, and the same command goes on from it.
"""

import contextlib
import hashlib
import json
import os
import secrets
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._atomic import replacing
from incrowd.cli import _methods, anonymize, describe
from incrowd.cli._console import on_first_progress, progress, say
from incrowd.cli._messages import print_json
from incrowd.cli._methods import mechanism_of, refuse_options, takes_settings, without_others
from incrowd.cli._options import MACHINE, AsJson, LocalZone, Source, reads_data
from incrowd.cli._project import own_thresholds
from incrowd.cli.report import STATUS, Purposes
from incrowd.errors import ArgumentError, LossError, OutputError, VerificationError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._trajectories import Trajectories
    from incrowd.protect._mechanism import Mechanism

__all__ = [
    "period_of",
    "run",
]

RELEASE, PRIVATE, RECORD, GAPS = "release", "private", "who.parquet", "k_gaps.parquet"
REPORT, EVALUATION, READING, RUN = "report.html", "evaluation.json", "reading.json", "run.json"
DECISION = "decision.json"
STATE, JOURNAL = "state.json", "glove.checkpoint"
_OWNER_ONLY = 0o700


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

        cells = self.source.reading["cells"]
        said = {
            "version": incrowd.__version__,
            "data": hash_of_files(self.source.path),
            "cells": None if cells is None else hash_of_files(cells),
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
    folder.mkdir(parents=True, exist_ok=True)
    say("Hashing the input ...")
    key = wanted.key()
    if (done := _same(folder, name, key)) is not None:
        _finish(done, as_json=as_json, again=True)
    data = source.read()
    final = folder / (name or period_of(data, tz or "UTC"))
    with _alone(final):
        _refuse(final, source.path, overwrite=overwrite)
        work = _work_folder(final, key)
        steps = _Steps(work, wanted, mechanism, data, _telling(as_json=as_json))
        steps.all(key, _options_in_use(context))
        _give_name(steps.folder, final)
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
    ) -> None:
        self.folder, self.wanted, self.mechanism = folder, wanted, mechanism
        self.data, self.tell = data, tell
        self.private = folder / PRIVATE
        self.private.mkdir(mode=_OWNER_ONLY, exist_ok=True)

    def all(self, key: str, options: dict[str, Any]) -> None:
        """Do everything that is not done yet."""
        self._reading()
        gaps = self._measured()
        self._released()
        self._evaluated()
        answer = self._reported(gaps)
        from incrowd import __version__

        found = {
            "schema": 1, "incrowd": __version__, "key": key, "answer": answer,
            "status": STATUS[answer], "people": len(self.data), "samples": self.data.samples,
            "options": options,
        }  # fmt: skip
        self._write(self.folder / RUN, json.dumps(found, indent=2))

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

        file = self.private / GAPS
        if file.is_file():
            return pl.read_parquet(file)
        k = getattr(self.mechanism, "k", 2)
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
        if release.is_dir() and record.is_file():
            say(f"the release is there already, in {release}")
            return
        record.unlink(missing_ok=True)
        journal = self.private / JOURNAL if self.mechanism.long_running else None
        result = anonymize.protected(
            self.mechanism, self.wanted.method, self.data, self.wanted.source.reading, journal
        )
        with progress("Writing and verifying", "steps") as update:
            try:
                done = publish(
                    result, release, original=self.data,
                    format=self.wanted.form, record=record, max_lost=self.wanted.max_lost,
                    reading=self.wanted.source.noted(self.data, self.wanted.reporting["tz"]),
                    progress=update,
                )  # fmt: skip
            except (ArgumentError, LossError, VerificationError):
                # The same run would end in the same way.
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
        self.tell(["", *_methods.lines_of(self.data, result, done)])
        if journal is not None:
            journal.unlink(missing_ok=True)

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

    def _reported(self, gaps: "pl.DataFrame | None") -> str:
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
        return made.verdict.answer

    def _write(self, file: Path, text: str) -> None:
        with replacing(file, overwrite=True, private=file.parent == self.private) as part:
            part.write_text(f"{text}\n", "utf-8")


def period_of(data: "Trajectories", tz: str) -> str:
    """Return the month of the data, where people live; the first and the last, if there are more.

    Examples
    --------
    >>> import incrowd
    >>> from incrowd.cli.run import period_of
    >>> period_of(incrowd.synthesize("city", users=5, seed=1), "Africa/Abidjan")
    '2012-03'
    """
    import datetime as dt

    from incrowd.data._select import find_zone

    zone = find_zone(tz)
    frame = data.frame
    ends = (int(data.t0.min()), int(data.t1.max()) - 1) if data.samples else (0, 0)
    first, last = (
        dt.datetime.fromtimestamp(end * frame.slot + frame.origin, zone).strftime("%Y-%m")
        for end in ends
    )
    return first if first == last else f"{first}_{last}"


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


def _same(folder: Path, name: str | None, key: str) -> Path | None:
    """Return the run that had the same input and settings, if it is there."""
    for file in sorted(folder.glob(f"{name or '[!.]*'}/{RUN}")):
        with contextlib.suppress(OSError, ValueError):
            if json.loads(file.read_text("utf-8")).get("key") == key:
                return file.parent
    return None


def _refuse(final: Path, data: str, *, overwrite: bool) -> None:
    """Refuse a folder that holds something else, or the input."""
    source = Path(data).resolve()
    if source.is_dir() and source in (final.resolve(), *final.resolve().parents):
        raise ArgumentError(
            f"{final} lies in {data}, all of which is the input; choose another --folder"
        )
    if not os.path.lexists(final):
        return
    if not (final / RUN).is_file():
        raise OutputError(f"{final} is no result of incrowd run and is not replaced; use --name")
    if (final / DECISION).exists():
        raise OutputError(
            f"{final} holds a decision ({DECISION}) and is not replaced, for a decision is about "
            "the files that it names; give this run another --name, or move the folder"
        )
    if not overwrite:
        raise OutputError(
            f"{final} holds the results of other data or settings; replace them with --overwrite, "
            "or give this run another --name"
        )


@contextlib.contextmanager
def _alone(final: Path) -> Iterator[None]:
    """Hold a lock while a run works on a name; the system gives it back if the process ends.

    Where files cannot be locked (on Windows), nothing is held.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = final.with_name(f".{final.name}.lock")
    with contextlib.ExitStack() as held:
        while True:
            file = held.enter_context(lock.open("a"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise OutputError(
                    f"another run is working on {final}; wait for it, or give this one another "
                    "--name"
                ) from error
            # Whoever held it may have removed it after it was opened here.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    break
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _work_folder(final: Path, key: str) -> Path:
    """Return the hidden folder of this run: that of an interrupted one, if it was the same."""
    part = final.with_name(f".{final.name}.part")
    state = part / STATE
    with contextlib.suppress(OSError, ValueError):
        if json.loads(state.read_text("utf-8")).get("key") == key:
            say(f"going on with what an interrupted run has finished ({part})")
            return part
    if part.exists():
        say(f"{part} was left by a run of other data or settings; it is removed")
        shutil.rmtree(part)
    part.mkdir(mode=_OWNER_ONLY)
    state.write_text(json.dumps({"key": key}), "utf-8")
    return part


def _give_name(part: Path, final: Path) -> None:
    """Give the folder its name; what had it before is removed afterwards."""
    part.chmod(0o777 & ~_umask())
    old = None
    if os.path.lexists(final):
        old = final.with_name(f".{final.name}.old-{secrets.token_hex(4)}")
        final.rename(old)
    try:
        part.rename(final)
    except OSError:
        if old is not None:
            old.rename(final)
        raise
    (final / STATE).unlink(missing_ok=True)
    # Also what a run that was killed here had moved away.
    for path in final.parent.iterdir():
        if path.name.startswith(f".{final.name}.old-"):
            shutil.rmtree(path, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _telling(*, as_json: bool) -> Callable[[list[str]], None]:
    """Return what prints lines as they come; nothing, where one document is asked for."""

    def tell(lines: list[str]) -> None:
        if not as_json:
            _print("\n".join(lines))

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
