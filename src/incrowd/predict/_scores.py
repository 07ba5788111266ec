"""How good predictions of classes are: accuracy, F, recall and precision, and who is missed."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from incrowd._format import people
from incrowd._numba import Floats, Ints
from incrowd._summary import Summarised, Summary
from incrowd.predict._training import CLASSES, HIGHEST

__all__ = [
    "Scores",
    "Values",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Summarised):
    """Predicted classes beside the true ones.

    Attributes
    ----------
    matrix
        How many people of each class (rows) were predicted to be in each (columns).
    inductive
        Whether features and risk of the people who were learned from were found among these only
        (inductive), or among everybody (transductive); see `cross_validate`. None where it was
        learned from another dataset, or nothing was learned.
    """

    matrix: Ints
    inductive: bool | None = None

    @classmethod
    def of(cls, actual: Ints, predicted: Ints, *, inductive: bool | None = None) -> "Scores":
        """Count levels."""
        number = len(CLASSES)
        pairs = np.bincount(actual * number + predicted, minlength=number * number)
        return cls(pairs.reshape(number, number), inductive)

    @property
    def people(self) -> int:
        """How many were predicted."""
        return int(self.matrix.sum())

    @property
    def accuracy(self) -> float:
        """The share of people whose class is right."""
        return float(Fraction(int(np.trace(self.matrix)), self.people))

    @property
    def f_measure(self) -> float:
        """The F-measure of each class, 2 TP / (2 TP + FP + FN), weighted by its people."""
        right = np.diagonal(self.matrix)
        actual, predicted = self.matrix.sum(1), self.matrix.sum(0)
        return float(
            sum(
                Fraction(int(n) * 2 * int(hits), self.people * int(n + guessed))
                for hits, n, guessed in zip(right, actual, predicted, strict=True)
                if n
            )
        )

    @property
    def lower(self) -> float:
        """The share of people whose risk was predicted lower than it is."""
        return float(Fraction(int(np.tril(self.matrix, -1).sum()), self.people))

    @property
    def missed(self) -> float:
        """Of the people of the highest class, the share predicted lower; NaN if there are none."""
        row = self.matrix[HIGHEST]
        return float(Fraction(int(row[:HIGHEST].sum()), int(row.sum()))) if row.sum() else np.nan

    def recall(self) -> Floats:
        """Give the share of each class (rows) that was predicted in each (columns).

        The diagonal is the recall. Rows of classes that do not occur are NaN.
        """
        return _shares(self.matrix, 1)

    def precision(self) -> Floats:
        """Give the share of each predicted class (columns) that is in truth in each (rows).

        The diagonal is the precision. Columns of classes that were never predicted are NaN.
        """
        return _shares(self.matrix, 0)

    @property
    def how(self) -> str:
        """Whether they are transductive or inductive, in a word; nothing where neither is meant."""
        return {None: "", False: "transductive", True: "inductive"}[self.inductive]

    def _summary(self) -> Summary:
        scores = f"accuracy {self.accuracy:.3f}, F {self.f_measure:.3f}" if self.people else ""
        parts = (people(self.people), scores, self.how)
        return Summary(f"Scores({', '.join(part for part in parts if part)})")


@dataclass(frozen=True, slots=True, repr=False)
class Values(Summarised):
    """Predicted risks beside the true ones.

    Attributes
    ----------
    r2
        The share of the variance that is explained; NaN if all risks are alike.
    error
        The mean absolute error.
    squared
        The root of the mean squared error.
    classes
        The same predictions as classes.
    """

    r2: float
    error: float
    squared: float
    classes: Scores

    def _summary(self) -> Summary:
        facts = {
            "R2": f"{self.r2:.3f}",
            "mean absolute error": f"{self.error:.3f}",
            "root of the mean squared error": f"{self.squared:.3f}",
            "as classes": repr(self.classes),
        }
        how = f", {self.classes.how}" if self.classes.how else ""
        return Summary(f"Risks predicted of {people(self.classes.people)}{how}", facts)


def _shares(matrix: Ints, axis: int) -> Floats:
    """Divide by the sums along an axis; NaN where there is nothing."""
    total = matrix.sum(axis, keepdims=True).astype(np.float64)
    total[total == 0] = np.nan
    return np.asarray(matrix / total, np.float64)
