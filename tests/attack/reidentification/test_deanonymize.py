"""The de-anonymisation attack, and the two stronger ones, against the oracle."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from incrowd import Visits, synthesize, visits
from incrowd.attack._reidentification import deanonymize as reidentification
from incrowd.attack._reidentification.deanonymize import deanonymize
from incrowd.attack._reidentification.matchers import CLOSE, Profiles, ProfileScratch, match_markov
from incrowd.attack._search.index import InvertedIndex
from incrowd.errors import ArgumentError, InputError
from strategies import as_visits, random_cases, visited

SHARES = st.sampled_from([0.7, 0.5, 0.1, 0.9, 0.3, "1/3", 0.29])
NS = [1, 2, 3, 4, 5, 6, 9, 50]


@st.composite
def lives(draw):
    """Rows ``(user, place, time)`` of people, some alike, contained in others, or twice as long."""
    places = draw(st.sampled_from([1, 2, 3, 5, 8]))
    longest = draw(st.sampled_from([3, 8, 20, 40]))
    alike = draw(st.sampled_from([0, 0.2, 0.6]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    people = []
    for i in range(draw(st.integers(1, 9))):
        length = rng.integers(1, longest + 1)
        if i and rng.random() < alike:
            own = people[rng.integers(i)]
            kind = rng.integers(4)
            if kind == 1:
                own = [place for place in own for _ in range(2)]
            elif kind == 2:
                own = own + rng.integers(0, places, 3).tolist()
            elif kind == 3:
                own = own * 2
        else:
            own = (rng.integers(0, places, length) * rng.integers(0, 2, length)).tolist()
        people.append(own)
    apart = draw(st.sampled_from([1, 1, 3]))
    return [
        (user, place, time // apart)
        for user, own in enumerate(people)
        for time, place in enumerate(own)
    ]


DATA = st.one_of(lives(), lives(), lives(), visited(most_people=8, most_visits=12))


def expected(split, attacker, n=None):
    if attacker == "top":
        return naive.recognised_by_top(split, n)
    by = {"tfidf": naive.recognised_by_tfidf, "markov": naive.recognised_by_markov}
    return by[attacker](split)


def all_told(found):
    """Give who was taken for whom, for each attacker and n."""
    every = {}
    for user, attacker, n, matched in found.matches.iter_rows():
        every.setdefault((attacker, n), {})[user] = matched
    return every


def told(found, attacker, n=None):
    return all_told(found)[attacker, n]


def lived(people):
    """Turn ``{user: places in order}`` into visits, one a moment."""
    rows = [(user, place, time) for user, own in people.items() for time, place in enumerate(own)]
    return as_visits(rows)


def attacked(people, attacker, **how):
    return told(
        deanonymize(lived(people), attackers=attacker, matches=True, threads=1, **how),
        attacker,
        how.get("n"),
    )


class TestDeanonymize:
    @given(rows=DATA, share=SHARES, precision=st.sampled_from([1, 1, 2, 3]))
    @random_cases(1200)
    def test_takes_people_for_those_whom_the_oracle_does(self, rows, share, precision):
        split = naive.train_test_split(naive.from_rows(rows), Fraction(str(share)), precision)
        how = {"share": share, "precision": precision, "matches": True, "threads": 1}
        if not split:
            with pytest.raises(InputError, match="there is nobody to re-identify"):
                deanonymize(as_visits(rows), **how)
            return
        found = deanonymize(as_visits(rows), n=NS, **how)
        got = all_told(found)
        for attacker, n, *rest in found.table.iter_rows():
            people, matched, correct, precise, recall, recall_all = rest
            wanted = expected(split, attacker, n)
            assert got[attacker, n] == wanted
            assert people == found.people == len(split)
            assert matched == sum(one is not None for one in wanted.values())
            assert correct == sum(user == one for user, one in wanted.items())
            assert precise == (correct / matched if matched else None)
            assert recall == correct / people
            assert recall_all == naive.recall_all(wanted, naive.from_rows(rows))
        everybody = {user for user, *_ in rows}
        assert found.everybody == len(everybody)
        assert sum(found.excluded.values()) == len(everybody) - len(split)
        single = [min(map(len, own)) == 1 for own in split.values()]
        assert found.without_transitions == sum(single)

    @given(rows=DATA, other=DATA, share=st.one_of(SHARES, st.none()))
    @random_cases(500)
    def test_trains_on_one_dataset_and_tests_another(self, rows, other, share):
        exact = None if share is None else Fraction(str(share))
        split = naive.train_test_split(naive.from_rows(rows), exact, known=naive.from_rows(other))
        how = {"known": as_visits(other), "share": share, "matches": True, "threads": 1}
        if not split:
            with pytest.raises(InputError, match="there is nobody to re-identify"):
                deanonymize(as_visits(rows), **how)
            return
        found = deanonymize(as_visits(rows), n=[1, 3], **how)
        everybody = naive.from_rows(rows), naive.from_rows(other)
        for ((attacker, n), got), row in zip(
            all_told(found).items(), found.table.to_dicts(), strict=True
        ):
            assert got == expected(split, attacker, n)
            assert row["recall_all"] == naive.recall_all(got, *everybody)
        users = {user for user, *_ in rows}, {user for user, *_ in other}
        assert found.excluded["only in the visits"] == len(users[0] - users[1])
        assert found.excluded["only in what is known"] == len(users[1] - users[0])
        either = len(users[0] | users[1])
        assert sum(found.excluded.values()) == either - len(split)

    def test_is_the_same_on_any_threads_and_blocks(self, monkeypatch):
        data = visits(synthesize("city", users=300, seed=3))
        one, many = (
            deanonymize(data, precision=60, matches=True, threads=threads) for threads in (1, 3)
        )
        monkeypatch.setattr(reidentification, "BLOCK", 7)
        monkeypatch.setattr("incrowd.attack._reidentification.split.BLOCK", 11)
        small = deanonymize(data, precision=60, matches=True, threads=2)
        for other in (many, small):
            assert one.table.equals(other.table)
            assert one.matches.equals(other.matches)
        assert one.table["correct"].max() > 0

    def test_each_n_alone_is_the_same_as_all_together(self):
        data = visits(synthesize("city", users=100, seed=3))
        together = deanonymize(data, attackers="top").table
        for n in (1, 2, 3, 7, 50):
            alone = deanonymize(data, n=n, attackers="top").table
            assert alone.equals(together.filter(pl.col("n") == n))

    def test_of_more_places_than_anybody_has_is_that_of_all(self):
        data = visits(synthesize("city", users=100, seed=3))
        most = int(np.diff(data.frequencies().offsets).max())
        rows = deanonymize(data, n=[most, most + 1, 10**9], attackers="top").table
        assert rows.drop("n").n_unique() == 1

    def test_keeps_the_order_of_attackers_and_names_each_once(self):
        people = {0: [1, 2, 3, 1], 1: [4, 5, 6, 4]}
        found = deanonymize(lived(people), attackers=["markov", "top", "markov"], n=[2, 1, 2])
        assert found.table.select("attacker", "n").rows() == [
            ("markov", None), ("top", 1), ("top", 2)
        ]  # fmt: skip
        assert found.matches is None
        assert deanonymize(lived(people), attackers="top").without_transitions is None

    def test_tells_how_far_it_is(self):
        seen = []
        people = {0: [1, 2, 3, 1], 1: [4, 5, 6, 4]}
        deanonymize(
            lived(people), attackers=["tfidf", "top"], progress=lambda *far: seen.append(far)
        )
        assert seen == [(0, 4), (2, 4), (4, 4)]


class TestSplit:
    def test_takes_a_share_for_what_it_says(self):
        # In binary, 0.29 * 100 is 28.999...; the 29th entry is the one at 9.
        assert attacked({0: [1] * 7 + [2] * 3, 1: [2] * 7 + [1] * 3}, "top", n=1) == {0: 1, 1: 0}
        people = {0: [1] * 28 + [9] + [2] * 71, 1: [9] * 40 + [1] * 60}
        assert attacked(people, "top", n=2, share=0.29)[1] == 0

    def test_counts_a_place_once_in_a_slot(self):
        # Within the hour ann was recorded at 5 ten times; it is one entry, as 7 and 7 are two.
        rows = [("ann", 5, minute) for minute in range(10)] + [("ann", 7, 70), ("ann", 7, 130)]
        rows += [("ann", 7, 190), ("bob", 5, 0), ("bob", 5, 60), ("bob", 8, 120)]
        found = deanonymize(
            as_visits(rows), share=0.75, precision=60, n=1, attackers="top", matches=True
        )
        assert told(found, "top", 1) == {"ann": "ann", "bob": None}

    def test_counts_whom_it_leaves_out(self):
        found = deanonymize(lived({0: [1], 1: [1, 2], 2: [3] * 9}), share=0.5)
        assert (found.people, found.excluded) == (
            2,
            {"nothing to train on": 1, "nothing to test": 0},
        )

    def test_leaves_out_whoever_has_no_visit(self):
        some = Visits(np.array([1, 2]), np.array([1, 2]), np.array([0, 2, 2]))
        assert deanonymize(some, share=0.5).excluded["nothing to train on"] == 1
        known = Visits(np.array([1, 1]), np.array([1, 2]), np.array([0, 1, 2]))
        found = deanonymize(some, known=known, share=None)
        assert found.excluded["nothing to test"] == 1


class TestTop:
    def test_two_people_alike_are_no_match(self):
        people = {0: [1, 2, 1, 1], 1: [1, 2, 1, 1], 2: [3, 4, 3, 3]}
        for n in (1, 2, 3):
            assert attacked(people, "top", n=n, share=0.75) == {0: None, 1: None, 2: 2}

    def test_the_smaller_of_two_sets_fits_better(self):
        # Of {1, 2} and {1, 2, 3}, seen at 1 and 2: 2/sqrt(4) against 2/sqrt(6).
        people = {0: [1, 2, 1, 2], 1: [1, 2, 3, 4, 4, 4]}
        assert attacked(people, "top", n=3, share=0.5) == {0: 0, 1: None}
        # With n = 2 both know 1 and 2: a tie, no match.
        assert attacked(people, "top", n=2, share=0.5) == {0: None, 1: None}

    def test_sets_of_different_sizes_can_tie(self):
        # 1/sqrt(1) of {1} and 2/sqrt(4) of {1, 2, 3, 4}, seen at 1 and 2.
        people = {0: [1] * 4 + [1, 2, 1, 2], 1: [1, 2, 3, 4] + [9] * 4}
        assert attacked(people, "top", n=4, share=0.5)[0] is None
        assert attacked(people, "top", n=3, share=0.5)[0] == 1
        assert attacked(people, "top", n=2, share=0.5)[0] == 1

    def test_nothing_in_common_is_no_match(self):
        assert attacked({0: [1, 2], 1: [3, 4]}, "top", n=1, share=0.5) == {0: None, 1: None}

    def test_of_places_visited_equally_often_the_lower_code_is_first(self):
        assert attacked({0: [7, 5, 5, 5], 1: [8, 9, 8, 8]}, "top", n=1, share=0.5) == {0: 0, 1: 1}
        assert attacked({0: [7, 5, 7, 7]}, "top", n=1, share=0.5) == {0: None}

    def test_a_match_can_be_wrong(self):
        people = {"ann": [1, 1, 2, 2], "bob": [2, 2, 1, 1]}
        found = deanonymize(lived(people), n=1, attackers="top", share=0.5)
        assert found.table.row(0) == ("top", 1, 2, 2, 0, 0.0, 0.0, 0.0)


class TestTfidf:
    def test_two_people_alike_are_no_match(self):
        people = {0: [1, 2, 1, 1], 1: [1, 2, 1, 1], 2: [3, 4, 3, 3]}
        assert attacked(people, "tfidf", share=0.75) == {0: None, 1: None, 2: 2}

    @given(
        counts=st.lists(st.integers(1, 9), min_size=1, max_size=6),
        times=st.integers(2, 9),
        seen=st.integers(1, 63),
    )
    @random_cases(300)
    def test_proportional_profiles_tie_in_spite_of_rounding(self, counts, times, seen):
        own = [place for place, number in enumerate(counts) for _ in range(number)]
        test = [place for place in range(len(counts)) if seen >> place & 1]
        rows = [(0, p, t) for t, p in enumerate(own)]
        rows += [(1, p, t) for t, p in enumerate(own * times)]
        rows += [(2, 99, 0), (3, 0, 0), (3, 98, 1)]
        again = [(user, p, t) for user in range(4) for t, p in enumerate(test or [0])]
        found = deanonymize(
            as_visits(again),
            known=as_visits(rows),
            share=None,
            attackers="tfidf",
            matches=True,
            threads=1,
        )
        assert {0, 1}.isdisjoint(told(found, "tfidf").values())

    def test_cosines_that_differ_by_more_than_rounding_do_not_tie(self):
        # The second has one visit more of a thousand, elsewhere.
        known = {0: [1] * 1000, 1: [1] * 1000 + [2], 2: [3]}
        seen = {0: [1], 1: [2], 2: [3]}
        found = deanonymize(
            lived(seen), known=lived(known), share=None, attackers="tfidf", matches=True
        )
        assert told(found, "tfidf") == {0: 0, 1: 1, 2: 2}
        assert CLOSE < 1e-8

    def test_a_place_where_all_were_tells_nothing(self):
        assert attacked({0: [1, 1, 1, 1], 1: [1, 2, 1, 1]}, "tfidf", share=0.5) == {
            0: None,
            1: None,
        }

    def test_how_often_and_how_rare_tell_what_sets_do_not(self):
        people = {
            0: [1, 1, 1, 2, 3, 1, 1, 2],
            1: [1, 2, 2, 2, 3, 2, 2, 1],
            2: [9, 3, 9, 9, 9, 3, 9, 9],
        }
        assert attacked(people, "top", n=5, share=0.625)[0] is None
        assert attacked(people, "tfidf", share=0.625) == {0: 0, 1: 1, 2: 2}


class TestMarkov:
    def test_two_people_alike_are_no_match(self):
        people = {0: [1, 2, 1, 2], 1: [1, 2, 1, 2], 2: [3, 4, 3, 4]}
        assert attacked(people, "markov", share=0.5) == {0: None, 1: None, 2: 2}

    def test_tells_ways_where_places_are_the_same(self):
        people = {0: [1, 2, 3, 1, 2, 3], 1: [3, 2, 1, 3, 2, 1]}
        assert attacked(people, "tfidf", share=0.5) == {0: None, 1: None}
        assert attacked(people, "markov", share=0.5) == {0: 0, 1: 1}

    def test_staying_is_a_transition(self):
        people = {0: [1, 1, 1, 1, 1, 1], 1: [1, 2, 1, 1, 2, 1]}
        assert attacked(people, "markov", share=0.5) == {0: 0, 1: 1}

    def test_whoever_has_one_entry_is_counted_and_not_recognised(self):
        people = {0: [1, 1, 1, 1], 1: [1, 2]}
        found = deanonymize(lived(people), share=0.5, attackers="markov", matches=True)
        assert told(found, "markov") == {0: 0, 1: None}
        assert (found.people, found.without_transitions) == (2, 1)

    @given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["equal", "near", "any"]))
    @random_cases(500)
    def test_compares_fractions_whose_products_take_more_than_64_bits(self, seed, kind):
        rng = np.random.default_rng(seed)
        total, own = (int(one) for one in rng.integers(2**28, 2**29, 2))
        part = int(rng.integers(9, total - 9))
        # A third of it is the same part, but not if both are rounded first.
        parts, totals = [part, 3 * part], [total, 3 * total]
        if kind == "near":
            parts[1] += int(rng.integers(-9, 9))
        elif kind == "any":
            parts[1] = int(rng.integers(1, totals[1]))
        ints = lambda *values: np.array(values, np.int64)  # noqa: E731
        small = lambda *values: np.array(values, np.int32)  # noqa: E731
        records = InvertedIndex(
            ints(), small(), small(), ints(), ints(0, 2), small(0, 1), small(*parts)
        )
        tests = Profiles(ints(0), ints(own), ints(0, 1), ints(own))
        got = match_markov(0, 1, tests, ints(*totals), records, ProfileScratch.of(2))
        one, two = (Fraction(*pair) for pair in zip(parts, totals, strict=True))
        assert got.tolist() == [[-1 if one == two else int(two > one)]]


class TestAcrossDatasets:
    def test_places_are_matched_by_names_and_people_by_what_they_read(self):
        def named(codes, names, people):
            place = np.array(codes, np.int64)
            time, offsets = np.array([0, 1, 0, 1]), np.array([0, 2, 4])
            return Visits(place, time, offsets, people=pl.Series(people), places=pl.Series(names))

        one = named([0, 1, 2, 2], ["a", "b", "c"], [7, 9])
        two = named([0, 0, 1, 2], ["c", "b", "a"], ["9", "7"])
        found = deanonymize(one, known=two, share=None, matches=True)
        for attacker, n in (("top", 1), ("top", 2), ("tfidf", None)):
            assert told(found, attacker, n) == {7: 7, 9: 9}

    def test_names_on_one_side_only_are_refused(self):
        one = lived({0: [0, 1], 1: [1, 1]})
        two = Visits(one.place, one.time, one.offsets, places=pl.Series(["a", "b"]))
        with pytest.raises(
            InputError, match="places of known have names and places of visits have none"
        ):
            deanonymize(one, known=two)
        with pytest.raises(
            InputError, match="places of visits have names and places of known have none"
        ):
            deanonymize(two, known=one)

    def test_identifiers_that_occur_twice_are_refused(self):
        one = lived({0: [0, 1], 1: [1, 1]})
        two = Visits(one.place, one.time, one.offsets, people=pl.Series(["0", "0"]))
        with pytest.raises(InputError, match="some identifiers occur twice"):
            deanonymize(one, known=two)

    def test_nobody_in_both_is_refused(self):
        text = "there is nobody to re-identify: 1 only in the visits, 2 only in what is known"
        with pytest.raises(InputError, match=text):
            deanonymize(lived({0: [1, 2]}), known=lived({1: [1, 2], 2: [1, 2]}))


class TestSharedRecords:
    @given(
        rows=DATA, other=st.one_of(st.none(), DATA), seed=st.integers(0, 2**32 - 1), share=SHARES
    )
    @random_cases(300)
    def test_are_nobodys_alone(self, rows, other, seed, share):
        rng = np.random.default_rng(seed)
        tested, known = as_visits(rows), None if other is None else as_visits(other)
        crowd = rng.integers(1, 3, len(tested))
        sizes = dict(zip(tested.people, crowd.tolist(), strict=True))
        how, theirs = {"crowd": crowd}, sizes
        if known is not None:
            how |= {"known": known, "known_crowd": rng.integers(1, 3, len(known))}
            theirs = dict(zip(known.people, how["known_crowd"].tolist(), strict=True))
        known_people = None if other is None else naive.from_rows(other)
        split = naive.train_test_split(
            naive.from_rows(rows), Fraction(str(share)), known=known_people
        )
        if not split:
            return
        found = deanonymize(tested, share=share, n=[1, 3], matches=True, threads=1, **how)
        for (attacker, n), got in all_told(found).items():
            wanted = expected(split, attacker, n)
            assert got == naive.of_shared_records(wanted, sizes, theirs)

    @pytest.mark.parametrize("crowd", [[1], [1, 0], [1.0, 2.0], 3])
    def test_sizes_must_be_those_of_everybody(self, crowd):
        people = lived({0: [1, 2], 1: [3, 4]})
        with pytest.raises(ArgumentError, match="crowd must be a positive integer for each"):
            deanonymize(people, crowd=crowd)
        with pytest.raises(ArgumentError, match="known_crowd must be a positive integer"):
            deanonymize(people, known=people, known_crowd=crowd)
        with pytest.raises(ArgumentError, match="each of 0 people"):
            deanonymize(people, known_crowd=[1, 1])


class TestBadInput:
    @pytest.mark.parametrize(
        ("how", "says"),
        [
            ({"share": 0}, "must be between 0 and 1"),
            ({"share": 1}, "must be between 0 and 1"),
            ({"share": -0.5}, "must be between 0 and 1"),
            ({"share": float("nan")}, "not nan"),
            ({"share": "much"}, "not 'much'"),
            ({"share": True}, "not True"),
            ({"share": "1/0"}, "not '1/0'"),
            ({"share": None}, "share=None needs known"),
            ({"n": 0}, "n must be at least 1"),
            ({"n": [3, -1]}, "n must be at least 1"),
            ({"n": 1.5}, "must be an integer"),
            ({"n": True}, "must be an integer"),
            ({"n": []}, "n is empty"),
            ({"attackers": "tfdif"}, "did you mean 'tfidf'"),
            ({"attackers": "xyz"}, "there is no attacker 'xyz': top, tfidf, markov"),
            ({"attackers": ()}, "give at least one attacker"),
            ({"precision": 0}, "at least 1"),
            ({"precision": 0.5}, "must be an integer (time units)"),
        ],
    )
    def test_is_refused(self, how, says):
        with pytest.raises(ArgumentError) as error:
            deanonymize(lived({0: [1, 2], 1: [3, 4]}), **how)
        assert says in str(error.value)

    def test_nobody_at_all(self):
        nobody = Visits.from_rows({"user": [], "place": [], "time": []})
        with pytest.raises(InputError, match="there is nobody to re-identify: no people"):
            deanonymize(nobody)

    def test_nobody_left(self):
        with pytest.raises(InputError, match="re-identify: 2 nothing to train on"):
            deanonymize(lived({0: [1], 1: [3]}))
