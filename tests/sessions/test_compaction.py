"""Where a conversation is cut, and what leaves it."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.compaction import (
    Cut,
    compacted,
    cut_part,
    drop_oldest_turns,
    dropped_note,
    find_cut,
)
from sessions.context import messages_of
from sessions.entries import Compacted, Custom, CustomMessage, Entry, Said
from sessions.limits import Limits, tokens_of, used_tokens
from sessions.messages import Assistant, Message, Text, Thinking, ToolResult, Usage, User
from sessions.pruning import plan
from sessions.settings import CompactionSettings, PruningSettings
from sessions.strict import strict
from tests.sessions.making import AT, assistant, call, chain, open_case, outline, result, user
from tests.sessions.strategies import histories


def cut_at(entries: Sequence[Entry], keep: int) -> int | None:
    cut = find_cut(entries, keep)
    return None if cut is None else cut.at


def kept_after(entries: Sequence[Entry], cut: Cut, summary: str = "sum") -> tuple[Message, ...]:
    made = chain([entry.body for entry in entries] + [compacted(cut, summary, tokens_before=1)])
    return messages_of(made)[1:]


def test_a_call_and_its_result_leave_together(tmp_path: Path) -> None:
    """B26."""
    transcript = open_case("B26-cut-point.jsonl", tmp_path)
    entries = transcript.entries
    transcript.close()

    cut = find_cut(entries, 1_000)

    assert cut is not None
    kept = kept_after(entries, cut)
    assert kept == messages_of(entries)[-2:]
    assert isinstance(kept[0], Assistant)
    assert cut.split
    assert cut.turn == 0


def test_a_huge_result_at_the_end_keeps_its_call() -> None:
    entries = chain(
        [user("q"), assistant("a"), user("read"), assistant(call("T")), result("T", "x" * 40_000)]
    )

    assert cut_at(entries, 1_000) == 3


def test_a_result_that_came_late_is_not_parted_from_its_call() -> None:
    entries = chain(
        [
            user("q"),
            assistant("a"),
            assistant(call("A"), call("B")),
            result("B", "b"),
            user("x" * 400),
            result("A", "a"),
            assistant("done"),
        ]
    )

    assert cut_at(entries, 5) == cut_at(entries, 50) == 6
    assert cut_at(entries[:-1], 5) == cut_at(entries[:-1], 50) == 2


@pytest.mark.parametrize(("keep", "at"), [(55, 4), (56, 4), (57, 3)], ids=["below", "at", "above"])
def test_what_is_kept_reaches_the_tokens_that_are_wanted(keep: int, at: int) -> None:
    entries = chain([user("x" * 96)] * 6)

    assert tokens_of(user("x" * 96)) == 28
    assert cut_at(entries, keep) == at


def test_a_short_conversation_is_not_cut() -> None:
    assert find_cut(chain([user("a"), assistant("b")]), 1_000) is None
    assert find_cut([], 1) is None
    assert find_cut(chain([user("x" * 8_000)]), 1_000) is None


def test_a_turn_begun_soon_after_the_place_is_kept_whole() -> None:
    entries = chain([user("x" * 4_000), assistant("x" * 400), user("next"), assistant("x" * 4_000)])

    cut = find_cut(entries, 1_020)

    assert cut is not None
    assert (cut.at, cut.split) == (2, False)


def test_facts_and_foreign_messages_do_not_confuse_the_cut() -> None:
    note = CustomMessage(kind="note", parts=(Text(text="x" * 400),), display=False)
    fact = Custom(kind="clawd.x", data={"big": "x" * 9_000})
    entries = chain([user("old"), assistant("a"), note, fact, user("new"), fact])

    assert cut_at(entries, 100) == 2
    assert cut_at(entries, 4) == 4


def test_a_result_counts_as_it_is_shown() -> None:
    entries = chain(
        [
            user("q"),
            assistant(call("A")),
            result("A", "x" * 40_000),
            assistant("1"),
            user("2"),
            assistant("3"),
            assistant("4"),
        ]
    )
    pruned = plan(messages_of(entries), 10_000, PruningSettings(), AT, None)

    assert cut_at(entries, 2_000) == 4
    assert find_cut(entries, 2_000, pruned) is None


def test_the_second_compaction_begins_where_the_first_had_kept() -> None:
    entries = chain([user("one"), user("two"), user("three")])
    first = find_cut(entries, 4)
    assert first is not None
    kept = entries[first.at]
    entries = chain(
        [*(e.body for e in entries), compacted(first, "first sum", tokens_before=9), user("four")]
    )

    second = find_cut(entries, 4)

    assert second is not None
    part = cut_part(entries, second)
    assert entries[second.start].id == kept.id
    assert part.earlier == "first sum"
    assert outline(part.messages) == ["user three"]
    assert part.request == "three"


def test_a_split_turn_is_known_with_what_was_asked() -> None:
    entries = chain(
        [user("first"), assistant("a"), user("the long job"), assistant("x" * 400), assistant("y" * 400)]
    )
    cut = find_cut(entries, 100)
    assert cut is not None
    part = cut_part(entries, cut)

    assert (cut.turn, cut.at, cut.split) == (2, 4, True)
    assert (part.request, part.split, part.turns) == ("the long job", True, 2)


def test_the_oldest_turns_are_dropped_whole() -> None:
    entries = chain([user("a" * 400), assistant("b" * 400), user("c" * 400), assistant("d" * 400), user("e")])

    cut = drop_oldest_turns(entries, 220)

    assert cut is not None
    assert (cut.at, cut.split) == (2, False)
    assert "1 older turn was left out" in dropped_note(cut_part(entries, cut))
    inside = drop_oldest_turns(chain([user("q" * 800), assistant("x" * 400), assistant("y" * 400)]), 110)
    assert inside is not None
    assert inside.split
    assert drop_oldest_turns(chain([user("a" * 400)]), 10) is None


def test_thinking_is_kept_whole_or_leaves_whole(tmp_path: Path) -> None:
    """B30."""
    transcript = open_case("B30-thinking.jsonl", tmp_path)
    entries = list(transcript.entries)
    transcript.close()
    stored = [
        part
        for e in entries
        if isinstance(e.body, Said)
        for part in e.body.message.parts
        if isinstance(part, Thinking)
    ]
    before = list(entries)

    for keep in range(1, 400, 7):
        cut = find_cut(entries, keep)
        seen = messages_of(entries) if cut is None else kept_after(entries, cut)
        assert all(part in stored for message in seen for part in message.parts if isinstance(part, Thinking))
        assert all(
            not isinstance(m, Assistant) or any(not isinstance(p, Thinking) for p in m.parts) for m in seen
        )
    assert entries == before


def test_the_figures_that_were_asked_for() -> None:
    """A window of 200,000 with 180,000 used by 150 turns: at most 45,000 afterwards, ten turns untouched."""
    turns: list[Message] = []
    for number in range(150):
        turns += [user(f"{number} " + "x" * 796), assistant(f"{number} " + "y" * 3_980)]
    turns[-1] = replace(assistant("last"), usage=Usage(input=180_000, output=900))
    entries = chain(turns)
    limits = Limits.of(200_000, CompactionSettings(), overhead=8_000)
    assert used_tokens(entries, messages_of(entries)) > limits.compact

    cut = find_cut(entries, limits.keep)
    assert cut is not None
    after = chain(
        [*(e.body for e in entries), compacted(cut, "s" * 4 * limits.summary, tokens_before=180_900)]
    )
    seen = messages_of(after)

    assert used_tokens(after, seen, overhead=8_000) <= 45_000
    assert seen[-20:] == tuple(turns[-20:])
    assert find_cut(after, limits.keep * 3) is None


@examples(max_examples=150, deadline=None)
@given(histories, st.integers(0, 60))
def test_a_cut_never_parts_a_call_from_its_result(entries: list[Entry], keep: int) -> None:
    for cut in (find_cut(entries, keep), drop_oldest_turns(entries, keep)):
        if cut is None:
            continue
        whole = messages_of(entries)
        kept = kept_after(entries, cut)
        part = cut_part(entries, cut)

        assert cut.start <= cut.turn <= cut.at
        assert cut.start < cut.at
        assert not kept or not isinstance(kept[0], ToolResult)
        answered = [m for m in (*part.messages, *kept) if isinstance(m, ToolResult)]
        assert [m for m in answered if m in whole or "Interrupted" in str(m.parts)] == answered
        assert sum("Interrupted" in str(m.parts) for m in answered) == sum(
            "Interrupted" in str(m.parts) for m in whole
        )
        assert len(part.messages) + len(kept) == len([m for m in whole if not _is_summary(m)])


@examples(max_examples=100, deadline=None)
@given(histories, st.integers(0, 40), st.integers(0, 40), histories)
def test_two_compactions_keep_or_summarise_everything(
    entries: list[Entry], first_keep: int, second_keep: int, later: list[Entry]
) -> None:
    bodies = [e.body for e in entries if not isinstance(e.body, Compacted)]
    entries = chain(bodies)
    everything = _told(messages_of(entries))
    first = find_cut(entries, first_keep)
    if first is None:
        return
    summarised = _told(cut_part(entries, first).messages)
    more = [e.body for e in later if not isinstance(e.body, Compacted)]
    entries = chain([*bodies, compacted(first, "first", tokens_before=1), *more])
    second = find_cut(entries, second_keep)
    if second is None:
        return
    part = cut_part(entries, second)
    summarised |= _told(part.messages)
    kept = _told(kept_after(entries, second))

    assert part.earlier == "first"
    assert {text for text in everything if "Interrupted" not in text and "no output" not in text} <= (
        summarised | kept
    )


def _told(messages: Sequence[Message]) -> set[str]:
    """The messages with calls and results as text, which a refused pairing makes of them at some time."""
    return set(map(repr, strict(messages, everything=True)))


def _is_summary(message: Message) -> bool:
    return (
        isinstance(message, User)
        and "<summary>" in str(message.parts)
        and "in place" in str(message.parts).lower()
    )


def test_a_cut_in_a_long_conversation_is_found_quickly() -> None:
    entries = chain([user("q"), assistant("x" * 400, call("A")), result("A", "y" * 400)] * 3_000)
    started = time.process_time()

    assert find_cut(entries, 20_000) is not None
    assert time.process_time() - started < 1
