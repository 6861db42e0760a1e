"""The process is killed at every step of a message's path, and at random moments under load: every accepted
message has one visible end, and nothing is seen twice but for what is marked as possibly repeated."""

import asyncio
import json
import os
import random  # noqa: TID251 (seeded)
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from channels.message import InboundMessage
from gateway.inbox import event_id
from gateway.postman import REPEATED
from tests.e2e.running import ROOT, environment
from tests.e2e.street import StreetServer, street_server
from tests.e2e.victim import PREAMBLE, event_of

PATIENCE = 90.0
KILLS = int(os.environ.get("CLAWD_KILLS", "2"))  # noqa: TID251 (how thorough this run is)


def said(number: int, chat: str, text: str, **more: object) -> dict[str, object]:
    return {"id": f"m{number}", "chat": chat, "text": text, **more}


@dataclass(slots=True)
class Killed:
    """One home, and processes that come and go in it."""

    home: Path
    server: StreetServer
    ways: tuple[str, ...] = ()
    process: asyncio.subprocess.Process | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self, *more: str) -> None:
        self.server.on_change = self.changed.set
        words = [sys.executable, "-m", "tests.e2e.victim", str(self.home), str(self.server.port)]
        words += [*more, *self.ways]
        with (self.home.parent / "stderr").open("ab") as stderr:
            self.process = await asyncio.create_subprocess_exec(
                *words,
                cwd=ROOT,
                env=environment(self.home.parent),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=stderr,
            )

    async def kill(self) -> None:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    async def until(self, holds: Callable[[], bool]) -> bool:
        """Wait for that; False when the process died before."""
        assert self.process is not None
        died = asyncio.create_task(self.process.wait())
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self.changed.clear()
                news = asyncio.create_task(self.changed.wait())
                done, _ = await asyncio.wait({died, news}, return_when=asyncio.FIRST_COMPLETED, timeout=0.2)
                news.cancel()
                if died in done and not holds():
                    return False
        died.cancel()
        return True

    def open(self) -> set[str]:
        """Accepted messages without an end, and deliveries that are not whole, as the journals say."""
        waiting: set[str] = set()
        for name, begin, end in (("inbox", "accepted", "done"), ("outbox", "intent", "done")):
            path = self.home / f"journals/{name}.jsonl"
            for raw in path.read_bytes().splitlines() if path.exists() else ():
                try:
                    line = json.loads(raw)
                except json.JSONDecodeError:
                    continue
                one = f"{name} {line.get('id' if name == 'inbox' else 'key')}"
                if line["type"] == begin:
                    waiting.add(one)
                elif line["type"] == end:
                    waiting.discard(one)
        return waiting

    def settled(self) -> bool:
        return len(self.server.acked) == len(self.server.events) and not self.open()


def key_of(event: dict[str, object]) -> str:
    message = event_of(event)
    assert isinstance(message, InboundMessage)
    return event_id(message)


def check(server: StreetServer) -> None:
    """One visible end each; what stands there twice is marked."""
    for event in server.events.values():
        shown = server.of(key_of(event))
        final = [one for one in shown if not one.live]
        assert final, f"{event} has no visible end"
        unmarked = [one for one in final if not one.text.startswith(REPEATED)]
        parts = [one.part for one in unmarked]
        assert len(parts) == len(set(parts)), f"{event} was shown twice: {[one.text for one in final]}"
        assert {one.part for one in final} == set(range(max(one.part for one in final) + 1)), final
        stale = [one for one in shown if one.live]
        assert len(stale) <= len(final) - len(unmarked), f"{event} left {stale}"


SCENARIO = (
    said(1, "1", "remember that the kettle is blue"),
    said(2, "1", "/whoami"),
    said(3, "7", "hello", files=["a text file"]),
)


async def play(killed: Killed) -> bool:
    """Everybody speaks; whether all was settled before the process died."""
    for event in SCENARIO[len(killed.server.events) :]:
        killed.server.say(event)
    return await killed.until(killed.settled)


def check_blocks(server: StreetServer) -> None:
    """No paragraph is read twice, and what was said before a tool stays."""
    for event in server.events.values():
        shown = [one.text for one in server.of(key_of(event)) if not one.text.startswith(REPEATED)]
        lines = [line for text in shown for line in text.split("\n") if line.strip()]
        assert len(lines) == len(set(lines)), lines
        assert not any("cut off" in line for line in lines), lines


async def steps_of(folder: Path, ways: tuple[str, ...]) -> list[str]:
    """The steps of the scenario when nobody is killed."""
    async with street_server() as server:
        killed = Killed(folder / "home", server, ways)
        await killed.start("--count", str(folder / "steps"))
        assert await play(killed)
        await killed.kill()
        check(server)
        if "--slowly" in ways:
            check_blocks(server)
            first = [one.text for one in server.of(key_of(SCENARIO[0]))]
            assert PREAMBLE in "\n\n".join(first)
            assert len(first) > 2
    return (folder / "steps").read_text().splitlines()


@pytest.mark.parametrize("ways", [(), ("--slowly",), ("--edits",)], ids=["whole", "blocks", "edits"])
async def test_killed_at_steps_of_the_path(tmp_path: Path, ways: tuple[str, ...]) -> None:
    (tmp_path / "counting").mkdir()
    steps = await steps_of(tmp_path / "counting", ways)
    chosen = random.Random(1).sample(range(1, len(steps) + 1), min(KILLS, len(steps)))  # noqa: S311
    for number in sorted(chosen):
        folder = tmp_path / f"at-{number}"
        folder.mkdir()
        async with street_server() as server:
            killed = Killed(folder / "home", server, ways)
            await killed.start("--die-at", str(number))
            await play(killed)
            await killed.kill()
            await killed.start()
            assert await play(killed), (folder / "stderr").read_text()
            await killed.kill()
            check(server)
            if "--slowly" in ways:
                check_blocks(server)
            notes = "".join(path.read_text() for path in (folder / "home/workspace/memory").glob("*.md"))
            assert notes.count("\nthe kettle is blue\n") <= 1, f"step {steps[number - 1]}: {notes}"


async def test_killed_at_random_under_load(tmp_path: Path) -> None:
    """20 people who each wait for their answer before they go on."""
    moments = random.Random(2)  # noqa: S311
    async with street_server() as server:
        killed = Killed(tmp_path / "home", server)
        numbers = iter(range(1, 100_000))
        last: dict[str, dict[str, object]] = {}

        def go_on() -> None:
            for chat in map(str, range(1, 21)):
                if chat not in last or any(not one.live for one in server.of(key_of(last[chat]))):
                    last[chat] = said(next(numbers), chat, "hello")
                    server.say(last[chat])
            killed.changed.set()

        for _ in range(KILLS):
            before = len(server.acked)
            await killed.start()
            server.on_change = go_on
            go_on()
            assert await killed.until(lambda: len(server.acked) > before)  # noqa: B023
            await asyncio.sleep(moments.random())
            await killed.kill()
        await killed.start()
        assert await killed.until(killed.settled), (tmp_path / "stderr").read_text()
        await killed.kill()
        check(server)
        assert len(server.events) > 20
