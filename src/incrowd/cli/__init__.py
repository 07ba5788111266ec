"""The command line. One file a command; each parses, calls and prints, and no more.

Results go to standard output, progress and messages to standard error. Exit status: 0 done;
1 the answer is no (a release fails its verification, or may not be shared); 2 wrong use, or the
output cannot be written; 3 it may be shared with conditions; 4 the input cannot be used; 130
interrupted (Ctrl-C); 143 terminated (SIGTERM).
"""

# Nothing else is imported before `main` runs: whoever presses Ctrl-C while commands are loaded
# should see one message, and not where Python was.
import sys
from typing import NoReturn

__all__ = ["main"]

INTERRUPTED, TERMINATED = 130, 143


def main() -> None:
    """Run the command line."""
    try:
        import signal

        signal.signal(signal.SIGTERM, _terminate)
        from incrowd.cli._app import app
        from incrowd.cli._console import run
    except KeyboardInterrupt:
        print("incrowd: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit(run(app))


def _terminate(number: int, frame: object) -> NoReturn:  # noqa: ARG001
    """End as after Ctrl-C, so that whatever is half written is cleaned up."""
    sys.exit(TERMINATED)
