"""Compiling what will be needed soon in other processes, while this one goes on.

Kernels are compiled when they are first called, one after the other, and kept on disk. Who knows
what will be called begins with the last of it elsewhere; whoever comes to a kernel first compiles
it, and others wait for the result (see `incrowd._kernel_cache`).
"""

import atexit
import contextlib
import subprocess
import sys

from incrowd._parallel import cores

__all__ = ["compile_ahead"]

_begun: set[str] = set()


def compile_ahead(*jobs: str) -> None:
    """Begin to compile what some jobs call, on the other cores; see `incrowd.cli._compile_ahead`.

    What was begun once is not begun again. If there is one core only, or no other process can be
    started, everything is compiled where it is called.
    """
    jobs = tuple(job for job in jobs if job not in _begun)
    others = min(cores() - 1, len(jobs))
    for number in range(others):
        mine = jobs[number::others]
        _begun.update(mine)
        with contextlib.suppress(OSError):
            process = subprocess.Popen(  # noqa: S603 - this Python, and words of ours
                [sys.executable, "-m", "incrowd.cli._compile_ahead", *mine],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            atexit.register(_end, process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End what nobody waits for any more."""
    process.kill()
    process.wait()
