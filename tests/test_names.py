"""The public names."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import incrowd


class TestAll:
    def test_is_sorted_and_without_repeats(self):
        assert incrowd.__all__ == sorted(set(incrowd.__all__))

    def test_is_what_type_checkers_see(self):
        tree = ast.parse(Path(incrowd.__file__).read_text(encoding="utf-8"))
        seen = [
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("incrowd.")
            for alias in node.names
        ]
        assert sorted(seen) == incrowd.__all__

    def test_is_what_can_be_loaded(self):
        assert sorted(incrowd._HOME) == incrowd.__all__

    @pytest.mark.parametrize("name", incrowd.__all__)
    def test_every_name_can_be_imported(self, name):
        assert getattr(incrowd, name).__name__ == name

    @pytest.mark.parametrize("name", incrowd.__all__)
    def test_every_name_is_public_where_it_lives(self, name):
        assert name in sys.modules[getattr(incrowd, name).__module__].__all__

    def test_dir_shows_them(self):
        assert set(incrowd.__all__) <= set(dir(incrowd))


class TestUnknownName:
    def test_is_an_attribute_error(self):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = incrowd.nothing


class TestImport:
    def test_loads_nothing_heavy(self):
        heavy = ("numpy", "polars", "pyarrow", "duckdb", "numba", "pyproj", "pandas")
        code = f"import incrowd, sys; print([m for m in {heavy} if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603
        assert done.stdout.strip() == b"[]"
