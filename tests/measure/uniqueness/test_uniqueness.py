"""Traces and uniqueness, against the oracle with the same draws and by hand."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from incrowd.errors import ArgumentError, InputError
from incrowd.measure._uniqueness import encoding, exhaustive, inverted_index
from incrowd.measure._uniqueness.encoding import KINDS, join_sensors, kinds_of, points_of
from incrowd.measure._uniqueness.estimate import _draw
from strategies import as_visits, random_cases, visited

HOW = {"kind": st.sampled_from(KINDS), "precision": st.integers(1, 3), "met": st.integers(1, 3)}


class TestPoints:
    @given(rows=visited(most_visits=9), **HOW)
    @random_cases(600)
    def test_are_the_distinct_ones_counted(self, rows, kind, precision, met):
        found = points_of(as_visits(rows), kind, precision=precision, met=met)
        expected = traces(rows, kind, precision, met)
        weights = [
            found.weight[found.cuts[i] : found.cuts[i + 1]].tolist() for i in range(len(found))
        ]
        assert weights == [[one[point] for point in sorted(one)] for one in expected]
        assert_same_points(found, expected)

    @given(rows=visited(), **HOW)
    @random_cases(50)
    def test_numbers_far_apart_are_counted(self, rows, kind, precision, met):
        far = [(user, place * 2**60, time) for user, place, time in rows]
        near, wide = (points_of(as_visits(one), kind, precision=precision, met=met)
                      for one in (rows, far))  # fmt: skip
        assert wide.cuts.tolist() == near.cuts.tolist()
        assert_same_points(wide, traces(rows, kind, precision, met))

    @given(rows=visited(most_people=9), **HOW)
    @random_cases(50)
    def test_threads_and_blocks_do_not_matter(self, rows, kind, precision, met):
        visits = as_visits(rows)
        one = points_of(visits, kind, precision=precision, met=met)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(encoding, "BLOCK", 2)
            two = points_of(visits, kind, precision=precision, met=met, threads=3)
        assert (one.code.tolist(), one.cuts.tolist()) == (two.code.tolist(), two.cuts.tolist())

    @given(rows=visited(most_people=5), precision=st.integers(1, 3), met=st.integers(1, 3))
    @random_cases(100)
    def test_of_all_kinds_at_once_are_those_of_each(self, rows, precision, met):
        how = {"precision": precision, "met": met}
        found = dict(kinds_of(as_visits(rows), **how))
        assert list(found) == list(KINDS)
        for kind, laid in found.items():
            alone = points_of(as_visits(rows), kind, **how)
            for name in ("code", "weight", "cuts"):
                assert getattr(laid, name).tolist() == getattr(alone, name).tolist()

    def test_refuses_times_too_far_apart(self):
        visits = as_visits([(1, 0, -(2**62)), (1, 1, 2**62)])
        with pytest.raises(InputError, match="too many for 64-bit codes"):
            points_of(visits)


def traces(rows, kind, precision, met):
    people = naive.from_rows(rows)
    return [naive.trace(visits, kind, precision, met) for _, visits in people]


def assert_same_points(found, expected):
    """Codes are any numbers, as long as they are the same for the same points, and in order."""
    names = {}
    for i, one in enumerate(expected):
        codes = found.code[found.cuts[i] : found.cuts[i + 1]].tolist()
        for code, point in zip(codes, sorted(one), strict=True):
            assert names.setdefault(code, point) == point
    assert len(set(names.values())) == len(names)


class TestProbabilistic:
    @given(rows=visited(), p=st.integers(1, 5), seed=st.integers(0, 9), **HOW)
    @random_cases(1200)
    def test_counts_the_crowds_of_its_draws(self, rows, p, seed, kind, precision, met):
        visits = as_visits(rows)
        how = {"precision": precision, "met": met}
        found = incrowd.uniqueness(visits, p, kind=kind, draws=20, seed=seed, threads=1, **how)
        all_of_them = traces(rows, kind, precision, met)
        laid = points_of(visits, kind, **how)
        names = dict(
            zip(
                laid.code.tolist(), [point for one in all_of_them for point in sorted(one)],
                strict=True,
            )
        )  # fmt: skip
        who, codes = _draw(laid, p, 20, None, seed)
        crowds = []
        for person, row in zip(who.tolist(), codes.tolist(), strict=True):
            drawn = [names[code] for code in row]
            assert len(set(drawn)) == p
            assert set(drawn) <= set(all_of_them[person])
            crowds.append(naive.crowd_of(all_of_them, drawn))
        able = sum(len(one) >= p for one in all_of_them)
        [row] = found.table.to_dicts()
        assert (row["people"], row["left_out"]) == (able, len(all_of_them) - able)
        assert row["trials"] == len(crowds) == (20 if able else 0)
        assert row["unique"] == sum(crowd == 1 for crowd in crowds)
        if crowds:
            assert row["share"] == row["unique"] / 20
            assert (row["low"], row["high"]) == pytest.approx(naive.wilson(row["unique"], 20))
        sizes = found.crowds.select("crowd", "trials").rows()
        assert sizes == sorted((size, crowds.count(size)) for size in set(crowds))

    @given(rows=visited(most_people=9), p=st.integers(1, 3), kind=st.sampled_from(KINDS))
    @random_cases(100)
    def test_neither_threads_nor_bits_matter(self, rows, p, kind):
        visits = as_visits(rows)
        one = incrowd.uniqueness(visits, p, kind=kind, met=1, draws=50, threads=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(inverted_index, "DENSE", 1)
            patch.setattr(inverted_index, "TRIALS", 3)
            patch.setattr(inverted_index, "BLOCK", 2)
            two = incrowd.uniqueness(visits, p, kind=kind, met=1, draws=50, threads=3)
        assert one.table.equals(two.table)
        assert one.people.equals(two.people)

    def test_many_people_long_and_short_lists(self):
        rng = np.random.default_rng(1)
        rows = [(u, int(p), 0) for u in range(700) for p in rng.zipf(1.3, 9) % 2000]
        visits = as_visits(rows)
        [*crowd] = traces(rows, "spatial", 1, 1)
        found = incrowd.uniqueness(visits, [1, 2, 3], kind="spatial", draws=300)
        laid = points_of(visits, "spatial")
        for p in (1, 2, 3):
            _, codes = _draw(laid, p, 300, None, 0)
            low = int(visits.place.min())
            left = [naive.crowd_of(crowd, [code + low for code in row]) for row in codes.tolist()]
            share = found.table.filter(pl.col("points") == p)["share"][0]
            assert share == sum(one == 1 for one in left) / 300

    def test_every_subtrace_is_equally_likely(self):
        visits = as_visits([(1, place, 0) for place in range(5)])
        _, codes = _draw(points_of(visits), 2, 20_000, None, 3)
        pairs, counts = np.unique(np.sort(codes, axis=1), axis=0, return_counts=True)
        assert len(pairs) == 10
        # Chi squared with 9 degrees of freedom exceeds 27.9 once in a thousand seeds.
        assert float(((counts - 2000) ** 2 / 2000).sum()) < 27.9

    def test_each_person_alike(self):
        rows = [(1, 0, 0), (2, 0, 0), (3, 0, 0), (3, 1, 0)]
        found = incrowd.uniqueness(as_visits(rows), 1, each=200)
        assert found.people["trials"].to_list() == [200] * 3
        assert found.people["share"].to_list()[:2] == [0, 0]
        assert found.people["share"][2] == pytest.approx(0.5, abs=0.15)

    def test_two_alike_are_not_unique(self):
        rows = [(user, place, time) for user in (1, 2) for place, time in ((0, 0), (1, 5), (2, 9))]
        assert incrowd.uniqueness(as_visits(rows), [1, 2, 3]).share == [0, 0, 0]

    def test_one_contained_in_another(self):
        rows = [(1, 0, 0), (2, 0, 0), (2, 1, 0)]
        found = incrowd.uniqueness(as_visits(rows), 2)
        assert (found.share, found.table["left_out"][0]) == (1, 1)

    def test_more_than_anybody_has_takes_no_memory(self):
        for model in ("probabilistic", "deterministic"):
            found = incrowd.uniqueness(as_visits([(1, 0, 0)]), 10**9, model=model)
            assert found.table["left_out"][0] == 1

    def test_nobody_has_so_many(self):
        found = incrowd.uniqueness(as_visits([(1, 0, 0)]), 2)
        assert found.share is None
        assert found.people.is_empty()


class TestDeterministic:
    @given(rows=visited(most_visits=9), most=st.integers(1, 5), **HOW)
    @random_cases(600)
    def test_is_by_the_most_frequent(self, rows, most, kind, precision, met):
        how = {"precision": precision, "met": met}
        wanted = list(range(1, most + 1))
        found = incrowd.uniqueness(
            as_visits(rows), wanted, kind=kind, model="deterministic", threads=1, **how
        )
        people = traces(rows, kind, precision, met)
        for p, row in zip(wanted, found.table.to_dicts(), strict=True):
            able = [one for one in people if len(one) >= p]
            alone = [naive.crowd_of(people, naive.most_frequent(one, p)) == 1 for one in able]
            assert (row["people"], row["unique"]) == (len(able), sum(alone))
            shares = found.people.filter(pl.col("points") == p)["share"].to_list()
            assert shares == [float(one) for one in alone]


class TestExact:
    @given(rows=visited(most_visits=9), **HOW)
    @random_cases(600)
    def test_tries_all_subtraces(self, rows, kind, precision, met):
        how = {"precision": precision, "met": met}
        found = incrowd.uniqueness(
            as_visits(rows), [1, 2], kind=kind, model="exact", threads=1, **how
        )
        people = traces(rows, kind, precision, met)
        for p in (1, 2):
            shares = [naive.unique_share(people, i, p) for i in range(len(people))]
            expected = [float(share) for share in shares if share is not None]
            assert found.people.filter(pl.col("points") == p)["share"].to_list() == expected

    def test_is_what_draws_estimate(self):
        city = incrowd.visits(incrowd.synthesize("city", users=200, seed=3))
        exact = incrowd.uniqueness(city, [1, 2], model="exact", precision=60)
        drawn = incrowd.uniqueness(city, [1, 2], precision=60, draws=20_000, seed=5)
        for share, low, high in zip(
            exact.table["share"], drawn.table["low"], drawn.table["high"], strict=True
        ):
            assert low - 0.005 < share < high + 0.005

    def test_is_for_one_and_two_points(self):
        with pytest.raises(ArgumentError, match="1 and 2"):
            incrowd.uniqueness(as_visits([(1, 0, 0)]), 3, model="exact")

    def test_refuses_what_is_not_cheap(self, monkeypatch):
        monkeypatch.setattr(exhaustive, "CHEAP", 3)
        rows = [(1, 0, 0), (2, 0, 0)]
        with pytest.raises(InputError, match="exact would compare people"):
            incrowd.uniqueness(as_visits(rows), 2, model="exact")
        assert incrowd.uniqueness(as_visits(rows), 1, model="exact").share == 0


class TestSeveralSensors:
    @given(first=visited(), second=visited(), p=st.sampled_from([2, 4]))
    @random_cases(300)
    def test_take_equally_many_of_each(self, first, second, p):
        both = {"a": as_visits(first), "b": as_visits(second)}
        found = incrowd.uniqueness(both, p, kind="spatial", draws=20, threads=1)
        people = [dict(naive.from_rows(rows)) for rows in (first, second)]
        shared = [user for user in people[0] if user in people[1]]
        own = [[set(naive.trace(side[user], "spatial")) for side in people] for user in shared]
        able = [one for one in own if min(map(len, one)) >= p // 2]
        [row] = found.table.to_dicts()
        everybody = len({*people[0], *people[1]})
        assert (row["people"], row["left_out"]) == (len(able), everybody - len(able))

    def test_both_tell_more_than_one(self):
        one = as_visits([(1, 0, 0), (2, 0, 0), (3, 1, 0)])
        two = as_visits([(3, 0, 0), (1, 0, 0), (2, 1, 0)])
        found = incrowd.uniqueness({"gsm": one, "wifi": two}, 2, kind="spatial")
        assert found.share == 1
        assert incrowd.uniqueness(one, 1, kind="spatial", model="exact").share == 1 / 3

    def test_codes_are_kept_apart(self):
        one = as_visits([(1, 0, 0), (1, 1, 0)])
        laid = join_sensors({"a": points_of(one), "b": points_of(one)})
        assert len(set(laid.code.tolist())) == 4

    @pytest.mark.parametrize(
        ("how", "says"),
        [
            ({"points": 3}, "give 4"),
            ({"points": 2, "model": "exact"}, "need model=.probabilistic."),
        ],
    )
    def test_refuses(self, how, says):
        one = as_visits([(1, 0, 0)])
        with pytest.raises(ArgumentError, match=says):
            incrowd.uniqueness({"a": one, "b": one}, **how)

    def test_refuses_one(self):
        with pytest.raises(ArgumentError, match="at least two"):
            incrowd.uniqueness({"a": as_visits([(1, 0, 0)])}, 1)


class TestBadInput:
    @pytest.mark.parametrize(
        ("how", "says"),
        [
            ({"points": 0}, "at least 1"),
            ({"points": 1.5}, "at least 1"),
            ({"points": []}, "one number or several different ones"),
            ({"points": [2, 2]}, "different"),
            ({"points": "a"}, "must be an integer"),
            ({"points": 10**30}, "below"),
            ({"seed": -1}, "seed"),
            ({"draws": 2.5}, "draws"),
            ({"precision": float("nan")}, "precision"),
            ({"met": 10**20}, "met"),
            ({"kind": "places"}, "spatio_temporal"),
            ({"model": "guess"}, "deterministic"),
            ({"draws": 0}, "at least 1"),
            ({"each": 0}, "at least 1"),
            ({"precision": 0}, "precision"),
            ({"met": 0}, "met"),
            ({"threads": 0}, "threads"),
        ],
    )
    def test_refuses(self, how, says):
        with pytest.raises(ArgumentError, match=says):
            incrowd.uniqueness(as_visits([(1, 0, 0)]), **how)

    def test_refuses_nothing(self):
        empty = incrowd.Visits(*(np.zeros(0, np.int64),) * 2, np.zeros(1, np.int64))
        with pytest.raises(InputError, match="no visits"):
            incrowd.uniqueness(empty)

    def test_refuses_what_is_no_visits(self):
        with pytest.raises(ArgumentError, match="Visits"):
            incrowd.uniqueness([(1, 0, 0)])

    def test_takes_trajectories(self):
        city = incrowd.synthesize("city", users=30, seed=4)
        found, same = incrowd.uniqueness(city), incrowd.uniqueness(incrowd.visits(city))
        assert found.table.equals(same.table)
