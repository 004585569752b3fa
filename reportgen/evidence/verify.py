"""Verify a bundle: every file is read again, both manifests are made anew, and nothing that differs is tolerated."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reportgen.evidence import bundle, provenance, write
from reportgen.evidence.bundle import BAG_INFO, BAGIT, INFO, MANIFEST, PROVENANCE, TAG_MANIFEST, TAGGED
from reportgen.evidence.errors import BundleError, UserError

_FOLDER = re.compile(r"(\d{8}T\d{6}Z)-([0-9a-fA-F]{12})")
_SOFTWARE = re.compile(rb"Bag-Software-Agent: reportgen (\S+)\n")
_EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one file of a bundle: its path in it, and what was found."""

    file: str
    what: str


@dataclass(slots=True)
class _Found:
    """What stands in the folder: the digest and size of each regular file, and what should not be there at all."""

    digests: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def verify(path: str | Path) -> tuple[Fault, ...]:
    """Return every fault of the bundle in the folder `path`, sorted by file; an empty tuple means that it is whole.

    Files are read a piece at a time; links are never followed. Raises `BundleError` for what is no bundle at all.
    """
    root = Path(path)
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise BundleError(root, f"{what}, so not a bundle", "name the folder that holds bagit.txt")
    if not any(os.path.lexists(root / name) for name in (*TAGGED, TAG_MANIFEST)):
        raise BundleError(root, "not a bundle: it holds no bagit.txt", "name the folder that holds bagit.txt")
    found = _walk(root)
    faults = [*found.faults, *_clashes(found)]
    payload = {name: digest for name, digest in found.digests.items() if name.startswith("data/")}
    rebuilt = bundle.manifest_bytes(payload)
    faults += _tag_faults(root, found, rebuilt)
    faults += _payload_faults(root, found, payload, rebuilt)
    faults += _content_faults(root, found, faults)
    return tuple(sorted(set(faults), key=lambda fault: (fault.file, fault.what)))


def in_short(faults: Sequence[Fault]) -> str:
    """Return in one line what `verify` found."""
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"spoiled: {faults[0].file}: {faults[0].what}{more}; see: reportgen verify"


# What stands there


def _walk(root: Path) -> _Found:
    found = _Found()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            found.faults.append(Fault(folder or ".", f"cannot be read: {error.strerror or error}"))
            continue
        if not entries and folder:
            found.faults.append(Fault(folder, "an empty folder, which a bundle never holds"))
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                waiting.append(name)
            elif stat.S_ISREG(mode):
                _add(root, name, found)
            else:
                kind = "a link" if stat.S_ISLNK(mode) else "not a regular file"
                found.faults.append(Fault(name, f"{kind}, which a bundle never holds"))
    return found


def _add(root: Path, name: str, found: _Found) -> None:
    hasher, size = hashlib.sha256(), 0
    try:
        for chunk in write.read_chunks(root / name):
            hasher.update(chunk)
            size += len(chunk)
    except UserError as error:
        found.faults.append(Fault(name, error.what))
        return
    found.digests[name], found.sizes[name] = hasher.hexdigest(), size


def _clashes(found: _Found) -> list[Fault]:
    """Find names, of files or folders, that are one name on a file system that ignores case."""
    seen: dict[str, str] = {}
    faults = []
    for name in sorted(found.digests):
        parts = name.split("/")
        for end in range(1, len(parts) + 1):
            whole = "/".join(parts[:end])
            other = seen.setdefault(bundle.folded_name(whole), whole)
            if other != whole:
                faults.append(Fault(name, f"its name clashes with '{other}' where case is ignored"))
    return faults


# Against the manifests


def _tag_faults(root: Path, found: _Found, rebuilt: bytes) -> list[Fault]:
    """Compare the tag files with the tag manifest, and say which side was changed where that can be told."""
    faults = [Fault(name, "is missing") for name in (*TAGGED, TAG_MANIFEST) if not os.path.lexists(root / name)]
    actual = {name: found.digests[name] for name in TAGGED if name in found.digests}
    if TAG_MANIFEST not in found.digests:
        return faults
    data = (root / TAG_MANIFEST).read_bytes()
    if data == bundle.manifest_bytes(actual) and len(actual) == len(TAGGED):
        return faults
    try:
        listed = bundle.parse_manifest(data, TAG_MANIFEST)
    except BundleError as error:
        return [*faults, Fault(TAG_MANIFEST, error.what)]
    if set(listed) != set(TAGGED):
        faults.append(Fault(TAG_MANIFEST, f"does not list {', '.join(TAGGED)}, and only these"))
    elif bundle.manifest_bytes(listed) != data:
        faults.append(Fault(TAG_MANIFEST, "does not stand in the order and form in which it was written"))
    written = {BAGIT: bundle.DECLARATION, MANIFEST: rebuilt}
    for name in sorted(set(listed) & set(actual)):
        if listed[name] == actual[name]:
            continue
        digests = f"its SHA-256 is {actual[name]}, listed is {listed[name]}"
        if name in written and hashlib.sha256(written[name]).hexdigest() == actual[name]:
            faults.append(Fault(TAG_MANIFEST, f"the line of {name} was changed: the file is as it was written"))
        else:
            faults.append(Fault(name, f"was changed, or its line in {TAG_MANIFEST} was: {digests}"))
            if name not in written:
                faults.append(Fault(TAG_MANIFEST, f"its line of {name} was changed, or that file was"))
    return faults


def _payload_faults(root: Path, found: _Found, payload: Mapping[str, str], rebuilt: bytes) -> list[Fault]:
    """Compare the payload with the manifest: what was changed, is missing, is extra or was renamed."""
    extra = [name for name in found.digests if name not in payload and name not in (*TAGGED, TAG_MANIFEST)]
    listed: dict[str, str] = {}
    faults: list[Fault] = []
    if MANIFEST in found.digests:
        data = (root / MANIFEST).read_bytes()
        if data != rebuilt:
            if hashlib.sha256(rebuilt).hexdigest() == _listed(root, MANIFEST):
                faults.append(Fault(MANIFEST, "was changed: the files are as they were, and it is not"))
                return [*faults, *(Fault(name, "is not of this bundle") for name in extra)]
            try:
                listed = bundle.parse_manifest(data, MANIFEST)
            except BundleError as error:
                return [Fault(MANIFEST, error.what), *(Fault(name, "is not of this bundle") for name in extra)]
            if bundle.manifest_bytes(listed) != data:
                faults.append(Fault(MANIFEST, "does not stand in the order and form in which it was written"))
        else:
            listed = dict(payload)
        extra += [name for name in payload if name not in listed]
    actual = {name: found.digests[name] for name in (*(payload if listed else ()), *extra)}
    return faults + _differences(listed, actual, found)


def _listed(root: Path, name: str) -> str:
    """Return the digest of `name` by the tag manifest, or nothing."""
    try:
        return bundle.parse_manifest((root / TAG_MANIFEST).read_bytes(), TAG_MANIFEST).get(name, "")
    except (OSError, BundleError):
        return ""


def _differences(listed: Mapping[str, str], actual: Mapping[str, str], found: _Found) -> list[Fault]:
    told = {fault.file for fault in found.faults}
    faults = [
        Fault(name, f"was changed: its SHA-256 is {actual[name]}, in the manifest {listed[name]}")
        for name in listed
        if name in actual and actual[name] != listed[name]
    ]
    extra = sorted(set(actual) - set(listed))
    for name in sorted(set(listed) - set(actual)):
        same = [other for other in extra if actual[other] == listed[name] and listed[name] != _EMPTY]
        if same:
            extra.remove(same[0])
            faults.append(Fault(name, f"was renamed to '{same[0]}'"))
            faults.append(Fault(same[0], f"was renamed from '{name}'"))
        elif name not in told:
            faults.append(Fault(name, "is missing"))
    return faults + [Fault(name, "is not of this bundle") for name in extra]


# What it says of itself


def _content_faults(root: Path, found: _Found, before: list[Fault]) -> list[Fault]:
    """Check the format versions, bag-info.txt and the folder's name; not in files that are faulty already."""
    faults: list[Fault] = []
    bad = {fault.file for fault in before}
    payload = [name for name in found.sizes if name.startswith("data/")]
    if BAGIT in found.digests and BAGIT not in bad and (root / BAGIT).read_bytes() != bundle.DECLARATION:
        faults.append(Fault(BAGIT, "is not the declaration of a BagIt 1.0 bag"))
    faults += _folder_faults(root, found)
    for name in (INFO, PROVENANCE):
        if name not in found.digests and name not in bad:
            faults.append(Fault(name, "is missing"))
    if PROVENANCE in found.digests and PROVENANCE not in bad:
        try:
            provenance.from_json((root / PROVENANCE).read_bytes(), PROVENANCE)
        except BundleError as error:
            faults.append(Fault(PROVENANCE, error.what))
    if INFO not in found.digests or INFO in bad:
        return faults
    try:
        info = bundle.info_from_json((root / INFO).read_bytes(), INFO)
    except BundleError as error:
        return [*faults, Fault(INFO, error.what)]
    named = _FOLDER.fullmatch(root.resolve().name)
    if named and named[1] != info.start:
        faults.append(Fault(".", f"the folder's name says {named[1]}, the bundle's start is {info.start}"))
    if BAG_INFO in found.digests and BAG_INFO not in bad and not any(name.startswith("data/") for name in bad):
        oxum = f"{sum(found.sizes[name] for name in payload)}.{len(payload)}"
        data = (root / BAG_INFO).read_bytes()
        software = _SOFTWARE.search(data)
        version = software[1].decode("utf-8", "replace") if software else ""
        if data != bundle.bag_info(info, oxum, version):
            what = f"does not say what the files give: {info.id}, Payload-Oxum {oxum}, and the day of its start"
            faults.append(Fault(BAG_INFO, what))
    return faults


def _folder_faults(root: Path, found: _Found) -> list[Fault]:
    """Say whether a folder named `<start>-<digest12>` holds the bundle of that digest."""
    named = _FOLDER.fullmatch(root.resolve().name)
    if named is None or TAG_MANIFEST not in found.digests:
        return []
    digest = found.digests[TAG_MANIFEST]
    if named[2] == digest[: bundle.DIGEST_SHOWN]:
        return []
    what = f"the bundle's digest is {digest}, which the folder's name '{root.resolve().name}' denies"
    return [Fault(TAG_MANIFEST, f"was changed, or the folder was renamed: {what}")]
