"""The command line. One file a command; each parses, calls and prints, and no more.

Results go to standard output, progress and messages to standard error. Exit status: 0 done,
1 the answer is no, 2 wrong use or bad input, 130 interrupted.
"""

import sys

from incrowd.cli.app import app
from incrowd.cli.console import run

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    sys.exit(run(app))
