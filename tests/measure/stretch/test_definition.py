"""`Stretch`: thresholds in metres and minutes."""

import warnings

import pytest

import incrowd
from incrowd import Frame, Stretch, Trajectories
from incrowd.errors import ArgumentError, DataWarning


class TestOfMetres:
    def test_is_the_papers_on_the_usual_grid(self):
        assert Stretch.of_metres() == Stretch() == Stretch.of_metres(20_000, 480, frame=Frame())

    def test_is_on_the_grid_of_the_data(self):
        grid = Frame(cell=250, slot=900)
        assert Stretch.of_metres(20_000, 480, frame=grid) == Stretch(80, 32)

    def test_is_rounded_down(self):
        assert Stretch.of_metres(1_099, 2.9, space_weight=2) == Stretch(10, 2, 2)

    @pytest.mark.parametrize(
        "how",
        [{"max_metres": 99}, {"max_minutes": 0.5}, {"max_metres": "x"}, {"max_minutes": 1e99}],
    )
    def test_what_is_no_threshold_is_refused(self, how):
        with pytest.raises(ArgumentError, match=f"{next(iter(how))} must be a number of at least"):
            Stretch.of_metres(**how)


class TestUnlessGiven:
    @pytest.mark.parametrize(
        ("frame", "stretch"),
        [
            (None, Stretch()),
            (Frame(), Stretch()),
            (Frame(cell=10, slot=600), Stretch(2000, 48)),
            (Frame(cell=1000, slot=1), Stretch(20, 28_800)),
            (Frame(cell=50_000, slot=86_400), Stretch(1, 1)),
        ],
    )
    def test_is_the_papers_on_any_grid(self, frame, stretch):
        assert Stretch.of(None, frame) == stretch

    def test_what_is_given_stays(self):
        assert Stretch.of(Stretch(3, 4), Frame(cell=10)) == Stretch(3, 4)

    def test_what_is_none_is_refused(self):
        with pytest.raises(ArgumentError, match="stretch must be a Stretch, as Stretch"):
            Stretch.of((200, 480), Frame())


DATA = Trajectories.from_boxes(
    {"user": [1, 2, 3], "x0": [0, 30, 9], "y0": [0, 19, 0], "t0": [0, 59, 2]}, Frame(slot=600)
)
USES = (incrowd.k_gap, incrowd.dispersion, incrowd.anonymizability, incrowd.glove)


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
class TestLargerThanTheData:
    @pytest.mark.parametrize(
        ("stretch", "says"),
        [
            (
                Stretch(20_000, 48),
                "max_space=20000 of the stretch (2,000 km) is wider than the data (5.1 km, width",
            ),
            (
                Stretch(20, 480),
                "max_time=480 of the stretch (3.33 days) is longer than the data (10 h): no sample",
            ),
        ],
    )
    def test_is_told_once(self, use, stretch, says):
        with pytest.warns(DataWarning) as told:
            use(DATA, stretch=stretch)
        [text] = [str(one.message) for one in told]
        assert text.startswith(says)
        assert text.endswith("can be stretched so far; Stretch.of_metres takes metres and minutes")
        assert told[0].filename == __file__

    @pytest.mark.parametrize(
        "stretch", [None, Stretch(200, 48), Stretch(51, 60), Stretch(999, 48, 0, 1)]
    )
    def test_nothing_is_told_of_the_papers_nor_of_what_can_be_reached(self, use, stretch):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            use(DATA, stretch=stretch)
