"""What the tests of learned risk share: few cars, attacked once."""

import pytest

import incrowd
from incrowd import predict


@pytest.fixture(scope="session")
def cars():
    return incrowd.synthesize("pisa", users=150, seed=1)


@pytest.fixture(scope="session")
def sets(cars):
    """Give training sets; in the one of visits, all risks are alike."""
    return {one.attack: one for one in predict.training_sets(cars, ["location", "visit"], 2)}


@pytest.fixture(scope="session")
def training(sets):
    return sets["location"]


@pytest.fixture(scope="session")
def elsewhere():
    other = incrowd.synthesize("florence", users=150, seed=2)
    [found] = predict.training_sets(other, "location", 2)
    return found
