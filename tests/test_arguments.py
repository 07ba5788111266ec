"""What is of another kind than it must be is refused, and told what makes one of the right kind."""

import pandas as pd
import polars as pl
import pytest

import incrowd
from incrowd._arguments import must_be
from incrowd.errors import ArgumentError

CITY = incrowd.synthesize("city", users=6, seed=7)
ROWS = pd.DataFrame({"user": [1, 2], "lat": [48.0, 48.1], "lon": [2.0, 2.1], "time": [0, 60]})
TRAJECTORIES = "must be Trajectories, not DataFrame; make them with incrowd.read"
PAIR = "pair must be a BeforeAfter, not DataFrame; incrowd.of_release and incrowd.of_files make one"
RESULT = "release must be a ProtectionResult, not str; incrowd.glove gives one"
TRAINING = "training must be a Training, not {}; incrowd.predict.training_sets makes a list of them"
MODEL = "models must be a Model, not int; incrowd.predict.learn makes one"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: incrowd.select(ROWS, share=0.5, seed=1), f"data {TRAJECTORIES}"),
        (lambda: incrowd.select(incrowd.visits(CITY)), "data must be Trajectories, not Visits"),
        (lambda: incrowd.visits(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.describe(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.k_gap(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.dispersion(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.features(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.points_of_interest(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.anonymizability(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.study(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.write(ROWS, "x.csv"), f"data {TRAJECTORIES}"),
        (lambda: incrowd.glove(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.Generalise(1000).protect(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.Cloak(60).protect(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.Filter(2).protect(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.GeoI(0.01).protect(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.accuracy(ROWS), PAIR),
        (lambda: incrowd.utility(ROWS), PAIR),
        (lambda: incrowd.inference(ROWS), PAIR),
        (lambda: incrowd.of_release(CITY, "x"), RESULT),
        (lambda: incrowd.of_release(ROWS, incrowd.Cloak(60).protect(CITY)), f"data {TRAJECTORIES}"),
        (lambda: incrowd.publish("x", "there", original=CITY), RESULT),
        (
            lambda: incrowd.publish(incrowd.Cloak(60).protect(CITY), "there", original=ROWS),
            f"original {TRAJECTORIES}",
        ),
        (lambda: incrowd.predict.training_sets(ROWS), f"data {TRAJECTORIES}"),
        (lambda: incrowd.predict.learn(CITY), TRAINING.format("Trajectories")),
        (lambda: incrowd.predict.cross_validate(3), TRAINING.format("int")),
        (lambda: incrowd.predict.hold_out(3), TRAINING.format("int")),
        (lambda: incrowd.predict.transfer(3, 3), TRAINING.format("int")),
        (lambda: incrowd.predict.estimate(3, CITY), MODEL),
        (lambda: incrowd.predict.estimate([3], CITY), MODEL),
        (
            lambda: incrowd.plot_k_gap([0.5]),
            "gaps must be a DataFrame, not list; give the table that incrowd",
        ),
    ],
)
def test_what_is_of_another_kind_is_refused(call, says):
    with pytest.raises(ArgumentError) as refused:
        call()
    assert str(refused.value).startswith(says)


def test_what_is_of_the_kind_is_returned():
    table = pl.DataFrame()
    assert must_be("table", table, pl.DataFrame, "") is table
