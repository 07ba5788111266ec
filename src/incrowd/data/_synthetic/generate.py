"""People in order, a block at a time.

::

    stream("civ", seed=7)
      └─ lay out the land, once                        Phones, Cars or Sensors
           └─ blocks of people, on some threads        .batch(first, last)
                └─ Arrow batches, in order of people

At most a few blocks exist at any time, whatever the size of the dataset. Block size and threads
decide how fast and in what pieces the rows come, and never what they are.

A synthetic dataset as a file: batches go from `stream` straight to the disk.

Synthetic datasets as `Trajectories`.
"""

import contextlib
import os
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from incrowd._parallel import cores
from incrowd.data._io.write import sidecar, table_file
from incrowd.data._synthetic.cars import Cars
from incrowd.data._synthetic.phones import Phones
from incrowd.data._synthetic.presets import Preset, find
from incrowd.data._synthetic.sensors import Sensors
from incrowd.data._trajectories import Trajectories
from incrowd.errors import ArgumentError

__all__ = [
    "antennas",
    "schema",
    "stream",
    "synthesize",
    "write",
]


_MOST_THREADS = 256
_CORES_USED = 8
_MOST_SEED = 2**63 - 1

World = Phones | Cars | Sensors
_WORLDS: dict[str, type[World]] = {"phones": Phones, "cars": Cars, "sensors": Sensors}


def stream(
    preset: str,
    *,
    users: int | None = None,
    seed: int = 0,
    block: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Generator[pa.RecordBatch, None, None]:
    """Make a dataset, a block of people at a time.

    Parameters
    ----------
    preset
        A name in `incrowd.data._synthetic.presets.PRESETS`.
    users
        How many people; as many as the preset imitates when not given. Area and antennas follow.
    seed
        The same seed gives the same rows, always.
    block
        People in a batch; a good number when not given.
    threads
        Blocks made at the same time; one a core (at most 8) when not given.
    progress
        Called after each batch with the number of people done and the number of all.

    Returns
    -------
    Generator[pyarrow.RecordBatch]
        Rows of `schema(preset)`, grouped by person and sorted by time.

    Raises
    ------
    ArgumentError
        At once, if there is no such preset or a number makes no sense.

    Examples
    --------
    >>> batch = next(stream("city", users=10, seed=7))
    >>> batch.schema.names
    ['user', 'timestamp', 'lat', 'lon']
    """
    settings = find(preset)
    people = _people(settings, users)
    size = _checked("block", settings.block if block is None else block, 1, settings.most)
    workers = _checked(
        "threads", min(_CORES_USED, cores()) if threads is None else threads, 1, _MOST_THREADS
    )
    world = _world(settings, people, seed)
    return _batches(world, people, size, workers, progress)


def schema(preset: str) -> pa.Schema:
    """Give the columns that a preset's rows have.

    Examples
    --------
    >>> schema("florence").names
    ['user', 'timestamp', 'lat', 'lon', 'place']
    """
    return _WORLDS[find(preset).kind].schema


def antennas(preset: str, *, users: int | None = None, seed: int = 0) -> pa.Table:
    """Give the antennas (or zones) of a dataset: `id`, `lat` and `lon`.

    Parameters
    ----------
    preset, users, seed
        As given to `stream`.

    Raises
    ------
    ArgumentError
        If there is no such preset or a number makes no sense.

    Examples
    --------
    >>> antennas("city").num_rows
    30
    """
    settings = find(preset)
    return _world(settings, _people(settings, users), seed).places()


def _people(preset: Preset, users: int | None) -> int:
    """Give the number of people asked for."""
    return preset.users if users is None else _checked("users", users, 1, preset.most)


def _world(preset: Preset, users: int, seed: int) -> World:
    """Lay out what all people of a dataset share."""
    return _WORLDS[preset.kind](preset, users, _checked("seed", seed, 0, _MOST_SEED))


def _checked(name: str, value: int, least: int, most: int) -> int:
    """Refuse what is no whole number of the right size."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{name} is {value!r}; it must be a whole number")
    number = value.__index__()
    if not least <= number <= most:
        raise ArgumentError(f"{name} is {number}; it must be from {least} to {most}")
    return number


def _batches(
    world: World,
    users: int,
    block: int,
    threads: int,
    progress: Callable[[int, int], None] | None,
) -> Generator[pa.RecordBatch, None, None]:
    """Make blocks on some threads and give them in order."""
    waiting: deque[tuple[int, Future[pa.RecordBatch]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="synth") as pool:
        try:
            for first in range(0, users, block):
                last = min(first + block, users)
                waiting.append((last, pool.submit(world.batch, first, last)))
                # One block more than threads, so that nobody idles while a batch is consumed.
                if len(waiting) > threads:
                    yield _next(waiting, users, progress)
            while waiting:
                yield _next(waiting, users, progress)
        finally:
            # Whoever stops listening early should not wait for blocks that have not begun.
            pool.shutdown(wait=True, cancel_futures=True)


def _next(
    waiting: "deque[tuple[int, Future[pa.RecordBatch]]]",
    users: int,
    progress: Callable[[int, int], None] | None,
) -> pa.RecordBatch:
    """Wait for the oldest block."""
    done, future = waiting.popleft()
    batch = future.result()
    if progress is not None:
        progress(done, users)
    return batch


def write(
    preset: str,
    path: str | os.PathLike[str],
    *,
    users: int | None = None,
    seed: int = 0,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Make a dataset and write it to a file; the same arguments give the same bytes.

    Parameters
    ----------
    preset, users, seed, progress
        As given to `incrowd.data._synthetic.generate.stream`.
    path
        The file; how its name ends says of which kind it is.
    overwrite
        Whether a file of that name may be replaced.

    Returns
    -------
    int
        How many rows were written.

    Raises
    ------
    ArgumentError
        If there is no such preset, a number makes no sense, or the file's name ends in something
        else.
    OutputError
        If the file could not be written; nothing is left of it.
    """
    rows = 0
    columns = schema(preset)
    with table_file(path, columns, overwrite=overwrite) as put:
        batches = stream(preset, users=users, seed=seed, progress=progress)
        with contextlib.closing(batches):
            for batch in batches:
                put(batch)
                rows += batch.num_rows
    # The grid of a table that was replaced is not the new one's.
    sidecar(Path(path)).unlink(missing_ok=True)
    return rows


def synthesize(
    preset: str,
    *,
    users: int | None = None,
    seed: int = 0,
    sensor: str = "gps",
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Make a synthetic dataset that behaves like one of the papers'.

    The rows are those that ``incrowd synth`` writes, read as any file would be.

    Parameters
    ----------
    preset
        civ, sen, city, florence, pisa or campus; docs/synthetic.md tells what each imitates.
    users
        How many people; area and antennas follow. As many as in the original unless given.
    seed
        The same seed gives the same people.
    sensor
        Which of the sensors of `campus` to take: gps, wifi or gsm.
    progress
        Called with the number of people made so far, and of all.

    Examples
    --------
    >>> import incrowd
    >>> data = incrowd.synthesize("city", users=20, seed=7)
    >>> len(data)
    20
    """
    import pyarrow as pa

    from incrowd.data._io.read import read

    batches = list(stream(preset, users=users, seed=seed, progress=progress))
    columns = schema(preset)
    table = pa.Table.from_batches(batches, schema=columns)
    del batches
    return read(table, sensor=sensor if "sensor" in columns.names else None)
