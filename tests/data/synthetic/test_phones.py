import numpy as np
import pytest

from incrowd.data._synthetic.phones import log_median
from incrowd.data._synthetic.presets import Activity


def test_the_mean_of_what_is_left_of_the_log_normal():
    activity = Activity(rate=0.75, sigma=1.1, least=14, most=5_000)
    values = np.random.default_rng(0).lognormal(log_median(activity, 336.0), 1.1, 2_000_000)
    kept = values[(values >= 14) & (values <= 5_000)]
    assert kept.mean() == pytest.approx(252, rel=0.01)
