"""Whether the trees of an estimator are trees; scikit-learn follows their nodes without looking."""

from typing import Any

import numpy as np

from incrowd.compiled import Floats, Ints
from incrowd.measure.features import FEATURES
from incrowd.predict.classes import CLASSES
from incrowd.predict.learners import expected_type

__all__ = ["oddity"]

NONE = -1


def oddity(estimator: Any, learner: str, task: str) -> str:
    """Say what is wrong with an estimator that came from a file; nothing, if nothing is."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    constant = DummyClassifier if task == "classes" else DummyRegressor
    if type(estimator) is constant:
        return _odd_constant(estimator, task)
    if type(estimator) is not expected_type(learner, task):
        return f"a {type(estimator).__name__} where a {learner} was announced"
    if estimator.n_features_in_ != len(FEATURES):
        return f"a model of {estimator.n_features_in_} features"
    if task == "classes" and not _are_levels(estimator.classes_):
        return "classes that are none"
    if learner == "boosting":
        return _odd_boosting(estimator, task)
    return _odd_forest(estimator, task)


def _are_levels(classes: Any) -> bool:
    return (
        isinstance(classes, np.ndarray)
        and classes.ndim == 1
        and classes.dtype.kind == "i"
        and len(classes) > 0
        and bool(np.isin(classes, range(len(CLASSES))).all())
        and bool((np.diff(classes) > 0).all())
    )


def _odd_constant(estimator: Any, task: str) -> str:
    if estimator.strategy != "constant" or getattr(estimator, "n_outputs_", 0) != 1:
        return "a guess that is not constant"
    value = np.asarray(estimator.constant)
    if task == "classes":
        fits = value.ndim == 0 and value.dtype.kind == "i" and _are_levels(estimator.classes_)
        return "" if fits and int(value) in estimator.classes_ else "classes that are none"
    held = np.asarray(estimator.constant_)
    fits = held.dtype.kind == "f" and held.size == 1 and 0 <= float(held.ravel()[0]) <= 1
    return "" if fits else "a risk that is none"


def _odd_forest(estimator: Any, task: str) -> str:
    from sklearn import tree
    from sklearn.tree._tree import Tree

    one = {
        "RandomForestClassifier": tree.DecisionTreeClassifier,
        "RandomForestRegressor": tree.DecisionTreeRegressor,
        "ExtraTreesClassifier": tree.ExtraTreeClassifier,
        "ExtraTreesRegressor": tree.ExtraTreeRegressor,
    }[type(estimator).__name__]
    width = len(estimator.classes_) if task == "classes" else 1
    if estimator.n_outputs_ != 1 or not len(estimator.estimators_):
        return "a forest without trees"
    if task == "classes" and estimator.n_classes_ != width:
        return "classes that are none"
    for each in estimator.estimators_:
        if type(each) is not one or type(each.tree_) is not Tree:
            return f"a {type(each).__name__} among the trees"
        odd = _odd_tree(each, width if task == "classes" else 0)
        if odd:
            return odd
    return ""


def _odd_tree(each: Any, classes: int) -> str:
    """Say what is wrong with one tree of a forest; it has no classes if it tells values."""
    grown = each.tree_
    if grown.n_features != len(FEATURES) or each.n_features_in_ != len(FEATURES):
        return "a tree of other features"
    if grown.value.shape != (grown.node_count, 1, classes or 1) or each.n_outputs_ != 1:
        return "a tree of other classes"
    if classes and not np.array_equal(each.classes_, np.arange(classes)):
        return "a tree of other classes"
    if not np.isfinite(grown.value).all():
        return "a tree with values that are none"
    leaf = grown.children_left == NONE
    if not np.array_equal(leaf, grown.children_right == NONE):
        return "a node with one branch"
    if not _is_tree(leaf, grown.children_left, grown.children_right, grown.feature):
        return "a tree that is none"
    return ""


def _odd_boosting(estimator: Any, task: str) -> str:
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    width = len(estimator.classes_) if task == "classes" else 1
    each_round = width if width > 2 else 1  # noqa: PLR2004  two classes need one tree
    rounds = estimator._predictors
    if estimator.n_trees_per_iteration_ != each_round or not rounds:
        return "rounds without trees"
    if estimator._preprocessor is not None or estimator.is_categorical_ is not None:
        return "another kind of boosting"
    if estimator._baseline_prediction.shape != (1, each_round):
        return "another kind of boosting"
    if any(len(trees) != each_round for trees in rounds):
        return "rounds without trees"
    for one in (one for trees in rounds for one in trees):
        if type(one) is not TreePredictor or one.nodes["is_categorical"].any():
            return "another kind of tree"
        if not np.isfinite(one.nodes["value"]).all():
            return "a tree with values that are none"
        left, right = (one.nodes[side].astype(np.int64) for side in ("left", "right"))
        if not _is_tree(one.nodes["is_leaf"] != 0, left, right, one.nodes["feature_idx"]):
            return "a tree that is none"
    return ""


def _is_tree(leaf: Any, left: Ints, right: Ints, feature: Ints) -> bool:
    """Whether every branch leads to a later node that exists, and asks for a feature that does.

    Later: so no way through them is endless.
    """
    number = np.arange(len(leaf))
    inner = ~leaf
    ways = np.concatenate([left[inner], right[inner]])
    origin = np.concatenate([number[inner], number[inner]])
    asked: Floats | Ints = feature[inner]
    return (
        len(leaf) > 0
        and bool((ways > origin).all())
        and bool((ways < len(leaf)).all())
        and bool((asked >= 0).all())
        and bool((asked < len(FEATURES)).all())
    )
