"""Distinct homes in every crowd: like the oracle, and true of what is published."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd.protect._glove import api
from incrowd.protect._glove.diverse import Homes
from protect.glove.test_glove import coarse, found
from strategies import random_cases


@contextlib.contextmanager
def living(homes):
    """Let people have these homes (None: none)."""
    square = np.array([-1 if home is None else home for home in homes], np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "homes_in", lambda *_: Homes(square, {}))
        yield


@st.composite
def diverse_cases(draw, **how):
    """Give a case for GLOVE, everybody's home, and how many distinct ones a crowd needs."""
    case = draw(strategies.cases(strategies.collisions(), **how))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    there = draw(st.integers(1, 6))
    rare = draw(st.sampled_from([1, 1, 0.5, 0.2]))
    never = draw(st.sampled_from([0, 0, 0.2, 0.6]))
    chance = rare ** np.arange(there)
    homes = rng.choice(there, len(case.data), p=chance / chance.sum()).tolist()
    homes = [None if rng.random() < never else home for home in homes]
    least = draw(st.integers(2, 5))
    note(f"homes = {homes}, least = {least}")
    return case, homes, least


def oracle(case, homes, least):
    people, crowd = naive.people_of(case.data), case.data.crowd.tolist()
    return naive.glove(people, *case[2:], case.settings, crowd, homes, least)


def expected(case, gloved):
    """Give what the oracle says in the form of `found`."""
    return {
        "merges": [(older, younger, float(cost)) for older, younger, cost in gloved.merges],
        "boxes": [(place, node.boxes) for place, node in enumerate(gloved.published)],
        "crowds": [node.crowd for node in gloved.published],
        "assignment": list(zip(case.data.people.to_list(), gloved.assignment, strict=True)),
        "losses": gloved.losses,
    }


def released(case, homes, least, **how):
    with living(homes):
        return incrowd.glove(case.data, **case.told(), **how, diverse=f"home:{least}")


class TestLikeTheOracle:
    @random_cases(2400)
    @given(diverse_cases())
    def test_always(self, drawn):
        assert found(released(*drawn)) == expected(drawn[0], oracle(*drawn))

    @random_cases(400)
    @given(diverse_cases(suppress=False), st.sampled_from([1, 2, 5]), st.integers(1, 6))
    def test_with_coarse_bounds_and_short_lists(self, drawn, regions, listed):
        case, homes, least = drawn
        with coarse(regions, regions, listed):
            assert found(released(case, homes, least)) == expected(case, oracle(*drawn))
        with coarse(regions, regions, listed):
            free = found(released(case, homes, least, bounds=False, threads=2, block=3))
        assert free == expected(case, oracle(*drawn))

    @random_cases(200)
    @given(strategies.cases(strategies.collisions()))
    def test_of_homes_that_are_all_distinct_only_their_number_matters(self, case):
        """Whoever has k people has as many homes, so that nothing changes for fewer of them."""
        people, crowd = naive.people_of(case.data), [1] * len(case.data)
        data = strategies.crowded([boxes for _, boxes in people], crowd)
        homes = list(range(len(data)))
        k = max(2, min(case.k, len(data)))
        if len(data) < 2:
            return
        told = case.told() | {"k": k}
        with living(homes):
            same = found(incrowd.glove(data, **told, diverse=f"home:{k}"))
        assert same == found(incrowd.glove(data, **told))


class TestWhatIsPublished:
    @random_cases(400)
    @given(diverse_cases(suppress=False))
    def test_every_crowd_has_its_homes_and_few_are_left_over(self, drawn):
        case, homes, least = drawn
        release = released(*drawn)
        place = release.assignment["trajectory"].to_list()
        for crowd in set(place) - {None}:
            here = {home for home, at in zip(homes, place, strict=True) if at == crowd}
            assert len(here - {None}) >= least
        left = [i for i, at in enumerate(place) if at is None]
        if case.variant == "strict":
            lacking = len({homes[i] for i in left} - {None}) < least
            assert lacking or sum(case.data.crowd[left]) < case.k
        elif len(left) < len(place):
            assert left == []
