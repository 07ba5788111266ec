"""How hard each person is to hide, why, and how unique she is.

::

    Trajectories ──> _stretch (the nearest-neighbour search) ──> k_gap ──> dispersion, hardness
    Visits, traces ──> _uniqueness ──> uniqueness
"""

from typing import TYPE_CHECKING

from incrowd._lazy import lazy

if TYPE_CHECKING:
    from incrowd.measure._describe import Description as Description
    from incrowd.measure._describe import Spread as Spread
    from incrowd.measure._describe import VisitsDescription as VisitsDescription
    from incrowd.measure._describe import describe as describe
    from incrowd.measure._dispersion import dispersion as dispersion
    from incrowd.measure._features import features as features
    from incrowd.measure._k_gap import k_gap as k_gap
    from incrowd.measure._plots import plot_k_gap as plot_k_gap
    from incrowd.measure._points_of_interest import PointsOfInterest as PointsOfInterest
    from incrowd.measure._points_of_interest import points_of_interest as points_of_interest
    from incrowd.measure._same_person import SamePerson as SamePerson
    from incrowd.measure._same_person import same_person as same_person
    from incrowd.measure._stretch.definition import Stretch as Stretch
    from incrowd.measure._traces import Trace as Trace
    from incrowd.measure._traces import traces as traces
    from incrowd.measure._uniqueness.estimate import Uniqueness as Uniqueness
    from incrowd.measure._uniqueness.estimate import uniqueness as uniqueness

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "_describe": ["Description", "Spread", "VisitsDescription", "describe"],
        "_dispersion": ["dispersion"],
        "_features": ["features"],
        "_k_gap": ["k_gap"],
        "_plots": ["plot_k_gap"],
        "_points_of_interest": ["PointsOfInterest", "points_of_interest"],
        "_same_person": ["SamePerson", "same_person"],
        "_stretch.definition": ["Stretch"],
        "_traces": ["Trace", "traces"],
        "_uniqueness.estimate": ["Uniqueness", "uniqueness"],
    },
)
