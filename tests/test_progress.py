import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd._progress import Stages


def counted(stages, parts=10):
    """Give a counter and what it told."""
    told = []
    return Stages(lambda *step: told.append(step), stages, parts), told


class TestStages:
    def test_each_counts_for_as_many_parts(self):
        stages, told = counted(2)
        for people in (3, 300):
            tell = stages.next()
            for done in (0, people // 3, people):
                tell(done, people)
        assert told == [(0, 20), (3, 20), (10, 20), (10, 20), (13, 20), (20, 20)]

    def test_named_ones_may_be_left_out(self):
        stages, told = counted(["read", "search", "write"])
        stages.begin("write")
        assert stages.name == "write"
        assert told == [(20, 30)]
        stages.finish()
        assert stages.name == "done"
        assert told[-1] == (30, 30)

    def test_parts_are_added_up(self):
        stages, told = counted(3, parts=1)
        stages.advance()
        stages.advance(0.5)
        stages.advance(9)
        assert told == [(1, 3), (1, 3), (3, 3)]

    def test_a_stage_without_anything_to_count(self):
        stages, told = counted(1)
        stages.next()(0, 0)
        assert told == [(0, 10)]

    def test_nobody_need_listen(self):
        stages = Stages(None, 2)
        stages.next()(1, 2)
        stages.finish()
        assert stages.name == "done"

    def test_an_unknown_name_is_refused(self):
        with pytest.raises(ValueError, match="tuple"):
            Stages(None, ["read"]).begin("write")

    @given(st.lists(st.integers(0, 30), min_size=1, max_size=5), st.integers(1, 100))
    def test_never_goes_back(self, sizes, parts):
        stages, told = counted(len(sizes), parts)
        for size in sizes:
            tell = stages.next()
            for done in range(size + 1):
                tell(done, size)
        stages.finish()
        done = [step[0] for step in told]
        assert done == sorted(done)
        assert {step[1] for step in told} == {len(sizes) * parts}
        assert done[-1] == len(sizes) * parts
