"""One person, one name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.peer import canonical_peer, entry_of, person_of


@pytest.mark.parametrize(
    ("peer", "name"),
    [
        ("+15550100200", "+15550100200"),
        ("15550100200", "+15550100200"),
        ("15550100200@s.whatsapp.net", "+15550100200"),
        ("15550100200:2@s.whatsapp.net", "+15550100200"),
        ("15550100200.0:12@s.whatsapp.net", "+15550100200"),
        ("15550100200_1:2@s.whatsapp.net", "+15550100200"),
        ("15550100200@c.us", "+15550100200"),
        ("120363041234567890@g.us", "120363041234567890@g.us"),
        ("15550100200-1400000000@g.us", "15550100200-1400000000@g.us"),
        ("98765432109876@lid", "98765432109876@lid"),
        ("98765432109876:5@lid", "98765432109876@lid"),
        ("status@broadcast", "status@broadcast"),
        ("", ""),
    ],
)
def test_b92_whatsapp_writes_one_person_in_many_ways(peer: str, name: str) -> None:
    assert canonical_peer("whatsapp", peer) == name


@pytest.mark.parametrize("peer", ["15550100200", "15550100200@s.whatsapp.net", "-100123:topic:1"])
@pytest.mark.parametrize("channel", ["telegram", "discord", "signal"])
def test_other_channels_names_stay_as_they_are(channel: str, peer: str) -> None:
    assert canonical_peer(channel, peer) == peer


@settings(max_examples=100, deadline=None)
@given(st.text("0123456789+:@._-cuslidgwhatpne", max_size=24))
def test_a_canonical_name_is_its_own(peer: str) -> None:
    name = canonical_peer("whatsapp", peer)

    assert canonical_peer("whatsapp", name) == name


@pytest.mark.parametrize(
    ("channel", "entry", "name"),
    [
        ("telegram", "tg:5", "5"),
        ("telegram", "Telegram: 5", "5"),
        ("telegram", "-1001234567890", "-1001234567890"),
        ("telegram", "05", None),
        ("telegram", "5\u0665", None),
        ("discord", "user:1234567890123456789", "1234567890123456789"),
        ("discord", "bob#1234", None),
        ("whatsapp", "15550100200", "+15550100200"),
        ("whatsapp", "whatsapp:+15550100200", "+15550100200"),
        ("whatsapp", "120363041234567890@g.us", "120363041234567890@g.us"),
        ("whatsapp", "98765432109876:5@lid", "98765432109876@lid"),
        ("whatsapp", "Ana", None),
        ("signal", "anything", "anything"),
        ("signal", " ", None),
        ("telegram", " * ", "*"),
    ],
)
def test_b63_an_entry_names_one_id_or_nobody(channel: str, entry: str, name: str | None) -> None:
    assert entry_of(channel, entry) == name


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("telegram:5", ("telegram", "5")),
        ("whatsapp:15550100200", ("whatsapp", "+15550100200")),
        ("telegram:*", None),
        ("5", None),
        (":5", None),
        ("telegram:", None),
    ],
)
def test_a_person_is_a_channel_and_an_id(text: str, person: tuple[str, str] | None) -> None:
    assert person_of(text) == person
