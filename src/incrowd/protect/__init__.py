"""Mechanisms: GLOVE, and those that it is compared with.

::

    Trajectories ──> glove (k-anonymity of whole trajectories) ──> Release
    Trajectories ──> Filter, Cloak, Generalise, GeoI ──> Protected
"""

from typing import TYPE_CHECKING

from incrowd._lazy import lazy

if TYPE_CHECKING:
    from incrowd.protect._generalisation import Cloak as Cloak
    from incrowd.protect._generalisation import Generalise as Generalise
    from incrowd.protect._geo_indistinguishability import GeoI as GeoI
    from incrowd.protect._glove.api import Losses as Losses
    from incrowd.protect._glove.api import Release as Release
    from incrowd.protect._glove.api import glove as glove
    from incrowd.protect._mechanism import Mechanism as Mechanism
    from incrowd.protect._mechanism import Protected as Protected
    from incrowd.protect._spatial_filtering import Filter as Filter

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "_generalisation": ["Cloak", "Generalise"],
        "_geo_indistinguishability": ["GeoI"],
        "_glove.api": ["Losses", "Release", "glove"],
        "_mechanism": ["Mechanism", "Protected"],
        "_spatial_filtering": ["Filter"],
    },
)
