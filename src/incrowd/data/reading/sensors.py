"""Which sensors a table has rows of."""

from typing import Any

from incrowd.data.reading.columns import USUAL, find_by_usual_name
from incrowd.data.reading.fields import quoted
from incrowd.data.reading.memory import Memory, opened
from incrowd.data.reading.sources import all_files, open_source, open_table

__all__ = ["sensors_of"]


def sensors_of(source: Any) -> list[str]:
    """Give the sensors that a table names, or none if it has no column for them.

    Parameters
    ----------
    source
        As for `read`: files, or a frame.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.data.reading import sensors_of
    >>> sensors_of(pl.DataFrame({"sensor": ["wifi", "GSM ", "wifi"]}))
    ['gsm', 'wifi']
    """
    found: set[str] = set()
    with opened(Memory.of(None), 1, None) as connection:
        files = all_files(source)
        tables = (
            [open_table(connection, source)]
            if files is None
            else (open_source(connection, path, names=None, separator=None) for path in files)
        )
        for table in tables:
            column = find_by_usual_name(list(table.kinds), USUAL["sensor"])
            if column is not None:
                # Read by `read` in the same way.
                kind = f"lower(trim(CAST({quoted(column)} AS VARCHAR)))"
                query = f"SELECT DISTINCT {kind} FROM {table.peek}"
                found |= {row[0] for row in connection.execute(query).fetchall() if row[0]}
    return sorted(found)
