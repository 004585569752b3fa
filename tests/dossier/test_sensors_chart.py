from __future__ import annotations

import csv
import io
import math

from reportgen.dossier.charts import sensors
from reportgen.evidence.sensed import Reading, Region

COOL = Reading(1.98e9, 3.2e9, 120.0, 33.0, 0)


def region(run: int, after: Reading = COOL, start: float = math.nan) -> Region:
    end = start + 5e8
    return Region("ncu", "default", 0, "square", "fp32", {"n": "8", "absent": ""}, run, COOL, after, start, end)


def test_where_nothing_was_read_there_is_no_chart() -> None:
    nothing = Region("cupti", "default", 0, "square", "fp32", {}, 0, Reading(), Reading())
    assert sensors.over_time({0: [nothing]}, 1.98e9, "p", "T", "D") is None
    assert sensors.over_time({}, 1.98e9, "p", "T", "D") is None


def test_regions_without_a_time_stand_in_the_order_taken() -> None:
    drawn = sensors.over_time({0: [region(0), region(1)]}, None, "p", "T", "D")
    assert drawn is not None
    assert "regions in the order taken" in drawn.svg
    assert ">rated<" not in drawn.svg
    assert "held back" not in drawn.svg
    rows = list(csv.DictReader(io.StringIO(drawn.data)))
    assert [(row["seconds"], row["run"], row["when"]) for row in rows] == [
        ("", "0", "before"),
        ("", "0", "after"),
        ("", "1", "before"),
        ("", "1", "after"),
    ]
    assert rows[0]["configuration"] == "n = 8"


def test_a_sensor_that_read_nothing_has_no_panel_and_many_processes_are_in_the_data() -> None:
    quiet = Reading(sm_clock_hz=1.5e9)
    only_clock = {
        p: [Region("cupti", "default", p, "b", "a", {}, 0, quiet, quiet, p * 1e9, p * 1e9 + 1)] for p in range(6)
    }
    drawn = sensors.over_time(only_clock, 1.98e9, "p", "T", "D")
    assert drawn is not None
    assert "SM clock (MHz)" in drawn.svg
    assert "power (W)" not in drawn.svg
    assert drawn.svg.count(">process ") == sensors.MOST_PROCESSES
    assert "process 3, from 3 s" in drawn.svg
    assert {row["process"] for row in csv.DictReader(io.StringIO(drawn.data))} == set("012345")
