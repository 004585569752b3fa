"""What collecting costs: plain is the same worker with the same plan, synchronisation and sensors, and no profiler."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reportgen.collect import drive
from reportgen.collect.plan import Step
from tests.gpu.harness import SUITES, TIMEOUT_S, Keep, script

pytestmark = pytest.mark.gpu
SUITE = SUITES / "small.py"
ROUNDS = 3  # of plain and CUPTI in turn, each in a process of its own
MOST_MORE, MOST_NS = 0.05, 60_000


@dataclass
class Cost:
    """How long the measured loop took, in ns a region: by profiler, and bare."""

    regions: int = 0
    loops: dict[str, list[float]] = field(default_factory=lambda: {"plain": [], "cupti": []})
    answers_s: dict[str, list[float]] = field(default_factory=lambda: {"plain": [], "cupti": []})
    bare: list[float] = field(default_factory=list)


@pytest.fixture(scope="module")
def cost(tmp_path_factory: pytest.TempPathFactory) -> Cost:
    plan = drive.plan(SUITE, quick=False)
    found = Cost()
    for number in range(ROUNDS):
        for backend in ("plain", "cupti"):
            folder = tmp_path_factory.mktemp(f"{backend}{number}")
            step = Step(backend, "continuous", number)
            answer = drive.measure(step, SUITE, plan, "", "rounds", folder, TIMEOUT_S)
            found.regions = found.regions or int(answer["regions"])
            assert answer["regions"] == found.regions > 0
            found.answers_s[backend].append(round(answer["end"] - answer["start"], 4))
            found.loops[backend].append(_loop_ns(folder / "runs.jsonl") / found.regions)
    folder = tmp_path_factory.mktemp("bare")
    out = folder / "bare.json"
    script("bare_loop.py", folder, str(SUITE), str(out), str(found.regions), "3")
    found.bare = [ns / found.regions for ns in json.loads(out.read_bytes())]
    return found


def _loop_ns(path: Path) -> int:
    """Return the time from the first region's start to the last one's end: warm-up and start-up are apart."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    regions = [line for line in lines if "region" in line]
    return int(regions[-1]["end"]) - int(regions[0]["start"])


def test_cupti_adds_little_to_plain(cost: Cost, keep: Keep) -> None:
    plain, cupti = (statistics.median(cost.loops[backend]) for backend in ("plain", "cupti"))
    keep(
        "cost of CUPTI",
        regions=cost.regions,
        plain_ns=cost.loops["plain"],
        cupti_ns=cost.loops["cupti"],
        ratio=round(cupti / plain, 4),
        answers_s=cost.answers_s,
    )

    assert cupti < (1 + MOST_MORE) * plain


def test_a_region_costs_little(cost: Cost, keep: Keep) -> None:
    plain, bare = statistics.median(cost.loops["plain"]), statistics.median(cost.bare)
    keep("cost of a region", plain_ns=plain, bare_ns=bare, region_ns=plain - bare)

    assert plain - bare < MOST_NS
