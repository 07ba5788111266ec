import tempfile

from incrowd.report import _make as module
from incrowd.report import _warmup as warmup


def test_makes_a_whole_report_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made, make = [], module.make
    monkeypatch.setattr(
        module, "make", lambda *given, **how: made.append(make(*given, **how, targets=3))
    )
    warmup.warm()
    assert list(tmp_path.iterdir()) == []
    [report] = made
    missing = [name for name, part in report.numbers.as_dict().items() if part is None]
    assert missing == ["title"]  # nothing was skipped, so that nothing is left to be compiled
    assert report.numbers.utility.persons is not None
