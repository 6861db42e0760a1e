"""Questions beside the conversation: recorded, and read again as they were asked."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.aside import Aside, aside_of
from agents.model.provider import ModelRequest
from sessions.entries import Custom
from sessions.messages import JsonObject
from tests.agents.test_context_report import FRAME
from tests.sessions.making import AT, user

ASIDE = Aside(
    origin="compaction",
    provider="p",
    model="m",
    spelling=None,
    max_tokens=1_000,
    behind=True,
    asked=(user("summarise"),),
)


@given(st.booleans(), st.text(max_size=20), st.integers(1, 10**6), st.integers(0, 3))
def test_an_aside_is_read_as_it_was_recorded(behind: bool, origin: str, max_tokens: int, short: int) -> None:
    aside = replace(ASIDE, behind=behind, origin=origin, max_tokens=max_tokens, short=short)
    stored: JsonObject = json.loads(json.dumps(aside.entry().data))

    assert aside_of(Custom(kind=aside.entry().kind, data=stored), AT) == aside


def test_behind_a_conversation_it_stands_in_its_frame() -> None:
    request = ASIDE.request(FRAME, (user("hello"),))

    assert request == replace(
        FRAME.request, model="m", max_tokens=1_000, messages=(user("hello"), user("summarise"))
    )
    assert ASIDE.request(None, ()) is None


def test_without_the_last_messages_it_is_what_was_asked_before_them() -> None:
    again = replace(ASIDE, asked=(), short=1)
    request = again.request(FRAME, (user("hello"), user("answered")))

    assert request == replace(FRAME.request, model="m", max_tokens=1_000, messages=(user("hello"),))


def test_alone_it_stands_in_no_frame() -> None:
    alone = replace(ASIDE, behind=False)
    request = ModelRequest(
        model="m", system="", context="", messages=ASIDE.asked, max_tokens=1_000, cache_ttl=None
    )

    assert alone.request(FRAME, (user("hello"),)) == alone.request(None, ()) == request


@pytest.mark.parametrize("data", [{}, {"origin": "note"}, {**ASIDE.entry().data, "asked": 3}], ids=str)
def test_what_is_no_aside_is_none(data: JsonObject) -> None:
    assert aside_of(Custom(kind="clawd.aside", data=data), AT) is None
    assert aside_of(Custom(kind="other", data=ASIDE.entry().data), AT) is None
