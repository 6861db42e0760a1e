"""Channels kept running: each alone, and honest about how it is."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from channels.channel import Channel, ChannelFailed, Deliver
from channels.message import Inbound
from gateway.outbox import Outbox
from gateway.postman import Pace, Postman
from gateway.supervisor import Supervisor
from tests.fakes.channel import FakeChannel
from tests.fakes.protocols import FakeClock
from tests.gateway.strategies import message


@dataclass(slots=True)
class Moody(FakeChannel):
    """Raises these, one at each run; then it runs as it should."""

    errors: list[Exception] = field(default_factory=list)
    runs: int = 0
    running: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, deliver: Deliver) -> None:
        self.runs += 1
        if self.errors:
            raise self.errors.pop(0)
        self.running.set()
        await FakeChannel.run(self, deliver)


@dataclass(slots=True)
class Street:
    supervisor: Supervisor
    heard: list[str]
    slept: list[float]
    task: "asyncio.Task[None]"
    rang: asyncio.Event

    def state(self, account: str = "default") -> str:
        return next(one.state for one in self.supervisor.status() if one.account == account)


@asynccontextmanager
async def running(folder: Path, *channels: Moody) -> AsyncIterator[Street]:
    heard: list[str] = []
    slept: list[float] = []
    rang = asyncio.Event()

    async def receive(channel: Channel, event: Inbound) -> None:
        heard.append(f"{channel.account} {event.id}")
        rang.set()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    clock = FakeClock()
    outbox = Outbox.open(folder / "outbox.jsonl", now=clock())
    with ThreadPoolExecutor(1) as executor:
        pace = Pace(max_age=timedelta(hours=1), jitter=lambda: 1.0)
        postman = Postman(outbox=outbox, executor=executor, clock=clock, pace=pace)
        supervisor = Supervisor(
            receive=receive, postman=postman, clock=clock, jitter=lambda: 1.0, sleep=sleep
        )
        for channel in channels:
            supervisor.add((channel.name, channel.account), lambda made=channel: made)  # type: ignore[misc]
        task = asyncio.create_task(supervisor.run())
        yield Street(supervisor, heard, slept, task, rang)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    outbox.close()


async def test_what_a_channel_hears_is_received(tmp_path: Path) -> None:
    channel = Moody()
    async with running(tmp_path, channel) as street:
        await channel.running.wait()
        await channel.inbound.put(message(7))
        await asyncio.wait_for(street.rang.wait(), 20)
        assert street.heard == ["default 7"]
        assert street.state() == "running"


async def test_a_failing_channel_is_started_again_with_longer_and_longer_waits(tmp_path: Path) -> None:
    channel = Moody(errors=[OSError("cut")] * 7)
    async with running(tmp_path, channel) as street:
        await channel.running.wait()
        assert channel.runs == 8
        assert [round(one, 1) for one in street.slept] == [2.0, 3.6, 6.5, 11.7, 21.0, 30.0, 30.0]
        assert street.supervisor.status()[0].restarts == 7


async def test_b55_one_that_cannot_run_stays_down_and_the_others_go_on(tmp_path: Path) -> None:
    down = Moody(account="down", errors=[ChannelFailed("Switch on the intent."), ChannelFailed("again")])
    up = Moody(account="up")
    async with running(tmp_path, down, up) as street:
        await up.running.wait()
        assert street.state("down") == "failed"
        assert street.state("up") == "running"
        assert down.runs == 1
        assert [one.error for one in street.supervisor.status()] == ["Switch on the intent.", ""]


async def test_one_account_is_started_again_alone(tmp_path: Path) -> None:
    one, other = Moody(account="one"), Moody(account="other")
    async with running(tmp_path, one, other) as street:
        await one.running.wait()
        await other.running.wait()
        one.running.clear()
        assert await street.supervisor.restart(("telegram", "one"))
        await one.running.wait()
        assert (one.runs, other.runs) == (2, 1)
        assert not await street.supervisor.restart(("telegram", "nobody"))


async def test_other_settings_end_begin_and_leave_alone(tmp_path: Path) -> None:
    gone, kept, changed, new = (Moody(account=name) for name in ("gone", "kept", "changed", "new"))
    async with running(tmp_path, gone, kept, changed) as street:
        for channel in (gone, kept, changed):
            await channel.running.wait()
        again = Moody(account="changed")
        wanted = {("telegram", one.account): (lambda made=one: made) for one in (kept, again, new)}
        await street.supervisor.change(wanted, {("telegram", "changed")})
        await again.running.wait()
        await new.running.wait()
        assert [one.account for one in street.supervisor.status()] == ["changed", "kept", "new"]
        assert kept.runs == 1


async def test_an_account_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    def make() -> Channel:
        raise ChannelFailed("It has no token.")

    up = Moody()
    async with running(tmp_path, up) as street:
        street.supervisor.add(("telegram", "bare"), make)
        await up.running.wait()
        assert [(one.account, one.state, one.error) for one in street.supervisor.status()] == [
            ("bare", "failed", "It has no token."),
            ("default", "running", ""),
        ]
