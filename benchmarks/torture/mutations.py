"""Ways to damage a file: bytes, text, documents of JSON, and tables.

`mutated` takes the bytes of a file and the kind of it, and gives them damaged, with a word for how.
"""

import gzip
import io
import json
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["mutated", "packed", "unpacked"]

ODD_NUMBERS = (b"\xff" * 4, b"\xff" * 8, b"\x00" * 8, b"\x7f" + b"\xff" * 3, b"\x80\x00\x00\x00")
ODD_TEXTS = (
    b"\xef\xbb\xbf", b"\x00", b"\xff\xfe", "\u202e".encode(), b"\xe9\xe8", b"\xed\xa0\x80", b'"',
    b"\r", b"\n", b"\r\n", b"\\ud800", b"NaN", b"1e999", b"-0", b"9" * 400, b"0001-01-01",
    b"99999-12-31T00:00:00Z", b"'", b";", b"\t", b"\x1b[2J", "\U0001f600".encode(), b"{}", b"[]",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 1e308, -0.0, "", "x" * 100_000, "\ud800", "\x00", [], {}, [[]],
    {"a": {"a": []}}, "../../etc", ["x"], "NaN", 2**63, {"": None},
)  # fmt: skip


def mutated(content: bytes, kind: str, dice: random.Random) -> tuple[str, bytes]:
    """Return how a file was damaged, and what is in it then."""
    text = kind in ("csv", "manifest", "decision", "project", "rows.csv", "checkpoint")
    ways: list[Callable[[bytes, random.Random], bytes]] = [
        flipped, cut, doubled, removed, inserted, swapped, numbered,
    ]  # fmt: skip
    if text:
        ways += [odd_text, odd_text, huge, many_fields, marked, recoded]
    if kind in ("manifest", "decision"):
        ways += [odd_value, odd_value, odd_value, nested, renamed]
    if kind in ("parquet", "record", "rows.parquet", "saved"):
        ways += [footer, footer, retyped, retyped, renoted]
    how, said = [], content
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        way = dice.choice(ways)
        said = way(said, dice)
        how.append(way.__name__)
    return "+".join(how), said


def packed(content: bytes, suffix: str) -> bytes:
    """Compress as a suffix says."""
    if suffix == "gz":
        return gzip.compress(content, 1, mtime=0)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(content)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def unpacked(content: bytes, suffix: str) -> bytes:
    """Undo `packed`."""
    if suffix == "gz":
        return gzip.decompress(content)
    with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as stream:
        found: bytes = stream.read()
        return found


def _block(content: bytes, dice: random.Random) -> tuple[int, int]:
    start = dice.randrange(len(content) + 1)
    return start, min(len(content), start + int(dice.expovariate(1 / 60)) + 1)


def flipped(content: bytes, dice: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 8, 64))):
        if found:
            found[dice.randrange(len(found))] ^= 1 << dice.randrange(8)
    return bytes(found)


def cut(content: bytes, dice: random.Random) -> bytes:
    end = dice.randrange(len(content) + 1)
    return content[:end] if dice.random() < 0.8 else content[end:]


def doubled(content: bytes, dice: random.Random) -> bytes:
    start, end = _block(content, dice)
    return content[:end] + content[start:end] * dice.choice((1, 2, 50)) + content[end:]


def removed(content: bytes, dice: random.Random) -> bytes:
    start, end = _block(content, dice)
    return content[:start] + content[end:]


def inserted(content: bytes, dice: random.Random) -> bytes:
    start, end = _block(content, dice)
    return content[:start] + dice.randbytes(end - start) + content[start:]


def swapped(content: bytes, dice: random.Random) -> bytes:
    start, end = _block(content, dice)
    other, stop = _block(content, dice)
    return content[:start] + content[other:stop] + content[end:]


def numbered(content: bytes, dice: random.Random) -> bytes:
    start, odd = dice.randrange(len(content) + 1), dice.choice(ODD_NUMBERS)
    return content[:start] + odd + content[start + len(odd) :]


def odd_text(content: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(content) + 1)
    return content[:start] + dice.choice(ODD_TEXTS) + content[start + dice.randrange(3) :]


def huge(content: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(content) + 1)
    odd = dice.choice((b"x", b"9", b" ", b"\n", b'"', b"0,", b"[", b"{"))
    return content[:start] + odd * dice.choice((5_000, 70_000, 300_000)) + content[start:]


def many_fields(content: bytes, dice: random.Random) -> bytes:
    lines = content.split(b"\n")
    lines[dice.randrange(len(lines))] += dice.choice((b",", b",1", b";", b"\t")) * dice.choice(
        (1, 40, 4_000, 50_000)
    )
    return b"\n".join(lines)


def marked(content: bytes, dice: random.Random) -> bytes:
    return dice.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\n\n", b"#")) + content


def recoded(content: bytes, dice: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    kind = dice.choice(("utf-16", "utf-32", "utf-7", "utf-8-sig", "cp500"))
    return text.encode(kind, "replace")


def _spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    found = [path] if path else []
    for key, each in inside if isinstance(value, dict | list) else ():
        found += _spots(each, (*path, key))
    return found


def _document(content: bytes, change: Callable[[Any, Any, Any], None], dice: Any) -> bytes:
    try:
        found = json.loads(content)
        *way, last = dice.choice(_spots(found))
        place = found
        for key in way:
            place = place[key]
        change(place, last, found)
        return json.dumps(found, indent=2).encode("utf-8", "surrogatepass")
    except (ValueError, IndexError, RecursionError, TypeError):
        return flipped(content, dice)


def odd_value(content: bytes, dice: random.Random) -> bytes:
    def change(place: Any, key: Any, _: Any) -> None:
        place[key] = dice.choice(ODD_VALUES)

    return _document(content, change, dice)


def renamed(content: bytes, dice: random.Random) -> bytes:
    def change(place: Any, key: Any, _: Any) -> None:
        if isinstance(place, dict):
            place[dice.choice(("", "extra", "\ud800", "__class__", "x" * 5000))] = place.pop(key)

    return _document(content, change, dice)


def nested(content: bytes, dice: random.Random) -> bytes:
    deep = dice.choice((500, 5_000, 100_000))
    opens, ends = dice.choice(((b"[", b"]"), (b'{"a":', b"}")))
    value = opens * deep + b"1" + ends * deep
    place = content.find(b": ", dice.randrange(len(content) + 1))
    return content[: place + 2] + value + b",\n" + content[place + 2 :]


def footer(content: bytes, dice: random.Random) -> bytes:
    if len(content) < 12:
        return flipped(content, dice)
    length = int.from_bytes(content[-8:-4], "little") + 8
    edge = max(0, len(content) - length)
    way = dice.choice((flipped, numbered, swapped, removed, inserted))
    return content[:edge] + way(content[edge:], dice)


def _table(content: bytes) -> Any:
    return pq.read_table(io.BytesIO(content))


def _kept(table: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=bool(table.schema.metadata))
    return sink.getvalue()


def retyped(content: bytes, dice: random.Random) -> bytes:
    try:
        table = _table(content)
        number = dice.randrange(table.num_columns)
        name, rows = table.column_names[number], table.num_rows
        odd = dice.choice(
            (
                pa.nulls(rows), pa.array([[1]] * rows), pa.array([{"a": 1}] * rows),
                pa.array([b"\xff"] * rows), pa.array([True] * rows), pa.array(["\u0000"] * rows),
                pa.array([float("nan")] * rows), pa.array([2**63 - 1] * rows),
                pa.array(["x"] * rows).dictionary_encode(), pa.array([-1.5] * rows),
                pa.array([2**62] * rows, pa.timestamp("ns")), pa.array([1] * rows, pa.date32()),
                pa.array([None, *[1] * max(rows - 1, 0)][:rows]),
                pa.array(["x" * 30_000] * rows),
            )
        )  # fmt: skip
        way = dice.randrange(4)
        if way == 0:
            table = table.drop_columns([name])
        elif way == 1:
            table = table.slice(0, dice.choice((0, 1, rows // 2)))
        else:
            table = table.set_column(number, name, odd)
        return _kept(table)
    except (pa.ArrowException, OSError, ValueError, UnicodeError):
        return flipped(content, dice)


def renoted(content: bytes, dice: random.Random) -> bytes:
    try:
        table = _table(content)
        notes = dict(table.schema.metadata or {})
        key = dice.choice([*notes, b"incrowd.kind", b"incrowd.frame", b"incrowd.original"])
        old = notes.get(key, b"{}")
        notes[key] = dice.choice((odd_value, odd_value, odd_value, nested, flipped, cut))(old, dice)
        return _kept(table.replace_schema_metadata(notes))
    except (pa.ArrowException, OSError, ValueError, UnicodeError):
        return flipped(content, dice)
