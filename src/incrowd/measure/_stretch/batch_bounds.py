"""Many bounds at once: lines of a table, added up for a thousand trajectories at a time.

The rows of all trajectories (see the atlas) stand side by side in two tables, one for space and
one for time: a *line* of a table is what a sample in one zone, or in one bin, costs with each of a
thousand others. So the bound of one trajectory with all of them is a sum of lines, one for each of
its samples. Bytes are added up in 16 bits, as many as fit (a *block*), and the blocks in 32.

Off every line goes what the size of the sample itself may save. For those who consist of cells
this is less, or rather: more goes off, but what they must be stretched by anyway is added again.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel_inline, kernel_nogc, kernel_private
from incrowd.measure._stretch.effort import Boxes, Scale
from incrowd.measure._stretch.partition import FAR, Atlas

__all__ = [
    "LANES",
    "STRIPE",
    "STRIPES",
    "WIDTH",
    "Lines",
    "add_lines",
    "make_lines",
    "seat_of",
    "space_lines",
    "time_lines",
]


LANES = 64
"""How many slots are a chunk: neighbours, left together where all of them are too far away."""
STRIPES, STRIPE = 4, LANES // 4
"""Of 64 chunks, every fourth is in the same stripe: so threads share each neighbourhood."""
WIDTH = STRIPE * LANES + LANES
"""How long a line is. The last 64 are not used: with a power of two, lines would compete for the
same places in the processor's cache."""
LOAD = 257
"""So many bytes can be added up in 16 bits."""
AT_ONCE = 4
"""How many lines are added at once; others wait for memory meanwhile."""


class Lines(NamedTuple):
    """Which lines some trajectories add up, in blocks; a number for each line.

    Attributes
    ----------
    line, times
        The zone or bin, and how often it counts.
    off, flip
        What goes off, and the bits by which that is different for those who consist of cells.
    end
        Where each block ends.
    first
        The first block of each trajectory, and where those of the last one end.
    extra
        For each trajectory, what is added again for those who consist of cells.
    """

    line: NDArray[np.uint16]
    times: NDArray[np.uint16]
    off: NDArray[np.uint8]
    flip: NDArray[np.uint8]
    end: NDArray[np.int64]
    first: NDArray[np.int64]
    extra: NDArray[np.int64]


@kernel_nogc
def seat_of(slot: int) -> tuple[int, int]:
    """Tell in which stripe of the table a slot is, and where in its lines."""
    chunk = slot // LANES
    stripe = chunk // LANES * STRIPES + chunk % STRIPES
    return stripe, chunk % LANES // STRIPES * LANES + slot % LANES


@kernel_private
def make_lines(queries: int, number: int, samples: int) -> Lines:
    """Give room for so many different lines, that count as often as there are samples."""
    blocks = 2 * queries + 2 * samples // LOAD
    room = number + samples // LOAD + AT_ONCE * blocks
    return Lines(
        np.empty(room, np.uint16),
        np.empty(room, np.uint16),
        np.empty(room, np.uint8),
        np.empty(room, np.uint8),
        np.zeros(blocks, np.int64),
        np.zeros(queries + 1, np.int64),
        np.zeros(queries, np.int64),
    )


@kernel_nogc
def _close(lines: Lines, block: int, used: int) -> int:
    """End a block, with lines that count nothing to make it even; give where it ends."""
    while used % AT_ONCE:
        lines.line[used], lines.times[used], lines.off[used], lines.flip[used] = 0, 0, 0, 0
        used += 1
    lines.end[block] = used
    return used


@kernel_nogc
def _add(
    lines: Lines, block: int, used: int, load: int, line: int, times: int, off: int, cells: int
) -> tuple[int, int, int]:
    """Write a line down; give the block, where it ends, and how much is in it."""
    while times > 0:
        if load == LOAD:
            used, load = _close(lines, block, used), 0
            block += 1
        part = min(times, LOAD - load)
        lines.line[used], lines.times[used] = line, part
        lines.off[used], lines.flip[used] = off, off ^ cells
        used, load, times = used + 1, load + part, times - part
    return block, used, load


@kernel_nogc
def space_lines(
    q: int,
    zone: NDArray[np.uint16],
    count: NDArray[np.int32],
    wide: NDArray[np.uint16],
    crowd: int,
    atlas: Atlas,
    scale: Scale,
    lines: Lines,
) -> None:
    """Write down the lines of a trajectory in space, given by its features."""
    step, most = atlas.space_step, scale.space // atlas.space_step
    block = lines.first[q]
    used, load, extra = lines.end[block - 1] if block else 0, 0, 0
    for f in range(len(zone)):
        # At worst the other stands for one person only.
        w = np.int64(wide[f])
        off = -(-(w * crowd) // ((1 + crowd) * step))
        cells = max(off, min(w // step, off + most))
        extra += count[f] * (cells - off)
        if off < FAR:
            block, used, load = _add(
                lines, block, used, load, zone[f], count[f], off, min(FAR, cells)
            )
    _close(lines, block, used)
    lines.first[q + 1], lines.extra[q] = block + 1, extra


@kernel_nogc
def time_lines(
    q: int,
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    atlas: Atlas,
    scale: Scale,
    lines: Lines,
) -> None:
    """Write down the lines of a trajectory in time."""
    step, thin = atlas.time_step, atlas.thin_t + 1
    block = lines.first[q]
    used, load, extra = lines.end[block - 1] if block else 0, 0, 0.0
    i = start
    while i < end:
        long, times = np.int64(boxes.t1[i] - boxes.t0[i] - thin), 1
        while (
            i + times < end
            and boxes.bin[i + times] == boxes.bin[i]
            and boxes.t1[i + times] - boxes.t0[i + times] - thin == long
        ):
            times += 1
        # See `late_at`: of cells, half of the box goes off, but they are stretched to all of it.
        off = -(-(long * crowd) // ((1 + crowd) * step))
        cells = -(-(long + 1) // (2 * step)) if long else 0
        extra += times * min(float(scale.time), long / (1 + crowd))
        block, used, load = _add(
            lines, block, used, load, boxes.bin[i], times, min(FAR, off), min(FAR, cells)
        )
        i += times
    _close(lines, block, used)
    lines.first[q + 1], lines.extra[q] = block + 1, int(extra * (1 - 1e-12) / step)


@kernel_inline
def _left(value: Any, off: Any, times: Any) -> Any:
    """Give what is left of a byte, so many times."""
    return np.uint16(np.uint16(np.uint8(max(value, off) - off)) * times)


@kernel_nogc
def add_lines(
    table: NDArray[np.uint8],
    begin: int,
    stop: int,
    lines: Lines,
    q: int,
    cells: NDArray[np.uint8],
    sums: NDArray[np.int32],
    part: NDArray[np.uint16],
) -> None:
    """Add up the lines of a trajectory, from one place in them to another.

    `cells` is 255 for those who consist of cells, else 0. `part` is room for as many numbers.
    """
    extra, size = np.int32(min(lines.extra[q], 2**30)), np.uintp(stop - begin)
    only, total, part = cells[begin:stop], sums[begin:stop], part[:size]
    for lane in range(size):
        total[lane] = extra if only[lane] else np.int32(0)
    f = np.uintp(lines.end[lines.first[q] - 1] if lines.first[q] else 0)
    one, two, three = np.uintp(1), np.uintp(2), np.uintp(3)
    for block in range(lines.first[q], lines.first[q + 1]):
        part[:] = 0
        while f < np.uintp(lines.end[block]):
            a, b = table[lines.line[f], begin:stop], table[lines.line[f + one], begin:stop]
            c, d = table[lines.line[f + two], begin:stop], table[lines.line[f + three], begin:stop]
            ta, tb, tc, td = (
                lines.times[f], lines.times[f + one], lines.times[f + two], lines.times[f + three]
            )  # fmt: skip
            oa, ob, oc, od = (
                lines.off[f], lines.off[f + one], lines.off[f + two], lines.off[f + three]
            )  # fmt: skip
            fa, fb, fc, fd = (
                lines.flip[f], lines.flip[f + one], lines.flip[f + two], lines.flip[f + three]
            )  # fmt: skip
            for lane in range(size):
                mine = only[lane]
                w = _left(a[lane], np.uint8(oa ^ (mine & fa)), ta)
                x = _left(b[lane], np.uint8(ob ^ (mine & fb)), tb)
                y = _left(c[lane], np.uint8(oc ^ (mine & fc)), tc)
                z = _left(d[lane], np.uint8(od ^ (mine & fd)), td)
                both, other = np.uint16(w + x), np.uint16(y + z)
                part[lane] = np.uint16(part[lane] + np.uint16(both + other))
            f += np.uintp(AT_ONCE)
        for lane in range(size):
            total[lane] += np.int32(part[lane])
