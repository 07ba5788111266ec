"""The project file, ``incrowd.toml``: what every command would have to be told again each time.

::

    incrowd.toml ──> Project.load ──> defaults_for(command) ──> the command's defaults
      [data]         checked            options on the command line win over them

A key is the name of an option without its dashes (``time_format`` is ``--time-format``). ``[data]``
holds the data's ``path``, where people live (``local_tz``) and the options for reading, for all
commands; a section with the name of a command holds options of that command. ``incrowd run`` takes
those of ``anonymize`` and ``report`` as well. Paths are relative to the file. ``incrowd init``
writes one, with comments.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd._file_errors import read_text, reading_file
from incrowd.errors import ArgumentError, ColumnError, UnreadableError

__all__ = [
    "FILL_IN",
    "IN_USE",
    "PROJECT",
    "NoProject",
    "Project",
    "ProjectFile",
    "latest_run",
    "name_source",
    "own_thresholds",
]


PROJECT = "incrowd.toml"
DATA, OUTPUT, THRESHOLDS = "data", "output", "thresholds"
RUN = "run"
RUN_TAKES = ("anonymize", "report", OUTPUT, RUN)
"""The sections whose options `incrowd run` takes."""
IN_USE, _NONE = "incrowd.project", "incrowd.no_project"
"""Where a command's context keeps the project in use, and whether there must be none."""
FILL_IN = "FILL IN"
"""Stands in a value that `incrowd init` could not find."""
_LARGEST = 1 << 20
"""Bytes that a project file may have."""
_SHORT = 2
"""Letters of a value that may stand in any text."""
_PLACES = ("FILE", "DIR")
"""How options that take a path are shown."""
_RELEASE, _RECORD = "release", "record"


@dataclass(frozen=True, slots=True)
class Project:
    """A project file.

    Attributes
    ----------
    path
        The file.
    sections
        What it says, by section.
    """

    path: Path
    sections: Mapping[str, Mapping[str, Any]]

    @classmethod
    def load(cls, path: Path, commands: Mapping[str, Iterable[Any]]) -> "Project":
        """Read a project file, and check every key of every section.

        Parameters
        ----------
        path
            The file.
        commands
            The options of each command, which are what the section of its name may hold.

        Raises
        ------
        UnreadableError
            If it is not there, or not TOML.
        ArgumentError
            If it has a section that no command knows, or a key that is no option.
        """
        if not path.exists():
            hint = "incrowd init DATA writes one"
            raise UnreadableError(f"there is no project file {path}; {hint}", file=path, hint=hint)
        try:
            with reading_file(path, "the project file"):
                found = tomllib.loads(read_text(path, "the project file", most=_LARGEST))
        except (ValueError, LookupError) as error:  # TOML raises more than its own
            if isinstance(error, UnreadableError):
                raise
            line = re.search(r"at line (\d+)", str(error))
            raise UnreadableError(
                f"cannot read the project file {path}: {error}",
                file=path,
                line=int(line[1]) if line else None,
            ) from error
        keys = {name: [_key(one) for one in options] for name, options in commands.items()}
        keys |= {DATA: _reading_keys(), OUTPUT: [*keys.get(RUN, ()), "folder"]}
        known = [*keys, THRESHOLDS]
        for name, values in found.items():
            if name not in known:
                raise ArgumentError(
                    f"{path}: there is no section [{name}]{_meant(name, known)}; there can be "
                    f"[{DATA}], [{OUTPUT}], [{THRESHOLDS}], and one for each command",
                    file=path,
                )
            if not isinstance(values, dict):
                raise ArgumentError(
                    f"{path}: {name} must be a section, written as [{name}]", file=path
                )
            if name == THRESHOLDS:
                _check_thresholds(path, values)
            elif unknown := next((key for key in values if key not in keys[name]), None):
                raise ArgumentError(
                    f"{path}: [{name}] has no option {unknown!r}"
                    f"{_meant(unknown, sorted(keys[name]))}",
                    file=path,
                )
        return cls(path, found)

    @property
    def folder(self) -> Path:
        """The folder in which the file lies; paths are relative to it."""
        return self.path.parent

    @property
    def output(self) -> Path:
        """The folder in which `incrowd run` puts its results."""
        return self.folder / str(self.sections.get(OUTPUT, {}).get("folder", "out"))

    def defaults_for(self, command: str, options: Iterable[Any]) -> dict[str, Any]:
        """Return the values of a command's parameters that the file gives.

        Raises
        ------
        ArgumentError
            If a value is not filled in, or the command cannot take it.
        """
        by_key = {_key(one): one for one in options}
        found: dict[str, Any] = {}
        for section, key, value in self._given(command):
            if key in by_key:
                found[by_key[key].name] = self._value(section, key, by_key[key], value)
        path = self.sections.get(DATA, {}).get("path")
        if path is not None and (data := _named(by_key, "data")) is not None:
            found[data.name] = self._data(data, path)
        if _named(by_key, _RELEASE) is not None and (run := latest_run(self.output)) is not None:
            found[_RELEASE] = str(run / "release")
            if _named(by_key, _RECORD) is not None:
                found[_RECORD] = str(run / "private" / "who.parquet")
        return found

    def where(self, command: str, option: Any) -> str | None:
        """Return where the file sets an option of a command: file, section and key."""
        key = "path" if option.name == "data" else _key(option)
        said = [section for section, name, _ in self._given(command) if name == key]
        return f"{self.path}, [{said[-1]}] {key}" if said else None

    def _given(self, command: str) -> Iterator[tuple[str, str, Any]]:
        """Yield what the file says for a command: section, key and value; later ones win."""
        for section in (DATA, *(RUN_TAKES if command == RUN else (command,))):
            for key, value in self.sections.get(section, {}).items():
                yield section, key, value

    def _value(self, section: str, key: str, option: Any, value: Any) -> Any:
        """Return a value as the command line takes it."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and FILL_IN in value:
            raise ArgumentError(
                f"{self.path}, [{section}] {key}: not filled in ({value!r})", file=self.path
            )
        if isinstance(value, list):
            value = ",".join(str(part) for part in value)
        if option.metavar in _PLACES:
            return str(self.folder / str(value))
        return str(value)

    def _data(self, option: Any, path: Any) -> Any:
        """Return the data's path relative to the file; of each sensor, where there are several."""
        if not isinstance(path, dict):
            one = str(self.folder / str(path))
            return [one] if option.nargs < 0 else one
        if option.nargs >= 0:
            raise ArgumentError(
                f"{self.path}, [{DATA}] path: names a file for each sensor, and this command takes "
                "one table; name it on the command line",
                file=self.path,
            )
        return [f"{sensor}={self.folder / str(one)}" for sensor, one in path.items()]


def latest_run(output: Path) -> Path | None:
    """Return the folder of the run that ended last, if there is one."""
    # A hidden folder is that of a run which was interrupted.
    runs = [path.parent for path in output.glob("[!.]*/run.json") if path.is_file()]
    return max(runs, key=lambda run: (run / "run.json").stat().st_mtime_ns, default=None)


def _without(context: typer.Context, wanted: bool) -> None:
    context.meta[_NONE] = wanted


def _apply(context: typer.Context, named: str | None) -> None:
    """Take what the project file gives as the defaults of the command's options."""
    if context.resilient_parsing or context.meta.get(_NONE):
        return
    path = Path(named) if named else Path(PROJECT)
    if named is None and not path.is_file():
        return
    command = context.command
    every = getattr(context.parent.command, "commands", {}) if context.parent else {}
    commands = {one.name: _options(one.params) for one in (*every.values(), command)}
    project = Project.load(path, commands)
    context.meta[IN_USE] = project
    context.default_map = project.defaults_for(command.name or "", commands[command.name])


def _options(params: Iterable[Any]) -> list[Any]:
    return [one for one in params if one.name not in ("no_project", "project")]


def name_source(context: typer.Context, error: Exception) -> None:
    """Name file and key in an error about a value that the project file gives.

    Of a value that the parser refuses it is known; of what a command says, it is the options that
    the text names, and the values that it shows.
    """
    project = context.meta.get(IN_USE)
    if project is None:
        return
    command = context.command.name or ""
    by_name = {one.name: one for one in context.command.params if _is_from_file(context, one.name)}
    refused = getattr(error, "param", None)
    if refused is not None and refused.name in by_name:
        error.param_hint = project.where(command, refused)  # type: ignore[attr-defined]
        return
    if not isinstance(error, ArgumentError | ColumnError | UnreadableError) or error.file == (
        project.path
    ):
        return
    text = str(error)
    # The first that is named is what the text is about; the data's path often stands before it.
    said = [
        (option.name == "data", place, option)
        for option in by_name.values()
        if (place := _place_in(text, option, context.params.get(option.name))) is not None
    ]
    if said:
        where = project.where(command, min(said, key=lambda one: one[:2])[2])
        if where is not None and where not in text:
            error.args = (f"{text} (set in {where})", *error.args[1:])


def _is_from_file(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def _place_in(text: str, option: Any, value: Any) -> int | None:
    """Return where a text names an option, or the value that it has; None if it does not."""
    words = [flag for flag in option.opts if flag.startswith("--")]
    values = value if isinstance(value, list | tuple) else [value]
    words += [str(one) for one in values if isinstance(one, str | Path) and len(str(one)) > _SHORT]
    found = [re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) for word in words]
    return min((match.start() for match in found if match), default=None)


def own_thresholds(context: typer.Context) -> dict[str, Any] | None:
    """Return the thresholds that the project file in use sets for reports, if any."""
    project = context.meta.get(IN_USE)
    return None if project is None else dict(project.sections.get(THRESHOLDS, {})) or None


NoProject = Annotated[
    bool,
    typer.Option(
        "--no-project",
        callback=_without,
        is_eager=True,
        help=f"Use no {PROJECT}.",
        rich_help_panel="Project",
    ),
]
ProjectFile = Annotated[
    str | None,
    typer.Option(
        "--project",
        callback=_apply,
        is_eager=True,
        help="Project file: options that are not given here are as it says.",
        metavar="FILE",
        show_default=f"{PROJECT} in the current folder, if there is one",
        rich_help_panel="Project",
    ),
]


def _key(option: Any) -> str:
    """Return how an option is written in the file."""
    flags = [flag for flag in option.opts if flag.startswith("--")]
    return str(flags[0] if flags else option.name).removeprefix("--").replace("-", "_")


def _named(by_key: Mapping[str, Any], name: str) -> Any:
    return next((one for one in by_key.values() if one.name == name), None)


def _reading_keys() -> list[str]:
    from incrowd.cli._options import reading_keys

    return [*reading_keys(), "path", "local_tz"]


def _check_thresholds(path: Path, values: dict[str, Any]) -> None:
    from incrowd.report._purposes import checked_thresholds

    try:
        checked_thresholds(values)
    except ArgumentError as error:
        raise ArgumentError(f"{path}: [{THRESHOLDS}]: {error}", file=path) from error


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f" (is {close[0]} meant?)" if close else ""
