"""Requests to the OpenAI chat completions API."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model.catalog_models import Effort
from agents.model.openai_wire import Dialect, dialect_of, effort_of, to_wire
from agents.model.provider import ModelRequest, ThinkingLevel
from agents.model.wire import encode
from sessions.messages import Message, Text, Thinking, ToolResult
from tests.agents.model.conversations import (
    NOW,
    PIXEL,
    asking,
    assistant,
    call,
    conversations,
    from_case,
    result,
    said,
    user,
)
from tests.fakes.model_openai import check

GOLDEN = Path(__file__).parents[2] / "wire" / "openai_request.json"
OPENAI = dialect_of("openai", None)
LOCAL = dialect_of("ollama", "http://127.0.0.1:11434/v1")


def wire(request: ModelRequest, *, dialect: Dialect = OPENAI, vision: bool = True) -> dict[str, Any]:
    request = replace(request, model="gpt-6.1-terra" if dialect is OPENAI else "llama9")
    body: dict[str, Any] = to_wire(
        request, dialect=dialect, effort="none_with_tools" if dialect is OPENAI else "plain", vision=vision
    )
    return body


def messages(*said_so_far: Message) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = wire(asking(*said_so_far))["messages"]
    return found


def test_a_whole_request_is_spelled_as_recorded() -> None:
    request = asking(
        user("What is in the note?", envelope="[Ana, Mon 09:30]"),
        assistant(Thinking(text="Hm."), Text(text="I will look."), call("call_1"), stop="toolUse"),
        ToolResult(at=NOW, call_id="call_1", name="write", parts=(Text(text="tea"), PIXEL), is_error=True),
        said("Tea."),
        user("Thanks."),
    )

    assert wire(request) == json.loads(GOLDEN.read_text())


def test_what_is_said_in_a_row_becomes_one_message() -> None:
    assert messages(user("one"), user("two"))[1:] == [{"role": "user", "content": "one\n\ntwo"}]


def test_a_call_without_words_has_no_content() -> None:
    found = messages(user("go"), assistant(call("a")), result("a"))

    assert found[2]["content"] is None
    assert found[3] == {"role": "tool", "tool_call_id": "a", "content": "done"}


def test_images_of_results_follow_in_the_user_s_name_after_all_results() -> None:
    pictured = ToolResult(at=NOW, call_id="a", name="write", parts=(PIXEL,))

    found = messages(user("go"), assistant(call("a"), call("b")), pictured, result("b"), user("and?"))

    assert [message["role"] for message in found] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert found[3]["content"] == "(an image, see below)"
    assert [part["type"] for part in found[5]["content"]] == ["text", "image_url", "text"]
    assert found[5]["content"][1]["image_url"]["url"] == "data:image/png;base64,aGVsbG8="


def test_a_model_without_eyes_gets_a_note_for_an_image() -> None:
    request = asking(
        user("go"), assistant(call("a")), ToolResult(at=NOW, call_id="a", name="w", parts=(PIXEL,))
    )

    body = wire(request, vision=False)

    assert body["messages"][-1]["role"] == "tool"
    assert "image was here" in body["messages"][-1]["content"]


def test_no_blank_text_is_sent_and_pairs_stay_complete_b25() -> None:
    found = messages(*from_case("B25-empty-output.jsonl"))

    assert all(message["content"] is None or message["content"].strip() for message in found)
    assert [message["role"] for message in found] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "tool",
        "user",
    ]
    assert [message["content"] for message in found if message["role"] == "tool"] == ["(no output)"] * 3


def test_thinking_stays_at_home_and_nothing_stored_changes_b30() -> None:
    stored = from_case("B30-thinking.jsonl")
    before = copy.deepcopy(stored)

    body = wire(asking(*stored))

    check(body)
    assert stored == before
    assert "thought" not in json.dumps(body)


@pytest.mark.parametrize(
    ("provider", "address", "limit", "ids"),
    [
        ("openai", None, "max_completion_tokens", "openai_chat"),
        ("openai", "http://127.0.0.1:1/v1", "max_completion_tokens", "openai_chat"),
        ("work", "https://api.openai.com/v1", "max_completion_tokens", "openai_chat"),
        ("ollama", "http://127.0.0.1:11434/v1", "max_tokens", "openai_chat"),
        ("mistral", None, "max_tokens", "mistral"),
        ("eu", "https://api.mistral.ai/v1", "max_tokens", "mistral"),
        ("fake", "https://notmistral.ai/v1", "max_tokens", "openai_chat"),
    ],
)
def test_each_server_has_its_dialect(provider: str, address: str | None, limit: str, ids: str) -> None:
    dialect = dialect_of(provider, address)

    assert (dialect.limit, dialect.ids) == (limit, ids)


@pytest.mark.parametrize(
    ("effort", "level", "tools", "expected"),
    [
        ("plain", "off", True, None),
        ("plain", "high", True, "high"),
        ("none_with_tools", "off", False, "none"),
        ("none_with_tools", "high", True, "none"),
        ("none_with_tools", "high", False, "high"),
        ("never_none", "off", True, "low"),
        ("never_none", "medium", False, "medium"),
    ],
)
def test_reasoning_is_asked_for_as_the_model_takes_it(
    effort: Effort,
    level: ThinkingLevel,
    tools: bool,
    expected: str | None,
) -> None:
    assert effort_of(level, effort, has_tools=tools) == expected


def test_nothing_is_said_of_tools_where_there_are_none() -> None:
    assert "tools" not in wire(asking(user("hi"), tools=()))


def test_long_ids_fit_and_stay_pairs_b72() -> None:
    ids = json.loads((GOLDEN.parents[1] / "cases" / "B72-tool-ids.json").read_text())["ids"]

    check(wire(asking(user("go"), assistant(*map(call, ids)), *map(result, ids))))


@settings(max_examples=30, deadline=None)
@given(conversations(), st.sampled_from([OPENAI, LOCAL]), st.booleans())
def test_whatever_was_said_the_vendor_takes_it(
    said_so_far: tuple[Message, ...],
    dialect: Dialect,
    vision: bool,
) -> None:
    request = asking(*said_so_far)

    body = wire(request, dialect=dialect, vision=vision)

    check(body)
    assert encode(body) == encode(wire(request, dialect=dialect, vision=vision))


@settings(max_examples=30, deadline=None)
@given(conversations(), conversations())
def test_a_later_request_extends_the_bytes_of_an_earlier_one(
    earlier: tuple[Message, ...], later: tuple[Message, ...]
) -> None:
    first = encode(wire(asking(*earlier)))
    second = encode(wire(asking(*earlier, said("An answer."), *later)))

    assert second.startswith(first.removesuffix(b"]}"))
