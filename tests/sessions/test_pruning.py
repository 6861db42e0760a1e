"""Which old tool results are shown shorter, and when."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.context import ContextView
from sessions.entries import Said
from sessions.messages import Assistant, Image, JsonObject, Message, Text, ToolCall, ToolResult, User, text_of
from sessions.plan import PruningPlan, apply
from sessions.pruning import chars_of, is_cold, last_use, may_trim, plan
from sessions.settings import PruningSettings, ToolFilterSettings
from tests.sessions.making import AT, assistant, call, chain, open_case, outline, result, user

DEFAULTS = PruningSettings()
GATED = PruningSettings.model_validate({"gate": True})
ONCE = PruningSettings.model_validate({"aged": {"enabled": False}})
LATER = AT + timedelta(hours=1)


def settings(**values: object) -> PruningSettings:
    return PruningSettings.model_validate(values)


def tools_then_talk(sizes: Sequence[int], *, name: str = "read") -> list[Message]:
    """A question, a call with its result for each size, then three answers without tools."""
    messages: list[Message] = [user("q")]
    for number, size in enumerate(sizes):
        found = ("head" + "x" * size)[:size]
        messages.append(assistant(ToolCall(id=f"R{number}", name=name, arguments={})))
        messages.append(ToolResult(at=AT, call_id=f"R{number}", name=name, parts=(Text(text=found),)))
    return [*messages, assistant("1"), assistant("2"), assistant("3")]


def planned(
    messages: Sequence[Message], window: int, made: PruningSettings = DEFAULTS, **more: object
) -> dict[str, str]:
    """What is done with which call."""
    found = plan(messages, window, made, LATER, AT, force=bool(more.get("force")))
    return {} if found is None else {trim.result[0]: trim.how for trim in found.trims}


def test_what_was_read_first_and_what_is_recent_stays_whole(tmp_path: Path) -> None:
    """B35."""
    transcript = open_case("B35-bootstrap-and-tail.jsonl", tmp_path)
    view = ContextView(transcript.entries)
    transcript.close()
    messages = view.untrimmed

    made = plan(messages, 16_000, DEFAULTS, LATER, AT)

    assert made is not None
    assert [(trim.result[0], trim.how) for trim in made.trims] == [("R1", "soft"), ("R2", "soft")]
    shown = apply(made, messages)
    for before, after in zip(messages, shown, strict=True):
        if isinstance(before, ToolResult) and before.call_id in ("R1", "R2"):
            text, whole = text_of(after.parts), text_of(before.parts)
            assert text.startswith(whole[:1500])
            assert text.endswith(whole[-1500:])
            assert f"{before.call_id.lower()}-head" in text
            assert f"{before.call_id.lower()}-tail" in text
            assert len(text) < 3_200
        else:
            assert after is before


@pytest.mark.parametrize(
    ("ago", "pruned"), [(timedelta(hours=3), True), (timedelta(minutes=2), False)], ids=["3 h", "2 min"]
)
def test_the_last_use_is_read_from_what_is_stored(ago: timedelta, pruned: bool) -> None:
    """B34: as after a restart; the question that is asked now stands in the transcript already."""
    entries = chain([*tools_then_talk([20_000] * 16), user("and now?")])
    before = list(entries)
    view = ContextView(entries)
    used = last_use(entries)
    assert used is not None

    made = plan(view.untrimmed, 100_000, settings(ttl="1h"), used + ago, used)

    assert (made is not None) == pruned
    assert entries == before


def test_a_failed_question_is_no_use_and_a_stopped_answer_is() -> None:
    entries = chain([user("q"), assistant("a"), user("q2"), assistant(stop="error", error="no network")])

    assert last_use(entries) == entries[1].at
    assert last_use(chain([user("q"), assistant("a"), assistant("b", stop="aborted")])) == entries[1].at + (
        timedelta(seconds=1)
    )
    assert last_use(chain([user("q")])) is None


@pytest.mark.parametrize(
    ("passed", "cold"),
    [(timedelta(seconds=299), False), (timedelta(seconds=300), True), (timedelta(seconds=301), True)],
    ids=["below", "at", "above"],
)
def test_the_cache_is_cold_when_its_time_has_passed(passed: timedelta, cold: bool) -> None:
    assert is_cold(AT + passed, AT, DEFAULTS) == cold
    assert not is_cold(AT + passed, AT, DEFAULTS, timedelta(hours=1))
    assert is_cold(AT + passed, None, DEFAULTS)


@pytest.mark.parametrize(
    ("size", "trimmed"), [(4_000, False), (4_001, True)], ids=["at the limit", "one above"]
)
def test_only_long_results_are_trimmed(size: int, trimmed: bool) -> None:
    assert planned(tools_then_talk([size]), 1_000) == ({"R0": "soft"} if trimmed else {})


@pytest.mark.parametrize(
    ("window", "trimmed"), [(8_342, True), (8_345, False)], ids=["at 30 %", "below 30 %"]
)
def test_nothing_happens_before_the_gate(window: int, trimmed: bool) -> None:
    messages = tools_then_talk([10_000])
    assert sum(map(chars_of, messages)) == 10_006

    assert bool(planned(messages, window - 4, GATED)) == trimmed
    assert bool(planned(messages, 10**6))
    assert bool(planned(messages, 10**6, GATED, force=True))


def test_the_oldest_results_are_cleared_until_half_of_the_window_is_free() -> None:
    messages = tools_then_talk([4_000] * 20)

    made = plan(messages, 20_200, DEFAULTS, LATER, AT)

    assert made is not None
    assert [(trim.result[0], trim.how) for trim in made.trims] == [(f"R{n}", "clear") for n in range(11)]
    one_less = PruningPlan(trims=made.trims[:-1])
    half = 20_200 * 4 * 0.5
    assert sum(map(chars_of, apply(made, messages))) < half <= sum(map(chars_of, apply(one_less, messages)))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({"min_prunable_chars": 80_001}, {}), ({"hard_clear": {"enabled": False}}, {})],
    ids=["too little", "switched off"],
)
def test_nothing_is_cleared_for_little(changes: dict[str, object], expected: dict[str, str]) -> None:
    assert planned(tools_then_talk([4_000] * 20), 20_200, settings(**changes)) == expected


def test_fewer_answers_than_are_kept_leave_all_as_it_is() -> None:
    messages: list[Message] = [
        user("q"),
        assistant(call("A")),
        result("A", "x" * 9_000),
        assistant("done"),
    ]

    assert planned(messages, 1_000) == {}
    assert planned(messages, 1_000, settings(keep_last_assistants=1)) == {"A": "soft"}
    assert planned(messages[1:], 1_000, settings(keep_last_assistants=0)) == {}


def test_images_stay_and_the_settings_name_tools() -> None:
    messages = tools_then_talk([9_000])
    shot = ToolResult(
        at=AT,
        call_id="R0",
        name="read",
        parts=(Text(text="x" * 9_000), Image(data="", mime_type="image/png")),
    )

    assert planned([*messages[:2], shot, *messages[3:]], 1_000) == {}
    assert planned(messages, 1_000, settings(tools={"deny": ["re*"]})) == {}
    assert planned(messages, 1_000, settings(mode="off"), force=True) == {}


@pytest.mark.parametrize(
    ("allow", "deny", "expected"),
    [
        ((), (), True),
        (("exec",), (), False),
        (("*",), (), True),
        (("READ",), (), True),
        (("re*",), ("read",), False),
        ((), ("web_*",), True),
    ],
)
def test_deny_is_stronger_than_allow(allow: tuple[str, ...], deny: tuple[str, ...], expected: bool) -> None:
    assert may_trim("Read", ToolFilterSettings(allow=allow, deny=deny)) == expected


def test_a_later_plan_extends_the_one_in_force() -> None:
    messages = tools_then_talk([9_000, 9_000])
    first = plan(messages, 1_000, ONCE, LATER, AT)
    assert first is not None
    assert plan(messages, 1_000, ONCE, LATER, AT, earlier=first) is None

    longer = [*messages, *tools_then_talk([5_000] * 12)[1:]]
    longer = [*messages, *[_renamed(message) for message in longer[len(messages) :]]]
    second = plan(longer, 12_000, ONCE, LATER, AT, earlier=first)

    assert second is not None
    assert {trim.result for trim in first.trims} <= {trim.result for trim in second.trims}
    assert second.trims[0].how == "soft"
    assert apply(second, apply(first, longer))[2] == apply(first, longer)[2]


def test_a_soft_trim_may_become_a_clear_later_but_never_the_other_way() -> None:
    messages = tools_then_talk([9_000] * 20)
    first = plan(messages, 30_000, ONCE, LATER, AT)
    assert first is not None
    assert [trim.how for trim in first.trims].count("clear") < 3

    second = plan(messages, 10_000, ONCE, LATER, AT, earlier=first)
    third = plan(messages, 30_000, ONCE, LATER, AT, earlier=second)

    assert second is not None
    assert [trim.how for trim in second.trims].count("clear") > 10
    assert third is None


def test_trims_of_results_that_are_gone_are_dropped() -> None:
    messages = tools_then_talk([9_000, 9_000])
    first = plan(messages, 1_000, ONCE, LATER, AT)
    rest: list[Message] = [user("a summary"), *messages[3:]]

    assert plan(rest, 1_000, ONCE, LATER, AT, earlier=first) is None


def test_what_a_pause_trimmed_the_next_one_trims_more_and_then_no_more() -> None:
    messages = tools_then_talk([9_000, 9_000])
    first = plan(messages, 10**6, DEFAULTS, LATER, AT)
    second = plan(messages, 10**6, DEFAULTS, LATER, AT, earlier=first)

    assert first is not None
    assert second is not None
    assert [(trim.head, trim.tail) for trim in first.trims] == [(1_500, 1_500)] * 2
    assert [(trim.head, trim.tail) for trim in second.trims] == [(400, 200)] * 2
    assert [trim.ref for trim in second.trims] == [trim.ref for trim in first.trims]
    assert plan(messages, 10**6, DEFAULTS, LATER, AT, earlier=second) is None


def test_what_came_since_is_trimmed_as_at_first() -> None:
    messages = tools_then_talk([9_000])
    first = plan(messages, 10**6, DEFAULTS, LATER, AT)
    more = [_renamed(message) for message in tools_then_talk([9_000])]
    second = plan([*messages, *more], 10**6, DEFAULTS, LATER, AT, earlier=first)

    assert second is not None
    assert [trim.head for trim in second.trims] == [400, 1_500]


@pytest.mark.parametrize(
    "aged",
    [
        {"enabled": False},
        {"head_chars": 1_500, "tail_chars": 1_500},
        {"head_chars": 9_000, "tail_chars": 9_000},
    ],
    ids=["off", "the same", "more"],
)
def test_nothing_ages_where_the_settings_leave_as_much(aged: JsonObject) -> None:
    messages, kept = tools_then_talk([9_000]), settings(aged=aged)
    first = plan(messages, 10**6, kept, LATER, AT)

    assert plan(messages, 10**6, kept, LATER, AT, earlier=first) is None


def test_call_ids_that_come_again_are_told_apart() -> None:
    messages = tools_then_talk([9_000])
    again: list[Message] = [
        assistant(call("R0")),
        ToolResult(at=AT + timedelta(minutes=1), call_id="R0", name="read", parts=(Text(text="y" * 9_000),)),
        assistant("4"),
        assistant("5"),
        assistant("6"),
    ]

    made = plan([*messages, *again], 1_000, DEFAULTS, LATER, AT)

    assert made is not None
    assert len({trim.ref for trim in made.trims}) == 2


# Sizes and limits are small here, so that every rule is met often.
SMALL: JsonObject = {
    "soft_trim": {"max_chars": 400, "head_chars": 50, "tail_chars": 50, "ratio": 0.3},
    "min_prunable_chars": 1_000,
}
exchanges = st.lists(
    st.tuples(st.sampled_from(["user", "answer", "tool", "shown"]), st.integers(0, 900)), max_size=25
)


def conversation(steps: Sequence[tuple[str, int]]) -> list[Message]:
    messages: list[Message] = []
    for number, (kind, size) in enumerate(steps):
        at = AT + timedelta(seconds=number)
        if kind == "user":
            messages.append(user("u"))
        elif kind == "answer":
            messages.append(assistant("a"))
        else:
            parts: tuple[Text | Image, ...] = (Text(text="x" * size),)
            if kind == "shown":
                parts = (*parts, Image(data="", mime_type="image/png"))
            messages.append(assistant(call(f"c{number}")))
            messages.append(ToolResult(at=at, call_id=f"c{number}", name="read", parts=parts))
    return messages


@examples(max_examples=150, deadline=None)
@given(exchanges, st.integers(100, 5_000), st.integers(0, 3))
def test_a_plan_touches_nothing_that_is_protected(
    steps: list[tuple[str, int]], window: int, keep: int
) -> None:
    messages = conversation(steps)
    made = plan(messages, window, settings(**SMALL, keep_last_assistants=keep), LATER, AT)
    shown = apply(made or PruningPlan(trims=()), messages)
    first = next((at for at, m in enumerate(messages) if isinstance(m, User)), len(messages))
    answers = [at for at, m in enumerate(messages) if isinstance(m, Assistant)]
    tail = (answers[-keep] if len(answers) >= keep else 0) if keep else len(messages)

    assert [outline([m])[0].split()[:2] for m in shown if not isinstance(m, ToolResult)] == [
        outline([m])[0].split()[:2] for m in messages if not isinstance(m, ToolResult)
    ]
    for position, (before, after) in enumerate(zip(messages, shown, strict=True)):
        if after is not before:
            assert first <= position < tail
            assert isinstance(before, ToolResult)
            assert isinstance(after, ToolResult)
            assert after.call_id == before.call_id
            assert chars_of(after) < chars_of(before)
            assert not any(isinstance(part, Image) for part in before.parts)


@examples(max_examples=100, deadline=None)
@given(exchanges, exchanges, st.integers(100, 5_000))
def test_applying_is_idempotent_and_plans_only_grow(
    steps: list[tuple[str, int]], more: list[tuple[str, int]], window: int
) -> None:
    made = settings(**SMALL)
    messages = conversation(steps)
    first = plan(messages, window, made, LATER, AT) or PruningPlan(trims=())
    shown = apply(first, messages)
    assert apply(first, shown) == shown
    assert plan(messages, window, made, LATER, AT, earlier=first) is None

    grown = conversation([*steps, *more])
    second = plan(grown, window, made, LATER, AT, earlier=first) or first
    before = {trim.result: trim.how for trim in first.trims}
    after = {trim.result: trim.how for trim in second.trims}
    assert before.keys() <= after.keys()
    assert all(after[key] == how or after[key] == "clear" for key, how in before.items())


def _renamed(message: Message) -> Message:
    if isinstance(message, ToolResult):
        return result(f"S{message.call_id}", text_of(message.parts))
    if isinstance(message, Assistant) and message.calls:
        return assistant(call(f"S{message.calls[0].id}"))
    return message


def test_a_plan_of_a_long_conversation_is_made_quickly() -> None:
    messages = tools_then_talk([5_000] * 2_000)
    moment = datetime(2026, 5, 1, tzinfo=AT.tzinfo)

    assert plan(messages, 200_000, DEFAULTS, moment + timedelta(days=1), moment) is not None


def test_messages_of_other_entries_are_no_use() -> None:
    entries = chain([user("q"), assistant("a")])

    assert isinstance(entries[1].body, Said)
    assert last_use(entries[:1]) is None
