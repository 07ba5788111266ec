"""Bounds of boxes are no more than what boxes cost: compared one by one, in plain Python."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from incrowd.measure._stretch import lower_bounds
from strategies import random_cases

SMALL = 1e-9
crowds = st.integers(1, 5)
spans = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda at: (at[0], sum(at)))
slots = st.integers(0, 30).map(lambda at: (at, at + 1))
samples = st.one_of(
    st.lists(slots, min_size=1, max_size=4), st.lists(spans, min_size=1, max_size=4)
)


def around(a, b):
    return max(a[1], b[1]) - min(a[0], b[0])


def length(a):
    return a[1] - a[0]


def gap(at, b):
    return max(0, b[0] - at, at - (b[1] - 1))


class TestTime:
    @random_cases(1500)
    @given(spans, crowds, samples, crowds, st.integers(2, 40))
    def test_costs_no_less(self, box, na, others, nb, most):
        n, middle = na + nb, (box[0] + box[1] - 1) // 2
        least = min(min(most, gap(middle, b) + Fraction(length(b) - 1, 1 + nb)) for b in others)
        exact = min(
            min(most, Fraction(n * around(box, b) - na * length(box) - nb * length(b), n))
            for b in others
        )
        is_unit = all(length(b) == 1 for b in others)
        mine, tilt = na / n, (nb - na) / (2 * n)
        time_bound = lower_bounds.time_bound.py_func
        long = float(length(box) - 1)
        bound = time_bound(float(int(least)), long, mine, tilt, nb, is_unit, float(most))
        assert 0 <= bound <= exact + SMALL


class TestSpace:
    @random_cases(1500)
    @given(
        spans,
        spans,
        crowds,
        st.lists(st.tuples(spans, spans), min_size=1, max_size=4),
        crowds,
        st.integers(2, 40),
        st.data(),
    )
    def test_costs_no_less(self, x, y, na, others, nb, most, data):
        n, extent = na + nb, length(x) + length(y)
        at = data.draw(st.integers(x[0], x[1] - 1)), data.draw(st.integers(y[0], y[1] - 1))
        if data.draw(st.booleans()):
            others = [((a[0], a[0] + 1), (b[0], b[0] + 1)) for a, b in others]
        least = min(
            min(most, gap(at[0], a) + gap(at[1], b) + Fraction(length(a) + length(b) - 2, 1 + nb))
            for a, b in others
        )
        exact = min(
            min(
                most,
                Fraction(
                    n * (around(x, a) + around(y, b)) - na * extent - nb * (length(a) + length(b)),
                    n,
                ),
            )
            for a, b in others
        )
        is_unit = all(length(a) == length(b) == 1 for a, b in others)
        space_bound = lower_bounds.space_bound.py_func
        bound = space_bound(float(int(least)), float(extent - 2), na / n, is_unit, float(most))
        assert 0 <= bound <= exact + SMALL
