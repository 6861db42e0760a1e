"""The life of the daemon: ready only when it answers, and never half dead."""

import asyncio
import logging
import os
import signal
import socket
from pathlib import Path

import httpx
import pytest

from gateway.config import Config
from gateway.home import Home
from gateway.serve import PortInUse, listen, serve

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
