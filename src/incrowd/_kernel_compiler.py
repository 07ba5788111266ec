"""How kernels become machine code: those that others call are optimised with their callers, once.

By itself numba optimises and assembles every function that it compiles, together with all that
this one calls: what is six calls deep is optimised six times, and five of the results are thrown
away. Here a kernel that only other kernels call is a *part*: it is translated for LLVM, and left
at that. A kernel that Python calls, a *whole*, takes in all parts that it needs, directly or not,
and is optimised with them.

This rests on numba's classes for code in memory, of which not all is public; the versions are
pinned, and `tests/test_numba.py` looks at what comes out.
"""

import contextlib
import gc
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, cast

from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering

from incrowd._kernel_cache import KernelCache

__all__ = ["PartCompiler", "whole_compiler"]

_THRESHOLD = (100_000, 20, 100)
"""How rarely to look for garbage: the compiler makes millions of objects, and most of them stay."""


class _Part(JITCodeLibrary):
    """Code that is never run by itself, only taken into wholes."""

    @property
    def codegen(self) -> Any:
        return _NoEnvironments()

    def finalize(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"  # several wholes may take it in
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Give all that a function needs which is not compiled here, as one in a test."""
        if self._shared_module is None:
            module = self._final_module.clone()
            for library in _with_parts(self._linking_libraries):
                _take(library, module)
            self._shared_module = module
        return self._shared_module


class _NoEnvironments:
    """What numba asks to put constants of a function in its place, where it has none yet."""

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: it is done when a whole is ready."""


class _Whole(JITCodeLibrary):
    """Code that is run, with all parts in it."""

    def finalize(self) -> None:
        every = list(_with_parts(self._linking_libraries))
        for library in every:
            if isinstance(library, _Part):
                self._reload_init.update(library._reload_init)  # noqa: SLF001 - as numba does
                _take(library, self._final_module)
        self._linking_libraries = [one for one in every if not isinstance(one, _Part)]
        super().finalize()  # type: ignore[no-untyped-call]


def _take(library: Any, module: Any) -> None:
    """Write a library into a module: a part without what it needs."""
    part = isinstance(library, _Part)
    own = library._final_module if part else library._get_module_for_linking()  # noqa: SLF001
    module.link_in(own, preserve=True)


def _with_parts(libraries: Iterable[Any]) -> Iterator[Any]:
    """Give libraries and all that parts among them need, each once."""
    waiting, seen = list(libraries), set()
    for library in waiting:  # grows
        if library not in seen:
            seen.add(library)
            yield library
            if isinstance(library, _Part):
                waiting.extend(library._linking_libraries)  # noqa: SLF001 - a part, as this one


class _Into(LoweringPass):
    """Choose what a kernel is compiled into."""

    library: ClassVar[type[JITCodeLibrary]]

    def __init__(self) -> None:
        LoweringPass.__init__(self)  # type: ignore[no-untyped-call]

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        if self.library is _Whole:
            state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[no-untyped-call]
class _IntoPart(_Into):
    _name = "incrowd_into_part"
    library = _Part


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[no-untyped-call]
class _IntoWhole(_Into):
    _name = "incrowd_into_whole"
    library = _Whole


class PartCompiler(CompilerBase):
    """Compile a kernel that only other kernels call."""

    into: ClassVar[type[_Into]] = _IntoPart

    def define_pipelines(self) -> list[Any]:
        """Give numba's own steps, with ours before the code is written."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        names = [step for step, _ in steps.passes]
        steps.add_pass_after(self.into, names[names.index(NativeLowering) - 1])
        steps.finalize()
        return [steps]


class _WholeCompiler(PartCompiler):
    """Compile a kernel that Python calls, unless another process does so at the same time."""

    into = _IntoWhole
    cache: KernelCache

    def compile_extra(self, func: Any) -> Any:
        """Give the compiled kernel, and keep it."""
        context, arguments = self.state.targetctx, self.state.args
        with self.cache.being_compiled(arguments):
            kept = self.cache.load_overload(arguments, context)
            if kept is not None:
                context.insert_user_function(kept.entry_point, kept.fndesc, [kept.library])
                return kept
            with _collecting_less():
                result = super().compile_extra(func)  # type: ignore[no-untyped-call]
            for environment in result._find_referenced_environments():  # noqa: SLF001 - of parts
                result.library.codegen.set_env(environment.env_name, environment)
            self.cache.keep(arguments, result)
            return result


def whole_compiler() -> type[Any]:
    """Make the compiler of one kernel; its `cache` is to be set."""
    return cast("type[Any]", type("WholeCompiler", (_WholeCompiler,), {}))


@contextlib.contextmanager
def _collecting_less() -> Iterator[None]:
    """Look for garbage rarely."""
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
