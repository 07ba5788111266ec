"""Work on several threads: compiled kernels release the interpreter's lock."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from incrowd.errors import ArgumentError

__all__ = [
    "cores",
    "on_threads",
]


T = TypeVar("T")


def cores(threads: int | None = None) -> int:
    """Return the number of threads to use: as many as asked for, or as this process may use."""
    if threads is not None:
        # Integers of numpy are as good as others.
        if isinstance(threads, bool) or not hasattr(threads, "__index__") or threads < 1:
            raise ArgumentError(
                f"threads must be a positive integer, or None for all cores, not {threads!r}"
            )
        return int(threads)
    # Not every system can say which cores a process may use.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def on_threads(
    threads: int,
    work: Callable[[Any], T],
    jobs: Iterable[Any],
    warm: bool = False,  # noqa: FBT001, FBT002
) -> Iterator[T]:
    """Do jobs on several threads; yield the results in order, with few jobs ahead.

    Unless they are warm, the first one is done before the others, and here: so kernels are
    compiled once, where an interruption ends it.
    """
    if threads == 1:
        yield from map(work, jobs)
        return
    jobs = iter(jobs)
    if not warm:
        for job in jobs:
            yield work(job)
            break
    waiting: list[Any] = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(work, job))
                if len(waiting) > 2 * threads:
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
        finally:
            for future in waiting:
                future.cancel()
