"""All charts of a report, in the order of the page."""

from incrowd.report._figures.chart import Chart
from incrowd.report._figures.exposure import exposure_charts
from incrowd.report._figures.maps import map_charts
from incrowd.report._figures.utility import utility_charts
from incrowd.report._numbers import Numbers

__all__ = [
    "Chart",
    "charts",
]


def charts(numbers: Numbers) -> list[Chart]:
    """Return every chart for which there are numbers."""
    found = [*exposure_charts(numbers), *utility_charts(numbers), *map_charts(numbers)]
    return [chart for chart in found if chart is not None]
