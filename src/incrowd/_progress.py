"""How far the making of a report is."""

from collections.abc import Callable

__all__ = [
    "Progress",
    "Steps",
]


PARTS = 100
STEPS = ("verifying", "reading", "k-gap", "exposure before", "exposure after", "what is left")

Progress = Callable[[str, int, int], None]


class Steps:
    """Tell what is being done, and how far it is: every step has so many parts."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._what = progress, STEPS[0]

    def __call__(self, what: str) -> None:
        """Tell that a step begins."""
        self._what = what
        self.within(0, 1)

    def within(self, done: int, total: int) -> None:
        """Tell how far a step is."""
        if self._progress:
            parts = PARTS * STEPS.index(self._what) + min(PARTS * done // max(total, 1), PARTS - 1)
            self._progress(self._what, parts, PARTS * len(STEPS))

    def finish(self) -> None:
        """Tell that all is done."""
        if self._progress:
            self._progress("done", PARTS * len(STEPS), PARTS * len(STEPS))
