"""Which kernels belong to a region: ncu, CUPTI and torch.profiler count the same, each in a process of its own."""

from __future__ import annotations

import json

import pytest

from tests.gpu.harness import SUITES, TIME, Collected, Keep, collect, script

pytestmark = pytest.mark.gpu
REGIONS = ("split-k", "backward", "graph", "streams", "triton", "large")
RUNS = 3
Counts = dict[str, list[int]]  # by annotation, one for each run


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    options = ("--backend", "ncu", "--backend", "cupti", "--scenario", "default", "--runs", str(RUNS))
    return collect("probe", tmp_path_factory.mktemp("probe"), *options)


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Counts:
    folder = tmp_path_factory.mktemp("profiler")
    out = folder / "counts.json"
    # The profiler starts many times, beside CUDA graphs: it must not let go of CUPTI in between.
    environment = {"TEARDOWN_CUPTI": "0"}
    script("count_kernels.py", folder, str(SUITES / "probe.py"), str(out), str(RUNS), environment=environment)
    return {str(name): list(counts) for name, counts in json.loads(out.read_bytes()).items()}


def _counts(probe: Collected, backend: str) -> Counts:
    """Return how many kernels each run of each region has; copies and fills are none."""
    frame = probe.samples
    kernel = ~frame["kernel"].str.startswith("[") & (frame["kernel"] != "")
    chosen = frame[(frame["backend"] == backend) & (frame["metric"] == TIME) & (frame["state"] == "ok") & kernel]
    sizes = chosen.groupby(["annotation", "run"]).size()
    return {name: [int(n) for n in sizes[name]] for name in sizes.index.get_level_values(0).unique()}


def test_every_region_is_measured(probe: Collected, keep: Keep) -> None:
    keep("probe", states=dict(probe.states), faults=probe.faults, seconds=round(probe.seconds, 2))

    assert not probe.faults


@pytest.mark.parametrize("region", REGIONS)
def test_three_ways_to_count_agree(probe: Collected, profiled: Counts, region: str, keep: Keep) -> None:
    found = {backend: _counts(probe, backend).get(region, []) for backend in ("ncu", "cupti")}
    found["torch.profiler"] = profiled.get(region, [])
    keep(f"kernels/{region}", **found)

    assert all(len(counts) == RUNS for counts in found.values()), found
    assert len({count for counts in found.values() for count in counts}) == 1, found
    assert found["ncu"][0] >= {"split-k": 2, "backward": 2, "graph": 2, "streams": 2, "large": 2}.get(region, 1)
