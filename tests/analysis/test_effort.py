from __future__ import annotations

from reportgen.analysis import effort
from reportgen.analysis.derive import TIME
from reportgen.analysis.measurements import Measurements
from reportgen.evidence import provenance
from reportgen.evidence.bundle import BundleInfo
from reportgen.evidence.sensed import Process, Reading, Sensed
from tests.analysis.building import runs, table


def test_what_measuring_took_adds_up_for_each_backend() -> None:
    processes = [Process("cupti", "default", p, 1.5, 250, Reading(), Reading()) for p in range(3)]
    processes.append(Process("ncu", "default", 0, 40.0, 10, Reading(), Reading()))
    info = BundleInfo("mine", "Mine", "20261201T000000Z", "complete")
    facts = provenance.from_facts({}, "not said")
    of = Measurements(table(runs({TIME: [1.0]})), info, facts, Sensed((), tuple(processes)))
    assert (effort.seconds(of, "cupti"), effort.regions(of, "cupti"), effort.processes(of, "cupti")) == (4.5, 750, 3)
    assert (effort.seconds(of, "torch"), effort.processes(of, "torch")) == (0, 0)
