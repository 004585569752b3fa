"""What travels inside a PDF: the bundle's files as its tier shows them, and what the dossier was written from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reportgen.dossier import jsonform
from reportgen.dossier.attachments import attachments
from reportgen.dossier.build import build
from reportgen.dossier.model import Tier
from reportgen.evidence.bundle import Bundle, open_bundle
from reportgen.evidence.redaction import redact
from reportgen.workflow.ingest import ingest
from tests.evidence import making

DATA = Path(__file__).resolve().parents[2] / "data"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    made = ingest([DATA / "thread.ncu-rep"], tmp_path_factory.mktemp("bundles"), suite="one")
    return open_bundle(made.path)


def test_full_are_the_bundles_own_bytes(bundle: Bundle) -> None:
    found = attachments(build(bundle, "full"), bundle)
    kept = {attachment.path: attachment.data for attachment in found if attachment.path}

    assert {"data/bundle.json", "data/provenance.json", "manifest-sha256.txt", "tagmanifest-sha256.txt"} < set(kept)
    assert any(path.endswith(("processed.csv", "processed.csv.zst")) for path in kept)
    assert all(bundle.read(path) == data for path, data in kept.items())


def test_public_are_what_redaction_gives(bundle: Bundle) -> None:
    found = attachments(build(bundle, "public"), bundle)
    kept = {attachment.path: attachment.data for attachment in found if attachment.path}

    assert all(redact(path, bundle.read(path)) == data for path, data in kept.items())


def test_public_hides_what_full_shows(tmp_path: Path) -> None:
    made = open_bundle(making.make(tmp_path))
    secret = str(made.provenance.facts["host.name"].value).encode()

    assert len(secret) > 3
    assert _holding(made, "full", secret) >= {"provenance.json", "dossier.json"}
    assert _holding(made, "public", secret) == set()


def _holding(bundle: Bundle, tier: Tier, text: bytes) -> set[str]:
    return {attachment.name for attachment in attachments(build(bundle, tier), bundle) if text in attachment.data}


@pytest.mark.parametrize("tier", ["public", "full"])
def test_the_dossier_itself_and_its_tables_are_there(bundle: Bundle, tier: Tier) -> None:
    dossier = build(bundle, tier)
    found = {attachment.name: attachment for attachment in attachments(dossier, bundle)}

    assert found["dossier.json"].data == jsonform.render(dossier)
    assert found["dossier.json"].relationship == "Alternative"
    held = {attachment.data for attachment in found.values()}
    assert all(file.inline or file.text.encode() in held for file in dossier.data)


def test_no_two_are_alike(bundle: Bundle) -> None:
    dossier = build(bundle, "full")
    table = next(file for file in dossier.data if not file.inline)
    twice = replace(dossier, data=(*dossier.data, replace(table, name="again.csv"), replace(table, text="other\n")))
    found = attachments(twice, bundle)

    assert len({attachment.data for attachment in found}) == len(found)
    assert len({attachment.name for attachment in found}) == len(found)
    assert "again.csv" not in {attachment.name for attachment in found}


def test_sizes_and_digests_are_those_of_the_bytes(bundle: Bundle) -> None:
    for attachment in attachments(build(bundle, "full"), bundle):
        assert attachment.size.value == len(attachment.data)
        assert len(attachment.sha256) == 64
    listed = {file.path: file.sha256 for file in bundle.files()}
    kept = [attachment for attachment in attachments(build(bundle, "full"), bundle) if attachment.path]
    assert all(listed[attachment.path] == attachment.sha256 for attachment in kept)
