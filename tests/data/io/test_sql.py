import pytest

from incrowd.data._io.sql import Epoch, is_number, quoted, refuse_nested, time_unit
from incrowd.errors import ArgumentError, ColumnError, InputError


class TestTimeUnit:
    @pytest.mark.parametrize(
        ("number", "per_second"),
        [
            ("0", 1),
            ("1325376000", 1),
            ("1325376000.5", 1),
            ("1.3e9", 1),
            ("99999999999", 1),
            ("1325376000000", 10**3),
            ("1325376000000000", 10**6),
            ("1325376000000000000", 10**9),
        ],
    )
    def test_goes_by_the_size_of_numbers(self, number, per_second):
        assert time_unit([number], None, "x").per_second == per_second

    def test_most_values_decide(self):
        assert time_unit(["1325376000000"] * 3 + ["1325376000", "x"], None, "x") == Epoch(
            1000, 1e11
        )
        assert time_unit(["1325376000", "x", "y"], None, "x") is None

    @pytest.mark.parametrize("values", [["2012-03-05"], ["noon"], []])
    def test_text_is_no_number(self, values):
        assert time_unit(values, None, "x") is None

    def test_a_given_unit_is_taken_whatever_the_values(self):
        assert time_unit(["1325376000"], "ms", "x") == Epoch(1000)

    def test_an_unknown_unit_is_refused(self):
        with pytest.raises(ArgumentError, match="s, ms, us or ns"):
            time_unit(["1"], "h", "x")

    @pytest.mark.parametrize("day", ["20120305", "201203050731", "20120305073100"])
    def test_a_number_that_reads_like_a_date_must_be_explained(self, day):
        with pytest.raises(InputError, match="could be a date or seconds since 1970"):
            time_unit([day, day], None, "x")


class TestRefuseNested:
    @pytest.mark.parametrize(
        "kind", ["VARCHAR[]", "STRUCT(a INTEGER)", "MAP(INTEGER, INTEGER)", "BLOB"]
    )
    def test_names_the_column_and_its_role(self, kind):
        with pytest.raises(ColumnError, match=r"x: column 'who' \(user\) holds"):
            refuse_nested({"who": kind}, {"user": "who"}, "x")

    def test_other_columns_may_hold_anything(self):
        refuse_nested({"who": "VARCHAR", "tags": "VARCHAR[]"}, {"user": "who"}, "x")


class TestIsNumber:
    @pytest.mark.parametrize("kind", ["INTEGER", "UBIGINT", "HUGEINT", "DOUBLE", "DECIMAL(18,3)"])
    def test_knows_numbers(self, kind):
        assert is_number(kind)

    @pytest.mark.parametrize("kind", ["VARCHAR", "BOOLEAN", "DATE", "DOUBLE[]"])
    def test_knows_others(self, kind):
        assert not is_number(kind)


class TestQuoted:
    def test_doubles_quotes(self):
        assert quoted('a"b') == '"a""b"'
