"""Costs are compared as the fractions that they are."""

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.measure._stretch import index

LARGE = 2**62
tops, bottoms = st.integers(0, LARGE), st.integers(1, LARGE)
fractions = st.tuples(tops, bottoms)


class TestComparing:
    @given(fractions, fractions)
    @example((0, 1), (0, 7))
    @example((1, 2), (2, 4))
    @example((1, 3), (333_333_333_333, 10**12))
    @example((3, 4), (2, 3))
    @example((LARGE - 1, LARGE), (LARGE - 2, LARGE - 1))
    def test_is_that_of_fractions(self, one, two):
        a, b = Fraction(*one), Fraction(*two)
        assert index.compare_fractions.py_func(*one, *two) == (a > b) - (a < b)

    @given(fractions, st.integers(1, 50))
    def test_equal_fractions_are_equal(self, one, times):
        top, bottom = one[0] // times, max(1, one[1] // times)
        two = (top * times, bottom * times)
        assert index.compare_fractions.py_func(top, bottom, *two) == 0
