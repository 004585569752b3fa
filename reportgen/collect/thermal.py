"""Wait for a hot GPU before a run, so that heat is no hidden axis; what was waited is kept with the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reportgen.collect.nvml import Sensors
from reportgen.suite import Thermal

_WAIT_BELOW, _RESUME_BELOW = 5.0, 15.0  # degrees below the GPU's own limit
_STEP = 0.25


@dataclass(frozen=True, slots=True)
class Gate:
    """Waits once the GPU has reached `wait` degrees Celsius until it is down to `resume`; `why_not` says why it cannot."""

    wait: float
    resume: float
    timeout: float
    why_not: str = ""

    def pass_through(
        self,
        temperature: Callable[[], float | None],
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> dict[str, Any]:
        """Wait if it is too hot; return what the run's lines are to say of it."""
        if self.why_not:
            return {"thermal": self.why_not}
        begin, now = clock(), temperature()
        if now is None or now < self.wait:
            return {}
        while now is not None and now > self.resume and clock() - begin < self.timeout:
            sleep(_STEP)
            now = temperature()
        waited = clock() - begin
        found: dict[str, Any] = {"waited_s": round(waited, 3)}
        if now is not None and now > self.resume:
            found["thermal"] = f"still {now:g} °C after {waited:.0f} s of waiting"
        return found


def gate(asked: Thermal | None, sensors: Sensors) -> Gate | None:
    """Return the gate that a benchmark asks for, with the limit of this GPU where it names none."""
    if asked is None:
        return None
    if asked.wait is not None and asked.resume is not None:
        return Gate(asked.wait, asked.resume, asked.timeout, sensors.reason)
    limit = sensors.slowdown_c()
    if limit is None:
        return Gate(0.0, 0.0, asked.timeout, sensors.reason or "NVML does not tell the GPU's own limit")
    return Gate(limit - _WAIT_BELOW, limit - _RESUME_BELOW, asked.timeout)
