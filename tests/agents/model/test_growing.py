"""Builds that are kept: the same bytes as from the start, whatever was asked before."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model import anthropic_wire, openai_wire
from agents.model.call_ids import CallIds
from agents.model.growing import LEAST, MOST_CHARS, Growing, begins_with
from agents.model.provider import ModelRequest
from agents.model.wire import encode
from sessions.messages import Message, Text, User
from tests.agents.model.conversations import conversations
from tests.sessions.making import AT

DIALECT = openai_wire.Dialect(limit="max_tokens", ids="openai_chat")
REQUEST = ModelRequest(model="m", system="s", context="c", messages=())


class Counting:
    def __init__(self) -> None:
        self.taken: list[Message] = []

    def add(self, message: Message) -> None:
        self.taken.append(message)


def said(text: str) -> User:
    return User(at=AT, parts=(Text(text=text),))


@settings(deadline=None, max_examples=60)
@given(conversations(), st.lists(st.integers(0, 12), max_size=6))
def test_a_kept_build_has_the_bytes_of_a_new_one(messages: tuple[Message, ...], ends: list[int]) -> None:
    ours, theirs = Growing[anthropic_wire.Build](), Growing[openai_wire.Build]()
    for end in (*ends, len(messages)):
        request = replace(REQUEST, messages=messages[:end])
        ant = ours.of(
            "k",
            request.messages,
            lambda: anthropic_wire.Build(
                provider="anthropic", model=REQUEST.model, vision=True, keep_thinking=True
            ),
        )
        chat = theirs.of(
            "k", request.messages, lambda: openai_wire.Build(vision=True, ids=CallIds(DIALECT.ids))
        )

        assert anthropic_wire.to_bytes(request, ant, thinking="switch") == encode(
            anthropic_wire.to_wire(request, provider="anthropic", thinking="switch", vision=True)
        )
        assert openai_wire.to_bytes(request, chat, dialect=DIALECT, effort="plain") == encode(
            openai_wire.to_wire(request, dialect=DIALECT, effort="plain", vision=True)
        )


def test_only_what_is_new_is_taken() -> None:
    growing, one, two = Growing[Counting](), said("one"), said("two")
    first = growing.of("k", (one,), Counting)

    assert growing.of("k", (one, two), Counting) is first
    assert first.taken == [one, two]


def test_an_equal_message_is_another_one_and_so_are_other_rules() -> None:
    growing, one = Growing[Counting](), said("one")
    first = growing.of("k", (one,), Counting)

    assert growing.of("k", (said("one"),), Counting) is not first
    assert growing.of("other", (one,), Counting) is not first
    assert growing.of("k", (one,), Counting) is first


def test_what_was_asked_longest_ago_is_forgotten_when_all_are_too_large() -> None:
    growing, third = Growing[Counting](), "x" * (MOST_CHARS // (LEAST - 1))
    messages = [said(third) for _ in range(LEAST + 1)]
    builds = [growing.of("k", (one,), Counting) for one in messages]

    assert growing.of("k", (messages[1],), Counting) is builds[1]
    assert growing.of("k", (messages[0],), Counting) is not builds[0]


def test_short_conversations_are_all_kept() -> None:
    growing, messages = Growing[Counting](), [said(str(n)) for n in range(20 * LEAST)]
    builds = [growing.of("k", (one,), Counting) for one in messages]

    assert [growing.of("k", (one,), Counting) for one in messages] == builds


def test_a_shortened_conversation_does_not_begin_with_what_was_seen() -> None:
    one, two = said("one"), said("two")

    assert begins_with((one, two), (one,))
    assert not begins_with((one,), (one, two))
    assert not begins_with((two, one), (one,))
    assert not begins_with((one,), ())
