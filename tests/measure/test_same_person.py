import warnings
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from incrowd import Trajectories
from incrowd.errors import PrivacyWarning, SamePersonWarning
from incrowd.measure import _same_person
from incrowd.measure._same_identifier import same_identifiers
from incrowd.measure._same_person import checked_before
from strategies import random_cases

NUMBERS = (
    *("0700000001", "700000001", "+2250700000001", "002250700000001", "2250700000001"),
    *("+225 07 00 00 00 01", "+225-0700000001", "0700000002", "+33700000001", "33700000001"),
    *("+221771234567", "771234567", "0771234567", "12345678", "9912345678", "012345678"),
    *("ann", "Ann", " ANN ", "aNn3", "AnN3", "bob", "1", "01", "+1", "1234567", "01234567"),
    *("12125550001", "2125550001", "+12125550001", "8613012345678", "13012345678"),
)


def boxes(rows):
    users, xs, ys, ts = zip(*rows, strict=True)
    return Trajectories.from_boxes({"user": users, "x0": xs, "y0": ys, "t0": ts})


def twice(preset="civ", users=60, again=10, seed=5, other=lambda table: table):
    """Give people, the first of whom are there a second time."""
    data = incrowd.synthesize(preset, users=users, seed=seed)
    table = data.boxes().with_columns(pl.col("user").cast(pl.Int64))
    more = table.filter(pl.col("user") <= again).with_columns(pl.col("user") + 1000)
    return Trajectories.from_boxes(pl.concat([table, other(more)]), data.frame)


class TestIdentifiers:
    @random_cases(400)
    @given(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=9, unique=True))
    def test_as_pair_by_pair(self, names):
        pairs = [
            pair
            for pair in combinations(range(len(names)), 2)
            if naive.same_identifier(*(names[one] for one in pair), names)
        ]
        found = sorted(map(tuple, same_identifiers(names)))
        assert found == naive.joined(len(names), pairs)

    @pytest.mark.parametrize(
        "other",
        ["+2250700000001", "002250700000001", "2250700000001", "700000001", "07 00 00 00 01"],
    )
    def test_the_same_number_in_two_ways(self, other):
        assert same_identifiers(["0700000001", other, "0700000002", "+2250700000009"]) == [[0, 1]]

    def test_the_same_ending_is_not_enough(self):
        assert same_identifiers(["12345678", "9912345678", "2212345678"]) == []

    def test_a_foreign_number_is_not_that_of_home(self):
        names = ["0700000001", "+33700000001", "+2250700000009", "+2250700000008"]
        assert same_identifiers(names) == []

    def test_short_counters_with_zeros_are_different(self):
        assert same_identifiers(["1", "01", "001", "7", "007"]) == []

    def test_numbers_that_count_up_are_different(self):
        names = [str(10_000_000 + i) for i in range(2000)]
        names += [str(22_500_000_000 + i) for i in range(2000)]
        assert same_identifiers(names) == []

    def test_case_counts_where_the_data_uses_it(self):
        assert same_identifiers(["Ann", "ANN", "bob"]) == [[0, 1]]
        assert same_identifiers(["aB", "AB", "bA", "BA"]) == []

    def test_separators_only_beside_international_numbers(self):
        assert same_identifiers(["1001-12345", "10011-2345"]) == []
        assert same_identifiers(["+44 20 7946-0958", "+44 (20) 79460958"]) == [[0, 1]]


@st.composite
def crowded(draw):
    """People who coincide a lot: paths through few cells, copied in part."""
    number = draw(st.integers(2, 6))
    sample = st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 60))
    people = [set(draw(st.lists(sample, min_size=1, max_size=30))) for _ in range(number)]
    for _ in range(draw(st.integers(0, 3))):
        one, other = draw(st.integers(0, number - 1)), draw(st.integers(0, number - 1))
        people[one] |= set(sorted(people[other])[: draw(st.integers(1, 40))])
    return people


class TestTraces:
    @random_cases(300)
    @given(crowded(), st.sampled_from([60, 300, 600]), st.sampled_from([0.001, 1e9]))
    def test_as_pair_by_pair(self, people, slot, level):
        rows = [(who, *sample) for who, samples in enumerate(people) for sample in samples]
        users, xs, ys, ts = zip(*rows, strict=True)
        table = {"user": users, "x0": xs, "y0": ys, "t0": ts}
        data = Trajectories.from_boxes(table, incrowd.Frame(slot=slot))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_same_person, "SIGNIFICANCE", level)
            found = incrowd.same_person(data)
        expected = naive.same_traces(people, max(1, 600 // slot), significance=level)
        assert found.by_trace == tuple(expected)

    @pytest.mark.parametrize("room", [0, 1])
    def test_as_pair_by_pair_where_many_are_alike(self, monkeypatch, room):
        """Of more pairs than there is room for at once, none is lost."""
        monkeypatch.setattr(_same_person, "_ROOM", room)
        rng = np.random.default_rng(1)
        kinds = [
            {(int(x), int(y), int(t)) for x, y, t in rng.integers(0, 500, (25, 3))}
            for _ in range(5)
        ]
        people = [kinds[i % 5] | {(9, 9, i)} for i in range(20)]
        data = boxes([(who, *sample) for who, of in enumerate(people) for sample in of])
        found = incrowd.same_person(data)
        assert found.by_trace == tuple(naive.same_traces(people, 10))
        assert len(found.groups) == 5

    def test_rows_that_are_there_twice_are_found(self):
        found = incrowd.same_person(twice())
        names = found.names.to_list()
        assert sorted(names[b] - names[a] for a, b in found.by_trace) == [1000] * 10
        assert (found.suspected, len(found.groups), found.at_most) == (20, 10, 60)

    def test_clocks_that_differ_by_a_minute_are_bridged(self):
        later = [pl.col("t0") + 1, pl.col("t1") + 1]
        found = incrowd.same_person(twice(other=lambda table: table.with_columns(later)))
        assert len(found.by_trace) >= 9

    def test_calls_that_are_shared_by_two_cards_are_not_found(self):
        """What the limits say: nothing coincides, and neighbours share homes as well."""
        data = incrowd.synthesize("civ", users=60, seed=5)
        card = np.random.default_rng(1).random(data.samples) < 0.5
        table = data.boxes().with_columns(pl.col("user").cast(pl.Int64) + 1000 * card)
        assert incrowd.same_person(Trajectories.from_boxes(table, data.frame)).groups == ()

    @pytest.mark.parametrize("preset", ["city", "civ", "civ-v2", "sen", "sen-v2", "florence"])
    def test_no_false_alarm_in_synthetic_data(self, preset):
        assert incrowd.same_person(incrowd.synthesize(preset, users=300, seed=4)).groups == ()

    def test_people_who_stay_at_home_are_not_the_same(self):
        """Two who are in one cell all day coincide all day, and that is what chance explains."""
        rows = [(who, 3, 3, 10 * slot) for who in (1, 2) for slot in range(200)]
        rows += [(who, who, 9, 10 * slot) for who in range(3, 40) for slot in range(200)]
        assert incrowd.same_person(boxes(rows)).by_trace == ()

    def test_few_samples_say_nothing(self):
        rows = [(who, i, i, 60 * i) for who in (1, 2) for i in range(9)]
        found = incrowd.same_person(boxes([*rows, *((3, 50, 50, 60 * i) for i in range(12))]))
        assert (found.by_trace, found.too_few) == ((), 2)

    def test_crowds_and_nobody(self):
        hidden = incrowd.glove(incrowd.synthesize("city", users=20, seed=7)).trajectories
        assert not incrowd.same_person(hidden).assessed
        assert incrowd.same_person(hidden[:0]).groups == ()
        assert incrowd.same_person(hidden[:1]).as_dict()["by_trace"] is None


class TestTelling:
    def test_a_table_to_start_from(self, tmp_path):
        data = twice()
        table = incrowd.same_person(data).table()
        assert table.columns == ["user", "person", "why"]
        assert table.rows()[:2] == [("1", "1", "trace"), ("1001", "1", "trace")]

    def test_repr_names_nobody(self):
        names = {"user": ["secretname", "SECRETNAME"], "x0": [1, 2], "y0": [1, 2], "t0": [1, 2]}
        found = incrowd.same_person(Trajectories.from_boxes(names))
        assert len(found.groups) == 1
        assert "secret" not in (repr(found) + found.words + str(found.as_dict())).lower()

    def test_glove_warns_before_anything_is_merged(self):
        told = []
        with pytest.warns(SamePersonWarning, match="20 of 70 identifiers may be only 10 people"):
            incrowd.glove(twice(), progress=lambda *what: told.append(what))
        with warnings.catch_warnings():
            warnings.simplefilter("error", SamePersonWarning)
            told.clear()
            with pytest.raises(SamePersonWarning):
                incrowd.glove(twice(), progress=lambda *what: told.append(what))
        assert told == []

    def test_it_is_a_privacy_warning(self):
        assert issubclass(SamePersonWarning, PrivacyWarning)

    def test_parts_of_what_was_checked_are_not_checked_again(self):
        with checked_before():
            incrowd.glove(twice())

    def test_a_table_of_persons_says_that_they_are_different(self):
        rows = twice(users=30, again=3).to_pandas()[["user", "t_start", "lat", "lon"]]
        rows = rows.rename(columns={"t_start": "time"})
        names = [1, 1001, 2, 1002]
        table = pl.DataFrame({"user": names, "person": ["a", "b", "c", "c"]})
        data = incrowd.read(rows, same_person=table)
        found = incrowd.same_person(data)
        people = data.people.to_list()
        assert [{people[one] for one in pair} for pair in found.groups] == [{"3", "1003"}]
        assert (found.people, found.identifiers) == (32, 33)
