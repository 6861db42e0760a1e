"""Which Host and Origin headers pass."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.http.rules import HttpRules, host_allowed, origin_allowed, split_authority

LOCAL = HttpRules()
WIDE = HttpRules(host="0.0.0.0")
NAMED = HttpRules(
    host="192.168.1.5", allowed_hosts=("clawd.lan",), allowed_origins=("https://chat.example:8443",)
)

few = settings(max_examples=60, deadline=None)
labels = st.from_regex(r"[a-z][a-z0-9-]{0,10}", fullmatch=True)
names = st.lists(labels, min_size=2, max_size=4).map(".".join).filter(lambda n: not n.endswith("localhost"))


@pytest.mark.parametrize(
    "header",
    [
        "localhost",
        "LOCALHOST:18789",
        "localhost.",
        "clawd.localhost:1",
        "127.0.0.1:18789",
        "127.9.9.9",
        "[::1]:80",
    ],
)
def test_loopback_names_pass_whatever_the_binding(header: str) -> None:
    assert host_allowed(header, LOCAL)
    assert host_allowed(header, WIDE)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "notlocalhost",
        "evil.example:18789",
        "192.168.1.5",
        "0.0.0.0",
        "localhost@evil.example",
        "evil.example#localhost",
        "localhost:port",
        "localhost:",
        "localhost:99999",
        "localhost:0",
        "[::1",
        "[localhost]",
        "[::1]x",
        "::1",
        "127.1",
        "2130706433",
        "localhost, evil.example",
        "loc\u00e4lhost",
    ],
)
def test_other_names_are_refused_on_a_loopback_binding(header: str) -> None:
    assert not host_allowed(header, LOCAL)


def test_any_literal_address_but_no_name_passes_when_bound_to_all() -> None:
    assert host_allowed("192.168.1.5:18789", WIDE)
    assert host_allowed("[fd00::7]:18789", WIDE)
    assert not host_allowed("evil.example:18789", WIDE)


def test_the_bound_host_and_allowed_names_pass() -> None:
    assert host_allowed("192.168.1.5:18789", NAMED)
    assert host_allowed("Clawd.LAN", NAMED)
    assert not host_allowed("192.168.1.6:18789", NAMED)


@pytest.mark.parametrize(
    ("origin", "host", "passes"),
    [
        ("http://localhost:18789", "localhost:18789", True),
        ("http://LOCALHOST:18789", "localhost:18789", True),
        ("http://localhost", "localhost:80", True),
        ("https://clawd.lan", "clawd.lan", True),
        ("https://clawd.lan", "clawd.lan:443", True),
        ("https://chat.example:8443", "clawd.lan", True),
        ("https://chat.example:8443/", "clawd.lan", True),
        ("https://chat.example", "clawd.lan", False),
        ("http://localhost:3000", "localhost:18789", False),
        ("http://127.0.0.1:18789", "localhost:18789", False),
        ("http://evil.example", "localhost:18789", False),
        ("null", "localhost:18789", False),
        ("", "localhost:18789", False),
        ("http://", "localhost:18789", False),
        ("http://[::1", "[::1]:18789", False),
        ("http://[::1]:18789", "[::1]:18789", True),
        ("http://user@localhost:18789", "localhost:18789", False),
        ("http://localhost:18789/page", "localhost:18789", False),
        ("file://localhost:18789", "localhost:18789", False),
        ("chrome-extension://abcdef", "localhost:18789", False),
    ],
)
def test_an_origin_passes_when_it_is_the_host_or_allowed(origin: str, host: str, passes: bool) -> None:
    assert origin_allowed(origin, host, NAMED) is passes


def test_null_never_passes_even_when_someone_allows_it() -> None:
    assert not origin_allowed("null", "localhost", HttpRules(allowed_origins=("null",)))


@few
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_gets_an_answer_and_no_error(origin: str, host: str) -> None:
    assert host_allowed(host, WIDE) in {True, False}
    assert origin_allowed(origin, host, NAMED) in {True, False}


@few
@given(names, st.none() | st.integers(1, 65535))
def test_a_foreign_name_never_passes_as_host_or_origin_of_a_loopback_gateway(
    name: str, port: int | None
) -> None:
    authority = name if port is None else f"{name}:{port}"

    assert not host_allowed(authority, LOCAL)
    assert not origin_allowed(f"http://{authority}", "localhost:18789", LOCAL)


@few
@given(names, st.integers(1, 65535), st.sampled_from(["http", "https"]))
def test_a_page_may_always_call_the_host_that_served_it(name: str, port: int, scheme: str) -> None:
    assert split_authority(f"{name}:{port}") == (name, port)
    assert origin_allowed(f"{scheme}://{name.upper()}:{port}", f"{name}:{port}", LOCAL)
