"""What a newcomer without a GPU does first: the shipped suites on the CPU, from the command line to the dossier."""

from __future__ import annotations

import html
import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from reportgen.evidence.bundle import open_bundle
from reportgen.evidence.verify import verify

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: make torch")

SUITES = Path(__file__).parent.parent / "suites"
WITHIN_S = 60


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reportgen", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["matmul_precision", "fusion", "bandwidth", "bottleneck"])
def test_a_shipped_suite_is_measured_on_the_cpu_within_a_minute(tmp_path: Path, name: str) -> None:
    begin = time.monotonic()
    ran = run(
        "collect", str(SUITES / f"{name}.py"), "--backend", "torch", "--quick", "--out", ".", "--json", folder=tmp_path
    )
    took = time.monotonic() - begin

    assert ran.returncode == 0, ran.stderr
    assert "the formula of" not in ran.stderr
    (made,) = json.loads(ran.stdout)["bundles"]
    assert set(made["states"]) <= {"ok", "skipped"}
    assert made["states"]["ok"] > 100
    assert took < WITHIN_S
    path = tmp_path / made["path"]
    assert verify(path) == ()
    assert open_bundle(path).read(f"data/suite/{name}.py") == (SUITES / f"{name}.py").read_bytes()


def test_the_dossier_of_a_cpu_says_plainly_what_its_times_are(tmp_path: Path) -> None:
    run("collect", str(SUITES / "fusion.py"), "--backend", "torch", "--quick", "--out", "b", folder=tmp_path)
    (bundle,) = (tmp_path / "b" / "fusion").iterdir()
    ran = run("render", str(bundle), "--out", "d", "--format", "html", "--format", "markdown", folder=tmp_path)

    assert ran.returncode == 0, ran.stderr
    for name in ("dossier.html", "dossier.md"):
        text = html.unescape((tmp_path / "d" / name).read_text())
        assert "These are times of PyTorch's operators on the CPU, not of kernels on a GPU" in text
        assert "Collect on a machine with a GPU to measure kernels" in text


def test_selecting_and_repeating_measure_that_much(tmp_path: Path) -> None:
    asked = ("--select", "matmul/fp16,n=128", "--runs", "2", "--processes", "2")
    suite = str(SUITES / "matmul_precision.py")
    ran = run("collect", suite, "--backend", "torch", "--quick", *asked, "--out", ".", folder=tmp_path)
    (bundle,) = (tmp_path / "matmul_precision").iterdir()
    samples = open_bundle(bundle).samples()

    assert ran.returncode == 0, ran.stderr
    assert set(samples["annotation"]) == {"fp16"}
    assert set(samples["param:n"]) == {"128"}
    assert set(zip(samples["process"], samples["run"], strict=True)) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_the_example_of_the_guide_is_measured_as_it_stands(tmp_path: Path) -> None:
    guide = (SUITES.parent / "docs" / "suites.md").read_text()
    (tmp_path / "mine.py").write_text(guide.split("```python\n", 1)[1].split("```", 1)[0])
    ran = run("collect", "mine.py", "--backend", "torch", "--quick", "--out", "bundles", "--json", folder=tmp_path)

    assert ran.returncode == 0, ran.stderr
    (made,) = json.loads(ran.stdout)["bundles"]
    assert set(made["states"]) == {"ok"}
