"""What a command says: results as JSON, messages on standard error, and a log of them.

One place for all commands, so that a job that nobody watches can rely on it:

- `print_json` prints the one document of ``--json``: ``schema``, ``command`` and ``status`` (the
  exit status), then what the command found. `print_error` prints it for an error.
- `say` writes to standard error unless ``--quiet`` holds back what is neither an error nor a
  warning; with ``--log-file`` it all goes there as well, held back or not, with the time.
"""

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._visible import masked, shortened, visible
from incrowd.errors import IncrowdError, OutputError

if TYPE_CHECKING:
    from incrowd.data._io.reading_report import Example, Reading

__all__ = [
    "SCHEMA",
    "Messages",
    "as_document",
    "begin",
    "error_document",
    "example_in_words",
    "hint_of",
    "in_words",
    "log_to",
    "messages",
    "note_log",
    "print_error",
    "print_json",
    "reading_as_dict",
    "say",
]

OWNER, RECIPIENTS = "owner", "recipients"
"""For whom a document is meant: exact numbers, or none of few people."""
LONGEST = 4_000
"""A message on the screen, or in the log, has about so many letters at most."""
SCHEMA = "incrowd/1"
"""Changes when a key of a document changes its meaning or goes; not when one is added."""


@dataclass(slots=True)
class Messages:
    """How the command that runs wants to be heard."""

    command: str | None = None
    as_json: bool = False
    quiet: bool = False
    log: Path | None = None
    show_values: bool = False
    """Whether messages show values of the input; otherwise they are masked."""
    printed: bool = False
    """Whether the one document was printed."""
    handed_on: bool = False
    """Whether what is printed may go to whoever gets a release; else it is exact, for the owner."""
    kept: str | None = None
    """What an interruption leaves, to go on from; in words."""


messages = Messages()


def begin(command: str | None, *, as_json: bool) -> None:
    """Forget what a command before wanted."""
    messages.command, messages.as_json = command, as_json
    messages.quiet, messages.log, messages.printed = False, None, False
    messages.kept, messages.show_values, messages.handed_on = None, False, False


def in_words(error: BaseException | str) -> str:
    """Return what an error says: values of the input masked, unless they were asked for."""
    if isinstance(error, IncrowdError):
        return str(error) if messages.show_values else error.masked()
    if isinstance(error, OSError) and error.strerror:
        # Without the number that the system gives it.
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def hint_of(error: IncrowdError) -> str | None:
    """Return what to do about an error, without values of the input unless they are asked for."""
    if error.hint is None or messages.show_values:
        return error.hint
    return masked(error.hint, error.values)


def reading_as_dict(reading: "Reading | None") -> dict[str, Any] | None:
    """Return what happened while data was read, for JSON; values of bad rows are masked."""
    if reading is None:
        return None
    found = reading.as_dict()
    for reason, one in found["rejected"].items():
        one["examples"] = [example_in_words(each) for each in reading.rejects.examples[reason]]
    return found


def example_in_words(example: "Example") -> str:
    """Return where a row is that could not be used, and its value, which is masked."""
    shown = str(example)
    return shown if messages.show_values else masked(shown, [example.value])


def say(text: str, *, always: bool = False) -> None:
    """Tell the person at the terminal something that is no result.

    Parameters
    ----------
    text
        What to say.
    always
        Whether it is said although ``--quiet`` is given: errors and warnings.
    """
    if always or not messages.quiet:
        # Nobody can be told that nobody can be told.
        with contextlib.suppress(OSError):
            print(shortened(visible(text, lines=True), LONGEST), file=sys.stderr)
    note_log(text)


def log_to(path: Path) -> None:
    """Append whatever is said from now on to a file, which is readable by its owner only.

    Values of the input are masked in it as on the screen. A file that is there already keeps its
    permissions.
    """
    messages.log = path
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError as error:
        messages.log = None
        raise OutputError(f"cannot write the log {path}: {error.strerror}", file=path) from error
    note_log(f"incrowd {messages.command} begins")


def note_log(text: str) -> None:
    """Write to the log alone, each line with the time."""
    if messages.log is None or not text:
        return
    now = datetime.now(UTC).astimezone().isoformat(timespec="seconds")
    try:
        with messages.log.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(
                f"{now} {line}\n"
                for line in shortened(visible(text, lines=True), LONGEST).splitlines()
            )
    except OSError as error:
        # A log that is full ends the log, not the work.
        path, messages.log = messages.log, None
        print(f"warning: cannot write the log {path}: {error.strerror}", file=sys.stderr)


def print_json(document: Mapping[str, Any], *, status: int = 0) -> None:
    """Print the result of a command as one document of JSON."""
    print(as_document(document, status=status))


def as_document(document: Mapping[str, Any], *, status: int = 0) -> str:
    """Return the result of a command as one document of JSON."""
    messages.printed = True
    whose = RECIPIENTS if messages.handed_on else OWNER
    about = {"schema": SCHEMA, "command": messages.command, "status": status, "meant_for": whose}
    text = json.dumps(about | dict(document), indent=2, ensure_ascii=False, default=str)
    # Half a character, as names of files may hold, is written as JSON escapes it.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def print_error(error: BaseException | str, *, status: int, code: str | None = None) -> None:
    """Print an error as the one document, if JSON is asked for and none was printed yet."""
    if messages.as_json and not messages.printed:
        # Where standard output is what cannot be written, the exit status has to do.
        with contextlib.suppress(OSError):
            print_json({"error": error_document(error, code)}, status=status)


def error_document(error: BaseException | str, code: str | None = None) -> dict[str, Any]:
    """Return what is known of an error: code, message, hint, file and line."""
    known = error if isinstance(error, IncrowdError) else None
    file = known.file if known else getattr(error, "filename", None)
    return {
        "code": code or (known.code if known else "system"),
        "message": shortened(visible(in_words(error), lines=True), LONGEST),
        "hint": hint_of(known) if known else None,
        "file": None if file is None else str(file),
        "line": known.line if known else None,
    }
