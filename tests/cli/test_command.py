import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from incrowd.cli._app import app
from incrowd.cli._command import READING
from incrowd.cli._renamed import RENAMED, with_new_names

ROOT = typer.main.get_command(app)
COMMANDS = ROOT.commands
READING_COMMANDS = sorted(
    set(COMMANDS) - {"clean", "demo", "init", "ledger", "sign", "synth", "warmup"}
)
VALUES = {"--max-bad": "0.1", "--top-places": "7", "--attack-sample": "9"}
"""Values of options that take numbers; 3 will do for the others."""


def options_of(command):
    return {
        name: option
        for option in COMMANDS[command].params
        if option.param_type_name == "option"
        for name in option.opts
    }


def arguments_of(command):
    """Give words without which the command cannot be parsed."""
    words = []
    for one in COMMANDS[command].params:
        if one.required:
            words += ["x"] if one.param_type_name == "argument" else [one.opts[0], "x"]
    return words


def parsed(command, *words):
    context = COMMANDS[command].make_context(command, [*arguments_of(command), *words])
    return context.params


RENAMINGS = [
    (command, old, new) for command, names in RENAMED.items() for old, new in names.items()
]


class TestRenamed:
    @pytest.mark.parametrize(("command", "old", "new"), RENAMINGS)
    def test_the_old_spelling_does_the_same_and_says_the_new_one(self, command, old, new, capsys):
        option = options_of(command)[new]
        value = () if option.is_flag else (VALUES.get(new, "3"),)
        expected = parsed(command, new, *value)
        assert expected != parsed(command)
        assert capsys.readouterr() == ("", "")
        assert parsed(command, old, *value) == expected
        # What operators call cells, papers call antennas: that spelling is as good.
        said = "" if old == "--cells" else f"incrowd: {old} is now {new}\n"
        assert capsys.readouterr() == ("", said)
        if value:
            assert parsed(command, f"{old}={value[0]}") == expected

    @pytest.mark.parametrize(("command", "old", "new"), RENAMINGS)
    def test_the_old_spelling_is_no_option_any_more(self, command, old, new):
        assert old not in options_of(command)

    def test_every_command_is_one(self):
        assert set(RENAMED) <= set(COMMANDS)

    def test_a_value_is_left_as_it_is(self, capsys):
        words = ["--title", "--old", "-o", "--old", "--title=--old", "a", "--", "--old"]
        assert with_new_names(words, {"--old": "--new"}, {"--title", "-o"}) == words
        assert capsys.readouterr().err == ""

    def test_is_said_once(self, capsys):
        words = with_new_names(["--old", "--old=3", "--title"], {"--old": "--new"}, {"--title"})
        assert words == ["--new", "--new=3", "--title"]
        assert capsys.readouterr().err == "incrowd: --old is now --new\n"

    def test_a_command_goes_on_with_its_work(self, incrowd, calls, tmp_path):
        output = tmp_path / "out.csv"
        output.touch()
        words = ("convert", calls, "-o", output, "--max-bad", "0.5")
        assert incrowd(*words)[0] == 2
        status, out, err = incrowd(*words, "--force")
        assert (status, out) == (0, "")
        assert err.startswith("incrowd: --force is now --overwrite\n")


class TestOneNameForOneThing:
    def test_an_option_takes_the_same_kind_of_value_in_all_commands(self):
        kinds = {}
        for command in COMMANDS:
            for name, option in options_of(command).items():
                if name not in ("--output", "-o"):
                    what = "flag" if option.is_flag else option.metavar
                    kinds.setdefault(name, set()).update({what} - {None})
        assert {name: kind for name, kind in kinds.items() if len(kind) > 1} == {}

    @pytest.mark.parametrize(
        "name", ["--force", "--slot-minutes", "--precision", "--strict", "--names", "--whole"]
    )
    def test_old_names_are_gone(self, name):
        assert all(name not in options_of(command) for command in COMMANDS)


class TestHelp:
    @pytest.fixture
    def shown(self, incrowd):
        def shown(*words):
            status, out, err = incrowd(*words)
            assert (status, err) == (0, "")
            return out

        return shown

    @pytest.mark.parametrize("command", sorted(COMMANDS))
    def test_has_an_example_in_one_line(self, command, shown):
        out = shown(command, "--help")
        [_, examples] = re.split(r"\nExamples?:\n", out)
        assert examples.startswith(f"  incrowd {command}")
        assert not re.search(r"default: \(|<str>|<list|\{", out)

    @pytest.mark.parametrize("command", sorted(COMMANDS))
    def test_examples_parse(self, command, shown):
        out = shown(command, "--help")
        lines = re.findall(rf"^  incrowd {command} (.*)$", out, re.MULTILINE)
        for words in lines or [""]:
            COMMANDS[command].make_context(command, shlex.split(words))

    @pytest.mark.parametrize("command", sorted(COMMANDS))
    def test_says_what_every_own_option_is(self, command, shown):
        out = shown(command, "--help")
        for name, option in options_of(command).items():
            folded = (option.rich_help_panel or "").startswith(READING)
            assert option.help
            shows = re.search(rf"^  (-., )?{name}\b(?!-)", out, re.MULTILINE)
            assert bool(shows) is not folded

    @pytest.mark.parametrize("command", READING_COMMANDS)
    def test_folds_what_concerns_reading(self, command, shown):
        reading = {
            name
            for name, option in options_of(command).items()
            if (option.rich_help_panel or "").startswith(READING)
        }
        out = shown(command, "--help")
        assert f"{READING}:\n  {len(reading)} more options: " in out
        assert "--help-reading" in out
        page = shown(command, "--help-reading")
        assert set(re.findall(r"^  (--[a-z-]+)", page, re.MULTILINE)) == reading
        assert {"--tz", "--threads", "--fail-on-bad-row"} <= reading

    def test_a_command_that_reads_nothing_has_nothing_to_fold(self, shown):
        assert READING not in shown("synth", "--help")

    def test_names_every_command_in_groups_and_every_status(self, shown):
        out = shown("-h")
        groups = ["Start", "Data", "Measure", "Attack", "Protect", "Evaluate", "Options"]
        titles = re.findall(r"^(\w[\w ]+):$", out, re.MULTILINE)
        assert titles == [*groups, "Exit status"]
        assert all(re.search(rf"^  {command}  ", out, re.MULTILINE) for command in COMMANDS)
        statuses = re.findall(r"^  (\d+)  ", out, re.MULTILINE)
        assert statuses == ["0", "1", "2", "3", "4", "70", "130", "143"]

    @pytest.mark.parametrize("command", sorted(COMMANDS))
    def test_begins_with_one_sentence(self, command):
        first = COMMANDS[command].help.split("\n\n")[0]
        assert re.fullmatch(r"[A-Z][^\n]*[^.\n]\.", first.strip())

    @pytest.mark.parametrize(
        "words",
        [["--help"], ["describe", "--help"], ["verify", "--help-reading"], ["--version"]],
    )
    def test_answers_without_loading_anything_heavy(self, words):
        code = (
            "import sys; from incrowd.cli._app import app; from incrowd.cli._console import run;"
            f"sys.argv = ['incrowd', *{words}]; status = run(app);"
            "heavy = {'numpy', 'duckdb', 'polars', 'pyarrow', 'numba', 'pyproj', 'pandas', 'rich',"
            "'markdown_it'};"
            "print('loaded', sorted(heavy & set(sys.modules)), status)"
        )
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "loaded [] 0"


class TestDocumentation:
    def test_names_every_old_spelling(self):
        page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text("utf-8")
        told = set(re.findall(r"^\| `(--[a-z-]+)` \| `(--[a-z-]+)` \|", page, re.MULTILINE))
        assert told == {(old, new) for _, old, new in RENAMINGS}
