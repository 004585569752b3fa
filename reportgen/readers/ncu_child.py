"""The child process that alone loads `ncu_report`: a damaged report may abort its interpreter, and then only this one.

It imports nothing of ours that is heavy, answers one request after another, and never unpickles: a message is two u64
lengths, a JSON text and raw float64 values.
"""

from __future__ import annotations

import json
import os
import re
import resource
import struct
import sys
from array import array
from typing import IO, Any

_LENGTHS = struct.Struct("<QQ")
_MEMORY = 6 << 30


def send(stream: IO[bytes], head: dict[str, Any], values: bytes = b"") -> None:
    """Write one message."""
    text = json.dumps(head).encode()
    stream.write(_LENGTHS.pack(len(text), len(values)))
    stream.write(text)
    stream.write(values)
    stream.flush()


def extract(path: str, first: int, end: int | None, wanted: list[str] | None) -> tuple[dict[str, Any], bytes]:
    """Read launches `first` to `end` (counted over all ranges) of the report at `path`.

    Returns the launches in words and, flat, the value of each metric (NaN where it is a word or absent).
    """
    import ncu_report

    reader = _Reader(ncu_report, wanted)
    context = ncu_report.load_report(path)
    count = 0
    for range_index in range(context.num_ranges()):
        found = context.range_by_idx(range_index)
        actions = found.num_actions()
        for action_index in range(max(0, first - count), actions if end is None else min(actions, end - count)):
            reader.take(found, range_index, action_index)
        count += actions
    head = {
        "count": count,
        "launches": reader.launches,
        "sets": [{"names": list(names), "units": [reader.units.get(n, "") for n in names]} for names in reader.sets],
        "texts": reader.texts,
        "absent": reader.absent,
        "losses": reader.losses,
    }
    return head, reader.values.tobytes()


class _Reader:
    """Gathers launches; names are sent once for each set of metrics, and a unit is asked for once for each name."""

    def __init__(self, ncu_report: Any, wanted: list[str] | None) -> None:
        self.wanted = None if wanted is None else tuple(wanted)
        self.workloads = {
            getattr(ncu_report.IAction, "WorkloadType_" + name, None): name.lower()
            for name in ("KERNEL", "RANGE", "GRAPH", "CMDLIST", "SUBGRID_SCHEDULE")
        }
        self.sets: dict[tuple[str, ...], int] = {}
        self.units: dict[str, str] = {}
        self.values = array("d")
        self.texts: list[tuple[int, str]] = []
        self.absent: list[int] = []
        self.launches: list[dict[str, Any]] = []
        self.losses: list[str] = []

    def take(self, found: Any, range_index: int, action_index: int) -> None:
        place = f"{range_index}/{action_index}"
        start = len(self.values), len(self.texts), len(self.absent)
        try:
            action = found.action_by_idx(action_index)
            name = action.name(action.NameBase_DEMANGLED) or action.name()
            names = self.wanted if self.wanted is not None else action.metric_names()
            if name is None or not names:
                raise ValueError("it has no name or no metrics")
            nameless = sum(not metric for metric in names)
            names = tuple(filter(None, names))
            self._metrics(action, names)
            if self.wanted is None:
                names = (*names, *self._rules(action))
            launch = self._launch(action, place, name)
        except Exception as error:  # noqa: BLE001 - a damaged launch may raise anything; the others are read
            del self.values[start[0] :], self.texts[start[1] :], self.absent[start[2] :]
            self.losses.append(f"launch {place} cannot be read ({type(error).__name__}: {error})")
            return
        if nameless:
            self.losses.append(f"{nameless} of the metrics of launch {place} have lost their names")
        launch["set"] = self.sets.setdefault(tuple(names), len(self.sets))
        self.launches.append(launch)

    def _metrics(self, action: Any, names: tuple[str, ...]) -> None:
        by_name, units, append = action.metric_by_name, self.units, self.values.append
        for name in names:
            metric = by_name(name)
            value = None if metric is None else metric.value()
            if value is not None and name not in units:
                units[name] = metric.unit() or ""
            if type(value) is float or type(value) is int:
                append(value)
                continue
            if value is None:
                self.absent.append(len(self.values))
            else:
                self.texts.append((len(self.values), str(value)))
            append(float("nan"))

    def _rules(self, action: Any) -> list[str]:
        """Take what ncu's own rules say of a launch as metrics: `rule__<id>` is its message, `….speedup` the most it promises."""
        names: list[str] = []
        for result in action.rule_results_as_dicts():
            said = result["rule_message"]
            name, text = (
                f"rule__{result['rule_identifier']}",
                _unlinked(": ".join(filter(None, (said["title"], said["message"])))),
            )
            if not said["message"] or name in names:
                continue
            self.texts.append((len(self.values), text))
            self.values.append(float("nan"))
            names.append(name)
            if "speedup_estimation" in result:
                self.values.append(float(result["speedup_estimation"]["speedup"]))
                self.units[f"{name}.speedup"] = "%"
                names.append(f"{name}.speedup")
        return names

    def _launch(self, action: Any, place: str, name: str) -> dict[str, Any]:
        return {
            "place": place,
            "kernel": name,
            "workload": self.workloads.get(action.workload_type(), "kernel"),
            "grid": self._dimensions(action, "grid"),
            "block": self._dimensions(action, "block"),
            "ranges": _ranges(action),
        }

    def _dimensions(self, action: Any, what: str) -> str:
        found = [action.metric_by_name(f"launch__{what}_dim_{axis}") for axis in "xyz"]
        values = [metric.value() for metric in found if metric is not None]
        known = [int(value) for value in values if value is not None]
        return f"({', '.join(map(str, known))})" if len(known) == len("xyz") else ""


def _unlinked(text: str) -> str:
    """Return a rule's text with the words of its links in place of ncu's markup (`@url:words:address@`), on one line."""
    text = re.sub(r"@url:([^:@]*):[^@]*@", r"\1", text)
    return " ".join(re.sub(r"@(?:section|sass|source):[^@]*?:?([^:@]*)@", r"\1", text).split())


def _ranges(action: Any) -> list[tuple[str, str, str]]:
    state = action.nvtx_state()
    if state is None:
        return []
    ranges: list[tuple[str, str, str]] = []
    for number in state.domains():
        domain = state.domain_by_id(number)
        ranges += [(domain.name(), "push/pop", message) for message in domain.push_pop_ranges()]
        ranges += [(domain.name(), "start/end", message) for message in domain.start_end_ranges()]
    return ranges


def main() -> None:
    """Answer requests on the standard streams until they close."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not stand among the replies
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            head, values = extract(request["path"], request["first"], request["end"], request["metrics"])
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent is to know
            head, values = {"error": f"{type(error).__name__}: {error}"}, b""
        send(replies, head | {"memory": _memory()}, values)


def _memory() -> int:
    """Return how many bytes of memory this process takes up; what the kernel calls the most may be the parent's."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - pathlib would cost the child its start-up
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS, which has no /proc


if __name__ == "__main__":
    main()
