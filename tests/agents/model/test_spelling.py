"""How requests are spelled: recorded whole, read as written, and the very bytes of the wires."""

import json
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model import anthropic_wire, openai_wire
from agents.model.call_ids import IdForm
from agents.model.catalog import Api, resolve
from agents.model.catalog_models import Effort, Thinking
from agents.model.provider import ModelRequest
from agents.model.spelling import (
    Limit,
    Spelling,
    body_of,
    spelling_from,
    spelling_json,
    spelling_of,
)
from agents.model.wire import encode
from agents.settings import ModelsSettings
from sessions.messages import Json, Message
from tests.agents.model.conversations import conversations

spellings = st.builds(
    Spelling,
    api=st.sampled_from(get_args(Api)),
    provider=st.text(max_size=8),
    thinking=st.sampled_from(get_args(Thinking)),
    effort=st.sampled_from(get_args(Effort)),
    vision=st.booleans(),
    limit=st.sampled_from(get_args(Limit)),
    ids=st.sampled_from(get_args(IdForm)),
)


@settings(deadline=None, max_examples=50)
@given(spellings)
def test_a_spelling_is_read_as_it_was_recorded(spelling: Spelling) -> None:
    assert spelling_from(json.loads(json.dumps(spelling_json(spelling)))) == spelling


@pytest.mark.parametrize(
    "stored", [None, {}, [], {"api": "telepathy"}], ids=["none", "empty", "list", "unknown api"]
)
def test_what_is_no_spelling_is_none(stored: Json) -> None:
    assert spelling_from(stored) is None


@settings(deadline=None, max_examples=40)
@given(conversations(), spellings)
def test_a_body_is_that_of_the_wire(messages: tuple[Message, ...], spelling: Spelling) -> None:
    request = ModelRequest(model="m", system="s", context="c", messages=messages)
    body = body_of(request, spelling)

    if spelling.api == "anthropic_messages":
        wire = anthropic_wire.to_wire(
            request, provider=spelling.provider, thinking=spelling.thinking, vision=spelling.vision
        )
        assert body == encode(wire)
    elif spelling.api == "openai_chat":
        dialect = openai_wire.Dialect(limit=spelling.limit, ids=spelling.ids)
        assert body == encode(
            openai_wire.to_wire(request, dialect=dialect, effort=spelling.effort, vision=spelling.vision)
        )
    else:
        assert len(json.loads(body)["messages"]) == len(messages)
        assert body == body_of(request, None)


@pytest.mark.parametrize(
    ("name", "api", "limit", "ids"),
    [
        ("anthropic/claude-sonnet-5-5", "anthropic_messages", "max_tokens", "openai_chat"),
        ("openai/gpt-6.1-terra", "openai_chat", "max_completion_tokens", "openai_chat"),
        ("mistral/large", "openai_chat", "max_tokens", "mistral"),
        ("offline/notes", "offline", "max_tokens", "openai_chat"),
    ],
    ids=str,
)
def test_each_provider_has_its_spelling(name: str, api: str, limit: str, ids: str) -> None:
    environ = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "MISTRAL_API_KEY": "k"}
    models = ModelsSettings.model_validate({"providers": {"mistral": {}}})
    found = spelling_of(resolve(name, models, environ))

    assert (found.api, found.limit, found.ids, found.provider) == (
        api,
        limit,
        ids,
        name.split("/", maxsplit=1)[0],
    )
