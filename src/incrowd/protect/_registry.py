"""All mechanisms, by the names under which the command line offers them.

A mechanism that is entered here has its options in ``incrowd anonymize``, is verified for what it
guarantees, and is explained in the report. Users may enter their own:
``MECHANISMS["mine"] = Mine``.
"""

from incrowd.protect._generalisation import Cloak, Generalise
from incrowd.protect._geo_indistinguishability import GeoI
from incrowd.protect._glove.api import Glove
from incrowd.protect._mechanism import Mechanism
from incrowd.protect._spatial_filtering import Filter
from incrowd.protect._tga.api import TGA
from incrowd.protect._w4m.mechanism import W4M

__all__ = [
    "MECHANISMS",
]


MECHANISMS: dict[str, type[Mechanism]] = {
    "glove": Glove,
    "filter": Filter,
    "cloak": Cloak,
    "generalise": Generalise,
    "geo-i": GeoI,
    "w4m": W4M,
    "tga": TGA,
}
