"""One merge: both stages, suppression and reshaping, as the oracle has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import incrowd
import naive
import strategies
from incrowd.measure._stretch.definition import Stretch
from incrowd.measure._stretch.index import boxes_of
from incrowd.protect._glove import merge as module
from strategies import random_cases

RESHAPES = {"split": module.SPLIT, "union": module.UNION, "none": module.NONE}


@njit(error_model="numpy")
def merged(boxes, a0, a1, na, b0, b1, nb, scale, widest, longest, per_sample, reshape):
    out = module.empty_boxes(2 * (b1 - b0))
    written, suppressed = module.merge(
        boxes, a0, a1, na, boxes, b0, b1, nb, scale, widest, longest, per_sample, reshape, out,
        np.int64(0),
    )  # fmt: skip
    return out, written, suppressed


def found(case):
    """Merge the first two trajectories of a case; give the boxes, and how many were suppressed."""
    data, limits = case.data, (case.max_space, case.max_time)
    lengths, ends = data.lengths(), data.offsets
    a, b = (0, 1) if lengths[0] >= lengths[1] else (1, 0)
    none = np.zeros(data.samples, np.uint16)
    scale = Stretch(*case.settings).scale()
    widest, longest = (module.ANY if limit is None else limit for limit in limits)
    out, written, suppressed = merged(
        boxes_of(data, none, none), ends[a], ends[a + 1], int(data.crowd[a]), ends[b], ends[b + 1],
        int(data.crowd[b]), scale, widest, longest, case.suppress == "samples",
        RESHAPES[case.reshape],
    )  # fmt: skip
    columns = [column[:written].tolist() for column in out[:6]]
    return list(zip(*columns, strict=True)), suppressed


def expected(case):
    """Give the same by the oracle."""
    (_, one), (_, two), *_ = naive.people_of(case.data)
    n, m, *_ = case.data.crowd.tolist()
    none, limits = (None, None), (case.max_space, case.max_time)
    of_samples, of_boxes = (limits, none) if case.suppress == "samples" else (none, limits)
    boxes, left_out = naive.merge(*naive.by_length(one, two, n, m), case.settings, of_samples)
    kept = [box for box in boxes if not naive.exceeds(box, *of_boxes)]
    return naive.reshaped(kept, case.reshape), left_out + len(boxes) - len(kept)


class TestMerge:
    @random_cases(400)
    @given(strategies.cases(strategies.collisions(most=2, rarely=2)))
    def test_is_that_of_the_oracle(self, case):
        assert found(case) == expected(case)

    @random_cases(300)
    @given(
        strategies.cases(
            strategies.grown(most=2, rarely=2, lengths=(4, 6, 8), max_crowd=5), suppress=True
        )
    )
    def test_is_that_of_the_oracle_when_much_is_suppressed(self, case):
        assert found(case) == expected(case)

    @pytest.mark.parametrize("axis", ["x0", "y0", "t0"])
    @pytest.mark.parametrize(("limit", "number"), [(10, 0), (11, 1)])
    def test_suppression_looks_at_every_side(self, axis, limit, number):
        """Two samples that are ten apart on one axis make a box of eleven."""
        table = {"user": [1, 2], "x0": [0, 0], "y0": [0, 0], "t0": [0, 0]}
        data = incrowd.Trajectories.from_boxes(table | {axis: [0, 10]})
        case = strategies.Case(data, max_space=limit, max_time=limit)
        boxes, suppressed = found(case)
        assert (len(boxes), suppressed) == (number, 1 - number)
        assert (boxes, suppressed) == expected(case)

    @given(strategies.collisions(most=2, rarely=2), st.sampled_from(sorted(RESHAPES)))
    def test_covers_every_sample_of_both(self, data, reshape):
        boxes, suppressed = found(strategies.Case(data, reshape=reshape))
        assert suppressed == 0
        for _, samples in naive.people_of(data)[:2]:
            assert all(naive.lies_in(sample, boxes) for sample in samples)
