import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd.errors import ArgumentError
from incrowd.evaluate._analysis.anonymizability import LEVELS
from incrowd.measure._hardness import Causes, Hardest, Tail, Trait, distribution_of
from strategies import random_cases

COARSE = [(1000, 30), (20_000, 480)]


@pytest.fixture(scope="module")
def city():
    return incrowd.synthesize("city", users=130, seed=3)


@pytest.fixture(scope="module")
def whole(city):
    return incrowd.anonymizability(city, [2, 5], COARSE)


class TestAnonymizability:
    def test_tells_what_was_looked_at(self, city, whole):
        assert (whole.people, whole.samples, whole.k) == (130, city.samples, 2)
        assert (whole.cell_m, whole.slot_s) == (100, 60)
        assert [each.k for each in whole.gaps] == [2, 5]

    def test_gaps_are_those_of_k_gap(self, city, whole):
        for each in whole.gaps:
            gap = incrowd.k_gap(city, each.k)["k_gap"]
            assert each.mean == pytest.approx(gap.mean())
            assert each.median == pytest.approx(gap.median())
        gap = incrowd.k_gap(city)["k_gap"]
        for point, share in zip(whole.points, whole.distribution, strict=True):
            assert share == pytest.approx((gap <= point).mean())

    @random_cases(25)
    @given(strategies.collisions(max_crowd=1), st.sampled_from([(100, 1), (200, 3), (500, 60)]))
    def test_levels_are_those_of_generalised_people(self, data, grid):
        [level] = incrowd.anonymizability(data, [2], [grid]).levels
        coarse, _ = naive.generalised(naive.placed_samples(data), data.frame, *grid)
        people = [(user, [box for box, _ in samples]) for user, _, samples in coarse]
        gaps = [float(gap.k_gap) for [gap] in naive.k_gaps(people, [2])]
        records = [boxes for _, boxes in people]
        assert (level.metres, level.minutes) == grid
        assert level.samples == sum(map(len, records))
        assert level.hidden == sum(records.count(one) > 1 for one in records) / len(records)
        assert level.distribution == distribution_of(np.array(gaps))
        assert level.median == np.median(gaps)
        assert level.mean == pytest.approx(np.mean(gaps))

    def test_does_not_depend_on_threads_nor_on_what_is_known(self, city, whole):
        gaps = incrowd.k_gap(city, [2, 5])
        known = incrowd.anonymizability(
            city, [5, 2], COARSE, gaps=gaps, causes=incrowd.dispersion(city), threads=2
        )
        assert known == whole

    def test_of_a_release_is_that_of_everybody_in_its_crowds(self, city):
        release = incrowd.glove(city[:60], 3).trajectories
        each = release[np.repeat(np.arange(len(release)), release.crowd)]
        alone = incrowd.Trajectories(each.columns, each.offsets, each.frame, people=each.people)
        found = incrowd.anonymizability(release, [2, 5], COARSE)
        assert found == incrowd.anonymizability(alone, [2, 5], COARSE)
        assert (found.people, found.causes.already_hidden) == (release.crowd.sum(), 1)
        assert found.words()[0].startswith("Everybody is hidden already")

    def test_goes_into_json(self, whole):
        again = json.loads(json.dumps(whole.as_dict(), allow_nan=False))
        assert again["words"] == list(whole.words())
        assert again["causes"]["time"]["heavy"] == whole.causes.time.heavy
        assert len(again["distribution"]) == len(again["points"]) == 101

    def test_counts_people_once_for_each_search(self, city):
        told = []
        incrowd.anonymizability(city, [2], COARSE, progress=lambda *how: told.append(how))
        assert told == sorted(told)
        assert {whole for _, whole in told} == {4 * 130}
        assert told[-1] == (4 * 130, 4 * 130)


class TestDefaults:
    def test_crowds_are_as_many_as_people_can_make(self):
        data = incrowd.synthesize("city", users=12, seed=3)
        found = incrowd.anonymizability(data, levels=())
        assert [each.k for each in found.gaps] == [2, 3, 5, 10]
        assert found.levels == ()

    def test_levels_are_those_of_the_figure(self):
        data = strategies.crowded([[(i, i + 1, 0, 1, i, i + 1)] for i in range(4)])
        found = incrowd.anonymizability(data, [2])
        assert [(level.metres, level.minutes) for level in found.levels] == list(LEVELS)
        assert [level.hidden for level in found.levels] == [0] + [1] * 5

    def test_levels_are_those_that_the_grid_divides_and_the_grid_itself(self):
        rows = {"user": [1, 2], "x0": [0, 1], "y0": [0, 0], "t0": [0, 1]}
        data = incrowd.Trajectories.from_boxes(rows, incrowd.Frame(cell=500, slot=1800))
        found = incrowd.anonymizability(data, [2])
        assert [(level.metres, level.minutes) for level in found.levels] == [
            (500, 30), (1000, 30), (2500, 60), (5000, 120), (10_000, 240), (20_000, 480),
        ]  # fmt: skip


class TestWrongUse:
    def test_one_person(self):
        data = strategies.crowded([[(0, 1, 0, 1, 0, 1)]])
        with pytest.raises(ArgumentError, match="a crowd of 2 needs as many people"):
            incrowd.anonymizability(data)

    def test_no_k(self, city):
        with pytest.raises(ArgumentError, match="no k was given"):
            incrowd.anonymizability(city, [])

    @pytest.mark.parametrize("levels", [[(50, 1)], [(150, 1)], [(0, 1)], [("x", 1)]])
    def test_levels_that_do_not_fit(self, city, levels):
        with pytest.raises(ArgumentError):
            incrowd.anonymizability(city, [2], levels, gaps=incrowd.k_gap(city))

    def test_gaps_of_other_crowds_or_people(self, city):
        for gaps in (incrowd.k_gap(city, [2, 3]), incrowd.k_gap(city[:20], [2, 5])):
            with pytest.raises(ArgumentError, match=r"gaps are what incrowd\.k_gap gave"):
                incrowd.anonymizability(city, [2, 5], (), gaps=gaps)


def said(people, **how):
    how = {"ks": [2], "levels": ()} | how
    return " ".join(incrowd.anonymizability(strategies.crowded(people), **how).words())


def apart(dx, dt, n=12):
    """Make people with three samples each, so far from one to the next in space and in time."""
    return [
        [
            (i * dx + j, i * dx + j + 1, 0, 1, 600 * j + i * dt, 600 * j + i * dt + 1)
            for j in range(3)
        ]
        for i in range(n)
    ]


class TestWords:
    def test_of_a_city(self, whole):
        text = " ".join(whole.words())
        times = whole.gaps[1].median / whole.gaps[0].median
        assert text.startswith("Nobody of 130 people shares a record with another.")
        assert f"The median k-gap among 5 is {times:.1f} times that among 2." in text
        assert "Coarser data alone does not do it: even a grid of 20 km and 8 h" in text
        assert "Time gives people away" in text
        assert "The hardest tenth (13 people)" in text

    def test_when_everybody_is_hidden_say_no_more(self):
        walk = [(0, 1, 0, 1, 3, 4), (1, 2, 0, 1, 9, 10)]
        assert said([walk] * 12) == (
            "Everybody is hidden already: each of 12 people shares a record with another."
        )
        assert said([walk] * 12, ks=[3]).endswith("shares a record with 2 others.")

    def test_when_some_are_hidden(self):
        text = said([*[[(0, 1, 0, 1, 0, 1)]] * 9, *apart(0, 3, 3)])
        assert text.startswith("75% of 12 people share a record with another; the rest do not.")
        assert "The median person has nothing to lose; what follows is about the others." in text

    def test_a_k_gap_is_no_price_of_a_crowd(self):
        far = [[(i * 500, i * 500 + 1, 0, 1, 0, 1)] for i in range(40)]
        text = said(far, ks=[2, 10])
        assert "The median k-gap among 10 is 1.0 times that among 2." in text
        assert "is no price of a crowd of 10, which costs more" in text

    def test_when_only_time_costs(self):
        assert "Time alone gives people away" in said(apart(0, 7))

    def test_when_only_space_costs(self):
        assert "Space alone gives people away" in said(apart(7, 0))

    def test_when_space_costs_more(self):
        text = said([*apart(20, 1, 11), *apart(0, 7, 1)])
        assert "Space gives people away: for 100%" in text

    def test_when_both_cost(self):
        far = [
            [(x0 + 5000, x1 + 5000, y0, y1, t0, t1) for x0, x1, y0, y1, t0, t1 in one]
            for one in apart(7, 0, 6)
        ]
        assert "Both time and space give people away: time costs more than space for 50%" in said(
            [*apart(0, 7, 6), *far]
        )

    def test_when_people_are_few(self):
        text = said(apart(1, 7, 4))
        assert "With 4 people there is hardly a crowd to hide in" in text
        assert "the group is so small that it would describe single people" in text

    def test_when_a_grid_hides_them(self):
        assert "A grid of 1 km and 30 min hides 100% of them." in said(
            [[(i, i + 1, 0, 1, i, i + 1)] for i in range(4)], levels=[(1000, 30), (20_000, 480)]
        )

    def test_when_everybody_has_one_sample(self):
        assert "Everybody has one sample" in said([[(i, i + 1, 0, 1, i, i + 1)] for i in range(4)])

    def test_when_the_hardest_are_as_the_others(self, whole):
        alike = Hardest(13, 117, (Trait("samples", "samples", 100.0, 101.0),))
        text = dataclasses.replace(whole, hardest=alike).words()[-1]
        assert text == (
            "The hardest tenth (13 people) are seen as often, as regularly and in as wide an area "
            "as the others."
        )

    @pytest.mark.parametrize(
        ("tail", "text"),
        [
            (Tail(0.2, 0.8, 0, 2.0, 0.6), "for 80% of people the efforts have a heavy tail"),
            (Tail(0.8, 0.2, 0, 1.0, 0.6), "0.60; for 20% of people the efforts have a heavy tail"),
            (Tail(0.8, 0.2, 0, 1.0, 0.2), "The cost is spread over all samples of a person"),
        ],
    )
    def test_of_tails(self, whole, tail, text):
        causes: Causes = dataclasses.replace(whole.causes, total=tail)
        assert text in " ".join(dataclasses.replace(whole, causes=causes).words())

    def test_have_no_figure_of_a_small_group(self):
        rng = np.random.default_rng(3)
        people = [[(int(x), int(x) + 1, 0, 1, 5, 6)] for x in rng.integers(0, 99, 30)]
        found = incrowd.anonymizability(strategies.crowded(people), [2], ())
        assert found.hardest is None
