import incrowd as library


class TestDemo:
    def test_makes_describes_and_writes_a_city(self, incrowd, tmp_path):
        folder = tmp_path / "new" / "demo"
        status, out, _ = incrowd("demo", "-o", folder, "--users", 20)
        assert status == 0
        assert "20 people, none of them real" in out
        assert len(library.read(folder / "city.parquet")) == 20

    def test_can_be_run_again(self, incrowd, tmp_path):
        for _ in range(2):
            assert incrowd("demo", "-o", tmp_path, "--users", 5)[0] == 0
