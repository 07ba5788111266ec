"""Who alone makes the record of a crowd, by making the boxes of everybody who may."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
import naive
from evaluate.release_attacks.made import FRAME, adversary, known_release, lists
from incrowd import Trajectories
from incrowd.evaluate._release_attacks.adversary import Rules
from incrowd.evaluate._release_attacks.minimality import Minimality
from strategies import cases, grown, random_cases

CUT = Rules(held=True, most=0, witness=False, whole=False)
WHOLE = Rules(held=True, most=0, witness=True, whole=True)


@st.composite
def hidden(draw, merge):
    """A few people, many of them alike, in crowds that GLOVE made."""
    how = {"most": 5, "rarely": 8, "copies": 0.4, "max_crowd": 1, "lengths": (1, 2, 3)}
    case = draw(cases(grown(original=True, **how), k=2, variant="strict", suppress=False))
    data = Trajectories(case.data.columns, case.data.offsets, FRAME, people=case.data.people)
    release = incrowd.glove(
        data, 2, stretch=case.told()["stretch"], threads=1,
        **({"merge": "optimal"} if merge == "optimal" else {"reshape": case.reshape}),
    )  # fmt: skip
    became = release.assignment["trajectory"].fill_null(-1).to_numpy()
    whole = merge == "optimal" or case.reshape != "split"
    made = known_release(
        data, release.trajectories, became, WHOLE if whole else CUT, **release.settings
    )
    return made, case


class TestAgainstNaive:
    @given(hidden("optimal"))
    @random_cases(400)
    def test_the_best_boxes(self, made):
        release, case = made
        self.compare(release, lambda pair: [naive.k_merge(pair, settings=case.settings)[0]])

    @given(hidden("two-stage"))
    @random_cases(400)
    def test_pairs_in_two_stages(self, made):
        release, case = made

        def boxes(pair):
            found = []
            for one, other in (pair, pair[::-1]):
                merged = naive.glove(
                    [("a", one), ("b", other)], 2, "strict", case.reshape, settings=case.settings
                )
                found.append(sorted(merged.published[0].boxes, key=lambda b: (b[4], b[5], *b[:4])))
            return found

        if int(release.published.sizes.max()) == 2:
            self.compare(release, boxes)

    def compare(self, release, boxes):
        mine = adversary(release)
        if Minimality().unfit(mine):
            return
        found = Minimality().run(mine, lambda _: None)
        people, crowds = lists(release.original), release.crowd_of.tolist()
        published = lists(release.pair.after)
        named = 0
        for person, crowd in enumerate(crowds):
            others = [who for who, each in enumerate(crowds) if each == crowd and who != person]
            if crowd < 0 or not others:
                continue
            makes = [
                who
                for who, samples in enumerate(people)
                if who not in others
                and published[crowd]
                in [list(each) for each in boxes([*(people[o] for o in others), samples])]
            ]
            named += makes == [person]
        assert found["named"].number == named


class TestByHand:
    def published(self, **settings):
        city = incrowd.synthesize("city", users=30, seed=7)
        release = incrowd.glove(city, **settings)
        became = release.assignment["trajectory"].fill_null(-1).to_numpy()
        rules = CUT if release.settings.get("reshape") == "split" else WHOLE
        return known_release(city, release.trajectories, became, rules, **release.settings)

    @pytest.mark.parametrize(
        "settings",
        [
            {"k": 3, "suppress_at_most": 0.1},
            {"k": 2, "max_metres": 3000, "max_minutes": 120},
            {"k": 2, "suppress_price": 0.4},
        ],
    )
    def test_boxes_with_suppression_are_made_again(self, settings):
        release = self.published(**settings)
        release.__dict__["rules"] = WHOLE._replace(most=-1)
        found = Minimality().run(adversary(release), lambda _: None)
        assert found["named"].share == 1

    @pytest.mark.parametrize(
        ("settings", "grid"),
        [
            ({"k": 3, "edges": (500, 15)}, (5, 15)),
            ({"k": 2, "edges": (None, 30), "suppress_at_most": 0.1}, (1, 30)),
            ({"k": 2, "edges": (500, 15), "reshape": "split"}, (5, 15)),
            ({"k": 2, "edges": (300, None), "reshape": "union"}, (3, 1)),
        ],
    )
    def test_rounded_boxes_are_rounded_again(self, settings, grid):
        release = self.published(**settings)
        rules = release.rules._replace(wide=grid[0], long=grid[1], most=-1)
        release.__dict__["rules"] = rules
        found = Minimality().run(adversary(release), lambda _: None)
        assert found["named"].share > 0.9
        del release.manifest.settings["edges"]
        found = Minimality().run(adversary(release), lambda _: None)
        assert found["named"].share < 0.1

    def test_a_crowd_of_three_that_was_merged_in_two_stages_is_not_tried(self):
        release = self.published(k=3, reshape="split")
        assert "the order in which" in Minimality().unfit(adversary(release))

    def test_nor_what_another_method_made(self):
        release = self.published(k=2)
        release.manifest.settings.clear()
        assert "is not known here" in Minimality().unfit(adversary(release))

    def test_who_is_not_tried_is_not_named(self, monkeypatch):
        monkeypatch.setattr("incrowd.evaluate._release_attacks.insider.ROOM", 0)
        found = Minimality().run(adversary(self.published(k=2)), lambda _: None)
        assert (found["tried"].number, found["named"].number) == (0, 0)
        assert np.isfinite(found.share)
