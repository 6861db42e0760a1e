"""Past requests rebuilt from the transcript alone are the bytes that the vendor received."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from agents.model.provider import ModelRequest
from agents.replay import past_calls, replay
from gateway.build import opened
from gateway.config import Config
from gateway.gateway import Gateway
from gateway.home import Home
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import JsonObject, Usage, text_of
from sessions.settings import SessionsSettings
from sessions.summary import HEADINGS
from sessions.transcript import Transcript
from tests.fakes.house import house
from tests.fakes.model_script import Call, Calls, Fail, RateLimited, Say
from tests.fakes.modelserver import ModelServer
from tests.fakes.protocols import Calls as Calls_
from tests.fakes.protocols import FakeTool, Says, Step, call

MAIN = SessionKey(agent="main", kind="main")
MODELS = {
    "anthropic": "anthropic/claude-sonnet-5-5",
    "openai": "openai/gpt-6.1-terra",
    "mistral": "mistral/mistral-large",
}


@asynccontextmanager
async def living(
    folder: Path, server: ModelServer, vendor: str, **defaults: object
) -> AsyncIterator[Gateway]:
    """A gateway on what an earlier one left, with the vendor's real SDK in between."""
    url = server.url if vendor == "anthropic" else f"{server.url}/v1"
    config = Config.model_validate(
        {
            "models": {
                "default": MODELS[vendor],
                "max_retries": 1,
                "providers": {vendor: {"api_key": "k-secret-of-a-test", "base_url": url}},
            },
            "agents": {"defaults": {"time_zone": "Europe/Lisbon", **defaults}},
            "memory": {"search": {"provider": "none"}},
        }
    )
    async with opened(config, Home(folder / "home")) as gateway:
        yield gateway


async def say(gateway: Gateway, *texts: str) -> None:
    for text in texts:
        await gateway.chat(agent=None, session=None, text=text)


async def rebuilt(gateway: Gateway) -> list[bytes]:
    """All requests of the session, in order."""
    found: list[bytes] = []
    for turn in range(1, 100):
        try:
            found += [one.body for one in await gateway.insight.replayed(MAIN, turn=turn, call=None)]
        except Refused as refused:
            assert refused.code == "unknown_turn"  # noqa: PT017 (the end of the session)
            break
    return found


@pytest.mark.parametrize("vendor", MODELS)
async def test_every_request_of_a_long_conversation_is_rebuilt_byte_for_byte(
    tmp_path: Path, vendor: str
) -> None:
    workspace = tmp_path / "home" / "workspace"
    async with ModelServer() as server:
        async with living(tmp_path, server, vendor, thinking="low") as gateway:
            server.script += [Say("Hello.", thinking="They greet me."), Call("list", text="Let me look.")]
            await say(gateway, "hello, Olá, 你好 \U0001f600", 'look around, "please"')
            (workspace / "USER.md").write_text("The owner is called Ana.\n")  # somebody else's edit
            server.script += [
                Calls((Call("read", {"path": "USER.md"}, id="a"), Call("read", {"path": "none.md"}, id="a")))
            ]
            await say(gateway, "who am I?")
            note: JsonObject = {"path": "MEMORY.md", "content": "Ana likes tea.\n", "mode": "append"}
            server.script += [
                Call("write", note),
                Say("Noted."),
                Say("Yes."),
                RateLimited(0.01),
                Say("Done."),
            ]
            await say(gateway, "I like tea", "do I like tea?", "try twice")

        async with living(tmp_path, server, vendor, thinking="low") as gateway:
            server.script += [Say("Still here."), Fail(status=400)]
            await say(gateway, "are you there?")
            with pytest.raises(Refused):
                await say(gateway, "this goes wrong")
            await say(gateway, "call no_such_tool {}")
            (workspace / "SOUL.md").unlink()

        async with living(tmp_path, server, vendor, thinking="off", max_tokens=1_000) as gateway:
            await say(gateway, "and with other settings?", 'call exec {"command": "echo hi"}')
            found = await rebuilt(gateway)
        sent = [one.body for one in server.requests]

    assert len(sent) == 17
    assert sent[9] == sent[8]  # tried twice
    del sent[9]
    assert len(found) == len(sent)
    for number, (rebuilt_one, sent_one) in enumerate(zip(found, sent, strict=True)):
        assert rebuilt_one == sent_one, f"request {number}"


async def test_a_second_try_without_thinking_is_rebuilt_as_it_was_answered(tmp_path: Path) -> None:
    void = "Invalid `signature` in `thinking` block. The block is bound to a different conversation."
    async with ModelServer() as server, living(tmp_path, server, "anthropic", thinking="low") as gateway:
        server.script += [Say("Hello.", thinking="They greet me."), Fail(status=400, message=void)]
        server.script += [Say("Fine."), Say("Yes.")]
        await say(gateway, "hello", "and now?", "still fine?")
        found, sent = await rebuilt(gateway), [one.body for one in server.requests]

    assert len(sent) == 4
    assert b"They greet me." in sent[1]
    assert found == [sent[0], *sent[2:]]


async def test_a_request_is_rebuilt_the_same_under_another_configuration(tmp_path: Path) -> None:
    async with ModelServer() as server:
        async with living(tmp_path, server, "openai") as gateway:
            await say(gateway, "hello", "again")
        async with living(tmp_path, server, "mistral") as gateway:
            found = await rebuilt(gateway)

        assert found == [one.body for one in server.requests]


async def test_one_turn_and_one_of_its_calls_can_be_asked_for(tmp_path: Path) -> None:
    async with ModelServer() as server, living(tmp_path, server, "anthropic") as gateway:
        await say(gateway, "hello", "call list {}", "bye")
        replayed = gateway.insight.replayed

        last = await replayed(MAIN, turn=None, call=None)
        second = await replayed(MAIN, turn=2, call=None)
        one = await replayed(MAIN, turn=2, call=2)
        with pytest.raises(Refused, match="3 turns"):
            await replayed(MAIN, turn=4, call=None)
        with pytest.raises(Refused, match="2 calls"):
            await replayed(MAIN, turn=2, call=3)

    assert [json.loads(request.body)["messages"][-1]["role"] for request in last] == ["user"]
    assert [(request.call.turn, request.call.number) for request in second] == [(2, 1), (2, 2)]
    assert one == second[1:]
    assert one[0].api == "anthropic_messages"


async def test_pruning_saving_and_shortening_are_replayed_as_they_were_recorded(tmp_path: Path) -> None:
    long = "The boat PT-4471 lies at dock 9. " + "words about sailing " * 300
    summary = "\n\n".join(f"## {heading}\nsomething about PT-4471 at dock 9" for heading in HEADINGS)
    settings = SessionsSettings.model_validate(
        {"start_notes": {"enabled": False}, "reset": {"daily_at": None}, "pruning": {"gate": False}}
    )
    tool = FakeTool(answer="begin " + "x" * 30_000 + " end")
    script: list[Step] = [Calls_((call("look"),)), Says("seen"), *[Says(long) for _ in range(4)]]
    async with house(tmp_path, *script, extra_tools=[tool], sessions=settings, window=20_000) as scene:
        await say(scene.gateway, "look", "a", "b")
        scene.clock.now += timedelta(minutes=6)  # cold: the old result is shown shorter from now on
        await say(scene.gateway, "c")
        scene.model.usage = Usage(input=16_000, output=100)
        scene.model.script += [Says("NO_REPLY"), Says(summary), Says(summary)]
        await say(scene.gateway, "d")
        await scene.gateway.lanes.drain(10)
        scene.model.usage = Usage(input=10, output=5)
        scene.model.script = [Says("after"), Says("later")]
        await say(scene.gateway, "e", "f")
        await scene.gateway.lanes.drain(10)
        sent = scene.model.requests
        entries = await scene.gateway.entries(MAIN)
        stored = scene.transcript("session-1")

    found = past_calls(entries)
    assert [replay(entries, one).request for one in found] == sent
    assert [one.origin for one in found].count("compaction") == 1
    assert sum(_asks_for_a_summary(request) for request in sent) == 1
    assert all(f'"{kind}"' in stored for kind in ("clawd.pruning", "compaction", "clawd.flush"))


async def test_saving_with_another_model_is_replayed_as_that_models(tmp_path: Path) -> None:
    flush = {"model": "other/saver", "soft_threshold_tokens": 4_000}
    settings = SessionsSettings.model_validate(
        {"start_notes": {"enabled": False}, "reset": {"daily_at": None}, "compaction": {"flush": flush}}
    )
    async with house(tmp_path, Says("one"), Says("two"), sessions=settings, window=40_000) as scene:
        await say(scene.gateway, "a")
        scene.model.usage = Usage(input=28_500, output=100)
        scene.model.script.append(Says("NO_REPLY"))
        await say(scene.gateway, "b")
        await scene.gateway.lanes.drain(10)
        scene.model.usage = Usage(input=10, output=5)
        scene.model.script.append(Says("three"))
        await say(scene.gateway, "c")
        entries = await scene.gateway.entries(MAIN)
        sent = scene.model.requests

    assert [request.model for request in sent] == ["script", "script", "other/saver", "script"]
    assert [replay(entries, one).request for one in past_calls(entries)] == sent


def _asks_for_a_summary(request: ModelRequest) -> bool:
    return all(heading in text_of(request.messages[-1].parts) for heading in HEADINGS)


@pytest.mark.parametrize("vendor", MODELS)
async def test_a_long_life_with_summaries_notes_edits_and_restarts_is_rebuilt_byte_for_byte(
    tmp_path: Path, vendor: str
) -> None:
    """Compactions in place, asked once more, failed and in stages; a note's name; saving, edits, restarts."""
    workspace = tmp_path / "home" / "workspace"
    whole = "\n\n".join(f"## {heading}\nthe boat PT-4471 lies at dock 9" for heading in HEADINGS)
    async with ModelServer() as server:
        async with living(tmp_path, server, vendor, thinking="low") as gateway:
            for number in range(6):
                server.script.append(Say(f"The boat PT-447{number} lies at dock {number}. " * 800))
                await say(gateway, f"where is boat {number}?")
            server.script += [Say("NO_REPLY"), Say("too short to be a summary"), Say(whole), Say("Go on.")]
            await say(gateway, "/compact what matters are boats", "go on")
        (workspace / "USER.md").write_text("The owner is called Ana.\n")
        async with living(tmp_path, server, vendor, thinking="low") as gateway:
            for number in range(6):
                server.script.append(Say(f"The ship of captain Okonkwo {number} is late. " * 800))
                await say(gateway, f"and ship {number}?")
            server.script += [Say("NO_REPLY"), Fail(status=400), Say("Still here.")]
            with pytest.raises(Refused):
                await say(gateway, "/compact")
            await say(gateway, "still there?")
            server.script += [Say("boats-and-docks")]
            await say(gateway, "/new")
            await gateway.lanes.drain(10)
        (path,) = (tmp_path / "home").glob("agents/main/sessions/*.jsonl")
        transcript = Transcript.open(path, max_line_bytes=1 << 24)
        entries = transcript.entries
        transcript.close()
        found = [replay(entries, one) for one in past_calls(entries)]
        sent = [one.body for one in server.requests]

    assert [one.call.origin for one in found].count("compaction") >= 3
    assert [one.call.origin for one in found].count("note") == 1
    assert len(found) == len(sent)
    for number, (one, body) in enumerate(zip(found, sent, strict=True)):
        assert one.body == body, f"request {number}, {one.call.origin}"
