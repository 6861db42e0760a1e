"""The offline assistant: notes, looks up, and is honest about having no model."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model.offline import Offline
from agents.model.offline_phrases import intent, language
from agents.model.provider import Done, ModelRequest, TextDelta, ToolSpec
from sessions.messages import Assistant, JsonObject, Message, Text, ToolResult, User
from tests.fakes.protocols import START, FakeClock

TOOLS = tuple(
    ToolSpec(name=name, description="", parameters={"type": "object"}) for name in ("write", "memory_search")
)
HEADED: JsonObject = {
    "path": "memory/2026-04-02.md",
    "start_line": 1,
    "end_line": 3,
    "snippet": "## 10:00 - Teeth\n\nThe dentist moved.",
}
HIT: JsonObject = {
    "path": "memory/2026-04-02.md",
    "start_line": 3,
    "end_line": 4,
    "score": 0.7,
    "snippet": "The dentist is Dr. Kaplan.\nFirst floor.",
}


def asked(text: str) -> User:
    return User(at=START, parts=(Text(text=text),), envelope="[2026-05-01 09:30 Fri Europe/Lisbon]")


async def answer(*messages: Message) -> Assistant:
    request = ModelRequest(model="notes", system="", context="", messages=messages, tools=TOOLS)
    events = [event async for event in Offline(FakeClock()).stream(request)]
    last = events[-1]
    assert isinstance(last, Done)
    return last.message


def result(to: Assistant, text: str, *, is_error: bool = False) -> ToolResult:
    call = to.calls[0]
    return ToolResult(at=START, call_id=call.id, name=call.name, parts=(Text(text=text),), is_error=is_error)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("remember that my sister's birthday is March 3", ("note", "my sister's birthday is March 3")),
        ("Please remember I like tea", ("note", "I like tea")),
        ("don't forget: passport", ("note", "passport")),
        ("lembre que o Wi-Fi é zebra42", ("note", "o Wi-Fi é zebra42")),
        ("anota: comprar leite", ("note", "comprar leite")),
        ("Não esqueças que a reunião é sexta", ("note", "a reunião é sexta")),
        ("recuerda que el código es 1234", ("note", "el código es 1234")),
        ("apunta comprar pan", ("note", "comprar pan")),
        ("My dentist is Dr. Kaplan", ("note", "My dentist is Dr. Kaplan")),
        ("Do you remember where I parked?", ("question", "Do you remember where I parked?")),
        ("when is my sister's birthday", ("question", "when is my sister's birthday")),
        ("qual é a senha da garagem", ("question", "qual é a senha da garagem")),
        ("¿dónde está el coche?", ("question", "¿dónde está el coche?")),
        ("dentist phone", ("question", "dentist phone")),
        ("Good morning!", ("hello", "Good morning!")),
        ("olá", ("hello", "olá")),
    ],
)
def test_what_a_text_wants(text: str, expected: tuple[str, str]) -> None:
    assert intent(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("where is the car", "en"),
        ("qual é a senha do carro", "pt"),
        ("¿dónde está el coche?", "es"),
        ("zzz", "en"),
    ],
)
def test_the_language_of_a_text(text: str, code: str) -> None:
    assert language(text) == code


@given(st.text(max_size=200))
def test_every_text_wants_something(text: str) -> None:
    kind, body = intent(text)

    assert kind in ("note", "question", "hello")
    assert body in text


async def test_what_it_is_told_goes_into_the_note_of_the_owners_day() -> None:
    step = await answer(asked("remember that the dentist is Dr. Kaplan"))

    assert step.stop == "toolUse"
    assert step.calls[0].name == "write"
    assert step.calls[0].arguments == {
        "path": "memory/2026-05-01.md",
        "content": "## 09:30 - the dentist is Dr. Kaplan\n\nthe dentist is Dr. Kaplan\n",
        "mode": "append",
    }


async def test_a_long_fact_gets_a_short_title() -> None:
    step = await answer(asked("remember that " + "word " * 40))

    title = str(step.calls[0].arguments["content"]).splitlines()[0]
    assert len(title) < 80
    assert title.endswith("…")


async def test_a_noted_fact_is_confirmed_with_its_file_and_how_to_connect_a_model() -> None:
    question = asked("remember that tea is green")
    step = await answer(question)

    said = await answer(question, step, result(step, "Appended to memory/2026-05-01.md, lines 3-5."))

    assert "`memory/2026-05-01.md`" in said.text
    assert "ANTHROPIC_API_KEY" in said.text


async def test_how_to_connect_a_model_is_said_once_in_a_conversation() -> None:
    first = asked("remember that tea is green")
    step = await answer(first)
    done = await answer(first, step, result(step, "Appended to memory/2026-05-01.md, lines 3-5."))
    second = asked("remember that coffee is black")

    next_step = await answer(first, step, result(step, "Appended."), done, second)
    said = await answer(
        first,
        step,
        result(step, "Appended."),
        done,
        second,
        next_step,
        result(next_step, "memory/2026-05-01.md"),
    )

    assert "ANTHROPIC_API_KEY" in done.text
    assert "ANTHROPIC_API_KEY" not in said.text


async def test_a_question_is_answered_with_quotes_and_their_lines() -> None:
    question = asked("who is my dentist?")
    step = await answer(question)
    assert step.calls[0].arguments == {"query": "who is my dentist?"}

    said = await answer(question, step, result(step, json.dumps({"results": [HIT]})))

    assert "> The dentist is Dr. Kaplan.\n> First floor." in said.text
    assert "`memory/2026-04-02.md:3-4`" in said.text
    assert said.stop == "stop"


async def test_a_heading_in_a_quote_does_not_shout() -> None:
    question = asked("who is my dentist?")
    step = await answer(question)

    said = await answer(question, step, result(step, json.dumps({"results": [HEADED]})))

    assert "> **10:00 - Teeth**\n>\n> The dentist moved." in said.text


async def test_when_nothing_passes_the_nearest_are_shown_as_uncertain() -> None:
    question = asked("who is my dentist?")
    first = await answer(question)
    nothing = result(first, '{"results": []}')

    second = await answer(question, first, nothing)
    said = await answer(question, first, nothing, second, result(second, json.dumps({"results": [HIT]})))

    assert second.calls[0].arguments == {"query": "who is my dentist?", "max_results": 3, "min_score": 0}
    assert second.calls[0].id != first.calls[0].id
    assert "may be unrelated" in said.text
    assert "memory/2026-04-02.md:3-4" in said.text


async def test_weak_passages_are_marked_as_uncertain() -> None:
    question = asked("who is my dentist?")
    step = await answer(question)

    said = await answer(question, step, result(step, json.dumps({"results": [HIT], "relaxed": True})))

    assert "may be unrelated" in said.text


@pytest.mark.parametrize(
    ("text", "failed", "expected"),
    [
        (
            '{"results": [], "unavailable": true, "error": "no model", "action": "run this"}',
            False,
            "no model run this",
        ),
        ("memory_search was stopped", True, "memory_search was stopped"),
        ("not json", False, "not json"),
    ],
    ids=["unavailable", "error", "nonsense"],
)
async def test_a_failed_search_is_told(text: str, failed: bool, expected: str) -> None:
    question = asked("who is my dentist?")
    step = await answer(question)

    said = await answer(question, step, result(step, text, is_error=failed))

    assert expected in said.text


async def test_without_tools_it_only_says_what_it_is() -> None:
    request = ModelRequest(model="notes", system="", context="", messages=(asked("who am I?"),))
    events = [event async for event in Offline(FakeClock()).stream(request)]

    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert "No language model is connected" in text


async def test_call_ids_differ_from_turn_to_turn() -> None:
    first = asked("who is my dentist?")
    step = await answer(first)
    done = replace(step, parts=(Text(text="nobody"),), stop="stop")

    later = await answer(first, step, result(step, '{"results": []}'), done, asked("and my doctor?"))

    assert later.calls[0].id != step.calls[0].id
