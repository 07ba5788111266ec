"""W4M, "Wait for Me": clustering by a greedy walk, and pulling members to their pivot; on points.

`w4m` does what is evidently meant. With `as_distributed` it does what the authors' program of 2010
does: a position in its list is taken for an index where radii are tested, the first pair of a walk
is left out there, ties fall as its heaps have them, and its random numbers are those of glibc.
"""

import math
from fractions import Fraction
from itertools import pairwise

GROWTH = 1.5
CHUNK = 20
"""A chunk has so many people times K."""


class Glibc:
    """The numbers of glibc's rand() after srand(1)."""

    def __init__(self):
        state = [1]
        for i in range(1, 31):
            state.append(16807 * state[i - 1] % 2147483647)
        for i in range(31, 34):
            state.append(state[i - 31])
        for i in range(34, 344):
            state.append((state[i - 31] + state[i - 3]) % 2**32)
        self.state = state[-31:]

    def __call__(self, chunk):
        self.state = [*self.state[1:], (self.state[0] + self.state[28]) % 2**32]
        return self.state[-1] >> 1


def splitmix(seed):
    """Give the numbers of incrowd: each chunk has a stream of its own."""
    streams = {}

    def mix(z):
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def draw(chunk):
        state = streams.get(chunk, mix((mix(seed % 2**64) + chunk) % 2**64))
        streams[chunk] = state = (state + 0x9E3779B97F4A7C15) % 2**64
        return mix(state)

    return draw


class _Heap:
    """A heap with the largest on top: strict comparisons, the left child first on ties."""

    def __init__(self):
        self.items = []

    def push(self, key, value):
        items, i = self.items, len(self.items)
        items.append((key, value))
        while i and items[i][0] > items[(i - 1) // 2][0]:
            items[i], items[(i - 1) // 2] = items[(i - 1) // 2], items[i]
            i = (i - 1) // 2

    def pop(self):
        items = self.items
        top, last = items[0], items.pop()
        if items:
            items[0], i = last, 0
            while True:
                best = i
                for child in (2 * i + 1, 2 * i + 2):
                    if child < len(items) and items[child][0] > items[best][0]:
                        best = child
                if best == i:
                    break
                items[i], items[best] = items[best], items[i]
                i = best
        return top


def _nearest(keys, number, as_distributed):
    """Give the positions of the smallest keys; with the program's heap, the largest first."""
    if not as_distributed:
        return sorted(range(len(keys)), key=lambda at: (keys[at], at))[:number]
    heap = _Heap()
    for at, key in enumerate(keys):
        heap.push(key, at)
        if len(heap.items) > number:
            heap.pop()
    return [heap.pop()[1] for _ in range(len(heap.items))]


def speed(people):
    """Give the mean speed of all trajectories; one that takes no time has none."""
    total = 0.0
    for points in people:
        length = 0.0
        for (_, x0, y0), (_, x1, y1) in pairwise(points):
            length += math.sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0))
        lasts = points[-1][0] - points[0][0]
        total += length / lasts if lasts else 0.0
    return total / len(people)


def walk(pivot, other, v, scale, cap):
    """Give the greedy walk along two trajectories: the pairs of positions, and what they cost."""

    def cost(i, j):
        (t, x, y), (s, a, b) = pivot[i], other[j]
        dx, dy, dz = x - a, y - b, t * v - s * v
        return min(cap, math.floor(math.sqrt(dx * dx + dy * dy + dz * dz) / scale))

    i = j = 0
    pairs, total = [(0, 0)], cost(0, 0)
    while i + 1 < len(pivot) or j + 1 < len(other):
        steps = [(i + 1, j + 1), (i, j + 1), (i + 1, j)]
        steps = [(a, b) for a, b in steps if a < len(pivot) and b < len(other)]
        i, j = min(steps, key=lambda step: cost(*step))
        pairs.append((i, j))
        total += cost(i, j)
    return pairs, total


def _apart(one, other):
    """Give the distance in the plane of two points (t, x, y)."""
    dx, dy = one[1] - other[1], one[2] - other[2]
    return math.sqrt(dx * dx + dy * dy)


def pulled_straight(point, other, delta):
    """Pull a point straight to within delta / 2 of another one."""
    (_, x, y), (_, a, b) = point, other
    apart = _apart(point, other)
    if apart <= delta / 2:
        return float(a), float(b)
    pull = delta / 2 / apart
    return x + (a - x) * pull, y + (b - y) * pull


def on_grid(cell):
    """Pull points as `pulled_straight` does, to whole cells: offsets are cut towards the pivot.

    Points are centres of cells. What is published is within delta / 2, exactly.
    """

    def pulled(point, other, delta):
        (_, x, y), (_, a, b) = point, other
        i, j = round(x / cell - 0.5), round(y / cell - 0.5)
        dx, dy = round(a / cell - 0.5) - i, round(b / cell - 0.5) - j
        most = Fraction(str(delta)) ** 2 / (4 * Fraction(str(cell)) ** 2)
        if dx * dx + dy * dy > most:
            pull = delta / 2 / (cell * math.sqrt(dx * dx + dy * dy))
            dx, dy = int(dx * pull), int(dy * pull)
            while dx * dx + dy * dy > most:
                if abs(dx) >= abs(dy):
                    dx -= 1 if dx > 0 else -1
                else:
                    dy -= 1 if dy > 0 else -1
        return (i + dx + 0.5) * cell, (j + dy + 0.5) * cell

    return pulled


def _chunks(people, v, k, as_distributed):
    """Give the chunks: the first who is left, and who is nearest by her extent."""

    def extent(points):
        t, x, y = zip(*points, strict=True)
        return min(x), min(y), max(x), max(y), v * min(t), v * max(t)

    extents = [extent(points) for points in people]
    left, size = list(range(len(people))), CHUNK * k
    number = max(len(people) // size, 1)
    for chunk in range(number):
        first, rest = left[0], left[1:]
        apart = [
            sum((a - b) * (a - b) for a, b in zip(extents[first], extents[q], strict=True))
            for q in rest
        ]
        if as_distributed:
            apart = [int(math.sqrt(squared)) for squared in apart]
        wanted = len(rest) if chunk == number - 1 else size - 1
        near = [rest[at] for at in _nearest(apart, wanted, as_distributed)]
        left = [q for q in rest if q not in near]
        yield [first, *near] if as_distributed else sorted([first, *near])


def _cluster(  # noqa: C901  the steps of the paper, one after another
    members, people, v, k, delta, radius_max, trash_max, cap, as_distributed, draw
):
    """Cluster the people of a chunk; give the clusters, the pivot first, and the trash."""
    known = {}

    def between(p, q):
        if (p, q) not in known:
            pairs, cost = walk(people[p], people[q], v, delta, cap)
            if as_distributed:
                pairs = pairs[1:]
            apart = [_apart(people[p][i], people[q][j]) for i, j in pairs]
            known[p, q] = cost, max(apart, default=0.0)
        return known[p, q]

    radius = radius_max
    while True:
        left, tried, clusters = list(members), set(), []
        while len(left) >= k and any(p not in tried for p in left):
            at = draw() % len(left)
            while left[at] in tried:
                at = (at + 1) % len(left)
            pivot = left[at]
            others = [q for q in left if q != pivot]
            near = _nearest([between(pivot, q)[0] for q in others], k - 1, as_distributed)
            near = [left.index(others[one]) for one in near]
            tested = [members[one] if as_distributed else left[one] for one in near]
            if any(between(pivot, q)[1] > radius for q in tested):
                tried.add(pivot)
                continue
            clusters.append([pivot, *(left[one] for one in near)])
            for one in sorted([at, *near], reverse=True):
                if as_distributed:
                    left[one] = left[-1]
                    left.pop()
                else:
                    del left[one]
        trash = []
        for q in left:
            home = min(clusters, key=lambda cluster: between(cluster[0], q)[0], default=None)
            if home is not None and between(home[0], q)[1] <= radius:
                home.append(q)
            else:
                trash.append(q)
        if len(trash) <= trash_max:
            return clusters, trash
        radius = math.floor(GROWTH * radius)


def w4m(
    rows, k, delta, radius_max, trash_max, m=10,
    chunked=False, as_distributed=False, draw=None, pull=pulled_straight,  # noqa: FBT002
):  # fmt: skip
    """Give the published rows (id, t, x, y), and counts.

    Parameters
    ----------
    rows
        (id, t, x, y), the rows of each id together and in the order of time.
    radius_max, trash_max
        The radius at first; how many may be trash.
    m
        The cap on the cost of a step.
    draw
        Gives the next random number of a chunk.
    pull
        Gives the published position of a point, from that of the pivot, its own, and delta.
    """
    draw = (Glibc() if as_distributed else splitmix(0)) if draw is None else draw
    ids = list(dict.fromkeys(one for one, *_ in rows))
    people = [[(t, x, y) for one, t, x, y in rows if one == name] for name in ids]
    v = speed(people)
    groups = list(_chunks(people, v, k, as_distributed)) if chunked else [list(range(len(ids)))]
    clusters, trash = [], []
    for number, members in enumerate(groups):
        most = trash_max // len(groups)
        found, lost = _cluster(
            members, people, v, k, delta, radius_max, most, m, as_distributed,
            lambda number=number: draw(number),
        )  # fmt: skip
        clusters += found
        trash += lost
    counts = dict.fromkeys(
        ("net_created", "net_deleted", "really_created", "really_deleted", "moved", "waited"), 0
    )
    space = time = 0.0
    published = []
    for pivot, *others in clusters:
        for member in sorted([pivot, *others]):
            p, q = people[pivot], people[member]
            if member == pivot:
                published += [(ids[member], *point) for point in p]
                continue
            pairs, _ = walk(p, q, v, delta / 2, m)
            first = {}
            for i, j in pairs:
                first.setdefault(i, j)
            for i, j in first.items():
                new = pull(p[i], q[j], delta)
                published.append((ids[member], p[i][0], *new))
                moved, waited = _apart((0, *new), q[j]), abs(p[i][0] - q[j][0])
                space += moved
                time += waited
                counts["moved"] += moved > 0
                counts["waited"] += waited > 0
            counts["net_created"] += max(0, len(p) - len(q))
            counts["net_deleted"] += max(0, len(q) - len(p))
            used = len(set(first.values()))
            counts["really_created"] += len(p) - used
            counts["really_deleted"] += len(q) - used
    kept = sum(len(people[one]) for cluster in clusters for one in cluster)
    counts |= {
        "trashed": len(trash),
        "trashed_points": sum(len(people[one]) for one in trash),
        "space": space,
        "time": time,
        "mean_space": space / kept if kept else 0.0,
        "mean_time": time / kept if kept else 0.0,
        "discernibility": sum(len(c) ** 2 for c in clusters) + len(trash) * len(ids),
        "clusters": [[ids[one] for one in cluster] for cluster in clusters],
        "trash": [ids[one] for one in trash],
    }
    return published, counts


def in_cylinders(records, k, delta, cell):
    """Tell of every record, a list of boxes, whether k of all are with it in a cylinder.

    A cylinder stands around a record; in it is who has the same times and is within delta / 2.
    """
    most = Fraction(str(delta)) / 2

    def centre(box):
        x0, x1, y0, y1, *_ = box
        return Fraction(x0 + x1, 2) * Fraction(str(cell)), Fraction(y0 + y1, 2) * Fraction(
            str(cell)
        )

    def holds(middle, record):
        if [box[4:] for box in middle] != [box[4:] for box in record]:
            return False
        pairs = [(centre(a), centre(b)) for a, b in zip(middle, record, strict=True)]
        return all((a - c) ** 2 + (b - d) ** 2 <= most**2 for (a, b), (c, d) in pairs)

    cylinders = [[holds(middle, record) for record in records] for middle in records]
    full = [inside for inside in cylinders if sum(inside) >= k]
    return [any(inside[who] for inside in full) for who in range(len(records))]
