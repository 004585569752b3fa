"""Tests that need an NVIDIA GPU and its profilers: skipped with the reason where one is missing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from reportgen.collect import preflight
from reportgen.evidence.errors import EnvironmentLacks
from tests.gpu.harness import RESULTS, Keep


@pytest.fixture(scope="session", autouse=True)
def gpu() -> None:
    """Skip without a GPU; where REPORTGEN_GPU_EXPECTED is set, a lack is a failure."""
    try:
        preflight.check(("ncu", "cupti"))
    except EnvironmentLacks as lack:
        if os.environ.get("REPORTGEN_GPU_EXPECTED"):
            pytest.fail(str(lack))
        pytest.skip(str(lack))


@pytest.fixture(scope="session")
def keep(tmp_path_factory: pytest.TempPathFactory) -> Keep:
    """Return what adds figures to `gpu-results.jsonl`, in the folder REPORTGEN_GPU_OUT."""
    asked = os.environ.get("REPORTGEN_GPU_OUT")
    folder = Path(asked) if asked else tmp_path_factory.mktemp("gpu")
    folder.mkdir(parents=True, exist_ok=True)

    def add(name: str, **figures: Any) -> None:
        with (folder / RESULTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, **figures}, ensure_ascii=False) + "\n")

    return add
