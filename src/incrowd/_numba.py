"""How kernels are compiled, and the names of the arrays that they take.

Every kernel is decorated with `kernel`, `kernel_private`, `kernel_nogc` or `kernel_inline`, so
that they all release the interpreter's lock (blocks of people are worked on by several threads)
and are kept on disk between runs (a small dataset should not wait for the compiler twice), by what
they are made of; see `incrowd._kernel_cache`.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from incrowd._kernel_cache import KernelCache
from incrowd._kernel_compiler import PartCompiler, whole_compiler

__all__ = [
    "ONE",
    "ZERO",
    "Floats",
    "Ints",
    "Words",
    "is_cached",
    "kernel",
    "kernel_inline",
    "kernel_nogc",
    "kernel_private",
    "popcount",
]


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)
"""Numbers to hand on: for a number that is written out, kernels would be compiled once more."""
_PUBLIC: dict[str, Any] = {
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # only a kernel that is handed to another one needs that
}
_BARE: dict[str, Any] = {
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def kernel(function: Kernel) -> Kernel:
    """Compile a kernel that Python calls; to the type checker it stays the function it was."""
    compiler = whole_compiler()
    compiled: Any = njit(nogil=True, pipeline_class=compiler, **_PUBLIC)(function)
    compiler.cache = compiled._cache = KernelCache(compiled)  # noqa: SLF001 - numba has no other way
    return cast("Kernel", compiled)


def kernel_private(function: Kernel) -> Kernel:
    """Compile a kernel that only other kernels call.

    Without the two wrappers that make it callable from elsewhere, which take longer to compile
    than most of these kernels themselves; and not kept on disk, where its callers have it already.
    """
    return cast(
        "Kernel", njit(nogil=True, pipeline_class=PartCompiler, **_BARE | {"_nrt": True})(function)
    )


def kernel_nogc(function: Kernel) -> Kernel:
    """Compile a kernel that only other kernels call, and that makes no arrays.

    It does not count who holds the arrays that it is given, or takes parts of: its caller does.
    Where several threads count the same arrays, counting takes longer than many a kernel. So it
    can give arrays back to light kernels only.
    """
    return cast(
        "Kernel", njit(nogil=True, pipeline_class=PartCompiler, **_BARE | {"_nrt": False})(function)
    )


def kernel_inline(function: Kernel) -> Kernel:
    """Write the lines of a kernel where it is called, instead of compiling it by itself.

    For kernels that take many arrays and have one caller, or two: all of these arrays would be
    taken apart and put together again for the call, which takes the compiler longer than the lines
    themselves.
    """
    return cast("Kernel", njit(inline="always", **_BARE)(function))


def _popcount(typing: Any, word: Any) -> Any:  # noqa: ARG001
    return types.int64(types.uint64), lambda _, builder, __, given: builder.ctpop(given[0])


popcount: Any = intrinsic(_popcount)
"""Count the ones in a word of 64 bits; for kernels."""


def is_cached(kernel: Callable[..., object]) -> bool:
    """Tell whether a kernel that Python calls was compiled before, and is kept on disk."""
    cache: KernelCache = cast("Any", kernel)._cache  # noqa: SLF001 - set above
    return cache.is_filled()
