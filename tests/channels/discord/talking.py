"""People on the fake Discord, the real channel, the gateway's whole path of a message, and an echo."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

from agents.model.provider import Done, ModelEvent, ModelRequest, TextDelta
from channels.discord.channel import DiscordChannel
from channels.discord.timing import Timing
from gateway.mailbox import QueueSettings
from sessions.messages import Text, User
from tests.channels.discord.wired import FAST, channel_of, until
from tests.fakes.discord import DiscordServer, discord_server
from tests.fakes.discord_transcript import by_bot
from tests.fakes.discord_world import World
from tests.fakes.front import OpenDoor, Street, street
from tests.fakes.house import House, house
from tests.fakes.protocols import ScriptedModel

_WORD = re.compile(r"\bq\d+\b")


@dataclass(slots=True)
class Echo(ScriptedModel):
    """Answers `re q7` where the newest message holds such a word. While `held`, it thinks."""

    held: asyncio.Event | None = None
    asked: list[str] = field(default_factory=list)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        newest = next(one for one in reversed(request.messages) if isinstance(one, User))
        words = " ".join(part.text for part in newest.parts if isinstance(part, Text))
        found = _WORD.findall(words)
        said = f"re {found[-1]}" if found else "nothing"
        self.asked.append(said)
        if self.held is not None:
            await self.held.wait()
        yield TextDelta(text=said)
        yield Done(message=self._message((Text(text=said),), "stop"))


@dataclass(slots=True)
class Town:
    server: DiscordServer
    channel: DiscordChannel
    house: House
    street: Street
    model: Echo

    @property
    def world(self) -> World:
        return self.server.world

    def pass_time(self, by: timedelta) -> None:
        """Everywhere: at Discord, and here."""
        self.world.now += by
        self.house.clock.now += by

    def shown(self, chat: int) -> list[str]:
        """What the bot has said there, as it stands there now, without a note above it."""
        return [one["content"].rpartition("\n\n")[2] for one in by_bot(self.world, chat)]

    async def answered(self, chat: int, *numbers: int) -> None:
        """Until these questions have their answer there; each has one then, and nothing else is there."""
        wanted = sorted(f"re q{one}" for one in numbers)
        await until(lambda: set(wanted) <= set(self.shown(chat)), seconds=60)
        await self.street.quiet()
        assert sorted(self.shown(chat)) == wanted

    @property
    def troubles(self) -> str:
        return " ".join((self.channel.health.error, *self.channel.health.problems))


@asynccontextmanager
async def town(folder: Path, *, timing: Timing = FAST) -> AsyncIterator[Town]:
    """Everybody may speak, and each message is answered on its own."""
    door = OpenDoor(queue=QueueSettings(mode="followup", cap=2_000))
    async with house(folder) as home, discord_server() as server:
        server.world.now = home.clock.now
        model = home.model = Echo(script=[], clock=home.clock)
        channel = channel_of(server, folder, timing=timing, clock=home.clock)
        async with street(home, channel=channel, door=door) as scene:  # type: ignore[arg-type]
            running = asyncio.create_task(channel.run(partial(scene.front.reception.receive, channel)))
            try:
                await until(lambda: channel.health.connected and bool(channel._line and channel._line.guilds))
                yield Town(server=server, channel=channel, house=home, street=scene, model=model)
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
