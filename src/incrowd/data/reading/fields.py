"""From raw columns to checked values, as SQL that DuckDB runs on every row.

Each row becomes: who (text), when (microseconds, and whether the time named its zone), where (two
numbers), which place (text, if any), and `bad`: 0, or the number of the first reason why the row
cannot be used, with the value to show. Nothing is guessed row by row; what a column holds is
decided once, from its type and its first values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incrowd.errors import ArgumentError, ColumnError, InputError

__all__ = ["REASONS", "Epoch", "quoted", "row_query", "time_unit"]

REASONS = (
    "",
    "no user",
    "no time",
    "time not understood",
    "no position",
    "position is not a number",
    "position is not finite",
    "impossible position",
    "position is exactly 0, 0",
    "no place",
)
"""Why a row cannot be used; the scanner gives the index."""

_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_INTEGERS = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$")
_FLOATS = re.compile(r"^(DOUBLE|FLOAT|DECIMAL\(.*\))$")
_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE]\+?\d+)?")
_DATE = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])(\d{4}|\d{6})?")
_DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class Epoch:
    """Times that are numbers: how many of their units make a second."""

    per_second: int


def quoted(name: str) -> str:
    """Quote a column's name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def is_number(kind: str) -> bool:
    """Tell whether a DuckDB type is a number."""
    return bool(_INTEGERS.match(kind) or _FLOATS.match(kind))


def refuse_nested(kinds: Mapping[str, str], columns: Mapping[str, str], where: str) -> None:
    """Refuse columns of lists, structs and bytes where a plain value is needed."""
    for role, name in columns.items():
        kind = kinds[name]
        if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION", "BLOB", "BIT")):
            raise ColumnError(
                f"{where}: column {name!r} ({role}) holds {kind.lower()}, not plain values"
            )


def time_unit(values: Sequence[str], given: str | None, where: str) -> Epoch | None:
    """Decide from first values whether times are numbers since 1970, and in which unit.

    Parameters
    ----------
    values
        The first values of the column, as text.
    given
        The unit as told (s, ms, us, ns), or None to go by the size of the numbers.
    where
        The table and column, for error messages.

    Returns
    -------
    Epoch or None
        None if they are dates in text.
    """
    if given is not None:
        if given not in _UNITS:
            raise ArgumentError(f"a unit of time is s, ms, us or ns, not {given!r}")
        return Epoch(_UNITS[given])
    numbers = [
        float(value) for value in values if re.fullmatch(r"-?\d+(\.\d*)?([eE]\+?\d+)?", value)
    ]
    if len(numbers) * 2 <= len(values):
        return None
    if all(
        re.fullmatch(r"(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])(\d{4}|\d{6})?", v) for v in values
    ):
        raise InputError(
            f"{where}: {values[0]} could be a date or seconds since 1970; say which, with "
            "time_format='%Y%m%d' (or '%Y%m%d%H%M%S'), or time_unit='s'"
        )
    size = sorted(abs(number) for number in numbers)[len(numbers) // 2]
    # A number of seconds stays below 1e11 until the year 5138, and so on by thousands.
    for unit, bound in (("s", 1e11), ("ms", 1e14), ("us", 1e17)):
        if size < bound:
            return Epoch(_UNITS[unit])
    return Epoch(_UNITS["ns"])


def row_query(
    relation: str,
    columns: Mapping[str, str],
    kinds: Mapping[str, str],
    *,
    epoch: Epoch | None,
    time_format: str | None,
    decimal: str,
    sensor: str | None,
    place_needed: bool,
) -> str:
    """Write the query that turns a table into checked rows.

    Parameters
    ----------
    relation
        What to select from.
    columns
        Column by role.
    kinds
        DuckDB's type by column.
    epoch
        The unit of numeric times.
    time_format
        A format of strptime for times in text.
    decimal
        The decimal mark of positions in text.
    sensor
        Keep only rows of this sensor.
    place_needed
        Whether a row without a place is bad.
    """
    user, time = columns["user"], columns["time"]
    when, zoned = _time(time, kinds[time], epoch, time_format)
    shown_time = f"CAST({quoted(time)} AS VARCHAR)"
    first, second, raw = _position(columns, kinds, decimal)
    place = f"trim(CAST({quoted(columns['place'])} AS VARCHAR))" if "place" in columns else "NULL"
    degrees = not {"x", "y"} & set(columns) and raw is not None
    checks = [
        ("who IS NULL OR who = ''", 1, _literal("")),
        (f"{shown_time} IS NULL OR {shown_time} = ''", 2, _literal("")),
        ("moment IS NULL", 3, f"{_literal(time + '=')} || {shown_time}"),
    ]
    if raw is not None:
        missing = " OR ".join(f"{text} IS NULL OR {text} = ''" for _, text in raw)
        shown = " || ', ' || ".join(
            f"{_literal(name + '=')} || coalesce({text}, '')" for name, text in raw
        )
        checks += [
            (missing, 4, shown),
            ("a IS NULL OR b IS NULL", 5, shown),
            ("NOT (isfinite(a) AND isfinite(b))", 6, shown),
        ]
        if degrees:
            checks += [
                ("abs(b) > 90 OR abs(a) > 180", 7, shown),
                ("a = 0 AND b = 0", 8, shown),
            ]
    if place_needed:
        checks.append(("spot IS NULL OR spot = ''", 9, _literal("")))
    bad = " ".join(f"WHEN {test} THEN {number}" for test, number, _ in checks)
    show = " ".join(f"WHEN {number} THEN {shown}" for _, number, shown in checks)
    keep = ""
    if sensor is not None:
        kind = f"lower(trim(CAST({quoted(columns['sensor'])} AS VARCHAR)))"
        keep = f"WHERE {kind} = {_literal(sensor.lower())}"
    return f"""
        SELECT coalesce(who, '') AS who, coalesce(moment, 0) AS moment,
               coalesce(zoned, false) AS zoned, coalesce(a, 0) AS a, coalesce(b, 0) AS b,
               coalesce(spot, '') AS spot, bad,
               CASE bad WHEN 0 THEN NULL {show} END AS shown
        FROM (SELECT *, CAST(CASE {bad} ELSE 0 END AS TINYINT) AS bad
              FROM (SELECT *, {_user(user, kinds[user])} AS who, {when} AS moment, {zoned} AS zoned,
                           {first} AS a, {second} AS b, {place} AS spot
                    FROM {relation} {keep}))
    """


def _user(name: str, kind: str) -> str:
    column = quoted(name)
    if _FLOATS.match(kind):
        # A column of numbers with gaps arrives as floats: 7.0 is person 7.
        return (
            f"CASE WHEN {column} = trunc({column}) AND abs({column}) < 1e15 "
            f"THEN CAST(CAST({column} AS BIGINT) AS VARCHAR) "
            f"WHEN isfinite({column}) THEN CAST({column} AS VARCHAR) END"
        )
    return f"trim(CAST({column} AS VARCHAR))"


def _position(
    columns: Mapping[str, str], kinds: Mapping[str, str], decimal: str
) -> tuple[str, str, list[tuple[str, str]] | None]:
    """Give the two coordinates (east, then north) and the raw values to show."""
    if "geometry" in columns:
        name = columns["geometry"]
        text = f"CAST({quoted(name)} AS VARCHAR)"
        point = r"'^\s*(?:SRID=4326;)?\s*POINT\s*Z?\s*\(\s*([-+0-9.eE]+)\s+([-+0-9.eE]+)'"
        a, b = (f"TRY_CAST(regexp_extract({text}, {point}, {i}) AS DOUBLE)" for i in (1, 2))
        return a, b, [(name, text)]
    for roles in (("lon", "lat"), ("x", "y")):
        if all(role in columns for role in roles):
            names = [columns[role] for role in roles]
            values = [_number(name, kinds[name], decimal) for name in names]
            return values[0], values[1], [(n, f"CAST({quoted(n)} AS VARCHAR)") for n in names]
    return "0.0", "0.0", None


def _number(name: str, kind: str, decimal: str) -> str:
    column = quoted(name)
    if is_number(kind):
        return f"CAST({column} AS DOUBLE)"
    if kind != "VARCHAR":
        raise ColumnError(f"column {name!r} holds {kind.lower()}, not numbers")
    text = column if decimal == "." else f"replace({column}, {_literal(decimal)}, '.')"
    return f"TRY_CAST({text} AS DOUBLE)"


def _time(name: str, kind: str, epoch: Epoch | None, pattern: str | None) -> tuple[str, str]:
    """Give the moment in microseconds, and whether it was told together with its zone."""
    column = quoted(name)
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"CASE WHEN isfinite({column}) THEN epoch_us({column}) END", "true"
    if kind == "TIMESTAMP_NS":
        return f"epoch_ns({column}) // 1000", "false"
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        return (
            f"CASE WHEN isfinite({column}) THEN epoch_us(CAST({column} AS TIMESTAMP)) END",
            "false",
        )
    if epoch is not None and (is_number(kind) or kind == "VARCHAR"):
        return _epoch(column, epoch), "true"
    if kind != "VARCHAR":
        raise ColumnError(f"column {name!r} holds {kind.lower()}, not times")
    if pattern is not None:
        zoned = "%z" in pattern or "%Z" in pattern
        return f"epoch_us(try_strptime(trim({column}), {_literal(pattern)}))", str(zoned).lower()
    return _iso(column)


def _epoch(column: str, epoch: Epoch) -> str:
    """Turn a number since 1970 into microseconds; beyond the year 9999 it is no time."""
    whole, real = f"TRY_CAST({column} AS BIGINT)", f"TRY_CAST({column} AS DOUBLE)"
    bound = 253_402_300_800 * epoch.per_second
    if epoch.per_second > 10**6:
        scale = f"// {epoch.per_second // 10**6}"
    else:
        scale = f"* {10**6 // epoch.per_second}"
    ratio = 10**6 / epoch.per_second
    # TRY_CAST of '12.7' to an integer rounds, so whole numbers are told by their value.
    return (
        f"CASE WHEN NOT abs({real}) < {bound} THEN NULL "
        f"WHEN {real} = trunc({real}) THEN {whole} {scale} "
        f"ELSE CAST(floor({real} * {ratio}) AS BIGINT) END"
    )


def _iso(column: str) -> tuple[str, str]:
    """Turn ISO 8601 text into microseconds.

    DuckDB's own cast drops a zone without a word, so the zone is cut off and applied here. The
    two usual shapes, 2012-03-05T07:31:00Z and 2012-03-05 07:31:00, are told by their length and
    taken first: that makes the whole scan several times faster.
    """
    plain = f"strlen({column}) = 19 AND substr({column}, 17, 1) = ':'"
    zulu = f"strlen({column}) = 20 AND ends_with({column}, 'Z')"
    usual = f"epoch_us(TRY_CAST({column} AS TIMESTAMP))"
    moment, zoned = _iso_of_any_shape(column)
    return (
        f"CASE WHEN {zulu} OR {plain} THEN {usual} ELSE {moment} END",
        f"CASE WHEN {zulu} THEN true WHEN {plain} THEN false ELSE {zoned} END",
    )


def _iso_of_any_shape(column: str) -> tuple[str, str]:
    """Cut the zone off, whichever way it is written, and apply it."""
    text = f"trim({column})"
    tail = {n: f"substr({text}, -{n}, 1)" for n in (3, 5, 6)}
    colon = f"(length({text}) > 16 AND {tail[6]} IN ('+', '-') AND {tail[3]} = ':')"
    compact = f"(length({text}) > 15 AND {tail[5]} IN ('+', '-') AND {tail[3]} <> ':')"
    short = f"(length({text}) > 13 AND {tail[3]} IN ('+', '-'))"
    zulu = f"(ends_with({text}, 'Z') OR ends_with({text}, 'z'))"
    word = f"(ends_with({text}, ' UTC') OR ends_with({text}, ' GMT'))"

    def cut(n: int) -> str:
        return _naive(f"rtrim(left({text}, length({text}) - {n}))")

    def shift(n: int, minutes: str | None) -> str:
        sign = f"CASE WHEN substr({text}, -{n}, 1) = '-' THEN -1 ELSE 1 END"
        hours = f"TRY_CAST(substr({text}, -{n} + 1, 2) AS BIGINT)"
        part = "0" if minutes is None else f"TRY_CAST({minutes} AS BIGINT)"
        seconds = f"({sign}) * ({hours} * 3600 + {part} * 60)"
        return f"(CASE WHEN {hours} < 16 AND {part} < 60 THEN {seconds} END) * 1000000"

    last_two = f"right({text}, 2)"
    moment = f"""CASE
        WHEN {zulu} THEN {cut(1)}
        WHEN {colon} THEN {cut(6)} - {shift(6, last_two)}
        WHEN {compact} THEN {cut(5)} - {shift(5, last_two)}
        WHEN {short} THEN {cut(3)} - {shift(3, None)}
        WHEN {word} THEN {cut(4)}
        ELSE {_naive(text)} END"""
    return moment, f"({zulu} OR {colon} OR {compact} OR {short} OR {word})"


def _naive(text: str) -> str:
    """Turn ISO 8601 text without a zone into microseconds."""
    only = f"translate({text}, '{_DIGITS}-:T ', '') IN ('', '.', ',')"
    other = f"left(replace({text}, ',', '.'), 26)"
    basic = ", ".join(_literal(p) for p in ("%Y%m%dT%H%M%S", "%Y%m%dT%H%M", "%Y%m%d %H%M%S"))
    return (
        f"epoch_us(CASE WHEN {only} THEN coalesce(TRY_CAST({other} AS TIMESTAMP), "
        f"try_strptime({text}, [{basic}])) END)"
    )
