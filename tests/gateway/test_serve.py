"""The life of the daemon: ready only when it answers, and never half dead."""

import asyncio
import logging
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from agents.clock import system_clock
from gateway.config import Config
from gateway.errands import TRIES, Errand, Errands, Kind
from gateway.home import Home
from gateway.serve import PortInUse, listen, serve
from sessions.entries import Header, Said
from sessions.key import SessionKey
from sessions.messages import Text, User
from sessions.registry import Registry
from sessions.transcript import Transcript

TOKEN = "a-token-of-the-tests-0123456789"


def config(port: int, tmp_path: Path) -> Config:
    return Config.model_validate(
        {
            "gateway": {"port": port, "drain_seconds": 1},
            "models": {"default": "offline/notes"},
            "memory": {"search": {"provider": "none"}},
            "agents": {"defaults": {"workspace": str(tmp_path / "workspace")}},
        }
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


async def test_it_is_ready_when_it_says_so_and_ends_in_order(tmp_path: Path) -> None:
    address = asyncio.get_running_loop().create_future()
    life = asyncio.create_task(
        serve(
            config(free_port(), tmp_path), Home(tmp_path / "home"), token=TOKEN, on_ready=address.set_result
        )
    )

    async with httpx.AsyncClient(base_url=await address) as client:
        assert (await client.get("/readyz")).status_code == 200
    os.kill(os.getpid(), signal.SIGTERM)

    assert await life == 0


@pytest.mark.parametrize(
    ("kind", "peer"), [("ask", "api:hook-ci"), ("look", "main")], ids=["a webhook", "a waking"]
)
async def test_what_an_earlier_process_left_is_taken_up_before_anybody_is_heard(
    tmp_path: Path, kind: Kind, peer: str
) -> None:
    home, left = Home(tmp_path / "home"), []
    key = SessionKey.parse(f"agent:main:{peer}")
    errand = Errand(id="run-1", kind=kind, key=key, text="look", at=system_clock(), tries=TRIES)
    said = User(at=system_clock(), parts=(Text(text="look"),), ids=("run-1",))
    with ThreadPoolExecutor(1) as executor:
        errands = Errands.open(home.errands_file, clock=system_clock, executor=executor)
        await errands.accept(errand)
        errands.close()
    registry = Registry.open(home.registry_file, home.transcripts)
    registry.start(key, "session-1", system_clock())
    registry.close()
    path = home.transcripts("main") / "session-1.jsonl"
    transcript = Transcript.create(path, Header(id="session-1", at=system_clock(), cwd="/"))
    transcript.append(Said(message=said), system_clock())
    transcript.close()

    def ready(_: str) -> None:
        left.append('"done"' in home.errands_file.read_text())
        os.kill(os.getpid(), signal.SIGTERM)

    assert await serve(config(free_port(), tmp_path), home, token=TOKEN, on_ready=ready) == 0
    assert left == [True]


async def test_a_part_that_fails_ends_the_process_with_a_message(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(address: str) -> None:
        raise RuntimeError(f"nobody wants {address}")

    with caplog.at_level(logging.CRITICAL):
        code = await serve(
            config(free_port(), tmp_path), Home(tmp_path / "home"), token=TOKEN, on_ready=fails
        )

    assert code == 1
    assert "clawd ends because a part of it failed: nobody wants http://127.0.0.1:" in caplog.text


def test_a_port_that_another_program_has_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(PortInUse, match=f"127.0.0.1 port {port}") as caught, listen("127.0.0.1", port):
            pass

    assert "--port" in str(caught.value)


def test_an_address_that_is_not_ours_is_told() -> None:
    with pytest.raises(PortInUse, match=r"no-such-host\.invalid"), listen("no-such-host.invalid", 1):
        pass
