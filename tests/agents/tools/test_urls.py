"""Which addresses may be fetched, however they are spelled (B87)."""

import json
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.urls import MAX_REDIRECTS, Resolve, Target, UrlRefused, checked, followed, is_public

B87 = json.loads((Path(__file__).parents[2] / "cases" / "B87-ssrf.json").read_text())
PUBLIC = "93.184.216.34"


def names(*addresses: str) -> Resolve:
    async def resolve(host: str, port: int) -> Sequence[str]:
        del host, port
        return addresses

    return resolve


@pytest.mark.parametrize("url", B87["deny"])
async def test_what_is_near_is_refused_in_any_spelling_b87(url: str) -> None:
    with pytest.raises(UrlRefused):
        await checked(url, resolve=names(PUBLIC))


@pytest.mark.parametrize("url", B87["allow_if_dns_public"])
async def test_what_is_public_is_fetched_b87(url: str) -> None:
    target = await checked(url, resolve=names(PUBLIC, "2606:2800:220:1::1"))

    assert target.url == url
    assert all(is_public(address) for address in target.addresses)


@pytest.mark.parametrize(
    "addresses", [("127.0.0.1",), (PUBLIC, "10.0.0.1"), ("fe80::1%eth0",), ("::ffff:10.0.0.1",), ()]
)
async def test_every_address_of_a_name_is_judged_b87(addresses: tuple[str, ...]) -> None:
    with pytest.raises(UrlRefused):
        await checked("https://example.com/", resolve=names(*addresses))


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com\\@127.0.0.1/", "http://exa mple.com/", "http:///x", "http://x/", "//example.com/",
        "http://a.localhost/", "http://metadata.google.internal/", "http://printer.local/", "http://[::1/",
        "http://example.com:99999/", "http://256.256.256.256/", "http://1.2.3.4.5/", "http://example..com/",
        "http://me:pw@example.com/", "HTTP://LOCALHOST/", "http://example.com\n/", "http://xn--/",
    ],
)  # fmt: skip
async def test_what_is_no_clear_public_address_is_refused(url: str) -> None:
    with pytest.raises(UrlRefused):
        await checked(url, resolve=names(PUBLIC))


async def test_a_name_without_an_address_is_told_as_one() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise OSError(-2, "Name or service not known")

    with pytest.raises(UrlRefused, match=r"example\.com has no address"):
        await checked("https://example.com/", resolve=resolve)


async def test_the_target_says_where_to_connect() -> None:
    target = await checked("https://Example.COM.:8443/a?b", resolve=names(PUBLIC))

    assert (target.host, target.port, target.addresses) == ("example.com", 8443, (ip_address(PUBLIC),))
    assert (await checked("https://bücher.example/", resolve=names(PUBLIC))).host == "xn--bcher-kva.example"


async def test_each_redirect_is_judged_anew_b87() -> None:
    seen: list[str] = []

    async def visit(target: Target) -> str | None:
        seen.append(target.url)
        return "http://127.0.0.1/" if target.url.endswith("/next") else "/next"

    with pytest.raises(UrlRefused, match=r"127\.0\.0\.1"):
        await followed("https://example.com/", resolve=names(PUBLIC), visit=visit)
    assert seen == ["https://example.com/", "https://example.com/next"]


@pytest.mark.parametrize(("steps", "arrives"), [(MAX_REDIRECTS, True), (MAX_REDIRECTS + 1, False)])
async def test_redirects_come_to_an_end(steps: int, arrives: bool) -> None:
    seen: list[str] = []

    async def visit(target: Target) -> str | None:
        seen.append(target.url)
        return f"/{len(seen)}" if len(seen) <= steps else None

    if arrives:
        assert (await followed("https://example.com/", resolve=names(PUBLIC), visit=visit)).url.endswith(
            str(steps)
        )
    else:
        with pytest.raises(UrlRefused, match="more than"):
            await followed("https://example.com/", resolve=names(PUBLIC), visit=visit)


@given(st.text(max_size=40))
async def test_no_text_breaks_the_check(text: str) -> None:
    for url in (text, f"http://{text}/", f"http://example.com:{text}"):
        try:
            await checked(url, resolve=names(PUBLIC))
        except UrlRefused:
            continue


@given(st.integers(0, 2**32 - 1))
def test_no_old_address_is_public_inside_a_new_one(number: int) -> None:
    for carrying in (
        number,  # compatible
        (0xFFFF << 32) + number,  # mapped
        (0x64FF9B << 96) + number,  # NAT64
        (0x2002 << 112) + (number << 80),  # 6to4
    ):
        assert not is_public(ip_address(carrying.to_bytes(16, "big")))
