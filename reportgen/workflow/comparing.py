"""Open the bundles of a comparison, hold them to be comparable at all, and compare them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reportgen.analysis import series
from reportgen.analysis.compare import Asked, Comparison
from reportgen.analysis.compare import compare as compared
from reportgen.analysis.series import Collected
from reportgen.evidence.bundle import INFO, open_bundle
from reportgen.evidence.errors import BundleError, UserError, shown


def compare(old: Sequence[Path], new: Sequence[Path], asked: Asked = Asked()) -> Comparison:  # noqa: B008 - frozen
    """Compare two sides, each of one bundle or more.

    Raises `UserError` for what is no bundle, another suite, one bundle on both sides or twice on one, or a metric that none has.
    """
    read = {path: _read(path, asked) for path in (*old, *new)}
    _check_suites(read)
    _check_once([*old, *new], read)
    known = frozenset[str]().union(*(one.metrics for one in read.values()))
    for metric in asked.metrics:
        if metric not in known:
            near = sorted(name for name in known if metric.lower() in name.lower())[:5]
            mend = f"did you mean {', '.join(near)}?" if near else "`reportgen samples BUNDLE --processed` names all"
            raise UserError(None, f"no bundle has the metric '{shown(metric)}'", mend)
    return compared([read[path] for path in old], [read[path] for path in new], asked)


def _read(path: Path, asked: Asked) -> Collected:
    return series.read(open_bundle(path), asked.metrics)


def _check_suites(read: dict[Path, Collected]) -> None:
    (first, its), *rest = read.items()
    for path, one in rest:
        if one.suite != its.suite:
            what = f"'suite' is '{shown(one.suite)}', and in {first} it is '{shown(its.suite)}'"
            raise BundleError(path / INFO, what, "compare bundles of one suite")


def _check_once(paths: Sequence[Path], read: dict[Path, Collected]) -> None:
    """One bundle that stands twice would be taken for processes of its own."""
    seen: dict[str, Path] = {}
    for path in paths:
        if (digest := read[path].digest) in seen:
            raise UserError(path, f"is the same bundle as {seen[digest]}", "name another collection")
        seen[digest] = path
