"""Edges rounded outwards to a coarser grid, by going outwards until a line of it is there."""

from naive.data import in_time

__all__ = ["rounded_out", "rounded_record"]


def rounded_out(box, wide=1, long=1, slot=60, origin=0):
    """A box whose sides lie on the coarser grid of so many cells and slots, the nearest outwards.

    In space its lines are multiples from the origin of the plane. In time a coarse slot begins with
    the first slot that starts in it; coarse ones follow each other from 1970 on.
    """

    def coarse(t):
        return (t * slot + origin) // (long * slot)

    lines = [lambda x: x % wide == 0] * 2 + [lambda t: coarse(t) != coarse(t - 1)]
    found = []
    for axis, is_line in enumerate(lines):
        low, high = box[2 * axis], box[2 * axis + 1]
        while not is_line(low):
            low -= 1
        while not is_line(high):
            high += 1
        found += [low, high]
    return tuple(found)


def rounded_record(boxes, *grid):
    """The record of rounded boxes: in order, each once."""
    return sorted({rounded_out(box, *grid) for box in boxes}, key=in_time)
