"""A clawd as its owner runs it: a process of its own, spoken to over HTTP and on the command line."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 60.0


def environment(owner: Path) -> dict[str, str]:
    """The caller's environment without anybody's keys, and with a user directory of the test's own."""
    given = os.environ  # noqa: TID251 (a child process inherits it)
    clean = {name: value for name, value in given.items() if not name.endswith(("_API_KEY", "_TOKEN"))}
    clean.pop("CLAWD_HOME", None)
    return {**clean, "HOME": str(owner), "PYTHONPATH": str(ROOT), "TZ": "Europe/Lisbon"}


def clawd(home: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """One command, to its end."""
    return subprocess.run(
        [sys.executable, "-m", "gateway", "--home", str(home), *words],
        env=environment(home.parent),
        cwd=home.parent,
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@dataclass(slots=True)
class Running:
    home: Path
    port: int
    process: asyncio.subprocess.Process

    @property
    def token(self) -> str:
        return (self.home / "credentials" / "gateway.token").read_text(encoding="ascii").strip()

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"authorization": f"Bearer {self.token}"},
            timeout=PATIENCE,
        ) as client:
            yield client

    async def chat(self, text: str, session: str = "test") -> dict[str, object]:
        async with self.client() as client:
            answer = await client.post("/api/chat", json={"text": text, "session": session})
        assert answer.status_code == 200, answer.text
        body: dict[str, object] = answer.json()
        return body

    async def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    async def said(self) -> str:
        """What it has printed; only after its end."""
        assert self.process.stdout is not None
        return (await self.process.stdout.read()).decode()


@asynccontextmanager
async def running(home: Path, config: Mapping[str, object] | None = None) -> AsyncIterator[Running]:
    """A gateway that is ready; ended with the block, if it still runs."""
    _prepare(home, config)
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gateway", "--home", str(home), "gateway", "run", "--port", str(port),
        env=environment(home.parent), cwd=home.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    daemon = Running(home, port, process)
    try:
        await _until_ready(daemon)
        yield daemon
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def until(true: Callable[[], bool]) -> None:
    """Return when something has become true; give up after a long time."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 (another process makes it true)
            await asyncio.sleep(0.02)


def _prepare(home: Path, config: Mapping[str, object] | None) -> None:
    home.mkdir(parents=True, exist_ok=True)
    if config is not None:
        (home / "clawd.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML


async def _until_ready(daemon: Running) -> None:
    end = asyncio.get_running_loop().time() + PATIENCE
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{daemon.port}") as client:
        while asyncio.get_running_loop().time() < end:
            try:
                if (await client.get("/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            if daemon.process.returncode is not None:
                raise AssertionError(await daemon.said())
            await asyncio.sleep(0.02)
    raise AssertionError("not ready in time")
