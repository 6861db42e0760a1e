"""Another configuration while turns run: what holds at once, what goes on as it began, what is closed."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from channels.message import Address, InboundMessage, Sender
from gateway.build import Parts, built
from gateway.config import Config
from gateway.config.changes import changes
from gateway.home import Home
from gateway.reload import NotApplied
from gateway.views import ChatReply, Refused
from sessions.settings import SessionsSettings
from tests.fakes.house import house
from tests.fakes.model_script import Behaviour, Call, Calls, Say
from tests.fakes.modelserver import ModelServer
from tests.fakes.protocols import START, Says

SECONDS = 60


def _config(server: ModelServer, **sections: object) -> Config:
    base: dict[str, object] = {
        "models": {
            "default": "one/small",
            "providers": {"one": {"base_url": f"{server.url}/v1", "api_key": "key-one-0123456789"}},
        },
        "memory": {"search": {"provider": "none"}},
    }
    return Config.model_validate(base | sections)


@dataclass(slots=True)
class Live:
    """A gateway, and the configuration that it has."""

    parts: Parts
    config: Config
    server: ModelServer
    home: Home

    async def become(self, new: Config) -> None:
        await self.parts.apply(changes(self.config, new), new)
        self.config = new

    async def change(self, **sections: object) -> None:
        await self.become(_config(self.server, **sections))

    async def say(self, text: str, *, agent: str | None = None) -> str:
        return (await self.parts.gateway.chat(agent=agent, session=None, text=text)).reply

    @asynccontextmanager
    async def working(self, *then: Behaviour, agent: str = "main") -> AsyncIterator[asyncio.Task[ChatReply]]:
        """A turn in the middle of its first call, which ends with the block; what `then` says comes after."""
        folder = self.home.path / ("workspace" if agent == "main" else f"workspace-{agent}")
        for name in ("begun", "go"):
            (folder / name).unlink(missing_ok=True)
        command = "touch begun; until [ -e go ]; do sleep 0.02; done"
        self.server.script += [Call("exec", {"command": command}), *then]
        turn = asyncio.create_task(self.parts.gateway.chat(agent=agent, session=None, text="wait"))
        try:
            await until((folder / "begun").exists)
            yield turn
        finally:
            (folder / "go").touch()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not true():  # noqa: ASYNC110 (nobody tells)
            await asyncio.sleep(0.01)


@asynccontextmanager
async def live(tmp_path: Path, **sections: object) -> AsyncIterator[Live]:
    home = Home(tmp_path / "home")
    async with ModelServer() as server:
        config = _config(server, **sections)
        async with built(config, home, makers=lambda _: {}, environ={"PATH": os.defpath}) as parts:
            yield Live(parts, config, server, home)


async def until_async(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(SECONDS):
        while not await true():  # noqa: ASYNC110 (nobody tells)
            await asyncio.sleep(0.02)


async def _is_watched(one: Live, agent: str) -> bool:
    return (await one.parts.gateway.memory_status(agent=agent)).watcher == "watching"


def _agents(*names: str, **defaults: object) -> dict[str, object]:
    return {"defaults": defaults, "list": [{"id": name, "default": name == "main"} for name in names]}


async def test_a_new_agent_answers_and_a_removed_one_is_told_to_be_gone(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        await one.change(agents=_agents("main", "work"))
        one.server.script.append(Say("from work"))

        assert await one.say("hello", agent="work") == "from work"
        assert one.parts.gateway.agents() == ["main", "work"]
        assert (one.home.path / "workspace-work" / "AGENTS.md").exists()

        await one.change()
        with pytest.raises(Refused, match="There is no agent 'work'"):
            await one.say("hello", agent="work")


async def test_a_removed_agent_ends_its_turn_first_and_comes_back_with_its_memory(tmp_path: Path) -> None:
    async with live(tmp_path, agents=_agents("main", "work")) as one:
        async with one.working(Say("done all the same"), agent="work") as turn:
            await one.change()
            await one.change(agents=_agents("main", "work"))
        assert (await turn).reply == "done all the same"

        async with one.working(Say("to the end"), agent="work") as turn:
            await one.change()
        assert (await turn).reply == "to the end"
        await one.change(agents=_agents("main", "work"))
        one.server.script.append(Say("again"))
        assert await one.say("and now?", agent="work") == "again"
        assert "to the end" in one.server.requests[-1].body.decode()


async def test_the_next_turn_goes_to_another_address_with_another_key(tmp_path: Path) -> None:
    async with live(tmp_path) as one, ModelServer() as other:
        one.server.script.append(Say("first"))
        other.script.append(Say("second"))

        assert await one.say("hello") == "first"
        provider = {"base_url": f"{other.url}/v1", "api_key": "key-two-0123456789"}
        await one.change(models={"default": "one/small", "providers": {"one": provider}})

        assert await one.say("hello") == "second"
        assert (len(one.server.requests), len(other.requests)) == (1, 1)
        assert "first" in other.requests[0].body.decode()


async def test_a_running_turn_goes_on_where_it_began(tmp_path: Path) -> None:
    async with live(tmp_path) as one, ModelServer() as other:
        other.script.append(Say("from the second"))
        provider = {"base_url": f"{other.url}/v1", "api_key": "key-two-0123456789"}
        async with one.working(Call("list", {}), Say("all from the first")) as turn:
            await one.change(models={"default": "one/small", "providers": {"one": provider}})

        assert (await turn).reply == "all from the first"
        assert not other.requests
        assert await one.say("and now?") == "from the second"


async def test_a_stricter_rule_holds_for_the_next_call_of_a_running_turn(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        async with one.working(Call("exec", {"command": "echo closed"}), Say("end")) as turn:
            await one.change(agents=_agents("main", tools={"exec": {"mode": {"owner": "deny"}}}))

        calls = (await turn).calls
        assert [call.is_error for call in calls] == [False, True]
        assert "switched off here" in one.server.requests[-1].body.decode()


async def test_a_tool_that_is_denied_meanwhile_is_not_run(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        async with one.working(Call("list", {}), Say("end")) as turn:
            await one.change(agents=_agents("main", tools={"policy": {"owner": {"deny": ["list"]}}}))

        assert [call.is_error for call in (await turn).calls] == [False, True]


async def test_the_prompt_stays_byte_for_byte_when_nothing_of_it_has_changed(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        one.server.script += [Say("one"), Say("two")]
        await one.say("hello")
        await one.change(sessions={"reset": {"daily_at": "05:00"}}, agents=_agents("main", max_rounds=39))
        await one.say("and again")

        first, second = (request.json for request in one.server.requests)
        assert second["messages"][: len(first["messages"])] == first["messages"]
        assert second["tools"] == first["tools"]


async def test_a_session_ends_by_the_rules_that_hold_now(tmp_path: Path) -> None:
    async with house(tmp_path, *(Says("well") for _ in range(9))) as scene:

        async def session() -> str:
            return (await scene.gateway.chat(agent=None, session=None, text="hello")).session_id

        assert await session() == "session-1"
        scene.clock.now += timedelta(minutes=5)
        assert await session() == "session-1"

        rules = {"reset": {"idle_minutes": 3, "daily_at": None}}
        scene.gateway.change(SessionsSettings.model_validate(rules))
        scene.clock.now += timedelta(minutes=5)
        assert await session() == "session-2"


async def test_a_binding_holds_for_the_next_message(tmp_path: Path) -> None:
    telegram = {"telegram": {"accounts": {"default": {"dm_policy": "open", "allow_from": ["*"]}}}}
    message = InboundMessage(
        id="1",
        address=Address(channel="telegram", account="default", chat="77", kind="direct"),
        sender=Sender(id="77", name="Anna"),
        text="hello",
        at=START,
        addressed=True,
    )
    async with live(tmp_path, channels=telegram) as one:
        frontage = one.parts.frontage
        assert frontage is not None
        before = frontage.access.judge(message, command=False).key.agent
        bound = {"bindings": [{"agent": "work", "channel": "telegram", "chat": "77"}]}
        await one.change(channels=telegram, agents=_agents("main", "work") | bound)

        assert (before, frontage.access.judge(message, command=False).key.agent) == ("main", "work")


async def test_files_are_taken_by_the_limits_that_hold_now(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        frontage = one.parts.frontage
        assert frontage is not None
        assert await frontage.uploads.store("a.txt", "text/plain", b"x" * 1_500_000)
        await one.change(gateway={"media": {"document_mb": 1}})

        with pytest.raises(Refused, match="at most 1"):
            await frontage.uploads.store("a.txt", "text/plain", b"x" * 1_500_000)


async def test_a_memory_goes_on_with_other_settings_and_a_search_is_not_lost(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        gateway = one.parts.gateway
        note = one.home.path / "workspace" / "memory" / "2026-05-01.md"
        note.write_text("## Boat\n\nThe boat is called Marisol.\n", encoding="utf-8")

        async def found() -> int:
            result = await gateway.memory_search("boat", agent=None, max_results=None, min_score=None)
            return len(result.hits)

        assert await found() == 1
        searches = [asyncio.create_task(found()) for _ in range(20)]
        await asyncio.sleep(0)
        await one.change(
            memory={"search": {"provider": "none", "max_results": 3}, "chunking": {"tokens": 99}}
        )

        assert await asyncio.gather(*searches) == [1] * 20
        assert await found() == 1
        await one.change(memory={"backend": "none"})
        with pytest.raises(Refused, match="no memory engine"):
            await found()
        await one.change()
        assert await found() == 1


async def test_a_memory_that_is_watched_notices_after_a_change_too(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        watching = asyncio.create_task(one.parts.gateway.memory_watch())
        await one.change(memory={"search": {"provider": "none"}, "chunking": {"tokens": 99}})
        await one.change(
            agents=_agents("main", "work"),
            memory={"search": {"provider": "none"}, "chunking": {"tokens": 98}},
        )

        for name in ("main", "work"):
            await until_async(partial(_is_watched, one, name))
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_what_cannot_be_made_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    async with live(tmp_path) as one, ModelServer() as other:
        provider = {"base_url": f"{other.url}/v1", "api_key": "key-two-0123456789"}
        wanted = _config(
            one.server,
            models={"default": "one/small", "providers": {"one": provider}},
            agents={"list": [{"id": "main"}, {"id": "work", "workspace": str(tmp_path / "file" / "w")}]},
        )

        with pytest.raises(NotApplied, match="could not be put in place"):
            await one.become(wanted)

        one.server.script.append(Say("as before"))
        assert await one.say("hello") == "as before"
        assert one.parts.gateway.agents() == ["main"]


@pytest.mark.slow
async def test_two_hundred_changes_leave_nothing_behind(tmp_path: Path) -> None:
    def open_files() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    async with live(tmp_path) as one:
        gateway = one.parts.gateway
        watching = asyncio.create_task(gateway.memory_watch())

        async def alter(number: int) -> None:
            provider = {"base_url": f"{one.server.url}/v1", "api_key": f"key-{number % 2}-0123456789"}
            names = ("main", "work") if number % 2 else ("main",)
            await one.change(
                models={"default": "one/small", "providers": {"one": provider}},
                agents=_agents(*names),
                memory={"search": {"provider": "none", "max_results": 5 + number % 2}},
            )
            await gateway.memory_search("boat", agent=None, max_results=None, min_score=None)

        async def settled() -> tuple[int, int]:
            await until(lambda: not any("replaced" in task.get_name() for task in asyncio.all_tasks()))
            await asyncio.sleep(0.2)
            return open_files(), len(asyncio.all_tasks())

        for number in range(20):
            await alter(number)
        files, tasks = await settled()
        threads = threading.active_count()
        for number in range(200):
            await alter(number)
        after = await settled()

        assert after[0] <= files + 3
        assert after[1] <= tasks + 1
        assert threading.active_count() <= threads + 3
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_a_call_that_follows_finds_the_memory_that_is_there_now(tmp_path: Path) -> None:
    async with live(tmp_path) as one:
        calls = Calls((Call("memory_search", {"query": "boat"}), Call("list", {})))
        async with one.working(calls, Say("end")) as turn:
            await one.change(memory={"search": {"provider": "none"}, "chunking": {"tokens": 99}})

        assert [call.is_error for call in (await turn).calls] == [False, False, False]


async def test_a_request_that_waits_for_the_owner_goes_on_waiting(tmp_path: Path) -> None:
    asks = _agents("main", tools={"exec": {"mode": {"owner": "ask"}}})
    async with live(tmp_path, agents=asks) as one:
        gateway = one.parts.gateway
        assert gateway.approvals is not None
        one.server.script += [Call("exec", {"command": "echo $((40 + 2))"}), Say("end")]
        turn = asyncio.create_task(gateway.chat(agent=None, session=None, text="add"))
        await until(lambda: bool(gateway.approvals and gateway.approvals.pending()))

        await one.change(agents=asks | {"list": [{"id": "main"}, {"id": "work"}]})
        (waiting,) = gateway.approvals.pending()
        assert "Approved" in await one.say(f"/approve {waiting.id}")

        assert [call.is_error for call in (await turn).calls] == [False]
        assert "42" in one.server.requests[-1].body.decode()
