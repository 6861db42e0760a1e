"""A pruning plan as data: what it shows, how it is recorded, how a result is got back."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.context import ContextView, messages_of
from sessions.entries import Compacted, Custom, Said
from sessions.messages import JsonObject, Message, Text, ToolResult, text_of
from sessions.plan import PRUNING_KIND, PruningPlan, Trim, apply, last_plan, plan_of, result_id, whole_result
from tests.sessions.making import AT, assistant, call, chain, outline, result, user

LONG = "head" + "x" * 5000 + "tail"


def soft(message: ToolResult, *, ref: str = "A") -> Trim:
    return Trim(result=result_id(message), how="soft", ref=ref, head=4, tail=4)


def clear(message: ToolResult) -> Trim:
    return Trim(result=result_id(message), how="clear", ref="A", placeholder="[cleared]")


def plan(*trims: Trim) -> PruningPlan:
    return PruningPlan(trims=trims)


def said() -> list[Message]:
    return [user("q"), assistant(call("A")), result("A", LONG), assistant("done"), user("and now?")]


def test_a_soft_trim_keeps_both_ends_and_says_how_to_get_the_whole() -> None:
    whole = result("A", LONG)

    text = text_of(apply(plan(soft(whole)), [whole])[0].parts)

    assert text.startswith("head\n")
    assert text.endswith("\ntail")
    assert "5,000 of 5,008 characters left out; result_get A " in text


def test_a_cleared_result_is_a_placeholder_with_the_way_back() -> None:
    whole = result("A", LONG, is_error=True)

    shown = apply(plan(clear(whole)), [whole])[0]

    assert isinstance(shown, ToolResult)
    assert text_of(shown.parts) == "[cleared]\n[5,008 characters; result_get A gives them back]"
    assert (shown.call_id, shown.name, shown.at, shown.is_error) == ("A", "read", AT, True)


def test_a_result_of_the_same_call_id_at_another_time_is_not_meant() -> None:
    whole = result("A", LONG)
    other = ToolResult(at=AT + timedelta(seconds=1), call_id="A", name="read", parts=whole.parts)

    assert apply(plan(soft(whole)), [other])[0] is other


@examples(max_examples=50, deadline=None)
@given(
    st.lists(
        st.builds(
            Trim,
            result=st.tuples(st.text(max_size=5), st.integers(0, 10**13), st.integers(9, 10**6)),
            how=st.sampled_from(["soft", "clear"]),
            ref=st.text(max_size=5),
        ),
        max_size=4,
    )
)
def test_a_plan_is_the_same_after_it_was_recorded(trims: list[Trim]) -> None:
    made = plan(*trims)

    assert plan_of(chain([made.entry()])[0]) == made


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"trims": "all"},
        {"trims": [None, 3, "x", {}, {"call": "A", "how": "burn", "ref": "A"}]},
        {"trims": [{"call": "A", "at": 1, "chars": 10, "how": "soft", "ref": "A", "head": 9, "tail": 9}]},
    ],
    ids=["nothing", "no list", "no trims", "longer than the text"],
)
def test_what_cannot_be_read_of_a_plan_is_left_out(data: JsonObject) -> None:
    assert plan_of(chain([Custom(kind=PRUNING_KIND, data=data)])[0]) == plan()


def test_other_entries_are_no_plans() -> None:
    assert [plan_of(entry) for entry in chain([user("a"), Custom(kind="clawd.context", data={})])] == [
        None
    ] * 2
    assert last_plan(chain([user("a")])) is None


def test_a_whole_result_is_found_by_its_name() -> None:
    first = result("A", "one")
    second = ToolResult(at=AT + timedelta(seconds=5), call_id="A", name="read", parts=(Text(text="two"),))
    messages = [first, second, result("B", "three")]

    assert whole_result(messages, "A") is first
    assert whole_result(messages, f"A@{result_id(second)[1]}") is second
    assert whole_result(messages, "C") is None


def test_the_plan_in_force_is_seen_by_the_model_and_changes_nothing_that_is_stored() -> None:
    entries = chain([*said(), plan(soft(result("A", LONG))).entry(), user("later")])
    stored = entries[2].body

    view = ContextView(entries)

    assert len(text_of(view.messages[2].parts)) < 200
    assert text_of(view.untrimmed[2].parts) == LONG
    assert view.plan == plan(soft(result("A", LONG)))
    assert outline(view.messages)[3:] == ["assistant done", "user and now?", "user later"]
    assert stored == Said(message=result("A", LONG))


def test_a_later_plan_replaces_an_earlier_one() -> None:
    whole = result("A", LONG)
    entries = chain([*said(), plan(soft(whole)).entry(), plan(clear(whole)).entry()])

    assert "[cleared]" in text_of(messages_of(entries)[2].parts)
    assert messages_of(chain([*said(), plan(soft(whole)).entry(), plan().entry()])) == messages_of(
        chain(said())
    )


def test_a_plan_goes_on_after_a_compaction() -> None:
    entries = chain(
        [
            user("old"),
            *said(),
            plan(soft(result("A", LONG))).entry(),
            Compacted(summary="sum", first_kept_id="00000002", tokens_before=9),
            user("later"),
        ]
    )
    grown = ContextView()
    for entry in entries:
        grown.extend(entry)

    assert "left out" in text_of(messages_of(entries)[3].parts)
    assert grown.messages == messages_of(entries) == ContextView().of(entries)


def test_a_view_that_is_shown_another_history_forgets_the_plan() -> None:
    view = ContextView(chain([*said(), plan(soft(result("A", LONG))).entry()]))
    other = chain(said())

    assert view.of(other) == messages_of(other)
    assert view.plan is None
