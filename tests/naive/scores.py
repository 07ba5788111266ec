"""Classes of risk, and how well they are predicted."""

from fractions import Fraction

INTERVALS = [(0, 0), (0, 1), (1, 2), (2, 3), (3, 5), (5, 10)]
"""Classes of risk, in tenths: all but the first without their lower end (section 4.3)."""


def level(risk):
    """Give the class of a risk, counted from 0."""
    if risk == 0:
        return 0
    [found] = [i for i, (low, high) in enumerate(INTERVALS) if low < 10 * risk <= high]
    return found


def accuracy(actual, predicted):
    """Give the share of people whose class is right (section 5)."""
    return Fraction(sum(a == b for a, b in zip(actual, predicted, strict=True)), len(actual))


def f_measure(actual, predicted):
    """Give the F-measure of each class, weighted by its share of people (section 5)."""
    pairs = list(zip(actual, predicted, strict=True))
    total = Fraction(0)
    for c in set(actual):
        tp = sum(a == c and b == c for a, b in pairs)
        fp = sum(a != c and b == c for a, b in pairs)
        fn = sum(a == c and b != c for a, b in pairs)
        total += Fraction(actual.count(c), len(actual)) * Fraction(2 * tp, 2 * tp + fp + fn)
    return total


def recall(actual, predicted, i, j):
    """Give the share of class i that is predicted to be in class j; None if nobody is in i."""
    among = [b for a, b in zip(actual, predicted, strict=True) if a == i]
    return Fraction(among.count(j), len(among)) if among else None


def precision(actual, predicted, i, j):
    """Give the share of those predicted to be in class j who are in class i; None if none is."""
    return recall(predicted, actual, j, i)
