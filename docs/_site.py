"""What the documentation site generates when it is built.

::

    incrowd.__all__, each package's __all__ ──> api/ROOM.md       a heading for every public name
    the commands of incrowd.cli ───────────> commands/NAME.md  every option, as --help has it
    CHANGELOG, CONTRIBUTING, SECURITY ─────> pages of the same text

The build fails (``strict``) if a public name, or a public member of one, has no docstring; and if
a link, or the heading that it points at, is not there.
"""

import importlib
import inspect
import logging
import re
import textwrap
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "data": "Read, hold and write data",
    "measure": "Measure",
    "attack": "Attack",
    "predict": "Learned risk",
    "protect": "Protect",
    "evaluate": "Publish, verify, evaluate",
    "report": "Report",
    "errors": "Errors",
}
TEXTS = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
FOLDED = "Reading"
"""Groups of options whose name begins so are folded: most commands share them."""
SHARED = (
    "`incrowd COMMAND --help` shows the same in a terminal. [The command line](../command-line.md) "
    "has what all commands share: exit status, options, old spellings."
)

log = logging.getLogger("mkdocs.hooks.incrowd")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the parts of the navigation that are generated."""
    pages = {
        "Commands": ["commands/index.md", *(f"commands/{name}.md" for name in commands())],
        "API": ["api/index.md", *(f"api/{package}.md" for package in PACKAGES)],
    }
    for part in config.nav or []:
        for title in part:
            part[title] = pages.get(title, part[title])
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    pages = dict(api_pages())
    pages |= dict(command_pages())
    for page, source in TEXTS.items():
        pages[page] = _as_page((ROOT / source).read_text(encoding="utf-8"))
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """See whether every public name is on the site, as what it is."""
    raw = (Path(config.site_dir) / "objects.inv").read_bytes()
    lines = zlib.decompress(raw.split(b"\n", 4)[4]).decode().splitlines()
    there = {line.split()[0]: line.split()[1] for line in lines}
    for path, thing in public_names().items():
        kind = (
            "function" if inspect.isfunction(thing) else "class" if inspect.isclass(thing) else None
        )
        if path not in there or (kind and there[path] != f"py:{kind}"):
            log.warning("%s is public and not on the site as a %s", path, kind or "name")


def _as_page(text: str) -> str:
    """Turn the links of a text at the root of the project to the pages of the site."""
    text = text.replace("](docs/", "](")
    for page, source in TEXTS.items():
        text = text.replace(f"]({source}", f"]({page}")
    return text


# The API reference


def public_names() -> dict[str, Any]:
    """Give every public name, under the shortest path that it has."""
    root = importlib.import_module("incrowd")
    names = {}
    for package in PACKAGES:
        module = importlib.import_module(f"incrowd.{package}")
        for name in _public(module):
            thing = getattr(module, name)
            short = name in root.__all__ and getattr(root, name) is thing
            names[f"incrowd.{name}" if short else f"incrowd.{package}.{name}"] = thing
    return names


def api_pages() -> Iterator[tuple[str, str]]:
    """Give a page for each package, with a heading for every public name."""
    paths = {id(thing): path for path, thing in public_names().items()}
    contents = ["# API", "", _verbatim(importlib.import_module("incrowd")), ""]
    for package, title in PACKAGES.items():
        module = importlib.import_module(f"incrowd.{package}")
        lines = [f"# {title}", "", _verbatim(module), ""]
        contents += [f"## [{title}]({package}.md)", ""]
        for name in _public(module):
            thing = getattr(module, name)
            path = paths[id(thing)]
            for one in _undocumented(thing, path):
                log.warning("%s is public and has no docstring", one)
            lines += [f"::: {path}", ""]
            contents += [f"- [`{path}`]({package}.md#{path}): {_summary(thing)}"]
        contents += [""]
        yield f"api/{package}.md", "\n".join(lines)
    yield "api/index.md", "\n".join(contents)


def _public(module: Any) -> list[str]:
    """Give what is public in a module: functions first, then classes, then constants."""
    names = list(module.__all__)
    return sorted(names, key=lambda one: (_rank(getattr(module, one)), names.index(one)))


def _rank(thing: Any) -> int:
    return 0 if inspect.isfunction(thing) else 1 if inspect.isclass(thing) else 2


def _verbatim(module: Any) -> str:
    """Give a module's docstring, whose drawings must stay as they are."""
    first, _, rest = inspect.getdoc(module).partition("\n\n")
    rest = textwrap.dedent(rest.strip().removeprefix("::").strip("\n"))
    return f"{first}\n\n```text\n{rest}\n```" if rest else first


def _summary(thing: Any) -> str:
    if not (inspect.isfunction(thing) or inspect.isclass(thing)):
        return f"a {type(thing).__name__}"
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def _undocumented(thing: Any, path: str) -> Iterator[str]:
    """Give what has no docstring: a public name, and its own public methods and properties."""
    if not (inspect.isfunction(thing) or inspect.isclass(thing)):
        return
    if not thing.__doc__:
        yield path
    if not inspect.isclass(thing):
        return
    for name, member in vars(thing).items():
        if name.startswith("_"):
            continue
        inner = getattr(member, "__func__", getattr(member, "fget", member))
        documented = inspect.isfunction(inner) and inner.__module__.startswith("incrowd")
        told = rf"^\s*(\w+, )*{name}(, \w+)*$"  # among the attributes that the class describes
        if (
            documented
            and not inner.__doc__
            and not re.search(told, thing.__doc__ or "", re.MULTILINE)
        ):
            yield f"{path}.{name}"


# The reference of commands


def commands() -> dict[str, Any]:
    """Give the commands, in the order of ``incrowd --help``."""
    import typer

    from incrowd.cli._app import app

    return typer.main.get_command(app).commands


def command_pages() -> Iterator[tuple[str, str]]:
    """Give a page for each command, from what its ``--help`` is made of."""
    every = commands()
    contents = ["# Commands", "", SHARED, ""]
    contents += ["| command | |", "|---|---|"]
    for name, command in every.items():
        summary = command.help.split("\n\n")[0].replace("\n", " ")
        contents.append(f"| [`incrowd {name}`]({name}.md) | {summary} |")
        yield f"commands/{name}.md", _command_page(name, command)
    yield "commands/index.md", "\n".join(contents)


def _command_page(name: str, command: Any) -> str:
    arguments = [one for one in command.params if not one.opts[0].startswith("-")]
    usage = " ".join(f"{one.metavar or one.name.upper()}" for one in arguments)
    lines = [f"# incrowd {name}", "", inspect.cleandoc(command.help), "", "```text"]
    lines += [f"incrowd {name} [OPTIONS] {usage}".rstrip(), "```", ""]
    for panel, options in _panels(command).items():
        table = ["| | | default |", "|---|---|---|", *map(_row, options)]
        if panel.startswith(FOLDED):
            lines += [f'??? note "{panel}"', "", *(f"    {one}" for one in table), ""]
        else:
            lines += [f"## {panel}", "", *table, ""]
    return "\n".join(lines)


def _panels(command: Any) -> dict[str, list[Any]]:
    """Give the parameters of a command by the group under which help shows them."""
    panels: dict[str, list[Any]] = {}
    for one in command.params:
        if getattr(one, "hidden", False):
            continue
        usual = "Options" if one.opts[0].startswith("-") else "Arguments"
        panels.setdefault(one.rich_help_panel or usual, []).append(one)
    return panels


def _row(option: Any) -> str:
    names = " ".join(f"`{one}`" for one in [*option.opts, *option.secondary_opts])
    if not option.opts[0].startswith("-"):
        names = f"`{option.metavar or option.name.upper()}`"
    elif not getattr(option, "is_flag", False):
        kind = getattr(option.type_descriptor.annotation, "__name__", "")
        names += f" *{option.metavar or kind}*"
    shown = getattr(option, "show_default", True)
    default = "required" if option.required else ""
    if isinstance(shown, str):
        default = shown
    elif option.default not in (None, False, ()) and not option.required:
        default = f"`{getattr(option.default, 'value', option.default)}`"
    help_text = " ".join((option.help or "").split()).replace("|", "\\|")
    return f"| {names} | {help_text} | {default} |"
