"""Ctrl-C while the command line is being loaded: one line and status 130, not where Python was.

This is the first module that is imported, and does something only where the process is the command
line: for whoever imports incrowd, signals stay as they are. `incrowd.cli.main` takes over as soon
as it runs. Before the first line of incrowd, an interruption is Python's own.
"""

import os
import sys

__all__ = ["is_command", "leave"]

_INTERRUPT, _STATUS = 2, 130


def is_command() -> bool:
    """Tell whether this process is ``incrowd``, or ``python -m incrowd``."""
    name = os.path.basename((getattr(sys, "argv", None) or [""])[0])  # noqa: PTH119  before pathlib
    return name in ("incrowd", "incrowd.exe") or sys.orig_argv[1:3] == ["-m", "incrowd"]


def leave(number: int, frame: object) -> None:  # noqa: ARG001
    """End at once: nothing has begun that would have to be cleaned up."""
    os.write(2, b"incrowd: interrupted\n")
    os._exit(_STATUS)


if is_command():
    # What `signal` is made of; that itself would import more, in which Ctrl-C could come.
    import _signal  # type: ignore[import-not-found]

    if _signal.getsignal(_INTERRUPT) is _signal.default_int_handler:
        # `contextlib` would be one more import in which Ctrl-C could come.
        try:  # noqa: SIM105
            _signal.signal(_INTERRUPT, leave)
        except ValueError:  # not in the first thread: then this is no command
            pass
