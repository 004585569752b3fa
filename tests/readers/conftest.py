"""Real files from an NVIDIA H200, and the truth beside them: ncu's own export."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture
def data() -> Path:
    """Return the folder of small real files."""
    return DATA
