"""The screen: whatever a command prints goes through here, and no file can repaint it.

Standard output and standard error are replaced for the time of a command. What is written to them
has its control and direction characters written out (`incrowd._visible`); a line on standard error
is cut to a length. Two things are the command line's own and pass as they are: its help, whose
headings are bold, and the bar of progress, which draws on the stream behind.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from incrowd._visible import shortened, visible

__all__ = ["behind", "let_pass", "print_lines", "screens"]


_BOLD = re.compile("(\x1b\\[[01]m)")
_own: set[str] = set()
"""Texts of ours that may pass as they are."""


class _Screen:
    """A stream on which nothing is written that could do more than be read."""

    def __init__(self, stream: TextIO, *, cut: bool) -> None:
        self._stream, self._cut = stream, cut

    def write(self, text: str) -> int:
        if text.removesuffix("\n") not in _own:
            shown = visible(text, lines=True)
            if self._cut:
                shown = "".join(shortened(line) for line in shown.splitlines(keepends=True))
            self._stream.write(shown)
        else:
            self._stream.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def screens() -> Iterator[None]:
    """Put both standard streams behind a screen, and take them out again."""
    out, err = sys.stdout, sys.stderr
    if isinstance(out, _Screen) or isinstance(err, _Screen):
        yield  # a command within a command
        return
    sys.stdout, sys.stderr = _Screen(out, cut=False), _Screen(err, cut=True)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def behind(stream: Any) -> Any:
    """Return the stream behind a screen, for what draws on it."""
    return stream._stream if isinstance(stream, _Screen) else stream  # noqa: SLF001


def let_pass(text: str) -> str:
    """Return text of ours, with everything but its bold type written out, that may then pass."""
    parts = _BOLD.split(text)
    found = "".join(part if _BOLD.fullmatch(part) else visible(part, lines=True) for part in parts)
    _own.add(found)
    return found


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, each of which stays one, whatever it names."""
    print("\n".join(visible(line) for line in lines))
