"""All commands, gathered. Nothing heavy is imported here, so that help is there at once."""

from typing import Annotated

import typer

from incrowd import __version__
from incrowd.cli import (
    anonymize,
    attack,
    convert,
    deanonymize,
    demo,
    describe,
    evaluate,
    learn,
    measure,
    predict,
    report,
    study,
    synth,
    uniqueness,
    verify,
)

__all__ = [
    "app",
]


app = typer.Typer(
    name="incrowd",
    help="Make datasets of people's trajectories safe to share.",
    epilog="Start with:  incrowd demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"incrowd {__version__}")
        raise typer.Exit


@app.callback()
def _incrowd(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Make datasets of people's trajectories safe to share."""


for command in (
    demo.demo,
    synth.synth,
    describe.describe,
    convert.convert,
    measure.measure,
    uniqueness.uniqueness,
    attack.attack,
    deanonymize.deanonymize,
    learn.learn,
    predict.predict,
    anonymize.anonymize,
    study.study,
    verify.verify,
    evaluate.evaluate,
    report.report,
):
    app.command()(command)
