"""Frequency and probability vectors, one person at a time."""

from fractions import Fraction

import pytest
from hypothesis import given

import naive
from strategies import as_visits, visited


class TestVectors:
    @given(rows=visited())
    def test_of_one_person_are_those_of_the_oracle(self, rows):
        vectors = as_visits(rows).frequencies()
        people = naive.from_rows(rows)
        assert len(vectors) == len(people)
        for mine, (_, own) in zip(vectors, people, strict=True):
            wanted = naive.frequencies(own)
            assert len(mine) == len(wanted)
            assert list(zip(mine.place, mine.visits, strict=True)) == wanted
            parts = [float(Fraction(number, len(own))) for _, number in wanted]
            assert mine.probability.tolist() == parts

    def test_count_people_from_the_end_as_well(self):
        vectors = as_visits([(0, 5, 0), (1, 6, 0), (1, 6, 1)]).frequencies()
        assert vectors[-1].visits.tolist() == [2]
        for index in (2, -3):
            with pytest.raises(IndexError):
                vectors[index]

    def test_say_what_they_are(self):
        vectors = as_visits([(0, 5, 0), (1, 6, 0), (1, 6, 1)]).frequencies()
        assert repr(vectors) == "Vectors(2 people, 2 places of theirs, 3 visits)"
        assert repr(vectors[1]) == "PersonVector(places: 1, visits: 2)"
