"""Models on disk, and back without trusting the file.

A model file is a zip archive: ``model.json`` says what is in it, and each estimator is an archive
of skops, which holds numbers and the names of types, and no code. What is loaded is checked in this
order: that the file was written by this version with these features; that every estimator has the
bytes that were written; that it names no type but those of the learners; that it is the kind of
estimator that is announced; and that its trees are trees, whose nodes lead to nodes that exist
(scikit-learn follows them without looking).
"""

import hashlib
import io
import json
import math
import os
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from incrowd import __version__
from incrowd.data.atomic import replacing
from incrowd.errors import ArgumentError, InputError, PrivacyWarning, UnreadableError
from incrowd.measure.features import FEATURES
from incrowd.predict.classes import CLASSES
from incrowd.predict.learners import LEARNERS, TASKS
from incrowd.predict.model import Model
from incrowd.predict.scores import Scores
from incrowd.predict.training import Grid
from incrowd.predict.trees import oddity

__all__ = ["load", "save"]

FORMAT, CONTENTS = "incrowd risk model", "model.json"
LAYOUT = 1
"""Raised when the file's layout changes."""
TRUSTED = (
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
)
"""The types, beyond those that skops trusts itself, that learners are made of."""
MOST = 1 << 32
"""The most bytes that an archive may unpack to."""


def save(
    models: Model | Sequence[Model], path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write models to a file, whole or not at all.

    Parameters
    ----------
    models
        One model or several.
    path
        The file.
    overwrite
        Whether a file that is there may be replaced.

    Warns
    -----
    PrivacyWarning
        Always: trees that were grown until they fit hold features of single people.
    """
    import skops.io

    several = [models] if isinstance(models, Model) else list(models)
    if not several:
        raise ArgumentError("there is no model to write")
    with replacing(path, overwrite=overwrite) as part, zipfile.ZipFile(part, "w") as archive:
        entries = []
        for number, model in enumerate(several):
            stored = skops.io.dumps(model.estimator, compression=zipfile.ZIP_DEFLATED)
            archive.writestr(f"{number}.skops", stored)
            entries.append(_entry(model) | {"sha256": hashlib.sha256(stored).hexdigest()})
        archive.writestr(CONTENTS, json.dumps(_made() | {"models": entries}, indent=1))
    warnings.warn(
        f"{path} was learned from people, and its trees hold numbers of single ones; keep it as "
        "safe as the data",
        PrivacyWarning,
        stacklevel=2,
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
            _refuse_large(archive, path)
            about = json.loads(archive.read(CONTENTS))
            _refuse_other(about, path)
            return [
                _model(entry, archive.read(f"{number}.skops"), path)
                for number, entry in enumerate(about["models"])
            ]
    except FileNotFoundError as error:
        raise UnreadableError(f"{path} does not exist") from error
    except OSError as error:
        raise UnreadableError(f"cannot read {path}: {error.strerror or error}") from error
    except InputError:
        raise
    except zipfile.BadZipFile as error:
        raise UnreadableError(f"{path} is no model file, or is damaged") from error
    except Exception as error:  # whatever a crafted file may lead to
        raise UnreadableError(
            f"{path} is no model file, or is damaged ({type(error).__name__}: {error})"
        ) from error


def _made() -> dict[str, Any]:
    """Tell what a file is made with; it is read only where all of this is the same."""
    import sklearn

    return {
        "format": FORMAT,
        "layout": LAYOUT,
        "incrowd": __version__,
        "scikit-learn": sklearn.__version__,
        "classes": list(CLASSES),
        "features": list(FEATURES),
    }


def _refuse_other(about: Any, path: Any) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise UnreadableError(f"{path} is no model file")
    for name, here in _made().items():
        there = about.get(name)
        if there == here:
            continue
        if name == "features":
            odd = sorted(set(here) ^ {str(one) for one in there or ()})
            which = f": {', '.join(odd[:3])}{' ...' if len(odd) > 3 else ''}" if odd else ""  # noqa: PLR2004
            raise InputError(f"{path} was learned from other features{which}; learn it again")
        if name == "classes":
            raise InputError(f"{path} has other classes of risk; learn it again")
        raise InputError(
            f"{path} was written with {name} {there}, and this is {here}; learn it again"
        )


def _refuse_large(archive: zipfile.ZipFile, path: Any) -> None:
    if sum(entry.file_size for entry in archive.infolist()) > MOST:
        raise InputError(f"{path} unpacks to more than a model file ever has")


def _entry(model: Model) -> dict[str, Any]:
    """Tell what a model is, for the file."""
    return {
        "attack": model.attack,
        "k": model.k,
        "settings": {
            name: value if value is None or isinstance(value, int) else str(value)
            for name, value in model.settings.items()
        },
        "learner": model.learner,
        "task": model.task,
        "people": model.people,
        "grid": asdict(model.grid),
        "lowest": model.lowest.tolist(),
        "highest": model.highest.tolist(),
        "tested": None if model.tested is None else model.tested.matrix.tolist(),
    }


def _model(entry: dict[str, Any], stored: bytes, path: Any) -> Model:
    """Make a model of what a file holds, and refuse what is odd about it."""
    import skops.io

    if entry["learner"] not in LEARNERS or entry["task"] not in TASKS:
        raise InputError(f"{path} holds a model of a kind that does not exist; learn it again")
    if hashlib.sha256(stored).hexdigest() != entry["sha256"]:
        raise UnreadableError(f"{path} is damaged: a model has other bytes than were written")
    with zipfile.ZipFile(io.BytesIO(stored)) as archive:
        _refuse_large(archive, path)
    foreign = sorted(set(skops.io.get_untrusted_types(data=stored)) - set(TRUSTED))
    if foreign:
        raise InputError(f"{path} holds {foreign[0]}, which no model has; do not trust the file")
    estimator = skops.io.loads(stored, trusted=list(TRUSTED))
    lowest, highest = (np.array(entry[name], np.float64) for name in ("lowest", "highest"))
    if lowest.shape != (len(FEATURES),) or highest.shape != lowest.shape:
        raise InputError(f"{path} has ranges of other features; learn it again")
    odd = oddity(estimator, entry["learner"], entry["task"])
    if odd:
        raise InputError(f"{path} holds {odd}; do not trust the file")
    tested = None
    if entry["tested"] is not None:
        matrix = np.array(entry["tested"], np.int64)
        if matrix.shape != (len(CLASSES), len(CLASSES)) or (matrix < 0).any() or not matrix.sum():
            raise InputError(f"{path} has scores that are none; learn it again")
        tested = Scores(matrix)
    grid = Grid(
        float(entry["grid"]["cell"]), int(entry["grid"]["slot"]), bool(entry["grid"]["places"])
    )
    if not math.isfinite(grid.cell):
        raise InputError(f"{path} has a grid that is none; learn it again")
    return Model(
        attack=str(entry["attack"]),
        k=int(entry["k"]),
        settings=dict(entry["settings"]),
        learner=entry["learner"],
        task=entry["task"],
        people=int(entry["people"]),
        grid=grid,
        lowest=lowest,
        highest=highest,
        estimator=estimator,
        tested=tested,
    )
