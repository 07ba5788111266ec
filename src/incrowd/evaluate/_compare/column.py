"""One column: protect, write, verify, measure. What goes wrong in it is said, and ends no other.

What is measured are the files that were written and verified, read again. They lie in a folder that
only its owner may read, and go when the column is done.
"""

import contextlib
import ctypes
import functools
import gc
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.data._trajectories import Trajectories
from incrowd.errors import DataWarning, IncrowdError, PrivacyWarning, VerificationError
from incrowd.evaluate._compare.context import Context, Settings
from incrowd.evaluate._compare.measure import Measure
from incrowd.evaluate._compare.measures import measures
from incrowd.evaluate._compare.methods import Column
from incrowd.evaluate._compare.result import DONE, ComparedColumn
from incrowd.evaluate._comparison import BeforeAfter, of_files
from incrowd.evaluate._publish import publish

__all__ = [
    "FAILED",
    "REFUSED",
    "Cell",
    "Tell",
    "measured_original",
    "run_column",
]


REFUSED, FAILED = "refused", "failed"
Tell = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and how much there is."""
_PEAK, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


@dataclass(frozen=True, slots=True)
class Cell:
    """What is kept of a column.

    Attributes
    ----------
    column
        Which it is, and how it went.
    values
        By the key of a row: the number, or why there is none.
    curves
        Distributions, by their name.
    """

    column: ComparedColumn
    values: dict[str, tuple[float | None, str | None]]
    curves: dict[str, list[list[float]]]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return {
            "column": self.column.as_dict(),
            "values": {key: [*value] for key, value in self.values.items()},
            "curves": self.curves,
        }

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> "Cell":
        """Return what was kept."""
        return cls(
            ComparedColumn.from_dict(found["column"]),
            {key: (value, why) for key, (value, why) in found["values"].items()},
            found["curves"],
        )


def run_column(
    column: Column,
    data: Trajectories,
    settings: Settings,
    folder: Path,
    tell: Tell,
    *,
    memory: str | int | None = None,
    checkpoint: Path | None = None,
) -> Cell:
    """Make a column; `folder` gets its release for as long as that takes."""
    release, record = folder / "release", folder / "who.parquet"
    verified: bool | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with _timed() as took:
                result = column.mechanism.protect(
                    data,
                    threads=settings.threads,
                    memory=memory,
                    checkpoint=checkpoint if column.mechanism.long_running else None,
                    progress=tell,
                )
            done = publish(
                result, release, original=data, record=record,
                progress=lambda done, total: tell("writing and verifying", done, total),
            )  # fmt: skip
            verified, proof = done.verification.ok, done.verification
            pair = _in_order(of_files(release, data, record))
            found = Context(
                settings, pair, pair.after, files=(release, record),
                seconds=took.seconds, memory=took.memory,
            )  # fmt: skip
            values = _measured(found, measures(settings.rows), tell)
            curves = _curves(found)
        except VerificationError as error:
            return _ended(column, FAILED, str(error), caught, verified=False)
        except OSError:  # a full disk, and the like, is nothing that the mechanism has done
            raise
        except IncrowdError as error:
            return _ended(column, REFUSED, str(error), caught, verified=verified)
        except MemoryError:
            return _ended(column, FAILED, "out of memory", caught, verified=verified)
        except Exception as error:  # noqa: BLE001  the others go on
            why = f"a fault in the mechanism or in incrowd: {type(error).__name__}: {error}"
            return _ended(column, FAILED, why, caught, verified=verified)
        finally:
            for path in (release, record):
                shutil.rmtree(path, ignore_errors=True)
                with contextlib.suppress(OSError):
                    path.unlink()
    return Cell(
        _about(column, DONE, None, caught, verified=verified, says=proof.claims), values, curves
    )


def _in_order(pair: BeforeAfter) -> BeforeAfter:
    """Put records in the order of the original's people: a release has them in a random one.

    What is drawn at random is then the same for the same seed, whatever names people got.
    """
    assert pair.became is not None  # noqa: S101  the private record tells
    crowds, first = np.unique(pair.became[pair.became >= 0], return_index=True)
    order = crowds[np.argsort(first)]
    place = np.full(len(pair.after), -1, np.int64)
    place[order] = np.arange(len(order))
    became = np.where(pair.became >= 0, place[pair.became], -1)
    return BeforeAfter(pair.before, pair.after[order], became, pair.edges)


def measured_original(
    data: Trajectories, settings: Settings, tell: Tell
) -> dict[str, tuple[float | None, str | None]]:
    """Measure the original as if it were published as it is."""
    return _measured(
        Context(settings, None, data),
        [one for one in measures(settings.rows) if one.original],
        tell,
    )


def _measured(
    found: Context, rows: list[Measure], tell: Tell
) -> dict[str, tuple[float | None, str | None]]:
    """Take all measures; one that cannot be taken says why."""
    values: dict[str, tuple[float | None, str | None]] = {}
    for number, row in enumerate(rows):
        section = f"measuring {row.section[:1].lower()}{row.section[1:]}"
        found.progress = functools.partial(tell, section)
        tell(section, number, len(rows))
        try:
            value = row.of(found)
        except IncrowdError as error:
            value = str(error)
        values[row.key] = (None, value) if isinstance(value, str) else (value, None)
    return values


def _curves(found: Context) -> dict[str, list[list[float]]]:
    """Give the distributions of errors, of all true samples, and of sizes."""
    stands, accurate = found.stand_ins, found.accuracy
    kept = 1 - stands.deleted / stands.samples
    errors = {"space": stands.position, "time": stands.time}
    sizes = {"wide": accurate.space, "long": accurate.time}
    curves = {
        name: [[float(at), share * kept] for at, share in of.cumulative]
        for name, of in errors.items()
        if of is not None
    }
    return curves | {
        name: [[float(at), share] for at, share in of.cumulative]
        for name, of in sizes.items()
        if of is not None
    }


def _ended(column: Column, state: str, why: str, caught: Any, *, verified: bool | None) -> Cell:
    return Cell(_about(column, state, why, caught, verified=verified), {}, {})


def _about(
    column: Column,
    state: str,
    why: str | None,
    caught: Any,
    *,
    verified: bool | None,
    says: str = "",
) -> ComparedColumn:
    """Say which column it is, and how it went."""
    warned = [str(one.message) for one in caught if issubclass(one.category, PrivacyWarning)]
    noted = [str(one.message) for one in caught if issubclass(one.category, DataWarning)]
    return ComparedColumn(
        key=column.key,
        method=column.name,
        label=column.label,
        settings=column.mechanism.settings,
        state=state,
        why=why,
        guarantee=column.mechanism.guarantee,
        verified=verified,
        says=says,
        warnings=tuple(dict.fromkeys(warned)),
        notes=tuple(dict.fromkeys(noted)),
        promises=column.mechanism.promises,
        limits=column.mechanism.limits,
    )


class _Took:
    """How long something took, and how much more memory this process had at most meanwhile."""

    seconds: float = 0.0
    memory: int | None = None


@contextlib.contextmanager
def _timed() -> Iterator[_Took]:
    """Measure time, and the peak of memory where the system lets it be taken anew (Linux)."""
    took = _Took()
    gc.collect()
    before = _peak() if _reset_peak() else None
    begun = time.perf_counter()
    yield took
    took.seconds = time.perf_counter() - begun
    after = _peak()
    if before is not None and after is not None:
        took.memory = max(0, after - before)


def _reset_peak() -> bool:
    """Make the peak of memory what there is now; give back to the system what was freed before."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        _RESET.write_text(_RESET_PEAK)
    except OSError:
        return False
    return True


def _peak() -> int | None:
    """Return the most memory of this process in bytes, since it was last reset."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = _PEAK.read_text().splitlines()
        line = next(line for line in lines if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return None
