"""Pages and figures: from a release to a page that a privacy officer reads and signs.

::

    release, original, record ──> gather ──> numbers (JSON) ──> judge ──> verdict, lights
                                                 │                 │
                                                 └──> charts ──────┴──> page (HTML), figures

Everything that the page says comes from the numbers; the numbers are on the page, too.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.report.making import Report, make

__all__ = ["Report", "make"]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used; the libraries behind it are heavy."""
    if name in __all__:
        from incrowd.report import making

        return getattr(making, name)
    raise AttributeError(f"module 'incrowd.report' has no attribute {name!r}")
