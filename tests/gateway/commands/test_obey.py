"""Slash commands in a whole gateway: answered without a model, and never part of the conversation."""

import asyncio
import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gateway.budget import Budget
from gateway.commands.obey import Commands, FirstText, Hooks
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import Cost, Usage
from tests.fakes.house import House, house
from tests.fakes.protocols import Calls, Hangs, Says, call

MAIN = SessionKey(agent="main", kind="main")


async def ask(scene: House, text: str, *, session: str | None = None) -> str:
    return (await scene.gateway.chat(agent=None, session=session, text=text)).reply


async def test_commands_ask_no_model_and_leave_no_trace(tmp_path: Path) -> None:
    async with house(tmp_path, Says("hi"), Says("again")) as scene:
        await ask(scene, "hello")
        before = scene.transcript("session-1")
        for text in ("/help", "/status", "/whoami", "/context", "/usage", "/memory kestrel", "/model",
                     "/sessions", "/agents", "/stop", "/context detail"):  # fmt: skip
            assert await ask(scene, text)

        assert scene.transcript("session-1") == before
        assert len(scene.model.requests) == 1
        assert (await ask(scene, "and on")) == "again"
        assert [record.messages for record in scene.gateway.sessions()] == [4]


async def test_a_command_begins_no_session(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        status = await ask(scene, "/status", session="new one")
        with pytest.raises(Refused, match="There is no session"):
            await ask(scene, "/context", session="new one")

        assert "not begun yet" in status
        assert scene.gateway.sessions() == []


async def test_unknown_commands_go_to_the_model(tmp_path: Path) -> None:
    async with house(tmp_path, Says("What do you mean?")) as scene:
        assert await ask(scene, "/dance") == "What do you mean?"


async def test_status_tells_model_session_context_memory_and_cost(tmp_path: Path) -> None:
    budget = Budget(limit=2, warn=0.9, zone=ZoneInfo("UTC"))
    async with house(tmp_path, Says("hi"), budget=budget) as scene:
        cost = Cost(input=0.25, output=0, cache_read=0, cache_write=0, total=0.25)
        scene.model.usage = Usage(input=10, cache_read=90, output=5, cost=cost)
        await ask(scene, "hello")
        text = await ask(scene, "/status")

    assert "1.2.3, running for 0 s" in text
    assert "agent:main:main (session-1), 2 messages, since 2026-05-01 09:00" in text
    assert "scripted/script" in text
    assert "of 10,000 tokens" in text
    assert "100 tokens (90% cached) → 5, $0.25" in text
    assert "$0.25 of $2.00" in text
    assert "**Memory**: " in text


async def test_status_and_stop_overtake_a_running_turn(tmp_path: Path) -> None:
    async with house(tmp_path, Hangs()) as scene:
        turn = asyncio.create_task(scene.gateway.chat(agent=None, session=None, text="think hard"))
        await scene.model.hanging.wait()

        assert "a turn is under way" in await asyncio.wait_for(ask(scene, "/status"), 5)
        assert await asyncio.wait_for(ask(scene, "/stop"), 5) == "Stopped."
        with pytest.raises(Refused, match="Stopped"):
            await turn
        assert await ask(scene, "/stop") == "Nothing is running here."


async def test_other_commands_wait_for_the_turn_before_them(tmp_path: Path) -> None:
    async with house(tmp_path, Hangs()) as scene:
        turn = asyncio.create_task(scene.gateway.chat(agent=None, session=None, text="think hard"))
        await scene.model.hanging.wait()
        listing = asyncio.create_task(ask(scene, "/sessions"))
        await asyncio.sleep(0.05)
        assert not listing.done()
        await ask(scene, "/stop")
        with pytest.raises(Refused):
            await turn

        assert "agent:main:main" in await asyncio.wait_for(listing, 5)


async def test_context_is_listed_in_detail_and_as_json(tmp_path: Path) -> None:
    async with house(tmp_path, Calls((call("list", {}),)), Says("hi")) as scene:
        await ask(scene, "hello")
        shown, detail = await ask(scene, "/context"), await ask(scene, "/context detail")
        stored = json.loads((await ask(scene, "/context json")).strip("`").removeprefix("json"))
        with pytest.raises(Refused, match="list\\|detail\\|json"):
            await ask(scene, "/context everything")

    assert "SOUL.md" in shown
    assert "tool results" in shown
    assert "schema" not in shown
    assert "schema" in detail
    assert stored["model"] == "scripted/script"
    assert stored["tokens"] == sum(part["tokens"] for part in stored["parts"])


async def test_usage_tells_of_this_session_today_and_the_month(tmp_path: Path) -> None:
    async with house(tmp_path, Says("one"), Says("two")) as scene:
        await ask(scene, "a")
        await ask(scene, "b", session="work")
        here, nowhere = await ask(scene, "/usage"), await ask(scene, "/usage", session="empty")

    assert "**This session**: 1 answer, 10 tokens (0% cached) → 5, 1 answer of unknown price" in here
    assert "**Today**: 2 answers" in here
    assert "**Last 30 days**: 2 answers" in here
    assert "**This session**: nothing yet" in nowhere


async def test_memory_searches_the_notes(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        (scene.workspace / "MEMORY.md").write_text("The kestrel ships on Friday.\n")

        assert "`MEMORY.md:1-1`" in await ask(scene, "/memory kestrel friday")
        with pytest.raises(Refused, match="say what to look for"):
            await ask(scene, "/memory")


async def test_a_text_after_a_command_without_arguments_is_for_the_model(tmp_path: Path) -> None:
    async with house(tmp_path, Says("It goes well.")) as scene:
        assert await ask(scene, "/status of the project?") == "It goes well."


async def test_hooks_stand_behind_what_changes_a_session(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []

    async def hook(key: SessionKey, rest: str) -> str | FirstText:
        heard.append((str(key), rest))
        if rest == "turn":
            return FirstText(text="r")
        return "done"

    async with house(tmp_path) as scene:
        hooks = Hooks(new=hook, model=hook)
        commands = Commands(scene.gateway, hooks=hooks, clock=scene.clock, version="1")

        async def obey(text: str) -> str | FirstText:
            typed = commands.typed(text, who="owner")
            assert typed is not None
            return await commands.obey(typed, MAIN, who="owner")

        assert await obey("/new start here") == "done"
        assert isinstance(await obey("/new turn"), FirstText)
        assert await obey("/model openai/x") == "done"
        assert "Default" in str(await obey("/model"))
        assert commands.typed("/reset", who="owner") is None

    assert heard == [(str(MAIN), "start here"), (str(MAIN), "turn"), (str(MAIN), "openai/x")]


async def test_a_model_cannot_be_named_where_nothing_stands_behind_it(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        commands = Commands(scene.gateway, hooks=Hooks(), clock=scene.clock, version="1")
        typed = commands.typed("/model openai/x", who="owner")
        assert typed is not None
        with pytest.raises(Refused, match="cannot be changed here"):
            await commands.obey(typed, MAIN, who="owner")


async def test_who_may_not_use_a_command_hears_so_and_does_not_see_it(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        commands = Commands(scene.gateway, hooks=Hooks(), clock=scene.clock, version="1")
        with pytest.raises(Refused, match="for the owner") as refused:
            commands.typed("/usage", who="known")
        typed = commands.typed("/help", who="known")
        assert typed is not None
        text = await commands.obey(typed, MAIN, who="known")

    assert refused.value.status == 403
    assert "/status" in str(text)
    assert "/usage" not in str(text)


async def test_status_tells_the_owner_alone_how_the_settings_stand(tmp_path: Path) -> None:
    async with house(tmp_path) as scene:
        assert "Settings" not in await ask(scene, "/status")
        scene.gateway.configured = lambda: "waits for a restart: gateway.port"

        typed = scene.gateway.commands.typed("/status", who="known")
        assert typed is not None
        to_others = await scene.gateway.commands.obey(
            typed, SessionKey(agent="main", kind="main"), who="known"
        )

        assert "- **Settings**: waits for a restart: gateway.port" in await ask(scene, "/status")
        assert "Settings" not in str(to_others)
