"""The notebook of the tutorial: every cell runs, in order, and shows something; none is saved.

Without Jupyter: a cell is Python, and what a notebook shows of it is the value of its last line.
"""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import incrowd

ROOT = Path(__file__).parents[1]
PATH = ROOT / "docs" / "tutorial.ipynb"
NOTEBOOK = json.loads(PATH.read_text(encoding="utf-8"))
CELLS = NOTEBOOK["cells"]
CODE = {cell["id"]: "".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"}
TEXT = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown"]
RUNNER = """
import ast, json, sys

found, names = {}, {}
for cell, source in json.load(sys.stdin).items():
    tree = ast.parse(source)
    last = tree.body.pop()
    exec(compile(tree, cell, "exec"), names)
    value = eval(compile(ast.Expression(last.value), cell, "eval"), names)
    if hasattr(value, "_repr_html_"):
        found[cell] = [type(value).__name__, value._repr_html_()]
    else:
        found[cell] = [type(value).__name__, json.dumps(value.to_dict())]  # a chart
found["proof"] = [names["proof"].ok, names["after"]["highest risk"].to_list()]
json.dump(found, open("shown.json", "w"))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Run all cells in one fresh process; give the type and the HTML (of charts JSON) of each."""
    folder = tmp_path_factory.mktemp("notebook")
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "error::DeprecationWarning", "-c", RUNNER],
        input=json.dumps(CODE), cwd=folder, capture_output=True, text=True, timeout=300,
        env=os.environ | {"TMPDIR": str(folder)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "shown.json").read_text(encoding="utf-8"))


def test_every_cell_shows_something(shown):
    for cell in CODE:
        kind, text = shown[cell]
        assert len(text) > 100, (cell, kind)


def test_shows_what_a_researcher_asks_for(shown):
    kinds = {kind for kind, _ in shown.values()}
    wanted = {
        "Trajectories", "Anonymizability", "Uniqueness", "Release", "Accuracy", "Utility",
        "Publication", "Verification", "GeoDataFrame", "Chart",
    }  # fmt: skip
    assert wanted <= kinds


def test_what_it_says_is_true(shown):
    proved, highest = shown["proof"]
    assert proved
    assert highest == [0.5, 0.5]


class TestFile:
    def test_is_a_notebook_of_version_4(self):
        assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
        assert NOTEBOOK["metadata"]["kernelspec"]["name"] == "python3"

    def test_cells_have_names_of_their_own(self):
        names = [cell["id"] for cell in CELLS]
        assert len(names) == len(set(names))
        assert all(re.fullmatch(r"[\w-]{1,64}", name) for name in names)

    def test_cells_have_what_their_kind_needs(self):
        both = {"cell_type", "id", "metadata", "source"}
        for cell in CELLS:
            code = cell["cell_type"] == "code"
            assert set(cell) == (both | {"execution_count", "outputs"} if code else both)

    def test_holds_no_output(self):
        for cell in CELLS:
            assert cell.get("outputs", []) == []
            assert cell.get("execution_count") is None

    def test_every_cell_ends_with_what_it_shows(self):
        assert all(isinstance(ast.parse(code).body[-1], ast.Expr) for code in CODE.values())

    def test_uses_only_public_names(self):
        for code in CODE.values():
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "incrowd":
                    assert node.attr in incrowd.__all__

    def test_links_lead_somewhere(self):
        for target in re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", "\n".join(TEXT)):
            assert (PATH.parent / target).exists(), target
