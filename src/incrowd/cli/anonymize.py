"""``incrowd anonymize``: protect a dataset, verify what was written, and publish it."""

import contextlib
import json
import math
import shlex
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from incrowd.cli import _methods as methods
from incrowd.cli._console import on_first_progress, progress, say
from incrowd.cli._methods import (
    AtMost,
    CloakTo,
    Epsilon,
    Method,
    Metres,
    Minutes,
    NoiseSeed,
    as_plain,
    blur,
    losses_in,
    mechanism_of,
    proof,
    refuse_options,
    share,
)
from incrowd.cli._options import AsJson, Source, in_units, reads_data
from incrowd.errors import ArgumentError, IncrowdError, VerificationError

if TYPE_CHECKING:
    from incrowd.data._trajectories import Trajectories
    from incrowd.evaluate._publish import Publication
    from incrowd.protect._glove.api import Release

__all__ = [
    "anonymize",
    "itself",
    "lines_of",
    "stages",
]


Variant = StrEnum("Variant", ["strict", "loose"])
Reshape = StrEnum("Reshape", ["split", "union", "none"])
Suppress = StrEnum("Suppress", ["boxes", "samples"])
Format = StrEnum("Format", ["parquet", "csv"])

LEAST, MANY = 2, 1000
_UNITS = {"Searching": "people", "Merging": "merges", "Finishing": "merges"}


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
    method: Annotated[
        Method,
        typer.Option(
            help="glove hides everybody in a crowd of k. The others hide nobody: filter drops rare "
            "places, cloak blurs times, generalise positions and times, geo-i adds noise."
        ),
    ] = Method.glove,
    k: Annotated[int, typer.Option("--k", help="How many people share each record, at least.")] = 2,
    variant: Annotated[
        Variant,
        typer.Option(
            help="strict: crowds stop at k, and fewer than k people may be dropped; "
            "loose: they may grow, and nobody is."
        ),
    ] = Variant.strict,
    reshape: Annotated[
        Reshape,
        typer.Option(
            help="Where samples overlap in time. split: cut them, as in the papers; "
            "union: join them, so that every box was seen; none: leave them."
        ),
    ] = Reshape.split,
    max_space: Annotated[
        float | None,
        typer.Option(
            help="Suppress samples wider or higher than this; the papers use 15000.", metavar="M"
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(help="Suppress samples longer than this; the papers use 360.", metavar="MIN"),
    ] = None,
    suppress: Annotated[
        Suppress,
        typer.Option(
            help="What --max-space and --max-time drop. boxes: merged samples that are larger; "
            "samples: only those that are stretched by more, so that more is left, and larger."
        ),
    ] = Suppress.boxes,
    at_most: AtMost = None,  # noqa: ARG001  these are read from the context
    cloak: CloakTo = None,  # noqa: ARG001
    metres: Metres = None,  # noqa: ARG001
    minutes: Minutes = None,  # noqa: ARG001
    epsilon: Epsilon = None,  # noqa: ARG001
    noise_seed: NoiseSeed = None,  # noqa: ARG001
    form: Annotated[Format, typer.Option("--format", help="Of the rows.")] = Format.parquet,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Also write the private record of who became whom; it must stay in the house.",
            metavar="FILE",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Where a long run keeps what is done until it has finished; DIR.checkpoint "
            "unless given. After an interruption, the same command goes on from there.",
            metavar="FILE",
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
    as_json: AsJson = False,
) -> None:
    """Hide everybody in a crowd of k (GLOVE), verify what was written, and publish it.

    The release gets its name only after its verification: exit status 0 if it is there, 1 if it
    did not pass and was removed. The other methods promise no k, and their releases say so.

    Example:  `incrowd anonymize cdr.csv --k 2 -o release --record who.parquet`

    Example:  `incrowd anonymize cdr.csv --method cloak --cloak 60 -o cloaked`
    """
    refuse_options(context, method.value)
    if method is not Method.glove:
        files = {"format": form.value, "record": record, "overwrite": overwrite}
        _plainly(context, source, output, method.value, files, as_json=as_json)
        return
    _refuse(k, max_space, max_time, suppress)
    import incrowd
    from incrowd.evaluate._publish import publish, refuse_places

    refuse_places(output, record=record, overwrite=overwrite)
    journal = checkpoint or output.with_name(f"{output.name}.checkpoint")
    _refuse_same(context.params["data"], output, record, journal)
    _refuse_journal(journal, output)
    _tell_left_behind(output)
    if k > MANY:
        say(f"note: k = {k:,} is large; expect wide and long samples, and few crowds")
    data = source.read()
    space = in_units("--max-space", max_space, data.frame.cell, "m", "cell")
    time = in_units("--max-time", max_time, data.frame.slot / 60, "min", "slot")
    with _keeping(journal):
        with stages() as show:
            release = incrowd.glove(
                data,
                k,
                variant=variant.value,
                reshape=reshape.value,
                max_space=space,
                max_time=time,
                suppress=suppress.value,
                threads=source.reading["threads"],
                memory=source.reading["memory"],
                checkpoint=journal,
                progress=on_first_progress(_noticing(journal, show)),
            )
        try:
            with progress("Writing and verifying", "steps") as update:
                done = publish(
                    data,
                    release,
                    output,
                    format=form.value,
                    record=record,
                    overwrite=overwrite,
                    progress=update,
                )
        except (ArgumentError, VerificationError) as error:
            # The same run would end in the same way.
            journal.unlink(missing_ok=True)
            if isinstance(error, VerificationError):
                _refuted(error, as_json=as_json)
            raise
    journal.unlink(missing_ok=True)
    if as_json:
        print(json.dumps(as_plain(data, done, record), indent=2, ensure_ascii=False))
        return
    print("\n".join([*lines_of(data, release, done), "", *_next(context, done, record)]))


def _plainly(
    context: typer.Context,
    source: Source,
    output: Path,
    method: str,
    files: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Protect a dataset by a method that promises no k; verify and publish what it does promise."""
    mechanism = mechanism_of(context, method)
    from incrowd.evaluate._publish import publish, refuse_places

    record = files["record"]
    refuse_places(output, record=record, overwrite=files["overwrite"])
    _refuse_same(context.params["data"], output, record)
    _tell_left_behind(output)
    data = source.read()
    with progress("Protecting", "samples"):
        protected = mechanism.protect(data, threads=source.reading["threads"])
    try:
        with progress("Writing and verifying", "steps") as update:
            done = publish(data, protected, output, progress=update, **files)
    except VerificationError as error:
        _refuted(error, as_json=as_json)
    if as_json:
        print(json.dumps(as_plain(data, done, record), indent=2, ensure_ascii=False))
        return
    lines = methods.lines_of(data, protected, done)
    print("\n".join([*lines, "", *_next(context, done, record)]))


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
                update = bar.enter_context(progress(stage, _UNITS.get(stage, "steps")))
            update(done, total)

        yield show


def itself() -> str:
    """Give the command as it was called, for it may not be on the path."""
    return sys.argv[0] if Path(sys.argv[0]).name == "incrowd" else "incrowd"


def lines_of(data: "Trajectories", release: "Release", done: "Publication") -> list[str]:
    """Say in lines what was published, what was lost and verified, and what is not promised."""
    losses, people, samples = release.losses, len(data), data.samples
    published = done.manifest.sizes["people"]
    rows = [
        ("people", f"{published:,} of {people:,} are published, in {_crowds(release)}"),
        ("people dropped", share(losses.people_dropped, people)),
        ("samples dropped", share(losses.samples_dropped, samples)),
        ("samples suppressed", share(losses.samples_suppressed, samples)),
    ]
    return [*losses_in(data, rows), *blur(release.trajectories), *proof(done)]


def _crowds(release: "Release") -> str:
    crowd = release.trajectories.crowd
    least, most = int(crowd.min()), int(crowd.max())
    size = f"of {least:,} people" if least == most else f"of {least:,} to {most:,} people"
    return f"{len(crowd):,} crowd{'' if len(crowd) == 1 else 's'} {size}"


def _refuse(k: int, max_space: float | None, max_time: float | None, suppress: Suppress) -> None:
    """Refuse what makes no sense, whatever the data."""
    if k < LEAST:
        raise ArgumentError(f"--k must be at least {LEAST}, not {k}: alone, nobody hides")
    if suppress is not Suppress.boxes and max_space is None and max_time is None:
        raise ArgumentError(f"--suppress {suppress.value} needs --max-space or --max-time")
    for option, value in (("--max-space", max_space), ("--max-time", max_time)):
        if value is not None and not 0 < value < math.inf:
            what = "finite" if value == math.inf else "above 0"
            raise ArgumentError(f"{option} must be {what}, not {value:g}")


def _refuse_same(data: str, output: Path, record: Path | None, journal: Path | None = None) -> None:
    """Refuse to write over the input or among it, or to give two files the same name."""
    from incrowd.data._io.sources import files_of

    written = {"release": output, "private record": record, "checkpoint": journal}
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


def _tell_left_behind(output: Path) -> None:
    """Say what runs that were killed have left, for nobody else will remove it."""
    from incrowd.evaluate._publish import left_behind

    for path in left_behind(output):
        say(
            f"note: {path} was left by a run that was killed; it is no release. Unless that run "
            "is still going on, delete it"
        )


def _refuse_journal(journal: Path, output: Path) -> None:
    """Refuse a checkpoint that would be published, or has no folder."""
    if output.resolve() in (journal.resolve(), *journal.resolve().parents):
        raise ArgumentError(f"{journal} lies in the release; the checkpoint must stay outside")
    if not journal.parent.is_dir():
        raise ArgumentError(f"cannot write {journal}: the folder {journal.parent} does not exist")


@contextlib.contextmanager
def _keeping(journal: Path) -> Iterator[None]:
    """Say what is kept when something ends the run that the same command can go on from."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError, OSError):
        if journal.is_file() and journal.stat().st_size:
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
    print(
        json.dumps({"ok": False, "release": None, "verification": found.to_dict()}, indent=2)
        if as_json
        else found
    )
    names = ", ".join(check.name for check in found.failed)
    say(
        f"incrowd: the release did not pass its verification ({names}) and was removed; "
        f"nothing is under {found.path}"
    )
    raise typer.Exit(1) from error


def _next(context: typer.Context, done: "Publication", record: Path | None) -> list[str]:
    """Say where everything is, and how to verify it again."""
    lines = [f"The release is in {done.path}."]
    if record is not None:
        lines.append(f"The private record is {record}. Keep it in the house: it names everybody.")
    words = ["verify", str(done.path), "--original", context.params["data"]]
    words += [] if record is None else ["--record", str(record)]
    again = shlex.join([itself(), *words, *_reading_words(context)])
    return [*lines, f"Verify it again with:  {again}"]


def _reading_words(context: typer.Context) -> list[str]:
    """Give the options of reading as they were given, for a command that reads the same."""
    own = {"data", "output", "method", "form", "record", "overwrite", "as_json"}
    own.update(*methods.OPTIONS.values())
    words: list[str] = []
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in own or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[option.name or ""]
        words += [option.opts[0]] if value is True else [option.opts[0], str(value)]
    return words
