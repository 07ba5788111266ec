"""How kernels are compiled: those that only other kernels call as a part of whoever calls them.

numba optimises every kernel by itself, makes machine code of it, and then optimises it again in its
callers, and in theirs. Nobody runs that machine code where only other kernels call it, and one
optimisation of all together does what the many before it did. So such a kernel is taken as far as
LLVM's intermediate code, handed to its callers as that, and optimised in the kernel that Python
calls. What is computed stays the same: no optimisation may reorder floating-point numbers.

This is done with numba's own means for it, a pipeline of passes of which one is another. It leans
on how numba links kernels, which tests/test_numba.py would notice to have changed.
"""

from typing import Any

from numba.core import codegen, compiler, compiler_machinery, environment, typed_passes

__all__ = [
    "PrivateCompiler",
    "PublicCompiler",
]

_ENVIRONMENT = "_ZN08NumbaEnv"
"""With this begin the names of what kernels need of Python, as the words of an error."""
# numba has no types, so its classes are anything to a type checker.
_LIBRARY: Any = codegen.JITCodeLibrary
_LOWERING: Any = typed_passes.NativeLowering
_COMPILER: Any = compiler.CompilerBase
_BUILDER: Any = compiler.DefaultPassBuilder
_register: Any = compiler_machinery.register_pass
_environment_of: Any = environment.lookup_environment


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
            code = library._get_module_for_linking()  # noqa: SLF001
            self._final_module.link_in(code, preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


@_register(mutates_CFG=True, analysis_only=False)
class _PartLowering(_LOWERING):  # type: ignore[misc]
    """Make code of a kernel, as numba does, and leave it at that."""

    _name = "incrowd_part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Do it."""
        target = state.targetctx
        state.library = _Part(target.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # By the entry point numba tells kernels apart, so each has a function in C of its own; this
        # one fails if it is called.
        entry: Any = {}.__getitem__
        lowered = state["cr"]
        target.insert_user_function(entry, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=entry)
        return True


@_register(mutates_CFG=True, analysis_only=False)
class _WholeLowering(_LOWERING):  # type: ignore[misc]
    """Make machine code of a kernel and all its parts, and tell the parts what they need."""

    _name = "incrowd_whole_lowering"

    def run_pass(self, state: Any) -> bool:
        """Do it."""
        super().run_pass(state)
        library = state.library
        for variable in library._final_module.global_variables:  # noqa: SLF001
            if variable.name.startswith(_ENVIRONMENT):
                needed = _environment_of(variable.name)
                if needed is not None:
                    library.codegen.set_env(variable.name, needed)
        return True


class PublicCompiler(_COMPILER):  # type: ignore[misc]
    """The compiler of kernels that Python calls."""

    lowering: Any = _WholeLowering

    def define_pipelines(self) -> list[Any]:
        """Give numba's own passes, but for one."""
        passes = _BUILDER.define_nopython_pipeline(self.state)
        passes.passes = [
            (self.lowering if one is typed_passes.NativeLowering else one, what)
            for one, what in passes.passes
        ]
        passes.finalize()
        return [passes]


class PrivateCompiler(PublicCompiler):
    """The compiler of kernels that only other kernels call."""

    lowering = _PartLowering
