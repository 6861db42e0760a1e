"""Which session a message belongs to."""

import pytest

from channels.message import Address
from gateway.routing import api_session, channel_session
from sessions.key import BadSessionKey


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (None, "agent:main:main"),
        ("main", "agent:main:main"),
        ("work", "agent:main:api:work"),
        ("a:b c", "agent:main:api:a%3Ab c"),
        ("agent:main:api:work", "agent:main:api:work"),
        ("agent:main:main", "agent:main:main"),
        ("agent:other:main", "agent:main:api:agent%3Aother%3Amain"),
    ],
)
def test_the_session_of_a_caller_with_the_token(name: str | None, key: str) -> None:
    assert str(api_session("main", name)) == key


@pytest.mark.parametrize("name", ["", "agent:main:nonsense:x"])
def test_a_name_that_is_no_session_is_refused(name: str) -> None:
    with pytest.raises(BadSessionKey):
        api_session("main", name)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        (
            Address(channel="telegram", account="default", chat="7", kind="direct"),
            "agent:a:telegram:direct:42",
        ),
        (
            Address(channel="telegram", account="default", chat="-100", kind="group"),
            "agent:a:telegram:group:-100",
        ),
        (
            Address(channel="telegram", account="default", chat="-100", kind="group", thread="9"),
            "agent:a:telegram:group:-100:thread:9",
        ),
    ],
    ids=["direct: the person", "group: the group", "topic: the topic"],
)
def test_the_session_of_a_message_from_a_channel(address: Address, key: str) -> None:
    assert str(channel_session("a", address, "42")) == key


def test_no_one_but_the_owner_has_a_private_session() -> None:
    group = Address(channel="telegram", account="default", chat="-100", kind="group")

    assert api_session("main", None).private
    assert not channel_session("main", group, "42").private
