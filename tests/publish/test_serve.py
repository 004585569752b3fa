"""The little server: files, the 404 page, and nothing else."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reportgen.evidence.errors import EnvironmentLacks, UserError
from reportgen.publish.serve import server


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[str, int]]:
    public = tmp_path / "public"
    (public / "a").mkdir(parents=True)
    (public / "index.html").write_text("front")
    (public / "404.html").write_text("the missing page")
    (public / "a/page.html").write_text("page")
    (public / "a/data.csv").write_text("x\n1\n")
    (tmp_path / "secret.txt").write_text("secret")
    (public / "link.txt").symlink_to(tmp_path / "secret.txt")
    with server(tmp_path, port=0, bind="127.0.0.1") as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield str(running.server_address[0]), int(running.server_address[1])
        running.shutdown()
        thread.join()


def get(address: tuple[str, int], path: str, method: str = "GET") -> tuple[int, str, http.client.HTTPResponse]:
    connection = http.client.HTTPConnection(*address, timeout=5)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read().decode(), response
    finally:
        connection.close()


@pytest.mark.parametrize(("path", "text"), [("/", "front"), ("/a/page.html", "page"), ("/a/data.csv", "x\n1\n")])
def test_files_are_served(address: tuple[str, int], path: str, text: str) -> None:
    assert get(address, path)[:2] == (200, text)


@pytest.mark.parametrize(
    "path", ["/none", "/a/b/c/none.html", "/a/", "/../secret.txt", "/%2e%2e/secret.txt", "/link.txt"]
)
def test_all_else_is_the_missing_page(address: tuple[str, int], path: str) -> None:
    assert get(address, path)[:2] == (404, "the missing page")


def test_a_head_has_no_body(address: tuple[str, int]) -> None:
    assert get(address, "/none", "HEAD")[:2] == (404, "")


def test_types_and_headers(address: tuple[str, int]) -> None:
    headers = get(address, "/a/data.csv")[2].headers

    assert headers["Content-Type"] == "text/csv; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_port_that_is_taken_is_told(address: tuple[str, int], tmp_path: Path) -> None:
    with (
        pytest.raises(EnvironmentLacks, match=r"is taken; choose another"),
        server(tmp_path, port=address[1], bind="127.0.0.1"),
    ):
        pass


def test_an_address_of_another_machine_is_told(address: tuple[str, int], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot listen on 192"), server(tmp_path, port=0, bind="192.0.2.1"):
        pass


def test_a_site_that_is_not_built(tmp_path: Path) -> None:
    with (
        pytest.raises(UserError, match="the site is not built; run: reportgen build"),
        server(tmp_path, port=0, bind="127.0.0.1"),
    ):
        pass


@pytest.mark.parametrize("path", ["/%00", "/a%00b", "/loop/x"])
def test_an_address_that_is_no_name_is_answered(address: tuple[str, int], tmp_path: Path, path: str) -> None:
    (tmp_path / "public/loop").symlink_to("loop")
    assert get(address, path)[:2] == (404, "the missing page")


@pytest.mark.parametrize("bind", ["", " "])
def test_an_empty_address_does_not_open_the_site_to_the_network(
    address: tuple[str, int], tmp_path: Path, bind: str
) -> None:
    with pytest.raises(UserError, match="--bind is empty"), server(tmp_path, port=0, bind=bind):
        pass
