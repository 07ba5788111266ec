"""GLOVE: hide everybody in a crowd of k, with the least loss, true to each record.

Algorithm 1 of the paper of 2021: merge the two trajectories that cost least to merge, again and
again, until everybody is in a crowd of k. Where the paper leaves a choice:

- of two trajectories, the *longer* has more samples; of equals, the older one (the lower index;
  merges are younger than all before them);
- of pairs that cost the same, the one with the oldest member, then with the older other one;
- `strict`: who has a crowd of k is left alone, and fewer than k people may be left over (or more,
  with too few distinct homes among them: see `incrowd.measure._stretch.variety`); they are dropped
  and counted. `loose`: such a crowd may still take in others, and nobody is left over.
"""

import os
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd._arguments import whole
from incrowd._outside import outside
from incrowd.errors import DataWarning, IncrowdDeprecationWarning
from incrowd.protect._generalisation import checked
from incrowd.protect._glove.diverse import Diverse, homes_in
from incrowd.protect._glove.edges import (
    Edges,
    as_setting,
    checked_edges,
    edges_of_text,
    fitted,
)
from incrowd.protect._glove.edges import in_vain as edges_in_vain
from incrowd.protect._glove.settings import (
    CROWDS,
    MANY,
    MERGES,
    OF_MERGE,
    PAIR,
    RESHAPES,
    ROUNDS,
    SPARE,
    SUBTRACTED,
    SUPPRESSED,
    USUAL,
    VARIANTS,
    in_units,
    in_vain,
    in_words,
    refuse_undiverse,
    resolve,
    rules_for,
    spare_of,
    threshold,
)
from incrowd.protect._glove.words import (
    GUARANTEE,
    METHOD,
    explanation_of,
    limits_of,
    promises_of,
)
from incrowd.protect._mechanism import Mechanism, setting

if TYPE_CHECKING:
    from incrowd.data._ledger import Ledger
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._stretch.definition import Stretch
    from incrowd.protect._glove.release import Release

__all__ = [
    "Glove",
    "glove",
]


@dataclass(frozen=True, slots=True)
class Glove(Mechanism):
    """GLOVE as a mechanism: hide every person in a crowd of at least k.

    What :func:`incrowd.glove` does, as a value that can be compared with others and handed around.
    It protects against record linkage: whatever an adversary knows of a person's trajectory, she
    finds k identical records or more, or none. It does not protect against attribute inference,
    or, without a ledger, against a second release of the same people.

    Parameters
    ----------
    k, variant, merge, crowds, refine_rounds, reshape, max_metres, max_minutes, suppress, \
    suppress_price, suppress_at_most, ledger, ledger_spare, diverse, stretch, edges
        As for :func:`incrowd.glove`.

    Raises
    ------
    ArgumentError
        If a setting makes no sense, whatever the data.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 6.
    - Gramaglia and Fiore, 2015: "Hiding Mobile Traffic Fingerprints with GLOVE", CoNEXT '15, DOI
      10.1145/2716281.2836111.
    - Gramaglia et al., 2017: "Preserving Mobile Subscriber Privacy in Open Datasets of
      Spatiotemporal Trajectories", INFOCOM 2017; k-merge.
    - Sweeney, 2002: "k-Anonymity: A model for protecting privacy", International Journal of
      Uncertainty, Fuzziness and Knowledge-Based Systems 10 (5), DOI 10.1142/S0218488502001648.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=60, seed=7)
    >>> release = incrowd.Glove(k=2).protect(city)
    >>> int(release.trajectories.crowd.min()), release.guarantee
    (2, 'k-anonymity')
    """

    k: int = setting(
        "How many people share each record, at least.",
        default=2,
        metavar="K",
        least=PAIR,
        command_line=USUAL,
    )
    variant: str = setting(
        "strict: crowds stop at k, and fewer than k people may be dropped; "
        "loose: they may grow, and nobody is.",
        default="strict",
        choices=VARIANTS,
    )
    merge: str | None = setting(
        "How the samples of a crowd become boxes. optimal: the smallest that are true of everybody "
        "in it (k-merge); two-stage: merge by merge, as in the papers.",
        default=None,
        choices=MERGES,
        usual="optimal",
    )
    crowds: str | None = setting(
        "Of --merge optimal: who is together. greedy: as in the papers; refined: from there on, "
        "people exchange places in crowds for as long as that loses less, and nobody is left over.",
        default=None,
        choices=CROWDS,
        usual="greedy",
    )
    refine_rounds: int | None = setting(
        f"Of --crowds refined: how many rounds of exchanges at most ({ROUNDS} unless given); it "
        "ends before, when next to nothing is gained.",
        default=None,
        metavar="N",
        least=1,
    )
    reshape: str | None = setting(
        "Of --merge two-stage: where samples overlap in time. split: cut them, as in the papers; "
        "union: join them, so that every box was seen; none: leave them.",
        default=None,
        choices=RESHAPES,
        usual="split",
    )
    max_metres: float | None = setting(
        "Suppress what would make samples wider or higher than this; the papers use 15000.",
        default=None,
        metavar="M",
        above=0,
    )
    max_minutes: float | None = setting(
        "Suppress what would make samples longer than this; the papers use 360.",
        default=None,
        metavar="MIN",
        above=0,
    )
    suppress: str | None = setting(
        "Of --merge two-stage: what --max-metres and --max-minutes drop. boxes: merged samples "
        "that are larger (reshaping may join them to larger ones again); samples: only those that "
        "are stretched by more, so that more is left, and larger.",
        default=None,
        choices=SUPPRESSED,
        usual="boxes",
    )
    suppress_price: float | None = setting(
        "Of --merge optimal: delete a sample wherever that costs less than to keep it; 1 is what a "
        "sample loses at most that is kept. Without it no more is deleted than --max-metres and "
        "--max-minutes ask for.",
        default=None,
        metavar="X",
        least=0,
    )
    suppress_at_most: float | None = setting(
        "Of --merge optimal: delete no more than this share of samples, at the lowest price that "
        "keeps to it; the papers suggest 0.05.",
        default=None,
        metavar="SHARE",
        least=0,
    )
    ledger: "str | os.PathLike[str] | Ledger | None" = setting(  # noqa: RUF009
        "Private ledger of all releases of the same people, made if it is not there: crowds then "
        "stay together from release to release, so that several of them, laid over one another, "
        "still leave crowds of k. People must have the same identifiers every time. Do not share "
        "it.",
        default=None,
        metavar="FILE",
    )
    ledger_spare: int | None = setting(
        "Of --ledger: by how many people crowds of newcomers are larger than k, so that some may "
        "leave before others cannot be published any more.",
        default=None,
        metavar="N",
        least=0,
        usual=str(SPARE),
    )
    stretch: "Stretch | None" = None
    edges: tuple[float | None, float | None] | None = setting(
        "Round every published box outwards to this coarser grid, so that its sides are nobody's: "
        "metres and minutes, or one of them. Afterwards boxes may overlap in time, by one such "
        "slot at most, and be larger than --max-metres and --max-minutes, which hold before.",
        default=None,
        metavar="500m,15min",
        parse=edges_of_text,
        takes="metres and minutes like 500m,15min, or one of them",
    )
    diverse: "Diverse | str | None" = setting(  # noqa: RUF009 - only some kinds of fields are known
        "Every crowd has so many distinct homes, at least: home:3, or home:3:5km for homes that "
        "are told apart on a grid of 5 km (1 km unless given). Nights are of --local-tz.",
        default=None,
        metavar="home:N[:KM]",
        parse=str,
        takes="home:3 or home:3:5km",
    )

    method: ClassVar[str] = METHOD
    paper: ClassVar[str] = "Gramaglia and Fiore, 2015; Gramaglia et al., 2021"
    summary: ClassVar[str] = "hide everybody in a crowd of k"
    guarantee: ClassVar[str] = GUARANTEE
    long_running: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("k", self.k, PAIR))
        asked = resolve(
            self.variant,
            self.merge,
            self.reshape,
            self.suppress,
            self.suppress_price,
            self.suppress_at_most,
            limited=self.max_metres is not None or self.max_minutes is not None,
            crowds=self.crowds,
            rounds=self.refine_rounds,
        )
        object.__setattr__(self, "diverse", Diverse.of(self.diverse))
        refuse_undiverse(self.diverse, asked, self.ledger)
        for name, value in asked.items():
            object.__setattr__(self, name, value)
        spare = spare_of(self.ledger, self.ledger_spare, str(self.merge))
        object.__setattr__(self, "ledger_spare", spare)
        for name in ("max_metres", "max_minutes"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checked(value, name))
        object.__setattr__(self, "edges", checked_edges(self.edges))

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for, thresholds in metres and minutes."""
        names = ("k", "variant", "merge", "max_metres", "max_minutes", *OF_MERGE[str(self.merge)])
        found = {name: getattr(self, name) for name in names}
        found |= {} if self.ledger is None else {"ledger_spare": self.ledger_spare}
        found |= {} if self.edges is None else {"edges": as_setting(self.edges)}
        asked = Diverse.of(self.diverse)
        return found if asked is None else found | {"diverse": asked.settings()}

    @property
    def promises(self) -> tuple[str, ...]:
        """What it protects against."""
        return promises_of(self.settings)

    @property
    def limits(self) -> tuple[str, ...]:
        """What it does not protect against."""
        return limits_of(self.settings)

    @property
    def explanation(self) -> tuple[str, ...]:
        """What it does to the data, in plain sentences."""
        return explanation_of(self.settings)

    def advice(self, data: "Trajectories") -> tuple[str, ...]:
        """Return how thresholds are rounded to the grid, and what costs or takes much."""
        large = f"k = {self.k:,} is large; expect wide and long samples, and few crowds"
        notes = [large] if self.k > MANY else [SUBTRACTED] if self.k == PAIR else []
        price = "suppress_price" if self.suppress_at_most is None else "suppress_at_most"
        if getattr(self, price) is not None and self.max_minutes is None and self.k > PAIR:
            notes.append(
                f"{price} without max_minutes takes long for k above {PAIR} and many people, "
                "because boxes of several days are tried; max_minutes=1440 leaves these out"
            )
        asked = Diverse.of(self.diverse)
        notes += [] if asked is None else [asked.advice(data.frame)]
        for name in ("max_metres", "max_minutes"):
            value = getattr(self, name)
            notes += [] if value is None else [in_units(name, value, data.frame)[1]]
        notes += fitted(self.edges, data.frame)[1]
        return tuple(note for note in notes if note)

    def protect(
        self,
        data: "Trajectories",
        *,
        threads: int | None = None,
        memory: str | int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> "Release":
        """Apply it to a dataset; see :func:`incrowd.glove`."""
        return glove(
            data,
            self.k,
            variant=self.variant,
            merge=self.merge,
            crowds=self.crowds,
            refine_rounds=self.refine_rounds,
            reshape=self.reshape,
            max_metres=self.max_metres,
            max_minutes=self.max_minutes,
            suppress=self.suppress,
            suppress_price=self.suppress_price,
            suppress_at_most=self.suppress_at_most,
            ledger=self.ledger,
            ledger_spare=self.ledger_spare,
            diverse=self.diverse,
            stretch=self.stretch,
            edges=self.edges,
            threads=threads,
            memory=memory,
            checkpoint=checkpoint,
            progress=progress,
        )


def glove(
    data: "Trajectories",
    k: int = 2,
    *,
    variant: str = "strict",
    merge: str | None = None,
    crowds: str | None = None,
    refine_rounds: int | None = None,
    reshape: str | None = None,
    max_metres: float | None = None,
    max_minutes: float | None = None,
    max_space: int | None = None,
    max_time: int | None = None,
    suppress: str | None = None,
    suppress_price: float | None = None,
    suppress_at_most: float | None = None,
    ledger: "str | os.PathLike[str] | Ledger | None" = None,
    ledger_spare: int | None = None,
    diverse: "Diverse | str | None" = None,
    stretch: "Stretch | None" = None,
    edges: Edges | None = None,
    threads: int | None = None,
    block: int | None = None,
    bounds: bool = True,
    memory: str | int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> "Release":
    """Hide every person in a crowd of at least k.

    Parameters
    ----------
    data
        Trajectories of people (or of crowds).
    k
        How many people shall share a published trajectory, at least.
    variant
        ``"strict"``: crowds stop at k, and fewer than k people may be dropped at the end.
        ``"loose"``: crowds of k may still grow, and nobody is dropped.
    merge
        How the samples of a crowd become boxes; who is in which crowd does not depend on it.
        ``"optimal"`` (k-merge): from the members' own samples, in the order of time, the boxes
        that lose least of all that each hold a sample of every member and do not overlap in time.
        ``"two-stage"``: merge by merge, as in the papers.
    crowds
        Of optimal merging: who is together. ``"greedy"``: as GLOVE's merges have it.
        ``"refined"``: starting from there, people exchange places in crowds for as long as that
        lowers what is lost in the best boxes; nobody is left over. It takes longer, and much
        longer for large k. Who is near whom is known by bounds: with less `memory`, or without
        `bounds`, other crowds may be found.
    refine_rounds
        Of refined crowds: how many rounds of exchanges at most (20 unless given). Each loses less
        than the one before; it ends when next to nothing is gained.
    reshape
        Of two-stage merging (which it implies): what is done where merged samples overlap in time.
        ``"split"`` (the default): time is cut at every start and end, as in the papers.
        ``"union"``: overlapping samples become one. ``"none"``.
    max_metres, max_minutes
        Suppression: no box becomes wider or longer than this. They are taken as whole cells and
        slots of the grid, rounded down. The papers use 15,000 m and 360 min. Of two-stage merging
        this holds before overlaps are reshaped, which can join boxes to larger ones.
    max_space, max_time
        The same in cells and slots of the grid, so that ``max_space=15_000`` is 1,500 km on the
        usual grid. Deprecated: write `max_metres`, `max_minutes`.
    suppress
        Of two-stage merging (which it implies). ``"boxes"`` (the default): what is dropped is the
        merged sample, with all that was merged into it. ``"samples"``: only those samples go that
        it takes a stretch of more than this to merge with their match. More is left, and boxes can
        grow larger than the thresholds, a little with every merge.
    suppress_price
        Of optimal merging: what it costs to delete a sample; 1 is what a sample loses at most that
        is kept. A sample is deleted wherever that costs less than the larger boxes that it takes
        to keep it. Without a price as few samples are deleted as thresholds allow, and none without
        thresholds.
    suppress_at_most
        Of optimal merging: the share of samples that may be deleted. The price is the lowest that
        keeps to it; refused if thresholds ask for more.
    ledger
        The private file of all releases of the same people (or a :class:`incrowd.Ledger`), which
        is made if it is not there. Who is in a crowd of an earlier release stays with its people.
        Whoever lays releases of the ledger over one another, and knows in which crowd of each a
        person is, finds k people or more who are in all of these crowds (the k of the ledger,
        that of its first release). Whom that does not allow to publish is left out, and counted
        as held back. Publish the result with the same ledger. Of optimal merging.
    ledger_spare
        By how many people crowds of newcomers are larger than k (2 unless given). People leave,
        and nobody who came later can take their place.
    diverse
        Every crowd has so many distinct homes, at least: a :class:`incrowd.Diverse`, or text like
        ``"home:3"`` or ``"home:3:5km"``. Not with refined crowds, nor with a ledger. Who is left
        over at the end, because there are too few people or too few homes among them, is dropped
        (strict) or joins a crowd (loose).
    stretch
        How a stretch is measured: thresholds and weights. 20 km and 8 hours, as in the papers, on
        any grid unless given.
    edges
        Round the finished boxes outwards to a coarser grid, given in metres and minutes, as in
        ``(500, 15)``; None for one that stays as it is, as in ``(500, None)``. Sides of boxes are
        then no longer those of true samples, which a member of the crowd who knows her own could
        subtract. Taken as whole cells and slots, rounded up; refused if no coarser than the grid.
        Lines are multiples of so many metres from the origin of the plane, and of so many minutes
        since 1970-01-01 UTC, whatever the data. Boxes that become equal are one; others may
        overlap in time by one such slot at most. Thresholds hold before rounding: a box can be
        larger by nearly one such cell, or slot, on either side.
    threads, block, bounds
        How it is computed; none of it changes the result.
    memory
        How much memory to use at most, as "4GB" or bytes; three quarters of the machine unless
        given. Less of it makes bounds coarser and the run slower; too little is refused before
        anything is done.
    checkpoint
        A file in which to note the merges. If the run is interrupted, the same call goes on from
        there, to the same result; it is left where it is, and what other boxes lose for the same
        crowds (other edges, other thresholds or prices of optimal merging, or the papers' boxes
        without suppression) is found from it without another search. One of another input or
        version, or of settings with which other people are together, is refused.
    progress
        Called with the name of the stage, how much of it is done, and how much there is.

    Warns
    -----
    SamePersonWarning
        If people may be in the data twice, and would be hidden with themselves; see
        :func:`incrowd.same_person`.
    DataWarning
        If a threshold is wider or longer than the data itself: it would suppress nothing. Or if
        one of the `stretch`, or the grid of `edges`, is. With `diverse`, if the time zone is not
        known, if most people live in one place, or if some have no home.
    PrivacyWarning
        If less than half of the people of the ledger's last release are there again: identifiers
        may be other ones every month, and then a ledger cannot help.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 6, algorithm 1.
    - Gramaglia and Fiore, 2015: "Hiding Mobile Traffic Fingerprints with GLOVE", CoNEXT '15, DOI
      10.1145/2716281.2836111.
    - Gramaglia et al., 2017: "Preserving Mobile Subscriber Privacy in Open Datasets of
      Spatiotemporal Trajectories", INFOCOM 2017; k-merge.
    - Sweeney, 2002: "k-Anonymity: A model for protecting privacy", International Journal of
      Uncertainty, Fuzziness and Knowledge-Based Systems 10 (5), DOI 10.1142/S0218488502001648.

    Examples
    --------
    >>> import incrowd
    >>> release = incrowd.glove(incrowd.synthesize("city", users=60, seed=7), k=2)
    >>> int(release.trajectories.crowd.min()), release.losses.people_dropped
    (2, 0)
    """
    from incrowd._parallel import cores
    from incrowd.data._trajectories import Trajectories
    from incrowd.measure._same_person import warn_of_same_person
    from incrowd.measure._stretch.batch_bounds import CHUNK
    from incrowd.measure._stretch.definition import stretch_for
    from incrowd.measure._stretch.index import scale_for
    from incrowd.protect._glove.grouping import Asked, Grouping
    from incrowd.protect._glove.k_merge import best_boxes
    from incrowd.protect._glove.release import merges_of, published, release_of

    data = Trajectories.of(data)
    max_space = _threshold("max_space", max_space, "max_metres", max_metres, data)
    max_time = _threshold("max_time", max_time, "max_minutes", max_minutes, data)
    asked = resolve(
        variant,
        merge,
        reshape,
        suppress,
        suppress_price,
        suppress_at_most,
        limited=max_space is not None or max_time is not None,
        crowds=crowds,
        rounds=refine_rounds,
    )
    edges = fitted(checked_edges(edges), data.frame)[0]
    for vain in [] if edges is None else edges_in_vain(edges, data):
        warnings.warn(vain, DataWarning, stacklevel=outside())
    spare = spare_of(ledger, ledger_spare, asked["merge"])
    k = rules_for(data, k, variant, asked, max_space, max_time).k
    wanted = Diverse.of(diverse)
    refuse_undiverse(wanted, asked, ledger)
    homes = None if wanted is None else homes_in(data, wanted, cores(threads))
    stretch = stretch_for(data, stretch)
    settings = {
        "k": k,
        "variant": variant,
        "merge": asked["merge"],
        "max_space": None if max_space is None else int(max_space),
        "max_time": None if max_time is None else int(max_time),
        **{name: asked[name] for name in OF_MERGE[asked["merge"]]},
        "stretch": asdict(stretch),
    }
    settings |= {} if homes is None else {"diverse": homes.settings}
    warn_of_same_person(data)
    tell = progress or _silent
    scale = scale_for(data, stretch, bounds=bounds)
    limits = (max_space, max_time)

    group = Grouping(
        asked=Asked(variant, asked, limits, settings),
        scale=scale,
        threads=cores(threads),
        block=CHUNK if block is None else whole("block", block, 1),
        bounds=bounds,
        memory=memory,
        checkpoint=checkpoint,
        tell=tell,
        homes=homes,
        distinct=0 if wanted is None else wanted.homes,
    )
    run, held_back = None, None
    if ledger is None:
        run, people = group(data, k)
        merges = merges_of(run)
    else:
        from incrowd.protect._glove.stable import crowds_with

        people, held_back, merges = crowds_with(ledger, data, k, spare or 0, group)
    # Not before: who is together does not depend on it.
    settings |= {} if edges is None else {"edges": as_setting(edges)}
    if run is not None and asked["merge"] == "two-stage":
        return release_of(data, run, settings, edges=edges)
    boxed = best_boxes(
        data,
        people,
        scale,
        limits,
        asked["suppress_price"],
        asked["suppress_at_most"],
        threads=cores(threads),
        tell=lambda done, total: tell("Generalising", done, total),
    )
    if asked["suppress_at_most"] is not None:
        settings["price_found"] = boxed.price
    return published(data, people, settings, boxed.boxed, merges, held_back=held_back, edges=edges)


def _threshold(
    old: str, number: int | None, new: str, value: float | None, data: "Trajectories"
) -> int | None:
    """Return a threshold in cells or slots; warn of the old way to give it, and of one in vain."""
    if number is not None:
        said = f"{old} is deprecated; use {new} instead: {in_words(old, number, data.frame)}"
        warnings.warn(said, IncrowdDeprecationWarning, stacklevel=outside())
    found = threshold(old, number, new, value, data.frame)
    if found is not None:
        vain = in_vain(old if value is None else new, found, data)
        if vain:
            warnings.warn(vain, DataWarning, stacklevel=outside())
    return found


def _silent(stage: str, done: int, total: int) -> None:
    """Say nothing."""
