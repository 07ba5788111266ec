"""Many bounds at once: those of one trajectory with a thousand others, added up side by side.

The distance rows of all trajectories (see `partition`) are stored column by column in two tables,
one for space and one for time. A table is cut into *tiles* of a thousand trajectories, each in a
*lane* of its own::

                       lane   0   1   2   3  ...  1023
    tile 0   region 0         7   0  12  31  ...     4     what a sample in region 0 costs with each
             region 1         9   3  11  28  ...     0     what a sample in region 1 costs with each
             ...

The bound of one trajectory with all of a tile is a sum of such lines, one *term* for each of its
samples; of equal samples one term that counts several times. Bytes are added up in 16 bits, as many
as fit (a *block*), and the blocks in 32.

Off every term goes a *discount*: what the size of the sample itself may save (see `space_bound` and
`time_bound` in `lower_bounds`). Against those who consist of unit samples (one cell, one slot) more
goes off, but what they must be stretched by anyway is added again.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._numba import kernel_inline, kernel_nogc, kernel_private
from incrowd.measure._stretch.effort import Boxes, Scale
from incrowd.measure._stretch.partition import FAR, SpaceTimePartition

__all__ = [
    "CHUNK",
    "TILES",
    "TILE_CHUNKS",
    "TILE_WIDTH",
    "BoundTerms",
    "make_terms",
    "space_terms",
    "sum_bounds_batch",
    "tile_position",
    "time_terms",
]


CHUNK = 64
"""How many trajectories are a chunk: neighbours, left together where all are too far away."""
TILES, TILE_CHUNKS = 4, CHUNK // 4
"""Of 64 chunks, every fourth is in the same tile: so threads share each neighbourhood."""
TILE_WIDTH = TILE_CHUNKS * CHUNK + CHUNK
"""How many lanes a tile has. The last 64 are not used: with a power of two, the lines of a table
would compete for the same places in the processor's cache."""
LOAD = 257
"""So many bytes can be added up in 16 bits."""
AT_ONCE = 4
"""How many terms are added at once; others wait for memory meanwhile."""


class BoundTerms(NamedTuple):
    """What some trajectories add up, in blocks of terms.

    Attributes
    ----------
    where, times
        Of each term: the region or time bin, and how often it counts.
    discount, flip
        Of each term: what goes off, and the bits by which that is different for those who consist
        of unit samples.
    end
        Where each block ends.
    first
        The first block of each trajectory, and where those of the last one end.
    extra
        For each trajectory, what is added again for those who consist of unit samples.
    """

    where: NDArray[np.uint16]
    times: NDArray[np.uint16]
    discount: NDArray[np.uint8]
    flip: NDArray[np.uint8]
    end: NDArray[np.int64]
    first: NDArray[np.int64]
    extra: NDArray[np.int64]


@kernel_nogc
def tile_position(cluster: int) -> tuple[int, int]:
    """Tell in which tile of a table a cluster is, and in which lane."""
    chunk = cluster // CHUNK
    tile = chunk // CHUNK * TILES + chunk % TILES
    return tile, chunk % CHUNK // TILES * CHUNK + cluster % CHUNK


@kernel_private
def make_terms(queries: int, number: int, samples: int) -> BoundTerms:
    """Make arrays for so many different terms, that count as often as there are samples."""
    blocks = 2 * queries + 2 * samples // LOAD
    size = number + samples // LOAD + AT_ONCE * blocks
    return BoundTerms(
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(size, np.uint8),
        np.empty(size, np.uint8),
        np.zeros(blocks, np.int64),
        np.zeros(queries + 1, np.int64),
        np.zeros(queries, np.int64),
    )


@kernel_nogc
def _close_block(terms: BoundTerms, block: int, used: int) -> int:
    """End a block, with terms that count nothing to make it even; give where it ends."""
    while used % AT_ONCE:
        terms.where[used], terms.times[used], terms.discount[used], terms.flip[used] = 0, 0, 0, 0
        used += 1
    terms.end[block] = used
    return used


@kernel_nogc
def _add_term(
    terms: BoundTerms,
    block: int,
    used: int,
    load: int,
    where: int,
    times: int,
    discount: int,
    unit_discount: int,
) -> tuple[int, int, int]:
    """Add a term, cut where a block is full; give the block, where it ends, and its load.

    The discount against unit samples is stored as the bits in which it differs, so that the inner
    loop chooses between the two without a branch.
    """
    while times > 0:
        if load == LOAD:
            used, load = _close_block(terms, block, used), 0
            block += 1
        part = min(times, LOAD - load)
        terms.where[used], terms.times[used] = where, part
        terms.discount[used], terms.flip[used] = discount, discount ^ unit_discount
        used, load, times = used + 1, load + part, times - part
    return block, used, load


@kernel_nogc
def space_terms(
    q: int,
    region: NDArray[np.uint16],
    count: NDArray[np.int32],
    wide: NDArray[np.uint16],
    crowd: int,
    partition: SpaceTimePartition,
    scale: Scale,
    terms: BoundTerms,
) -> None:
    """Write down the terms of a trajectory in space, given by its features."""
    step, most = partition.space_step, scale.space // partition.space_step
    block = terms.first[q]
    used, load, extra = terms.end[block - 1] if block else 0, 0, 0
    for f in range(len(region)):
        # A box that is wider by w is stretched less than the cell by which it is known, by w times
        # its part of the crowd: most where the other stands for one person only. Rounded up.
        w = np.int64(wide[f])
        discount = -(-(w * crowd) // ((1 + crowd) * step))
        # A unit sample is stretched to all of w, however near it is: max(near, w) - discount is
        # max(near - w, 0) + (w - discount), of which the latter is the same for all lanes.
        unit_discount = max(discount, min(w // step, discount + most))
        extra += count[f] * (unit_discount - discount)
        if discount < FAR:
            block, used, load = _add_term(
                terms, block, used, load, region[f], count[f], discount, min(FAR, unit_discount)
            )
    _close_block(terms, block, used)
    terms.first[q + 1], terms.extra[q] = block + 1, extra


@kernel_nogc
def time_terms(
    q: int,
    boxes: Boxes,
    start: int,
    end: int,
    crowd: int,
    partition: SpaceTimePartition,
    scale: Scale,
    terms: BoundTerms,
) -> None:
    """Write down the terms of a trajectory in time: one for equal samples in a row."""
    step, thin = partition.time_step, partition.thin_t + 1
    block = terms.first[q]
    used, load, extra = terms.end[block - 1] if block else 0, 0, 0.0
    i = start
    while i < end:
        long, times = np.int64(boxes.t1[i] - boxes.t0[i] - thin), 1
        while (
            i + times < end
            and boxes.time_bin[i + times] == boxes.time_bin[i]
            and boxes.t1[i + times] - boxes.t0[i + times] - thin == long
        ):
            times += 1
        # See `time_bound`: of units, half of the box goes off, but they are stretched to all of it.
        discount = -(-(long * crowd) // ((1 + crowd) * step))
        unit_discount = -(-(long + 1) // (2 * step)) if long else 0
        extra += times * min(float(scale.time), long / (1 + crowd))
        block, used, load = _add_term(
            terms,
            block,
            used,
            load,
            boxes.time_bin[i],
            times,
            min(FAR, discount),
            min(FAR, unit_discount),
        )
        i += times
    _close_block(terms, block, used)
    terms.first[q + 1], terms.extra[q] = block + 1, int(extra * (1 - 1e-12) / step)


@kernel_inline
def _reduced(value: Any, discount: Any, times: Any) -> Any:
    """Give what a discount leaves of a byte, so many times."""
    return np.uint16(np.uint16(np.uint8(max(value, discount) - discount)) * times)


@kernel_nogc
def sum_bounds_batch(
    table: NDArray[np.uint8],
    begin: int,
    stop: int,
    terms: BoundTerms,
    q: int,
    unit_mask: NDArray[np.uint8],
    sums: NDArray[np.int32],
    part: NDArray[np.uint16],
) -> None:
    """Add up the terms of a trajectory, for the lanes from one to another of a tile.

    `unit_mask` is 255 for those who consist of unit samples, else 0. `part` is for as many numbers.

    The sums of a block are kept in 16 bits, which the processor adds twice as many of at a time;
    only when a block is full are they added to the 32 bits of `sums`. Four terms are read at once:
    one alone would wait for memory.
    """
    extra, size = np.int32(min(terms.extra[q], 2**30)), np.uintp(stop - begin)
    only, total, part = unit_mask[begin:stop], sums[begin:stop], part[:size]
    for lane in range(size):
        total[lane] = extra if only[lane] else np.int32(0)
    f = np.uintp(terms.end[terms.first[q] - 1] if terms.first[q] else 0)
    one, two, three = np.uintp(1), np.uintp(2), np.uintp(3)
    for block in range(terms.first[q], terms.first[q + 1]):
        part[:] = 0
        while f < np.uintp(terms.end[block]):
            a, b = table[terms.where[f], begin:stop], table[terms.where[f + one], begin:stop]
            c, d = (
                table[terms.where[f + two], begin:stop],
                table[terms.where[f + three], begin:stop],
            )
            ta, tb, tc, td = (
                terms.times[f], terms.times[f + one], terms.times[f + two], terms.times[f + three]
            )  # fmt: skip
            oa, ob = terms.discount[f], terms.discount[f + one]
            oc, od = terms.discount[f + two], terms.discount[f + three]
            fa, fb, fc, fd = (
                terms.flip[f], terms.flip[f + one], terms.flip[f + two], terms.flip[f + three]
            )  # fmt: skip
            for lane in range(size):
                mine = only[lane]
                w = _reduced(a[lane], np.uint8(oa ^ (mine & fa)), ta)
                x = _reduced(b[lane], np.uint8(ob ^ (mine & fb)), tb)
                y = _reduced(c[lane], np.uint8(oc ^ (mine & fc)), tc)
                z = _reduced(d[lane], np.uint8(od ^ (mine & fd)), td)
                both, other = np.uint16(w + x), np.uint16(y + z)
                part[lane] = np.uint16(part[lane] + np.uint16(both + other))
            f += np.uintp(AT_ONCE)
        for lane in range(size):
            total[lane] += np.int32(part[lane])
