"""What each tier of publication shows: `full` everything, `public` nothing that names a person, a machine or a place.

What is not known to be harmless is withheld.
"""

from __future__ import annotations

import collections
import ipaddress
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args

import pandas as pd

from reportgen.evidence import provenance as provenances
from reportgen.evidence import tables
from reportgen.evidence.bundle import INFO, PROVENANCE, TAG_MANIFEST, TAGGED
from reportgen.evidence.provenance import OTHER, WITHHELD, Fact, Provenance, key_of

Tier = Literal["full", "public"]
TIERS: tuple[Tier, ...] = get_args(Tier)
Published = Literal["as is", "withheld", "redacted"]

# The keys of a plan that say what was measured and how; any other may hold a path, a name or a command.
PLAN_KEYS = frozenset(
    (
        *("annotations", "backends", "benchmarks", "cache", "clocks", "configurations", "files", "flush_bytes"),
        *("flush_granularity", "formulas", "heat", "kind", "metrics", "processes", "quick", "replay", "runs", "sass"),
        *("scenario", "scenarios", "seed", "select", "thermal", "timeout_s", "threshold", "warmup", "workload"),
    )
)
_SAMPLE_TABLE = re.compile(r"data/samples/[^/]+/[^/]+/(raw|constants|processed)\.csv(\.zst)?")
_SUITE_SOURCE = re.compile(r"data/suite/.+\.py")
_ACTIVITY = re.compile(r"data/cupti/.+/activity\.csv(\.zst)?")
_PRIVATE_COLUMNS = ("reason", "text")
_REASON = "withheld in the public tier"

# Paths of the running system say nothing of a person or a place, and mends name them.
_PART = r"[\w.@%+~-]"
_PATH = re.compile(
    rf"(?<![\w./:>])(?!/(?:proc|sys|dev)/)(?:~?/{_PART}+(?:/{_PART}*)+|~/{_PART}+)"  # /home/ada/x.py, ~/x.py
    r"|\b[A-Za-z]:\\[^\s\"',;]+"  # C:\Users\ada
)
_UUID = re.compile(r"\b(?:GPU-|MIG-)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7})(?:%\w+)?(?![\w:])(?!\.\w)"
)


def public_provenance(provenance: Provenance) -> Provenance:
    """Return `provenance` with every sensitive fact withheld, and every path, address and host name in the others.

    A fact that was not recorded stays so. A key that is not of `KEYS` is withheld: nobody knows what it holds.
    """
    names = _names(provenance)
    return Provenance({name: _public_fact(name, fact, names) for name, fact in provenance.facts.items()})


def published(path: str) -> Published:
    """Say how the public tier shows the file `path` of a bundle; what is `redacted` goes through `redact`.

    Redaction may change nothing: then the published bytes are those of the bundle.
    """
    if path in (*TAGGED, TAG_MANIFEST) or _SUITE_SOURCE.fullmatch(path) or _ACTIVITY.fullmatch(path):
        return "as is"
    if path in (INFO, PROVENANCE) or _SAMPLE_TABLE.fullmatch(path):
        return "redacted"
    return "withheld"


def redact(path: str, data: bytes) -> bytes:
    """Return the bytes `data` of the bundle's file `path` as the public tier shows them.

    Raises `BundleError` for a file that cannot be read, and `ValueError` for one that is withheld as a whole.
    """
    how = published(path)
    if how == WITHHELD:
        raise ValueError(f"{path} is withheld as a whole")
    if how == "as is":
        return data
    if path == PROVENANCE:
        return provenances.to_json(public_provenance(provenances.from_json(data, path)))
    if path == INFO:
        return _redact_info(data)
    plain = tables.inflate(data, path) if path.endswith(tables.COMPRESSED) else data
    shown = _redact_table(path, plain)
    if shown == plain:
        return data
    return tables.compress(shown) if path.endswith(tables.COMPRESSED) else shown


def scrub(text: str, *, addresses: bool = True) -> str:
    """Return `text` with every absolute path and UUID in it withheld, and every address unless told otherwise."""
    text = _UUID.sub(WITHHELD, _PATH.sub(WITHHELD, text))
    if not addresses:
        return text
    return _ADDRESS.sub(lambda match: WITHHELD if _is_address(match[0]) else match[0], text)


def public_samples(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a samples table whose reasons name no path and no address."""
    reason = frame["reason"].astype("object")
    return frame.assign(reason=reason.map({text: scrub(text) for text in reason.unique()}))


def _is_address(text: str) -> bool:
    try:
        return ipaddress.ip_address(text) is not None
    except ValueError:
        return False


def _names(provenance: Provenance) -> re.Pattern[str] | None:
    """Find what the sensitive facts hold, as whole words, so that it is found in other facts' texts too."""
    # A command's words are common ones, such as a suite's name; commands are withheld whole and stand nowhere else.
    sensitive = [name for name in provenance.facts if key_of(name).sensitive and not name.startswith("command.")]
    known = [provenance.facts[name].value for name in sensitive if provenance.facts[name].recorded]
    # A short name such as `vm` or `root` is a word of its own elsewhere; longer ones are not.
    words = sorted({w for v in known for w in re.split(r"[\s,;]+", str(v)) if len(w) > 5}, key=lambda w: (-len(w), w))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)") if words else None


def _public_fact(name: str, fact: Fact, names: re.Pattern[str] | None) -> Fact:
    key = key_of(name)
    if (key.sensitive or key.group == OTHER) and fact.value is not None:
        return Fact(WITHHELD, _REASON, "", withheld=True)

    def clean(text: str, *, addresses: bool = True) -> str:
        text = scrub(text, addresses=addresses)
        return names.sub(WITHHELD, text) if names else text

    value = fact.value
    if isinstance(value, str):
        value = clean(value, addresses=not name.startswith("versions."))  # 12.4.127.0 may be a version
    return replace(fact, value=value, reason=clean(fact.reason), origin=clean(fact.origin))


def _redact_info(data: bytes) -> bytes:
    """Keep of the plan what `PLAN_KEYS` names, and scrub every text but those that the suite's author wrote."""
    whole = provenances.json_object(data, INFO)
    plan = whole.get("plan")
    if isinstance(plan, dict):
        whole["plan"] = {key: _scrubbed(value, scrub) if key in PLAN_KEYS else WITHHELD for key, value in plan.items()}
    whole["losses"] = _scrubbed(whole.get("losses"), scrub)
    return (json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True) + "\n").encode("utf-8")


def _scrubbed(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_scrubbed(item, clean) for item in value]
    if isinstance(value, dict):
        return {clean(key): _scrubbed(item, clean) for key, item in value.items()}
    return value


def _redact_table(path: str, data: bytes) -> bytes:
    """Withhold the column `Host` of a processed table; scrub the words of the samples' reasons and texts."""
    # A table may have millions of rows, and nearly always nothing to withhold: then it is never taken apart.
    hosts = "processed.csv" in path
    if hosts:  # reading a bundle's samples tells whether those are damaged; nothing else tells it of this one
        collections.deque(tables.csv_rows(data, path), maxlen=0)
    header = next(tables.csv_rows(data, path), [])
    private = {name for name in header if name.lower() in _PRIVATE_COLUMNS}
    found = tables.distinct(data, (*private, "Host"), path)
    known = {text: scrub(text) for name in private for text in found[name]}
    if not (hosts and any(found.get("Host", ()))) and all(text == clean for text, clean in known.items()):
        return data
    rows = list(tables.csv_rows(data, path))
    host = header.index("Host") if hosts and "Host" in header else None
    words = [index for index, name in enumerate(header) if name in private]
    for row in rows[1:]:
        if host is not None and row[host]:
            row[host] = WITHHELD
        for index in words:
            row[index] = known[row[index]]
    return tables.rows_to_csv(rows)
