"""Templates and suites are found in a checkout and in the wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen import resources
from reportgen.evidence.errors import EnvironmentLacks


def test_a_checkout_has_its_own() -> None:
    assert (resources.templates() / "shared" / "tokens.css").is_file()
    assert resources.suites().is_dir()


def test_the_wheel_s_go_before_the_checkout_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside, beside = tmp_path / "reportgen/_data/templates", tmp_path / "templates"
    beside.mkdir()
    monkeypatch.setattr(resources, "__file__", str(tmp_path / "reportgen/resources.py"))
    assert resources.templates() == beside
    inside.mkdir(parents=True)
    assert resources.templates() == inside


def test_an_installation_without_them_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "__file__", str(tmp_path / "reportgen/resources.py"))

    with pytest.raises(EnvironmentLacks, match="no templates; install reportgen again"):
        resources.templates()
