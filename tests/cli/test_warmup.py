"""Everything is compiled once; where nothing can be kept, commands work all the same."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import incrowd as library
from incrowd._kernel_cache import folders, is_writable


@pytest.fixture
def quick(monkeypatch):
    """Compile nothing."""
    done = []
    steps = {name: lambda name=name: done.append(name) for name in ("one", "two")}
    monkeypatch.setattr("incrowd.cli._compile_ahead.steps", lambda: steps)
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", numba.core.config.CACHE_DIR)
    return done


def test_does_every_step_and_says_where_and_how_long(incrowd, quick, tmp_path):
    status, out, _ = incrowd("warmup", "--cache", tmp_path / "kernels")
    assert (status, quick) == (0, ["one", "two"])
    assert f"NUMBA_CACHE_DIR={tmp_path / 'kernels'}" in out
    assert folders() == [tmp_path / "kernels" / "incrowd-kernels"]


def test_is_json(incrowd, quick, tmp_path):
    status, out, _ = incrowd("warmup", "--cache", tmp_path / "kernels", "--json")
    found = json.loads(out)
    assert (status, found["command"], list(found["steps"])) == (0, "warmup", quick)


def test_a_folder_that_cannot_be_written_is_2(incrowd, quick, tmp_path):
    (tmp_path / "file").touch()
    status, _, err = incrowd("warmup", "--cache", tmp_path / "file" / "kernels")
    assert (status, quick) == (2, [])
    assert "cannot write to the folder" in err


def test_compiles_nothing_that_cannot_be_kept(incrowd, quick, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr("incrowd._kernel_cache.folders", lambda: [tmp_path / "file" / "kernels"])
    status, _, err = incrowd("warmup")
    assert (status, quick) == (2, [])
    assert "what is compiled cannot be kept" in err
    assert "give --cache DIR" in err


def test_a_full_disk_is_2(incrowd, quick, monkeypatch, tmp_path):
    place = tmp_path / "kernels" / "incrowd-kernels"
    full = [(place, OSError(28, "No space left on device"))]
    monkeypatch.setattr("incrowd._kernel_cache.not_kept", full)
    status, out, err = incrowd("warmup", "--cache", tmp_path / "kernels")
    assert (status, out) == (2, "")
    assert f"cannot keep all that was compiled in {place}: the disk is full" in err


@pytest.mark.parametrize("home", [None, "file/home"])
def test_works_where_nothing_can_be_written(tmp_path, home):
    """The package's folder and the home directory lie under a file: nobody can write there."""
    package = tmp_path / "site" / "incrowd"
    there = Path(library.__file__).parent
    shutil.copytree(there, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__pycache__").touch()
    (tmp_path / "file").touch()
    hidden = ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "PYTHONPATH")
    surroundings = {name: value for name, value in os.environ.items() if name not in hidden}
    surroundings["PYTHONPATH"] = str(tmp_path / "site")
    surroundings["HOME"] = str(tmp_path / (home or "file"))
    code = (
        "from incrowd._numba import is_cached, kernel\n"
        "@kernel\n"
        "def plus(number):\n    return number + 1\n"
        "print(is_cached(plus), plus(1), is_cached(plus))\n"
        "from incrowd.cli._console import _tell_if_nowhere; _tell_if_nowhere()\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    done = subprocess.run(  # noqa: S603 - this Python, and a script of ours
        [sys.executable, str(script)],
        env=surroundings, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "False 2 False\n", done.stderr
    assert "incrowd warmup --cache DIR" in done.stderr


def test_a_folder_is_writable_or_not(tmp_path):
    (tmp_path / "file").touch()
    assert is_writable(tmp_path / "new" / "one")
    assert not is_writable(tmp_path / "file" / "one")
