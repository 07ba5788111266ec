"""Options that have a new name: the old spelling goes on working, and says what to write instead.

One table for all commands. `with_new_names` puts the new spellings into the words of a command
line before they are parsed, so that no command knows of the old ones and no ``--help`` shows them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice

from incrowd.cli._messages import say

__all__ = [
    "RENAMED",
    "with_new_names",
]


_FILES = {"--force": "--overwrite"}
_READING = {
    "--cells": "--antennas",
    "--names": "--column-names",
    "--share": "--sample-people",
    "--share-seed": "--sample-seed",
    "--strict": "--fail-on-bad-row",
}
_STAYS = {
    "--diameter": "--poi-diameter",
    "--gap": "--max-gap",
    "--stay": "--min-stay",
}
_ADVERSARY = {"--precision": "--time-bin"}
_RESIDENTS = {"--local": "--local-tz"}
_ALIASES = {"--cells"}
"""Spellings that are as good as the other: operators speak of cells, papers of antennas."""

RENAMED: dict[str, dict[str, str]] = {
    "synth": {**_FILES, "--cells": "--antennas"},
    "describe": _READING,
    "convert": _FILES | _READING,
    "measure": _FILES | _READING,
    "uniqueness": _READING
    | _STAYS
    | {
        "--each": "--draws-per-person",
        "--met": "--min-places",
        "--minutes": "--time-bin",
    },
    "attack": _FILES | _READING | _ADVERSARY | {"--worst": "--most-at-risk"},
    "deanonymize": _FILES
    | _READING
    | _STAYS
    | {
        "--n": "--top-places",
        "--slot-minutes": "--time-bin",
        "--whole": "--no-split",
    },
    "learn": _FILES | _READING | _ADVERSARY | {"--values": "--regression"},
    "predict": _FILES | _READING,
    "anonymize": _READING | {"--max-space": "--max-metres", "--max-time": "--max-minutes"},
    "study": _READING,
    "verify": _READING,
    "evaluate": _FILES
    | _READING
    | _RESIDENTS
    | {
        "--grid": "--tile-km",
        "--least": "--min-people",
    },
    "report": _FILES
    | _READING
    | _RESIDENTS
    | {
        "--gaps": "--k-gaps",
        "--targets": "--attack-sample",
    },
}
"""Of each command, the old spellings of options, and the new ones."""


def with_new_names(
    words: Sequence[str],
    renamed: Mapping[str, str],
    with_value: Collection[str],
    tell: Callable[[str], None] = say,
) -> list[str]:
    """Return the words of a command line in new spellings; say what was replaced, each once.

    Parameters
    ----------
    words
        What follows the name of the command.
    renamed
        Its old spellings, and the new ones.
    with_value
        Spellings of its options that take a value: the word after one of them is no option, even
        if it looks like one.
    tell
        Is told what was replaced.
    """
    rest, found, replaced = iter(words), [], dict[str, str]()
    for word in rest:
        if word == "--":  # whatever follows is an argument
            found.append(word)
            break
        name, equals, value = word.partition("=")
        if name in renamed:
            replaced[name] = renamed[name]
            name = renamed[name]
        found.append(name + equals + value)
        if name in with_value and not equals:
            found += islice(rest, 1)
    for old, new in replaced.items():
        if old not in _ALIASES:
            tell(f"incrowd: {old} is now {new}")
    return [*found, *rest]
