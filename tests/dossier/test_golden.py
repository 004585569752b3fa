"""The dossiers of the shipped bundles say what they said when they were last accepted; `make golden` accepts a change."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reportgen.dossier.render import pages
from tests.dossier import goldens, shipped
from tests.dossier.goldens import GOLDEN, SCRUBS, Golden, Scrub, normal

ACCEPT = "If this is meant, look through it and accept it: make golden"


@pytest.fixture(scope="module")
def accepted() -> Golden:
    return goldens.kept()


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return pages(shipped.BUNDLES[0], "public", formats=goldens.FORMATS)


@pytest.mark.parametrize("bundle", shipped.BUNDLES, ids=lambda path: f"{path.parent.name}-{path.name[:15]}")
def test_a_dossier_says_what_was_accepted(bundle: Path, accepted: Golden) -> None:
    suite, whole = bundle.parent.name, goldens.first_of_its_suite(bundle)
    was = Golden(
        {name: text for name, text in accepted.whole.items() if whole and name.startswith(f"{suite}/")},
        {name: digest for name, digest in accepted.digests.items() if name.startswith(f"{suite}/{bundle.name}/")},
    )

    if said := goldens.difference(was, goldens.of(bundle, whole)):
        pytest.fail(
            f"the dossier of {suite}/{bundle.name} differs from what was accepted\n{said}\n{ACCEPT}", pytrace=False
        )


def test_nothing_is_kept_of_bundles_that_are_no_longer_here(accepted: Golden) -> None:
    here = {f"{path.parent.name}/{path.name}" for path in shipped.BUNDLES}

    assert {name.rsplit("/", 1)[0].removesuffix("/dossier_files") for name in accepted.digests} == here, ACCEPT
    assert {name.split("/", maxsplit=1)[0] for name in accepted.whole} == {path.parent.name for path in shipped.BUNDLES}
    assert sum(path.stat().st_size for path in GOLDEN.rglob("*") if path.is_file()) < 3_000_000


@pytest.mark.parametrize("scrub", SCRUBS, ids=lambda scrub: f"{scrub.name} in {scrub.files}")
def test_every_scrub_takes_something_out_and_has_a_reason(scrub: Scrub, made: dict[str, bytes]) -> None:
    others = tuple(other for other in SCRUBS if other is not scrub)
    changed = [name for name, data in made.items() if normal(name, data, others) != normal(name, data)]

    assert any(name.endswith(scrub.files) for name in changed)
    assert all(name.endswith(scrub.files) for name in changed)
    assert len(scrub.reason) > 20


_PAGE = {  # what to change, and how
    "a figure": (r"(<data [^>]*>)[^<]+(</data>)", r"\g<1>7.77\2"),
    "an exact value": (r'(<data value=")[^"]+', r"\g<1>7.77"),
    "a source": (r'(data-source=")[^"]+', r"\g<1>elsewhere"),
    "a heading": (r"(<h2 [^>]*>)[^<]+", r"\1Other"),
    "a link": (r'(<a class="from" href=")[^"]+', r"\1#other"),
    "a mark": (r'(<span class="mark )[^"]+', r"\1other"),
    "what a chart is called": (r"(<title id=[^>]*>)[^<]+", r"\1Other"),
    "what a chart describes": (r"(<desc id=[^>]*>)[^<]+", r"\1Other"),
    "a word in a chart": (r"(<text [^>]*>)[^<]+", r"\1Other"),
    "data within the page": (r"(base64,)[A-Za-z0-9+/=]+", r"\1b3RoZXI="),
    "the rules of the policy": (r"base-uri &#39;none&#39;", "base-uri *"),
    "a row": (r"<tr><th scope=\"row\".*?</tr>", ""),
    "an order of elements": (r"(<section id=\"provenance\".*?</section>)(.*?)(?=</main>)", r"\2\1"),
}


@pytest.mark.parametrize("what", _PAGE)
def test_what_a_page_says_is_held(what: str, made: dict[str, bytes]) -> None:
    text = made["dossier.html"].decode()
    pattern, other = _PAGE[what]
    changed, times = re.subn(pattern, other, text, count=1, flags=re.DOTALL)

    assert times == 1
    assert normal("dossier.html", changed.encode()) != normal("dossier.html", made["dossier.html"])


_LOOKS = {
    "a stroke": (r'(<path d=")[^"]+', r"\1M 1 2 L 3 4"),
    "a rule of the style": (r"<style>", "<style>em { color: red }"),
    "the script": (r"<script>", "<script>0;"),
    "the hash of the style": (r"(style-src &#39;sha256-)[^&]+", r"\1b3RoZXI="),
    "the version of reportgen": (r"(content=\"reportgen )[^\"]+", r"\g<1>9.8.7"),
    "the version of reportgen in the footer": (r"(rendered by reportgen )[^,]+", r"\g<1>9.8.7"),
    "the version of reportgen beside its command": (r"(again, with reportgen )[^:]+", r"\g<1>9.8.7"),
    "space between elements": (r"</p>\n", "</p>\n\n  \n"),
}


@pytest.mark.parametrize("what", _LOOKS)
def test_how_a_page_looks_is_not(what: str, made: dict[str, bytes]) -> None:
    text = made["dossier.html"].decode()
    pattern, other = _LOOKS[what]
    changed, times = re.subn(pattern, other, text, count=1)

    assert times == 1
    assert normal("dossier.html", changed.encode()) == normal("dossier.html", made["dossier.html"])


def test_what_the_json_and_the_markdown_say_is_held(made: dict[str, bytes]) -> None:
    whole = json.loads(made["dossier.json"])
    text = normal("dossier.json", made["dossier.json"])
    whole["data"][0]["text"] += "1"
    assert normal("dossier.json", json.dumps(whole).encode()) != text
    whole = json.loads(made["dossier.json"])
    whole["findings"][0]["sentence"][0] = "other"
    assert normal("dossier.json", json.dumps(whole).encode()) != text
    whole = json.loads(made["dossier.json"]) | {"reportgen": "9.8.7"}
    assert normal("dossier.json", json.dumps(whole).encode()) == text

    said = made["dossier.md"].decode()
    assert normal("dossier.md", said.replace("|", "¦", 1).encode()) != normal("dossier.md", said.encode())


def test_a_difference_is_told_in_its_first_lines() -> None:
    was = Golden({"s/dossier.md.txt": "one\ntwo\nthree\nfour\n"}, {"s/b/dossier.md": "0", "s/b/old.csv": "1"})
    now = Golden({"s/dossier.md.txt": "one\nTWO\nthree\nfour\n"}, {"s/b/dossier.md": "2", "s/b/new.csv": "1"})

    assert goldens.difference(was, was) == ""
    assert goldens.difference(was, now).splitlines() == [
        "s/b/dossier.md differs",
        "s/b/new.csv is new",
        "s/b/old.csv is gone",
        "--- accepted/s/dossier.md.txt",
        "+++ s/dossier.md.txt",
        "@@ -1,3 +1,3 @@",
        " one",
        "-two",
        "+TWO",
        " three",
    ]
    long = Golden({"s/dossier.md.txt": "\n".join(map(str, range(500)))}, {})
    told = goldens.difference(was, long).splitlines()
    assert len(told) < 70
    assert re.fullmatch(r"… and \d+ lines more", told[-1])


def test_what_is_accepted_is_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "BUNDLES", shipped.BUNDLES[:1])
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone/dossier.md.txt").write_text("of a suite that is no longer here\n")

    changed = goldens.accept(tmp_path)
    suite = shipped.BUNDLES[0].parent.name
    assert changed == sorted(
        [goldens.DIGESTS, "gone/dossier.md.txt", *(f"{suite}/{name}.txt" for name in goldens.WHOLE)]
    )
    assert goldens.kept(tmp_path) == goldens.of(shipped.BUNDLES[0], True)
    assert goldens.accept(tmp_path) == []
