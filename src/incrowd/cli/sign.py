"""``incrowd sign``: write down what was decided about a release, with hashes."""

import json
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli._messages import messages, print_json
from incrowd.cli._options import AsJson, Overwrite

__all__ = ["sign"]


def sign(
    release: Annotated[
        Path,
        typer.Argument(help="Directory of the release, or of a run of incrowd run.", metavar="DIR"),
    ],
    decision: Annotated[
        str | None,
        typer.Option(
            help="What is decided: share, conditions or refuse.",
            metavar="WORD",
            show_default="as filled in on the page",
        ),
    ] = None,
    signer: Annotated[
        str | None,
        typer.Option(
            help="Who decides: name and role.",
            metavar="TEXT",
            show_default="as filled in on the page",
        ),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            "--condition",
            help="A condition for sharing; may be given several times.",
            metavar="TEXT",
            show_default="as filled in on the page",
        ),
    ] = None,
    recipient: Annotated[
        str | None, typer.Option(help="Who gets the data, and what for.", metavar="TEXT")
    ] = None,
    retention: Annotated[
        str | None, typer.Option(help="When the recipient deletes it.", metavar="TEXT")
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(help="Why it is decided otherwise than the report says.", metavar="TEXT"),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Report that was read; one that was filled in on screen and saved brings its "
            "answers.",
            metavar="FILE",
            show_default="the page beside the release",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write.",
            metavar="FILE",
            show_default="beside the release",
            rich_help_panel="Output",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write down what was decided about a release, with the hashes of release and report.

    incrowd verify then checks that the release is the one that was decided on. It is a record and
    no cryptographic signature: whoever can write the file can write another. Conditions are those
    that the report proposes, unless some are given: --recipient and --retention fill their blanks.

    Example:  `incrowd sign release/ --decision share --signer "A. Diop, data protection officer"`
    """
    from incrowd.evaluate._decision import decision_beside
    from incrowd.evaluate._decision import sign as write_decision

    folder = release / "release" if (release / "run.json").is_file() else release
    place = decision_beside(folder) if output is None else output
    found = write_decision(
        folder, decision=decision, name=signer, report=report, conditions=condition or (),
        recipient=recipient, retention=retention, reason=reason, output=place,
        overwrite=overwrite,
    )  # fmt: skip
    messages.handed_on = True
    if as_json:
        print_json({"decision": json.loads(found.to_json()), "file": str(place)})
    else:
        print(f"{found}\n\nThe decision is in {place}.")
