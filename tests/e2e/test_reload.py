"""clawd.yaml is edited while a real gateway runs, and the next turn obeys."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import PATIENCE, Running, clawd, running, until
from tests.fakes.model_script import Call, Say
from tests.fakes.modelserver import ModelServer

pytestmark = pytest.mark.slow
WAIT = "touch begun; until [ -e go ]; do sleep 0.05; done"


def _config(
    server: ModelServer, *, key: str = "test-key-0123456789", **sections: object
) -> dict[str, object]:
    provider = {"base_url": f"{server.url}/v1", "api_key": key}
    return {
        "models": {"default": "mine/small", "providers": {"mine": provider}},
        "memory": {"search": {"provider": "none"}},
        **sections,
    }


def _in_place(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def _by_rename(file: Path, text: str) -> None:
    draft = file.with_name(".clawd.yaml.swp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)


async def _status(daemon: Running) -> dict[str, Any]:
    async with daemon.client() as client:
        found: dict[str, Any] = (await client.get("/api/status")).json()["config"]
        return found


async def _until(daemon: Running, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The state of the configuration once it is as wanted."""
    async with asyncio.timeout(PATIENCE):
        while not true(found := await _status(daemon)):  # noqa: ASYNC110 (another process)
            await asyncio.sleep(0.05)
    return found


async def _edit(
    daemon: Running, config: Mapping[str, object], how: Callable[[Path, str], None] = _in_place
) -> dict[str, Any]:
    """Save another configuration, and wait until the gateway has it."""
    before = (await _status(daemon))["reloaded_at"]
    how(daemon.home / "clawd.yaml", json.dumps(config))
    return await _until(daemon, lambda found: found["reloaded_at"] != before)


async def _say(daemon: Running, text: str, **where: str) -> dict[str, Any]:
    async with daemon.client() as client:
        answer = await client.post("/api/chat", json={"text": text, **where})
    found: dict[str, Any] = answer.json()
    return found


def _log(daemon: Running) -> str:
    return "".join(path.read_text(errors="replace") for path in (daemon.home / "logs").iterdir())


@pytest.mark.parametrize("how", [_in_place, _by_rename])
async def test_the_next_turn_obeys_and_a_running_one_goes_on(
    tmp_path: Path, how: Callable[[Path, str], None]
) -> None:
    async with ModelServer() as first, ModelServer() as second:
        first.script += [
            Call("exec", {"command": WAIT}),
            Call("exec", {"command": "id"}),
            Say("from the first"),
        ]
        second.script += [Say("from the second"), Say("from work")]
        async with running(tmp_path / "home", _config(first)) as daemon:
            workspace = tmp_path / "home" / "workspace"
            turn = asyncio.create_task(_say(daemon, "wait for me"))
            await until((workspace / "begun").exists)

            agents = {
                "defaults": {"tools": {"exec": {"mode": {"owner": "deny"}}}},
                "list": [{"id": "main", "default": True}, {"id": "work"}],
                "bindings": [{"agent": "work", "channel": "telegram", "chat": "77"}],
            }
            told = await _edit(
                daemon,
                _config(second, key="other-key-0123456789", agents=agents, gateway={"port": daemon.port}),
                how,
            )
            (workspace / "go").touch()
            ended = await turn

            assert (ended["reply"], [one["is_error"] for one in ended["tool_calls"]]) == (
                "from the first",
                [False, True],
            )
            assert (await _say(daemon, "hello"))["reply"] == "from the second"
            assert (await _say(daemon, "hello", agent="work"))["reply"] == "from work"
            assert "agents.bindings" in told["applied"]
            assert told["problem"] is None
            assert "other-key" not in _log(daemon)
            assert len(second.requests) == 2


async def test_a_broken_edit_changes_nothing_and_is_told_until_it_is_mended(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.script += [Say("still here"), Say("again")]
        good = _config(server)
        async with running(tmp_path / "home", good) as daemon:
            file = daemon.home / "clawd.yaml"
            _in_place(file, json.dumps(good)[:-20])
            broken = await _until(daemon, lambda found: bool(found["problem"]))

            assert str(file) in broken["problem"]
            assert (await _say(daemon, "hello"))["reply"] == "still here"
            assert "what held before goes on" in (await _say(daemon, "/status"))["reply"]
            assert "what held before goes on" in _log(daemon)
            told = await asyncio.to_thread(clawd, daemon.home, "gateway", "status")
            assert (told.returncode, "What held before goes on" in told.stdout) == (1, True)

            _in_place(file, json.dumps(good | {"agents": {"defaults": {"workspace": "/proc/no"}}}))
            impossible = await _until(daemon, lambda found: "put in place" in str(found["problem"]))
            assert "/proc/no" in impossible["problem"]

            file.unlink()
            await _until(daemon, lambda found: "is gone" in str(found["problem"]))

            _in_place(file, json.dumps(good))
            await _until(daemon, lambda found: found["problem"] is None)
            assert (await _say(daemon, "hello"))["reply"] == "again"
            assert "test-key" not in _log(daemon)


async def test_what_waits_for_a_restart_is_told_and_the_rest_holds(tmp_path: Path) -> None:
    async with ModelServer() as server, running(tmp_path / "home", _config(server)) as daemon:
        server.script += [Say("one"), Say("two")]
        await _say(daemon, "hello")
        told = await _edit(
            daemon,
            _config(
                server,
                gateway={"max_text_chars": 9},
                sessions={"reset": {"daily_at": None, "idle_minutes": 1}},
            ),
        )

        assert told["needs_restart"] == ["gateway.max_text_chars"]
        shown = await asyncio.to_thread(clawd, daemon.home, "gateway", "status")
        assert "changed, and needs a restart: gateway.max_text_chars" in shown.stdout
        assert shown.returncode == 0
        assert "sessions.reset.idle_minutes" in told["applied"]
        card = (await _say(daemon, "/status"))["reply"]
        assert "waits for a restart: gateway.max_text_chars" in card


async def test_many_quick_edits_end_with_the_last_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "dotfiles").mkdir()
    home.mkdir()
    (home / "clawd.yaml").symlink_to(tmp_path / "dotfiles" / "clawd.yaml")
    async with ModelServer() as server, running(home, _config(server)) as daemon:
        for number in range(1, 41):
            agents = {"list": [{"id": "main"}, {"id": f"agent-{number}"}]}
            how = _by_rename if number % 2 else _in_place
            how(tmp_path / "dotfiles" / "clawd.yaml", json.dumps(_config(server, agents=agents)))
            await asyncio.sleep(0.03)

        async with daemon.client() as client, asyncio.timeout(PATIENCE):
            while (await client.get("/api/status")).json()["agents"][-1] != "agent-40":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (await _status(daemon))["problem"] is None


async def test_edits_leave_no_files_open(tmp_path: Path) -> None:
    async with ModelServer() as server, running(tmp_path / "home", _config(server)) as daemon:

        def opened() -> int:
            return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))  # noqa: PTH208 (of another process)

        counts = []
        for number in range(24):
            names = ("main", "work") if number % 2 else ("main",)
            agents = {"list": [{"id": name} for name in names]}
            await _edit(daemon, _config(server, key=f"test-key-{number}-0123456789", agents=agents))
            server.script.append(Say("yes"))
            await _say(daemon, "are you there?", agent=names[-1])
            counts.append(opened())

        assert max(counts[-4:]) <= max(counts[4:8]) + 3
