"""Numbers of visits so large that products of them need all of 64 bits, or more.

The oracle counts in Python, where numbers have no end. Nobody makes these visits: they are handed
to the searches as counts.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from incrowd.attack._resolve import named
from incrowd.attack._risk import IndexedVisits, prepare
from incrowd.data._vectors import Vectors
from incrowd.errors import ArgumentError
from strategies import random_cases

COUNTED = ["frequency", "home_work", "proportion", "probability"]
MANY = 2**31 - 1
TOLERANCES = [0, 0.1, 0.5, 1, Fraction(1, 3), 0.25, 0.123456, 0.999999, 0.000001, 0.99]


def counted(people):
    """Lay out how often each person was where, as if it had been counted."""
    points = [naive.frequencies(own) for own in people]
    flat = [point for own in points for point in own]
    indexed = IndexedVisits(None, 1)
    indexed.places = Vectors(
        np.array([place for place, _ in flat]),
        np.array([number for _, number in flat]),
        np.cumsum([0, *map(len, points)]),
        np.array([own.total() for own in people]),
    )
    return indexed


def crowds(people, attack, k, **how):
    search, _ = prepare(named(attack, how), [k], counted(people))
    left, _ = search(np.arange(len(people)), np.full(len(people), -1, np.int32))
    return left[:, 0].tolist()


def expected(people, attack, k, **how):
    named_people = list(enumerate(people))
    return [naive.crowd_left(named_people, attack, k, i, **how) for i in range(len(people))]


def largest(people, attack, tolerance, *, relative):
    """Give the largest product that is compared."""
    if attack == "proportion":
        return 2 * max(max(own.values()) for own in people) ** 2 * tolerance.denominator
    if attack == "probability":
        square = max(own.total() for own in people) ** 2 * tolerance.denominator
        return 2 * square * (tolerance.denominator if relative else 1)
    return 0


@st.composite
def lives(draw, most):
    """Draw how often some people were at few places: alike, or nearly, or by far not."""
    some = st.one_of(
        st.integers(1, most), st.integers(1, 5), st.integers(0, 16).map(lambda i: max(1, most >> i))
    )
    base = draw(some)
    near = st.integers(-2, 2).map(lambda more: min(most, max(1, base + more)))
    doubled = st.sampled_from([base // 2, base // 9, base // 10, base - base // 10])
    number = st.one_of(some, near, doubled.map(lambda one: max(1, one)))
    person = st.dictionaries(st.integers(0, 4), number, min_size=1, max_size=4)
    return [Counter(one) for one in draw(st.lists(person, min_size=2, max_size=5))]


class TestLargeCounts:
    @pytest.mark.parametrize("attack", COUNTED)
    @given(
        people=st.sampled_from([10**3, 10**5, 10**6, 10**8, MANY // 5]).flatmap(lives),
        k=st.integers(1, 3),
        tolerance=st.sampled_from(TOLERANCES),
        relative=st.booleans(),
    )
    @random_cases(250)
    def test_are_compared_exactly_or_refused(self, attack, people, k, tolerance, relative):
        how = {"tolerance": tolerance, "relative": relative}
        exact = Fraction(str(tolerance))
        if largest(people, attack, exact, relative=relative) >= 2**62:
            with pytest.raises(ArgumentError, match="can be compared exactly"):
                crowds(people, attack, k, **how)
            return
        found = crowds(people, attack, k, **how)
        assert found == expected(people, attack, k, tolerance=exact, relative=relative)

    @given(people=lives(MANY // 5), attack=st.sampled_from(["frequency", "home_work"]))
    @random_cases(150)
    def test_as_many_or_more(self, people, attack):
        assert crowds(people, attack, 2) == expected(people, attack, 2)

    @given(people=lives(10**6), k=st.integers(1, 3))
    @random_cases(150)
    def test_with_a_tenth_millions_are_never_refused(self, people, k):
        for attack in ("proportion", "probability"):
            assert crowds(people, attack, k) == expected(people, attack, k)

    @pytest.mark.parametrize("number", [40_000, 46_340, 46_341, 50_000, 70_000, 1_000_000])
    @pytest.mark.parametrize("tolerance", [0, 0.000001, 0.1, 0.5])
    @pytest.mark.parametrize("relative", [False, True])
    def test_beyond_what_32_bits_hold_squared(self, number, tolerance, relative):
        people = [Counter({1: number, 2: 1}), Counter({1: number, 2: number})]
        assert crowds(people, "proportion", 2, tolerance=tolerance, relative=relative) == [1, 1]

    @pytest.mark.parametrize("relative", [False, True])
    def test_of_visits_that_were_made(self, relative):
        number = 50_000
        place = np.repeat([1, 2, 1, 2], [number, 1, number, number])
        rows = {"user": np.repeat([0, 1], [number + 1, 2 * number]), "place": place}
        visits = incrowd.Visits.from_rows(rows | {"time": np.arange(len(place))})
        found = incrowd.risk(visits, "proportion", 2, tolerance=0.1, relative=relative)
        assert found["risk"].to_list() == [1, 1]

    @pytest.mark.parametrize(
        ("attack", "people", "how"),
        [
            # 2^62 is passed by (b + a) (b - a) total, which in 64 bits would be near 0.
            ("probability", [{1: 18_446_744, 2: 9}] * 2, {"tolerance": 0.000001, "relative": True}),
            ("probability", [{1: 2_000_000}], {"tolerance": "0.000001"}),
            ("proportion", [{1: 2_000_000}], {"tolerance": 0.999999}),
            ("proportion", [{1: MANY}], {"tolerance": 0}),
            ("probability", [{1: MANY}], {}),
        ],
    )
    def test_too_large_are_refused_with_what_is_not(self, attack, people, how):
        with pytest.raises(ArgumentError, match=r"up to [\d,]+ can be compared exactly"):
            crowds([Counter(own) for own in people], attack, 2, **how)

    @pytest.mark.parametrize("attack", COUNTED)
    def test_the_largest_that_is_not_refused(self, attack):
        most = 480_191_941 if attack in ("proportion", "probability") else MANY
        people = [Counter({1: most}), Counter({1: most - 1}), Counter({1: most // 2, 2: 1})]
        found = crowds(people, attack, 2, tolerance=0.1)
        assert found == expected(people, attack, 2, tolerance=Fraction(1, 10))

    def test_a_tolerance_with_nine_decimals_is_refused_by_all(self):
        for name in COUNTED:
            with pytest.raises(ArgumentError, match="six decimals"):
                named(name, {"tolerance": 0.123456789})

    @given(people=lives(50_000), k=st.integers(1, 3))
    @random_cases(100)
    def test_as_often_as_that_they_are_points(self, people, k):
        found = crowds(people, "location", k)
        for own, left in zip(people, found, strict=True):
            points = list((own & Counter(dict.fromkeys(own, k))).elements())
            instances = set(naive.itertools.combinations(points, min(k, len(points))))
            assert left == min(
                sum(not Counter(part) - other for other in people) for part in instances
            )
