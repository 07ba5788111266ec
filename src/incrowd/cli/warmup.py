"""``incrowd warmup``: compile everything once, for instance while an image is built."""

import time
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli._console import progress
from incrowd.cli._messages import print_json
from incrowd.cli._options import AsJson
from incrowd.errors import OutputError

__all__ = ["warmup"]


def warmup(
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder to keep what was compiled in; set NUMBA_CACHE_DIR to it where it is used.",
            metavar="DIR",
            show_default="the user's cache, or else the package's own folder",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile what all commands run, so that none has to wait for the compiler.

    Everything is kept on disk by what it is made of; later runs only read it. Useful once after an
    installation, and while an image for containers is built, whose file system may be read-only.

    Example:  `incrowd warmup --cache /opt/incrowd-kernels`
    """
    from incrowd.cli import _compile_ahead

    folder = _folder(cache)
    begun, took = time.monotonic(), dict[str, float]()
    steps = _compile_ahead.steps()
    with progress("Compiling", "steps") as update:
        for number, (name, step) in enumerate(steps.items()):
            update(number, len(steps))
            start = time.monotonic()
            step()
            took[name] = time.monotonic() - start
    _refuse_not_kept(folder)
    seconds = time.monotonic() - begun
    kept = sum(1 for _ in folder.rglob("*.nbc"))
    if as_json:
        about = {"folder": str(folder), "kernels": kept}
        print_json(about | {"seconds": round(seconds, 1), "steps": took})
        return
    for name, one in took.items():
        print(f"{name:<22}{one:6.1f} s")
    print(f"\n{kept:,} compiled kernels are in {folder}, after {seconds:.0f} s.")
    if cache is not None:
        print(f"Where they are used, set:  NUMBA_CACHE_DIR={cache}")


def _refuse_not_kept(folder: Path) -> None:
    """Refuse to call it done if the disk was too small for what was compiled."""
    from incrowd._atomic import reason_of
    from incrowd._kernel_cache import not_kept

    for place, error in not_kept:
        if place == folder:
            hint = "make room there, or give another --cache DIR"
            raise OutputError(
                f"cannot keep all that was compiled in {folder}: {reason_of(error)}; {hint}",
                hint=hint,
                file=folder,
            )


def _folder(cache: Path | None) -> Path:
    """Choose where kernels are kept; refuse to compile what cannot be."""
    from numba.core import config

    from incrowd._kernel_cache import folders, is_writable

    if cache is not None:
        vars(config)["CACHE_DIR"] = str(cache.absolute())
        if not is_writable(folders()[0]):
            raise OutputError(f"cannot write to the folder {cache}", file=cache)
    there = next((one for one in folders() if is_writable(one)), None)
    if there is None:
        hint = "give --cache DIR, and set NUMBA_CACHE_DIR to it where it is used"
        raise OutputError(
            f"what is compiled cannot be kept, for no folder of {', '.join(map(str, folders()))} "
            f"can be written; {hint}",
            hint=hint,
        )
    return there
