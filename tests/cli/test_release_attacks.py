"""``incrowd attack RELEASE``: what is printed, what is refused, and where things are found."""

import json

import pytest

import incrowd as library
from incrowd.evaluate import RELEASE_ATTACKS


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """Publish a city in threes and in pairs; each with its record where a run puts it."""
    folder = tmp_path_factory.mktemp("months")
    drawn = library.synthesize("city", users=40, seed=7)
    library.write(drawn, folder / "city.parquet")
    city = library.read(folder / "city.parquet", tz="Africa/Abidjan")
    for month, k in (("may", 3), ("june", 2)):
        (folder / month / "private").mkdir(parents=True)
        library.publish(
            library.glove(city, k), folder / month / "release", original=city,
            record=folder / month / "private" / "who.parquet", draws=20,
        )  # fmt: skip
        (folder / month / "run.json").write_text("{}")
    return folder


class TestAttackRelease:
    def test_says_of_each_attack_who_gains_what_and_what_helps(self, incrowd, months):
        status, out, err = incrowd("attack", months / "may")
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0].startswith("people attacked")
        for attack in RELEASE_ATTACKS.values():
            assert attack.label in lines
            assert any(line.startswith(attack.label) and line.endswith(("people", "not tried"))
                       for line in lines)  # fmt: skip
        assert out.count("  Knows: ") == out.count("  What helps: ") == len(RELEASE_ATTACKS)
        assert "It needs another release of the same people (--with)." in out

    def test_a_release_may_be_named_by_itself_with_its_record(self, incrowd, months):
        who = months / "may" / "private" / "who.parquet"
        status, out, _ = incrowd(
            "attack", months / "may" / "release", "--record", who, "--attack", "presence"
        )
        assert status == 0
        assert "Presence in the data" in out
        assert "A member of the crowd" not in out

    def test_figures_are_those_of_the_library(self, incrowd, months):
        status, out, _ = incrowd("attack", months / "may", "--attack", "insider,edges", "--json")
        found = json.loads(out)
        path, who = months / "may" / "release", months / "may" / "private" / "who.parquet"
        expected = library.attack_release(path, ["insider", "edges"], record=who)
        assert status == 0
        assert found["attacks"] == expected.as_dict()["attacks"]
        assert found["tz"] == "Africa/Abidjan"

    def test_every_figure_is_shown_on_request(self, incrowd, months):
        words = ("attack", months / "may", "--attack", "edges")
        short, long = (incrowd(*words, *more)[1] for more in ((), ("--details",)))
        assert "crowds named from 10 samples that are right" in long
        assert "crowds named from 10 samples that are right" not in short

    def test_several_releases_by_the_folders_of_their_runs(self, incrowd, months):
        status, out, _ = incrowd(
            "attack", months / "may", "--with", months / "june", "--attack", "composition"
        )
        assert status == 0
        assert "In 2 releases together" in out

    def test_sensitive_places(self, incrowd, months, tmp_path):
        frame = library.read(months / "city.parquet").frame
        lon, lat = frame.degrees(frame.metres([0]), frame.metres([0]))
        table = tmp_path / "clinics.csv"
        table.write_text(f"name,lat,lon\nclinic,{lat[0]},{lon[0]}\n")
        status, out, _ = incrowd(
            "attack", months / "may", "--attack", "inference", "--places", table, "--details"
        )
        assert status == 0
        assert "holds a sensitive place" in out

    def test_nights_in_utc_are_told(self, incrowd, months, tmp_path):
        city = library.synthesize("city", users=20, seed=7)
        who = tmp_path / "who.parquet"
        library.publish(
            library.glove(city, 2), tmp_path / "release", original=city, record=who, draws=20
        )
        library.write(city, tmp_path / "city.parquet")
        status, _, err = incrowd(
            "attack", tmp_path / "release", "--record", who, "--original",
            tmp_path / "city.parquet", "--attack", "inference",
        )  # fmt: skip
        assert status == 0
        assert "nights and working hours are taken in UTC" in " ".join(err.split())


class TestRefused:
    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (("--attack", "insiders"), "did you mean 'insider'"),
            (("--k", "3"), "--k is for attacks on data"),
            (("--by-name",), "--by-name is for attacks on data"),
            (("--with", "july"), "july"),
            (("--with-record", "x.parquet"), "give one for each"),
            (("--places", "nowhere.csv"), "nowhere.csv"),
            (("--attack-sample", "0"), "--attack-sample"),
        ],
    )
    def test_words_that_mean_nothing(self, incrowd, months, words, text):
        status, out, err = incrowd("attack", months / "may", *words)
        assert (status, out) == (2 if "nowhere.csv" not in words else 4, "")
        assert text in " ".join(err.split())

    def test_options_of_a_release_for_data(self, incrowd, months):
        status, _, err = incrowd("attack", months / "city.parquet", "--details")
        assert status == 2
        assert "--details is for attacks on a release" in " ".join(err.split())

    def test_a_release_without_its_record(self, incrowd, months, tmp_path):
        import shutil

        shutil.copytree(months / "may" / "release", tmp_path / "release")
        status, _, err = incrowd("attack", tmp_path / "release")
        assert status == 2
        assert "--record" in err

    @pytest.mark.parametrize(
        ("table", "text"),
        [
            ("lat,lon\n", "is empty"),
            ("lat\n1\n", "no column 'lon'"),
            ("lat,lon\n91,0\n", "place 1 of the table"),
            ("lat,lon\n1,1\nx,0\n", "place 2 of the table"),
        ],
    )
    def test_places_that_are_none(self, incrowd, months, tmp_path, table, text):
        (tmp_path / "places.csv").write_text(table)
        status, _, err = incrowd("attack", months / "may", "--places", tmp_path / "places.csv")
        assert status in (2, 4)
        assert text in " ".join(err.split())
