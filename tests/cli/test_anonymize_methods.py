import json

import polars as pl
import pytest

from incrowd.data._manifest import read_manifest
from incrowd.errors import PrivacyWarning

METHODS = {
    "filter": ("--at-most", "2"),
    "cloak": ("--cloak", "60"),
    "generalise": ("--metres", "1000", "--minutes", "30"),
    "geo-i": ("--epsilon", "low"),
    "w4m": ("--k", "2", "--delta", "500", "--trash", "0"),
}
EACH = pytest.mark.parametrize("method", METHODS)
pytestmark = pytest.mark.filterwarnings(f"always::{PrivacyWarning.__module__}.PrivacyWarning")


@pytest.fixture
def anonymize(incrowd, city, tmp_path, monkeypatch):
    """Anonymize the city into `release`."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        return incrowd("anonymize", city, "-o", "release", *words)

    return command


class TestMethods:
    @EACH
    def test_publishes_says_what_is_promised_and_warns_once(self, anonymize, tmp_path, method):
        status, out, err = anonymize("--method", method, *METHODS[method])
        assert status == 0
        assert [entry.name for entry in tmp_path.iterdir()] == ["release"]
        assert err.count("PRIVACY WARNING") == 1
        assert "have a record that nobody shares" in err
        lines = out.splitlines()
        assert lines[0] == "people                40 of 40 are published"
        assert lines[1].startswith("people alone          ")
        assert "have a record that nobody shares" in lines[1]
        assert "It does not protect against\n- record linkage" in out
        assert "crowds of" not in out
        assert "k" not in read_manifest(tmp_path / "release").settings

    @EACH
    def test_says_it_to_machines(self, anonymize, method):
        status, out, _ = anonymize("--method", method, *METHODS[method], "--json")
        found = json.loads(out)
        assert (status, found["ok"]) == (0, True)
        assert found["verification"]["k"] is None
        [crowds] = [
            check for check in found["verification"]["checks"] if check["name"] == "k-anonymity"
        ]
        assert crowds["ok"] is None
        assert crowds["figures"]["people"] == 40

    @EACH
    def test_is_verified_again_by_the_command_that_is_printed(self, anonymize, incrowd, method):
        words = ("--method", method, *METHODS[method], "--record", "who.parquet", "--tz", "UTC")
        _, out, _ = anonymize(*words)
        assert len(pl.read_parquet("who.parquet")) == 40
        [again] = [line for line in out.splitlines() if line.startswith("Verify it again")]
        assert again.endswith("--record who.parquet")  # which knows how the original was read
        assert "--method" not in again
        status, said, _ = incrowd(*again.partition("incrowd ")[2].split())
        assert status == 0
        assert "membership    ok" in said

    @EACH
    def test_k_is_refused_by_verify(self, anonymize, incrowd, method):
        anonymize("--method", method, *METHODS[method])
        status, out, _ = incrowd("verify", "release")
        assert status == 0
        assert "It is not promised" in out
        status, out, _ = incrowd("verify", "release", "--k", "2")
        assert status == 1
        assert "k-anonymity   FAILED" in out

    @pytest.mark.parametrize(
        ("given", "minutes"),
        [("hour", 60.0), ("day", 1440.0), ("week", 10_080.0), ("month", 43_200.0), ("all", "all"),
         ("90", 90.0)],
    )  # fmt: skip
    def test_spans_have_names(self, anonymize, given, minutes):
        status, out, _ = anonymize("--method", "cloak", "--cloak", given, "--json")
        assert status == 0
        assert json.loads(out)["settings"]["minutes"] == minutes

    @pytest.mark.parametrize(
        ("given", "epsilon"),
        [("low", 0.01), ("medium", 0.004), ("high", 0.001), ("0.02", 0.02), ("5e-3", 0.005)],
    )
    def test_epsilons_have_names(self, anonymize, given, epsilon):
        status, out, _ = anonymize("--method", "geo-i", "--epsilon", given, "--json")
        assert status == 0
        assert json.loads(out)["settings"]["epsilon"] == epsilon
        assert "under composition" in json.loads(out)["fails_against"][-1]

    def test_seeded_noise_is_a_test_and_said_to_be(self, anonymize):
        words = ("--method", "geo-i", "--epsilon", "low", "--noise-seed", "5")
        status, out, err = anonymize(*words)
        assert status == 0
        assert "PRIVACY WARNING: seeded noise can be drawn again" in err
        assert "It protects against\n- nothing\n" in out

    def test_overwrites_only_when_told_to(self, anonymize):
        assert anonymize("--method", "cloak", "--cloak", "60")[0] == 0
        assert anonymize("--method", "cloak", "--cloak", "day")[0] == 2
        assert anonymize("--method", "cloak", "--cloak", "day", "--overwrite")[0] == 0

    def test_one_that_fails_ends_with_the_status_for_no(self, anonymize, monkeypatch, tmp_path):
        monkeypatch.setattr(
            "incrowd.evaluate._verify.promises._off_grid", lambda edges, *_: edges < 2**31
        )
        status, out, err = anonymize("--method", "cloak", "--cloak", "60")
        assert status == 1
        assert "promise       FAILED" in out
        assert "did not pass its verification (promise)" in err
        assert list(tmp_path.iterdir()) == []


class TestWrongUse:
    @pytest.mark.parametrize(
        ("words", "says"),
        [
            ("--method cloak --cloak 60 --k 3",
             "--k belongs to --method glove or w4m or tga, not to cloak, which hides nobody"),
            ("--method filter --at-most 3 --variant loose", "--variant belongs to --method glove"),
            ("--epsilon 0.01", "--epsilon belongs to --method geo-i, not to glove"),
            ("--k 2 --at-most 3", "--at-most belongs to --method filter, not to glove"),
            ("--method geo-i --epsilon low --cloak 60", "--cloak belongs to --method cloak"),
            ("--method generalise --metres 500 --max-minutes 3", "--max-minutes belongs to"),
            ("--method filter", "--method filter needs --at-most 3"),
            ("--method cloak", "--method cloak needs --cloak 60"),
            ("--method generalise", "needs --metres 1000 or --minutes 60 or both"),
            ("--method geo-i", "--method geo-i needs --epsilon 0.01"),
            ("--method geo-i --noise-seed 1", "--method geo-i needs --epsilon 0.01"),
            ("--method geo-i --epsilon 0", "a finite number above 0, in 1/m, or low, medium, high"),
            ("--method geo-i --epsilon -0.1", "not '-0.1'"),
            ("--method geo-i --epsilon nan", "not 'nan'"),
            ("--method geo-i --epsilon inf", "not 'inf'"),
            ("--method cloak --cloak soon", "or hour, day, week, month, or all, not 'soon'"),
            ("--method cloak --cloak -60", "not '-60'"),
            ("--method cloak --cloak 0.5", "0.5 min is finer than the data"),
            ("--method cloak --cloak 1.5", "1.5 min is no whole multiple"),
            ("--method cloak --cloak 60 --slot 7200", "60 min is finer than the data"),
            ("--method generalise --metres 50", "50 m is finer than the data"),
            ("--method generalise --metres 250", "250 m is no whole multiple"),
            ("--method w4m", "--method w4m needs --k 2 --delta 2000 (in metres)"),
            ("--method w4m --k 41 --delta 9", "--k is 41 and the data has only 40 people"),
            ("--method w4m --k 1 --delta 9", "--k must be at least 2, not 1"),
            ("--method w4m --k 2 --delta 0", "--delta must be above 0, not 0"),
            ("--method w4m --k 2 --delta inf", "--delta must be finite, not inf"),
            ("--method w4m --k 2 --delta 9 --radius-max 1", "--radius-max = 1 m can never grow"),
            ("--method w4m --k 2 --delta 9 --trash 1", "--trash must be a share from 0 to below 1"),
            ("--method w4m --k 2 --delta 9 --cap 0", "--cap must be at least 1, not 0"),
            ("--method w4m --k 2 --delta 9 --chunked 1", "--chunked takes yes or no, not '1'"),
            ("--method filter --at-most 0", "--at-most must be at least 1, not 0"),
            ("--method filter --at-most 4000", "spatial filtering left nothing to publish"),
        ],
    )  # fmt: skip
    def test_is_said_and_leaves_nothing(self, anonymize, tmp_path, words, says):
        status, out, err = anonymize(*words.split())
        assert (status, out) == (2, "")
        assert says in err
        assert list(tmp_path.iterdir()) == []

    def test_unknown_methods_are_refused(self, anonymize):
        status, _, err = anonymize("--method", "w5m")
        assert status == 2
        assert "geo-i" in err
