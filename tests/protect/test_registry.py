"""A mechanism, or a guarantee, is one entry: a class, or a value, and nothing else anywhere."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.cli._app import app
from incrowd.cli._console import run
from incrowd.data._manifest import read_manifest
from incrowd.errors import ArgumentError, PrivacyWarning, UnreadableError, VerificationError
from incrowd.evaluate._verify.guarantees import GUARANTEES, Guarantee
from incrowd.evaluate._verify.result import NAMES, failed, passed
from incrowd.protect import MECHANISMS, Mechanism, ProtectionResult, setting
from incrowd.protect._mechanism import Changed, options_of

PEOPLE = 7


@dataclass(frozen=True, slots=True)
class Toy(Mechanism):
    """Everybody in a group of k gets the box around all that the group did."""

    k: int = setting("How many people share a box.", default=2, least=2)
    start: str = setting("Where groups begin.", default="first", choices=("first", "last"))

    method: ClassVar[str] = "toy boxes"
    paper: ClassVar[str] = "none"
    summary: ClassVar[str] = "one box for every k people"
    guarantee: ClassVar[str] = "k-anonymity"

    @property
    def settings(self):
        return {"k": self.k, "start": self.start}

    @property
    def promises(self):
        return (f"record linkage: {self.k} people have the same box",)

    @property
    def limits(self):
        return ("everything else",)

    @property
    def explanation(self):
        return (f"Every {self.k} people were given the box around all of their samples.",)

    def groups(self, people):
        order = np.arange(people) if self.start == "first" else np.arange(people)[::-1]
        number = np.empty(people, np.int64)
        number[order] = np.minimum(np.arange(people) // self.k, people // self.k - 1)
        return number

    def _change(self, data, threads):
        groups = self.groups(len(data))
        of_sample = np.repeat(groups, data.lengths())
        columns = [np.empty(len(data), np.int32) for _ in range(6)]
        for group in np.unique(groups):
            for side, (new, old) in enumerate(zip(columns, data.columns, strict=True)):
                inside = old[of_sample == group]
                new[groups == group] = inside.max() if side % 2 else inside.min()
        offsets = np.arange(len(data) + 1)
        made = incrowd.Trajectories(
            tuple(columns), offsets, data.frame, people=data.people, crowd=data.crowd
        )
        return Changed(made, collapsed=data.samples - len(data))


@dataclass(frozen=True, slots=True)
class Frugal(Toy):
    """Leaves the last sample of everybody out, and calls its settings as GLOVE calls others."""

    said: int | None = None
    method: ClassVar[str] = "frugal boxes"

    @property
    def settings(self):
        words = {"reshape": "split", "max_time": 1, "max_space": 1, "variant": "loose"}
        return {"k": self.k} | words

    def _change(self, data, threads):
        last = data.offsets[1:] - 1
        kept = np.delete(np.arange(data.samples), last)
        offsets = data.offsets - np.arange(len(data) + 1)
        columns = tuple(side[kept] for side in data.columns)
        rest = incrowd.Trajectories(columns, offsets, data.frame, people=data.people)
        boxes = Toy._change(self, rest, threads).trajectories
        number = len(data) if self.said is None else self.said
        return Changed(boxes, suppressed=number, collapsed=data.samples - 2 * len(data))


@dataclass(frozen=True, slots=True)
class Liar(Toy):
    """Promises k, and gives the last person a box of her own."""

    method: ClassVar[str] = "lying boxes"

    def groups(self, people):
        number = Toy.groups(self, people)
        number[-1] = people
        return number


@dataclass(frozen=True, slots=True)
class Modest(Toy):
    """Does the same, and guarantees nothing."""

    method: ClassVar[str] = "modest boxes"
    guarantee: ClassVar[str] = "none"

    @property
    def settings(self):
        return {"start": self.start}


@pytest.fixture
def enter(monkeypatch):
    """Enter a mechanism, for one test."""

    def command(name, mechanism):
        monkeypatch.setitem(MECHANISMS, name, mechanism)

    return command


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Go to a folder with a table of a few people."""
    monkeypatch.chdir(tmp_path)
    rows = [
        (f"person-{who}", f"2024-03-0{1 + day} {8 + who}:0{day}:00", 48.85 + who / 900, 2.35)
        for who in range(PEOPLE)
        for day in range(3)
    ]
    table = pl.DataFrame(rows, schema=["user", "time", "lat", "lon"], orient="row")
    table.write_csv("calls.csv")
    return tmp_path


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command line in this process: status, standard output, standard error."""
    monkeypatch.setattr("incrowd.cli._console.warn_first_compile", lambda *_: False)
    monkeypatch.setattr("incrowd.cli._console._PATIENCE", float("inf"))

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["incrowd", *map(str, words)])
        status = run(app)
        return status, *capsys.readouterr()

    return call


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


class TestMechanisms:
    def test_are_those_that_the_command_line_offers(self, command):
        status, out, _ = command("anonymize", "--help")
        assert status == 0
        assert list(MECHANISMS) == ["glove", "filter", "cloak", "generalise", "geo-i", "w4m", "tga"]
        for name, mechanism in MECHANISMS.items():
            assert f"--method {name}: {mechanism.summary}" in out
            for setting_name, option in options_of(mechanism).items():
                assert option.help
                flag = option.flags[0] if option.flags else f"--{setting_name.replace('_', '-')}"
                assert f"  {flag} " in out

    def test_are_loaded_without_anything_heavy(self):
        heavy = ("numpy", "polars", "pyarrow", "duckdb", "numba", "pyproj", "pandas", "rich")
        code = (
            "import sys, incrowd; incrowd.MECHANISMS; sys.argv = ['incrowd', 'anonymize', '-h']\n"
            "from incrowd.cli._app import app\n"
            "try: app()\n"
            f"finally: print([m for m in {heavy} if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)  # noqa: S603
        assert done.stdout.splitlines()[-1] == b"[]"

    @pytest.mark.parametrize("name", MECHANISMS)
    def test_say_what_they_are(self, name):
        mechanism = MECHANISMS[name]
        assert issubclass(mechanism, Mechanism)
        assert mechanism.method
        assert mechanism.paper
        assert mechanism.summary
        assert mechanism.guarantee in GUARANTEES

    def test_one_without_a_body_says_so(self):
        class Empty(Toy):
            _change = Mechanism._change

        table = {"user": [1], "x0": [0], "y0": [0], "t0": [0]}
        with pytest.raises(NotImplementedError, match="Empty defines neither _change nor protect"):
            Empty().protect(incrowd.Trajectories.from_boxes(table))


class TestOneClass:
    """What is written above, and one entry, are all that a mechanism takes."""

    def test_is_in_the_help(self, enter, command):
        assert "toy" not in command("anonymize", "--help")[1]
        enter("toy", Toy)
        _, out, _ = command("anonymize", "--help")
        assert "--method toy: one box for every k people" in out
        assert "--start <first|last>" in out
        assert "Where groups begin.  [default: first]" in out
        assert re.search(r"Also an option of [\w, -]*\btoy\.", " ".join(out.split()))

    def test_publishes_verifies_and_is_explained(self, enter, command, data):
        enter("toy", Toy)
        words = ("--method", "toy", "--k", 3, "--start", "last", "--record", "who.parquet")
        zone = ("--tz", "UTC")
        status, out, err = command("anonymize", "calls.csv", "-o", "release", *zone, *words)
        assert (status, err) == (0, "")
        assert "7 of 7 are published, in 2 crowds of 3 to 4 people" in out
        assert "It protects against\n- record linkage: 3 people have the same box" in out
        assert "It does not protect against\n- everything else" in out
        manifest = read_manifest(data / "release")
        assert (manifest.method, manifest.guarantee) == ("toy boxes", "k-anonymity")
        assert {"k": 3, "start": "last"}.items() <= manifest.settings.items()
        given = ("--original", "calls.csv", "--record", "who.parquet", "--json")
        status, out, _ = command("verify", "release", *given)
        found = json.loads(out)
        assert (status, found["ok"], found["k"]) == (0, True, 3)
        assert {check["name"]: check["ok"] for check in found["checks"]} == dict.fromkeys(
            NAMES, True
        )
        assert command("verify", "release", "--k", 4)[0] == 1

    def test_is_explained_in_the_report(self, enter, command, data):
        enter("toy", Toy)
        assert command("anonymize", "calls.csv", "-o", "release", "--method", "toy")[0] == 0
        assert command("report", "release", "-o", "page.html")[0] == 3  # k = 2
        told = "Every 2 people were given the box around all of their samples."
        assert told in (data / "page.html").read_text(encoding="utf-8")

    def test_its_settings_may_be_called_as_others_are(self, data):
        """Nothing is read into them that GLOVE would mean; what it leaves out must be counted."""
        people = incrowd.read("calls.csv")
        far = people.t0.copy()
        far[people.offsets[1:] - 1] += 10_000  # where no box of others is
        columns = (*people.columns[:4], far, far + 1)
        lonely = incrowd.Trajectories(columns, people.offsets, people.frame, people=people.people)
        done = incrowd.publish(Frugal().protect(lonely), "release", original=lonely)
        assert done.verification.ok
        found = {check.name: check.figures for check in done.verification.checks}["coverage"]
        assert (found["missed"], found["suppression"]) == (PEOPLE, True)
        for said in (0, PEOPLE - 1, PEOPLE + 1):
            with pytest.raises(VerificationError, match="coverage"):
                incrowd.publish(Frugal(said=said).protect(lonely), "other", original=lonely)

    @pytest.mark.filterwarnings(f"always::{PrivacyWarning.__module__}.PrivacyWarning")
    def test_one_that_lies_about_its_k_publishes_nothing(self, enter, command, data):
        enter("liar", Liar)
        words = ("--method", "liar", "--record", "who.parquet")
        status, out, err = command("anonymize", "calls.csv", "-o", "release", *words)
        assert status == 1
        assert "k-anonymity   FAILED" in out
        assert "1 of 7 people have a record that fewer than 2 share" in out
        assert "did not pass its verification (k-anonymity" in err
        assert names(data) == ["calls.csv"]

    @pytest.mark.filterwarnings(f"always::{PrivacyWarning.__module__}.PrivacyWarning")
    def test_one_that_guarantees_nothing_is_taken_at_its_word(self, enter, command, data):
        enter("modest", Modest)
        status, out, _ = command("anonymize", "calls.csv", "-o", "release", "--method", "modest")
        assert status == 0
        assert "k-anonymity is not promised" in out
        assert read_manifest(data / "release").guarantee == "none"
        status, out, _ = command("verify", "release", "--json")
        checks = {check["name"]: check["ok"] for check in json.loads(out)["checks"]}
        assert (status, checks["promise"], checks["k-anonymity"]) == (0, None, None)

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--k", 1], "--k must be at least 2, not 1"),
            (["--at-most", 3], "--at-most belongs to --method filter, not to toy"),
            (["--checkpoint", "c"], "--checkpoint is for long runs; --method toy keeps none"),
            (["--start", "odd"], "Invalid value for '--start'"),
        ],
    )
    def test_wrong_use_is_said(self, enter, command, data, words, says):
        enter("toy", Toy)
        status, _, err = command("anonymize", "calls.csv", "-o", "out", "--method", "toy", *words)
        assert status == 2
        assert says in err
        assert names(data) == ["calls.csv"]

    def test_its_options_belong_to_it(self, enter, command, data):
        enter("toy", Toy)
        status, _, err = command("anonymize", "calls.csv", "-o", "out", "--start", "last")
        assert status == 2
        assert "--start belongs to --method toy, not to glove" in err

    def test_a_name_that_the_command_has_is_refused(self, enter, command):
        @dataclass(frozen=True)
        class Greedy(Toy):
            tz: str = setting("A zone.", default="UTC")

        enter("greedy", Greedy)
        status, _, err = command("anonymize", "--help")
        assert status == 2
        assert "--tz is an option of the command itself" in err


class TestResults:
    def test_are_of_one_kind(self, data):
        people = incrowd.read("calls.csv")
        gloved = incrowd.Glove(k=2, max_metres=50_000).protect(people)
        for made in (Toy().protect(people), incrowd.Cloak(60).protect(people), gloved):
            assert isinstance(made, ProtectionResult)
            assert made.losses["people_dropped"] == dict(made.losses)["people_dropped"]
        same = incrowd.glove(people, 2, max_metres=50_000)
        assert gloved.trajectories == same.trajectories
        assert gloved.settings == same.settings
        assert gloved.losses == same.losses
        assert (gloved.method, gloved.guarantee) == ("GLOVE", "k-anonymity")


class TestGuarantees:
    def test_one_that_is_not_known_does_not_pass(self, enter, command, data, monkeypatch):
        class Mystery(Toy):
            guarantee: ClassVar[str] = "total secrecy"

        people = incrowd.read("calls.csv")
        says = "states the guarantee 'total secrecy', which this version of incrowd cannot verify"
        with pytest.raises(VerificationError, match=says):
            incrowd.publish(Mystery().protect(people), data / "release", original=people)
        assert names(data) == ["calls.csv"]

    @pytest.mark.parametrize("stated", ["total secrecy", "K-ANONYMITY"])
    def test_nor_does_a_manifest_that_states_one(self, data, stated, command):
        people = incrowd.read("calls.csv")
        done = incrowd.publish(Toy().protect(people), data / "release", original=people, draws=5)
        file = done.path / "manifest.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"guarantee": stated}))
        file.write_text(read_manifest(done.path).to_json())
        found = incrowd.verify(done.path, original=people, draws=5)
        assert not found.ok
        assert [check.name for check in found.failed] == ["guarantee"]
        assert found.claims.startswith("Nothing can be claimed")
        assert found["k-anonymity"].ok is None
        status, out, _ = command("verify", "release", "--k", 2)
        assert status == 1
        assert "guarantee     FAILED" in out

    @pytest.mark.parametrize("stated", [7, ["k-anonymity"]])
    def test_one_that_is_no_text_is_damage(self, data, stated):
        people = incrowd.read("calls.csv")
        done = incrowd.publish(Toy().protect(people), data / "release", original=people, draws=5)
        file = done.path / "manifest.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"guarantee": stated}))
        with pytest.raises(UnreadableError, match="its guarantee cannot be"):
            incrowd.verify(done.path)

    def test_a_release_that_states_none_is_held_to_its_k(self, data):
        class Shy(Liar):
            guarantee: ClassVar[str] = "none"

        people = incrowd.read("calls.csv")
        with (
            pytest.warns(PrivacyWarning, match="1 of 7 people have a record that nobody shares"),
            pytest.raises(VerificationError, match="k-anonymity"),
        ):
            incrowd.publish(Shy().protect(people), data / "release", original=people, draws=5)

    def test_a_new_one_is_one_entry(self, data, monkeypatch):
        """People within a corridor: what a (k, delta) of W4M would ask for, on boxes."""

        def decide(published, manifest, k):
            width = manifest.settings["delta"]
            wide = int((published.boxes[:, 1] - published.boxes[:, 0]).max())
            made = passed if wide <= width else failed
            return (made("corridor", f"The widest box has {wide} cells.", {"wide": wide, "k": k}),)

        corridor = Guarantee(
            read_k=lambda manifest: manifest.settings["k"],
            decide=decide,
            decisive="corridor",
            checks=("files", "rows", "sizes", "names", "corridor", "membership"),
            claim=lambda k: f"{k} people move within each corridor",
        )
        monkeypatch.setitem(GUARANTEES, "corridor", corridor)

        class Corridor(Toy):
            guarantee: ClassVar[str] = "corridor"
            delta: ClassVar[int] = 1000

            @property
            def settings(self):
                return {"k": self.k, "delta": self.delta}

        class Narrow(Corridor):
            delta: ClassVar[int] = 0

        people = incrowd.read("calls.csv")
        done = incrowd.publish(
            Corridor().protect(people), data / "release", original=people, draws=5
        )
        found = done.verification
        assert [check.name for check in found.checks] == list(corridor.checks)
        assert (found.k, found["corridor"].ok, found["membership"].ok) == (2, True, True)
        assert "2 people move within each corridor" in found.claims
        assert str(incrowd.verify(done.path)).startswith("files")
        with pytest.raises(VerificationError, match="corridor: The widest box"):
            incrowd.publish(Narrow().protect(people), data / "other", original=people, draws=5)

    def test_one_whose_check_was_not_made_does_not_pass(self, data, monkeypatch):
        silent = Guarantee(read_k=lambda _: None, decide=lambda *_: (), decisive="nothing")
        monkeypatch.setitem(GUARANTEES, "silent", silent)

        class Silent(Toy):
            guarantee: ClassVar[str] = "silent"

        people = incrowd.read("calls.csv")
        with pytest.raises(VerificationError):
            incrowd.publish(Silent().protect(people), data / "release", original=people, draws=5)

    def test_a_k_that_is_stated_must_be_one(self, data):
        class Vague(Toy):
            @property
            def settings(self):
                return {"k": "two"}

        people = incrowd.read("calls.csv")
        with pytest.raises(ArgumentError, match="states no k"):
            incrowd.publish(Vague().protect(people), data / "release", original=people, draws=5)
