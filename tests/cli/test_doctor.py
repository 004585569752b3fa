"""`reportgen doctor`: what it prints, and how it ends."""

from __future__ import annotations

import json

import pytest

from reportgen.collect import probe
from tests.cli.conftest import Run
from tests.collect.test_doctor import ALL, NOTHING


def test_doctor_says_what_can_be_measured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "Probe", lambda: ALL)
    ran = run("doctor")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "GPU            ok       NVIDIA H200, 139.7 GiB, compute capability 9.0"
    assert "ncu    can measure default, strict, continuous, continuous-strict\n" in ran.out
    assert "mend" not in ran.out


def test_doctor_ends_with_3_when_nothing_can_be_measured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "Probe", lambda: NOTHING)
    ran = run("doctor")

    assert (ran.code, ran.err) == (3, "")
    assert ran.out.splitlines()[1].strip() == "mend: use --backend torch to measure on the CPU"
    assert ran.out.endswith("torch  cannot measure: see torch\n")


def test_doctor_as_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "Probe", lambda: NOTHING)
    ran = run("doctor", "--json")
    facts = json.loads(ran.out)

    assert ran.code == 3
    assert facts["checks"][0] == {
        "name": "GPU",
        "state": "lacking",
        "found": "NVML sees no GPU",
        "mend": "use --backend torch to measure on the CPU",
    }
    assert [backend["backend"] for backend in facts["backends"]] == ["ncu", "cupti", "torch"]
    assert facts["backends"][2] == {"backend": "torch", "lacks": ["torch"], "unsure": [], "scenarios": [], "can": False}
