"""``incrowd compare``: mechanisms side by side on one dataset, each column kept when it is done."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd._atomic import OVERWRITE, replacing, writing_error
from incrowd.cli._console import say
from incrowd.cli._messages import messages, print_json
from incrowd.cli._options import AsJson, LocalZone, Source, reads_data
from incrowd.cli._run_folder import alone
from incrowd.cli._screen import print_lines
from incrowd.cli.anonymize import stages
from incrowd.errors import ArgumentError, OutputError

if TYPE_CHECKING:
    from incrowd.evaluate._compare.result import Comparison
    from incrowd.evaluate._compare.run import Plan

__all__ = ["compare", "write_comparison"]


ENDS = ("kept from an earlier run", "refused", "failed")
INCOMPLETE = 1
"""The exit status if a column is not there."""
OWNER_ONLY = 0o700
PAGE = "comparison.html"
OURS = "comparison."
"""How the names of files begin that a comparison has."""


@reads_data
def compare(
    source: Source,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            help="What to compare, separated by commas: names of mechanisms, each with words for "
            "its settings behind colons, like glove:two-stage, generalise:1000m:30min, geo-i:low "
            "or glove:max-metres=15000; values with commas or colons in parentheses. A method may "
            "name its own k, like glove:k=5.",
            metavar="METHODS",
            show_default="every mechanism",
        ),
    ] = None,
    k: Annotated[
        str,
        typer.Option(
            "--k",
            "-k",
            help="Sizes of crowds, separated by commas: a column for each, of mechanisms with a k.",
            metavar="K",
        ),
    ] = "3",
    targets: Annotated[
        int,
        typer.Option(
            "--attack-sample",
            min=1,
            help="Number of people to attack, drawn at random.",
            metavar="N",
        ),
    ] = 500,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Seed of random draws, but those of mechanisms.", metavar="N"),
    ] = 0,
    grid: Annotated[
        float | None,
        typer.Option(
            "--tile-km",
            help="Side of the square tiles for trips and people by hour.",
            metavar="KM",
            show_default="by the size of the area",
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows",
            help="What to measure, separated by commas: private, useful, cost, or keys of rows as "
            "they are in the JSON, like deleted,created. Leaves out what takes long for much data.",
            metavar="ROWS",
            show_default="everything",
        ),
    ] = None,
    local: LocalZone = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the comparison: a page, JSON and CSV. Each column is kept in it when "
            "it is done: after an interruption, the same command goes on.",
            metavar="DIR",
            rich_help_panel="Output",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace another comparison in the folder; columns that are the same are used.",
            rich_help_panel="Output",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare mechanisms on your data: what each leaves to attackers, and to analysts.

    Each is applied, its files are written, verified and measured, and removed again: nothing is
    published. Points and boxes are measured by the same rules. One that fails or refuses does not
    end the others; exit status 0 if all columns are there, 1 if not.

    Example:  `incrowd compare cdr.csv --k 2,5 --methods glove,generalise:1000m:30min -o out/`
    """
    from incrowd.evaluate._compare.measures import measures
    from incrowd.evaluate._compare.methods import columns_of
    from incrowd.evaluate._compare.run import Plan
    from incrowd.evaluate._compare.words import lines_of

    if source.files:
        raise ArgumentError("incrowd compare takes one table, and not a file for each sensor")
    # What is typed wrong is told before anything is read.
    mechanisms = [one.mechanism for one in columns_of(methods, _sizes(k))]
    wanted = None if rows is None else [one.strip() for one in rows.split(",")]
    measures(wanted)
    with _folder(output, source.path) as folder:
        plan = Plan.of(
            source.read(), mechanisms, targets=targets, seed=seed, grid=grid, rows=wanted,
            tz=local or source.reading["tz"], threads=source.reading["threads"],
        )  # fmt: skip
        found = None if folder is None else _there(folder, plan, overwrite=overwrite)
        if found is None:
            with _telling() as update:
                found = plan.run(folder, memory=source.reading["memory"], progress=update)
            if folder is not None:
                write_comparison(found, folder)
        elif folder is not None and not (folder / PAGE).exists():
            _write_page(found, folder)
        elif not as_json:
            say(f"nothing to do: {folder} has the comparison of this data with these settings")
    status = INCOMPLETE if found.failed else 0
    if as_json:
        print_json(found.as_dict(), status=status)
    else:
        print_lines(lines_of(found))
    if folder is not None:
        told = "It tells exact numbers of few people: it stays with the owner of the data"
        say(f"wrote {folder / PAGE}: open it in a browser. {told}")
    if found.failed:
        for column in found.failed:
            say(f"incrowd: {column.label}: {column.state}. {column.why}", always=True)
        raise typer.Exit(status)


def write_comparison(found: "Comparison", folder: Path) -> Path:
    """Write a comparison into a folder of its own, and return where its page is."""
    try:
        folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
    except OSError as error:
        raise writing_error(folder, error) from error
    found.write(folder, overwrite=True)
    _write_page(found, folder)
    return folder / PAGE


def _write_page(found: "Comparison", folder: Path) -> None:
    """Write the comparison as a page."""
    from incrowd.report._comparison_page import comparison_page

    text = comparison_page(found.as_dict())
    with replacing(folder / PAGE, overwrite=True, private=True) as part:
        part.write_text(text, "utf-8")


def _sizes(text: str) -> list[int]:
    try:
        return [int(one) for one in text.split(",")]
    except ValueError as error:
        raise ArgumentError(
            f"--k must be whole numbers separated by commas, like 2,5, not {text!r}"
        ) from error


@contextlib.contextmanager
def _folder(output: Path | None, data: str) -> Iterator[Path | None]:
    """Make the folder, and hold it for this run alone; refuse one that has something else."""
    if output is None:
        yield None
        return
    source, folder = Path(data).resolve(), output.resolve()
    if folder in (source, *source.parents) or source in folder.parents:
        raise ArgumentError(f"{output} and the input {data} lie in one another; choose another -o")
    _refuse_foreign(output)
    if not folder.parent.is_dir():
        raise OutputError(
            f"cannot write {output}: the folder {output.parent} does not exist", file=output
        )
    with alone(folder):
        try:
            folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
        except OSError as error:
            raise writing_error(output, error) from error
        messages.kept = f"what is done is kept in {output}: start it again to go on"
        try:
            yield output
        finally:
            with contextlib.suppress(OSError):
                output.rmdir()  # where nothing was done, nothing is left
                messages.kept = None
        messages.kept = None


def _refuse_foreign(output: Path) -> None:
    """Refuse a folder that holds something else than a comparison."""
    from incrowd.evaluate._compare.kept import KEPT

    if output.is_dir():
        names = {one.name for one in output.iterdir()} - {KEPT}
        foreign = {name for name in names if not name.lstrip(".").startswith(OURS)}
        if foreign:
            raise OutputError(
                f"{output} holds something else than a comparison ({min(foreign)}); choose another "
                "folder with -o",
                file=output,
            )


def _there(folder: Path, plan: "Plan", *, overwrite: bool) -> "Comparison | None":
    """Return the comparison that is there, if it is this one; refuse to replace another."""
    from incrowd.evaluate._compare.result import JSON, Comparison

    if overwrite or not (folder / JSON).exists():
        return None
    found = Comparison.read(folder)
    if plan.is_of(found):
        return found
    if found.failed and plan.asks_for(found):
        return None  # what failed is tried again
    raise OutputError(
        f"{folder} has the comparison of other data, columns or settings; {OVERWRITE}. Columns "
        "that are the same are not made again",
        file=folder,
        hint=OVERWRITE,
    )


@contextlib.contextmanager
def _telling() -> Iterator[Callable[[str, int, int], None]]:
    """Show how far it is, and say of each column when it begins and how it ends."""
    column = ""
    with stages() as show:

        def update(what: str, done: int, total: int) -> None:
            nonlocal column
            now, _, stage = what.rpartition(": ")
            if now != column:
                column = now
                say(f"{column} ..." if stage != ENDS[0] else f"{column}: {stage}")
            if done >= total and stage in ENDS[1:]:
                say(f"{column}: {stage}")
            show(what, done, total)

        yield update
