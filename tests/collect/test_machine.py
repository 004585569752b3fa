"""What the machine tells of its software: the `ncu_report` that would be imported, wherever it comes from."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from reportgen.collect import machine, ncu_options
from reportgen.collect.probe import Probe
from reportgen.evidence.provenance import Fact
from tests.collect import fake_ncu


@pytest.fixture(autouse=True)
def _not_imported_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ncu_report", raising=False)
    monkeypatch.setenv("FAKE_NCU_HELP", "2025.3")


def extras(tool: Path, text: str = "x = 1\n") -> Path:
    """Lay a module as Nsight Compute does, below its own folder, and return the folder that goes on the path."""
    folder = tool / "extras" / "python"
    folder.mkdir(parents=True)
    (folder / "ncu_report.py").write_text(text)
    return folder


def test_a_package_tells_its_own_version() -> None:
    assert machine.ncu_report() == Fact(metadata.version("ncu-report"), "", "the package")


def test_a_module_of_nsight_compute_is_as_old_as_the_ncu_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(extras(tmp_path))
    fake_ncu.install(tmp_path)

    found = machine.ncu_report()

    assert found.value == ncu_options.version(str(tmp_path / "ncu"))
    assert str(found.value).startswith("2025.3")
    assert found.origin == "the ncu that the module lies beside"
    assert Probe().package("ncu_report") == found.value


def test_a_module_that_tells_its_version_is_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(extras(tmp_path, "__version__ = '2027.1.0'\n"))
    fake_ncu.install(tmp_path)

    assert machine.ncu_report() == Fact("2027.1.0", "", "the module")


@pytest.mark.parametrize("folder", ["nsight-compute-2025.3.1", "nsight-compute/2025.3.1"])
def test_without_an_ncu_the_folders_name_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.syspath_prepend(extras(tmp_path / folder))

    assert machine.ncu_report() == Fact("2025.3.1", "", "the name of the folder that the module lies in")


def test_a_module_from_nowhere_is_there_and_of_an_unknown_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(extras(tmp_path))

    assert machine.ncu_report() == Fact(None, "the module tells no version, and no ncu lies beside it")
    assert Probe().package("ncu_report") == "of an unknown version"


def test_without_the_module_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda name: None)

    assert machine.ncu_report() == Fact(None, "ncu_report is not installed")
