"""Which session a message belongs to."""

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from agents.settings import BindingSettings
from channels.access import Standing, Verdict
from channels.message import Address
from gateway.routing import Routes, api_session, channel_session, route
from sessions.key import BadSessionKey
from sessions.settings import DmScope
from tests.channels.arriving import case, direct, group, person


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


WORK = {"agent": "work", "channel": "telegram"}
OWNER = Verdict(kind="admitted", standing="owner", rule="", said="")
KNOWN = Verdict(kind="admitted", standing="known", rule="", said="")


def routes(*bindings: dict[str, Any], scope: DmScope = "main", **links: tuple[str, ...]) -> Routes:
    made = tuple(BindingSettings.model_validate(one) for one in bindings)
    return Routes(default_agent="main", bindings=made, dm_scope=scope, links=links)


@pytest.mark.parametrize(
    ("scope", "standing", "key"),
    [
        ("main", OWNER, "agent:main:main"),
        ("main", KNOWN, "agent:main:telegram:direct:5"),
        ("per_peer", OWNER, "agent:main:any:direct:telegram%3A5"),
        ("per_peer", KNOWN, "agent:main:any:direct:telegram%3A5"),
        ("per_channel_peer", OWNER, "agent:main:telegram:direct:5"),
        ("per_channel_peer", KNOWN, "agent:main:telegram:direct:5"),
        ("per_account_channel_peer", KNOWN, "agent:main:telegram:direct:default%3A5"),
    ],
)
def test_the_session_of_a_direct_chat(scope: DmScope, standing: Verdict, key: str) -> None:
    assert str(route(direct(), person("5"), standing, routes(scope=scope)).key) == key


def test_nobody_but_an_owner_is_ever_in_the_main_session() -> None:
    standings: tuple[Standing, ...] = ("known", "group", "unknown")

    for standing in standings:
        verdict = Verdict(kind="admitted", standing=standing, rule="", said="")
        assert not route(direct(), person("5"), verdict, routes()).key.private


def test_an_owner_in_a_group_is_in_the_groups_session() -> None:
    assert str(route(group(), person("5"), OWNER, routes()).key) == "agent:main:telegram:group:-100"


def test_topics_of_a_direct_chat_are_sessions_of_their_own() -> None:
    address = replace(direct(), thread="7")

    assert str(route(address, person("5"), OWNER, routes()).key) == "agent:main:main:thread:7"
    assert str(route(address, person("5"), KNOWN, routes()).key) == "agent:main:telegram:direct:5:thread:7"


def test_a_linked_person_is_one_on_every_channel() -> None:
    linked = routes(scope="per_peer", ana=("telegram:5", "whatsapp:15550100200"))
    telegram = route(direct(), person("5"), KNOWN, linked)
    whatsapp = route(
        direct("whatsapp"),
        person("98765432109876@lid", aliases=("15550100200@s.whatsapp.net",)),
        KNOWN,
        linked,
    )
    other = route(direct("discord"), person("5"), KNOWN, linked)

    assert str(telegram.key) == str(whatsapp.key) == "agent:main:any:direct:ana"
    assert str(other.key) == "agent:main:any:direct:discord%3A5"


def test_a_link_makes_nobody_an_owner() -> None:
    linked = routes(ana=("telegram:5", "discord:6"))

    assert str(route(direct("discord"), person("6"), KNOWN, linked).key) == "agent:main:discord:direct:6"


@pytest.mark.parametrize(
    ("bindings", "agent", "rule"),
    [
        ([], "main", "agents.list (the default agent)"),
        ([WORK], "work", "agents.bindings[0]"),
        ([{**WORK, "channel": "discord"}], "main", "agents.list (the default agent)"),
        ([WORK, {**WORK, "agent": "two", "account": "default"}], "two", "agents.bindings[1]"),
        ([WORK, {**WORK, "agent": "two", "account": "other"}], "work", "agents.bindings[0]"),
        ([{**WORK, "account": "*"}, {**WORK, "agent": "two"}], "work", "agents.bindings[0]"),
        (
            [{**WORK, "space": "9"}, {**WORK, "agent": "two", "account": "default"}],
            "work",
            "agents.bindings[0]",
        ),
        (
            [{**WORK, "space": "9"}, {**WORK, "agent": "two", "space": "9", "roles": [31]}],
            "two",
            "agents.bindings[1]",
        ),
        (
            [{**WORK, "space": "9"}, {**WORK, "agent": "two", "space": "9", "roles": [32]}],
            "work",
            "agents.bindings[0]",
        ),
        (
            [{**WORK, "space": "9", "roles": [31]}, {**WORK, "agent": "two", "parent": "-50"}],
            "two",
            "agents.bindings[1]",
        ),
        ([{**WORK, "parent": "-50"}, {**WORK, "agent": "two", "chat": -100}], "two", "agents.bindings[1]"),
        (
            [{**WORK, "chat": "-100"}, {**WORK, "agent": "two", "chat": "-100", "thread": 7}],
            "two",
            "agents.bindings[1]",
        ),
        (
            [{**WORK, "chat": "-100"}, {**WORK, "agent": "two", "chat": "-100", "thread": 8}],
            "work",
            "agents.bindings[0]",
        ),
        ([{**WORK, "chat": "-100", "account": "other"}], "main", "agents.list (the default agent)"),
        ([WORK, {**WORK, "agent": "two"}], "work", "agents.bindings[0]"),
    ],
)
def test_the_most_exact_binding_wins(bindings: list[dict[str, Any]], agent: str, rule: str) -> None:
    place = group("-100", thread="7", parent="-50", space="9")
    found = route(place, person("5", roles=("31",)), KNOWN, routes(*bindings))

    assert (found.agent, found.rule) == (agent, rule)


def test_a_person_is_bound_by_their_id_in_direct_chats() -> None:
    bound = routes({**WORK, "chat": 5})

    assert route(direct(chat="900"), person("5"), KNOWN, bound).agent == "work"
    assert route(group(), person("5"), KNOWN, bound).agent == "main"


def test_a_groups_own_agent_stands_between_its_bindings_and_wider_ones() -> None:
    chosen = replace(KNOWN, agent="own", agent_rule="channels.…agent")

    assert route(group(), person(), chosen, routes(WORK)).agent == "own"
    assert route(group(), person(), chosen, routes(WORK)).rule == "channels.…agent"
    assert route(group(), person(), chosen, routes({**WORK, "chat": "-100"})).agent == "work"


@pytest.mark.parametrize("row", case("B56-threads.json")["rows"][1:2])
def test_b56_a_thread_has_a_session_of_its_own(row: dict[str, str]) -> None:
    thread = group(row["channel"], channel="discord", parent=row["parent"], space="9")
    parent = group(row["parent"], channel="discord", space="9")

    keys = [str(route(place, person(), KNOWN, routes()).key) for place in (thread, parent)]

    assert keys == ["agent:main:discord:channel:700", "agent:main:discord:channel:500"]
    same = replace(thread, thread="700")
    assert str(route(same, person(), KNOWN, routes()).key) == keys[0]


def test_a_group_has_one_session_of_an_agent_through_whichever_of_its_accounts_it_is_spoken_to() -> None:
    """Two bots of one agent in a group hold one conversation; bound to two agents, they hold two."""
    first, second = group(), replace(group(), account="second")
    both = routes()
    assert route(first, person(), KNOWN, both).key == route(second, person(), KNOWN, both).key
    apart = routes({"agent": "work", "channel": "telegram", "account": "second"})
    assert route(first, person(), KNOWN, apart).agent != route(second, person(), KNOWN, apart).agent


def test_a_group_that_moved_keeps_its_session_and_its_binding() -> None:
    found = route(group("-1009"), person(), KNOWN, routes({**WORK, "chat": "-100"}), {"-1009": "-100"})

    assert str(found.key) == "agent:work:telegram:group:-100"


ids = st.text("aAbB:%/\\@+ 0123", min_size=1, max_size=6)


@given(first=st.tuples(ids, ids), second=st.tuples(ids, ids), scope=st.sampled_from(get_args(DmScope)))
@hypothesis_settings(max_examples=300, deadline=None)
def test_b92_two_people_never_share_a_session(
    first: tuple[str, str], second: tuple[str, str], scope: DmScope
) -> None:
    keys = [
        str(route(direct("telegram", chat=chat), person(sender), KNOWN, routes(scope=scope)).key)
        for sender, chat in (first, second)
    ]

    assert (keys[0] == keys[1]) is (first[0] == second[0])


@given(chat=ids, other=ids, thread=ids, another=ids)
@hypothesis_settings(max_examples=300, deadline=None)
def test_b92_two_places_never_share_a_session(chat: str, other: str, thread: str, another: str) -> None:
    one = str(route(group(chat, thread=thread), person(), KNOWN, routes()).key)
    two = str(route(group(other, thread=another), person(), KNOWN, routes()).key)

    assert (one == two) is (
        (chat, thread if thread != chat else "") == (other, another if another != other else "")
    )
