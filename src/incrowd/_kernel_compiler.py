"""How kernels that only other kernels call are compiled: once, as a part of whoever calls them.

numba optimises every kernel by itself, makes machine code of it, and then optimises it again in its
callers, and in theirs. Nobody runs that machine code where only other kernels call it, and one
optimisation of all together does what the many before it did. So such a kernel is taken as far as
numba's own intermediate code, handed to its callers as that, and optimised in the kernel that
Python calls. What is computed stays the same: no optimisation may reorder floating-point numbers.
"""

from typing import Any

from numba.core import codegen, compiler, typed_passes
from numba.core.compiler_machinery import register_pass

__all__ = [
    "PrivateCompiler",
]

# To a type checker, numba's classes are whatever they want to be.
_LIBRARY: Any = codegen.JITCodeLibrary
_LOWERING: Any = typed_passes.NativeLowering
_COMPILER: Any = compiler.CompilerBase


class _Part(_LIBRARY):  # type: ignore[misc]
    """The code of a kernel and of all that it calls, to be linked into a caller, not to be run."""

    def add_llvm_module(self, module: Any) -> None:
        """Take code as it is."""
        module.data_layout = self._codegen._data_layout  # noqa: SLF001
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Join the code of all that is called, without optimising it."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)  # noqa: SLF001
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)  # noqa: SLF001
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(_LOWERING):  # type: ignore[misc]
    """Make code of a kernel, as numba does, but leave it there."""

    _name = "incrowd_part_lowering"

    def run_pass(self, state: Any) -> bool:
        target = state.targetctx
        state.library = _Part(target.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # By the entry point numba tells kernels apart, so each has a function in C of its own; this
        # one fails if it is called.
        entry = {}.__getitem__
        lowered = state["cr"]
        target.insert_user_function(entry, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=entry)
        return True


class PrivateCompiler(_COMPILER):  # type: ignore[misc]
    """The compiler of kernels that only other kernels call."""

    def define_pipelines(self) -> list[Any]:
        """Give numba's own steps, but for the last."""
        steps: Any = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [
            (_PartLowering if step is typed_passes.NativeLowering else step, what)
            for step, what in steps.passes
        ]
        steps.finalize()
        return [steps]
