"""A TelegramChannel that runs against the fake server, and what its gateway hears."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from telegram import Update

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
from channels.platforms import TelegramAccount
from channels.telegram.channel import TelegramChannel
from channels.telegram.me import Me
from channels.telegram.timing import Timing
from tests.fakes.telegram import TOKEN, TelegramServer
from tests.fakes.telegram_world import BOT_ID, GROUP, Json, World

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
ME = Me(account="default", id=BOT_ID, username="clawd_test_bot", name="Clawd", reads_groups=True)
FAST = Timing(
    poll=1,
    silence=8,
    teardown=0.5,
    first_wait=0.02,
    longest_wait=0.1,
    album=0.2,
    hurried=0.02,
    answer=5,
    connect=5,
    webhook_check=0.2,
)
COMMANDS = (("new", "begin anew"), ("status", "how things are"))


@dataclass(slots=True)
class Gateway:
    """What was delivered; `fails` are raised by the next deliveries, one each."""

    events: list[Inbound] = field(default_factory=list)
    fails: list[Exception] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    before: Callable[[Inbound], Any] | None = None

    async def deliver(self, event: Inbound) -> None:
        if self.before:
            await self.before(event)
        if self.fails:
            raise self.fails.pop(0)
        self.events.append(event)
        self.changed.set()

    async def until(self, count: int, seconds: float = 30) -> None:
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


def account(server: TelegramServer, more: Json) -> TelegramAccount:
    return TelegramAccount.model_validate({"token": TOKEN, "api_base_url": server.url} | more)


def channel_of(
    server: TelegramServer,
    folder: Path,
    *,
    timing: Timing = FAST,
    token: str = TOKEN,
    commands: Sequence[tuple[str, str]] = COMMANDS,
    clock: Callable[[], datetime] = lambda: NOON,
    settings: Json | None = None,
) -> TelegramChannel:
    return TelegramChannel(
        account(server, settings or {}),
        account="default",
        token=token,
        folder=folder,
        commands=commands,
        clock=clock,
        timing=timing,
    )


@asynccontextmanager
async def running(channel: TelegramChannel, gateway: Gateway) -> AsyncIterator[TelegramChannel]:
    task = asyncio.create_task(channel.run(gateway.deliver))
    try:
        yield channel
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    """For what has no event of its own."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def update_of(world: World, **update: Json) -> Update:
    world.tell(**update)
    return newest(world)


def newest(world: World) -> Update:
    """The last thing that the bot was told."""
    return Update.de_json(world.updates[-1], None)


def to(chat: int, *, thread: str = "") -> Address:
    return Address(
        channel="telegram",
        account="default",
        chat=str(chat),
        kind="direct" if chat > 0 else "group",
        thread=thread,
    )


def answer(
    chat: int = GROUP,
    text: str = "hello",
    *,
    thread: str = "",
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
        address=to(chat, thread=thread),
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
