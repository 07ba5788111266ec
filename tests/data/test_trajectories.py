import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given

import naive
import strategies
from incrowd import Frame, Trajectories
from incrowd.data._frame import laea
from incrowd.errors import ArgumentError, ColumnError, InputError
from strategies import random_cases

ROWS = {
    "user": ["ann", "bob", "ann", "cyd", "bob"],
    "x0": [3, 7, 4, 1, 5],
    "y0": [1, 1, 2, 8, 5],
    "t0": [60, 61, 0, 5, 2],
}


def three():
    return Trajectories.from_boxes(ROWS)


def ints(*values):
    return np.array(values, np.int32)


def one(**changes):
    """Make one person with two samples, with something changed."""
    columns = {
        "x0": ints(0, 1),
        "x1": ints(1, 2),
        "y0": ints(0, 0),
        "y1": ints(1, 1),
        "t0": ints(5, 6),
        "t1": ints(6, 7),
    }
    rest = {"offsets": np.array([0, 2]), "frame": Frame()} | {
        name: changes.pop(name) for name in list(changes) if name not in columns
    }
    return Trajectories(tuple((columns | changes).values()), **rest)


class TestInit:
    def test_counts_people_from_0_when_they_have_no_name(self):
        assert one().people.to_list() == [0]

    def test_everybody_stands_for_one_person_at_first(self):
        assert three().crowd.tolist() == [1, 1, 1]

    def test_takes_a_person_without_samples(self):
        assert one(offsets=np.array([0, 0, 2])).lengths().tolist() == [0, 2]

    @pytest.mark.parametrize(
        ("changes", "text"),
        [
            ({"x0": ints(0)}, "int32 arrays of one length"),
            ({"x0": np.array([0, 1])}, "int32 arrays of one length"),
            ({"offsets": np.array([], np.int64)}, "start at 0 and end at the number of samples"),
            ({"offsets": np.array([1, 2])}, "start at 0 and end at the number of samples"),
            ({"offsets": np.array([0, 1])}, "start at 0 and end at the number of samples"),
            ({"offsets": np.array([0, 2, 1, 2])}, "offsets must never decrease"),
            ({"x1": ints(0, 2)}, "every box must have x1 > x0"),
            ({"t1": ints(6, 5)}, "every box must have x1 > x0"),
            ({"t0": ints(5, 4)}, "sorted by t0, t1, x0, x1, y0, y1"),
            ({"t0": ints(5, 5), "t1": ints(7, 6)}, "sorted by t0, t1, x0, x1, y0, y1"),
            ({"t0": ints(5, 5), "t1": ints(6, 6), "x0": ints(1, 0), "x1": ints(2, 2)}, "sorted"),
            ({"t0": ints(5, 5), "t1": ints(6, 6), "x0": ints(1, 1), "x1": ints(2, 2)}, "distinct"),
            ({"people": pl.Series(["ann", "bob"])}, "people has 2 identifiers for 1 trajectories"),
            ({"crowd": ints(0)}, "crowd must hold a positive integer"),
            ({"crowd": ints(1, 1)}, "crowd must hold a positive integer"),
            ({"place": ints(1)}, "needs one for each"),
        ],
    )
    def test_refuses_what_breaks_the_promise(self, changes, text):
        with pytest.raises(ArgumentError, match=text):
            one(**changes)

    def test_order_starts_anew_with_each_person(self):
        data = one(offsets=np.array([0, 1, 2]), t0=ints(5, 4), t1=ints(6, 5))
        assert data.t0.tolist() == [5, 4]


class TestFromBoxes:
    @random_cases(300)
    @given(rows=strategies.rows())
    def test_sorts_and_collapses_as_the_oracle_does(self, rows):
        data = Trajectories.from_boxes(strategies.table(rows))
        assert naive.people_of(data) == naive.from_boxes(rows)

    @given(rows=strategies.rows(longest=1))
    def test_ends_may_be_left_out(self, rows):
        columns = strategies.table(rows)
        short = {name: columns[name] for name in ("user", "x0", "y0", "t0")}
        assert Trajectories.from_boxes(short) == Trajectories.from_boxes(columns)

    def test_people_keep_the_order_of_their_first_rows(self):
        assert three().people.to_list() == ["ann", "bob", "cyd"]

    def test_repeated_rows_collapse(self):
        data = Trajectories.from_boxes({"user": [1, 1], "x0": [0, 0], "y0": [0, 0], "t0": [5, 5]})
        assert data.samples == 1

    @pytest.mark.parametrize(
        "table",
        [
            pl.DataFrame(ROWS),
            pl.LazyFrame(ROWS),
            pl.DataFrame(ROWS).to_arrow(),
            pd.DataFrame(ROWS),
            pl.DataFrame(ROWS).select(pl.all().reverse().reverse(), extra=1),
        ],
    )
    def test_takes_any_table(self, table):
        assert Trajectories.from_boxes(table) == three()

    @pytest.mark.parametrize(
        ("users", "people"),
        [
            ([2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
            ([1.5, 2.0], ["1.5", "2.0"]),
            ([True, False], ["true", "false"]),
            (pl.Series(["b", "a"], dtype=pl.Categorical), ["b", "a"]),
        ],
    )
    def test_identifiers_are_whole_numbers_or_text(self, users, people):
        data = Trajectories.from_boxes({"user": users, "x0": [0, 0], "y0": [0, 0], "t0": [0, 0]})
        assert data.people.to_list() == people

    def test_none_is_fine(self):
        data = Trajectories.from_boxes({"user": [], "x0": [], "y0": [], "t0": []})
        assert (len(data), data.samples, data.boxes().height) == (0, 0, 0)

    def test_carries_the_frame(self):
        assert Trajectories.from_boxes(ROWS, Frame(slot=5)).frame == Frame(slot=5)

    @pytest.mark.parametrize("missing", ["user", "x0", "y0", "t0"])
    def test_names_a_missing_column(self, missing):
        table = {name: column for name, column in ROWS.items() if name != missing}
        with pytest.raises(ColumnError, match=f"no column '{missing}'; found: "):
            Trajectories.from_boxes(table)

    @pytest.mark.parametrize(
        ("change", "error", "text"),
        [
            ({"x0": [0.5] * 5}, ColumnError, "'x0' must hold integers, not Float64"),
            ({"x0": ["1"] * 5}, ColumnError, "'x0' must hold integers, not String"),
            ({"t0": [0, 1, None, 2, None]}, InputError, "'t0' has 2 empty values"),
            (
                {"t0": [0, 0, 0, 0, 2**31]},
                InputError,
                "holds 2147483648; it must be between -2147483648 and 2147483647",
            ),
            (
                {"t0": [0, 0, 0, 0, 2**31 - 1]},
                InputError,
                "column 't1' holds 2147483648; it must be at most 2147483647",
            ),
            (
                {"t1": [61, 62, 0, 6, 3]},
                InputError,
                r"row 2 \(counted from 0\): the box is empty, t0 = 0 and t1 = 0",
            ),
            ({"user": ["a", None, "b", None, "a"]}, InputError, "2 rows have an empty user"),
            (
                {"user": [[1]] * 5},
                ColumnError,
                "column 'user' holds List.*; it must hold text or integers",
            ),
            ({"x0": [1, 2]}, InputError, "cannot read this dict as a table"),
        ],
    )
    def test_says_what_is_wrong(self, change, error, text):
        with pytest.raises(error, match=text):
            Trajectories.from_boxes(ROWS | change)

    @pytest.mark.parametrize("table", [7, "boxes.csv", [1, 2], None])
    def test_refuses_what_is_no_table(self, table):
        with pytest.raises(InputError, match="the table must be a Polars, Arrow or pandas frame"):
            Trajectories.from_boxes(table)

    def test_does_not_change_the_table(self):
        table = pl.DataFrame(ROWS)
        Trajectories.from_boxes(table)
        assert table.equals(pl.DataFrame(ROWS))


class TestBoxes:
    @given(data=strategies.trajectories())
    def test_gives_back_what_from_boxes_took(self, data):
        assert Trajectories.from_boxes(data.boxes()) == data

    def test_has_the_columns_of_the_design(self):
        assert three().boxes().columns == ["user", "x0", "x1", "y0", "y1", "t0", "t1"]
        assert three().boxes().row(0) == ("ann", 4, 5, 2, 3, 0, 1)


class TestPerson:
    @given(data=strategies.trajectories())
    def test_is_the_index_behind_each_sample(self, data):
        expected = [i for i, person in enumerate(data) for _ in range(len(person))]
        assert data.person().tolist() == expected


class TestLengths:
    def test_counts_samples(self):
        assert three().lengths().tolist() == [2, 2, 1]


class TestOriginal:
    def test_single_cells_and_slots_are(self):
        assert three().original

    @pytest.mark.parametrize("side", ["x1", "y1", "t1"])
    def test_anything_larger_is_not(self, side):
        assert not one(**{side: getattr(one(), side) + ints(3)}).original


class TestGetItem:
    def test_an_index_gives_a_person(self):
        bob = three()[1]
        assert (bob.user, bob.crowd, len(bob)) == ("bob", 1, 2)
        assert (bob.t0.tolist(), bob.x0.tolist()) == ([2, 61], [5, 7])

    @pytest.mark.parametrize("index", [-1, 2, np.int64(2), np.int8(-1)])
    def test_counts_from_the_end_as_well(self, index):
        assert three()[index].user == "cyd"

    @pytest.mark.parametrize("index", [3, -4])
    def test_a_person_out_of_range_ends_a_loop(self, index):
        with pytest.raises(IndexError):
            three()[index]

    def test_a_person_is_a_view(self):
        data = three()
        assert np.shares_memory(data[1].t0, data.t0)

    @pytest.mark.parametrize(
        ("index", "people"),
        [
            (slice(1, None), ["bob", "cyd"]),
            (slice(None, None, -1), ["cyd", "bob", "ann"]),
            (slice(5, 9), []),
            ([2, 0], ["cyd", "ann"]),
            ([-1], ["cyd"]),
            ([1, 1], ["bob", "bob"]),
            ([], []),
            (np.array([True, False, True]), ["ann", "cyd"]),
            ([False, False, False], []),
            (pl.Series([True, True, False]), ["ann", "bob"]),
            (range(2), ["ann", "bob"]),
        ],
    )
    def test_several_give_trajectories(self, index, people):
        data = three()
        some = data[index]
        assert some.people.to_list() == people
        whole = dict(naive.people_of(data))
        assert naive.people_of(some) == [(user, whole[user]) for user in people]

    @given(data=strategies.trajectories(max_crowd=3))
    def test_everything_is_everything(self, data):
        assert data[:] == data[range(len(data))] == data

    def test_neighbours_are_not_copied(self):
        data = three()
        assert np.shares_memory(data[1:].t0, data.t0)

    def test_takes_crowds_and_places_along(self):
        data = one(
            offsets=np.array([0, 1, 2]),
            crowd=ints(2, 5),
            place=ints(1, 0),
            places=pl.Series(["bar", "zoo"]),
            frame=Frame(slot=5),
        )
        some = data[[1]]
        assert (some.crowd.tolist(), some.place_names().to_list()) == ([5], ["bar"])
        assert some.frame == Frame(slot=5)

    @pytest.mark.parametrize(
        ("index", "text"),
        [
            ([3], "from -3 to 2, not 3 to 3"),
            ([-4], "from -3 to 2, not -4 to -4"),
            ([True], "the mask has 1 values for 3 people"),
            ([0.5], "by integers or a mask, not by float64"),
            (["ann"], "by integers or a mask"),
            ("ann", "by a slice, a list of indices or a mask"),
            (None, "by a slice, a list of indices or a mask"),
            ([[0, 1]], "by a slice, a list of indices or a mask"),
        ],
    )
    def test_refuses_anything_else(self, index, text):
        with pytest.raises(ArgumentError, match=text):
            three()[index]


class TestIter:
    def test_gives_people_in_order(self):
        assert [person.user for person in three()] == ["ann", "bob", "cyd"]


class TestKeep:
    @given(data=strategies.trajectories(max_crowd=3))
    def test_people_left_with_none_go(self, data):
        mask = data.x0 > 0
        kept = [
            (user, [box for box in boxes if box[0] > 0]) for user, boxes in naive.people_of(data)
        ]
        assert naive.people_of(data.keep(mask)) == [person for person in kept if person[1]]

    def test_takes_places_along(self):
        data = one(place=ints(4, 9))
        assert data.keep(np.array([False, True])).place.tolist() == [9]

    @pytest.mark.parametrize("mask", [np.array([True]), ints(0, 1), np.ones((1, 2), np.bool_)])
    def test_refuses_a_mask_that_does_not_fit(self, mask):
        with pytest.raises(ArgumentError, match="a value for each of the 2 samples"):
            one().keep(mask)


class TestPlaceNames:
    def test_there_are_none_without_places(self):
        assert one().place_names() is None

    def test_codes_are_names_where_there_are_no_others(self):
        assert one(place=ints(4, 9)).place_names().to_list() == [4, 9]

    def test_codes_stand_for_names(self):
        data = one(place=ints(1, 0), places=pl.Series(["bar", "zoo"]))
        assert data.place_names().to_list() == ["zoo", "bar"]


class TestEq:
    def test_is_by_value(self):
        assert one() == one()

    def test_identifiers_are_equal_when_they_read_the_same(self):
        assert one(people=pl.Series([7])) == one(people=pl.Series(["7"]))

    def test_places_are_equal_when_their_names_are(self):
        mine = one(place=ints(1, 0), places=pl.Series(["bar", "zoo"]))
        assert mine == one(place=ints(0, 1), places=pl.Series(["zoo", "bar"]))

    @pytest.mark.parametrize(
        "change",
        [
            {"x0": ints(-1, 1)},
            {"x1": ints(1, 3)},
            {"y0": ints(-1, 0)},
            {"y1": ints(2, 1)},
            {"t0": ints(4, 6)},
            {"t1": ints(6, 8)},
            {"offsets": np.array([0, 1, 2])},
            {"frame": Frame(cell=50)},
            {"people": pl.Series(["ann"])},
            {"crowd": ints(2)},
            {"place": ints(0, 0)},
        ],
    )
    def test_any_difference_counts(self, change):
        assert one() != one(**change)

    def test_places_count(self):
        assert one(place=ints(0, 0)) != one(place=ints(0, 1))

    def test_nothing_else_is_equal(self):
        assert one() != "one"

    def test_there_is_no_hash(self):
        with pytest.raises(TypeError):
            hash(one())


class TestImmutability:
    @pytest.mark.parametrize("name", ["x0", "crowd", "people", "frame", "anything"])
    def test_attributes_cannot_be_set(self, name):
        with pytest.raises(AttributeError, match=f"are immutable: cannot set '{name}'"):
            setattr(one(), name, None)

    @pytest.mark.parametrize("name", ["x0", "x1", "y0", "y1", "t0", "t1", "offsets", "crowd"])
    def test_arrays_cannot_be_written(self, name):
        with pytest.raises(ValueError, match="read-only"):
            getattr(one(), name)[0] = 9

    def test_the_arrays_of_the_caller_stay_hers(self):
        mine = ints(0, 1)
        one(x0=mine)
        assert mine.flags.writeable

    def test_people_cannot_be_changed_through_a_person(self):
        with pytest.raises(ValueError, match="read-only"):
            one()[0].t0[0] = 9


class TestRepr:
    def test_says_what_there_is(self):
        assert repr(three()) == (
            "Trajectories(3 people, 5 samples, cells of 100 m, slots of 1 min, no projection)"
        )

    def test_names_crowds_seconds_and_the_projection(self):
        data = one(crowd=ints(2000), frame=Frame(laea(5, -4), cell=2.5, slot=90))
        assert repr(data) == (
            "Trajectories(2,000 people in crowds of 2000+, 2 samples, cells of 2.5 m, "
            "slots of 90 s, +proj=laea +lat_0=5.0 +lon_0=-4.0)"
        )

    def test_works_for_none(self):
        assert repr(three()[[]]).startswith("Trajectories(0 people, 0 samples, ")


class TestToPolars:
    def test_gives_a_row_a_person(self):
        frame = three().to_polars()
        assert frame["user"].to_list() == ["ann", "bob", "cyd"]
        assert frame["t0"].to_list() == [[0, 60], [2, 61], [5]]

    def test_does_not_copy(self):
        data = three()
        column = data.to_polars()["t0"].explode(empty_as_null=True, keep_nulls=True)
        assert column.to_numpy().ctypes.data == data.t0.ctypes.data
