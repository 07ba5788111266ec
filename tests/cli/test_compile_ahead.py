"""What is compiled ahead is what is called later, and nothing is left of it but kernels."""

import json
import subprocess
import sys
import tempfile

import pytest

from incrowd import _background
from incrowd.cli import _compile_ahead
from incrowd.report import _make as report
from strategies import in_deep

CALLED_LATER = """
import importlib, json, sys, tempfile
import incrowd
from incrowd.cli._compile_ahead import publish
from incrowd.protect._glove import engine, k_merge

MODULES = sys.argv[1:]

def types():
    found = {}
    for module in MODULES:
        for name, value in vars(importlib.import_module(f"incrowd.{module}")).items():
            types = getattr(value, "nopython_signatures", None)
            if types is not None and value.__module__.endswith(module):
                found[f"{module}.{name}"] = {str(one.args) for one in types}
    return found

engine.compile_kernels()
k_merge.compile_kernels()
publish()
before = types()
city = incrowd.synthesize("city", users=70, seed=3)
with tempfile.TemporaryDirectory() as folder:
    for number, how in enumerate(({"k": 2}, {"k": 3, "variant": "loose", "max_metres": 9000})):
        made = incrowd.glove(city, **how)
        incrowd.publish(made, f"{folder}/{number}", original=city, draws=1)
after = types()
print(json.dumps({name: [len(after[name]), len(after[name] - before[name])] for name in after}))
"""
BY_OTHERS = {
    "protect._glove.nearest_queue.insert",  # with what the search gives
    "protect._glove.release.uncovered",
    "protect._glove.k_merge.choose_crowds",  # where samples may be deleted
    "protect._glove.greedy.replay",
    "protect._glove.greedy.reactivate",
}


@in_deep
def test_glove_and_publishing_compile_nothing_more():
    modules = [
        f"protect._glove.{name}" for name in ("engine", "greedy", "nearest_queue", "k_merge")
    ]
    modules.append("evaluate._verify._kernels")
    words = [sys.executable, "-c", CALLED_LATER, *modules]
    done = subprocess.run(words, check=True, capture_output=True, text=True)  # noqa: S603
    found = json.loads(done.stdout)
    called = {name for name, (number, _) in found.items() if number and name not in BY_OTHERS}
    assert len(called) >= 12
    assert {name for name in called if found[name][1]} == set()


def test_a_whole_report_is_made_and_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made, make = [], report.make
    monkeypatch.setattr(
        report, "make", lambda *given, **how: made.append(make(*given, **how, targets=3))
    )
    _compile_ahead.report()
    assert list(tmp_path.iterdir()) == []
    [one] = made
    missing = [name for name, part in one.numbers.as_dict().items() if part is None]
    assert missing == ["title"]  # nothing was skipped, so that nothing is left to be compiled
    assert one.numbers.utility.persons is not None


class TestStarting:
    @pytest.fixture(autouse=True)
    def started(self, monkeypatch):
        started = []

        class Process:
            def __init__(self, words, **_):
                started.append(words[3:])

        monkeypatch.setattr(_background, "_begun", set())
        monkeypatch.setattr(subprocess, "Popen", Process)
        monkeypatch.setattr(_background.atexit, "register", lambda *_: None)
        return started

    @pytest.mark.parametrize(
        ("cores", "processes"),
        [(1, []), (2, [["a", "b", "c"]]), (3, [["a", "c"], ["b"]]), (9, [["a"], ["b"], ["c"]])],
    )
    def test_as_many_processes_as_there_are_other_cores(
        self, started, monkeypatch, cores, processes
    ):
        monkeypatch.setattr(_background, "cores", lambda: cores)
        _background.compile_ahead("a", "b", "c")
        assert started == processes

    def test_each_once(self, started, monkeypatch):
        monkeypatch.setattr(_background, "cores", lambda: 2)
        _background.compile_ahead("a", "b")
        _background.compile_ahead("b")
        _background.compile_ahead("b", "c")
        assert started == [["a", "b"], ["c"]]

    def test_no_process_is_no_error(self, monkeypatch):
        def refuse(*_, **__):
            raise PermissionError

        monkeypatch.setattr(_background, "cores", lambda: 2)
        monkeypatch.setattr(subprocess, "Popen", refuse)
        _background.compile_ahead("a")
