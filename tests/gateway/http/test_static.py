"""The files of the page."""

from pathlib import Path

import httpx
import pytest
from starlette.requests import Request

from gateway.http.static import load


def _request(etag: str = "") -> Request:
    return Request({"type": "http", "headers": [(b"if-none-match", etag.encode())]})


def test_files_of_known_types_are_found_and_the_index_is_the_root(tmp_path: Path) -> None:
    (tmp_path / "js").mkdir()
    (tmp_path / "index.html").write_text("<p>", encoding="utf-8")
    (tmp_path / "js" / "app.js").write_text("1", encoding="utf-8")
    (tmp_path / "notes.md").write_text("not for the web", encoding="utf-8")

    assert list(load(tmp_path)) == ["/", "/js/app.js"]


async def test_a_version_that_the_caller_has_is_not_sent_again(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>", encoding="utf-8")
    asset = load(tmp_path)["/"]

    first = await asset(_request())
    again = await asset(_request(f'W/"other", W/{first.headers["etag"]}'))

    assert (first.status_code, first.body, first.headers["cache-control"]) == (200, b"<p>", "no-cache")
    assert (again.status_code, again.body, again.headers["etag"]) == (
        304,
        b"",
        first.headers["etag"],
    )


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip, deflate, br", True),
        ("br;q=1, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("identity", False),
        ("", False),
    ],
)
async def test_a_file_is_packed_for_those_who_say_that_they_unpack_it(
    anyone: httpx.AsyncClient, accepted: str, packed: bool
) -> None:
    plain = await anyone.get("/js/app.js", headers={"accept-encoding": "identity"})
    answer = await anyone.get("/js/app.js", headers={"accept-encoding": accepted})
    again = await anyone.get(
        "/js/app.js", headers={"accept-encoding": accepted, "if-none-match": answer.headers["etag"]}
    )

    assert (answer.headers.get("content-encoding") == "gzip") is packed
    assert answer.content == plain.content
    assert (answer.headers["etag"] == plain.headers["etag"]) is not packed
    assert answer.headers["vary"] == "accept-encoding"
    assert (int(answer.headers["content-length"]) < len(plain.content)) is packed
    assert again.status_code == 304
