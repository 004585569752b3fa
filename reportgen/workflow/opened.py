"""The Python API: open a bundle and look at it, in a script or in a notebook."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.evidence import bundle as bundles
from reportgen.evidence.provenance import Provenance

if TYPE_CHECKING:
    import pandas as pd


def open_bundle(path: str | Path) -> OpenedBundle:
    """Open the bundle at `path`; raise `BundleError` when it is none, or not whole."""
    return OpenedBundle(bundles.open_bundle(path))


class OpenedBundle:
    """A bundle as a script sees it: `samples` and `processed` as pandas tables, and `provenance`."""

    def __init__(self, bundle: bundles.Bundle) -> None:
        self.bundle = bundle

    @property
    def provenance(self) -> Provenance:
        """Return on what, with what and how it was measured."""
        return self.bundle.provenance

    @cached_property
    def samples(self) -> pd.DataFrame:
        """Return the samples table, constants spread over all launches."""
        return self.bundle.samples()

    @cached_property
    def processed(self) -> pd.DataFrame:
        """Return the processed table, computed anew from the samples."""
        from reportgen.analysis import processed

        return processed.table(self.samples, self.bundle.info.formulas, self.provenance)

    def __repr__(self) -> str:
        """Say which bundle this is."""
        return f"<bundle {self.bundle.info.id} {self.bundle.version}, {self.bundle.info.status}>"

    def _repr_html_(self) -> str:
        """Show the bundle in a notebook: what its dossier says, what to keep in mind, and its main table."""
        from reportgen.dossier import fragment
        from reportgen.dossier.build import build

        return fragment.render(build(self.bundle, "public"))
