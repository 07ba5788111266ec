"""Reading, holding and writing data: the ground floor.

::

    files, frames ──> _io ────────┐                      ┌──> _io.write ──> files (the original)
                                  ├──> Trajectories ─────┤
    presets ────────> _synthetic ─┘    Visits, Frame     └──> _release ───> directory (to share)
"""

from typing import TYPE_CHECKING

from incrowd._lazy import lazy

if TYPE_CHECKING:
    from incrowd.data._frame import Frame as Frame
    from incrowd.data._io.read import read as read
    from incrowd.data._io.read import read_visits as read_visits
    from incrowd.data._io.reading_report import Reading as Reading
    from incrowd.data._io.reading_report import Rejects as Rejects
    from incrowd.data._io.write import write as write
    from incrowd.data._ledger import Ledger as Ledger
    from incrowd.data._ledger import LedgerEntry as LedgerEntry
    from incrowd.data._manifest import Manifest as Manifest
    from incrowd.data._manifest import read_manifest as read_manifest
    from incrowd.data._select import select as select
    from incrowd.data._synthetic.generate import synthesize as synthesize
    from incrowd.data._trajectories import Trajectories as Trajectories
    from incrowd.data._trajectories import Trajectory as Trajectory
    from incrowd.data._visits import Visits as Visits
    from incrowd.data._visits import visits as visits

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "_frame": ["Frame"],
        "_io.read": ["read", "read_visits"],
        "_io.reading_report": ["Reading", "Rejects"],
        "_io.write": ["write"],
        "_ledger": ["Ledger", "LedgerEntry"],
        "_manifest": ["Manifest", "read_manifest"],
        "_select": ["select"],
        "_synthetic.generate": ["synthesize"],
        "_trajectories": ["Trajectories", "Trajectory"],
        "_visits": ["Visits", "visits"],
    },
)
