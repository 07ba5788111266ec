"""Rows of a comparison that tell what is left of the data, and what that takes."""

from collections.abc import Callable

from incrowd.evaluate._compare.context import Context
from incrowd.evaluate._compare.measure import COST, USEFUL, Measure
from incrowd.evaluate._compare.private import NOBODY

__all__ = ["USEFUL_ROWS"]


SAMPLES, GRAIN = "People and samples", "Published samples"
PERSONS, TOGETHER = "Each person", "Everybody together"


def _error(axis: str, figure: str) -> Callable[[Context], float | str]:
    def error(found: Context) -> float | str:
        known = getattr(found.stand_ins, axis)
        return "nothing stands for any sample" if known is None else float(getattr(known, figure))

    return error


def _size(axis: str) -> Callable[[Context], float | str]:
    def size(found: Context) -> float | str:
        known = getattr(found.accuracy, axis)
        return "nothing is published" if known is None else float(known.median)

    return size


def _discarded(found: Context) -> float:
    return found.accuracy.people_dropped / found.accuracy.people


def _deleted(found: Context) -> float:
    return found.stand_ins.deleted / found.stand_ins.samples


def _created(found: Context) -> float:
    return found.stand_ins.created / found.stand_ins.samples


def _loss(found: Context) -> float:
    return 1 - found.stand_ins.near / found.stand_ins.samples


def _held(found: Context) -> float | str:
    deleted = found.accuracy.deleted
    return "it is not known who became whom" if deleted is None else 1 - deleted


def _unwitnessed(found: Context) -> float | str:
    unseen, rows = found.accuracy.rows_unseen, found.accuracy.rows
    return unseen / rows if unseen is not None and rows else "nothing is published"


def _found(place: str) -> Callable[[Context], float | str]:
    def share(found: Context) -> float | str:
        errors = getattr(found.utility.persons, place)
        known = errors.found_within(1)
        return NOBODY if known is None else float(known)

    return share


def _twofold(measure: str) -> Callable[[Context], float | str]:
    def share(found: Context) -> float | str:
        known = getattr(found.utility.persons, measure).twofold
        return "it is 0 for everybody in the original" if known is None else float(known)

    return share


def _moved(what: str) -> Callable[[Context], float | str]:
    def share(found: Context) -> float | str:
        together = found.utility.together
        if what == "flows" and not together.flows.before:
            return "the original has no trips"
        return float(getattr(together, what).moved)

    return share


def _trips(found: Context) -> float | str:
    flows = found.utility.together.flows
    return flows.after / flows.before if flows.before else "the original has no trips"


def _rank(found: Context) -> float | str:
    known = found.utility.together.rank_correlation
    return "there are fewer than two different squares" if known is None else float(known)


def _seconds(found: Context) -> float | str:
    return "it was not timed" if found.seconds is None else found.seconds


def _memory(found: Context) -> float | str:
    said = "this system does not tell the peak of a process again and again"
    return said if found.memory is None else found.memory


USEFUL_ROWS = (
    Measure(
        key="loss",
        group=USEFUL,
        section=SAMPLES,
        label="samples lost, or far off",
        unit="share",
        better="less",
        help=(
            "True samples that are deleted, or for which a published sample stands that is "
            "more than 1 km or more than 1 h off."
        ),
        of=_loss,
    ),
    Measure(
        key="discarded",
        group=USEFUL,
        section=SAMPLES,
        label="people discarded",
        unit="share",
        better="less",
        help="People of the original who are not published.",
        of=_discarded,
    ),
    Measure(
        key="deleted",
        group=USEFUL,
        section=SAMPLES,
        label="samples deleted",
        unit="share",
        better="less",
        help=(
            "True samples for which no published one stands, those of people who are "
            "discarded among them."
        ),
        of=_deleted,
    ),
    Measure(
        key="created",
        group=USEFUL,
        section=SAMPLES,
        label="samples created",
        unit="share",
        better="less",
        help=(
            "Published samples that stand for no true one, for each 100 true ones; they count "
            "once for each person who has them in her record."
        ),
        of=_created,
    ),
    Measure(
        key="position_error_mean",
        group=USEFUL,
        section=SAMPLES,
        label="position error, mean",
        unit="m",
        better="less",
        help=(
            "How far a true sample that is not deleted lies off: from its centre to that of "
            "the published sample that stands for it."
        ),
        of=_error("position", "mean"),
    ),
    Measure(
        key="position_error_median",
        group=USEFUL,
        section=SAMPLES,
        label="position error, median",
        unit="m",
        better="less",
        help=(
            "How far a true sample that is not deleted lies off: from its centre to that of "
            "the published sample that stands for it."
        ),
        of=_error("position", "median"),
    ),
    Measure(
        key="time_error_mean",
        group=USEFUL,
        section=SAMPLES,
        label="time error, mean",
        unit="min",
        better="less",
        help=(
            "How far a true sample that is not deleted lies off: from its middle to that of "
            "the published sample that stands for it."
        ),
        of=_error("time", "mean"),
    ),
    Measure(
        key="time_error_median",
        group=USEFUL,
        section=SAMPLES,
        label="time error, median",
        unit="min",
        better="less",
        help=(
            "How far a true sample that is not deleted lies off: from its middle to that of "
            "the published sample that stands for it."
        ),
        of=_error("time", "median"),
    ),
    Measure(
        key="unwitnessed",
        group=USEFUL,
        section=SAMPLES,
        label="unwitnessed samples",
        unit="share",
        better="less",
        help="Published samples at whose place and time nobody of their people was seen.",
        of=_unwitnessed,
    ),
    Measure(
        key="held",
        group=USEFUL,
        section=SAMPLES,
        label="true samples in a published one",
        unit="share",
        better="more",
        help=(
            "True samples that lie in a published sample of their person, in place and in "
            "time: for those, the record says what is true."
        ),
        of=_held,
    ),
    Measure(
        key="wide",
        group=USEFUL,
        section=GRAIN,
        label="width, median",
        unit="m",
        better=None,
        help=(
            "How wide or high a published sample is, the longer of the two. No mark: a point "
            "that was moved is narrow, and wrong."
        ),
        of=_size("space"),
    ),
    Measure(
        key="long",
        group=USEFUL,
        section=GRAIN,
        label="length, median",
        unit="min",
        better=None,
        help="How long a published sample is. No mark, for the same reason.",
        of=_size("time"),
    ),
    Measure(
        key="home",
        group=USEFUL,
        section=PERSONS,
        label="home found within 1 km",
        unit="share",
        better="more",
        help=(
            "People for whom the place in the release lies within 1 km of that in the "
            "original, of all who have one in the original."
        ),
        of=_found("home"),
    ),
    Measure(
        key="work",
        group=USEFUL,
        section=PERSONS,
        label="workplace found within 1 km",
        unit="share",
        better="more",
        help=(
            "People for whom the place in the release lies within 1 km of that in the "
            "original, of all who have one in the original."
        ),
        of=_found("work"),
    ),
    Measure(
        key="centre_of_mass",
        group=USEFUL,
        section=PERSONS,
        label="centre of mass within 1 km",
        unit="share",
        better="more",
        help=(
            "People for whom the place in the release lies within 1 km of that in the "
            "original, of all who have one in the original."
        ),
        of=_found("centre_of_mass"),
    ),
    Measure(
        key="travelled",
        group=USEFUL,
        section=PERSONS,
        label="travel distance, right to 2",
        unit="share",
        better="more",
        help=(
            "People whose travel distance in the release is between half and twice that in "
            "the original, of those published for whom it is not 0 there."
        ),
        of=_twofold("travelled"),
    ),
    Measure(
        key="gyration",
        group=USEFUL,
        section=PERSONS,
        label="radius of gyration, right to 2",
        unit="share",
        better="more",
        help=(
            "People whose radius of gyration in the release is between half and twice that in "
            "the original, of those published for whom it is not 0 there."
        ),
        of=_twofold("gyration"),
    ),
    Measure(
        key="hull",
        group=USEFUL,
        section=PERSONS,
        label="area of the hull, right to 2",
        unit="share",
        better="more",
        help=(
            "People whose area of the hull in the release is between half and twice that in "
            "the original, of those published for whom it is not 0 there."
        ),
        of=_twofold("hull"),
    ),
    Measure(
        key="trips",
        group=USEFUL,
        section=TOGETHER,
        label="trips left",
        unit="share",
        better=None,
        help=(
            "Trips in the release for each one in the original. No mark: made-up samples make "
            "trips."
        ),
        of=_trips,
    ),
    Measure(
        key="flows",
        group=USEFUL,
        section=TOGETHER,
        label="flows that are wrong",
        unit="share",
        better="less",
        help=(
            "Trips of the release that would have to start or end in another square to be "
            "spread as in the original."
        ),
        of=_moved("flows"),
    ),
    Measure(
        key="population",
        group=USEFUL,
        section=TOGETHER,
        label="people by hour that are wrong",
        unit="share",
        better="less",
        help=(
            "Hours that people spend in a square that would have to be spent in another, or "
            "at another time of the day."
        ),
        of=_moved("population"),
    ),
    Measure(
        key="visits",
        group=USEFUL,
        section=TOGETHER,
        label="samples in wrong squares",
        unit="share",
        better="less",
        help="Samples that would have to be in another square to be spread as in the original.",
        of=_moved("visits"),
    ),
    Measure(
        key="busy",
        group=USEFUL,
        section=TOGETHER,
        label="busy squares: rank correlation",
        unit="correlation",
        better="more",
        help="1: squares are as busy, one after the other, as in the original; 0: no relation.",
        of=_rank,
    ),
    Measure(
        key="seconds",
        group=COST,
        section="Time and memory",
        label="time for the mechanism",
        unit="s",
        better="less",
        help=(
            "Seconds by the clock from data in memory to the protected data in memory; the "
            "first run on a machine includes compiling."
        ),
        of=_seconds,
    ),
    Measure(
        key="memory",
        group=COST,
        section="Time and memory",
        label="peak of memory",
        unit="bytes",
        better="less",
        help=(
            "The most memory that this process had while the mechanism ran, the data and "
            "Python itself included."
        ),
        of=_memory,
    ),
)
