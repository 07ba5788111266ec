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

__all__ = [
    "OTHER_SENSOR",
    "REASONS",
    "Epoch",
    "is_number",
    "name_of",
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
    numbers = [float(value) for value in values if _NUMBER.fullmatch(value)]
    if len(numbers) * 2 <= len(values):
        return None
    if all(_DATE.fullmatch(value) for value in values):
        raise InputError(
            f"{where}: {values[0]} could be a date or seconds since 1970; say which, with "
            "time_format='%Y%m%d' (or '%Y%m%d%H%M%S'), or time_unit='s'"
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
    steps, when, zoned = _time(time, kinds[time], epoch, time_format)
    first, second, raw = _position(columns, kinds, decimal)
    place = name_of("in_place", kinds[columns["place"]]) if "place" in columns else "NULL"
    degrees = not {"x", "y"} & set(columns) and raw is not None
    clock = "CAST(in_time AS VARCHAR)"
    nobody = f"{_literal(user + '=')} || nullif(CAST(in_user AS VARCHAR), '')"
    checks = [
        ("who IS NULL OR who = ''", 1, nobody),
        (f"{clock} IS NULL OR {clock} = ''", 2, _literal("")),
        ("moment IS NULL", 3, f"{_literal(time + '=')} || {clock}"),
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
    show = " ".join(f"WHEN {number} THEN {shown}" for _, number, shown in checks)
    if sensor is not None:
        other = (
            f"lower(trim(CAST(in_sensor AS VARCHAR))) IS DISTINCT FROM {_literal(sensor.lower())}"
        )
        checks.insert(0, (other, OTHER_SENSOR, ""))
    bad = " ".join(f"WHEN {test} THEN {number}" for test, number, _ in checks)
    # The columns get names of ours at once, lest one of theirs is taken for one of the steps.
    inner = ", ".join(f"{quoted(name)} AS in_{role}" for role, name in columns.items())
    table = f"(SELECT {inner} FROM {relation})"
    for step in steps:
        table = f"(SELECT *, {step} FROM {table})"
    return f"""
        SELECT coalesce(who, '') AS who, coalesce(moment, 0) AS moment,
               coalesce(zoned, false) AS zoned, coalesce(a, 0) AS a, coalesce(b, 0) AS b,
               coalesce(spot, '') AS spot, bad,
               CASE bad {show} END AS shown
        FROM (SELECT *, CAST(CASE {bad} ELSE 0 END AS TINYINT) AS bad
              FROM (SELECT *, {name_of("in_user", kinds[user])} AS who,
                           {when} AS moment, {zoned} AS zoned,
                           {first} AS a, {second} AS b, {place} AS spot
                    FROM {table}))
    """


def name_of(column: str, kind: str) -> str:
    """Give a column of identifiers, as SQL names it, as text.

    A column of whole numbers with gaps arrives as floats: 7.0 is person 7. Floats so large that
    neighbouring numbers have become the same are nobody, lest two people become one.
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
    """Give the two coordinates (east, then north) and the raw values to show."""
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
        raise ColumnError(f"column {name!r} holds {kind.lower()}, not numbers")
    text = f"in_{role}" if decimal == "." else f"replace(in_{role}, {_literal(decimal)}, '.')"
    return f"TRY_CAST({text} AS DOUBLE)"


def _time(
    name: str, kind: str, epoch: Epoch | None, pattern: str | None
) -> tuple[Sequence[str], str, str]:
    """Give steps to take first, the moment in microseconds, and whether its zone was told."""
    if kind == "TIMESTAMP WITH TIME ZONE":
        return (), "CASE WHEN isfinite(in_time) THEN epoch_us(in_time) END", "true"
    if kind in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS", "TIMESTAMP_NS WITH TIME ZONE"):
        return (), _floored("epoch_ns(in_time)", 1000), str(kind != "TIMESTAMP_NS").lower()
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        moment = "CASE WHEN isfinite(in_time) THEN epoch_us(CAST(in_time AS TIMESTAMP)) END"
        return (), moment, "false"
    if epoch is not None and (is_number(kind) or kind == "VARCHAR"):
        return (), _epoch("in_time", epoch), "true"
    if pattern is not None and (kind == "VARCHAR" or _INTEGERS.match(kind)):
        zoned = {"%z", "%Z"} & set(re.findall("%.", pattern))
        moment = f"epoch_us(try_strptime(trim(CAST(in_time AS VARCHAR)), {_literal(pattern)}))"
        return (), moment, str(bool(zoned)).lower()
    if kind != "VARCHAR":
        raise ColumnError(f"column {name!r} holds {kind.lower()}, not times")
    return _iso()


def _epoch(column: str, epoch: Epoch) -> str:
    """Turn a number since 1970 into microseconds; beyond the year 9999 it is no time."""
    whole, real = f"TRY_CAST({column} AS BIGINT)", f"TRY_CAST({column} AS DOUBLE)"
    bound = 253_402_300_800 * epoch.per_second
    if epoch.per_second > 10**6:
        exact = _floored(whole, epoch.per_second // 10**6)
    else:
        exact = f"{whole} * {10**6 // epoch.per_second}"
    ratio = 10**6 / epoch.per_second
    # TRY_CAST of '12.7' to an integer rounds, so whole numbers are told by their value.
    return (
        f"CASE WHEN NOT abs({real}) < {bound} OR abs({real}) < {epoch.least} THEN NULL "
        f"WHEN {real} = trunc({real}) THEN {exact} "
        f"ELSE CAST(floor({real} * {ratio}) AS BIGINT) END"
    )


def _floored(number: str, unit: int) -> str:
    """Divide whole numbers, rounding down; SQL's own division rounds towards 0."""
    return f"(({number}) - ((({number}) % {unit}) + {unit}) % {unit}) // {unit}"


def _iso() -> tuple[Sequence[str], str, str]:
    """Turn ISO 8601 text into microseconds, in steps.

    DuckDB's own cast drops a zone without a word, so the zone is cut off and applied here. The
    two usual shapes, 2012-03-05T07:31:00Z and 2012-03-05 07:31:00, are told by their length and
    left out of the steps (`odd` is null): that makes the whole scan several times faster.
    """
    plain = "strlen(in_time) = 19 AND substr(in_time, 17, 1) = ':'"
    zulu = "strlen(in_time) = 20 AND ends_with(in_time, 'Z')"
    steps = (
        f"CASE WHEN {plain} OR {zulu} THEN NULL ELSE trim(in_time) END AS odd",
        # How long the zone is: Z, +01:00, +0100, +01, or a word.
        """CASE WHEN odd IS NULL THEN 0
            WHEN ends_with(odd, 'Z') OR ends_with(odd, 'z') THEN 1
            WHEN length(odd) > 16 AND odd[-6] IN ('+', '-') AND odd[-3] = ':' THEN 6
            WHEN length(odd) > 15 AND odd[-5] IN ('+', '-') AND odd[-3] <> ':' THEN 5
            WHEN length(odd) > 13 AND odd[-3] IN ('+', '-') THEN 3
            WHEN ends_with(odd, ' UTC') OR ends_with(odd, ' GMT') THEN 4
            ELSE 0 END AS tail""",
        """CASE WHEN odd IS NOT NULL THEN right(odd, tail) END AS zone,
           CASE WHEN odd IS NOT NULL THEN rtrim(left(odd, length(odd) - tail)) END AS core""",
    )
    usual = "epoch_us(TRY_CAST(in_time AS TIMESTAMP))"
    other = f"{_naive('core')} - {_shift('zone')}"
    return (
        steps,
        f"CASE WHEN odd IS NULL THEN {usual} ELSE {other} END",
        "CASE WHEN odd IS NULL THEN ends_with(in_time, 'Z') ELSE tail > 0 END",
    )


def _shift(zone: str) -> str:
    """Turn a zone like +01:00 into microseconds; a word, Z or nothing is UTC."""
    hours = f"TRY_CAST(substr({zone}, 2, 2) AS BIGINT)"
    # The minutes of +01 are none.
    minutes = f"TRY_CAST(right('00' || substr(replace({zone}, ':', ''), 4), 2) AS BIGINT)"
    sign = f"CASE WHEN {zone}[1] = '-' THEN -1 ELSE 1 END"
    return f"""CASE WHEN {zone}[1] NOT IN ('+', '-') THEN 0
        WHEN {hours} < 16 AND {minutes} < 60
        THEN ({sign}) * ({hours} * 3600 + {minutes} * 60) * 1000000 END"""


def _naive(text: str) -> str:
    """Turn ISO 8601 text without a zone into microseconds."""
    only = f"translate({text}, '{_DIGITS}-:T ', '') IN ('', '.', ',')"
    other = f"left(replace({text}, ',', '.'), 26)"
    basic = ", ".join(_literal(p) for p in ("%Y%m%dT%H%M%S", "%Y%m%dT%H%M", "%Y%m%d %H%M%S"))
    return (
        f"epoch_us(CASE WHEN {only} THEN coalesce(TRY_CAST({other} AS TIMESTAMP), "
        f"try_strptime({text}, [{basic}])) END)"
    )
