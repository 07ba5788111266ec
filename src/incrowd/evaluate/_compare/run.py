"""`compare`: all columns, one after another; each is kept as soon as it is done."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import incrowd
from incrowd._arguments import is_number, whole
from incrowd._outside import outside
from incrowd.data._trajectories import Trajectories
from incrowd.data._zone import living_in, zone_or_utc
from incrowd.errors import ArgumentError, DataWarning, InputError, PrivacyWarning
from incrowd.evaluate._compare.column import Cell, Tell, measured_original, run_column
from incrowd.evaluate._compare.context import KNOWN, Settings
from incrowd.evaluate._compare.kept import ORIGINAL, Kept, fingerprint
from incrowd.evaluate._compare.measure import Measure
from incrowd.evaluate._compare.measures import measures
from incrowd.evaluate._compare.methods import Column, K, columns_of
from incrowd.evaluate._compare.result import (
    ComparedRow,
    ComparedValue,
    Comparison,
)
from incrowd.evaluate._utility.summary import side_for
from incrowd.protect._mechanism import Mechanism

__all__ = [
    "TARGETS",
    "Plan",
    "compare",
]


TARGETS = 500
"""How many people are attacked, drawn at random; all, if there are fewer."""
MADE_WITH = f"incrowd {incrowd.__version__}"
Progress = Callable[[str, int, int], None]


def compare(
    data: Trajectories,
    methods: Sequence[str | Mechanism] | str | None = None,
    *,
    k: Sequence[int] | int = (K,),
    folder: str | Path | None = None,
    targets: int = TARGETS,
    seed: int = 0,
    tz: str | None = None,
    grid: float | None = None,
    rows: Sequence[str] | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare mechanisms on one dataset: how private each is, how useful, and what it takes.

    Each mechanism is applied, its result is written and verified as by :func:`incrowd.publish`, and
    what was written is measured beside the original, all by the same rules. No release is left. One
    that fails, or refuses the data, ends only its own column. The result is for whoever has the
    data: it tells exact numbers, also of few people.

    Parameters
    ----------
    data
        The original: one person a trajectory.
    methods
        Mechanisms, or names with settings such as ``"generalise:1000m:30min"``, as ``incrowd
        compare --methods`` takes them, or one text of these with commas; unless given, every
        mechanism of `incrowd.MECHANISMS`, with the settings that it suggests.
    k
        The sizes of crowds: a column for each, of every method that has a k and names none.
    folder
        Where columns are kept as soon as they are done: the same call goes on from there. They are
        made anew where data, settings or version differ. Nothing is kept unless given.
    targets
        How many people are attacked, drawn at random.
    seed
        Of all draws but a mechanism's own.
    tz
        The zone in which it is night, like Africa/Abidjan. Unless given, the zone that the data was
        read with; if it was read with none, UTC is assumed, with a warning.
    grid
        The side of squares in km, for trips and people by hour; chosen by the size of the area
        unless given.
    rows
        The keys of the rows to measure, or their groups ("private", "useful", "cost"); all unless
        given. For much data, this leaves out what takes long.
    threads, memory
        As for the mechanisms; all cores unless given.
    progress
        Called with what is being done, how much of it is done, and how much there is.

    Raises
    ------
    ArgumentError
        If a method or a setting is not known, or a column is there twice.
    InputError
        If the data is empty.
    OutputError
        If the disk is full, or the folder cannot be written.

    Warns
    -----
    PrivacyWarning, DataWarning
        For each column what its mechanism, and :func:`incrowd.publish`, warn of.

    References
    ----------
    - Gramaglia et al., 2021: "GLOVE: towards privacy-preserving publishing of record-level-truthful
      mobile phone trajectories", ACM/IMS Transactions on Data Science 2 (3), DOI 10.1145/3451178;
      section 7.3, table 2, figure 15.

    Examples
    --------
    >>> import incrowd
    >>> city = incrowd.synthesize("city", users=30, seed=7)
    >>> found = incrowd.compare(city, ["glove", incrowd.Glove(k=3)], k=2)
    >>> [column.key for column in found.columns]
    ['glove:k=2', 'glove:k=3']
    >>> found.values["glove:k=2"]["crowd"].value, found.values["glove:k=2"]["created"].value
    (2, 0.0)
    """
    plan = Plan.of(
        data,
        methods,
        k=k,
        targets=targets,
        seed=seed,
        tz=tz,
        grid=grid,
        rows=rows,
        threads=threads,
    )
    return plan.run(folder, memory=memory, progress=progress)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be compared, on what, and how it is measured."""

    data: Trajectories
    about: str
    columns: tuple[Column, ...]
    settings: Settings

    @classmethod
    def of(
        cls,
        data: Trajectories,
        methods: Sequence[str | Mechanism] | str | None,
        *,
        k: Sequence[int] | int = (K,),
        targets: int = TARGETS,
        seed: int = 0,
        tz: str | None = None,
        grid: float | None = None,
        rows: Sequence[str] | None = None,
        threads: int | None = None,
    ) -> "Plan":
        """Make a plan of what was asked for; see `compare`."""
        columns = columns_of(methods, k)
        data = Trajectories.of(data)
        _refuse(data, grid)
        wanted = None if rows is None else tuple(one.key for one in measures(rows))
        tz = zone_or_utc(tz, data)
        settings = Settings(
            targets=whole("targets", targets, 1),
            seed=whole("seed", seed, 0),
            tz=tz,
            grid=side_for(data) if grid is None else float(grid),
            rows=wanted,
            threads=threads,
        )
        return cls(living_in(data, tz), fingerprint(data), tuple(columns), settings)

    def is_of(self, found: Comparison) -> bool:
        """Tell whether a comparison is what this plan would give, and has all columns."""
        return self.asks_for(found) and not found.failed

    def asks_for(self, found: Comparison) -> bool:
        """Tell whether a comparison is one of the same data, columns and settings."""
        mine = self.settings.as_dict()
        return (
            found.made_with == MADE_WITH
            and found.data.get("hash") == self.about
            and {name: found.settings.get(name) for name in mine} == mine
            and [one.key for one in found.columns] == [one.key for one in self.columns]
        )

    def run(
        self,
        folder: str | Path | None = None,
        *,
        memory: str | int | None = None,
        progress: Progress | None = None,
    ) -> Comparison:
        """Carry it out; what is kept in the folder is not done again."""
        data, settings = self.data, self.settings
        kept = Kept(None if folder is None else Path(folder), self.about, settings)
        tell = progress or (lambda _what, _done, _total: None)
        cells: list[Cell] = []
        with kept.working() as work:
            known = _named(tell, ORIGINAL)
            before = kept.original(lambda: measured_original(data, settings, known))
            for number, column in enumerate(self.columns, 1):
                named = _named(tell, f"{number} of {len(self.columns)}, {column.label}")
                cell = kept.find(column)
                if cell is not None:
                    named("kept from an earlier run", 1, 1)
                else:
                    named("protecting", 0, 1)
                    cell = run_column(
                        column, data, settings, work, named, memory=memory,
                        checkpoint=kept.checkpoint(column),
                    )  # fmt: skip
                    kept.keep(column, cell)
                told = {PrivacyWarning: cell.column.warnings, DataWarning: cell.column.notes}
                for kind, texts in told.items():
                    for text in texts:
                        warnings.warn(f"{column.label}: {text}", kind, stacklevel=outside())
                named(cell.column.state, 1, 1)
                cells.append(cell)
        return _gathered(self, cells, before)


def _refuse(data: Trajectories, grid: float | None) -> None:
    """Refuse what nothing could be compared on."""
    if not data.samples:
        raise InputError("there is nothing to compare on: the data has no samples")
    if bool(np.any(data.crowd != 1)):
        raise ArgumentError("the data must have one person a trajectory; this one has crowds")
    if grid is not None and not (is_number(grid) and 0 < grid < np.inf):
        raise ArgumentError(f"grid must be the side of squares in km, above 0, not {grid!r}")


def _named(tell: Tell, what: str) -> Tell:
    return lambda stage, done, total: tell(f"{what}: {stage[:1].lower()}{stage[1:]}", done, total)


def _gathered(
    plan: Plan, cells: list[Cell], before: dict[str, tuple[float | None, str | None]]
) -> Comparison:
    """Put columns side by side, and mark the best of each row."""
    rows, values = measures(plan.settings.rows), dict[str, dict[str, ComparedValue]]()
    for cell in cells:
        known = cell.values
        why = f"{cell.column.state}: {cell.column.why}"
        values[cell.column.key] = {
            row.key: ComparedValue(*known.get(row.key, (None, why))) for row in rows
        }
    for row in rows:
        for key in _best(row, {key: of[row.key].value for key, of in values.items()}):
            values[key][row.key] = ComparedValue(values[key][row.key].value, None, best=True)
    data = plan.data
    return Comparison(
        made_with=MADE_WITH,
        data={
            "people": len(data), "samples": data.samples, "cell": data.frame.cell,
            "slot": data.frame.slot, "hash": plan.about,
        },
        settings=plan.settings.as_dict() | {"known": KNOWN},
        columns=tuple(cell.column for cell in cells),
        rows=tuple(
            ComparedRow(one.key, one.group, one.section, one.label, one.unit, one.better, one.help)
            for one in rows
        ),
        values=values,
        original={row: ComparedValue(value, why) for row, (value, why) in before.items()},
        curves={cell.column.key: cell.curves for cell in cells},
    )  # fmt: skip


def _best(row: Measure, found: dict[str, float | None]) -> list[str]:
    """Return the columns that no other one is better than, in rows where there is a better."""
    numbers = {key: value for key, value in found.items() if value is not None}
    if row.better is None or len(numbers) < 2:  # noqa: PLR2004 - one alone is not the best
        return []
    best = (min if row.better == "less" else max)(numbers.values())
    return [key for key, value in numbers.items() if value == best]
