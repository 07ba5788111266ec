"""Pages and figures: from a release to a page that a privacy officer reads and signs.

::

    release, original, record ──> collect ──> numbers (JSON) ──> judge ──> verdict, lights
                                                 │                 │
                                                 └──> charts ──────┴──> page (HTML), figures

Everything that the page says comes from the numbers; the numbers are on the page, too.
"""

from typing import TYPE_CHECKING

from incrowd._lazy import lazy

if TYPE_CHECKING:
    from incrowd.report._make import Report as Report
    from incrowd.report._make import make as make

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "_make": ["Report", "make"],
    },
)
