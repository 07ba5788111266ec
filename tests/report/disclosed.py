"""Releases by hand, of which so many people are lost, alone, or in one group; and what is told."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

import incrowd
from incrowd.data._frame import Frame, laea

SHOWN = 29
"""Pairs of people who are published."""


@dataclass
class Made:
    """What a mechanism made, by hand."""

    trajectories: Any
    assignment: Any
    losses: dict
    settings: dict
    method: str = "GLOVE"
    guarantee: str = "k-anonymity"
    promises: tuple = ("record linkage",)
    limits: tuple = ("attribute inference",)
    explanation: tuple = ("Made by hand.",)
    names: list = field(default_factory=list)


def original(lost=0, alone=0, group=0, seed=0):
    """Make pairs who are alike, people alone, a group without work, and people to be lost.

    The group is one crowd of people who are seen at night only.
    """
    rng, people = np.random.default_rng(seed), []
    for _ in range(SHOWN):
        where, when = rng.integers(0, 80, (2, 40)), np.sort(rng.choice(14 * 24, 40, replace=False))
        people += [(where, when * 60)] * 2
    for _ in range(alone):
        where, when = rng.integers(0, 80, (2, 37)), np.sort(rng.choice(14 * 24, 37, replace=False))
        people.append((where, when * 60))
    if group:
        where, days = rng.integers(0, 80, (2, 14)), np.arange(14)
        people += [(where, days * 1440 + 60 * rng.integers(0, 5, 14))] * group
    for number in range(lost):
        where, when = rng.integers(0, 80, (2, 23)), np.sort(rng.choice(14 * 24, 23, replace=False))
        people.append((where + 900 + 10 * number, when * 60))
    x, y = (np.concatenate([who[0][axis] for who in people]).astype(np.int32) for axis in (0, 1))
    t = np.concatenate([who[1] for who in people]).astype(np.int32)
    offsets = np.cumsum([0, *(len(who[1]) for who in people)])
    names = pl.Series("user", [f"subscriber-{number:04}" for number in range(len(people))])
    columns = (x, x + 1, y, y + 1, t, t + 1)
    return incrowd.Trajectories(columns, offsets, Frame(laea(7.5, -5.5)), people=names)


def made(data, lost=0, alone=0, group=0):
    """Publish pairs as crowds of two, the group as one, and the others as they are."""
    end = 2 * SHOWN + alone
    first = [*range(0, 2 * SHOWN, 2), *range(2 * SHOWN, end), *([end] if group else [])]
    shown = data[np.array(first)]
    crowd = np.array([2] * SHOWN + [1] * alone + ([group] if group else []), np.int32)
    who = [
        *np.repeat(np.arange(SHOWN), 2).tolist(), *range(SHOWN, SHOWN + alone),
        *[SHOWN + alone] * group, *[None] * lost,
    ]  # fmt: skip
    assignment = pl.DataFrame(
        {"user": data.people, "trajectory": who}, schema_overrides={"trajectory": pl.Int32}
    )
    losses = {
        "people_dropped": lost, "people_left_over": min(lost, 1),
        "people_emptied": max(lost - 1, 0), "samples_dropped": 23 * lost, "samples_suppressed": 0,
    }  # fmt: skip
    settings = {"k": 2, "variant": "strict", "merge": "optimal", "max_space": 900}
    found = Made(
        incrowd.Trajectories(shown.columns, shown.offsets, shown.frame, crowd=crowd),
        assignment, losses, settings,
    )  # fmt: skip
    if alone:
        found.guarantee, found.method = "none", "temporal cloaking"
        found.settings = {"minutes": 1}
        del found.losses["people_left_over"], found.losses["people_emptied"]
    return found


def numbers_in(value, path=""):
    """Give every number in plain values, with the way to it."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from numbers_in(part, f"{path}.{name}")
            if str(name).isdigit():
                yield f"{path}.<{name}>", int(name)
    elif isinstance(value, list):
        for part in value:
            yield from numbers_in(part, f"{path}[]")
    elif isinstance(value, str):
        for text in re.findall(r"(?<![\w.%-])\d[\d,]*(?:\.\d+)?(?![\w.-]|%)", value):
            yield f"{path}~", float(text.replace(",", ""))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def page_numbers(html):
    """Give the JSON on a page."""
    return json.loads(re.search(r'id="numbers"[^>]*>(.*?)</script>', html, re.DOTALL)[1])
