"""The bundle: everything of one collection in one folder, a BagIt 1.0 bag (RFC 8493) that never changes.

Its identity is the SHA-256 of `tagmanifest-sha256.txt`, which stands nowhere inside. Any program can check one:
`sha256sum -c manifest-sha256.txt`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd

from reportgen import __version__
from reportgen.evidence import provenance as provenances
from reportgen.evidence import samples as sample_tables
from reportgen.evidence import tables, write
from reportgen.evidence.errors import BundleError, UserError, shown
from reportgen.evidence.provenance import Provenance

FORMAT = 1
BAGIT, BAG_INFO = "bagit.txt", "bag-info.txt"
MANIFEST, TAG_MANIFEST = "manifest-sha256.txt", "tagmanifest-sha256.txt"
TAGGED = (BAG_INFO, BAGIT, MANIFEST)  # what the tag manifest lists, in its order
DECLARATION = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
INFO, PROVENANCE = "data/bundle.json", "data/provenance.json"
DIGEST_SHOWN = 12
START = "%Y%m%dT%H%M%SZ"

Status = Literal["complete", "partial", "imported"]

_RESERVED = ("bundle.json", "provenance.json", "samples")
_WINDOWS = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
_LONGEST_NAME = 200  # bytes; file systems take 255, and a hidden name or a suffix must fit
_MANIFEST_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_MEND = "take the bundle from a copy; `reportgen verify` names every fault"


@dataclass(frozen=True, slots=True)
class Formula:
    """A derived metric: `formula` is arithmetic over metrics and parameters, its result is in `unit`.

    It is of one `benchmark`, or of all where that is empty.
    """

    metric: str
    formula: str
    unit: str
    benchmark: str = ""


@dataclass(frozen=True)
class BundleInfo:
    """What `data/bundle.json` holds. `start` is `20261130T211006Z`, `states` counts the samples by state.

    `losses` says in one line each what of the evidence could not be read.
    """

    suite: str
    title: str
    start: str
    status: Status
    losses: tuple[str, ...] = ()
    plan: Mapping[str, Any] = field(default_factory=dict)
    formulas: tuple[Formula, ...] = ()
    states: Mapping[str, int] = field(default_factory=dict)
    question: str = ""
    prose: str = ""

    @property
    def id(self) -> str:
        """Return the collection's name: `<suite>-<start>`."""
        return f"{self.suite}-{self.start}"

    @property
    def partial(self) -> bool:
        """Say whether something is missing: the collection was stopped, or part of a file could not be read."""
        return self.status == "partial" or bool(self.losses)


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file of a bundle: its path in it, its size in bytes and its SHA-256 by the manifests."""

    path: str
    size: int
    sha256: str


# Names


def slug(text: str) -> str:
    """Return `text` as a safe folder name: letters and digits of any script stay, all else becomes one `-`."""
    plain = unicodedata.normalize("NFC", text)
    plain = "".join(c if c.isalnum() or c in "._" or unicodedata.category(c) in ("Mn", "Mc") else "-" for c in plain)
    plain = re.sub("-+", "-", re.sub(r"\.{2,}", ".", plain)).strip("-.")
    while len(plain.encode("utf-8", "replace")) > 80:
        plain = plain[:-1]
    plain = plain.strip("-.") or "unnamed"
    stem, dot, rest = plain.partition(".")
    return f"{stem}-{dot}{rest}" if stem.lower() in _WINDOWS else plain


def check_name(name: str, what: str = "name") -> str:
    """Return `name` if it is safe as one part of a path on any system, else raise `UserError` with the mend."""
    fault = _name_fault(name)
    if fault:
        mend = f"call it '{slug(name)}'" if name else "give one"
        raise UserError(None, f"the {what} '{shown(name)}' {fault}", mend)
    return name


def _name_fault(name: str) -> str:
    if not name:
        return "is empty"
    if name.startswith(".") or name.endswith("."):
        return "begins or ends with a dot"
    if name != name.strip():
        return "begins or ends with a space"
    if any(c in "/\\" or not c.isprintable() for c in name):
        return "holds a slash, a backslash or a character that cannot be printed"
    if "%" in name:  # RFC 8493 writes it as %25, which neither sha256sum nor bagit-python reads
        return "holds a percent sign"
    if len(name.encode("utf-8", "replace")) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} bytes"
    if name.split(".", maxsplit=1)[0].lower() in _WINDOWS:
        return "is the name of a device on some systems"
    return ""


def check_payload(names: Iterable[str]) -> None:
    """Raise `UserError` unless all these paths below `data/` are safe, distinct in any case, and not reserved."""
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    for name in names:
        for part in name.split("/"):
            check_name(part, "payload name")
        if name.split("/")[0].lower() in _RESERVED:
            raise UserError(None, f"the payload name '{name}' is reserved", "put the file into a folder of its own")
        folded = folded_name(name)
        if folded in seen:
            raise UserError(None, f"the payload names '{seen[folded]}' and '{name}' differ only in case", "rename one")
        seen[folded] = name
        for end in (i for i, c in enumerate(name) if c == "/"):
            folder = name[:end]
            if folders.setdefault(folded_name(folder), folder) != folder:
                raise UserError(
                    None,
                    f"the payload folders '{folders[folded_name(folder)]}' and '{folder}' differ only in case",
                    "rename one",
                )
    both = sorted(set(seen) & set(folders))
    if both:
        raise UserError(None, f"the payload name '{seen[both[0]]}' is a file and a folder", "rename one")


def folded_name(name: str) -> str:
    """Return what two names have in common that clash on a file system that ignores case or composition."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


# bundle.json


def info_to_json(info: BundleInfo) -> bytes:
    """Return `data/bundle.json`: pretty and sorted, the same bytes for the same info."""
    whole = {"format": FORMAT, "id": info.id, **asdict(replace(info, plan={}, states={}))}
    whole |= {"plan": dict(info.plan), "states": dict(info.states)}
    try:
        text = json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
        return (text + "\n").encode("utf-8")
    except (TypeError, ValueError) as error:
        raise UserError(
            None, f"the plan cannot be kept as JSON: {error}", "use texts, numbers, lists and tables"
        ) from error


def info_from_json(data: bytes, where: str = INFO) -> BundleInfo:
    """Read `data/bundle.json`; raises `BundleError` that names `where` and the key."""
    whole = provenances.json_object(data, where)
    provenances.check_format(whole, where, FORMAT)
    names = {"format", "id", *BundleInfo.__dataclass_fields__}
    if set(whole) != names:
        missing, unknown = sorted(names - set(whole)), sorted(set(whole) - names)
        raise BundleError(where, f"lacks {missing}, holds unknown {unknown}", _MEND)
    for name, kind in _KINDS.items():
        if not isinstance(whole[name], kind):
            raise BundleError(where, f"'{name}' is not {'an object' if kind is dict else f'a {kind.__name__}'}", _MEND)
    info = BundleInfo(
        **{name: whole[name] for name in ("suite", "title", "start", "status", "plan", "states", "question", "prose")},
        losses=tuple(_text(loss, "losses", where) for loss in whole["losses"]),
        formulas=tuple(_formula(formula, where) for formula in whole["formulas"]),
    )
    try:
        _check_info(info)
    except UserError as error:
        raise BundleError(where, error.what, _MEND) from error
    if whole["id"] != info.id:
        raise BundleError(where, f"'id' is '{whole['id']}', not '{info.id}'", _MEND)
    return info


_KINDS: dict[str, type] = {
    **dict.fromkeys(("id", "suite", "title", "start", "status", "question", "prose"), str),
    **dict.fromkeys(("losses", "formulas"), list),
    **dict.fromkeys(("plan", "states"), dict),
}


def _text(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str):
        raise BundleError(where, f"'{name}' holds what is not a text", _MEND)
    return value


def _formula(value: Any, where: str) -> Formula:
    if not isinstance(value, dict) or set(value) | {"benchmark"} != {"metric", "formula", "unit", "benchmark"}:
        raise BundleError(where, "'formulas' holds what is not a metric, a formula and a unit", _MEND)
    return Formula(**{name: _text(text, "formulas", where) for name, text in value.items()})


def _check_info(info: BundleInfo) -> None:
    check_name(info.suite, "suite")
    if info.status not in get_args(Status):
        raise UserError(None, f"the status '{info.status}' is not one of {', '.join(get_args(Status))}")
    try:
        exact = datetime.strptime(info.start, "%Y%m%dT%H%M%S%z").strftime(START) == info.start
    except ValueError:
        exact = False
    if not exact:
        raise UserError(None, f"the start '{info.start}' is not a time in UTC", "write it like 20261130T211006Z")
    counts = info.states.values()
    if not set(info.states) <= set(sample_tables.STATES) or any(type(n) is not int or n < 0 for n in counts):
        raise UserError(None, "'states' does not count samples by state")


# Making


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file to be written: from bytes, or copied from a path."""

    source: bytes | Path
    size: int
    sha256: str


def create(
    out: Path,
    info: BundleInfo,
    provenance: Provenance,
    payload: Mapping[str, bytes | Path],
    samples: pd.DataFrame,
    processed: Mapping[tuple[str, str], bytes] | None = None,
) -> Path:
    """Make a bundle below `out` and return its folder, `out/<suite>/<start>-<digest12>`.

    `payload` maps paths below `data/` to bytes or to files that are copied; `processed` maps (backend, scenario) to
    the CSV kept beside that pair's samples. `info.states` is counted anew. The same input gives the same bytes; a
    bundle that stands there already is left as it is. Raises `UserError` for an unsafe name or a wrong table.
    """
    _check_info(info)
    check_payload(payload)
    sample_tables.check(samples)
    info = replace(info, states=_count_states(samples))
    made: dict[str, bytes | Path] = {f"data/{name}": source for name, source in payload.items()}
    made |= {INFO: info_to_json(info), PROVENANCE: provenances.to_json(provenance)}
    made |= _sample_files(samples, processed or {})
    entries = {name: _entry(made[name]) for name in sorted(made)}
    entries |= _tag_files(info, entries)
    digest = entries[TAG_MANIFEST].sha256
    target = Path(out) / info.suite / f"{info.start}-{digest[:DIGEST_SHOWN]}"
    refuse_inside(target)
    if not _stands(target, entries):
        try:
            _write(target, entries)
        except UserError:
            if not _stands(target, entries):  # unless another process was quicker
                raise
    return target


def refuse_inside(place: Path) -> None:
    """Raise `UserError` where `place` lies in a bundle: what is written into one spoils it."""
    for folder in Path(os.path.realpath(place)).parents:
        if all(os.path.lexists(folder / name) for name in (BAGIT, TAG_MANIFEST)):
            raise UserError(place, f"lies in the bundle {folder}, which must not change", "choose a folder outside it")


def _count_states(samples: pd.DataFrame) -> dict[str, int]:
    counts = Counter(samples["state"].astype("object").tolist())
    return {state: counts[state] for state in sample_tables.STATES if counts[state]}


def _sample_files(samples: pd.DataFrame, processed: Mapping[tuple[str, str], bytes]) -> dict[str, bytes | Path]:
    """Return the tables of each backend and scenario under their paths."""
    made: dict[str, bytes | Path] = {}

    def keep(pair: tuple[str, str], name: str, data: bytes) -> None:
        folder = f"data/samples/{check_name(pair[0], 'backend')}/{check_name(pair[1], 'scenario')}"
        stored, kept = tables.store(f"{folder}/{name}", data)
        made[stored] = kept

    for key, part in samples.groupby(["backend", "scenario"], observed=True, sort=True):
        pair = (str(key[0]), str(key[1]))
        raw, constants = sample_tables.split_constants(part.reset_index(drop=True))
        keep(pair, "raw.csv", tables.samples_to_csv(raw))
        if len(constants):
            keep(pair, "constants.csv", tables.samples_to_csv(constants))
    folders = {name.rsplit("/", 1)[0] for name in made}
    for pair, data in processed.items():
        keep(pair, "processed.csv", data)
    if {name.rsplit("/", 1)[0] for name in made} != folders:
        raise UserError(None, "a processed table has no samples", "process the same samples")
    clash = {folded_name(folder) for folder in folders}
    if len(clash) != len(folders):
        raise UserError(None, "the names of two scenarios differ only in case", "rename one")
    return made


def _entry(source: bytes | Path) -> _Entry:
    hasher, size = hashlib.sha256(), 0
    for chunk in (source,) if isinstance(source, bytes) else write.read_chunks(source):
        hasher.update(chunk)
        size += len(chunk)
    return _Entry(source, size, hasher.hexdigest())


def _tag_files(info: BundleInfo, entries: Mapping[str, _Entry]) -> dict[str, _Entry]:
    oxum = f"{sum(entry.size for entry in entries.values())}.{len(entries)}"
    made = {BAGIT: DECLARATION, BAG_INFO: bag_info(info, oxum, __version__)}
    made[MANIFEST] = manifest_bytes({name: entry.sha256 for name, entry in entries.items()})
    tags = {name: _entry(made[name]) for name in TAGGED}
    tags[TAG_MANIFEST] = _entry(manifest_bytes({name: tag.sha256 for name, tag in tags.items()}))
    return tags


def bag_info(info: BundleInfo, oxum: str, version: str) -> bytes:
    """Return `bag-info.txt`; `oxum` is the payload's `<bytes>.<files>`, `version` that of the writing reportgen."""
    date = f"{info.start[:4]}-{info.start[4:6]}-{info.start[6:8]}"
    rows = {
        "Bag-Software-Agent": f"reportgen {version}",
        "Bagging-Date": date,
        "External-Identifier": info.id,
        "Payload-Oxum": oxum,
    }
    return "".join(f"{name}: {value}\n" for name, value in rows.items()).encode("utf-8")


def manifest_bytes(digests: Mapping[str, str]) -> bytes:
    """Return a manifest of these files, sorted by path; CR, LF and % in a path are percent-encoded (RFC 8493)."""
    lines = [f"{digests[name]}  {_encoded(name)}\n" for name in sorted(digests)]
    return "".join(lines).encode("utf-8", "surrogateescape")


def parse_manifest(data: bytes, where: str) -> dict[str, str]:
    """Return the digests of a manifest by path; raises `BundleError` that names `where` and the line."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise BundleError(where, "is not UTF-8", _MEND) from error
    if lines.pop():
        raise BundleError(where, "does not end with a line end", _MEND)
    digests: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        found = _MANIFEST_LINE.fullmatch(line)
        name = re.sub("%(0A|0D|25)", lambda m: chr(int(m[1], 16)), found[2], flags=re.IGNORECASE) if found else ""
        if found is None or name in digests or any(part in ("", ".", "..") for part in name.split("/")):
            raise BundleError(where, f"line {number} is not a digest, two spaces and a new path", _MEND)
        digests[name] = found[1]
    return digests


def _encoded(name: str) -> str:
    return name.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _write(target: Path, entries: Mapping[str, _Entry]) -> None:
    with write.new_folder(target) as folder:
        for name, entry in entries.items():
            if isinstance(entry.source, bytes):
                write.write_file(folder / name, entry.source, durable=False)
                continue
            write.copy_file(entry.source, folder / name, durable=False)
            if _entry(folder / name).sha256 != entry.sha256:
                raise UserError(entry.source, "was changed while it was copied", "run it again")


def _stands(target: Path, entries: Mapping[str, _Entry]) -> bool:
    """Say whether this very bundle stands at `target`, whole; raises `UserError` where it does, spoiled."""
    if not (target / TAG_MANIFEST).is_file():
        return False
    try:
        whole = all(_entry(target / name).sha256 == entry.sha256 for name, entry in entries.items())
    except UserError:
        whole = False
    there = {
        path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_symlink() or not path.is_dir()
    }
    if not whole or there != set(entries):
        raise UserError(target, "this bundle stands there already, and is spoiled", "remove it, and run it again")
    return True


# Opening


@dataclass(frozen=True)
class Bundle:
    """An opened bundle: its folder, its `digest` and what it says of itself.

    Every file that is read is compared with its digest in the manifest; what was changed raises `BundleError`.
    """

    path: Path
    digest: str
    info: BundleInfo
    provenance: Provenance
    digests: Mapping[str, str] = field(repr=False)  # of every file but the tag manifest, by path

    @property
    def version(self) -> str:
        """Return the first 12 of the digest: the version of the bundle's dossier."""
        return self.digest[:DIGEST_SHOWN]

    @property
    def _listed(self) -> Mapping[str, str]:
        """Return the digest of every file, that of the tag manifest being the bundle's own."""
        return {**self.digests, TAG_MANIFEST: self.digest}

    def read(self, name: str) -> bytes:
        """Return the bytes of the file called `name` in the bundle, as they were bundled."""
        digest = self._listed.get(name)
        if digest is None:
            raise BundleError(self.path / name, "is not a file of this bundle", _MEND)
        return _read(self.path, name, digest)

    @property
    def software(self) -> str:
        """Return the version of reportgen that wrote the bundle, empty where it does not say."""
        found = re.search(rb"^Bag-Software-Agent: reportgen (\S+)$", self.read(BAG_INFO), re.MULTILINE)
        return found[1].decode("utf-8", "replace") if found else ""

    def files(self) -> tuple[BundleFile, ...]:
        """Return every file by the manifests, sorted by path, tag files included."""
        listed = self._listed
        return tuple(BundleFile(name, _size(self.path, name), listed[name]) for name in sorted(listed))

    def samples(self) -> pd.DataFrame:
        """Return all samples, with each constant spread over its launches."""
        return self._samples.copy(deep=False)

    def raw(self) -> pd.DataFrame:
        """Return the samples as they are kept, without what stands once in the tables of constants."""
        return sample_tables.concat([raw for raw, _ in self._tables])

    def constants(self) -> pd.DataFrame:
        """Return what holds one value over all launches of a report, a row each."""
        return sample_tables.concat([constants for _, constants in self._tables])

    @cached_property
    def _samples(self) -> pd.DataFrame:
        return sample_tables.concat([sample_tables.expand(*pair) for pair in self._tables])

    @cached_property
    def _tables(self) -> tuple[tuple[pd.DataFrame, pd.DataFrame], ...]:
        """Read the raw samples and the constants of each backend and scenario."""
        found = []
        for folder in sorted({name.rsplit("/", 1)[0] for name in self.digests if name.startswith("data/samples/")}):
            raw = self._table(folder, "raw.csv")
            if raw is None:
                raise BundleError(self.path / folder / "raw.csv", "is missing", _MEND)
            constants = self._table(folder, "constants.csv")
            found.append((raw, raw.iloc[:0] if constants is None else constants))
        return tuple(found)

    def _table(self, folder: str, name: str) -> pd.DataFrame | None:
        plain, packed = f"{folder}/{name}", f"{folder}/{name}{tables.COMPRESSED}"
        if plain in self.digests:
            return tables.samples_from_csv(self.read(plain), str(self.path / plain))
        if packed in self.digests:
            where = str(self.path / packed)
            return tables.samples_from_csv(tables.inflate(self.read(packed), where), where)
        return None


def open_bundle(path: str | Path) -> Bundle:
    """Open the bundle in the folder `path`: its tag files and its two JSON files are checked, the rest when it is read.

    Raises `BundleError` for what is not a bundle, was changed, or was written by a newer reportgen.
    """
    path = Path(path)
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "does not exist"
        raise BundleError(path, f"{what}, so not a bundle", "name the folder that holds bagit.txt")
    if not (path / BAGIT).exists():
        raise BundleError(path, "not a bundle: it holds no bagit.txt", "name the folder that holds bagit.txt")
    if _read(path, BAGIT, None) != DECLARATION:
        raise BundleError(path / BAGIT, "not a bundle of reportgen: not the declaration of a BagIt 1.0 bag", _MEND)
    tag_manifest = _read(path, TAG_MANIFEST, None)
    tags = parse_manifest(tag_manifest, str(path / TAG_MANIFEST))
    if tuple(sorted(tags)) != tuple(sorted(TAGGED)):
        raise BundleError(path / TAG_MANIFEST, f"does not list {', '.join(TAGGED)}, and only these", _MEND)
    data = {name: _read(path, name, tags[name]) for name in TAGGED}
    digests = {**tags, **parse_manifest(data[MANIFEST], str(path / MANIFEST))}
    for name in (INFO, PROVENANCE):
        if name not in digests:
            raise BundleError(path / name, "is not in the manifest, so this is not a bundle of reportgen", _MEND)
    info = info_from_json(_read(path, INFO, digests[INFO]), str(path / INFO))
    facts = provenances.from_json(_read(path, PROVENANCE, digests[PROVENANCE]), str(path / PROVENANCE))
    return Bundle(path, hashlib.sha256(tag_manifest).hexdigest(), info, facts, digests)


def _read(root: Path, name: str, digest: str | None) -> bytes:
    _size(root, name)
    try:
        data = b"".join(write.read_chunks(root / name))
    except UserError as error:
        raise BundleError(root / name, error.what, _MEND) from error
    if digest is not None and hashlib.sha256(data).hexdigest() != digest:
        raise BundleError(root / name, "was changed: its SHA-256 is not the one in the manifest", _MEND)
    return data


def _size(root: Path, name: str) -> int:
    """Return a file's size; a link or a special file, or one below a link, is refused."""
    place = root
    for part in name.split("/"):
        place = place / part
        try:
            found = place.lstat()
        except (OSError, ValueError) as error:
            raise BundleError(root / name, "is missing", _MEND) from error
        if stat.S_ISLNK(found.st_mode):
            raise BundleError(place, "is a link, which a bundle never holds", _MEND)
    if not stat.S_ISREG(found.st_mode):
        raise BundleError(root / name, "is not a regular file", _MEND)
    return found.st_size
