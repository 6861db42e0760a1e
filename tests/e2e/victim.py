"""A whole gateway with one channel to a street server, which can be made to die at a step of its path.

python -m tests.e2e.victim HOME PORT [--edits] [--slowly] [--die-at N] [--count FILE]. A step is a line that a
journal or a transcript is about to get, or has got, and a message that is about to be sent, or was sent. The
models and the memory are those of a home without keys; everything else is what runs for an owner.
"""

import argparse
import asyncio
import gc
import itertools
import json
import os
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agents.clock import system_clock
from agents.model.offline import Offline
from agents.model.provider import CallStarted, Done, ModelEvent, ModelRequest, TextDelta
from channels.channel import Deliver, FetchError, Health, SendError, Traits
from channels.message import Address, Attachment, InboundMessage, OutboundMessage, Sender
from channels.settings import ChannelsSettings
from gateway.build import built
from gateway.config import Config
from gateway.home import Home
from gateway.supervisor import Make, Name
from sessions.journal import Journal
from sessions.messages import Text

TRAITS = Traits(
    markup="plain",
    max_text=120,
    max_caption=100,
    can_edit=False,
    has_nonce=False,
    has_choices=False,
    edit_seconds=0.01,
    block_chars=40,
    block_seconds=0.02,
)
PREAMBLE = "Let me write that down.\n\nIt will not take long."


class Steps:
    """Counts the steps, and dies at one of them as a killed process does."""

    def __init__(self, die_at: int, count: Path | None) -> None:
        self._numbers = itertools.count(1)
        self._die_at = die_at
        self._count = count

    def step(self, name: str) -> None:
        number = next(self._numbers)
        if self._count is not None:
            with self._count.open("a") as file:
                file.write(f"{number} {name}\n")
        if number == self._die_at:
            os.kill(os.getpid(), signal.SIGKILL)


class Street:
    """The channel: what it sends waits for the server's answer, as with a real platform."""

    name = "telegram"
    account = "default"

    def __init__(self, port: int, traits: Traits, steps: Steps) -> None:
        self.traits = traits
        self._port = port
        self._steps = steps
        self._writer: asyncio.StreamWriter | None = None
        self._asked: dict[int, asyncio.Future[str]] = {}
        self._asks = itertools.count()

    @property
    def health(self) -> Health:
        return Health(connected=self._writer is not None)

    async def run(self, deliver: Deliver) -> None:
        reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 24)
        async with asyncio.TaskGroup() as group:
            while line := await reader.readline():
                told = json.loads(line)
                if told["type"] == "answer":
                    self._asked.pop(int(str(told["ask"]))).set_result(str(told["id"]))
                else:
                    group.create_task(self._hear(deliver, told))

    async def _hear(self, deliver: Deliver, told: Mapping[str, object]) -> None:
        await deliver(event_of(told["event"]))
        self._steps.step("accepted, not acknowledged")
        self._write({"type": "ack", "number": told["number"]})
        self._steps.step("acknowledged")

    async def send(self, message: OutboundMessage) -> str:
        self._steps.step("send")
        sent = await self._ask({"type": "send", "message": wire(message)})
        self._steps.step("sent, not recorded")
        return sent

    async def edit(self, message: OutboundMessage, message_id: str) -> None:
        if not await self._ask({"type": "edit", "id": message_id, "message": wire(message)}):
            raise SendError("there is no such message")

    async def delete(self, address: Address, message_id: str) -> None:
        await self._ask({"type": "delete", "id": message_id})

    async def react(self, address: Address, message_id: str, emoji: str | None) -> None:
        """Not here."""

    async def typing(self, address: Address) -> None:
        """Not here."""

    async def fetch(self, attachment: Attachment, into: Path, *, max_bytes: int) -> None:
        if len(attachment.ref) > max_bytes:
            raise FetchError("it is too large")
        await asyncio.to_thread(into.write_bytes, attachment.ref.encode())

    async def _ask(self, line: dict[str, object]) -> str:
        if self._writer is None:
            raise SendError("not connected", retryable=True, retry_after=0.05)
        ask = next(self._asks)
        self._asked[ask] = asyncio.get_running_loop().create_future()
        self._write(line | {"ask": ask})
        return await self._asked[ask]

    def _write(self, line: dict[str, object]) -> None:
        assert self._writer is not None
        self._writer.write(json.dumps(line).encode() + b"\n")


def wire(message: OutboundMessage) -> dict[str, object]:
    return {
        "key": message.key,
        "part": message.part,
        "chat": message.address.chat,
        "text": message.text,
        "files": [file.name for file in message.files],
    }


def event_of(stored: object) -> InboundMessage:
    assert isinstance(stored, dict)
    files = [Attachment(kind="document", ref=text, name="note.txt") for text in stored.get("files", ())]
    return InboundMessage(
        id=str(stored["id"]),
        address=Address(channel="telegram", account="default", chat=str(stored["chat"]), kind="direct"),
        sender=Sender(id=str(stored["chat"]), name="Somebody"),
        text=str(stored["text"]),
        at=system_clock(),
        attachments=tuple(files),
    )


def config(models: str = "") -> Config:
    """Without `models` there is none; else it is the address of an Anthropic server."""
    account = {"token": "123456:not-a-real-token", "dm_policy": "open", "allow_from": ["*"]}
    provider = {"api_key": "test-key", "base_url": models}
    return Config.model_validate(
        {
            "models": {"default": "anthropic/claude-sonnet-4-5", "providers": {"anthropic": provider}}
            if models
            else {},
            "gateway": {"max_concurrent_turns": 64},
            "memory": {"search": {"provider": "none"}},
            "channels": {"telegram": {"accounts": {"default": account}}, "owners": ["telegram:1"]},
        }
    )


async def live(
    home: Home, port: int, traits: Traits, steps: Steps, *, models: str = "", lag: Path | None = None
) -> None:
    def makers(_: ChannelsSettings) -> Mapping[Name, Make]:
        return {("telegram", "default"): lambda: Street(port, traits, steps)}

    async with built(config(models), home, environ={}, makers=makers) as parts, asyncio.TaskGroup() as group:
        parts.gateway.ready = True
        assert parts.frontage is not None
        await parts.warm_up()
        gc.freeze()  # as the daemon does
        if lag is not None:
            group.create_task(tell_lag(lag))
        await parts.frontage.front.take_up()
        await parts.frontage.street.run()


async def tell_lag(path: Path) -> None:
    """How late the event loop is, in milliseconds, a line for each twentieth of a second."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + 0.05
        await asyncio.sleep(0.05)
        late = (loop.time() - due) * 1000
        with path.open("a") as file:
            file.write(f"{late:.2f}\n")


def count_lines(steps: Steps) -> None:
    """Make every line of every journal a step, before and after it is written."""
    write = Journal.write

    def stepping(self: Journal, line: bytes, *, sync: bool = False) -> None:
        steps.step(f"before a line of {self.path.stem[:8]}")
        write(self, line, sync=sync)
        steps.step(f"after a line of {self.path.stem[:8]}")

    Journal.write = stepping  # type: ignore[method-assign]


def speak_slowly() -> None:
    """Make the model without a model pause at each paragraph, and say something before it uses a tool."""
    stream = Offline.stream

    async def slowly(self: Offline, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async for event in stream(self, request):
            match event:
                case CallStarted():
                    yield TextDelta(text=PREAMBLE)
                    await asyncio.sleep(0.1)
                    yield event
                case Done(message=message) if message.calls:
                    yield Done(message=replace(message, parts=(Text(text=PREAMBLE), *message.parts)))
                case TextDelta(text=text) if "\n\n" in text:
                    yield event
                    await asyncio.sleep(0.1)
                case _:
                    yield event

    Offline.stream = slowly  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("--edits", action="store_true")
    parser.add_argument("--slowly", action="store_true", help="the answer comes paragraph by paragraph")
    parser.add_argument("--die-at", type=int, default=0)
    parser.add_argument("--count", type=Path)
    parser.add_argument("--models", default="", help="the address of an Anthropic server")
    parser.add_argument("--lag", type=Path, help="a file for the lag of the event loop")
    given = parser.parse_args()
    steps = Steps(given.die_at, given.count)
    if given.die_at or given.count:
        count_lines(steps)
    if given.slowly:
        speak_slowly()
    traits = replace(TRAITS, can_edit=given.edits)
    running = live(Home(given.home), given.port, traits, steps, models=given.models, lag=given.lag)
    with suppress(KeyboardInterrupt):
        asyncio.run(running)


if __name__ == "__main__":
    main()
