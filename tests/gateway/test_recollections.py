"""Several agents, conversations and memory engines, put together from a configuration as `built` does it."""

import json
from pathlib import Path

import pytest

from agents.turn import Turn
from gateway.build import built
from gateway.config import Config
from gateway.gateway import Gateway
from gateway.home import Home
from gateway.views import Refused
from sessions.entries import Header, Said
from sessions.key import SessionKey
from sessions.messages import JsonObject, text_of
from sessions.registry import Registry
from sessions.transcript import Transcript
from tests.fakes.protocols import turn
from tests.sessions.making import AT, LIMIT, assistant, user

GROUP = "agent:main:telegram:group:-7"
WORDS: dict[str, object] = {"search": {"provider": "none"}}


def config(folder: Path, memory: dict[str, object], **of_b: object) -> Config:
    listed: list[dict[str, object]] = [
        {"id": "main", "default": True, "workspace": str(folder / "main")},
        {"id": "b", "workspace": str(folder / "b"), **({"memory": of_b} if of_b else {})},
    ]
    return Config.model_validate({"memory": memory, "agents": {"list": listed}})


def said(home: Home, session: str, text: str, *, key: str = "agent:main:main") -> None:
    parsed = SessionKey.parse(key)
    home.ensure(["main", "b"])
    registry = Registry.open(home.registry_file, home.transcripts)
    registry.start(parsed, session, AT)
    registry.close()
    path = home.transcripts(parsed.agent) / f"{session}.jsonl"
    transcript = Transcript.create(path, Header(id=session, at=AT, cwd="/w"))
    transcript.append(Said(message=user(text)), AT)
    transcript.append(Said(message=assistant("I see.")), AT)
    transcript.close()


def note(folder: Path, agent: str, path: str, text: str) -> None:
    place = folder / agent / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


async def call(gateway: Gateway, name: str, arguments: JsonObject, who: Turn, agent: str = "main") -> str:
    tools = gateway._roster.agents[agent].runtime._tools
    return text_of((await tools[name].run(arguments, who)).parts)


async def paths(gateway: Gateway, who: Turn, agent: str = "main") -> list[tuple[str, str]]:
    found = json.loads(await call(gateway, "memory_search", {"query": "kestrel"}, who, agent))
    return sorted((one.get("agent", ""), one["path"]) for one in found["results"])


async def test_conversations_are_a_source_only_where_they_are_chosen(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    growth = {"sessions": {"delta_bytes": 0}}
    chosen: dict[str, object] = {
        "search": {"provider": "none", "sources": ["memory", "sessions"], "sync": growth},
        "sessions": {"visibility": "agent"},
    }
    said(home, "s-1", "the kestrel ships on Friday")
    said(home, "g-1", "the kestrel is known to all", key=GROUP)
    note(tmp_path, "main", "MEMORY.md", "the kestrel is a bird\n")

    async with built(config(tmp_path, WORDS), home) as parts:
        assert await paths(parts.gateway, turn()) == [("", "MEMORY.md")]
    async with built(config(tmp_path, chosen), home) as parts:
        private, group = await paths(parts.gateway, turn()), await paths(parts.gateway, turn(key=GROUP))
    async with built(config(tmp_path, WORDS), home) as parts:
        again = await paths(parts.gateway, turn())

    assert private == [("", "MEMORY.md"), ("", "sessions/g-1.jsonl"), ("", "sessions/s-1.jsonl")]
    assert group == [("", "sessions/g-1.jsonl")]
    assert again == [("", "MEMORY.md")]


async def test_what_was_said_before_a_restart_is_found_after_it_however_little(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    chosen: dict[str, object] = {
        "search": {"provider": "none", "sources": ["memory", "sessions"]},
        "sessions": {"visibility": "agent"},
    }
    said(home, "s-1", "the kestrel ships on Friday")
    async with built(config(tmp_path, chosen), home) as parts:
        before = await paths(parts.gateway, turn())
    async with built(config(tmp_path, chosen), home) as parts:
        await parts.gateway.catch_up()
        after = await paths(parts.gateway, turn())

    assert before == []
    assert after == [("", "sessions/s-1.jsonl")]


async def test_an_agent_finds_anothers_notes_only_when_it_may_read_them(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    note(tmp_path, "main", "memory/x.md", "the kestrel of main\n")
    note(tmp_path, "b", "memory/y.md", "the kestrel of b\n")
    at_b = turn(key="agent:b:main")

    async with built(config(tmp_path, WORDS, read_from=["main"]), home) as parts:
        await parts.gateway.catch_up()
        assert await paths(parts.gateway, turn()) == [("", "memory/x.md")]
        assert await paths(parts.gateway, at_b, "b") == [("", "memory/y.md"), ("main", "memory/x.md")]
        wanted: JsonObject = {"path": "memory/x.md", "agent": "main"}
        assert "kestrel of main" in await call(parts.gateway, "memory_get", wanted, at_b, "b")
        hits = (
            await parts.gateway.memory_search("kestrel", agent="b", max_results=None, min_score=None)
        ).hits
        assert sorted(hit.agent for hit in hits) == ["", "main"]


def test_reading_from_nobody_is_an_error_that_names_the_agents(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"read_from of agent 'b' names 'c', which is no agent.*b, main"):
        config(tmp_path, WORDS, read_from=["c"])


async def test_without_an_engine_there_are_no_memory_tools_and_no_word_of_them(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    said(home, "s-1", "the kestrel ships on Friday")

    async with built(config(tmp_path, {"backend": "none"}), home) as parts:
        await parts.gateway.catch_up()
        tools = set(parts.gateway._roster.agents["main"].runtime._tools)
        with pytest.raises(Refused, match=r"memory\.backend: none"):
            await parts.gateway.memory_search("x", agent=None, max_results=None, min_score=None)
        found = await parts.gateway.sessions_search("kestrel", agent=None, limit=5)

    assert {"read", "write", "sessions_search", "sessions_history"} <= tools
    assert not {"memory_search", "memory_get"} & tools
    assert [(hit.session_id, hit.line) for hit in found.hits] == [("s-1", 2)]
    assert not home.memory_database("main").exists()


async def test_all_that_is_derived_may_be_deleted(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    said(home, "s-1", "the kestrel ships on Friday")
    for _ in range(2):
        async with built(config(tmp_path, WORDS), home) as parts:
            found = await parts.gateway.sessions_search("kestrel", agent=None, limit=5)
        assert len(found.hits) == 1
        for path in (home.path / "memory").iterdir():
            path.unlink()
    assert Transcript.open(home.transcripts("main") / "s-1.jsonl", max_line_bytes=LIMIT).skipped == ()
