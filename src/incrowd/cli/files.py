"""Data given as one file for each sensor, like ``gsm=gsm.csv wifi=wifi.csv gps=gps.csv``."""

import glob
import re

from incrowd.errors import ArgumentError

__all__ = ["by_sensor"]

_NAMED = r"([^\W\d][\w-]*)=(.+)"
"""A sensor and its file."""


def by_sensor(given: list[str]) -> tuple[str, dict[str, str]]:
    """Give the one path, or the file of each sensor if they are named: ``gsm=gsm.csv``."""
    # A path may have a = in it, as folders of partitions do; then it is there.
    there = [bool(glob.glob(one)) for one in given]  # noqa: PTH207  absolute ones, too
    named = [
        None if is_path else re.fullmatch(_NAMED, one)
        for is_path, one in zip(there, given, strict=True)
    ]
    if len(given) == 1 and named[0] is None:
        return given[0], {}
    files: dict[str, str] = {}
    for one, match in zip(given, named, strict=True):
        if match is None:
            raise ArgumentError(
                f"of several files each is that of a sensor, like gsm=gsm.csv; {one!r} does not "
                "name one (a quoted pattern, like 'june-*.csv', is one table)"
            )
        name, path = match[1].lower(), match[2]
        if name in files:
            raise ArgumentError(
                f"sensor {name!r} is named twice ({files[name]} and {path}); several files of a "
                "sensor are given as a folder or a quoted pattern"
            )
        files[name] = path
    return " ".join(given), files
