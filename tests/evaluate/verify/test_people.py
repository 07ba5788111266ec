"""Crowds are of people, and not of identifiers: from reading to the verified release."""

import polars as pl
import pytest

import incrowd
from incrowd.data._original import reading_of
from incrowd.errors import SamePersonWarning, UnreadableError


@pytest.fixture
def twice(tmp_path):
    """Make people of whom each is there under two numbers; and the table that says so."""
    city = incrowd.synthesize("city", users=8, seed=7).to_pandas()
    rows = pl.from_pandas(city[["user", "t_start", "lat", "lon"]]).rename({"t_start": "time"})
    number = pl.lit("07") + pl.col("user").cast(pl.String).str.zfill(8)
    first = rows.with_columns(number.alias("user"))
    second = first.with_columns((pl.lit("+225") + pl.col("user")).alias("user"))
    pl.concat([first, second]).write_parquet(tmp_path / "calls.parquet")
    names = first["user"].unique(maintain_order=True)
    users = pl.concat([names, pl.Series("user", [f"+225{name}" for name in names])])
    table = pl.DataFrame({"user": users, "person": pl.concat([names, names]).alias("person")})
    table.write_csv(tmp_path / "persons.csv")
    return tmp_path


def published(folder, **how):
    data = incrowd.read(folder / "calls.parquet", **how)
    release = incrowd.glove(data, k=2)
    incrowd.publish(
        release, folder / "release", original=data, record=folder / "who.parquet", draws=20
    )
    return data


class TestByPerson:
    def test_people_and_identifiers_are_counted(self, twice):
        data = published(twice, same_person=twice / "persons.csv")
        found = incrowd.verify(
            twice / "release", original=data, record=twice / "who.parquet", draws=20
        )
        assert found.ok
        assert found["people"].says == (
            "8 people, a few of them under several identifiers; every crowd has 2 people or more."
        )
        assert found["people"].figures["smallest"] == 2

    def test_many_are_counted_exactly(self, twice, monkeypatch):
        monkeypatch.setattr("incrowd.evaluate._verify.people.is_few", lambda count: 0 < count < 5)
        data = published(twice, same_person=twice / "persons.csv")
        found = incrowd.verify(twice / "release", original=data, draws=20)
        assert found["people"].says == "8 people under 16 identifiers; no more records than people."

    def test_the_record_leads_from_an_identifier_to_its_record(self, twice):
        published(twice, same_person=twice / "persons.csv")
        record = pl.read_parquet(twice / "who.parquet")
        assert record.columns == ["user", "trajectory", "person", "identifiers"]
        mine = record.filter(pl.col("identifiers").list.contains("+2250700000003"))
        assert mine["user"].to_list() == ["0700000003"]

    def test_it_is_read_so_again(self, twice):
        published(twice, same_person=twice / "persons.csv")
        known = reading_of(twice / "who.parquet")
        assert known.options["same_person"] == str(twice / "persons.csv")
        assert "--same-person" in known.words()
        found = incrowd.verify(twice / "release", record=twice / "who.parquet", draws=20)
        assert found.ok
        assert found["people"].ok

    def test_a_column_is_read_so_again(self, twice):
        rows = pl.read_parquet(twice / "calls.parquet")
        rows.with_columns(pl.col("user").str.slice(-10).alias("who")).write_parquet(
            twice / "calls.parquet"
        )
        published(twice, person_of="who")
        assert incrowd.verify(twice / "release", record=twice / "who.parquet", draws=20).ok

    @pytest.mark.parametrize("gone", [True, False])
    def test_a_table_that_changed_or_is_gone_is_refused(self, twice, gone):
        published(twice, same_person=twice / "persons.csv")
        table = twice / "persons.csv"
        if gone:
            table.unlink()
        else:
            table.write_text(table.read_text() + "x,y\n")
        with pytest.raises(UnreadableError, match=r"table of persons.*--same-person"):
            incrowd.verify(twice / "release", record=twice / "who.parquet", draws=20)


class TestByIdentifier:
    def test_crowds_that_reach_k_only_by_counting_identifiers_fail(self, twice):
        with pytest.warns(SamePersonWarning, match="16 of 16 identifiers may be only 8 people"):
            published(twice)
        data = incrowd.read(twice / "calls.parquet", same_person=twice / "persons.csv")
        for record in (None, twice / "who.parquet"):
            found = incrowd.verify(twice / "release", original=data, record=record, draws=20)
            assert not found.ok
            assert not found["people"].ok
        assert found["people"].figures["below_k"] == 8
        assert "only by counting identifiers" in found["people"].says
        assert found["membership"].ok is None

    def test_a_record_without_identifiers_is_still_read(self, twice):
        with pytest.warns(SamePersonWarning):
            published(twice)
        assert pl.read_parquet(twice / "who.parquet").width == 3
        found = incrowd.verify(twice / "release", record=twice / "who.parquet", draws=20)
        assert found.ok
        assert "people" not in [check.name for check in found.checks]
