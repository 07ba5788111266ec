import importlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path
from typing import ClassVar

import pytest

import incrowd.cli
from incrowd.cli._app import app
from incrowd.cli._console import _COMPILED, progress, run, warn_first_compile
from incrowd.errors import (
    ArgumentError,
    ColumnError,
    DataWarning,
    InputError,
    OutputError,
    PrivacyWarning,
    RowError,
    UnreadableError,
    VerificationError,
)
from incrowd.protect import MECHANISMS


def failing(error):
    def command():
        raise error

    return command


@pytest.fixture(autouse=True)
def _filters():
    """Give back how warnings are shown, which the command line changes."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        yield


class TestRun:
    def test_done_is_0(self):
        assert run(lambda: None) == 0

    @pytest.mark.parametrize(
        ("error", "status"),
        [
            (VerificationError("bad", None), 1),
            (ArgumentError("bad"), 2),
            (OutputError("bad"), 2),
            (OSError("bad"), 2),
            (InputError("bad"), 4),
            (UnreadableError("bad"), 4),
            (ColumnError("bad"), 4),
            (RowError("bad"), 4),
        ],
    )
    def test_an_error_is_one_message_and_a_status(self, capsys, error, status):
        assert run(failing(error)) == status
        assert capsys.readouterr() == ("", "incrowd: bad\n")

    @pytest.mark.parametrize(("code", "status"), [(0, 0), (1, 1), (None, 2), ("text", 2)])
    def test_an_exit_keeps_its_status(self, code, status):
        assert run(failing(SystemExit(code))) == status

    @pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(130)])
    def test_an_interruption_is_130(self, capsys, stop):
        assert run(failing(stop)) == 130
        assert "interrupted" in capsys.readouterr().err

    def test_too_little_memory_says_what_to_do(self, capsys):
        assert run(failing(MemoryError())) == 2
        assert "--memory" in capsys.readouterr().err

    @pytest.mark.parametrize(
        "error", [ZeroDivisionError("by 0"), EOFError("ended"), KeyError("x"), RecursionError()]
    )
    def test_a_fault_of_ours_is_70_and_asks_to_be_reported(self, capsys, monkeypatch, error):
        monkeypatch.delenv("INCROWD_TRACEBACK", raising=False)
        assert run(failing(error)) == 70
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"incrowd: a fault in incrowd itself ({type(error).__name__}")
        assert "Please report it" in err
        assert "Traceback" not in err
        monkeypatch.setenv("INCROWD_TRACEBACK", "1")
        assert run(failing(error)) == 70
        assert "Traceback" in capsys.readouterr().err

    def test_a_fault_in_a_command_is_never_a_no(self, capsys, monkeypatch):
        for error in (EOFError("ended"), ValueError("odd"), AssertionError()):
            monkeypatch.setattr(
                "incrowd.evaluate._verify.run.read_manifest", lambda _, e=error: failing(e)()
            )
            monkeypatch.setattr(sys, "argv", ["incrowd", "verify", "release"])
            assert run(app) == 70
            assert "Aborted" not in capsys.readouterr().out

    def test_a_fault_where_commands_are_loaded_is_70_as_well(self):
        code = "import sys, incrowd.cli as cli; sys.modules['incrowd.cli._app'] = None; cli.main()"
        ended = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code], check=False, capture_output=True, text=True
        )
        assert ended.returncode == 70
        assert "Traceback" not in ended.stderr
        assert "a fault in incrowd itself" in ended.stderr

    def test_warnings_go_to_standard_error(self, capsys):
        run(lambda: warnings.warn("odd", DataWarning, stacklevel=1))
        assert capsys.readouterr() == ("", "warning: odd\n")

    def test_privacy_is_shown_whatever_the_filters_say(self, capsys):
        warnings.simplefilter("ignore")
        run(lambda: warnings.warn("exposed", PrivacyWarning, stacklevel=1))
        assert capsys.readouterr().err == "PRIVACY WARNING: exposed\n"


class TestProgress:
    def test_is_silent_when_quick(self, capsys):
        with progress("Reading", "rows") as update:
            update(5, 10)
        assert capsys.readouterr() == ("", "")

    def test_is_a_line_now_and_then(self, capsys, monkeypatch):
        monkeypatch.setattr("incrowd.cli._console._PATIENCE", 5.0)
        clock = iter([0, 0, 3, 30, 40, 60])
        monkeypatch.setattr("incrowd.cli._console.time.monotonic", lambda: next(clock))
        with progress("Reading", "rows") as update:
            update(0, 10_000)
            update(300, 10_000)
            update(3000, 10_000)
            update(4000, 10_000)
            update(6000)
        assert capsys.readouterr().err.splitlines() == [
            "Reading: 3,000 rows of 10,000, about 70 s more",
            "Reading: 4,000 rows of 10,000, about 60 s more",
            "Reading: 6,000 rows",
        ]

    def test_of_several_stages_no_remaining_time_is_told(self, capsys, monkeypatch):
        # 12 of 200 steps in 15 minutes are 4 hours, unless the slow stage is over then.
        monkeypatch.setattr("incrowd.cli._console._PATIENCE", 5.0)
        clock = iter([0, *range(1, 901, 75)])
        monkeypatch.setattr("incrowd.cli._console.time.monotonic", lambda: next(clock))
        with progress("Reporting", "steps") as update:
            for done in range(1, 13):
                update(done, 200)
        said = capsys.readouterr().err.splitlines()
        assert said[-1] == "Reporting: 12 steps of 200"
        assert not any("more" in line for line in said)

    def test_does_not_take_the_compiler_for_the_rate(self, capsys, monkeypatch):
        monkeypatch.setattr("incrowd.cli._console._PATIENCE", 5.0)
        clock = iter([0, 1, 100, 110])
        monkeypatch.setattr("incrowd.cli._console.time.monotonic", lambda: next(clock))
        with progress("Measuring", "people") as update:
            update(0, 101)
            update(1, 101)
            update(51, 101)
        assert capsys.readouterr().err.splitlines() == [
            "Measuring: 1 person of 101",
            "Measuring: 51 people of 101, about 10 s more",
        ]


class TestWrongUse:
    @pytest.mark.parametrize(
        "words",
        [
            ["nonsense"],
            ["describe"],
            ["describe", "x.csv", "--nonsense"],
            ["describe", "x.csv", "--cell", "wide"],
            ["describe", "x.csv", "--bbox", "1,2,3"],
            ["describe", "x.csv", "--bbox", "a,b,c,d"],
            ["describe", "x.csv", "--window", "2012"],
            ["convert", "x.csv"],
        ],
    )
    def test_is_2_and_says_nothing_on_standard_output(self, words, monkeypatch, capsys):
        monkeypatch.setattr(sys, "argv", ["incrowd", *words])
        assert run(app) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "Traceback" not in err
        assert err


class TestWarnFirstCompile:
    @pytest.mark.parametrize("kept", [True, False])
    def test_tells_of_the_compiler_only_when_it_runs(self, capsys, monkeypatch, kept):
        begun = []
        monkeypatch.setattr("incrowd._numba.is_cached", lambda _: kept)
        monkeypatch.setattr("incrowd._background.compile_ahead", lambda *jobs: begun.append(jobs))
        warn_first_compile("glove")
        assert ("Compiling" in capsys.readouterr().err) is not kept
        assert begun == ([] if kept else [_COMPILED["glove"].ahead])

    @pytest.mark.parametrize("what", _COMPILED)
    def test_knows_kernels_and_jobs_that_there_are(self, what, monkeypatch):
        monkeypatch.setattr("incrowd._background.compile_ahead", lambda *_: None)
        warn_first_compile(what)  # finds the kernel
        for one in _COMPILED[what].ahead:
            module, _, function = one.partition(":")
            assert callable(getattr(importlib.import_module(module), function))

    def test_every_command_names_one(self):
        named = set()
        for file in Path(incrowd.cli.__file__).parent.glob("*.py"):
            text = file.read_text(encoding="utf-8")
            named.update(
                re.findall(r'(?:on_first_progress|warn_first_compile)\(.*?"(\S+)"\)', text)
            )
        assert named | set(MECHANISMS) >= set(_COMPILED) >= named

    def test_says_nothing_of_what_it_does_not_know(self, capsys):
        warn_first_compile("toy")
        assert capsys.readouterr().err == ""

    def test_finds_what_is_kept(self):
        from incrowd._numba import is_cached, kernel

        @kernel
        def never():
            return 1

        assert not is_cached(never)


class TestInterruptedWhileLoading:
    def test_is_130_and_one_message(self):
        code = (
            "import sys\n"
            "import incrowd.cli\n"
            "class Interrupted:\n"
            "    def find_spec(self, name, *rest):\n"
            "        if name == 'incrowd.cli._app':\n"
            "            raise KeyboardInterrupt\n"
            "sys.meta_path.insert(0, Interrupted())\n"
            "incrowd.cli.main()\n"
        )
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, check=False, capture_output=True, text=True)  # noqa: S603
        assert (done.returncode, done.stdout) == (130, "")
        assert done.stderr == "incrowd: interrupted\n"

    def test_nothing_heavy_is_loaded_before(self):
        code = (
            "import sys; before = set(sys.modules); import incrowd.cli;"
            "print(sorted(name for name in set(sys.modules) - before if 'incrowd' in name))"
        )
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, check=True, capture_output=True, text=True)  # noqa: S603
        light = [
            "incrowd", "incrowd._interrupted", "incrowd._lazy", "incrowd._version",
            "incrowd._visible", "incrowd.cli", "incrowd.errors",
        ]  # fmt: skip
        assert done.stdout == f"{light}\n"

    @pytest.mark.parametrize("words", [["--help"], ["describe", "nothing.csv"]])
    def test_at_any_moment_of_the_first_300_ms(self, words, tmp_path):
        """From the first line of incrowd on; before it, Python answers by itself."""
        command = tmp_path / "incrowd"
        command.write_text(
            "import sys\n"
            "told = []\n"
            "def hook(event, about):\n"
            # What is imported after the first module of incrowd: from here on it is quiet.
            "    if event == 'import' and about[0] == 'typing' and not told:\n"
            "        told.append(1)\n"
            "        print('.', file=sys.stderr, end='', flush=True)\n"
            "sys.addaudithook(hook)\n"
            "from incrowd.cli import main\n"
            "sys.exit(main())\n"
        )
        statuses = set()
        for delay in range(0, 301, 20):
            with subprocess.Popen(  # noqa: S603
                [sys.executable, command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as process:
                assert process.stderr.read(1) == b"."
                time.sleep(delay / 1000)
                process.send_signal(signal.SIGINT)
                _, told = process.communicate()
            assert b"Traceback" not in told
            statuses.add(process.returncode)
        # Where the machine is fast, the command is done before the last of them.
        # By the signal itself, where Python is about to end; a shell makes 130 of that.
        assert {130} <= statuses <= {0, 4, 130, -signal.SIGINT}

    def test_a_library_leaves_signals_as_they_are(self):
        code = "import signal, incrowd; print(signal.getsignal(signal.SIGINT).__name__)"
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, check=True, capture_output=True, text=True)  # noqa: S603
        assert done.stdout == "default_int_handler\n"


def stopped(work, *words):
    """Run a command that is sent a signal in the midst of its work."""
    code = (
        "import os, signal, sys, time\n"
        "import incrowd.cli as cli\n"
        "import incrowd.cli._app as commands\n"
        "def send(): os.kill(os.getpid(), getattr(signal, sys.argv[1]))\n"
        f"def app():\n{textwrap.indent(textwrap.dedent(work), '    ')}\n"
        "commands.app = app\n"
        "cli.main()\n"
    )
    begun = time.monotonic()
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    assert time.monotonic() - begun < 15
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGINT", 130)])
class TestStopped:
    said: ClassVar = {130: "incrowd: interrupted; ", 143: "incrowd: terminated; "}

    def ends(self, work, name, status):
        found, out, err = stopped(work, name)
        assert (found, err) == (
            status,
            f"{self.said[status]}no incomplete output was left behind\n",
        )
        return out

    def test_is_cleaned_up(self, name, status):
        work = """
            try:
                send()
            finally:
                print('cleaned up')
        """
        assert self.ends(work, name, status) == "cleaned up\n"

    @pytest.mark.parametrize("error", ["SystemError", "AttributeError", "ValueError"])
    def test_whatever_a_library_makes_of_it(self, name, status, error):
        work = f"""
            try:
                send()
            except BaseException as error:
                raise {error}('returned a result with an exception set') from None
        """
        assert self.ends(work, name, status) == ""

    def test_whatever_of_ours_it_is_taken_for(self, name, status):
        work = """
            from incrowd.errors import VerificationError
            try:
                send()
            except BaseException:
                raise VerificationError('no', None)
        """
        self.ends(work, name, status)

    def test_though_it_is_swallowed(self, name, status):
        work = """
            try:
                send()
            except BaseException:
                pass
            print('done')
        """
        assert self.ends(work, name, status) == "done\n"

    def test_at_once_though_it_is_swallowed(self, name, status):
        work = """
            try:
                send()
            except BaseException:
                pass
            time.sleep(60)
        """
        self.ends(work, name, status)

    def test_at_once_where_nothing_can_be_raised(self, name, status):
        work = """
            class Late:
                def __del__(self):
                    send()
            Late()
            time.sleep(60)
        """
        self.ends(work, name, status)

    def test_cleaning_up_is_not_disturbed(self, name, status):
        work = """
            try:
                send()
            finally:
                time.sleep(2)
                print('cleaned up')
        """
        assert self.ends(work, name, status) == "cleaned up\n"


def test_a_signal_that_is_ignored_stays_ignored():
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "import incrowd.cli as cli\n"
        "import incrowd.cli._app as commands\n"
        "commands.app = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
        "cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
class TestFullOutput:
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    @pytest.mark.parametrize("both", [False, True])
    def test_of_an_error_keeps_its_status(self, unbuffered, both):
        words = [sys.executable, "-m", "incrowd", "describe", "nofile.csv", "--json"]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(  # noqa: S603
                words,
                check=False,
                stdout=full,
                stderr=full if both else subprocess.PIPE,
                text=True,
                env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            )
        assert done.returncode == 4
        assert both or done.stderr == "incrowd: nofile.csv does not exist\n"
