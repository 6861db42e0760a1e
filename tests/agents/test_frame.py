"""The frozen start of a prompt: kept while the cache is warm, made anew for a recorded reason."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agents.frame import Frame, context_entry, frame_of, is_cold, last_asked
from agents.model.provider import CacheTtl, ModelRequest, ToolSpec
from sessions.entries import Entry, Said
from sessions.messages import Assistant, JsonObject, Text
from tests.fakes.house import House, house
from tests.fakes.protocols import START, Calls, Says, call

FRAME = Frame(
    provider="anthropic",
    request=ModelRequest(
        model="m",
        system="s\n\n",
        context="é",
        messages=(),
        tools=(ToolSpec(name="look", description="Look.", parameters={"type": "object", "properties": {}}),),
        max_tokens=100,
        thinking="low",
        cache_ttl="1h",
    ),
    files={"USER.md": "d1"},
)


def contexts(scene: House) -> list[JsonObject]:
    lines = [json.loads(line) for line in scene.transcript("session-1").splitlines()]
    return [line["data"] for line in lines if line.get("customType") == "clawd.context"]


def asked() -> tuple[Entry, ...]:
    message = Assistant(at=START, parts=(Text(text="x"),), stop="stop", provider="p", api="a", model="m")
    return (Entry(id="1", parent_id=None, at=START, body=Said(message=message)),)


def test_a_frame_is_read_as_it_was_recorded() -> None:
    stored: JsonObject = json.loads(json.dumps(context_entry(FRAME, "new session").data))

    assert frame_of(stored) == FRAME
    assert frame_of({**stored, "wire": 2}) is None


def test_other_bytes_have_another_digest() -> None:
    other = replace(FRAME, request=replace(FRAME.request, system="s\n"))

    assert other.digest != FRAME.digest


@pytest.mark.parametrize(
    ("ttl", "minutes", "cold"),
    [
        ("5m", 4.99, False),
        ("5m", 5, True),
        ("1h", 59.9, False),
        ("1h", 60, True),
        (None, 0, True),
    ],
)
def test_a_cache_is_cold_when_its_time_to_live_is_over(
    ttl: CacheTtl | None, minutes: float, cold: bool
) -> None:
    assert is_cold(last_asked(asked()), ttl=ttl, now=START + timedelta(minutes=minutes)) is cold


def test_a_cache_that_was_never_filled_is_cold() -> None:
    assert is_cold(last_asked(()), ttl="1h", now=START)


async def test_what_the_agent_wrote_itself_waits_while_the_cache_is_warm(tmp_path: Path) -> None:
    note = call("write", {"path": "USER.md", "content": "Ana, from Porto.\n", "mode": "overwrite"})
    async with house(tmp_path, Calls((note,)), Says("1"), Says("2"), Says("3")) as scene:
        await scene.gateway.chat(agent=None, session=None, text="I am Ana")
        scene.clock.now += timedelta(minutes=4)
        await scene.gateway.chat(agent=None, session=None, text="still warm")
        warm = scene.model.requests[-1].context
        scene.clock.now += timedelta(minutes=5)
        await scene.gateway.chat(agent=None, session=None, text="cold by now")
        cold = scene.model.requests[-1].context

        assert "Porto" not in warm
        assert "Porto" in cold
        assert [data["reason"] for data in contexts(scene)] == ["new session", "cold cache"]


async def test_what_somebody_else_edits_counts_at_once(tmp_path: Path) -> None:
    async with house(tmp_path, Says("1"), Says("2")) as scene:
        await scene.gateway.chat(agent=None, session=None, text="hello")
        (scene.workspace / "SOUL.md").write_text("Be brief.\n")
        await scene.gateway.chat(agent=None, session=None, text="and now?")

        assert "Be brief." in scene.model.requests[-1].context
        assert [data["reason"] for data in contexts(scene)] == ["new session", "edited: SOUL.md"]


async def test_an_edit_after_the_agents_own_is_still_noticed(tmp_path: Path) -> None:
    note = call("write", {"path": "USER.md", "content": "Ana\n", "mode": "overwrite"})
    async with house(tmp_path, Calls((note,)), Says("1"), Says("2")) as scene:
        await scene.gateway.chat(agent=None, session=None, text="I am Ana")
        (scene.workspace / "USER.md").write_text("Ana Maria\n")
        await scene.gateway.chat(agent=None, session=None, text="and now?")

        assert "Ana Maria" in scene.model.requests[-1].context
        assert contexts(scene)[-1]["reason"] == "edited: USER.md"


async def test_a_restart_within_the_time_to_live_changes_no_byte(tmp_path: Path) -> None:
    async with house(tmp_path, Says("1")) as scene:
        await scene.gateway.chat(agent=None, session=None, text="hello")
        before = scene.model.requests[-1]
    async with house(tmp_path, Says("2")) as scene:
        await scene.gateway.chat(agent=None, session=None, text="again")
        after = scene.model.requests[-1]

    assert (after.system, after.context, after.tools) == (before.system, before.context, before.tools)
    assert after.messages[:1] == before.messages
