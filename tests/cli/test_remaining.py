"""An estimate is of the right size, or there is none."""

import math

import pytest

from incrowd.cli._remaining import RemainingTime, in_words

ALL, END = 10_000, 300.0


def estimates(done_at):
    """Give, second for second, what was estimated and what was true."""
    rest, found = RemainingTime(), []
    for second in range(1, int(END)):
        seconds = rest.update(int(ALL * done_at(second / END)), ALL, now=float(second))
        if seconds is not None:
            found.append((seconds, END - second))
    return found


@pytest.mark.parametrize(
    "done_at",
    [
        lambda t: t,
        lambda t: t**2,
        lambda t: t**3,
        lambda t: math.expm1(8 * t) / math.expm1(8),
        lambda t: t**0.5,
        lambda t: math.expm1(-3 * t) / math.expm1(-3),
        lambda t: 0.02 * t / 0.9 if t < 0.9 else 0.02 + 9.8 * (t - 0.9),
    ],
    ids=["steady", "square", "cube", "exponential", "root", "slowing", "two stages"],
)
def test_is_never_off_by_much(done_at):
    # In the last seconds a factor says nothing.
    wrong = [(said, true) for said, true in estimates(done_at) if true > 10]
    assert all(true / 4 < said < 4 * true for said, true in wrong)


def test_of_steady_work_is_right_and_soon_there():
    found = estimates(lambda t: t)
    assert len(found) > 0.9 * END
    assert all(abs(said - true) < 2 for said, true in found)


def test_says_nothing_while_the_rate_changes_a_lot():
    assert estimates(lambda t: math.expm1(12 * t) / math.expm1(12)) == []


def test_begins_anew_with_another_round():
    rest = RemainingTime()
    for second in range(60):
        rest.update(second, 60, now=float(second))
    assert rest.update(1, 60, now=61.0) is None


@pytest.mark.parametrize(("seconds", "words"), [(45, "45 s"), (5400, "90 min"), (36000, "10.0 h")])
def test_is_said_as_one_would(seconds, words):
    assert in_words(seconds) == words
