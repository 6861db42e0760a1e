"""The whole thing: a real process, real signals, real vendors' SDKs against servers that speak their wire."""

import asyncio
import json
import re
import signal
from pathlib import Path

import pytest

from sessions.messages import JsonObject
from tests.e2e.running import clawd, free_port, running, until
from tests.fakes.model_script import Call, Hang, Say, Slow
from tests.fakes.modelserver import ModelServer

PROVIDERS = ("anthropic", "openai")


def config(vendor: str, server: ModelServer, *, key: str = "test-key-0123456789") -> dict[str, object]:
    base = server.url if vendor == "anthropic" else server.url + "/v1"
    model = {"anthropic": "anthropic/claude-sonnet-5-5", "openai": "openai/gpt-6.1-terra"}[vendor]
    provider = {"api_key": key, "base_url": base}
    return {"models": {"default": model, "providers": {vendor: provider}}}


async def test_without_a_key_or_a_network_it_remembers_over_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path / "home") as daemon:
        told = await daemon.chat("remember that the spare key of the cottage is under the blue flowerpot")
        assert await daemon.end() == 0
        assert "ready. Web chat at http://127.0.0.1:" in await daemon.said()

    async with running(tmp_path / "home") as daemon:
        answer = await daemon.chat("where did we hide the key to the cabin?", session="later")

    day = re.search(r"memory/\d{4}-\d{2}-\d{2}\.md", str(told["reply"]))
    assert day
    note = tmp_path / "home" / "workspace" / day.group()
    cited = re.search(rf"{day.group()}:(\d+)-(\d+)", str(answer["reply"]))
    assert cited
    lines = note.read_text(encoding="utf-8").split("\n")[int(cited[1]) - 1 : int(cited[2])]
    assert any("under the blue flowerpot" in line for line in lines)
    assert "under the blue flowerpot" in str(answer["reply"])


@pytest.mark.parametrize("vendor", PROVIDERS)
async def test_with_a_model_it_remembers_over_a_restart(tmp_path: Path, vendor: str) -> None:
    async with ModelServer() as server:
        note: JsonObject = {
            "path": "memory/2026-05-01.md",
            "content": "## 09:00 - Boat\n\nThe boat is called Marisol.\n",
            "mode": "append",
        }
        server.script += [
            Call("write", note),
            Say("Noted."),
            Call("memory_search", {"query": "name of the ship"}),
        ]
        server.script.append(Say("Marisol, see memory/2026-05-01.md:3-5."))
        async with running(tmp_path / "home", config(vendor, server)) as daemon:
            await daemon.chat("our boat is called Marisol")
            assert await daemon.end() == 0

        async with running(tmp_path / "home", config(vendor, server)) as daemon:
            answer = await daemon.chat("what was the ship's name?")

        assert answer["reply"] == "Marisol, see memory/2026-05-01.md:3-5."
        assert answer["tool_calls"] == [
            {"name": "memory_search", "arguments": {"query": "name of the ship"}, "is_error": False}
        ]
        assert "The boat is called Marisol." in server.requests[-1].body.decode()
        assert "test-key" not in "".join(
            path.read_text(errors="replace") for path in (tmp_path / "home" / "logs").iterdir()
        )


async def test_the_first_request_of_a_session_is_small(tmp_path: Path) -> None:
    async with ModelServer() as server, running(tmp_path / "home", config("anthropic", server)) as daemon:
        await daemon.chat("hello")

        assert len(server.requests[0].body) <= 20_000


async def test_a_second_gateway_refuses_and_names_the_first(tmp_path: Path) -> None:
    async with running(tmp_path / "home") as daemon:
        second = await asyncio.to_thread(
            clawd, tmp_path / "home", "gateway", "run", "--port", str(free_port())
        )

        assert second.returncode == 1
        assert f"pid {daemon.process.pid}" in second.stderr
        assert await daemon.chat("hello")


async def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    async with running(tmp_path / "one") as daemon:
        second = await asyncio.to_thread(
            clawd, tmp_path / "two", "gateway", "run", "--port", str(daemon.port)
        )

    assert second.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {daemon.port}" in second.stderr
    assert "Traceback" not in second.stderr


async def test_a_running_turn_is_finished_before_the_end(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.script.append(Slow(1_500, Say("in the nick of time")))
        async with running(tmp_path / "home", config("openai", server)) as daemon:
            asking = asyncio.create_task(daemon.chat("take your time"))
            await until(lambda: bool(server.requests))

            assert await daemon.end() == 0
            assert (await asking)["reply"] == "in the nick of time"


async def test_a_second_signal_stops_at_once_and_keeps_the_conversation(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.script += [Hang(), Say("good to be back")]
        async with running(tmp_path / "home", config("openai", server)) as daemon:
            asking = asyncio.create_task(daemon.chat("this will hang"))
            await until(lambda: bool(server.requests))
            daemon.process.send_signal(signal.SIGTERM)
            await asyncio.sleep(0.2)

            assert await daemon.end() == 0
            await asyncio.gather(asking, return_exceptions=True)

        async with running(tmp_path / "home", config("openai", server)) as daemon:
            assert (await daemon.chat("and now?"))["reply"] == "good to be back"
    assert "this will hang" in server.requests[-1].body.decode()


@pytest.mark.parametrize("vendor", PROVIDERS)
async def test_a_kill_in_the_middle_of_a_tool_loses_nothing(tmp_path: Path, vendor: str) -> None:
    async with ModelServer() as server:
        server.script += [Call("exec", {"command": "sleep 30"}), Say("I see.")]
        async with running(tmp_path / "home", config(vendor, server)) as daemon:
            asking = asyncio.create_task(daemon.chat("sleep a little"))
            await until(lambda: "toolCall" in _transcript(tmp_path))
            daemon.process.kill()
            await asyncio.gather(asking, return_exceptions=True)

        async with running(tmp_path / "home", config(vendor, server)) as daemon:
            answer = await daemon.chat("what happened?")

    assert answer["reply"] == "I see."
    body = server.requests[-1].body.decode()
    assert "sleep a little" in body
    assert "may have run" in body
    assert sum(request.path != "/v1/embeddings" for request in server.requests) == 2


def _transcript(tmp_path: Path) -> str:
    found = (tmp_path / "home" / "agents").rglob("*.jsonl")
    return "".join(path.read_text(encoding="utf-8") for path in found)


async def test_the_command_line_talks_to_the_running_gateway(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.script.append(Say("from the daemon"))
        async with running(tmp_path / "home", config("anthropic", server)):
            chat = await asyncio.to_thread(clawd, tmp_path / "home", "chat", "-m", "hello", "--json")
            sessions = await asyncio.to_thread(clawd, tmp_path / "home", "sessions", "list", "--json")

    answer = json.loads(chat.stdout)
    assert (answer["reply"], answer["session_key"]) == ("from the daemon", "agent:main:main")
    (row,) = json.loads(sessions.stdout)["sessions"]
    assert (row["key"], row["messages"]) == ("agent:main:main", 2)


async def test_a_refused_key_is_told_in_a_sentence_and_the_gateway_stays_up(tmp_path: Path) -> None:
    async with ModelServer() as server:
        wrong = config("anthropic", server, key="bad-key-0123456789")
        async with running(tmp_path / "home", wrong) as daemon, daemon.client() as client:
            answer = await client.post("/api/chat", json={"text": "hello", "session": "test"})

            assert answer.status_code == 502
            assert answer.json()["error"]["code"] == "model_auth"
            assert "ANTHROPIC_API_KEY" in answer.json()["error"]["message"]
            assert "bad-key" not in answer.text
            assert (await client.get("/healthz")).status_code == 200


async def test_a_provider_that_cannot_be_reached_is_told(tmp_path: Path) -> None:
    nowhere = {"openai": {"api_key": "test-key-0123456789", "base_url": f"http://127.0.0.1:{free_port()}/v1"}}
    settings = {"models": {"default": "openai/gpt-6.1-terra", "max_retries": 0, "providers": nowhere}}
    async with running(tmp_path / "home", settings) as daemon, daemon.client() as client:
        answer = await client.post("/api/chat", json={"text": "keep this", "session": "test"})
        kept = await client.get("/api/sessions/agent%3Amain%3Aapi%3Atest")

    assert answer.status_code == 502
    assert "127.0.0.1" in answer.json()["error"]["message"]
    assert kept.json()["messages"][0]["text"] == "keep this"
