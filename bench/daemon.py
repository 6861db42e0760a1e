"""A gateway as a child process, and a client for it that costs next to nothing."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil
import yaml

READY_SECONDS = 60


@dataclass(slots=True)
class Daemon:
    """`clawd gateway run` on a home of its own. `started` is the time from fork to ready, in seconds."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]
    started: float

    @classmethod
    async def start(cls, home: Path, config: dict[str, Any], *, env: dict[str, str] | None = None) -> Self:
        begun = time.perf_counter()
        port = _free_port()
        daemon = cls(home, port, _spawn(home, {**config, "gateway": {"port": port}}, env or {}), 0.0)
        while not await daemon.is_ready():
            if daemon.process.poll() is not None or time.perf_counter() - begun > READY_SECONDS:
                raise RuntimeError((home / "stderr.txt").read_text(encoding="utf-8"))
            await asyncio.sleep(0.01)
        daemon.started = time.perf_counter() - begun
        return daemon

    async def is_ready(self) -> bool:
        try:
            client = await Client.connect(self)
        except OSError:
            return False
        status, _ = await client.request("GET", "/readyz")
        client.close()
        return status == 200

    @property
    def token(self) -> str:
        return (self.home / "credentials" / "gateway.token").read_text(encoding="ascii").strip()

    def megabytes(self) -> float:
        """Resident memory of the gateway process alone (PSS), in MB."""
        return float(psutil.Process(self.process.pid).memory_full_info().pss) / 1e6

    def cpu_seconds(self) -> float:
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(30)


@dataclass(slots=True)
class Client:
    """One keep-alive connection; requests one after the other."""

    daemon: Daemon
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def connect(cls, daemon: Daemon) -> Self:
        reader, writer = await asyncio.open_connection("127.0.0.1", daemon.port)
        return cls(daemon, reader, writer)

    async def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, bytes]:
        content = json.dumps(body).encode() if body is not None else b""
        token = self.daemon.token if path.startswith("/api") else "-"
        self.writer.write(
            f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.daemon.port}\r\n"
            f"authorization: Bearer {token}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(content)}\r\n\r\n".encode()
            + content
        )
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.split("content-length:")[1].split("\r\n")[0]) if "content-length:" in head else 0
        return int(head.split(" ")[1]), await self.reader.readexactly(length)

    async def chat(self, text: str, session: str) -> dict[str, Any]:
        status, body = await self.request("POST", "/api/chat", {"text": text, "session": session})
        if status != 200:
            raise RuntimeError(f"{status}: {body.decode()}")
        answer: dict[str, Any] = json.loads(body)
        return answer

    def close(self) -> None:
        self.writer.close()


def _spawn(home: Path, config: dict[str, Any], env: dict[str, str]) -> subprocess.Popen[bytes]:
    home.mkdir(parents=True, exist_ok=True)
    (home / "clawd.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.Popen(
        [sys.executable, "-m", "gateway", "--home", str(home), "gateway", "run"],
        env={**clean, **env},
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.DEVNULL,
        stderr=(home / "stderr.txt").open("wb"),
    )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
