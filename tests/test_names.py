"""The public names, and how they are loaded."""

import ast
import importlib
import re
import subprocess
import sys
import types
import typing
from pathlib import Path

import pytest

import incrowd

LAYERS = ("data", "measure", "attack", "predict", "protect", "evaluate", "report")
PACKAGES = ("incrowd", *(f"incrowd.{layer}" for layer in LAYERS))
DATA = {"ATTACKS", "CLASSES", "LEARNERS", "MECHANISMS", "RELEASE_ATTACKS"}
"""Public names that are neither functions nor classes."""


def public(package):
    return importlib.import_module(package).__all__


EVERY = [(package, name) for package in PACKAGES for name in public(package)]


@pytest.mark.parametrize("package", PACKAGES)
class TestAll:
    def test_is_sorted_and_without_repeats(self, package):
        assert len(public(package)) == len(set(public(package)))
        if package != "incrowd.predict":  # loaded at once, and sorted by ruff: constants first
            assert public(package) == sorted(public(package))

    def test_is_what_type_checkers_see(self, package):
        module = importlib.import_module(package)
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        seen = [
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and not node.module.startswith("incrowd._")
            for alias in node.names
            if node.module.startswith("incrowd")
        ]
        assert sorted(seen) == sorted(module.__all__)

    def test_dir_shows_it(self, package):
        assert set(public(package)) <= set(dir(importlib.import_module(package)))


class TestEveryName:
    @pytest.mark.parametrize(("package", "name"), EVERY)
    def test_its_examples_use_public_names(self, package, name):
        found = getattr(importlib.import_module(package), name)
        if name in DATA or isinstance(found, types.ModuleType):
            return
        members = vars(found).values() if isinstance(found, type) else ()
        told = [each.__doc__ or "" for each in (found, *members) if hasattr(each, "__doc__")]
        lines = [line for text in told for line in text.splitlines() if ">>>" in line]
        assert not [line for line in lines if re.search(r"(import|from) incrowd\S*\._", line)]

    @pytest.mark.parametrize(("package", "name"), EVERY)
    def test_can_be_imported(self, package, name):
        found = getattr(importlib.import_module(package), name)
        if name in DATA:
            return
        if isinstance(found, types.ModuleType):
            assert found.__name__ == f"incrowd.{name}"
            return
        assert found.__name__ == name
        assert found.__doc__

    @pytest.mark.parametrize("name", incrowd.__all__)
    def test_is_in_the_table_of_contents(self, name):
        if isinstance(getattr(incrowd, name), type):
            return  # what functions give back need not be listed
        assert name in incrowd.__doc__

    @pytest.mark.parametrize(("package", "name"), EVERY)
    def test_takes_and_gives_what_is_public(self, package, name):
        """A class of ours in a public signature is public in its package as well."""
        found = getattr(importlib.import_module(package), name)
        if not isinstance(found, types.FunctionType):
            return
        module = sys.modules[found.__module__]
        names = dict(vars(module))
        try:
            hints = typing.get_type_hints(found, names)
        except NameError:  # imported for type checkers only, because it is heavy
            return
        for hint in hints.values():
            for one in _classes(hint):
                parts = one.__module__.split(".")
                if parts[0] == "incrowd" and len(parts) > 2:
                    assert one.__name__ in public(f"incrowd.{parts[1]}"), (name, one)


def _classes(hint):
    inner = typing.get_args(hint)
    if inner:
        for one in inner:
            yield from _classes(one)
    elif isinstance(hint, type):
        yield hint


class TestUnknownName:
    @pytest.mark.parametrize("package", PACKAGES)
    def test_is_an_attribute_error(self, package):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = importlib.import_module(package).nothing


class TestImport:
    @pytest.mark.parametrize("package", [one for one in PACKAGES if one != "incrowd.predict"])
    def test_loads_nothing_heavy(self, package):
        heavy = ("numpy", "polars", "pyarrow", "duckdb", "numba", "pyproj", "pandas")
        code = f"import {package}, sys; print([m for m in {heavy} if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603
        assert done.stdout.strip() == b"[]"
