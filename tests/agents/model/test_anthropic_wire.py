"""Requests to the Anthropic Messages API."""

import copy
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model.anthropic_wire import thinking_fields, to_wire
from agents.model.catalog_models import Thinking as ThinkingKind
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
from tests.fakes.model_anthropic import prompt_blocks
from tests.fakes.model_anthropic_rules import check
from tests.fakes.model_cache import PromptCache

GOLDEN = Path(__file__).parents[2] / "wire" / "anthropic_request.json"
HEADERS = {"anthropic-version": "2023-06-01", "anthropic-beta": "thinking-binding-controls-2026-08-01"}
SIGNED = Thinking(text="Let me see.", signature="c2lnLW9uZQ==")
MARK = {"type": "ephemeral"}


def wire(request: ModelRequest, *, vision: bool = True) -> dict[str, Any]:
    body: dict[str, Any] = to_wire(request, provider="anthropic", thinking="between_tools", vision=vision)
    return body


def messages(*said_so_far: Message) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = wire(replace(asking(*said_so_far), cache_ttl=None))["messages"]
    return found


def marks(body: dict[str, Any]) -> list[str]:
    """Where cache marks stand: the texts or kinds of the marked blocks."""
    return [block.text for block in prompt_blocks(body) if block.marked]


def test_a_whole_request_is_spelled_as_recorded() -> None:
    request = asking(
        user("What is in the note?", envelope="[Ana, Mon 09:30]"),
        assistant(SIGNED, Text(text="I will look."), call("toolu_1"), stop="toolUse"),
        ToolResult(at=NOW, call_id="toolu_1", name="write", parts=(Text(text="tea"), PIXEL), is_error=True),
        said("Tea."),
        user("Thanks."),
        thinking="medium",
    )

    assert wire(request) == json.loads(GOLDEN.read_text())


def test_people_s_messages_in_a_row_become_one_with_results_first() -> None:
    found = messages(
        user("go"), assistant(call("a"), call("b")), user("wait"), result("a"), result("b"), user("and this")
    )

    kinds = [block["type"] for block in found[-1]["content"]]
    assert kinds == ["tool_result", "tool_result", "text", "text"]
    assert [message["role"] for message in found] == ["user", "assistant", "user"]


def test_answers_in_a_row_become_one() -> None:
    found = messages(user("go"), said("first"), said("second"), user("on"))

    assert found[1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": t} for t in ("first", "second")],
    }


def test_a_conversation_that_begins_with_an_answer_gets_a_user_before_it() -> None:
    assert [message["role"] for message in messages(said("hello"), user("hi"))] == [
        "user",
        "assistant",
        "user",
    ]


def test_no_blank_text_is_sent_and_pairs_stay_complete_b25() -> None:
    body = wire(asking(*from_case("B25-empty-output.jsonl")))

    check(body, HEADERS)
    assert "(no output)" in json.dumps(body)
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]


def test_an_error_without_words_is_sent_with_a_placeholder_b25() -> None:
    found = messages(
        user("go"), assistant(call("a")), ToolResult(at=NOW, call_id="a", name="w", parts=(), is_error=True)
    )

    block = found[-1]["content"][0]
    assert block["is_error"] is True
    assert block["content"] == [{"type": "text", "text": "(no output)"}]


def test_thinking_is_byte_identical_or_absent_and_nothing_stored_changes_b30() -> None:
    stored = from_case("B30-thinking.jsonl")
    before = copy.deepcopy(stored)

    body = wire(asking(*stored))

    check(body, HEADERS)
    assert stored == before
    sent = {
        block["signature"]: block["thinking"]
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "thinking"
    }
    kept = {
        part.signature: part.text
        for message in stored
        for part in message.parts
        if isinstance(part, Thinking) and part.signature in sent
    }
    assert sent == kept
    assert set(sent) == {"c2lnLW9uZQ==", "c2lnLXR3bw=="}
    assert "only thinking" not in json.dumps(body)


@pytest.mark.parametrize(
    ("provider", "api"),
    [("openrouter", "anthropic_messages"), ("anthropic", "openai_chat")],
    ids=["another-provider", "another-api"],
)
def test_thinking_of_others_is_not_sent(provider: str, api: str) -> None:
    answer = assistant(SIGNED, Text(text="hi"), provider=provider, api=api)

    assert [block["type"] for block in messages(user("a"), answer, user("b"))[1]["content"]] == ["text"]


def test_thinking_without_signature_is_not_sent_and_redacted_thinking_is() -> None:
    answer = assistant(
        Thinking(text="unsigned"), Thinking(text="", signature="ZW5j", redacted=True), Text(text="hi")
    )

    content = messages(user("a"), answer, user("b"))[1]["content"]

    assert content[0] == {"type": "redacted_thinking", "data": "ZW5j"}
    assert [block["type"] for block in content] == ["redacted_thinking", "text"]


def test_without_thinking_the_rest_is_the_same() -> None:
    request = asking(user("a"), assistant(SIGNED, Text(text="hi")), user("b"))

    body: dict[str, Any] = to_wire(
        request, provider="anthropic", thinking="always", vision=True, keep_thinking=False
    )

    assert [block["type"] for block in body["messages"][1]["content"]] == ["text"]


def test_a_model_without_eyes_gets_a_note_for_an_image() -> None:
    request = asking(replace(user("look"), parts=(PIXEL,)))

    assert "image was here" in json.dumps(wire(request, vision=False))
    assert wire(request)["messages"][0]["content"][0]["source"]["data"] == PIXEL.data


@pytest.mark.parametrize(
    ("kind", "level", "expected"),
    [
        ("switch", "off", {"thinking": {"type": "disabled"}}),
        ("between_tools", "off", {"thinking": {"type": "between_tools"}}),
        ("unknown", "off", {}),
        (
            "unknown",
            "high",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}},
        ),
        ("budget", "off", {}),
        ("budget", "low", {"thinking": {"type": "enabled", "budget_tokens": 2_048}}),
        ("budget", "high", {"thinking": {"type": "enabled", "budget_tokens": 8_192 - 1_024}}),
    ],
    ids=lambda value: str(value)[:24],
)
def test_each_kind_of_model_is_told_how_much_to_think(
    kind: ThinkingKind, level: ThinkingLevel, expected: dict[str, object]
) -> None:
    assert thinking_fields(level, kind, 8_192) == expected


def test_a_model_that_always_thinks_thinks_least_when_thinking_is_off() -> None:
    fields = thinking_fields("off", "always", 8_192)

    assert fields["output_config"] == {"effort": "low"}
    assert "block_binding" in str(fields)


def test_a_small_limit_leaves_no_room_for_a_budget() -> None:
    assert thinking_fields("high", "budget", 2_047) == {}


def test_the_first_request_marks_system_context_and_newest() -> None:
    found = marks(wire(asking(user("hi"))))

    assert len(found) == 3
    assert ["careful" in found[0], "MEMORY" in found[1], "hi" in found[2]] == [True, True, True]


def test_the_mark_of_the_request_before_stays_where_it_was() -> None:
    first = wire(asking(user("one")))
    second = wire(asking(user("one"), assistant(call("a")), result("a", "two")))

    assert marks(first) == marks(second)[:3]
    assert len(marks(second)) == 4


def test_an_answer_left_out_does_not_move_the_mark_of_the_request_before() -> None:
    first = wire(asking(user("one")))
    second = wire(asking(user("one"), assistant(Text(text=" ")), user("two")))

    assert marks(first)[2] == marks(second)[2]


@pytest.mark.parametrize(
    ("blocks", "moved"), [(19, False), (20, False), (21, True)], ids=["below", "at", "above"]
)
def test_more_than_twenty_blocks_between_take_the_context_s_mark(blocks: int, moved: bool) -> None:
    calls = blocks // 2
    extra = [Text(text="x")] * (blocks - 2 * calls + 1)
    answers = [result(str(index)) for index in range(calls)]
    request = asking(user("one"), assistant(*extra, *(call(str(index)) for index in range(calls))), *answers)

    found = marks(wire(request))

    assert len(found) == 4
    assert ("MEMORY" in found[1]) is not moved


def test_no_ttl_means_no_marks_and_an_hour_is_said() -> None:
    request = asking(user("hi"))

    assert marks(wire(replace(request, cache_ttl=None))) == []
    hour = wire(replace(request, cache_ttl="1h"))
    assert hour["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert wire(request)["system"][0]["cache_control"] == MARK


def test_marks_never_stand_on_thinking() -> None:
    answer = assistant(*[SIGNED] * 40, *(call(str(index)) for index in range(2)))

    check(wire(asking(user("one"), answer, result("0"), result("1"))), HEADERS)


def test_every_request_of_a_turn_reads_all_that_the_one_before_wrote() -> None:
    cache = PromptCache()
    talk: list[Message] = [user("start " * 50)]
    sizes = []
    for step in range(12):
        counted = cache.count_marked(prompt_blocks(wire(asking(*talk))))
        sizes.append((counted.read, counted.read + counted.write))
        ids = [f"{step}-{index}" for index in range(30 if step == 5 else 2)]
        talk += [assistant(*map(call, ids)), *(result(call_id, "y" * 80) for call_id in ids)]

    assert all(later[0] == earlier[1] for earlier, later in pairwise(sizes))


@settings(max_examples=30, deadline=None)
@given(conversations(), st.booleans())
def test_whatever_was_said_the_vendor_takes_it(said_so_far: tuple[Message, ...], vision: bool) -> None:
    request = asking(*said_so_far)

    body = wire(request, vision=vision)

    check(body, HEADERS)
    assert encode(body) == encode(wire(request, vision=vision))


@settings(max_examples=30, deadline=None)
@given(conversations(), conversations())
def test_a_later_request_extends_the_bytes_of_an_earlier_one(
    earlier: tuple[Message, ...], later: tuple[Message, ...]
) -> None:
    first = encode(wire(replace(asking(*earlier), cache_ttl=None)))
    second = encode(wire(replace(asking(*earlier, said("An answer."), *later), cache_ttl=None)))

    assert second.startswith(first.removesuffix(b"]}"))


@settings(max_examples=30, deadline=None)
@given(conversations())
def test_marks_change_nothing_else(said_so_far: tuple[Message, ...]) -> None:
    marked, bare = wire(asking(*said_so_far)), wire(replace(asking(*said_so_far), cache_ttl=None))

    assert json.loads(json.dumps(marked).replace(', "cache_control": {"type": "ephemeral"}', "")) == bare
