"""Classes of risk and scores of predictions against the definitions of the paper."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from incrowd.errors import InputError
from incrowd.predict._scores import Scores
from incrowd.predict._training import CLASSES, levels
from strategies import random_cases

LEVEL = st.integers(0, 5)
PAIRS = st.lists(st.tuples(LEVEL, LEVEL), min_size=1, max_size=40)


class TestLevels:
    def test_example_of_the_paper(self):
        names = [CLASSES[i] for i in levels([1.0, 0.5, 1.0, 0.25, 0.03])]
        assert names == ["(0.5, 1]", "(0.3, 0.5]", "(0.5, 1]", "(0.2, 0.3]", "(0, 0.1]"]

    def test_every_crowd(self):
        """A risk is one over a crowd; ten people are a tenth, and not a little more."""
        crowds = np.arange(1, 3_000)
        assert levels(1 / crowds).tolist() == [naive.level(Fraction(1, int(n))) for n in crowds]

    def test_no_risk(self):
        assert levels([0.0]).tolist() == [0]

    @pytest.mark.parametrize("odd", [-0.1, 1.1, np.nan, np.inf])
    def test_refuses_what_is_no_risk(self, odd):
        with pytest.raises(InputError, match="from 0 to 1"):
            levels([0.5, odd])


class TestScores:
    @random_cases(800)
    @given(PAIRS)
    def test_are_those_of_the_paper(self, pairs):
        actual, guess = ([pair[i] for pair in pairs] for i in range(2))
        scores = Scores.of(np.array(actual), np.array(guess))
        assert scores.people == len(pairs)
        assert scores.accuracy == float(naive.accuracy(actual, guess))
        assert scores.f_measure == float(naive.f_measure(actual, guess))
        for name in ("recall", "precision"):
            found = getattr(scores, name)()
            for i in range(6):
                for j in range(6):
                    exact = getattr(naive, name)(actual, guess, i, j)
                    assert np.isnan(found[i, j]) if exact is None else found[i, j] == float(exact)

    @given(PAIRS)
    def test_who_is_told_a_lower_risk(self, pairs):
        scores = Scores.of(*(np.array(side) for side in zip(*pairs, strict=True)))
        assert scores.lower == float(Fraction(sum(b < a for a, b in pairs), len(pairs)))
        highest = [b for a, b in pairs if a == 5]
        if highest:
            assert scores.missed == float(Fraction(sum(b < 5 for b in highest), len(highest)))
        else:
            assert np.isnan(scores.missed)

    def test_says_it_in_a_line(self):
        scores = Scores.of(np.array([1, 5, 5]), np.array([1, 5, 4]))
        assert repr(scores) == "Scores(3 people, accuracy 0.667, F 0.778)"
