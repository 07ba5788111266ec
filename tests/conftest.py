"""Settings that every test shares: how many random cases are drawn.

Two profiles. The everyday one draws every kind of case, fewer of each; ``make test-deep`` draws as
many as `strategies.random_cases` is told, and is run before a release.
"""

import os

from hypothesis import settings

from incrowd._parallel import cores
from strategies import DEEP, few

# Compiled kernels take seconds the first time, so no example has a deadline. On a server the same
# commit must give the same answer; the deep profile looks for new cases everywhere.
settings.register_profile(
    "everyday", deadline=None, max_examples=few(100), derandomize="CI" in os.environ
)
settings.register_profile("deep", deadline=None, max_examples=100)
settings.load_profile("deep" if DEEP else "everyday")


LONGEST = (
    "test_browser",
    "test_risk",
    "test_glove",
    "test_make",
    "test_docs",
    "test_anonymize",
    "test_learn",
    "test_learning",
    "test_examples",
    "test_k_merge",
    "test_demo",
    "test_read",
)


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest, so that none is left alone at the end."""
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))


def pytest_xdist_auto_num_workers():
    """Give how many processes run tests: one more than cores, for some wait for commands."""
    return cores() + 1
