"""Which rows of a CSV cannot be used, and why: record by record, as one would by hand."""

import csv
import datetime as dt
import io

WINDOW = (dt.datetime(1970, 1, 1), dt.datetime(2100, 1, 1))


def naive_rejects(content, cells=None, area=None):
    """Return line, reason and value of each row that cannot be used, in order.

    What is shown of a line that is not UTF-8 is not compared: None.
    """
    found = []
    # Bytes that are no UTF-8 stay as they are, in surrogates.
    text = content.decode("utf-8", "surrogateescape")
    lines = text.splitlines(keepends=True)
    reader = csv.reader(io.StringIO(text, newline=""))
    header, line = None, 1
    for fields in reader:
        start, line = line, reader.line_num + 1
        if not fields:
            continue
        if header is None:
            header = fields
            continue
        raw = "".join(lines[start - 1 : line - 1])
        bad = _reason(dict(zip(header, fields, strict=False)), len(fields) - len(header), raw,
                      cells, area)  # fmt: skip
        if bad is not None:
            found.append((start, *bad))
    return found


def _reason(row, more, raw, cells, area):  # noqa: C901, PLR0911  the reasons, one after another
    if any("\udc80" <= letter <= "\udcff" for letter in raw):
        return "not UTF-8", None
    if more:
        return ("too many fields" if more > 0 else "too few fields"), raw.strip()[:80]
    if not row["user"].strip(" "):
        return "no user", f"user={row['user']}" if row["user"] else ""
    if not row["time"]:
        return "no time", ""
    try:
        moment = dt.datetime.fromisoformat(row["time"])
    except ValueError:
        return "time not understood", f"time={row['time']}"
    if cells is None:
        reason = _position(row)
        if reason:
            return reason, f"lon={row['lon']}, lat={row['lat']}"
    elif not row["place"]:
        return "no place", ""
    if not WINDOW[0] <= moment < WINDOW[1]:
        return "time outside the window", f"{moment.isoformat(timespec='microseconds')}Z"
    if cells is not None and row["place"] not in cells:
        return "cell not in the table of cells", row["place"]
    if area is not None:
        west, south, east, north = area
        x, y = float(row["lon"]), float(row["lat"])
        if not (west <= x <= east and south <= y <= north):
            return "outside the area of the crs", f"{y}, {x}"
    return None


def _position(row):
    if not row["lat"] or not row["lon"]:
        return "no position"
    try:
        x, y = float(row["lon"]), float(row["lat"])
    except ValueError:
        return "position is not a number"
    if not all(abs(one) < float("inf") for one in (x, y)):
        return "position is not finite"
    if abs(y) > 90 or abs(x) > 180:
        return "impossible position"
    return "position is exactly 0, 0" if x == y == 0 else None
