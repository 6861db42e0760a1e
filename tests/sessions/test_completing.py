"""Checking a summary against what it replaces, and adding by code what it lacks."""

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.compaction import CutPart, compacted, cut_part, dropped_note, find_cut
from sessions.completing import Faults, check_summary, complete_summary, is_usable
from sessions.context import messages_of
from sessions.entries import Body, Said
from sessions.identifiers import Held
from sessions.messages import Message, ToolCall, text_of
from sessions.points import VITAL
from sessions.summary import CONSTRAINTS, DECISIONS, HEADINGS, IDENTIFIERS, NOTHING, REQUEST, TASKS, sections
from sessions.tokens import estimate
from tests.sessions.making import assistant, chain, result, user

EMPTY = "\n".join(f"## {heading}\n{NOTHING}" for heading in HEADINGS)


def part(*messages: Message, earlier: str = "", request: str = "") -> CutPart:
    return CutPart(messages=messages, earlier=earlier, request=request, split=False, turns=1)


def completed(summary: str, of: CutPart, tokens: int = 10_000) -> str:
    return complete_summary(summary, of, check_summary(summary, of), tokens=tokens)


def missing(faults: Faults) -> set[str]:
    return {lack.identifier for lack in faults.lacks if lack.identifier}


@pytest.mark.parametrize(("summary", "usable"), [("", False), (" \n", False), ("anything", True)])
def test_only_an_empty_answer_is_a_failed_summary(summary: str, usable: bool) -> None:
    assert is_usable(summary) == usable


def test_a_summary_that_holds_everything_has_no_faults() -> None:
    summary = EMPTY.replace(f"## {IDENTIFIERS}\n{NOTHING}", f"## {IDENTIFIERS}\n- the order: ORD-9912")

    faults = check_summary(summary, part(user("My order is ORD-9912.")))

    assert not faults
    assert not faults.worth_retry


def test_missing_headings_and_the_request_are_faults() -> None:
    faults = check_summary("## Decisions\nnone", part(user("q"), request="Please renew the passport"))

    assert faults.headings == HEADINGS[1:]
    assert faults.request
    assert faults.worth_retry
    assert "## Open tasks" in faults.told()
    assert "last request" in faults.told()


def test_what_is_lacking_is_added_with_its_sentence_where_it_belongs() -> None:
    of = part(
        user(
            "We fly to Lisbon on flight TP-1363. Never book without my word! Remind me to renew the passport."
        ),
        assistant(
            "We decided nothing yet, I wrote to ana@mail.example.",
            ToolCall(id="C", name="write", arguments={"path": "plans/trip.md"}),
        ),
        result("C", "saved as rev 8f3c21ab"),
        request="Remind me to renew the passport.",
    )

    found = sections(completed(EMPTY, of))

    assert "- We fly to Lisbon on flight TP-1363." in found[IDENTIFIERS]
    assert "ana@mail.example" in found[IDENTIFIERS]
    assert "· plans/trip.md (write)" in found[IDENTIFIERS]
    assert "· 8f3c21ab (read)" in found[IDENTIFIERS]
    assert found[CONSTRAINTS] == "- Never book without my word!"
    assert found[TASKS] == "- Remind me to renew the passport."
    assert found[REQUEST] == "- in the person's words: Remind me to renew the passport."
    assert found[DECISIONS] == NOTHING


def test_an_earlier_summary_is_carried_over_point_by_point() -> None:
    earlier = (
        "## Decisions\n- PostgreSQL instead of MySQL, said Sam\n\n## Last request\n- book the tram tour\n"
    )

    found = sections(completed(EMPTY, part(user("q"), earlier=earlier)))

    assert found[DECISIONS] == "- PostgreSQL instead of MySQL, said Sam"
    assert "tram tour" not in found[REQUEST]
    assert "tram tour" in found["What was done"]


def test_a_short_request_is_quoted() -> None:
    assert "yes" in sections(completed(EMPTY, part(user("yes"), request="yes")))[REQUEST]


def test_under_a_tight_limit_people_come_first_and_the_rest_is_counted() -> None:
    of = part(
        user("Order ORD-1111 and ORD-2222."),
        *[result("A", " ".join(f"blob-{number:05}" for number in range(20)))] * 3,
        *[assistant(f"I saw item-{number:05} there") for number in range(500)],
    )
    made = completed(EMPTY, of, tokens=600)

    assert "ORD-1111" in made
    assert "more in the transcript" in made
    assert estimate(made) < 900
    assert "more in the transcript" not in completed(EMPTY, part(user("q"), earlier=made))[:50]


def test_a_counted_rest_is_not_carried_over() -> None:
    earlier = f"## {IDENTIFIERS}\n- and 12 more in the transcript"

    assert "12" not in completed(EMPTY, part(user("q"), earlier=earlier))


def test_a_decision_is_not_held_by_another_one_in_the_same_words() -> None:
    of = part(
        user("We decided that boat 345 gets larch planks instead of pine."),
        user("We decided that boat 348 gets oak planks instead of pine."),
    )
    summary = EMPTY.replace(
        f"## {DECISIONS}\n{NOTHING}",
        f"## {DECISIONS}\n- boat 348: oak planks instead of pine\n- berth 345 is free",
    )

    added = sections(completed(summary, of))[DECISIONS]

    assert "- We decided that boat 345 gets larch planks instead of pine." in added
    assert "We decided that boat 348" not in added


def test_what_the_model_told_of_a_result_counts_as_told() -> None:
    of = part(
        assistant(ToolCall(id="C", name="look", arguments={})),
        result("C", "part PX-0540-745122 " + "files/9/note.txt"),
        assistant("The number of the spare part is PX-0540-745122."),
    )

    faults = check_summary(EMPTY, of)

    assert [lack.identifier for lack in faults.lacks] == ["PX-0540-745122", "files/9/note.txt"]
    assert faults.checked == 1


def test_mere_numbers_and_what_only_tools_said_push_out_nothing_that_was_told() -> None:
    told = [f"We decided that boat B-{number}-{number * 7}x gets larch planks." for number in range(100, 130)]
    summary = ""
    for cycle in range(8):
        noise = [user(f"This is message {cycle * 100 + number}.") for number in range(60)]
        files = " ".join(f"files/{cycle}/note-{number}.txt" for number in range(20))
        look = assistant(ToolCall(id=f"C{cycle}", name="look", arguments={}))
        said = [user(text) for text in told[cycle * 4 : cycle * 4 + 4]]
        of = part(*noise, look, result(f"C{cycle}", files), *said, earlier=summary)
        summary = completed(EMPTY, of, tokens=1_200)

    assert all(text in summary for text in told)
    assert estimate(summary) < 1_400


def test_what_a_tool_told_and_a_call_used_later_is_vital_and_not_pushed_out() -> None:
    told = [user(f"Call {name}-{number} of the list.") for number, name in enumerate(["ORD", "INV"] * 3)]
    look = assistant(ToolCall(id="A", name="look", arguments={}))
    use = assistant(ToolCall(id="B", name="send", arguments={"to": ["PT-4471-XK"]}))
    found = "much else " * 300 + "the parcel is PT-4471-XK" + " and more" * 300
    used = part(*told, look, result("A", found), use, result("B", "sent"))
    unused = part(*told, look, result("A", found))

    assert [lack.rank <= VITAL for lack in check_summary(EMPTY, used).lacks if "4471" in lack.identifier] == [
        True
    ]
    assert "PT-4471-XK" not in missing(check_summary(EMPTY, unused))
    assert "PT-4471-XK" in completed(EMPTY, used, tokens=40)


def test_what_the_model_wrote_matters_wherever_it_wrote_it() -> None:
    earlier = f"## {IDENTIFIERS}\n- locker 345 is Ana's\n· files/1/note.txt\n· It cost 17."

    lacks = check_summary(EMPTY, part(earlier=earlier)).lacks

    assert [(lack.context[:9], lack.rank <= 3) for lack in lacks if not lack.identifier] == [
        ("- locker ", True),
        ("· files/1", False),
        ("· It cost", False),
    ]


def test_mere_numbers_are_no_reason_to_ask_the_model_again() -> None:
    numbers = [user(f"It cost {number}.") for number in range(100, 400)]

    faults = check_summary(f"{EMPTY}\nthe order: ORD-9912", part(user("My order is ORD-9912."), *numbers))

    assert len(faults.lacks) == 300
    assert not faults.worth_retry
    assert check_summary(EMPTY, part(user("My order is ORD-9912."), *numbers)).worth_retry


def test_dropped_turns_leave_what_can_be_read_by_code() -> None:
    of = part(user("The order is ORD-9912."), request="The order is ORD-9912.")

    made = completed(dropped_note(of), of)

    assert made.startswith("1 older turn was left out")
    assert "ORD-9912" in made


names = st.sampled_from(["ORD", "PR", "TP", "key"])
planted = st.builds(lambda name, number: f"{name}-{number}", names, st.integers(1_000, 9_999))
talk = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "tool"]), planted, st.integers(0, 200)),
    min_size=3,
    max_size=14,
)
models = st.sampled_from(
    ["", "no headings at all", EMPTY, "## Decisions\n- something else", EMPTY + "\nmore"]
)


def said(steps: list[tuple[str, str, int]], start: int) -> list[Body]:
    bodies: list[Message] = []
    for number, (who, fact, padding) in enumerate(steps, start=start):
        text = f"{'word ' * padding}It is {fact}, remember. {'more ' * padding}"
        if who == "user":
            bodies.append(user(text))
        elif who == "assistant":
            bodies.append(assistant(text))
        else:
            bodies.append(assistant("", ToolCall(id=f"c{number}", name="find", arguments={"id": fact})))
            bodies.append(result(f"c{number}", f"found\n{fact}"))
    return [Said(message=message) for message in bodies]


@examples(max_examples=60, deadline=None)
@given(st.lists(st.tuples(talk, models, st.integers(1, 400)), min_size=2, max_size=3))
def test_successive_compactions_lose_no_identifier(
    rounds: list[tuple[list[tuple[str, str, int]], str, int]],
) -> None:
    """Whatever the model answers: each is in the summary or in what is kept."""
    bodies: list[Body] = []
    facts: set[str] = set()
    for steps, answer, keep in rounds:
        facts |= {fact for _, fact, _ in steps}
        bodies += said(steps, len(bodies))
        entries = chain(bodies)
        cut = find_cut(entries, keep)
        if cut is None:
            continue
        of = cut_part(entries, cut)
        faults = check_summary(answer, of)
        summary = complete_summary(answer, of, faults, tokens=50_000)
        assert not missing(check_summary(summary, of))
        assert list(sections(summary))[1:] == list(HEADINGS)
        bodies.append(compacted(cut, summary, tokens_before=1))

    seen = Held("\n".join(f"{text_of(m.parts)} {_arguments(m)}" for m in messages_of(chain(bodies))))
    assert {fact for fact in facts if fact not in seen} == set()


@examples(max_examples=60, deadline=None)
@given(talk, models)
def test_a_completed_summary_has_no_faults(steps: list[tuple[str, str, int]], answer: str) -> None:
    messages = tuple(body.message for body in said(steps, 0) if isinstance(body, Said))
    of = part(*messages, request="Please look at it")
    summary = completed(answer, of, tokens=50_000)

    faults = check_summary(summary, of)

    assert not faults.headings
    assert not faults.request
    assert not missing(faults)
    assert complete_summary(summary, of, faults, tokens=50_000) == summary


def _arguments(message: Message) -> str:
    return " ".join(str(p.arguments) for p in message.parts if isinstance(p, ToolCall))
