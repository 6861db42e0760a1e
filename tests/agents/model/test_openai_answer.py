"""Answers of the OpenAI chat completions API."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model.openai_answer import OpenAIAnswer, usage_of
from agents.model.provider import ModelEvent, TextDelta, ThinkingDelta
from agents.model.wire import FILTERED, CutOff, Declined, WireError
from sessions.messages import Assistant, StopReason, Text, Thinking, ToolCall, Usage
from tests.agents.model.conversations import NOW
from tests.fakes.model_cache import Counted
from tests.fakes.model_openai import events
from tests.fakes.model_script import Call, Calls, Say

WIRE = Path(__file__).parents[2] / "wire"
CASES = Path(__file__).parents[2] / "cases"


def parsed(stream: bytes) -> list[Any]:
    lines = stream.decode().splitlines()
    return [json.loads(line[5:]) for line in lines if line.startswith("data:") and "[DONE]" not in line]


def folded(chunks: list[Any]) -> tuple[list[ModelEvent], Assistant]:
    answer = OpenAIAnswer()
    made = [event for one in chunks for event in answer.feed(one)]
    rest, message = answer.finish(at=NOW, provider="openai", model="m")
    return [*made, *rest], message


def spoken(answer: Say | Call | Calls) -> list[Any]:
    return parsed(b"".join(events(answer, 1, "m", Counted(input=10, read=20, write=0), usage=True)))


def deltas(*found: dict[str, Any], finish: str = "tool_calls") -> list[Any]:
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in found]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]


def test_usage_after_the_last_choice_is_read_b74() -> None:
    made, message = folded(parsed((CASES / "B74-usage-chunk.sse").read_bytes()))

    assert message.text == "hello"
    assert message.usage == Usage(input=33_777 - 33_536, cache_read=33_536, output=50)
    assert message.usage.prompt == 33_777
    assert [event.text for event in made if isinstance(event, TextDelta)] == ["hel", "lo"]


def test_a_stream_without_usage_ends_normally_b74() -> None:
    message = folded(parsed((CASES / "B74-usage-chunk.sse").read_bytes())[:-1])[1]

    assert (message.text, message.stop, message.usage) == ("hello", "stop", Usage())


def test_a_recorded_stream_with_reasoning_and_two_calls_becomes_an_answer() -> None:
    made, message = folded(parsed((WIRE / "openai_stream.sse").read_bytes()))

    assert message.parts == (
        Thinking(text="Two cities."),
        Text(text="Looking \U0001f600"),
        ToolCall(id="call_DdmO9pD3xa9XTPNJ32zg2hcA", name="get_weather", arguments={"location": "Paris"}),
        ToolCall(id="call_2", name="get_weather", arguments={"location": "Lisboa"}),
    )
    assert message.stop == "toolUse"
    assert [event.text for event in made if isinstance(event, ThinkingDelta)] == ["Two ", "cities."]


def test_calls_that_are_all_numbered_0_are_told_apart_by_their_ids() -> None:
    first = {"index": 0, "id": "a", "function": {"name": "w", "arguments": '{"x": 1}'}}
    second = {"index": 0, "id": "b", "function": {"name": "w", "arguments": '{"x": 2}'}}

    message = folded(deltas({"tool_calls": [first]}, {"tool_calls": [second]}))[1]

    assert [(one.id, one.arguments) for one in message.calls] == [("a", {"x": 1}), ("b", {"x": 2})]


def test_calls_without_index_or_id_get_them() -> None:
    calls = [{"function": {"name": "w", "arguments": {"x": number}}} for number in (1, 2)]

    message = folded(deltas({"tool_calls": calls}))[1]

    assert [one.arguments for one in message.calls] == [{"x": 1}, {"x": 2}]
    assert len({one.id for one in message.calls}) == 2
    assert all(one.id for one in message.calls)


def test_an_id_repeated_in_every_part_is_one_call() -> None:
    parts = [
        {"index": 0, "id": "a", "function": {"name": "w", "arguments": part}} for part in ('{"x"', ": 1}")
    ]

    message = folded(deltas(*({"tool_calls": [part]} for part in parts)))[1]

    assert message.calls == (ToolCall(id="a", name="w", arguments={"x": 1}),)


def test_a_call_that_the_limit_cut_is_left_out() -> None:
    half = {"index": 0, "id": "a", "function": {"name": "w", "arguments": '{"x": '}}

    message = folded(deltas({"content": "I write."}, {"tool_calls": [half]}, finish="length"))[1]

    assert message.parts == (Text(text="I write."),)
    assert message.stop == "length"


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "stop"),
        ("tool_calls", "stop"),
        ("eos", "stop"),
    ],
)
def test_each_finish_reason_has_a_meaning(word: str, stop: StopReason) -> None:
    assert folded(deltas({"content": "hi"}, finish=word))[1].stop == stop


def test_a_filtered_answer_is_a_refusal_when_nothing_was_said() -> None:
    with pytest.raises(Declined):
        folded(deltas({"content": ""}, finish="content_filter"))


@pytest.mark.parametrize("chunks_seen", [1, 2])
def test_a_stream_that_ends_early_is_cut(chunks_seen: int) -> None:
    with pytest.raises(CutOff):
        folded(spoken(Say("hello"))[:chunks_seen])


@pytest.mark.parametrize("body", [[], [{"a": 1}], ["text"], [None], [{"choices": None}]], ids=str)
def test_what_is_no_answer_is_said_to_be_none(body: list[object]) -> None:
    with pytest.raises(WireError):
        folded(body)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({}, Usage()),
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": None},
            Usage(input=10, output=2),
        ),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 99}}, Usage(cache_read=10)),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 5}},
            Usage(input=1, cache_read=4, cache_write=5),
        ),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 6}, Usage(input=4, cache_read=6)),
    ],
    ids=["none", "no-details", "more-than-all", "writes", "deepseek"],
)
def test_counts_are_made_disjoint(usage: dict[str, Any], expected: Usage) -> None:
    assert usage_of(usage) == expected


_says = st.builds(Say, text=st.text(max_size=60), thinking=st.text(max_size=30))
_calls = st.lists(
    st.builds(Call, name=st.just("w"), arguments=st.dictionaries(st.text(max_size=4), st.text(max_size=30))),
    min_size=1,
    max_size=3,
).map(lambda calls: Calls(tuple(calls)))


@settings(max_examples=30, deadline=None)
@given(st.one_of(_says, _calls))
def test_whatever_is_said_comes_through(answer: Say | Calls) -> None:
    message = folded(spoken(answer))[1]

    if isinstance(answer, Say):
        assert message.text == answer.text
        assert not message.calls
    else:
        assert [one.arguments for one in message.calls] == [one.arguments for one in answer.calls]
    assert message.usage.prompt == 30


def test_words_that_the_filter_ended_are_kept_and_say_so() -> None:
    message = folded(deltas({"content": "half"}, finish="content_filter"))[1]

    assert (message.text, message.error) == ("half", FILTERED)
    assert folded(deltas({"content": "whole"}, finish="stop"))[1].error is None
