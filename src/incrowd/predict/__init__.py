"""Risk without simulation: models that learn it from mobility features (the paper of 2017).

A training set puts the features of everybody (`incrowd.features`) beside the risk that an attack
found (`incrowd.risk`); a model learns the one from the other, is tested on people whom it has not
seen, in the same area or in another, and then tells the risk of new people at once::

    sets = incrowd.predict.training_sets(data, ["location", "visit"], k=[2, 4])
    scores = [incrowd.predict.cross_validate(one) for one in sets]
    models = [incrowd.predict.learn(one, tested=each) for one, each in zip(sets, scores)]
    incrowd.predict.save(models, "risk.model")

    incrowd.predict.estimate(incrowd.predict.load("risk.model"), new_data)

What a model tells is an estimate. `incrowd.risk` is exact, and takes seconds.
"""

from incrowd.predict._model import LEARNERS, Model, estimate, learn
from incrowd.predict._persistence import load, save
from incrowd.predict._scores import Scores, Values
from incrowd.predict._training import CLASSES, Grid, Training, levels, training_sets
from incrowd.predict._validation import (
    Experiment,
    baseline,
    cross_validate,
    experiments,
    hold_out,
    transfer,
)

__all__ = [
    "CLASSES",
    "LEARNERS",
    "Experiment",
    "Grid",
    "Model",
    "Scores",
    "Training",
    "Values",
    "baseline",
    "cross_validate",
    "estimate",
    "experiments",
    "hold_out",
    "learn",
    "levels",
    "load",
    "save",
    "training_sets",
    "transfer",
]
