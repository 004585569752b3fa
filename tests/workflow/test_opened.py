"""The Python API: open a bundle and look at it."""

from __future__ import annotations

from pathlib import Path

import pytest

import reportgen
from reportgen.evidence.errors import UserError
from reportgen.workflow.ingest import ingest

DATA = Path(__file__).parent.parent / "data"


def test_an_opened_bundle_gives_tables_and_provenance(tmp_path: Path) -> None:
    made = ingest([DATA / "matmul.ncu-rep"], tmp_path)

    bundle = reportgen.open_bundle(made.path)

    assert len(bundle.samples) == made.samples
    times = bundle.processed[bundle.processed["Metric"] == "gpu__time_duration.sum"]
    assert dict(zip(zip(times["Annotation"], times["n"], strict=True), times["NumKernels"], strict=True)) == {
        **{("fp32", n): k for n, k in ((256, 2), (512, 2), (1024, 1), (2048, 1))},
        **{("fp16", n): 1 for n in (256, 512, 1024, 2048)},
    }
    assert bundle.provenance.facts["gpu.name"].value == "NVIDIA H200"
    assert "matmul" in repr(bundle)


def test_a_notebook_shows_the_dossier_in_a_closed_frame(tmp_path: Path) -> None:
    bundle = reportgen.open_bundle(ingest([DATA / "thread.ncu-rep"], tmp_path).path)

    shown = bundle._repr_html_()

    assert shown.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown  # escaped within srcdoc


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        reportgen.open_bundle(tmp_path)
