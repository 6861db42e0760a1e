"""Session keys: one text for each conversation, and one conversation for each text."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.peer import canonical_peer
from sessions.key import BadSessionKey, Kind, SessionKey
from tests.sessions.making import CASES

CASE = json.loads((CASES / "B92-session-keys.json").read_text(encoding="utf-8"))

words = st.one_of(
    st.text(min_size=1, max_size=8),
    st.text("aA:%/\\+@ thread", min_size=1, max_size=8),
    st.sampled_from(["main", "api", "thread", "direct", "group", "agent", "%3A", "a:b"]),
)
channels = words.filter(lambda word: word not in ("main", "api"))
threads = st.just("") | words
chat_kinds: list[Kind] = ["direct", "group", "channel"]
keys = st.one_of(
    st.builds(SessionKey, agent=words, kind=st.just("main"), thread=threads),
    st.builds(SessionKey, agent=words, kind=st.just("api"), peer=words, thread=threads),
    st.builds(
        SessionKey,
        agent=words,
        kind=st.sampled_from(chat_kinds),
        channel=channels,
        peer=words,
        thread=threads,
    ),
)


def key_of(row: list[str]) -> SessionKey:
    agent, channel, kind, peer = row
    assert kind in chat_kinds
    return SessionKey(
        agent=agent,
        channel=channel,
        kind=chat_kinds[chat_kinds.index(kind)],
        peer=canonical_peer(channel, peer),
    )


@settings(max_examples=50, deadline=None)
@given(keys)
def test_a_key_is_what_its_text_says(key: SessionKey) -> None:
    assert SessionKey.parse(str(key)) == key
    assert str(key).isascii()


@settings(max_examples=50, deadline=None)
@given(st.lists(keys, min_size=2, max_size=2, unique=True))
def test_different_keys_have_different_texts_and_file_names(pair: list[SessionKey]) -> None:
    one, other = pair

    assert str(one) != str(other)
    assert one.file_stem().lower() != other.file_stem().lower()


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=30) | st.text("agent:main%3A/", max_size=30).map("agent:".__add__))
def test_a_text_is_refused_or_is_exactly_the_text_of_its_key(text: str) -> None:
    try:
        key = SessionKey.parse(text)
    except BadSessionKey:
        return

    assert str(key) == text


@settings(max_examples=50, deadline=None)
@given(keys)
def test_file_names_are_plain(key: SessionKey) -> None:
    assert re.fullmatch(r"[a-z0-9-]{1,80}", key.file_stem())


@pytest.mark.parametrize(("one", "other"), CASE["must_differ"])
def test_b92_different_conversations_have_different_keys_and_files(one: list[str], other: list[str]) -> None:
    first, second = key_of(one), key_of(other)

    assert first != second
    assert str(first) != str(second)
    assert first.file_stem().casefold() != second.file_stem().casefold()


@pytest.mark.parametrize(("one", "other"), CASE["must_equal"])
def test_b92_one_person_under_two_names_has_one_key(one: list[str], other: list[str]) -> None:
    assert str(key_of(one)) == str(key_of(other))


@pytest.mark.parametrize("row", [row for pair in CASE["must_differ"] for row in pair], ids=str)
def test_b92_file_names_hold_no_separator(row: list[str]) -> None:
    assert not set(key_of(row).file_stem()) & set("/\\:")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (SessionKey(agent="main", kind="main"), "agent:main:main"),
        (SessionKey(agent="main", kind="main", thread="7"), "agent:main:main:thread:7"),
        (SessionKey(agent="w", kind="api", peer="My notes"), "agent:w:api:My notes"),
        (SessionKey(agent="w", kind="api", peer="thread"), "agent:w:api:thread"),
        (
            SessionKey(agent="main", kind="group", channel="telegram", peer="-100123", thread="11"),
            "agent:main:telegram:group:-100123:thread:11",
        ),
        (
            SessionKey(agent="main", kind="group", channel="matrix", peer="!AbC:x.example"),
            "agent:main:matrix:group:!AbC%3Ax.example",
        ),
        (SessionKey(agent="main", kind="api", peer="100 %"), "agent:main:api:100 %25"),
        (SessionKey(agent="main", kind="api", peer="café"), "agent:main:api:caf%C3%A9"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_keys_are_written_readably(key: SessionKey, text: str) -> None:
    assert str(key) == text
    assert SessionKey.parse(text) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "main",
        "agent:main",
        "agent::main",
        "agent:main:",
        "agent:main:api",
        "agent:main:api:thread:x",
        "agent:main:api:a:b",
        "agent:main:main:x",
        "agent:main:main:thread:",
        "agent:main:telegram:direct",
        "agent:main:telegram:room:5",
        "agent:main:telegram:direct:5:topic:1",
        "agent:main:api:%61",
        "agent:main:api:café",
        "agent:main:api:%FF",
        "agent:main:api:%3a",
        "AGENT:main:main",
        "agent:main:main\n",
    ],
)
def test_other_texts_are_no_keys(text: str) -> None:
    with pytest.raises(BadSessionKey):
        SessionKey.parse(text)


def make(kind: Kind, *, agent: str = "main", channel: str = "", peer: str = "") -> SessionKey:
    return SessionKey(agent=agent, kind=kind, channel=channel, peer=peer)


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("main", {"agent": ""}),
        ("main", {"channel": "telegram"}),
        ("main", {"peer": "5"}),
        ("api", {}),
        ("api", {"peer": "x", "channel": "telegram"}),
        ("direct", {"channel": "telegram"}),
        ("group", {"peer": "5"}),
        ("direct", {"channel": "api", "peer": "5"}),
        ("channel", {"channel": "main", "peer": "5"}),
        ("api", {"peer": "\ud83d"}),
    ],
    ids=str,
)
def test_keys_that_would_not_round_trip_cannot_be_made(kind: Kind, parts: dict[str, str]) -> None:
    with pytest.raises(BadSessionKey):
        make(kind, **parts)


@pytest.mark.parametrize(
    ("key", "private"),
    [
        (make("main"), True),
        (make("api", peer="x"), True),
        (make("direct", channel="telegram", peer="5"), False),
        (make("group", channel="telegram", peer="5"), False),
        (make("channel", channel="discord", peer="5"), False),
    ],
    ids=["main", "api", "direct", "group", "channel"],
)
def test_only_the_owners_own_conversations_are_private(key: SessionKey, private: bool) -> None:
    assert key.private is private
