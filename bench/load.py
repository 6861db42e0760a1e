"""Many people at once, through a channel: what a turn costs beside the model, and whether memory stays flat.

A whole gateway (a process of its own) with a channel to a street server here, and a model server (a third
process) that waits before it streams each answer. People write, wait for their answer, think, and write on.
"""

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from tests.e2e.running import ROOT, environment, free_port
from tests.e2e.street import StreetServer, street_server
from tests.e2e.test_kill import key_of, said

OVERHEAD_MS, LAG_MS = 100, 50


@dataclass(slots=True)
class Seen:
    """Seconds from a message to its answer; megabytes as time went on; how late the loop was, in ms."""

    waits: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    lag: list[float] = field(default_factory=list)
    begun: int = 0
    seconds: float = 0.0
    cpu: float = 0.0


@dataclass(slots=True)
class People:
    """All that talk. `until` says when they stop."""

    server: StreetServer
    sessions: int
    think: float
    until: Callable[[int], bool]
    seen: Seen
    turns: int = 0
    numbers: int = 0

    async def talk(self) -> None:
        async with asyncio.TaskGroup() as group:
            for chat in range(self.sessions):
                group.create_task(self._person(str(chat + 10)))

    async def _person(self, chat: str) -> None:
        # As in the middle of a day: were all to begin within one time of thinking, they would come twice as
        # fast at first.
        await asyncio.sleep(random.expovariate(1 / max(self.think, 0.5)))
        while not self.until(self.turns):
            self.turns += 1
            self.numbers += 1
            event = said(self.numbers, chat, f"what is {self.numbers} times two?")
            begun = time.perf_counter()
            self.server.awaited[key_of(event)] = asyncio.Event()
            self.server.say(event)
            await self._answered(key_of(event))
            self.seen.waits.append(time.perf_counter() - begun)
            await asyncio.sleep(random.expovariate(1 / self.think) if self.think else 0)

    async def _answered(self, key: str) -> None:
        await self.server.awaited[key].wait()
        del self.server.awaited[key]
        if len(self.server.shown) > 1_000:
            self.server.shown.clear()  # people scroll on; the street need not remember
            self.server.forget()


async def measure(
    folder: Path,
    *,
    sessions: int,
    think: float,
    delay_ms: int,
    until: Callable[[int], bool],
    every_minute: Callable[[Seen], None] = lambda _: None,
) -> Seen:
    port = free_port()
    models = subprocess.Popen(  # noqa: ASYNC220 (nothing runs here yet)
        [sys.executable, "-m", "tests.fakes.modelserver", "--port", str(port), "--delay-ms", str(delay_ms),
         "--no-cache"],
        cwd=ROOT, env=environment(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    seen = Seen()
    try:
        async with street_server() as server:
            gateway = subprocess.Popen(  # noqa: ASYNC220
                [sys.executable, "-m", "tests.e2e.victim", str(folder / "home"), str(server.port), "--models",
                 f"http://127.0.0.1:{port}", "--lag", str(folder / "lag")],
                cwd=ROOT, env=environment(folder), stdout=subprocess.DEVNULL,
                stderr=(folder / "stderr").open("wb"),
            )  # fmt: skip
            try:
                people = People(server, sessions, think, until, seen)
                await _run(server, gateway.pid, folder / "lag", people, every_minute)
            finally:
                gateway.terminate()
                gateway.wait()
    finally:
        models.terminate()
        models.wait()
    seen.lag = [float(line) for line in (folder / "lag").read_text().split()[seen.begun :]]
    return seen


async def _run(
    server: StreetServer, pid: int, lag: Path, people: People, every_minute: Callable[[Seen], None]
) -> None:
    seen = people.seen
    process = psutil.Process(pid)
    warm = said(0, "1", "hello")
    server.say(warm)
    async with asyncio.timeout(60):
        while not server.of(key_of(warm)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    async def watch() -> None:
        while True:
            seen.memory.append(process.memory_info().rss / 1e6)
            if len(seen.memory) % 60 == 0:
                every_minute(seen)
            await asyncio.sleep(1)

    watching = asyncio.create_task(watch())
    seen.begun = len(lag.read_text().split())  # noqa: ASYNC240 (what came before belongs to its start)
    begun, cpu = time.perf_counter(), sum(process.cpu_times()[:2])
    await people.talk()
    seen.seconds, seen.cpu = time.perf_counter() - begun, sum(process.cpu_times()[:2]) - cpu
    watching.cancel()


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def table(title: str, seen: Seen, delay_ms: int) -> Table:
    over = [wait * 1000 - delay_ms for wait in seen.waits]
    tenth = max(1, len(seen.memory) // 10)
    early, late = statistics.mean(seen.memory[tenth : 2 * tenth + 1]), statistics.mean(seen.memory[-tenth:])
    rows = (
        ("turns", f"{len(seen.waits):,}", f"{len(seen.waits) / seen.seconds:.0f} turns/s"),
        ("overhead p50", f"{percentile(over, 0.5):.0f} ms", "beside the model's delay"),
        ("overhead p95", f"{percentile(over, 0.95):.0f} ms", f"aim {OVERHEAD_MS} ms"),
        ("lag of the loop p95", f"{percentile(seen.lag, 0.95):.1f} ms", "sampled 20 times a second"),
        ("lag of the loop, longest", f"{max(seen.lag):.0f} ms", f"aim {LAG_MS} ms"),
        ("CPU a turn", f"{seen.cpu / len(seen.waits) * 1000:.1f} ms", "of the gateway"),
        ("memory, second tenth", f"{early:.0f} MB", "RSS of the gateway"),
        ("memory, last tenth", f"{late:.0f} MB", f"{(late - early) / early:+.1%}"),
    )
    made = Table("what", "figure", "how", title=title)
    for row in rows:
        made.add_row(*row)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--delay-ms", type=int, default=500)
    parser.add_argument("--think", type=float, default=6.0, help="seconds between answer and message, mean")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seen = asyncio.run(
            measure(
                Path(folder),
                sessions=given.sessions,
                think=given.think,
                delay_ms=given.delay_ms,
                until=lambda turns: turns >= given.turns,
            )
        )
    title = f"{given.sessions} people, model {given.delay_ms} ms, thinking {given.think:g} s"
    Console().print(table(title, seen, given.delay_ms))


if __name__ == "__main__":
    main()
