"""All charts of a report, in the order of the page."""

from collections.abc import Mapping
from typing import Any

from incrowd.report._figures.chart import CLASSES, LIGHT, Chart, solid
from incrowd.report._figures.exposure import exposure_charts
from incrowd.report._figures.utility import left_charts

__all__ = [
    "CLASSES",
    "LIGHT",
    "Chart",
    "charts",
    "solid",
]


def charts(numbers: Mapping[str, Any]) -> list[Chart]:
    """Give every chart for which there are numbers."""
    found = [*exposure_charts(numbers), *left_charts(numbers)]
    return [chart for chart in found if chart is not None]
