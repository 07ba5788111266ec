"""From metres on the plan of a land to degrees on the Earth.

The plan is a Lambert azimuthal equal-area projection about the preset's own place, so that areas
and the number of people a square kilometre are the same on both.
"""

import numpy as np
from pyproj import CRS, Transformer

from incrowd.compiled import Floats
from incrowd.data.synth.settings import Preset

__all__ = ["Globe"]

_DECIMALS = 6


class Globe:
    """Turns metres into degrees about the place of a preset.

    Parameters
    ----------
    preset
        Whose place to take.
    """

    def __init__(self, preset: Preset) -> None:
        plan = CRS.from_dict(
            {
                "proj": "laea",
                "lat_0": preset.latitude,
                "lon_0": preset.longitude,
                "datum": "WGS84",
                "units": "m",
            }
        )
        self._transformer = Transformer.from_crs(plan, "EPSG:4326", always_xy=True)

    def degrees(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Give latitudes and longitudes, rounded to six decimals (a tenth of a metre)."""
        lon, lat = self._transformer.transform(x, y)
        return np.round(lat, _DECIMALS), np.round(lon, _DECIMALS)

    def metres(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """Give the place on the plan of latitudes and longitudes."""
        x, y = self._transformer.transform(lon, lat, direction="INVERSE")
        return np.asarray(x), np.asarray(y)
