"""How long work will still take, said only where the past tells the future.

Merging begins slowly and gets faster by a factor of ten; a rate since the beginning then promises
an hour for what is done in minutes. So the rate is that of the later half of the time that has
passed, and where its two quarters differ too much, or too little is done, nothing is said.
"""

from collections import deque

__all__ = ["RemainingTime", "in_words"]

_LEAST_SECONDS = 8.0
_LEAST_SHARE = 0.05
_STEADY = 1.6
"""The rates of two quarters may differ by this factor."""
_POINTS = 512


class RemainingTime:
    """Estimates the remaining time from numbers done and when.

    Examples
    --------
    >>> from incrowd.cli._remaining import RemainingTime
    >>> rest = RemainingTime()
    >>> for second in range(31):
    ...     seconds = rest.update(second * 10, 600, now=float(second))
    >>> round(seconds)
    30
    """

    def __init__(self) -> None:
        self._points: deque[tuple[float, float]] = deque()

    def update(self, done: float, total: float | None, *, now: float) -> float | None:
        """Note how much is done; return the seconds that remain, or None if nobody can tell."""
        points = self._points
        if points and done < points[-1][1]:
            points.clear()  # another round has begun
        # Before the first of all there may be the compiler; so time counts from the first done.
        if done > 0:
            points.append((now, float(done)))
        if len(points) > _POINTS:
            self._points = points = deque(p for i, p in enumerate(points) if i % 2 or i == 0)
        if not total or not 0 < done < total or done < _LEAST_SHARE * total:
            return None
        begun, end = points[0][0], points[-1][0]
        if end - begun < _LEAST_SECONDS:
            return None
        half, quarter = ((end - begun) * part + begun for part in (0.5, 0.75))
        at_half, at_quarter = self._done_at(half), self._done_at(quarter)
        earlier, later = at_quarter - at_half, done - at_quarter
        if min(earlier, later) <= 0 or max(earlier, later) > _STEADY * min(earlier, later):
            return None
        return (total - done) * (end - half) / (earlier + later)

    def _done_at(self, moment: float) -> float:
        """Return how much was done at a moment, between the two points around it."""
        before = self._points[0]
        for point in self._points:
            if point[0] >= moment:
                span = point[0] - before[0]
                share = (moment - before[0]) / span if span else 1.0
                return before[1] + share * (point[1] - before[1])
            before = point
        return before[1]


def in_words(seconds: float) -> str:
    """Tell how long something takes, as one would say it."""
    minute, hour = 60, 3600
    if seconds < 2 * minute:
        return f"{seconds:.0f} s"
    return f"{seconds / minute:.0f} min" if seconds < 2 * hour else f"{seconds / hour:.1f} h"
