"""All commands, gathered. Nothing heavy is imported here, so that help is there at once."""

from collections.abc import Callable
from typing import Annotated

import typer

from incrowd import __version__
from incrowd.cli import (
    anonymize,
    attack,
    clean,
    compare,
    convert,
    deanonymize,
    demo,
    describe,
    evaluate,
    init,
    learn,
    ledger,
    measure,
    predict,
    report,
    run,
    sign,
    study,
    synth,
    uniqueness,
    verify,
    warmup,
)
from incrowd.cli._command import Command, Commands, with_messages

__all__ = [
    "app",
]


_STATUS = """
    Exit status:
      0    done
      1    the answer is no: a release does not pass its verification, or may not be shared
      2    wrong use, or the output cannot be written
      3    a release may be shared with conditions, which the report names
      4    the input cannot be used
      70   a fault in incrowd itself, which asks to be reported
      130  interrupted (Ctrl-C)
      143  terminated (SIGTERM)

    Start with:  incrowd demo
"""
_GROUPS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start": (demo.demo, init.init, run.run, warmup.warmup, clean.clean),
    "Data": (synth.synth, describe.describe, convert.convert),
    "Measure": (measure.measure, uniqueness.uniqueness, study.study),
    "Attack": (attack.attack, deanonymize.deanonymize, learn.learn, predict.predict),
    "Protect": (anonymize.anonymize, verify.verify, ledger.ledger),
    "Evaluate": (evaluate.evaluate, compare.compare, report.report, sign.sign),
}

app = typer.Typer(
    name="incrowd",
    cls=Commands,
    help="Make datasets of people's trajectories safe to share.",
    epilog=_STATUS,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"incrowd {__version__}")
        raise typer.Exit


@app.callback()
def _incrowd(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Make datasets of people's trajectories safe to share."""


for group, commands in _GROUPS.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=group)(with_messages(command))
