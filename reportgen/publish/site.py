"""Build a site: find the bundles, render what is new, gather the pages, and swap all of it in at once."""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reportgen import __version__
from reportgen.dossier.environment import Templates
from reportgen.dossier.model import Tier
from reportgen.evidence import write
from reportgen.evidence.bundle import open_bundle, refuse_inside
from reportgen.evidence.errors import UserError
from reportgen.evidence.verify import in_short, verify
from reportgen.publish import index, keys, pages
from reportgen.publish.config import SiteConfig, load
from reportgen.publish.found import Found, bags
from reportgen.publish.rendering import Made, Task, inside, run

HTML, PDF = "dossier.html", "dossier.pdf"


class StrictError(UserError):
    """A strict build that had warnings; nothing was published."""

    exit_code = 1

    def __init__(self, site: Path, warnings: tuple[str, ...]) -> None:
        self.warnings = warnings
        noun = "warning" if len(warnings) == 1 else "warnings"
        super().__init__(
            site,
            f"{len(warnings)} {noun} in a strict build, so nothing was published",
            "mend what they name, or build without --strict",
        )


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did."""

    front: Path
    tier: str
    dossiers: int
    rendered: int
    reused: int
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Build:
    """A build under way."""

    site: Path
    config: SiteConfig
    tier: Tier
    strict: bool
    jobs: int | None
    templates: Templates
    entries: dict[str, index.Entry] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)  # by the bundle's label
    rendered: int = 0

    @property
    def public(self) -> Path:
        return self.site / "public"


def build(site: Path, *, jobs: int | None = None, strict: bool = False, tier: Tier | None = None) -> Built:
    """Build `site`'s pages into its folder `public`, all of it or nothing, and return what was done."""
    if not site.is_dir():
        raise UserError(site, "there is no such folder", "name the folder of a site: one that holds bundles/")
    config = load(site)
    templates = own_templates(site)
    templates.check()
    state = _Build(site, config, tier or config.tier, strict, jobs, templates)
    refuse_inside(state.public)
    _check_public(state.public)
    found = _find(state)
    earlier = index.earlier(state.public)
    with write.swap_folder(state.public) as unfinished:
        _dossiers(state, found, earlier, unfinished)
        if strict and state.warnings:
            raise StrictError(site, _lines(state))
        _pages(state, found, unfinished)
        if earlier is not None and earlier.pages:
            _keep_foreign(earlier, state.public, unfinished)
    return Built(
        front=(state.public / "index.html").resolve(),
        tier=state.tier,
        dossiers=len(state.entries),
        rendered=state.rendered,
        reused=len(state.entries) - state.rendered,
        warnings=_lines(state),
    )


def own_templates(site: Path) -> Templates:
    """Return the templates of a site: those that ship, and before them those of its folder `templates`, if it has one."""
    folder = site / "templates"
    return Templates(folder.resolve() if os.path.lexists(folder) else None)


def _check_public(public: Path) -> None:
    """Refuse to replace a folder that no build has made."""
    if public.is_dir() and any(public.iterdir()) and not index.is_ours(public):
        raise UserError(
            public, "holds files that reportgen did not make, and a build replaces all in it", "move them away"
        )


def _lines(state: _Build) -> tuple[str, ...]:
    return tuple(f"{label}: {why}" for label, why in sorted(state.warnings.items()))


def _find(state: _Build) -> list[Found]:
    """Open every bundle; one that cannot be opened, or stands there twice, is a warning."""
    found: dict[str, Found] = {}
    folder = state.site / "bundles"
    if os.path.lexists(folder) and not folder.is_dir():
        raise UserError(folder, "is not a folder", "put the bundles into a folder of this name")

    def refused(place: Path, why: str) -> None:
        state.warnings[place.relative_to(state.site).as_posix()] = f"cannot be looked into: {why}"

    for bag in bags(folder, refused):
        label = bag.relative_to(state.site).as_posix()
        try:
            one = _open(bag, label)
        except UserError as error:
            state.warnings[label] = inside(bag, error)
            continue
        if one.path in found:
            state.warnings[label] = f"the same bundle as {found[one.path].label}; published once"
        else:
            found[one.path] = one
    if not found and not state.warnings:
        state.warnings["bundles"] = f"no bundle to publish; make one: reportgen import FILE --out {state.site}/bundles"
    return sorted(sorted(found.values(), key=lambda one: one.path), key=lambda one: one.start, reverse=True)


def _open(bag: Path, label: str) -> Found:
    bundle = open_bundle(bag)
    return Found(
        bundle=bag,
        label=label,
        suite=bundle.info.suite,
        start=bundle.info.start,
        digest=bundle.digest,
        gpu=bundle.provenance.get("gpu.name").text,
        measured=tuple(sorted({_pair(name) for name in bundle.digests if name.startswith("data/samples/")})),
    )


def _pair(name: str) -> str:
    """Return the `<backend>/<scenario>` of a table's path, `data/samples/<backend>/<scenario>/raw.csv`."""
    return "/".join(name.split("/")[2:4])


def _dossiers(state: _Build, found: list[Found], earlier: index.Index | None, unfinished: Path) -> None:
    """Put every dossier into the unfinished site: linked from the earlier build where nothing changed, else rendered."""
    known = {entry.path: entry for entry in earlier.dossiers} if earlier else {}
    tasks: dict[Task, tuple[Found, str]] = {}
    folder = state.templates.own
    own = keys.folder_digest(folder) if folder else ""
    for one, formats in _formats(found, state.config.pdf):
        key = keys.key(one.digest, tier=state.tier, paper=state.config.paper, formats=formats, own=own)
        entry = known.get(one.path)
        if entry is not None and entry.key == key and index.is_whole(entry, state.public, thorough=state.strict):
            if state.strict and (faults := verify(one.bundle)):
                state.warnings[one.label] = in_short(faults)
            _link(entry, state.public, unfinished)
            state.entries[one.path] = entry
        else:
            target = unfinished / one.path
            tasks[Task(one.bundle, target, state.tier, state.config.paper, formats, folder)] = (one, key)
    for task, outcome in run(list(tasks), state.jobs):
        one, key = tasks[task]
        if isinstance(outcome, Made):
            state.entries[one.path] = index.Entry(
                suite=one.suite,
                start=one.start,
                digest=one.digest,
                path=one.path,
                key=key,
                summary=outcome.summary,
                files=outcome.files,
            )
            state.rendered += 1
        else:
            state.warnings[one.label] = outcome.why
            write.remove_folder(task.target)


def _formats(found: Iterable[Found], pdf: str) -> list[tuple[Found, tuple[str, ...]]]:
    """Say which formats each bundle gets; `found` begins with the newest."""
    seen: set[object] = set()
    wanted: list[tuple[Found, tuple[str, ...]]] = []
    for one in found:
        newest = one.subject not in seen
        seen.add(one.subject)
        wanted.append((one, ("html", "pdf") if pdf == "all" or (pdf == "latest" and newest) else ("html",)))
    return wanted


def _link(entry: index.Entry, public: Path, unfinished: Path) -> None:
    """Carry a dossier over from the earlier build, by hard links where the file system has them."""
    for name in entry.files:
        source, target = public / entry.path / name, unfinished / entry.path / name
        write.link_file(source, target)


def _keep_foreign(earlier: index.Index, public: Path, unfinished: Path) -> None:
    """Carry over what a person put into the site, such as a CNAME: a build replaces only what builds have made."""
    for name in index.foreign(earlier, public):
        source, target = public / name, unfinished / name
        if os.path.lexists(target):
            continue
        if source.is_symlink():
            write.soft_link(source.readlink(), target)
        else:
            write.link_file(source, target)


def _pages(state: _Build, found: list[Found], unfinished: Path) -> None:
    """Write the site's own pages; the order is the newest first."""
    entries = [state.entries[one.path] for one in found if one.path in state.entries]
    style = pages.stylesheet(state.templates)
    name = f"assets/site.{hashlib.sha256(style).hexdigest()[:8]}.css"
    page = front_page(entries, state.config, state.tier, name)
    made = {
        name: style,
        "index.html": pages.front(page, state.templates),
        "404.html": pages.missing(state.config.title, state.config.base_address or "/", state.templates),
        ".nojekyll": b"",
        index.FILE: index.Index(
            format=index.FORMAT,
            title=state.config.title,
            tier=state.tier,
            reportgen=__version__,
            newest=entries[0].start if entries else "",
            dossiers=tuple(entries),
            pages=(name, "index.html", "404.html", ".nojekyll", index.FILE),
        ).text(),
    }
    for path, data in made.items():
        write.write_file(unfinished / path, data, durable=False)


def front_page(entries: list[index.Entry], config: SiteConfig, tier: Tier, stylesheet: str) -> pages.FrontPage:
    """Return the front page's data; `entries` begin with the newest."""
    # What was measured by another backend or under another scenario is another subject, not an earlier version.
    suites: dict[tuple[object, ...], list[pages.Card]] = defaultdict(list)
    for entry in entries:
        said = entry.summary
        suites[entry.suite, said.gpu, said.backends, said.scenarios].append(card(entry))
    return pages.FrontPage(
        title=config.title,
        description=config.description,
        summary=_summary(entries),
        newest=entries[0].summary.date if entries else "",
        suites=tuple(
            pages.Suite(str(suite), f"suite-{number}", cards[0], tuple(cards[1:]))
            for number, ((suite, *_), cards) in enumerate(suites.items(), 1)
        ),
        tier=tier,
        reportgen_version=__version__,
        stylesheet=stylesheet,
    )


def _summary(entries: list[index.Entry]) -> str:
    if not entries:
        return "Nothing is published here yet."
    suites = len({entry.suite for entry in entries})
    gpus = sorted({entry.summary.gpu for entry in entries})
    on = gpus[0] if len(gpus) == 1 else f"{', '.join(gpus[:-1])} and {gpus[-1]}"
    dossiers = "1 dossier" if len(entries) == 1 else f"{len(entries):,} dossiers"
    of = "" if suites == len(entries) else f" of {suites} {'suite' if suites == 1 else 'suites'}"
    return f"{dossiers}{of}, measured on {on}."


def card(entry: index.Entry) -> pages.Card:
    """Return what the front page shows of a dossier."""
    said = entry.summary
    evidence = [file.bytes for name, file in entry.files.items() if name.startswith("evidence/")]
    downloads = (
        [pages.Download("PDF", f"{entry.path}/{PDF}", size(entry.files[PDF].bytes))] if PDF in entry.files else []
    )
    if evidence:
        files = "1 file" if len(evidence) == 1 else f"{len(evidence)} files"
        downloads.append(pages.Download("Evidence", f"{entry.path}/{HTML}#evidence", f"{files}, {size(sum(evidence))}"))
    return pages.Card(
        title=said.title,
        href=f"{entry.path}/{HTML}",
        gpu=said.gpu,
        date=said.date,
        start=datetime.strptime(entry.start, "%Y%m%dT%H%M%S%z").strftime("%Y-%m-%dT%H:%M:%SZ"),
        status=said.status,
        version=said.version,
        headline=unbroken(said.headline),
        lead=unbroken(said.lead),
        backends=said.backends,
        scenarios=said.scenarios,
        downloads=tuple(downloads),
    )


def unbroken(text: str) -> str:
    """Return a sentence whose figures stay on one line with their units and with their `n =`."""
    text = re.sub(
        r"(?<=\d) (?=(?:%|[munp]?s|[kMGT]?B(?:/s)?|[GTP]?FLOP/s|[kMG]?Hz|runs?|times)(?!\w))",
        "\N{NO-BREAK SPACE}",
        text,
    )
    return re.sub(r"\b(n) = (?=\d)", "\\1\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}", text)


def size(n: int) -> str:
    """Return a file's size in words, with three digits at most."""
    value = float(n)
    for unit in ("bytes", "kB", "MB"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "bytes" or value >= 99.95 else f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB" if value < 99.95 else f"{value:,.0f} GB"
