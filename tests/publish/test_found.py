"""Bundles are found at any depth, and each has an address of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.publish.found import bags, segment


def test_bags_are_found_at_any_depth_but_not_in_bags_or_hidden_folders(tmp_path: Path) -> None:
    for name in ("b", "a/x/y", "a/x/y/data/inner", ".partial-1", "c/.git/z"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "bagit.txt").touch()
    (tmp_path / "empty").mkdir()

    assert list(bags(tmp_path)) == [tmp_path / "a/x/y", tmp_path / "b"]


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert list(bags(tmp_path / "none")) == []


@pytest.mark.parametrize("name", ["matmul", "matmul_precision", "fused-add.2"])
def test_a_plain_name_is_its_own_address(name: str) -> None:
    assert segment(name) == name


@pytest.mark.parametrize(
    "name", ["index.html", "assets", "..", "MatMul", "gather-索引", "a b", "a/b", "%2e%2e", "a?b#c"]
)
def test_another_name_gets_a_mark(name: str) -> None:
    assert segment(name) != name
    assert segment(name).isascii()
    assert not set(segment(name)) & set("/ ?#%&<>\"'")


@given(st.text(), st.text())
def test_two_names_never_share_an_address(one: str, other: str) -> None:
    assert (segment(one) == segment(other)) == (one == other)
    assert segment(one).lower() == segment(one)


def test_links_to_folders_are_followed_each_once(tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    for folder in (site / "own", elsewhere / "x"):
        folder.mkdir(parents=True)
        (folder / "bagit.txt").touch()
    (site / "linked").symlink_to(elsewhere)
    (site / "again").symlink_to(elsewhere / "x")
    (site / "round").symlink_to(site)
    (site / "gone").symlink_to("nowhere")

    assert list(bags(site)) == [site / "again", site / "own"]


def test_a_bag_that_lost_its_declaration_is_still_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a/data").mkdir(parents=True)
    (tmp_path / "a/tagmanifest-sha256.txt").touch()

    assert list(bags(tmp_path)) == [tmp_path / "a"]


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shut").mkdir()
    scan = os.scandir

    def refuse(place: str | Path) -> object:
        if Path(place).name == "shut":
            raise PermissionError(13, "Permission denied", str(place))
        return scan(place)

    monkeypatch.setattr(os, "scandir", refuse)
    told: list[tuple[Path, str]] = []

    assert list(bags(tmp_path, lambda place, why: told.append((place, why)))) == []
    assert told == [(tmp_path / "shut", "permission denied")]
