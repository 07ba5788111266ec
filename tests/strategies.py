"""Random trajectories: few users, few cells and few slots, so that everything collides."""

import numpy as np
from hypothesis import strategies as st

from incrowd import Frame, Trajectories

TEXT = st.text("ab\"',;é \U0001f600", min_size=1, max_size=3)
WHOLE = st.integers(-(2**63), 2**63 - 1)


def users():
    """Identifiers of one kind: text or whole numbers."""
    return st.one_of(
        st.lists(TEXT, min_size=1, max_size=5), st.lists(WHOLE, min_size=1, max_size=5)
    )


def sides(low, high, longest):
    """Draw start and end of a box along one axis."""
    return st.tuples(st.integers(low, high), st.integers(1, longest)).map(
        lambda side: (side[0], side[0] + side[1])
    )


@st.composite
def rows(draw, *, max_rows=30, cells=4, slots=6, longest=3):
    """Rows ``(user, x0, x1, y0, y1, t0, t1)`` in any order, some of them repeated."""
    names = draw(users())
    row = st.tuples(
        st.sampled_from(names),
        sides(-cells, cells, longest),
        sides(-cells, cells, longest),
        sides(-slots, slots, longest),
    )
    return [(user, *x, *y, *t) for user, x, y, t in draw(st.lists(row, max_size=max_rows))]


def table(rows):
    """Turn rows into a dict of columns."""
    names = ("user", "x0", "x1", "y0", "y1", "t0", "t1")
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


@st.composite
def trajectories(draw, *, frame=None, min_people=0, max_crowd=1, original=False, **limits):
    """Trajectories of up to five people, each with a sample at least."""
    longest = 1 if original else limits.pop("longest", 3)
    smallest = rows(longest=longest, **limits)
    if min_people:
        smallest = smallest.filter(lambda found: len({user for user, *_ in found}) >= min_people)
    data = Trajectories.from_boxes(table(draw(smallest)), frame or Frame())
    crowd = draw(st.lists(st.integers(1, max_crowd), min_size=len(data), max_size=len(data)))
    return Trajectories(
        data.columns,
        data.offsets,
        data.frame,
        people=data.people,
        crowd=np.array(crowd, np.int32),
    )
