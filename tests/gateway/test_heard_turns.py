"""Turns of channels, as those hear of them who watch."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agents.model.provider import AuthFailed
from agents.settings import ToolsSettings
from gateway.heard_turns import HeardTurns
from gateway.http.hub import Hub, News
from gateway.turns import Asked
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import Text, User
from tests.fakes.house import house
from tests.fakes.protocols import START, Calls, Fails, Says, call

CHAT = SessionKey(agent="main", kind="direct", channel="telegram", peer="7")


@dataclass(eq=False)
class Ear:
    told: list[News] = field(default_factory=list)

    def hear(self, news: News) -> None:
        self.told.append(news)

    def leave(self, code: int, reason: str) -> None:
        """Never called here."""

    def kinds(self) -> list[str]:
        return [str(one.payload["kind"]) for one in self.told if one.event == "chat"]


def asked(**more: object) -> Asked:
    return Asked(key=CHAT, parts=(Text(text="hello"),), ids=("m1",), **more)  # type: ignore[arg-type]


async def test_a_turn_of_a_channel_is_told_from_beginning_to_end(tmp_path: Path) -> None:
    hub, ear = Hub(), Ear()
    async with house(tmp_path, Says("hi there")) as scene:
        turns = HeardTurns(scene.gateway.turns)
        turns.listen(hub)
        hub.join(ear)
        reply = await turns.answer(asked(), lambda _: None)

    assert reply.reply == "hi there"
    assert (ear.kinds()[0], ear.kinds()[-1]) == ("started", "done")
    assert {one.payload.get("run_id") for one in ear.told if one.event == "chat"} == {"m1"}
    changes = [one.payload["why"] for one in ear.told if one.event == "sessions.changed"]
    assert changes == ["begun", "turn"]
    assert hub.runs.of(None) == []


async def test_a_turn_is_remembered_while_nobody_listens_yet(tmp_path: Path) -> None:
    hub = Hub()
    seen: list[object] = []
    async with house(tmp_path, Says("hi there")) as scene:
        turns = HeardTurns(scene.gateway.turns)
        turns.listen(hub)

        def look(_: object) -> None:
            seen.extend(one.told()["text"] for one in hub.runs.of(None))

        await turns.answer(asked(), look)

    assert "hello" in seen
    assert hub.runs.busy() == []


async def test_what_joins_a_turn_is_told(tmp_path: Path) -> None:
    hub, ear = Hub(), Ear()
    more = [User(at=START, parts=(Text(text="and this"),))]

    async def steering() -> Sequence[User]:
        joined, more[:] = list(more), []
        return joined

    async with house(
        tmp_path, Calls((call("list", {"path": "."}),)), Says("done"), tools=ToolsSettings()
    ) as scene:
        turns = HeardTurns(scene.gateway.turns)
        turns.listen(hub)
        hub.join(ear)
        await turns.answer(asked(steering=steering), lambda _: None)

    joined = [one.payload["text"] for one in ear.told if one.payload.get("kind") == "joined"]
    assert joined == ["and this"]


async def test_a_turn_that_fails_or_is_cut_off_is_under_way_no_more(tmp_path: Path) -> None:
    hub, ear = Hub(), Ear()
    async with house(tmp_path, Fails(AuthFailed("No key."))) as scene:
        turns = HeardTurns(scene.gateway.turns)
        turns.listen(hub)
        hub.join(ear)
        with pytest.raises(Refused):
            await turns.answer(asked(), lambda _: None)
        gone = asyncio.create_task(turns.answer(asked(), lambda _: None))
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)

    assert ear.kinds()[-1] == "error"
    assert hub.runs.of(None) == []
