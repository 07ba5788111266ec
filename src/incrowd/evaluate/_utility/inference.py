"""`inference`: what the record of a crowd tells of its people, without picking one of them.

All members of a crowd have one record. Whoever knows that somebody is in it learns of her what is
true of all, as precisely as the boxes are: of the three questions of Opinion 05/2014 of the Article
29 Working Party (singling out, linkability, inference) the third. How things are counted, for a
length L (100 m and 1 km) and for everybody who is published and known:

- *Small* is a box of at most L in width and in height: of as many whole cells as L holds, and of
  one cell where the grid is coarser than L. How long it lasts does not matter.
- *home* is shown if it lies in a small box of her record that meets the night, *work* likewise with
  working hours. Home and work are `utility`'s, found in the original: the place with most samples
  from 22 to 6 h, and from 9 to 17 h, a point that lies in one of the half-open boxes of the grid.
  A box meets the night if one of its slots has its middle there, on the wall clock of its day. On
  which night it does is not asked: one visit to a cell tells its place.
- *night*: a small box of her record holds one of her samples at night, in space and time (samples
  are at night as for home), so that where she was on some night is told. It need not be at home.
- *samples*: those of published people that a small box of their record holds, in space and time.
- *homogeneous*: she has a home, and the homes of all of her crowd who have one lie in one small
  box, a home being as wide as a cell. Then whoever knows one of them knows all: the homogeneity
  attack on k-anonymity (Machanavajjhala and others, l-diversity, ICDE 2006). This needs no box of
  the record; a crowd of one person is homogeneous always, and *alone* counts such people.

Shares of home, night and homogeneous are of people who have a home (who were seen at night), those
of work of people who have one. A member of whom the original knows nothing counts nowhere.

A box that lasts for days counts as well as one of a minute, and which of its boxes is the home a
record does not say: so far the figures are high. What wider boxes tell, several of them together or
beside a map, is not counted: so far they are low.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._format import count_of, length, people, rounded_percent
from incrowd._numba import Ints
from incrowd._parallel import cores, on_threads
from incrowd._progress import Progress, Stages
from incrowd._summary import Summarised, Summary
from incrowd.data._select import find_zone
from incrowd.data._trajectories import Trajectories
from incrowd.data._zone import zone_or_utc
from incrowd.errors import ArgumentError, InputError
from incrowd.evaluate._comparison import BeforeAfter
from incrowd.evaluate._utility._kernels import UNSEEN, finest_boxes, latest_ends
from incrowd.evaluate._utility.accuracy import sizes_of, units_in
from incrowd.evaluate._utility.individual import HOME, WORK, mobility_profiles
from incrowd.measure._centres import NIGHT, WORKING, blocks_of, centres_of, hours_at

__all__ = [
    "Disclosure",
    "Inference",
    "Share",
    "inference",
    "words_beside",
]


STEPS = 3
LONGEST = 40_000_000
"""Metres once round the earth."""
SLOTS = 1 << 20
"""So many slots are looked up on the clock at a time."""
AT_HOME, AT_WORK, AT_NIGHT = range(3)
SHOWN = {
    "home": "home (22 to 6 h)",
    "work": "work (9 to 17 h)",
    "night": "place on some night",
    "samples": "samples",
    "homogeneous": "one home for all",
}
"""What is counted, as tables name it."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many.

    Attributes
    ----------
    number, of
        People, or samples.
    fewer_than
        Set where the number is withheld, being that of few people; `number` is then as large as it
        can be.
    all_but
        Set where all others are fewer than so many; `number` is then that of all.
    """

    number: int
    of: int
    fewer_than: int | None = None
    all_but: int | None = None

    @property
    def words(self) -> str:
        """The share as text, or that the number is small."""
        if self.fewer_than is not None:
            return f"fewer than {self.fewer_than} people"
        if self.all_but is not None:
            return f"all but fewer than {self.all_but} people"
        return "nobody" if not self.number else f"{rounded_percent(self.share)} of people"

    @property
    def share(self) -> float | None:
        """The number over that of all; None if there are none."""
        return self.number / self.of if self.of else None


@dataclass(frozen=True, slots=True, repr=False)
class Disclosure(Summarised):
    """What is told to within a length.

    Attributes
    ----------
    metres
        The length.
    cells, side
        The widest box that counts, in cells and in metres; wider than the length only if the cells
        are.
    home, work, night
        People whose home, whose work, and whose place on some night the record of their crowd
        shows.
    samples
        Samples of the original in a box of such a size.
    homogeneous
        People in a crowd whose members all have their homes in a box of such a size.
    """

    metres: float
    cells: int
    side: float
    home: Share
    work: Share
    night: Share
    samples: Share
    homogeneous: Share

    @property
    def within(self) -> str:
        """The length in words: that of a cell, where cells are wider."""
        return length(max(self.metres, self.side))

    def _summary(self) -> Summary:
        shares = {said: getattr(self, name) for name, said in SHOWN.items()}
        facts = {said: count_of(of.number, of.of) if of.of else "-" for said, of in shares.items()}
        return Summary(f"Shown to within {self.within}", facts)


@dataclass(frozen=True, slots=True, repr=False)
class Inference(Summarised):
    """What the records of crowds tell of their people.

    Attributes
    ----------
    tz
        The zone of the hours.
    people
        How many are looked at: who are published, and known.
    dropped
        How many of the original are not published.
    alone
        How many of the people have a record of their own: a crowd of one.
    disclosures
        What is told to within each length.
    """

    tz: str
    people: int
    dropped: int
    alone: int
    disclosures: tuple[Disclosure, ...]

    @property
    def words(self) -> list[str]:
        """What it means, in sentences for everybody."""
        said: list[str] = []
        distinct = {one.cells: one for one in reversed(self.disclosures)}
        for one in sorted(distinct.values(), key=lambda one: one.cells):
            said += _words_of(one)
        return [*said, *words_beside(self)]

    def at(self, metres: float) -> Disclosure:
        """Give what is told to within one of the lengths.

        Raises
        ------
        ArgumentError
            If it was not asked for.
        """
        for one in self.disclosures:
            if one.metres == metres:
                return one
        known = ", ".join(f"{one.metres:g}" for one in self.disclosures)
        raise ArgumentError(f"{metres!r} metres were not asked for; there are {known}")

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        plain = asdict(self)
        plain["disclosures"] = [
            asdict(one)
            | {name: asdict(getattr(one, name)) | {"share": getattr(one, name).share}
               for name in SHOWN}
            for one in self.disclosures
        ]  # fmt: skip
        return plain | {"words": self.words}

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Give the head and the rows of a table: what is shown, by length."""
        head = ["shown to within", *(one.within for one in self.disclosures)]
        rows = []
        for name, said in SHOWN.items():
            shares = [getattr(one, name) for one in self.disclosures]
            rows.append([said, *(count_of(s.number, s.of) if s.of else "-" for s in shares)])
        return head, rows

    def _summary(self) -> Summary:
        head, rows = self.table()
        notes = [f"Hours are of {self.tz}.", *words_beside(self)]
        title = f"Inference: what crowds tell of {people(self.people)}"
        return Summary(title, head=head, rows=rows, notes=notes)


def inference(
    pair: BeforeAfter,
    *,
    tz: str | None = None,
    metres: Sequence[float] = (100, 1000),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Inference:
    """Measure what the record of a crowd tells of its people, though it singles out none of them.

    Counts people whose home, whose work and whose place on some night lie in a published box of
    their record that is no wider and no higher than a length; the samples that do; and people whose
    whole crowd lives in one place. Everything is counted in whole cells and slots.

    Home and work are those of `utility`, in the original: the places with most samples from 22 to
    6 h, and from 9 to 17 h. They are shown by a box that meets these hours (one of its slots has
    its middle there) on any day; a night is shown by a box that holds a sample of the person at
    night. Shares are of people who have a home, or work, in the original. A box counts however long
    it lasts; what wider boxes tell together, or beside a map, is not counted.

    Parameters
    ----------
    pair
        The data before and after, and who became whom.
    tz
        The zone in which it is night, like Africa/Abidjan. Unless given, the zone that the original
        was read with (for synthetic data, that of its land); if it was read with none, UTC is
        assumed, with a warning.
    metres
        The lengths up to which a box is small; at least one cell.
    threads
        How many threads to use; all cores unless given. The result does not depend on it.
    progress
        Called with the number of steps done, and of all.

    Raises
    ------
    InputError
        If the original is empty, or nothing is published.
    ArgumentError
        If nobody knows who became whom, if the two do not lie on one grid, or if an option makes no
        sense.

    References
    ----------
    - Machanavajjhala et al., 2006: "l-Diversity: Privacy Beyond k-Anonymity", ICDE 2006, DOI
      10.1109/ICDE.2006.1; the homogeneity attack.
    - Article 29 Working Party, 2014: "Opinion 05/2014 on Anonymisation Techniques", WP216; the
      third of its three questions, inference.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=60, seed=7)
    >>> pair = incrowd.of_release(city, incrowd.glove(city, k=2))
    >>> found = incrowd.inference(pair, tz="Africa/Abidjan")
    >>> found.people, found.alone, found.at(100).home.of
    (60, 0, 60)
    >>> found.at(100).home.number <= found.at(1000).home.number
    True
    """
    pair = BeforeAfter.of(pair)
    before, after, known = pair.before, pair.after, pair.known
    became = pair.became
    assert became is not None  # noqa: S101  `known` has refused
    lengths = _checked(metres)
    if before.samples == 0:
        raise InputError("there is nothing to compare: the original has no samples")
    if after.samples == 0:
        raise InputError("there is nothing to compare: nothing is published")
    if bool(np.any(before.crowd != 1)):
        raise ArgumentError("the original must have one person a trajectory; this one has crowds")
    tz = zone_or_utc(tz, before)
    workers, stages = cores(threads), Stages(progress, STEPS, parts=1)
    stages.advance(0)
    profiles = mobility_profiles(centres_of(before, tz, workers), workers)
    spots = np.ascontiguousarray(
        profiles.whole[:, [*range(HOME, HOME + 3), *range(WORK, WORK + 3)]]
    )
    stages.advance()
    hours = _hours_of(after, find_zone(tz).key)
    stages.advance()
    cells = np.array([max(1, units_in(one, before.frame.cell)) for one in lengths], np.int64)
    finest, held = _finest(pair, became, spots, hours, cells, tz, workers)
    home, work = (known[spots[known, column] > 0] for column in (2, 5))
    alike = _homogeneous(became[home], spots[home, :2], cells)
    samples = int(before.lengths()[known].sum())
    disclosures = tuple(
        Disclosure(
            metres=one,
            cells=limit,
            side=limit * before.frame.cell,
            home=Share(int((finest[home, AT_HOME] <= limit).sum()), len(home)),
            work=Share(int((finest[work, AT_WORK] <= limit).sum()), len(work)),
            night=Share(int((finest[home, AT_NIGHT] <= limit).sum()), len(home)),
            samples=Share(int(held[i]), samples),
            homogeneous=Share(alike[i], len(home)),
        )
        for i, (one, limit) in enumerate(zip(lengths, cells.tolist(), strict=True))
    )
    stages.finish()
    alone = int((after.crowd[became[known]] == 1).sum())
    return Inference(tz, len(known), len(before) - len(known), alone, disclosures)


def _checked(metres: Sequence[float]) -> list[float]:
    """Give the lengths as plain numbers; refuse what are none."""
    try:
        found = [float(one) for one in metres]
    except (TypeError, ValueError):
        found = []
    if not found or not all(0 < one <= LONGEST for one in found):
        raise ArgumentError(
            f"metres is {metres!r}; give lengths above 0 and up to 40,000 km, like (100, 1000)"
        )
    return [int(one) if one.is_integer() else one for one in found]


def _finest(
    pair: BeforeAfter, became: Ints, spots: Ints, hours: NDArray[np.uint8], cells: Ints, tz: str,
    threads: int,
) -> tuple[Ints, Ints]:  # fmt: skip
    """Give the smallest box that shows each person's home, work and night; and count samples."""
    before, after = pair.before, pair.after
    reach, (sizes, _) = latest_ends(after.t1, after.offsets), sizes_of(after)
    finest = np.full((len(before), 3), UNSEEN, np.int64)
    zone = find_zone(tz).key

    def work(part: tuple[int, int]) -> Ints:
        here = slice(int(before.offsets[part[0]]), int(before.offsets[part[1]]))
        middle = before.t0[here].astype(np.int64) + before.t1[here]
        night = _during(hours_at(middle, before.frame.slot, before.frame.origin, zone), NIGHT)
        held = np.zeros(len(cells), np.int64)
        finest_boxes(
            *part, before.columns, before.offsets, became, after.columns, after.offsets, reach,
            sizes, hours, spots, night, cells, finest, held,
        )  # fmt: skip
        return held

    counts = list(on_threads(threads, work, blocks_of(before.offsets)))
    return finest, np.sum(counts, axis=0, dtype=np.int64)


def _homogeneous(crowd: Ints, homes: Ints, cells: Ints) -> list[int]:
    """Count people whose crowd lives in so many cells; homes are centres in half cells."""
    if not len(crowd):
        return [0] * len(cells)
    order = np.argsort(crowd, kind="stable")
    crowd, homes = crowd[order], homes[order]
    starts = np.flatnonzero(np.diff(crowd, prepend=-1))
    spread = np.maximum.reduceat(homes, starts) - np.minimum.reduceat(homes, starts)
    # From the outer edge of one cell to that of another, in half cells.
    wide = spread.max(axis=1) + 2
    people = np.diff(starts, append=len(crowd))
    return [int(people[wide <= 2 * limit].sum()) for limit in cells]


def _hours_of(data: Trajectories, zone: str) -> NDArray[np.uint8]:
    """Tell of every box whether it meets the night (bit 0) and working hours (bit 1)."""
    found = np.zeros(data.samples, np.uint8)
    runs = _runs(int(data.t0.min()), int(data.t1.max()), data.frame.slot, data.frame.origin, zone)
    for bit, (starts, ends) in enumerate(runs):
        if len(starts):
            # The first stretch of such hours that ends after the box starts, if there is one.
            at = np.searchsorted(ends, data.t0, side="right")
            meets = (at < len(ends)) & (starts[np.minimum(at, len(ends) - 1)] < data.t1)
            found |= meets.astype(np.uint8) << bit
    return found


def _runs(first: int, last: int, slot: int, origin: int, zone: str) -> list[tuple[Ints, Ints]]:
    """Give where stretches of slots at night start and end, and those in working hours.

    The hour of a slot is that of its middle.
    """
    edges: list[list[Ints]] = [[], []]
    inside = [False, False]
    for low in range(first, last, SLOTS):
        slots = np.arange(low, min(low + SLOTS, last))
        hour = hours_at(2 * slots + 1, slot, origin, zone)
        for i, hours in enumerate((NIGHT, WORKING)):
            there = _during(hour, hours)
            changes = np.flatnonzero(np.diff(there, prepend=inside[i]))
            edges[i].append(slots[changes])
            inside[i] = bool(there[-1])
    found = []
    for of, open_ended in zip(edges, inside, strict=True):
        every = np.concatenate([*of, np.array([last] if open_ended else [], np.int64)])
        found.append((every[::2], every[1::2]))
    return found


def _during(hour: NDArray[np.uint8], hours: tuple[int, int]) -> NDArray[np.bool_]:
    """Tell which hours of the day lie in some hours, over midnight as well."""
    early, late = hour >= hours[0], hour < hours[1]
    return early & late if hours[0] < hours[1] else early | late


def _words_of(found: Disclosure) -> list[str]:
    """Say what is told to within a length, of what somebody has."""
    far, said = found.within, []
    told = {
        "home": f"the record of their crowd shows the home to within {far}.",
        "work": f"the record of their crowd shows the place of work to within {far}.",
        "night": (
            f"the record of their crowd shows where they were on some night, to within {far}."
        ),
    }
    for name, what in told.items():
        share = getattr(found, name).share
        if share is not None:
            said.append(f"For {rounded_percent(share)} of people {what}")
    if found.samples.of:
        said.append(
            f"{rounded_percent(found.samples.share)} of samples lie in a published box of "
            f"at most {far}."
        )
    if found.homogeneous.of:
        said.append(
            f"{rounded_percent(found.homogeneous.share)} of people are in a crowd whose homes "
            f"all lie within {far}: whoever knows one of them knows all."
        )
    return said


def words_beside(found: Inference) -> list[str]:
    """Say of whom shares say nothing, and who is in no crowd at all."""
    said = []
    seen = {"22 to 6 h": ("home", "home"), "9 to 17 h": ("work", "place of work")}
    for hours, (name, what) in seen.items():
        never = found.people - getattr(found.disclosures[0], name).of
        if never:
            said.append(
                f"{count_of(never, found.people)} people were never seen from {hours}: they have "
                f"no {what} here, and shares of it leave them out."
            )
    if found.alone:
        said.append(f"{count_of(found.alone, found.people)} people have a record of their own.")
    return said
