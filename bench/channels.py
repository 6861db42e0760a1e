"""What a connected channel costs: idle, with the timings of every day, and over many messages.

The gateway is a process of its own and the only one measured; the platform is a fake one here, on loopback.
People write a command, wait for its answer, and write the next one: all that a message passes but a model.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from agents.clock import system_clock
from bench.daemon import Daemon
from tests.fakes import discord, telegram
from tests.fakes.discord_world import BOT_ID
from tests.fakes.telegram_world import Chat

IDLE_PERCENT, GROWTH_MB = 1.0, 2.0
MARKS = (1_000, 5_000, 10_000, 15_000, 20_000)
FULL = 5_000
"""So many messages fill what is remembered to tell doubles apart; from there on memory is flat."""
TEXT = "/whoami"
FIRST_PERSON = 700_001
_LOOK_SECONDS = 0.004
_FORGET_EVERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A fake platform: how clawd is told of it, and the people on it by number. `forget` empties what the
    fake has kept, which is not what is measured."""

    account: dict[str, Any]
    connected: Callable[[], bool]
    say: Callable[[int], None]
    answers: Callable[[int], int]
    forget: Callable[[int], None]


@dataclass(slots=True)
class Seen:
    """Percent of a core; megabytes (RSS) by how many messages had passed; seconds of clock and of CPU."""

    idle: float = 0.0
    memory: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0
    cpu: float = 0.0


@asynccontextmanager
async def on_discord(people: int) -> AsyncIterator[Stage]:
    async with discord.discord_server() as server:
        world = server.world
        for one in range(people):
            world.user(FIRST_PERSON + one, f"person {one}")
        chats = [world.dm(FIRST_PERSON + one) for one in range(people)]

        def say(person: int) -> None:
            world.now = system_clock()
            world.say(chats[person], TEXT, by=FIRST_PERSON + person)

        def answers(person: int) -> int:
            kept = world.messages.get(chats[person], {}).values()
            return sum(one["author"]["id"] == str(BOT_ID) for one in kept)

        def forget(person: int) -> None:
            world.messages[chats[person]].clear()
            server.rest.nonces.clear()
            server.calls.clear()
            server.heard.clear()

        world.now = system_clock()
        yield Stage(
            account={"token": discord.TOKEN, "api_base_url": server.url},
            connected=lambda: server.live > 0,
            say=say,
            answers=answers,
            forget=forget,
        )


@asynccontextmanager
async def on_telegram(people: int) -> AsyncIterator[Stage]:
    async with telegram.telegram_server() as server:
        world = server.world
        for number in range(FIRST_PERSON, FIRST_PERSON + people):
            world.users[number] = {"id": number, "is_bot": False, "first_name": "Person"}
            world.chats[number] = Chat(number, "private", "Person")

        def forget(person: int) -> None:
            world.chats[FIRST_PERSON + person].messages.clear()
            server.calls.clear()

        yield Stage(
            account={"token": telegram.TOKEN, "api_base_url": server.url},
            connected=lambda: server.polls > 0,
            say=lambda person: _ignore(world.say(FIRST_PERSON + person, TEXT, user=FIRST_PERSON + person)),
            answers=lambda person: len(world.from_bot(FIRST_PERSON + person)),
            forget=forget,
        )


def _ignore(_: object) -> None:
    """A value that nobody wants."""


STAGES = {"discord": on_discord, "telegram": on_telegram}


@dataclass(slots=True)
class Crowd:
    """All that write, one message after the other each, until so many have passed."""

    stage: Stage
    daemon: Daemon
    messages: int
    seen: Seen
    begun: int = 0
    passed: int = 0

    async def talk(self, people: int) -> None:
        started, before = time.perf_counter(), self.daemon.cpu_seconds()
        async with asyncio.TaskGroup() as group:
            for person in range(people):
                group.create_task(self._person(person))
        self.seen.seconds = time.perf_counter() - started
        self.seen.cpu = self.daemon.cpu_seconds() - before

    async def _person(self, person: int) -> None:
        said = 0
        while self.begun < self.messages:
            self.begun += 1
            said += 1
            await answered(self.stage, person, said)
            if said == _FORGET_EVERY // 10:
                self.stage.forget(person)
                said = 0
            self.passed += 1
            if self.passed in MARKS or self.passed == self.messages:
                self.seen.memory[self.passed] = rss(self.daemon)


async def answered(stage: Stage, person: int, count: int) -> None:
    """Write, and wait until so many answers stand in the chat. Raises TimeoutError."""
    stage.say(person)
    async with asyncio.timeout(60):
        while stage.answers(person) < count:  # noqa: ASYNC110 (another process answers)
            await asyncio.sleep(_LOOK_SECONDS)


def rss(daemon: Daemon) -> float:
    return float(psutil.Process(daemon.process.pid).memory_info().rss) / 1e6


async def measure(platform: str, *, people: int, messages: int, idle: float, folder: Path) -> Seen:
    seen = Seen()
    async with STAGES[platform](people) as stage:
        account = {"dm_policy": "open", "allow_from": ["*"], **stage.account}
        daemon = await Daemon.start(folder, {"channels": {platform: {"accounts": {"default": account}}}})
        try:
            while not stage.connected():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await asyncio.sleep(3)
            await answered(stage, 0, 1)
            stage.forget(0)
            await asyncio.sleep(5)  # what comes after a start is over
            seen.memory[0] = rss(daemon)
            before = daemon.cpu_seconds()
            await asyncio.sleep(idle)
            seen.idle = (daemon.cpu_seconds() - before) / idle * 100
            await Crowd(stage, daemon, messages, seen).talk(people)
        finally:
            daemon.stop()
    return seen


def table(platform: str, seen: Seen, *, idle: float, people: int) -> Table:
    made = Table("what", "figure", "how", title=f"{platform}: {people} people, commands")
    made.add_row(
        "idle CPU", f"{seen.idle:.2f} %", f"of one core over {idle:g} s, aim below {IDLE_PERCENT:g} %"
    )
    for count, megabytes in seen.memory.items():
        made.add_row(f"memory at {count:,}", f"{megabytes:.1f} MB", "RSS of the gateway")
    marks = [one for one in seen.memory if one]
    full = max((one for one in marks if one <= FULL), default=marks[0])
    growth = seen.memory[marks[-1]] - seen.memory[full]
    between = f"from {full:,} to {marks[-1]:,} messages, aim below {GROWTH_MB:g} MB"
    made.add_row("growth", f"{growth:+.1f} MB", between)
    total = marks[-1]
    made.add_row("pace", f"{total / seen.seconds:.0f}/s", "messages answered")
    made.add_row("CPU a message", f"{seen.cpu / total * 1000:.1f} ms", "of the gateway")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", choices=sorted(STAGES), default="discord")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--idle", type=float, default=60, help="seconds")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seen = asyncio.run(
            measure(
                given.platform,
                people=given.people,
                messages=given.messages,
                idle=given.idle,
                folder=Path(folder),
            )
        )
    Console().print(table(given.platform, seen, idle=given.idle, people=given.people))


if __name__ == "__main__":
    main()
