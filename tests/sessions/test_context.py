"""What a model sees: the last summary, what was kept, and what came later."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.context import ContextView, messages_of
from sessions.entries import BranchSummary, Compacted, Custom, CustomMessage, Entry, ModelChanged, Unknown
from sessions.messages import Message, Text, ToolResult
from tests.sessions.making import assistant, call, chain, outline, result, user
from tests.sessions.strategies import histories
from tests.sessions.test_repair import assert_sendable


def compacted(summary: str, first_kept_id: str) -> Compacted:
    return Compacted(summary=summary, first_kept_id=first_kept_id, tokens_before=1000)


def short(messages: tuple[Message, ...]) -> list[str]:
    """The outline, with each introduction of a summary cut off."""
    return [text.rpartition("<summary>\n")[2].removesuffix("\n</summary>") for text in outline(messages)]


@settings(max_examples=40, deadline=None)
@given(histories)
def test_every_history_gives_a_context_that_can_be_sent(entries: list[Entry]) -> None:
    messages = messages_of(entries)

    assert_sendable(messages)
    assert not messages or not isinstance(messages[0], ToolResult)


@settings(max_examples=40, deadline=None)
@given(histories, st.lists(st.integers(0, 12), max_size=3))
def test_a_view_that_grew_shows_the_same_as_one_made_at_once(entries: list[Entry], cuts: list[int]) -> None:
    grown, followed = ContextView(entries[: cuts[0]] if cuts else ()), ContextView()
    for entry in entries[cuts[0] if cuts else 0 :]:
        grown.extend(entry)
    for cut in sorted(cuts):
        assert followed.of(entries[:cut]) == messages_of(entries[:cut])

    assert grown.messages == followed.of(entries) == messages_of(entries)


@settings(max_examples=40, deadline=None)
@given(histories, histories)
def test_a_view_that_is_shown_another_history_begins_anew(first: list[Entry], second: list[Entry]) -> None:
    view = ContextView(first)

    assert view.of(second) == messages_of(second)
    assert view.of(first) == messages_of(first)


def test_a_branch_that_took_another_way_replaces_what_was_seen() -> None:
    trunk = chain([user("a"), user("b")])
    view = ContextView(trunk)

    assert short(view.of([trunk[0], *chain([user("x"), user("c"), user("d")])[1:]])) == [
        "user a",
        "user c",
        "user d",
    ]


def test_the_summary_stands_first_then_what_was_kept_then_what_came_later() -> None:
    entries = chain(
        [
            user("old"),
            assistant("old answer"),
            user("kept"),
            assistant("kept answer"),
            compacted("the sum", "00000003"),
            user("later"),
        ]
    )

    assert short(messages_of(entries)) == [
        "the sum",
        "user kept",
        "assistant kept answer",
        "user later",
    ]


def test_the_last_of_two_compactions_counts_and_may_keep_from_before_the_first() -> None:
    entries = chain(
        [
            user("one"),
            user("two"),
            compacted("first sum", "00000002"),
            user("three"),
            compacted("second sum", "00000002"),
            user("four"),
        ]
    )

    assert short(messages_of(entries)) == ["second sum", "user two", "user three", "user four"]


@pytest.mark.parametrize(
    "missing", ["0000000f", "", "00000003", "00000002"], ids=["lost", "none", "later", "itself"]
)
def test_a_first_kept_entry_that_is_not_there_keeps_nothing(missing: str) -> None:
    entries = chain([user("one"), compacted("sum", missing), user("two")])

    assert short(messages_of(entries)) == ["sum", "user two"]


def test_what_is_kept_from_a_result_on_does_not_begin_with_it() -> None:
    entries = chain(
        [
            user("q"),
            assistant(call("A")),
            result("A", "x"),
            assistant("done"),
            compacted("sum", "00000003"),
        ]
    )

    assert short(messages_of(entries)) == ["sum", "assistant done"]


def test_what_extensions_and_branches_say_is_seen_as_said_by_the_user() -> None:
    entries = chain(
        [
            user("a"),
            CustomMessage(kind="recall", parts=(Text(text="you like tea"),), display=False),
            BranchSummary(from_id="root", summary="we tried X"),
            BranchSummary(from_id="root", summary=" "),
            CustomMessage(kind="recall", parts=(Text(text="\n"),), display=False),
        ]
    )

    messages = messages_of(entries)

    assert short(messages) == ["user a", "user you like tea", "we tried X"]
    assert [message.at for message in messages[1:]] == [entries[1].at, entries[2].at]


def test_facts_are_not_seen() -> None:
    entries = chain(
        [
            Custom(kind="clawd.context", data={"hash": "x"}),
            ModelChanged(provider="p", model="m"),
            Unknown(raw={"type": "label"}),
        ]
    )

    assert messages_of(entries) == ()


def test_a_context_that_only_grows_keeps_its_beginning() -> None:
    entries = chain([user("a"), assistant("x", call("A")), result("A", "y"), assistant("b"), user("c")])
    view = ContextView(entries[:4])
    before = view.messages

    assert view.of(entries)[: len(before)] == before


def test_a_turn_of_a_long_conversation_costs_little() -> None:
    entries = chain([user("q"), assistant("a")] * 500)
    view = ContextView(entries[:-1])
    started = time.process_time()
    view.extend(entries[-1])

    assert len(view.messages) == 1000
    assert time.process_time() - started < 0.005
