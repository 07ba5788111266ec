"""Everybody's home, as the oracle finds it: for what is made, and for who verifies it."""

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import strategies
from incrowd import Frame
from incrowd.evaluate._verify import diversity
from incrowd.measure import _centres
from strategies import random_cases

NIGHT = (*range(22, 24), *range(6))
ZONES = ("UTC", "Africa/Abidjan", "Europe/Paris", "Asia/Kathmandu", "America/St_Johns")


@st.composite
def people(draw):
    """Give boxes of a few people around nightfall and dawn, and a zone."""
    origin = draw(st.sampled_from([0, 20 * 3600, 1_332_637_200 + 1800]))
    frame = Frame(slot=draw(st.sampled_from([1800, 3600, 7000])), origin=origin)
    data = draw(strategies.trajectories(frame=frame, min_people=1, slots=20))
    return data, draw(st.sampled_from(ZONES))


@random_cases(400)
@given(people(), st.integers(1, 4))
def test_homes_are_those_of_the_oracle(drawn, side):
    data, tz = drawn
    boxes = [boxes for _, boxes in naive.people_of(data)]
    expected = [naive.popular_place(each, NIGHT, data.frame, tz) for each in boxes]
    for block in (_centres.BLOCK, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_centres, "BLOCK", block)
            patch.setattr(diversity, "BLOCK", block)
            found = _centres.homes_of(_centres.centres_of(data, tz, 2), 2).tolist()
            stated = diversity._Stated(2, side, tz, "")
            verified = pl.concat(list(diversity._homes(data, stated))).rows()
        homes = [(Fraction(x, 2), Fraction(y, 2)) if seen else None for x, y, seen in found]
        assert homes == expected
        squares = [
            (person, home[0] // side, home[1] // side)
            for person, home in enumerate(expected)
            if home is not None
        ]
        assert sorted(verified) == squares
