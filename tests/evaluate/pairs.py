"""Random data before and after, where everything collides: places, hours, changes of the clock."""

import numpy as np
from hypothesis import strategies as st

import naive
from incrowd import Frame
from incrowd.evaluate._comparison import BeforeAfter
from strategies import trajectories

ZONES = ("UTC", "Africa/Abidjan", "Europe/Paris", "Australia/Lord_Howe", "Asia/Kathmandu")
ORIGINS = (0, 1_332_637_200, 1_351_386_061, 1_349_537_400)
"""The beginning of all, and some hours before clocks change in Paris, and on Lord Howe Island."""


@st.composite
def pairs(draw, *, known=None):
    """Pair people with crowds that need not have anything to do with them."""
    frame = Frame(
        cell=draw(st.sampled_from([100, 37.5, 1000])),
        slot=draw(st.sampled_from([3600, 3600, 1800, 7])),
        origin=draw(st.sampled_from(ORIGINS)),
    )
    cells = draw(st.sampled_from([2, 4, 30]))
    shape = {"frame": frame, "min_people": 1, "cells": cells, "slots": 12}
    before = draw(trajectories(original=draw(st.booleans()), **shape))
    after = draw(trajectories(max_crowd=3, **shape))
    if known is None:
        known = draw(st.booleans())
    one = st.integers(-1, len(after) - 1)
    became = draw(st.lists(one, min_size=len(before), max_size=len(before))) if known else None
    return BeforeAfter(before, after, None if became is None else np.array(became, np.int64))


def crowds(data):
    """Give people as the oracles take them: how many, and their boxes."""
    people = naive.people_of(data)
    return [(crowd, boxes) for crowd, (_, boxes) in zip(data.crowd.tolist(), people, strict=True)]
