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
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from incrowd.errors import ArgumentError, UnreadableError

__all__ = [
    "IN_USE",
    "PROJECT",
    "NoProject",
    "Project",
    "ProjectFile",
    "latest_run",
    "own_thresholds",
]


PROJECT = "incrowd.toml"
DATA, OUTPUT, THRESHOLDS = "data", "output", "thresholds"
RUN_TAKES = ("anonymize", "report", OUTPUT, "run")
"""The sections whose options `incrowd run` takes."""
IN_USE, _NONE = "incrowd.project", "incrowd.no_project"
"""Where a command's context keeps the project in use, and whether there must be none."""
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
    def load(cls, path: Path, commands: Iterable[str]) -> "Project":
        """Read a project file.

        Raises
        ------
        UnreadableError
            If it is not there, or not TOML.
        ArgumentError
            If it has a section that no command knows.
        """
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise UnreadableError(
                f"there is no project file {path}; incrowd init DATA writes one"
            ) from error
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UnreadableError(f"cannot read the project file {path}: {error}") from error
        known = [DATA, OUTPUT, THRESHOLDS, *commands]
        for name, values in found.items():
            if name not in known:
                raise ArgumentError(
                    f"{path}: there is no section [{name}]{_meant(name, known)}; there can be "
                    f"[{DATA}], [{OUTPUT}], [{THRESHOLDS}], and one for each command"
                )
            if not isinstance(values, dict):
                raise ArgumentError(f"{path}: {name} must be a section, written as [{name}]")
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
            If a section has a key that is no option.
        """
        by_key = {_key(one): one for one in options}
        found: dict[str, Any] = {}
        reading = dict(self.sections.get(DATA, {}))
        path = reading.pop("path", None)
        for key, value in reading.items():
            self._refuse_unknown(DATA, key, _reading_keys())
            if key in by_key:
                found[by_key[key].name] = self._value(by_key[key], value)
        if path is not None and (data := _named(by_key, "data")) is not None:
            found[data.name] = self._data(path)
        for section in RUN_TAKES if command == "run" else (command,):
            for key, value in self.sections.get(section, {}).items():
                if section in (command, OUTPUT):
                    self._refuse_unknown(section, key, [*by_key, "folder"])
                if key in by_key:
                    found[by_key[key].name] = self._value(by_key[key], value)
        if _named(by_key, _RELEASE) is not None and (run := latest_run(self.output)) is not None:
            found[_RELEASE] = str(run / "release")
            if _named(by_key, _RECORD) is not None:
                found[_RECORD] = str(run / "private" / "who.parquet")
        return found

    def _refuse_unknown(self, section: str, key: str, known: Iterable[str]) -> None:
        names = sorted(known)
        if key not in names:
            raise ArgumentError(
                f"{self.path}: [{section}] has no option {key!r}{_meant(key, names)}"
            )

    def _value(self, option: Any, value: Any) -> Any:
        """Return a value as the command line takes it."""
        if isinstance(value, bool):
            return value
        if isinstance(value, list):
            value = ",".join(str(part) for part in value)
        if option.metavar in _PLACES:
            return str(self.folder / str(value))
        return str(value)

    def _data(self, path: Any) -> Any:
        """Return the data's path relative to the file; of each sensor, where there are several."""
        if isinstance(path, dict):
            return [f"{sensor}={self.folder / str(one)}" for sensor, one in path.items()]
        return str(self.folder / str(path))


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
    commands = getattr(context.parent.command, "commands", {}) if context.parent else {}
    project = Project.load(path, commands or [command.name or ""])
    options = [
        one for one in command.get_params(context) if one.name not in ("no_project", "project")
    ]
    context.default_map = project.defaults_for(command.name or "", options)
    context.meta[IN_USE] = project


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


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f" (is {close[0]} meant?)" if close else ""
