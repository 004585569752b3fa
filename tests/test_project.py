"""The project holds what its documents promise."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from reportgen import __version__, suite
from reportgen.analysis import processed
from reportgen.cli.commands import COMMANDS
from reportgen.collect import plan as plans
from reportgen.evidence import samples
from reportgen.evidence.bundle import BundleInfo, Formula
from reportgen.publish.config import SiteConfig
from reportgen.suite import BACKENDS

ROOT = Path(__file__).resolve().parent.parent
HEAVY = {"matplotlib", "numpy", "pandas", "pydantic", "scipy", "weasyprint"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))


def test_the_first_screen_of_the_readme_has_the_picture_and_the_two_commands() -> None:
    screen = "\n".join(read("README.md").splitlines()[:25])

    assert "docs/images/dossier.png" in screen
    assert "make report" in screen
    assert "make test" in screen


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_of_a_document_is_a_target(document: str) -> None:
    assert set(re.findall(r"^    make ([a-z]+)", read(document), re.MULTILINE)) <= targets()


def test_every_target_has_its_help() -> None:
    helped = set(re.findall(r"^([a-z]+):.*## \S", read("Makefile"), re.MULTILINE))

    assert {"report", "test", "check", "bench", "soak", "lock", "clean", "help"} <= helped
    assert targets() - helped == {"python", "pango"}


def test_every_command_of_the_readme_exists() -> None:
    used = set(re.findall(r"^    reportgen ([a-z]+)", read("README.md"), re.MULTILINE))

    assert used == set(COMMANDS)
    assert set(re.findall(r"^\| `([a-z]+)` \|", read("README.md"), re.MULTILINE)) == set(COMMANDS)


def test_every_setting_of_a_site_is_in_the_readme() -> None:
    line = next(line for line in read("README.md").splitlines() if "site.toml " in line)

    assert [name for name in SiteConfig.model_fields if name not in line] == []


def test_every_column_is_documented() -> None:
    text = read("docs/columns.md")
    ours = [*samples.BEFORE_PARAMS, *samples.AFTER_PARAMS, "param:<name>"]
    columns = [*ours, "Annotation", *processed.NSIGHT_COLUMNS, *processed.OUR_COLUMNS]

    assert [name for name in columns if f"`{name}`" not in text] == []


def test_every_key_of_a_bundle_is_documented() -> None:
    text = read("docs/bundle.md")
    keys = ["format", "id", *BundleInfo.__dataclass_fields__]

    assert [name for name in keys if f"| `{name}` |" not in text] == []


def test_every_key_of_a_plan_is_documented() -> None:
    text = read("docs/bundle.md")
    classes: tuple[Any, ...] = (plans.PlannedBenchmark, plans.PlannedConfig, plans.Formula, Formula)
    keys = ["backends", "quick", *(name for one in classes for name in one.__dataclass_fields__)]

    assert [name for name in keys if f"`{name}`" not in text] == []


def test_every_file_and_key_of_the_shipped_collections_is_documented() -> None:
    text = read("docs/bundle.md")
    found = [path for path in (ROOT / "site/bundles").rglob("data/*/*/*/*") if path.parts[-4] in BACKENDS]
    missing = {path.name for path in found if f"`{path.name}`" not in text} - {"worker.json"}
    told = [
        line for path in found if path.name in {"runs.jsonl", "done.json"} for line in path.read_text().splitlines()
    ]
    missing |= {key for line in told for key in _keys(json.loads(line)) if f"`{key}`" not in text}
    assert found
    assert missing == set()


def _keys(whole: dict[str, Any]) -> set[str]:
    """Return the keys of an object and of the objects in it; a configuration's are the suite's own."""
    inner = [value for name, value in whole.items() if isinstance(value, dict) and name != "params"]
    return {*whole, *(key for one in inner for key in _keys(one))}


def test_every_word_of_a_suite_is_documented() -> None:
    text = read("docs/suites.md")
    arguments = list(inspect.signature(suite.benchmark).parameters)
    words = ("annotate", "backend", "benchmark", "collector", "skip", "Thermal", "record", "TITLE", "QUESTION")

    assert [name for name in arguments if f"`{name}`" not in text] == []
    assert [name for name in words if not re.search(rf"`{name}`|\b{name}\(", text)] == []


def test_the_made_documents_are_fresh() -> None:
    ran = subprocess.run(
        [sys.executable, ".ci/docs.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ran.stdout + ran.stderr == ""


def test_the_tree_holds_no_machine_s_paths() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    ran = subprocess.run([sys.executable, ".ci/check_tree.py"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert ran.stdout == "tree: ok\n"


def test_requirements_are_pinned_and_hashed() -> None:
    for name in ("run", "dev", "bench"):
        text = read(f"requirements/{name}.txt")
        pins = re.findall(r"^[a-z].*$", text, re.MULTILINE)
        assert pins
        assert all("==" in pin for pin in pins)
        assert text.count("--hash=sha256:") >= len(pins)


def test_every_dependency_is_in_the_requirements() -> None:
    pyproject = tomllib.loads(read("pyproject.toml"))
    groups = pyproject["dependency-groups"]
    asked = {
        "run": pyproject["project"]["dependencies"] + groups["build"],
        "dev": groups["dev"],
        "bench": groups["bench"],
    }
    for name, wanted in asked.items():
        pinned = set(re.findall(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==", read(f"requirements/{name}.txt"), re.MULTILINE))

        assert {re.split(r"[>=<\[]", one)[0] for one in wanted if isinstance(one, str)} <= pinned


def test_importing_reportgen_loads_nothing_heavy() -> None:
    code = "import sys, reportgen; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert set(ast.literal_eval(loaded)) & HEAVY == set()


@pytest.mark.parametrize("module", ["reportgen.evidence.errors", "reportgen.resources", "reportgen.cli"])
def test_light_modules_stay_light(module: str) -> None:
    code = f"import sys, {module}; print(sorted({{m.split('.')[0] for m in sys.modules}}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert set(ast.literal_eval(loaded)) & HEAVY == set()


def test_no_module_uses_another_s_private_names() -> None:
    found = []
    for path in (ROOT / "reportgen").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reportgen"):
                found += [
                    f"{path.relative_to(ROOT)}: {name.name}"
                    for name in node.names
                    if name.name.startswith("_") and not name.name.startswith("__")
                ]

    assert found == []


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the same wheel, built twice."""
    built: list[Path] = []
    for _ in range(2):
        folder = tmp_path_factory.mktemp("wheel")
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", *options, str(ROOT)],
            check=True,
            capture_output=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1704067200"},
        )
        built += folder.glob("*.whl")
    return built


def test_the_wheel_is_reproducible(wheels: list[Path]) -> None:
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def test_the_wheel_carries_templates_and_suites(wheels: list[Path]) -> None:
    names = set(zipfile.ZipFile(wheels[0]).namelist())

    for folder in ("templates", "suites"):
        files = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert {f"reportgen/_data/{name}" for name in files if "__pycache__" not in name} <= names
    assert "reportgen/py.typed" in names
    assert f"reportgen-{__version__}.dist-info/licenses/LICENSE" in names
    assert not any(name.startswith(("tests/", "site/")) for name in names)


def test_the_wheel_renders_the_same_bytes_as_the_checkout(wheels: list[Path], tmp_path: Path) -> None:
    bundles = sorted(path.parent for path in (ROOT / "site/bundles").rglob("bagit.txt"))
    zipfile.ZipFile(wheels[0]).extractall(tmp_path / "installed")
    found = []
    for place in (tmp_path / "installed", ROOT):
        out = tmp_path / f"out-{place.name}"
        code = (
            f"import sys; sys.path.insert(0, {str(place)!r}); from reportgen.cli import main; import reportgen;"
            f"assert reportgen.__file__.startswith({str(place)!r});"
            f"sys.exit(main(['render', {str(bundles[0])!r}, '--out', {str(out)!r}]))"
        )
        subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, check=True, capture_output=True)
        found.append({path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()})

    assert {"dossier.html", "dossier.pdf"} <= set(found[0])
    assert found[0] == found[1]
