"""Reading: from files and frames of any usual shape to `Trajectories`.

How a row travels::

    sources    which files there are, and how DuckDB scans each
    columns    which column is who, when and where
    plain      the fast lane: plain lines of text, parsed by a compiled kernel (lines)
    fields     the general scanner: SQL that parses and checks every row; a bad one gets the
               number of its reason
    rows       batch by batch: bad rows counted, clocks turned into UTC, people numbered (names)
    staging    kept in memory or spilled to disk, projected, sorted, repeats dropped
    scan       one reading from start to end, and the grid it chooses
    reader     the functions that users call

The input is scanned once.
"""

from incrowd.data._io.read import read, read_visits, sensors_of

__all__ = [
    "read",
    "read_visits",
    "sensors_of",
]
