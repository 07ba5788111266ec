"""``incrowd anonymize``: protect a dataset, verify what was written, and publish it."""

import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from incrowd.cli._command import EVERYWHERE
from incrowd.cli._console import on_first_progress, progress, say
from incrowd.cli._ledger_in_use import told_of_ledger, with_ledger
from incrowd.cli._messages import error_document, print_json
from incrowd.cli._methods import (
    as_plain,
    in_option_names,
    lines_of,
    mechanism_of,
    offered_settings,
    refuse_options,
    takes_settings,
    without_others,
)
from incrowd.cli._options import AsJson, LocalZone, Source, reads_data
from incrowd.cli._screen import print_lines
from incrowd.errors import ArgumentError, IncrowdError, LossError, VerificationError

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._publish import Publication
    from incrowd.protect._mechanism import Mechanism, ProtectionResult

__all__ = [
    "FailAbove",
    "Format",
    "anonymize",
    "itself",
    "lines_of",
    "protected",
    "refuse_same",
    "stages",
]


Format = StrEnum("Format", ["parquet", "csv"])

FailAbove = Annotated[
    float | None,
    typer.Option(
        "--fail-above",
        min=0,
        max=1,
        help="Publish nothing, and end with 1, if a larger share of the people or of the samples "
        "is lost.",
        metavar="SHARE",
        rich_help_panel="Output",
    ),
]
_UNITS = {
    "Protecting": "samples",
    "Searching": "people",
    "Merging": "merges",
    "Finishing": "merges",
    "Generalising": "crowds",
    "Grouping": "people",
    "Round": "possible crowds",
}


@takes_settings
@reads_data
def anonymize(
    context: typer.Context,
    source: Source,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Directory of the release, which must not exist yet.",
            metavar="DIR",
            rich_help_panel="Output",
        ),
    ],
    method: str,
    settings: dict[str, Any],
    form: Annotated[
        Format, typer.Option("--format", help="Format of the rows.", rich_help_panel="Output")
    ] = Format.parquet,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Also write the private record of who became whom; do not share it.",
            metavar="FILE",
            rich_help_panel="Output",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="File in which a long run (--method glove) notes what is done, until it has "
            "finished. After an interruption, the same command continues from there.",
            metavar="FILE",
            rich_help_panel="Output",
            show_default="DIR.checkpoint",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace a release that exists already, once the new one is verified.",
            rich_help_panel="Output",
        ),
    ] = False,
    fail_above: FailAbove = None,
    local: LocalZone = None,
    as_json: AsJson = False,
) -> None:
    """Protect a dataset, verify what was written, and publish it.

    Unless another --method is chosen, everybody is hidden in a crowd of k (GLOVE). The release gets
    its name only after its verification: exit status 0 if it is there, 1 if it did not pass and was
    removed. Methods that promise no k say so in the release.

    Numbers on the screen are exact, for the owner of the data; the release itself tells no count of
    fewer than 10 people.

    Example:  `incrowd anonymize cdr.csv --k 3 -o release --record who.parquet`

    Example:  `incrowd anonymize cdr.csv --method cloak --cloak 60 -o cloaked`

    Example:  `incrowd anonymize cdr.csv --method w4m --k 2 --delta 2000 -o moved`

    Example:  `incrowd anonymize cdr.csv --method tga --k 2 -o matched --record who.parquet`
    """
    settings = without_others(context, method, settings)
    refuse_options(method, settings)
    mechanism = mechanism_of(method, settings)
    if checkpoint is not None and not mechanism.long_running:
        raise ArgumentError(f"--checkpoint is for long runs; --method {method} keeps none")
    from incrowd._renames import tidy
    from incrowd.evaluate._publish import publish, refuse_places

    tidy(output, record)
    refuse_places(output, record=record, overwrite=overwrite)
    mechanism, ledger = with_ledger(mechanism, output, *([output] if overwrite else []))
    journal = None
    if mechanism.long_running:
        journal = checkpoint or output.with_name(f"{output.name}.checkpoint")
    kept = None if ledger is None else ledger.path
    tidy(kept)
    written = {"release": output, "private record": record, "checkpoint": journal, "ledger": kept}
    refuse_same(context.params["data"], written)
    _refuse_journal(journal, output)
    if record is None:
        say(
            "note: without --record nobody can ever check again that the release is true to the "
            "original: who is in which crowd, what was deleted, how far each sample moved. It "
            "cannot be made later"
        )
    data = source.read()
    with _keeping(journal):
        result = protected(mechanism, method, data, source.reading, journal, local)
        try:
            with progress("Writing and verifying", "steps") as update:
                done = publish(
                    result,
                    output,
                    original=data,
                    format=form.value,
                    record=record,
                    reading=None if record is None else source.noted(data, local),
                    ledger=ledger,
                    overwrite=overwrite,
                    max_lost=fail_above,
                    progress=update,
                )
        except (ArgumentError, LossError, VerificationError) as error:
            _forget(journal)  # the same run would end in the same way
            if isinstance(error, VerificationError):
                _refuted(error, as_json=as_json)
            raise
    _forget(journal)
    if as_json:
        print_json(as_plain(data, result, done, record))
        return
    print_lines([*lines_of(data, result, done), "", *_next(context, done, record, kept)])


def protected(
    mechanism: "Mechanism",
    method: str,
    data: "Trajectories",
    reading: dict[str, Any],
    journal: Path | None,
    local: str | None = None,
) -> "ProtectionResult":
    """Apply the mechanism, with what it advises said before and its progress shown.

    `local` is the zone in which people live, where it is not that with which the data was read.
    """
    from incrowd.data._zone import living_in

    data = living_in(data, local)
    if data.reading is not None and data.reading.zoneless and reading["tz"] is None:
        say(
            f"note: {data.reading.zoneless:,} times name no time zone: they are taken to be in "
            "UTC, and published so; if they are local, give their zone with --tz"
        )
    try:
        for note in mechanism.advice(data):
            say(f"note: {in_option_names(note, method)}")
        with stages() as show:
            return mechanism.protect(
                data,
                threads=reading["threads"],
                memory=reading["memory"],
                checkpoint=journal,
                progress=show
                if journal is None
                else on_first_progress(_noticing(journal, show), method),
            )
    except ArgumentError as error:
        raise ArgumentError(in_option_names(str(error), method)) from error


def _forget(journal: Path | None) -> None:
    if journal is not None:
        journal.unlink(missing_ok=True)


@contextlib.contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """Show the progress of work in several stages, each with a bar of its own.

    Yields
    ------
    callable
        Takes the name of the stage, the number done and that of all.
    """
    with contextlib.ExitStack() as bar:
        now, update = "", None

        def show(stage: str, done: int, total: int) -> None:
            nonlocal now, update
            if stage != now or update is None:
                bar.close()
                now = stage
                unit = _UNITS.get(stage.partition(" ")[0], "steps")
                update = bar.enter_context(progress(stage, unit))
            update(done, total)

        yield show


def itself() -> str:
    """Give the command as it was called, for it may not be on the path."""
    return sys.argv[0] if Path(sys.argv[0]).name == "incrowd" else "incrowd"


def refuse_same(data: str, written: Mapping[str, Path | None]) -> None:
    """Refuse to write over the input or among it, or to give two files the same name."""
    from incrowd.data._io.sources import files_of

    names: dict[Path, str] = {}
    for what, path in written.items():
        if path is None:
            continue
        other = names.setdefault(path.resolve(), what)
        if other != what:
            raise ArgumentError(f"{path} cannot be both the {other} and the {what}")
    try:
        files = files_of(data)
    except (IncrowdError, OSError):
        return  # told by who reads it
    folder = Path(data).resolve()
    for path, what in names.items():
        if path in {file.resolve() for file in files}:
            raise ArgumentError(f"{path} is the input; the {what} needs a name of its own")
        if folder.is_dir() and folder in path.parents and what != "checkpoint":
            raise ArgumentError(
                f"{path} lies in {data}, all of which is the input; put the {what} elsewhere"
            )


def _refuse_journal(journal: Path | None, output: Path) -> None:
    """Refuse a checkpoint that would be published, or has no folder."""
    if journal is None:
        return
    if output.resolve() in (journal.resolve(), *journal.resolve().parents):
        raise ArgumentError(f"{journal} lies in the release; the checkpoint must stay outside")
    if not journal.parent.is_dir():
        raise ArgumentError(f"cannot write {journal}: the folder {journal.parent} does not exist")


@contextlib.contextmanager
def _keeping(journal: Path | None) -> Iterator[None]:
    """Say what is kept when something ends the run that the same command can go on from."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError, OSError):
        if journal is not None and journal.is_file() and journal.stat().st_size:
            say(
                f"{journal} keeps what was done: run the same command again to go on from there, "
                "or delete it. It tells about the input; do not share it."
            )
        raise


def _noticing(
    journal: Path, show: Callable[[str, int, int], None]
) -> Callable[[str, int, int], None]:
    """Say, once work goes on, that it goes on from where an earlier run ended."""
    waiting = journal.exists()

    def update(stage: str, done: int, total: int) -> None:
        nonlocal waiting
        if waiting:
            waiting = False
            say(f"going on from {journal}")
        show(stage, done, total)

    return update


def _refuted(error: VerificationError, *, as_json: bool) -> NoReturn:
    """Say which checks failed, and end with the status for no."""
    found = error.verification
    if as_json:
        about = {"ok": False, "release": None, "verification": found.to_dict()}
        print_json(about | {"error": error_document(error)}, status=1)
    else:
        print(found)
    names = ", ".join(check.name for check in found.failed)
    say(
        f"incrowd: the release did not pass its verification ({names}) and was removed; "
        f"nothing is under {found.path}",
        always=True,
    )
    raise typer.Exit(1) from error


def _next(
    context: typer.Context, done: "Publication", record: Path | None, ledger: Path | None
) -> list[str]:
    """Say where everything is, and how to verify it again."""
    lines = [f"The release is in {done.path}."]
    if record is not None:
        lines.append(f"The private record is {record}. Do not share it: it names everybody.")
    if ledger is not None:
        lines += told_of_ledger(ledger)
    if record is not None:
        # The record knows the original and how it was read.
        again = shlex.join([itself(), "verify", str(done.path), "--record", str(record)])
    else:
        words = ["verify", str(done.path), "--original", context.params["data"]]
        again = shlex.join([itself(), *words, *_reading_words(context)])
    return [*lines, f"Verify it again with:  {again}"]


def _reading_words(context: typer.Context) -> list[str]:
    """Give the options of reading as they were given, for a command that reads the same."""
    own = {"data", "output", "method", "form", "record", "checkpoint", "overwrite", "as_json"}
    own.update(offered_settings(), EVERYWHERE, ["fail_above", "local"])
    words: list[str] = []
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in own or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[option.name or ""]
        words += [option.opts[0]] if value is True else [option.opts[0], str(value)]
    return words
