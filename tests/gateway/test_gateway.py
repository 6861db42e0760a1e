"""The path of one message: accepted, kept, answered, and told, whatever happens on the way."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import pytest

from agents.model.provider import (
    AuthFailed,
    ContextOverflow,
    ModelNotFound,
    Overloaded,
    QuotaExhausted,
    RateLimited,
)
from agents.turn import TurnEvent
from gateway.views import Refused, reply_json
from sessions.key import SessionKey
from sessions.messages import Assistant, ToolResult, User, text_of
from tests.fakes.house import house
from tests.fakes.protocols import Calls, Fails, FakeTool, Hangs, Says, Step, call

MAIN = SessionKey(agent="main", kind="main")


async def test_an_answer_comes_with_its_session_and_its_calls(tmp_path: Path) -> None:
    note = call("write", {"path": "memory/2026-05-01.md", "content": "tea is green", "mode": "append"})
    async with house(tmp_path, Calls((note,)), Says("Noted.")) as scene:
        answer = await scene.gateway.chat(agent=None, session="work", text="tea is green")

        assert reply_json(answer) == {
            "reply": "Noted.",
            "session_key": "agent:main:api:work",
            "session_id": "session-1",
            "model": "scripted/script",
            "usage": {
                "input": 20,
                "output": 10,
                "cache_read": 0,
                "cache_write": 0,
                "total": 30,
                "cost_usd": None,
            },
            "tool_calls": [{"name": "write", "arguments": note.arguments, "is_error": False}],
        }
        assert (scene.workspace / "memory/2026-05-01.md").read_text() == "# 2026-05-01\n\ntea is green"


async def test_what_was_told_is_found_after_a_restart_in_other_sessions(tmp_path: Path) -> None:
    note = call(
        "write", {"path": "memory/2026-05-01.md", "content": "The kestrel ships on Friday.", "mode": "append"}
    )
    async with house(tmp_path, Calls((note,)), Says("Noted.")) as scene:
        await scene.gateway.chat(agent=None, session="one", text="the kestrel ships on Friday")

    search = call("memory_search", {"query": "kestrel"})
    async with house(tmp_path, Calls((search,)), Says("On Friday."), first_session=2) as scene:
        await scene.gateway.chat(agent=None, session="two", text="when does the kestrel ship?")
        found = (await scene.gateway.session(SessionKey.parse("agent:main:api:two"))).messages[2]

    assert isinstance(found, ToolResult)
    hit = json.loads(text_of(found.parts))["results"][0]
    assert hit["path"] == "memory/2026-05-01.md"
    assert "Friday" in hit["snippet"]


async def test_a_session_goes_on_after_a_restart(tmp_path: Path) -> None:
    async with house(tmp_path, Says("Hello Ana.")) as scene:
        first = await scene.gateway.chat(agent=None, session=None, text="I am Ana")
    async with house(tmp_path, Says("Ana."), first_session=2) as scene:
        second = await scene.gateway.chat(agent=None, session=None, text="who am I?")
        sent = scene.model.requests[0].messages

    assert first.session_id == second.session_id == "session-1"
    assert [text_of(message.parts) for message in sent] == ["I am Ana", "Hello Ana.", "who am I?"]


async def test_each_request_extends_the_one_before_it(tmp_path: Path) -> None:
    script: list[Step] = [Says("one"), Calls((call("list", {}),)), Says("two"), Says("three")]
    async with house(tmp_path, *script) as scene:
        for text in ("a", "b", "c"):
            await scene.gateway.chat(agent=None, session=None, text=text)
        requests = scene.model.requests

    for earlier, later in pairwise(requests):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert (later.system, later.context, later.tools) == (earlier.system, earlier.context, earlier.tools)


async def test_the_message_carries_the_owners_time_and_the_prompt_does_not(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hi")) as scene:
        await scene.gateway.chat(agent=None, session=None, text="hello")
        request = scene.model.requests[0]

    asked = request.messages[0]
    assert isinstance(asked, User)
    assert asked.envelope == "[2026-05-01 09:00 Fri Europe/Lisbon]"
    assert "09:00" not in request.system + request.context


async def test_private_memory_enters_the_owners_sessions(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hi")) as scene:
        (scene.workspace / "MEMORY.md").write_text("Ana is allergic to nuts.\n")
        await scene.gateway.chat(agent=None, session=None, text="hello")

        assert "allergic to nuts" in scene.model.requests[0].context


@pytest.mark.parametrize(
    ("agent", "session", "text", "code", "status"),
    [
        ("nobody", None, "hello", "unknown_agent", 404),
        (None, None, "", "empty_text", 400),
        (None, None, " \n\t", "empty_text", 400),
        (None, None, "x" * 1_001, "text_too_long", 413),
        (None, "", "hello", "bad_session", 400),
    ],
    ids=["unknown agent", "empty", "blank", "too long", "nameless session"],
)
async def test_a_message_that_cannot_be_taken_is_refused_and_leaves_nothing(
    tmp_path: Path, agent: str | None, session: str | None, text: str, code: str, status: int
) -> None:
    async with house(tmp_path) as scene:
        with pytest.raises(Refused) as caught:
            await scene.gateway.chat(agent=agent, session=session, text=text)

        assert (caught.value.code, caught.value.status) == (code, status)
        assert scene.gateway.sessions() == []


async def test_the_longest_text_is_taken(tmp_path: Path) -> None:
    async with house(tmp_path, Says("long")) as scene:
        assert (await scene.gateway.chat(agent=None, session=None, text="x" * 1_000)).reply == "long"


async def test_a_draining_gateway_takes_nothing_new(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        scene.gateway.draining = True

        with pytest.raises(Refused, match="shutting down") as caught:
            await scene.gateway.chat(agent=None, session=None, text="hello")

        assert caught.value.status == 503


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (AuthFailed("wrong key"), "model_auth"),
        (QuotaExhausted("no credit"), "model_quota"),
        (ModelNotFound("no such model"), "model_not_found"),
        (ContextOverflow("too long"), "context_overflow"),
        (RateLimited("slow down", retry_after=5), "model_rate_limited"),
        (Overloaded("busy"), "model_failed"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_when_the_model_fails_the_message_is_kept_and_the_next_turn_works(
    tmp_path: Path, error: AuthFailed | RateLimited, code: str
) -> None:
    async with house(tmp_path, Fails(error), Says("here I am")) as scene:
        with pytest.raises(Refused, match=str(error)) as caught:
            await scene.gateway.chat(agent=None, session=None, text="are you there?")
        assert caught.value.code == code

        answer = await scene.gateway.chat(agent=None, session=None, text="and now?")

        assert answer.reply == "here I am"
        assert [
            text_of(message.parts)
            for message in scene.model.requests[1].messages
            if isinstance(message, User)
        ] == [
            "are you there?",
            "and now?",
        ]


async def test_a_model_that_cannot_be_used_is_told_and_the_message_kept(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        scene.unusable = AuthFailed("no key. Set ANTHROPIC_API_KEY.")

        with pytest.raises(Refused, match="Set ANTHROPIC_API_KEY"):
            await scene.gateway.chat(agent=None, session=None, text="keep this")

        assert text_of((await scene.gateway.session(MAIN)).messages[0].parts) == "keep this"


async def test_a_stopped_turn_is_told_and_its_words_are_kept(tmp_path: Path) -> None:
    async with house(tmp_path, Hangs(after="Once upon a time"), Says("the end")) as scene:
        asking = asyncio.create_task(scene.gateway.chat(agent=None, session=None, text="tell me a story"))
        await scene.model.hanging.wait()

        assert scene.gateway.stop(MAIN)
        with pytest.raises(Refused, match="Stopped") as caught:
            await asking
        assert caught.value.code == "stopped"
        answer = await scene.gateway.chat(agent=None, session=None, text="go on")

        said = (await scene.gateway.session(MAIN)).messages[1]
        assert isinstance(said, Assistant)
        assert (said.text, said.stop) == ("Once upon a time", "aborted")
        assert answer.reply == "the end"


async def test_a_stop_while_a_tool_runs_leaves_a_transcript_that_opens_cleanly(tmp_path: Path) -> None:
    tool = FakeTool(delay=60)
    async with house(tmp_path, Calls((call("look"),)), Says("fine"), extra_tools=[tool]) as scene:
        asking = asyncio.create_task(scene.gateway.chat(agent=None, session=None, text="look"))
        await tool.running.wait()
        scene.gateway.stop(MAIN)
        with pytest.raises(Refused, match="Stopped"):
            await asking

    async with house(tmp_path, Says("fine"), extra_tools=[tool]) as scene:
        assert (await scene.gateway.chat(agent=None, session=None, text="and?")).reply == "fine"
        sent = scene.model.requests[0].messages

    results = [message for message in sent if isinstance(message, ToolResult)]
    assert [result.call_id for result in results] == ["c1"]
    assert "may have run" in text_of(results[0].parts)


async def test_a_caller_that_goes_away_does_not_take_the_answer_along(tmp_path: Path) -> None:
    tool = FakeTool(delay=0.05)
    async with house(tmp_path, Calls((call("look"),)), Says("still here"), extra_tools=[tool]) as scene:
        asking = asyncio.create_task(scene.gateway.chat(agent=None, session=None, text="look"))
        await tool.running.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await scene.gateway.lanes.drain(5)

        assert text_of((await scene.gateway.session(MAIN)).messages[-1].parts) == "still here"


async def test_the_same_session_answers_one_message_after_the_other(tmp_path: Path) -> None:
    async with house(tmp_path, Says("first"), Says("second")) as scene:
        answers = await asyncio.gather(
            *[scene.gateway.chat(agent=None, session="s", text=text) for text in ("a", "b")]
        )
        messages = (await scene.gateway.session(SessionKey.parse("agent:main:api:s"))).messages

    assert [answer.reply for answer in answers] == ["first", "second"]
    assert [text_of(message.parts) for message in messages] == ["a", "first", "b", "second"]


async def test_progress_is_told_as_it_happens(tmp_path: Path) -> None:
    events: list[TurnEvent] = []
    async with house(tmp_path, Calls((call("list"),), text="Let me see."), Says("Seen.")) as scene:
        await scene.gateway.chat(agent=None, session=None, text="look", on_event=events.append)

    kinds = [type(event).__name__ for event in events]
    assert kinds == ["TextDelta", "ToolStarted", "ToolFinished", "TextDelta"]


async def test_agents_share_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, Says("for work"), Says("for home"), agents=("work", "home")) as scene:
        await scene.gateway.chat(agent="work", session=None, text="budget")
        await scene.gateway.chat(agent="home", session=None, text="dinner")
        (scene.workspace / "MEMORY.md").write_text("The budget is 40.\n")

        assert {str(record.key) for record in scene.gateway.sessions()} == {
            "agent:work:main",
            "agent:home:main",
        }
        assert [text_of(message.parts) for message in scene.model.requests[1].messages] == ["dinner"]
        hits = await scene.gateway.memory_search("budget", agent="home", max_results=None, min_score=None)
        assert hits.hits == ()


async def test_a_broken_transcript_is_set_aside_and_the_next_message_works(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hello")) as scene:
        await scene.gateway.chat(agent=None, session=None, text="hi")
        path = scene.home.transcripts("main") / "session-1.jsonl"
    path.write_text("this is no transcript\n")

    async with house(tmp_path, Says("again"), first_session=2) as scene:
        with pytest.raises(Refused, match="set aside") as caught:
            await scene.gateway.chat(agent=None, session=None, text="hi")
        answer = await scene.gateway.chat(agent=None, session=None, text="hi again")

    assert caught.value.code == "storage"
    assert (answer.reply, answer.session_id) == ("again", "session-2")
    assert [p.read_text() for p in path.parent.glob("session-1.jsonl.broken*")] == ["this is no transcript\n"]


async def test_a_deleted_workspace_is_made_again(tmp_path: Path) -> None:
    async with house(tmp_path, Says("back")) as scene:
        scene.workspace.rename(tmp_path / "elsewhere")

        assert (await scene.gateway.chat(agent=None, session=None, text="hi")).reply == "back"
        assert (scene.workspace / "AGENTS.md").exists()


async def test_more_sessions_than_may_stay_open(tmp_path: Path) -> None:
    async with house(tmp_path, *[Says(str(n)) for n in range(6)], open_limit=1) as scene:
        for name in ("a", "b", "c", "a", "b", "c"):
            await scene.gateway.chat(agent=None, session=name, text=name)

        assert [len(request.messages) for request in scene.model.requests] == [1, 1, 1, 3, 3, 3]
        assert {record.messages for record in scene.gateway.sessions()} == {4}


async def test_the_context_of_a_request_is_recorded_once_while_it_stays_the_same(tmp_path: Path) -> None:
    async with house(tmp_path, Says("1"), Says("2"), Says("3")) as scene:
        await scene.gateway.chat(agent=None, session=None, text="a")
        await scene.gateway.chat(agent=None, session=None, text="b")
        (scene.workspace / "USER.md").write_text("Ana, from Porto.\n")
        await scene.gateway.chat(agent=None, session=None, text="c")
        lines = [json.loads(line) for line in scene.transcript("session-1").splitlines()]

    contexts = [line["data"] for line in lines if line.get("customType") == "clawd.context"]
    assert len(contexts) == 2
    assert "Porto" not in contexts[0]["context"]
    assert "Porto" in contexts[1]["context"]


async def test_an_unknown_session_is_told(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        with pytest.raises(Refused, match="clawd sessions list"):
            await scene.gateway.session(MAIN)


async def test_a_path_outside_memory_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        with pytest.raises(Refused) as caught:
            await scene.gateway.memory_read("../../etc/passwd", agent=None, from_line=1, lines=None)

        assert caught.value.status == 400
