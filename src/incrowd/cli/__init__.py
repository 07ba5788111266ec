"""The command line. One file a command; each parses, calls and prints, and no more.

Results go to standard output, progress and messages to standard error. Exit status: 0 done,
1 the answer is no, 2 wrong use or bad input, 130 interrupted, 143 told to end.
"""

import signal
import sys
from typing import NoReturn

from incrowd.cli._app import app
from incrowd.cli._console import TERMINATED, run

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _end)
    sys.exit(run(app))


def _end(number: int, frame: object) -> NoReturn:  # noqa: ARG001
    """End as after Ctrl-C, so that whatever is half written is cleaned up."""
    sys.exit(TERMINATED)
