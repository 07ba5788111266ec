"""Learning risk and testing it."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd import predict
from incrowd.attack._attacks import ATTACKS, Probability, as_fraction
from incrowd.errors import ArgumentError, DataWarning, InputError
from incrowd.measure._features import FEATURES
from incrowd.predict._model import TASKS, fitted
from incrowd.predict._training import settings_of
from incrowd.predict._validation import folds_of, importances
from strategies import only_deep

LEARNERS = list(predict.LEARNERS)
QUICK = [learner for learner in LEARNERS if learner != "boosting"] + only_deep("boosting")
"""Boosting takes longest; it is tried with the others where models are fitted."""


class TestTrainingSets:
    def test_are_the_33_of_the_paper(self, cars):
        found = predict.training_sets(cars)
        assert len(found) == 33
        assert [one.attack for one in found if one.k == 2] == list(ATTACKS)

    def test_put_features_beside_the_exact_risk(self, cars, training):
        risk = incrowd.risk(incrowd.visits(cars), "location", 2)
        assert training.risk.tolist() == risk["risk"].to_list()
        assert training.people.to_list() == risk["user"].to_list()
        expected = incrowd.features(cars).drop("user").to_numpy()
        assert training.features.tolist() == expected.tolist()
        assert training.levels.tolist() == predict.levels(risk["risk"]).tolist()

    def test_remember_settings_of_their_attack_only(self, cars):
        both = predict.training_sets(cars, ["location", "probability"], 2, tolerance="0.05")
        assert [one.settings for one in both] == [{}, {"tolerance": "0.05", "relative": False}]

    def test_refuse_what_risk_refuses(self, cars):
        with pytest.raises(ArgumentError, match="did you mean 'location'"):
            predict.training_sets(cars, "locaton")
        with pytest.raises(ArgumentError, match="k must be at least 1"):
            predict.training_sets(cars, "location", 0)
        with pytest.raises(ArgumentError, match="not a setting"):
            predict.training_sets(cars, "location", 2, tolerance=0.1)

    def test_of_a_release_are_of_everybody_in_its_crowds(self, cars):
        release = incrowd.glove(cars[:40], 3).trajectories
        [found] = predict.training_sets(release, "location", 2)
        number = np.repeat(np.arange(len(release)), release.crowd)
        assert found.people.to_list() == release.people.gather(number).to_list()
        risk = incrowd.risk(release, "location", 2)
        assert found.risk.tolist() == risk["risk"].to_list()
        features = incrowd.features(release)
        assert found.features.tolist() == features.drop("user").to_numpy().tolist()
        assert predict.cross_validate(found, folds=2, inductive=True).accuracy <= 1

    def test_refuse_what_are_no_trajectories(self, cars):
        for other in (incrowd.visits(cars), None):
            with pytest.raises(ArgumentError, match="data must be Trajectories, not"):
                predict.training_sets(other, "location", 2)

    @pytest.mark.parametrize(
        ("tolerance", "text"),
        [
            (0.1, "0.1"), ("0.10", "0.1"), ("1/10", "0.1"), (Fraction(1, 10), "0.1"),
            (Decimal("0.100"), "0.1"), (0, "0"), (0.0, "0"), (1, "1"), ("1.0", "1"),
            ("1/3", "1/3"), ("0.000001", "0.000001"), (Fraction(1, 2**19), f"{2**-19:.19f}"),
        ],
        ids=str,
    )  # fmt: skip
    def test_write_a_tolerance_in_one_way(self, tolerance, text):
        assert settings_of(Probability(tolerance))["tolerance"] == text
        assert Fraction(text) == as_fraction(tolerance)

    def test_refuse_an_attack_named_twice(self, cars):
        with pytest.raises(ArgumentError, match="given twice"):
            predict.training_sets(cars, ["location", "visit", "location"], 2)
        with pytest.raises(ArgumentError, match="given twice"):
            predict.training_sets(cars, [Probability(0.1), Probability(0.4)], 2)


class TestFolds:
    @pytest.mark.parametrize("folds", [2, 3, 10])
    def test_are_of_one_size_with_equal_shares_of_each_class(self, training, folds):
        fold = folds_of(training.levels, folds, 0)
        assert np.ptp(np.bincount(fold, minlength=folds)) <= 1
        for level in set(training.levels):
            assert np.ptp(np.bincount(fold[training.levels == level], minlength=folds)) <= 1

    def test_are_others_with_another_seed(self, training):
        one, again, other = (folds_of(training.levels, 10, seed).tolist() for seed in (0, 0, 1))
        assert one == again != other

    @pytest.mark.parametrize("folds", [1, 0, 2.5, True])
    def test_refuse_odd_numbers(self, training, folds):
        with pytest.raises(ArgumentError, match="folds"):
            predict.cross_validate(training, folds=folds)

    def test_refuse_too_few_people(self, training):
        with pytest.raises(InputError, match="too few for 151 folds"):
            predict.cross_validate(training, folds=151)


@pytest.mark.parametrize("learner", QUICK)
class TestCrossValidation:
    def test_predicts_everybody_by_others(self, training, learner):
        """The obvious loop gives the same."""
        fold, guess = folds_of(training.levels, 3, 0), np.zeros(len(training), int)
        for i in range(3):
            model = fitted(
                learner, "classes", training.features[fold != i], training.levels[fold != i], 0
            )
            guess[fold == i] = model.predict(training.features[fold == i])
        expected = predict.Scores.of(training.levels, guess).matrix.tolist()
        for threads in (1, 2):
            scores = predict.cross_validate(training, learner, folds=3, threads=threads)
            assert scores.matrix.tolist() == expected

    def test_learns_more_than_guessing_does(self, training, learner):
        scores = predict.cross_validate(training, learner, folds=3)
        assert scores.accuracy > predict.baseline(training).accuracy + 0.15

    def test_of_values(self, training, learner):
        values = predict.cross_validate(training, learner, "values", folds=3)
        assert 0.3 < values.r2 < 1
        assert 0 < values.error <= values.squared < 0.5
        assert values.classes.people == len(training)

    def test_where_all_are_alike(self, sets, learner):
        scores = predict.cross_validate(sets["visit"], learner, folds=3)
        assert (scores.accuracy, scores.f_measure, scores.missed) == (1, 1, 0)
        values = predict.cross_validate(sets["visit"], learner, "values", folds=3)
        assert np.isnan(values.r2)
        assert values.error == 0


class TestInductive:
    """Who is learned from is seen among those who are learned from, and nobody else."""

    @pytest.mark.parametrize("task", ["classes", "values"])
    def test_is_what_the_slow_way_gives(self, cars, training, task):
        """Fold by fold: a dataset without the people of the fold, attacked anew."""
        actual = training.levels if task == "classes" else training.risk
        fold = folds_of(training.levels, 3, 5)
        guess = np.empty_like(actual)
        for number in range(3):
            others = [i for i in range(len(cars)) if fold[i] != number]
            [apart] = predict.training_sets(cars[others], "location", 2)
            model = predict.learn(apart, "forest", task, seed=5)
            guess[fold == number] = model.trees.tell(training.features[fold == number])
        found = predict.cross_validate(training, "forest", task, folds=3, seed=5, inductive=True)
        if task == "classes":
            assert np.array_equal(found.matrix, predict.Scores.of(actual, guess).matrix)
        else:
            assert found.error == float(np.abs(actual - guess).mean())

    def test_is_another_figure(self, training):
        usual = predict.cross_validate(training, folds=3)
        other = predict.cross_validate(training, folds=3, inductive=True)
        assert not np.array_equal(usual.matrix, other.matrix)
        assert usual.matrix.sum(1).tolist() == other.matrix.sum(1).tolist()

    def test_risk_is_higher_among_fewer_people(self, training):
        who = np.arange(len(training)) % 2 == 0
        table, risk = training.among(who)
        assert table.shape == (who.sum(), training.features.shape[1])
        assert (risk >= training.risk[who]).all()
        assert (risk > training.risk[who]).any()

    def test_a_held_out_share(self, training):
        found = predict.hold_out(training, inductive=True)
        assert found.people == predict.hold_out(training).people

    def test_needs_the_data(self, training):
        bare = replace(training, among=None)
        for work in (predict.cross_validate, predict.hold_out):
            with pytest.raises(ArgumentError, match="needs the data"):
                work(bare, inductive=True)
        with pytest.raises(ArgumentError, match="needs the data"):
            predict.experiments([[bare]], inductive=True)

    def test_experiments(self, training):
        [one] = predict.experiments([[training]], folds=3, inductive=True)
        expected = predict.cross_validate(training, folds=3, inductive=True)
        assert np.array_equal(one.within[0].matrix, expected.matrix)


class TestHoldOut:
    def test_tests_on_its_share(self, training):
        scores = predict.hold_out(training, share=0.3)
        assert scores.people == 45
        actual = scores.matrix.sum(1) / 45
        shares = np.bincount(training.levels, minlength=6) / len(training)
        assert np.abs(actual - shares).max() < 0.03
        assert scores.accuracy > 0.6

    @pytest.mark.parametrize("share", [0, 1, -1, 2, "a", None, True, float("nan")])
    def test_refuses_odd_shares(self, training, share):
        with pytest.raises(ArgumentError, match="between 0 and 1"):
            predict.hold_out(training, share=share)

    def test_refuses_what_cannot_be_divided(self, training):
        with pytest.raises(InputError, match="too few to hold out"):
            predict.hold_out(training, share=0.001)


class TestTransfer:
    def test_predicts_another_area(self, training, elsewhere):
        scores = predict.transfer(training, elsewhere)
        assert scores.matrix.sum(1).tolist() == np.bincount(elsewhere.levels, minlength=6).tolist()
        assert scores.accuracy > predict.baseline(elsewhere).accuracy + 0.1

    def test_refuses_another_attack(self, training, sets):
        with pytest.raises(ArgumentError, match="must be of the same attack and k"):
            predict.transfer(training, sets["visit"])

    def test_takes_settings_that_are_written_otherwise_for_the_same(self, cars):
        one, two = (
            predict.training_sets(cars, "probability", 2, tolerance=part)[0]
            for part in (0.1, "0.10")
        )
        assert predict.transfer(one, two).people == len(cars)

    def test_refuses_other_settings(self, cars):
        one, two = (
            predict.training_sets(cars, "probability", 2, tolerance=part)[0] for part in (0.1, 0.9)
        )
        with pytest.raises(ArgumentError, match="tolerance"):
            predict.transfer(one, two)

    def test_refuses_another_grid(self, training):
        coarse = incrowd.synthesize("city", users=30, seed=1)
        [other] = predict.training_sets(coarse, "location", 2)
        with pytest.raises(InputError, match="with the same cells"):
            predict.transfer(training, other)


class TestModel:
    def test_tells_the_risk_of_new_people(self, training, cars):
        model = predict.learn(training)
        new = incrowd.synthesize("pisa", users=150, seed=5)
        table = predict.estimate(model, new)
        assert table.columns == ["attack", "k", "user", "class"]
        assert table["user"].to_list() == new.people.to_list()
        exact = predict.levels(incrowd.risk(incrowd.visits(new), "location", 2)["risk"])
        right = [predict.CLASSES[i] for i in exact] == table["class"].to_numpy()
        assert right.mean() > 0.6

    def test_tells_values(self, training, cars, sets):
        both = [predict.learn(sets["visit"]), predict.learn(training, task="values")]
        table = predict.estimate(both, cars)
        assert table.columns == ["attack", "k", "user", "class", "risk"]
        assert table["risk"].null_count() == len(cars)
        values = table.drop_nulls()
        assert values["risk"].is_between(0, 1).all()
        expected = [predict.CLASSES[i] for i in predict.levels(values["risk"])]
        assert values["class"].to_list() == expected

    def test_knows_those_it_learned_from(self, training, cars):
        """A forest that is grown until it fits does."""
        table = predict.estimate(predict.learn(training), cars)
        truth = [predict.CLASSES[i] for i in training.levels]
        assert np.mean([a == b for a, b in zip(table["class"], truth, strict=True)]) > 0.97

    @pytest.mark.parametrize("block", [1, 7, 150])
    def test_tells_the_same_in_blocks_and_on_threads(self, training, cars, monkeypatch, block):
        model = predict.learn(training)
        expected = predict.estimate(model, cars, threads=1)
        monkeypatch.setattr("incrowd.predict._model.BLOCK", block)
        for threads in (1, 2):
            assert predict.estimate(model, cars, threads=threads).equals(expected)

    def test_takes_some_people_or_a_table_of_features(self, training, cars):
        model = predict.learn(training)
        all_of_them = predict.estimate(model, cars)
        some = predict.estimate(model, cars, targets=[7, 3])
        assert some["user"].to_list() == [7, 3]
        assert some.equals(all_of_them[[6, 2]])
        assert predict.estimate(model, incrowd.features(cars)).equals(all_of_them)

    def test_counts_how_far_it_is(self, sets, cars):
        told, both = [], [predict.learn(one) for one in sets.values()]
        predict.estimate(both, cars, progress=lambda *n: told.append(n))
        assert told == [(1, 2), (2, 2)]

    def test_refuses_what_it_was_not_made_for(self, training, cars):
        model = predict.learn(training)
        frame = incrowd.features(cars)
        with pytest.raises(InputError, match="no column 'entropy'"):
            predict.estimate(model, frame.drop("entropy"))
        with pytest.raises(InputError, match="table of features is empty"):
            predict.estimate(model, frame.head(0))
        with pytest.raises(InputError, match="not finite"):
            predict.estimate(model, frame.with_columns(pl.lit(np.nan).alias("entropy")))
        with pytest.raises(InputError, match="cells of 100 m"):
            predict.estimate(model, incrowd.synthesize("city", users=5, seed=1))
        with pytest.raises(ArgumentError, match="'x' is not in the data"):
            predict.estimate(model, cars, targets=["x"])
        with pytest.raises(ArgumentError, match="targets is empty"):
            predict.estimate(model, cars, targets=[])
        with pytest.raises(ArgumentError, match="at least one model"):
            predict.estimate([], cars)
        with pytest.raises(ArgumentError, match="two models of location, k = 2"):
            predict.estimate([model, predict.learn(training, seed=1)], cars)
        with pytest.raises(ArgumentError, match="not dict"):
            predict.estimate(model, {})
        with pytest.raises(InputError, match="'visits' must be numeric"):
            predict.estimate(model, frame.with_columns(pl.lit("many").alias("visits")))
        with pytest.raises(InputError, match="several rows"):
            predict.estimate(model, pl.concat([frame, frame]))

    def test_warns_of_people_unlike_all_it_has_seen(self, training, cars):
        frame = incrowd.features(cars).with_columns(pl.col("visits") * 100)
        with pytest.warns(DataWarning, match=r"% of people .*\(mostly visits\)"):
            predict.estimate(predict.learn(training), frame)

    @pytest.mark.parametrize(("what", "given"), [("learner", "forrest"), ("task", "class")])
    def test_refuses_unknown_names(self, training, what, given):
        with pytest.raises(ArgumentError, match=f"no {what} {given!r}; did you mean"):
            predict.learn(training, **{what: given})

    @pytest.mark.parametrize("learner", LEARNERS)
    def test_tells_no_risk_below_any_that_it_learned_from(self, training, learner):
        """Nobody has a risk of 0, whatever boosting makes of her."""
        model = predict.learn(training, learner, "values")
        told = model.trees.tell(training.features * np.linspace(-3, 3, len(FEATURES)))
        assert training.risk.min() <= told.min()
        assert told.max() <= training.risk.max()

    @pytest.mark.parametrize("seed", [-1, 2**32, 1.5, True])
    def test_refuses_what_is_no_seed(self, training, seed):
        for work in (predict.learn, predict.cross_validate, predict.hold_out, predict.baseline):
            with pytest.raises(ArgumentError, match="seed"):
                work(training, seed=seed)

    @pytest.mark.parametrize("task", TASKS)
    @pytest.mark.parametrize("learner", LEARNERS)
    def test_the_same_seed_learns_the_same(self, training, learner, task):
        one, two = (predict.learn(training, learner, task, seed=3).trees for _ in range(2))
        assert one.tell(training.features).tolist() == two.tell(training.features).tolist()
        assert one.threshold.tolist() == two.threshold.tolist()


class TestImportances:
    @pytest.mark.parametrize("learner", LEARNERS)
    def test_are_shares_of_all_features(self, training, learner):
        table = predict.learn(training, learner).importances()
        assert sorted(table["feature"]) == sorted(FEATURES)
        assert table["importance"].sum() == pytest.approx(1)
        assert table["importance"].is_sorted(descending=True)

    def test_are_the_mean_reduction_of_entropy(self, training):
        """From the definition, tree by tree and node by node."""
        model = predict.learn(training)
        forest = fitted("forest", "classes", training.features, training.levels, 0)
        total = np.zeros(len(FEATURES))
        for one in forest.estimators_:
            tree, own = one.tree_, np.zeros(len(FEATURES))
            weight = tree.weighted_n_node_samples
            for node in range(tree.node_count):
                left, right = tree.children_left[node], tree.children_right[node]
                if left >= 0:
                    own[tree.feature[node]] += (
                        weight[node] * tree.impurity[node]
                        - weight[left] * tree.impurity[left]
                        - weight[right] * tree.impurity[right]
                    )
            total += own / own.sum()
        found = dict(model.importances().iter_rows())
        assert [found[name] for name in FEATURES] == pytest.approx(total / 100)

    def test_are_nothing_where_nothing_is_learned(self, sets):
        assert predict.learn(sets["visit"]).importances()["importance"].sum() == 0

    def test_add_up_over_models(self, training):
        models = [predict.learn(training, seed=seed) for seed in range(2)]
        table = importances(models)
        assert table["importance"].sum() == pytest.approx(2)
        first = table["feature"][0]
        assert table["importance"][0] == pytest.approx(
            sum(dict(model.importances().iter_rows())[first] for model in models)
        )


class TestExperiments:
    def test_test_every_configuration_in_and_across_areas(self, training, elsewhere):
        told = []
        [found] = predict.experiments(
            [[training], [elsewhere]], folds=3, progress=lambda *n: told.append(n)
        )
        assert (found.attack, found.k, told) == ("location", 2, [(1, 1)])
        expected = predict.cross_validate(training, folds=3)
        assert found.within[0].matrix.tolist() == expected.matrix.tolist()
        across = [predict.transfer(training, elsewhere), predict.transfer(elsewhere, training)]
        assert [one.matrix.tolist() for one in found.across] == [
            one.matrix.tolist() for one in across
        ]
        assert [model.people for model in found.models] == [150, 150]
        assert found.models[0].tested is found.within[0]
        assert [one.people for one in found.guessed] == [150, 150]

    def test_in_one_area(self, training):
        [found] = predict.experiments([[training]], "extra_trees", "values", folds=3)
        assert found.across == ()
        assert found.models[0].tested is found.within[0].classes

    def test_with_a_share_held_out(self, training):
        [found] = predict.experiments([[training]], held_out=0.3, seed=4)
        expected = predict.hold_out(training, share=0.3, seed=4)
        assert found.within[0].matrix.tolist() == expected.matrix.tolist()
        assert found.models[0].tested is found.within[0]
        with pytest.raises(ArgumentError, match="between 0 and 1"):
            predict.experiments([[training]], held_out=1.5)

    def test_refuse_areas_that_differ(self, training, sets):
        with pytest.raises(ArgumentError, match="training sets of the same attacks and k"):
            predict.experiments([[training], []])
        with pytest.raises(ArgumentError, match="must be of the same attack and k"):
            predict.experiments([[training], [sets["visit"]]])
        with pytest.raises(ArgumentError, match="one or two, not 3"):
            predict.experiments([[training]] * 3)
        with pytest.raises(ArgumentError, match="did you mean 'forest'"):
            predict.experiments([[training]], "forrest")
