"""The command line. One file a command; each parses, calls and prints, and no more.

Results go to standard output, progress and messages to standard error. Exit status: 0 done;
1 the answer is no (a release fails its verification, or may not be shared); 2 wrong use, or the
output cannot be written; 3 it may be shared with conditions; 4 the input cannot be used; 70 incrowd
itself has failed; 130 interrupted (Ctrl-C); 143 terminated (SIGTERM).
"""

# Nothing else is imported before `main` runs: whoever presses Ctrl-C while commands are loaded
# should see one message, and not where Python was.
import sys
from typing import Any

__all__ = ["FAULT", "NAMES", "TRACEBACK", "fault_in_words", "main", "noted", "settle"]

FAULT, INTERRUPTED, TERMINATED = 70, 130, 143
noted: list[int] = []
"""The exit statuses of the signals that have come; whatever an error looks like then, it is theirs.

Compilers, readers and modules that are being imported make errors of their own of a signal, or
swallow it.
"""
NAMES = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}
TRACEBACK = "INCROWD_TRACEBACK"
"""The environment variable that asks where in the code a fault is."""
_AGAIN = 0.5
"""Seconds after which a signal that was swallowed is given once more."""


def main() -> None:
    """Run the command line."""
    try:
        import signal

        for number in (signal.SIGINT, signal.SIGTERM):
            # What a shell has a job in the background ignore stays ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _stop)
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, _again)
        from incrowd.cli._app import app
        from incrowd.cli._console import run

        status = run(app)
        if not noted:
            # Python takes a moment to end, and whoever does not want to wait need not.
            _leave_to(signal.SIG_DFL)
    except BaseException as error:  # noqa: BLE001  told, and not hidden
        if not noted and not isinstance(error, KeyboardInterrupt):
            status = _report(error)
        else:
            settle()
            status = noted[-1] if noted else INTERRUPTED
            print(f"incrowd: {NAMES[status]}", file=sys.stderr)
    sys.exit(status)


def fault_in_words(error: BaseException) -> str:
    """Return what is said of an error that nobody has foreseen."""
    first = str(error).strip().partition("\n")[0][:200]
    what = type(error).__name__ + (f": {first}" if first else "")
    return (
        f"a fault in incrowd itself ({what}). Nothing was decided, and no incomplete output was "
        f"left behind. Please report it; the same command with {TRACEBACK}=1 shows where it is. "
        "Leave out of the report whatever is of your data"
    )


def _report(error: BaseException) -> int:
    """Say that commands could not even be loaded, or their end not be told."""
    import os

    print(f"incrowd: {fault_in_words(error)}", file=sys.stderr)
    if os.environ.get(TRACEBACK):
        import traceback

        traceback.print_exception(error)
    return FAULT


def _stop(number: int, frame: object) -> None:  # noqa: ARG001
    """Note a signal, and end so that whatever is half written is cleaned up."""
    noted.append(128 + number)
    sys.unraisablehook = _tell_others
    _raise()


def _tell_others(about: Any) -> None:
    """Tell of what could not be raised where it happened, but not of a signal."""
    if not isinstance(about.exc_value, SystemExit):
        sys.__unraisablehook__(about)


def _again(number: int, frame: object) -> None:  # noqa: ARG001
    """Give a signal once more that something has swallowed; not while it is being cleaned up."""
    error = sys.exception()
    while error is not None:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            _arm()
            return
        error = error.__cause__ or error.__context__
    _raise()


def _raise() -> None:
    # Not KeyboardInterrupt: Python may end by the signal itself, however that was handled.
    _arm()
    sys.exit(noted[-1])


def _arm() -> None:
    import signal

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)


def settle() -> None:
    """Take no more notice of signals, once one was noted and everything is cleaned up."""
    if noted:
        import signal

        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        _leave_to(signal.SIG_IGN)


def _leave_to(handler: Any) -> None:
    import signal

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is _stop:
            signal.signal(number, handler)
