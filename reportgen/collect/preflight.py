"""Look before measuring: what a backend needs of the machine, and the mend for each lack, as `doctor` tells them."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.collect import doctor
from reportgen.collect.probe import Probe
from reportgen.evidence.errors import EnvironmentLacks


def check(backends: Sequence[str], probe: Probe | None = None) -> None:
    """Raise `EnvironmentLacks` for the first thing that a backend lacks; nothing falls back in silence.

    Without the right to read the counters, ncu stops only a collection that has no other backend: beside another its
    steps end as `not permitted`.
    """
    machine = Probe() if probe is None else probe
    for backend in backends:
        for name in doctor.NEEDS[backend]:
            if name == "counters" and set(backends) != {"ncu"}:
                continue
            found = doctor.check(name, machine)
            if found.state == "lacking":
                what = f"the backend '{backend}' cannot measure here: {name}: {found.found}"
                other = "" if backend == "torch" or "--backend torch" in found.mend else "; or use --backend torch"
                raise EnvironmentLacks(None, what, f"{found.mend}{other}")
