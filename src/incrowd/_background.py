"""Compiling ahead: what will be called soon is compiled in other processes, on other cores.

Kernels are compiled when they are first called, one after the other, and kept on disk. A function
that calls the later ones, with nothing to do, compiles them in another process meanwhile. Of two
processes that need the same kernel, one compiles it and the other waits (`incrowd._kernel_cache`).

``python -m incrowd._background MODULE:FUNCTION ...`` calls such functions.
"""

import atexit
import contextlib
import importlib
import subprocess
import sys

from incrowd._parallel import cores

__all__ = ["compile_ahead"]

_begun: set[str] = set()


def compile_ahead(*functions: str) -> None:
    """Begin to compile what some functions (MODULE:FUNCTION) call, on the other cores.

    What was begun once is not begun again. If there is one core only, or no other process can be
    started, everything is compiled where it is called.
    """
    new = tuple(one for one in functions if one not in _begun)
    others = min(cores() - 1, len(new))
    for number in range(others):
        mine = new[number::others]
        _begun.update(mine)
        with contextlib.suppress(OSError):
            process = subprocess.Popen(  # noqa: S603 - this Python, and words of ours
                [sys.executable, "-m", "incrowd._background", *mine],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            atexit.register(_end, process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process whose result is no longer needed."""
    process.kill()
    process.wait()


if __name__ == "__main__":
    for one in sys.argv[1:]:
        module, _, function = one.partition(":")
        getattr(importlib.import_module(module), function)()
