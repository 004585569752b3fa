"""A whole build: what is published, what is used again, and what a spoiled bundle does."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from reportgen.dossier.environment import TemplateFault
from reportgen.evidence.errors import EnvironmentLacks, UserError
from reportgen.evidence.verify import verify
from reportgen.publish import keys
from reportgen.publish import site as site_module
from reportgen.publish.site import StrictError, size, unbroken
from tests.publish.conftest import Renderer, Site


def test_a_dossier_stands_at_its_address_and_the_front_page_links_to_it(site: Site, renderer: Renderer) -> None:
    bundle = site.add()
    built = site.build()

    folder = f"matmul/{bundle.name}"
    assert renderer.asked == [(bundle.name, "public", "a4", ("html", "pdf"))]
    assert (built.dossiers, built.rendered, built.reused, built.warnings) == (1, 1, 0, ())
    assert built.front == site.public / "index.html"
    assert {
        "index.html",
        "404.html",
        "index.json",
        ".nojekyll",
        f"{folder}/dossier.html",
        f"{folder}/dossier.pdf",
        f"{folder}/dossier_files/long.csv",
        f"{folder}/evidence/manifest-sha256.txt",
    } <= set(site.files())
    assert f'href="{folder}/dossier.html"' in site.front()
    assert "About matmul" in site.front()
    assert "k takes 1.23\N{NO-BREAK SPACE}us." in site.front()
    assert "summary.json" not in str(site.files().keys())


def test_every_link_leads_somewhere(site: Site, renderer: Renderer) -> None:
    for day in (1, 2, 3):
        site.add(day=day)
    site.add("gather-索引", below="deep/er")
    site.build()

    for page in site.public.rglob("index.html"):
        for link in _Links.of(page):
            path, _, fragment = link.partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), link
            if fragment:
                assert f'id="{fragment}"' in target.read_text(encoding="utf-8")


def test_index_json_holds_every_file_with_its_digest(site: Site, renderer: Renderer) -> None:
    bundle = site.add()
    site.build()
    index = json.loads(site.files()["index.json"])
    (dossier,) = index["dossiers"]

    assert (index["format"], index["tier"], index["newest"]) == (1, "public", "20261130T211006Z")
    assert dossier["digest"].startswith(bundle.name.split("-")[1])
    assert dossier["summary"]["headline"] == "k takes 1.23 us."
    below = {name.removeprefix(f"{dossier['path']}/") for name in site.files() if name.startswith(dossier["path"])}
    assert set(dossier["files"]) == below


def test_a_second_build_renders_nothing_and_gives_the_same_bytes(site: Site, renderer: Renderer) -> None:
    site.add()
    site.add("fusion")
    site.build()
    before = site.files()
    renderer.asked.clear()
    built = site.build()

    assert renderer.asked == []
    assert (built.rendered, built.reused) == (0, 2)
    assert site.files() == before


def test_a_fresh_build_elsewhere_gives_the_same_bytes(site: Site, renderer: Renderer, tmp_path: Path) -> None:
    other = Site(tmp_path / "other")
    for suite in ("matmul", "fusion"):
        site.add(suite)
        other.add(suite)
    site.build()
    other.build()

    assert site.files() == other.files()


def test_a_new_night_renders_itself_and_takes_the_pdf_from_the_last_one(site: Site, renderer: Renderer) -> None:
    older, last = site.add(day=1), site.add(day=2)
    site.build()
    renderer.asked.clear()
    new = site.add(day=3)
    built = site.build()

    assert {(name, formats) for name, _, _, formats in renderer.asked} == {
        (new.name, ("html", "pdf")),
        (last.name, ("html",)),
    }
    assert built.reused == 1
    assert f"matmul/{older.name}/dossier.html" in site.files()
    assert f"matmul/{last.name}/dossier.pdf" not in site.files()


@pytest.mark.parametrize(("pdf", "count"), [("latest", 2), ("all", 3), ("none", 0)])
def test_pdfs_are_made_as_the_settings_say(site: Site, renderer: Renderer, pdf: str, count: int) -> None:
    site.settings(f'pdf = "{pdf}"')
    site.add(day=1)
    site.add(day=2)
    site.add(day=1, gpu="NVIDIA B200")
    site.build()

    assert sum(name.endswith(".pdf") for name in site.files()) == count


def test_every_input_is_in_the_key(site: Site, renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add()
    site.build()

    def rendered(**options: object) -> int:
        return site.build(**options).rendered

    assert rendered() == 0
    assert rendered(tier="full") == 1
    site.settings('tier = "full"\npaper = "letter"')
    assert rendered() == 1
    site.settings('tier = "full"\npaper = "letter"\npdf = "none"')
    assert rendered() == 1
    site.settings('title = "Another"\ntier = "full"\npaper = "letter"\npdf = "none"')
    assert rendered() == 0
    monkeypatch.setattr(keys, "program", lambda: "another state of the source or the templates")
    assert rendered() == 1


def test_a_site_s_own_templates_go_before_ours_and_into_the_key(site: Site, renderer: Renderer) -> None:
    site.add()
    site.build()
    without = renderer.templates
    assert without is None

    own = site.path / "templates"
    (own / "site").mkdir(parents=True)
    front = '{% extends "shipped/site/front.html.j2" %}{% block footer %}<p>Of the group.</p>{% endblock %}'
    (own / "site/front.html.j2").write_text(front)
    (own / "site/own.css").write_text("h1 { color: #123456; }")
    assert site.build().rendered == 1
    assert renderer.templates == own
    assert "<p>Of the group.</p>" in site.front()
    assert next(text for name, text in site.files().items() if name.endswith(".css")).endswith(
        b"h1 { color: #123456; }"
    )
    assert site.build().rendered == 0

    (own / "site/own.css").write_text("h1 { color: #654321; }")
    assert site.build().rendered == 1


@pytest.mark.parametrize(("name", "text"), [("front.html.j2", "{{ page.lost }}"), ("404.html.j2", "{% if %}")])
def test_a_template_that_cannot_be_used_stops_the_build(site: Site, renderer: Renderer, name: str, text: str) -> None:
    site.add()
    site.build()
    before = site.files()
    (site.path / "templates/site").mkdir(parents=True)
    (site.path / "templates/site" / name).write_text(text)

    with pytest.raises(TemplateFault, match=f"templates/site/{name}:1: cannot be rendered: "):
        site.build()
    assert site.files() == before


def test_a_template_that_spoils_every_dossier_stops_the_build(site: Site, renderer: Renderer) -> None:
    site.add()
    renderer.fails[site.add(day=29).name] = TemplateFault("templates/dossier/page.html.j2:1", "cannot be rendered")

    with pytest.raises(TemplateFault):
        site.build()


def test_the_program_s_digest_covers_source_and_templates(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.html").write_text("1")
    one = keys._folder(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/x.pyc").write_text("1")
    assert keys._folder(tmp_path) == one
    (tmp_path / "a/x.html").write_text("2")
    assert keys._folder(tmp_path) != one


@pytest.mark.parametrize("damage", ["index", "file", "cut"])
def test_what_is_damaged_in_the_earlier_site_is_made_again(site: Site, renderer: Renderer, damage: str) -> None:
    bundle = site.add()
    site.build()
    before = site.files()
    page = site.public / "matmul" / bundle.name / "dossier.html"
    if damage == "index":
        (site.public / "index.json").write_text("{")
    elif damage == "file":
        page.unlink()
    else:
        page.write_bytes(b"")

    assert site.build().rendered == 1
    assert site.files() == before


def test_an_index_that_leads_out_of_the_site_is_not_believed(site: Site, renderer: Renderer) -> None:
    site.add()
    site.build()
    index = json.loads(site.files()["index.json"])
    index["dossiers"][0]["files"]["../../../../secret"] = {"bytes": 1, "sha256": ""}
    (site.public / "index.json").write_text(json.dumps(index))

    assert site.build().rendered == 1


# What goes wrong


def spoil(bundle: Path) -> None:
    (bundle / "data/import/a.ncu-rep").write_bytes(b"changed")


def test_a_spoiled_bundle_is_named_and_the_rest_is_published(site: Site, renderer: Renderer) -> None:
    good, bad = site.add("good"), site.add("bad")
    spoil(bad)
    built = site.build()

    assert built.dossiers == 1
    assert renderer.names == [good.name]
    assert len(built.warnings) == 1
    assert built.warnings[0].startswith(f"bundles/bad/{bad.name}: spoiled: data/import/a.ncu-rep: ")
    assert not any(name.startswith("bad/") for name in site.files())


def test_a_bundle_that_cannot_be_opened_is_named_without_this_machine_s_path(site: Site, renderer: Renderer) -> None:
    bad = site.add()
    (bad / "data/bundle.json").write_text("{}")
    built = site.build()

    assert built.dossiers == 0
    assert built.warnings[0].startswith(f"bundles/matmul/{bad.name}: ")
    assert str(site.path) not in built.warnings[0]


def test_a_strict_build_with_a_warning_publishes_nothing(site: Site, renderer: Renderer) -> None:
    site.add("good")
    site.build()
    before = site.files()
    spoil(site.add("bad"))

    with pytest.raises(StrictError, match="1 warning in a strict build") as caught:
        site.build(strict=True)
    assert caught.value.exit_code == 1
    assert len(caught.value.warnings) == 1
    assert site.files() == before


def test_only_a_strict_build_verifies_what_it_uses_again(site: Site, renderer: Renderer) -> None:
    bundle = site.add()
    site.build()
    spoil(bundle)

    assert site.build().warnings == ()
    with pytest.raises(StrictError):
        site.build(strict=True)


def test_a_fault_of_ours_in_one_dossier_is_a_warning(site: Site, renderer: Renderer) -> None:
    bundle = site.add("bad")
    site.add("good")
    renderer.fails[bundle.name] = ZeroDivisionError("of nothing")
    built = site.build()

    assert built.dossiers == 1
    assert re.search(r"internal error at conftest.py:\d+: ZeroDivisionError: of nothing", built.warnings[0])


def test_what_every_dossier_lacks_stops_the_build(site: Site, renderer: Renderer) -> None:
    bundle = site.add()
    renderer.fails[bundle.name] = EnvironmentLacks(None, "no Pango", "install it")

    with pytest.raises(EnvironmentLacks):
        site.build()
    assert not site.public.exists()


def test_a_bundle_that_stands_there_twice_is_published_once(site: Site, renderer: Renderer) -> None:
    site.add()
    site.add(below="copy")
    built = site.build()

    assert built.dossiers == 1
    assert "the same bundle as bundles/copy/" in built.warnings[0]


def test_a_build_that_fails_leaves_the_earlier_site(
    site: Site, renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add()
    site.build()
    before = site.files()

    def burst(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(site_module, "front_page", burst)
    with pytest.raises(ZeroDivisionError):
        site.build()
    assert site.files() == before
    assert sorted(path.name for path in site.path.iterdir()) == ["bundles", "public"]


def test_a_folder_that_no_build_has_made_is_not_replaced(site: Site, renderer: Renderer) -> None:
    site.public.mkdir()
    (site.public / "mine.txt").write_text("mine")

    with pytest.raises(UserError, match="did not make"):
        site.build()
    assert site.files() == {"mine.txt": b"mine"}


def test_a_site_without_evidence_says_how_to_get_some(site: Site, renderer: Renderer) -> None:
    built = site.build()

    assert built.dossiers == 0
    assert "reportgen import" in built.warnings[0]
    assert "No evidence yet" in site.front()


def test_a_site_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        Site(tmp_path / "none").build()


# What the pages say


def test_the_newest_comes_first_and_earlier_ones_fold_away(site: Site, renderer: Renderer) -> None:
    first = site.add("old", day=2)
    for day in (1, 5, 3):
        site.add("new", day=day)
    site.build()
    front = site.front()

    assert front.index("About new") < front.index("About old")
    assert "2 earlier dossiers" in front
    assert (
        front.index("05 November 2026</time></dd>") < front.index("03 November 2026</time>") < front.index(first.name)
    )
    assert "4 dossiers of 2 suites, measured on NVIDIA H200. The newest evidence is of <time>05 November 2026<" in front


def test_another_scenario_is_no_earlier_version(site: Site, renderer: Renderer) -> None:
    site.add(day=1, scenario="default")
    site.add(day=2, scenario="continuous")
    site.build()

    assert "earlier dossier" not in site.front()
    assert site.front().count("<article") == 2
    assert sum(name.endswith(".pdf") for name in site.files()) == 2


def test_figures_stay_with_their_units() -> None:
    said = unbroken("fp16 takes 26.06 us at n = 2048 (SM 10.42 %), 13.19 times as fast, 3 runs of 2 sorts")

    assert said.replace("\N{NO-BREAK SPACE}", "_") == (
        "fp16 takes 26.06_us at n_=_2048 (SM 10.42_%), 13.19_times as fast, 3_runs of 2 sorts"
    )


@pytest.mark.parametrize(
    "name", ["</script><script>alert(1)</script>", 'a & b "c", d<e>', "{{ 7 * 7 }}", "x" * 8000, "' onload='alert(1)"]
)
def test_hostile_names_are_shown_as_text(site: Site, renderer: Renderer, name: str) -> None:
    renderer.title = name
    site.settings(f"title = {json.dumps(name[:150])}\ndescription = {json.dumps(name[:150])}")
    site.add()
    site.build()

    for page in ("index.html", "404.html"):
        tags = _Links.parse(site.public / page)
        assert "script" not in tags.tags
        assert not any(attribute.startswith("on") for attribute in tags.attributes)
    assert name in _Links.parse(site.public / "index.html").text


def test_pages_need_no_network_and_no_inline_style(site: Site, renderer: Renderer) -> None:
    site.add()
    site.build()
    front = site.front()

    assert "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:" in front
    assert "style=" not in front
    assert "<style" not in front
    assert not re.search(r'(?:href|src)="(?:https?:)?//', front)


def test_the_missing_page_links_to_the_published_address(site: Site, renderer: Renderer) -> None:
    site.settings('base_address = "https://perf.example.org/gpu"')
    site.build()

    assert 'href="https://perf.example.org/gpu/"' in (site.public / "404.html").read_text()


def test_the_public_tier_withholds_reports_and_hosts(site: Site, renderer: Renderer) -> None:
    site.add()
    site.build()
    assert not any(name.endswith(".ncu-rep") for name in site.files())
    assert not any(b"secret-host" in data for data in site.files().values())
    assert "public tier" in site.front()

    site.build(tier="full")
    assert any(name.endswith(".ncu-rep") for name in site.files())
    assert any(b"secret-host" in data for data in site.files().values())
    assert "full tier" in site.front()


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (1234, "1.23 kB"),
        (412_345, "412 kB"),
        (999_499, "999 kB"),
        (999_600, "1 MB"),
        (2_140_000, "2.14 MB"),
        (35_000_000_000, "35 GB"),
    ],
)
def test_sizes_in_words(n: int, text: str) -> None:
    assert size(n) == text


class _Links(HTMLParser):
    """What a page holds: its links, tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    @classmethod
    def parse(cls, page: Path) -> _Links:
        parser = cls()
        parser.feed(page.read_text(encoding="utf-8"))
        return parser

    @classmethod
    def of(cls, page: Path) -> list[str]:
        return [link for link in cls.parse(page).links if not link.startswith("data:")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value for name, value in attrs if name in {"href", "src"} and value]

    def handle_data(self, data: str) -> None:
        self.text += data


# What people do to a site


def test_what_a_person_put_into_the_site_stays(site: Site, renderer: Renderer) -> None:
    gone = site.add("gone")
    site.build()
    (site.public / "CNAME").write_text("perf.example.org")
    (site.public / ".git").mkdir()
    (site.public / ".git/HEAD").write_text("ref")
    (site.public / "latest.html").symlink_to("index.html")
    shutil.rmtree(gone)
    site.add("new")
    site.build()
    site.build()
    files = site.files()

    assert (files["CNAME"], files[".git/HEAD"]) == (b"perf.example.org", b"ref")
    assert (site.public / "latest.html").readlink() == Path("index.html")
    assert not any(name.startswith("gone/") for name in files)
    assert len([name for name in files if name.startswith("assets/")]) == 1


def test_an_index_of_another_program_is_not_ours(site: Site, renderer: Renderer) -> None:
    site.public.mkdir()
    (site.public / "index.json").write_text('{"mine": 1}')

    with pytest.raises(UserError, match="did not make"):
        site.build()
    assert list(site.files()) == ["index.json"]


def test_a_strict_build_finds_a_page_that_was_changed(site: Site, renderer: Renderer) -> None:
    bundle = site.add()
    site.build()
    before = site.files()
    page = site.public / "matmul" / bundle.name / "dossier.html"
    data = bytearray(page.read_bytes())
    data[-1] ^= 1
    page.write_bytes(data)

    assert site.build(strict=True).rendered == 1
    assert site.files() == before


def test_a_page_that_became_a_link_is_made_again(site: Site, renderer: Renderer, tmp_path: Path) -> None:
    bundle = site.add()
    site.build()
    page = site.public / "matmul" / bundle.name / "dossier.html"
    page.rename(tmp_path / "elsewhere.html")
    page.symlink_to(tmp_path / "elsewhere.html")

    assert site.build().rendered == 1
    assert not page.is_symlink()


def test_a_linked_bundle_is_published(site: Site, renderer: Renderer, tmp_path: Path) -> None:
    made = site.add()
    shutil.move(made, tmp_path / made.name)
    made.symlink_to(tmp_path / made.name)

    assert site.build().dossiers == 1


def test_a_bundle_without_its_declaration_is_named(site: Site, renderer: Renderer) -> None:
    (site.add() / "bagit.txt").unlink()
    built = site.build()

    assert built.dossiers == 0
    assert "bagit.txt" in built.warnings[0]


def test_bundles_that_are_a_file(site: Site, renderer: Renderer) -> None:
    (site.path / "bundles").write_text("")
    with pytest.raises(UserError, match="bundles: is not a folder"):
        site.build()


def test_a_bundle_is_no_site(site: Site, renderer: Renderer) -> None:
    bundle = site.add()
    with pytest.raises(UserError, match="lies in the bundle"):
        Site(bundle).build()
    assert verify(bundle) == ()
