"""Sites with small real bundles, rendered by a stand-in that is quick and says what it was asked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reportgen.evidence import provenance, samples
from reportgen.evidence.bundle import BundleInfo, create
from reportgen.publish.site import Built, build


@dataclass
class Renderer:
    """Stands for `dossier.render.pages`."""

    asked: list[tuple[str, str, str, tuple[str, ...]]] = field(default_factory=list)
    title: str = ""
    fails: dict[str, Exception] = field(default_factory=dict)
    templates: Path | None = None

    def __call__(
        self, bundle: Path, tier: str, paper: str, formats: tuple[str, ...], beside: str, templates: Path | None
    ) -> dict[str, bytes]:
        assert beside == "evidence"
        self.templates = templates
        self.asked.append((bundle.name, tier, paper, formats))
        if bundle.name in self.fails:
            raise self.fails[bundle.name]
        info = json.loads((bundle / "data/bundle.json").read_bytes())
        facts = json.loads((bundle / "data/provenance.json").read_bytes())["facts"]
        summary = {
            "title": self.title or info["title"],
            "gpu": facts["gpu.name"]["value"],
            "date": f"{info['start'][6:8]} November 2026",
            "status": info["status"],
            "version": bundle.name.split("-")[-1],
            "lead": "One kernel, one run.",
            "headline": "k takes 1.23 us.",
            "scenarios": sorted(path.name for path in (bundle / "data/samples/ncu").iterdir()),
            "backends": ["ncu"],
        }
        page = f'<!doctype html><title>{bundle.name}</title><h2 id="evidence">Evidence</h2>'
        made = {"dossier.html": page.encode(), "dossier_files/long.csv": b"a\n1\n"}
        if "pdf" in formats:
            made["dossier.pdf"] = b"%PDF-1.7 of " + bundle.name.encode()
        return {**made, "summary.json": json.dumps(summary).encode()}

    @property
    def names(self) -> list[str]:
        return [asked[0] for asked in self.asked]


@pytest.fixture
def renderer(monkeypatch: pytest.MonkeyPatch) -> Renderer:
    renderer = Renderer()
    monkeypatch.setattr("reportgen.dossier.render.pages", renderer)
    return renderer


@dataclass
class Site:
    """A site's folder, and short ways to fill and build it."""

    path: Path

    @property
    def public(self) -> Path:
        return self.path / "public"

    def add(
        self, suite: str = "matmul", day: int = 30, gpu: str = "NVIDIA H200", below: str = "", scenario: str = "default"
    ) -> Path:
        frame = samples.make(
            {
                "suite": suite,
                "benchmark": "b",
                "backend": "ncu",
                "workload": "kernel",
                "scenario": scenario,
                "annotation": "a",
                "run": [0],
                "kernel_index": 0,
                "kernel": "k",
                "metric": ["gpu__time_duration.sum"],
                "value": [1234.5],
                "unit": "ns",
                "state": "ok",
                "source": ["data/import/a.ncu-rep#0/0"],
            },
            1,
        )
        info = BundleInfo(suite=suite, title=f"About {suite}", start=f"202611{day:02}T211006Z", status="imported")
        known = provenance.from_facts({"gpu.name": gpu, "host.name": "secret-host"}, "the file does not say it")
        payload: dict[str, bytes | Path] = {"import/a.ncu-rep": b"NVR\0 from secret-host"}
        return create(self.path / "bundles" / below, info, known, payload, frame)

    def settings(self, text: str) -> None:
        (self.path / "site.toml").write_text(text, encoding="utf-8")

    def build(self, **options: object) -> Built:
        return build(self.path, **{"jobs": 1, **options})  # type: ignore[arg-type]

    def files(self) -> dict[str, bytes]:
        found = (path for path in self.public.rglob("*") if path.is_file())
        return {path.relative_to(self.public).as_posix(): path.read_bytes() for path in found}

    def front(self) -> str:
        return (self.public / "index.html").read_text(encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "site").mkdir()
    return Site(tmp_path / "site")
