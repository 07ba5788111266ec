"""Which crowd: squares of boxes beside plain Python, and later data."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from evaluate.pairs import ORIGINS, ZONES
from evaluate.release_attacks.made import adversary, known_release
from incrowd import Frame, Trajectories
from incrowd.evaluate._release_attacks.adversary import Rules
from incrowd.evaluate._release_attacks.later import MOST, WhichCrowd, profiles_of
from strategies import boxes, random_cases, table

TRUE = Rules(held=True, most=0, witness=True, whole=True)


class TestProfiles:
    @given(
        st.lists(st.tuples(st.integers(0, 3), boxes(cells=9, slots=30, longest=9)), max_size=8),
        st.sampled_from([100, 250, 1000]),
        st.sampled_from(ZONES),
        st.sampled_from(ORIGINS),
    )
    @random_cases(400)
    def test_are_what_the_words_mean(self, rows, cell, tz, origin):
        frame = Frame(cell=cell, slot=3600, origin=origin)
        matrix = np.array([box for _, box in rows], np.int32).reshape(-1, 6)
        found = profiles_of(matrix, np.array([who for who, _ in rows], np.int64), 4, frame, tz)
        side = max(1, round(500 / cell))

        def quarter(box):
            return naive.local_hour(box, frame, tz) // 6

        for who in range(4):
            mine = naive.square_profile(
                [box for owner, box in rows if owner == who], side, MOST, quarter
            )
            codes = found.place[found.offsets[who] : found.offsets[who + 1]]
            visits = found.visits[found.offsets[who] : found.offsets[who + 1]]
            told = {
                (code >> 34, (code >> 2) % 2**32 - 2**31, code % 4): number
                for code, number in zip(codes.tolist(), visits.tolist(), strict=True)
            }
            assert told == {key: number for key, number in mine.items() if number}
            assert found.total[who] == sum(mine.values())


def commuters(shift=0):
    """Make pairs of people who go from home to work each day, in a grid of places of their own."""
    rows = []
    for who in range(8):
        pair = who // 2
        for day in range(10):
            for hour, x in ((3, 0), (12, 40)):
                t = 24 * (day + shift) + hour
                at = x + who % 2
                rows.append((who, at, at + 1, 200 * pair, 200 * pair + 1, t, t + 1))
    return Trajectories.from_boxes(table(rows), Frame(slot=3600))


class TestWhichCrowd:
    def release(self):
        data = commuters()
        hidden = incrowd.glove(data, 2)
        became = hidden.assignment["trajectory"].to_numpy()
        return known_release(data, hidden.trajectories, became, TRUE)

    def test_people_come_back_to_the_same_places(self):
        found = WhichCrowd().run(adversary(self.release()), lambda _: None)
        assert (found["found"].number, found["found"].of) == (8, 8)
        assert "one in 4" in found.says

    def test_a_later_dataset_may_be_given(self):
        later = commuters(shift=30)
        strangers = later[[0, 1, 2]]
        found = WhichCrowd().run(adversary(self.release(), later=strangers), lambda _: None)
        assert (found["found"].number, found["found"].of) == (3, 3)

    def test_of_whom_nothing_is_seen_later_nothing_is_found(self):
        later = Trajectories.from_boxes(table([("x", 0, 1, 0, 1, 9999, 10000)]), Frame(slot=3600))
        found = WhichCrowd().run(adversary(self.release(), later=later), lambda _: None)
        assert not found.made
        assert "Nobody is seen both" in found.says

    @pytest.mark.parametrize("threads", [1, 3])
    def test_threads_do_not_matter(self, threads):
        found = WhichCrowd().run(adversary(self.release(), threads=threads), lambda _: None)
        assert found.figures == WhichCrowd().run(adversary(self.release()), lambda _: None).figures


def test_names_may_be_numbers_in_one_and_text_in_the_other():
    release = TestWhichCrowd().release()
    data = commuters(shift=30)
    text = Trajectories(data.columns, data.offsets, data.frame, people=data.people.cast(pl.String))
    found = WhichCrowd().run(adversary(release, later=text), lambda _: None)
    assert found["found"].number == 8
