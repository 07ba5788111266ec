"""Trees that vote: what a learner grew, as plain arrays, and what they tell of people.

A model is kept as these arrays, in memory as on disk, and not as objects of scikit-learn: numbers
can be checked one by one, and do not depend on the version of a library. They tell what
scikit-learn's own estimators tell, to the last bit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import Floats, Ints, kernel
from incrowd.errors import InputError
from incrowd.measure._features import FEATURES
from incrowd.predict._training import CLASSES

__all__ = [
    "ARRAYS",
    "Trees",
    "constant",
    "grown",
]


Narrow = NDArray[np.int32]
LEAF = -1
NEARLY = 1e-6
"""How far from 1 shares may be together, for they were rounded."""
ARRAYS: Mapping[str, Any] = {
    "classes": "<i4",
    "start": "<i8",
    "column": "<i4",
    "feature": "<i4",
    "threshold": "<f8",
    "left": "<i4",
    "right": "<i4",
    "value": "<f8",
    "base": "<f8",
    "range": "<f8",
    "importances": "<f8",
}
"""The type of each array, on disk."""


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """Trees, one node after the other, the nodes of a tree together and children behind parents.

    Attributes
    ----------
    mean
        Whether the trees' votes are averaged; added up, otherwise.
    classes
        The levels that can be told; none if values are told.
    start
        The first node of each tree, and the number of all nodes.
    column
        To which total a tree adds (the first of them, if its leaves have several values).
    feature
        What a node asks for; -1 in a leaf.
    threshold, left, right
        Whoever has at most the threshold goes left.
    value
        What each node adds, node after node.
    base
        What totals begin with, one for each.
    range
        The lowest and the highest value that can be told.
    importances
        How much each feature contributed, all together 1 (or 0).
    """

    mean: bool
    classes: Narrow
    start: Ints
    column: Narrow
    feature: Narrow
    threshold: Floats
    left: Narrow
    right: Narrow
    value: Floats
    base: Floats
    range: Floats
    importances: Floats

    def tell(self, features: Floats) -> Any:
        """Give the level of each row of features, or its value."""
        # Forests compare features rounded to 32 bits, as scikit-learn does; boosting does not
        # (see `_for_unrounded`).
        asked = features.astype(np.float32).astype(np.float64) if self.mean else features
        total = np.tile(self.base, (len(features), 1))
        _vote(
            np.ascontiguousarray(asked),
            self.start,
            self.column,
            self.feature,
            self.threshold,
            self.left,
            self.right,
            self.value.reshape(len(self.feature), -1),
            total,
        )
        if self.mean:
            total /= len(self.column)
        if not len(self.classes):
            return np.clip(total[:, 0], *self.range)
        if total.shape[1] < len(self.classes):  # of two classes, how much speaks for the second
            return self.classes[(total[:, 0] > 0).astype(np.int64)].astype(np.int64)
        return self.classes[total.argmax(1)].astype(np.int64)

    def refuse_odd(self) -> None:
        """Refuse arrays that are no trees; every way through them must end, and end in a leaf."""
        nodes, trees, totals = len(self.feature), len(self.column), len(self.base)
        levels, width = self.classes.tolist(), len(self.value) // max(nodes, 1)
        _require(nodes > 0 and trees > 0 and width > 0 and totals > 0, "no nodes")
        lengths = {len(part) for part in (self.threshold, self.left, self.right)}
        _require(lengths == {nodes} and len(self.value) == width * nodes, "unequal arrays")
        _require(len(self.start) == trees + 1 and _are_offsets(self.start, nodes), "no beginnings")
        # Nobody is in the first class: whoever is in the data fits what is known of her.
        known = [one for one in range(1, len(CLASSES)) if one in levels]
        _require(levels == known, "other classes")
        binary = len(levels) == 2 and totals == 1 and not self.mean  # noqa: PLR2004
        _require(totals == max(len(levels), 1) or binary, "votes for what is no class")
        first, last = int(self.column.min()), int(self.column.max()) + width
        _require(first >= 0 and last <= totals, "votes that are lost")
        _require(len(self.importances) == len(FEATURES), "other features")
        asked = (self.feature >= LEAF) & (self.feature < len(FEATURES))
        _require(bool(asked.all()), "other features")
        inner = self.feature != LEAF
        numbers = (self.threshold[inner], self.value, self.base, self.importances)
        _require(all(np.isfinite(part).all() for part in numbers), "values that are no numbers")
        total = float(self.importances.sum())
        shared = (self.importances >= 0).all() and (total == 0 or abs(total - 1) < NEARLY)
        _require(bool(shared), "importances that are no shares")
        lowest, highest = self.range if len(self.range) == 2 else (1, 0)  # noqa: PLR2004
        _require(bool(0 <= lowest <= highest <= 1), "a range that is none")
        _require(bool(levels) or lowest > 0, "a risk of 0 to tell")
        origin = np.arange(nodes)[inner]
        end = np.repeat(self.start[1:], np.diff(self.start))[inner]
        for child in (self.left[inner], self.right[inner]):
            leads = (child > origin) & (child < end)
            _require(bool(leads.all()), "ways that are endless or lead nowhere")


def _require(fine: bool, odd: str) -> None:  # noqa: FBT001
    if not fine:
        raise InputError(f"its trees have {odd}")


def _are_offsets(start: Ints, nodes: int) -> bool:
    within = (start >= 0) & (start <= nodes)  # looked at first: differences could overflow
    ends = start[0] == 0 and start[-1] == nodes
    return bool(within.all()) and bool(ends) and bool((np.diff(start) > 0).all())


@kernel
def _vote(
    features: Floats,
    start: Ints,
    column: Narrow,
    feature: Narrow,
    threshold: Floats,
    left: Narrow,
    right: Narrow,
    value: Floats,
    total: Floats,
) -> None:
    """Add what the trees say of each person, tree after tree."""
    for tree in range(len(column)):
        for person in range(len(features)):
            node = start[tree]
            while feature[node] != LEAF:
                if features[person, feature[node]] <= threshold[node]:
                    node = left[node]
                else:
                    node = right[node]
            for i in range(value.shape[1]):
                total[person, column[tree] + i] += value[node, i]


def grown(estimator: Any, target: Ints | Floats) -> Trees:
    """Return the trees of an estimator of scikit-learn that has learned a target.

    Only documented attributes are read, so that other versions of it give the same.
    """
    levels = getattr(estimator, "classes_", np.empty(0, np.int32)).astype(np.int32)
    parts = [_arrays(one.tree_) for one in np.ravel(estimator.estimators_)]
    column, base = np.zeros(len(parts), np.int32), np.zeros(max(len(levels), 1))
    boosted = hasattr(estimator, "init_")
    if boosted:
        base = _before_the_first_round(estimator)
        column = (np.arange(len(parts)) % len(base)).astype(np.int32)
        for part in parts:
            part["value"] = part["value"] * estimator.learning_rate
            part["threshold"] = _for_unrounded(part["threshold"])
    sizes = [len(part["feature"]) for part in parts]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    shift = np.repeat(start[:-1], sizes)
    for side in ("left", "right"):
        joined[side] = np.where(joined["feature"] != LEAF, joined[side] + shift, LEAF)
    return _trees(
        mean=not boosted,
        classes=levels,
        start=start,
        column=column,
        base=base,
        range=_range(target, levels),
        importances=np.asarray(estimator.feature_importances_, np.float64),
        **joined,
    )


def constant(target: Ints | Floats, task: str) -> Trees:
    """Make the tree that tells everybody the same."""
    levels = target[:1] if task == "classes" else target[:0]
    return _trees(
        mean=True,
        classes=levels,
        start=np.array([0, 1]),
        column=np.zeros(1),
        feature=np.array([LEAF]),
        threshold=np.zeros(1),
        left=np.array([LEAF]),
        right=np.array([LEAF]),
        value=np.ones(1) if task == "classes" else target[:1],
        base=np.zeros(1),
        range=_range(target, levels),
        importances=np.zeros(len(FEATURES)),
    )


def _trees(*, mean: bool, **arrays: Any) -> Trees:
    """Make trees, with arrays of the types that they are kept in."""
    return Trees(mean=mean, **{name: arrays[name].astype(kind) for name, kind in ARRAYS.items()})


def _range(target: Any, levels: Any) -> Floats:
    """Nobody is told a value beyond those that were learned from: no risk is 0."""
    return np.array([0.0, 1.0] if len(levels) else [target.min(), target.max()])


def _arrays(tree: Any) -> dict[str, Any]:
    """Return the nodes of a tree of scikit-learn."""
    leaf = tree.children_left < 0
    return {
        "feature": np.where(leaf, LEAF, tree.feature),
        "threshold": np.where(leaf, 0.0, tree.threshold),
        "left": tree.children_left,
        "right": tree.children_right,
        "value": tree.value.ravel(),
    }


def _before_the_first_round(estimator: Any) -> Floats:
    """Return what boosting starts from: the mean, or the logits of the shares of classes."""
    from scipy.special import logit
    from scipy.stats import gmean

    shares = getattr(estimator.init_, "class_prior_", None)
    if shares is None:
        return np.asarray(estimator.init_.constant_, np.float64).ravel()
    if len(shares) == 2:  # noqa: PLR2004
        return np.asarray(logit(shares[1:]), np.float64)
    return np.asarray(np.log(shares / gmean(shares)), np.float64)


def _for_unrounded(threshold: Floats) -> Floats:
    """Return thresholds for features as they are, from those for features rounded to 32 bits.

    Trees of scikit-learn compare rounded features, boosted models of ours never did: files of
    before hold thresholds for features as they are, and so does every boosted model. Whatever
    rounds to the last 32-bit number up to the threshold goes left: all up to the middle between
    that number and the next, and the middle itself if it rounds down, to an even number.
    """
    last = threshold.astype(np.float32)
    last = np.where(last > threshold, np.nextafter(last, np.float32(-np.inf)), last)
    following = np.nextafter(last, np.float32(np.inf)).astype(np.float64)
    middle = (last.astype(np.float64) + following) / 2
    even = np.ascontiguousarray(last).view(np.uint32) % 2 == 0
    return np.where(even, middle, np.nextafter(middle, -np.inf))
