"""Synthetic datasets as `Trajectories`."""

from collections.abc import Callable

from incrowd.data.trajectories import Trajectories

__all__ = ["synthesize"]


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

    from incrowd.data.reading import read
    from incrowd.data.synth.streaming import schema, stream

    batches = list(stream(preset, users=users, seed=seed, progress=progress))
    columns = schema(preset)
    table = pa.Table.from_batches(batches, schema=columns)
    del batches
    return read(table, sensor=sensor if "sensor" in columns.names else None)
