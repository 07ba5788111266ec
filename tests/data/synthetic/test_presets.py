import numpy as np

from incrowd.data._synthetic.presets import PRESETS, Clock


class TestClock:
    def test_summer_time(self):
        clock = Clock.of(PRESETS["campus"])
        sunday = (np.datetime64("2015-03-29") - np.datetime64("2015-02-02")).astype(int) * 86_400
        hours = np.array([1.5, 2.5, 3.5]) * 3_600 + sunday
        seconds = hours.astype(np.int64)
        assert clock.exists(seconds).tolist() == [True, False, True]
        shown = clock.utc(seconds)[[0, 2]].astype(str).tolist()
        assert shown == ["2015-03-29T00:30:00.000", "2015-03-29T01:30:00.000"]

    def test_weekdays(self):
        assert Clock.of(PRESETS["civ"]).weekday == 0
        assert Clock.of(PRESETS["florence"]).weekday == 6
