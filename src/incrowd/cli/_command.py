"""How every command reads its command line and shows its help.

`Command` and `Commands` are what Typer makes commands of. They differ from Typer's own in three
things:

- Old spellings of options are replaced before anything is parsed (`incrowd.cli._renamed`).
- ``--help`` shows examples and the command's own options, by group; the options for reading data,
  of which there are more than all others, are one line there and have a page of their own:
  ``--help-reading``.
- Help is plain text, so that it is there at once: Typer's own imports Rich and a parser of
  Markdown, which takes longer than everything else.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from incrowd.cli._messages import begin, log_to, messages, note_log, print_error, say
from incrowd.cli._project import name_source
from incrowd.cli._renamed import RENAMED, with_new_names
from incrowd.cli._screen import let_pass
from incrowd.errors import IncrowdError

__all__ = [
    "EVERYWHERE",
    "READING",
    "Command",
    "Commands",
    "HelpReading",
    "Wrapped",
    "with_messages",
]


READING = "Reading the data"
"""Groups of options whose name begins so are shown by ``--help-reading`` only."""
_EXAMPLE = "Example:"
_WRONG_USE = 2
_USUAL = re.compile(r"\[default: \((.*?)\)(?=[;\]])")
"""How Typer writes what holds without an option, if that is no value."""


class _Description(NamedTuple):
    """What the docstring of a command says: sentences, and commands to copy."""

    paragraphs: list[str]
    examples: list[str]

    @classmethod
    def of(cls, docstring: str | None) -> "_Description":
        parts = [part for part in inspect.cleandoc(docstring or "").split("\n\n") if part]
        examples = [
            part.removeprefix(_EXAMPLE).strip().strip("`")
            for part in parts
            if part.startswith(_EXAMPLE)
        ]
        return cls([part for part in parts if not part.startswith(_EXAMPLE)], examples)


class Command(TyperCommand):
    """A command: understands old spellings of options, and shows its own options first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the command's name."""
        params = self.get_params(ctx)
        options = [one for one in params if isinstance(one, TyperOption)]
        with_value = {name for one in options if not one.is_flag for name in one.opts}
        has_json = any("--json" in one.opts for one in options)
        begin(self.name, as_json=has_json and "--json" in args)
        notes: list[str] = []
        words = with_new_names(args, RENAMED.get(self.name or "", {}), with_value, notes.append)
        try:
            return super().parse_args(ctx, words)
        except Exception as error:
            name_source(ctx, error)
            # Of wrong use the library that parses options tells on standard error by itself.
            if hasattr(error, "format_message"):
                note_log(f"incrowd: {error.format_message()}")
                print_error(error.format_message(), status=_WRONG_USE, code="usage")
            raise
        finally:
            for note in notes:
                say(note)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except IncrowdError as error:
            name_source(ctx, error)
            raise

    def get_help(self, ctx: Any) -> str:
        """Return the help, with bold headings that may pass the screen."""
        return let_pass(super().get_help(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the command does, how it is called, and its own options."""
        about = _Description.of(self.help)
        groups = self._groups(ctx)
        reading = [title for title in groups if title.startswith(READING)]
        self.format_usage(ctx, formatter)
        _write_text(formatter, about.paragraphs)
        with formatter.section(_bold("Examples" if len(about.examples) > 1 else "Example")):
            # As they stand, for a line that is broken cannot be copied.
            for example in about.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        _write_groups(formatter, {t: rows for t, rows in groups.items() if t not in reading})
        if reading:
            number = sum(len(groups[title]) for title in reading)
            with formatter.section(_bold(READING)):
                formatter.write_text(
                    f"{number} more options: columns, time zone, grid, which part to take, memory, "
                    f"threads. See:  {ctx.command_path} --help-reading"
                )

    def format_reading_help(self, ctx: Any, formatter: Any) -> None:
        """Write the options for reading data."""
        self.format_usage(ctx, formatter)
        _write_text(formatter, [f"How {ctx.command_path} reads its data."])
        groups = {
            title.removeprefix(f"{READING}: ").capitalize(): rows
            for title, rows in self._groups(ctx).items()
            if title.startswith(READING)
        }
        _write_groups(formatter, groups)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the command's name in its usage."""
        given = [one for one in self.get_params(ctx) if isinstance(one, TyperArgument)]
        return [self.options_metavar or "", *map(_argument, given)]

    def _groups(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Give arguments and options by group: how each is written, and what it is."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is None:
                continue
            written, text = record
            text = _USUAL.sub(r"[default: \1", text)
            if isinstance(one, TyperArgument):
                groups["Arguments"].append((_argument(one), text))
            else:
                group = getattr(one, "rich_help_panel", None) or "Options"
                groups.setdefault(group, []).append((written, text))
        if any("--attack" in one.opts for one in self.get_params(ctx)):
            groups["Attacks"] = _attacks()
        return groups


class Commands(TyperGroup):
    """All commands: a list in groups, in the order in which they were added."""

    def get_help(self, ctx: Any) -> str:
        """Return the help, with bold headings that may pass the screen."""
        return let_pass(super().get_help(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what there is."""
        self.format_usage(ctx, formatter)
        _write_text(formatter, _Description.of(self.help).paragraphs)
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, one in self.commands.items():
            summary = _Description.of(one.help).paragraphs[0].replace("\n", " ")
            group = getattr(one, "rich_help_panel", None) or "Commands"
            groups.setdefault(group, []).append((name, summary))
        _write_groups(formatter, groups)
        options = [row for one in self.get_params(ctx) if (row := one.get_help_record(ctx))]
        _write_groups(formatter, {"Options": options})
        for part in inspect.cleandoc(self.epilog or "").split("\n\n"):
            formatter.write_paragraph()
            title, _, lines = part.partition("\n")
            formatter.write(f"{_bold(title)}\n" + f"{lines}\n" * bool(lines))


def _be_quiet(wanted: bool) -> None:
    messages.quiet = wanted


def _show_values(wanted: bool) -> None:
    messages.show_values = wanted


def _log(file: Path | None) -> None:
    if file is not None:
        log_to(file)


EVERYWHERE: dict[str, Any] = {
    "quiet": Annotated[
        bool,
        typer.Option(
            "--quiet",
            callback=_be_quiet,
            is_eager=True,
            help="Say nothing but errors and warnings: no progress, no notes.",
            rich_help_panel="Messages",
        ),
    ],
    "log_file": Annotated[
        Path | None,
        typer.Option(
            "--log-file",
            callback=_log,
            is_eager=True,
            help="Append all messages to this file too, with the time.",
            metavar="FILE",
            rich_help_panel="Messages",
        ),
    ],
    "show_values": Annotated[
        bool,
        typer.Option(
            "--show-values",
            callback=_show_values,
            is_eager=True,
            help="Show values of the input, such as identifiers, in messages; otherwise their "
            "first letter and length.",
            rich_help_panel="Messages",
        ),
    ],
}
"""The options that every command has, by the names of their parameters."""


def with_messages(command: Callable[..., None]) -> "_WithMessages":
    """Give a command the options that every command has; they are seen to before it runs."""
    return _WithMessages(command)


class Wrapped:
    """A command with more options than its function has; `__signature__` has them all.

    Typer asks for the signature each time, so that a command has what it is to have then: a
    mechanism may be entered after the command was made.
    """

    def __init__(self, command: Callable[..., None]) -> None:
        self._command = command
        self.__name__, self.__doc__ = command.__name__, command.__doc__
        self.__annotations__: dict[str, Any] = {}


class _WithMessages(Wrapped):
    """A command with the options of `EVERYWHERE`."""

    @property
    def __signature__(self) -> inspect.Signature:
        own = inspect.signature(self._command, eval_str=True).parameters.values()
        kind, usual = inspect.Parameter.KEYWORD_ONLY, {
            "quiet": False, "log_file": None, "show_values": False,
        }  # fmt: skip
        more = [
            inspect.Parameter(name, kind, default=usual[name], annotation=option)
            for name, option in EVERYWHERE.items()
        ]
        return inspect.Signature([*(one.replace(kind=kind) for one in own), *more])

    def __call__(self, **given: Any) -> None:
        self._command(**{name: value for name, value in given.items() if name not in EVERYWHERE})


def _show_reading(ctx: typer.Context, wanted: bool) -> None:
    """Show the options for reading data, and end."""
    if wanted and isinstance(ctx.command, Command):
        formatter = ctx.make_formatter()
        ctx.command.format_reading_help(ctx, formatter)
        typer.echo(let_pass(formatter.getvalue().rstrip("\n")))
        raise typer.Exit


HelpReading = Annotated[
    bool,
    typer.Option(
        "--help-reading",
        callback=_show_reading,
        is_eager=True,
        help="Show the options for reading data, and exit.",
    ),
]


def _attacks() -> list[tuple[str, str]]:
    """Return name and summary of each attack; when help is shown, so that all are registered."""
    from incrowd.attack import ATTACKS

    return [(name, kind.summary) for name, kind in ATTACKS.items()]


def _argument(one: TyperArgument) -> str:
    name = one.metavar or (one.name or "").upper()
    return f"{name}..." if one.nargs < 0 else name


def _bold(title: str) -> str:
    return typer.style(title, bold=True)


def _write_text(formatter: Any, paragraphs: Iterable[str]) -> None:
    for text in paragraphs:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)


def _write_groups(formatter: Any, groups: dict[str, list[tuple[str, str]]]) -> None:
    for title, rows in groups.items():
        if rows:
            with formatter.section(_bold(title)):
                formatter.write_dl(rows)
