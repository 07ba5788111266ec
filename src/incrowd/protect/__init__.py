"""Mechanisms: GLOVE, and those that it is compared with.

::

    Trajectories ──> glove, Glove (k-anonymity of whole trajectories) ──> Release
    Trajectories ──> TGA (the same, by matching points one to one) ──> Protected
    Trajectories ──> Filter, Cloak, Generalise, GeoI ──> Protected

Both results are a `ProtectionResult`, which `incrowd.publish` takes. `MECHANISMS` has all of the
mechanisms by name; `_mechanism` says how to add one.
"""

from typing import TYPE_CHECKING

from incrowd._lazy import lazy

if TYPE_CHECKING:
    from incrowd.protect._generalisation import Cloak as Cloak
    from incrowd.protect._generalisation import Generalise as Generalise
    from incrowd.protect._geo_indistinguishability import GeoI as GeoI
    from incrowd.protect._glove.api import Glove as Glove
    from incrowd.protect._glove.api import glove as glove
    from incrowd.protect._glove.diverse import Diverse as Diverse
    from incrowd.protect._glove.release import Losses as Losses
    from incrowd.protect._glove.release import Release as Release
    from incrowd.protect._mechanism import Mechanism as Mechanism
    from incrowd.protect._mechanism import Protected as Protected
    from incrowd.protect._mechanism import ProtectionResult as ProtectionResult
    from incrowd.protect._mechanism import setting as setting
    from incrowd.protect._registry import MECHANISMS as MECHANISMS
    from incrowd.protect._spatial_filtering import Filter as Filter
    from incrowd.protect._tga.api import TGA as TGA
    from incrowd.protect._w4m.mechanism import W4M as W4M

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "_generalisation": ["Cloak", "Generalise"],
        "_geo_indistinguishability": ["GeoI"],
        "_glove.api": ["Glove", "glove"],
        "_glove.diverse": ["Diverse"],
        "_glove.release": ["Losses", "Release"],
        "_mechanism": ["Mechanism", "Protected", "ProtectionResult", "setting"],
        "_registry": ["MECHANISMS"],
        "_spatial_filtering": ["Filter"],
        "_w4m.mechanism": ["W4M"],
        "_tga.api": ["TGA"],
    },
)
