"""Answers of the Anthropic Messages API."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model.anthropic_answer import AnthropicAnswer
from agents.model.provider import CallStarted, ModelEvent, TextDelta, ThinkingDelta
from agents.model.wire import FILTERED, CutOff, Declined, WireError
from sessions.messages import Assistant, StopReason, Text, Thinking, ToolCall, Usage
from tests.agents.model.conversations import NOW
from tests.fakes.model_anthropic import events
from tests.fakes.model_cache import Counted
from tests.fakes.model_script import Call, Calls, Say

RECORDED = Path(__file__).parents[2] / "wire" / "anthropic_stream.sse"


def parsed(stream: bytes) -> list[Any]:
    return [json.loads(line[5:]) for line in stream.decode().splitlines() if line.startswith("data:")]


def folded(body: list[Any]) -> tuple[list[ModelEvent], Assistant]:
    answer = AnthropicAnswer()
    made = [event for one in body for event in answer.feed(one)]
    return made, answer.finish(at=NOW, provider="anthropic", model="m")


def spoken(answer: Say | Call | Calls) -> list[Any]:
    return parsed(b"".join(events(answer, 1, "m", Counted(input=3, read=20, write=7))))


def test_a_recorded_stream_becomes_an_answer() -> None:
    made, message = folded(parsed(RECORDED.read_bytes()))

    assert message.parts == (
        Thinking(text="The user wants the weather. I will ask.", signature="EqQBCgIYAhIM1gbcDa9GJwZA2b3h"),
        Thinking(text="", signature="EmwKAhgBEgy3va3pzix/LafPsn4a", redacted=True),
        Text(text="I will check the weather in Lisbon \U0001f600."),
        ToolCall(
            id="toolu_01T1x1fJ34qAmk2tNTrN7Up6", name="get_weather", arguments={"location": "Lisboa, PT"}
        ),
        ToolCall(id="toolu_02", name="now", arguments={}),
    )
    assert message.stop == "toolUse"
    assert message.usage == Usage(input=472, output=89, cache_read=1_500, cache_write=300)
    assert "".join(event.text for event in made if isinstance(event, TextDelta)) == message.text
    assert [event.call for event in made if isinstance(event, CallStarted)] == list(message.calls)
    assert [event.text for event in made if isinstance(event, ThinkingDelta)] == [
        "The user wants the weather.",
        " I will ask.",
    ]


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "stop"),
        ("refusal", "stop"),
        ("something_new", "stop"),
    ],
)
def test_each_stop_reason_has_a_meaning(word: str, stop: StopReason) -> None:
    assert folded(spoken(Say("hello", stop=word)))[1].stop == stop


def test_a_refusal_without_words_is_one() -> None:
    with pytest.raises(Declined):
        folded(spoken(Say("", stop="refusal")))


def test_an_empty_answer_is_an_answer() -> None:
    assert folded(spoken(Say("")))[1].parts == ()


def test_a_call_that_the_limit_cut_is_left_out() -> None:
    body = spoken(Call("write", {"path": "a.md", "content": "long"}, text="I write."))
    without_rest = [one for one in body if "long" not in json.dumps(one)]
    without_rest[-2]["delta"]["stop_reason"] = "max_tokens"

    message = folded(without_rest)[1]

    assert message.parts == (Text(text="I write."),)
    assert message.stop == "length"


def test_arguments_that_are_no_json_reach_the_tool_to_be_refused() -> None:
    body = spoken(Call("write", {"path": "a"}))
    body[3]["delta"]["partial_json"] = "{oops"

    (broken,) = folded(body)[1].calls
    assert "invalid_json" in broken.arguments


@pytest.mark.parametrize("events_seen", range(1, 7))
def test_a_stream_that_ends_early_is_cut(events_seen: int) -> None:
    body = spoken(Say("hello"))

    with pytest.raises(CutOff):
        folded(body[:events_seen])


@pytest.mark.parametrize(
    "body",
    [
        [],
        [{"hello": 1}],
        ["text"],
        [None],
        [{"type": "content_block_delta", "index": 0}],
        [{"type": "content_block_start"}],
    ],
    ids=["nothing", "another-object", "a-text", "null", "no-start", "no-index"],
)
def test_what_is_no_answer_is_said_to_be_none(body: list[object]) -> None:
    with pytest.raises(WireError):
        folded(body)


_says = st.builds(
    Say, text=st.text(max_size=60), thinking=st.text(max_size=30).filter(lambda text: text != "*")
)
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
    message = folded(spoken(Say("half", stop="refusal")))[1]

    assert (message.text, message.error) == ("half", FILTERED)
    assert folded(spoken(Say("whole")))[1].error is None
