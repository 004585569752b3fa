"""The charts that a dossier needs, drawn from groups. Each returns the SVG, and a CSV of just what it shows.

One colour and one marker for one annotation through the whole dossier. Intervals are drawn; an unstable point is hollow; what
failed stands at the foot of its chart.
"""

from reportgen.dossier.charts.bars import bytes_moved, ranked, share_an_axis, tops
from reportgen.dossier.charts.exactness import error_against_speed
from reportgen.dossier.charts.frame import Drawn, Palette, Panel, Sheet, configuration_of, params
from reportgen.dossier.charts.limits import limits
from reportgen.dossier.charts.order import MOST_POINTS, in_order, most_points, thinned
from reportgen.dossier.charts.regions import Regions, regions
from reportgen.dossier.charts.roofline import roofline
from reportgen.dossier.charts.sweeps import Advantage, speedups, sweep

__all__ = [
    "MOST_POINTS",
    "Advantage",
    "Drawn",
    "Palette",
    "Panel",
    "Regions",
    "Sheet",
    "bytes_moved",
    "configuration_of",
    "error_against_speed",
    "in_order",
    "limits",
    "most_points",
    "params",
    "ranked",
    "regions",
    "roofline",
    "share_an_axis",
    "speedups",
    "sweep",
    "thinned",
    "tops",
]
