from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import incrowd
import naive
import strategies
from incrowd import Trajectories, Visits
from incrowd.errors import ArgumentError, ColumnError, InputError
from strategies import as_visits, visited

ROWS = {"user": ["a", "b", "a", "a"], "place": [3, 1, 2, 3], "time": [5, 9, 5, 5]}

random_rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-2, 3), st.integers(-3, 3)), max_size=25
)


def people_of(visits):
    """Take visits apart, as the oracle has them."""
    return [
        (one.user, list(zip(one.time.tolist(), one.place.tolist(), strict=True))) for one in visits
    ]


def make(place=(2, 3, 1), time=(5, 5, 1), offsets=(0, 2, 3), **rest):
    return Visits(np.array(place), np.array(time), np.array(offsets), **rest)


class TestInit:
    def test_counts_people_from_0_when_they_have_no_name(self):
        assert make().people.to_list() == [0, 1]

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"time": (5, 5)}, "place and time must have the same length"),
            ({"offsets": (0, 2)}, "place and time must have the same length"),
            ({"offsets": (1, 3)}, "place and time must have the same length"),
            ({"offsets": ()}, "place and time must have the same length"),
            ({"offsets": (0, 2, 1, 3)}, "offsets must never decrease"),
            ({"time": (5, 4, 1)}, "sorted by time, then place"),
            ({"place": (3, 2, 1)}, "sorted by time, then place"),
            ({"people": pl.Series(["a"])}, "people has 1 identifiers for 2 people"),
        ],
    )
    def test_refuses_what_breaks_the_promise(self, change, text):
        with pytest.raises(ArgumentError, match=text):
            make(**change)


class TestFromRows:
    @given(rows=random_rows)
    def test_orders_as_the_oracle_does(self, rows):
        user, place, time = zip(*rows, strict=True) if rows else ((), (), ())
        found = Visits.from_rows({"user": user, "place": place, "time": time})
        assert people_of(found) == naive.from_rows(rows)

    def test_orders_by_time_then_place_and_keeps_repeats(self):
        assert people_of(Visits.from_rows(ROWS)) == [
            ("a", [(5, 2), (5, 3), (5, 3)]),
            ("b", [(9, 1)]),
        ]

    def test_takes_64_bits(self):
        visits = Visits.from_rows({"user": [1], "place": [2**63 - 1], "time": [-(2**63)]})
        assert visits.rows().row(0) == (1, 2**63 - 1, -(2**63))

    @pytest.mark.parametrize("missing", ["user", "place", "time"])
    def test_names_a_missing_column(self, missing):
        table = {name: column for name, column in ROWS.items() if name != missing}
        with pytest.raises(ColumnError, match=f"no column '{missing}'; found: "):
            Visits.from_rows(table)

    @pytest.mark.parametrize(
        ("change", "error", "text"),
        [
            ({"place": ["x"] * 4}, ColumnError, "'place' must hold integers, not String"),
            ({"time": [1.5] * 4}, ColumnError, "'time' must hold integers, not Float64"),
            ({"time": [1, None, 2, 3]}, InputError, "'time' has 1 empty values"),
            ({"user": ["a", None, "b", "c"]}, InputError, "1 rows have an empty user"),
        ],
    )
    def test_says_what_is_wrong(self, change, error, text):
        with pytest.raises(error, match=text):
            Visits.from_rows(ROWS | change)


class TestRows:
    @given(rows=random_rows.filter(bool))
    def test_gives_back_what_from_rows_took(self, rows):
        user, place, time = zip(*rows, strict=True)
        visits = Visits.from_rows({"user": user, "place": place, "time": time})
        assert Visits.from_rows(visits.rows()) == visits
        assert sorted(visits.rows().rows()) == sorted(rows)


class TestGetItem:
    def test_an_index_gives_a_person(self):
        one = Visits.from_rows(ROWS)[-2]
        assert (one.user, len(one), one.place.tolist()) == ("a", 3, [2, 3, 3])

    def test_a_person_out_of_range_ends_a_loop(self):
        with pytest.raises(IndexError):
            Visits.from_rows(ROWS)[2]

    @pytest.mark.parametrize(
        ("index", "people"),
        [
            (slice(1, None), ["b"]),
            ([1, 0], ["b", "a"]),
            ([False, True], ["b"]),
            ([], []),
            (slice(None, None, -1), ["b", "a"]),
        ],
    )
    def test_several_give_visits(self, index, people):
        visits = Visits.from_rows(ROWS)
        whole = dict(people_of(visits))
        assert people_of(visits[index]) == [(user, whole[user]) for user in people]

    @pytest.mark.parametrize("index", [[2], [-3], [True], "a", [[0]]])
    def test_refuses_anything_else(self, index):
        with pytest.raises(ArgumentError):
            Visits.from_rows(ROWS)[index]

    def test_takes_the_names_of_places_along(self):
        names = pl.Series(["bar", "zoo", "inn", "pub"])
        assert make(places=names)[[1]].places.to_list() == names.to_list()


class TestEq:
    def test_is_by_value(self):
        assert make() == make()

    def test_identifiers_are_equal_when_they_read_the_same(self):
        assert make(people=pl.Series([1, 2])) == make(people=pl.Series(["1", "2"]))

    @pytest.mark.parametrize(
        "change",
        [
            {"place": (2, 4, 1)},
            {"time": (5, 5, 2)},
            {"offsets": (0, 1, 3)},
            {"people": pl.Series(["a", "b"])},
            {"places": pl.Series(["a", "b", "c", "d"])},
        ],
    )
    def test_any_difference_counts(self, change):
        # Times that are in order whichever way they are cut.
        base = {"time": (5, 5, 6)} if "offsets" in change else {}
        assert make(**base) != make(**base | change)

    def test_nothing_else_is_equal(self):
        assert make() != [1]

    def test_there_is_no_hash(self):
        with pytest.raises(TypeError):
            hash(make())


class TestImmutability:
    @pytest.mark.parametrize("name", ["place", "time", "offsets", "people", "places"])
    def test_attributes_cannot_be_set(self, name):
        with pytest.raises(AttributeError, match=f"are immutable: cannot set '{name}'"):
            setattr(make(), name, None)

    @pytest.mark.parametrize("name", ["place", "time", "offsets"])
    def test_arrays_cannot_be_written(self, name):
        with pytest.raises(ValueError, match="read-only"):
            getattr(make(), name)[0] = 9


class TestRepr:
    def test_says_what_there_is(self):
        assert repr(Visits.from_rows(ROWS)) == "Visits(2 people, 4 visits, 3 places)"

    def test_works_for_none(self):
        assert repr(make()[[]]) == "Visits(0 people, 0 visits, 0 places)"


class TestVisits:
    @given(data=strategies.trajectories(original=True))
    def test_a_cell_is_a_place(self, data):
        found = [
            (user, [(time, (place + 2**31) >> 32, place) for time, place in visits])
            for user, visits in people_of(incrowd.visits(data))
        ]
        cells = [
            (user, [(t, x0, x0 * 2**32 + y0) for t, (x0, _, y0, _) in visits])
            for user, visits in naive.visits(naive.people_of(data))
        ]
        assert found == cells

    @given(data=strategies.trajectories())
    def test_a_rectangle_is_a_place_of_its_own(self, data):
        oracle = naive.visits(naive.people_of(data))
        places = sorted({tuple(place) for _, visits in oracle for _, place in visits})
        assume(any(x1 - x0 > 1 or y1 - y0 > 1 for x0, x1, y0, y1 in places))
        codes = [(u, [(t, places.index(tuple(p))) for t, p in visits]) for u, visits in oracle]
        assert people_of(incrowd.visits(data)) == codes

    def test_repeats_in_one_slot_are_kept(self):
        data = Trajectories.from_boxes(
            {"user": [1, 1], "x0": [0, 0], "y0": [0, 0], "t0": [5, 5], "t1": [6, 9]}
        )
        assert people_of(incrowd.visits(data)) == [(1, [(5, 0), (5, 0)])]

    def test_places_of_the_input_come_first(self):
        cells = Trajectories.from_boxes({"user": [1, 1], "x0": [0, 1], "y0": [0, 0], "t0": [5, 5]})
        data = Trajectories(
            cells.columns,
            cells.offsets,
            place=np.array([9, 4], np.int32),
            places=pl.Series([f"antenna {code}" for code in range(10)]),
        )
        visits = incrowd.visits(data)
        assert people_of(visits) == [(0, [(5, 4), (5, 9)])]
        assert visits.places[4] == "antenna 4"

    def test_corners_of_the_grid_are_different_places(self):
        low, high = -(2**31), 2**31 - 2
        data = Trajectories.from_boxes(
            {"user": [1] * 4, "x0": [low, low, high, high], "y0": [low, high] * 2, "t0": [0] * 4}
        )
        assert len(set(incrowd.visits(data).place.tolist())) == 4


class TestWithoutAName:
    """Samples of which the input does not name the place are at their cell."""

    def rows(self, *places):
        where = {"lat": [48.85, 48.85, 48.95][: len(places)], "lon": [2.35] * len(places)}
        time = [f"2012-03-05 07:3{i}" for i in range(len(places))]
        return pl.DataFrame({"user": [1] * len(places), "time": time, "place": places} | where)

    def test_all(self):
        visits = incrowd.visits(incrowd.read(self.rows(None, "", None)))
        bare = incrowd.visits(incrowd.read(self.rows(None, "", None).drop("place")))
        assert visits == bare
        assert visits.places is None

    def test_some(self):
        visits = incrowd.visits(incrowd.read(self.rows("inn", None, None)))
        names = visits.places.gather(visits.place).to_list()
        assert names[0] == "inn"
        assert all(name.startswith("cell ") for name in names[1:])
        assert len(set(names)) == 3


class TestCrowds:
    def test_everybody_in_a_crowd_has_its_visits(self):
        data = incrowd.glove(incrowd.synthesize("city", users=20, seed=3), k=2).trajectories
        visits = incrowd.visits(data)
        assert len(visits) == int(data.crowd.sum()) == 20
        assert incrowd.uniqueness(visits, [1, 2], precision=60).share == [0, 0]


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
