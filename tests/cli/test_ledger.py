"""``incrowd anonymize --ledger``, ``incrowd run`` with a ledger, and ``incrowd ledger``."""

import json
import shutil

import polars as pl
import pytest

import incrowd as library
from incrowd.data._ledger import Ledger

TODAY = ["people", "newcomers", "returned", "left", "held_back", "smallest"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make two months of data: some leave, some come."""
    folder = tmp_path_factory.mktemp("months")
    city = library.synthesize("city", users=24, seed=3)
    library.write(city[:20], folder / "march.csv")
    library.write(city[4:], folder / "april.csv")
    return folder


@pytest.fixture
def months(made, tmp_path, monkeypatch):
    for file in made.iterdir():
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def anonymize(incrowd):
    def command(month, *words):
        return incrowd(
            "anonymize", f"{month}.csv", "-o", month, "--ledger", "ledger.parquet", "--quiet",
            "--record", f"who-{month}.parquet", *words,
        )  # fmt: skip

    return command


def sequences():
    return [entry.sequence for entry in Ledger.read("ledger.parquet").entries]


class TestAnonymize:
    def test_month_after_month(self, months, anonymize, incrowd):
        status, out, _ = anonymize("march")
        assert status == 0
        assert "people held back      none of 20, because of earlier releases" in out
        assert "The ledger is ledger.parquet. Keep it for the next release, and do not share" in out
        assert anonymize("april", "--ledger-spare", "0", "--json")[0] == 0
        status, out, _ = incrowd("ledger", "ledger.parquet", "--check", "march", "--check", "april")
        assert status == 0
        assert "ledger.parquet: 2 releases, 24 people, k = 3" in out
        assert "march is release 1: rows and manifest are those that were entered" in out
        assert "guarantee: ok." in out
        status, out, _ = incrowd("ledger", "ledger.parquet", "--json")
        found = json.loads(out)
        assert (status, found["command"], found["ok"], found["k"]) == (0, "ledger", True, 3)
        assert [found["releases"][1][name] for name in TODAY[:4]] == [20, 4, 0, 4]
        assert not [name for name in months.iterdir() if ".part" in name.name]
        assert library.verify(months / "april", record="who-april.parquet").ok

    def test_options_that_do_not_go_together(self, months, anonymize, incrowd):
        assert "--ledger-spare belongs to a ledger; give --ledger" in incrowd(
            "anonymize", "march.csv", "-o", "out", "--ledger-spare", "1"
        )[2].replace("\n", " ")
        status, _, err = anonymize("march", "--merge", "two-stage")
        assert (status, "ledgers need --merge='optimal'" in " ".join(err.split())) == (2, True)
        status, _, err = anonymize("march", "--method", "cloak", "--cloak", "60")
        assert (status, "--ledger belongs to --method glove" in " ".join(err.split())) == (2, True)
        assert anonymize("march", "--k", "3")[0] == 0
        status, _, err = anonymize("april", "--k", "2")
        assert (status, "keeps 3 people in common" in err) == (2, True)

    @pytest.mark.parametrize(
        ("ledger", "says"),
        [("march/ledger.parquet", "lies in a release"), ("who-march.parquet", "cannot be both"),
         ("march.csv", "is a Parquet file"), ("none/ledger.parquet", "does not exist")],
    )  # fmt: skip
    def test_places_that_cannot_be(self, months, incrowd, ledger, says):
        status, _, err = incrowd(
            "anonymize", "march.csv", "-o", "march", "--ledger", ledger, "--record",
            "who-march.parquet",
        )  # fmt: skip
        assert (status, says in " ".join(err.split())) == (2, True)
        assert not (months / "march").exists()

    def test_what_is_no_ledger_is_no_input(self, months, anonymize):
        pl.DataFrame({"user": ["a"]}).write_parquet("ledger.parquet")
        status, _, err = anonymize("march")
        assert (status, "is no ledger of incrowd" in err) == (4, True)

    def test_the_last_is_replaced_and_no_other(self, months, anonymize):
        assert anonymize("march")[0] == 0
        status, _, err = anonymize("march", "--overwrite", "--k", "3")
        assert status == 0
        assert "release 1 of the ledger ledger.parquet is replaced" in " ".join(err.split())
        assert sequences() == [1]
        assert anonymize("april")[0] == 0
        status, _, err = anonymize("march", "--overwrite")
        assert (status, "--withdraw 1 first" in " ".join(err.split())) == (2, True)
        assert sequences() == [1, 2]

    def test_what_a_killed_run_has_left_is_removed(self, months, anonymize, incrowd):
        left = months / ".ledger.parquet.incrowd-part-0123456789ab"
        left.touch()
        words = ("--ledger", "ledger.parquet", "--record", "who.parquet")
        _, _, err = incrowd("anonymize", "march.csv", "-o", "march", *words)
        assert f"{left.name} was left by a run that was killed" in " ".join(err.split())
        assert not left.exists()

    def test_a_new_one_is_said_to_be_new(self, months, incrowd):
        words = ("--ledger", "ledger.parquet", "--record")
        _, _, err = incrowd("anonymize", "march.csv", "-o", "march", *words, "who.parquet")
        assert "there is no ledger ledger.parquet yet; a new one is begun" in " ".join(err.split())
        _, _, err = incrowd("anonymize", "april.csv", "-o", "april", *words, "who2.parquet")
        assert "a new one is begun" not in " ".join(err.split())


class TestLedger:
    def test_what_is_not_there(self, months, incrowd):
        status, _, err = incrowd("ledger", "ledger.parquet")
        assert (status, "there is no such file" in err) == (4, True)
        assert not list(months.glob(".*"))

    def test_a_release_that_it_does_not_know(self, months, anonymize, incrowd):
        assert anonymize("march")[0] == 0
        made = library.glove(library.read("april.csv"), 2)
        library.publish(made, "other", original=library.read("april.csv"), draws=20)
        status, out, _ = incrowd("ledger", "ledger.parquet", "--check", "other", "--json")
        assert (status, json.loads(out)["checked"][0]["release"]) == (1, None)
        status, out, _ = incrowd("ledger", "ledger.parquet", "--check", "nothing")
        assert (status, "nothing cannot be checked" in out) == (1, True)
        rows = months / "march" / "trajectories.parquet"
        rows.write_bytes(rows.read_bytes() + b" ")
        status, out, _ = incrowd("ledger", "ledger.parquet", "--check", "march")
        assert (status, "is not the file that was released" in " ".join(out.split())) == (1, True)

    def test_withdrawing_warns(self, months, anonymize, incrowd):
        assert anonymize("march")[0] == 0
        status, out, err = incrowd("ledger", "ledger.parquet", "--withdraw", "1")
        assert status == 0
        assert "If anybody outside has seen it, restore the ledger" in " ".join(err.split())
        assert "release 1 was withdrawn" in out
        assert sequences() == []
        assert incrowd("ledger", "ledger.parquet", "--withdraw", "1")[0] == 2
        status, _, err = incrowd("ledger", "ledger.parquet", "--withdraw", "1", "--check", "march")
        assert (status, "two things" in err) == (2, True)

    def test_a_guarantee_that_does_not_hold(self, months, anonymize, incrowd):
        assert anonymize("march")[0] == 0
        ledger = Ledger.read("ledger.parquet")
        other = library.glove(library.read("april.csv"), 3)
        ledger.with_release(
            other.assignment, method="", settings={}, held_back=0, manifest_sha256="",
            rows_sha256="", place="",
        ).write()  # fmt: skip
        status, out, _ = incrowd("ledger", "ledger.parquet")
        assert (status, "guarantee: FAILED." in out) == (1, True)


class TestRun:
    @pytest.fixture
    def run(self, months, incrowd):
        """Run with a project file, as every month."""
        (months / "incrowd.toml").write_text(
            '[data]\npath = "march.csv"\ntz = "UTC"\n\n[anonymize]\nledger = "ledger.parquet"\n'
            "k = 2\n\n[report]\nattack_sample = 5\n"
        )

        def command(month, *words):
            return incrowd("run", f"{month}.csv", "--name", month, "--quiet", *words)

        return command

    def test_every_month(self, run, incrowd, months):
        assert run("march")[0] == 3
        assert run("april")[0] == 3
        assert sequences() == [1, 2]
        releases = [f"out/{month}/release" for month in ("march", "april")]
        assert (
            incrowd("ledger", "ledger.parquet", "--check", releases[0], "--check", releases[1])[0]
            == 0
        )
        page = (months / "out" / "april" / "report.html").read_text("utf-8")
        assert "The release was made with a ledger" in page
        # Again: nothing to do, and nothing is entered.
        assert run("april")[0] == 3
        assert sequences() == [1, 2]

    def test_overwriting_replaces_the_entry(self, run):
        assert run("march")[0] == 3
        assert run("march", "--overwrite", "--k", "3")[0] in (0, 3)
        assert sequences() == [1]
        assert run("april", "--k", "3")[0] in (0, 3)
        status, _, err = run("march", "--overwrite", "--k", "4")
        assert (status, "only the last can be replaced" in " ".join(err.split())) == (2, True)
        assert sequences() == [1, 2]

    def test_goes_on_after_an_interruption(self, run, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("incrowd.cli.run._Steps._evaluated", interrupted)
            assert run("march")[0] == 130
        assert sequences() == [1]
        assert run("march")[0] == 3
        assert sequences() == [1]

    def test_an_interrupted_run_of_other_settings_does_not_count(self, run, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("incrowd.cli.run._Steps._evaluated", interrupted)
            assert run("march")[0] == 130
        assert run("march", "--k", "3")[0] in (0, 3)
        assert sequences() == [1]

    def test_the_ledger_lies_outside_of_runs(self, run):
        status, _, err = run("march", "--ledger", "out/march/ledger.parquet")
        assert status == 2
        assert "outside" in " ".join(err.split()) or "does not exist" in err

    def test_what_is_no_ledger_is_told_before_the_data_is_read(self, months, run, monkeypatch):
        (months / "ledger.parquet").write_text("none")
        monkeypatch.setattr("incrowd.cli._options.Source.read", None)
        status, _, err = run("march")
        assert (status, "ledger.parquet" in err) == (4, True)
