"""What ``--methods`` means: read from the settings of mechanisms, whatever there are."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from incrowd import MECHANISMS, Cloak, Filter, Generalise, GeoI, Glove
from incrowd.errors import ArgumentError
from incrowd.evaluate._compare.methods import columns_of, default_methods, split_methods
from incrowd.protect._mechanism import Mechanism, setting


def only(text, k=3):
    """Give the one mechanism that a method stands for."""
    (column,) = columns_of([text], [k])
    return column.mechanism


def keys(*methods, k=(3,)):
    return [column.key for column in columns_of(methods, k)]


@dataclass(frozen=True)
class Swap(Mechanism):
    """Does nothing here."""

    k: int = setting("Size.", default=2, metavar="K")
    delta: float = setting("Width.", default=2000.0, metavar="M")
    pause: float = setting("Gap.", default=60.0, metavar="MIN")
    chunked: str = setting("How.", default="no", choices=("no", "chunked"))
    in_turn: bool = setting("Whether.", default=False)

    method: ClassVar[str] = "swap"
    paper: ClassVar[str] = "none"
    summary: ClassVar[str] = "a toy"

    settings = promises = limits = ()

    def __post_init__(self):
        if self.k > 100:
            raise ArgumentError("k is too large")


@pytest.fixture
def swap(monkeypatch):
    monkeypatch.setitem(MECHANISMS, "swap", Swap)


class TestWords:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("glove", Glove(k=3)),
            ("glove:5", Glove(k=5)),
            ("glove:k=5", Glove(k=5)),
            ("glove:two-stage", Glove(k=3, merge="two-stage")),
            ("glove:loose:refined", Glove(k=3, variant="loose", crowds="refined")),
            ("glove:max-metres=15000:max_minutes=6h",
             Glove(k=3, max_metres=15_000, max_minutes=360)),
            ("glove:15km:6h", Glove(k=3, max_metres=15_000, max_minutes=360)),
            ("glove:edges=(500m,15min)", Glove(k=3, edges=(500, 15))),
            ("glove:diverse=(home:3)", Glove(k=3, diverse="home:3")),
            ("glove:suppress-at-most=0.05", Glove(k=3, suppress_at_most=0.05)),
            ("generalise:1000m:30min", Generalise(1000, 30)),
            ("generalise:1km:0.5h", Generalise(1000, 30)),
            ("generalise:30min", Generalise(minutes=30)),
            ("generalise:30min:1000", Generalise(1000, 30)),
            ("generalise:1000:30", Generalise(1000, 30)),
            ("generalise:minutes=1d", Generalise(minutes=1440)),
            (" cloak : 60 ", Cloak(60)),
            ("cloak:1h", Cloak(60)),
            ("cloak:day", Cloak(1440)),
            ("cloak:all", Cloak(None)),
            ("cloak:cloak=60", Cloak(60)),
            ("geo-i:low", GeoI("low")),
            ("geo-i:0.004", GeoI(0.004)),
            ("filter:3", Filter(3)),
        ],
    )  # fmt: skip
    def test_mean_settings(self, text, expected):
        assert only(text) == expected

    def test_are_read_from_any_mechanism(self, swap):
        assert only("swap:5:200m:2h:chunked") == Swap(5, 200, 120, "chunked")
        assert only("swap:2h", k=4) == Swap(4, pause=120)
        assert only("swap:in-turn") == only("swap:in-turn=Yes") == Swap(3, in_turn=True)
        assert only("swap:in-turn=no") == Swap(3)
        (column,) = columns_of(["swap:in-turn"])
        assert (column.key, column.label) == ("swap:k=3:in-turn=yes", "swap, k = 3, in turn")
        with pytest.raises(ArgumentError, match="in-turn must be yes or no, not 'maybe'"):
            columns_of(["swap:in-turn=maybe"])
        assert "swap" in default_methods()

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "there is no mechanism ''"),
            ("glov", "there is no mechanism 'glov'; did you mean glove?; there are glove, filter,"),
            ("glove:two-stag", "'two-stag' is no setting of it; did you mean two-stage?; it takes"),
            ("glove:max-metre=3", "no setting 'max-metre'; did you mean max-metres?; it takes k, "),
            ("glove:merge=optimum", "merge must be one of optimal, two-stage, not 'optimum'; did"),
            ("glove:k=two", "k takes a whole number, not 'two'"),
            ("glove:k=2.5", "k takes a whole number, not '2.5'"),
            ("glove:k=1", "k must be an integer of at least 2"),
            ("glove:k=2:k=3", "k is given twice"),
            ("glove:ledger=x", "there is no setting 'ledger'"),
            ("glove:union:two-stage:5:6:7", "refine_rounds belongs to merge='optimal'"),
            ("glove:(", "'glove:(' has a parenthesis too few or too many"),
            ("glove:)", "has a parenthesis too few or too many"),
            ("generalise", "generalise needs settings, like generalise:1000m:30min"),
            ("generalise:high", "'high' is no setting of it; it takes metres, minutes"),
            ("generalise:1m:2m", "'2m' is no setting of it"),
            ("generalise:0m", "a cell in metres must be a number above 0"),
            ("cloak", "'cloak': cloak needs settings, like cloak:60min"),
            ("cloak:tomorrow", "minutes takes minutes above 0, or hour, day, week, month, or all"),
            ("geo-i:lo", "epsilon takes a finite number above 0, in 1/m, or low, medium, high"),
            ("filter:3:4", "'4' is no setting of it; it takes at-most"),
        ],
    )
    def test_that_mean_nothing_are_refused(self, text, said):
        with pytest.raises(ArgumentError) as told:
            columns_of([text])
        assert said in str(told.value)
        assert "Traceback" not in str(told.value)

    def test_one_of_several_settings_must_say_which(self, monkeypatch):
        @dataclass(frozen=True)
        class Twice(Swap):
            other: str = setting("How.", default="no", choices=("no", "chunked"))

        monkeypatch.setitem(MECHANISMS, "twice", Twice)
        with pytest.raises(ArgumentError, match="write chunked=chunked or other=chunked"):
            columns_of(["twice:chunked"])

    def test_beside_k_others_may_have_to_be_given(self, monkeypatch):
        @dataclass(frozen=True)
        class Wide(Mechanism):
            delta: float = setting("Width.", metavar="M")
            k: int = setting("Size.", default=2, metavar="K")

            method: ClassVar[str] = "wide"
            settings = promises = limits = ()

        monkeypatch.setitem(MECHANISMS, "wide", Wide)
        assert "wide" not in default_methods()
        with pytest.raises(ArgumentError, match="'wide': wide needs settings"):
            columns_of(["wide"])
        assert only("wide:200m").delta == 200

    def test_what_is_no_method_is_refused(self):
        with pytest.raises(ArgumentError, match="must be a Mechanism, or text like 'glove'"):
            columns_of([3])
        with pytest.raises(ArgumentError, match="there is nothing to compare; the mechanisms are"):
            columns_of([])


class TestColumns:
    def test_there_is_one_for_each_k(self):
        found = keys("glove", "glove:two-stage", "cloak:60", k=(2, 5))
        assert found == [
            "glove:k=2", "glove:k=5", "glove:k=2:merge=two-stage", "glove:k=5:merge=two-stage",
            "cloak:minutes=60",
        ]  # fmt: skip

    def test_a_k_of_its_own_counts_alone(self):
        assert keys("glove:k=9", Glove(k=4), k=(2, 5)) == ["glove:k=9", "glove:k=4"]

    @pytest.mark.parametrize(
        "methods",
        [
            ["glove", "glove"],
            ["glove", "glove:optimal"],
            ["glove", "glove:k=3"],
            ["glove:two-stage", "glove:two-stage:split:boxes"],
            ["generalise:1000m:30min", Generalise(minutes=30, metres=1000)],
            ["geo-i:low", "geo-i:0.01"],
        ],
    )
    def test_twice_the_same_is_refused(self, methods):
        with pytest.raises(ArgumentError, match="are the same column twice"):
            columns_of(methods)

    def test_the_same_k_twice_is_refused(self):
        with pytest.raises(ArgumentError, match="same column twice"):
            columns_of(["glove"], [2, 2])

    @pytest.mark.parametrize("k", [[1], [0], [2.5], []])
    def test_no_k_is_refused(self, k):
        with pytest.raises(ArgumentError, match=r"k (must be an integer of at least 2|is empty)"):
            columns_of(["glove"], k)

    @pytest.mark.parametrize(
        "text",
        ["glove:k=2:merge=two-stage", "generalise:metres=1000:minutes=30", "cloak:minutes=all",
         "geo-i:epsilon=0.004", "filter:at-most=3", "glove:k=2:max-metres=15000"],
    )  # fmt: skip
    def test_their_keys_can_be_typed(self, text):
        assert keys(text) == [text]

    def test_labels_are_for_people(self):
        labels = [
            column.label
            for column in columns_of("glove:two-stage:15km,generalise:1000m:30min,geo-i:low", 2)
        ]
        assert labels == [
            "GLOVE, k = 2, two-stage, max 15 km",
            "uniform generalisation, 1 km, 30 min",
            "Geo-Indistinguishability, epsilon = 0.01",
        ]

    def test_a_seed_is_not_shown(self):
        found = columns_of([GeoI(0.01, seed=7), GeoI(0.01, seed=8)])
        assert [column.key for column in found] == ["geo-i:epsilon=0.01", "geo-i:epsilon=0.01#2"]
        assert not any("seed" in column.label for column in found)


class TestUnlessGiven:
    def test_every_mechanism_is_there(self):
        found = columns_of(None)
        assert [column.name for column in found] == list(MECHANISMS)
        assert found[0].key == "glove:k=3"

    def test_one_that_needs_settings_and_suggests_none_is_left_out(self, monkeypatch):
        @dataclass(frozen=True)
        class Needy(Swap):
            k: int = setting("Size.", metavar="K")
            must: int = setting("Must be given.", metavar="N", default=None)

            def __post_init__(self):
                if self.must is None:
                    raise ArgumentError("must is needed")

        monkeypatch.setitem(MECHANISMS, "needy", Needy)
        assert "needy" not in default_methods()


def test_lists_are_split_at_commas_outside_parentheses():
    assert split_methods("a,b:(1,2), c") == ["a", "b:(1,2)", "c"]


def test_edges_and_homes_are_named_as_they_are_typed():
    typed = "glove:edges=(500m,15min),glove:diverse=(home:2:500m),glove:diverse=(home:3)"
    found = columns_of(typed, [2])
    assert [one.key for one in found] == [
        "glove:k=2:edges=(500m,15min)",
        "glove:k=2:diverse=(home:2:500m)",
        "glove:k=2:diverse=(home:3)",
    ]
    assert found[0].label == "GLOVE, k = 2, edges 500m,15min"
    assert found[2].label == "GLOVE, k = 2, diverse home:3"
    again = columns_of(",".join(one.key for one in found), [5])
    assert [one.mechanism for one in again] == [one.mechanism for one in found]
