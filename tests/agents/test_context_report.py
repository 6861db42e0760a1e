"""What fills the window: every character of the prompt in exactly one part."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.context_report import IMAGE_TOKENS, ContextReport, context_report, report_json
from agents.frame import FileSize, Frame, context_entry
from agents.model.provider import ModelRequest, ToolSpec
from sessions.entries import Body, Compacted, Entry, Said
from sessions.messages import Assistant, Image, Text, Thinking, ToolCall, ToolResult, Usage, User
from sessions.tokens import estimate

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
FRAME = Frame(
    provider="anthropic",
    request=ModelRequest(
        model="m",
        system="s" * 40,
        context="c" * 20,
        messages=(),
        tools=(
            ToolSpec(
                name="look", description="Look.", parameters={"type": "object", "properties": {"a": {}}}
            ),
        ),
    ),
    files={"SOUL.md": "d1"},
    sizes=(FileSize(name="SOUL.md", raw_chars=50, injected_chars=20, truncated=True),),
)


def user(text: str, envelope: str = "") -> Said:
    return Said(message=User(at=NOON, parts=(Text(text=text),), envelope=envelope))


def answer(*parts: Text | Thinking | ToolCall, usage: Usage = Usage()) -> Said:  # noqa: B008 (frozen)
    return Said(
        message=Assistant(at=NOON, parts=parts, stop="stop", provider="p", api="a", model="m", usage=usage)
    )


def entries(*bodies: Body) -> list[Entry]:
    return [
        Entry(id=f"e{number}", parent_id=f"e{number - 1}" if number else None, at=NOON, body=body)
        for number, body in enumerate(bodies)
    ]


def report(*bodies: Body, window: int = 1_000) -> ContextReport:
    made = context_report(entries(context_entry(FRAME, "new session"), *bodies), window=window)
    assert made is not None
    return made


def sizes(made: ContextReport) -> dict[str, tuple[int, int]]:
    return {part.name: (part.count, part.chars) for part in made.parts if part.count}


def test_nothing_was_sent_before_the_first_frame() -> None:
    assert context_report(entries(user("hello")), window=1_000) is None


def test_each_kind_of_text_has_its_part() -> None:
    call = ToolCall(id="1", name="look", arguments={"a": 1})
    result = ToolResult(
        at=NOON,
        call_id="1",
        name="look",
        parts=(Text(text="r" * 30), Image(data="AA==", mime_type="image/png")),
    )
    made = report(
        user("hello", envelope="[now]"),
        answer(Thinking(text="hmm"), Text(text="ok"), call),
        Said(message=result),
        answer(Text(text="done"), usage=Usage(input=100, output=7)),
    )

    assert sizes(made) == {
        "tools": (1, len('lookLook.{"type":"object","properties":{"a":{}}}')),
        "system prompt": (1, 40),
        "project context": (1, 20),
        "user messages": (1, 10),
        "answers and calls": (2, len('oklook{"a":1}') + 4),
        "reasoning": (1, 3),
        "tool results": (1, 30),
        "images": (1, 0),
    }
    assert made.total.tokens == sum(part.tokens for part in made.parts)
    assert next(part for part in made.parts if part.name == "images").tokens == IMAGE_TOKENS
    assert made.measured == 107
    assert made.tools[0].arguments == 1


def test_files_are_told_raw_and_injected_and_absent_ones_by_name() -> None:
    made = report()

    assert made.files == FRAME.sizes
    assert "MEMORY.md" in made.missing
    assert "SOUL.md" not in made.missing
    assert made.reason == "new session"


def test_a_summary_has_a_part_of_its_own_and_the_old_count_no_longer_holds() -> None:
    compacted = Compacted(summary="x" * 100, first_kept_id="e3", tokens_before=900)
    made = report(
        user("old"), answer(Text(text="old"), usage=Usage(input=900)), user("kept"), compacted, user("new")
    )

    parts = sizes(made)
    assert parts["summary"][0] == 1
    assert parts["summary"][1] > 100
    assert parts["user messages"] == (2, 7)
    assert "answers and calls" not in parts
    assert made.compactions == 1
    assert made.measured is None


@pytest.mark.parametrize(("window", "share"), [(0, 0.0), (10_000, 0.01)], ids=["unknown", "known"])
def test_the_share_is_that_of_the_window(window: int, share: float) -> None:
    made = report(window=window)

    assert replace(made, total=replace(made.total, tokens=100)).share == share


def test_it_says_how_long_the_provider_keeps_the_prompt() -> None:
    kept = report(user("hello"), answer(Text(text="hi"), usage=Usage(cache_write=5_000)))

    assert kept.cache_ends == NOON + timedelta(minutes=5)
    assert report_json(kept)["cache_ends"] == "2026-05-01T12:05:00+00:00"
    assert report(user("hello"), answer(Text(text="hi"))).cache_ends is None  # nothing was written to it


def test_the_json_form_sums_up() -> None:
    stored = report_json(report(user("hello")))

    assert stored["model"] == "anthropic/m"
    assert stored["files"] == [{"name": "SOUL.md", "raw_chars": 50, "injected_chars": 20, "truncated": True}]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip())), max_size=8))
def test_no_text_is_counted_twice_or_left_out(texts: list[str]) -> None:
    made = report(*[user(text) for text in texts])
    part = next(part for part in made.parts if part.name == "user messages")

    assert part.chars == sum(map(len, texts))
    assert part.tokens == sum(map(estimate, texts))
