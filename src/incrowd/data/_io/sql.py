"""From raw columns to checked values, as SQL that DuckDB runs on every row.

Each row becomes these columns, which `batches` takes in:

========  ==================================================================================
user_id   the user's identifier, as text
time_us   microseconds since 1970; on the wall clock unless `zoned`
zoned     whether the time named its zone
east      longitude, or x
north     latitude, or y
place_id  the identifier of the place, as text, if there is one
person    the person, as text, where a column names her beside the user
reason    0, or the index in `REASONS` of the first reason why the row cannot be used
shown     the value to show with it
========  ==================================================================================

Nothing is guessed row by row; what a column holds is decided once, from its type and its first
values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incrowd.errors import ArgumentError, ColumnError, InputError

__all__ = [
    "OTHER_SENSOR",
    "REASONS",
    "Epoch",
    "identifier",
    "is_number",
    "literal",
    "quoted",
    "refuse_nested",
    "row_query",
    "time_unit",
]


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
    "no person",
)
"""Why a row cannot be used; the scanner gives the index."""
OTHER_SENSOR = -1
"""What the scanner gives for a row of a sensor that was not asked for."""

_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_INTEGERS = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$")
_FLOATS = re.compile(r"^(DOUBLE|FLOAT|DECIMAL\(.*\))$")
_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE]\+?\d+)?")
_DATE = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])(\d{4}|\d{6})?")
_EXACT = {"DOUBLE": 2**53, "FLOAT": 2**24}
"""Whole numbers up to here survive being floats."""
_DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class Epoch:
    """Times that are numbers: how many of their units make a second.

    A number below `least` is in another unit than the others, and no time.
    """

    per_second: int
    least: float = 0


def quoted(name: str) -> str:
    """Return a column's name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def is_number(kind: str) -> bool:
    """Return whether a DuckDB type is a number."""
    return bool(_INTEGERS.match(kind) or _FLOATS.match(kind))


def refuse_nested(kinds: Mapping[str, str], columns: Mapping[str, str], where: str) -> None:
    """Refuse columns of lists, structs and bytes where a plain value is needed."""
    for role, name in columns.items():
        kind = kinds[name]
        if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION", "BLOB", "BIT")):
            raise ColumnError(
                f"{where}: column {name!r} ({role}) holds {kind.lower()}; it must hold one text or "
                "number per row"
            )


def time_unit(values: Sequence[str], given: str | None, where: str) -> Epoch | None:
    """Return the unit of times that are numbers since 1970, inferred from the first values.

    Parameters
    ----------
    values
        The first values of the column, as text.
    given
        The unit if it is known (s, ms, us, ns), or None to go by the size of the numbers.
    where
        The table and column, for error messages.

    Returns
    -------
    Epoch or None
        None if they are dates in text.
    """
    if given is not None:
        if given not in _UNITS:
            raise ArgumentError(f"time_unit must be s, ms, us or ns, not {given!r}")
        return Epoch(_UNITS[given])
    numbers = [float(value) for value in values if _NUMBER.fullmatch(value)]
    if len(numbers) * 2 <= len(values):
        return None
    if all(_DATE.fullmatch(value) for value in values):
        raise InputError(
            f"{where}: {values[0]} could be a date or seconds since 1970; give "
            "time_format='%Y%m%d' (or '%Y%m%d%H%M%S') for dates, or time_unit='s' for seconds"
        )
    size = sorted(abs(number) for number in numbers)[len(numbers) // 2]
    # A number of seconds stays below 1e11 until the year 5138, and so on by thousands.
    least = 0.0
    for unit, bound in (("s", 1e11), ("ms", 1e14), ("us", 1e17)):
        if size < bound:
            return Epoch(_UNITS[unit], least)
        least = bound
    return Epoch(_UNITS["ns"], least)


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
    """Return the query that turns a table into checked rows.

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
    steps, time_us, zoned = _time(time, kinds[time], epoch, time_format)
    east, north, raw = _position(columns, kinds, decimal)
    place = identifier("in_place", kinds[columns["place"]]) if "place" in columns else "NULL"
    degrees = not {"x", "y"} & set(columns) and raw is not None
    time_text = "CAST(in_time AS VARCHAR)"
    user_text = f"{literal(user + '=')} || nullif(CAST(in_user AS VARCHAR), '')"
    checks = [
        ("user_id IS NULL OR user_id = ''", 1, user_text),
        (f"{time_text} IS NULL OR {time_text} = ''", 2, literal("")),
        ("time_us IS NULL", 3, f"{literal(time + '=')} || {time_text}"),
    ]
    if raw is not None:
        missing = " OR ".join(f"{text} IS NULL OR {text} = ''" for _, text in raw)
        shown = " || ', ' || ".join(
            f"{literal(name + '=')} || coalesce({text}, '')" for name, text in raw
        )
        checks += [
            (missing, 4, shown),
            ("east IS NULL OR north IS NULL", 5, shown),
            ("NOT (isfinite(east) AND isfinite(north))", 6, shown),
        ]
        if degrees:
            checks += [
                ("abs(north) > 90 OR abs(east) > 180", 7, shown),
                ("east = 0 AND north = 0", 8, shown),
            ]
    if place_needed:
        checks.append(("place_id IS NULL OR place_id = ''", 9, literal("")))
    person = more = ""
    if "person" in columns:
        checks.append(("person IS NULL OR person = ''", 10, user_text))
        person = f", {identifier('in_person', kinds[columns['person']])} AS person"
        more = "coalesce(person, '') AS person, "
    show = " ".join(f"WHEN {number} THEN {shown}" for _, number, shown in checks)
    if sensor is not None:
        other = (
            f"lower(trim(CAST(in_sensor AS VARCHAR))) IS DISTINCT FROM {literal(sensor.lower())}"
        )
        checks.insert(0, (other, OTHER_SENSOR, ""))
    reason = " ".join(f"WHEN {test} THEN {number}" for test, number, _ in checks)
    # The columns get new names at once: one of theirs could have the name of one of the steps.
    inner = ", ".join(f"{quoted(name)} AS in_{role}" for role, name in columns.items())
    table = f"(SELECT {inner} FROM {relation})"
    for step in steps:
        table = f"(SELECT *, {step} FROM {table})"
    return f"""
        SELECT coalesce(user_id, '') AS user_id, coalesce(time_us, 0) AS time_us,
               coalesce(zoned, false) AS zoned,
               coalesce(east, 0) AS east, coalesce(north, 0) AS north,
               coalesce(place_id, '') AS place_id, {more}reason,
               CASE reason {show} END AS shown
        FROM (SELECT *, CAST(CASE {reason} ELSE 0 END AS TINYINT) AS reason
              FROM (SELECT *, {identifier("in_user", kinds[user])} AS user_id,
                           {time_us} AS time_us, {zoned} AS zoned,
                           {east} AS east, {north} AS north, {place} AS place_id
                           {person}
                    FROM {table}))
    """


def identifier(column: str, kind: str) -> str:
    """Return a column of identifiers as text, in SQL.

    A column of integers with gaps arrives as floats: 7.0 is person 7. Floats so large that
    neighbouring numbers have become the same are no identifiers, lest two people become one.
    """
    if _FLOATS.match(kind):
        lost = f"WHEN NOT abs({column}) <= {_EXACT[kind]} THEN NULL" if kind in _EXACT else ""
        return (
            f"CASE {lost} WHEN {column} = trunc({column}) "
            f"THEN CAST(CAST({column} AS HUGEINT) AS VARCHAR) ELSE CAST({column} AS VARCHAR) END"
        )
    return f"trim(CAST({column} AS VARCHAR))"


def _position(
    columns: Mapping[str, str], kinds: Mapping[str, str], decimal: str
) -> tuple[str, str, list[tuple[str, str]] | None]:
    """Return the two coordinates (east, then north) and the raw values to show."""
    if "geometry" in columns:
        name = columns["geometry"]
        text = "CAST(in_geometry AS VARCHAR)"
        point = r"'^\s*(?:SRID=4326;)?\s*POINT\s*Z?\s*\(\s*([-+0-9.eE]+)\s+([-+0-9.eE]+)'"
        a, b = (f"TRY_CAST(regexp_extract({text}, {point}, {i}) AS DOUBLE)" for i in (1, 2))
        return a, b, [(name, text)]
    for roles in (("lon", "lat"), ("x", "y")):
        if all(role in columns for role in roles):
            a, b = (_number(role, columns[role], kinds[columns[role]], decimal) for role in roles)
            return a, b, [(columns[role], f"CAST(in_{role} AS VARCHAR)") for role in roles]
    return "0::DOUBLE", "0::DOUBLE", None


def _number(role: str, name: str, kind: str, decimal: str) -> str:
    if is_number(kind):
        return f"CAST(in_{role} AS DOUBLE)"
    if kind != "VARCHAR":
        raise ColumnError(f"column {name!r} holds {kind.lower()}; a position must be numbers")
    text = f"in_{role}" if decimal == "." else f"replace(in_{role}, {literal(decimal)}, '.')"
    return f"TRY_CAST({text} AS DOUBLE)"


def _time(
    name: str, kind: str, epoch: Epoch | None, pattern: str | None
) -> tuple[Sequence[str], str, str]:
    """Return steps to take first, the time in microseconds, and whether it named its zone."""
    if kind == "TIMESTAMP WITH TIME ZONE":
        return (), "CASE WHEN isfinite(in_time) THEN epoch_us(in_time) END", "true"
    if kind in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS", "TIMESTAMP_NS WITH TIME ZONE"):
        return (), _floored("epoch_ns(in_time)", 1000), str(kind != "TIMESTAMP_NS").lower()
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        time_us = "CASE WHEN isfinite(in_time) THEN epoch_us(CAST(in_time AS TIMESTAMP)) END"
        return (), time_us, "false"
    if epoch is not None and (is_number(kind) or kind == "VARCHAR"):
        return (), _epoch("in_time", epoch), "true"
    if pattern is not None and (kind == "VARCHAR" or _INTEGERS.match(kind)):
        zoned = {"%z", "%Z"} & set(re.findall("%.", pattern))
        time_us = f"epoch_us(try_strptime(trim(CAST(in_time AS VARCHAR)), {literal(pattern)}))"
        return (), time_us, str(bool(zoned)).lower()
    if kind != "VARCHAR":
        raise ColumnError(
            f"column {name!r} holds {kind.lower()}; a time must be text, a date, a timestamp or a "
            "number since 1970"
        )
    return _iso()


def _epoch(column: str, epoch: Epoch) -> str:
    """Return a number since 1970 as microseconds; beyond the year 9999 it is no time."""
    integer, real = f"TRY_CAST({column} AS BIGINT)", f"TRY_CAST({column} AS DOUBLE)"
    bound = 253_402_300_800 * epoch.per_second
    if epoch.per_second > 10**6:
        exact = _floored(integer, epoch.per_second // 10**6)
    else:
        exact = f"{integer} * {10**6 // epoch.per_second}"
    ratio = 10**6 / epoch.per_second
    # TRY_CAST of '12.7' to an integer rounds, so integers are recognised by their value.
    return (
        f"CASE WHEN NOT abs({real}) < {bound} OR abs({real}) < {epoch.least} THEN NULL "
        f"WHEN {real} = trunc({real}) THEN {exact} "
        f"ELSE CAST(floor({real} * {ratio}) AS BIGINT) END"
    )


def _floored(number: str, unit: int) -> str:
    """Return the quotient of integers, rounded down; SQL's own division rounds towards 0."""
    return f"(({number}) - ((({number}) % {unit}) + {unit}) % {unit}) // {unit}"


def _iso() -> tuple[Sequence[str], str, str]:
    """Return ISO 8601 text as microseconds, in steps.

    DuckDB's own cast drops a zone without a warning, so the zone is cut off and applied here. The
    two usual shapes, 2012-03-05T07:31:00Z and 2012-03-05 07:31:00, are recognised by their length
    and left out of the steps (`unusual` is null): that makes the scan several times faster.
    """
    plain = "strlen(in_time) = 19 AND substr(in_time, 17, 1) = ':'"
    zulu = "strlen(in_time) = 20 AND ends_with(in_time, 'Z')"
    steps = (
        f"CASE WHEN {plain} OR {zulu} THEN NULL ELSE trim(in_time) END AS unusual",
        # How long the zone is: Z, +01:00, +0100, +01, or a word.
        """CASE WHEN unusual IS NULL THEN 0
            WHEN ends_with(unusual, 'Z') OR ends_with(unusual, 'z') THEN 1
            WHEN length(unusual) > 16 AND unusual[-6] IN ('+', '-') AND unusual[-3] = ':' THEN 6
            WHEN length(unusual) > 15 AND unusual[-5] IN ('+', '-') AND unusual[-3] <> ':' THEN 5
            WHEN length(unusual) > 13 AND unusual[-3] IN ('+', '-') THEN 3
            WHEN ends_with(unusual, ' UTC') OR ends_with(unusual, ' GMT') THEN 4
            ELSE 0 END AS tail""",
        """CASE WHEN unusual IS NOT NULL THEN right(unusual, tail) END AS zone,
           CASE WHEN unusual IS NOT NULL
                THEN rtrim(left(unusual, length(unusual) - tail)) END AS core""",
    )
    usual = "epoch_us(TRY_CAST(in_time AS TIMESTAMP))"
    other = f"{_naive('core')} - {_shift('zone')}"
    return (
        steps,
        f"CASE WHEN unusual IS NULL THEN {usual} ELSE {other} END",
        "CASE WHEN unusual IS NULL THEN ends_with(in_time, 'Z') ELSE tail > 0 END",
    )


def _shift(zone: str) -> str:
    """Return a zone such as +01:00 as microseconds; a word, Z or nothing is UTC."""
    hours = f"TRY_CAST(substr({zone}, 2, 2) AS BIGINT)"
    # The minutes of +01 are none.
    minutes = f"TRY_CAST(right('00' || substr(replace({zone}, ':', ''), 4), 2) AS BIGINT)"
    sign = f"CASE WHEN {zone}[1] = '-' THEN -1 ELSE 1 END"
    return f"""CASE WHEN {zone}[1] NOT IN ('+', '-') THEN 0
        WHEN {hours} < 16 AND {minutes} < 60
        THEN ({sign}) * ({hours} * 3600 + {minutes} * 60) * 1000000 END"""


def _naive(text: str) -> str:
    """Return ISO 8601 text without a zone as microseconds."""
    only = f"translate({text}, '{_DIGITS}-:T ', '') IN ('', '.', ',')"
    other = f"left(replace({text}, ',', '.'), 26)"
    basic = ", ".join(literal(p) for p in ("%Y%m%dT%H%M%S", "%Y%m%dT%H%M", "%Y%m%d %H%M%S"))
    return (
        f"epoch_us(CASE WHEN {only} THEN coalesce(TRY_CAST({other} AS TIMESTAMP), "
        f"try_strptime({text}, [{basic}])) END)"
    )
