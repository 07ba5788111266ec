"""`RELEASE_ATTACKS`: all attacks on a release, by name; a new one is an entry here.

`incrowd.attack_release`, the command line, the report and the docs take them from here.
"""

from incrowd.evaluate._release_attacks.base import ReleaseAttack
from incrowd.evaluate._release_attacks.composition import Composition
from incrowd.evaluate._release_attacks.inferred import Inferred
from incrowd.evaluate._release_attacks.insider import Insider
from incrowd.evaluate._release_attacks.later import WhichCrowd
from incrowd.evaluate._release_attacks.minimality import Minimality
from incrowd.evaluate._release_attacks.points import Absence, Edges, Presence

__all__ = [
    "RELEASE_ATTACKS",
]


RELEASE_ATTACKS: dict[str, type[ReleaseAttack]] = {
    attack.name: attack
    for attack in (
        Insider,
        Minimality,
        Edges,
        WhichCrowd,
        Presence,
        Absence,
        Composition,
        Inferred,
    )
}
"""All attacks on releases, by name."""
