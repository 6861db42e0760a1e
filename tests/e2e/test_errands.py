"""What a webhook was told is taken: a real gateway is killed, and it is done all the same, once."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import PATIENCE, Running, running, until
from tests.fakes.model_script import Hang, Say
from tests.fakes.modelserver import ModelServer

pytestmark = pytest.mark.slow
HOOKS = "hooks-0123456789abcdef"


def config(server: ModelServer) -> dict[str, object]:
    provider = {"base_url": f"{server.url}/v1", "api_key": "test-key-0123456789"}
    return {
        "models": {"default": "mine/small", "providers": {"mine": provider}},
        "memory": {"search": {"provider": "none"}},
        "gateway": {"hooks": {"enabled": True, "token": HOOKS}},
    }


async def post(daemon: Running, path: str, body: dict[str, str], **headers: str) -> dict[str, Any]:
    async with daemon.client() as client:
        answer = await client.post(path, json=body, headers={"authorization": f"Bearer {HOOKS}", **headers})
    assert answer.status_code in (200, 202), answer.text
    found: dict[str, Any] = answer.json()
    return found


async def said(daemon: Running, key: str) -> list[tuple[str, str]]:
    async with daemon.client() as client:
        found = (await client.get(f"/api/sessions/{key}")).json()
    return [(one["role"], one["text"]) for one in found.get("messages", ())]


async def answered(daemon: Running, key: str, text: str) -> list[tuple[str, str]]:
    async with asyncio.timeout(PATIENCE):
        while ("assistant", text) not in (found := await said(daemon, key)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found


async def test_a_killed_webhook_is_answered_once_after_the_restart(tmp_path: Path) -> None:
    home = tmp_path / "home"
    hook = {"message": "The build failed.", "name": "ci"}
    async with ModelServer() as server:
        server.script += [Hang(), Say("I looked at the build.")]
        async with running(home, config(server)) as daemon:
            taken = await post(daemon, "/hooks/agent", hook, **{"idempotency-key": "build-17"})
            await until(lambda: bool(server.requests))
            await daemon.end(signal.SIGKILL)
        async with running(home) as daemon:
            key = str(taken["session_key"])
            found = await answered(daemon, key, "I looked at the build.")
            again = await post(daemon, "/hooks/agent", hook, **{"idempotency-key": "build-17"})

            assert again == taken
            assert [role for role, _ in found].count("user") == 1
        async with running(home) as daemon:
            assert await said(daemon, key) == found


async def test_what_is_told_with_the_next_message_is_not_forgotten(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with ModelServer() as server:
        server.script += [Say("Your parcel has come."), Say("Nothing new.")]
        async with running(home, config(server)) as daemon:
            await post(daemon, "/hooks/wake", {"text": "parcel 4711", "mode": "next-heartbeat"})
            await daemon.end(signal.SIGKILL)
        told = []
        for _ in range(2):
            async with running(home) as daemon, daemon.client() as client:
                answer = await client.post("/api/chat", json={"text": "hello"})
                assert answer.status_code == 200, answer.text
                told.append(str(server.requests[-1].json["messages"]).count("parcel 4711"))
                await daemon.end(signal.SIGKILL)
        assert told == [1, 1]
