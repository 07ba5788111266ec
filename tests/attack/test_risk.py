"""The nine attacks against the oracle, which tries everything."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from incrowd.attack._attacks import ATTACKS, Attack, Probability, Proportion
from incrowd.errors import ArgumentError, InputError
from strategies import as_visits, only_deep, random_cases, visited

TOLERANCES = st.sampled_from([0, 0.1, 0.2, 1 / 4, 0.5, 1])
# Example 3.5 of the paper; places and days are numbered.
LUCCA, LEGHORN, PISA, FLORENCE = range(4)
PAPER = {
    1: [(LUCCA, 3), (LEGHORN, 3), (PISA, 3), (FLORENCE, 4)],
    2: [(LUCCA, 3), (PISA, 3), (LUCCA, 4), (LEGHORN, 4)],
    3: [(LEGHORN, 3), (PISA, 3), (LUCCA, 4), (FLORENCE, 4)],
    4: [(PISA, 4), (LEGHORN, 4), (FLORENCE, 4)],
    5: [(PISA, 4), (FLORENCE, 4), (LUCCA, 5)],
    6: [(LUCCA, 4), (LEGHORN, 4)],
}


def paper():
    # Each visit gets a moment of its own, so that they keep the paper's order.
    rows = [
        (user, place, 10 * day + i)
        for user, visits in PAPER.items()
        for i, (place, day) in enumerate(visits)
    ]
    return as_visits(rows)


def risks(visits, attack, k, **how):
    return incrowd.risk(visits, attack, k, threads=1, **how)["risk"].to_list()


def expected(rows, attack, k, **how):
    return [float(one) for one in naive.risk(naive.from_rows(rows), attack, k, **how)]


def visits_of(counts):
    """Give rows of people who were so often at each place."""
    return [
        (user, place, 10 * place + i)
        for user, own in enumerate(counts)
        for place, number in own.items()
        for i in range(number)
    ]


EVERYDAY = ("visit", "frequency", "home_work", "proportion", "frequent_location_sequence")
OTHERS = [name for name in ATTACKS if name not in EVERYDAY]
"""An attack for each kind of knowledge and of search; the others are much like one of these."""


class TestRisk:
    @pytest.mark.parametrize(
        "attack", [*sorted(EVERYDAY), *only_deep(*sorted(ATTACKS.keys() - EVERYDAY))]
    )
    @given(rows=visited(), k=st.integers(1, 6))
    @random_cases(2000)
    def test_is_the_worst_of_all_instances(self, attack, rows, k):
        assert risks(as_visits(rows), attack, k) == expected(rows, attack, k)

    @pytest.mark.parametrize("attack", ["frequency", "home_work", "proportion", "probability"])
    @given(rows=visited(), k=st.integers(1, 4), tolerance=TOLERANCES, relative=st.booleans())
    @random_cases(500)
    def test_with_a_tolerance(self, attack, rows, k, tolerance, relative):
        found = risks(as_visits(rows), attack, k, tolerance=tolerance, relative=relative)
        exact = Fraction(str(tolerance))
        assert found == expected(rows, attack, k, tolerance=exact, relative=relative)

    @given(rows=visited(), k=st.integers(1, 4), precision=st.integers(1, 7))
    def test_of_visits_known_less_precisely(self, rows, k, precision):
        found = risks(as_visits(rows), "visit", k, precision=precision)
        assert found == expected(rows, "visit", k, precision=precision)

    def test_the_bound_of_proportions_does_not_count_on_those_who_may_come_back(self):
        """A further place can change what others are in proportion to, and so whom it loses."""
        counts = [
            {0: 5, 1: 6, 3: 6, 4: 7, 5: 6},
            {0: 3, 1: 8, 4: 6, 5: 1},
            {0: 6, 1: 3, 2: 7, 3: 4, 4: 8},
            {0: 3, 1: 5, 2: 5, 3: 7, 4: 5, 5: 5},
            {0: 1, 1: 8, 2: 1, 3: 7, 4: 5, 5: 8},
            {0: 4, 1: 3, 2: 5, 3: 8, 4: 2, 5: 3},
            {0: 6, 1: 1, 2: 6, 3: 3, 4: 5, 5: 2},
            {0: 4, 1: 7, 2: 8, 3: 7, 4: 4, 5: 8},
        ]
        rows = visits_of(counts)
        found = risks(as_visits(rows), "proportion", 3, tolerance=0.5)
        assert found == [1 / 3, 1, 1 / 3, 1 / 2, 1, 1 / 2, 1, 1 / 2]
        assert found == expected(rows, "proportion", 3, tolerance=Fraction(1, 2))

    def test_who_is_out_of_proportion_comes_back_when_more_is_known(self):
        counts = [{0: 1, 1: 1, 2: 1, 3: 1, 4: 1}, {3: 5, 1: 4, 4: 6}, {4: 5, 0: 1, 1: 5, 3: 6}]
        rows = visits_of(counts)
        found = risks(as_visits(rows), "proportion", 3, tolerance=0.3)
        assert found == [1, 1 / 2, 1]
        assert found == expected(rows, "proportion", 3, tolerance=Fraction(3, 10))

    def test_in_a_sequence_no_visit_follows_itself(self):
        """Who was twice in a row at a place is not who was there once."""
        rows = [(0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 0), (2, 0, 0), (2, 1, 0)]
        found = risks(as_visits(rows), "location_sequence", 3)
        assert found == [1 / 2, 1, 1 / 2]
        assert found == expected(rows, "location_sequence", 3)

    @given(
        counts=st.lists(
            st.dictionaries(st.integers(0, 5), st.integers(1, 9), min_size=3),
            min_size=3, max_size=8,
        ),
        k=st.integers(3, 4),
        tolerance=st.sampled_from([Fraction(1, 10), Fraction(3, 10), Fraction(1, 2)]),
    )  # fmt: skip
    @random_cases(600)
    def test_proportions_of_many_visits(self, counts, k, tolerance):
        """Whoever is out of proportion to what is known may come back when more is."""
        rows = visits_of(counts)
        found = risks(as_visits(rows), "proportion", k, tolerance=float(tolerance))
        assert found == expected(rows, "proportion", k, tolerance=tolerance)

    @given(rows=visited(most_people=4, most_visits=25), attack=st.sampled_from([*ATTACKS]))
    @random_cases(200)
    def test_of_longer_lives(self, rows, attack):
        assert risks(as_visits(rows), attack, 3) == expected(rows, attack, 3)

    @given(rows=visited(), attack=st.sampled_from([*ATTACKS]), k=st.integers(1, 5))
    @random_cases(1000)
    def test_is_that_of_the_instance_which_is_told(self, rows, attack, k):
        people, visits = naive.from_rows(rows), as_visits(rows)
        found = incrowd.risk(visits, attack, k, instances=True, threads=1)
        assert (1 / found["crowd"] == found["risk"]).all()
        for (_, own), crowd, knows in zip(people, found["crowd"], found["knows"], strict=True):
            instance = told(attack, knows)
            points = naive.knowledge(own, attack)
            assert len(instance) <= max(k, 2 if attack == "home_work" else 1)
            assert naive.matches(own, instance, attack)
            assert set(instance) <= set(points)
            left = sum(naive.matches(theirs, instance, attack) for _, theirs in people)
            assert left == crowd

    @given(rows=visited(), ks=st.lists(st.integers(1, 6), min_size=1, max_size=4))
    def test_several_at_once_are_the_same_as_one_by_one(self, rows, ks):
        visits = as_visits(rows)
        together = incrowd.risk(visits, [*ATTACKS], ks, instances=True)
        for (attack, k), part in together.group_by("attack", "k"):
            alone = incrowd.risk(visits, attack, k, instances=True)
            assert part.drop("attack", "k").equals(alone)
        asked = {(name, k) for name in ATTACKS for k in ks if name != "home_work"}
        assert {(attack, k) for (attack, k), _ in together.group_by("attack", "k")} == (
            asked | {("home_work", 2)}
        )

    def test_of_the_example_of_the_paper(self):
        first = incrowd.risk(paper(), "location", 2, instances=True).row(0, named=True)
        assert first["risk"] == 1 / 3
        known = {point["place"] for point in first["knows"]}
        assert known in ({LUCCA, FLORENCE}, {LEGHORN, FLORENCE})

    @pytest.mark.parametrize(
        ("pair", "probability"),
        [
            ((LUCCA, LEGHORN), 1 / 4),
            ((LUCCA, PISA), 1 / 4),
            ((LUCCA, FLORENCE), 1 / 3),
            ((LEGHORN, PISA), 1 / 4),
            ((LEGHORN, FLORENCE), 1 / 3),
            ((PISA, FLORENCE), 1 / 4),
        ],
    )
    def test_of_each_instance_of_the_example_of_the_paper(self, pair, probability):
        """Somebody of whom nothing else can be known: the others who fit are the paper's."""
        alone = [(7, place, 10 * i) for i, place in enumerate(pair)]
        visits = as_visits(paper().rows().rows() + alone)
        found = incrowd.risk(visits, "location", 2, targets=[7], instances=True)
        assert {point["place"] for point in found["knows"][0]} <= set(pair)
        assert 1 / (found["crowd"][0] - 1) == probability

    @pytest.mark.parametrize("pair", [*naive.itertools.combinations("1234", 2)])
    def test_can_be_that_of_any_ordered_pair_of_the_example_of_the_paper(self, pair):
        """Of v1, v2, v3, v4 six pairs can be known: each tells her apart where it alone can."""
        others = [each for each in naive.itertools.combinations("1234", 2) if each != pair]
        people = ["1234", *others, pair[::-1]]
        rows = [(who, int(v), t) for who, own in enumerate(people) for t, v in enumerate(own)]
        found = incrowd.risk(as_visits(rows), "location_sequence", 2, instances=True)
        assert found["risk"][0] == 1
        assert [str(point["place"]) for point in found["knows"][0]] == list(pair)

    def test_is_the_same_on_any_number_of_threads(self):
        visits = incrowd.visits(incrowd.synthesize("city", users=300, seed=3))
        one, many = (
            incrowd.risk(visits, [*ATTACKS], [2, 4], instances=True, threads=threads)
            for threads in (1, 3)
        )
        assert one.equals(many)

    def test_needs_no_floating_point_luck(self):
        # In binary, 0.2 + 0.1 is not 0.3, and 0.3 - 0.2 is less than 0.1.
        rows = [(0, place, t) for t, place in enumerate([1] * 3 + [2] * 7)]
        rows += [(1, place, t) for t, place in enumerate([1] * 2 + [2] * 8)]
        assert risks(as_visits(rows), "probability", 2, tolerance=0.1) == [0.5, 0.5]
        assert risks(as_visits(rows), "probability", 2, tolerance=0.099) == [1, 1]

    def test_of_some_is_among_all(self):
        visits = paper()
        some = incrowd.risk(visits, "location", 2, targets=[5, 1])
        every = incrowd.risk(visits, "location", 2)
        assert some.rows() == [every.row(4), every.row(0)]

    @pytest.mark.parametrize("attack", ATTACKS)
    def test_of_more_points_than_anybody_has_is_that_of_all(self, attack):
        visits = paper()
        known = incrowd.risk(visits, attack, [4, 10**9], instances=True)
        parts = [part.drop("k") for _, part in known.group_by("k", maintain_order=True)]
        assert all(part.equals(parts[0]) for part in parts)

    def test_tells_how_far_it_is(self):
        seen = []
        incrowd.risk(paper(), ["visit", "location"], 2, progress=lambda *far: seen.append(far))
        assert seen == [(0, 12), (6, 12), (12, 12)]

    def test_gives_names_of_places_and_times(self):
        data = incrowd.read(
            {
                "user": ["a", "b"],
                "time": [0, 600],
                "lat": [1, 1],
                "lon": [2, 2],
                "at": ["x", "y"],
            },
            place="at",
        )
        visits = incrowd.visits(data)
        found = incrowd.risk(visits, "visit", 1, instances=True)["knows"].to_list()
        assert [point["place"] for (point,) in found] == ["x", "y"]
        assert [point["time"] for (point,) in found] == visits.time.tolist()


def told(attack, knows):
    """Give an instance as the oracle has it."""
    if attack == "visit":
        return [(point["place"], point["time"]) for point in knows]
    if attack == "probability":
        return [(point["place"], Fraction(point["visits"], point["of"])) for point in knows]
    if attack in ("frequency", "home_work", "proportion"):
        return [(point["place"], point["visits"]) for point in knows]
    return [point["place"] for point in knows]


class Weekday(Attack):
    """Places with days of the week."""

    name = "weekday"
    multiset = True

    def codes(self, visits):
        return visits.place * 7 + visits.time % 7


class Both(Proportion):
    """Proportions, and probabilities as well."""

    name = "both"
    normalised = True

    def matching_range(self, number, total):
        return Probability(self.tolerance, self.relative).matching_range(number, total)


class TestAttackOfOnesOwn:
    @given(rows=visited(), k=st.integers(1, 4))
    def test_can_have_codes_of_its_own(self, rows, k):
        coded = [(user, place * 7 + time % 7, time) for user, place, time in rows]
        assert risks(as_visits(rows), Weekday(), k) == expected(coded, "location", k)

    @given(rows=visited(), k=st.integers(1, 4), tolerance=TOLERANCES, relative=st.booleans())
    @random_cases(500)
    def test_can_be_two_at_once(self, rows, k, tolerance, relative):
        people = naive.from_rows(rows)
        how = {"tolerance": Fraction(str(tolerance)), "relative": relative}
        wanted = []
        for _, own in people:
            points = naive.frequencies(own)
            crowds = []
            for instance in naive.itertools.combinations(points, min(k, len(points))):
                parts = [(place, Fraction(number, len(own))) for place, number in instance]
                crowds.append(
                    sum(
                        naive.matches(theirs, instance, "proportion", **how)
                        and naive.matches(theirs, parts, "probability", **how)
                        for _, theirs in people
                    )
                )
            wanted.append(1 / min(crowds))
        assert risks(as_visits(rows), Both(tolerance, relative), k) == wanted

    def test_must_fit_whom_it_is_about(self):
        class Odd(Attack):
            name = "odd"

            def matching_range(self, number, total):
                return number + 1, total * 9, total * 0 + 1

        with pytest.raises(ArgumentError, match="odd: matching_range: what is known of a person"):
            incrowd.risk(paper(), Odd(), 2)

    def test_counts_what_is_repeated(self):
        class Half(Weekday):
            def matching_range(self, number, total):
                return number * 0 + 1, total * 9, total * 0 + 2

        with pytest.raises(ArgumentError, match="with multiset the denominator must be 1"):
            incrowd.risk(paper(), Half(), 2)


class TestRelative:
    def test_concerns_those_who_have_a_tolerance(self):
        """The others stay as they are, if there are any; alone it would say nothing."""
        names = ["frequency", "home_work", "probability"]
        found = incrowd.risk(paper(), names, 2, relative=True)
        alone = [
            incrowd.risk(paper(), [name], 2, **how)
            for name, how in zip(names, ({}, {}, {"relative": True}), strict=True)
        ]
        assert found.equals(pl.concat(alone))
        with pytest.raises(ArgumentError, match="frequency: relative needs a tolerance"):
            incrowd.risk(paper(), ["frequency", "home_work"], 2, relative=True)

    def test_concerns_all_where_a_tolerance_is_given(self):
        names = ["frequency", "probability"]
        found = incrowd.risk(paper(), names, [2], relative=True, tolerance=0.5)
        alone = [incrowd.risk(paper(), [name], 2, relative=True, tolerance=0.5) for name in names]
        assert found.equals(pl.concat(alone))


class TestBadInput:
    @pytest.mark.parametrize(
        ("how", "says"),
        [
            ({"k": 0}, "k must be at least 1 (points that the adversary knows), not 0"),
            ({"k": -3}, "k must be at least 1"),
            ({"k": 1.5}, "k must be an integer"),
            ({"k": True}, "k must be an integer"),
            ({"k": "3"}, "k must be an integer"),
            ({"k": []}, "empty"),
            ({"attack": "locatoin"}, "did you mean 'location'"),
            ({"attack": "xyz"}, "there is no attack 'xyz': location"),
            ({"attack": []}, "give at least one attack"),
            ({"attack": [3]}, "not int"),
            ({"attack": "probability", "tolerance": 1.5}, "from 0 to 1"),
            ({"attack": "probability", "tolerance": -0.1}, "from 0 to 1"),
            ({"attack": "proportion", "tolerance": "much"}, "not 'much'"),
            ({"attack": "proportion", "tolerance": float("nan")}, "nan"),
            ({"attack": "proportion", "tolerance": 1e-7}, "six decimals"),
            ({"attack": "frequency", "relative": True}, "relative needs a tolerance"),
            ({"attack": "visit", "precision": 0}, "at least 1 time slot"),
            ({"attack": "visit", "precision": 0.5}, "must be an integer (time slots)"),
            ({"tolerance": 0.1}, "'tolerance' is not a setting of location"),
            ({"targets": [1, 99, 98]}, "target 99 is not in the data (nor is 1 other)"),
            ({"targets": []}, "targets is empty"),
            ({"targets": 3}, "a list of identifiers, like [3]"),
            ({"targets": "3"}, "a list of identifiers, like ['3']"),
            ({"targets": [[3]]}, "target [3] is not in the data"),
            ({"targets": [([],)]}, "is not in the data"),
            ({"attack": None}, "give at least one attack: location"),
            ({"attack": 3}, "not 3"),
            ({"attack": b"visit"}, "not bytes"),
            (
                {"attack": Probability},
                "Probability is a class; give an instance of it: Probability()",
            ),
            ({"attack": ["location", Probability]}, "give an instance of it: Probability()"),
            ({"k": None}, "k must be an integer"),
            ({"threads": 0}, "threads must be a positive integer, or None for all cores, not 0"),
            ({"threads": -1}, "threads must be a positive integer, or None for all cores, not -1"),
            (
                {"threads": 1.5},
                "threads must be a positive integer, or None for all cores, not 1.5",
            ),
            (
                {"threads": True},
                "threads must be a positive integer, or None for all cores, not True",
            ),
        ],
    )
    def test_is_refused(self, how, says):
        with pytest.raises(ArgumentError) as error:
            incrowd.risk(paper(), **({"attack": "location", "k": 2} | how))
        assert says in str(error.value)

    def test_what_are_no_visits(self):
        for function in (lambda it: incrowd.risk(it, "location", 2), incrowd.uniqueness):
            with pytest.raises(ArgumentError, match="must be Visits or Trajectories, not list"):
                function([1])
        with pytest.raises(ArgumentError, match="must be Visits or Trajectories, not list"):
            incrowd.deanonymize([1])

    def test_trajectories_are_taken_for_their_visits(self):
        city = incrowd.synthesize("city", users=20, seed=7)
        seen = incrowd.visits(city)
        assert incrowd.risk(city, "visit", 2).equals(incrowd.risk(seen, "visit", 2))
        assert incrowd.uniqueness(city, 2).table.equals(incrowd.uniqueness(seen, 2).table)
        assert incrowd.deanonymize(city).table.equals(incrowd.deanonymize(seen).table)

    def test_trajectories_of_crowds_identify_nobody(self):
        city = incrowd.synthesize("city", users=20, seed=7)
        crowds = incrowd.glove(city, 2).trajectories
        assert incrowd.risk(crowds, "visit", 2)["risk"].max() <= 0.5
        assert incrowd.deanonymize(crowds).table["matched"].max() == 0
        assert incrowd.deanonymize(city).table["matched"].max() > 0

    def test_nobody_at_all(self):
        nobody = incrowd.Visits.from_rows({"user": [], "place": [], "time": []})
        with pytest.raises(InputError, match="no visits"):
            incrowd.risk(nobody, "location", 2)

    def test_somebody_without_visits(self):
        some = incrowd.Visits(np.array([1]), np.array([1]), np.array([0, 1, 1, 1]))
        with pytest.raises(InputError, match=r"user 1 has no visit \(nor have 1 others\)"):
            incrowd.risk(some, "location", 2)
