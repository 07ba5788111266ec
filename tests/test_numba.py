"""Compiled kernels are kept by what they are made of: never out of date, never compiled twice."""

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from incrowd import _kernel_cache as cache
from incrowd._numba import is_cached, kernel, kernel_nogc, kernel_private
from strategies import in_deep

CONSTANTS = "STEP = 1\n"
INNER = """
from incrowd._numba import kernel_private
from PACKAGE.constants import STEP

@kernel_private
def inner(x):
    return x + STEP
"""
OUTER = '''
from typing import NamedTuple
from incrowd._numba import kernel, kernel_inline, kernel_nogc, kernel_private, popcount
from PACKAGE.inner import inner

class Pair(NamedTuple):
    first: int
    second: int

@kernel_private
def middle(x):
    return inner(x) * 10

@kernel
def outer(x):
    """Say something."""
    return middle(x)

@kernel
def alone(x):
    # a remark
    return x - 1

@kernel
def difference(pair):
    return pair.first - pair.second
'''


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where kernels are kept in these tests, empty at first."""
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path / "kept"))
    cache._tidy_once.cache_clear()
    return tmp_path / "kept" / "incrowd-kernels"


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    """Give what writes a package, some lines replaced, and imports it as a new process would."""
    name = f"kernels_{request.node.originalname}"
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    files = {"constants": CONSTANTS, "inner": INNER, "outer": OUTER}

    def load(*replaced, where=tmp_path):
        for old, new in replaced:
            assert sum(text.count(old) for text in files.values()) == 1
            files.update({file: text.replace(old, new) for file, text in files.items()})
        home = where / name
        home.mkdir(exist_ok=True, parents=True)
        for file, text in files.items():
            (home / f"{file}.py").write_text(text.replace("PACKAGE", name))
        forget()
        return importlib.import_module(f"{name}.outer")

    def forget():
        for module in [one for one in sys.modules if one.partition(".")[0] == name]:
            del sys.modules[module]
        importlib.invalidate_caches()

    yield load
    forget()


def compiled(function):
    """Tell how many specialisations were compiled, and not found."""
    return sum(function.stats.cache_misses.values())


class TestWhatIsCompiledAnew:
    def test_nothing_when_nothing_changed(self, package):
        module = package()
        assert (module.outer(1), compiled(module.outer)) == (20, 1)
        module = package()
        assert (module.outer(1), compiled(module.outer)) == (20, 0)

    @pytest.mark.parametrize(
        ("old", "new", "result"),
        [
            ("return x + STEP", "return x + STEP + 1", 30),
            ("STEP = 1", "STEP = 4", 50),
            ("inner(x) * 10", "inner(x) * 100", 200),
            ("@kernel_private\ndef inner", "@kernel_inline\ndef inner", 20),
            ("return middle(x)", "return middle(x) + 1", 21),
            ("def outer(x)", "def outer(x, y=np.int64(7))", 20),
            ("def outer(x)", "def outer(x, unused=None)", 20),
        ],
    )  # fmt: skip
    def test_callers_of_what_was_edited_and_nothing_else(self, package, old, new, result):
        module = package()
        module.outer(1), module.alone(1)
        changes = [(old, new)]
        if "kernel_inline" in new:
            changes.append(("import kernel_private\n", "import kernel_inline\n"))
        if "np." in new:
            changes.append(("from typing", "import numpy as np\nfrom typing"))
        module = package(*changes)
        assert (module.outer(1), compiled(module.outer)) == (result, 1)
        assert (module.alone(1), compiled(module.alone)) == (0, 0)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("# a remark", "# two\n    # lines"),
            ("Say something", "Say\n\n    more"),
            ("x - 1", "(x - 1)"),
        ],
    )
    def test_not_for_words_about_kernels(self, package, old, new):
        module = package()
        module.outer(1), module.alone(1)
        module = package((old, new))
        module.outer(1), module.alone(1)
        assert compiled(module.outer) == compiled(module.alone) == 0

    def test_where_the_names_in_a_tuple_change_places(self, package):
        module = package()
        assert module.difference(module.Pair(3, 1)) == 2
        swapped = package(
            ("first: int\n    second: int", "second: int\n    first: int"),
        )
        assert swapped.difference(swapped.Pair(3, 1)) == -2

    def test_not_in_another_checkout(self, package, tmp_path, monkeypatch):
        package().outer(1)
        monkeypatch.syspath_prepend(tmp_path / "elsewhere")
        module = package(where=tmp_path / "elsewhere")
        assert "elsewhere" in module.__file__
        module.outer(1)
        assert compiled(module.outer) == 0

    @pytest.mark.parametrize(
        ("where", "name"),
        [(np, "__version__"), (cache.llvmlite, "__version__"), (cache.config, "OPT")],
    )
    def test_for_another_compiler(self, package, monkeypatch, where, name):
        package().outer(1)
        monkeypatch.setattr(where, name, "9.9")
        assert not is_cached(package().outer)


class TestValues:
    """What a kernel uses from outside itself is part of it."""

    @pytest.mark.parametrize(
        ("one", "two"),
        [
            (1, 2),
            (1, True),
            (1, 1.0),
            (0.0, -0.0),
            (np.int64(1), np.int32(1)),
            (np.array([1, 2]), np.array([1, 3])),
            (np.array([1, 2]), np.array([[1, 2]])),
            ((1, (2, 3)), (1, (2, 4))),
            (frozenset({1}), frozenset({2})),
            ({"a": 1}, {"a": 2}),
            (len, abs),
            (np, os),
            (np.int64, np.int32),
            (cache.numba.int64, cache.numba.int32),
        ],
    )
    def test_differ(self, one, two):
        def refer(_):
            raise AssertionError

        assert cache._value(one, refer) == cache._value(one, refer)
        assert cache._value(one, refer) != cache._value(two, refer)

    def test_modules_of_ones_own_are_looked_into(self, package):
        edit = ("from PACKAGE.inner import inner", "from PACKAGE import inner")
        call = ("inner(x) * 10", "inner.inner(x) * 10")
        assert package(edit, call).outer(1) == 20
        assert package(("x + STEP", "x - STEP")).outer(1) == 0

    def test_what_is_enclosed_is_part_of_it(self):
        def make(number):
            @kernel
            def enclosing(x):
                return x + number

            return enclosing

        assert cache.digest(make(1)) == cache.digest(make(1))
        assert cache.digest(make(1)) != cache.digest(make(2))
        assert (make(1)(1), make(2)(1)) == (2, 3)


class TestPlaces:
    def test_user_first_then_the_package(self, monkeypatch, tmp_path):
        monkeypatch.setattr(cache.config, "CACHE_DIR", "")
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        package = Path(cache.__file__).parent / "__pycache__" / "kernels"
        assert cache.folders() == [tmp_path / "incrowd" / "kernels", package]
        monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cache.folders()[0] == tmp_path / ".cache" / "incrowd" / "kernels"

    def test_a_user_without_a_home(self, monkeypatch):
        def nobody():
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.setattr(cache.config, "CACHE_DIR", "")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(cache.Path, "home", nobody)
        assert [folder.name for folder in cache.folders()] == ["kernels"]

    @pytest.mark.parametrize("system", ["win32", "darwin"])
    def test_other_systems_have_other_places(self, monkeypatch, tmp_path, system):
        monkeypatch.setattr(cache.config, "CACHE_DIR", "")
        monkeypatch.setattr(sys, "platform", system)
        monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
        assert "incrowd" in cache.folders()[0].parts

    def test_the_next_is_used_where_the_first_cannot_be_written(
        self, package, monkeypatch, tmp_path
    ):
        (tmp_path / "file").touch()
        second = tmp_path / "second"
        monkeypatch.setattr(cache, "folders", lambda: [tmp_path / "file" / "in", second])
        package().outer(1)
        assert len(list(second.rglob("*.nbc"))) == 1
        module = package()
        module.outer(1)
        assert compiled(module.outer) == 0

    def test_kernels_work_where_nothing_can_be_written(self, package, monkeypatch, tmp_path):
        (tmp_path / "file").touch()
        monkeypatch.setattr(cache, "folders", lambda: [tmp_path / "file" / "in"])
        module = package()
        assert module.outer(1) == 20
        assert not is_cached(module.outer)


class TestFiles:
    def test_one_for_each_specialisation(self, package, folder):
        module = package()
        module.alone(1), module.alone(1.5)
        assert is_cached(module.alone)
        assert not is_cached(module.outer)
        assert len(list(folder.rglob("*.nbc"))) == 2
        assert module.alone.stats.cache_path.startswith(str(folder))

    @pytest.mark.parametrize("rest", [b"", b"\x00" * 100, None])
    def test_cut_short_it_is_compiled_anew(self, package, folder, rest):
        package().outer(1)
        [file] = folder.rglob("*.nbc")
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2] if rest is None else rest)
        module = package()
        assert (module.outer(1), compiled(module.outer)) == (20, 1)
        module = package()
        assert (module.outer(1), compiled(module.outer)) == (20, 0)

    @pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
    def test_interrupted_writing_leaves_nothing(self, package, folder, monkeypatch, error):
        def interrupt(*_):
            raise error

        module = package()
        with monkeypatch.context() as patch:
            patch.setattr(cache.Path, "replace", interrupt)
            if error is OSError:  # a full disk
                assert module.outer(1) == 20
            else:
                with pytest.raises(KeyboardInterrupt):
                    module.outer(1)
        assert [path for path in folder.rglob("*") if path.is_file()] == []
        assert package().outer(1) == 20

    def test_forgetting(self, package):
        module = package()
        module.outer(1)
        module.outer._cache.flush()
        assert not is_cached(module.outer)

    def test_processes_that_compile_at_once_do_not_disturb_each_other(self, package, folder):
        module = package()
        home = Path(module.__file__).parent.parent
        code = (
            "import sys, numba.core.typed_passes as passes\n"
            f"from {module.__name__} import alone\n"
            "lowering, done = passes.NativeLowering.run_pass, []\n"
            "passes.NativeLowering.run_pass = lambda *it: done.append(1) or lowering(*it)\n"
            "print([alone(kind(3)) for kind in eval(sys.argv[1])], len(done))\n"
        )
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(folder.parent),
            "PYTHONPATH": os.pathsep.join([str(home), *sys.path]),
        }
        orders = ["(int, float)", "(float, int)", "(float, int)"]
        processes = [
            subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", code, order],
                env=environment, stdout=subprocess.PIPE, text=True,
            )
            for order in orders
        ]  # fmt: skip
        results = [process.communicate()[0].strip() for process in processes]
        values, times = zip(*(result.rsplit(" ", 1) for result in results), strict=True)
        assert values == ("[2, 2.0]", "[2.0, 2]", "[2.0, 2]")
        if sys.platform != "win32":
            assert sum(map(int, times)) == 2  # others waited for the first
        kept = list(folder.rglob("*"))
        assert sum(path.is_file() for path in kept) == 2
        assert (module.alone(3), module.alone(3.0)) == (2, 2.0)
        assert compiled(module.alone) == 0

    def test_a_process_that_was_stopped_is_not_waited_for(self, package, folder, monkeypatch):
        """Another one holds the lock and never ends: then both compile."""
        fcntl = pytest.importorskip("fcntl")
        monkeypatch.setattr(cache, "_PATIENCE", 0.2)
        module = package()
        file = folder / module.alone._cache._own / cache._name_of((numba.int64,))
        file.parent.mkdir(parents=True)
        with file.with_suffix(".lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert module.alone(3) == 2
        assert file.exists()

    def test_a_failure_lets_others_go_on(self, package, folder):
        module = package(("return x - 1", "return x.nonsense"))
        for _ in range(2):
            with pytest.raises(numba.TypingError):
                module.alone(1)
        assert [path for path in folder.rglob("*") if path.is_file()] == []


class TestTidying:
    @staticmethod
    def make(folder, kernel_name, version, days):
        path = folder / kernel_name / version
        path.mkdir(parents=True)
        (path / "x.nbc").touch()
        then = time.time() - days * 86_400
        os.utime(path, (then, then))
        return path

    def test_removes_what_was_not_used_for_two_months(self, package, folder):
        old = self.make(folder, "gone", "a", 61)
        new = self.make(folder, "kept", "b", 59)
        package().outer(1)
        assert not old.parent.exists()
        assert new.exists()

    def test_keeps_few_versions_of_a_kernel(self, package, folder):
        for days in range(30):
            self.make(folder, "edited", str(days), days + 0.5)
        package().outer(1)
        left = sorted(int(path.name) for path in (folder / "edited").iterdir())
        assert left == list(range(12))

    def test_using_it_keeps_it(self, package, folder):
        package().outer(1)
        [file] = folder.rglob("*.nbc")
        then = time.time() - 59 * 86_400
        os.utime(file.parent, (then, then))
        package().outer(1)
        assert time.time() - file.parent.stat().st_mtime < 60


class TestPrivateKernels:
    """They are parts of the kernels that call them, and computed there as they would be alone."""

    def test_are_told_apart(self):
        @kernel_private
        def one(x):
            return x + 1

        @kernel_private
        def two(x):
            return one(x) * 10

        @kernel_nogc
        def three(values, i):
            return two(values[i]) + one(values[i])

        @kernel
        def whole(values):
            return three(values, 0), two(values[1]), one(values[2])

        assert whole(np.array([1, 2, 3])) == (22, 30, 4)
        assert whole(np.array([1.5, 2, 3])) == (27.5, 30.0, 4.0)

    def test_can_be_called_by_functions_that_numba_compiles_itself(self):
        @kernel_private
        def one(x):
            if x < 0:
                raise ValueError("negative")
            return x + 1

        @kernel_nogc
        def two(x):
            return one(x) * 10

        @kernel_private
        def three(x):
            return two(x) + one(x) + len(np.empty(3))

        @numba.njit
        def other(x):
            return three(x)

        assert other(1) == 25
        with pytest.raises(ValueError, match="negative"):
            other(-3)

    def test_make_arrays_and_give_them_back(self):
        @kernel_private
        def row(size):
            return np.arange(size) * 0.1

        @kernel
        def whole(size):
            kept = row(size)
            for _ in range(100):
                kept = np.sort(row(size) + kept)
            return kept

        expected = np.arange(5) * 0.1
        for _ in range(100):
            expected = np.sort(np.arange(5) * 0.1 + expected)
        assert np.array_equal(whole(5), expected)

    def test_raise_errors_with_what_they_know(self):
        @kernel_private
        def part(x):
            if x < 0:
                raise ValueError("negative", x)
            return x

        @kernel
        def whole(x):
            return part(x)

        assert whole(3) == 3
        with pytest.raises(ValueError, match="negative") as error:
            whole(-3)
        assert error.value.args == ("negative", -3)


@in_deep
def test_every_kernel_of_incrowd_has_a_hash_of_its_own():
    code = (
        "import importlib, pkgutil, sys, incrowd\n"
        "from incrowd import _kernel_cache as cache\n"
        "for one in pkgutil.walk_packages(incrowd.__path__, 'incrowd.'):\n"
        "    if not one.name.endswith('__main__'): importlib.import_module(one.name)\n"
        "kernels = {id(value): value for name, module in list(sys.modules.items())\n"
        "    if name.startswith('incrowd') for value in vars(module).values()\n"
        "    if isinstance(getattr(value, '_cache', None), cache.KernelCache)}.values()\n"
        "for one in kernels: print(one.py_func.__module__, one.__name__, cache.digest(one))\n"
    )
    runs = [
        subprocess.run(  # noqa: S603
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert runs[0] == runs[1]
    digests = [line.split()[2] for line in runs[0].splitlines()]
    assert len(set(digests)) == len(digests) > 50
