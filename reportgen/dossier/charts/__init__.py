"""The charts that a dossier needs, drawn from groups. Each returns the SVG, and a CSV of just what it shows.

One colour and one marker for one annotation through the whole dossier. Intervals are drawn; an unstable point is hollow; what
failed stands at the foot of its chart.
"""

from reportgen.dossier.charts.bars import bytes_moved, ranked
from reportgen.dossier.charts.frame import Drawn, Palette
from reportgen.dossier.charts.limits import limits
from reportgen.dossier.charts.order import MOST_POINTS, in_order, most_points, thinned
from reportgen.dossier.charts.sweeps import Advantage, speedups, sweep

__all__ = [
    "MOST_POINTS",
    "Advantage",
    "Drawn",
    "Palette",
    "bytes_moved",
    "in_order",
    "limits",
    "most_points",
    "ranked",
    "speedups",
    "sweep",
    "thinned",
]
