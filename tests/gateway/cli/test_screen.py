"""gateway/cli/screen.py: what a person sees of a turn."""

import io
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from agents.model.provider import TextDelta, ThinkingDelta
from agents.turn import Retrying, ToolFinished, ToolStarted, TurnEvent
from channels.settings import ConsoleSettings
from gateway.cli.output import clean
from gateway.cli.screen import Screen, called, passages
from sessions.messages import Text, ToolCall, ToolResult

AT = datetime(2026, 1, 31, tzinfo=UTC)
FOUND = '{"results":[{"path":"memory/a.md","start_line":3,"end_line":9,"score":0.8,"snippet":"x"}]}'


def shown(*events: TurnEvent, reply: str = "", settings: ConsoleSettings | None = None) -> str:
    """What stands on the screen when the turn is over."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system=None, width=80, legacy_windows=False)
    with Screen(console, settings or ConsoleSettings()) as screen:
        for event in events:
            screen.on_event(event)
        screen.end(reply)
    return final(out.getvalue())


def final(stream: str) -> str:
    """The stream without what was drawn and drawn over: escape sequences that erase a line take it away."""
    lines: list[str] = []
    for line in stream.replace("\r", "").split("\n"):
        if "\x1b[2K" in line or "\x1b[1A" in line:
            line = line.rsplit("\x1b[2K", 1)[-1]  # noqa: PLW2901 (the rest of it)
        lines.append(line)
    return "\n".join(lines)


def finished(name: str, text: str, *, failed: bool = False) -> ToolFinished:
    call = ToolCall(id="1", name=name, arguments={})
    return ToolFinished(
        call=call, result=ToolResult(at=AT, call_id="1", name=name, parts=(Text(text=text),), is_error=failed)
    )


def started(name: str) -> ToolStarted:
    return ToolStarted(call=ToolCall(id="1", name=name, arguments={"query": "boiler"}))


def test_streamed_text_is_shown_once() -> None:
    out = shown(
        TextDelta(text="First par"), TextDelta(text="agraph.\n\nSecond."), reply="First paragraph.\n\nSecond."
    )

    assert out.count("First paragraph.") == 1
    assert out.count("Second.") >= 1


def test_a_reply_that_did_not_stream_is_shown() -> None:
    assert "all of it" in shown(reply="all of it")


def test_tools_and_the_passages_that_they_found_are_shown_as_they_come() -> None:
    out = shown(
        started("memory_search"), finished("memory_search", FOUND), TextDelta(text="Friday."), reply="Friday."
    )

    assert "· memory_search boiler" in out
    assert "memory/a.md:3-9" in out
    assert out.index("memory/a.md") < out.index("Friday.")


def test_tools_stay_hidden_when_that_is_wanted() -> None:
    assert "· exec" not in shown(started("exec"), settings=ConsoleSettings(show_tools=False))


def test_a_failed_tool_says_why() -> None:
    assert "did not work: no such file" in shown(finished("read", "no such file\nmore", failed=True))


def test_a_retry_voids_what_was_half_shown() -> None:
    out = shown(
        TextDelta(text="half"),
        Retrying(reason="The provider is busy.", seconds=2),
        TextDelta(text="whole"),
        reply="whole",
    )

    assert "The provider is busy. Trying again in 2 s." in out
    assert "whole" in out


def test_thinking_is_not_shown() -> None:
    assert "secret thought" not in shown(ThinkingDelta(text="secret thought"), reply="done")


def test_markdown_is_plain_when_that_is_wanted() -> None:
    assert "**bold**" in shown(
        TextDelta(text="**bold**"), reply="**bold**", settings=ConsoleSettings(markdown=False)
    )


def test_a_code_block_is_not_cut_at_its_blank_lines() -> None:
    text = "```\na = 1\n\nb = 2\n```\n\nafter"
    out = shown(*(TextDelta(text=char) for char in text), reply=text)

    assert "a = 1" in out
    assert "```" not in out


def test_a_call_is_one_short_line() -> None:
    call = ToolCall(id="1", name="write", arguments={"path": "a.md", "content": "x\n" * 500, "n": 3})

    assert "\n" not in called(call)
    assert len(called(call)) < 120


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (FOUND, ["memory/a.md:3-9"]),
        ("nonsense", []),
        (FOUND * 6, ["memory/a.md:3-9"] * 4 + ["and 2 more"]),
        (FOUND[:60], []),
    ],
    ids=["one", "none", "many", "cut"],
)
def test_passages_are_path_and_lines(result: str, expected: list[str]) -> None:
    assert passages(result) == expected


@pytest.mark.parametrize("text", ["\x1b]0;title\x07x", "a\x9bm", "\x08\x08x", "a\rb"])
def test_control_characters_never_reach_the_terminal(text: str) -> None:
    assert not {"\x1b", "\x07", "\x9b", "\x08", "\r"} & set(clean(text))


@given(st.text())
@settings(max_examples=50, deadline=None)
def test_clean_text_is_clean_and_keeps_lines(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert clean(text).count("\n") == text.count("\n")
