"""Crowds that stay together from release to release: whom histories allow, and who joins whom."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.data._ledger import ABSENT, Ledger
from incrowd.errors import ArgumentError, PrivacyWarning
from incrowd.protect._glove.stable import HELD_BACK, NEWCOMER, keep_together
from naive import ledger as naive
from strategies import random_cases

CITY = incrowd.synthesize("city", users=14, seed=5)


def as_history(matrix):
    """Give a matrix of crowds as the slow version has it."""
    return [
        {person: int(crowd) for person, crowd in enumerate(column) if crowd != ABSENT}
        for column in np.asarray(matrix).T
    ]


@st.composite
def histories(draw, most=6):
    """Draw who was in which crowd, any way: not only as a ledger would have it."""
    people, releases = draw(st.integers(1, most)), draw(st.integers(0, 3))
    crowd = st.sampled_from([ABSENT, 0, 0, 1])
    row = st.lists(crowd, min_size=releases, max_size=releases)
    matrix = draw(st.lists(row, min_size=people, max_size=people))
    return np.array(matrix, np.int32).reshape(people, releases)


def entered(ledger, release):
    """Enter a release that nobody writes."""
    return ledger.with_release(
        release.assignment, method="GLOVE", settings={}, place="", manifest_sha256="",
        rows_sha256=str(len(ledger.entries)), held_back=release.losses.people_held_back,
    )  # fmt: skip


class TestKeepTogether:
    @random_cases(1000)
    @given(histories(), st.integers(2, 4))
    def test_leaves_out_whom_no_release_could_publish(self, matrix, k):
        place = keep_together(matrix, k)
        history = as_history(matrix)
        older = {person for person in range(len(matrix)) if (matrix[person] != ABSENT).any()}
        assert {person for person in older if place[person] >= 0} == naive.largest(
            history, older, k
        )
        assert all(
            place[person] == NEWCOMER for person in range(len(matrix)) if person not in older
        )
        assert all(place[person] in (HELD_BACK, *range(len(matrix))) for person in older)
        # As they are put together, they may be published; newcomers change nothing in that.
        crowds = {person: int(crowd) for person, crowd in enumerate(place) if crowd >= 0}
        fewest = naive.fewest_with([*history, crowds], len(history))
        assert all(number >= k for number in fewest.values())

    @random_cases(200)
    @given(histories(most=5), st.integers(2, 3))
    def test_newcomers_may_be_put_anywhere(self, matrix, k):
        """With newcomers, nobody more can be published than with the crowds of the others."""
        place, history = keep_together(matrix, k), as_history(matrix)
        everybody = naive.largest(history, range(len(matrix)), k)
        newcomers = set(np.flatnonzero(place == NEWCOMER).tolist())
        expected = set(np.flatnonzero(place >= 0).tolist())
        if expected or len(newcomers) >= k:
            expected |= newcomers
        assert everybody == expected

    def test_cuts_crowds_that_nobody_holds_together(self):
        # Two pairs; somebody who came later was with both, and is gone.
        matrix = np.array([[0, 0], [0, 0], [1, 0], [1, 0]], np.int32)
        assert keep_together(matrix, 2).tolist() == [0, 0, 1, 1]
        with_her = np.vstack([matrix, [[ABSENT, 0]]]).astype(np.int32)
        assert len(set(keep_together(with_her, 2).tolist())) == 1


class TestMonths:
    @random_cases(1000, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.sets(st.integers(0, 13), min_size=4),
                st.integers(0, 2),  # how much more than k
                st.integers(0, 2),  # spare
                st.sampled_from([None, 30]),  # thresholds that leave some crowds nothing
            ),
            min_size=2,
            max_size=4,
        ),
        st.integers(2, 3),
    )
    def test_any_releases_leave_k_in_common(self, months, k):
        ledger = Ledger.open("/nowhere/ledger.parquet", k)
        for there, more, spare, minutes in months:
            data = CITY[np.array(sorted(there))]
            if len(data) < k + more:
                continue
            release = quietly(
                incrowd.glove, data, k + more, ledger=ledger, ledger_spare=spare,
                max_minutes=minutes,
            )  # fmt: skip
            sizes = release.trajectories.crowd
            assert not len(sizes) or int(sizes.min()) >= k + more
            placed = release.assignment["trajectory"].drop_nulls()
            assert len(placed) == len(data) - release.losses.people_dropped
            assert release.losses.people_dropped == sum(
                release.losses[name]
                for name in ("people_left_over", "people_emptied", "people_held_back")
            )
            ledger = entered(ledger, release)
        fewest = naive.fewest_in_common(as_history(ledger.crowds))
        assert all(number >= k for number in fewest.values())

    def test_without_change_everybody_stays_where_she_was(self):
        ledger = Ledger.open("/nowhere/ledger.parquet", 2)
        for _ in range(3):
            ledger = entered(ledger, incrowd.glove(CITY, 2, ledger=ledger, ledger_spare=1))
        first, *later = ledger.crowds.T
        for column in later:
            assert len(set(zip(first.tolist(), column.tolist(), strict=True))) == len(set(first))

    def test_newcomers_have_crowds_of_their_own_and_the_rest_joins(self):
        ledger = Ledger.open("/nowhere/ledger.parquet", 2)
        ledger = entered(ledger, incrowd.glove(CITY[:8], 2, ledger=ledger, ledger_spare=2))
        release = incrowd.glove(CITY, 2, ledger=ledger, ledger_spare=2)
        place = release.assignment["trajectory"].to_list()
        assert release.losses.people_dropped == 0
        assert len(set(place[8:]) - set(place[:8])) == 1
        one = incrowd.glove(CITY[:9], 2, ledger=ledger, ledger_spare=2)
        assert one.losses.people_dropped == 0
        assert int(one.trajectories.crowd.max()) == 5

    def test_a_newcomer_joins_where_it_costs_least(self):
        ledger = Ledger.open("/nowhere/ledger.parquet", 2)
        first = incrowd.glove(CITY[:13], 2, ledger=ledger, ledger_spare=0)
        ledger = entered(ledger, first)
        joined = incrowd.glove(CITY, 2, ledger=ledger, ledger_spare=0)
        lost = {}
        for crowd in range(len(first.trajectories)):
            place = first.assignment["trajectory"].to_numpy()
            who = np.flatnonzero(place == crowd)
            before, after = (
                incrowd.glove(CITY[some], len(some), merge="optimal")
                for some in (who, np.append(who, 13))
            )
            lost[crowd] = effort(CITY[np.append(who, 13)], after) - effort(CITY[who], before)
        best = min(lost, key=lost.get)
        mine = joined.assignment["trajectory"][13]
        together = np.flatnonzero(joined.assignment["trajectory"].to_numpy() == mine)
        expected = np.flatnonzero(first.assignment["trajectory"].to_numpy() == best)
        assert together.tolist() == [*expected.tolist(), 13]

    def test_a_larger_k_joins_crowds_as_wholes(self):
        ledger = Ledger.open("/nowhere/ledger.parquet", 2)
        ledger = entered(ledger, incrowd.glove(CITY, 2, ledger=ledger, ledger_spare=0))
        release = incrowd.glove(CITY, 5, ledger=ledger)
        assert int(release.trajectories.crowd.min()) >= 5
        assert release.losses.people_dropped == 0
        pairs = zip(ledger.crowds[:, 0].tolist(), release.assignment["trajectory"], strict=True)
        assert len(set(pairs)) == len(set(ledger.crowds[:, 0].tolist()))

    def test_who_loses_all_companions_is_left_out_and_may_come_back_with_them(self):
        ledger = Ledger.open("/nowhere/ledger.parquet", 2)
        first = incrowd.glove(CITY, 2, ledger=ledger, ledger_spare=0)
        ledger = entered(ledger, first)
        place = first.assignment["trajectory"].to_numpy()
        crowd = np.flatnonzero(place == place[0])
        gone = np.setdiff1d(np.arange(len(CITY)), crowd[1:])
        second = incrowd.glove(CITY[gone], 2, ledger=ledger, ledger_spare=0)
        assert second.losses.people_held_back == 1
        assert second.assignment["trajectory"][0] is None
        ledger = entered(ledger, second)
        assert incrowd.glove(CITY, 2, ledger=ledger).losses.people_held_back == 0

    def test_refined_crowds_of_newcomers(self):
        ledger = Ledger.open("/nowhere/ledger.parquet", 2)
        ledger = entered(ledger, incrowd.glove(CITY[:7], 2, ledger=ledger, crowds="refined"))
        ledger = entered(ledger, incrowd.glove(CITY, 2, ledger=ledger, crowds="refined"))
        fewest = naive.fewest_in_common(as_history(ledger.crowds))
        assert min(fewest.values()) >= 2

    def test_merges_count_people_as_the_input_does(self):
        ledger = Ledger.open("/nowhere/ledger.parquet", 2)
        ledger = entered(ledger, incrowd.glove(CITY[:6], 2, ledger=ledger))
        release = incrowd.glove(CITY, 2, ledger=ledger, ledger_spare=0)
        merged = {*release.merges["older"], *release.merges["younger"]}
        assert {node for node in merged if node < len(CITY)} <= set(range(6, len(CITY)))
        assert release.merges.schema == incrowd.glove(CITY, 2).merges.schema

    def test_threads_change_nothing(self):
        ledger = Ledger.open("/nowhere/ledger.parquet", 2)
        ledger = entered(ledger, incrowd.glove(CITY[:9], 2, ledger=ledger, ledger_spare=1))
        one, two = (incrowd.glove(CITY, 3, ledger=ledger, threads=n) for n in (1, 2))
        assert one.assignment.equals(two.assignment)

    def test_a_checkpoint_goes_on(self, tmp_path):
        ledger = Ledger.open("/nowhere/ledger.parquet", 2)
        file = tmp_path / "glove.checkpoint"
        one, two = (incrowd.glove(CITY, 2, ledger=ledger, checkpoint=file) for _ in range(2))
        assert one.assignment.equals(two.assignment)
        assert one.merges.equals(two.merges)


class TestRefuses:
    def test_what_makes_no_sense(self, tmp_path):
        ledger = tmp_path / "ledger.parquet"
        with pytest.raises(ArgumentError, match="ledgers need merge='optimal'"):
            incrowd.glove(CITY, 2, merge="two-stage", ledger=ledger)
        with pytest.raises(ArgumentError, match="ledger_spare belongs to a ledger"):
            incrowd.glove(CITY, 2, ledger_spare=1)
        with pytest.raises(ArgumentError, match="ledger_spare must be an integer from 0"):
            incrowd.glove(CITY, 2, ledger=ledger, ledger_spare=-1)
        crowds = incrowd.glove(CITY, 2).trajectories
        with pytest.raises(ArgumentError, match="one person per trajectory"):
            incrowd.glove(crowds, 2, ledger=ledger)
        with pytest.raises(ArgumentError, match="keeps 3 people in common, and k = 2 is less"):
            incrowd.glove(CITY, 2, ledger=Ledger.open(ledger, 3))

    def test_other_identifiers_are_told(self):
        ledger = entered(*begun())
        again = CITY.people + 10_000
        other = incrowd.Trajectories(CITY.columns, CITY.offsets, CITY.frame, people=again)
        with pytest.warns(PrivacyWarning, match=r"only 0 of the 14 people .* change every month"):
            incrowd.glove(other, 2, ledger=ledger)

    def test_identifiers_are_the_same_as_numbers_and_as_text(self):
        text = incrowd.Trajectories(
            CITY.columns, CITY.offsets, CITY.frame, people=CITY.people.cast(pl.String)
        )
        ledger = entered(*begun())
        one, two = (incrowd.glove(data, 2, ledger=ledger) for data in (CITY, text))
        assert one.assignment["trajectory"].equals(two.assignment["trajectory"])
        assert entered(ledger, one).crowds.tolist() == entered(ledger, two).crowds.tolist()

    def test_half_of_the_people_are_enough(self, recwarn):
        incrowd.glove(CITY[:7], 2, ledger=entered(*begun()))
        assert not recwarn.list


def begun():
    ledger = Ledger.open("/nowhere/ledger.parquet", 2)
    return ledger, incrowd.glove(CITY, 2, ledger=ledger)


@pytest.mark.filterwarnings("ignore")
def quietly(call, *given_, **more):
    """Call what may warn of few people who come back, or of thresholds."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*given_, **more)


def effort(data, release):
    """Give what samples lose in the boxes that hold them."""
    made, stretch = release.trajectories, incrowd.Stretch()
    first, last = made.t0, made.t1
    lost = 0.0
    for x0, x1, y0, y1, t0, t1 in zip(*data.columns, strict=True):
        at = np.flatnonzero((first <= t0) & (t1 <= last))[0]
        wide = (made.x1[at] - made.x0[at] - (x1 - x0)) + (made.y1[at] - made.y0[at] - (y1 - y0))
        long = last[at] - first[at] - (t1 - t0)
        lost += min(wide / stretch.max_space, 1) + min(long / stretch.max_time, 1)
    return lost
