"""site.toml: defaults, and mistakes named with their key and the mend."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reportgen.evidence.errors import UserError
from reportgen.publish.config import SiteConfig, load


def test_without_a_file_all_are_the_defaults(tmp_path: Path) -> None:
    config = load(tmp_path)

    assert config == SiteConfig()
    assert (config.pdf, config.tier, config.paper) == ("latest", "public", "a4")


def test_every_key_is_read(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(
        'title = "T"\ndescription = "D"\nbase_address = "https://perf.example.org/gpu"\n'
        'pdf = "all"\ntier = "full"\npaper = "letter"\n'
    )
    config = load(tmp_path)

    assert config.title == "T"
    assert config.base_address == "https://perf.example.org/gpu/"
    assert (config.pdf, config.tier, config.paper) == ("all", "full", "letter")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('titel = "T"', "unknown key 'titel'; did you mean 'title'?"),
        ("zzzz = 1", "unknown key 'zzzz'; the keys are title, description, base_address, pdf, tier, paper"),
        ('pdf = "newest"', "key 'pdf' is 'newest'; give 'latest', 'all' or 'none'"),
        ("title = 7", "key 'title': Input should be a valid string"),
        ('title = ""', "key 'title': String should have at least 1 character"),
        ('base_address = "perf.example.org"', "give a whole address that begins with https://"),
        ('titel = "T"\npfd = "all"', "(and 1 more)"),
        ("title = ", "not TOML: "),
        ('title = "T"\npdf = all', "at line 2"),
    ],
)
def test_a_mistake_is_named_with_the_file_the_key_and_the_mend(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "site.toml").write_text(text)

    with pytest.raises(UserError) as caught:
        load(tmp_path)
    assert caught.value.exit_code == 2
    assert caught.value.line.startswith(f"{tmp_path / 'site.toml'}: ")
    assert said in caught.value.line


def test_what_is_not_utf8_is_said(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_bytes(b'title = "\xff"')

    with pytest.raises(UserError, match="not UTF-8 at byte 9"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a = " + b"[" * 5000 + b"]" * 5000, "cannot be read as TOML"),
        (b"title = " + b"9" * 5000, "cannot be read as TOML"),
        (b"#" * (2 << 20), "is larger than 1048576 bytes"),
        (b'pdf = "' + b"x" * 20_000 + b'"', "key 'pdf' is 'x{80}…'; give"),
        (b'title = "  "', "key 'title': it is blank"),
        (b'title = "a\\u001b"', "key 'title': it holds a control character"),
        (b"base_address = 'https://a\" b'", "key 'base_address': give an address without spaces"),
    ],
)
def test_odd_files_are_told_in_one_line(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "site.toml").write_bytes(data)

    with pytest.raises(UserError, match=said) as caught:
        load(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/site.toml: ")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("what", ["pipe", "endless", "folder", "gone"])
def test_what_is_no_file_is_neither_read_nor_passed_over(tmp_path: Path, what: str) -> None:
    path = tmp_path / "site.toml"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if what == "endless" else "nowhere")

    with pytest.raises(UserError, match=r"site\.toml: cannot be read"):
        load(tmp_path)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_bytes(b'\xef\xbb\xbftitle = "T"\n')

    assert load(tmp_path).title == "T"
