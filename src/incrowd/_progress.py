"""How far a piece of work is that has several stages: one counter for all who report progress.

Every stage counts for as many parts, however long it takes and whatever it counts itself::

    stages = Stages(progress, 3)        progress(done, total) is called with parts of 300
    search(progress=stages.next())      a stage that counts people: (done, total) of its own
    stages.advance(100)                 a stage that has nothing to count
"""

from collections.abc import Callable, Sequence

__all__ = [
    "Progress",
    "Stages",
]


PARTS = 100

Progress = Callable[[int, int], None]
"""Called with how much is done, and how much there is in all."""


class Stages:
    """Count the parts that are done of work in several stages.

    Parameters
    ----------
    progress
        Called with the parts done and the number of all; nothing is called if it is None.
    stages
        How many stages there are, or their names.
    parts
        How many parts each of them counts for.

    Examples
    --------
    >>> stages = Stages(lambda done, total: print(done, "of", total), ["read", "search"], parts=10)
    >>> stages.begin("search")
    10 of 20
    >>> stages.within(40, 80)
    15 of 20
    >>> stages.finish()
    20 of 20
    """

    def __init__(
        self, progress: Progress | None, stages: int | Sequence[str], parts: int = PARTS
    ) -> None:
        self.names = tuple(map(str, range(stages))) if isinstance(stages, int) else tuple(stages)
        self.total = len(self.names) * parts
        self._progress, self._parts, self._stage, self._done = progress, parts, -1, 0.0

    @property
    def name(self) -> str:
        """What is being done: the name of the stage, or that all is."""
        return "done" if self._done >= self.total else self.names[max(self._stage, 0)]

    def begin(self, name: str) -> None:
        """Begin the stage of this name; those before it that were left out count as done."""
        self._stage = self.names.index(name)
        self.within(0, 1)

    def next(self) -> Progress:
        """Begin the next stage; return what is called with its own progress."""
        self._stage += 1
        return self.within

    def within(self, done: int, total: int) -> None:
        """Say how far the stage is, in a count of its own."""
        before = max(self._stage, 0) * self._parts
        self._tell(before + min(self._parts * done // max(total, 1), self._parts))

    def advance(self, parts: float = 1) -> None:
        """Count parts as done."""
        self._tell(self._done + parts)

    def finish(self) -> None:
        """Say that all is done."""
        self._tell(self.total)

    def _tell(self, done: float) -> None:
        self._done = min(done, self.total)
        if self._progress is not None:
            self._progress(int(self._done), self.total)
