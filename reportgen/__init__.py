"""Turn GPU profiling evidence into dossiers that people may believe."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["__version__", "open_bundle"]

if TYPE_CHECKING:
    from reportgen.workflow.opened import open_bundle


def __getattr__(name: str) -> object:
    """Import the Python API only when it is used, so that `import reportgen` stays light."""
    if name == "open_bundle":
        from reportgen.workflow.opened import open_bundle

        return open_bundle
    raise AttributeError(f"module 'reportgen' has no attribute {name!r}")
