"""Models on disk, and back without trusting the file.

A model file is a zip archive of numbers: ``model.json`` says what is in it, and beside it are the
arrays of every model's trees, byte after byte, each of a type that is known beforehand. No object
is made of what a file names, so nothing in it can run. What is read is checked before it is used:
that the file was written by this version with these features, that it is no larger than a model
file ever is, and that its trees are trees, through which every way ends.
"""

import json
import os
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from incrowd import __version__
from incrowd._atomic import replacing
from incrowd._outside import outside
from incrowd.errors import ArgumentError, InputError, PrivacyWarning, UnreadableError
from incrowd.measure._features import FEATURES
from incrowd.predict._model import LEARNERS, TASKS, Model, refuse_twins
from incrowd.predict._scores import Scores
from incrowd.predict._training import CLASSES, Grid
from incrowd.predict._trees import ARRAYS, Trees

__all__ = [
    "load",
    "save",
]


FORMAT, CONTENTS = "incrowd risk model", "model.json"
LAYOUT = 1
"""Raised when the file's layout changes."""
MOST = 100
"""The most times its own size that a file may unpack to (trees are packed to a tenth or so)."""
SPARE = 1_000_000
"""Bytes that it may unpack to besides."""
NAME = 100
"""The longest name of an attack."""
WIDEST = 2**31


def save(
    models: Model | Sequence[Model], path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write models to a file, whole or not at all.

    Parameters
    ----------
    models
        One model or several, of different attacks or k.
    path
        The file.
    overwrite
        Whether a file that is there may be replaced.

    Warns
    -----
    PrivacyWarning
        Always: trees that were grown until they fit hold features of single people.
    """
    several = [models] if isinstance(models, Model) else list(models)
    if not several:
        raise ArgumentError("models is empty; give at least one model")
    refuse_twins(several)
    about = _made() | {"models": [_entry(model) for model in several]}
    with (
        replacing(path, overwrite=overwrite, private=True) as part,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        archive.writestr(CONTENTS, json.dumps(about, indent=1, allow_nan=False))
        for number, model in enumerate(several):
            for name, kind in ARRAYS.items():
                array = getattr(model.trees, name).astype(kind)
                archive.writestr(f"{number}/{name}", array.tobytes())
    warnings.warn(
        f"{path} was learned from people, and its trees hold numbers of single ones; keep it as "
        "safe as the data",
        PrivacyWarning,
        stacklevel=outside(),
    )


def load(path: str | os.PathLike[str]) -> list[Model]:
    """Read models from a file; refuse it unless every check is passed.

    Raises
    ------
    UnreadableError
        If it is missing, damaged, or no model file.
    InputError
        If it was learned from other features or by another version, or holds what no model holds.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            part = _Archive(archive, path)
            about = json.loads(part.read(CONTENTS))
            _refuse_other(about, path)
            models = [_model(entry, number, part) for number, entry in enumerate(about["models"])]
        _check(bool(models), "it holds no model")
        refuse_twins(models)
    except FileNotFoundError as error:
        raise UnreadableError(f"{path} does not exist", file=path) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableError(f"cannot read {path}: {reason}", file=path) from error
    except UnreadableError:
        raise
    except (InputError, ArgumentError) as error:
        raise InputError(f"{path} cannot be used: {error}") from error
    except (zipfile.BadZipFile, EOFError, RuntimeError, zlib.error) as error:
        raise UnreadableError(f"{path} is not a model file, or is damaged") from error
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise UnreadableError(f"{path} is not a model file, or is damaged ({error})") from error
    return models


class _Archive:
    """An archive that gives no more bytes than a model file ever has."""

    def __init__(self, archive: zipfile.ZipFile, path: Any) -> None:
        self._archive = archive
        self._path = path
        self._left = MOST * Path(path).stat().st_size + SPARE

    def read(self, name: str) -> bytes:
        """Unpack an entry."""
        entry = self._archive.getinfo(name)
        # Other kinds are unpacked whole, whatever they say of their size.
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnreadableError(f"{self._path} is not a model file, or is damaged")
        with self._archive.open(entry) as stream:
            content = stream.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise InputError("it unpacks to more than any model file holds")
        return content


def _made() -> dict[str, Any]:
    """Tell what a file is made with; it is read only where all of this is the same."""
    return {
        "format": FORMAT,
        "layout": LAYOUT,
        "incrowd": __version__,
        "classes": list(CLASSES),
        "features": list(FEATURES),
    }


def _refuse_other(about: Any, path: Any) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise UnreadableError(f"{path} is not a model file")
    for name, here in _made().items():
        there = about.get(name)
        if there == here:
            continue
        if name == "features":
            odd = sorted(set(here) ^ {str(one)[:NAME] for one in there or ()})
            which = f": {', '.join(odd[:3])}{' ...' if len(odd) > 3 else ''}" if odd else ""  # noqa: PLR2004
            raise InputError(f"it was learned from other features{which}; learn it again")
        if name == "classes":
            raise InputError("it has other classes of risk; learn it again")
        made = f"{name} {str(there)[:NAME]}"
        raise InputError(f"it was written with {made}, and this is {here}; learn it again")


def _entry(model: Model) -> dict[str, Any]:
    """Tell what a model is, for the file."""
    return {
        "attack": model.attack,
        "k": model.k,
        "settings": model.settings,
        "learner": model.learner,
        "task": model.task,
        "people": model.people,
        "grid": asdict(model.grid),
        "lowest": model.lowest.tolist(),
        "highest": model.highest.tolist(),
        "tested": None if model.tested is None else model.tested.matrix.tolist(),
        "mean": model.trees.mean,
    }


def _model(entry: dict[str, Any], number: int, part: _Archive) -> Model:
    """Make a model of what a file holds, and refuse what is odd about it."""
    name, settings, grid = entry["attack"], entry["settings"], entry["grid"]
    _check(
        isinstance(name, str) and name.isprintable() and len(name) <= NAME,
        "the name of its attack is not a short text",
    )
    _check(
        _is_whole(entry["k"], 1) and _is_whole(entry["people"], 1),
        "its k or its number of people is not a positive integer",
    )
    _check(
        entry["learner"] in LEARNERS and entry["task"] in TASKS,
        "its learner or its task is not known",
    )
    _check(
        isinstance(settings, dict)
        and all(
            each.isprintable() and len(each) <= NAME and (value is None or _is_plain(value))
            for each, value in settings.items()
        ),
        "its settings are not short texts and numbers",
    )
    cell, slot, places = float(grid["cell"]), grid["slot"], grid["places"]
    fits = 0 < cell < WIDEST and _is_whole(slot, 1) and isinstance(places, bool)
    _check(fits, "its grid has no cell, time slot or kind of places that data could have")
    lowest, highest = (np.array(entry[side], np.float64) for side in ("lowest", "highest"))
    _check(
        lowest.shape == highest.shape == (len(FEATURES),)
        and bool(np.isfinite([lowest, highest]).all())
        and bool((lowest <= highest).all()),
        "the ranges of its features are incomplete or not finite",
    )
    tested = None
    if entry["tested"] is not None:
        matrix = np.array(entry["tested"], np.int64)
        square = matrix.shape == (len(CLASSES), len(CLASSES))
        _check(
            square
            and bool(((matrix >= 0) & (matrix < WIDEST)).all())
            and 0 < matrix.sum() < WIDEST
            and not matrix[0].any()
            and not matrix[:, 0].any(),
            "its scores are not a table of people by class",
        )
        tested = Scores(matrix)
    _check(isinstance(entry["mean"], bool), "it does not say how its trees vote")
    arrays: dict[str, Any] = {
        each: np.frombuffer(part.read(f"{number}/{each}"), kind).astype(
            np.dtype(kind).newbyteorder("=")
        )
        for each, kind in ARRAYS.items()
    }
    trees = Trees(mean=entry["mean"], **arrays)
    trees.refuse_odd()
    _check(
        bool(len(trees.classes)) == (entry["task"] == "classes"),
        "its trees predict something else than its task",
    )
    return Model(
        attack=name,
        k=entry["k"],
        settings=settings,
        learner=entry["learner"],
        task=entry["task"],
        people=entry["people"],
        grid=Grid(cell, slot, places),
        lowest=lowest,
        highest=highest,
        trees=trees,
        tested=tested,
    )


def _check(fine: bool, odd: str) -> None:  # noqa: FBT001
    if not fine:
        raise InputError(odd)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < WIDEST


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return value.isprintable() and len(value) <= NAME
    return isinstance(value, bool) or _is_whole(value, -WIDEST)
