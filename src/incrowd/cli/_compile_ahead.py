"""Work on made-up data that compiles what real work will call; see `incrowd._background`.

Kernels are called as they are on real data, for a kernel is compiled for the types of its
arguments; what comes out is thrown away.
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd._hidden import temporary_folder

if TYPE_CHECKING:
    import polars as pl

    from incrowd.data._trajectories import Trajectories

__all__ = ["publish", "report", "steps"]

PAIRS, SAMPLES, DAYS, STEP = 12, 200, 14, 5


def steps() -> dict[str, Callable[[], None]]:
    """Give all that can be compiled ahead, by the commands that need it."""
    return {
        "anonymize": _glove,
        "anonymize, k-merge": _k_merge,
        "anonymize, w4m": _w4m,
        "verify": publish,
        "report": report,
        "measure": _measure,
        "uniqueness": _uniqueness,
        "attack": _attack,
        "deanonymize": _deanonymize,
        "evaluate": _evaluate,
    }


def _glove() -> None:
    importlib.import_module("incrowd.protect._glove.engine").compile_kernels()


def _k_merge() -> None:
    importlib.import_module("incrowd.protect._glove.k_merge").compile_kernels()


def _w4m() -> None:
    import incrowd

    incrowd.W4M(k=2, delta=1000).protect(_original())


def _measure() -> None:
    import incrowd

    incrowd.k_gap(_original())


def _uniqueness() -> None:
    import incrowd

    incrowd.uniqueness(incrowd.visits(_original()), draws=10)


def _attack() -> None:
    import incrowd

    incrowd.risk(incrowd.visits(_original()), list(incrowd.ATTACKS), [2])


def _deanonymize() -> None:
    import incrowd

    incrowd.deanonymize(incrowd.visits(_original()))


def _evaluate() -> None:
    import incrowd

    pair = incrowd.of_release(_original(), incrowd.glove(_original(), k=2))
    incrowd.utility(pair, tz="UTC")
    incrowd.inference(pair, tz="UTC")


def _original() -> "Trajectories":
    with temporary_folder() as folder:
        return _pairs(folder)[1]


def publish() -> None:
    """Compile what publishing calls: verify a release."""
    from incrowd.evaluate._verify.run import verify

    with temporary_folder() as folder:
        release, original, record = _pairs(folder)
        verify(release, original=original, record=record, draws=1)


def report() -> None:
    """Compile what a report calls: make one."""
    import numpy as np
    import polars as pl

    from incrowd.report._make import make

    with temporary_folder() as folder:
        release, original, record = _pairs(folder)
        gaps = pl.DataFrame({"user": original.people, "k_gap": np.linspace(0, 1, len(original))})
        make(release, original=original, record=record, gaps=gaps, tz="UTC")


def _pairs(folder: Path) -> tuple[Path, "Trajectories", "pl.DataFrame"]:
    """Write a release of people who did the same in pairs; give it, the original and the record."""
    import numpy as np
    import polars as pl

    import incrowd
    from incrowd.data._release import write_release

    # A walk over some days for each pair, sample for sample by chance.
    dice, frame = np.random.default_rng(1), incrowd.Frame("EPSG:32630")
    shape = (PAIRS, SAMPLES)
    place = [dice.integers(-STEP, STEP, shape).cumsum(axis=1) + 5000 for _ in range(2)]
    low = [*place, dice.integers(1, 2 * DAYS * 1440 // SAMPLES, shape).cumsum(axis=1)]
    columns = tuple(side.astype(np.int32).ravel() for one in low for side in (one, one + 1))
    offsets = np.arange(PAIRS + 1) * SAMPLES
    crowds = incrowd.Trajectories(columns, offsets, frame, crowd=np.full(PAIRS, 2, np.int32))
    trajectory = np.repeat(np.arange(PAIRS), 2)
    both, users = crowds[trajectory], pl.Series(np.arange(2 * PAIRS)).cast(pl.String)
    original = incrowd.Trajectories(both.columns, both.offsets, frame, people=users)
    settings = {"k": 2, "reshape": "split"}
    _, names = write_release(
        folder / "release", crowds, method="GLOVE", settings=settings, losses={}
    )
    record = pl.DataFrame({"user": users, "trajectory": trajectory.astype(np.int32)})
    return folder / "release", original, record.with_columns(person=names["person"])
