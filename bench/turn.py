"""What a turn costs beside the model: python bench/turn.py [--turns N]

A fake model server at zero delay runs in this process; clawd runs as a child, as it would for its owner.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.daemon import Client, Daemon
from tests.fakes.modelserver import ModelServer

HISTORIES = (0, 100, 1_000)
SESSIONS = 20


def settings(vendor: str, server: ModelServer) -> dict[str, Any]:
    if vendor == "offline":
        return {}
    if vendor == "anthropic":
        provider = {"api_key": "fake-key-for-bench", "base_url": server.url}
        return {"models": {"default": "anthropic/claude-sonnet-5-5", "providers": {"anthropic": provider}}}
    provider = {"api_key": "fake-key-for-bench", "base_url": server.url + "/v1"}
    return {"models": {"default": "openai/gpt-6.1-terra", "providers": {"openai": provider}}}


def row(table: Table, what: str, value: str, note: str = "") -> None:
    table.add_row(what, value, note)


async def loop_lag(daemon: Daemon, seconds: float) -> float:
    """The slowest answer of /healthz within some seconds, in milliseconds."""
    client, worst, end = await Client.connect(daemon), 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        await client.request("GET", "/healthz")
        worst = max(worst, time.perf_counter() - begun)
        await asyncio.sleep(0.005)
    client.close()
    return worst * 1_000


async def timed(client: Client, session: str, turns: int) -> list[float]:
    times = []
    for number in range(turns):
        begun = time.perf_counter()
        await client.chat(f"message {number} of this session", session)
        times.append((time.perf_counter() - begun) * 1_000)
    return times


async def histories(daemon: Daemon, table: Table, turns: int) -> None:
    client = await Client.connect(daemon)
    for messages in HISTORIES:
        session = f"history-{messages}"
        if messages:
            await timed(client, session, messages // 2)
            times = await timed(client, session, turns)
        else:
            times = [(await timed(client, f"fresh-{n}", 1))[0] for n in range(turns)]
        cpu = daemon.cpu_seconds()
        await timed(client, session, turns)
        cpu = (daemon.cpu_seconds() - cpu) / turns * 1_000
        ordered = sorted(times)
        p95 = ordered[int(len(ordered) * 0.95)]
        row(
            table,
            f"turn with {messages} messages before it",
            f"{statistics.median(times):.1f} ms",
            f"p95 {p95:.1f} ms, {cpu:.1f} ms CPU in the gateway",
        )
    client.close()


async def side_by_side(daemon: Daemon, table: Table, turns: int) -> None:
    clients = [await Client.connect(daemon) for _ in range(SESSIONS)]
    await asyncio.gather(*[timed(client, f"side-{n}", 1) for n, client in enumerate(clients)])
    begun = time.perf_counter()
    await asyncio.gather(*[timed(client, f"side-{n}", turns) for n, client in enumerate(clients)])
    rate = SESSIONS * turns / (time.perf_counter() - begun)
    row(table, f"{SESSIONS} sessions at once", f"{rate:.0f} turns/s", f"{SESSIONS * turns} turns")
    for client in clients:
        client.close()


async def start_up(vendor: str, server: ModelServer, table: Table, folder: Path) -> None:
    starts = []
    for number in range(3):
        daemon = await Daemon.start(folder / f"{vendor}-start-{number}", settings(vendor, server))
        starts.append(daemon.started)
        daemon.stop()
    row(table, "start to ready", f"{statistics.median(starts):.2f} s", "median of 3, fresh homes")
    daemon = await Daemon.start(folder / f"{vendor}-idle", settings(vendor, server))
    client = await Client.connect(daemon)
    if vendor != "offline":
        begun = time.perf_counter()
        await client.chat("hello", "first")
        first = (time.perf_counter() - begun) * 1_000
        row(table, "first turn right after ready", f"{first:.0f} ms", "the SDK is still being imported")
        daemon.stop()
        daemon = await Daemon.start(folder / f"{vendor}-idle-2", settings(vendor, server))
        lag = await loop_lag(daemon, 5)
        row(table, "slowest /healthz in the first 5 s", f"{lag:.0f} ms", "import in a thread")
    else:
        await asyncio.sleep(1)
    row(table, "idle memory", f"{daemon.megabytes():.0f} MB", "PSS of the gateway process")
    daemon.stop()
    client.close()


async def measure(vendor: str, turns: int, folder: Path) -> Table:
    table = Table("what", "figure", "how", title=f"clawd with {vendor}, fake model at zero delay")
    async with ModelServer(cache=False, strict=False) as server:
        await start_up(vendor, server, table, folder)
        daemon = await Daemon.start(folder / f"{vendor}-turns", settings(vendor, server))
        try:
            if vendor == "offline":
                await offline_turns(daemon, table, turns)
            else:
                client = await Client.connect(daemon)
                await client.chat("hello", "warm-up")
                client.close()
                size = len(server.requests[0].body)
                row(table, "first request of a session", f"{size:,} bytes", "system, context, tools, message")
                await histories(daemon, table, turns)
                await side_by_side(daemon, table, max(5, turns // 4))
            row(table, "memory afterwards", f"{daemon.megabytes():.0f} MB", "PSS of the gateway process")
        finally:
            daemon.stop()
    return table


async def offline_turns(daemon: Daemon, table: Table, turns: int) -> None:
    client = await Client.connect(daemon)
    notes = []
    for number in range(turns):
        begun = time.perf_counter()
        await client.chat(f"remember that locker {number} belongs to person {number}", "notes")
        notes.append((time.perf_counter() - begun) * 1_000)
    begun = time.perf_counter()
    await client.chat("who has locker 3?", "first question")
    first = (time.perf_counter() - begun) * 1_000
    asked = []
    for number in range(turns):
        begun = time.perf_counter()
        await client.chat(f"who has locker {number}?", "questions")
        asked.append((time.perf_counter() - begun) * 1_000)
    client.close()
    row(table, "a note", f"{statistics.median(notes):.1f} ms", "two rounds, written and journalled")
    row(table, "first question", f"{first:.0f} ms", "starts the embedding model")
    row(table, "a question", f"{statistics.median(asked):.1f} ms", "search included")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--vendors", default="offline,anthropic,openai")
    chosen = parser.parse_args()
    for vendor in chosen.vendors.split(","):
        with tempfile.TemporaryDirectory() as folder:
            Console(width=110).print(asyncio.run(measure(vendor, chosen.turns, Path(folder))))


if __name__ == "__main__":
    main()
