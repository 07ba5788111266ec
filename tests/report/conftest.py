"""A small city, its release and its report, which the tests of the report share."""

import pytest

import incrowd
from incrowd.evaluate._publish import publish

ZONE = "Africa/Abidjan"


@pytest.fixture(scope="session")
def city():
    """Make a city in which nobody is real."""
    return incrowd.synthesize("city", users=120, seed=7)


@pytest.fixture(scope="session")
def release(city, tmp_path_factory):
    """Publish it in crowds of two; the private record lies beside it."""
    folder = tmp_path_factory.mktemp("shared")
    who = folder / "who.parquet"
    publish(incrowd.glove(city, k=2), folder / "release", original=city, record=who, draws=50)
    return folder / "release"


@pytest.fixture(scope="session")
def gaps(city):
    """Measure k-gaps once."""
    return incrowd.k_gap(city, 2)


@pytest.fixture(scope="session")
def made(city, release, gaps):
    """Report everything that can be said of it."""
    record = release.parent / "who.parquet"
    return incrowd.report.make(
        release, original=city, record=record, gaps=gaps, tz=ZONE, targets=40
    )


@pytest.fixture(scope="session")
def html(made):
    """Give the page."""
    return made.html()
