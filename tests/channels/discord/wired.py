"""A DiscordChannel that runs against the fake server, and what its gateway hears."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from channels.discord.channel import DiscordChannel
from channels.discord.me import Me
from channels.discord.timing import Timing
from channels.message import (
    Address,
    ChatChanged,
    Choice,
    Edited,
    FileKind,
    Inbound,
    InboundMessage,
    OutboundFile,
    OutboundMessage,
    Pressed,
    Reaction,
)
from channels.platforms import DiscordAccount
from tests.fakes.discord import TOKEN, DiscordServer, discord_server
from tests.fakes.discord_world import BOT_ID, GENERAL, GUILD, THREAD_700, Json, World

ME = Me(account="default", id=BOT_ID, name="clawd", application=BOT_ID)
FAST = Timing(
    hello=20,
    ready=20,
    silence=30,
    identify=0,
    guilds=0.2,
    first_wait=0.02,
    longest_wait=0.1,
    answer=30,
    look=10,
    teardown=0.5,
    saved=0.02,
    thinking=20,
)
COMMANDS = (("new", "begin anew"), ("status", "how things are"))


@dataclass(slots=True)
class Gateway:
    """What was delivered; `fails` are raised by the next deliveries, one each."""

    events: list[Inbound] = field(default_factory=list)
    fails: list[Exception] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    before: Callable[[Inbound], Awaitable[object]] | None = None

    async def deliver(self, event: Inbound) -> None:
        if self.before:
            await self.before(event)
        if self.fails:
            raise self.fails.pop(0)
        self.events.append(event)
        self.changed.set()

    async def until(self, count: int, seconds: float = 20) -> None:
        async with asyncio.timeout(seconds):
            while len(self.events) < count:
                self.changed.clear()
                await self.changed.wait()

    @property
    def messages(self) -> list[InboundMessage]:
        return [one for one in self.events if isinstance(one, InboundMessage)]

    @property
    def texts(self) -> list[str]:
        return [one.text for one in self.messages]

    @property
    def others(self) -> list[Edited | Reaction | Pressed | ChatChanged]:
        return [one for one in self.events if not isinstance(one, InboundMessage)]


def account(server: DiscordServer, more: Json | None = None) -> DiscordAccount:
    told = {"token": TOKEN, "api_base_url": server.url, "guilds": {"*": {}}} | (more or {})
    return DiscordAccount.model_validate(told)


def channel_of(
    server: DiscordServer,
    folder: Path,
    *,
    timing: Timing = FAST,
    token: str = TOKEN,
    commands: Sequence[tuple[str, str]] = COMMANDS,
    clock: Callable[[], datetime] | None = None,
    settings: Json | None = None,
) -> DiscordChannel:
    return DiscordChannel(
        account(server, settings),
        account="default",
        token=token,
        folder=folder,
        commands=commands,
        clock=clock or (lambda: server.world.now),
        timing=timing,
    )


@asynccontextmanager
async def running(channel: DiscordChannel, gateway: Gateway) -> AsyncIterator[DiscordChannel]:
    """It is let in before the block begins."""
    task = asyncio.create_task(channel.run(gateway.deliver))
    try:
        await until(lambda: channel.health.connected or task.done())
        if task.done():
            task.result()
        yield channel
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@dataclass(slots=True)
class Live:
    server: DiscordServer
    world: World
    channel: DiscordChannel
    gateway: Gateway


@asynccontextmanager
async def live(
    folder: Path, *, settings: Json | None = None, timing: Timing = FAST, world: World | None = None
) -> AsyncIterator[Live]:
    """A channel that is let in, in a server that it knows."""
    async with discord_server(world) as server:
        gateway = Gateway()
        channel = channel_of(server, folder, settings=settings, timing=timing)
        async with running(channel, gateway):
            if server.world.in_guild:
                await until(lambda: channel._line is not None and bool(channel._line.guilds))
            yield Live(server, server.world, channel, gateway)


async def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """For what has no event of its own."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def to(chat: int | str, *, kind: str = "group", thread: int | str = "", parent: int | str = "") -> Address:
    direct = kind == "direct"
    return Address(
        channel="discord",
        account="default",
        chat=str(chat),
        kind="direct" if direct else "group",
        thread=str(thread),
        parent=str(parent),
        space="" if direct else str(GUILD),
    )


def in_thread(thread: int = THREAD_700, parent: int = GENERAL) -> Address:
    return to(thread, thread=thread, parent=parent)


def answer(
    address: Address | None = None,
    text: str = "hello",
    *,
    key: str = "k",
    part: int = 0,
    plain: str = "",
    files: tuple[OutboundFile, ...] = (),
    choices: tuple[tuple[Choice, ...], ...] = (),
    reply_to: str | None = None,
    silent: bool = False,
) -> OutboundMessage:
    return OutboundMessage(
        key=key,
        part=part,
        address=address or to(GENERAL),
        text=text,
        plain=plain,
        files=files,
        choices=choices,
        reply_to=reply_to,
        silent=silent,
    )


def a_file(folder: Path, name: str, kind: FileKind, mime: str, data: bytes = b"data") -> OutboundFile:
    path = folder / name
    path.write_bytes(data)
    return OutboundFile(path=path, name=name, kind=kind, mime=mime)
