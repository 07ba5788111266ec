"""Releases in memory, with their originals: random crowds that need not be GLOVE's."""

from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import strategies as st

import naive
from incrowd import Frame, Trajectories
from incrowd.data._manifest import Manifest
from incrowd.evaluate._release_attacks.adversary import Adversary, KnownRelease, Rules
from incrowd.evaluate._verify._kernels import latest_ends, mark_uncovered
from incrowd.evaluate._verify.rows import Published
from strategies import table, trajectories

FRAME = Frame(slot=3600)


def manifest(**settings):
    """Make a manifest that states settings."""
    return Manifest(
        method="GLOVE", settings=settings, frame={}, sizes={}, losses={}, holds_against=[],
        fails_against=[], names="random", files={}, guarantee="k-anonymity",
    )  # fmt: skip


def known_release(before, after, became, rules, sizes=None, **settings):
    """Put a release together from boxes, as if it had been read from files."""
    boxes = np.zeros((after.samples, 8), np.int32)
    boxes[:, :6] = np.column_stack(after.columns)
    cuts, became = after.offsets, np.asarray(became, np.int64)
    members = np.bincount(became[became >= 0], minlength=len(after))
    sizes = np.maximum(members, 1) if sizes is None else np.asarray(sizes)
    crowd_of = np.repeat(np.arange(len(after)), sizes)
    names = pl.Series("person", [f"{i:04}" for i in range(len(crowd_of))])
    rows = int((np.diff(cuts) * sizes).sum())
    published = Published(before.frame, names, crowd_of, sizes, boxes, cuts, rows, {})
    reach, missed = latest_ends(boxes, cuts), np.empty(before.samples, np.bool_)
    mark_uncovered(
        0, len(before), became, before.columns, before.offsets, 0, boxes, reach, cuts, missed
    )
    release = KnownRelease(
        Path("release"), manifest(**settings), published, before, became, missed, reach
    )
    release.__dict__["rules"] = rules
    return release


def lists(data):
    """Give the boxes of every trajectory."""
    return [boxes for _, boxes in naive.people_of(data)]


@st.composite
def rules(draw):
    """Draw what a method says of boxes."""
    whole = draw(st.booleans())
    most, witness = draw(st.integers(-1, 2)), whole and draw(st.booleans())
    wide, long = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (1, 3), (3, 2)]))
    return Rules(held=True, most=most, witness=witness, whole=whole, wide=wide, long=long)


def rounding(release):
    """Give what rounds any box as those of a release were."""
    rules, frame = release.rules, release.published.frame
    return lambda box: naive.rounded_out(box, rules.wide, rules.long, frame.slot, frame.origin)


def rounded(after, rules):
    """Round the boxes of records outwards, as rules say."""
    grid = (rules.wide, rules.long, after.frame.slot, after.frame.origin)
    rows = [
        (number, *box)
        for number, boxes in enumerate(lists(after))
        for box in naive.rounded_record(boxes, *grid)
    ]
    return Trajectories.from_boxes(table(rows), after.frame)


@st.composite
def releases(draw, *, least=1, frame=FRAME):
    """People, and records that need not have anything to do with them."""
    shape = {"frame": frame, "cells": draw(st.sampled_from([1, 2, 4])), "slots": 4}
    before = draw(trajectories(min_people=least, original=draw(st.booleans()), **shape))
    after = draw(trajectories(min_people=1, **shape))
    # Some records are those of people, so that samples lie in boxes and touch them.
    if draw(st.booleans()):
        after = Trajectories(before.columns, before.offsets, frame)
        if draw(st.booleans()):
            x0, x1, y0, y1, t0, t1 = before.columns
            after = Trajectories((x0, x1 + 1, y0, y1, t0, t1), before.offsets, frame)
    one = st.integers(-1, len(after) - 1)
    became = draw(st.lists(one, min_size=len(before), max_size=len(before)))
    members = np.bincount([each for each in became if each >= 0], minlength=len(after))
    strangers = draw(st.lists(st.integers(0, 1), min_size=len(after), max_size=len(after)))
    sizes = np.maximum(members + strangers, 1)
    said = draw(rules())
    return known_release(before, rounded(after, said), became, said, sizes)


def adversary(release, **how):
    """Make an adversary who attacks everybody."""
    return Adversary(release, sample=10**6, **how)
