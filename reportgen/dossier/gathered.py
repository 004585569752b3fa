"""What every part of a dossier reads, gathered once; and what a part leaves for the whole: data files, words used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reportgen.analysis.groups import Group
from reportgen.analysis.measurements import Measurements
from reportgen.dossier import declared, words
from reportgen.dossier.charts import Drawn, Palette
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Chart, DataFile, Sentence, Tier
from reportgen.dossier.text import visible
from reportgen.evidence import sensed
from reportgen.evidence.bundle import Bundle, slug
from reportgen.evidence.provenance import Provenance
from reportgen.evidence.redaction import public_provenance, public_samples, scrub

MOST_INLINE = 50_000  # characters of a chart's data that stand in the page
MOST_RANKED = 40  # cases in a chart that names each


@dataclass(frozen=True)
class Shown:
    """A group with its place on the page."""

    group: Group
    id: str


class Gathered:
    """A bundle as its dossier reads it. `data` and `used` grow while the parts are made."""

    def __init__(self, bundle: Bundle, tier: Tier, beside: str) -> None:
        self.bundle, self.info, self.tier, self.beside = bundle, bundle.info, tier, beside
        self.provenance: Provenance = public_provenance(bundle.provenance) if tier == "public" else bundle.provenance
        self.declares = declared.declared(bundle.info.plan)
        self.samples = bundle.samples()
        self.losses = tuple(bundle.info.losses)
        if tier == "public":
            self.samples = public_samples(self.samples)
            self.losses = tuple(scrub(loss) for loss in self.losses)
        self.measurements = Measurements(self.samples, self.info, self.provenance, sensed.read(bundle))
        self.per_run, self.table = self.measurements.per_run, self.measurements.table
        self.groups = _as_planned(self.measurements.groups, self.info.plan)
        names = dict.fromkeys(a for group in self.groups for a in group.annotations)
        self.palette = Palette(tuple(names))
        self.shown = [Shown(g, _block_id(g, index)) for index, g in enumerate(self.groups)]
        self.data: list[DataFile] = []
        self.used: set[str] = set()

    def fact(self, key: str) -> str | int | float | bool | None:
        """Return a fact of provenance, None where it was not recorded."""
        found = self.provenance.facts.get(key)
        return None if found is None else found.value

    def declared(self, benchmark: str) -> Declared:
        """Return what the suite declares of a benchmark."""
        return declared.of(self.declares, benchmark)

    def chart(self, chart_id: str, title: str, describe: str, caption: Sentence, drawn: Drawn) -> Chart:
        """Make a chart of what was drawn, and keep its data beside it."""
        name = f"{chart_id}.csv"
        inline = len(drawn.data) <= MOST_INLINE
        self.data.append(DataFile(name, f"The data of the chart “{title}”.", drawn.data, inline))
        return Chart(chart_id, title, describe, drawn.panels, caption, name)


def _as_planned(found: Sequence[Group], plan: Mapping[str, Any]) -> tuple[Group, ...]:
    """Return the groups in the order in which the plan names their benchmarks and backends, the usual scenario first."""
    planned, measured_by = plan.get("benchmarks"), plan.get("backends")  # anything, in a bundle from elsewhere
    benchmarks = (
        [bench.get("name") for bench in planned if isinstance(bench, dict)] if isinstance(planned, list) else []
    )
    backends = measured_by if isinstance(measured_by, list) else []

    def place(known: Sequence[Any], word: str) -> int:
        return known.index(word) if word in known else len(known)

    return tuple(
        sorted(
            found,
            key=lambda g: (
                place(benchmarks, g.benchmark),
                place(backends, g.backend),
                place(tuple(words.SCENARIOS), g.scenario),
            ),
        )
    )


def _block_id(group: Group, index: int) -> str:
    return f"g{index}-{slug(group.backend)}-{slug(group.scenario)}"


def heading(group: Group) -> str:
    """Return the heading of what one backend and scenario say."""
    name = {"ncu": "Nsight Compute", "cupti": "CUPTI", "torch": "PyTorch Profiler"}.get(group.backend, group.backend)
    workload = "" if group.workload == "kernel" else f", by {group.workload}"
    return f"{name}{workload}, {visible(words.conditions(group.scenario))}"


def scenario(group: Group) -> str:
    """Return the scenario in words for a caption."""
    return "scenario not recorded" if group.scenario == "not-recorded" else f"scenario {visible(group.scenario)}"


def capital(text: str) -> str:
    """Return a text with its first letter made a capital."""
    return text[:1].upper() + text[1:] if text[:1].islower() else text


def processed_name(group: Group) -> str:
    """Return the name of the CSV that holds the processed rows of a group."""
    return f"processed-{slug(group.backend)}-{slug(group.scenario)}.csv"
