"""What every command shares: progress on standard error, and errors as one clear message."""

import contextlib
import importlib
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from incrowd._visible import masked
from incrowd.cli import (
    FAULT,
    INTERRUPTED,
    NAMES,
    TRACEBACK,
    fault_in_words,
    noted,
    settle,
)
from incrowd.cli._messages import in_words, messages, note_log, print_error, say
from incrowd.cli._remaining import RemainingTime
from incrowd.cli._remaining import in_words as time_in_words
from incrowd.cli._screen import behind, screens
from incrowd.errors import IncrowdError, InputError, LossError, PrivacyWarning, VerificationError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

__all__ = [
    "on_first_progress",
    "progress",
    "run",
    "say",
    "warn",
    "warn_first_compile",
    "write_people",
]


_NO, _USE, _DATA = 1, 2, 4
_PATIENCE = 5.0
_STEPS = "steps"
"""Of work in several stages: a step of one takes as long as it takes, and tells of no other."""
_DECIMALS = 12


def run(app: Callable[[], Any]) -> int:
    """Run commands behind a screen; turn errors into a message and an exit status."""
    with screens():
        return _run(app)


def _run(app: Callable[[], Any]) -> int:
    warnings.showwarning = _warn
    # A warning that concerns privacy is shown every time, whatever filters say.
    warnings.simplefilter("always", PrivacyWarning)
    status = 0
    try:
        try:
            app()
        finally:
            # Here, so that a full disk or a closed pipe behind the output does not go unnoticed.
            sys.stdout.flush()
        settle()
    except BaseException as error:  # noqa: BLE001  a fault of ours has a status of its own
        settle()
        if not noted:
            status = _told(error)
    if noted:
        # Whatever was made of the signal on its way: an error, or nothing.
        status = _stopped(noted[-1])
    _flush()
    note_log(f"incrowd {messages.command or ''} ends with status {status}")
    return status


def _told(error: BaseException) -> int:
    """Say what went wrong and return the exit status."""
    if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
        return 0  # whoever read the output has seen enough
    if isinstance(error, SystemExit):
        return _ended(error)
    if isinstance(error, KeyboardInterrupt):
        return _stopped(INTERRUPTED)
    if isinstance(error, MemoryError):
        text = (
            "out of memory; set a limit with --memory, or take a part of the data with --from, "
            "--to, --bbox or --sample-people"
        )
        say(f"incrowd: {text}", always=True)
        print_error(text, status=_USE, code="memory")
        return _USE
    if isinstance(error, IncrowdError | OSError):
        say(f"incrowd: {in_words(error)}", always=True)
        if isinstance(error, IncrowdError) and in_words(error) != str(error):
            say("Values of the input are not shown; --show-values shows them.", always=True)
        print_error(error, status=_status_of(error))
        return _status_of(error)
    return _fault(error)


def _ended(error: SystemExit) -> int:
    """Return the status with which a command has ended by itself."""
    if error.code in NAMES:  # typer may have been there first
        return _stopped(int(error.code or 0))
    # Typer says "Aborted!", with 1, of a prompt that nobody answers, and of an EOFError.
    if type(error.__context__).__name__ == "Abort":
        cause = error.__context__.__cause__ if error.__context__ else None
        return _USE if cause is None else _fault(cause)
    return error.code if isinstance(error.code, int) else _USE


def _fault(error: BaseException) -> int:
    """Say that incrowd itself has failed: the status is neither a no, nor that of bad input."""
    text = fault_in_words(error)
    say(f"incrowd: {text}", always=True)
    trace = "".join(traceback.format_exception(error))
    if os.environ.get(TRACEBACK):
        say(trace, always=True)
    else:
        note_log(trace)
    print_error(text, status=FAULT, code="fault")
    return FAULT


def _stopped(status: int) -> int:
    """Say that a signal has ended the command, and what is left."""
    text = f"{NAMES[status]}; {messages.kept or 'no incomplete output was left behind'}"
    say(f"incrowd: {text}", always=True)
    print_error(text, status=status, code="interrupted")
    return status


def _flush() -> None:
    """Bring the output out; what cannot be written is given up, for it was told already."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _status_of(error: Exception) -> int:
    """Give the exit status of an error: bad data is told from wrong use."""
    if isinstance(error, InputError):
        return _DATA
    return _NO if isinstance(error, VerificationError | LossError) else _USE


def warn(text: str) -> None:
    """Warn of what would expose people if it were shared."""
    warnings.warn(f"{text}; do not share it", PrivacyWarning, stacklevel=3)


def write_people(table: "pl.DataFrame", output: "Path", *, overwrite: bool) -> None:
    """Write a table of people, whole or not at all, and warn that it names them.

    Nobody but its owner may read it, as is the case with the private record.
    """
    import polars as pl

    from incrowd.data._io.write import table_file

    rows = table.to_arrow(compat_level=pl.CompatLevel.oldest())
    with table_file(
        output, rows.schema, decimals=_DECIMALS, overwrite=overwrite, private=True
    ) as put:
        for batch in rows.to_batches():
            put(batch)
    say(f"wrote {rows.num_rows:,} rows to {output}")
    warn(f"{output} contains the identifiers of the input and how exposed each person is")


class _Compiled(NamedTuple):
    """What a command compiles the first time."""

    kernel: str
    """The first of it that takes long: its module, a colon and its name."""
    takes: str
    ahead: tuple[str, ...] = ()
    """Functions that compile on other cores meanwhile what is called later."""


_GLOVE = (
    "incrowd.cli._compile_ahead:publish",
    "incrowd.protect._glove.engine:compile_kernels",
    "incrowd.protect._glove.k_merge:compile_kernels",
)
_COMPILED = {
    "search": _Compiled("measure._stretch.search:search", "half a minute"),
    "glove": _Compiled("measure._stretch.search:search", "a minute", _GLOVE),
    "demo": _Compiled(
        "measure._stretch.search:search",
        "a minute",
        (*_GLOVE, "incrowd.cli._compile_ahead:report"),
    ),
    "attack": _Compiled("attack._search.unordered:unordered_search", "half a minute"),
    "recognition": _Compiled("attack._reidentification.top_n:_match_top_n", "half a minute"),
    "uniqueness": _Compiled("measure._uniqueness.inverted_index:_count", "half a minute"),
    "utility": _Compiled("evaluate._utility.aggregate:_count", "half a minute"),
}


def warn_first_compile(what: str) -> None:
    """Say why nothing seems to happen where kernels were never compiled before, and begin.

    Of what is not in the table, nothing is said.
    """
    if what not in _COMPILED:
        return
    from incrowd._background import compile_ahead
    from incrowd._numba import is_cached

    module, _, name = _COMPILED[what].kernel.partition(":")
    home = importlib.import_module(f"incrowd.{module}")
    if not is_cached(getattr(home, name)):
        takes = _COMPILED[what].takes
        _tell_if_nowhere()
        say(f"Compiling what this command runs, once on this machine: about {takes} ...")
        compile_ahead(*_COMPILED[what].ahead)


def _tell_if_nowhere() -> None:
    """Say if what is compiled cannot be kept, as in a container that is read-only."""
    from incrowd._kernel_cache import folders, is_writable

    if not any(is_writable(folder) for folder in folders()):
        say(
            "note: what is compiled cannot be kept, for no folder of "
            f"{', '.join(map(str, folders()))} can be written. Set NUMBA_CACHE_DIR to one that "
            "can, or run `incrowd warmup --cache DIR` when the image is built"
        )


def on_first_progress(update: Callable[..., None], what: str) -> Callable[..., None]:
    """Warn of the compiler when work begins: at the first progress, and not before an error."""
    begun = False

    def first(*how_far: Any) -> None:
        nonlocal begun
        if not begun:
            begun = True
            warn_first_compile(what)
        update(*how_far)

    return first


@contextlib.contextmanager
def progress(what: str, unit: str) -> Iterator[Callable[..., None]]:
    """Show how far something is: a bar on a terminal, a line now and then elsewhere.

    Yields
    ------
    callable
        Takes the number done and, if known, the number of all.
    """
    plain = _plain(what, unit, say)
    if messages.quiet or not sys.stderr.isatty():
        yield plain
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    logged, rest = _plain(what, unit, note_log), RemainingTime()

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[rest]}"),
        console=Console(file=behind(sys.stderr)),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=None, count="", rest="")

        def update(done: int, total: int | None = None) -> None:
            seconds = None if unit == _STEPS else rest.update(done, total, now=time.monotonic())
            more = "" if seconds is None else f"about {time_in_words(seconds)} more"
            count = _counted(done, unit)
            bar.update(task, completed=done, total=total, count=count, rest=more)
            logged(done, total)

        yield update


def _counted(number: int, unit: str) -> str:
    """Give a number with its unit, which is said of several, as one says it of one."""
    one = "person" if unit == "people" else unit.removesuffix("s")
    return f"{number:,} {one if number == 1 else unit}"


def _plain(what: str, unit: str, tell: Callable[[str], None]) -> Callable[..., None]:
    last, rest = time.monotonic(), RemainingTime()

    def update(done: int, total: int | None = None) -> None:
        nonlocal last
        now = time.monotonic()
        seconds = None if unit == _STEPS else rest.update(done, total, now=now)
        if now - last > _PATIENCE:
            last, text = now, f"{what}: {_counted(done, unit)}"
            if total:
                text += f" of {total:,}"
            if seconds is not None:
                text += f", about {time_in_words(seconds)} more"
            tell(text)

    return update


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: Any = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    kind = "PRIVACY WARNING" if issubclass(category, PrivacyWarning) else "warning"
    text = str(message)
    if not messages.show_values:
        text = masked(text, getattr(message, "values", ()))
    say(f"{kind}: {text}", always=True)
