"""`Stretch`: thresholds in metres and minutes."""

import pytest

from incrowd import Frame, Stretch
from incrowd.errors import ArgumentError


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
