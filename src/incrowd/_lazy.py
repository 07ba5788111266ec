"""Names that are loaded when they are first used, so that ``import incrowd`` costs nothing."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["lazy"]


def lazy(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Give a package its ``__all__``, ``__getattr__`` and ``__dir__``.

    Parameters
    ----------
    package
        The package's ``__name__``.
    modules
        For each of its modules, the names that are public. ``""`` names modules themselves.

    Returns
    -------
    tuple
        ``__all__``, ``__getattr__``, ``__dir__``.
    """
    home = {name: module for module, names in modules.items() for name in names}
    public = sorted(home)

    def load(name: str) -> Any:
        """Load a public name from the module in which it lives."""
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if not home[name]:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(f"{package}.{home[name]}"), name)

    return public, load, lambda: public
