"""A bundle as `collect` makes it, of the real files of tests/data/probe: ncu and CUPTI, a formula, and a function of the suite's own.

`spoiled` makes one in which a file was changed and every manifest made anew, as a forger would: only the content tells.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import reportgen
from reportgen.analysis import processed
from reportgen.collect import ncu
from reportgen.collect import plan as plans
from reportgen.collect.plan import Formula as Derived
from reportgen.collect.plan import PlannedBenchmark, PlannedConfig, SuitePlan
from reportgen.evidence import bundle, provenance, samples, tables
from reportgen.evidence.bundle import BundleInfo, Formula
from reportgen.evidence.provenance import Fact
from reportgen.workflow import recorded, steps

PROBE = Path(__file__).parent.parent / "data" / "probe"
OWN, FORMULA = "launches a second", "elements a ns"


def planned() -> SuitePlan:
    """Plan the probe's benchmark."""
    bench = PlannedBenchmark(
        name="cases",
        title="Cases",
        configs=(PlannedConfig(0, (("n", "1024"),), 5),),
        processes=1,
        warmup=1,
        metrics=(),
        derive=(Derived(FORMULA, "n * n / (time * 1e9)", "1/ns"), Derived(OWN, "", "1/s")),
        normalize_against="",
        scenarios=("default",),
        heat="burst",
        thermal="off",
        ignore=(),
        replay="kernel",
        graphs="node",
    )
    return SuitePlan("probe", "Probe", (bench,), quick=False, collectors=0, files=())


def make(out: Path) -> Path:
    """Make the bundle below `out`."""
    plan = planned()
    todo = plans.steps(plan, ("ncu", "cupti"), ())
    payload: dict[str, bytes | Path] = {"suite/probe.py": (PROBE / "suite.txt").read_bytes()}
    for step in todo:
        folder = out / "raw" / step.folder
        shutil.copytree(PROBE, folder)
        (folder / "report.ncu-repz").rename(folder / ncu.REPORT)
        left: dict[str, Any] = {
            "start": 1.0,
            "end": 2.0,
            "regions": 1,
            "facts": {"dropped": 0},
            "before": {},
            "after": {},
        }
        (folder / steps.DONE).write_text(json.dumps(left))
        kept = (ncu.REPORT, "runs.jsonl") if step.backend == "ncu" else ("activity.csv", "runs.jsonl")
        payload |= {f"{step.folder}/{name}": folder / name for name in (*kept, steps.DONE)}
    frame = samples.concat([steps.read(step, plan, out / "raw" / step.folder).frame for step in todo])
    frame["suite"] = samples.constant_text("probe", len(frame))
    asked = recorded.questions(plan, frame)
    answers: list[recorded.Answer] = [("ok", round(1 / line["time"], 3)) for line in asked.lines]
    lines = [{**one, "state": s, "value": v} for one, (s, v) in zip(asked.lines, answers, strict=True)]
    payload["derived.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()
    frame = samples.concat([frame, recorded.answered(asked, answers)])
    whole = json.loads(json.dumps({"benchmarks": asdict(plan)["benchmarks"], "quick": False}))
    formulas = (Formula(FORMULA, "n * n / (time * 1e9)", "1/ns", "cases"),)
    info = BundleInfo(
        "probe", "Probe", "20261201T000000Z", "partial", plan={"backends": ["ncu", "cupti"], **whole}, formulas=formulas
    )
    known = {"gpu.name": Fact("NVIDIA H200", "", "NVML"), "gpu.l2_bytes": Fact(62914560, "", "NVML")}
    facts = provenance.from_facts(known, "the test does not say it")
    table = processed.table(frame, formulas, facts)
    by_pair = {
        (str(b), str(s)): tables.frame_to_csv(part)
        for (b, s), part in table.groupby(["Backend", "Scenario"], sort=False)
    }
    return bundle.create(out / "bundles", info, facts, payload, frame, by_pair)


def spoiled(made: Path, out: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    """Copy a bundle with one file changed and its manifests made anew; returns the copy's folder, named by its own digest."""
    folder = Path(shutil.copytree(made, out / "spoiled"))
    data = (folder / name).read_bytes()
    new = change(tables.inflate(data, name) if name.endswith(tables.COMPRESSED) else data)
    assert new != data
    (folder / name).write_bytes(tables.compress(new) if name.endswith(tables.COMPRESSED) else new)
    files = sorted(path for path in (folder / "data").rglob("*") if path.is_file())
    digests = {path.relative_to(folder).as_posix(): bundle._entry(path) for path in files}
    (folder / bundle.MANIFEST).write_bytes(bundle.manifest_bytes({n: entry.sha256 for n, entry in digests.items()}))
    opened = bundle.info_from_json((folder / bundle.INFO).read_bytes())
    oxum = f"{sum(entry.size for entry in digests.values())}.{len(digests)}"
    (folder / bundle.BAG_INFO).write_bytes(bundle.bag_info(opened, oxum, reportgen.__version__))
    tags = {name: bundle._entry(folder / name).sha256 for name in bundle.TAGGED}
    (folder / bundle.TAG_MANIFEST).write_bytes(bundle.manifest_bytes(tags))
    digest = bundle._entry(folder / bundle.TAG_MANIFEST).sha256
    return folder.rename(folder.parent / f"{opened.start}-{digest[:12]}")
