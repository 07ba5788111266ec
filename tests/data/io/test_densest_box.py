"""Data that spans the world is refused with a box that can be read."""

import re

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.errors import PlaceError


def travellers():
    """Make forty people of one country, of whom some travel, and two far away."""
    dice = np.random.default_rng(5)
    rows = []
    for who in range(40):
        rows += [(who, 46 + dice.random() * 3, 1 + dice.random() * 4) for _ in range(50)]
        if who < 10:
            rows.append((who, -33.9, 151.2))
    rows += [(who, 37.8, -122.4) for who in (40, 41) for _ in range(500)]
    user, lat, lon = zip(*rows, strict=True)
    times = [f"2024-03-{1 + i % 28:02}T{i % 24:02}:00:00Z" for i in range(len(rows))]
    return pl.DataFrame({"user": user, "time": times, "lat": lat, "lon": lon})


def test_the_box_is_named_and_can_be_read():
    table = travellers()
    with pytest.raises(PlaceError, match="no projection shows them all") as error:
        incrowd.read(table)
    said = re.search(r"--bbox=(\S+) keeps 40 of 42 people and (\d+) % of rows", str(error.value))
    assert said is not None
    box = tuple(float(edge) for edge in said[1].split(","))
    data = incrowd.read(table, bbox=box)
    assert len(data) == 40
    assert error.value.hint == said[0]
    assert int(said[2]) == round(100 * 2000 / len(table))
