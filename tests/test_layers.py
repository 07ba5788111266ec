"""Layers: no package imports one above it, and the verifier shares no code with the maker.

Read from the sources, so that imports inside functions, and names that the root or a package loads
lazily, count as well: ``from incrowd import glove`` is an import of what ``protect`` has.
"""

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

import incrowd

SOURCE = Path(incrowd.__file__).parent
LAYERS = ("data", "measure", "attack", "predict", "protect", "evaluate", "report", "cli")
"""From the ground up."""
APART = ("incrowd.protect", "incrowd.measure", "incrowd.attack", "incrowd.report")
"""What the verifier must not reach, however far the way."""
FILES = sorted(SOURCE.rglob("*.py"))


def name_of(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


@cache
def home(module, name):
    """Give the module from which a name is really loaded, through any number of facades."""
    if f"{module}.{name}" in MODULES:
        return f"{module}.{name}"
    if MODULES[module].name != "__init__.py":
        return module
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("incrowd"):
            for alias in node.names:
                if (alias.asname or alias.name) == name and node.module != module:
                    return home(node.module, alias.name)
    return module


def checking(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def imports(path, *, types=True):
    """Give all that a module imports of ours, anywhere in it; and what it reaches as incrowd.NAME.

    Facades import for type checkers what they load lazily; to them that is no import.
    """
    found, aliases = set(), set()
    waiting = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if checking(node) and not types:
            continue
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names if one.name.split(".")[0] == "incrowd")
            aliases.update(one.asname or "incrowd" for one in node.names if one.name == "incrowd")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            if str(node.module).split(".")[0] == "incrowd":
                found.update(home(node.module, one.name) for one in node.names)
        waiting += ast.iter_child_nodes(node)
    if aliases:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in aliases:
                found.add(home("incrowd", node.attr))
    return found


def layer(module):
    return [*module.split("."), ""][1]


def is_facade(path):
    return path.name == "__init__.py" and "lazy(" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_import_goes_up(path):
    own = layer(name_of(path))
    for module in imports(path, types=not is_facade(path)):
        other = layer(module)
        if other not in LAYERS or name_of(path) == "incrowd.__main__":
            continue
        assert own in LAYERS, f"{name_of(path)}, which every package needs, imports {module}"
        assert LAYERS.index(other) <= LAYERS.index(own), f"{name_of(path)} imports {module}"


def test_the_verifier_reaches_neither_what_makes_nor_what_measures():
    verifier = [module for module in MODULES if module.startswith("incrowd.evaluate._verify")]
    assert len(verifier) > 5
    reached, waiting = {}, [(module, (module,)) for module in verifier]
    while waiting:
        module, way = waiting.pop()
        if module in reached or module not in MODULES:
            continue
        reached[module] = way
        path = MODULES[module]
        parents = [module.rsplit(".", n)[0] for n in range(1, module.count(".") + 1)]
        found = imports(path, types=False) | set(parents)
        waiting += [(one, (*way, one)) for one in found]
    for module, way in reached.items():
        assert not module.startswith(APART), " -> ".join(way)


@pytest.mark.parametrize("name", LAYERS[:-1])
def test_a_package_shows_all_that_the_root_does(name):
    """What ``incrowd.NAME`` loads from a package is in its ``__all__``."""
    shown = {one for one in incrowd.__all__ if home("incrowd", one).split(".")[1] == name} - {name}
    assert shown <= set(importlib.import_module(f"incrowd.{name}").__all__)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_in_packages_are_private(path):
    """A package's ``__init__`` is its API; commands are named after themselves."""
    module = name_of(path)
    parts = module.split(".")[2:]
    if parts and layer(module) != "cli":
        assert parts[0].startswith("_")
