"""Where compiled kernels are kept, by what they are made of.

A kernel that Python calls is compiled together with all kernels that it calls, in whatever files
they are. So what was compiled is kept under a hash of all that went into it: the instructions of
the kernel and, one after another, of every kernel that it calls, the constants and the tuples that
they use, the options of the compiler, the versions of Python, numba, llvmlite and numpy, and the
processor. An edit of an inner kernel gives its callers another hash, and nothing else one: neither
other kernels nor an edited comment. Nothing kept can be out of date, and nothing has to be deleted.

It is kept in the user's cache directory, not beside the sources: the hash does not depend on where
the sources are, so another checkout or environment on the same machine finds what the first one
compiled. Where that directory cannot be written, the package's own ``__pycache__`` is next; where
neither can, kernels are compiled in every process. ``NUMBA_CACHE_DIR`` names another place.

Every specialisation is a file of its own, with a checksum, written beside its place and then
renamed: a file that is cut short is compiled anew. Processes that need the same at the same time
wait for the one that came first. What was not used for two months is removed.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import compiler, config
from numba.core.serialize import dumps
from numba.core.types import Type

__all__ = [
    "KernelCache",
    "digest",
    "folders",
    "is_writable",
    "not_kept",
]

_DAY = 86_400
_UNUSED = 60 * _DAY
_VERSIONS = 12
"""Of one kernel, so many versions are kept, those used last: an author makes many in a day."""
_CHECKSUM = 32
_PATIENCE = 180
"""So many seconds a process waits for another one that compiles the same."""
not_kept: list[tuple[Path, OSError]] = []
"""Folders in which something could not be kept that was compiled in this process, and why."""
_SETTINGS = (
    "OPT LOOP_VECTORIZE SLP_VECTORIZE BOUNDSCHECK DEBUGINFO_DEFAULT USING_SVML LLVM_PASS_TIMINGS"
)
"""Settings of numba that change what it makes of the same lines."""
_DUMP: Callable[[Any], bytes] = dumps
_REBUILD: Callable[..., Any] = compiler.CompileResult._rebuild  # noqa: SLF001 - see _reduce


class KernelCache:
    """What a dispatcher asks for compiled specialisations, and gives them to; see numba's own."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    @functools.cached_property
    def _own(self) -> str:
        function = self._dispatcher.py_func
        name = f"{function.__module__}.{function.__qualname__}"
        return f"{_file_name(name)}/{digest(self._dispatcher)}"

    @property
    def cache_path(self) -> str | None:
        """Where this kernel is kept, or would be."""
        return next((str(folder / self._own) for folder in folders()), None)

    def is_filled(self) -> bool:
        """Tell whether a specialisation of this kernel is kept."""
        # A folder that may not even be looked into, as another user's home, holds nothing for us.
        paths = (path for folder in folders() for path in _entries(folder / self._own))
        return any(path.suffix == ".nbc" for path in paths)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Give the specialisation for some types of arguments if it is kept, else None."""
        target_context.refresh()
        for folder in folders():
            path = folder / self._own / _name_of(sig)
            kept = _read(path)
            if kept is not None:
                _mark_as_used(path.parent)
                return _REBUILD(target_context, *kept)
        return None

    def save_overload(self, sig: Any, result: Any) -> None:
        """Do nothing: it was kept when it was compiled, while others waited."""

    def keep(self, sig: Any, result: Any) -> None:
        """Keep a specialisation, in the first folder that can be written."""
        if result.lifted or result.library.has_dynamic_globals:
            return
        data = _DUMP(result._reduce())  # noqa: SLF001 - as numba's own cache does
        for folder in folders():
            path = folder / self._own / _name_of(sig)
            # A full disk, or a folder that is not ours: then it is compiled again next time.
            try:
                _write(path, data)
                _tidy_once(folder)
            except OSError as error:
                not_kept.append((folder, error))
                continue
            return

    @contextlib.contextmanager
    def being_compiled(self, sig: Any) -> Iterator[None]:
        """Wait until no other process compiles the same, and let others wait for this one."""
        with contextlib.ExitStack() as held:
            for folder in folders():
                lock = (folder / self._own / _name_of(sig)).with_suffix(".lock")
                # Without a lock it may be compiled twice, which takes longer and does no harm.
                with contextlib.suppress(OSError):
                    lock.parent.mkdir(parents=True, exist_ok=True)
                    held.enter_context(_locked(lock))
                    break
            yield

    def enable(self) -> None:
        """Do nothing: it is always on."""

    def disable(self) -> None:
        """Do nothing: it is always on."""

    def flush(self) -> None:
        """Forget all that is kept of this kernel."""
        for folder in folders():
            shutil.rmtree(folder / self._own, ignore_errors=True)


def folders() -> list[Path]:
    """Give the folders in which kernels are looked for, in order; the first writable one is used.

    Others can not write there: what is read from these files is run.
    """
    given = getattr(config, "CACHE_DIR", "")
    if given:
        return [Path(given) / "incrowd-kernels"]
    package = Path(__file__).parent / "__pycache__" / "kernels"
    with contextlib.suppress(RuntimeError):  # the user has no home directory
        return [_user_folder() / "kernels", package]
    return [package]


def is_writable(folder: Path) -> bool:
    """Tell whether kernels can be kept in a folder; it is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"{uuid.uuid4().hex[:16]}.part"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def _user_folder() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "incrowd" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "incrowd"
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "incrowd"


def digest(dispatcher: Any) -> str:
    """Give a hash of all that a compiled kernel is made of, apart from its arguments' types."""
    ingredients = hashlib.sha256(repr(_surroundings(dispatcher)).encode())
    for part in _parts(dispatcher):
        ingredients.update(part.encode())
    return ingredients.hexdigest()[:32]


def _surroundings(dispatcher: Any) -> tuple[Any, ...]:
    return (
        sys.implementation.cache_tag,
        sys.version_info[:3],
        [module.__version__ for module in (numba, llvmlite, np)],
        [getattr(config, name, None) for name in _SETTINGS.split()],
        dispatcher.targetctx.codegen().magic_tuple(),
    )


def _parts(dispatcher: Any) -> Iterator[str]:
    """Give what the compiler sees of a kernel and of all that it calls, each once."""
    places = {id(dispatcher): 0}
    waiting = [dispatcher]

    def refer(called: Any) -> int:
        if id(called) not in places:
            places[id(called)] = len(places)
            waiting.append(called)
        return places[id(called)]

    for one in waiting:  # grows
        function = _function_of(one)
        yield (
            f"{function.__module__}.{function.__qualname__}"
            f"{sorted(getattr(one, 'targetoptions', {}).items())}"
            f"{_value(function.__defaults__, refer)}{_value(function.__kwdefaults__, refer)}"
        )
        yield from _code(function.__code__, function.__doc__, refer)
        root = function.__module__.partition(".")[0]
        for cell in function.__closure__ or ():
            yield _value(cell.cell_contents, refer)
        for name, value in _globals_of(function.__code__, function.__globals__, root):
            yield f"{name}={_value(value, refer)}"


def _function_of(one: Any) -> Any:
    """Give the function that is written in Python, behind a dispatcher or an intrinsic."""
    return getattr(one, "py_func", None) or getattr(one, "_defn", None) or one


def _code(code: CodeType, doc: str | None, refer: Callable[[Any], int]) -> Iterator[str]:
    yield (
        f"{code.co_code.hex()}{code.co_names}{code.co_varnames}{code.co_cellvars}"
        f"{code.co_freevars}{code.co_argcount}{code.co_flags}"
        f"{getattr(code, 'co_exceptiontable', b'').hex()}"
    )
    for number, value in enumerate(code.co_consts):
        if isinstance(value, CodeType):
            yield from _code(value, None, refer)
        elif number or value != doc:  # what a kernel says of itself is not compiled
            yield _value(value, refer)


def _globals_of(code: CodeType, space: dict[str, Any], root: str) -> Iterator[tuple[str, Any]]:
    """Give what the names in some code may stand for; attributes of modules of ours as well."""
    for name in code.co_names:
        if name in space:
            value = space[name]
            yield name, value
            if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == root:
                yield from _globals_of(code, vars(value), "")
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _globals_of(value, space, root)


def _value(value: Any, refer: Callable[[Any], int]) -> str:
    """Describe what a name stands for, as far as the compiler can see it."""
    if isinstance(value, FunctionType) or hasattr(value, "py_func") or hasattr(value, "_defn"):
        text = f"kernel {refer(value)}"
    elif isinstance(value, type):
        text = f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    elif isinstance(value, tuple | list):
        text = ", ".join(_value(one, refer) for one in value)
    elif isinstance(value, frozenset | set):
        text = ", ".join(sorted(_value(one, refer) for one in value))
    elif isinstance(value, dict):
        text = ", ".join(f"{key!r}: {_value(one, refer)}" for key, one in value.items())
    elif isinstance(value, np.ndarray | np.generic):
        text = f"{value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes | Type):
        text = repr(value)
    else:
        # A module, a function of C, or something that no kernel can use.
        text = f"{getattr(value, '__name__', '')} of {getattr(value, '__module__', '')}"
    return f"{type(value).__name__}({text})"


def _name_of(sig: Any) -> str:
    """Give the name of the file for some types of arguments."""
    arguments = getattr(sig, "args", sig)
    text = ", ".join(_type(one) for one in arguments)
    return f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.nbc"


def _type(one: Any) -> str:
    """Describe a type; of tuples with names also the names, in order, which numba leaves out."""
    if not hasattr(one, "types"):
        return str(one)
    own = getattr(one, "instance_class", tuple)
    fields = getattr(one, "fields", ())
    return f"{own.__module__}.{own.__qualname__}{fields}({', '.join(map(_type, one.types))})"


def _file_name(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._" else "-" for letter in text)[-120:]


def _read(path: Path) -> Any:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    checksum, rest = data[:_CHECKSUM], data[_CHECKSUM:]
    return pickle.loads(rest) if hashlib.sha256(rest).digest() == checksum else None  # noqa: S301


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.stem}.{uuid.uuid4().hex[:16]}.part")
    try:
        part.write_bytes(hashlib.sha256(data).digest() + data)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process at the latest; OSError if another keeps it for long.

    One that compiles takes a minute at most; one that was stopped would never end.
    """
    if sys.platform == "win32":
        yield  # there two processes may compile the same
        return
    import fcntl

    with path.open("w") as file:
        latest = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > latest:
                    raise
                time.sleep(0.05)
        try:
            yield
        finally:
            # Processes that wait have opened it already; later ones find what was compiled.
            with contextlib.suppress(OSError):
                path.unlink()


def _mark_as_used(folder: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - folder.stat().st_mtime > _DAY:
            os.utime(folder)


@functools.cache
def _tidy_once(folder: Path) -> None:
    """Remove the versions of kernels that were not used for long, once in every process."""
    now = time.time()
    for kernel in _entries(folder):
        versions = sorted(((_age(one, now), one) for one in _entries(kernel)), key=lambda v: v[0])
        for number, (age, version) in enumerate(versions):
            for path in _entries(version):
                if path.suffix == ".part" and _age(path, now) > _DAY:  # of a killed process
                    with contextlib.suppress(OSError):
                        path.unlink()
            # Another process may be writing one that is new.
            if age > _UNUSED or (number >= _VERSIONS and age > _DAY):
                shutil.rmtree(version, ignore_errors=True)
        with contextlib.suppress(OSError):
            kernel.rmdir()  # if nothing is left


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _age(path: Path, now: float) -> float:
    try:
        return now - path.stat().st_mtime
    except OSError:
        return 0.0
