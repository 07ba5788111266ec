"""Synthetic datasets: as batches of rows, as files, as `Trajectories`.

::

    synthesize ──> Trajectories
    write ───────> file
      └─ stream("civ", seed=7) ──> Arrow batches, in order of people
           └─ a simulator: Phones, Cars or Sensors; its land is placed once
                └─ .batch(first, last): blocks of people, on some threads

At most a few blocks exist at any time, whatever the size of the dataset. Block size and threads
decide how fast and in what pieces the rows come, and never what they are.
"""

import contextlib
import os
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from incrowd._arguments import whole
from incrowd._parallel import cores
from incrowd.data._io.write import sidecar, table_file
from incrowd.data._synthetic.cars import Cars
from incrowd.data._synthetic.phones import Phones
from incrowd.data._synthetic.presets import Preset, find_preset
from incrowd.data._synthetic.sensors import Sensors
from incrowd.data._trajectories import Trajectories

__all__ = [
    "antennas",
    "schema",
    "stream",
    "synthesize",
    "write",
]


_MAX_THREADS = 256
_DEFAULT_THREADS = 8
_MAX_SEED = 2**63 - 1

Simulator = Phones | Cars | Sensors
_SIMULATORS: dict[str, type[Simulator]] = {"phones": Phones, "cars": Cars, "sensors": Sensors}


def synthesize(
    preset: str,
    *,
    users: int | None = None,
    seed: int = 0,
    sensor: str = "gps",
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Return a synthetic dataset that resembles one of the papers'.

    The rows are those that ``incrowd synth`` writes, read as any file would be.

    Parameters
    ----------
    preset
        civ-v2, sen-v2, city, florence, pisa or campus; docs/synthetic.md says what each imitates.
        civ and sen are the first editions of these countries. A name always gives the same people.
    users
        The number of people; area and antennas follow. By default as many as in the original.
    seed
        The same seed gives the same people.
    sensor
        The sensor of `campus` to read: gps, wifi or gsm.
    progress
        Called with the number of people made so far, and of all.

    Returns
    -------
    Trajectories
        The people in order; their identifiers are 1, 2, and so on.

    Raises
    ------
    ArgumentError
        If there is no such preset, or a number is out of range.

    References
    ----------
    - Song et al., 2010: "Modelling the scaling properties of human mobility", Nature Physics 6
      (10), DOI 10.1038/nphys1760; where people go next.
    - González et al., 2008: "Understanding individual human mobility patterns", Nature 453, DOI
      10.1038/nature06958; how far they go.

    Examples
    --------
    >>> import incrowd
    >>> data = incrowd.synthesize("city", users=20, seed=7)
    >>> len(data)
    20
    """
    from incrowd.data._io.read import read

    batches = list(stream(preset, users=users, seed=seed, progress=progress))
    columns = schema(preset)
    table = pa.Table.from_batches(batches, schema=columns)
    del batches
    data = read(table, sensor=sensor if "sensor" in columns.names else None)
    assert data.reading is not None  # noqa: S101  it was read
    local = replace(data.reading, local=find_preset(preset).timezone)
    object.__setattr__(data, "reading", local)  # still ours: nobody has it yet
    return data


def write(
    preset: str,
    path: str | os.PathLike[str],
    *,
    users: int | None = None,
    seed: int = 0,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write a synthetic dataset to a file; the same arguments give the same bytes.

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
        The number of rows.

    Raises
    ------
    ArgumentError
        If there is no such preset, a number is out of range, or the file's name ends in something
        else.
    OutputError
        If the file could not be written; nothing is left of it.
    """
    rows = 0
    columns = schema(preset)
    # The grid of a table that is replaced is not the new one's.
    gone = [sidecar(Path(path))]
    with table_file(path, columns, overwrite=overwrite, gone=gone) as put:
        batches = stream(preset, users=users, seed=seed, progress=progress)
        with contextlib.closing(batches):
            for batch in batches:
                put(batch)
                rows += batch.num_rows
    return rows


def stream(
    preset: str,
    *,
    users: int | None = None,
    seed: int = 0,
    block: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Generator[pa.RecordBatch, None, None]:
    """Return a synthetic dataset as batches, a block of people at a time.

    Parameters
    ----------
    preset
        A name in `incrowd.data._synthetic.presets.PRESETS`.
    users
        The number of people; by default as many as in the original. Area and antennas follow.
    seed
        The same seed gives the same rows, always.
    block
        People per batch; by default a number that suits the preset.
    threads
        Blocks made at the same time; by default one per core, at most 8.
    progress
        Called after each batch with the number of people done and the number of all.

    Returns
    -------
    Generator[pyarrow.RecordBatch]
        Rows of `schema(preset)`, grouped by person and sorted by time.

    Raises
    ------
    ArgumentError
        At once, if there is no such preset or a number is out of range.

    Examples
    --------
    >>> batch = next(stream("city", users=10, seed=7))
    >>> batch.schema.names
    ['user', 'timestamp', 'lat', 'lon']
    """
    settings = find_preset(preset)
    people = _people(settings, users)
    size = whole("block", settings.block if block is None else block, 1, settings.most)
    workers = whole(
        "threads", min(_DEFAULT_THREADS, cores()) if threads is None else threads, 1, _MAX_THREADS
    )
    simulator = _simulator(settings, people, seed)
    return _batches(simulator, people, size, workers, progress)


def schema(preset: str) -> pa.Schema:
    """Return the columns of a preset's rows.

    Examples
    --------
    >>> schema("florence").names
    ['user', 'timestamp', 'lat', 'lon', 'place']
    """
    return _SIMULATORS[find_preset(preset).kind].schema


def antennas(preset: str, *, users: int | None = None, seed: int = 0) -> pa.Table:
    """Return the antennas (or zones) of a dataset: `id`, `lat` and `lon`.

    Parameters
    ----------
    preset, users, seed
        As given to `stream`.

    Raises
    ------
    ArgumentError
        If there is no such preset or a number is out of range.

    Examples
    --------
    >>> antennas("city").num_rows
    30
    """
    settings = find_preset(preset)
    return _simulator(settings, _people(settings, users), seed).sites()


def _people(preset: Preset, users: int | None) -> int:
    """Return the number of people."""
    return preset.users if users is None else whole("users", users, 1, preset.most)


def _simulator(preset: Preset, users: int, seed: int) -> Simulator:
    """Return the simulator of a dataset: what all its people share."""
    return _SIMULATORS[preset.kind](preset, users, whole("seed", seed, 0, _MAX_SEED))


def _batches(
    simulator: Simulator,
    users: int,
    block: int,
    threads: int,
    progress: Callable[[int, int], None] | None,
) -> Generator[pa.RecordBatch, None, None]:
    """Make blocks on some threads and yield them in order."""
    waiting: deque[tuple[int, Future[pa.RecordBatch]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="synth") as pool:
        try:
            for first in range(0, users, block):
                last = min(first + block, users)
                waiting.append((last, pool.submit(simulator.batch, first, last)))
                # One block more than threads, so that nobody idles while a batch is consumed.
                if len(waiting) > threads:
                    yield _wait(waiting, users, progress)
            while waiting:
                yield _wait(waiting, users, progress)
        finally:
            # A caller that stops early should not wait for blocks that have not begun.
            pool.shutdown(wait=True, cancel_futures=True)


def _wait(
    waiting: "deque[tuple[int, Future[pa.RecordBatch]]]",
    users: int,
    progress: Callable[[int, int], None] | None,
) -> pa.RecordBatch:
    """Wait for the oldest block and return it."""
    done, future = waiting.popleft()
    batch = future.result()
    if progress is not None:
        progress(done, users)
    return batch
