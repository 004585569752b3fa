"""What Nsight Compute's own rules say of the kernels of a group, where a report carries their results.

A reader keeps a rule's result as two metrics of a launch: `rule__<id>` holds its title and message as a word, `rule__<id>.speedup` the
most that it promises, in percent. Nothing of it is judged or computed here: a rule's words are its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reportgen.analysis.groups import Group
from reportgen.analysis.kernels import IDENTITY, Kind, Value
from reportgen.evidence.samples import param_columns

RULE, SPEEDUP = "rule__", ".speedup"


@dataclass(frozen=True, slots=True)
class Advice:
    """What one rule says of a kind of kernel: of its first launch, where its words differ from launch to launch."""

    kind: Kind
    rule: str  # the rule's id
    title: str
    message: str
    speedup: Value | None  # at most, in percent

    @property
    def promise(self) -> float:
        """Return the most that it promises in percent, 0 where it promises nothing."""
        return 0.0 if self.speedup is None else self.speedup.mean


def names(samples: pd.DataFrame) -> tuple[str, ...]:
    """Return the names of the metrics of a samples table that are results of rules."""
    known = samples["metric"].cat.categories if hasattr(samples["metric"], "cat") else samples["metric"].unique()
    return tuple(name for name in known if name.startswith(RULE))


def of_kinds(samples: pd.DataFrame, group: Group, kinds: Iterable[Kind]) -> tuple[Advice, ...]:
    """Return what rules say of the kinds of a group, what promises most first, then in order of the kinds.

    The kinds' kernels hold the promises among their metrics.
    """
    said = _said(samples, group)
    found: list[Advice] = []
    for kind in kinds:
        seen: set[str] = set()
        for kernel in kind.kernels:
            for rule, text in said.get(kernel.place, ()):
                if rule not in seen:
                    seen.add(rule)
                    title, _, message = text.partition(": ")
                    promise = kind.metrics.get(f"{RULE}{rule}{SPEEDUP}")
                    found.append(Advice(kind, rule, title if message else rule, message or title, promise))
    return tuple(sorted(found, key=lambda one: -(0.0 if math.isnan(one.promise) else one.promise)))


def _said(samples: pd.DataFrame, group: Group) -> dict[tuple[Any, ...], list[tuple[str, str]]]:
    """Return for each kernel's place the (rule, text) of its first launch."""
    chosen = samples["metric"].isin([name for name in names(samples) if not name.endswith(SPEEDUP)]).to_numpy()
    if not chosen.any():
        return {}
    for name in IDENTITY:
        chosen = chosen & (samples[name] == getattr(group, name)).to_numpy()
    part = samples[chosen & (samples["text"] != "").to_numpy() & samples["kernel_index"].notna().to_numpy()]
    columns = [
        part[name].astype("object").tolist()
        for name in (*param_columns(part), "annotation", "kernel_index", "kernel", "metric", "text")
    ]
    found: dict[tuple[Any, ...], dict[str, str]] = {}
    for *place, metric, text in zip(*columns, strict=True):
        found.setdefault(tuple(place), {}).setdefault(metric.removeprefix(RULE), text)
    return {place: list(texts.items()) for place, texts in found.items()}
