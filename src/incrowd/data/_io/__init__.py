"""Reading and writing: from files and frames of any usual shape to `Trajectories`, and back.

How a row travels::

    read            the functions that users call: check the arguments, start a Reader
    scan            Reader: one reading from start to end, and the grid that it chooses
      sources       which files there are, how each is laid out, how DuckDB scans it
      columns       which column has which role: user, time, position, place
      fast_csv      simple lines of text, parsed by a compiled kernel
      sql           all others: SQL that parses and checks every row; a bad one gets the index of
                    its reason
      batches       RowChecker: bad rows counted, local times turned into UTC, users and places
                    encoded (encoding)
      bad_rows      bad rows: on which lines they are (lines), and whether they are too many
      rejects_file  all of them in a file, if one is wanted
      staging       kept in memory or on disk, projected (projection), sorted, repeats dropped
    reading_report  what was found, used and rejected; travels with the data
    write           the way back: degrees and UTC, to a file that gives the same data again

The input is scanned once.
"""

from incrowd.data._io.read import read, read_visits, sensors_of

__all__ = [
    "read",
    "read_visits",
    "sensors_of",
]
