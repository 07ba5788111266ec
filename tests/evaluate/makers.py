"""Small releases made by hand, with their originals and private records; and slow oracles."""

import json
from pathlib import Path

import numpy as np
import polars as pl

from incrowd import Frame, Trajectories
from incrowd.data._frame import laea
from incrowd.data._manifest import SCHEMA, read_manifest, seal
from incrowd.data._release import write_record, write_release

FRAME = Frame(laea(5, -4), cell=100, slot=60, origin=86400)
LOSSES = {"people_dropped": 0, "samples_dropped": 0, "samples_suppressed": 0}
SETTINGS = {"k": 2, "reshape": "union", "max_space": None, "max_time": None}
SIDES = ("x0", "x1", "y0", "y1", "t0", "t1")


def trajectories(people, frame=FRAME, crowd=None):
    """Make trajectories from {user: [(x0, x1, y0, y1, t0, t1), ...]}."""
    rows = [(user, *box) for user, boxes in people.items() for box in boxes]
    table = dict(zip(("user", *SIDES), map(list, zip(*rows, strict=True)), strict=True))
    data = Trajectories.from_boxes(table, frame)
    return Trajectories(
        data.columns,
        data.offsets,
        frame,
        people=data.people,
        crowd=None if crowd is None else np.array(crowd, np.int32),
    )


def cell(x, y, t):
    """Give the box of one cell and one slot."""
    return (x, x + 1, y, y + 1, t, t + 1)


ORIGINAL = {
    "ann-1": [cell(0, 0, 10), cell(5, 5, 100)],
    "bob-2": [cell(1, 0, 12), cell(5, 6, 103)],
    "cat-3": [cell(20, 3, 10), cell(20, 3, 50)],
    "dan-4": [cell(21, 4, 11)],
    "eve-5": [cell(22, 4, 15)],
}
PUBLISHED = {
    0: [(0, 2, 0, 1, 10, 13), (5, 6, 5, 7, 100, 104)],
    1: [(20, 23, 3, 5, 10, 51)],
}
WHO = {"ann-1": 0, "bob-2": 0, "cat-3": 1, "dan-4": 1, "eve-5": 1}


class Case:
    """A release in a folder, with its original and its record."""

    def __init__(self, folder, original=ORIGINAL, published=PUBLISHED, who=WHO, **how):
        self.path, self.record = Path(folder) / "release", Path(folder) / "who.parquet"
        self.original = trajectories(original)
        crowd = [sum(index == one for index in who.values()) for one in published]
        frame = how.pop("frame", FRAME)
        settings = SETTINGS | how.pop("settings", {})
        losses = LOSSES | how.pop("losses", {})
        _, names = write_release(
            self.path,
            trajectories(published, frame, crowd),
            method="by hand",
            settings={name: value for name, value in settings.items() if value != "gone"},
            losses={name: value for name, value in losses.items() if value != "gone"},
            **how,
        )
        order = {user: index for index, user in enumerate(published)}
        assignment = pl.DataFrame(
            {"user": list(who), "trajectory": [order.get(one) for one in who.values()]},
            schema_overrides={"trajectory": pl.Int32},
        )
        write_record(self.record, assignment, names)

    @property
    def file(self):
        """The file of the rows."""
        return next(self.path.glob("trajectories.*"))

    def rows(self):
        """Read the rows."""
        return pl.read_parquet(self.file)

    def rewrite(self, table):
        """Write other rows and seal them, as somebody would who wants it to go unnoticed."""
        arrow = table.to_arrow(compat_level=pl.CompatLevel.oldest())
        write_rows(self.file, arrow)
        self.reseal()

    def reseal(self, **changes):
        """Make the manifest fit the files, with changes of its fields."""
        file = self.path / "manifest.json"
        fields = json.loads(file.read_text()) | changes
        file.write_text(json.dumps(fields))
        manifest = read_manifest(self.path)
        files = {name: seal(self.path / name) for name in manifest.files}
        file.write_text(json.dumps(json.loads(manifest.to_json()) | {"files": files}))
        file.write_text(read_manifest(self.path).to_json())


def write_rows(file, arrow):
    """Write rows as a release has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {pl.String: pa.string(), pl.Float64: pa.float64()}
    moment = pa.timestamp("ms", "UTC")
    schema = pa.schema([pa.field(name, kinds.get(kind, moment)) for name, kind in SCHEMA.items()])
    with pq.ParquetWriter(file, schema, store_schema=False) as writer:
        writer.write_table(arrow.cast(schema))
        writer.add_key_value_metadata({b"incrowd.kind": b"release"})


def boxes_of(data):
    """Give the boxes of each trajectory as tuples."""
    return [list(zip(*map(np.ndarray.tolist, one), strict=True)) for one in columns_of(data)]


def columns_of(data):
    """Give the six columns of each trajectory."""
    return [(one.x0, one.x1, one.y0, one.y1, one.t0, one.t1) for one in data]


def inside(sample, box):
    """Tell whether the place of a sample lies in that of a box."""
    return (
        box[0] <= sample[0] and sample[1] <= box[1] and box[2] <= sample[2] and sample[3] <= box[3]
    )


def held(sample, boxes):
    """Tell whether at every slot of a sample some box holds its place."""
    return all(
        any(inside(sample, box) and box[4] <= slot < box[5] for box in boxes)
        for slot in range(sample[4], sample[5])
    )


def witnesses(sample, box, *, whole):
    """Tell whether a sample lies in a box; or, if not whole, meets it in time."""
    if whole:
        return inside(sample, box) and box[4] <= sample[4] and sample[5] <= box[5]
    return inside(sample, box) and sample[4] < box[5] and box[4] < sample[5]


def invented(box, samples, rounded=lambda box: box, *, whole):
    """Tell whether an edge of a box comes from no sample; `rounded` rounds a box outwards."""
    if whole:
        near = [rounded(s) for s in samples if witnesses(s, box, whole=True)]
        return any(all(s[side] != box[side] for s in near) for side in range(6))
    near = [rounded(s) for s in samples if inside(s, box)]
    moments = {moment for s in samples for moment in s[4:]}
    starts = {rounded((0, 1, 0, 1, moment, moment + 1))[4] for moment in moments}
    ends = {rounded((0, 1, 0, 1, moment - 1, moment))[5] for moment in moments}
    return any(all(s[side] != box[side] for s in near) for side in range(4)) or not (
        box[4] in starts and box[5] in ends
    )
